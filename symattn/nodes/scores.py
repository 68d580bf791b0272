"""Ways to score a query against a key beside the dot product: additive, distance.

The dot product itself is SymPy's own matrix product, Q Kᵀ, and the general score Q W Kᵀ; the cosine
is the product of `UnitVectors`. The gradients of the additive score are `PairSum`s.
"""

from __future__ import annotations

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arithmetic.base import Arithmetic, Array
from symattn.errors import ShapeError, SymattnError
from symattn.nodes import rule as r
from symattn.nodes.arguments import Matrix, OneOf, Operand, Scalar
from symattn.nodes.base import Node, check_shape, shape_of
from symattn.nodes.lines import Filled, LineProduct, LineSum
from symattn.nodes.rule import Index, Rule
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.tree import Tree


class OfPairs(Node):
    """A score of each query and key, which are rows of the same width."""

    queries, keys = Matrix(), Matrix()
    by_rows = 1

    def _check(self) -> None:
        of_queries, of_keys = self.queries.shape[1], self.keys.shape[1]
        if of_queries != of_keys:
            raise ShapeError(
                f"{type(self).__name__}: queries have {of_queries} columns, keys {of_keys}; "
                "give them equally many"
            )

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """Queries × keys."""
        return shape_of(self.queries)[0], shape_of(self.keys)[0]


class Distance(OfPairs):
    """Minus the squared distance: s_ij = −Σ_l (q_il − k_jl)².

    Its softmax with scale 1/(2σ²) is the Gaussian kernel of Nadaraya–Watson regression.

    Shapes: n × d and m × d give n × m. Raises `ShapeError` if the widths differ.
    Source: Nadaraya, *On Estimating Regression* (1964); Watson, *Smooth Regression Analysis*
    (1964).
    """

    syntax = "-dist2(queries, keys)"
    source = "Nadaraya 1964; Watson 1964"
    between = (None, 0)

    adjoint_because = (
        "The derivative of minus the squared distance is twice the difference of the vectors; "
        "the contributions of all pairs are added."
    )

    def _rule(self, i: Index, j: Index) -> Rule:
        index = r.dummy(i, j, self)
        apart = r.Plus((r.rule_of(self.queries, i, index), r.minus(r.rule_of(self.keys, j, index))))
        return r.minus(r.Total(r.Power(apart, 2), index, self.queries.shape[1]))

    def _spell(self, speller: Speller) -> Tree:
        name = t.Script(t.Ident("dist", roman=True), None, t.Num("2"))
        return t.row(t.MINUS, t.call(name, *map(speller.matrix, self.args)))

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        one, other = self.args if place == 0 else self.args[::-1]
        turned = upstream if place == 0 else sympy.Transpose(upstream)
        towards = sympy.MatMul(turned, other)
        away = LineProduct(one, LineSum(turned))
        return sympy.MatMul(2, sympy.MatAdd(towards, sympy.MatMul(-1, away)))

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, queries: Array, keys: Array) -> Array:
        apart = arithmetic.subtract(arithmetic.expand(queries, -2), arithmetic.expand(keys, -3))
        return arithmetic.negative(arithmetic.total(arithmetic.multiply(apart, apart), -1))


