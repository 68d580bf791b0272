"""Several files, or a page with several worksheets: what is said of all, and of each by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from symattn.errors import counted
from symattn.worksheet.prose import Checked, is_page
from symattn.worksheet.reading.naming import without_tex
from symattn.worksheet.reports import report as sheet_report
from symattn.worksheet.reports.report import (
    PHRASES,
    LineReport,
    Report,
    disagreement,
    phrase,
    report_data,
)


@dataclass(frozen=True)
class Placed:
    """A claimed number where it stands in its file; `end` is the column behind it, if known."""

    line: int
    column: int
    end: int | None
    entry: str
    claimed: str
    true: str
    verdict: str
    passes: bool
    #: The verdict in words.
    meaning: str

    @property
    def told(self) -> str:
        """What is claimed, what is true, and the verdict."""
        return disagreement(self.entry, self.claimed, self.true, self.meaning)


@dataclass(frozen=True)
class FileReport:
    """A file: the reports of its worksheets, and every claimed number where it stands."""

    name: str
    reports: tuple[Report, ...]
    placed: tuple[Placed, ...]
    #: A line for each worksheet or claim of a page that could not be used.
    problems: tuple[str, ...] = ()

    @property
    def passes(self) -> bool:
        """Whether everything could be used, and every number and worked line passes."""
        return self.accepted and not self.problems

    @property
    def accepted(self) -> bool:
        """Whether every number that was marked passes, those in the prose too, and every line."""
        return not self.failing and all(one.passes for one in self.reports)

    @property
    def is_page(self) -> bool:
        """Whether its worksheets stand in a page of prose."""
        return is_page(self.name)

    @property
    def failing(self) -> tuple[Placed, ...]:
        """The numbers that do not pass, as they stand in the file."""
        return tuple(one for one in self.placed if not one.passes)

    @property
    def false_lines(self) -> tuple[LineReport, ...]:
        """The signs of worked lines that do not hold and are not let pass."""
        return tuple(sign for one in self.reports for sign in one.lines if not sign.passes)

    @property
    def counts(self) -> dict[str, int]:
        """How many numbers have each verdict."""
        return _counts(self.placed)

    @property
    def row(self) -> Row:
        """The file's line of the overview."""
        first = next((found.first for found in self.reports if found.first is not None), None)
        reasons = next((found.reasons for found in self.reports if found.reasons), ())
        explained = (reasons[0].name, reasons[0].whole) if reasons else ("", False)
        told = (self.name, len(self.placed), self.counts.get("right", 0), self.passes)
        if first is not None:
            entry = first.entry
            return Row(*told, first.step, entry.entry, entry.claimed, entry.true, *explained)
        for one in self.failing:  # a number in the prose after one that is right
            step = one.entry.partition("[")[0]
            return Row(*told, step, one.entry, one.claimed, one.true, *explained)
        return Row(*told, "", "", "", "", "", False)


@dataclass(frozen=True)
class Row:
    """What the overview says of a file: its first number not accepted, and what explains it."""

    file: str
    numbers: int
    right: int
    passes: bool
    step: str
    first_wrong: str
    claimed: str
    true: str
    explanation: str
    #: Whether that explains all of the file's wrong numbers.
    whole: bool

    @property
    def explained(self) -> str:
        """The explanation, and whether it is one of only a part."""
        return (
            f"{self.explanation} (in part)"
            if self.explanation and not self.whole
            else (self.explanation)
        )


