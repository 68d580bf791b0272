"""``symattn mark``: the answers of a class, marked by a scheme."""

from __future__ import annotations

import contextlib
import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symattn.cli import completing as completes
from symattn.cli.attentions import missing
from symattn.cli.formats import Output
from symattn.cli.help import Explained
from symattn.cli.limits import asked_seconds, metered
from symattn.cli.progress import Progress
from symattn.cli.screen import complain
from symattn.errors import ReadError, SymattnError, counted
from symattn.printable import as_line
from symattn.status import Status
from symattn.writing import Destination

if TYPE_CHECKING:
    from symattn.classroom.exercises import Exercises
    from symattn.classroom.gradebook import Grade
    from symattn.classroom.pool import Pool
    from symattn.classroom.records import Record
    from symattn.classroom.scheme import Scheme
    from symattn.classroom.stack import Stack

#: The files of a folder of marks.
_JOURNAL, _GRADEBOOK, _REPORT, _GROUPS, _RECORDS = (
    "journal.sqlite",
    "gradebook.csv",
    "report.html",
    "groups.toml",
    "records.parquet",
)

#: How many are named whose points have changed, or whose answers could not be marked.
_MOST_NAMED = 20


@click.command(
    cls=Explained,
    meters=True,
    groups={
        "How it is marked": "--exercise --scheme --preview --no-explain",
        "What is written": "--output --gradebook --feedback --reveal --records --pseudonyms",
        "Whose answers": "--roster",
        "Where the work is done": "--processes --dask",
    },
    examples={
        "symattn mark answers/ --exercise exercise.toml -o marks": "Mark a folder of files.",
        "symattn mark class.zip --exercise class --scheme scheme.toml -o marks": "Of an LMS.",
        "symattn mark --exercise exercise.toml --scheme scheme.toml --preview": "Try a scheme.",
    },
)
@click.argument("submissions", required=False, shell_complete=completes.files)
@click.option(
    "--exercise",
    required=True,
    metavar="FILE|FOLDER",
    shell_complete=completes.files,
    help="The exercise that everybody answers, or a folder with one for each student.",
)
@click.option(
    "--scheme", metavar="FILE", shell_complete=completes.files, help="How points are given."
)
@click.option("--preview", is_flag=True, help="Show what the scheme gives; nothing is marked.")
@click.option("--no-explain", is_flag=True, help="Do not search for slips; points are the same.")
@click.option("-o", "--output", metavar="FOLDER", help="Write the marks to this folder.")
@click.option("--gradebook", metavar="NAME", help="A gradebook for moodle or canvas, too.")
@click.option("--feedback", metavar="FORMAT", help="A file for each student: md, html, pdf, text.")
@click.option(
    "--reveal",
    type=click.Choice(("place", "hint", "value")),
    default="hint",
    show_default=True,
    help="What feedback tells of the first mistake.",
)
@click.option("--records", is_flag=True, help="Write every mark to a Parquet file.")
@click.option("--pseudonyms", metavar="WORD", help="Replace names in records, by a secret word.")
@click.option("--roster", metavar="FILE", help="A CSV file of names: who is missing gets a row.")
@click.option("--processes", type=click.IntRange(1, 256), help="How many; one for each processor.")
@click.option("--dask", metavar="ADDRESS", help="Use a Dask cluster: its scheduler, or local.")
def mark(**asked: Any) -> Status:
    """Mark SUBMISSIONS: a folder, a zip of a learning platform, or a table (CSV, Parquet).

    Only the answers are read from a submission. A first mistake costs its points; what follows from
    it, or is what a known misconception gives, costs nothing. What cannot be read is a row and a
    word. Run again, it marks what is new, and lists whose points have changed.
    """
    request = Request(**asked)
    if request.preview:
        with metered():
            return _preview(request)
    if request.submissions is None or request.output is None:
        raise SymattnError("mark: name what is marked, and with -o a folder for the marks")
    if lost := missing(request.submissions):
        raise SymattnError(lost)
    with contextlib.nullcontext() if asked_seconds() is None else metered():
        return _mark(request)


@dataclass(frozen=True)
class Request:
    """The options of ``mark`` by the names that click gives them."""

    submissions: str | None
    exercise: str
    scheme: str | None
    preview: bool
    no_explain: bool
    output: str | None
    gradebook: str | None
    feedback: str | None
    reveal: str
    records: bool
    pseudonyms: str | None
    roster: str | None
    processes: int | None
    dask: str | None

    @cached_property
    def rules(self) -> Scheme:
        """How points are given."""
        from symattn.classroom.scheme import Scheme, read_scheme

        return Scheme() if self.scheme is None else read_scheme(self.scheme)

    @cached_property
    def exercises(self) -> Exercises:
        """What is answered."""
        from symattn.classroom.exercises import Exercises

        if lost := missing(self.exercise):
            raise SymattnError(lost)
        return Exercises.at(self.exercise, self.rules)

    @cached_property
    def students(self) -> list[str]:
        """The names of a class, as far as these are known."""
        from symattn.classroom.roster import students_in

        if self.roster is None:
            return [*self.exercises.students]
        return [student for _, student, _ in students_in(self.roster, 0)]

    @property
    def folder(self) -> Path:
        """Where the marks go."""
        return Path(str(self.output))

    @contextlib.contextmanager
    def pool(self) -> Iterator[Pool]:
        """Where the work is done."""
        from symattn.classroom.pool import of_dask, of_processes

        if self.dask is not None:
            with of_dask(self.dask) as pool:
                yield pool
        else:
            with of_processes(self.processes or len(os.sched_getaffinity(0))) as pool:
                yield pool


