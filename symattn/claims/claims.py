"""What somebody claims: which entry of which step, and the number as it was written.

A claim is a whole step, one head of it, rows, columns or an entry, counted and turned as the
worksheet's notation prints them::

    scores = [[2, 4], [4, 16]]
    "weights[1,:]" = ["0.12", "?"]     # or "weights[1]"
    "V[1:2,:]" = [[1, 2], [3, 4]]      # rows 1 and 2
    "output[2,1]" = "1/3"              # or o_21
    "scores[2][1,:]" = [1, 0]          # head 2, row 1; without heads, batch 2, row 1
    "scores[3][2][1,:]" = [1, 0]       # batch 3, head 2, row 1
    "scores[1,2]" = "1·0 + 2·4 = 8"    # a worked line
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from symattn.arithmetic.base import Array
from symattn.arithmetic.reading import depth
from symattn.arithmetic.spelling import decimal_shown
from symattn.arithmetic.written import Written, read_written
from symattn.attention.vocabulary import SYMBOLS, symbol_of
from symattn.claims.entry_names import turned
from symattn.claims.labels import texts_of
from symattn.claims.lines import Claim, Side, is_line, read_line
from symattn.claims.references import (
    Reference,
    read_reference,
    reference_in,
    size_of,
    symbol_reference,
)
from symattn.claims.tables import home_of
from symattn.derivations import Evaluation, Place
from symattn.errors import ReadError, counted, nearest, quote
from symattn.evaluate.rules import operands
from symattn.notation.options import Notation, notation_of


def claimed_reference(
    key: str, notation: Notation | None = None, letters: Mapping[str, str] = SYMBOLS
) -> Reference:
    """What the key of a claim names. Raises `ReadError` for a key that names no step.

    `letters` are those of the steps by name: the field's, or those of a text of equations.
    """
    found = symbol_reference(key, letters, notation_of(notation))
    return found if found is not None else _of_step(read_reference(key, " in [claims]"), letters)


def _of_step(reference: Reference, letters: Mapping[str, str]) -> Reference:
    """The same, if there is such a step. Raises `ReadError` where there is none."""
    step = reference.step
    bare = step.removeprefix("d").removeprefix("_")  # dS, d_scores: of a backward pass
    own = {step, bare} & {*letters, *letters.values()}
    if not own and symbol_of(step) is None:
        hint = home_of(step, "claims") or nearest(step, letters)
        raise ReadError(f"{quote(reference.text)} in [claims] is not a known step{hint}")
    return reference


def read_claims(
    table: Mapping[str, object], evaluation: Evaluation, decimal: str | None = None
) -> tuple[Claim, ...]:
    """What a table claims, number by number.

    `decimal` is the sheet's decimal sign; without it, the one that the claims show. Raises as
    `read_claim` does.
    """
    sign = decimal_shown(texts_of(table)) if decimal is None else decimal
    claims: dict[tuple[str, Place], Claim] = {}
    for key, value in table.items():
        claims |= {one.entry: one for one in read_claim(key, value, evaluation, sign, claims)}
    return tuple(claims.values())


def read_claim(
    key: str,
    value: object,
    evaluation: Evaluation,
    decimal: str,
    before: Collection[tuple[str, Place]] = (),
) -> tuple[Claim, ...]:
    """The numbers that a key claims, of entries that nothing `before` it claims.

    The key counts, and its matrix is turned, as the evaluation's notation has it. Raises
    `ReadError` for a step that the derivation has not, a place that does not exist, or a number
    that cannot be read.
    """
    return tuple(_reader(key, evaluation, decimal).read(value, before))


def claimed_cells(
    key: str, value: object, evaluation: Evaluation
) -> Iterator[tuple[str, Place, object]]:
    """What stands in the cells that a key claims, as nobody has read it yet.

    Each with the letter of its step and its place. Raises `ReadError` as `read_claim` does, but for
    what stands in a cell.
    """
    reader = _reader(key, evaluation, "")
    return ((reader.letter, cell.place, cell.entry) for cell in reader.cells(value))


def _reader(key: str, evaluation: Evaluation, decimal: str) -> _Reader:
    """What reads the claims of a key. Raises `ReadError` where it names no step."""
    letters = {name: evaluation[name].step.letter for name in evaluation}
    reference = symbol_reference(key, letters, evaluation.notation) or claimed_reference(
        key, letters={**SYMBOLS, **letters}
    )
    if reference.step not in evaluation:
        raise ReadError(f"{key}: {_absent(reference.step, tuple(evaluation))}")
    return _Reader(reference, evaluation, decimal, letters)


def arrays_of(claims: Iterable[Claim], evaluation: Evaluation) -> dict[str, Array]:
    """Claims by letter, in arrays with None where nothing is claimed; of an entry the first."""
    arrays: dict[str, Array] = {}
    for claim in claims:
        if not claim.letter:
            continue
        if claim.letter not in arrays:
            shape = evaluation.shape(claim.letter)
            arrays[claim.letter] = np.full(shape, None, dtype=object)
        if arrays[claim.letter][claim.place] is None:
            arrays[claim.letter][claim.place] = claim.written
    return arrays


def as_read(value: Array, claims: Array | None) -> Array:
    """A matrix in floats, with the numbers that are claimed of it in the places of its own."""
    out = np.array(value, dtype=float)
    for place, written in () if claims is None else np.ndenumerate(claims):
        if written is not None:
            out[place] = written.nearest
    return out


def _absent(name: str, names: Sequence[str]) -> str:
    """Why a step is not there, and how to mend it."""
    mends = {
        "scaled": "the scores are not scaled; leave scale = false out",
        "masked": 'nothing is masked; say which mask, e.g. mask = "causal"',
        "projected": "there is no last projection; give W_O",
        "heads": "there is one head; claim its output, or say how many heads there are",
        "concat": "there is one head; say how many heads there are",
        "output": "there are several heads; claim heads, concat or projected",
    }
    if name in mends:
        return f"this attention has no such step: {mends[name]}"
    return f"this attention has no such step; it has {', '.join(names)}"


class _Cell(NamedTuple):
    """What stands in a cell: `where` begins a message, `seen` is the place as it is printed."""

    where: str
    seen: Place
    place: Place
    entry: object


@dataclass(frozen=True)
class _Reader:
    """Reads what one key claims, of which step."""

    reference: Reference
    evaluation: Evaluation
    decimal: str
    letters: Mapping[str, str]

    @property
    def letter(self) -> str:
        """The letter of its step, which it may go by."""
        return self.evaluation[self.reference.step].step.letter

    @cached_property
    def shape(self) -> Place:
        """The shape of the matrix as the notation prints it: tokens as rows, or as columns."""
        return self._turned(self.evaluation[self.reference.step].shape)

    def _turned(self, place: Place) -> Place:
        """A place, or a shape, as the notation prints it; one that is printed, turned back."""
        return turned(place, self.evaluation.notation)

    def read(self, value: object, before: Collection[tuple[str, Place]]) -> Iterator[Claim]:
        """The numbers of a value, in order."""
        for number, cell in enumerate(self.cells(value)):
            written, sides = self._number(cell.entry, cell.where, cell.seen)
            if written is None:
                continue
            key = self.reference.text
            claim = Claim(key, number, self.letter, cell.place, written, sides)
            if claim.entry in before:
                raise ReadError(f"{cell.where}: is claimed twice; keep one claim")
            yield claim

    def cells(self, value: object) -> Iterator[_Cell]:
        """The cells of a value, in order."""
        key = self.reference.text
        index = self._index(self.shape, self.reference)
        free = tuple(
            len(range(*i.indices(size)))
            for i, size in zip(index, self.shape, strict=True)
            if isinstance(i, slice)
        )
        entries = _entries(_levelled(value, free), free, key, self.reference.step, self.shape)
        base = self.evaluation.notation.index_base
        for inner, entry in zip(np.ndindex(*free), entries, strict=True):
            if isinstance(entry, list | tuple | Mapping):
                raise ReadError(f"{key}: {size_of(free)} entries are needed, not more brackets")
            where = key if not inner else f"{key}, entry {','.join(str(i + base) for i in inner)}"
            rest = iter(inner)
            seen = tuple((i.start or 0) + next(rest) if isinstance(i, slice) else i for i in index)
            yield _Cell(where, seen, self._turned(seen), entry)

    def _number(
        self, entry: object, where: str, seen: Place
    ) -> tuple[Written | None, tuple[Side, ...]]:
        """A claimed number, and the sides of the line that ends with it, or of its expression."""
        if is_line(entry):
            return read_line(entry, where, self.decimal, lambda side: self._is_named(side, seen))
        found = read_written(entry, where, self.decimal)
        if found is None or found.places is not None or not isinstance(entry, str) or found.hidden:
            return found, ()
        return found, read_line(entry, where, self.decimal)[1]

    def _is_named(self, side: str, seen: Place) -> bool | None:
        """Whether a side names the entry claimed here; None if it names none."""
        symbol = symbol_reference(side, self.letters, self.evaluation.notation)
        reference = symbol or reference_in(side.strip())
        if reference is None or not reference.index or symbol_of(reference.step) is None:
            return None
        letter, own = (
            self.letters.get(step, step) for step in (reference.step, self.reference.step)
        )
        if letter != own:
            return None if self._is_read(reference, seen) else False
        # s_12 does not say of which item of a batch it is
        lead = 0 if symbol is None else max(0, len(seen) - len(reference.index))
        return self._place(self.shape[lead:], reference) == seen[lead:]

    def _is_read(self, other: Reference, seen: Place) -> bool:
        """Whether the entry claimed here is computed from the one that is named."""
        if other.step not in self.evaluation:
            return False
        item = self.evaluation[other.step]
        named = self._place(self._turned(item.shape)[-max(2, len(other.index)) :], other)
        if named is None:
            return False
        read = item.step.letter, self._turned(named)
        return read in operands(self.evaluation, self.letter, self._turned(seen))

    def _place(self, shape: tuple[int, ...], reference: Reference) -> Place | None:
        """The entry, from 0, that a reference names in an array of this shape, if it is one."""
        try:
            index = self._index(shape, reference)
        except ReadError:
            return None
        place = tuple(i for i in index if isinstance(i, int))
        return place if len(place) == len(index) else None

    def _index(self, shape: tuple[int, ...], reference: Reference) -> tuple[int | slice, ...]:
        """The index, from 0, that a reference means in an array of this shape."""
        has_heads = (
            reference.step in self.evaluation and self.evaluation[reference.step].step.per_head
        )
        return reference.within(shape, has_heads, self.evaluation.notation.index_base)


def _levelled(value: object, shape: tuple[int, ...]) -> object:
    """A single row, or a single head, with the brackets that it can do without, or with."""
    missing = len(shape) - depth(value)
    while missing < 0 and isinstance(value, list) and len(value) == 1:
        value, missing = value[0], missing + 1
    for size in shape[: max(missing, 0)]:
        if size != 1:
            return value
    for _ in range(missing):
        value = [value]
    return value


def _entries(
    value: object, shape: tuple[int, ...], key: str, name: str, whole: tuple[int, ...]
) -> list[object]:
    """The entries of nested lists, row by row. Raises `ReadError` where their shape is another."""
    level: list[object] = [value]
    for axis, size in enumerate(shape):
        what = "number" if axis == len(shape) - 1 else "row" if axis == len(shape) - 2 else "matrix"
        expected = "is" if size == 1 else "are"
        inside: list[object] = []
        for part in level:
            if not isinstance(part, list | tuple):
                raise ReadError(
                    f"{key}: {name} is {size_of(whole)}; {size_of(shape)} entries are "
                    "expected here, in brackets"
                )
            if len(part) != size:
                raise ReadError(
                    f"{key}: {counted(len(part), what)} where {size} {expected} expected "
                    f'({name} is {size_of(whole)}); write "?" for a number that is not claimed'
                )
            inside += part
        level = inside
    return level