@dataclass(frozen=True)
class Overview:
    """All files that were marked, and a line for each that could not be used or not finished."""

    files: tuple[FileReport, ...]
    problems: tuple[str, ...] = ()
    unfinished: tuple[str, ...] = ()
    #: The names of files that hold no claims.
    skipped: tuple[str, ...] = ()
    #: The names of all files that were asked for, by which lines about them begin.
    names: tuple[str, ...] = ()

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
        return (*self.problems, *(told for one in self.files for told in one.problems))

    @property
    def rows(self) -> tuple[Row, ...]:
        """The files with something wrong, in order."""
        return tuple(one.row for one in self.files if not one.accepted)

    @property
    def counts(self) -> dict[str, int]:
        """How many numbers of all files have each verdict."""
        return _counts([placed for one in self.files for placed in one.placed])

    @property
    def conclusion(self) -> str:
        """How many files and numbers there are, and how many of these have each verdict."""
        counts = self.counts
        total = sum(counts.values())
        words = f"{counted(len(self.files), 'file')}, {counted(total, 'number')}: "
        told = ", ".join(phrase(verdict, count) for verdict, count in counts.items())
        none = "No numbers marked" if self.unfinished else "No claims found"
        words = f"{words}{told}" if total else none
        if false := sum(len({sign.entry for sign in one.false_lines}) for one in self.files):
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


def _counts(placed: Sequence[Placed]) -> dict[str, int]:
    totals: dict[str, int] = {}
    for one in placed:
        totals[one.verdict] = totals.get(one.verdict, 0) + 1
    return {verdict: totals[verdict] for verdict in PHRASES if verdict in totals}


def file_report(one: Checked, full: bool = False, more: str = "") -> FileReport:
    """The report on a file; `full` leaves nothing out, and `more` says how else that is seen."""
    reports = []
    for sheet, marking in zip(one.sheets, one.markings, strict=True):
        notation = sheet.notation.but(**({"limit": 0} if full else {}))
        with sheet.in_file():
            reports.append(sheet_report.report(marking, notation, more))
    return FileReport(one.name, tuple(reports), tuple(_placed(one, reports)), one.problems)


def _placed(one: Checked, reports: Sequence[Report]) -> Iterator[Placed]:
    """Every claimed number of a file, with the words that its worksheet's report has for it."""
    meanings: dict[tuple[str, str, str], str] = {}
    for found in reports:
        for step in found.steps:
            for entry in step.entries:
                key = entry.entry, entry.claimed, entry.verdict
                meanings.setdefault(key, entry.meaning)
    for finding in one.findings:
        stands = one.text.startswith(finding.claimed, finding.start)
        end = finding.column + len(finding.claimed) if stands else None
        claimed = without_tex(finding.claimed)
        key = finding.entry, claimed, finding.verdict
        yield Placed(
            finding.line,
            finding.column,
            end,
            finding.entry,
            claimed,
            finding.true,
            finding.verdict,
            finding.passes,
            meanings.get(key, PHRASES[finding.verdict]),
        )


def report_alone(found: Overview) -> Report | None:
    """The report of the only worksheet, where that is a file of its own; None of a page."""
    if found.several or not found.files or found.files[0].is_page:
        return None
    (only,) = found.files[0].reports
    return only


def overview_data(found: Overview) -> dict[str, Any]:
    """The overview, every file's reports and every number where it stands, as plain data."""
    return {
        "schema": 1,
        "conclusion": found.conclusion,
        "counts": found.counts,
        "overview": [_row_data(one.row) for one in found.files],
        "files": {one.name: [report_data(each) for each in one.reports] for one in found.files},
        "findings": {one.name: [_placed_data(each) for each in one.placed] for one in found.files},
        "problems": list(found.unused),
        "unfinished": list(found.unfinished),
        "skipped": list(found.skipped),
        "passes": found.passes,
    }


def _row_data(row: Row) -> Mapping[str, Any]:
    told = {"file": row.file, "passes": row.passes, "numbers": row.numbers, "right": row.right}
    if row.passes:
        return told
    return told | {
        "step": row.step,
        "first_wrong": row.first_wrong,
        "claimed": row.claimed,
        "true": row.true,
        "explanation": row.explanation,
        "whole": row.whole,
    }


def _placed_data(placed: Placed) -> dict[str, Any]:
    keys = ("line", "column", "entry", "claimed", "true", "verdict", "passes")
    return {key: getattr(placed, key) for key in keys}
