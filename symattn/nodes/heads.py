"""Several heads, and matrices made of blocks.

`Head` is the matrix of head i, stated once; `Concat` sets heads side by side, `HeadSum` and
`GroupSum` add them, `Split` is one head's columns; `Stacked` is two blocks, `Slice` one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import ClassVar, cast

import numpy as np
import sympy
from sympy.matrices.expressions.matexpr import MatrixElement, MatrixExpr

from symattn.arithmetic.base import Arithmetic, Array
from symattn.errors import ShapeError, SymattnError
from symattn.nodes import rule as r
from symattn.nodes.arguments import Axis, BoundIndex, HeadIndex, Matrix, Operand, Scalar
from symattn.nodes.base import Definition, Node, shape_of
from symattn.nodes.lines import Filled, along
from symattn.nodes.rule import Index, Rule
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.tree import Tree


class Head(Node):
    """The matrix of one head, Q⁽ⁱ⁾: a matrix symbol and a head index (counted from 0).

    Shapes: those of the symbol, the same for all heads. Raises `SymattnError` if `symbol` is no
    MatrixSymbol. Source: Vaswani et al. 2017, section 3.2.2.

    >>> i = sympy.Symbol("i", integer=True)
    >>> print(Head(sympy.MatrixSymbol("Q", 2, 2), i), Head(sympy.MatrixSymbol("Q", 2, 2), 0))
    Q⁽ⁱ⁾ Q⁽¹⁾
    """

    symbol, head = Matrix(), HeadIndex()
    transposes = True
    source = "Vaswani et al. 2017, section 3.2.2"

    def _check(self) -> None:
        if not isinstance(self.symbol, sympy.MatrixSymbol):
            raise SymattnError(f"Head: {self.symbol} is not a MatrixSymbol")

    @property
    def name(self) -> str:
        """The letter all heads share."""
        return str(self.symbol.name)

    def at(self, head: object) -> Head:
        """The matrix of another head, counted from 0."""
        return Head(self.symbol, head)

    def _rule(self, i: Index, j: Index) -> Rule:
        return r.Entry(self, i, j)

    def _entry(self, i: Index, j: Index, **kwargs: object) -> sympy.Expr:
        return MatrixElement(self, i, j)

    def _spell(self, speller: Speller) -> Tree:
        letter = speller.notation.letter(self.name, per_head=True)
        return speller.notation.in_head(letter, speller.index(self.head))

    def doit(self, **hints: object) -> MatrixExpr:
        """Itself: a name has nothing to evaluate."""
        return self

    @classmethod
    def numpy(cls, *args: Operand) -> Array:
        """One head's matrix out of an array (heads, rows, columns)."""
        return np.asarray(np.asarray(args[0])[int(args[1])])


def head_of(expr: sympy.Basic) -> sympy.Expr | None:
    """The index of the head whose matrix this is; None of anything else."""
    return expr.head if isinstance(expr, Head) else None


def heads_in(expr: sympy.Basic) -> set[Head]:
    """The matrices of single heads in an expression."""
    return cast(set[Head], expr.atoms(Head))


def stack_of(matrix: MatrixExpr) -> MatrixExpr:
    """The symbol of all heads of which this is the matrix of one; any other matrix as it is."""
    return matrix.symbol if isinstance(matrix, Head) else matrix


