"""The judge: what each answer to an exercise is worth by itself, and what it follows from.

An answer is right if it lies within half a unit of the last digit that is asked for from the true
value, as Moodle's tolerances have it; fewer digits are read with zeros behind them. What is not
right is held against the answers of each misconception, then marked as ``symattn check`` marks it.
Answers are judged once, however many give them; points are given by a scheme.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import inf, log2, nan
from typing import NamedTuple

import numpy as np
import sympy
from flint import fmpq

from symattn.arithmetic.base import Array
from symattn.arithmetic.enclosure import in_flint
from symattn.arithmetic.written import Written, read_written
from symattn.claims.claims import arrays_of, read_claims
from symattn.claims.lines import last_side
from symattn.claims.policy import Policy
from symattn.classroom.answered import Answers
from symattn.classroom.exercise import FINER, Exercise, Mistaken
from symattn.derivations import Evaluation, Place
from symattn.errors import ReadError, Undecided
from symattn.marking.verdicts import EntryMark, Marker, StepMark, true_value
from symattn.mistakes.evidence import LEAST_BITS
from symattn.mistakes.screening import FITTING

#: The verdicts on an answer, the best first: rounded in a way that is no mistake; what follows from
#: a mistake; one number for a whole row or step, which nobody computed.
VERDICTS = (
    "right",
    "rounded",
    "undecided",
    "follows",
    "wrong",
    "not computed",
    "unreadable",
    "blank",
)

#: The verdicts of the marker that are nobody's fault.
_ROUNDED = ("right", "truncated", "rounded-early")

#: How many judgements are kept for answers that are given again.
_KEPT = 4096

#: How the remark on an answer begins that is right and has too few digits.
SHORT = "right as far as it goes"

_NOT_COMPUTED = "one number throughout, where the true ones differ"


class Told(NamedTuple):
    """What explains a mistake: its name, what was done instead, and what to tell who did it."""

    name: str
    instead: str
    tell: str

    @property
    def is_label(self) -> bool:
        """Whether these are a teacher's words, which stand for its name too."""
        return self.name == self.instead


@dataclass(frozen=True)
class Judgement:
    """The verdict on each blank, why, where something is to be said, and what explains it."""

    verdicts: tuple[str, ...]
    remarks: Mapping[int, str]
    mistakes: tuple[Told, ...] = ()


#: The verdicts of answers that cost nothing.
SOUND = ("right", "rounded", "undecided", "follows")

#: Those of numbers that are mistakes.
MISTAKEN = ("wrong", "not computed")