class Additive(OfPairs):
    """A small network scores each pair: s_ij = Σ_l v_l tanh(q_il + k_jl).

    `queries` and `keys` are projected to the hidden width already.

    Shapes: n × d, m × d and d × 1 give n × m. Raises `ShapeError` if the widths differ.
    Source: Bahdanau, Cho, Bengio, *Neural Machine Translation by Jointly Learning to Align and
    Translate* (2015), section A.1.2; its W_a s_{i−1} and U_a h_j are our rows of Q W_a and K U_a.
    """

    vector = Matrix()
    syntax = "additive(queries, keys, vector)"
    source = "Bahdanau, Cho, Bengio 2015, appendix A.1.2"

    adjoint_because = (
        "Each score's gradient is multiplied by the hidden unit's weight and the derivative of "
        "tanh, 1 − tanh²; for the weight itself, by tanh."
    )

    def _check(self) -> None:
        super()._check()
        check_shape(self, "the vector has", self.vector, self.queries.shape[1], 1)

    def _rule(self, i: Index, j: Index) -> Rule:
        index = r.dummy(i, j, self)
        inside = r.Plus((r.rule_of(self.queries, i, index), r.rule_of(self.keys, j, index)))
        body = r.Times((r.rule_of(self.vector, index, 0), r.Apply("tanh", inside)))
        return r.Total(body, index, self.queries.shape[1])

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        queries, keys, vector = self.args
        ones = Filled(*shape_of(queries if place == 1 else keys), 1)
        left = "keys" if place == 1 else "queries"
        summed = PairSum(left, upstream, ones, queries, keys, 0 if place == 2 else 1)
        if place == 2:
            return sympy.Transpose(LineSum(summed, 0))
        return LineProduct(summed, sympy.Transpose(vector), 0)

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, queries: Array, keys: Array, vector: Array) -> Array:
        hidden = _hidden(arithmetic, queries, keys)
        return arithmetic.pick(arithmetic.matmul(hidden, arithmetic.beneath(vector)), 0, -1)


def _hidden(arithmetic: Arithmetic, queries: Array, keys: Array) -> Array:
    """The hidden units of each pair of query and key, tanh(q + k): (…, n, m, d)."""
    added = arithmetic.add(arithmetic.expand(queries, -2), arithmetic.expand(keys, -3))
    return arithmetic.apply("tanh", added)


#: The sums over pairs by their shape: n × m, n × d and m × d.
_LEFT = ("pairs", "queries", "keys")


class PairSum(Node):
    """Sums of u_ij w_il y_jl f(q_il + k_jl) over one of i, j and l; f is tanh or a derivative.

    U is n × m, W n × d, Y m × d, Q n × d and K m × d. `left` names the sum, which has two of the
    three factors: ``pairs`` Σ_l w_il y_jl f (n × m), ``queries`` Σ_j u_ij y_jl f (n × d),
    ``keys`` Σ_i u_ij w_il f (m × d). With f = tanh and ``pairs`` this is the additive score, and
    the gradient of each sum is made of the others. `one` and `other` are the factors, in the order
    U, W, Y; f is the derivative of tanh of this `order`, 0 to 3.

    Shapes: as above. Raises `ShapeError` where they do not fit and `SymattnError` for an unknown
    sum or a higher derivative.
    Source: Bahdanau, Cho, Bengio 2015, appendix A.1.2, differentiated.
    """

    source = "Bahdanau, Cho, Bengio 2015, appendix A.1.2"
    adjoint_because = "Each pair of query and key contributes one term to the sum."

    left, one, other = OneOf("sum", _LEFT), Matrix(), Matrix()
    queries, keys, order = Matrix(), Matrix(), Scalar()

    def _check(self) -> None:
        left, *parts, order = self.args
        if order not in range(4):
            raise SymattnError(f"PairSum: derivative {order} of tanh: give 0, 1, 2 or 3")
        (n, d), (m, width) = shape_of(parts[2]), shape_of(parts[3])
        shapes = {"pairs": ((n, d), (m, d)), "queries": ((n, m), (m, d)), "keys": ((n, m), (n, d))}
        if width != d or tuple(map(shape_of, parts[:2])) != shapes[left.name]:
            raise ShapeError("PairSum: " + ", ".join(str(x.shape) for x in parts) + " do not fit")

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """That of the sum: n × m, n × d or m × d."""
        (n, d), (m, _) = shape_of(self.queries), shape_of(self.keys)
        return {"pairs": (n, m), "queries": (n, d), "keys": (m, d)}[self.left.name]

    def _rule(self, i: Index, j: Index) -> Rule:
        left, one, other, queries, keys, order = self.args
        index = r.dummy(i, j, self)
        query, key, width = {
            "pairs": (i, j, index),
            "queries": (i, index, j),
            "keys": (index, i, j),
        }[left.name]
        places = {"U": (query, key), "W": (query, width), "Y": (key, width)}
        names = {"pairs": "WY", "queries": "UY", "keys": "UW"}[left.name]
        size = {"pairs": queries.shape[1], "queries": keys.shape[0], "keys": queries.shape[0]}
        factors = [
            r.rule_of(matrix, *places[name])
            for name, matrix in zip(names, (one, other), strict=True)
        ]
        factors = [factor for factor in factors if factor != r.Const(sympy.S.One)]
        inside = r.Plus((r.rule_of(queries, query, width), r.rule_of(keys, key, width)))
        return r.Total(r.Times((*factors, *_bend(inside, int(order)))), index, size[left.name])

    def _spell(self, speller: Speller) -> Tree:
        left, one, other, queries, keys, order = self.args
        name: Tree = t.Script(
            t.Ident("additive", roman=True),
            t.Ident(left.name, roman=True),
            t.row(*[t.Op("′")] * int(order)) if order else None,
        )
        ones = [x for x in (one, other) if not isinstance(x, Filled)]
        return t.call(name, *map(speller.matrix, (*ones, queries, keys)))

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        left, one, other, queries, keys, order = self.args
        factors = dict(zip(_OF[left.name], (one, other), strict=True))
        factors[_MISSING[left.name]] = upstream

        def part(missing: str, order: int) -> PairSum:
            one, other = (factors[name] for name in "UWY" if name != missing)
            return PairSum(_SUMS[missing], one, other, queries, keys, order)

        if place in (1, 2):
            return part(_OF[left.name][place - 1], int(order))
        name = "W" if place == 3 else "Y"
        return sympy.HadamardProduct(factors[name], part(name, int(order) + 1))

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Operand) -> Array:
        left, one, other, queries, keys, order = args
        bent = _bent(arithmetic, _hidden(arithmetic, queries, keys), int(order))
        first, second, along = _AXES[str(left)]
        factors = arithmetic.multiply(
            arithmetic.expand(one, first), arithmetic.expand(other, second)
        )
        return arithmetic.total(arithmetic.multiply(factors, bent), along)


