"""Functions of every entry: soft cap and feature maps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arithmetic.base import Arithmetic, Array
from symattn.errors import SymattnError, nearest
from symattn.nodes.base import Definition, Node, as_matrix, as_scalar, shape_of
from symattn.nodes.rule import Apply, Const, Exp, Index, Over, Rule, Times, rule_of
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.tree import Tree


class SoftCap(Node):
    """Scores kept between −c and c, smoothly: t_ij = c tanh(z_ij / c).

    Shapes: n × m in and out. Raises `SymattnError` if c is not positive.
    Source: Gemma Team, *Gemma 2* (2024), section 2 (logit soft-capping).

    >>> print(SoftCap(sympy.MatrixSymbol("Z", 2, 2), 30))
    30 tanh(Z/30)
    """

    source: ClassVar[str] = "Gemma Team 2024, section 2"

    adjoint_because: ClassVar[str] = (
        "The slope of tanh is 1 − tanh²: a score near the cap hardly moves any more."
    )

    def __new__(cls, matrix: Any, cap: Any) -> Self:
        bound = as_scalar(cap, "SoftCap")
        if bound.is_positive is False:
            raise SymattnError(f"soft cap {cap}: give a positive number")
        return super().__new__(cls, as_matrix(matrix, "SoftCap"), bound)

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """The shape of the scores."""
        return shape_of(self.args[0])

    def _rule(self, i: Index, j: Index) -> Rule:
        cap = Const(self.args[1])
        return Times((cap, Apply("tanh", Over(rule_of(self.args[0], i, j), cap))))

    def _spell(self, speller: Speller) -> Tree:
        cap = speller.scalar(self.args[1])
        inside = t.Frac(speller.matrix(self.args[0]), cap)
        return t.times([cap, t.call(t.Ident("tanh", roman=True), inside)])

    def _flip(self, flip: Any) -> MatrixExpr:
        return SoftCap(flip(self.args[0]), self.args[1])

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        from symattn.nodes.lines import Filled
        from symattn.nodes.scale import Quotient

        bent = Quotient(value, self.args[1])
        square = sympy.MatMul(-1, sympy.HadamardProduct(bent, bent))
        return sympy.HadamardProduct(upstream, sympy.MatAdd(Filled(*self.shape, 1), square))

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Any) -> Array:
        matrix, cap = args
        bent = arithmetic.apply("tanh", arithmetic.over(matrix, cap))
        return arithmetic.scaled(bent, cap)


#: Feature maps by name: the function of an entry, or None for the exponential.
FEATURE_MAPS: Mapping[str, str | None] = {"elu+1": "elu1", "relu": "max0", "exp": None}


class Features(Node):
    """A feature map of every entry, φ(q_ij): elu(x) + 1, max(0, x) or e^x; none is negative.

    Shapes: n × d in and out. Raises `SymattnError` for an unknown map.
    Source: Katharopoulos et al., *Transformers are RNNs* (2020), section 3.2.1, eq. 7.
    """

    source: ClassVar[str] = "Katharopoulos et al. 2020, section 3.2.1"

    adjoint_because: ClassVar[str] = (
        "Each number's gradient is multiplied by the slope of the feature map there."
    )

    def __new__(cls, matrix: Any, kind: Any = "elu+1") -> Self:
        name = str(kind)
        if name not in FEATURE_MAPS:
            raise SymattnError(f'feature map "{name}" is not known{nearest(name, FEATURE_MAPS)}')
        return super().__new__(cls, as_matrix(matrix, "Features"), sympy.Symbol(name))

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """The shape of the matrix."""
        return shape_of(self.args[0])

    def _rule(self, i: Index, j: Index) -> Rule:
        function, entry = FEATURE_MAPS[self.args[1].name], rule_of(self.args[0], i, j)
        return Exp(entry) if function is None else Apply(function, entry)

    def _define(self, speller: Speller, i: Index, j: Index) -> Iterator[Definition]:
        """elu(x) = x where x ≥ 0, else e^x − 1."""
        if FEATURE_MAPS[self.args[1].name] != "elu1":
            return
        x = t.Ident("x")
        below = t.plus([t.power(t.Ident("e"), x), t.row(t.MINUS, t.Num("1"))])
        value = t.cases([(x, t.equation(x, (t.Op("≥"), t.Num("0"))))], below)
        yield Definition(t.equation(t.call(t.Ident("elu", roman=True), x), (t.EQUALS, value)))

    def _spell(self, speller: Speller) -> Tree:
        return t.call(t.Ident("φ"), speller.matrix(self.args[0]))

    def _flip(self, flip: Any) -> MatrixExpr:
        return Features(flip(self.args[0]), self.args[1])

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        from symattn.nodes.entrywise import Entrywise

        slope = {
            "exp": value,
            "relu": Entrywise(value, "above0"),
            "elu+1": Entrywise(value, "min1"),
        }
        return sympy.HadamardProduct(upstream, slope[self.args[1].name])

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Any) -> Array:
        matrix, kind = args
        function = FEATURE_MAPS[str(kind)]
        return arithmetic.exp(matrix) if function is None else arithmetic.apply(function, matrix)
