"""``symattn check``: somebody's numbers marked, in worksheets and in the middle of prose."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

if TYPE_CHECKING:
    from symattn.worksheet.prose import Checked
    from symattn.worksheet.report import Report

_FORMATS = ("text", "md", "html", "json")


@click.command()
@click.argument("paths", metavar="FILE|FOLDER…", nargs=-1, required=True)
@click.option("--format", "form", type=click.Choice(_FORMATS), default="text", show_default=True)
@click.option("--full", is_flag=True, help="List every entry that is not right.")
@click.option("--no-explain", is_flag=True, help="Do not look for misconceptions behind mistakes.")
@click.option("--diff", is_flag=True, help="Show what --fix would change.")
@click.option("--fix", is_flag=True, help="Put wrong numbers right in place, at their own digits.")
@click.option("--if-any", is_flag=True, help="Pass over files that hold no worksheet.")
@click.option("-o", "--output", metavar="FILE", help="Write to this file instead of the screen.")
def check(paths: tuple[str, ...], form: str, output: str | None, **options: bool) -> int:
    """Mark the claims in worksheets and pages (- for standard input), the first wrong one first.

    Pages are Markdown, MyST, reStructuredText, LaTeX and notebooks; folders are searched. Exit
    status: 0 if every number is right or within its worksheet's policy, 1 if one is not, 2 if a
    file cannot be used; among several the others are marked all the same.
    """
    from symattn.cli.screen import refused
    from symattn.worksheet.reporting import json_report, json_reports

    problems: list[str] = []
    named = len(paths) == 1 and not _is_folder(paths[0])
    checked = list(_checked(paths, problems, explain=not options["no_explain"],
                            if_any=options["if_any"], named=named))  # fmt: skip
    status = 0 if all(one.passes for one in checked) else 1
    if options["diff"] or options["fix"]:
        status = _mend(checked, options["diff"], options["fix"], output)
    elif form == "json":
        from symattn.cli.screen import write

        if len(checked) == 1 and not problems and not _is_page(checked[0].name):
            write(json_report(checked[0].markings[0]), output)
        else:
            markings = {one.name: one.markings for one in checked}
            findings = {one.name: one.findings for one in checked}
            write(json_reports(markings, findings, problems), output)
    else:
        _show(checked, problems, form, options["full"], output)
    for problem in problems:
        click.echo(refused(problem), err=True)
    return 2 if problems else status


def _is_folder(path: str) -> bool:
    return path != "-" and Path(path).is_dir()


def _is_page(name: str) -> bool:
    from symattn.worksheet.pages import SYNTAXES

    return Path(name).suffix.lower() in SYNTAXES


def _checked(
    paths: tuple[str, ...], problems: list[str], explain: bool, if_any: bool, named: bool
) -> Iterator[Checked]:
    """Every file that holds claims; what is wrong with a file that cannot be used is a problem.

    Raises it where that file alone is `named`. A file that is named and holds no claim is one.
    """
    from symattn.errors import ReadError, SymattnError
    from symattn.worksheet.prose import check_file, files_in

    for path in paths:
        folder = _is_folder(path)
        for name in files_in(path, problems) if folder else (path,):
            try:
                one = check_file(name, explain)
                if one is not None and one.markings:
                    yield one
                elif not (folder or if_any):
                    raise ReadError(f"{path}: claims: nothing is claimed; add [claims] to a "
                                    "worksheet, or a claim to the prose after one")  # fmt: skip
            except SymattnError as error:
                if named:
                    raise
                problems.append(str(error))


def _show(
    checked: list[Checked], problems: list[str], form: str, full: bool, output: str | None
) -> None:
    """Reports in full for a single worksheet, else a line a wrong number."""
    from symattn.cli.screen import can_show_unicode, print_lines, write
    from symattn.worksheet.report import report
    from symattn.worksheet.reporting import (
        html_problems,
        html_report,
        markdown_problems,
        markdown_report,
    )

    reports: list[tuple[str, Report]] = []
    for one in checked:
        for sheet, marking in zip(one.sheets, one.markings, strict=True):
            notation = sheet.notation.but(**({"limit": 0} if full else {}))
            reports.append((one.name, sheet.in_file(report, marking, notation)))
    if form == "html":
        pages = [html_report(found) for _, found in reports]
        write("".join([*pages, html_problems(problems)]), output)
        return
    if form == "md":
        pages = [markdown_report(found) for _, found in reports]
        write("\n".join(filter(None, [*pages, markdown_problems(problems)])), output)
        return
    plain = output is not None or can_show_unicode()
    charset: Literal["unicode", "ascii"] = "unicode" if plain else "ascii"
    lines = _lines(checked, problems, reports, full, charset)
    if output is None:
        print_lines(lines)
    else:
        write("\n".join(words for _, words in lines) + "\n", output)


def _lines(
    checked: list[Checked],
    problems: list[str],
    reports: list[tuple[str, Report]],
    full: bool,
    charset: Literal["unicode", "ascii"],
) -> Iterator[tuple[str, str]]:
    from symattn.errors import counted
    from symattn.worksheet.report import MEANINGS, disagreement
    from symattn.worksheet.reporting import styled_report

    alone = len(reports) == 1 and not problems and not _is_page(checked[0].name)
    if alone or full:
        for name, page in reports:
            if not alone:
                yield "heading", f"{name}:"
            yield from styled_report(page, charset)
            if not alone:
                yield "plain", ""
    if alone:
        return
    counts: dict[str, int] = {}
    for one in checked:
        for found in one.findings:
            counts[found.verdict] = counts.get(found.verdict, 0) + 1
            if not found.passes:
                meaning = MEANINGS[found.verdict]
                told = disagreement(found.entry, found.claimed, found.true, meaning)
                yield "bad", f"{one.name}:{found.line}:{found.column}: {told}"
        for marking in one.markings:
            for explanation in marking.explanations:
                yield "note", f"{one.name}: consistent with {explanation.name}"
    total = sum(counts.values())
    others = [f"{count} {verdict}" for verdict, count in counts.items() if verdict != "right"]
    passes = all(one.passes for one in checked)
    words = f"{counted(len(checked), 'file')}, {counted(total, 'number')}: "
    words += ", ".join([f"{counts.get('right', 0)} right", *others]) if total else "none claimed"
    if problems:
        words += f"; {counted(len(problems), 'file')} could not be used"
    yield ("good" if passes and not problems else "bad"), words


def _mend(checked: list[Checked], diff: bool, fix: bool, output: str | None) -> int:
    """Show, or make, the changes that put wrong numbers right; 1 where some are left wrong."""
    from symattn.cli.screen import replace_file, write
    from symattn.errors import SymattnError, counted

    left = 0
    shown: list[str] = []
    for one in checked:
        after = one.mended()
        left += sum(1 for f in one.findings if not f.passes and (f.mend is None or not fix))
        if diff and after != one.text:
            before, now = one.text.splitlines(True), after.splitlines(True)
            shown += difflib.unified_diff(before, now, one.name, one.name)
        if fix and after != one.text:
            if one.name == "<stdin>":
                raise SymattnError("--fix: standard input cannot be rewritten; give a file")
            replace_file(Path(one.name), one.text, after)
        shown += [
            f"{one.name}:{f.line}:{f.column}: {f.entry}: {f.claimed} is left as it is; true is "
            f"{f.true}\n" for f in one.findings if not f.passes and f.mend is None
        ]  # fmt: skip
    mended = sum(1 for one in checked for f in one.findings if not f.passes and f.mend is not None)
    if not diff:
        shown.append(f"{counted(mended, 'number')} put right\n")
    write("".join(shown), output)
    return 1 if left else 0
