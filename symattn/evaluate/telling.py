"""Which entry of each step is worked out: one number of the result, followed back to the start.

A reader sees how output[3,1] is made of weights[3,2], that of scores[3,2], and that of row 3 of Q.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from symattn.arithmetic.base import Array
from symattn.errors import SymattnError
from symattn.evaluate.cells import indices_of
from symattn.evaluate.matrices import Place
from symattn.evaluate.rules import operands
from symattn.evaluate.value_view import heads_of
from symattn.evaluate.values import Values
from symattn.nodes import rule as r
from symattn.notation.options import Notation
from symattn.step import COLUMN, ROW, Item, Step

#: How little an entry shows: −∞ and 0 swallow what they meet, 1 leaves it as it is, and a number
#: that is the same as before shows no step. A long number is harder to follow, by a little; a row
#: that holds one number throughout, as weights 1/3, 1/3, 1/3, shows little, too.
_INFINITE, _ZERO, _ONE, _SAME, _DIGIT, _CONSTANT = 4.0, 3.0, 2.0, 1.0, 0.05, 2.0


def telling(
    evaluation: Values,
    steps: Sequence[Step],
    notation: Notation,
    chosen: Mapping[str, Place] | None = None,
) -> dict[str, Place]:
    """By name of the step, the entry that shows most of how it is made; places count from 0.

    The row of the last step is the one in which all steps show most (see the weights above); then
    each step's entry is one that a later step reads, of these the one that shows most, and the
    first of equals. `chosen` holds entries that are asked for, which the others follow. Only
    entries in sight are chosen: those that `notation` leaves of large matrices, and its head.
    """
    return _Path(evaluation, steps, notation, dict(chosen or {})).places()


@dataclass
class _Path:
    evaluation: Values
    steps: Sequence[Step]
    notation: Notation
    chosen: dict[str, Place]
    _dullness: dict[str, Array] = field(default_factory=dict)
    _rowwise: dict[str, Array] = field(default_factory=dict)
    _reads: dict[tuple[str, Place], list[tuple[str, Place]]] = field(default_factory=dict)

    def places(self) -> dict[str, Place]:
        """The entry of each step, the last step first."""
        names = {step.letter: step.name for step in self.steps}
        places = dict(self.chosen)
        for step in reversed(self.steps):
            if step.name not in places:
                places[step.name] = self._root(step, places)
            place = places[step.name]
            if step.is_number:  # which reads all entries of a matrix, and tells none from others
                continue
            read = self._read(step, place)
            for letter in dict.fromkeys(letter for letter, _ in read if letter in names):
                item = self.evaluation.item(letter)
                found = [where for one, where in read if one == letter]
                if item.shape == step.shape and place in found:
                    found = [place]
                places.setdefault(names[letter], min(found, key=lambda at: self._rank(item, at)))
        return places

    def _rank(self, item: Item, place: Place) -> tuple[bool, float, Place]:
        """Entries in sight first; of a head, or made of heads, those whose row shows most."""
        dull = float(self._dull(item)[place])
        ends = [(item, place)]
        if isinstance(item, Step) and not item.per_head:
            read = [(self.evaluation.item(one), where) for one, where in self._read(item, place)]
            ends += [(one, where) for one, where in read if isinstance(one, Step) and one.per_head]
        rows = [self._rows(one)[where[:-1]] for one, where in ends if one.per_head]
        in_sight = self._is_seen(item, place) and any(self._is_seen(*end) for end in ends[-1:])
        return (not in_sight, dull + min(rows, default=0.0), place)

    def _is_seen(self, item: Item, place: Place) -> bool:
        return all(i in axis for i, axis in zip(place, self._axes(item), strict=True))

    def _root(self, step: Step, places: Mapping[str, Place]) -> Place:
        """The entry of a step that no later one reads: in the row of the others, if they have one.

        Else in the row, of the head, in which the steps before it show most.
        """
        rows = {
            places[other.name][-2]
            for other in self.steps
            if other.name in places and other.shape[0] == step.shape[0]
        }
        *heads, lines, columns = self._axes(step)
        lines = [i for i in lines if i in rows] or lines
        shown = self._rows(step)
        leads = [(*head, i) for head in product(*heads) for i in lines]
        lead = min(leads, key=lambda at: (float(shown[at]), at))
        return min(((*lead, j) for j in columns), key=lambda at: (self._dull(step)[at], at))

    def _rows(self, step: Item) -> Array:
        """How little each row shows in all steps that have such rows, by head where there are."""
        if step.letter not in self._rowwise:
            self._rowwise[step.letter] = self._of_rows(step)
        return self._rowwise[step.letter]

    def _of_rows(self, step: Item) -> Array:
        count = self._shape(step)[:-1]
        total = np.zeros(count)
        for other in self.steps:
            if other.shape[0] == step.shape[0] and self._shape(other)[-2] == count[-1]:
                dull = self._dull(other).mean(axis=-1)
                if dull.ndim > 1 and dull.shape != count:
                    dull = dull.mean(axis=0)
                total = total + dull
        return total

    def _dull(self, item: Item) -> Array:
        """How little each entry of a matrix shows."""
        if item.letter not in self._dullness:
            self._dullness[item.letter] = self._measured(item)
        return self._dullness[item.letter]

    def _measured(self, item: Item) -> Array:
        array = self._array(item.letter)
        if array is None:  # letters were given for numbers
            return np.zeros(self._shape(item))
        with np.errstate(over="ignore"):  # of numbers near the largest float
            seen = np.round(array, self.notation.digits)
        dull: Array = np.where(np.isfinite(array), 0, _INFINITE) + _ZERO * (seen == 0)
        dull = dull + _ONE * (np.abs(seen) == 1)
        if array.shape[-1] > 1:
            dull = dull + _CONSTANT * (array == array[..., :1]).all(axis=-1, keepdims=True)
        for letter in item.operands if isinstance(item, Step) else ():
            other = self._array(letter)
            if other is not None and other.shape == array.shape:
                dull = dull + _SAME * (array == other)
        for place in product(*self._axes(item)):
            text = f"{array[place]:.{min(self.notation.digits, 17)}f}"
            dull[place] += _DIGIT * len(text.rstrip("0") if "." in text else text)
        return dull

    def _array(self, letter: str) -> Array | None:
        try:
            return np.asarray(self.evaluation.array(letter), dtype=float)
        except (SymattnError, TypeError):
            return None

    def _shape(self, item: Item) -> tuple[int, ...]:
        return self.evaluation.shape(item.letter)

    def _axes(self, item: Item) -> list[list[int]]:
        """The heads, rows and columns in sight."""
        *heads, rows, columns = self._shape(item)
        sides = [indices_of(size, self.notation.limit) for size in (rows, columns)]
        seen = [[i for i in side if i is not None] for side in sides]
        shown = heads_of(self.evaluation, item, self.notation) if heads else []
        return [*([[k for k in shown if k is not None]] if heads else []), *seen]

    def _read(self, step: Step, place: Place) -> list[tuple[str, Place]]:
        """Letter and place of each entry that an entry of a step is made of."""
        key = step.letter, place
        if key not in self._reads:
            self._reads[key] = self._found(step, place)
        return self._reads[key]

    def _found(self, step: Step, place: Place) -> list[tuple[str, Place]]:
        count = r.count_entries(r.rule_of(step.expr, ROW, COLUMN), self.evaluation.sizes)
        # entries made of more numbers than this are not followed
        return [] if count > 4_000 else [*operands(self.evaluation, step.letter, place)]
