"""From scores by distance to scores by key, s_ij = b_{i, c(i, j)}: Shaw et al., Transformer-XL.

The matrix b has a row for each query and a column for each distance. `RelativeShift` and
`ClippedShift` take, for query i and key j, the column c(i, j) of their distance; `ShiftSum`, the
adjoint of both, is Σ_j u_ij over the keys with c(i, j) = c.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arithmetic.base import Arithmetic, Array
from symattn.errors import ShapeError
from symattn.nodes import rule as r
from symattn.nodes.arguments import Matrix, Operand, Scalar, Whole
from symattn.nodes.base import Node, settings, shape_of
from symattn.nodes.positions import IndexNumber, Placed, at_most
from symattn.nodes.rule import Index, Rule
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.tree import Tree


class _ByDistance(Node):
    """A matrix with a column for each distance, or for each key, made of one with the others."""

    matrix, columns = Matrix(), Scalar()
    adjoint_because = "The gradient of each distance is the sum of the gradients of its entries."

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """A row for each query, and so many columns."""
        return shape_of(self.matrix)[0], self.columns


class RelativeShift(_ByDistance):
    """The column of the distance i − j in row i: s_ij = b_{i, i−j+m}, indices from 1.

    The columns of the matrix are the distances i − j from 1 − m (the last key, seen from the first
    query) to n − 1; with keys from before, all of them are further by as many.

    Shapes: n × (n + m − 1) gives n × m. Raises `ShapeError` if the columns are not that many.
    Source: Dai et al., *Transformer-XL* (2019), section 3.3 and appendix B, whose Q̃ has the
    distances in the opposite order.

    >>> RelativeShift(sympy.Matrix([[1, 2, 3], [4, 5, 6]]), 2).doit()
    Matrix([
    [2, 1],
    [6, 5]])
    """

    syntax = "shift(matrix, columns=)"
    source = "Dai et al. 2019, section 3.3"
    remark = "Of the terms by distance each key takes that of its distance from the query"

    def _check(self) -> None:
        (rows, wide), keys = shape_of(self.matrix), self.columns
        surplus = sympy.expand(wide - (rows + keys - 1))
        if surplus != 0 and not surplus.free_symbols:
            raise ShapeError(
                f"RelativeShift: {rows} queries and {keys} keys have {rows + keys - 1} "
                f"distances, not {wide}"
            )

    def _rule(self, i: Index, j: Index) -> Rule:
        return r.rule_of(
            self.matrix, i, r.index_of(sympy.sympify(i, strict=True) - j + self.columns - 1)
        )

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        return ShiftSum(upstream, shape_of(self.matrix)[1])

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, matrix: Array, count: Operand) -> Array:
        rows, keys = arithmetic.rows(matrix.shape[-2]), arithmetic.columns(count)
        return arithmetic.entries(matrix, rows, rows - keys + r.index_of(count - 1))


def _clipped(distances: Array, columns: sympy.Expr) -> Operand:
    """The column, of 2k + 1, of each distance, clipped to −k … k."""
    far = r.index_of((sympy.sympify(columns, strict=True) - 1) / 2)
    return np.clip(distances, -far, far) + far


class ClippedShift(_ByDistance):
    """The column of the clipped distance: s_ij = b_{i, c}, c = max(−k, min(k, j − i)) + k + 1.

    The 2k + 1 columns are the distances j − i from −k to k; i is moved by `start`, the position of
    the first query. Indices count from 1 here.

    Shapes: n × (2k + 1) gives n × m. Raises `ShapeError` if the columns are an even number.
    Source: Shaw, Uszkoreit, Vaswani, *Self-Attention with Relative Position Representations*
    (2018), section 3.2, whose w_l is our column l + k + 1, and the end of section 3.3.

    >>> ClippedShift(sympy.Matrix([[1, 2, 3], [4, 5, 6]]), 4).doit()
    Matrix([
    [2, 3, 3, 3],
    [4, 5, 6, 6]])
    """

    start = Whole(0)
    syntax = "clip(matrix, columns=, start=)"
    source = "Shaw et al. 2018, section 3.2"
    remark = "Of the scores by distance each key takes its own; all far ones share the last"

    def _check(self) -> None:
        wide = shape_of(self.matrix)[1]
        if wide.is_Integer and wide % 2 == 0:
            raise ShapeError(
                f"ClippedShift: {wide} columns; distances from −k to k are an odd number"
            )

    def _rule(self, i: Index, j: Index) -> Rule:
        matrix, _, start = self.args
        far = sympy.expand((shape_of(matrix)[1] - 1) / 2)
        place = sympy.sympify(i, strict=True) + start
        inside = partial(
            r.rule_of, matrix, i, r.index_of(sympy.sympify(j, strict=True) - place + far)
        )
        last = partial(r.rule_of, matrix, i, r.index_of(2 * far))
        near = partial(at_most, j, place + far - 1, inside, last)
        return at_most(j, place - far, partial(r.rule_of, matrix, i, 0), near)

    def _spell(self, speller: Speller) -> Tree:
        name: Tree = t.Ident("clip", roman=True)
        return t.call(name, speller.matrix(self.matrix), *settings(speller, self, "start"))

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        return ShiftSum(upstream, shape_of(self.matrix)[1], self.start)

    @classmethod
    def _compute(
        cls, arithmetic: Arithmetic, matrix: Array, count: Operand, start: Operand
    ) -> Array:
        rows, keys = arithmetic.rows(matrix.shape[-2]), arithmetic.columns(count)
        places = _clipped(keys - rows - r.index_of(start), matrix.shape[-1])
        return arithmetic.entries(matrix, rows, places)


class ShiftSum(_ByDistance, Placed):
    """The sums over the keys at one distance: r_ic = Σ_j u_ij over the keys j with c(i, j) = c.

    The column c(i, j) is i − j + m as in `RelativeShift` or, with a `start` from 0 on, that of the
    clipped distance as in `ClippedShift`; `start` −1 stands for the first.

    Shapes: n × m becomes n × columns. Raises `SymattnError` if `matrix` is no matrix.
    Source: Dai et al. 2019, section 3.3; Shaw et al. 2018, section 3.2.

    >>> print(ShiftSum(sympy.Matrix([[1, 2], [3, 4]]), 3).doit())
    Matrix([[2, 1, 0], [0, 4, 3]])
    >>> print(ShiftSum(sympy.Matrix([[1, 2, 3]]), 3, 0).doit())
    Matrix([[0, 1, 5]])
    """

    start = Scalar(-1)
    source = "Dai et al. 2019, section 3.3"
    adjoint_because = "Each entry receives the gradient of its distance."

    @property
    def _clipped(self) -> bool:
        return bool(self.start != -1)

    def _rule(self, i: Index, j: Index) -> Rule:
        matrix, columns, start = self.args
        index = r.dummy(i, j, self)
        count = shape_of(matrix)[1]
        column: Rule = r.Ordinal(sympy.sympify(i, strict=True) - index + count - 1)
        if self._clipped:
            far = (columns - 1) / 2
            place = sympy.Min(sympy.Max(index - i - start, -far), far) + far
            letter = sympy.Symbol(f"kappa@{i}@{index}", positive=True)
            column = r.Plus((r.Ordinal(IndexNumber(place, letter, counted=1)),))
        body = r.Cases(
            r.Ordinal(j), "=", column, r.rule_of(matrix, i, index), r.Const(sympy.S.Zero)
        )
        return r.Total(body, index, count)

    def _spell(self, speller: Speller) -> Tree:
        name: Tree = t.Ident("clip" if self._clipped else "shift", roman=True)
        extra = [] if self.start in (0, -1) else [speller.scalar(self.start)]
        return t.call(speller.notation.transposed(name), speller.matrix(self.matrix), *extra)

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        count = shape_of(self.matrix)[1]
        if self._clipped:
            return ClippedShift(upstream, count, self.start)
        return RelativeShift(upstream, count)

    @classmethod
    def _compute(
        cls, arithmetic: Arithmetic, matrix: Array, columns: Operand, start: Operand
    ) -> Array:
        count = matrix.shape[-1]
        rows, keys = arithmetic.rows(matrix.shape[-2]), arithmetic.columns(count)
        places = rows - keys + r.index_of(count - 1)
        if start != -1:
            places = _clipped(keys - rows - r.index_of(start), columns)
        return arithmetic.sums_at(matrix, places, columns)