def _preview(request: Request) -> Status:
    """Show what the scheme gives."""
    from symattn.classroom.preview import preview

    first = next(iter(request.exercises.by_student.values()))
    document = preview(request.exercises.of_file(first))
    Output("text", None, Destination.of(None)).put([document])
    return Status.AGREES


def _mark(request: Request) -> Status:
    """Mark everything, and write what comes out."""
    from symattn.classroom.journal import Journal
    from symattn.classroom.stack import Stack
    from symattn.classroom.submissions import submissions_in

    exercises = request.exercises
    exercises.first  # noqa: B018 a scheme that does not fit is refused before anything is read
    request.folder.mkdir(parents=True, exist_ok=True)
    with (
        Journal.at(request.folder / _JOURNAL) as journal,
        Progress("reading").watched() as progress,
    ):
        stack = Stack(exercises, journal, not request.no_explain, request.students)
        with request.pool() as pool:
            stack.mark(submissions_in(str(request.submissions)), pool, _Rate(progress))
        progress.at("writing")
        return _write(request, stack)


class _Rate:
    """Says how many are read and judged, and how fast."""

    def __init__(self, progress: Progress) -> None:
        self._progress, self._start = progress, time.monotonic()

    def __call__(self, read: int, judged: int) -> None:
        rate = read / max(time.monotonic() - self._start, 0.1)
        self._progress.at(f"{read:,} read, {judged:,} judged, {rate:,.0f} a second")


def _write(request: Request, stack: Stack) -> Status:
    """Write the gradebook and all else, and say in short what came out."""
    import io

    from symattn.classroom.gradebook import Gradebook

    marking = request.exercises.first
    book = Gradebook(marking.exercise.sheet.title, marking.exercise.steps, marking.points.whole)
    destination = Destination.of(request.folder / _GRADEBOOK)
    before = _grades(Path(request.folder / _GRADEBOOK))
    seen = _Seen()
    text = io.StringIO()
    book.write(seen.of(stack.records()), text)
    destination.write(text.getvalue())
    _say_changes(before, stack.records())
    if request.gradebook is not None:
        text = io.StringIO()
        book.write(stack.records(), text, request.gradebook)
        Destination.of(request.folder / f"{request.gradebook}.csv").write(text.getvalue())
    seen.say(request.folder)
    return seen.status


class _Seen:
    """What is said in short of all records."""

    def __init__(self) -> None:
        self.counts, self.points, self.most = Counter[str](), Fraction(0), Fraction(0)

    def of(self, records: Iterable[Record]) -> Iterator[Record]:
        """The records, counted as they go by."""
        for record in records:
            self._count(record)
            self.points += record.points
            self.most += record.most
            yield record

    def _count(self, record: Record) -> None:
        """Count a record, and say why there is nothing to mark, of the first ones."""
        if record.marks or record.source == "":
            self.counts["missing" if record.source == "" else "marked"] += 1
            return
        self.counts["unread"] += 1
        if self.counts["unread"] <= _MOST_NAMED:
            complain(f"{record.source}: {record.fault}")

    def say(self, folder: Path) -> None:
        """Say how many there are, and what they have."""
        from symattn.classroom.gradebook import decimal

        marked, unread = self.counts["marked"], self.counts["unread"]
        mean = ""
        if marked:
            most = decimal(self.most / marked)
            mean = f", {decimal(self.points / marked)} of {most} points on average"
        click.echo(f"{counted(marked, 'sheet')} marked{mean}")
        if unread:
            more = f"; the first {_MOST_NAMED} are named above" * (unread > _MOST_NAMED)
            click.echo(f"{counted(unread, 'submission')} could not be marked{more}")
        if missing := self.counts["missing"]:
            click.echo(f"{counted(missing, 'student')} handed nothing in")
        click.echo(f"in {folder}: {_GRADEBOOK}")

    @property
    def status(self) -> Status:
        """2 where something could not be read."""
        return Status.UNUSABLE if self.counts["unread"] else Status.AGREES


def _grades(file: Path) -> list[Grade]:
    """The gradebook of an earlier run; nothing where there is none, or one of another flavor."""
    from symattn.classroom.gradebook import read_gradebook

    if not file.is_file():
        return []
    with contextlib.suppress(ReadError), file.open(encoding="utf-8-sig", newline="") as lines:
        return [*read_gradebook(lines)]
    return []


def _say_changes(before: Sequence[Grade], records: Iterable[Record]) -> None:
    """Say whose points are others than before."""
    from symattn.classroom.gradebook import changes

    if not before:
        return
    found = [*changes(before, records)]
    for student, then, now in found[:_MOST_NAMED]:
        click.echo(as_line(f"{student}: {then or 'no'} points before, {now or 'none'} now"))
    if len(found) > _MOST_NAMED:
        click.echo(f"and {len(found) - _MOST_NAMED} more")
