"""From a spec to a derivation: which steps attention takes, in which order.

Scores, scale, mask, normalise, weigh the values; then the heads side by side and the last
projection. Source: Vaswani et al. 2017, sections 3.2.1 to 3.2.3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.derivation import Derivation, Input, Step
from symattn.nodes.exponential import Exponential, LineQuotient, LineSum
from symattn.nodes.heads import Concat, Head
from symattn.nodes.masks import MASKS, Allowed, Masked
from symattn.nodes.normalise import NORMALISERS
from symattn.nodes.scale import Quotient
from symattn.notation.options import SYMBOLS
from symattn.step import HEAD


def _size(name: str) -> sympy.Symbol:
    return sympy.Symbol(name, integer=True, positive=True)


n, m, d_k, d_v, d_model, d_mem, d_out, n_vocab, h = map(
    _size, ("n", "m", "d_k", "d_v", "d_model", "d_mem", "d_out", "n_vocab", "h")
)

DEFAULT_SCALE = 1 / sympy.sqrt(d_k)

_DOT_SOURCE = "Vaswani et al. 2017, section 3.2.1"
_HEAD_SOURCE = "Vaswani et al. 2017, section 3.2.2"


@dataclass(frozen=True)
class Plan:
    """A spec with nothing left open."""

    source: str
    embedded: bool
    scale: sympy.Expr | None
    masks: tuple[tuple[str, Any], ...]
    normaliser: str
    unfold: bool
    heads: int | str | None
    output_projection: bool


def build(
    plan: Plan,
    sizes: Mapping[sympy.Symbol, int],
    labels: Mapping[sympy.Expr, tuple[str, ...]],
    title: str,
) -> Derivation:
    """The whole derivation of a plan, with symbolic sizes."""
    builder = _Builder(plan)
    builder.projections()
    builder.scores()
    builder.mask()
    builder.weights()
    builder.output()
    return Derivation(tuple(builder.inputs), tuple(builder.steps), sizes, labels, title)


@dataclass
class _Builder:
    plan: Plan
    inputs: list[Input] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    logits: MatrixExpr = None

    @property
    def keys(self) -> sympy.Symbol:
        """The number of keys: that of the queries in self-attention."""
        return n if self.plan.source == "self" else m

    def symbol(self, name: str, rows: Any, columns: Any, per_head: bool = True) -> MatrixExpr:
        """The symbol of a step or input, one for each head where there are heads."""
        matrix = sympy.MatrixSymbol(SYMBOLS[name], rows, columns)
        return Head(matrix, HEAD) if per_head and self.plan.heads is not None else matrix

    def given(self, name: str, rows: Any, columns: Any, meaning: str, per_head: bool = True) -> Any:
        """An input."""
        symbol = self.symbol(name, rows, columns, per_head)
        self.inputs.append(Input(name, symbol, meaning))
        return symbol

    def step(
        self, name: str, expr: MatrixExpr, rule: str, reason: str, source: str = _DOT_SOURCE,
        per_head: bool = True,
    ) -> Any:  # fmt: skip
        """A step; its symbol takes the shape of its expression."""
        rows, columns = expr.shape
        symbol = self.symbol(name, rows, columns, per_head)
        self.steps.append(Step(name, symbol, "", expr, rule, reason, source))
        return symbol

    def projections(self) -> None:
        """Q, K, V: given, or projected from one or two sequences."""
        if self.plan.source == "given":
            self.given("Q", n, d_k, "queries: what each token looks for")
            self.given("K", m, d_k, "keys: what each token offers to be found by")
            self.given("V", m, d_v, "values: what each token passes on")
            return
        if self.plan.embedded:
            one_hot = self.given("one_hot", n, n_vocab, "one-hot vectors: which word each token is",
                                 per_head=False)  # fmt: skip
            table = self.given("E", n_vocab, d_model, "embedding table: a vector for each word",
                               per_head=False)  # fmt: skip
            x = self.step("X", one_hot * table, "embedding look-up",
                          "A one-hot vector picks its word's vector from {E}.",
                          "Vaswani et al. 2017, section 3.4", per_head=False)  # fmt: skip
        else:
            x = self.given("X", n, d_model, "token vectors, one for each token", per_head=False)
        memory, width = x, d_model
        if self.plan.source == "cross":
            memory = self.given("memory", m, d_mem, "the other sequence's vectors",
                                per_head=False)  # fmt: skip
            width = d_mem
        self._project("Q", x, d_model, d_k, "asks: what is this token looking for?")
        self._project("K", memory, width, d_k, "answers: what can this token be found by?")
        self._project("V", memory, width, d_v, "carries: what does this token pass on?")

    def _project(self, name: str, x: Any, rows: Any, columns: Any, role: str) -> None:
        of = {"Q": "query", "K": "key", "V": "value"}[name]
        weights = self.given(f"W_{name}", rows, columns, f"{of} weights")
        reason = f"The {of} {role}"
        self.step(name, x * weights, "projection", reason, _HEAD_SOURCE)

    def scores(self) -> None:
        """S = Q Kᵀ, then the scale."""
        query, key = self._made("Q"), self._made("K")
        self.logits = self.step(
            "scores", query * key.T, "matrix product",
            "Each query is compared with each key: their dot product is the score.",
        )  # fmt: skip
        scale = self.plan.scale
        if scale is None:
            return
        inverse = 1 / scale
        by_root = not isinstance(scale, sympy.Rational) and sympy.fraction(inverse)[1] == 1
        expr = Quotient(self.logits, inverse) if by_root else scale * self.logits
        reason = "Every score is multiplied by the same number."
        if scale == DEFAULT_SCALE:
            reason = "Dividing by {√d_k} keeps the spread of the scores near 1, whatever {d_k} is."
        self.logits = self.step("scaled", expr, "scaling", reason)

    def mask(self) -> None:
        """M, and M added to the logits."""
        if not self.plan.masks:
            return
        matrices = [(name, *self._mask(name, value)) for name, value in self.plan.masks]
        total = sympy.MatAdd(*(matrix for _, matrix, _ in matrices)).doit(deep=False)
        reasons = " ".join(reason for _, _, reason in matrices)
        if not any(name == "additive" for name, _, _ in matrices):
            source = getattr(matrices[0][1], "source", "")
            total = self.step("mask", total, "mask", reasons, source, per_head=False)
        self.logits = self.step(
            "masked", Masked(self.logits, total), "masking",
            "A score of {−∞} gets weight 0, so a masked key has no say.",
            "Vaswani et al. 2017, section 3.2.3",
        )  # fmt: skip

    def _mask(self, name: str, value: Any) -> tuple[MatrixExpr, str]:
        if name == "additive":
            reason = "The given numbers are added to the scores."
            return self.given("mask", n, self.keys, "added to the scores", per_head=False), reason
        if name == "boolean":
            allowed = self.given("allowed", n, self.keys, "1 where a query may attend",
                                 per_head=False)  # fmt: skip
            return Allowed(allowed), "A query may attend only where the matrix says so."
        mask = MASKS[name].of(n, self.keys, value)
        return mask, mask.reason

    def weights(self) -> None:
        """The logits normalised row by row."""
        normaliser = NORMALISERS[self.plan.normaliser]
        if not self.plan.unfold:
            self.step("weights", normaliser(self.logits), normaliser.rule_name, normaliser.reason,
                      normaliser.source)  # fmt: skip
            return
        reason = "Exponentials make every score positive and keep their order."
        powers = self.step("exp", Exponential(self.logits), "exponential", reason)
        sums = self.step("exp_sum", LineSum(powers), "row sum",
                         "The sum over all keys is what each weight is a share of.")  # fmt: skip
        self.step("weights", LineQuotient(powers, sums), "row quotient",
                  "Dividing by the sum makes each query's weights sum to 1.")  # fmt: skip

    def output(self) -> None:
        """Weights times values; heads side by side; the last projection."""
        reason = "Each output is the average of the values, weighted by that query's weights."
        product = self._made("weights") * self._made("V")
        if self.plan.heads is None:
            result = self.step("output", product, "weighted sum", reason)
        else:
            head = self.step("heads", product, "weighted sum", reason, _HEAD_SOURCE)
            count = h if self.plan.heads == "h" else sympy.Integer(self.plan.heads)
            result = self.step("concat", Concat(head, HEAD, count), "concatenation",
                               "The heads' outputs are joined into one matrix.", _HEAD_SOURCE,
                               per_head=False)  # fmt: skip
        if self.plan.output_projection:
            weights = self.given("W_O", result.shape[1], d_out, "output weights", per_head=False)
            self.step("projected", result * weights, "projection",
                      "{W_O} mixes the heads into one vector a token.", _HEAD_SOURCE,
                      per_head=False)  # fmt: skip

    def _made(self, name: str) -> MatrixExpr:
        items: Callable[[], list[Input]] = lambda: [*self.inputs, *self.steps]  # noqa: E731
        return next(item.symbol for item in items() if item.name == name)
