"""Functions in real arithmetic: what they have recorded, held against them and read as balls.

A number of a function may be far off by rounding alone, as that of ``(x + 1e12) - 1e12`` is. What
the operations of its tape make of the same numbers is enclosed, so that no rounding is in it.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from symattn.arithmetic.base import Array, elementwise
from symattn.arithmetic.enclosure import precision
from symattn.claims.computed import Computed, computed
from symattn.errors import SymattnError, Undecided
from symattn.isolation import Run
from symattn.lifting.lift import asked_of
from symattn.lifting.limits import LIMITS
from symattn.lifting.recording import Target
from symattn.lifting.tapes import Tape, named, near, numbers_by_name
from symattn.lifting.taping import Taping, taped
from symattn.verifying.calling import Answer, Call, Function


def matrices(call: Call) -> dict[str, Array]:
    """The matrices that a function is given in a call, by their letters."""
    return {each.matrix: np.asarray(each.value) for each in call.given if each.matrix}


@dataclass(frozen=True)
class Program:
    """A function, where it runs, and what it has recorded, by the call."""

    run: Run
    target: Target
    function: Function
    tapes: dict[bytes, Tape] = field(default_factory=dict, repr=False, compare=False, kw_only=True)

    def tape(self, names: Call, calls: Sequence[Call], most: int = LIMITS.operations) -> Tape:
        """What it records where each number that it is given is a name, and holds in some calls.

        It has at `most` so many operations. Raises `SymattnError` where that gives other numbers
        than the function itself.
        """
        booleans = [name for name, array in matrices(calls[0]).items() if array.dtype == bool]
        asked = Taping(self.target, names, tuple(booleans), most)
        tape = Tape(json.loads(asked_of(self.run, taped, asked, self.function.name)))
        for call in calls:
            self.hold(tape, numbers_by_name(matrices(names), matrices(call)), call)
        for power in LIMITS.larger if len(tape.operations) <= LIMITS.probed else ():
            self.probe(tape, matrices(names), _larger(calls[0], power))
        return tape

    def probe(self, tape: Tape, ids: Mapping[str, Array], call: Call) -> None:
        """Hold a tape against what comes of large numbers, but for their rounding.

        What has no value there, or overflows, tells nothing; nor does what floats make of the same
        operations. Raises `SymattnError` as `hold` does.
        """
        own = self.function.answer(call)
        if own.lack is not None:
            return
        given, differs = numbers_by_name(ids, matrices(call)), False

        def is_apart(places: Computed, array: Computed) -> bool:
            floats, rounding = read(places.numbers), max(array.rounding, tape.rounding)
            if floats.shape != array.numbers.shape:
                return True
            far = ~near(floats.astype(float), array.numbers, rounding)
            if not far.any():
                return False
            with precision(53 if rounding <= np.finfo(float).eps else 22):
                balls = tape.enclosed(given, spread_of(ids))(places.numbers)
            middle = elementwise(lambda ball: float(ball.mid()), balls).astype(float)
            radius = elementwise(lambda ball: float(ball.rad()), balls).astype(float)
            return bool((far & apart(middle, array.numbers, 64 * radius)).any())

        with suppress(ArithmeticError, ValueError):  # `Undecided` is one, too
            read = tape.floats(given)
            differs = any(
                isinstance(places, Computed)
                and isinstance(array, Computed)
                and array.numbers.dtype.kind == "f"
                and is_apart(places, array)
                for (_, places), (_, array) in zip(tape.answer.parts, own.parts, strict=True)
            )
        if differs:
            raise SymattnError(
                f"{self.function.name}: what was recorded gives other numbers than itself, "
                "where those that are given are large"
            )

    def hold(self, tape: Tape, given: Mapping[int, float], call: Call) -> None:
        """Hold a tape against what comes of a call. Raises `SymattnError` where they differ."""
        own = self.function.answer(call)
        if own.lack is not None:
            raise SymattnError(own.said)
        try:
            read = tape.floats(given)
        except (ArithmeticError, ValueError):  # as of a root of what is below 0
            raise SymattnError("what was recorded has no value for some numbers") from None
        for (_, places), (_, array) in zip(tape.answer.parts, own.parts, strict=True):
            assert isinstance(places, Computed)
            floats = read(places.numbers).astype(float)
            if (
                not isinstance(array, Computed)
                or floats.shape != array.numbers.shape
                or not (
                    near(floats, array.numbers, max(tape.rounding, array.rounding))
                    | (np.isnan(floats) & np.isnan(array.numbers))
                ).all()
            ):
                raise SymattnError(
                    f"{self.function.name}: what was recorded gives other numbers than itself"
                )

    def precisely(self, call: Call, most: int = LIMITS.operations) -> tuple[Answer, Answer]:
        """What comes of a call in real arithmetic, and how far each number may be from it.

        Of calls of the same shapes one is recorded. Raises `SymattnError` for what is not recorded,
        or not known well.
        """
        ids = named(matrices(call))
        names = _filled(call, ids)
        key = pickle.dumps(names)
        if key not in self.tapes:
            self.tapes[key] = self.tape(names, [call], most)
        tape, numbers = self.tapes[key], numbers_by_name(ids, matrices(call))
        self.hold(tape, numbers, call)
        return in_real_numbers(tape, numbers, spread_of(ids))


def _filled(call: Call, numbers: Mapping[str, Array]) -> Call:
    """A call with these numbers for its matrices."""
    given = (replace(each, value=numbers.get(each.matrix, each.value)) for each in call.given)
    return replace(call, given=tuple(given))


def _larger(call: Call, power: int) -> Call:
    """A call with whole numbers, times a power of 2, whose products are exact."""
    real = {name: array for name, array in matrices(call).items() if array.dtype.kind == "f"}
    return _filled(
        call, {name: np.sign(x) * np.ceil(np.abs(x)) * 2.0**power for name, x in real.items()}
    )


def spread_of(ids: Mapping[str, Array]) -> int:
    """How far a rounded number of a program may have grown: with the largest size."""
    longest = max((int(size) for array in ids.values() for size in array.shape), default=1)
    return 2 * max(2, longest)


def in_real_numbers(tape: Tape, given: Mapping[int, float], spread: int) -> tuple[Answer, Answer]:
    """What the operations of a tape make of numbers, and how far each may be from it.

    Raises `Undecided` where it is not known well.
    """
    with precision(round(LIMITS.digits / np.log10(2))):
        read = tape.enclosed(given, spread)
        balls = [read(numbers_of(places)) for _, places in tape.answer.parts]
    return _answer(tape.answer, _middle, balls), _answer(tape.answer, _radius, balls)


def apart(one: Array, other: Array, off: Array) -> Array:
    """Whether numbers differ by more than they are `off` and than a float can tell.

    What is not finite shows nothing.
    """
    finite = np.abs(other[np.isfinite(other)])
    told = np.finfo(float).eps * 16 * float(finite.max(initial=0))
    both = np.isfinite(one) & np.isfinite(other)
    with np.errstate(invalid="ignore"):
        return np.asarray((np.abs(one - other) > off + told) & both)


def is_steady(off: Array, numbers: Computed, single: Computed) -> bool:
    """Whether what is `off` so far in double precision is much nearer to what single gives."""
    if numbers.rounding > np.finfo(float).eps:
        return False
    moved = np.abs(numbers.numbers - single.numbers.astype(float)).max(initial=0)
    furthest = np.abs(off).max(initial=0)
    return bool(np.isfinite(furthest) and np.isfinite(moved) and furthest > LIMITS.single * moved)


def numbers_of(part: Any) -> Array:
    """The numbers of a part of an answer, which has some."""
    assert isinstance(part, Computed)
    return part.numbers


def _answer(like: Answer, of: Callable[[Any], float], balls: Sequence[Array]) -> Answer:
    """An answer with a number for each ball."""
    parts = []
    for (name, _), array in zip(like.parts, balls, strict=True):
        found = elementwise(of, array).astype(float)
        parts.append((name, computed(found, name or "what it returns")))
    return replace(like, parts=tuple(parts))


def _middle(ball: Any) -> float:
    """The number of a ball, or NaN. Raises `Undecided` for one of numbers far apart."""
    if ball.is_nan():
        return float("nan")
    middle, radius = float(ball.mid()), float(ball.rad())
    if not radius <= LIMITS.coarse * max(1.0, abs(middle)):
        raise Undecided(f"it is not known in {LIMITS.digits} digits")
    return middle


def _radius(ball: Any) -> float:
    """How far the numbers of a ball are from its middle, as a float is near that."""
    return 0.0 if ball.is_nan() else float(ball.rad() + abs(ball.mid()) * np.finfo(float).eps)
