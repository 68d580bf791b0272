"""Verdicts on arrays that a program computed: a number may be as far off as rounding explains.

``right``: within the tolerance that `symattn.arithmetic.rounded` proves for the dtype, the sizes
and the numbers, as `Evaluation.check` has it for NumPy. ``carried``: not right, and within that
tolerance of what follows from the arrays before it. ``undecided``: the number does not fit into the
dtype, rounding leaves no bound, or one that is wider than every number of the matrix is large.
Anything else is ``wrong``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import Any

import numpy as np
import sympy
from flint import arb

from symattn.arithmetic.base import Array, elementwise
from symattn.arithmetic.enclosure import BITS, MINUS_INFINITY, precision
from symattn.arithmetic.rounded import Rounded
from symattn.arithmetic.written import Measured
from symattn.claims.computed import DIGITS, Computed, in_order
from symattn.derivations import Evaluation, Place
from symattn.errors import SymattnError, counted
from symattn.evaluate.check import beyond, distance
from symattn.evaluate.rules import operands
from symattn.evaluate.sampled import Sampled
from symattn.marking.chains import nearest_before
from symattn.marking.verdicts import MORE_DIGITS, EntryMark, StepMark

#: Decimals that are shown at the least and at the most; true values are shown with two more, and
#: so is what is not right.
_FEWEST, _MOST = 2, 40

#: A number nearer to 0 is shown in scientific notation, with so many digits at most.
_TINY, _SIGNIFICANT = 1e-6, 17

#: What a float says that is no number.
_NO_NUMBERS = {"-inf": sympy.S.NegativeInfinity, "inf": sympy.oo, "nan": sympy.nan}

#: Dtypes of fewer digits than float64, with the digits of those that NumPy lacks.
_SHORTER = (("float32", None), ("float16", None), ("float32", DIGITS["bfloat16"]))

_NO_BOUND = "rounding leaves no bound to compare it with"


@dataclass(frozen=True, eq=False)
class Compared:
    """An array beside the true numbers: how far each of its own is off, and may be.

    `allowed` has the balls in which rounding may end; `right` may be more than what lies inside.
    """

    array: Computed
    #: Entry by entry: what is in an array of objects has no type.
    true: Any
    allowed: Any
    errors: Any
    tolerances: Any
    inside: Array
    right: Array


def compared(evaluation: Evaluation, letter: str, array: Computed) -> Compared:
    """An array of a step compared with the true numbers, entry by entry."""
    with precision(BITS[0]), np.errstate(all="ignore"):
        value = evaluation.value(letter, _arithmetic(array))
    allowed, true = evaluation.judged(letter, value), evaluation.balls(letter, BITS[1])
    triples = zip(array.numbers.flat, true.flat, allowed.flat, strict=True)
    found = np.array([distance(*triple) for triple in triples])
    errors, tolerances, inside = found.T.reshape(3, *array.numbers.shape)
    inside = inside == 1
    return Compared(array, true, allowed, errors, tolerances, inside, inside)


@dataclass(frozen=True, eq=False)
class ComputedMarker:
    """Marks arrays, by letter, of one evaluated derivation."""

    evaluation: Evaluation
    compared: Mapping[str, Compared]

    @classmethod
    def of(cls, evaluation: Evaluation, arrays: Mapping[str, Computed]) -> ComputedMarker:
        """The marker of arrays by letter."""
        letters = in_order(evaluation, arrays)
        found = {letter: compared(evaluation, letter, arrays[letter]) for letter in letters}
        return cls(evaluation, found)

    @cached_property
    def arrays(self) -> dict[str, Computed]:
        """What was computed, in the order of the derivation."""
        return {letter: one.array for letter, one in self.compared.items()}

    @cached_property
    def right(self) -> dict[str, Array]:
        """Which numbers are right."""
        return {letter: one.right for letter, one in self.compared.items()}

    @cached_property
    def tolerances(self) -> dict[str, Array]:
        """How far each number may be off."""
        return {letter: one.tolerances for letter, one in self.compared.items()}

    @property
    def rows(self) -> dict[str, tuple[int, ...]]:
        """Which rows are judged, from 0, by step, where these are a sample; else none."""
        whole = self.evaluation
        if not isinstance(whole, Sampled):
            return {}
        return {whole[x].name: tuple(whole.rows_of(x).tolist()) for x in self.compared}

    @cached_property
    def marks(self) -> tuple[StepMark, ...]:
        """The marks of all arrays, in the order of the derivation."""
        items = ((letter, self.evaluation[letter]) for letter in self.compared)
        return tuple(
            StepMark(item.name, letter, item.shape, tuple(self._entries(letter)))
            for letter, item in items
        )

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
        for letter, array in self.arrays.items():
            nan = np.isnan(array.numbers)
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
            marks = ComputedMarker.of(self.evaluation, arrays).marks
            if all(mark.verdict == "right" for mark in marks):
                return next(iter(arrays.values())).dtype
        return ""

    def shows_rounding_of(self, arrays: Mapping[str, Computed]) -> bool:
        """Whether what is wrong can be that the numbers were in the dtype of these arrays before.

        Then most numbers that this dtype does not have are off; a mistake in a row leaves others.
        """
        for letter, one in self.compared.items():
            true = self.evaluation.array(letter)
            with np.errstate(invalid="ignore"):
                lost = np.abs(_arithmetic(arrays[letter]).nearest(true) - true)
                noticed = lost > one.tolerances
            if not one.right.all() and 2 * (noticed & ~one.right).sum() < noticed.sum():
                return False
        return True

    def _following(self, letter: str) -> Array | None:
        """Where it may end up from the arrays before it; None where these make no sense."""
        step, array = self.evaluation.step(letter), self.arrays[letter]
        if step is None:
            return None
        arithmetic = _arithmetic(array)

        @cache
        def operand(name: str) -> Array:
            if name in self.arrays:
                claims = self.evaluation.claims(name, self.arrays[name].numbers)
                return elementwise(_exactly, claims)
            before = self.evaluation.step(name)
            if before is None:
                return self.evaluation.value(name, arithmetic)
            return self.evaluation.follow(before, operand, arithmetic)

        with precision(BITS[0]), np.errstate(all="ignore"):
            try:
                value = self.evaluation.follow(step, operand, arithmetic)
            except (SymattnError, ArithmeticError, ValueError):
                return None
        return np.broadcast_to(self.evaluation.judged(letter, value), array.numbers.shape)

    def _entries(self, letter: str) -> Iterator[EntryMark]:
        one, evaluation = self.compared[letter], self.evaluation
        name = evaluation[letter].name
        numbers: Any = one.array.numbers
        verdicts = self._verdicts(letter)
        said, carried = False, 0
        for place, (verdict, why) in zip(np.ndindex(*one.inside.shape), verdicts, strict=True):
            measured = numbers[place], one.errors[place], one.tolerances[place]
            first = verdict == "wrong" and not said
            remark = _off(one.array, *measured) if first else why
            said, carried = said or first, carried + (verdict == "carried")
            origins: Callable[[], tuple[EntryMark, ...]] = tuple
            # of so many entries of a step that follow from others, it is said from which
            if verdict == "carried" and carried <= 24 and not self.rows:
                origins = partial(self._origins, letter, place)
            own = evaluation.original(letter, place)
            written = _written(*measured, bool(one.inside[place]))
            yield EntryMark(name, own, written, verdict, remark, evaluation.notation, origins)

    def _verdicts(self, letter: str) -> Iterator[tuple[str, str]]:
        """The verdict on each number, and why it is undecided."""
        one, dtype = self.compared[letter], self.arrays[letter].dtype
        numbers: Any = one.array.numbers
        follows: Any = None
        mistaken = False
        if not one.inside.all():
            follows = self._following(letter)
            before = nearest_before(self.evaluation, letter, self.compared)
            mistaken = not all(self.compared[other].inside.all() for other in before)
        nearest, largest = self._nearest(letter)
        for place in np.ndindex(*one.inside.shape):
            value, tolerance, allowed = numbers[place], one.tolerances[place], one.allowed[place]
            if one.inside[place]:
                vague = tolerance > largest > 0 and value != nearest[place]
                remark = f"rounding in {dtype} may do more than all of it: {tolerance:.2g}"
                yield ("undecided", remark) if vague else ("right", "")
            elif beyond(value, one.true[place]):
                yield "undecided", f"it does not fit into {dtype}"
            elif not allowed.is_finite() and not np.isnan(value) and np.isinf(tolerance):
                yield "undecided", _NO_BOUND
            elif follows is not None and _lies_in(value, follows[place]):
                yield "carried" if mistaken else "rounded-early", ""
            else:
                yield "wrong", ""

    def _nearest(self, letter: str) -> tuple[Array, float]:
        """The true values as the dtype has them, and how large they are at most."""
        true = self.evaluation.array(letter)
        finite = np.abs(true[np.isfinite(true)])
        with np.errstate(all="ignore"):
            return _arithmetic(self.arrays[letter]).nearest(true), float(finite.max(initial=0.0))

    def _origins(self, letter: str, place: Place) -> tuple[EntryMark, ...]:
        """The mistaken entries that an entry follows from."""
        found = {(mark.letter, entry.place): entry for mark in self.marks for entry in mark.entries}
        before = sorted(self._before(letter, place))
        return tuple(found[x, at] for x, at in before if not self.compared[x].inside[at])

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


def _written(value: np.floating, error: float, tolerance: float, right: bool) -> Measured:
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
