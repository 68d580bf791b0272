"""``symattn render``: derivations and numbers filled into Markdown pages."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import click

#: How often a watched page is looked at, in seconds.
_PAUSE = 0.5

_PAGES = (".md", ".markdown", ".qmd")


@click.command()
@click.argument("paths", metavar="PAGE|FOLDER…", nargs=-1, required=True)
@click.option("--flavor", default="github", show_default=True, metavar="NAME",
              help="How formulas are written: github, katex, quarto or sphinx.")  # fmt: skip
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if a page would change.")
@click.option("--watch", is_flag=True, help="Go on, and fill a page again when it changes.")
def render(paths: tuple[str, ...], flavor: str, check: bool, watch: bool) -> int:
    """Fill the worksheets of Markdown pages in: derivations after them, numbers in sentences.

    Filling a page again changes only what has changed. A page that cannot be used does not keep
    the others from being filled in; the exit status is then 2.
    """
    from symattn.documents.markdown import FLAVORS
    from symattn.errors import SymattnError, nearest, shown

    if flavor not in FLAVORS:
        raise SymattnError(f"--flavor {shown(flavor)}: there is none{nearest(flavor, FLAVORS)}")
    if check and watch:
        raise SymattnError("render: give --check or --watch, not both")
    if watch:
        return _watch(paths, flavor)
    problems: dict[Path, str] = {}
    changed = [_rendered(page, flavor, not check, problems) for page in _pages(paths)]
    return 2 if problems else 1 if check and any(changed) else 0


def _pages(paths: tuple[str, ...]) -> Iterator[Path]:
    """The pages, and those in the folders."""
    from symattn.worksheet.prose import files_in

    for path in map(Path, paths):
        if path.is_dir():
            yield from (page for page in files_in(path) if page.suffix.lower() in _PAGES)
        else:
            yield path


def _rendered(path: Path, flavor: str, write: bool, problems: dict[Path, str]) -> bool:
    """Whether the page changes; says so, and writes it unless told not to.

    What is wrong with it is said, unless it is among the problems already, and kept there.
    """
    from symattn.cli.screen import refused
    from symattn.errors import SymattnError

    try:
        changes = _filled(path, flavor, write)
    except (SymattnError, OSError) as error:
        if problems.get(path) != str(error):
            click.echo(refused(str(error)), err=True)
        problems[path] = str(error)
        return False
    problems.pop(path, None)
    if changes:
        click.echo(f"{path}: {'filled in' if write else 'would change'}")
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


def _watch(paths: tuple[str, ...], flavor: str) -> int:
    """Fill pages as they, or the files that they name, change; until ^C."""
    problems: dict[Path, str] = {}
    seen: dict[Path, int] | None = None
    try:
        while True:
            now = _stamps(paths)
            if now != seen:  # what is written here is looked at once more, and found filled in
                seen = now
                for page in _pages(paths):
                    _rendered(page, flavor, True, problems)
            time.sleep(_PAUSE)
    except KeyboardInterrupt:
        return 0


def _stamps(paths: tuple[str, ...]) -> dict[Path, int]:
    """When each page, and each file that it or its worksheet names, was last written."""
    from symattn.worksheet.source import files_named

    stamps: dict[Path, int] = {}
    files = list(_pages(paths))
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
