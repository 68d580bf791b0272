"""Jupyter notebooks: their Markdown cells are pages, one after the other.

A number in a cell is found again in the file itself, so that only it is rewritten and everything
else keeps its bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import cached_property
from json.decoder import scanstring  # type: ignore[attr-defined]  # typeshed leaves it out

from symattn.errors import ReadError
from symattn.pages.markdown import markdown
from symattn.pages.syntax import Block, Found

_GAP = re.compile(r"[\s,:]*+")
_DECODER = json.JSONDecoder()
_CHARACTER = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\.|[^\\\"]", re.DOTALL)

#: Notebooks hold pictures; their Markdown is bounded as other pages are.
MAX_NOTEBOOK = 5_000_000


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
    starts = _Walk(text).cells()
    for number, cell in enumerate(cells):
        if isinstance(cell, dict) and cell.get("cell_type") == "markdown":
            yield from _Cell(text, cell.get("source"), number, starts[number]).found()


class _Cell:
    """A Markdown cell; its source is one string, or a list of lines."""

    def __init__(self, text: str, source: object, number: int, starts: list[int]) -> None:
        lines: list[object] = source if isinstance(source, list) else [source]
        self.lines = [line for line in lines if isinstance(line, str)]
        if len(self.lines) < len(lines):
            raise ReadError(f"1: not a notebook: cell {number + 1} has no text")
        self.text, self.starts = text, starts

    def found(self) -> Iterator[Found]:
        """What the cell holds, where it stands in the file."""
        for found in markdown("".join(self.lines)):
            if isinstance(found, Block):
                place = self.places[found.start]
                yield Block(found.text, place, found.file, self._after(found.start))
            else:
                yield found.moved(self.places.__getitem__)

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


class _Walk:
    """Finds where the strings of the cells' sources begin; all else is passed over by `json`."""

    def __init__(self, text: str) -> None:
        self.text, self.place = text, 0

    def cells(self) -> list[list[int]]:
        """For each cell where its source begins, or each line of it."""
        cells: list[list[int]] = []
        for key in self._members():
            if key == "cells" and self._next("["):
                cells = [self._text_starts() for _ in self._items()]
            else:
                self._pass_over()
        return cells

    def _text_starts(self) -> list[int]:
        starts: list[int] = []
        if not self._next("{"):
            self._pass_over()
            return starts
        for key in self._members():
            if key == "source" and self._next("["):
                starts = [self._pass_over() for _ in self._items()]
            else:
                start = self._pass_over()
                starts = [start] if key == "source" else starts
        return starts

    def _members(self) -> Iterator[str]:
        """The keys of an object; whoever takes one goes past its value."""
        for _ in self._items():
            key, self.place = scanstring(self.text, self.place + 1)
            self._gap()
            yield key

    def _items(self) -> Iterator[None]:
        """Stops before every part of an array or object; whoever takes one goes past it."""
        self._gap()
        self.place += 1
        self._gap()
        while self.text[self.place] not in "]}":
            yield
            self._gap()
        self.place += 1

    def _pass_over(self) -> int:
        """Go past a value; where a string's characters begin, if it is one."""
        start = self.place
        _, self.place = _DECODER.raw_decode(self.text, start)
        return start + 1

    def _next(self, sign: str) -> bool:
        return self.text.startswith(sign, self.place)

    def _gap(self) -> None:
        match = _GAP.match(self.text, self.place)
        assert match is not None
        self.place = match.end()
