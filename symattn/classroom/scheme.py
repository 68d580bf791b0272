"""The scheme: how many points an answer has, and what counts as an answer.

A file in TOML; without one each blank has a point::

    total = 10                        # what all points together are scaled to

    [points]                          # of a step, a row or an entry, shared by its blanks
    scores = 2
    weights = 4
    "output[1,:]" = 1

    [answers]
    digits = 3                        # decimals that count; the exercise's
    tolerance = 1                     # units of the last one that an answer may be off
    by = "step"                       # a step has its points whole or not at all; or "entry"
    follow_through = 1                # the share that what follows from a mistake has

    [attempts]
    count = "best"                    # of several submissions: "best", "last" or "first"
    due = 2026-12-01T12:00:00
    late = 0.5                        # the share that a late one keeps
    extra_time = { "Ada Lovelace" = 30 }   # minutes
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from math import lcm
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from symattn.arguments import whole
from symattn.claims.references import entries_of, named
from symattn.classroom.exercise import STATEMENTS, Exercise
from symattn.classroom.judge import SOUND, VERDICTS
from symattn.classroom.roster import called, who
from symattn.derivations import Evaluation, Place
from symattn.errors import ReadError, SymattnError, located, nearest, quote
from symattn.files.named import read_text
from symattn.files.toml import parse

#: Which of several submissions counts, and what has points by itself.
COUNTS, BY = ("best", "last", "first"), ("entry", "step")

#: The most points of an entry or a step, decimals, units and minutes.
_MOST_POINTS, _MOST_DIGITS, _MOST_UNITS, _MOST_MINUTES = 10_000, 12, 1000, 1_000_000

_Table = TypeVar("_Table")


@dataclass(frozen=True)
class Counting:
    """The table ``[answers]``: what counts as an answer, and what one that follows has."""

    digits: int | None = None
    tolerance: int = 0
    by: str = "entry"
    follow_through: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        if self.digits is not None:
            whole(self.digits, "digits", 0, _MOST_DIGITS)
        whole(self.tolerance, "tolerance", 0, _MOST_UNITS)
        _one_of("by", self.by, BY)
        object.__setattr__(self, "follow_through", share_of("follow_through", self.follow_through))

    @cached_property
    def worth(self) -> Mapping[str, Fraction]:
        """The share of its points that an answer has, by its verdict."""
        shares = {verdict: Fraction(verdict in SOUND) for verdict in VERDICTS}
        return {**shares, "follows": self.follow_through}


@dataclass(frozen=True)
class Attempts:
    """The table ``[attempts]``: which submission counts, and what one that is late keeps."""

    count: str = "last"
    due: datetime | None = None
    late: Fraction = Fraction(0)
    extra_time: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _one_of("count", self.count, COUNTS)
        object.__setattr__(self, "late", share_of("late", self.late))
        if self.due is not None and not isinstance(self.due, datetime):
            raise ReadError(f"due = {quote(self.due)}: write a date and a time of day")
        if not isinstance(self.extra_time, Mapping):
            raise ReadError('extra_time: write { "Ada Lovelace" = 30 }, in minutes')
        for minutes in self.extra_time.values():
            whole(minutes, "extra_time", 0, _MOST_MINUTES)

    @cached_property
    def _minutes(self) -> Mapping[str, int]:
        """The extra time by a name as it may be written; of two for one name the longer."""
        ordered = sorted(self.extra_time.items(), key=itemgetter(1))
        return {name: minutes for student, minutes in ordered for name in called(student)}

    def share(self, student: str, submitted: datetime | None) -> Fraction:
        """The share of the points that a submission keeps: all, unless it is late."""
        if self.due is None or submitted is None:
            return Fraction(1)
        due = self.due + timedelta(minutes=self._minutes.get(who(student), 0))
        if (due.tzinfo is None) != (submitted.tzinfo is None):  # as the clock of the place shows it
            due, submitted = due.replace(tzinfo=None), submitted.replace(tzinfo=None)
        return Fraction(1) if submitted <= due else self.late


@dataclass(frozen=True)
class Scheme:
    """How many points answers have; `text` is the file that it was read from."""

    points: Mapping[str, Fraction] = field(default_factory=dict)
    total: Fraction | None = None
    answers: Counting = field(default_factory=Counting)
    attempts: Attempts = field(default_factory=Attempts)
    text: str = ""

    def of(self, exercise: Exercise) -> Points:
        """The points of an exercise. Raises `ReadError` where the scheme is of another one."""
        return Points(self, tuple(self._each(exercise)))

    def _each(self, exercise: Exercise) -> Iterator[Fraction]:
        """The points of each blank, of all `total` if there is one."""
        shares = [Fraction(0) if self.points else Fraction(1)] * len(exercise.asked)
        for key, points in self.points.items():
            with located("points"):
                mine = _numbers(key, exercise)
            if not mine:
                asked = ", ".join(exercise.parts)
                raise ReadError(f"points: {key} is not asked for; there are points for {asked}")
            for number in mine:
                shares[number] += points / len(mine)
        whole = total(shares)
        scale = Fraction(1) if self.total is None or not whole else self.total / whole
        yield from (share * scale for share in shares)


@dataclass(frozen=True)
class Points:
    """The points of each blank of an exercise."""

    scheme: Scheme
    each: tuple[Fraction, ...]

    @property
    def whole(self) -> Fraction:
        """What a sheet has on which all is right."""
        return total(self.each)

    @cached_property
    def _by_verdict(self) -> Sequence[Mapping[str, Fraction]]:
        """What each answer has by its verdict."""
        worth = self.scheme.answers.worth
        return [{verdict: share * most for verdict, share in worth.items()} for most in self.each]

    def given(self, verdicts: Sequence[str], parts: Sequence[str]) -> tuple[Fraction, ...]:
        """What each answer has; `parts` are those that have points together."""
        counting = self.scheme.answers
        if counting.by == "step":
            least: dict[str, str] = {}
            for part, verdict in zip(parts, verdicts, strict=True):
                least[part] = min(verdict, least.get(part, verdict), key=counting.worth.__getitem__)
            verdicts = [least[part] for part in parts]
        pairs = zip(verdicts, self._by_verdict, strict=True)
        return tuple(points[verdict] for verdict, points in pairs)


def _numbers(key: str, exercise: Exercise) -> list[int]:
    """The numbers of the answers that a key names."""
    if key.partition("[")[0] == STATEMENTS:
        names = enumerate(zip(exercise.asked, exercise.part_of_each, strict=True))
        return [k for k, names_of_one in names if key in names_of_one]
    step, places = _places(key, exercise.evaluation)
    blanks = enumerate(exercise.blanks)
    return [k for k, one in blanks if one.step == step and one.place in places]


def _places(key: str, evaluation: Evaluation) -> tuple[str, list[Place]]:
    """The step that a key names, and the places of its entries, or of all."""
    try:
        where = named(key, evaluation, evaluation.notation)
        if where.index:
            return entries_of(where, evaluation, evaluation.notation)
        step = evaluation[where.step]
        return step.name, [*np.ndindex(*step.shape)]
    except ReadError:
        raise
    except SymattnError as error:
        raise ReadError(str(error)) from None


def total(points: Iterable[Fraction]) -> Fraction:
    """The sum of points, over one denominator: Python's own reduces it after each of them."""
    pairs = [one.as_integer_ratio() for one in points]
    below = lcm(*(own for _, own in pairs))
    return Fraction(sum(above * (below // own) for above, own in pairs), below)


# ---- the file ------------------------------------------------------------------------------------


def read_scheme(file: str | Path) -> Scheme:
    """The scheme of a file. Raises `SymattnError` with the file and what is wrong in it."""
    text = read_text(Path(file), str(file))
    with located(str(file)):
        return scheme_of(text)


def scheme_of(text: str) -> Scheme:
    """The scheme of a text in TOML. Raises `SymattnError` with what is wrong in it.

    >>> scheme_of("points = {weights = 4}").points
    {'weights': Fraction(4, 1)}
    """
    data = parse(text, "scheme")
    _known(data, ("total", "points", "answers", "attempts"), "a scheme")
    points = data.get("points", {})
    if not isinstance(points, Mapping):
        raise ReadError("points: write a table, as [points] and weights = 4 below it")
    return Scheme(
        {key: _points(key, value) for key, value in points.items()},
        None if "total" not in data else _points("total", data["total"]),
        _table(Counting, data, "answers"),
        _table(Attempts, data, "attempts"),
        text,
    )


def _table(kind: type[_Table], data: Mapping[str, object], name: str) -> _Table:
    """A table of a scheme."""
    table: Any = data.get(name, {})
    if not isinstance(table, Mapping):
        raise ReadError(f"{name}: write a table, as [{name}] on a line of its own")
    _known(table, [one.name for one in fields(kind)], f"[{name}]")  # type: ignore[arg-type]
    return kind(**table)


def _known(table: Mapping[str, object], names: Sequence[str], where: str) -> None:
    for key in table:
        if key not in names:
            raise ReadError(f"{quote(key)} is no key of {where}{nearest(key, names)}")


def _points(key: str, value: object) -> Fraction:
    """Points: a number that is not negative, as it is written."""
    return _amount(key, value, _MOST_POINTS, "points as a number")


def share_of(key: str, value: object) -> Fraction:
    """A share of points as a file has it. Raises `ReadError` for what is none."""
    return _amount(key, value, 1, "a share")


def _amount(key: str, value: object, most: int, wanted: str) -> Fraction:
    """A number from 0 to `most`."""
    if isinstance(value, int | Decimal | Fraction) and not isinstance(value, bool):
        amount = Fraction(value)
        if 0 <= amount <= most:
            return amount
    raise ReadError(f"{key} = {quote(value)}: give {wanted} from 0 to {most}")


def _one_of(key: str, value: object, choices: Sequence[str]) -> None:
    if value not in choices:
        raise ReadError(f"{key} = {quote(value)}: use {', '.join(choices)}")
