"""Ways to score a query against a key beside the dot product: cosine, additive, distance.

The dot product itself is SymPy's own matrix product, Q Kᵀ, and the general score Q W Kᵀ.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arithmetic.base import Arithmetic, Array
from symattn.errors import ShapeError
from symattn.nodes.base import Node, as_matrix, shape_of
from symattn.nodes.rule import (
    Apply,
    Index,
    Plus,
    Power,
    Rule,
    Times,
    Total,
    dummy,
    minus,
    rule_of,
)
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.tree import Tree


class Distance(Node):
    """Minus the squared distance: s_ij = −Σ_l (q_il − k_jl)².

    Its softmax with scale 1/(2σ²) is the Gaussian kernel of Nadaraya–Watson regression.

    Shapes: n × d and m × d give n × m. Raises `ShapeError` if the widths differ.
    Source: Nadaraya, *On Estimating Regression* (1964); Watson, *Smooth Regression Analysis*
    (1964).
    """

    source: ClassVar[str] = "Nadaraya 1964; Watson 1964"

    adjoint_because: ClassVar[str] = (
        "The score rises as the two vectors approach each other: the gradient is twice their "
        "difference, added over all partners."
    )

    def __new__(cls, queries: Any, keys: Any) -> Self:
        left, right = as_matrix(queries, "Distance"), as_matrix(keys, "Distance")
        _same_width(left, right, "Distance")
        return super().__new__(cls, left, right)

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """Queries × keys."""
        return shape_of(self.args[0])[0], shape_of(self.args[1])[0]

    def _rule(self, i: Index, j: Index) -> Rule:
        queries, keys = self.args
        index = dummy(i, j)
        apart = Plus((rule_of(queries, i, index), minus(rule_of(keys, j, index))))
        return minus(Total(Power(apart, 2), index, queries.shape[1]))

    def _spell(self, speller: Speller) -> Tree:
        name = t.Script(t.Ident("dist", roman=True), None, t.Num("2"))
        return t.row(t.MINUS, t.call(name, *map(speller.matrix, self.args)))

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        from symattn.nodes.lines import LineProduct, LineSum

        one, other = self.args if place == 0 else self.args[::-1]
        turned = upstream if place == 0 else sympy.Transpose(upstream)
        towards = sympy.MatMul(turned, other)
        away = LineProduct(one, LineSum(turned))
        return sympy.MatMul(2, sympy.MatAdd(towards, sympy.MatMul(-1, away)))

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Any) -> Array:
        queries, keys = (np.asarray(arg) for arg in args)
        apart = arithmetic.add(queries[..., :, None, :], -keys[..., None, :, :])
        squares = arithmetic.row_sum(arithmetic.multiply(apart, apart))
        return np.asarray(-squares[..., 0])


class Additive(Node):
    """A small network scores each pair: s_ij = Σ_l v_l tanh(q_il + k_jl).

    `queries` and `keys` are projected to the hidden width already.

    Shapes: n × d, m × d and d × 1 give n × m. Raises `ShapeError` if the widths differ.
    Source: Bahdanau, Cho, Bengio, *Neural Machine Translation by Jointly Learning to Align and
    Translate* (2015), section A.1.2; its W_a s_{i−1} and U_a h_j are our rows of Q W_a and K U_a.
    """

    source: ClassVar[str] = "Bahdanau, Cho, Bengio 2015, appendix A.1.2"

    adjoint_because: ClassVar[str] = (
        "Each pair passes its score's gradient on through the slope of tanh, 1 − tanh², and the "
        "weight of each hidden unit; a unit's own weight gathers tanh itself."
    )

    def __new__(cls, queries: Any, keys: Any, vector: Any) -> Self:
        left, right = as_matrix(queries, "Additive"), as_matrix(keys, "Additive")
        weights = as_matrix(vector, "Additive")
        _same_width(left, right, "Additive")
        if weights.shape[0] != left.shape[1] or weights.shape[1] != 1:
            raise ShapeError(f"Additive: the vector has to be {left.shape[1]} × 1")
        return super().__new__(cls, left, right, weights)

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """Queries × keys."""
        return shape_of(self.args[0])[0], shape_of(self.args[1])[0]

    def _rule(self, i: Index, j: Index) -> Rule:
        queries, keys, vector = self.args
        index = dummy(i, j)
        inside = Plus((rule_of(queries, i, index), rule_of(keys, j, index)))
        body = Times((rule_of(vector, index, 0), Apply("tanh", inside)))
        return Total(body, index, queries.shape[1])

    def _spell(self, speller: Speller) -> Tree:
        return t.call(t.Ident("additive", roman=True), *map(speller.matrix, self.args))

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        from symattn.nodes.lines import Filled, LineProduct, LineSum
        from symattn.nodes.pairs import PairSum

        queries, keys, vector = self.args
        ones = Filled(*shape_of(queries if place == 1 else keys), 1)
        left = "keys" if place == 1 else "queries"
        summed = PairSum(left, upstream, ones, queries, keys, 0 if place == 2 else 1)
        if place == 2:
            return sympy.Transpose(LineSum(summed, 0))
        return LineProduct(summed, sympy.Transpose(vector), 0)

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Any) -> Array:
        queries, keys, vector = (np.asarray(arg) for arg in args)
        added = arithmetic.add(queries[..., :, None, :], keys[..., None, :, :])
        hidden = arithmetic.apply("tanh", added)  # (…, n, m, d)
        column = vector if vector.ndim == 2 else vector[..., None, :, :]
        return np.asarray(arithmetic.matmul(hidden, column)[..., 0])


def _same_width(left: MatrixExpr, right: MatrixExpr, owner: str) -> None:
    if left.shape[1] != right.shape[1]:
        raise ShapeError(
            f"{owner}: queries have {left.shape[1]} columns, keys {right.shape[1]}; "
            "give them equally many"
        )
