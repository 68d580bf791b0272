"""Records: what is known of a submission once it is marked; every report is made of these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from symattn.classroom.answered import Answers, AnswerSheet
from symattn.classroom.exercise import Exercise
from symattn.classroom.judge import MISTAKEN, Judge, Judgement, Told
from symattn.classroom.scheme import Points, Scheme, total
from symattn.classroom.submission import Submission


@dataclass(frozen=True)
class Mark:
    """One blank: its name, what was answered, the verdict, its points of how many, and why."""

    entry: str
    answer: str
    verdict: str
    points: Fraction
    most: Fraction
    remark: str = ""

    @property
    def step(self) -> str:
        """The name of its step."""
        return self.entry.partition("[")[0]

    @property
    def is_mistaken(self) -> bool:
        """Whether it is a wrong number that follows from nothing."""
        return self.verdict in MISTAKEN


@dataclass(frozen=True)
class Record:
    """A submission as it is marked; `fault` says why nothing could be marked."""

    student: str
    source: str
    key: str = ""
    submitted: str = ""
    marks: tuple[Mark, ...] = ()
    #: What explains the first mistake.
    mistakes: tuple[Told, ...] = ()
    remarks: tuple[str, ...] = ()
    fault: str = ""
    #: The share of its points that a late submission keeps.
    share: Fraction = Fraction(1)

    @cached_property
    def points(self) -> Fraction:
        """All points."""
        return self.share * total(self.steps.values())

    @property
    def most(self) -> Fraction:
        """The points of a sheet on which all is right."""
        return total(mark.most for mark in self.marks)

    @cached_property
    def steps(self) -> Mapping[str, Fraction]:
        """The points of each step."""
        found: dict[str, list[Fraction]] = {}
        for mark in self.marks:
            found.setdefault(mark.step, []).append(mark.points)
        return {step: total(points) for step, points in found.items()}

    @cached_property
    def first_mistake(self) -> int | None:
        """The number of the first blank with a wrong answer; what holds none is no mistake."""
        return next((k for k, mark in enumerate(self.marks) if mark.is_mistaken), None)


class Marking:
    """Marks submissions of one exercise by a scheme; made once for all of them."""

    def __init__(self, exercise: Exercise, scheme: Scheme, explain: bool = True) -> None:
        counting = scheme.answers
        self.exercise, self.scheme = exercise, scheme
        self.sheet = AnswerSheet(exercise)
        self.judge = Judge(exercise, counting.digits, counting.tolerance, explain)
        self.points: Points = scheme.of(exercise)

    def record(self, submission: Submission, answers: Answers, judgement: Judgement) -> Record:
        """What answers are worth as they are judged; what could not be read is a fault."""
        when = submission.submitted
        shown = zip(self.exercise.asked, answers.texts, judgement.verdicts, strict=True)
        shares = self.points.given(judgement.verdicts, self.exercise.part_of_each)
        given = zip(shares, self.points.each, strict=True)
        marks = (
            Mark(*said, *points, judgement.remarks.get(number, ""))
            for number, (said, points) in enumerate(zip(shown, given, strict=True))
        )
        return Record(
            submission.student,
            submission.source,
            submission.key,
            "" if when is None else when.isoformat(),
            tuple(marks),
            judgement.mistakes,
            answers.remarks,
            submission.fault or "nothing is answered" * answers.is_empty,
            self.scheme.attempts.share(submission.student, when),
        )
