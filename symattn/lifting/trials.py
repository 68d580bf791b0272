"""On which numbers a function is held against an attention, and what shows that they differ.

Floats are tried first, as `symattn verify` does. Where they are wrong by more than rounding
explains, the operations of the function are followed in real arithmetic, on the same numbers.
"""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from symattn.errors import SymattnError, Undecided
from symattn.lifting.limits import LIMITS
from symattn.lifting.precise import Program, is_steady
from symattn.marking.sampling import marker_of
from symattn.verifying.inputs import FAR, PROBES, PROPERTIES, Property, fits
from symattn.verifying.loading import Ended
from symattn.verifying.report import Verification
from symattn.verifying.subject import Subject
from symattn.verifying.trying import Outcome, judged, tried
from symattn.verifying.verification import verified

#: How it is known that a difference is no rounding, where it could not be seen otherwise.
IN_SINGLE = (
    "its operations could not be followed in real arithmetic ({}); in single precision it returns "
    "the same, so that this is no rounding"
)


def ordinary(said: Mapping[str, int]) -> Iterator[Property]:
    """The properties of a function that are about its mathematics, not about rounding.

    Those are left out whose sizes are others than are said.
    """
    return (
        item
        for item in _in_full_precision()
        if item.drawn == "usual" and all(said.get(one, n) == n for one, n in item.sizes.items())
    )


def extreme() -> Iterator[Property]:
    """Scores that are large or low, equal, or near 0: where floats may be lost, numbers are not."""
    yield from (item for item in _in_full_precision() if item.drawn != "usual")
    yield from PROBES


def _in_full_precision() -> Iterator[Property]:
    for item in PROPERTIES:
        plain = item.dtype == "float64" and not (item.optional or item.strided or item.backward)
        if plain and not (item.empty_row or item.hidden):
            yield item


def further(subject: Subject, said: Collection[str]) -> Iterator[Property]:
    """Larger sizes, of those that are not said."""
    derivation = subject.derivation()
    for item in FAR:
        if not {*item.sizes} <= {*said} and fits(item, subject.spec, derivation):
            yield item


@dataclass(frozen=True)
class Shown:
    """Numbers that a function has wrong, by more than rounding, where that is known.

    Where it is not, `why` says why.
    """

    found: Verification
    is_known: bool
    why: str = ""


def shown(program: Program, found: Verification) -> Shown | None:
    """What numbers that a function has wrong show, None where rounding alone makes them so.

    Of larger sizes than those at which it agrees, what cannot be followed is held against itself
    in single precision.
    """
    assert found.shown is not None
    try:
        if not _differs(program, found.shown, LIMITS.taped):
            return None
    except (Ended, SymattnError, ArithmeticError) as error:
        followed = isinstance(error, Undecided) or found.shown.item not in FAR
        if followed or not _is_same_in_single(found.shown):
            return Shown(found, False, f"its numbers differ, by rounding it may be: {error}")
        return Shown(replace(found, kind="wrong", message=IN_SINGLE.format(error)), True)
    return Shown(replace(found, kind="wrong"), True)


def told_apart(
    program: Program, subject: Subject, items: Iterable[Property], name: str
) -> tuple[Shown | None, Property | None]:
    """What the first of some properties shows of a function, and the last one that it has.

    What is not known of one is left to the next, but of larger sizes. No more are tried after one
    that takes long, or for which it cannot be called.
    """
    last = None
    for item in items:
        start = time.monotonic()
        try:
            outcome = tried(subject, item)
            if outcome.kind == "wrong" and _may_differ(program, outcome):
                found = shown(program, verified(subject, [item], name))
                if found is not None and (found.is_known or item in FAR):
                    return found, last
        except (SymattnError, Ended):
            break
        if not outcome.passes:
            continue
        last = item
        if time.monotonic() - start > LIMITS.seconds:
            break
    return None, last


def _may_differ(program: Program, shown: Outcome) -> bool:
    """Whether it is not known, by few operations, that rounding alone makes numbers wrong."""
    try:
        return _differs(program, shown, LIMITS.operations)
    except (Ended, SymattnError, ArithmeticError):
        return True


def _differs(program: Program, shown: Outcome, most: int) -> bool:
    """Whether what a function returns is another number in real arithmetic, too.

    One that keeps its angles or its scale in float32 returns others, which shows nothing.
    """
    steps = shown.evaluation.steps
    largest = max(math.prod(shown.evaluation.shape(step.letter)) for step in steps)
    if largest * LIMITS.least > most:
        raise SymattnError(f"{largest:,} scores are too many")
    call = shown.subject.call(shown.evaluation, shown.numbers, "float64", False)
    answers = program.precisely(call, most)
    arrays, radii = (shown.subject.returned(one, shown.evaluation) for one in answers)
    marker = marker_of(shown.evaluation, arrays)
    if judged(marker)[0] != "wrong":
        return False
    for letter, one in marker.compared.items():
        radius = radii[letter].numbers
        same = radius.shape == one.errors.shape  # else some rows are judged
        off = radius if same else radius.max(initial=0)
        if (one.errors - one.tolerances > off).any():
            return True
    return False


def _is_same_in_single(shown: Outcome) -> bool:
    """Whether what is wrong is much further off than from what comes of it in single precision."""
    answers = []
    for dtype in ("float64", "float32"):
        call = shown.subject.call(shown.evaluation, shown.numbers, dtype, False)
        answer = shown.subject.function.answer(call)
        if answer.lack is not None:
            return False
        answers.append(shown.subject.returned(answer, shown.evaluation))
    double, single = answers
    true = {letter: np.asarray(shown.evaluation.array(letter), float) for letter in double}
    return any(
        is_steady(array.numbers - true[letter], array, single[letter])
        for letter, array in double.items()
    )
