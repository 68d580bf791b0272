"""Parts of a matrix: one head's columns, some of the rows, and sums over the heads of a group."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arithmetic.base import Arithmetic, Array
from symattn.errors import ShapeError
from symattn.nodes.base import Node, as_matrix, as_scalar, shape_of
from symattn.nodes.heads import Head
from symattn.nodes.rule import Index, Rule, Total, rule_of
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.tree import Tree


class Split(Node):
    """One head's columns of a matrix, what `Concat` had put there: c_ab = m_{a, (i−1)d + b}.

    `index` is the head, a number from 0 or a symbol for any; all heads are then evaluated at once.
    With `axis` 0 one head's rows.

    Shapes: n × h·d becomes n × d. Raises `SymattnError` if its argument is no matrix.
    Source: Vaswani et al. 2017, section 3.2.2, read backwards.

    >>> print(Split(sympy.Matrix([[1, 2, 3, 4]]), 1, 2).doit())
    Matrix([[3, 4]])
    """

    source: ClassVar[str] = "Vaswani et al. 2017, section 3.2.2"
    adjoint_because: ClassVar[str] = "Each head's gradient stands where its columns were."

    def __new__(cls, matrix: Any, index: Any, count: Any, axis: Any = 1) -> Self:
        scalars = as_scalar(index, "Split"), as_scalar(count, "Split")
        return super().__new__(cls, as_matrix(matrix, "Split"), *scalars, sympy.Integer(axis))

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """A share of the columns (or rows)."""
        matrix, _, count, axis = self.args
        rows, columns = shape_of(matrix)
        return (rows, columns / count) if axis == 1 else (rows / count, columns)

    def _rule(self, i: Index, j: Index) -> Rule:
        matrix, index, _, axis = self.args
        rows, columns = self.shape
        if axis == 1:
            return rule_of(matrix, i, _plain(index * columns + j))
        return rule_of(matrix, _plain(index * rows + i), j)

    def _spell(self, speller: Speller) -> Tree:
        matrix, index, _, _ = self.args
        name = speller.notation.in_head(t.Ident("split", roman=True), speller.index(index))
        return t.call(name, speller.matrix(matrix))

    def _flip(self, flip: Any) -> MatrixExpr:
        matrix, index, count, axis = self.args
        return Split(flip(matrix), index, count, 1 - axis)

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        from symattn.nodes.heads import Concat

        matrix, index, count, axis = self.args
        if not index.is_Integer:
            return Concat(upstream, index, count, axis)
        width = self.shape[int(axis)]
        return Lines(matrix, index * width, width, axis)._adjoint(0, upstream, value)

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Any) -> Array:
        matrix, index, count, axis = args
        parts = split_apart(matrix, int(count), int(axis))
        return np.asarray(parts[..., int(index), :, :] if index.is_Integer else parts)

    def doit(self, **hints: Any) -> MatrixExpr:
        """The columns once the head is a number."""
        return super().doit(**hints) if self.args[1].is_Integer else self

    def _numpycode(self, printer: Any) -> str:
        """For a symbolic head all heads at once, as the heads of a `MatrixSymbol` are."""
        if self.args[1].is_Integer:
            return super()._numpycode(printer)
        printer.module_imports[__name__].add("split_apart")
        matrix, _, count, axis = map(printer._print, self.args)
        return f"split_apart({matrix}, {count}, {axis})"


def split_apart(matrix: Array, count: int, axis: int) -> Array:
    """(…, rows, heads · columns) as (…, heads, rows, columns); with `axis` 0 the rows."""
    array = np.asarray(matrix)
    if axis == 0:
        return np.swapaxes(split_apart(np.swapaxes(array, -1, -2), count, 1), -1, -2)
    apart = array.reshape(*array.shape[:-1], count, array.shape[-1] // count)
    return np.moveaxis(apart, -2, -3)


class Lines(Node):
    """Some of the rows: c_ij = m_{first + i, j}; columns with `axis` 1.

    What `Stacked` had put below one another is taken apart again; rows count from 0.

    Shapes: n × d becomes count × d. Raises `ShapeError` if there are not so many rows.
    Source: Shazeer 2019, section 2.4, read backwards.

    >>> print(Lines(sympy.Matrix([[1], [2], [3]]), 1, 2).doit())
    Matrix([[2], [3]])
    """

    source: ClassVar[str] = "Shazeer 2019, section 2.4"
    adjoint_because: ClassVar[str] = "Rows that were not taken have no say: their gradient is 0."

    def __new__(cls, matrix: Any, first: Any, count: Any, axis: Any = 0) -> Self:
        body = as_matrix(matrix, "Lines")
        start, number = as_scalar(first, "Lines"), as_scalar(count, "Lines")
        rest = shape_of(body)[int(axis)] - start - number
        if rest.is_negative or start.is_negative:
            raise ShapeError(f"Lines: {number} from {start + 1} on are more than {body.shape} has")
        return super().__new__(cls, body, start, number, sympy.Integer(axis))

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """So many rows (or columns)."""
        matrix, _, count, axis = self.args
        rows, columns = shape_of(matrix)
        return (count, columns) if axis == 0 else (rows, count)

    def _rule(self, i: Index, j: Index) -> Rule:
        matrix, first, _, axis = self.args
        if axis == 0:
            return rule_of(matrix, _plain(first + i), j)
        return rule_of(matrix, i, _plain(first + j))

    def _spell(self, speller: Speller) -> Tree:
        matrix, first, count, axis = self.args
        word = t.Ident("rows" if axis == 0 else "columns", roman=True)
        start = first + speller.notation.index_base
        ends = speller.scalar(start), speller.scalar(sympy.expand(start + count - 1))
        inside = t.row(ends[0], t.Op("…"), ends[1])
        return t.call(t.Script(word, inside), speller.matrix(matrix))

    def _flip(self, flip: Any) -> MatrixExpr:
        matrix, first, count, axis = self.args
        return Lines(flip(matrix), first, count, 1 - axis)

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        from symattn.nodes.affine import Stacked
        from symattn.nodes.lines import Filled

        matrix, first, count, axis = self.args
        sizes = shape_of(matrix)
        after = sympy.expand(sizes[int(axis)] - first - count)

        def zeros(number: sympy.Expr) -> MatrixExpr:
            rows, columns = (number, sizes[1]) if axis == 0 else (sizes[0], number)
            return Filled(rows, columns, 0)

        out = upstream if first == 0 else Stacked(zeros(first), upstream, axis)
        return out if after == 0 else Stacked(out, zeros(after), axis)

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Any) -> Array:
        matrix, first, count, axis = args
        places = slice(int(first), int(first) + int(count))
        return np.asarray(matrix[..., places, :] if axis == 0 else matrix[..., places])


class GroupSum(Node):
    """The sum over the heads of a group: C⁽ʲ⁾ = Σ_s M⁽ˢ⁾, s from (j − 1) h/g + 1 to j h/g.

    `body` is the matrix of head `index`, `group` the group j (from 0, or a symbol for any).

    Shapes: h matrices n × d give g matrices n × d. Raises `SymattnError` if `body` is no matrix.
    Source: Ainslie et al., *GQA* (2023), section 2.2: heads h/g at a time share keys and values.
    """

    source: ClassVar[str] = "Ainslie et al. 2023, section 2.2"
    adjoint_because: ClassVar[str] = "Each head of the group has the group's gradient."

    def __new__(cls, body: Any, index: Any, heads: Any, groups: Any, group: Any) -> Self:
        counts = as_scalar(heads, "GroupSum"), as_scalar(groups, "GroupSum")
        return super().__new__(cls, as_matrix(body, "GroupSum"), index, *counts, group)

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """The shape of one head's matrix."""
        return shape_of(self.args[0])

    @property
    def free_symbols(self) -> set[sympy.Basic]:
        """All symbols but the head index, which belongs to the node."""
        body, index, *others = self.args
        found: set[sympy.Basic] = body.free_symbols - {index}
        return found.union(*(other.free_symbols for other in others))

    def _eval_subs(self, old: sympy.Basic, new: sympy.Basic) -> GroupSum | None:
        return self if old == self.args[1] else None

    def _rule(self, i: Index, j: Index) -> Rule:
        body, index, heads, groups, group = self.args
        share = heads / groups
        return Total(rule_of(body.subs(index, group * share + index), i, j), index, share)

    def _spell(self, speller: Speller) -> Tree:
        body, index, _, _, group = self.args
        word = t.call(t.Ident("group", roman=True), speller.index(group))
        below = t.equation(speller.scalar(index), (t.Op("∈"), word))
        return t.row(t.Script(t.SUM, below), t.bracketed(speller.matrix(body), 2))

    def _flip(self, flip: Any) -> MatrixExpr:
        return GroupSum(flip(self.args[0]), *self.args[1:])

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        _, index, heads, groups, group = self.args
        used = {
            part: Head(part.args[0], sympy.floor(index * groups / heads))
            for part in upstream.atoms(Head)
            if part.head == group
        }
        return upstream.xreplace(used)

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Any) -> Array:
        body, _, heads, groups, group = args
        count = int(groups)
        apart = body.reshape(*body.shape[:-3], count, int(heads) // count, *body.shape[-2:])
        summed = arithmetic.row_sum(np.moveaxis(apart, -3, -1))[..., 0]
        return np.asarray(summed[..., int(group), :, :] if group.is_Integer else summed)


def _plain(index: sympy.Expr) -> Index:
    """An index as rules hold it: a whole number is Python's."""
    return int(index) if index.is_Integer else index
