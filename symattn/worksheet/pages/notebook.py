"""Jupyter notebooks: their Markdown cells are pages, one after the other.

A number in a cell is found again in the file itself, so that only it is rewritten and everything
else keeps its bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from json.decoder import scanstring  # type: ignore[attr-defined]  # typeshed leaves it out
from typing import Any, TypeAlias

from symattn.errors import ReadError
from symattn.worksheet.pages.markdown import markdown
from symattn.worksheet.pages.page import Block, Found

#: Keys and indices that lead to a value of a JSON document.
Path: TypeAlias = tuple[str | int, ...]

_TOKEN = re.compile(r"[\s:]*(?:(?P<sign>[\[\]{},\"])|[^\s,:\[\]{}\"]+)")
_CHARACTER = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\.|[^\\\"]", re.DOTALL)

#: How deep the source of a cell stands: cells, number, source, line.
_DEPTH = 4


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
    starts = _strings(text)
    for number, cell in enumerate(cells):
        if isinstance(cell, dict) and cell.get("cell_type") == "markdown":
            yield from _Cell(text, cell.get("source"), ("cells", number, "source"), starts).found()


class _Cell:
    """A Markdown cell; its source is one string, or a list of lines."""

    def __init__(self, text: str, source: Any, path: Path, starts: dict[Path, int]) -> None:
        listed = isinstance(source, list)
        self.lines: list[str] = source if listed else [source]
        if not all(isinstance(line, str) for line in self.lines):
            raise ReadError(f"1: not a notebook: cell {int(path[1]) + 1} has no text")
        paths = [(*path, k) for k in range(len(self.lines))] if listed else [path]
        self.text, self.starts = text, [starts[each] for each in paths]

    def found(self) -> Iterator[Found]:
        """What the cell holds, where it stands in the file."""
        for found in markdown("".join(self.lines)):
            if isinstance(found, Block):
                yield Block(found.text, self.places[found.start], self._after(found.start))
            else:
                yield replace(found, start=self.places[found.start])

    def _after(self, start: int) -> Callable[[int], int]:
        """The places of a text that begins at `start` of the cell."""
        return lambda at: self.places[start + at]

    @cached_property
    def places(self) -> list[int]:
        """Where each character of the cell stands in the file."""
        places: list[int] = []
        for line, start in zip(self.lines, self.starts, strict=True):
            at = start
            for _ in line:
                places.append(at)
                match = _CHARACTER.match(self.text, at)
                assert match is not None
                at = match.end()
        return places


def _strings(text: str) -> dict[Path, int]:
    """Where the strings of a JSON document begin, by their path, down to the lines of cells."""
    found: dict[Path, int] = {}
    path: list[str | int] = []  # "" where a key comes next
    at = 0
    while match := _TOKEN.match(text, at):
        at, sign = match.end(), match["sign"]
        if sign in ("{", "["):
            path.append("" if sign == "{" else 0)
        elif sign in ("}", "]"):
            path.pop()
        elif sign == "," and path:
            last = path[-1]
            path[-1] = last + 1 if isinstance(last, int) else ""
        elif sign == '"':
            start = at
            string, at = scanstring(text, at)
            if path and path[-1] == "":
                path[-1] = f"{string}"
            elif len(path) <= _DEPTH:
                found[tuple(path)] = start
    return found
