"""A stack of submissions, marked: each answered once, whoever and however many gave the answers.

Submissions are read one after the other and what they answer is put down in a temporary table;
answers that the journal does not know go to the pool. When all are judged, records are made in the
order of the submissions, so that the result depends on no process.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from typing import Any, TypeVar

from symattn.classroom.answered import Answers
from symattn.classroom.exercises import Exercises
from symattn.classroom.journal import Journal, kept
from symattn.classroom.judge import Judgement
from symattn.classroom.pool import Asked, Judged, Pool
from symattn.classroom.records import Record
from symattn.classroom.roster import called, who
from symattn.classroom.submission import Submission
from symattn.doors import Failure
from symattn.errors import SymattnError

_Each = TypeVar("_Each")

#: How many answers are judged at once in one process.
_PORTION = 32

_NOBODYS = "no exercise of the folder is this student's"
_MISSING = "nothing was handed in"

_TABLES = """
CREATE TABLE sheets (
    number INTEGER PRIMARY KEY, who TEXT, name TEXT, student TEXT, source TEXT, lms TEXT,
    submitted TEXT, texts TEXT, decimal TEXT, remarks TEXT, fault TEXT, key BLOB);
CREATE INDEX by_student ON sheets (who);
CREATE INDEX by_name ON sheets (name);
CREATE TABLE failed (key BLOB PRIMARY KEY, line TEXT);
"""


@dataclass(frozen=True)
class Stack:
    """Submissions that are marked together; `Stack.marked` makes one.

    `fresh`: how many answers were judged that the journal did not know.
    """

    exercises: Exercises
    journal: Journal
    explain: bool = True
    #: The students of a class, if these are known.
    students: Sequence[str] = ()
    _sheets: sqlite3.Connection = field(default_factory=lambda: sqlite3.connect(""), repr=False)

    def __post_init__(self) -> None:
        self._sheets.executescript(_TABLES)

    # ---- reading and judging --------------------------------------------------------------------

    def mark(
        self,
        submissions: Iterable[Submission],
        pool: Pool,
        told: Callable[[int, int], None] = lambda read, judged: None,
    ) -> None:
        """Read and judge submissions; `told` hears how many are read, and judged, so far."""
        read = judged = 0

        def portions() -> Iterator[Sequence[Asked]]:
            nonlocal read
            seen: set[bytes] = set()
            for some in _batches(submissions, 4 * _PORTION):
                asked = {one.key: one for one in map(self._put_down, some) if one is not None}
                fresh = {key: one for key, one in asked.items() if key not in seen}
                seen |= fresh.keys()
                for key, _ in self.journal.judgements(fresh):
                    del fresh[key]
                read += len(some)
                told(read, judged)
                yield from _batches(fresh.values(), _PORTION)

        for portion, found in pool(portions()):
            self._keep(portion, found)
            judged += len(portion)
            told(read, judged)

    def _put_down(self, submission: Submission) -> Asked | None:
        """Write down what a submission answers; what is to be judged of it."""
        answers, asked, fault = Answers(()), None, submission.fault
        try:
            marking = None if fault else self.exercises.marking(submission.student)
        except SymattnError as error:
            marking, fault = None, str(error)
        if marking is not None:
            answers = marking.sheet.read(submission)
            counting = marking.scheme.answers
            asked = Asked(
                marking.exercise.text,
                counting.digits,
                counting.tolerance,
                self.explain,
                answers.texts,
                answers.decimal,
            )
        elif not fault:
            fault = _NOBODYS
        when, name = submission.submitted, who(submission.student)
        row = (
            submission.key or name,
            name,
            submission.student,
            submission.source,
            submission.key,
            "" if when is None else when.isoformat(),
            json.dumps(answers.texts),
            answers.decimal,
            json.dumps(answers.remarks),
            fault,
            None if asked is None else asked.key,
        )
        with kept("what is read, in the folder for temporary files,"):
            self._sheets.execute(f"INSERT INTO sheets VALUES (NULL{', ?' * len(row)})", row)  # noqa: S608 marks alone
        return asked

    def _keep(self, portion: Sequence[Asked], found: Judged) -> None:
        """Keep judgements; what failed is tried again the next time."""
        pairs = [*zip(portion, found, strict=True)]
        self.journal.keep({x.key: one for x, one in pairs if isinstance(one, Judgement)})
        self._sheets.executemany(
            "INSERT OR REPLACE INTO failed VALUES (?, ?)",
            [(x.key, one.line) for x, one in pairs if isinstance(one, Failure)],
        )

    # ---- records --------------------------------------------------------------------------------

    def records(self) -> Iterator[Record]:
        """A record for each student, in the order of the submissions, and for who is missing."""
        several = dict(self._several())
        for number, student, record in self._every():
            chosen, count = several.get(student, (number, 1))
            if chosen == number:
                yield (
                    record
                    if count == 1
                    else replace(record, remarks=(self._counts(count), *record.remarks))
                )
        for student in self.without(self.students):
            yield Record(student, "", fault=_MISSING)

    def _counts(self, count: int) -> str:
        """Which of so many submissions counts, in words."""
        return f"{count} submissions; the {self.exercises.scheme.attempts.count} counts"

    def _every(self, where: str = "", *values: object) -> Iterator[tuple[int, str, Record]]:
        """The record of each submission, with its number, and what tells its student."""
        rows = self._sheets.execute(f"SELECT * FROM sheets {where} ORDER BY number", values)  # noqa: S608 made here
        for some in _batches(rows, 4 * _PORTION):
            judged = dict(self.journal.judgements({row[-1] for row in some if row[-1]}))
            for row in some:
                yield row[0], row[1], self._record(row, judged)

    def _record(self, row: Sequence[Any], judged: Mapping[bytes, Judgement]) -> Record:
        """The record of a row of the table."""
        _, _, _, student, source, lms, submitted, texts, decimal, remarks, fault, key = row
        answers = Answers(tuple(json.loads(texts)), decimal, tuple(json.loads(remarks)))
        when = datetime.fromisoformat(submitted) if submitted else None
        submission = Submission(student=student, source=source, key=lms, submitted=when)
        marking = None if key is None else self.exercises.marking(submission.student)
        if marking is not None and key in judged:
            return marking.record(submission, answers, judged[key])
        if key is not None:
            ((fault,),) = self._sheets.execute("SELECT line FROM failed WHERE key = ?", (key,))
        return Record(student, source, lms, submitted, remarks=answers.remarks, fault=fault)

    def _several(self) -> Iterator[tuple[str, tuple[int, int]]]:
        """Of a student with several submissions, the number of that which counts, and how many."""
        attempts = self.exercises.scheme.attempts
        names = self._sheets.execute(
            "SELECT who FROM sheets WHERE who <> '' GROUP BY who HAVING COUNT(*) > 1"
        ).fetchall()
        for (name,) in names:
            found = [*self._every("WHERE who = ?", name)]
            order = sorted(found, key=lambda one: (one[2].submitted, one[0]))
            if attempts.count == "best":
                order.sort(key=lambda one: one[2].points)
            number, *_ = order[0 if attempts.count == "first" else -1]
            yield name, (number, len(found))

    def without(self, students: Iterable[str]) -> Iterator[str]:
        """Those of some students of whom nothing was handed in."""
        for student in students:
            names = [*called(student)]
            known = self._sheets.execute(
                f"SELECT 1 FROM sheets WHERE name IN ({','.join('?' * len(names))})",  # noqa: S608
                names,
            )
            if known.fetchone() is None:
                yield student


def _batches(some: Iterable[_Each], size: int) -> Iterator[list[_Each]]:
    """Some at a time, in order."""
    left = iter(some)
    while batch := [*islice(left, size)]:
        yield batch
