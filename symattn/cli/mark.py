"""``symattn mark``: the answers of a class, marked by a scheme."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symattn.cli import completing as completes
from symattn.cli.attentions import missing
from symattn.cli.formats import Output
from symattn.cli.help import Explained
from symattn.cli.limits import asked_seconds, metered, timeout_option
from symattn.cli.progress import Progress
from symattn.cli.screen import complain
from symattn.errors import SymattnError, counted
from symattn.printable import as_line
from symattn.status import Status
from symattn.writing import Destination

if TYPE_CHECKING:
    from symattn.classroom.exercises import Exercises
    from symattn.classroom.gradebook import GradingWorksheet
    from symattn.classroom.marks import Marks, Summary
    from symattn.classroom.pool import Pool
    from symattn.classroom.scheme import Scheme

#: The judgements of a folder of marks, which a later run need not make again.
_JOURNAL = "journal.sqlite"


#: The formats of feedback, and what it tells of the first mistake.
_FEEDBACK, _TOLD = ("md", "html", "pdf", "text"), (":place", ":hint", ":value")


def _workers(context: click.Context, option: click.Parameter, value: str | None) -> int | str:
    """How many processes, or the address of a scheduler of Dask, ``dask`` for one made here."""
    if value is not None and not value.isdecimal():
        return value
    return int(click.IntRange(1, 256)(value or os.cpu_count() or 1, option, context))


@click.command(
    cls=Explained,
    groups={
        "How it is marked": "--scheme --no-explain",
        "What is written": "--output --gradebook --feedback --records --pseudonyms",
        "Whose answers": "--roster",
        "Where the work is done": "--workers",
    },
    examples={
        "symattn exercise causal --format toml -o exercise.toml": "An exercise to hand out.",
        "symattn mark exercise.toml": "What mistakes in it will cost.",
        "symattn mark exercise.toml exercise.toml -o marks": "Mark a file, or a folder.",
    },
)
@click.argument("exercise", shell_complete=completes.files)
@click.argument("submissions", required=False, shell_complete=completes.files)
@click.option(
    "--scheme", metavar="FILE", shell_complete=completes.files, help="How points are given."
)
@click.option("--no-explain", is_flag=True, help="Do not search for slips; points are the same.")
@click.option("-o", "--output", metavar="FOLDER", help="Write the marks to this folder.")
@click.option(
    "--gradebook",
    type=click.Choice(("moodle", "canvas", "moodle-worksheet")),
    help="A gradebook for these, too; the worksheet of Moodle is that of --roster, with grades.",
)
@click.option(
    "--feedback",
    type=click.Choice([f"{form}{told}" for form in _FEEDBACK for told in ("", *_TOLD)]),
    metavar="|".join(_FEEDBACK),
    help="A file for each student. It tells the place of the first mistake, a hint or the value, "
    "as in md:place, md:hint (as md alone) or md:value.",
)
@click.option("--records", is_flag=True, help="Write every mark to a Parquet file.")
@click.option("--pseudonyms", metavar="WORD", help="Replace names in records, by a secret word.")
@click.option("--roster", metavar="FILE", help="A CSV file of names: who is missing gets a row.")
@click.option(
    "--workers",
    metavar="N|ADDRESS|dask",
    callback=_workers,
    help="So many processes, not one for each processor; or a Dask cluster: that of a scheduler, "
    "or one that is made here.",
)
@timeout_option
def mark(**asked: Any) -> Status:
    """Mark SUBMISSIONS to EXERCISE: a folder, a zip of a learning platform, a table (CSV, Parquet).

    Everybody answers the same exercise, or, in a folder of them, one each. Without submissions it
    is shown what the scheme gives for mistakes. Only the answers are read from a submission. A
    first mistake costs its points; what follows from it, or is what a known misconception gives,
    costs nothing. What cannot be read is a row and a word. Run again, it marks what is new, and
    lists whose points have changed.
    """
    request = Request(**asked)
    if request.submissions is None and request.output is None:
        with metered():
            return _preview(request)
    if request.submissions is None or request.output is None:
        raise SymattnError("mark: name what is marked, and with -o a folder for the marks")
    if request.gradebook == "moodle-worksheet" and request.roster is None:
        raise SymattnError("--gradebook moodle-worksheet: name Moodle's worksheet with --roster")
    if lost := missing(request.submissions):
        raise SymattnError(lost)
    with contextlib.nullcontext() if asked_seconds() is None else metered():
        return _mark(request)


@dataclass(frozen=True)
class Request:
    """The options of ``mark`` by the names that click gives them."""

    exercise: str
    submissions: str | None
    scheme: str | None
    no_explain: bool
    output: str | None
    gradebook: str | None
    feedback: str | None
    records: bool
    pseudonyms: str | None
    roster: str | None
    #: How many processes, or the address of a scheduler.
    workers: int | str

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

        workers = self.workers
        with of_processes(workers) if isinstance(workers, int) else of_dask(workers) as pool:
            yield pool


def _preview(request: Request) -> Status:
    """Show what the scheme gives."""
    from symattn.classroom.preview import preview

    Output("text", None, Destination.of(None)).put([preview(request.exercises.first)])
    return Status.AGREES


def _mark(request: Request) -> Status:
    """Mark everything, and write what comes out."""
    from symattn.classroom.journal import Journal
    from symattn.classroom.marks import Marks
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
        marks = Marks(stack, request.folder)
        marks.check(request.records)
        is_graded = request.gradebook == "moodle-worksheet"
        worksheet = marks.worksheet(str(request.roster)) if is_graded else None
        with request.pool() as pool:
            reads, judges = _watching(progress)
            stack.mark(submissions_in(str(request.submissions), reads), pool, judges)
        progress.at("writing")
        return _write(request, marks, worksheet)


def _watching(
    progress: Progress,
) -> tuple[Callable[[float], None], Callable[[int, int], None]]:
    """What hears how much is read of all, and how many are read and judged; it says how fast."""
    start, share = time.monotonic(), 0.0

    def reads(now: float) -> None:
        nonlocal share
        share = now

    def judges(read: int, judged: int) -> None:
        took = max(time.monotonic() - start, 0.1)
        said = f"{read:,} read, {judged:,} judged, {read / took:,.0f} a second"
        progress.at(f"{said}, {left(took, share)} left" if share else said)

    return reads, judges


def left(took: float, share: float) -> str:
    """How long what is left will take where a share of all took so many seconds.

    >>> left(30, 0.25), left(60, 0.1)
    ('90 s', '9 min')
    """
    seconds = took * (1 - share) / share
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:,.0f} min"


def _write(request: Request, marks: Marks, worksheet: GradingWorksheet | None) -> Status:
    """Write all that is asked for, and say in short what came out."""
    found = marks.write()
    if worksheet is not None:
        marks.write_worksheet(worksheet)
    elif request.gradebook is not None:
        marks.write_gradebook(f"{request.gradebook}.csv", request.gradebook, marks.records())
    if request.records:
        marks.write_records(request.pseudonyms or "")
    if request.feedback is not None:
        form, _, told = request.feedback.partition(":")
        marks.write_feedback(form, told or "hint")
    _say(found, marks)
    return Status.UNUSABLE if found.counts["unread"] else Status.AGREES


def _say(found: Summary, marks: Marks) -> None:
    """Say in short what came out; why something could not be marked goes to standard error."""
    from symattn.claims.entry_names import listed
    from symattn.classroom.gradebook import decimal
    from symattn.classroom.marks import MOST_NAMED

    mean = ""
    marked, missing, unread = (found.counts[kind] for kind in ("marked", "missing", "unread"))
    if marked:
        each, most = decimal(found.mean), decimal(marks.book.most)
        mean = f", {each} of {most} points on average"
    click.echo(f"{counted(marked, 'submission')} marked{mean}.")
    if missing:
        click.echo(f"{counted(missing, 'student')} handed nothing in.")
    for student, then, now in found.changes[:MOST_NAMED]:
        click.echo(as_line(f"{student}: {then} points before, {now or 'none'} now"))
    if (more := len(found.changes) - MOST_NAMED) > 0:
        click.echo(f"{more} more have other points than before.")
    if found.new:
        click.echo(f"{counted(found.new, 'student')} had no points before.")
    click.echo(as_line(f"In {marks.folder}: {', '.join(marks.files)}"))
    if unknown := [*marks.stack.without(marks.stack.exercises.scheme.attempts.extra_time)]:
        complain(f"extra_time: nothing was handed in by {listed(unknown)}")
    for fault in found.faults:
        complain(fault)
    if (more := unread - len(found.faults)) > 0:
        complain(f"{more} more could not be marked; the gradebook has a row for each")
