"""A misconception: what is done instead of a step, what to tell, where it is known from.

Its change takes the `Steps` of a derivation and gives other expressions for some of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.attention.plan import g
from symattn.derivations import Derivation
from symattn.nodes.base import shape_of
from symattn.nodes.entrywise import Exponential
from symattn.nodes.heads import Head
from symattn.nodes.lines import LineDifference, LineQuotient
from symattn.nodes.masks import Masked, VisibleScores
from symattn.nodes.normalise import Normaliser, Softmax
from symattn.step import Step

#: Where a misconception is known from, if from many places.
REPORTED = "ONNX and PyTorch issue trackers; course solution sets"
DOT_PRODUCT = "Vaswani et al. 2017, section 3.2.1"

#: The expressions that some steps have instead of their own, by the steps' names.
Change: TypeAlias = Mapping[str, MatrixExpr]


@dataclass(frozen=True)
class Misconception:
    """Something that people believe about attention, and what comes of it."""

    name: str
    #: What is done instead of the right thing.
    instead: str
    #: What to tell who does it.
    tell: str
    #: Where it is known from.
    source: str
    #: The expressions that are changed, by step; None where it does not apply.
    change: Callable[[Steps], Change | None]
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

    def symbol(self, name: str) -> MatrixExpr | None:
        """The symbol of a step or an input; where heads share keys, of those that head i uses."""
        symbol = self.symbols.get(name)
        if isinstance(symbol, Head) and self._group is not None and name in self._grouped:
            return Head(symbol.args[0], self._group)
        return symbol

    @cached_property
    def _grouped(self) -> set[str]:
        """The steps and inputs of which each group of heads has one."""
        items = (*self.derivation.inputs, *self.derivation.steps)
        return {item.name for item in items if item.count == g}

    @cached_property
    def _group(self) -> sympy.Expr | None:
        """The group that head i belongs to, ⌊i g / h⌋, where heads share keys and values."""
        heads = {head for step in self.derivation.steps for head in step.expr.atoms(Head)}
        shared = [h.head for h in heads if not isinstance(h.head, sympy.Symbol)]
        return min(shared, key=str, default=None)

    @cached_property
    def logits(self) -> MatrixExpr | None:
        """The Z of A = softmax(Z), or of another normaliser; None where there is none."""
        weights = self.expr("weights")
        if isinstance(weights, Normaliser):
            return weights.args[0]
        unfolded = self.expr("exp")
        if not isinstance(unfolded, Exponential):
            return None
        inside = unfolded.args[0]
        return inside.args[0] if isinstance(inside, LineDifference) else inside

    @cached_property
    def softmax(self) -> MatrixExpr | None:
        """The logits, where a softmax makes the weights."""
        return self.logits if isinstance(self.expr("weights"), Softmax | LineQuotient) else None

    @cached_property
    def compared(self) -> tuple[MatrixExpr, MatrixExpr] | None:
        """Query and key of a score that is their dot product."""
        scores = self.expr("scores")
        if not isinstance(scores, sympy.MatMul) or len(scores.args) != 2:
            return None
        query, key = scores.args
        return (query, key.arg) if isinstance(key, sympy.Transpose) else None

    @cached_property
    def width(self) -> sympy.Expr | None:
        """d_k, the number of columns of the queries; None where the score is no dot product."""
        return None if self.compared is None else self.compared[0].shape[1]

    @cached_property
    def mask(self) -> MatrixExpr | None:
        """The mask that is added, where there is one."""
        masked = self.expr("masked")
        return masked.args[1] if isinstance(masked, Masked) else None

    @cached_property
    def before_mask(self) -> MatrixExpr | None:
        """The scores before the mask."""
        masked = self.expr("masked")
        return masked.args[0] if isinstance(masked, Masked | VisibleScores) else None

    @property
    def result(self) -> str:
        """The step that is A V."""
        return "heads" if "heads" in self.steps else "output"

    @cached_property
    def averaged(self) -> tuple[MatrixExpr, MatrixExpr] | None:
        """A and V, where the result is their product."""
        product = self.expr(self.result)
        if not isinstance(product, sympy.MatMul) or len(product.args) != 2:
            return None
        return product.args[0], product.args[1]


def fits(one: MatrixExpr | None, other: MatrixExpr | None) -> bool:
    """Whether both are there and have one shape."""
    return one is not None and other is not None and shape_of(one) == shape_of(other)


def square(matrix: MatrixExpr | None) -> bool:
    """Whether a matrix is there, square, and more than one number."""
    return matrix is not None and bool(matrix.shape[0] == matrix.shape[1] != 1)
