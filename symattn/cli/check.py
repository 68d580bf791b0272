"""``symattn check``: hand calculations marked, in worksheets and in the middle of prose."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symattn.cli import completing as completes
from symattn.cli.attentions import missing
from symattn.cli.formats import FORMS, Output, format_options
from symattn.cli.help import Explained
from symattn.cli.limits import asked_seconds, each_timeout_option, runs
from symattn.cli.marking import Asked, mark
from symattn.cli.progress import Progress
from symattn.cli.screen import complain, debug_asked, is_folder, paths_given
from symattn.cli.watching import Remembered, again, check_watchable, watch_option
from symattn.doors import Failure, failure
from symattn.errors import SymattnError, counted
from symattn.printable import as_line, printable
from symattn.status import Status, worst

if TYPE_CHECKING:
    from symattn.isolation import Run
    from symattn.reports.overview import CheckedFile, Mending, Overview
    from symattn.writing import Destination

#: The formats of marks that programs read, beside JSON.
_DATA = ("github", "sarif", "junit")

#: Those that say of a file that it cannot be used, even if it is the only one.
_OF_RUNS = ("sarif", "junit")


@click.command(
    cls=Explained,
    groups={
        "What is marked": "--if-any --claims --no-explain",
        "What is corrected": "--diff --fix",
        "Where it goes": "--format --output --full --watch",
        "Limits": "--timeout",
    },
    examples={
        "symattn examples checked_hand_calculation attention_by_hand -o .": "Copy two examples.",
        "symattn check checked_hand_calculation.toml": "Mark a hand calculation.",
        "symattn check attention_by_hand.md --diff": "Show what would be corrected in a page.",
        "symattn check .": "Mark every page and worksheet of this folder.",
    },
)
@click.argument(
    "paths",
    metavar="FILE|FOLDER…",
    nargs=-1,
    required=True,
    callback=paths_given,
    shell_complete=completes.files,
)
@format_options((*FORMS, *_DATA))
@click.option(
    "--full", is_flag=True, help="Show every table in full, and every number that is not accepted."
)
@click.option(
    "--no-explain", is_flag=True, help="Do not search for misconceptions and slips behind mistakes."
)
@click.option("--diff", is_flag=True, help="Show what --fix would change.")
@click.option(
    "--fix",
    is_flag=True,
    help="Correct in place every number that is not accepted, and keep its number of digits.",
)
@click.option("--if-any", is_flag=True, help="Skip files without a worksheet or without claims.")
@click.option(
    "--claims",
    metavar="ARCHIVE",
    help="Compare the arrays of an .npz or .safetensors file, named after their steps, with the "
    "worksheet; each within what rounding in its dtype explains.",
)
@watch_option
@each_timeout_option
def check(watch: bool, **asked: Any) -> Status:
    """Mark the claims in worksheets and pages (- for standard input), the first wrong one first.

    Pages are Markdown, MyST, reStructuredText, LaTeX and notebooks; folders are searched. A number
    agrees if it is right, or its worksheet's policy accepts it. A file that is named must have
    claims, unless --if-any is given; files of a folder without claims are skipped. A file that
    cannot be used does not keep the others from being marked.
    """
    request, destination = Request(**asked), asked["out"].destination
    if request.mends and request.out.form != "text":
        raise SymattnError(
            f"--format {request.out.form}: applies to reports, not to corrections; leave it out"
        )
    if request.claims is not None:
        _check_claims(request)
    if request.fix and watch:
        raise SymattnError("check: give --fix or --watch, not both")
    if watch:
        check_watchable(request.paths)
    if destination.exists:
        destination.refuse_inputs([*_inputs(request.paths), *request.archives])
    with runs("symattn.cli.marking") as run:
        if not watch:
            return _check(request, run)
        kept = Remembered(
            run, lambda asked: [Path(name) for name in (asked.name, asked.claims) if name]
        )
        return again(
            lambda: _check(request, kept),
            lambda: (*_read(request.paths), *map(Path, request.archives)),
            destination,
        )


@dataclass(frozen=True)
class Request:
    """The options of ``check`` by the names that click gives them."""

    paths: tuple[str, ...]
    out: Output
    full: bool
    no_explain: bool
    diff: bool
    fix: bool
    if_any: bool
    claims: str | None

    @property
    def mends(self) -> bool:
        """Whether files are corrected, or it is shown how they would be."""
        return self.diff or self.fix

    @property
    def archives(self) -> list[str]:
        """The archive of arrays that is read, if there is one."""
        return [self.claims] if self.claims else []

    @property
    def of_one(self) -> bool:
        """Whether one file is named, of which a report speaks as the only one."""
        one = len(self.paths) == 1 and not _is_folder(self.paths[0])
        return one and self.out.form not in _OF_RUNS


def _check_claims(request: Request) -> None:
    """Refuse an archive of arrays where it cannot be compared."""
    if len(request.paths) > 1 or _is_folder(request.paths[0]):
        raise SymattnError("--claims: belongs to one worksheet; name one")
    if request.mends:
        raise SymattnError("--claims: an array cannot be corrected; leave --diff and --fix out")
    if not request.claims:
        raise SymattnError("--claims: name a file that ends in .npz or .safetensors")


def _check(request: Request, run: Run) -> Status:
    """Mark all files, and say what became of them."""
    from symattn.reports.overview import Overview

    every = Asked(
        "",
        explain=not request.no_explain,
        full=request.full,
        mends=request.mends,
        is_timed=asked_seconds() is not None,
        claims=request.claims or "",
        hint="--full shows all" if request.out.on_screen else "",
    )
    asked = [*_files(request, every)]
    results = [*_results(asked, request.out.destination, run)]
    failures = [one for one in results if isinstance(one, Failure)]
    marked = [one for one in results if not isinstance(one, Failure | str)]
    statuses = [status for one in marked for status in one.statuses]
    parts = [Failure(Status.UNUSABLE, problem) for one in marked for problem in one.problems]
    finished = all(one.status != Status.UNSETTLED for one in failures)
    unmarked = request.of_one and failures and finished
    if request.mends and not unmarked:
        statuses = _mend(marked, failures, request)
    failed = [*failures, *parts]
    status = worst([*statuses, *(one.status for one in failed)])
    if not request.mends and not unmarked:
        overview = Overview(
            tuple(marked),
            tuple(one.line for one in failures if one.status != Status.UNSETTLED),
            tuple(one.line for one in failures if one.status == Status.UNSETTLED),
            tuple(one for one in results if isinstance(one, str)),
            tuple(one.printable_name for one in asked if isinstance(one, Asked)),
            status,
        )
        _show(overview, request.out, request.full)
    for failure_of_one in failed:
        complain(failure_of_one.line)
    return status


def _results(
    asked: Sequence[Asked | Failure], destination: Destination, run: Run
) -> Iterator[CheckedFile | Failure | str]:
    """What became of each file; of one that holds nothing to mark, its name."""
    with Progress("marking").watched() as progress:
        for number, one in enumerate(asked, 1):
            if isinstance(one, Failure):
                yield one
                continue
            progress.at(f"marking {number} of {len(asked)}: {one.printable_name}")
            result = run(mark, one, one.printable_name)
            if result is not None and not isinstance(result, Failure):
                destination.refuse_inputs(result.files)
            yield one.printable_name if result is None else result


def _inputs(paths: tuple[str, ...]) -> Iterator[str | Path]:
    """The files that will be read, as far as one can tell before; - is standard input.

    A page of a folder in which nothing is marked, as a report written before, is none of them.
    """
    from symattn.files.named import reached
    from symattn.pages.checked import files_in, holds_something

    for path in paths:
        if path == "-":
            yield path
        elif _is_folder(path):
            yield from reached(name for name in files_in(path, []) if holds_something(name))
        else:
            yield from reached([Path(path)])


def _read(paths: tuple[str, ...]) -> Iterator[Path]:
    """The files that are read, or would be, and the folders that are searched."""
    from symattn.files.named import reached
    from symattn.pages.checked import files_in, folders_in

    for path in paths:
        yield Path(path)
        if _is_folder(path):
            yield from folders_in(path)
            yield from reached(files_in(path, []))
        else:
            yield from reached([Path(path)])


def _is_folder(path: str) -> bool:
    return path != "-" and is_folder(path)


def _files(request: Request, every: Asked) -> Iterator[Asked | Failure]:
    """Every file to mark, as `every` is; those named have to hold claims.

    Between them stands, for what is not read in a folder, why.
    """
    from symattn.pages.checked import files_in

    for path in request.paths:
        if lost := missing(path):
            yield Failure(Status.UNUSABLE, lost)
            continue
        if not _is_folder(path):
            yield replace(every, name=path, must_claim=not request.if_any)
            continue
        problems: list[str] = []
        for name in chain(files_in(path, problems), (None,)):
            yield from (Failure(Status.UNUSABLE, problem) for problem in problems)
            problems.clear()
            if name is not None:
                yield replace(every, name=str(name))


def _show(found: Overview, out: Output, full: bool) -> None:
    """The report of a single worksheet, or the overview of several files, in a format."""
    from symattn.reports.annotations import github_annotations
    from symattn.reports.documents import overview_document, report_document
    from symattn.reports.junit import junit_xml
    from symattn.reports.overview import overview_data, report_alone
    from symattn.reports.sarif import sarif_log
    from symattn.reports.single import report_data

    alone = report_alone(found)
    match out.form:
        case "json":
            out.put_data(overview_data(found) if alone is None else report_data(alone))
        case "github":
            out.put(github_annotations(found))
        case "sarif":
            out.put(sarif_log(found))
        case "junit":
            out.put(junit_xml(found))
        case _ if alone is not None:
            out.put([report_document(alone, out.brief)])
        case _:
            listed = not out.destination.is_screen
            out.put([overview_document(found, out.brief, full, listed=listed)])


def _mend(marked: list[CheckedFile], failures: list[Failure], request: Request) -> list[Status]:
    """Show, or make, the changes that put wrong numbers right; the statuses of what is left."""
    from symattn.cli.screen import diff_line

    left: list[Status] = []
    mended = 0
    lines: list[str] = []
    for one in marked:
        assert one.mending is not None  # it was asked for
        try:
            lines += _mended(one.mending, request.diff, request.fix)
        except BaseException as error:
            failures.append(failure(error, one.name, debug_asked()))
            continue
        mended += one.mending.count
        left += one.mending.last.statuses if request.fix else one.statuses
    if not request.diff:
        lines.append(f"{counted(mended, 'number')} corrected\n")
    destination = request.out.destination
    destination.write("".join(map(diff_line, lines) if destination.is_screen else lines))
    return left


def _mended(mending: Mending, diff: bool, fix: bool) -> Iterator[str]:
    """The diff of a file, and what is left as it is; with `fix` the file is corrected."""
    from symattn.writing import replace_text

    name = mending.last.name
    changes = mending.after != mending.before
    if diff and changes:
        header = printable(name)
        before, now = _lines(mending.before), _lines(mending.after)
        for line in difflib.unified_diff(before, now, header, header):
            yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
    if fix and changes:
        if name == "<stdin>":
            raise SymattnError("--fix: standard input cannot be rewritten; give a file")
        replace_text(name, mending.before, mending.after)
    for sign in mending.last.signs:
        yield f"{as_line(mending.last.located(sign))}\n"
    for one in mending.last.failing:
        if one.correction is None:
            told = f"{one.entry}: {one.written} is left as it is; the true value is {one.true}"
            yield as_line(f"{name}:{one.line}:{one.column}: {told}") + "\n"


def _lines(text: str) -> list[str]:
    """The lines of a file with their ends, as programs that apply a diff count them."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)
