"""``symattn render``: derivations and numbers filled into Markdown pages."""

from __future__ import annotations

import time
from pathlib import Path

import click

#: How often a watched page is looked at, in seconds.
_PAUSE = 0.5


@click.command()
@click.argument("pages", metavar="PAGE…", nargs=-1, required=True)
@click.option("--flavor", default="github", show_default=True, metavar="NAME",
              help="How formulas are written: github, katex, quarto or sphinx.")  # fmt: skip
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if a page would change.")
@click.option("--watch", is_flag=True, help="Go on, and fill a page again when it changes.")
def render(pages: tuple[str, ...], flavor: str, check: bool, watch: bool) -> int:
    """Fill the worksheets of Markdown pages in: derivations after them, numbers in sentences.

    Filling a page again changes only what has changed.
    """
    from symattn.documents.markdown import FLAVORS
    from symattn.errors import SymattnError, nearest, shown

    if flavor not in FLAVORS:
        raise SymattnError(f"--flavor {shown(flavor)}: there is none{nearest(flavor, FLAVORS)}")
    if check and watch:
        raise SymattnError("render: give --check or --watch, not both")
    changed = [_rendered(Path(page), flavor, write=not check) for page in pages]
    if watch:
        _watch(pages, flavor)
    return 1 if check and any(changed) else 0


def _rendered(path: Path, flavor: str, write: bool) -> bool:
    """Whether the page changes; says so, and writes it unless told not to."""
    from symattn.cli.screen import replace_file
    from symattn.worksheet.render import rendered
    from symattn.worksheet.source import read_source

    if path.suffix.lower() not in (".md", ".markdown", ".qmd"):
        from symattn.errors import ReadError

        raise ReadError(f"{path}: is no Markdown page (.md, .markdown or .qmd)")
    before = read_source(path, str(path))
    after = rendered(before, str(path), flavor)
    if after == before:
        return False
    if write:
        replace_file(path, before, after)
    click.echo(f"{path}: {'filled in' if write else 'would change'}")
    return True


def _watch(pages: tuple[str, ...], flavor: str) -> None:
    """Fill pages as they, or files in their folders that worksheets name, change; until ^C."""
    from symattn.cli.screen import refused
    from symattn.errors import SymattnError

    seen = _stamps(pages)
    while True:
        time.sleep(_PAUSE)
        now = _stamps(pages)
        if now == seen:
            continue
        for page in pages:
            try:
                _rendered(Path(page), flavor, write=True)
            except (SymattnError, OSError) as error:  # said, and watched on until it is mended
                click.echo(refused(str(error)), err=True)
        seen = _stamps(pages)


def _stamps(pages: tuple[str, ...]) -> dict[Path, int]:
    """When each page, and each file of numbers or worksheet beside one, was last written."""
    watched: set[Path] = {Path(page) for page in pages}
    for page in pages:
        folder = Path(page).parent
        watched |= {file for kind in ("toml", "npy", "npz", "csv", "safetensors")
                    for file in folder.glob(f"*.{kind}")}  # fmt: skip
    return {path: path.stat().st_mtime_ns for path in watched if path.exists()}
