"""Scaling: S / √d_k, or d_k^(−1/4) on queries and keys, with roots kept as they are written."""

from __future__ import annotations

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arithmetic.base import Arithmetic, Array
from symattn.nodes import rule as r
from symattn.nodes.arguments import Matrix, Operand, Scalar
from symattn.nodes.base import Node
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
    transposes = True
    source = "Vaswani et al. 2017, section 3.2.1"
    adjoint_because = "Dividing a matrix by a number divides its gradient by the same number."

    def _rule(self, i: Index, j: Index) -> Rule:
        return r.Over(r.rule_of(self.matrix, i, j), r.Const(self.divisor))

    def _spell(self, speller: Speller) -> Tree:
        return t.Frac(speller.matrix(self.matrix), speller.scalar(self.divisor))

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        return Quotient(upstream, self.divisor)

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Operand) -> Array:
        matrix, divisor = args
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
    transposes = True
    source = "ONNX, operator Attention"

    adjoint_because = "Multiplying a matrix by a number multiplies its gradient by the same number."

    def _rule(self, i: Index, j: Index) -> Rule:
        matrix, base, exponent = self.args
        factor = sympy.Pow(base, exponent, evaluate=False)
        return r.Times((r.Const(factor), r.rule_of(matrix, i, j)))

    def _entry(self, i: Index, j: Index, **kwargs: object) -> sympy.Expr:
        matrix, base, exponent = self.args
        return base**exponent * matrix[i, j]

    def _spell(self, speller: Speller) -> Tree:
        matrix, base, exponent = self.args
        factor = sympy.Pow(base, exponent, evaluate=False)
        return t.times([speller.scalar(factor), speller.matrix(matrix)])

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        return PowerTimes(upstream, *self.args[1:])

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Operand) -> Array:
        matrix, base, exponent = args
        return arithmetic.scaled(matrix, base**exponent)
