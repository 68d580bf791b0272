"""A misconception: what is done instead of a step, what to tell, where it is known from.

Its equations are about the `Steps` of a derivation, and give other expressions for some of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TypeAlias

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.attention.plan import g
from symattn.derivations import Derivation
from symattn.nodes.entrywise import Exponential
from symattn.nodes.heads import heads_in
from symattn.nodes.lines import LineDifference, LineQuotient
from symattn.nodes.masks import added_mask
from symattn.nodes.normalise import Normaliser, Softmax
from symattn.notation.letters import GRADIENT, prefixed
from symattn.step import HEAD, Step, letter_of

#: Where a misconception is known from, if from many places.
REPORTED = "ONNX and PyTorch issue trackers; course solution sets"
DOT_PRODUCT = "Vaswani et al. 2017, section 3.2.1"

#: What an expression raises that makes no sense at some sizes, or with some numbers.
SENSELESS = (ValueError, ArithmeticError, TypeError, LookupError, AttributeError)

#: The sizes of equations: rows or columns of a step or an input.
_SIZES = {
    "n": ("scores", 0),
    "m": ("scores", 1),
    "d_v": ("V", 1),
    "d_model": ("X", 1),
    "d_c": ("latent", 1),
}

#: What steps are asked for by words of equations.
_MADE = {"logits": "logits", "hiding": "mask", "d_k": "width", "earlier": "earlier"}

#: The expressions that some steps have instead of their own, by the steps' names.
Change: TypeAlias = Mapping[str, MatrixExpr]


@dataclass(frozen=True)
class Mistake:
    """Something that is done instead of the right thing: a misconception, a slip, a habit."""

    name: str
    #: What is done instead.
    instead: str
    #: What to tell who does it.
    tell: str


@dataclass(frozen=True)
class Misconception(Mistake):
    """Something that people believe about attention, and what comes of it."""

    #: Where it is known from.
    source: str
    #: Equations (see `symattn.mistakes.rewriting`), of which the first that fits is taken.
    change: str | tuple[str, ...]
    #: The name of a simpler one that is reported instead where the numbers fit both.
    rather: str = ""
    #: Whether it is a matter of floating point: exact numbers do not show it.
    floating: bool = False


class Steps:
    """The steps of a derivation at concrete sizes, as changes need them."""

    def __init__(self, derivation: Derivation) -> None:
        self.derivation = derivation
        self.steps: dict[str, Step] = {step.name: step for step in derivation.steps}
        self.symbols: dict[str, MatrixExpr] = {
            item.name: item.symbol for item in (*derivation.inputs, *derivation.steps)
        }

    def expr(self, name: str) -> MatrixExpr | None:
        """A step's expression; None where there is no such step."""
        return self.steps[name].expr if name in self.steps else None

    def made(self, symbol: sympy.Basic) -> sympy.Basic:
        """The expression of the step that goes by a symbol; any other as it is."""
        return next((s.expr for s in self.derivation.steps if s.symbol == symbol), symbol)

    @cached_property
    def gradients(self) -> tuple[Step, ...]:
        """The gradients of what is given."""
        names = (prefixed(GRADIENT, item.name) for item in self.derivation.inputs)
        return tuple(self.steps[name] for name in names if name in self.steps)

    def called(self, name: str) -> Step | None:
        """The step that an equation is about."""
        if name == "d_logits":
            return self._d_logits
        if name == "last":
            return self.derivation.steps[-1]
        result = "heads" if "heads" in self.steps else "output"  # the step that is A V
        return self.steps.get({"result": result, "normaliser": "weights"}.get(name, name))

    @cached_property
    def _d_logits(self) -> Step | None:
        """The gradient of what the normaliser is applied to, by that of the weights."""
        weights = self.symbols.get("d_weights")
        if weights is None:
            return None
        readers = [s for s in self.derivation.steps if letter_of(weights) in s.operands]
        before = (step for step in readers if step not in self.gradients)
        return next(chain(before, readers), None)

    def named(self, name: str) -> sympy.Basic | None:
        """What goes by a name in an equation: a matrix or a size; None where there is none."""
        if name in _MADE:
            return getattr(self, _MADE[name])
        if name == "mask" and name in self.steps:
            return None  # the one that is given is meant
        if name == "i":
            return HEAD
        if name in ("n_h", "n_g"):
            count = self.derivation.known_sizes.get(name[-1], 1 if name == "n_h" else None)
            return None if count is None else sympy.Integer(count)
        if name in _SIZES:
            item, axis = _SIZES[name]
            whose = self.symbol(item)
            return None if whose is None else whose.shape[axis]
        return self.symbol(name)

    def symbol(self, name: str) -> MatrixExpr | None:
        """The symbol of a step or an input; where heads share keys, of those that head i uses."""
        symbol = self.symbols.get(name)
        if symbol is not None and self._group is not None and name in self._grouped:
            return symbol.at(self._group)
        return symbol

    @cached_property
    def _grouped(self) -> set[str]:
        """The steps and inputs of which each group of heads has one."""
        items = (*self.derivation.inputs, *self.derivation.steps)
        return {item.name for item in items if item.count == g}

    @cached_property
    def _group(self) -> sympy.Expr | None:
        """The group that head i belongs to, ⌊i g / h⌋, where heads share keys and values."""
        heads = {head for step in self.derivation.steps for head in heads_in(step.expr)}
        shared = [h.head for h in heads if not isinstance(h.head, sympy.Symbol)]
        return min(shared, key=str, default=None)

    @cached_property
    def logits(self) -> MatrixExpr | None:
        """The Z of A = softmax(Z), or of another normaliser; None where there is none."""
        match self.expr("weights"), self.expr("exp"):
            case Normaliser() as weights, _:
                return weights.args[0]
            case _, Exponential(args=(LineDifference(args=(logits, *_)) | logits, *_)):
                return logits
        return None

    @cached_property
    def softmax(self) -> MatrixExpr | None:
        """The logits, where a softmax makes the weights."""
        return self.logits if isinstance(self.expr("weights"), Softmax | LineQuotient) else None

    @cached_property
    def width(self) -> sympy.Expr | None:
        """d_k, the number of columns of the queries; None where the score is no dot product."""
        scores = self.expr("scores")
        if not isinstance(scores, sympy.MatMul) or len(scores.args) != 2:
            return None
        queries, keys = scores.args
        return queries.shape[1] if isinstance(keys, sympy.Transpose) else None

    @cached_property
    def mask(self) -> MatrixExpr | None:
        """The mask that is added, where there is one."""
        return added_mask(self.expr("masked"))

    @property
    def earlier(self) -> MatrixExpr | None:
        """The last step but one that has the shape of the last one."""
        last, *before = reversed(self.derivation.steps)
        alike = (one for one in before if one.count == last.count and one.shape == last.shape)
        return next((one.symbol for one in alike), None)
