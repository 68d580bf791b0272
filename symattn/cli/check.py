"""``symattn check``: hand calculations marked, in worksheets and in the middle of prose."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from symattn.cli.screen import END_OF_HELP, complain, debug_asked, limit_work
from symattn.doors import Failure, failure
from symattn.status import Status, worst

if TYPE_CHECKING:
    from symattn.worksheet.lines import Link
    from symattn.worksheet.overview import FileReport, Overview
    from symattn.worksheet.prose import Checked, Finding

_FORMATS = ("text", "md", "html", "json", "github")


@click.command(epilog=END_OF_HELP)
@click.argument("paths", metavar="FILE|FOLDER…", nargs=-1, required=True)
@click.option("--format", "form", type=click.Choice(_FORMATS), default="text", show_default=True)
@click.option(
    "--full", is_flag=True, help="Show every table whole, and every number that is not accepted."
)
@click.option(
    "--no-explain", is_flag=True, help="Do not look for misconceptions and slips behind mistakes."
)
@click.option("--diff", is_flag=True, help="Show what --fix would change.")
@click.option(
    "--fix", is_flag=True, help="Correct in place every number not accepted, at its own digits."
)
@click.option("--if-any", is_flag=True, help="Skip files without a worksheet or without claims.")
@click.option("--allow-large", is_flag=True, help="Mark it however much work it is.")
@click.option("-o", "--output", metavar="FILE", help="Write to this file instead of the screen.")
def check(paths: tuple[str, ...], form: str, output: str | None, **options: bool) -> Status:
    """Mark the claims in worksheets and pages (- for standard input), the first wrong one first.

    Pages are Markdown, MyST, reStructuredText, LaTeX and notebooks; folders are searched. A number
    agrees if it is right, or its worksheet's policy accepts it. A file that is named must have
    claims, unless --if-any is given; files of a folder without claims are skipped. A file that
    cannot be used does not keep the others from being marked.
    """
    from symattn.worksheet.overview import Overview

    limit_work(options["allow_large"])
    failures: list[Failure] = []
    named = len(paths) == 1 and not _is_folder(paths[0])
    checked = list(_checked(paths, failures, explain=not options["no_explain"],
                            if_any=options["if_any"], named=named))  # fmt: skip
    status = worst(status for one in checked for status in _statuses(one))
    if options["diff"] or options["fix"]:
        status = _mend(checked, failures, options["diff"], options["fix"], output)
    else:
        files = tuple(_reported(checked, failures, options["full"]))
        found = Overview(files, tuple(failed.line for failed in failures))
        _show(found, form, options["full"], output)
    for failed in failures:
        complain(failed.line)
    return worst([status, *(failed.status for failed in failures)])


def status_of(finding: Finding | Link) -> Status:
    """What a claimed number, or a sign that does not hold, does to the status of its file."""
    from symattn.worksheet.lines import Link

    if not isinstance(finding, Link) and finding.passes:
        return Status.AGREES
    return Status.UNSETTLED if finding.verdict == "undecided" else Status.WRONG


def _statuses(one: Checked) -> Iterator[Status]:
    """The statuses of a file's numbers, and of its worked lines."""
    yield from map(status_of, one.findings)
    yield from map(status_of, one.links)


def _is_folder(path: str) -> bool:
    return path != "-" and Path(path).is_dir()


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
                    raise ReadError(f"{path}: no claims; add a table [claims], or a claim in the "
                                    "text after the worksheet")  # fmt: skip
            except Exception as error:
                if named:
                    raise
                failures.append(failure(error, str(name), debug_asked()))
        failures += [Failure(Status.UNUSABLE, problem) for problem in problems]


def _reported(checked: list[Checked], failures: list[Failure], full: bool) -> Iterator[FileReport]:
    """The report on each file; why another has none is among the failures."""
    from symattn.worksheet.overview import file_report

    for one in checked:
        try:
            yield file_report(one, full, more="--full shows all")
        except Exception as error:
            failures.append(failure(error, one.name, debug_asked()))


def _show(found: Overview, form: str, full: bool, output: str | None) -> None:
    """The report of a single worksheet, or the overview of several files, in a format."""
    from symattn.cli.screen import can_show_unicode, print_lines, write
    from symattn.worksheet.annotations import github_annotations
    from symattn.worksheet.overview import report_alone
    from symattn.worksheet.reporting import (
        html_overview,
        json_alone,
        json_overview,
        markdown_overview,
        styled_overview,
        styled_report,
    )

    alone = report_alone(found)
    match form:
        case "json":
            write(json_overview(found) if alone is None else json_alone(alone), output)
        case "html":
            write(html_overview(found), output)
        case "md":
            write(markdown_overview(found), output)
        case "github":
            write(github_annotations(found), output)
        case _:
            plain = output is not None or can_show_unicode()
            charset: Literal["unicode", "ascii"] = "unicode" if plain else "ascii"
            lines = (
                styled_overview(found, charset, full)
                if alone is None
                else styled_report(alone, charset)
            )
            if output is None:
                print_lines(lines)
            else:
                write("\n".join(words for _, words in lines) + "\n", output)


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
        left += map(status_of, one.left if fix else one.links)
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
    for link in one.left:
        yield f"{one.name}:{link.line}:{link.column}: {link.told}\n"
    for f in one.findings:
        if not f.passes and f.mend is None:
            yield (
                f"{one.name}:{f.line}:{f.column}: {f.entry}: {f.claimed} is left as it is; "
                f"the true value is {f.true}\n"
            )
