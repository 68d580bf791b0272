"""docs/core.md says truly how much there is to read of the core, and it is read in one sitting."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from tests import ROOT

PAGE = (ROOT / "docs" / "core.md").read_text(encoding="utf-8")

#: The core has at most so many lines.
MOST = 1_550

_ROW = re.compile(r"^\| (?P<stop>[^|]+?) \| (?P<read>[^|]*?) \| (?P<lines>[\d,]*) \|$", re.M)
_PART = re.compile(r"`(?P<path>symattn/[\w/]+\.py)`(?:: (?P<names>[^;]*))?")
_NAMES = re.compile(r"`(\w+)`(?: to `(\w+)`)?")


def extents(source: str) -> dict[str, tuple[int, int]]:
    """The first and the last line of every definition of a file, decorators included."""
    found = {}
    for node in ast.parse(source).body:
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            case ast.AnnAssign(target=ast.Name(id=name)):
                first = node.lineno
            case _:
                continue
        found[name] = first, node.end_lineno or first
    return found


def lines_of(read: str) -> int:
    """How many lines a cell of the table names: files, or what stands in them.

    Raises `KeyError` for a name that is not in its file.
    """
    count = 0
    for part in _PART.finditer(read):
        source = (ROOT / part["path"]).read_text(encoding="utf-8")
        if part["names"] is None:
            count += source.count("\n")
            continue
        places = extents(source)
        for first, last in _NAMES.findall(part["names"]):
            count += places[last or first][1] - places[first][0] + 1
    return count


def _is_near(lines: str, count: int) -> bool:
    """Whether a number on the page is right to a tenth: nobody need touch it for a line."""
    return lines != "" and abs(int(lines.replace(",", "")) - count) <= count / 10


def faults(page: str) -> Iterator[str]:
    """What is wrong with the table of a page."""
    *stops, total = [(row["stop"], row["read"], row["lines"]) for row in _ROW.finditer(page)]
    whole = 0
    for stop, read, lines in stops:
        found = lines_of(read)
        whole += found
        if not _is_near(lines, found):
            yield f"docs/core.md: {stop}: {found:,} lines, not {lines or 'blank'}"
    if total[0] != "all" or not _is_near(total[2], whole):
        yield f"docs/core.md: all: {whole:,} lines, not {total[2]}"
    if whole > MOST:
        yield f"docs/core.md: {whole:,} lines are more than one reads in a sitting, {MOST:,}"


def test_the_core_is_as_long_as_the_page_says() -> None:
    assert [*faults(PAGE)] == []
    assert len(_ROW.findall(PAGE)) == 7  # six stops and their sum


def test_a_wrong_count_a_long_core_and_a_name_that_is_gone_are_noticed() -> None:
    stop = re.search(r"^\| 4\. step \| (.*) \| (\d+) \|$", PAGE, re.M)
    assert stop is not None
    assert len([*faults(PAGE.replace(stop[0], f"| 4. step | {stop[1]} | 1 |"))]) == 1
    longer = stop[0].replace("symattn/step.py", "symattn/notation/tree.py")
    with pytest.raises(KeyError, match="Step"):
        [*faults(PAGE.replace(stop[0], longer))]
    grammar = PAGE.replace(stop[1], "`symattn/grammar.py`")
    assert len([*faults(grammar)]) == 3 and "more than one reads" in [*faults(grammar)][-1]
