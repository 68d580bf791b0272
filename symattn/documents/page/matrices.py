"""A matrix as a page shows it: its entries in the convention, with their proven digits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from symattn.derivations import Evaluation, Item, Step
from symattn.documents.page.colour import shade_of
from symattn.documents.page.elements import compact
from symattn.errors import SymattnError
from symattn.evaluate.cells import indices_of, named
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

#: An exact value longer than this is shown as a decimal; its worked line says it in full.
_LONG = 16

#: Where the page puts row, column and head into the name of an entry, short or with commas.
GAPS = ("△", "▽", "□")


@dataclass(frozen=True)
class MatrixView:
    """A matrix with its values, as the reader sees it: rows and columns in the convention."""

    item: Item
    evaluation: Evaluation
    notation: Notation

    @cached_property
    def array(self) -> Any:
        """NumPy's values: (heads,) rows, columns, as shown."""
        array = self.evaluation.array(self.item.letter)
        if array.ndim - self.item.per_head != 2:
            raise SymattnError(
                f"{self.item.name}: {array.ndim} axes cannot be shown on a page; give one sequence"
            )
        return np.swapaxes(array, -1, -2) if self.flipped else array

    @property
    def exact(self) -> Any:
        """The exact values, as shown."""
        array = self.evaluation.exact(self.item.letter)
        return np.swapaxes(array, -1, -2) if self.flipped else array

    @property
    def flipped(self) -> bool:
        """Whether tokens are columns."""
        return self.notation.convention == "columns"

    @property
    def heads(self) -> tuple[int | None, ...]:
        """The heads in order, or None where there is one matrix."""
        return tuple(range(self.array.shape[0])) if self.item.per_head else (None,)

    @property
    def shown(self) -> list[int | None]:
        """The heads that the notation chooses, or None where there is one matrix."""
        return heads_of(self.evaluation, self.item, self.notation)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return (int(self.array.shape[-2]), int(self.array.shape[-1]))

    @property
    def labels(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The names of rows and of columns, empty where they have none."""
        names = tuple(self.evaluation.labels.get(size, ()) for size in self.item.shape)
        rows, columns = names[::-1] if self.flipped else names
        return rows, columns

    @property
    def axes(self) -> tuple[str, str] | None:
        """What rows and columns are, of a matrix with an entry for each query and key."""
        if not (self.item.weights or self.item.logits):
            return None
        return ("keys", "queries") if self.flipped else ("queries", "keys")

    def digits(self, head: int | None, i: int, j: int) -> str:
        """An entry's proven decimal, as plain text: ``-0.25``, ``-inf``."""
        whole = self._stored(head, i, j)
        found = self.evaluation.digits(self.item.letter, whole, self.notation)
        return found.text if found.proven or found.text == "?" else f"{found.text}?"

    def text(self, head: int | None, i: int, j: int) -> str:
        """An entry as it stands in its cell."""
        exact = self._exactly(head, i, j)
        return pretty(self.digits(head, i, j)) if exact is None else line(exact)

    def _exactly(self, head: int | None, i: int, j: int) -> Tree | None:
        """An exact entry, where the reader wants that and its cell has room for it."""
        if not self.notation.exact:
            return None
        value = self.exact[(i, j) if head is None else (head, i, j)]
        exact = Speller(self.notation).scalar(value)
        return exact if len(line(exact)) <= _LONG else None

    def is_exact(self, head: int | None) -> bool:
        """Whether every entry in sight is shown exactly."""
        letter, wanted = self.item.letter, self.notation
        places = [place for place in self.places() if place[0] == head]
        return all(
            self._exactly(*place) is not None
            or self.evaluation.digits(letter, self._stored(*place), wanted).exact
            for place in places
        )

    def equation(self, head: int | None) -> Tree:
        """The matrix as it stands on the page, with its letter: A ≈ […]."""
        rows, columns = map(self.indices, self.shape)
        dots = {(True, False): t.VDOTS, (False, True): t.DOTS, (True, True): t.DDOTS}
        cells = []
        for i in rows:
            line_of_cells: list[Tree] = []
            for j in columns:
                if i is None or j is None:
                    line_of_cells.append(dots[i is None, j is None])
                    continue
                exact = self._exactly(head, i, j)
                decimal = number(self.digits(head, i, j)) if exact is None else exact
                line_of_cells.append(t.inline(decimal))
            cells.append(tuple(line_of_cells))
        down, across = self.labels
        grid = t.Grid(tuple(cells), named(down, rows, "⋮"), named(across, columns, "⋯"))
        relation = t.EQUALS if self.is_exact(head) else t.APPROX
        value = cells[0][0] if self.item.is_number else t.Fenced(grid, "[", "]")
        return t.equation(self.symbol(head), (relation, value))

    def _stored(self, head: int | None, i: int, j: int) -> tuple[int, ...]:
        """The place in the array of an entry as shown."""
        place = (j, i) if self.flipped else (i, j)
        return place if head is None else (head, *place)

    def texts(self, head: int | None) -> list[list[str]]:
        """The entries of one matrix as they stand in its cells, row by row."""
        rows, columns = map(range, self.shape)
        return [[self.text(head, i, j) for j in columns] for i in rows]

    def symbol(self, head: int | None, turned: bool = False) -> Tree:
        """The name of the matrix or its transpose, of one head where there are heads."""
        symbol = self.item.symbol if head is None else self.item.symbol.subs(HEAD, head)
        symbol = flip(symbol) if self.flipped else symbol
        return Speller(self.notation).matrix(symbol.T if turned else symbol)

    def entry_names(self) -> tuple[str, str]:
        """The name of an entry with `GAPS` for its indices, short and with commas, in MathML."""
        if self.item.is_number:
            name = compact(mathml(self.symbol(None)))
            return name, name
        short, long = ([t.Num(gap * width) for gap in GAPS] for width in (1, 2))
        return tuple(  # type: ignore[return-value]
            compact(
                mathml(
                    self.notation.entry(
                        self.item.letter,
                        row_column_head[2] if self.item.per_head else None,
                        tuple(row_column_head[:2]),
                    )
                )
            )
            .replace(GAPS[0] * 2, GAPS[0])
            .replace(GAPS[1] * 2, GAPS[1])
            .replace(GAPS[2] * 2, GAPS[2])
            for row_column_head in (short, long)
        )

    def indices(self, size: int) -> list[int | None]:
        """The indices shown, with None where some are left out."""
        return indices_of(size, self.notation.limit)

    def places(self, whole: bool = False) -> Iterator[tuple[int | None, int, int]]:
        """Head, row and column of every entry, or of those in sight."""
        rows, columns = (
            [k for k in (range(size) if whole else self.indices(size)) if k is not None]
            for size in self.shape
        )
        return ((head, i, j) for head in self.heads for i in rows for j in columns)

    @property
    def words(self) -> str:
        """Its name in words, where that says more than its letter: that of a gradient has a d."""
        plain = self.item.name == self.item.letter or derived_from(self.item.letter) is not None
        return "" if plain else self.item.name.replace("_", " ")

    def kinds(self, head: int | None, i: int, j: int) -> str | None:
        """The classes of a cell: a weight's shade, and whether its key is masked."""
        if not self.item.weights:
            return None
        return f"w{self.shade(head, i, j)}" + " masked" * self.is_masked(head, i, j)

    @cached_property
    def masks(self) -> tuple[str, ...]:
        """Of weights, the letters of what may hide a key with −∞: masks, and scores given."""
        if not self.item.weights:
            return ()
        items = {item.letter: item for item in (*self.evaluation.inputs, *self.evaluation.steps)}
        before, read = [self.item], set[str]()
        while before:
            item = before.pop()
            for letter in set(item.operands if isinstance(item, Step) else ()) - read:
                read.add(letter)
                before.append(items[letter])
        return tuple(
            letter
            for letter, item in items.items()
            if letter in read
            and item.logits
            and item.shape == self.item.shape
            and (item.fixed or not isinstance(item, Step))
        )

    def is_masked(self, head: int | None, i: int, j: int) -> bool:
        """Whether a mask hides this key from this query, which is more than a weight of 0."""
        return bool(self._hidden[i, j] if head is None else self._hidden[head, i, j])

    @cached_property
    def _hidden(self) -> Any:
        """Where a mask, or a score that was given, is −∞; of scores and masks where they are."""
        letters = self.masks or ((self.item.letter,) if self.item.logits else ())
        hidden = np.zeros(self.array.shape, dtype=bool)
        for letter in letters:
            array = self.evaluation.array(letter)
            hidden |= (np.swapaxes(array, -1, -2) if self.flipped else array) == -np.inf
        return hidden

    def shade(self, head: int | None, i: int, j: int) -> int:
        """How dark a weight's cell is."""
        array = self.array if head is None else self.array[head]
        return shade_of(float(array[i, j]), self.largest)

    @cached_property
    def largest(self) -> float:
        """The number of the darkest shade: max(1, max |entry|) over finite entries."""
        return float(max(1.0, self._sizes.max(initial=0.0)))

    @property
    def largest_text(self) -> str:
        """The same as it is printed, with its proven digits."""
        if self.largest == 1:
            return "1"
        found = [int(k) for k in np.unravel_index(self._sizes.argmax(), self._sizes.shape)]
        return self.text(found[0] if len(found) == 3 else None, *found[-2:]).removeprefix("−")

    @cached_property
    def _sizes(self) -> Any:
        """|entry|, and 0 where that is not finite."""
        return np.where(np.isfinite(self.array), np.abs(self.array), 0.0)


def pretty(digits: str) -> str:
    """A plain decimal with the signs of mathematics: −0.25, −∞.

    >>> pretty("-0.25")
    '−0.25'
    """
    bare = digits.removesuffix("?")
    return line(number(bare)) + "?" * (digits != bare) if bare else "?"


def operands(step: Step, matrices: dict[str, MatrixView]) -> list[MatrixView]:
    """The matrices a step reads, in order."""
    return [matrices[letter] for letter in step.operands]


def head_of(step: Step, operand: MatrixView, head: int | None) -> int | None:
    """Which head of an operand head `head` of a step reads; None where it is shared, or all are."""
    if not operand.item.per_head or head is None:
        return None
    found = step.expr.atoms(type(operand.item.symbol))
    rule_head = sorted((part.head for part in found if part.name == operand.item.letter), key=str)
    used = rule_head[0].subs(HEAD, head).subs(operand.evaluation.sizes) if rule_head else None
    return int(used) if used is not None and used.is_Integer else None