class Concat(Node):
    """The heads side by side: H = [O⁽¹⁾ ⋯ O⁽ʰ⁾]; with `axis` 0 one below the other.

    Of what is more than a matrix with a name it is written Concat_h(A⁽ʰ⁾ V⁽ʰ⁾).

    With a concrete number of heads, ``doit()`` gives SymPy's own `BlockMatrix`.

    Shapes: h matrices n × d_v become n × h·d_v. Raises `SymattnError` if `matrix` is no matrix.
    Source: Vaswani et al. 2017, section 3.2.2.

    >>> i, O = sympy.Symbol("i", integer=True), sympy.MatrixSymbol("O", 2, 3)
    >>> Concat(Head(O, i), i, 2).shape
    (2, 6)
    """

    matrix, index, heads, axis = Matrix(), BoundIndex(), Scalar(), Axis()
    syntax = ("concat_h(matrix)", "")
    over_heads = True
    by_rows = 1
    source = "Vaswani et al. 2017, section 3.2.2"

    adjoint_because = "The gradient of a head is its own block of columns."

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """The size of one head, `heads` times along the axis."""
        rows, columns = self.matrix.shape
        return (rows, self.heads * columns) if self.axis == 1 else (self.heads * rows, columns)

    def statement(self, i: Index, j: Index) -> tuple[Index, Index, Rule]:
        """Row, column and rule as a reader states them: column (i − 1) d_v + b is head i's b."""
        body, index, _, axis = self.args
        rows, columns = body.shape
        if axis == 1:
            return i, index * columns + j, r.rule_of(body, i, j)
        return _row(index, rows, i), j, r.rule_of(body, i, j)

    def _rule(self, i: Index, j: Index) -> Rule:
        body, index, _, axis = self.args
        rows, columns = body.shape
        place, width = (j, columns) if axis == 1 else (i, rows)
        head, rest = sympy.floor(place / width), sympy.Mod(place, width)
        one = body.subs(index, head)
        return r.rule_of(one, i, rest) if axis == 1 else r.rule_of(one, rest, j)

    def _define(self, speller: Speller, i: Index, j: Index) -> Iterator[Definition]:
        """Concat_h(O⁽ʰ⁾) = [ O⁽¹⁾ ⋯ O⁽ᴴ⁾ ], as a formula has it into which O⁽ʰ⁾ is put."""
        if isinstance(self.args[0], Head):
            yield Definition(t.equation(self._call(speller), (t.EQUALS, self._spell(speller))))

    def _call(self, speller: Speller) -> Tree:
        word = t.Ident("Concat" if self.axis == 1 else "Stack", roman=True)
        return t.call(t.Script(word, speller.index(self.index)), speller.matrix(self.matrix))

    def _spell(self, speller: Speller) -> Tree:
        body, index, count, axis = self.args
        if not isinstance(body, Head) and (axis == 1 or body.shape[0] != 1):
            return self._call(speller)
        few = isinstance(count, sympy.Integer) and count <= 3
        heads = list(range(int(count))) if few else [0, None, count - 1]
        dots = t.DOTS if axis == 1 else t.VDOTS
        cells = [dots if k is None else speller.matrix(body.subs(index, k)) for k in heads]
        return speller.bracketed_grid([cells] if axis == 1 else [[cell] for cell in cells])

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        return Split(upstream, self.index, self.heads, self.axis)

    def doit(self, **hints: object) -> MatrixExpr:
        """A BlockMatrix once the number of heads is known."""
        body, index, count, axis = self.args
        if not isinstance(count, sympy.Integer):
            return self
        blocks = [body.subs(index, head).doit(**hints) for head in range(int(count))]
        return sympy.BlockMatrix([blocks] if axis == 1 else [[block] for block in blocks])

    @classmethod
    def _compute(
        cls, arithmetic: Arithmetic, matrix: Array, index: Operand, heads: Operand, axis: Operand
    ) -> Array:
        return along(arithmetic, axis, arithmetic.heads_beside, matrix)


def _row(index: sympy.Expr, rows: sympy.Expr, i: Index) -> Index:
    """The row i of block `index`, each having so many rows."""
    return index if rows == 1 else r.index_of(index * rows + i)


