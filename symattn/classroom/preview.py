"""A preview: what a scheme gives the key, an empty sheet, each misconception, and slips.

So a teacher sees a scheme before a class does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite

import numpy as np

from symattn.arithmetic.base import Array
from symattn.classroom.answered import Answers
from symattn.classroom.draws import Draws
from symattn.classroom.exercise import Exercise
from symattn.classroom.records import Marking
from symattn.documents import blocks as b
from symattn.errors import counted
from symattn.mistakes.base import SENSELESS

#: How many slips are tried.
SLIPS = 100


@dataclass(frozen=True)
class Tried:
    """What a sheet has by a scheme, and what each of its steps has."""

    points: Fraction
    steps: Mapping[str, Fraction]


def preview(marking: Marking, seed: int = 1) -> b.Document:
    """What the scheme gives, as a table."""
    exercise = marking.exercise
    names = exercise.steps
    key = _tried(marking, [*exercise.answers.values()])
    rows = [
        _row("the key", key, names),
        _row("an empty sheet", _tried(marking, [""] * len(exercise.blanks)), names),
        *(
            _row(one.misconception.instead, _tried(marking, one.answers), names)
            for one in exercise.seen
        ),
    ]
    slips = [_tried(marking, texts) for texts in slipped(exercise, seed, SLIPS)]
    for words, chosen in (("least", min), ("most", max)):
        if slips:
            one = chosen(slips, key=lambda tried: tried.points)
            rows.append(_row(f"the {words} of {counted(len(slips), 'slip')}", one, names))
    table = b.Table((*names, "points"), tuple(rows), corner="sheet", align="r" * (len(names) + 1))
    return b.Document(f"What the scheme gives: {exercise.sheet.title}", (table,))


def shown(points: Fraction) -> str:
    """Points to two decimals, rounded half up.

    >>> shown(Fraction(5, 2)), shown(Fraction(2, 3)), shown(Fraction(4))
    ('2.5', '0.67', '4')
    """
    hundredths = (200 * points.numerator + points.denominator) // (2 * points.denominator)
    whole, rest = divmod(hundredths, 100)
    return f"{whole}.{rest:02d}".rstrip("0").rstrip(".") if rest else str(whole)


def _tried(marking: Marking, texts: Sequence[str]) -> Tried:
    answers = Answers(tuple(texts))
    marks = marking.marks(answers, marking.judge.judge(answers))
    steps: dict[str, Fraction] = {}
    for mark in marks:
        steps[mark.step] = steps.get(mark.step, Fraction(0)) + mark.points
    return Tried(sum(steps.values(), Fraction(0)), steps)


def _row(name: str, tried: Tried, steps: Sequence[str]) -> b.Row:
    numbers = (*(tried.steps[step] for step in steps), tried.points)
    return b.Row(b.Cell((name,)), tuple(b.Cell((shown(one),)) for one in numbers))


def slipped(exercise: Exercise, seed: int, count: int) -> Iterator[tuple[str, ...]]:
    """Sheets with a slip in one answer, from which all the rest is computed.

    They are drawn from a seed; what makes no sense is left out.
    """
    draws = Draws(seed)
    for _ in range(count):
        number = draws.below(len(exercise.blanks))
        answer = exercise.answers[exercise.blanks[number]]
        slip = _miswritten(answer, draws)
        if slip is not None:
            texts = _gone_on(exercise, number, slip)
            if texts is not None:
                yield texts


def _miswritten(answer: str, draws: Draws) -> str | None:
    """An answer with a wrong sign or another digit; None where it has no digits."""
    digits = [k for k, sign in enumerate(answer) if sign.isdigit()]
    if not digits:
        return None
    if draws.below(3) == 0 and answer.strip("0.-"):
        return answer[1:] if answer.startswith("-") else f"-{answer}"
    at = digits[draws.below(len(digits))]
    digit = (int(answer[at]) + 1 + draws.below(9)) % 10
    return f"{answer[:at]}{digit}{answer[at + 1 :]}"


def _gone_on(exercise: Exercise, number: int, slip: str) -> tuple[str, ...] | None:
    """The answers of who writes this one, and computes what follows from it."""
    evaluation, blank = exercise.evaluation, exercise.blanks[number]
    own = evaluation.array(blank.letter).astype(float)
    own[blank.place] = float(Fraction(slip))
    changed: dict[str, Array] = {blank.letter: own}

    def operand(letter: str) -> Array:
        return changed[letter] if letter in changed else evaluation.array(letter)

    try:
        with np.errstate(all="ignore"):
            for step in evaluation.steps:
                if step.letter not in changed and changed.keys() & {*step.operands}:
                    changed[step.letter] = evaluation.follow(step, operand, evaluation.arithmetic)
    except SENSELESS:
        return None
    texts = [*exercise.answers.values()]
    texts[number] = slip
    for k, one in enumerate(exercise.blanks):
        if k != number and one.letter in changed:
            value = float(
                np.broadcast_to(changed[one.letter], evaluation.shape(one.letter))[one.place]
            )
            if abs(value - float(evaluation.array(one.letter)[one.place])) > 1e-12:
                texts[k] = f"{value:.{exercise.task.digits}f}" if isfinite(value) else "-inf"
    return tuple(texts)
