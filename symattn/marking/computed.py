"""Verdicts on arrays that a program computed: a number may be as far off as rounding explains.

``right``: within the tolerance that `symattn.arithmetic.rounded` proves for the dtype, the sizes
and the numbers, as `Evaluation.check` has it for NumPy. ``carried``: not right, and within that
tolerance of what follows from the arrays before it. ``undecided``: the number does not fit into the
dtype, rounding leaves no bound, or one that is wider than every number of the matrix is large.
Anything else is ``wrong``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import sympy
from flint import arb

from symattn.arithmetic.base import Array, elementwise
from symattn.arithmetic.enclosure import BITS, MINUS_INFINITY, precision
from symattn.arithmetic.rounded import Rounded
from symattn.arithmetic.written import Measured
from symattn.claims.computed import DIGITS, Computed, in_order
from symattn.claims.rules import operands
from symattn.derivations import Evaluation, Place
from symattn.errors import SymattnError, counted
from symattn.evaluate.check import beyond, distance
from symattn.evaluate.sampled import Sampled
from symattn.marking.verdicts import MORE_DIGITS, EntryMark, StepMark

#: Decimals that are shown at the least and at the most; true values are shown with two more, and
#: so is what is not right.
_FEWEST, _MOST = 2, 40

#: A number nearer to 0 is shown in scientific notation, with so many digits at most.
_TINY, _SIGNIFICANT = 1e-6, 17

#: What a float says that is no number.
_NO_NUMBERS = {"-inf": sympy.S.NegativeInfinity, "inf": sympy.oo, "nan": sympy.nan}

#: Of so many entries of a step that follow from others, it is said from which.
_MOST_TRACED = 24

#: Dtypes of fewer digits than float64, with the digits of those that NumPy lacks.
_SHORTER = (("float32", None), ("float16", None), ("float32", DIGITS["bfloat16"]))

_NO_BOUND = "rounding leaves no bound to compare it with"


class ComputedMarker:
    """Marks arrays, by letter, of one evaluated derivation."""

    def __init__(self, evaluation: Evaluation, arrays: Mapping[str, Computed]) -> None:
        self.evaluation, self.arrays = evaluation, arrays
        #: Which numbers are right, and how far each may be off.
        self.right: dict[str, Array] = {}
        self.tolerances: dict[str, Array] = {}
        self._found: dict[tuple[str, Place], EntryMark] = {}

    @property
    def rows(self) -> dict[str, tuple[int, ...]]:
        """Which rows are judged, from 0, by step, where these are a sample; else none."""
        if not isinstance(self.evaluation, Sampled):
            return {}
        letters = in_order(self.evaluation, self.arrays)
        return {
            self.evaluation[letter].name: tuple(self.evaluation.rows_of(letter).tolist())
            for letter in letters
        }

    @cached_property
    def marks(self) -> tuple[StepMark, ...]:
        """The marks of all arrays, in the order of the derivation."""
        found: list[StepMark] = []
        for letter in in_order(self.evaluation, self.arrays):
            item = self.evaluation[letter]
            entries = tuple(self._entries(letter))
            self._found |= {(letter, entry.place): entry for entry in entries}
            found.append(StepMark(item.name, letter, item.shape, entries))
        return tuple(found)

    @property
    def notes(self) -> Iterator[str]:
        """How the numbers were compared, and where they are none."""
        dtypes = dict.fromkeys(array.dtype for array in self.arrays.values())
        yield (
            f"compared in {' and '.join(dtypes)}: a number is right if it lies within what "
            "rounding can do to it"
        )
        base = self.evaluation.notation.index_base
        for name, rows in self.rows.items():
            listed = ", ".join(str(row + base) for row in rows)
            count = self.evaluation[name].shape[-2]
            dtype = self.evaluation.arithmetic.dtype.name
            yield (
                f"{name}: a sample; rows {listed} of {count:,} were judged, the others only "
                f"against {dtype}, from which they deviate no further"
            )
        for letter in in_order(self.evaluation, self.arrays):
            nan = np.isnan(self.arrays[letter].numbers)
            if nan.any():
                name, count = self.evaluation[letter].name, int(nan.sum())
                are = "is" if count == 1 else "are"
                where = counted(int(nan.any(axis=-1).sum()), "row")
                yield f"{name}: {counted(count, 'number')} in {where} {are} NaN"
        if any(mark.verdict != "right" for mark in self.marks) and (short := self._shorter()):
            yield (
                f"every number is right within what rounding in {short} can do to it; were these, "
                f"or what they were computed from, {short} before?"
            )

    def _shorter(self) -> str:
        """The dtype of fewer digits in which every number would be right; "" if there is none."""
        for dtype, digits in _SHORTER:
            arrays = {
                letter: array.shortened(dtype, digits) for letter, array in self.arrays.items()
            }
            if any(arrays[letter].rounding <= x.rounding for letter, x in self.arrays.items()):
                continue
            if not self.shows_rounding_of(arrays):
                continue
            marks = ComputedMarker(self.evaluation, arrays).marks
            if all(mark.verdict == "right" for mark in marks):
                return next(iter(arrays.values())).dtype
        return ""

    def shows_rounding_of(self, arrays: Mapping[str, Computed]) -> bool:
        """Whether what is wrong can be that the numbers were in the dtype of these arrays before.

        Then most numbers that this dtype does not have are off; a mistake in a row leaves others.
        """
        for letter, right in self.right.items():
            true = self.evaluation.array(letter)
            with np.errstate(invalid="ignore"):
                lost = np.abs(_arithmetic(arrays[letter]).nearest(true) - true)
                noticed = lost > self.tolerances[letter]
            if not right.all() and 2 * (noticed & ~right).sum() < noticed.sum():
                return False
        return True

    def allowed(self, letter: str, array: Computed) -> Array:
        """Where floating point of an array's dtype may end up, from what is given."""
        key = ("rounded", array.dtype)
        with precision(BITS[0]), np.errstate(all="ignore"):
            value = self.evaluation.value(letter, _arithmetic(array), key)
        return self.evaluation.judged(letter, value)

    def following(self, letter: str) -> Array | None:
        """Where it may end up from the arrays before it; None where these make no sense."""
        step, array = self.evaluation.step(letter), self.arrays[letter]
        if step is None:
            return None
        arithmetic = _arithmetic(array)
        known: dict[str, Array] = {}

        def operand(name: str) -> Array:
            if name not in known:
                before = self.evaluation.step(name)
                if name in self.arrays:
                    claims = self.evaluation.claims(name, self.arrays[name].numbers)
                    known[name] = elementwise(_exactly, claims)
                elif before is None:
                    key = ("rounded", array.dtype)
                    known[name] = self.evaluation.value(name, arithmetic, key)
                else:
                    known[name] = self.evaluation.follow(before, operand, arithmetic)
            return known[name]

        with precision(BITS[0]), np.errstate(all="ignore"):
            try:
                value = self.evaluation.follow(step, operand, arithmetic)
            except (SymattnError, ArithmeticError, ValueError):
                return None
        judged = self.evaluation.judged(letter, value)
        return np.broadcast_to(judged, self.arrays[letter].numbers.shape)

    def _entries(self, letter: str) -> Iterator[EntryMark]:
        array, evaluation = self.arrays[letter], self.evaluation
        name = evaluation[letter].name
        # entry by entry: what is in an object array has no type
        allowed: Any = self.allowed(letter, array)
        true: Any = evaluation.balls(letter, BITS[1])
        numbers: Any = array.numbers
        places = list(np.ndindex(*array.numbers.shape))
        judged = [
            (place, *distance(numbers[place], true[place], allowed[place])) for place in places
        ]
        right = self.right[letter] = np.zeros(array.numbers.shape, dtype=bool)
        bounds = self.tolerances[letter] = np.zeros(array.numbers.shape)
        for place, _, tolerance, inside in judged:
            right[place], bounds[place] = inside, tolerance
        follows: Any = None if right.all() else self.following(letter)
        mistaken = not right.all() and self._mistaken(letter)
        said, carried = False, 0
        nearest, largest = self._nearest(letter)
        for place, error, tolerance, inside in judged:
            value = numbers[place]
            verdict, remark = "right", ""
            if inside and tolerance > largest > 0 and value != nearest[place]:
                verdict = "undecided"
                remark = f"rounding in {array.dtype} may do more than all of it: {tolerance:.2g}"
            elif not inside:
                verdict = "wrong"
                if beyond(value, true[place]):
                    verdict, remark = "undecided", f"it does not fit into {array.dtype}"
                elif (
                    not allowed[place].is_finite() and not np.isnan(value) and math.isinf(tolerance)
                ):
                    verdict, remark = "undecided", _NO_BOUND
                elif follows is not None and _lies_in(value, follows[place]):
                    verdict = "carried" if mistaken else "rounded-early"
                    carried += mistaken
                elif not said:
                    remark, said = _off(array, value, error, tolerance), True
            written = self._written(value, error, tolerance, inside)
            own = evaluation.original(letter, place)
            mark = EntryMark(name, own, written, verdict, remark, evaluation.notation)
            if verdict == "carried" and carried <= _MOST_TRACED and not self.rows:
                mark = replace(mark, find_origins=partial(self._origins, letter, place))
            yield mark

    def _nearest(self, letter: str) -> tuple[Array, float]:
        """The true values as the dtype has them, and how large they are at most."""
        true = self.evaluation.array(letter)
        finite = np.abs(true[np.isfinite(true)])
        with np.errstate(all="ignore"):
            return _arithmetic(self.arrays[letter]).nearest(true), float(finite.max(initial=0.0))

    def _written(self, value: np.floating, error: float, tolerance: float, right: bool) -> Measured:
        """A number as it is shown: to its tolerance, or so that one sees what is wrong with it."""
        number = float(value)
        least = tolerance if right else error
        places = -math.floor(math.log10(least)) if 0 < least < math.inf else 6
        places = min(max(places - right, _FEWEST), _MOST)
        if not math.isfinite(number):
            return Measured(str(number), _NO_NUMBERS[str(number)], places)
        shown = places if right else min(places + MORE_DIGITS, _MOST)
        if 0 < abs(number) < _TINY:
            more = max(shown + math.floor(math.log10(abs(number))), 1)
            text = f"{number:.{min(more, _SIGNIFICANT)}e}"
        else:
            text = np.format_float_positional(value, precision=shown, trim="-", unique=True)
            if not right and value.dtype.type(text) != value:
                text = f"{number:.{shown}f}"  # with zeros at its end, which are digits of it
            text = text if float(text) else "0"
        rounded = bool(value.dtype.type(text) != value)
        above, below = number.as_integer_ratio()
        reach = tolerance if math.isfinite(tolerance) else 0.0
        return Measured(text, sympy.Rational(above, below), places, reaching=reach, rounded=rounded)

    def _mistaken(self, letter: str) -> bool:
        """Whether a nearest array before a step has an entry that is not right."""
        pending, seen = [letter], set[str]()
        while pending:
            step = self.evaluation.step(pending.pop())
            for other in step.operands if step is not None else ():
                if other in self.arrays and not self.right[other].all():
                    return True
                if other not in self.arrays and other not in seen:
                    seen.add(other)
                    pending.append(other)
        return False

    def _origins(self, letter: str, place: Place) -> tuple[EntryMark, ...]:
        """The mistaken entries that an entry follows from."""
        before = sorted(self._before(letter, place))
        return tuple(self._found[x] for x in before if not self.right[x[0]][x[1]])

    def _before(self, letter: str, place: Place) -> Iterator[tuple[str, Place]]:
        """The nearest computed entries that an entry is made of."""
        item, inside = self.evaluation.within(letter, place)
        lead = (*(0 for _ in self.evaluation.batch[len(item) :]), *item)
        part = self.evaluation.of_batch(*lead) if lead else self.evaluation
        pending, seen = [(letter, inside)], set[tuple[str, Place]]()
        while pending:
            for other in operands(part, *pending.pop()):
                if other in seen:
                    continue
                seen.add(other)
                if other[0] in self.arrays:
                    yield other[0], part.place_of(*other)
                else:
                    pending.append(other)


def _arithmetic(array: Computed) -> Rounded:
    return Rounded(array.numbers.dtype, array.digits)


def _exactly(value: float) -> arb:
    number = float(value)
    return MINUS_INFINITY if number == -math.inf else arb(number)


def _lies_in(value: np.floating, allowed: arb) -> bool:
    """Whether a number is one that rounding may make; a ball without bound shows nothing."""
    if np.isneginf(value):
        return bool(allowed == MINUS_INFINITY)
    if not np.isfinite(value):  # it follows from numbers of which no others can follow
        return bool(np.isnan(value) and allowed.mid().is_nan())
    return bool(allowed.is_finite() and allowed.contains(arb(float(value))))


def _off(array: Computed, value: np.floating, error: float, tolerance: float) -> str:
    """By how much a number is off, and by how much it may be."""
    if np.isnan(value):
        return "NaN is no value of any step"
    most = f"{tolerance:.1e} at most" if tolerance else "nothing"
    may = f"where rounding in {array.dtype} explains {most}"
    return f"off by {error:.1e}, {may}" if math.isfinite(error) else f"it is infinite, {may}"