class Split(Node):
    """The columns of head i of a concatenation: c_ab = m_{a, (i−1)d + b}, indices from 1.

    `index` is the head, a number from 0 or a symbol for any; all heads are then evaluated at once.
    With `axis` 0 one head's rows.

    Shapes: n × h·d becomes n × d. Raises `SymattnError` if its argument is no matrix.
    Source: Vaswani et al. 2017, section 3.2.2: the inverse of concatenation.

    >>> print(Split(sympy.Matrix([[1, 2, 3, 4]]), 1, 2).doit())
    Matrix([[3, 4]])
    """

    matrix, index, heads, axis = Matrix(), HeadIndex(), Scalar(), Axis()
    source = "Vaswani et al. 2017, section 3.2.2"
    adjoint_because = "Each part's gradient is put back in its place."
    gathers = (0,)

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """A share of the columns (or rows)."""
        rows, columns = shape_of(self.matrix)
        return (rows, columns / self.heads) if self.axis == 1 else (rows / self.heads, columns)

    def _rule(self, i: Index, j: Index) -> Rule:
        matrix, index, _, axis = self.args
        rows, columns = self.shape
        if axis == 1:
            return r.rule_of(matrix, i, _row(index, columns, j))
        return r.rule_of(matrix, _row(index, rows, i), j)

    def _spell(self, speller: Speller) -> Tree:
        matrix, index, count, axis = self.args
        if axis == 0 and matrix.shape[0] == count:  # row t: K_t
            body = speller.matrix(matrix)
            plain = isinstance(matrix, sympy.MatrixSymbol)
            return t.Script(body if plain else t.Fenced(body), speller.index(index))
        if axis == 1 and matrix.shape[1] == count:
            return _column(speller, matrix, index)
        name = speller.notation.in_head(t.Ident("split", roman=True), speller.index(index))
        return t.call(name, speller.matrix(matrix))

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        matrix, index, count, axis = self.args
        if not index.is_Integer:
            return Concat(upstream, index, count, axis)
        width = self.shape[int(axis)]
        return Slice(matrix, index * width, width, axis)._adjoint(0, upstream, value)

    @classmethod
    def _compute(
        cls, arithmetic: Arithmetic, matrix: Array, index: Operand, count: Operand, axis: Operand
    ) -> Array:
        parts = along(arithmetic, axis, lambda lines: arithmetic.heads_apart(lines, count), matrix)
        return parts if is_any(index) else arithmetic.pick(parts, index, -3)


def is_any(index: sympy.Basic) -> bool:
    """Whether an index stands for any matrix of a family, and not for one, as a loop's does."""
    return isinstance(index, sympy.Symbol) and not isinstance(index, sympy.Dummy)


def is_one(index: sympy.Expr) -> bool:
    """Whether an index says which matrix is meant: a number, of sizes and a loop's token alone."""
    return all(s.is_positive or isinstance(s, sympy.Dummy) for s in index.free_symbols)


def _column(speller: Speller, matrix: MatrixExpr, index: sympy.Expr) -> Tree:
    """Column t of a matrix: column_t(S)."""
    word = t.Script(t.Ident("column", roman=True), speller.index(index))
    return t.call(word, speller.matrix(matrix))


