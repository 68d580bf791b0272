"""An exercise with its answers, and records of what might be handed in for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

from symattn.classroom.exercise import Exercise
from symattn.classroom.pool import Asked, Judged, judge
from symattn.classroom.records import Mark, Marking, Record
from symattn.classroom.scheme import scheme_of
from symattn.classroom.submission import Submission
from symattn.sheets.worksheet import worksheet_of

SHEET = """
title = "Causal self-attention"
attention = {variant = "causal", tokens = ["the", "cat", "sat"]}
given.Q = [[2, 1], [-1, 1], [0, 2]]
given.K = [[2, 1], [1, 2], [-1, 0]]
given.V = [[2, 2], [-1, 2], [-1, -1]]
claims.scores = [["?", "?", "?"], ["?", "?", "?"], ["?", "?", "?"]]
claims.weights = [["?", "?", "?"], ["?", "?", "?"], ["?", "?", "?"]]
claims.output = [["?", "?"], ["?", "?"], ["?", "?"]]
notation.digits = 3
policy.min_digits = 3
exercise.seed = 7
"""


@cache
def exercise(text: str = SHEET) -> Exercise:
    return Exercise.of(worksheet_of(text))


@cache
def marking(scheme: str = "", text: str = SHEET) -> Marking:
    return Marking(exercise(text), scheme_of(scheme))


def right(text: str = SHEET) -> list[str]:
    return [*exercise(text).answers.values()]


def but(changed: Mapping[str, str], text: str = SHEET) -> list[str]:
    """The right answers but for some entries."""
    own = exercise(text)
    answers = {own.name(blank): answer for blank, answer in own.answers.items()}
    assert {*changed} <= {*answers}
    return [*(answers | dict(changed)).values()]


def mistaken(name: str) -> Sequence[str]:
    """The answers of who has a misconception."""
    return next(x for x in exercise().mistaken if x.misconception.name == name).answers


def handed_in(
    answers: Sequence[str], *, scheme: str = "", text: str = SHEET, **more: Any
) -> Record:
    """The record of answers in the order of the blanks."""
    one = marking(scheme, text)
    claims = dict(zip(one.exercise.asked, answers, strict=False))
    said = {"source": "a.csv: line 2", "student": "Ada", **more}
    submission = Submission(**said, claims=claims)
    read = one.sheet.read(submission)
    return one.record(submission, read, one.judge.judge(read))


def in_this_process(
    portions: Iterable[Sequence[Asked]],
) -> Iterator[tuple[Sequence[Asked], Judged]]:
    """The pool that is none."""
    for portion in portions:
        yield portion, judge(portion)


def record(student: str = "Ada", answer: str = "1", **more: Any) -> Record:
    """A record with one wrong answer, made without marking."""
    mark = Mark("scores[1,1]", answer, "wrong", Fraction(0), Fraction(24))
    return Record(student, "a.csv: line 2", **{"marks": (mark,), **more})
