"""``symattn mark``: the answers of a class, marked by a scheme."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symattn.cli import completing as completes
from symattn.cli.attentions import missing
from symattn.cli.formats import Output
from symattn.cli.help import Explained
from symattn.cli.limits import metered
from symattn.cli.progress import Progress
from symattn.cli.screen import complain, say
from symattn.errors import SymattnError, counted
from symattn.status import Status
from symattn.writing import Destination

if TYPE_CHECKING:
    from symattn.classroom.exercises import Exercises
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


@click.command(
    cls=Explained,
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
@click.option("--scheme", metavar="FILE", shell_complete=completes.files, help="How points are given.")
@click.option("--preview", is_flag=True, help="Show what the scheme gives; nothing is marked.")
@click.option("--no-explain", is_flag=True, help="Do not search for slips; points are the same.")
@click.option("-o", "--output", metavar="FOLDER", help="Write the marks to this folder.")
@click.option("--gradebook", default="plain", show_default=True, help="plain, moodle or canvas.")
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
    gradebook: str
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
    exercises.check()
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
    raise NotImplementedError