class Slice(Node):
    """Consecutive rows of a matrix: c_ij = m_{first + i, j}; columns with `axis` 1.

    The gradient of one part of `Stacked` is such a slice. `first` counts from 0.

    Shapes: n × d becomes number × d. Raises `ShapeError` if there are not so many rows.
    Source: Shazeer 2019, section 2.4: the inverse of appending keys.

    >>> print(Slice(sympy.Matrix([[1], [2], [3]]), 1, 2).doit())
    Matrix([[2], [3]])
    """

    matrix, first, number, axis = Matrix(), Scalar(), Scalar(), Axis(0)
    source = "Shazeer 2019, section 2.4"
    adjoint_because = "The rows left out have no effect, so their gradient is 0."

    def _check(self) -> None:
        matrix, first, number, axis = self.args
        rest = shape_of(matrix)[int(axis)] - first - number
        if rest.is_negative or first.is_negative:
            rows, columns = shape_of(matrix)
            last = f"{('row', 'column')[int(axis)]} {first + number}"
            raise ShapeError(f"there is no {last} in a matrix that is {rows} × {columns}")

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """So many rows (or columns)."""
        rows, columns = shape_of(self.matrix)
        return (self.number, columns) if self.axis == 0 else (rows, self.number)

    def _rule(self, i: Index, j: Index) -> Rule:
        matrix, first, _, axis = self.args
        if axis == 0:
            return r.rule_of(matrix, r.index_of(first + i), j)
        column = first if self.number == 1 else first + j
        return r.rule_of(matrix, i, r.index_of(column))

    def _spell(self, speller: Speller) -> Tree:
        if self.axis == 1 and self.number == 1:
            return _column(speller, self.matrix, self.first)
        word = t.Ident("rows" if self.axis == 0 else "columns", roman=True)
        start = self.first + speller.notation.index_base
        ends = speller.scalar(start), speller.scalar(sympy.expand(start + self.number - 1))
        inside = t.row(ends[0], t.Op("…"), ends[1])
        return t.call(t.Script(word, inside), speller.matrix(self.matrix))

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        matrix, first, count, axis = self.args
        sizes = shape_of(matrix)
        after = sympy.expand(sizes[int(axis)] - first - count)

        def zeros(number: sympy.Expr) -> MatrixExpr:
            rows, columns = (number, sizes[1]) if axis == 0 else (sizes[0], number)
            return Filled(rows, columns, 0)

        out = upstream if first == 0 else Stacked(zeros(first), upstream, axis)
        return out if after == 0 else Stacked(out, zeros(after), axis)

    @classmethod
    def _compute(
        cls, arithmetic: Arithmetic, matrix: Array, first: Operand, count: Operand, axis: Operand
    ) -> Array:
        return arithmetic.part(matrix, first, count, -2 if axis == 0 else -1)


class HeadMix(Node):
    """Every head's matrix mixed with the others': M⁽ʰ⁾ = Σ_l p_hl S⁽ˡ⁾, l over all heads.

    `matrix` is that of head `index`, `weights` has a row for each new head, `head` is the new
    head (from 0, or a symbol for any).

    Shapes: k matrices n × m and weights h × k give h matrices n × m. Raises `SymattnError` if an
    argument is no matrix. Source: Shazeer et al., *Talking-Heads Attention* (2020), section 4.
    """

    matrix, index, heads, weights, head = Matrix(), BoundIndex(), Scalar(), Matrix(), HeadIndex()
    over_heads = True
    source = "Shazeer et al. 2020, section 4"
    heading = "mixed heads"
    reason = "The matrices of all heads are mixed, each by its own weight."
    gathers = (3,)
    adjoint_because = "Each head's matrix is used by all new heads, by as much as it is weighed."
    adjoint_reasons: ClassVar[Mapping[int, str]] = {
        3: "A weight's gradient is the sum of the products of its head's gradient and the matrix "
        "that it weighs."
    }

    def _rule(self, i: Index, j: Index) -> Rule:
        body, index, count, weights, head = self.args
        term = r.Times((r.rule_of(weights, head, index), r.rule_of(body, i, j)))
        return r.Total(term, index, count)

    def _spell(self, speller: Speller) -> Tree:
        body, index, _, weights, head = self.args
        weight = speller.rule(r.rule_of(weights, head, index))
        total = t.Script(t.SUM, speller.index(index))
        return t.row(total, t.times([weight, speller.matrix(body)]))

    def _flip(self, flip: Callable[[MatrixExpr], MatrixExpr]) -> MatrixExpr:
        body, index, count, weights, head = self.args
        return HeadMix(flip(body), index, count, sympy.Transpose(flip(weights)), head)

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        body, index, _, weights, head = self.args
        new = sympy.Symbol("new_head", integer=True)
        above = upstream.xreplace({head: new})
        if place == 3:
            return HeadDots(above, new, weights.shape[0], body, index, weights.shape[1])
        return HeadMix(above, new, weights.shape[0], sympy.Transpose(weights), index)

    @classmethod
    def _compute(
        cls,
        arithmetic: Arithmetic,
        body: Array,
        index: Operand,
        heads: Operand,
        weights: Array,
        head: Operand,
    ) -> Array:
        wide = arithmetic.expand(arithmetic.expand(weights, -1), -1)
        terms = arithmetic.multiply(wide, arithmetic.expand(body, -4))
        mixed = arithmetic.total(terms, -3)
        return arithmetic.pick(mixed, head, -3) if head.is_Integer else mixed


