"""The marks of a stack, as they are written to a folder: gradebook, report, groups, feedback."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path

from symattn.classroom.feedback import Feedback
from symattn.classroom.gradebook import Gradebook, GradingWorksheet, changes, decimal, points_in
from symattn.classroom.groups import Label, labelled, read_labels
from symattn.classroom.recorded import check_installed, write_records
from symattn.classroom.records import Record
from symattn.classroom.report import ClassReport
from symattn.classroom.roster import file_name
from symattn.classroom.stack import Stack
from symattn.documents.blocks import Document
from symattn.documents.job import written
from symattn.errors import ReadError
from symattn.files.named import read_text
from symattn.writing import Destination

#: The files of a folder of marks, and the folder of what each student is told.
GRADEBOOK, REPORT, GROUPS, RECORDS, FEEDBACK = (
    "gradebook.csv",
    "report.html",
    "groups.toml",
    "records.parquet",
    "feedback",
)

#: Moodle's grading worksheet with grades.
WORKSHEET = "moodle-worksheet.csv"

#: What each student may be told in, with the endings of files.
FORMS = {"md": "md", "html": "html", "pdf": "pdf", "text": "txt"}

#: How many are named of those whose points have changed, or whose answers could not be marked.
MOST_NAMED = 20


@dataclass
class Summary:
    """What came out in short: how many were marked, what they have, and what could not be."""

    counts: Counter[str] = field(default_factory=Counter)
    points: Counter[Fraction] = field(default_factory=Counter)
    #: Where the first of these stand, and why they could not be marked.
    faults: list[str] = field(default_factory=list)
    #: Whose points are others than before: student, then, now.
    changes: list[tuple[str, str, str]] = field(default_factory=list)
    #: How many have points for the first time, where others had some before.
    new: int = 0

    def add(self, record: Record) -> None:
        """Count a record."""
        kind = "missing" if not record.source else "marked" if record.marks else "unread"
        self.counts[kind] += 1
        if kind == "marked":
            self.points[record.points] += 1
        elif kind == "unread" and len(self.faults) < MOST_NAMED:
            self.faults.append(f"{record.source}: {record.fault}")

    @property
    def mean(self) -> Fraction:
        """The points on average of what was marked."""
        whole = sum((points * count for points, count in self.points.items()), Fraction(0))
        return whole / max(self.points.total(), 1)


@dataclass(frozen=True)
class Marks:
    """What is written of a stack to a folder."""

    stack: Stack
    folder: Path
    #: The names of what was written, in order.
    files: dict[str, None] = field(default_factory=dict)

    @cached_property
    def _labels(self) -> Mapping[str, Label]:
        """What a teacher says of groups of wrong answers, by their ids."""
        return read_labels(self._groups, GROUPS)

    @cached_property
    def _groups(self) -> str:
        file = self.folder / GROUPS
        return read_text(file, str(file)) if file.is_file() else ""

    def records(self) -> Iterator[Record]:
        """The records, with what a teacher says of them."""
        return (labelled(record, self._labels) for record in self.stack.records())

    @cached_property
    def book(self) -> Gradebook:
        """The columns of a gradebook."""
        first = self.stack.exercises.first
        return Gradebook(first.exercise.sheet.title, first.exercise.parts, first.points.whole)

    def check(self, records: bool) -> None:
        """Raises `SymattnError` for what could not be written once all is marked."""
        self._labels  # noqa: B018 a file of groups that cannot be read
        if records:
            check_installed()
        for name in (GRADEBOOK, REPORT, GROUPS, *(RECORDS,) * records):
            Destination.of(self.folder / name)

    def write(self) -> Summary:
        """Write the gradebook, the report and the groups; what came out."""
        found, report = Summary(), ClassReport(self.stack.exercises.first.exercise)
        before = self._points()

        def counted() -> Iterator[Record]:
            for record in self.records():
                found.add(record)
                report.add(record)
                yield record

        self.write_gradebook(GRADEBOOK, "plain", counted())
        self._write(REPORT, written("html", [report.document(self.book.most)], None))
        self._write(GROUPS, report.groups.text(self._groups))
        if before:
            now = self._points()
            found.changes, found.new = [*changes(before, now)], len(now.keys() - before.keys())
        return found

    def write_gradebook(self, name: str, flavor: str, records: Iterable[Record]) -> None:
        """Write a gradebook of a flavor."""
        text = io.StringIO()
        self.book.write(records, text, flavor)
        self._write(name, text.getvalue())

    def worksheet(self, file: str) -> GradingWorksheet:
        """Moodle's worksheet of a file. Raises `ReadError` where its maximum is another one."""
        found = GradingWorksheet.of(read_text(Path(file), file), file)
        most, own = found.most, decimal(self.book.most)
        if most not in ("", own):
            raise ReadError(
                f"{file}: Maximum Grade is {most}, and all points are {own}; write total = {most} "
                "in the scheme"
            )
        return found

    def write_worksheet(self, worksheet: GradingWorksheet) -> None:
        """Write Moodle's worksheet with the grades in it."""
        self._write(WORKSHEET, worksheet.graded(self.records()))

    def write_records(self, word: str = "") -> None:
        """Write every mark to a Parquet file, with pseudonyms by a secret word."""
        content = io.BytesIO()
        write_records(self.records(), content, word)
        self._write(RECORDS, content.getvalue())

    def write_feedback(self, form: str, reveal: str) -> None:
        """Write a file for each student who handed something in."""
        (self.folder / FEEDBACK).mkdir(exist_ok=True)
        taken = Counter[str]()
        for record in self.records():
            marking = self.stack.exercises.marking(record.student)
            if marking is None or not record.source:
                continue
            name = file_name(record.student)
            taken[name] += 1
            name += f"-{taken[name]}" * (taken[name] > 1)
            told: Document = Feedback(marking.exercise, reveal).document(record)
            self._write(f"{FEEDBACK}/{name}.{FORMS[form]}", written(form, [told], None))

    def _write(self, name: str, content: str | bytes) -> None:
        Destination.of(self.folder / name).write(content)
        self.files[name.partition("/")[0]] = None

    def _points(self) -> Mapping[tuple[str, str], str]:
        """The points of the gradebook; nothing where there is none that can be read."""
        file = self.folder / GRADEBOOK
        with suppress(ValueError, OSError), file.open(encoding="utf-8", newline="") as lines:
            return points_in(lines)
        return {}
