"""The softmax taken apart: exponentials, the sum of each row, each entry over its row's sum."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arithmetic.base import Arithmetic, Array
from symattn.nodes.base import Node, as_matrix, shape_of
from symattn.nodes.rule import Exp, Index, Over, Rule, Total, dummy, rule_of
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.tree import Tree

_SOURCE = "Vaswani et al. 2017, section 3.2.1"


class Exponential(Node):
    """The exponential of every entry: f_ij = e^{z_ij}; of −∞ it is 0.

    Shapes: n × m in and out. Raises `SymattnError` if its argument is no matrix. In floating
    point e^z overflows for large z; `Softmax` as one step does not.
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
