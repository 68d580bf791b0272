"""`Normaliser`: what every node that turns scores into weights has in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self, cast

import numpy as np
import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arithmetic.base import Arithmetic, Array
from symattn.nodes.base import Node, as_matrix, shape_of
from symattn.nodes.rule import Index, Rule, rule_of
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
        from symattn.nodes.affine import PlusVector
        from symattn.nodes.exponential import LineSum

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
