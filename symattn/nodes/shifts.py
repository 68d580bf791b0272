"""Gradients of what was put at its key by distance, put back: what `relative` has done, undone."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arithmetic.base import Arithmetic, Array
from symattn.nodes.base import as_matrix, as_scalar, shape_of
from symattn.nodes.encodings import Number, Placed
from symattn.nodes.relative import ClippedShift, RelativeShift
from symattn.nodes.rule import Cases, Const, Index, Ordinal, Plus, Rule, Total, dummy, rule_of
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.tree import Tree


class ShiftSum(Placed):
    """Each row's entries added up by the column they came from: c_ic = Σ_j u_ij, j at c.

    This is `RelativeShift` read backwards or, with a `start` from 0 on, `ClippedShift`, whose last
    distances are shared by all keys beyond them.

    Shapes: n × m becomes n × columns. Raises `SymattnError` if `matrix` is no matrix.
    Source: Dai et al. 2019, section 3.3; Shaw et al. 2018, section 3.2.

    >>> print(ShiftSum(sympy.Matrix([[1, 2], [3, 4]]), 3).doit())
    Matrix([[2, 1, 0], [0, 4, 3]])
    >>> print(ShiftSum(sympy.Matrix([[1, 2, 3]]), 3, 0).doit())
    Matrix([[0, 1, 5]])
    """

    source: ClassVar[str] = "Dai et al. 2019, section 3.3"
    adjoint_because: ClassVar[str] = "Each place has the gradient of the distance it was added to."

    def __new__(cls, matrix: Any, columns: Any, start: Any = -1) -> Self:
        counts = as_scalar(columns, "ShiftSum"), as_scalar(start, "ShiftSum")
        return super().__new__(cls, as_matrix(matrix, "ShiftSum"), *counts)

    @property
    def _clipped(self) -> bool:
        return bool(self.args[2] != -1)

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """A column for each distance."""
        return shape_of(self.args[0])[0], self.args[1]

    def _rule(self, i: Index, j: Index) -> Rule:
        matrix, columns, start = self.args
        index = dummy(i, j)
        count = shape_of(matrix)[1]
        column: Rule = Ordinal(sympy.sympify(i, strict=True) - index + count - 1)
        if self._clipped:
            far = (columns - 1) / 2
            place = sympy.Min(sympy.Max(index - i - start, -far), far) + far
            letter = sympy.Symbol(f"c_{i}{index}", positive=True)
            column = Plus((Ordinal(Number(place, letter, counted=1)),))
        body = Cases(Ordinal(j), "=", column, rule_of(matrix, i, index), Const(sympy.S.Zero))
        return Total(body, index, count)

    def _spell(self, speller: Speller) -> Tree:
        name: Tree = t.Ident("clip" if self._clipped else "shift", roman=True)
        matrix, _, start = self.args
        told = [] if start in (0, -1) else [speller.scalar(start)]
        return t.call(speller.notation.transposed(name), speller.matrix(matrix), *told)

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        matrix, _, start = self.args
        count = shape_of(matrix)[1]
        if self._clipped:
            return ClippedShift(upstream, count, start)
        return RelativeShift(upstream, count)

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Any) -> Array:
        matrix, columns, start = args[0], int(args[1]), int(args[2])
        n, m = matrix.shape[-2:]
        rows, keys = np.arange(n)[:, None], np.arange(m)[None, :]
        places = rows - keys + m - 1
        if start >= 0:
            far = columns // 2
            places = np.clip(keys - rows - start, -far, far) + far
        out = [
            arithmetic.row_sum(arithmetic.where(places == column, matrix, arithmetic.zero))
            for column in range(columns)
        ]
        return np.concatenate(out, axis=-1)
