"""A preview: what a scheme gives the key, an empty sheet, each misconception, and slips.

So a teacher sees a scheme before a class does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import isfinite

import numpy as np

from symattn.arithmetic.base import Array
from symattn.classroom.answered import Answers
from symattn.classroom.draws import Draws
from symattn.classroom.exercise import Exercise
from symattn.classroom.gradebook import in_words
from symattn.classroom.records import Marking, Record
from symattn.classroom.submission import Submission
from symattn.documents import blocks as b
from symattn.errors import counted
from symattn.mistakes.base import SENSELESS

#: How many slips are tried.
SLIPS = 100


def preview(marking: Marking, seed: int = 1) -> b.Document:
    """What the scheme gives, as a table."""
    exercise = marking.exercise
    names = exercise.parts
    sheets: list[tuple[str, Sequence[str]]] = [
        ("the key", [*exercise.answers.values()]),
        ("an empty sheet", [""] * len(exercise.asked)),
        *((one.misconception.instead, one.answers) for one in exercise.seen),
    ]
    rows = [_row(words, _tried(marking, texts)) for words, texts in sheets]
    slips = [_tried(marking, texts) for texts in slipped(exercise, seed, SLIPS)]
    for words, chosen in (("least", min), ("most", max)):
        if slips:
            one = chosen(slips, key=lambda record: record.points)
            rows.append(_row(f"the {words} of {counted(len(slips), 'slip')}", one))
    table = b.Table((*names, "points"), tuple(rows), corner="sheet", align="r" * (len(names) + 1))
    return b.Document(f"What the scheme gives: {exercise.sheet.title}", (table,))


def _tried(marking: Marking, texts: Sequence[str]) -> Record:
    """What a sheet with these answers has."""
    answers = Answers((*texts, *marking.exercise.truths.values())[: len(marking.exercise.asked)])
    return marking.record(Submission(""), answers, marking.judge.judge(answers))


def _row(name: str, record: Record) -> b.Row:
    numbers = (*record.steps.values(), record.points)
    return b.Row(b.Cell((name,)), tuple(b.Cell((in_words(one),)) for one in numbers))


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
