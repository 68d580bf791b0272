"""`Normaliser`: what every node that turns scores into weights has in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self, cast

import numpy as np
import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arithmetic.base import Arithmetic, Array
from symattn.nodes.base import Node, as_matrix, shape_of
from symattn.nodes.rule import (
    Index,
    OfRow,
    Rule,
    dummy,
    rule_of,
)
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.tree import Tree


class Normaliser(Node):
    """What turns each row of scores into weights; `axis` 1 over rows, 0 over columns."""

    word: ClassVar[str] = ""
    reason: ClassVar[str] = ""
    rule_name: ClassVar[str] = ""

    #: Whether the weights of every query that sees a key sum to 1.
    sums_to_one: ClassVar[bool] = True

    #: Whether a masked score is −∞; otherwise it has to be made 0 before.
    additive_mask: ClassVar[bool] = True

    def __new__(cls, matrix: Any, axis: Any = 1) -> Self:
        return super().__new__(cls, as_matrix(matrix, cls.__name__), sympy.Integer(axis))

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """The shape of the scores."""
        return shape_of(self.args[0])

    def _along(self, i: Index, j: Index, index: sympy.Symbol) -> tuple[Rule, sympy.Expr]:
        """The score at `index` of the line through (i, j), and how long that line is."""
        matrix, axis = self.args[0], self.args[-1]
        if axis == 1:
            return rule_of(matrix, i, index), matrix.shape[1]
        return rule_of(matrix, index, j), matrix.shape[0]

    def _spell(self, speller: Speller) -> Tree:
        return t.call(t.Ident(self.word, roman=True), *map(speller.matrix, self.args[:-1]))

    def _flip(self, flip: Any) -> MatrixExpr:
        return cast(MatrixExpr, self.func(*map(flip, self.args[:-1]), 1 - self.args[-1]))

    def _less_mean(self, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr:
        """The gradient less its mean over the line, weighed by the weights: U − rowsum(A ∘ U)."""
        from symattn.nodes.lines import LineSum, PlusVector

        axis = self.args[-1]
        mean = LineSum(sympy.HadamardProduct(value, upstream), axis)
        return PlusVector(upstream, sympy.MatMul(-1, mean), 1 - axis)

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Any) -> Array:
        *matrices, axis = args
        if axis == 1:
            return cls._rows(arithmetic, *matrices)
        return arithmetic.transpose(cls._rows(arithmetic, *map(arithmetic.transpose, matrices)))

    @classmethod
    def _rows(cls, arithmetic: Arithmetic, scores: Array, *more: Array) -> Array:
        """The weights, each row on its own."""
        raise NotImplementedError


def unless_all_hidden(
    arithmetic: Arithmetic, scores: Array, weigh: Callable[[Array], Array]
) -> Array:
    """``weigh(scores)``, and 0 in every row that has nothing to attend to (−∞ alone)."""
    nothing = np.asarray(arithmetic.hidden(scores).all(axis=-1, keepdims=True))
    weights = weigh(arithmetic.where(nothing, arithmetic.zero, scores))
    return arithmetic.where(nothing, arithmetic.zero, weights)


class RowMax(Node):
    """The largest entry of each row as a column, ρ_i = max_l z_il; with `axis` 0 of each column.

    A row of −∞ alone (or of no entries) has the maximum −∞. Exact arithmetic proves every
    comparison; balls answer with one that holds the largest, whichever entry it is.

    Shapes: n × m becomes n × 1. Raises `SymattnError` if its argument is no matrix, and `Undecided`
    where exact entries can be neither told apart nor proven equal.
    Source: Blanchard, Higham, Higham, *Accurately computing the log-sum-exp and softmax functions*
    (2021), equation 1.3; Milakov and Gimelshein 2018, algorithm 2.

    >>> print(RowMax(sympy.Matrix([[1, sympy.sqrt(8)], [4, 3]])).doit())
    Matrix([[2*sqrt(2)], [4]])
    """

    source: ClassVar[str] = "Blanchard, Higham, Higham 2021, equation 1.3"

    adjoint_because: ClassVar[str] = (
        "Only the largest entry of a row has a say in its maximum; of equal ones the first counts."
    )

    def __new__(cls, matrix: Any, axis: Any = 1) -> Self:
        return super().__new__(cls, as_matrix(matrix, "RowMax"), sympy.Integer(axis))

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """One number for each row (or column)."""
        rows, columns = shape_of(self.args[0])
        return (rows, sympy.S.One) if self.args[1] == 1 else (sympy.S.One, columns)

    def _rule(self, i: Index, j: Index) -> Rule:
        matrix, axis = self.args
        index = dummy(i, j)
        rows, columns = shape_of(matrix)
        if axis == 1:
            return OfRow("max", (rule_of(matrix, i, index),), index, columns)
        return OfRow("max", (rule_of(matrix, index, j),), index, rows)

    def _spell(self, speller: Speller) -> Tree:
        word = "rowmax" if self.args[1] == 1 else "colmax"
        return t.call(t.Ident(word, roman=True), speller.matrix(self.args[0]))

    def _flip(self, flip: Any) -> MatrixExpr:
        return RowMax(flip(self.args[0]), 1 - self.args[1])

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        from symattn.nodes.lines import Spread
        from symattn.nodes.simplex import Hardmax

        matrix, axis = self.args
        spread = Spread(upstream, shape_of(matrix)[int(axis)], axis)
        return sympy.HadamardProduct(spread, Hardmax(matrix, axis))

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Any) -> Array:
        matrix, axis = args
        if axis == 1:
            return arithmetic.row_max(matrix)
        return arithmetic.transpose(arithmetic.row_max(arithmetic.transpose(matrix)))
