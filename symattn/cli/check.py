"""``symattn check``: somebody's numbers marked, in worksheets and in the middle of prose."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from symattn.cli.screen import END_OF_HELP, complain, debug_asked
from symattn.doors import Failure, failure
from symattn.status import Status, worst

if TYPE_CHECKING:
    from symattn.worksheet.lines import Link
    from symattn.worksheet.prose import Checked, Finding
    from symattn.worksheet.report import Report

_FORMATS = ("text", "md", "html", "json")


@click.command(epilog=END_OF_HELP)
@click.argument("paths", metavar="FILE|FOLDER…", nargs=-1, required=True)
@click.option("--format", "form", type=click.Choice(_FORMATS), default="text", show_default=True)
@click.option("--full", is_flag=True, help="List every entry that is not right.")
@click.option("--no-explain", is_flag=True, help="Do not look for misconceptions behind mistakes.")
@click.option("--diff", is_flag=True, help="Show what --fix would change.")
@click.option("--fix", is_flag=True, help="Put wrong numbers right in place, at their own digits.")
@click.option("--if-any", is_flag=True, help="Pass over files that hold no worksheet.")
@click.option("-o", "--output", metavar="FILE", help="Write to this file instead of the screen.")
def check(paths: tuple[str, ...], form: str, output: str | None, **options: bool) -> Status:
    """Mark the claims in worksheets and pages (- for standard input), the first wrong one first.

    Pages are Markdown, MyST, reStructuredText, LaTeX and notebooks; folders are searched. A number
    agrees if it is right, or its worksheet's policy accepts it. A file that is named has to claim
    something, unless --if-any is given; the files of a folder that do not are passed over. A file
    that cannot be used does not keep the others from being marked.
    """
    from symattn.worksheet.reporting import json_report, json_reports

    failures: list[Failure] = []
    named = len(paths) == 1 and not _is_folder(paths[0])
    checked = list(_checked(paths, failures, explain=not options["no_explain"],
                            if_any=options["if_any"], named=named))  # fmt: skip
    status = worst(
        [*(status_of(found) for one in checked for found in one.findings),
         *(status_of(link) for one in checked for link in one.links)]
    )  # fmt: skip
    if options["diff"] or options["fix"]:
        status = _mend(checked, failures, options["diff"], options["fix"], output)
    elif form == "json":
        from symattn.cli.screen import write

        problems = [failed.line for failed in failures]
        if len(checked) == 1 and not problems and not _is_page(checked[0].name):
            write(json_report(checked[0].markings[0]), output)
        else:
            markings = {one.name: one.markings for one in checked}
            findings = {one.name: one.findings for one in checked}
            write(json_reports(markings, findings, problems), output)
    else:
        _show(checked, failures, form, options["full"], output)
    for failed in failures:
        complain(failed.line)
    return worst([status, *(failed.status for failed in failures)])


def status_of(finding: Finding | Link) -> Status:
    """What a claimed number, or a sign that does not hold, does to the status of its file."""
    from symattn.worksheet.prose import Finding

    if isinstance(finding, Finding) and finding.passes:
        return Status.AGREES
    return Status.UNSETTLED if finding.verdict == "undecided" else Status.WRONG


def _is_folder(path: str) -> bool:
    return path != "-" and Path(path).is_dir()


def _is_page(name: str) -> bool:
    from symattn.worksheet.pages import SYNTAXES

    return Path(name).suffix.lower() in SYNTAXES


def _checked(
    paths: tuple[str, ...], failures: list[Failure], explain: bool, if_any: bool, named: bool
) -> Iterator[Checked]:
    """Every file that holds claims; why another could not be used is among the failures.

    Raises it where that file alone is `named`. A file that is named and holds no claim is one.
    """
    from symattn.errors import ReadError
    from symattn.worksheet.prose import check_file, files_in

    for path in paths:
        folder = _is_folder(path)
        problems: list[str] = []
        for name in files_in(path, problems) if folder else (path,):
            try:
                one = check_file(name, explain)
                if one is not None and one.markings:
                    yield one
                elif not (folder or if_any):
                    raise ReadError(f"{path}: claims: nothing is claimed; add [claims] to a "
                                    "worksheet, or a claim to the prose after one")  # fmt: skip
            except Exception as error:
                if named:
                    raise
                failures.append(failure(error, str(name), debug_asked()))
        failures += [Failure(Status.UNUSABLE, problem) for problem in problems]


def _show(
    checked: list[Checked], failures: list[Failure], form: str, full: bool, output: str | None
) -> None:
    """Reports in full for a single worksheet, else a line a wrong number."""
    from symattn.cli.screen import can_show_unicode, print_lines, write
    from symattn.worksheet.reporting import (
        html_problems,
        html_report,
        markdown_problems,
        markdown_report,
    )

    reports: list[tuple[str, Report]] = []
    for one in checked:
        try:
            reports += [(one.name, page) for page in _reports(one, full)]
        except Exception as error:
            failures.append(failure(error, one.name, debug_asked()))
    problems = [failed.line for failed in failures]
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


def _reports(one: Checked, full: bool) -> Iterator[Report]:
    """The report of each worksheet of a file."""
    from symattn.worksheet.report import report

    for sheet, marking in zip(one.sheets, one.markings, strict=True):
        notation = sheet.notation.but(**({"limit": 0} if full else {}))
        yield sheet.in_file(report, marking, notation)


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
        for link in one.links:
            yield "bad", f"{one.name}:{link.line}:{link.column}: {link.told}"
        for marking in one.markings:
            for explanation in marking.explanations:
                yield "note", f"{one.name}: consistent with {explanation.name}"
    total = sum(counts.values())
    others = [f"{count} {verdict}" for verdict, count in counts.items() if verdict != "right"]
    false = sum(len(one.links) for one in checked)
    others += [f"{counted(false, 'worked line')} false"] if false else []
    passes = all(one.passes for one in checked)
    words = f"{counted(len(checked), 'file')}, {counted(total, 'number')}: "
    words += ", ".join([f"{counts.get('right', 0)} right", *others]) if total else "none claimed"
    if problems:
        words += f"; {counted(len(problems), 'file')} could not be used"
    yield ("good" if passes and not problems else "bad"), words


def _mend(
    checked: list[Checked], failures: list[Failure], diff: bool, fix: bool, output: str | None
) -> Status:
    """Show, or make, the changes that put wrong numbers right; the status of what is left."""
    from symattn.cli.screen import write
    from symattn.errors import counted

    left: list[Status] = []
    mended = 0
    shown: list[str] = []
    for one in checked:
        try:
            shown += _mended(one, diff, fix)
        except Exception as error:
            failures.append(failure(error, one.name, debug_asked()))
            continue
        mended += sum(1 for f in one.findings if not f.passes and f.mend is not None)
        left += [status_of(f) for f in one.findings if f.mend is None or not fix]
        left += map(status_of, one.links)
    if not diff:
        shown.append(f"{counted(mended, 'number')} put right\n")
    write("".join(shown), output)
    return worst(left)


def _mended(one: Checked, diff: bool, fix: bool) -> Iterator[str]:
    """Put a file right if told to; what changes, and what is left as it is."""
    from symattn.cli.screen import replace_file
    from symattn.errors import SymattnError

    after = one.mended()
    if diff and after != one.text:
        before, now = one.text.splitlines(True), after.splitlines(True)
        yield from difflib.unified_diff(before, now, one.name, one.name)
    if fix and after != one.text:
        if one.name == "<stdin>":
            raise SymattnError("--fix: standard input cannot be rewritten; give a file")
        replace_file(Path(one.name), one.text, after)
    for link in one.links:
        yield f"{one.name}:{link.line}:{link.column}: {link.told}\n"
    for f in one.findings:
        if not f.passes and f.mend is None:
            yield (
                f"{one.name}:{f.line}:{f.column}: {f.entry}: {f.claimed} is left as it is; "
                f"true is {f.true}\n"
            )
