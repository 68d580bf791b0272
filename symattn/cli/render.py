"""``symattn render``: derivations and numbers filled into Markdown pages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from symattn.cli import completing as completes
from symattn.cli.help import Explained
from symattn.cli.limits import asked_seconds, each_timeout_option, runs, usual_budget
from symattn.cli.progress import Progress
from symattn.cli.screen import (
    complain,
    debug_asked,
    is_folder,
    paths_given,
    print_lines,
)
from symattn.cli.watching import Remembered, again, check_watchable, watch_option
from symattn.doors import Failure, failure
from symattn.errors import ReadError, SymattnError, nearest, quote
from symattn.status import Status, worst

if TYPE_CHECKING:
    from symattn.isolation import Run

_PAGES = (".md", ".markdown", ".qmd")


@click.command(
    cls=Explained,
    groups={
        "What is written": "--flavor --check --watch",
        "Limits": "--timeout",
    },
    examples={
        "symattn render page.md": "Fill in a page.",
        "symattn render docs/ --check": "Fail if a page is not up to date.",
    },
)
@click.argument(
    "paths",
    metavar="PAGE|FOLDER…",
    nargs=-1,
    required=True,
    callback=paths_given,
    shell_complete=completes.files,
)
@click.option(
    "--flavor",
    default="",
    metavar="NAME",
    help="How formulas are written: github, katex, quarto or sphinx; quarto in a .qmd file, "
    "github in others where it is left out.",
)
@click.option("--check", is_flag=True, help="Write nothing; fail if a page would change.")
@watch_option
@each_timeout_option
def render(
    paths: tuple[str, ...],
    flavor: str,
    check: bool,
    watch: bool,
) -> Status:
    """Fill in Markdown pages: derivations after their worksheets, and numbers in sentences.

    Filling a page in again rewrites only the parts whose contents have changed. A page that cannot
    be used does not keep the others from being filled in.
    """
    from symattn.documents.markdown import FLAVORS

    if flavor and flavor not in FLAVORS:
        raise SymattnError(f"--flavor {quote(flavor)}: no such flavor{nearest(flavor, FLAVORS)}")
    if check and watch:
        raise SymattnError("render: give --check or --watch, not both")
    if watch:
        check_watchable(paths)
    is_timed = asked_seconds() is not None
    with runs() as run:
        if not watch:
            return _Filling(flavor, not check, is_timed, run).fill_all(paths)
        kept = Remembered(run, lambda asked: [asked.path])
        filling = _Filling(flavor, not check, is_timed, kept)
        return again(lambda: filling.fill_all(paths), lambda: _read(paths))


def _pages(paths: tuple[str, ...], problems: list[str]) -> Iterator[Path]:
    """The pages, and those in the folders; folders that cannot be read are problems."""
    from symattn.pages.checked import files_in

    for path in map(Path, paths):
        if is_folder(path):
            yield from (page for page in files_in(path, problems) if page.suffix.lower() in _PAGES)
        else:
            yield path


def _read(paths: tuple[str, ...]) -> Iterator[Path]:
    """The pages, all that they and their worksheets name, and the folders that are searched."""
    from symattn.files.named import reached
    from symattn.pages.checked import folders_in

    for path in paths:
        yield from folders_in(path) if is_folder(path) else [Path(path)]
    yield from reached(_pages(paths, []))


@dataclass(frozen=True)
class _Asked:
    """A page to fill in."""

    path: Path
    flavor: str
    #: Whether the process that fills it in is stopped when time is up.
    is_timed: bool


def _fill(asked: _Asked) -> tuple[str, str]:
    """A page's text, and the text with all filled in."""
    from symattn.files.named import read_text
    from symattn.pages.filling import fill_page

    path = asked.path
    if path.suffix.lower() not in _PAGES:
        raise ReadError(f"{path}: is not a Markdown page (.md, .markdown or .qmd)")
    before = read_text(path, str(path))
    with usual_budget(is_timed=asked.is_timed):
        return before, fill_page(before, str(path), asked.flavor)


@dataclass
class _Filling:
    """How pages are filled in, and why some could not be, when they were last looked at."""

    flavor: str
    writes: bool
    is_timed: bool
    run: Run
    failed: dict[Path, Failure] = field(default_factory=dict)

    def fill_all(self, paths: tuple[str, ...]) -> Status:
        """Fill in all pages; a page that would change is wrong unless it is written."""
        problems: list[str] = []
        changed = False
        with Progress("filling in").watched() as progress:
            for page in _pages(paths, problems):
                changed |= self._fill(page, progress)
        for problem in problems:
            complain(problem)
        return worst(
            [
                *(one.status for one in self.failed.values()),
                *(Status.UNUSABLE for _ in problems),
                Status.WRONG if changed and not self.writes else Status.AGREES,
            ]
        )

    def _fill(self, path: Path, progress: Progress) -> bool:
        """Whether the page changes; says so, and writes it if `writes`.

        Why it could not be filled in is said, unless it has failed in this way before, and kept.
        """
        progress.at(f"filling in {path}")
        found = self._changes(path)
        with progress.aside():
            if isinstance(found, Failure):
                if self.failed.get(path) != found:
                    complain(found.line)
                self.failed[path] = found
                return False
            self.failed.pop(path, None)
            if found:
                done = "filled in" if self.writes else "would change"
                print_lines([("plain", f"{path}: {done}")])
        return found

    def _changes(self, path: Path) -> bool | Failure:
        """Whether the page changes; it is written if `writes`."""
        from symattn.writing import replace_text

        filled = self.run(_fill, _Asked(path, self.flavor, self.is_timed), str(path))
        if isinstance(filled, Failure):
            return filled
        before, after = filled
        try:
            if after != before and self.writes:
                replace_text(path, before, after)
        except BaseException as error:
            return failure(error, str(path), debug_asked())
        return after != before
