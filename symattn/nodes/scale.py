"""Scaling: S / √d_k, or d_k^(−1/4) on queries and keys, with roots kept as they are written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arithmetic.base import Arithmetic, Array
from symattn.errors import ShapeError
from symattn.nodes import rule as r
from symattn.nodes.arguments import Extent, Matrix, Operand, Scalar, as_matrix
from symattn.nodes.base import Node, shape_of
from symattn.nodes.lines import EntrySum
from symattn.nodes.rule import Index, Rule
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.tree import Tree


class Quotient(Node):
    """A matrix over a scalar: Z = S / √d_k, z_ij = s_ij / √d_k.

    SymPy's own product would hoist 1/√d_k to the front and turn 1/√2 into √2/2.

    Shapes: `matrix` n × m; `divisor` a scalar. Raises `SymattnError` if `matrix` is no matrix.
    Source: Vaswani et al., *Attention Is All You Need* (2017), section 3.2.1.

    >>> S = sympy.MatrixSymbol("S", 2, 2)
    >>> print(Quotient(S, sympy.sqrt(2)))
    S/√2
    """

    matrix, divisor = Matrix(), Scalar()
    by_rows = 1
    syntax = "matrix / divisor"
    entrywise = True
    source = "Vaswani et al. 2017, section 3.2.1"
    is_quotient = True
    adjoint_because = "Dividing a matrix by a number divides its gradient by the same number."

    def _rule(self, i: Index, j: Index) -> Rule:
        return r.Over(r.rule_of(self.matrix, i, j), r.Const(self.divisor))

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        return Quotient(upstream, self.divisor)

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, matrix: Array, divisor: Operand) -> Array:
        return arithmetic.over(matrix, divisor)


class PowerTimes(Node):
    """A matrix times a power of a number, as it is written: Q_s = d_k^(−1/4) Q.

    SymPy itself would make d_k^(−1/4) a denominator, and of 4^(−1/4) the number √2/2.

    Shapes: `matrix` n × m; `base` and `exponent` scalars. Raises `SymattnError` if `matrix` is no
    matrix. Source: ONNX, operator Attention, which puts the root of its scale on Q and on K.

    >>> Q = sympy.MatrixSymbol("Q", 2, 4)
    >>> print(PowerTimes(Q, 4, sympy.Rational(-1, 4)))
    4^(−1/4) Q
    >>> PowerTimes(sympy.Matrix([[3]]), 4, sympy.Rational(-1, 4)).doit()
    Matrix([[3*sqrt(2)/2]])
    """

    matrix, base, exponent = Matrix(), Scalar(), Scalar()
    by_rows = 1
    syntax = "base^(exponent) matrix"
    transposes = True
    source = "ONNX, operator Attention"

    adjoint_because = "Multiplying a matrix by a number multiplies its gradient by the same number."

    def _rule(self, i: Index, j: Index) -> Rule:
        factor = sympy.Pow(self.base, self.exponent, evaluate=False)
        return r.Times((r.Const(factor), r.rule_of(self.matrix, i, j)))

    def _entry(self, i: Index, j: Index, **kwargs: object) -> sympy.Expr:
        return self.base**self.exponent * self.matrix[i, j]

    def _spell(self, speller: Speller) -> Tree:
        factor = sympy.Pow(self.base, self.exponent, evaluate=False)
        return t.times([speller.scalar(factor), speller.matrix(self.matrix)])

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        return PowerTimes(upstream, *self.args[1:])

    @classmethod
    def _compute(
        cls, arithmetic: Arithmetic, matrix: Array, base: Operand, exponent: Operand
    ) -> Array:
        return arithmetic.scaled(matrix, base**exponent)


_NUMBER = "Griewank and Walther 2008, section 3.2"


class OneNumber(Matrix):
    """A matrix of one number. Raises `ShapeError` for another."""

    def read(self, value: object, owner: str) -> sympy.Basic:
        number = as_matrix(value, owner)
        if shape_of(number) != (1, 1):
            raise ShapeError(f"{owner}: {number.shape} is not one number")
        return number


class NumberTimes(Node):
    """A number that is an input or a step, times a matrix: c_ij = λ a_ij.

    Shapes: `number` 1 × 1, `matrix` n × m. Raises `ShapeError` if the number is none.
    Source: Griewank, Walther, *Evaluating Derivatives* (2008), section 3.2.

    >>> print(NumberTimes(sympy.Matrix([[2]]), sympy.Matrix([[1, 3]])).doit())
    Matrix([[2, 6]])
    """

    number, matrix = OneNumber(), Matrix()
    syntax = "number matrix"
    entrywise = True
    source = _NUMBER
    adjoint_because = "The gradient of each factor is the product's gradient times the other."
    adjoint_reasons: ClassVar[Mapping[int, str]] = {
        0: "The number multiplies every entry, so its gradient adds up what it is in each of them."
    }

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """That of the matrix."""
        return shape_of(self.matrix)

    def _rule(self, i: Index, j: Index) -> Rule:
        return r.Times((r.rule_of(self.number, 0, 0), r.rule_of(self.matrix, i, j)))

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        if place == 0:
            return EntrySum(sympy.HadamardProduct(upstream, self.matrix))
        return NumberTimes(self.number, upstream)

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Operand) -> Array:
        return arithmetic.multiply(*args)


class NumberQuotient(Node):
    """A matrix over a number that is an input or a step: c_ij = a_ij / λ.

    Shapes: `matrix` n × m, `number` 1 × 1. Raises `ShapeError` if the number is none.
    Source: Griewank, Walther, *Evaluating Derivatives* (2008), section 3.2.
    """

    matrix, number = Matrix(), OneNumber()
    syntax = "matrix / number"
    entrywise = True
    source = _NUMBER
    adjoint_because = "Dividing a matrix by a number divides its gradient by the same number."
    adjoint_reasons: ClassVar[Mapping[int, str]] = {
        1: "Quotient rule: every entry falls as the number it is divided by rises."
    }

    def _rule(self, i: Index, j: Index) -> Rule:
        return r.Over(r.rule_of(self.matrix, i, j), r.rule_of(self.number, 0, 0))

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        if place == 0:
            return NumberQuotient(upstream, self.number)
        along = EntrySum(sympy.HadamardProduct(upstream, value))
        return sympy.MatMul(-1, NumberQuotient(along, self.number))

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Operand) -> Array:
        return arithmetic.divide(*args)


class Everywhere(Node):
    """A number that is an input or a step, in every entry: c_ij = λ.

    Shapes: `number` 1 × 1 gives rows × columns. Raises `ShapeError` if the number is none.
    Source: Griewank, Walther, *Evaluating Derivatives* (2008), section 3.2.
    """

    number, rows, columns = OneNumber(), Extent(), Extent()
    uniform = transposes = True
    syntax = "number"
    source = _NUMBER
    adjoint_because = "The number stands in every entry, so its gradient adds up those of all."

    def _rule(self, i: Index, j: Index) -> Rule:
        return r.rule_of(self.number, 0, 0)

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        return EntrySum(upstream)

    @classmethod
    def _compute(
        cls, arithmetic: Arithmetic, number: Operand, rows: Operand, columns: Operand
    ) -> Array:
        return arithmetic.broadcast(number, rows, columns)