class HeadDots(Node):
    """The dot product of every matrix of some heads with every one of others: w_hl = ⟨U⁽ʰ⁾, S⁽ˡ⁾⟩.

    Shapes: h and k matrices n × m give h × k. Raises `SymattnError` if an argument is no matrix.
    Source: Griewank and Walther 2008, section 3.2: the gradient of the weights of `HeadMix`.
    """

    matrix, index, heads = Matrix(), BoundIndex(), Scalar()
    other, other_index, other_heads = Matrix(), BoundIndex(), Scalar()
    source = "Griewank and Walther 2008, section 3.2"

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """A row for each of the first heads, a column for each of the others."""
        return self.heads, self.other_heads

    def _rule(self, i: Index, j: Index) -> Rule:
        rows, columns = shape_of(self.matrix)
        row, column = r.dummy(i, j, self), r.dummy(i, j, self, r.dummy(i, j, self))
        one = r.rule_of(self.matrix.subs(self.index, i), row, column)
        other = r.rule_of(self.other.subs(self.other_index, j), row, column)
        return r.Total(r.Total(r.Times((one, other)), column, columns), row, rows)

    def _spell(self, speller: Speller) -> Tree:
        word = t.Ident("dots", roman=True)
        return t.call(word, speller.matrix(self.matrix), speller.matrix(self.other))

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Operand) -> Array:
        one, _, _, other, _, _ = args
        rows, columns = (arithmetic.pick(arithmetic.flattened(x), 0, -2) for x in (one, other))
        return arithmetic.matmul(rows, arithmetic.transpose(columns))


class GroupSum(Node):
    """The sum over the heads of a group: C⁽ʲ⁾ = Σ_s M⁽ˢ⁾, s from (j − 1) h/g + 1 to j h/g.

    `matrix` is that of head `index`, `group` the group j (from 0, or a symbol for any).

    Shapes: h matrices n × d give g matrices n × d. Raises `SymattnError` if `matrix` is none.
    Source: Ainslie et al., *GQA* (2023), section 2.2: heads h/g at a time share keys and values.
    """

    matrix, index, heads, groups, group = Matrix(), BoundIndex(), Scalar(), Scalar(), HeadIndex()
    over_heads = True
    transposes = True
    source = "Ainslie et al. 2023, section 2.2"
    adjoint_because = "Each head of the group receives the group's gradient."

    def _rule(self, i: Index, j: Index) -> Rule:
        body, index, heads, groups, group = self.args
        share = heads / groups
        return r.Total(r.rule_of(body.subs(index, group * share + index), i, j), index, share)

    def _spell(self, speller: Speller) -> Tree:
        word = t.call(t.Ident("group", roman=True), speller.index(self.group))
        below = t.equation(speller.scalar(self.index), (t.Op("∈"), word))
        return t.row(t.Script(t.SUM, below), t.bracketed(speller.matrix(self.matrix), 2))

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        used = {
            part: Head(part.args[0], sympy.floor(self.index * self.groups / self.heads))
            for part in upstream.atoms(Head)
            if part.head == self.group
        }
        return upstream.xreplace(used)

    @classmethod
    def _compute(
        cls,
        arithmetic: Arithmetic,
        body: Array,
        index: Operand,
        heads: Operand,
        groups: Operand,
        group: Operand,
    ) -> Array:
        summed = arithmetic.total(arithmetic.groups(body, groups), -3)
        return arithmetic.pick(summed, group, -3) if group.is_Integer else summed