class Judge:
    """Judges answers to one exercise; made once for all of them.

    `digits`: how many decimals count; `tolerance`: how many units of the last one an answer may be
    off beyond half a unit; `explain`: whether slips are searched for too, which changes no verdict.
    """

    def __init__(
        self,
        exercise: Exercise,
        digits: int | None = None,
        tolerance: int = 0,
        explain: bool = True,
    ) -> None:
        self.exercise = exercise
        self.digits = exercise.task.digits if digits is None else digits
        self.tolerance, self.explain = tolerance, explain
        self.judged = lru_cache(_KEPT)(self._judged)
        self._number = lru_cache(4 * _KEPT)(self._number_in)
        self._right = lru_cache(4 * _KEPT)(self._is_right)

    def judge(self, answers: Answers) -> Judgement:
        """The judgement of what a submission answers."""
        return self.judged(answers.texts, answers.decimal)

    def _judged(self, texts: tuple[str, ...], decimal: str) -> Judgement:
        count = len(self.exercise.blanks)
        found = _Found(self, [self._number(text, decimal) for text in texts[:count]])
        mistakes = () if found.is_sound else found.settle()
        said = zip(texts[count:], self.exercise.truths.values(), strict=True)
        verdicts = (*found.verdicts, *(_said(text, true) for text, true in said))
        return Judgement(verdicts, found.remarks, mistakes)

    # ---- one answer -----------------------------------------------------------------------------

    def _number_in(self, text: str, decimal: str) -> Written | str | None:
        """The number of an answer, None for a blank; or why it is none."""
        if not text:
            return None
        try:
            written = read_written(last_side(text)[0], "", decimal)
        except ReadError as error:
            return str(error).removeprefix(": ")
        return written

    def _at_digits(self, written: Written) -> Written:
        """A number with as many decimals as are asked for: zeros behind it, or rounded."""
        places = written.places
        if places is None or written.hidden or places == self.digits:
            return written
        value, ten = written.value, sympy.Integer(10) ** self.digits
        if places > self.digits:
            value = sympy.floor(value * ten + sympy.Rational(1, 2)) / ten
        return Written(written.text, value, self.digits)

    def is_right(self, number: int, written: Written) -> bool | None:
        """Whether an answer to a blank is right; None where no procedure decides it."""
        return self._right(number, written)

    def _is_right(self, number: int, written: Written) -> bool | None:
        blank = self.exercise.blanks[number]
        x = true_value(self.exercise.evaluation, blank.letter, blank.place)
        if written.hidden or x.hidden:
            return written.hidden and x.hidden
        reach = fmpq(2 * self.tolerance + 1, 2 * 10**self.digits)
        try:
            if not written.value.is_Rational:
                return bool(x.same(written.value))
            value = in_flint(written.value)
            return x.side(value - reach) >= 0 and x.side(value + reach) <= 0
        except Undecided:
            return None

    def is_short(self, number: int, written: Written) -> bool:
        """Whether an answer is right at its own digits, which are fewer than are asked for."""
        places = written.places
        if places is None or places >= self.digits:
            return False
        unit = 10.0**-self.digits
        off = abs(float(self.true[number]) - written.nearest / unit)
        return off <= 0.5 * 10.0 ** (self.digits - places)

    # ---- all of them ----------------------------------------------------------------------------

    @cached_property
    def steps(self) -> Sequence[str]:
        """The step of each blank."""
        return [blank.step for blank in self.exercise.blanks]

    @cached_property
    def true(self) -> Array:
        """The true answers in units of the last digit."""
        return self._in_units(self.exercise.right)

    @cached_property
    def table(self) -> Array:
        """The answers of each misconception, likewise, a row each."""
        rows = [self._in_units(one.units) for one in self.exercise.seen]
        return np.array(rows).reshape(len(rows), len(self.true))

    def _in_units(self, units: Sequence[int | None]) -> Array:
        finer = 10.0 ** (self.exercise.places - self.digits)
        return np.array([-inf if one is None else one / finer for one in units])

    @property
    def reach(self) -> float:
        """How far an answer may be from a number, in units of the last digit."""
        return 0.5 + self.tolerance + 10.0**-FINER

    @cached_property
    def ranges(self) -> Array:
        """How many numbers the answer to each blank might have been: those between the true ones.

        Of −∞ a hundred.
        """
        found = np.full(len(self.true), 100.0)
        for name in self.exercise.steps:
            own = np.array([step == name for step in self.steps])
            some = self.true[own & np.isfinite(self.true)]
            if some.size:
                found[own] = max(100.0, some.max() - min(some.min(), 0.0))
        return found

    @cached_property
    def shown(self) -> Mapping[str, Array]:
        """The numbers that the exercise shows beside its blanks, by letter."""
        evaluation, sheet = self.exercise.evaluation, self.exercise.sheet
        claims = read_claims(sheet.claims, evaluation, sheet.decimal)
        return arrays_of(claims, evaluation)

    def claims(self, numbers: Sequence[Written | None]) -> dict[str, Array]:
        """Answers beside what is shown, by letter; None where nothing is answered."""
        arrays = {letter: array.copy() for letter, array in self.shown.items()}
        for blank, written in zip(self.exercise.blanks, numbers, strict=True):
            if written is None:
                continue
            if blank.letter not in arrays:
                shape = self.exercise.evaluation.shape(blank.letter)
                arrays[blank.letter] = np.full(shape, None, dtype=object)
            arrays[blank.letter][blank.place] = self._at_digits(written)
        return arrays


