"""From scores to weights: row softmax, the plain ratio it replaced, and what came after it.

Adding a normaliser is adding a class and a row of `NORMALISERS` here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self

import numpy as np
import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arithmetic.base import Arithmetic, Array
from symattn.arithmetic.exact import filled
from symattn.errors import ShapeError, SymattnError
from symattn.nodes.base import Definition, as_matrix
from symattn.nodes.normaliser import Normaliser, unless_all_hidden
from symattn.nodes.rule import (
    Apply,
    Cases,
    Const,
    Exp,
    Index,
    Over,
    Plus,
    Rule,
    Total,
    dummy,
    rule_of,
)
from symattn.nodes.simplex import Hardmax, Sparsemax
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.tree import Tree

#: Why the gradient of the scores is what it is wherever the weights of a row share a sum.
_SHARED_WEIGHT = (
    "A score that rises takes weight from all others of its row: from each gradient the mean of "
    "its row is taken, weighed by the weights, and what is left counts by the weight itself."
)


class Softmax(Normaliser):
    """Row softmax: a_ij = e^{z_ij} / Σ_l e^{z_il}.

    A score of −∞ gets weight exactly 0, and a row with nothing else gets weights 0, not NaN.
    Arrays subtract the row maximum first, which changes nothing but keeps e^z in range.

    Shapes: n × m in and out. Raises `SymattnError` if its argument is no matrix.
    Source: Vaswani et al. 2017, section 3.2.1; Bridle, *Probabilistic Interpretation of
    Feedforward Classification Network Outputs* (1990), for the name.

    >>> print(Softmax(sympy.Matrix([[0, sympy.log(3)]])).doit())
    Matrix([[1/4, 3/4]])
    """

    source: ClassVar[str] = "Vaswani et al. 2017, section 3.2.1"
    word: ClassVar[str] = "softmax"
    rule_name: ClassVar[str] = "row softmax"
    reason: ClassVar[str] = (
        "Exponentials make every score positive; dividing by their sum makes each query's "
        "weights sum to 1."
    )
    adjoint_because: ClassVar[str] = _SHARED_WEIGHT
    adjoint_source: ClassVar[str] = "Dao et al. 2022, appendix B.2"

    def _rule(self, i: Index, j: Index) -> Rule:
        index = dummy(i, j)
        score, size = self._along(i, j, index)
        total = Total(Exp(score), index, size)
        return Over(Exp(rule_of(self.args[0], i, j)), total, empty=sympy.S.Zero)

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        return sympy.HadamardProduct(value, self._less_mean(upstream, value))

    @classmethod
    def _rows(cls, arithmetic: Arithmetic, scores: Array, *more: Array) -> Array:
        def weigh(seen: Array) -> Array:
            powers = arithmetic.exp(arithmetic.shift(seen))
            return arithmetic.share(powers, arithmetic.row_sum(powers))

        return unless_all_hidden(arithmetic, scores, weigh)


class RowRatio(Normaliser):
    """Each score over the sum of its row: a_ij = s_ij / Σ_l s_il.

    The plain ratio that softmax replaced: a negative score gives a negative weight, and a row
    that sums to 0 has no weights at all, which is an error here.

    Shapes: n × m in and out. Raises `SymattnError` for a row that sums to 0 when evaluated.
    Source: Graves, Wayne, Danihelka, *Neural Turing Machines* (2014), section 3.3.2, normalises
    this way after sharpening; Raschka, *Build a Large Language Model*, section 3.3.1, as a naive
    first attempt.

    >>> print(RowRatio(sympy.Matrix([[1, 3]])).doit())
    Matrix([[1/4, 3/4]])
    """

    source: ClassVar[str] = "Graves et al. 2014, section 3.3.2"
    partial: ClassVar[bool] = True
    additive_mask: ClassVar[bool] = False
    word: ClassVar[str] = "ratio"
    rule_name: ClassVar[str] = "row ratio"
    reason: ClassVar[str] = (
        "Dividing by the sum of all its scores makes each query's weights sum to 1."
    )
    adjoint_because: ClassVar[str] = (
        "A score that rises takes weight from all others of its row: from each gradient the mean "
        "of its row is taken, weighed by the weights, and the rest is divided by the row's sum."
    )

    def _rule(self, i: Index, j: Index) -> Rule:
        index = dummy(i, j)
        score, size = self._along(i, j, index)
        return Over(rule_of(self.args[0], i, j), Total(score, index, size))

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        from symattn.nodes.lines import LineQuotient, LineSum

        matrix, axis = self.args
        return LineQuotient(self._less_mean(upstream, value), LineSum(matrix, axis), axis)

    @classmethod
    def _rows(cls, arithmetic: Arithmetic, scores: Array, *more: Array) -> Array:
        if arithmetic.hidden(scores).any():
            raise SymattnError(
                "weights: a score of −∞ has no ratio; mask before a softmax, or leave the mask out"
            )
        total = arithmetic.row_sum(scores)
        if arithmetic.vanishing(total).any():
            raise SymattnError(
                "weights: a row of scores sums to 0 (or too near 0 to tell), so it has no ratio; "
                'normalise with "softmax" instead'
            )
        return arithmetic.divide(scores, total)


class _OneMore(Normaliser):
    """A softmax over the scores and one more, whose weight then belongs to no key."""

    sums_to_one: ClassVar[bool] = False
    adjoint_because: ClassVar[str] = _SHARED_WEIGHT

    def _below(self, i: Index, j: Index, extra: Rule) -> Rule:
        """e^{z_ij} over `extra` and the sum of all exponentials."""
        index = dummy(i, j)
        score, size = self._along(i, j, index)
        return Over(Exp(rule_of(self.args[0], i, j)), Plus((extra, Total(Exp(score), index, size))))

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        return sympy.HadamardProduct(value, self._less_mean(upstream, value))

    @classmethod
    def _rows(cls, arithmetic: Arithmetic, scores: Array, *more: Array) -> Array:
        extra = more[0] if more else arithmetic.array(filled((1, 1), [sympy.S.Zero]))
        lines = np.broadcast_shapes(scores.shape[:-1], extra.shape[:-1])
        parts = [np.broadcast_to(part, (*lines, part.shape[-1])) for part in (scores, extra)]
        return Softmax._rows(arithmetic, np.concatenate(parts, axis=-1))[..., :-1]


class OffByOneSoftmax(_OneMore):
    """Softmax that may attend to nothing: a_ij = e^{z_ij} / (1 + Σ_l e^{z_il}).

    The weights of a row sum to less than 1, and to nearly 0 where all its scores are very
    negative. A score of −∞ gets weight 0. Arrays subtract the larger of the row maximum and 0.

    Shapes: n × m in and out. Raises `SymattnError` if its argument is no matrix.
    Source: Miller, *Attention Is Off By One* (2023).

    >>> print(OffByOneSoftmax(sympy.Matrix([[0, sympy.log(2)]])).doit())
    Matrix([[1/4, 1/2]])
    """

    source: ClassVar[str] = "Miller, Attention Is Off By One (2023)"
    word: ClassVar[str] = "softmax"
    rule_name: ClassVar[str] = "softmax off by one"
    reason: ClassVar[str] = (
        "The 1 in the denominator lets a query attend to nothing: its weights sum to less than 1."
    )

    def _rule(self, i: Index, j: Index) -> Rule:
        return self._below(i, j, Const(sympy.S.One))

    def _spell(self, speller: Speller) -> Tree:
        name = t.Script(t.Ident(self.word, roman=True), t.Num("1"))
        return t.call(name, speller.matrix(self.args[0]))


class SinkSoftmax(_OneMore):
    """Softmax with a learned sink: a_ij = e^{z_ij} / (e^s + Σ_l e^{z_il}).

    The sink s is one more logit, the same for all queries, whose weight is thrown away; with
    s = 0 it is `OffByOneSoftmax`. A score of −∞ gets weight 0.

    Shapes: n × m in and out, the sink 1 × 1. Raises `SymattnError` if an argument is no matrix
    and `ShapeError` if the sink is not 1 × 1.
    Source: Xiao et al., *Efficient Streaming Language Models with Attention Sinks* (2023), for
    sinks; OpenAI, gpt-oss (2025), for a learned logit in each head.

    >>> print(SinkSoftmax(sympy.Matrix([[0, 0]]), sympy.Matrix([[sympy.log(2)]])).doit())
    Matrix([[1/4, 1/4]])
    """

    source: ClassVar[str] = "Xiao et al. 2023; OpenAI, gpt-oss (2025)"
    word: ClassVar[str] = "softmax"
    rule_name: ClassVar[str] = "softmax with a sink"
    reason: ClassVar[str] = (
        "The sink is one more score, learned, that takes a share of each query's weight and "
        "passes nothing on."
    )

    def __new__(cls, matrix: Any, sink: Any, axis: Any = 1) -> Self:
        one = as_matrix(sink, cls.__name__)
        if tuple(one.shape) != (1, 1):
            rows, columns = one.shape
            raise ShapeError(f"sink: is {rows} × {columns}; give a single number, 1 × 1")
        scores = as_matrix(matrix, cls.__name__)
        return super(Normaliser, cls).__new__(cls, scores, one, sympy.Integer(axis))

    def _rule(self, i: Index, j: Index) -> Rule:
        return self._below(i, j, Exp(rule_of(self.args[1], 0, 0)))

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        if place == 0:
            return super()._adjoint(place, upstream, value)
        from symattn.nodes.lines import Filled, LineSum

        axis = self.args[-1]
        kept = LineSum(value, axis)
        taken = sympy.MatAdd(Filled(*kept.shape, 1), sympy.MatMul(-1, kept))
        told = LineSum(sympy.HadamardProduct(value, upstream), axis)
        parts = (sympy.Transpose(taken), told) if axis == 1 else (told, sympy.Transpose(taken))
        return sympy.MatMul(-1, *parts)


class Sigmoid(Normaliser):
    """Each score on its own: a_ij = σ(z_ij) = 1 / (1 + e^{−z_ij}).

    The weights of a row need not sum to 1. A score of −∞ gets weight 0. The bias −log n that the
    authors add to the scores is a step of its own.

    Shapes: n × m in and out. Raises `SymattnError` if its argument is no matrix.
    Source: Ramapuram et al., *Theory, Analysis, and Best Practices for Sigmoid Self-Attention*
    (2024).

    >>> print(Sigmoid(sympy.Matrix([[0, sympy.log(3)]])).doit())
    Matrix([[1/2, 3/4]])
    """

    source: ClassVar[str] = "Ramapuram et al. 2024"
    sums_to_one: ClassVar[bool] = False
    word: ClassVar[str] = "sigmoid"
    rule_name: ClassVar[str] = "sigmoid"
    reason: ClassVar[str] = (
        "Each score becomes a number between 0 and 1, whatever the other scores are."
    )
    adjoint_because: ClassVar[str] = (
        "A weight moves the most at a half and hardly at 0 or 1, whatever the other scores are."
    )

    def _rule(self, i: Index, j: Index) -> Rule:
        return Apply("σ", rule_of(self.args[0], i, j))

    def _define(self, speller: Speller, i: Index, j: Index) -> Iterator[Definition]:
        """σ(x) = 1/(1 + e^{−x})."""
        x = t.Ident("x")
        below = t.plus([t.Num("1"), t.power(t.Ident("e"), t.row(t.MINUS, x))])
        value = t.Frac(t.Num("1"), below)
        yield Definition(t.equation(t.call(t.Ident("σ"), x), (t.EQUALS, value)))

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        from symattn.nodes.lines import Filled

        rest = sympy.MatAdd(Filled(*self.shape, 1), sympy.MatMul(-1, value))
        return sympy.HadamardProduct(upstream, value, rest)

    @classmethod
    def _rows(cls, arithmetic: Arithmetic, scores: Array, *more: Array) -> Array:
        hidden = arithmetic.hidden(scores)
        safe = arithmetic.where(hidden, arithmetic.zero, scores)
        return arithmetic.where(hidden, arithmetic.zero, arithmetic.apply("σ", safe))


class Unnormalised(Normaliser):
    """The scores themselves as weights: a_ij = z_ij, and 0 where z_ij is −∞.

    For linear attention without a denominator, whose output is Q (Kᵀ V).

    Shapes: n × m in and out. Raises `SymattnError` if its argument is no matrix.
    Source: Sun et al., *Retentive Network* (2023), equation 5.

    >>> print(Unnormalised(sympy.Matrix([[2, -sympy.oo, -1]])).doit())
    Matrix([[2, 0, -1]])
    """

    source: ClassVar[str] = "Sun et al. 2023, equation 5"
    sums_to_one: ClassVar[bool] = False
    additive_mask: ClassVar[bool] = False
    word: ClassVar[str] = "none"
    rule_name: ClassVar[str] = "no normalisation"
    reason: ClassVar[str] = "The scores are the weights as they stand; nothing is normalised."
    adjoint_because: ClassVar[str] = "The scores are the weights, so that their gradients are one."

    def _rule(self, i: Index, j: Index) -> Rule:
        score = rule_of(self.args[0], i, j)
        hidden = Const(sympy.S.NegativeInfinity)
        return Cases(score, "=", hidden, Const(sympy.S.Zero), score)

    def _spell(self, speller: Speller) -> Tree:
        return speller.matrix(self.args[0])

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        from symattn.nodes.masks import Kept

        return Kept(upstream, self.args[0])

    @classmethod
    def _rows(cls, arithmetic: Arithmetic, scores: Array, *more: Array) -> Array:
        return arithmetic.where(arithmetic.hidden(scores), arithmetic.zero, scores)


#: The choices of the normaliser axis.
NORMALISERS: Mapping[str, type[Normaliser]] = {
    "softmax": Softmax,
    "softmax-off-by-one": OffByOneSoftmax,
    "softmax-sink": SinkSoftmax,
    "sum": RowRatio,
    "sigmoid": Sigmoid,
    "sparsemax": Sparsemax,
    "hardmax": Hardmax,
    "none": Unnormalised,
}