class Stacked(Node):
    """One matrix below another, K = [K_past; K_new]; side by side with `axis` 1.

    Shapes: p × d and n × d give (p + n) × d. Raises `ShapeError` if the widths differ.
    Source: Shazeer, *Fast Transformer Decoding* (2019), section 2.4 (incremental decoding).
    """

    first, second, axis = Matrix(), Matrix(), Axis(0)
    source = "Shazeer 2019, section 2.4"

    adjoint_because = "The gradient of each part is its own block of rows."

    def _check(self) -> None:
        one, two, across = self.first.shape, self.second.shape, 1 - int(self.axis)
        if one[across] != two[across]:
            raise ShapeError(f"Stacked: {one} and {two} do not fit together")

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """Both together."""
        (rows, columns), (more, wide) = shape_of(self.first), shape_of(self.second)
        return (rows + more, columns) if self.axis == 0 else (rows, columns + wide)

    def _rule(self, i: Index, j: Index) -> Rule:
        first, second, axis = self.args
        size = shape_of(first)[int(axis)]
        one = r.rule_of(first, i, j)
        if axis == 0:
            return r.Cases(
                r.Ordinal(i), "≤", r.Ordinal(size - 1), one, r.rule_of(second, i - size, j)
            )
        return r.Cases(r.Ordinal(j), "≤", r.Ordinal(size - 1), one, r.rule_of(second, i, j - size))

    def _spell(self, speller: Speller) -> Tree:
        return speller.bracketed_grid([[*map(speller.matrix, row)] for row in self._blocks()])

    def _blocks(self) -> list[list[MatrixExpr]]:
        """The rows of blocks, those within a part included where they line up."""
        parts = [self.first, self.second]
        one, two = (part._blocks() if isinstance(part, Stacked) else [[part]] for part in parts)
        if self.axis == 1:
            return [one[0] + two[0]] if len(one) == len(two) == 1 else [parts]
        widths = {tuple(shape_of(block)[1] for block in row) for row in one + two}
        return one + two if len(widths) == 1 else [[part] for part in parts]

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        first, second, axis = self.args
        count, more = shape_of(first)[int(axis)], shape_of(second)[int(axis)]
        start, number = (sympy.S.Zero, count) if place == 0 else (count, more)
        return Slice(upstream, start, number, axis)

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, first: Array, second: Array, axis: Operand) -> Array:
        return arithmetic.join([first, second], axis=-2 if axis == 0 else -1)


class HeadSum(Node):
    """The sum over the heads: Y = Σ_i O⁽ⁱ⁾ W_O⁽ⁱ⁾, which equals concatenation times W_O.

    Shapes: h matrices n × d give n × d. Raises `SymattnError` if its argument is no matrix.
    Source: Elhage et al., *A Mathematical Framework for Transformer Circuits* (2021), "Attention
    Heads are Independent and Additive".
    """

    matrix, index, heads = Matrix(), BoundIndex(), Scalar()
    syntax = "sum_h(matrix)"
    over_heads = True
    by_rows = 1
    transposes = True
    source = "Elhage et al. 2021, on additive heads"

    adjoint_because = "Each term of a sum has the sum's gradient, here each head."

    def _rule(self, i: Index, j: Index) -> Rule:
        return r.Total(r.rule_of(self.matrix, i, j), self.index, self.heads)

    def _spell(self, speller: Speller) -> Tree:
        base = speller.notation.index_base
        first = t.equation(speller.index(self.index), (t.EQUALS, speller.index(0)))
        last = speller.scalar(self.heads if base else self.heads - 1)
        return t.row(t.Script(t.SUM, first, last), t.bracketed(speller.matrix(self.matrix), 2))

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        return upstream

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, matrix: Array, *_: Operand) -> Array:
        return arithmetic.total(matrix, -3)
