"""``symattn render``: derivations and numbers filled into Markdown pages."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import click

from symattn.cli.screen import END_OF_HELP, complain, debug_asked, limit_work, print_lines
from symattn.doors import Failure, failure
from symattn.status import Status, worst

#: How often a watched page is looked at, in seconds.
_PAUSE = 0.5

_PAGES = (".md", ".markdown", ".qmd")


@click.command(epilog=END_OF_HELP)
@click.argument("paths", metavar="PAGE|FOLDER…", nargs=-1, required=True)
@click.option("--flavor", default="github", show_default=True, metavar="NAME",
              help="How formulas are written: github, katex, quarto or sphinx.")  # fmt: skip
@click.option("--check", is_flag=True, help="Write nothing; a page that would change is a failure.")
@click.option("--allow-large", is_flag=True, help="Fill pages in however much work it is.")
@click.option("--watch", is_flag=True, help="Go on, and fill a page again when it changes.")
def render(
    paths: tuple[str, ...], flavor: str, check: bool, watch: bool, allow_large: bool
) -> Status:
    """Fill the worksheets of Markdown pages in: derivations after them, numbers in sentences.

    Filling a page again changes only what has changed. A page that cannot be used does not keep
    the others from being filled in.
    """
    from symattn.documents.markdown import FLAVORS
    from symattn.errors import SymattnError, nearest, shown

    if flavor not in FLAVORS:
        raise SymattnError(f"--flavor {shown(flavor)}: there is none{nearest(flavor, FLAVORS)}")
    if check and watch:
        raise SymattnError("render: give --check or --watch, not both")
    limit_work(allow_large)
    if watch:
        return _watch(paths, flavor)
    problems: list[str] = []
    failed: dict[Path, Failure] = {}
    changed = [_rendered(page, flavor, not check, failed) for page in _pages(paths, problems)]
    for problem in problems:
        complain(problem)
    return worst([
        *(one.status for one in failed.values()),
        *(Status.UNUSABLE for _ in problems),
        *(Status.WRONG for one in changed if one and check),
    ])  # fmt: skip


def _pages(paths: tuple[str, ...], problems: list[str]) -> Iterator[Path]:
    """The pages, and those in the folders; folders that cannot be read are problems."""
    from symattn.worksheet.prose import files_in

    for path in map(Path, paths):
        if path.is_dir():
            yield from (page for page in files_in(path, problems) if page.suffix.lower() in _PAGES)
        else:
            yield path


def _rendered(path: Path, flavor: str, write: bool, failed: dict[Path, Failure]) -> bool:
    """Whether the page changes; says so, and writes it unless told not to.

    Why it could not be filled in is said, unless it has failed in this way before, and kept.
    """
    try:
        changes = _filled(path, flavor, write)
    except Exception as error:
        found = failure(error, str(path), debug_asked())
        if failed.get(path) != found:
            complain(found.line)
        failed[path] = found
        return False
    failed.pop(path, None)
    if changes:
        print_lines([("plain", f"{path}: {'filled in' if write else 'would change'}")])
    return changes


def _filled(path: Path, flavor: str, write: bool) -> bool:
    """Whether the page changes; it is written unless told not to."""
    from symattn.cli.screen import replace_file
    from symattn.errors import ReadError
    from symattn.worksheet.render import rendered
    from symattn.worksheet.source import read_source

    if path.suffix.lower() not in _PAGES:
        raise ReadError(f"{path}: is no Markdown page (.md, .markdown or .qmd)")
    before = read_source(path, str(path))
    after = rendered(before, str(path), flavor)
    if after != before and write:
        replace_file(path, before, after)
    return after != before


def _watch(paths: tuple[str, ...], flavor: str) -> Status:
    """Fill pages as they, or the files that they name, change; until ^C."""
    failed: dict[Path, Failure] = {}
    seen: dict[Path, int] | None = None
    try:
        while True:
            now = _stamps(paths)
            if now != seen:  # what is written here is looked at once more, and found filled in
                seen = now
                problems: list[str] = []
                for page in _pages(paths, problems):
                    _rendered(page, flavor, True, failed)
                for problem in problems:
                    complain(problem)
            time.sleep(_PAUSE)
    except KeyboardInterrupt:
        return Status.AGREES  # it is how one stops watching


def _stamps(paths: tuple[str, ...]) -> dict[Path, int]:
    """When each page, and each file that it or its worksheet names, was last written."""
    from symattn.worksheet.source import files_named

    stamps: dict[Path, int] = {}
    files = list(_pages(paths, []))
    while files:
        path = files.pop()
        try:
            stamp = path.stat().st_mtime_ns
            if path not in stamps and path.suffix.lower() in (*_PAGES, ".toml"):
                text = path.read_text("utf-8", "replace")
                files += files_named(text, path.parent)
        except (OSError, ValueError):
            continue  # not there, now
        stamps[path] = stamp
    return stamps
