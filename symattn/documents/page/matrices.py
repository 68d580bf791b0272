"""A matrix as a page shows it: its entries in the convention, with their proven digits."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from symattn.derivations import Evaluation, Item, Place, Step
from symattn.documents.page.colour import shade_of
from symattn.documents.page.elements import compact
from symattn.errors import SymattnError
from symattn.evaluate.cells import LONGEST, Cells, indices_of
from symattn.evaluate.value_view import heads_of
from symattn.nodes.flip import flip
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.letters import derived_from
from symattn.notation.mathml import mathml
from symattn.notation.numbers import number
from symattn.notation.options import Notation
from symattn.notation.text import line
from symattn.notation.tree import Tree
from symattn.step import HEAD

#: Where the page puts row, column and head into the name of an entry.
GAPS = ("△", "▽", "□")

#: The first letter of such a name, and what stands in its place.
_LETTER, _GAP = re.compile(r"(?<=<mi>)[^<]+"), "◇"


@dataclass(frozen=True)
class MatrixView:
    """A matrix with its values, or those of its heads."""

    item: Item
    evaluation: Evaluation
    notation: Notation

    @cached_property
    def array(self) -> Any:
        """NumPy's values: (heads,) rows, columns."""
        array = self.evaluation.array(self.item.letter)
        if array.ndim - self.item.per_head != 2:
            raise SymattnError(
                f"{self.item.name}: {array.ndim} axes cannot be shown on a page; give one sequence"
            )
        return array

    @property
    def exact(self) -> Any:
        """The exact values, as shown."""
        array = self.evaluation.exact(self.item.letter)
        return np.swapaxes(array, -1, -2) if self.notation.flipped else array

    @property
    def digits(self) -> Iterator[str]:
        """The proven decimals of all entries, head by head and row by row, as shown."""
        found = self.evaluation.all_digits(self.item.letter, self.notation)
        found = np.swapaxes(found, -1, -2) if self.notation.flipped else found
        return (one.marked for one in found.flat)

    @property
    def heads(self) -> tuple[int | None, ...]:
        """The heads in order, or None where there is one matrix."""
        return tuple(range(self.array.shape[0])) if self.item.per_head else (None,)

    def of(self, head: int | None, turned: bool = False) -> HeadView:
        """The matrix of a head, None where there is one matrix; or its transpose."""
        assert self.array.ndim == 2 + self.item.per_head
        return HeadView(self.evaluation, self.item, head, self.notation, turned, whole=self)

    @cached_property
    def all(self) -> list[HeadView]:
        """The matrix of every head."""
        return [self.of(head) for head in self.heads]

    @property
    def shown(self) -> list[HeadView]:
        """Those of the heads that the notation chooses."""
        return [self.of(head) for head in heads_of(self.evaluation, self.item, self.notation)]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.all[0].shape

    @property
    def labels(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The names of rows and of columns, empty where they have none."""
        return self.all[0].labels

    @property
    def axes(self) -> tuple[str, str] | None:
        """What rows and columns are, of a matrix with an entry for each query and key."""
        if not (self.item.weights or self.item.logits):
            return None
        rows, columns = self.notation.sides(("queries", "keys"))
        return rows, columns

    @property
    def entry_name(self) -> tuple[str, str]:
        """The name of an entry in MathML with ◇ for its letter; the letter.

        It has `GAPS` for its indices, and commas between them.
        """
        name = self._entry_name
        return _LETTER.sub(_GAP, name, count=1), "".join(_LETTER.findall(name)[:1])

    @property
    def _entry_name(self) -> str:
        if self.item.is_number:
            return compact(mathml(self.all[0].symbol))
        row, column, head = (t.Num(gap * 2) for gap in GAPS)  # long enough to be set apart
        of_head = head if self.item.per_head else None
        name = compact(mathml(self.notation.entry(self.item.letter, of_head, (row, column))))
        return re.sub(f"([{''.join(GAPS)}])\\1", r"\1", name)

    def seen(self, place: Place) -> tuple[int | None, int, int]:
        """Head, row and column, as shown, of a place in the array."""
        *head, i, j = place
        row, column = self.notation.sides((i, j))
        return head[-1] if self.item.per_head and head else None, row, column

    def key(self, place: Place) -> str:
        """What the page's program calls the entry at a place in the array."""
        head, i, j = self.seen(place)
        return f"{self.item.letter}|{'' if head is None else head}|{i}|{j}"

    def places(self, whole: bool = False) -> Iterator[tuple[int | None, int, int]]:
        """Head, row and column of every entry, or of those in sight."""
        return ((one.head, i, j) for one in self.all for i, j in one.places(whole))

    @property
    def words(self) -> str:
        """Its name in words, where that says more than its letter: that of a gradient has a d."""
        plain = self.item.name == self.item.letter or derived_from(self.item.letter) is not None
        return "" if plain else self.item.name.replace("_", " ")

    @cached_property
    def masks(self) -> tuple[str, ...]:
        """Of weights, the letters of what may hide a key with −∞: masks, and scores given."""
        if not self.item.weights:
            return ()
        items = (*self.evaluation.inputs, *self.evaluation.steps)
        read = {*self.item.operands} if isinstance(self.item, Step) else set[str]()
        for item in reversed(items):
            read |= {*item.operands} if isinstance(item, Step) and item.letter in read else set()
        return tuple(
            item.letter
            for item in items
            if item.letter in read
            and item.logits
            and item.shape == self.item.shape
            and (item.fixed or not isinstance(item, Step))
        )

    @cached_property
    def hidden(self) -> Any:
        """Where a mask, or a score that was given, is −∞; of scores and masks where they are."""
        letters = self.masks or ((self.item.letter,) if self.item.logits else ())
        hidden = np.zeros(self.array.shape, dtype=bool)
        for letter in letters:
            hidden |= self.evaluation.array(letter) == -np.inf
        return hidden

    @cached_property
    def largest(self) -> float:
        """The number of the darkest shade: max(1, max |entry|) over finite entries."""
        return float(max(1.0, self._sizes.max(initial=0.0)))

    @property
    def largest_text(self) -> str:
        """The same as it is printed, with its proven digits."""
        if self.largest == 1:
            return "1"
        place = np.unravel_index(self._sizes.argmax(), self._sizes.shape)
        head, i, j = self.seen(tuple(map(int, place)))
        return self.of(head).text(i, j).removeprefix("−")

    @cached_property
    def _sizes(self) -> Any:
        """|entry|, and 0 where that is not finite."""
        return np.where(np.isfinite(self.array), np.abs(self.array), 0.0)


@dataclass(frozen=True)
class HeadView(Cells):
    """One matrix as the reader sees it: of a head where there are heads, perhaps its transpose."""

    whole: MatrixView = field(kw_only=True)

    def digits(self, i: int, j: int) -> str:
        """An entry's proven decimal, as plain text: ``-0.25``, ``-inf``."""
        return self.evaluation.digits(self.item.letter, self.place(i, j), self.notation).marked

    def text(self, i: int, j: int) -> str:
        """An entry as it stands in its cell."""
        exact = self._short(i, j)
        return pretty(self.digits(i, j)) if exact is None else line(exact)

    def cell(self, i: int, j: int) -> tuple[Tree, bool]:
        """The same as a tree, and whether it is the exact value."""
        exact = self._short(i, j)
        return self._decimals.cell(i, j) if exact is None else (exact, True)

    @cached_property
    def _decimals(self) -> Cells:
        plain = self.notation.but(exact=False)
        return Cells(self.evaluation, self.item, self.head, plain, self.turned)

    def _short(self, i: int, j: int) -> Tree | None:
        """An exact entry, where the reader wants that and its cell has room for it."""
        if not self.notation.exact:
            return None
        value = self.evaluation.exact(self.item.letter)[self.place(i, j)]
        exact = Speller(self.notation).scalar(value)
        return exact if len(line(exact)) <= LONGEST else None

    @property
    def is_exact(self) -> bool:
        """Whether every entry in sight is shown exactly."""
        return self.grid(*self.indices)[1]

    @property
    def equation(self) -> Tree:
        """The matrix as it stands on the page, with its letter: A ≈ […]."""
        grid, is_exact = self.grid(*self.indices)
        value = grid.rows[0][0] if self.item.is_number else t.Fenced(grid, "[", "]")
        return t.equation(self.symbol, (t.EQUALS if is_exact else t.APPROX, value))

    @property
    def indices(self) -> tuple[list[int | None], list[int | None]]:
        """The rows and the columns that are shown, with None where some are left out."""
        rows, columns = (indices_of(size, self.notation.limit) for size in self.shape)
        return rows, columns

    @property
    def is_cut(self) -> bool:
        """Whether some rows or columns are left out."""
        rows, columns = self.indices
        return None in (*rows, *columns)

    def places(self, whole: bool = False) -> Iterator[tuple[int, int]]:
        """Row and column of every entry, or of those in sight."""
        rows, columns = map(range, self.shape) if whole else self.indices
        return ((i, j) for i, j in product(rows, columns) if i is not None and j is not None)

    @property
    def texts(self) -> list[list[str]]:
        """The entries as they stand in their cells, row by row."""
        rows, columns = map(range, self.shape)
        return [[self.text(i, j) for j in columns] for i in rows]

    @property
    def symbol(self) -> Tree:
        """The name of the matrix or its transpose, of one head where there are heads."""
        symbol = self.item.symbol if self.head is None else self.item.symbol.subs(HEAD, self.head)
        symbol = flip(symbol) if self.notation.flipped else symbol
        return Speller(self.notation).matrix(symbol.T if self.turned else symbol)

    @property
    def of_head(self) -> str:
        """Which head it is of, behind its name."""
        return "" if self.head is None else f", head {self.head + self.notation.index_base}"

    def kinds(self, i: int, j: int) -> str | None:
        """The classes of a cell: a weight's shade, and whether its key is masked."""
        if not self.item.weights:
            return None
        return f"w{self.shade(i, j)}" + " masked" * self.is_masked(i, j)

    def is_masked(self, i: int, j: int) -> bool:
        """Whether a mask hides this key from this query, which is more than a weight of 0."""
        return bool(self.whole.hidden[self.place(i, j)])

    def shade(self, i: int, j: int) -> int:
        """How dark a weight's cell is."""
        return shade_of(float(self.whole.array[self.place(i, j)]), self.whole.largest)


def pretty(digits: str) -> str:
    """A plain decimal with the signs of mathematics: −0.25, −∞.

    >>> pretty("-0.25")
    '−0.25'
    """
    bare = digits.removesuffix("?")
    return line(number(bare)) + "?" * (digits != bare) if bare else "?"


def head_of(step: Step, operand: MatrixView, head: int | None) -> int | None:
    """Which head of an operand head `head` of a step reads; None where it is shared, or all are."""
    if not operand.item.per_head or head is None:
        return None
    found = step.expr.atoms(type(operand.item.symbol))
    rule_head = sorted((part.head for part in found if part.name == operand.item.letter), key=str)
    used = rule_head[0].subs(HEAD, head).subs(operand.evaluation.sizes) if rule_head else None
    return int(used) if used is not None and used.is_Integer else None
