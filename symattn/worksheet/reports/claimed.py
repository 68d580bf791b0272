"""A marking as the claims that the interactive page shows beside its proven values."""

from __future__ import annotations

from symattn.documents.claims import Claim, Claims
from symattn.worksheet.reports.results import Marking
from symattn.worksheet.reports.single import report_of
from symattn.worksheet.reports.wording import WORDING


def claims_of(marking: Marking) -> Claims:
    """Every claimed number with its verdict, and the signs of worked lines that do not hold."""
    report = report_of(marking)
    entries = []
    for mark, step in zip(marking.steps, report.steps, strict=True):
        for entry in step.entries:
            wording = WORDING[entry.verdict]
            message = f"{entry.message}; wrong" if entry.verdict == "wrong" else entry.message
            entries.append(
                Claim(
                    mark.letter,
                    entry.place,
                    entry.claimed,
                    wording.sign.strip(),
                    wording.phrase,
                    message,
                    wording.tint,
                    entry.passes,
                )
            )
    lines = (line.message for line in report.lines if not line.passes)
    return Claims(report.conclusion, tuple(entries), (*lines, *filter(None, [report.style])))
