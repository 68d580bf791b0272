"""The report on several files, or a page with several worksheets: of all, and of each by name."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from symattn.errors import counted
from symattn.marking.verdicts import verdict_counts
from symattn.mistakes.explanations import Explanation
from symattn.printable import printable
from symattn.reports.results import Finding, Marking
from symattn.reports.single import (
    Data,
    Report,
    plain_data,
    report_data,
    report_of,
)
from symattn.reports.wording import WORDING, numbered
from symattn.sheets.worksheet import Worksheet
from symattn.status import Status


@dataclass(frozen=True)
class Mending:
    """The text that a file was read as, the text put right, and what is marked in that.

    `count` is how many numbers were corrected.
    """

    before: str
    after: str
    count: int
    last: CheckedFile


@dataclass(frozen=True)
class CheckedFile:
    """A file that was checked: its worksheets' markings, and every claimed number where it stands.

    Once it is `reported` it has reports in place of the markings.
    """

    name: str
    text: str = ""
    #: Whether it is a page of prose, rather than one worksheet.
    is_page: bool = False
    markings: tuple[Marking, ...] = ()
    sheets: tuple[Worksheet, ...] = ()
    findings: tuple[Finding, ...] = ()
    #: The signs of worked lines that do not hold and are not let pass.
    signs: tuple[Finding, ...] = ()
    #: A line, with file, line and column, for each worksheet or claim of a page that cannot be
    #: used; the others are marked.
    problems: tuple[str, ...] = ()
    #: The files that were read for it, resolved: its own, worksheets, files of numbers.
    files: tuple[Path, ...] = field(default=(), repr=False)
    reports: tuple[Report, ...] = ()
    #: How long it took to mark it.
    seconds: float = 0.0
    #: How it is put right, where that was asked for.
    mending: Mending | None = None

    def reported(self, full: bool = False, hint: str = "") -> CheckedFile:
        """With reports and plain data alone.

        `full` leaves nothing out, and `hint` says how else that is seen.
        """
        reports = []
        for sheet, marking in zip(self.sheets, self.markings, strict=True):
            notation = sheet.notation.but(**({"limit": 0} if full else {}))
            with sheet.in_file():
                reports.append(report_of(marking, notation, hint))
        return replace(self, text="", markings=(), sheets=(), reports=tuple(reports))

    @property
    def passes(self) -> bool:
        """Whether everything could be used, and every number and worked line passes."""
        return self.accepted and not self.problems

    @property
    def accepted(self) -> bool:
        """Whether every number that was marked passes, those in the prose too, and every line."""
        return not self.complaints

    @property
    def failing(self) -> tuple[Finding, ...]:
        """The numbers that are not let pass, as they stand in the file."""
        return tuple(one for one in self.findings if not one.passes)

    @property
    def complaints(self) -> tuple[Finding, ...]:
        """The numbers that are not let pass, then the signs."""
        return (*self.failing, *self.signs)

    @property
    def statuses(self) -> tuple[Status, ...]:
        """What its numbers, and the signs of its worked lines, do to the status of a command."""
        undecided = {"undecided": Status.UNSETTLED}
        return tuple(undecided.get(one.verdict, Status.WRONG) for one in self.complaints)

    @property
    def corrections(self) -> list[tuple[Finding, str]]:
        """The wrong numbers for which it is known what belongs there."""
        return [(one, one.correction) for one in self.failing if one.correction]

    def corrected(self) -> str:
        """The text with the wrong numbers corrected, everything else as it was."""
        text = self.text
        for finding, correction in sorted(self.corrections, key=lambda pair: -pair[0].start):
            end = finding.start + len(finding.written)
            text = text[: finding.start] + correction + text[end:]
        return text

    @property
    def doubtful(self) -> tuple[Finding, ...]:
        """The numbers that pass with a remark, as one that is cut off beside rounded ones."""
        return tuple(
            one
            for one in self.findings
            if one.passes and one.meaning != WORDING[one.verdict].phrase
        )

    @property
    def failing_reports(self) -> tuple[Report, ...]:
        """The reports of its worksheets that do not pass."""
        return tuple(report for report in self.reports if not report.passes)

    def located(self, one: Finding) -> str:
        """What is wrong with a number or a sign, after its place: ``a.md:3:7: weights[1,2]: …``."""
        place = f"{self.name}:{one.line}:{one.column}" if one.line else self.name
        return f"{place}: {one.message}"

    @property
    def counts(self) -> dict[str, int]:
        """How many numbers have each verdict."""
        return verdict_counts(finding.verdict for finding in self.findings)

    @property
    def first(self) -> Finding | None:
        """The first that is not accepted: of a worksheet, or a number in prose after right ones."""
        first = next((one.first for one in self.reports if one.first is not None), None)
        return first.entry if first is not None else next(iter(self.failing), None)

    @property
    def reason(self) -> Explanation | None:
        """What explains the most of it, where something is not accepted."""
        reasons = next((one.reasons for one in self.reports if one.reasons), (None,))
        return reasons[0] if self.first is not None else None

    @property
    def cells(self) -> tuple[str, ...]:
        """What stands under `COLUMNS`."""
        first, reason = self.first, self.reason
        wrong = ("", "", "") if first is None else (first.entry, first.claimed, first.true)
        in_part = "" if reason is None or reason.whole else " (in part)"
        return self.name, *wrong, f"{reason.name}{in_part}" if reason else ""


#: What stands after the name of its file in a line about a problem: line, column, message.
_AFTER_NAME = re.compile(r"(?::(?P<line>[0-9]+))?(?::(?P<column>[0-9]+))?: (?P<rest>.*)\Z", re.S)

#: The same where no file of that name is known.
_NAMED = re.compile(r"(?P<file>[^\n]+?)" + _AFTER_NAME.pattern, re.S)


@dataclass(frozen=True)
class Problem:
    """Why a file, or a part of a page, was not marked to the end.

    `message` is the line `text` without file, line and column; these are "" and 0 where the line
    names none.
    """

    text: str
    message: str
    file: str = ""
    line: int = 0
    column: int = 0

    @classmethod
    def of(cls, text: str, names: Collection[str]) -> Problem:
        """A line about a problem, as ``a.md:3:7: …``, taken apart.

        The file is the longest of the names that fits, which may hold a colon, else what stands
        before the first colon.
        """
        match, file = _NAMED.match(text), ""
        for name in sorted(names, key=len, reverse=True):
            start = printable(name)
            if text.startswith(start) and (after := _AFTER_NAME.match(text, len(start))):
                match, file = after, name
                break
        if match is None:
            return cls(text, text)
        line, column = (int(match[key] or 0) for key in ("line", "column"))
        return cls(text, match["rest"], file or match["file"], line, column)


#: The overview's columns.
COLUMNS = ("file", "first wrong", "wrote", "true", "consistent with")


@dataclass(frozen=True)
class Overview:
    """All files that were marked, and a line for each that could not be used or not finished."""

    files: tuple[CheckedFile, ...]
    problems: tuple[str, ...] = ()
    unfinished: tuple[str, ...] = ()
    #: The names of files that hold no claims.
    skipped: tuple[str, ...] = ()
    #: The names of all files that were asked for, by which lines about them begin.
    names: tuple[str, ...] = ()
    #: How the command ends that marked them.
    status: Status = Status.AGREES

    @property
    def passes(self) -> bool:
        """Whether every number passes and every file was marked."""
        return self.all_marked and all(one.passes for one in self.files)

    @property
    def all_marked(self) -> bool:
        """Whether every file could be used, and was finished."""
        return not self.problems and not self.unfinished

    @property
    def several(self) -> bool:
        """Whether there is more than one file."""
        others = len(self.problems) + len(self.unfinished) + len(self.skipped)
        return len(self.files) + others > 1

    @property
    def unused(self) -> tuple[str, ...]:
        """A line for each file, and each part of a page, that could not be used."""
        return (*self.problems, *(problem for one in self.files for problem in one.problems))

    def taken_apart(self, lines: Sequence[str]) -> tuple[Problem, ...]:
        """Lines of `problems`, of `unfinished`, or of a file's problems."""
        names = {*self.names, *(one.name for one in self.files)}
        return tuple(Problem.of(line, names) for line in lines)

    @property
    def unmarked(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """What was not marked to the end: headings, and the lines or names under each."""
        return (
            ("Could not be used", self.unused),
            ("Not finished", self.unfinished),
            ("Without claims", self.skipped),
        )

    @property
    def rows(self) -> tuple[CheckedFile, ...]:
        """The files with something wrong, in order."""
        return tuple(one for one in self.files if not one.accepted)

    @property
    def counts(self) -> dict[str, int]:
        """How many numbers of all files have each verdict."""
        return verdict_counts(each.verdict for one in self.files for each in one.findings)

    @property
    def conclusion(self) -> str:
        """How many files and numbers there are, and how many of these have each verdict."""
        counts = self.counts
        total = sum(counts.values())
        words = f"{counted(len(self.files), 'file')}, {counted(total, 'number')}: "
        verdicts = ", ".join(numbered(verdict, count) for verdict, count in counts.items())
        none = "No numbers marked" if self.unfinished else "No claims found"
        words = f"{words}{verdicts}" if total else none
        if false := sum(len({sign.entry for sign in one.signs}) for one in self.files):
            has = "has a mistake" if false == 1 else "have mistakes"
            words += f"; {counted(false, 'worked line')} {has}"
        if self.problems:
            words += f"; {counted(len(self.problems), 'file')} could not be used"
        if self.unfinished:
            words += f"; {counted(len(self.unfinished), 'file')} not finished"
        if self.skipped:
            words += f"; {counted(len(self.skipped), 'file')} without claims"
        if parts := sum(len(one.problems) for one in self.files):
            words += f"; {counted(parts, 'part')} of the text could not be used"
        return words

    @property
    def all_right(self) -> str:
        """How many files have nothing wrong; "" where no other file has."""
        good = len(self.files) - len(self.rows)
        if not good or not self.rows:
            return ""
        return f"{counted(good, 'other file')}: all numbers accepted"


def report_alone(overview: Overview) -> Report | None:
    """The report of the only worksheet, where that is a file of its own; None of a page."""
    if overview.several or not overview.files or overview.files[0].is_page:
        return None
    (only,) = overview.files[0].reports
    return only


def overview_data(overview: Overview) -> Data:
    """The overview, every file's reports and every number where it stands, as plain data."""
    return {
        "schema": 1,
        "conclusion": overview.conclusion,
        "counts": overview.counts,
        "overview": [_row_data(one) for one in overview.files],
        "files": {one.name: [report_data(each) for each in one.reports] for one in overview.files},
        "findings": {
            one.name: [plain_data(each, *_OF_FINDING) for each in one.findings]
            for one in overview.files
        },
        "problems": list(overview.unused),
        "unfinished": list(overview.unfinished),
        "skipped": list(overview.skipped),
        "passes": overview.passes,
    }


def _row_data(file: CheckedFile) -> Data:
    row = {
        "file": file.name,
        "passes": file.passes,
        "numbers": len(file.findings),
        "right": file.counts.get("right", 0),
    }
    if file.passes:
        return row
    _, first_wrong, claimed, true, _ = file.cells
    return row | {
        "step": file.first.step if file.first else "",
        "first_wrong": first_wrong,
        "claimed": claimed,
        "true": true,
        "explanation": file.reason.name if file.reason else "",
        "whole": bool(file.reason and file.reason.whole),
    }


#: What is said of a number as plain data.
_OF_FINDING = ("line", "column", "entry", "claimed", "true", "verdict", "passes")
