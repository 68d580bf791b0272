"""The softmax taken apart: row maxima, exponentials, row sums, each entry over its row's sum."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arithmetic.base import Arithmetic, Array
from symattn.errors import ShapeError
from symattn.nodes.base import Node, as_matrix, shape_of
from symattn.nodes.rule import (
    Exp,
    Index,
    OfRow,
    Over,
    Plus,
    Rule,
    Total,
    dummy,
    minus,
    rule_of,
)
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.tree import Tree

_SOURCE = "Vaswani et al. 2017, section 3.2.1"
_SHIFTED = "Blanchard, Higham, Higham 2021, equation 1.3"


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

    source: ClassVar[str] = _SHIFTED

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
        from symattn.nodes.simplex import Hardmax
        from symattn.nodes.spread import Spread

        matrix, axis = self.args
        spread = Spread(upstream, shape_of(matrix)[int(axis)], axis)
        return sympy.HadamardProduct(spread, Hardmax(matrix, axis))

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Any) -> Array:
        matrix, axis = args
        if axis == 1:
            return arithmetic.row_max(matrix)
        return arithmetic.transpose(arithmetic.row_max(arithmetic.transpose(matrix)))


class LineDifference(Node):
    """Each row less its own number: d_ij = z_ij − ρ_i; −∞ stays −∞ whatever is subtracted.

    So a row of −∞ alone, whose maximum is −∞, is left as it is.

    Shapes: n × m and n × 1 give n × m; with ρ a row 1 × m (`axis` 0), columns are lowered instead.
    Raises `ShapeError` if the second argument is not that. Source: Blanchard, Higham, Higham 2021,
    equation 1.3.

    >>> print(LineDifference(sympy.Matrix([[1, 3], [2, 2]]), sympy.Matrix([3, 2])).doit())
    Matrix([[-2, 0], [0, 0]])
    """

    source: ClassVar[str] = _SHIFTED

    adjoint_because: ClassVar[str] = (
        "A difference passes its gradient on; the number was taken from a whole row, whose "
        "gradients add up with a minus."
    )

    def __new__(cls, matrix: Any, numbers: Any, axis: Any = 1) -> Self:
        body, line = as_matrix(matrix, "LineDifference"), as_matrix(numbers, "LineDifference")
        wanted = (body.shape[0], 1) if axis == 1 else (1, body.shape[1])
        if tuple(line.shape) != wanted:
            raise ShapeError(f"LineDifference: the numbers have to be {wanted[0]} × {wanted[1]}")
        return super().__new__(cls, body, line, sympy.Integer(axis))

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """The shape of the matrix."""
        return shape_of(self.args[0])

    def _rule(self, i: Index, j: Index) -> Rule:
        matrix, numbers, axis = self.args
        below = rule_of(numbers, i, 0) if axis == 1 else rule_of(numbers, 0, j)
        terms = rule_of(matrix, i, j), minus(below)
        return Plus(terms, empty=sympy.S.NegativeInfinity)

    def _spell(self, speller: Speller) -> Tree:
        from symattn.nodes.spread import Spread

        matrix, numbers, axis = self.args
        spread = Spread(numbers, shape_of(matrix)[int(axis)], axis)
        return t.plus([speller.matrix(matrix), t.negated(speller.matrix(spread))])

    def _flip(self, flip: Any) -> MatrixExpr:
        return LineDifference(flip(self.args[0]), flip(self.args[1]), 1 - self.args[2])

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        if place == 0:
            return upstream
        return sympy.MatMul(-1, LineSum(upstream, self.args[2]))

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Any) -> Array:
        matrix, numbers, _ = args
        none = arithmetic.hidden(numbers)
        safe = arithmetic.where(none, arithmetic.zero, numbers)
        return arithmetic.add(matrix, np.asarray(-safe))


class Exponential(Node):
    """The exponential of every entry: f_ij = e^{z_ij}; of −∞ it is 0.

    Shapes: n × m in and out. Raises `SymattnError` if its argument is no matrix. In floating
    point e^z overflows for large z; e^(z − ρ) with the row's maximum ρ (`RowMax`) does not.
    Source: Vaswani et al. 2017, section 3.2.1.
    """

    source: ClassVar[str] = _SOURCE

    adjoint_because: ClassVar[str] = (
        "An exponential grows as fast as it is large: its gradient is multiplied by its value."
    )

    def __new__(cls, matrix: Any) -> Self:
        return super().__new__(cls, as_matrix(matrix, "Exponential"))

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """The shape of the argument."""
        return shape_of(self.args[0])

    def _rule(self, i: Index, j: Index) -> Rule:
        return Exp(rule_of(self.args[0], i, j))

    def _spell(self, speller: Speller) -> Tree:
        return t.call(t.Ident("exp", roman=True), speller.matrix(self.args[0]))

    def _flip(self, flip: Any) -> MatrixExpr:
        return Exponential(flip(self.args[0]))

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        return sympy.HadamardProduct(upstream, value)

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Any) -> Array:
        return arithmetic.exp(args[0])


class LineSum(Node):
    """The sum of each row as a column, r_i = Σ_l f_il; with `axis` 0 of each column, as a row.

    Shapes: n × m becomes n × 1. Raises `SymattnError` if its argument is no matrix.
    Source: Vaswani et al. 2017, section 3.2.1 (the denominator of the softmax).
    """

    source: ClassVar[str] = _SOURCE

    adjoint_because: ClassVar[str] = (
        "Every entry of a row has the same part in its sum, so that all have its gradient."
    )

    def __new__(cls, matrix: Any, axis: Any = 1) -> Self:
        return super().__new__(cls, as_matrix(matrix, "LineSum"), sympy.Integer(axis))

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """One number for each row (or column)."""
        rows, columns = self.args[0].shape
        return (rows, sympy.S.One) if self.args[1] == 1 else (sympy.S.One, columns)

    def _rule(self, i: Index, j: Index) -> Rule:
        matrix, axis = self.args
        if axis == 1:
            index = dummy(i)
            return Total(rule_of(matrix, i, index), index, matrix.shape[1])
        index = dummy(j)
        return Total(rule_of(matrix, index, j), index, matrix.shape[0])

    def _spell(self, speller: Speller) -> Tree:
        word = "rowsum" if self.args[1] == 1 else "colsum"
        return t.call(t.Ident(word, roman=True), speller.matrix(self.args[0]))

    def _flip(self, flip: Any) -> MatrixExpr:
        return LineSum(flip(self.args[0]), 1 - self.args[1])

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        from symattn.nodes.spread import Spread

        matrix, axis = self.args
        return Spread(upstream, shape_of(matrix)[int(axis)], axis)

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Any) -> Array:
        matrix, axis = args
        if axis == 1:
            return arithmetic.row_sum(matrix)
        return arithmetic.transpose(arithmetic.row_sum(arithmetic.transpose(matrix)))


class LineQuotient(Node):
    """Each row over its own number: a_ij = f_ij / r_i; where r_i is 0 the row is 0.

    Shapes: n × m and n × 1 give n × m; with r a row 1 × m, columns are divided instead. Raises
    `SymattnError` if an argument is no matrix. Source: Vaswani et al. 2017, section 3.2.1.
    """

    source: ClassVar[str] = _SOURCE

    adjoint_because: ClassVar[str] = (
        "A share grows with its own part, and shrinks in proportion to itself as the sum grows."
    )

    def __new__(cls, matrix: Any, sums: Any, axis: Any = 1) -> Self:
        parts = as_matrix(matrix, "LineQuotient"), as_matrix(sums, "LineQuotient")
        return super().__new__(cls, *parts, sympy.Integer(axis))

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """The shape of the matrix."""
        return shape_of(self.args[0])

    def _rule(self, i: Index, j: Index) -> Rule:
        matrix, sums, axis = self.args
        below = rule_of(sums, i, 0) if axis == 1 else rule_of(sums, 0, j)
        return Over(rule_of(matrix, i, j), below, empty=sympy.S.Zero)

    def _spell(self, speller: Speller) -> Tree:
        return t.Frac(speller.matrix(self.args[0]), speller.matrix(self.args[1]))

    def _flip(self, flip: Any) -> MatrixExpr:
        return LineQuotient(flip(self.args[0]), flip(self.args[1]), 1 - self.args[2])

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        _, sums, axis = self.args
        if place == 0:
            return LineQuotient(upstream, sums, axis)
        told = LineSum(sympy.HadamardProduct(value, upstream), axis)
        return sympy.MatMul(-1, LineQuotient(told, sums, axis))

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Any) -> Array:
        matrix, sums, _ = args
        nothing = arithmetic.equals(sums, 0)
        safe = arithmetic.where(nothing, arithmetic.scalar(sympy.S.One), sums)
        quotient = arithmetic.divide(matrix, safe)
        return arithmetic.where(nothing, arithmetic.zero, quotient)
