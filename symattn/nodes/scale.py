"""Scaling the scores: S / √d_k, with the root kept as it is written."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arithmetic.base import Arithmetic, Array
from symattn.nodes.base import Node, as_matrix, as_scalar, shape_of
from symattn.nodes.rule import Const, Index, Over, Rule, rule_of
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

    source: ClassVar[str] = "Vaswani et al. 2017, section 3.2.1"

    def __new__(cls, matrix: Any, divisor: Any) -> Self:
        return super().__new__(cls, as_matrix(matrix, "Quotient"), as_scalar(divisor, "Quotient"))

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """The shape of the matrix."""
        return shape_of(self.args[0])

    def _rule(self, i: Index, j: Index) -> Rule:
        return Over(rule_of(self.args[0], i, j), Const(self.args[1]))

    def _spell(self, speller: Speller) -> Tree:
        return t.Frac(speller.matrix(self.args[0]), speller.scalar(self.args[1]))

    def _flip(self, flip: Any) -> MatrixExpr:
        return Quotient(flip(self.args[0]), self.args[1])

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Any) -> Array:
        matrix, divisor = args
        return arithmetic.over(matrix, divisor)
