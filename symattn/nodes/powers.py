"""Powers whose exponents are made of places, and choices by what numbers are: γ^(i − j), x ≤ 0."""

from __future__ import annotations

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arithmetic.base import Arithmetic, Array
from symattn.nodes import rule as r
from symattn.nodes.arguments import Matrix, Operand
from symattn.nodes.base import Node, shape_of
from symattn.nodes.defined import Counted, OfPlaces, at_place, named, places
from symattn.nodes.lines import Filled
from symattn.nodes.rule import Index, Rule
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.tree import Tree

_SOURCE = "Horn and Johnson 1991, section 6.3"


class WholePower(Node):
    """Every entry to a whole power that its place says: c_ij = a_ij^(i − j); a^0 is 1.

    `exponent` is a formula of places, as in `Counted`.

    Shapes: n × m in and out. Raises `SymattnError` if an exponent is not whole.
    Source: Horn and Johnson, *Topics in Matrix Analysis* (1991), section 6.3.
    """

    matrix, exponent = Matrix(), OfPlaces()
    transposes = True
    source = _SOURCE
    adjoint_because = "Power rule: each entry's gradient is multiplied by p a^(p − 1)."

    def _rule(self, i: Index, j: Index) -> Rule:
        exponent = at_place(self.exponent, i, j)
        return r.Power(r.rule_of(self.matrix, i, j), r.index_of(exponent))

    def _spell(self, speller: Speller) -> Tree:
        raised = t.inline(speller.scalar(named(self.exponent)))
        if self.exponent.is_number:  # X^∘2, where X² would be X X
            raised = t.row(t.Op("∘"), raised)
        return t.power(speller.matrix(self.matrix), raised)

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        exponent = self.exponent
        less = WholePower(self.matrix, exponent - 1)
        if exponent.is_number:
            return sympy.MatMul(exponent, sympy.HadamardProduct(upstream, less))
        return sympy.HadamardProduct(upstream, Counted(*self.shape, exponent), less)

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, matrix: Array, exponent: Operand) -> Array:
        rows, columns = (sympy.sympify(size, strict=True) for size in matrix.shape[-2:])
        return arithmetic.whole_power(matrix, places(arithmetic, rows, columns, exponent))


class WhereAtMost(Node):
    """One of two entries by two others: c_ij = v_ij if a_ij ≤ b_ij, else w_ij.

    Shapes: all n × m. Raises `SymattnError` if an argument is no matrix, and `Undecided` where
    exact numbers can be neither told apart nor proven equal; balls answer with one that holds both
    where they overlap. Source: Iverson, *A Programming Language* (1962), section 1.5.
    """

    left, right, value, otherwise = Matrix(), Matrix(), Matrix(), Matrix()
    transposes = True
    source = "Iverson 1962, section 1.5"
    adjoint_because = "Each entry is that of one of the two, which receives its gradient."

    @property
    def extreme(self) -> str:
        """That it is the larger (max) or the smaller (min) of two entries; empty if neither."""
        chosen = self.value, self.otherwise
        return {(self.right, self.left): "max", (self.left, self.right): "min"}.get(chosen, "")

    def phrase(self) -> str:
        """The larger or the smaller of two entries has a word, any other choice is cases."""
        return f"{self.extreme}(left, right)" if self.extreme else ""

    def _rule(self, i: Index, j: Index) -> Rule:
        left, right, value, otherwise = (r.rule_of(matrix, i, j) for matrix in self.args)
        return r.Cases(left, "≤", right, value, otherwise)

    def _spell(self, speller: Speller) -> Tree:
        left, right, value, otherwise = map(speller.matrix, self.args)
        if self.extreme:
            return t.call(t.Ident(self.extreme, roman=True), left, right)
        return t.cases([(value, t.equation(left, (t.Op("≤"), right)))], otherwise)

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        if place < 2:
            return None
        zero = Filled(*shape_of(self), 0)
        pair = (upstream, zero) if place == 2 else (zero, upstream)
        return WhereAtMost(self.left, self.right, *pair)

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Operand) -> Array:
        return arithmetic.where_at_most(*args)
