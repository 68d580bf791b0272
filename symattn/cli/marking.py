"""One file marked for ``symattn check``: all that is kept of it, as plain data.

What a file's marks are made from (derivations, evaluations) is dropped as soon as it is marked, so
that a folder of any length fits into memory, and a file can be marked in a process of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from symattn.cli.limits import usual_budget
from symattn.printable import as_line
from symattn.status import Status

if TYPE_CHECKING:
    from symattn.marking.lines import Link
    from symattn.reports.overview import FileReport
    from symattn.reports.results import CheckedFile, Finding

#: So many times the usual budget for the arrays of a program, which are far larger than a sheet.
_ARRAYS = 5


@dataclass(frozen=True)
class Asked:
    """A file to mark, - for standard input, and what is wanted of it."""

    name: str
    #: Whether a file without claims is refused rather than skipped.
    must_claim: bool = False
    explain: bool = True
    #: Whether its report leaves nothing out.
    full: bool = False
    #: Whether it is to be put right, rather than reported on.
    mends: bool = False
    #: Whether it is marked however much work it is, as far as this process is concerned.
    allow_large: bool = False
    #: An archive whose arrays are held against it; "" where its own claims are marked.
    claims: str = ""
    #: How what its report leaves out is seen, where somebody reads it at a terminal.
    hint: str = ""

    @property
    def printable_name(self) -> str:
        """The name that messages begin with."""
        return "<stdin>" if self.name == "-" else self.name


@dataclass(frozen=True)
class Mending:
    """The text that a file was read as, and the text with its wrong numbers put right."""

    before: str
    after: str
    #: How many numbers that changes.
    count: int
    #: A line for each number and sign that stays wrong.
    left: tuple[str, ...]
    #: The statuses that remain.
    statuses: tuple[Status, ...]


@dataclass(frozen=True)
class Marked:
    """A file that was marked: the statuses of its numbers, and its report or how to put it right.

    `files` are all that were read for it, `problems` a line for each part of a page that could not
    be used.
    """

    name: str
    files: tuple[Path, ...]
    statuses: tuple[Status, ...]
    problems: tuple[str, ...]
    report: FileReport | None = None
    mending: Mending | None = None


def mark(asked: Asked) -> Marked | None:
    """A file marked; None where it holds nothing to mark, and need not.

    Raises `ReadError` (or another `SymattnError`) that begins with the file and the line.
    """
    from symattn.pages.checked import check_file, no_claims
    from symattn.reports.overview import file_report

    start = perf_counter()
    with usual_budget(asked.allow_large, _ARRAYS if asked.claims else 1):
        one = check_file(asked.name, asked.explain, asked.claims)
    if one is None or not (one.markings or one.problems):
        if asked.must_claim:
            raise no_claims(asked.name)
        return None
    statuses = (*map(status_of, one.findings), *map(status_of, one.links))
    if asked.mends:
        return Marked(one.name, one.files, statuses, one.problems, mending=_mending(one))
    report = file_report(one, asked.full, hint=asked.hint)
    report = replace(report, seconds=perf_counter() - start)
    return Marked(one.name, one.files, statuses, one.problems, report)


def status_of(finding: Finding | Link) -> Status:
    """What a claimed number, or a sign that does not hold, does to the status of its file."""
    from symattn.marking.lines import Link

    if not isinstance(finding, Link) and finding.passes:
        return Status.AGREES
    return Status.UNSETTLED if finding.verdict == "undecided" else Status.WRONG


def _mending(one: CheckedFile) -> Mending:
    """The file put right, and what is left as it is."""
    from symattn.pages.checked import mended

    last, count = mended(one)
    left = (*map(status_of, last.findings), *map(status_of, last.links))
    return Mending(one.text, last.text, count, tuple(_left(last)), left)


def _left(one: CheckedFile) -> Iterator[str]:
    """What is said of each number and sign that stays as it is."""
    for link in one.links:
        yield as_line(f"{one.name}:{link.line}:{link.column}: {link.message}") + "\n"
    for found in one.findings:
        if not found.passes and found.correction is None:
            line = (
                f"{one.name}:{found.line}:{found.column}: {found.entry}: {found.written} is left "
                f"as it is; the true value is {found.true}"
            )
            yield as_line(line) + "\n"
