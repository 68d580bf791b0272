"""``symattn check``: somebody's numbers marked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from symattn.worksheet.read import Worksheet
    from symattn.worksheet.report import Report

_FORMATS = ("text", "md", "html", "json")


@click.command()
@click.argument("files", metavar="FILE…", nargs=-1, required=True)
@click.option("--format", "form", type=click.Choice(_FORMATS), default="text", show_default=True)
@click.option("--full", is_flag=True, help="List every entry that is not right.")
@click.option("--no-explain", is_flag=True, help="Do not look for misconceptions behind mistakes.")
@click.option("-o", "--output", metavar="FILE", help="Write to this file instead of the screen.")
def check(
    files: tuple[str, ...], form: str, full: bool, no_explain: bool, output: str | None
) -> int:
    """Mark the claims in worksheets (- for standard input): which number is wrong first, and why.

    Exit status: 0 if every number is right or within the worksheet's policy, 1 if one is not.
    """
    from symattn.cli import write
    from symattn.worksheet.check import check_worksheet
    from symattn.worksheet.read import read_worksheet
    from symattn.worksheet.report import report
    from symattn.worksheet.reporting import json_report, json_reports

    sheets = [read_worksheet(name) for name in files]
    markings = [sheet.in_file(check_worksheet, sheet, not no_explain) for sheet in sheets]
    if form == "json":
        one = len(markings) == 1
        named = dict(zip((sheet.name for sheet in sheets), markings, strict=True))
        write(json_report(markings[0]) if one else json_reports(named), output)
    else:
        reports = [
            sheet.in_file(report, marking, sheet.notation.but(**({"limit": 0} if full else {})))
            for sheet, marking in zip(sheets, markings, strict=True)
        ]
        _show(sheets, reports, form, output)
    return 0 if all(marking.first_wrong is None for marking in markings) else 1


def _show(
    sheets: list[Worksheet], reports: list[Report], form: str, output: str | None
) -> None:
    """The reports one after another, each under its file's name if there are several."""
    from symattn.cli import can_show_unicode, print_lines, write
    from symattn.worksheet.reporting import html_report, markdown_report, styled_report

    if form == "html":
        write("".join(map(html_report, reports)), output)
        return
    if form == "md":
        write("\n".join(map(markdown_report, reports)), output)
        return

    charset = "unicode" if output is not None or can_show_unicode() else "ascii"

    def lines() -> Iterator[tuple[str, str]]:
        for sheet, found in zip(sheets, reports, strict=True):
            if len(sheets) > 1:
                yield "heading", f"{sheet.name}:"
            yield from styled_report(found, "unicode" if charset == "unicode" else "ascii")
            if len(sheets) > 1:
                yield "plain", ""

    if output is None:
        print_lines(lines())
    else:
        write("\n".join(words for _, words in lines()) + "\n", output)

