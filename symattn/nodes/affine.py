"""Adding to a product: a bias vector in a projection, a bias matrix to the scores, rows stacked."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arithmetic.base import Arithmetic, Array
from symattn.errors import ShapeError
from symattn.nodes.base import Node, as_matrix, as_scalar, shape_of
from symattn.nodes.rule import Cases, Index, Ordinal, Rule, Total, rule_of
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.tree import Tree


class Stacked(Node):
    """One matrix below another, K = [K_past; K_new]; side by side with `axis` 1.

    Shapes: p × d and n × d give (p + n) × d. Raises `ShapeError` if the widths differ.
    Source: Shazeer, *Fast Transformer Decoding* (2019), section 2.4 (incremental decoding).
    """

    source: ClassVar[str] = "Shazeer 2019, section 2.4"

    adjoint_because: ClassVar[str] = "Each part has the gradient of its own rows."

    def __new__(cls, first: Any, second: Any, axis: Any = 0) -> Self:
        one, two = as_matrix(first, "Stacked"), as_matrix(second, "Stacked")
        across = 1 - int(axis)
        if one.shape[across] != two.shape[across]:
            raise ShapeError(f"Stacked: {one.shape} and {two.shape} do not fit together")
        return super().__new__(cls, one, two, sympy.Integer(axis))

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """Both together."""
        (rows, columns), (more, wide) = shape_of(self.args[0]), shape_of(self.args[1])
        return (rows + more, columns) if self.args[2] == 0 else (rows, columns + wide)

    def _rule(self, i: Index, j: Index) -> Rule:
        first, second, axis = self.args
        size = shape_of(first)[int(axis)]
        one = rule_of(first, i, j)
        if axis == 0:
            return Cases(Ordinal(i), "≤", Ordinal(size - 1), one, rule_of(second, i - size, j))
        return Cases(Ordinal(j), "≤", Ordinal(size - 1), one, rule_of(second, i, j - size))

    def _spell(self, speller: Speller) -> Tree:
        cells = [speller.matrix(self.args[0]), speller.matrix(self.args[1])]
        return speller.bracketed_grid([[cell] for cell in cells] if self.args[2] == 0 else [cells])

    def _flip(self, flip: Any) -> MatrixExpr:
        return Stacked(flip(self.args[0]), flip(self.args[1]), 1 - self.args[2])

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        from symattn.nodes.parts import Lines

        first, second, axis = self.args
        count, more = shape_of(first)[int(axis)], shape_of(second)[int(axis)]
        start, number = (sympy.S.Zero, count) if place == 0 else (count, more)
        return Lines(upstream, start, number, axis)

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Any) -> Array:
        first, second, axis = args
        lead = np.broadcast_shapes(first.shape[:-2], second.shape[:-2])
        parts = [np.broadcast_to(x, lead + x.shape[-2:]) for x in (first, second)]
        return np.concatenate(parts, axis=-2 if axis == 0 else -1)


class HeadSum(Node):
    """The sum over the heads: Y = Σ_i O⁽ⁱ⁾ W_O⁽ⁱ⁾, which equals concatenation times W_O.

    Shapes: h matrices n × d give n × d. Raises `SymattnError` if its argument is no matrix.
    Source: Elhage et al., *A Mathematical Framework for Transformer Circuits* (2021), "Attention
    Heads are Independent and Additive".
    """

    source: ClassVar[str] = "Elhage et al. 2021, on additive heads"

    adjoint_because: ClassVar[str] = "A sum passes its gradient to every head."

    def __new__(cls, matrix: Any, index: Any, count: Any) -> Self:
        return super().__new__(
            cls, as_matrix(matrix, "HeadSum"), index, as_scalar(count, "HeadSum")
        )

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """The shape of one head's matrix."""
        return shape_of(self.args[0])

    @property
    def free_symbols(self) -> set[sympy.Basic]:
        """All symbols but the head index, which belongs to the node."""
        body, index, count = self.args
        return (body.free_symbols - {index}) | count.free_symbols  # type: ignore[no-any-return]

    def _eval_subs(self, old: sympy.Basic, new: sympy.Basic) -> HeadSum | None:
        return self if old == self.args[1] else None

    def _rule(self, i: Index, j: Index) -> Rule:
        body, index, count = self.args
        return Total(rule_of(body, i, j), index, count)

    def _spell(self, speller: Speller) -> Tree:
        body, index, count = self.args
        base = speller.notation.index_base
        first = t.equation(speller.index(index), (t.EQUALS, speller.index(0)))
        last = speller.scalar(count if base else count - 1)
        return t.row(t.Script(t.SUM, first, last), t.bracketed(speller.matrix(body), 2))

    def _flip(self, flip: Any) -> MatrixExpr:
        return HeadSum(flip(self.args[0]), *self.args[1:])

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        return upstream

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Any) -> Array:
        heads = np.moveaxis(args[0], -3, -1)  # (…, rows, columns, heads)
        return np.asarray(arithmetic.row_sum(heads)[..., 0])
