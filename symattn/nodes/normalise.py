"""From scores to weights: row softmax, and the plain ratio it replaced.

Adding a normaliser is adding a class and a row of `NORMALISERS` here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arithmetic.base import Arithmetic, Array
from symattn.errors import SymattnError
from symattn.nodes.base import Node, as_matrix, shape_of
from symattn.nodes.rule import Exp, Index, Over, Rule, Total, dummy, rule_of
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.tree import Tree


class Normaliser(Node):
    """What turns each row of scores into weights; `axis` 1 over rows, 0 over columns."""

    word: ClassVar[str] = ""
    reason: ClassVar[str] = ""
    rule_name: ClassVar[str] = ""

    def __new__(cls, matrix: Any, axis: Any = 1) -> Self:
        return super().__new__(cls, as_matrix(matrix, cls.__name__), sympy.Integer(axis))

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """The shape of the scores."""
        return shape_of(self.args[0])

    def _along(self, i: Index, j: Index, index: sympy.Symbol) -> tuple[Rule, sympy.Expr]:
        """The score at `index` of the line through (i, j), and how long that line is."""
        matrix, axis = self.args
        if axis == 1:
            return rule_of(matrix, i, index), matrix.shape[1]
        return rule_of(matrix, index, j), matrix.shape[0]

    def _spell(self, speller: Speller) -> Tree:
        return t.call(t.Ident(self.word, roman=True), speller.matrix(self.args[0]))

    def _flip(self, flip: Any) -> MatrixExpr:
        return type(self)(flip(self.args[0]), 1 - self.args[1])

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Any) -> Array:
        matrix, axis = args
        if axis == 1:
            return cls._rows(arithmetic, matrix)
        return arithmetic.transpose(cls._rows(arithmetic, arithmetic.transpose(matrix)))

    @classmethod
    def _rows(cls, arithmetic: Arithmetic, scores: Array) -> Array:
        """The weights, each row on its own."""
        raise NotImplementedError


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

    def _rule(self, i: Index, j: Index) -> Rule:
        index = dummy(i, j)
        score, size = self._along(i, j, index)
        total = Total(Exp(score), index, size)
        return Over(Exp(rule_of(self.args[0], i, j)), total, empty=sympy.S.Zero)

    @classmethod
    def _rows(cls, arithmetic: Arithmetic, scores: Array) -> Array:
        nothing = np.asarray(arithmetic.hidden(scores).all(axis=-1, keepdims=True))
        safe = arithmetic.where(nothing, arithmetic.zero, scores)
        powers = arithmetic.exp(arithmetic.shift(safe))
        weights = arithmetic.share(powers, arithmetic.row_sum(powers))
        return arithmetic.where(nothing, arithmetic.zero, weights)


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
    word: ClassVar[str] = "ratio"
    rule_name: ClassVar[str] = "row ratio"
    reason: ClassVar[str] = (
        "Dividing by the sum of all its scores makes each query's weights sum to 1."
    )

    def _rule(self, i: Index, j: Index) -> Rule:
        index = dummy(i, j)
        score, size = self._along(i, j, index)
        return Over(rule_of(self.args[0], i, j), Total(score, index, size))

    @classmethod
    def _rows(cls, arithmetic: Arithmetic, scores: Array) -> Array:
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


#: The choices of the normaliser axis.
NORMALISERS: Mapping[str, type[Normaliser]] = {"softmax": Softmax, "sum": RowRatio}
