"""Jupyter notebooks: their Markdown cells are pages, one after the other.

A number in a cell is found again in the file itself, so that only it is rewritten and everything
else keeps its bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from symattn.errors import ReadError
from symattn.pages.markdown import markdown
from symattn.pages.syntax import Block, Found

#: A string of JSON, with the colon behind one that is a key; and a character inside.
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"(?P<key>\s*:)?', re.DOTALL)
_CHARACTER = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\.|[^\\\"]", re.DOTALL)


def notebook(text: str) -> Iterator[Found]:
    """Worksheets and claims of a notebook's Markdown cells, in order.

    Raises `ReadError` for what is no notebook.
    """
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise ReadError("1: not a notebook: its JSON cannot be read") from None
    cells = data.get("cells") if isinstance(data, dict) else None
    if not isinstance(cells, list):
        raise ReadError("1: not a notebook: it has no cells (nbformat 4 is read)")
    # the same with a number for each string: where its characters begin
    starts = json.loads(_STRING.sub(lambda m: m[0] if m["key"] else str(m.start() + 1), text))
    for number, cell in enumerate(cells):
        if isinstance(cell, dict) and cell.get("cell_type") == "markdown":
            lines, begins = _listed(cell.get("source")), starts["cells"][number].get("source")
            if not all(isinstance(line, str) for line in lines):
                raise ReadError(f"1: not a notebook: cell {number + 1} has no text")
            yield from _in_cell(text, lines, _listed(begins))


def _listed(source: Any) -> list[Any]:
    """The lines of a cell, whose source is one string, or a list of lines."""
    return source if isinstance(source, list) else [source]


def _in_cell(text: str, lines: list[str], starts: list[int]) -> Iterator[Found]:
    """What a cell holds, where it stands in the file."""
    inside = [*markdown("".join(lines))]
    places = [*_places(text, lines, starts)] if inside else []
    for found in inside:
        if isinstance(found, Block):
            own = places[found.start :]
            yield Block(found.text, own[0], found.file, own.__getitem__)
        else:
            yield found.moved(places.__getitem__)


def _places(text: str, lines: list[str], starts: list[int]) -> Iterator[int]:
    """Where each character of a cell stands in the file."""
    for line, start in zip(lines, starts, strict=True):
        at = start
        for _ in line:
            yield at
            match = _CHARACTER.match(text, at)
            assert match is not None
            at = match.end()
