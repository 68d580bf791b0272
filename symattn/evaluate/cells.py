"""A matrix for display: which rows and columns are written, and each entry in proven digits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import TypeAlias

import sympy

from symattn.arithmetic.abbreviated import simplified
from symattn.errors import SymattnError
from symattn.evaluate.matrices import Place
from symattn.evaluate.values import Values
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.numbers import number
from symattn.notation.options import Notation
from symattn.notation.text import line
from symattn.notation.tree import Tree
from symattn.step import Item

#: Rows or columns in order, with None where some are left out.
Indices: TypeAlias = Sequence[int | None]

#: An exact number longer than this stands on a line of its own, not in a matrix, and as an operand
#: under its name.
LONGEST = 16


def indices_of(count: int, limit: int, wanted: int | None = None) -> list[int | None]:
    """At most `limit` of `count` indices, None for a gap; `wanted` is always among them."""
    if not limit or count <= limit:
        return list(range(count))
    head = max(limit - 2, 0)
    if wanted is None or wanted < head or wanted == count - 1:
        return [*range(head), None, count - 1]
    head = min(max(limit - 4, 1), wanted)
    before = [None] if head < wanted else []
    behind = [None] if wanted < count - 2 else []
    return [*range(head), *before, wanted, *behind, count - 1]


@dataclass(frozen=True)
class Cells:
    """A matrix of a derivation, or one head's, in the reader's convention; `head` counts from 0.

    With `turned` it is read as its transpose. Raises `SymattnError` where there are more axes than
    heads, rows and columns.
    """

    evaluation: Values
    item: Item
    head: int | None
    notation: Notation
    turned: bool = False

    def __post_init__(self) -> None:
        axes = self.evaluation.array(self.item.letter).ndim
        if axes - (self.head is not None) != 2:
            raise SymattnError(
                f"{self.item.name}: {axes} axes cannot be shown as one matrix; pick one"
            )

    @property
    def _swapped(self) -> bool:
        """Whether rows are shown as columns: tokens are columns, or a transpose is read."""
        return (self.notation.convention == "columns") != self.turned

    @cached_property
    def shape(self) -> tuple[int, int]:
        """Rows and columns as shown."""
        rows, columns = self.evaluation.array(self.item.letter).shape[-2:]
        return (columns, rows) if self._swapped else (rows, columns)

    @cached_property
    def labels(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The names of rows and columns, empty where they have none."""
        rows, columns = (self.evaluation.labels.get(size, ()) for size in self.item.shape)
        return (columns, rows) if self._swapped else (rows, columns)

    def place(self, i: int, j: int) -> Place:
        """Where the cell in row i and column j, as shown, lies in the array."""
        place = (j, i) if self._swapped else (i, j)
        return place if self.head is None else (self.head, *place)

    def position(self, place: Place | None) -> tuple[int, int] | None:
        """Row and column, as shown, of a place in the array; None where it is another head's."""
        if place is None or (self.head is not None and place[0] != self.head):
            return None
        i, j = place[-2:]
        return (j, i) if self._swapped else (i, j)

    def cell(self, i: int, j: int) -> tuple[Tree, bool]:
        """One cell, and whether it shows the exact value."""
        if self.notation.exact:
            return self._speller.scalar(self._exact(i, j)), True
        place = self.place(i, j)
        digits = self.evaluation.digits(self.item.letter, place, self.notation)
        cell = number(digits.text) if digits.text != "?" else t.Op("?")
        return (cell if digits.proven else t.row(cell, t.Op("?"))), digits.exact

    def _exact(self, i: int, j: int) -> sympy.Expr:
        return simplified(self.evaluation.exact(self.item.letter)[self.place(i, j)])

    @cached_property
    def _speller(self) -> Speller:
        """What spells all exact numbers that are shown in one form."""
        rows, columns = (indices_of(size, self.notation.limit) for size in self.shape)
        places = ((i, j) for i, j in product(rows, columns) if i is not None and j is not None)
        return Speller(self.notation).alike(self._exact(i, j) for i, j in places)

    def grid(self, rows: Indices, columns: Indices) -> tuple[t.Grid, bool]:
        """The cells of these rows and columns with their names, and whether all are exact."""
        cells: dict[tuple[int | None, int | None], Tree] = {}
        all_exact = True
        for i in rows:
            for j in columns:
                if i is None or j is None:
                    cells[i, j] = _gap(i, j)
                    continue
                cells[i, j], is_exact = self.cell(i, j)
                all_exact = all_exact and is_exact
        down, across = self.labels
        lines = tuple(tuple(t.inline(cells[i, j]) for j in columns) for i in rows)
        return t.Grid(lines, named(down, rows, "⋮"), named(across, columns, "⋯")), all_exact


def _gap(i: int | None, j: int | None) -> Tree:
    """The dots in place of rows, of columns, or of both, that are left out."""
    if i is None:
        return t.DDOTS if j is None else t.VDOTS
    return t.DOTS


def named(names: tuple[str, ...], indices: Indices, gap: str) -> tuple[str, ...]:
    """The names of these rows or columns, if they have names; `gap` where some are left out."""
    return tuple(gap if index is None else names[index] for index in indices) if names else ()


def is_long(grid: t.Grid) -> bool:
    """Whether a cell is too long for a matrix: exact values are, and huge powers of ten."""
    return any(len(line(cell)) > LONGEST for cells in grid.rows for cell in cells)


def picked(
    grid: t.Grid, rows: Indices, columns: Indices, row: int | None, column: int | None, boxed: bool
) -> t.Grid:
    """The grid with the cells of a row and column pointed out (None: of all), boxed or in bold."""
    lines = [
        tuple(
            t.Picked(cell, boxed)
            if i is not None and j is not None and row in (None, i) and column in (None, j)
            else cell
            for cell, j in zip(cells, columns, strict=True)
        )
        for cells, i in zip(grid.rows, rows, strict=True)
    ]
    return replace(grid, rows=tuple(lines))
