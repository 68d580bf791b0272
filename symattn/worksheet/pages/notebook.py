"""Jupyter notebooks: their Markdown cells are pages, one after the other.

A number in a cell is found again in the file itself, so that only it is rewritten and everything
else keeps its bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from json.decoder import scanstring  # type: ignore[attr-defined]  # typeshed leaves it out
from typing import Any, TypeAlias

from symattn.errors import ReadError
from symattn.worksheet.pages.markdown import markdown
from symattn.worksheet.pages.page import Block, Found

#: Keys and indices that lead to a value of a JSON document.
Path: TypeAlias = tuple[str | int, ...]

_GAP = re.compile(r"[\s,:]*")
_SCALAR = re.compile(r"[^\s,\]}]+")
_HIGH_SURROGATES = ("d8", "d9", "da", "db")


def notebook(text: str) -> Iterator[Found]:
    """Worksheets and claims of a notebook's Markdown cells, in order."""
    try:
        data = json.loads(text)
        spans = dict(_strings(text, 0, ()))
    except (ValueError, RecursionError):
        raise ReadError("1: not a notebook: its JSON cannot be read") from None
    cells = data.get("cells") if isinstance(data, dict) else None
    if not isinstance(cells, list):
        raise ReadError("1: not a notebook: it has no cells (nbformat 4 is read)")
    for number, cell in enumerate(cells):
        if isinstance(cell, dict) and cell.get("cell_type") == "markdown":
            yield from _cell(text, cell.get("source"), ("cells", number, "source"), spans)


def _cell(text: str, source: Any, path: Path, spans: dict[Path, int]) -> Iterator[Found]:
    """What a cell holds; its source is one string, or a list of lines."""
    lines: list[str] = [source] if isinstance(source, str) else list(source or [])
    paths = [path] if isinstance(source, str) else [(*path, k) for k in range(len(lines))]

    def in_file(place: int) -> int:
        index = 0
        while index < len(lines) - 1 and place >= len(lines[index]):
            place -= len(lines[index])
            index += 1
        return _in_file(text, spans[paths[index]], place)

    for found in markdown("".join(lines)):
        if isinstance(found, Block):
            place = in_file(found.start)
            yield Block(found.text, place, found.file, _after(found.start, in_file))
        else:
            yield replace(found, start=in_file(found.start))


def _after(start: int, in_file: Callable[[int], int]) -> Callable[[int], int]:
    """The places of a text that begins at `start` of a cell."""
    return lambda at: in_file(start + at)


def _in_file(text: str, start: int, place: int) -> int:
    """Where a character of the JSON string that begins at `start` stands in the file."""
    at = start
    for _ in range(place):
        if text[at] != "\\":
            at += 1
        elif text[at + 1] != "u":
            at += 2
        else:
            at += 12 if text[at + 2 : at + 4].lower() in _HIGH_SURROGATES else 6
    return at


def _strings(text: str, at: int, path: Path) -> Generator[tuple[Path, int], None, int]:
    """Where every string of a JSON value begins, by its path; returns where the value ends."""
    at = _gap(text, at)
    if text[at] == '"':
        yield path, at + 1
        return int(scanstring(text, at + 1)[1])
    if text[at] not in "{[":
        scalar = _SCALAR.match(text, at)
        assert scalar is not None
        return scalar.end()
    is_object, count = text[at] == "{", 0
    at = _gap(text, at + 1)
    while text[at] not in "}]":
        key: str | int = count
        if is_object:
            key, at = scanstring(text, at + 1)
        at = yield from _strings(text, at, (*path, key))
        at, count = _gap(text, at), count + 1
    return at + 1


def _gap(text: str, at: int) -> int:
    match = _GAP.match(text, at)
    assert match is not None
    return match.end()