class _Found:
    """What is found of the answers of one submission, which are not all right."""

    def __init__(self, judge: Judge, read: Sequence[Written | str | None]) -> None:
        self.judge, self.read = judge, read
        self.remarks: dict[int, str] = {}
        self.verdicts = [self._alone(number, one) for number, one in enumerate(read)]

    def _alone(self, number: int, one: Written | str | None) -> str:
        """The verdict on an answer by itself."""
        if one is None:
            return "blank"
        if isinstance(one, str):
            self.remarks[number] = one
            return "unreadable"
        right = self.judge.is_right(number, one)
        if right is False and self.judge.is_short(number, one):
            self.remarks[number] = f"{SHORT}; {self.judge.digits} decimals count"
        return "undecided" if right is None else "right" if right else "wrong"

    @property
    def is_sound(self) -> bool:
        """Whether nothing that was answered is wrong."""
        return "wrong" not in self.verdicts

    @cached_property
    def numbers(self) -> Sequence[Written | None]:
        """The numbers that were read."""
        return [one if isinstance(one, Written) else None for one in self.read]

    @cached_property
    def units(self) -> Array:
        """The same in units of the last digit; NaN for none."""
        unit = 10.0**-self.judge.digits
        return np.array([nan if one is None else one.nearest / unit for one in self.numbers])

    def settle(self) -> tuple[Told, ...]:
        """Say of what is not right whether it follows from something; what explains it."""
        computed = not self._mark_uncomputed()
        first = self._first_step()
        if first is None:
            return ()
        fitting = self._fitting() if computed else []
        if fitting:
            self._follow(first, np.full(len(self.verdicts), True))
            return _told(fitting)
        marker = self._marker(self.judge.exercise.evaluation)
        marks = marker.marks()
        self._mark(marks)
        partly = self._partly(first) if computed and self._first_step() == first else None
        if partly is not None:
            if "wrong" in self._after(first):
                self._follow(first, self._reproduced(partly.evaluation))
            return _told([partly])
        explain = self.judge.explain and computed and not self._begins_short()
        return tuple(self._explained(marker, marks)) if explain else ()

    def _begins_short(self) -> bool:
        """Whether the first wrong answer has too few digits, and needs no other explanation."""
        wrong = (k for k, verdict in enumerate(self.verdicts) if verdict == "wrong")
        first = next(wrong, None)
        number = None if first is None else self.numbers[first]
        return first is not None and number is not None and self.judge.is_short(first, number)

    # ---- what nobody computed -------------------------------------------------------------------

    def _mark_uncomputed(self) -> bool:
        """Mark steps, and rows, of one number throughout, where the true ones differ."""
        groups: dict[tuple[str, Place | None], list[int]] = {}
        for number, blank in enumerate(self.judge.exercise.blanks):
            if self.numbers[number] is not None:
                groups.setdefault((blank.step, None), []).append(number)
                groups.setdefault((blank.step, blank.place[:-1]), []).append(number)
        found = False
        for group in groups.values():
            true = self.judge.true[group]
            alike = len(set(self.units[group].tolist())) == 1
            mistaken = sum(self.verdicts[number] != "right" for number in group)
            if alike and mistaken > 1 and (true != true[0]).any():
                found = True
                for number in group:
                    self.verdicts[number] = "not computed"
                    self.remarks[number] = _NOT_COMPUTED
        return found

    # ---- misconceptions -------------------------------------------------------------------------

    def _first_step(self) -> str | None:
        """The first step with a wrong answer."""
        pairs = zip(self.judge.steps, self.verdicts, strict=True)
        return next((step for step, verdict in pairs if verdict == "wrong"), None)

    def _after(self, first: str) -> list[str]:
        """The verdicts on the blanks behind a step."""
        steps = self.judge.steps
        return self.verdicts[len(steps) - steps[::-1].index(first) :]

    @cached_property
    def _near(self) -> Array:
        """Which answers are those of each misconception."""
        table = self.judge.table
        with np.errstate(invalid="ignore"):  # −∞ − (−∞)
            off = np.abs(table - self.units)
        out: Array = (off <= self.judge.reach) | (table == self.units)
        return out

    @cached_property
    def _wrong(self) -> Array:
        return np.array([verdict == "wrong" for verdict in self.verdicts])

    def _fitting(self) -> list[Mistaken]:
        """The misconceptions that give every answer."""
        answered = ~np.isnan(self.units)
        whole = (self._near | ~answered).all(axis=1)
        return self._evident(np.flatnonzero(whole), self._wrong)

    def _partly(self, first: str) -> Mistaken | None:
        """The misconception that gives all answers of the first step that is wrong, and most."""
        own = np.array([step == first for step in self.judge.steps])
        answered = own & ~np.isnan(self.units)
        some = np.flatnonzero((self._near | ~answered).all(axis=1))
        found = self._evident(some, self._wrong & own)
        every = {id(one): k for k, one in enumerate(self.judge.exercise.seen)}
        return max(found, key=lambda one: int(self._near[every[id(one)]].sum()), default=None)

    def _evident(self, rows: Array, wrong: Array) -> list[Mistaken]:
        """Those of some misconceptions that hardly give these wrong answers by accident."""
        every = self.judge.exercise.seen
        bits = sum(log2(one) for one in self.judge.ranges[wrong]) - log2(max(len(every), 1))
        if not wrong.any() or bits < LEAST_BITS:
            return []
        found = [every[row] for row in rows]
        names = {one.misconception.name for one in found}
        return [one for one in found if one.misconception.rather not in names]

    def _follow(self, first: str, reproduced: Array) -> None:
        """What is reproduced behind the first step that is wrong follows from it."""
        steps = self.judge.steps
        behind = len(steps) - steps[::-1].index(first)
        for number in range(behind, len(steps)):
            if self.verdicts[number] == "wrong" and reproduced[number]:
                self.verdicts[number] = "follows"
                self.remarks.pop(number, None)

    # ---- as check marks it ----------------------------------------------------------------------

    def _marker(self, evaluation: Evaluation) -> Marker:
        return Marker(evaluation, self.judge.claims(self.numbers), Policy())

    def _entries(self, marks: Sequence[StepMark]) -> Iterator[tuple[int, EntryMark]]:
        """The mark of each blank that was answered."""
        found = {(mark.letter, entry.place): entry for mark in marks for entry in mark.entries}
        for number, blank in enumerate(self.judge.exercise.blanks):
            if self.verdicts[number] not in ("blank", "unreadable"):
                yield number, found[blank.letter, blank.place]

    def _mark(self, marks: Sequence[StepMark]) -> None:
        """Take over what the marker says of wrong answers."""
        places = {(x.step, x.place): k for k, x in enumerate(self.judge.exercise.blanks)}
        for number, entry in self._entries(marks):
            if self.verdicts[number] != "wrong":
                continue
            if entry.verdict in _ROUNDED:
                self.verdicts[number] = "rounded"
            elif entry.verdict == "carried":
                origins = [places.get((x.step, x.place), -1) for x in entry.because]
                if any(k >= 0 and self.verdicts[k] == "not computed" for k in origins):
                    self.remarks[number] = "it follows from what was not computed"
                else:
                    self.verdicts[number] = "follows"
                    self.remarks[number] = f"follows from {', '.join(map(str, entry.because[:4]))}"
            elif entry.remark:
                self.remarks[number] = entry.remark

    def _reproduced(self, evaluation: Evaluation) -> Array:
        """Which answers are right where a misconception is made, or follow from other ones."""
        found = np.zeros(len(self.verdicts), dtype=bool)
        for number, entry in self._entries(self._marker(evaluation).marks()):
            found[number] = entry.verdict in (*FITTING, "carried")
        return found

    def _explained(self, marker: Marker, marks: Sequence[StepMark]) -> Iterator[Told]:
        """What would explain the first wrong answer: slips, or a misconception in some rows."""
        first = next((x for x in marks if x.verdict in ("wrong", "last-digit")), None)
        if first is not None:
            explain = self.judge.exercise.explainer.explain
            found = explain(
                marker.evaluation, marker.claims, marker.policy, marks, first.name, pairs=False
            )
            yield from (Told(one.name, one.done, one.tell) for one in found)


def _said(text: str, true: str) -> str:
    """The verdict on what is said of a statement: ``true`` or ``false``, or how these begin."""
    said = text.lower()
    if not said:
        return "blank"
    known = [word for word in ("true", "false") if word.startswith(said)]
    return ("right" if true in known else "wrong") if known else "unreadable"


def _told(found: Sequence[Mistaken]) -> tuple[Told, ...]:
    rows = [one.misconception for one in found]
    return tuple(Told(row.name, row.instead, row.tell) for row in rows)
