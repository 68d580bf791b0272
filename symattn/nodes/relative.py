"""Scores of distances put at the keys that are so far away: Shaw et al. and Transformer-XL.

A matrix has a row for each query and a column for each distance; the nodes here pick, for each
query and key, the column of their distance.
"""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arithmetic.base import Arithmetic, Array
from symattn.errors import ShapeError, SymattnError
from symattn.nodes.base import Node, as_matrix, as_scalar, shape_of, told
from symattn.nodes.encodings import at_most, index_of
from symattn.nodes.rule import Index, Rule, rule_of
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.tree import Tree


class RelativeShift(Node):
    """Row i moved so that each distance meets its key: s_ij = b_{i, i−j+m}, indices from 1.

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

    source: ClassVar[str] = "Dai et al. 2019, section 3.3"

    adjoint_because: ClassVar[str] = (
        "Each distance gathers the gradients of the places that it was put at."
    )

    def __new__(cls, matrix: Any, columns: Any) -> Self:
        body, count = as_matrix(matrix, "RelativeShift"), as_scalar(columns, "RelativeShift")
        rows, wide = shape_of(body)
        surplus = sympy.expand(wide - (rows + count - 1))
        if surplus != 0 and not surplus.free_symbols:
            raise ShapeError(
                f"RelativeShift: {rows} queries and {count} keys have {rows + count - 1} "
                f"distances, not {wide}"
            )
        return super().__new__(cls, body, count)

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """Queries × keys."""
        return shape_of(self.args[0])[0], self.args[1]

    def _rule(self, i: Index, j: Index) -> Rule:
        matrix, count = self.args
        return rule_of(matrix, i, index_of(sympy.sympify(i, strict=True) - j + count - 1))

    def _spell(self, speller: Speller) -> Tree:
        return t.call(t.Ident("shift", roman=True), speller.matrix(self.args[0]))

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        from symattn.nodes.shifts import ShiftSum

        return ShiftSum(upstream, shape_of(self.args[0])[1])

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Any) -> Array:
        matrix, m = args[0], int(args[1])
        n = matrix.shape[-2]
        rows, keys = np.arange(n)[:, None], np.arange(m)[None, :]
        return np.asarray(matrix[..., rows, rows - keys + m - 1])


class ClippedShift(Node):
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

    source: ClassVar[str] = "Shaw et al. 2018, section 3.2"

    adjoint_because: ClassVar[str] = (
        "Each distance gathers the gradients of the places that it was put at."
    )

    def __new__(cls, matrix: Any, columns: Any, start: Any = 0) -> Self:
        body = as_matrix(matrix, "ClippedShift")
        count, first = as_scalar(columns, "ClippedShift"), as_scalar(start, "ClippedShift")
        wide = shape_of(body)[1]
        if wide.is_Integer and wide % 2 == 0:
            raise ShapeError(
                f"ClippedShift: {wide} columns; distances from −k to k are an odd number"
            )
        if first.is_number and not (first.is_Integer and first >= 0):
            raise SymattnError(f"ClippedShift: start = {first}: give a whole number from 0")
        return super().__new__(cls, body, count, first)

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """Queries × keys."""
        return shape_of(self.args[0])[0], self.args[1]

    def _rule(self, i: Index, j: Index) -> Rule:
        matrix, _, start = self.args
        far = sympy.expand((shape_of(matrix)[1] - 1) / 2)
        place = sympy.sympify(i, strict=True) + start
        inside = partial(rule_of, matrix, i, index_of(sympy.sympify(j, strict=True) - place + far))
        last = partial(rule_of, matrix, i, index_of(2 * far))
        near = partial(at_most, j, place + far - 1, inside, last)
        return at_most(j, place - far, partial(rule_of, matrix, i, 0), near)

    def _spell(self, speller: Speller) -> Tree:
        name: Tree = t.Ident("clip", roman=True)
        matrix, _, start = self.args
        return t.call(name, speller.matrix(matrix), *told(speller, ("start", start, 0)))

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        from symattn.nodes.shifts import ShiftSum

        return ShiftSum(upstream, shape_of(self.args[0])[1], self.args[2])

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Any) -> Array:
        matrix, m, start = args[0], int(args[1]), int(args[2])
        far = matrix.shape[-1] // 2
        rows, keys = np.arange(matrix.shape[-2])[:, None], np.arange(m)[None, :]
        return np.asarray(matrix[..., rows, np.clip(keys - rows - start, -far, far) + far])