#: The new axes of both factors of a sum, and the axis that it runs along, of n × m × d.
_AXES = {"pairs": (-2, -3, -1), "queries": (-1, -3, -2), "keys": (-1, -2, -3)}
_OF = {"pairs": "WY", "queries": "UY", "keys": "UW"}
_MISSING = {"pairs": "U", "queries": "W", "keys": "Y"}
_SUMS = {missing: left for left, missing in _MISSING.items()}


def _bend(inside: Rule, order: int) -> tuple[Rule, ...]:
    """tanh, 1 − tanh², −2 tanh (1 − tanh²), 2 (3 tanh² − 1)(1 − tanh²), as factors."""
    one, tanh = r.Const(sympy.S.One), r.Apply("tanh", inside)
    slope = r.Plus((one, r.minus(r.Power(tanh, 2))))
    two, three = r.Const(sympy.Integer(2)), r.Const(sympy.Integer(3))
    third = r.Plus((r.Times((three, r.Power(tanh, 2))), r.Const(sympy.S.NegativeOne)))
    return ((tanh,), (slope,), (r.Const(sympy.Integer(-2)), tanh, slope), (two, third, slope))[
        order
    ]


def _bent(arithmetic: Arithmetic, tanh: Array, order: int) -> Array:
    """The derivative of tanh of this order, 0 to 3, from the values of tanh."""
    if order == 0:
        return tanh
    one = arithmetic.scalar(sympy.S.One)
    square = arithmetic.multiply(tanh, tanh)
    slope = arithmetic.subtract(one, square)
    if order == 1:
        return slope
    if order == 2:
        twice = arithmetic.multiply(tanh, arithmetic.scalar(sympy.Integer(-2)))
        return arithmetic.multiply(twice, slope)
    three = arithmetic.multiply(square, arithmetic.scalar(sympy.Integer(3)))
    inner = arithmetic.subtract(three, one)
    return arithmetic.multiply(
        arithmetic.multiply(inner, arithmetic.scalar(sympy.Integer(2))), slope
    )
