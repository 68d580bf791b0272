"""Markdown and MyST: a fenced block ``symattn`` holds a worksheet, a role ``{claim}`` a number.

A comment that begins with ``<!-- worksheet`` holds one that readers do not see.
A comment ``<!-- claim -->`` says that the formulas, or the lines, of the paragraph behind it are
claims, ``<!-- claim weights -->`` that the numbers of a table are. A role inside other code (a
fence, a longer run of backticks) or a comment is an example of one, and is left alone; where blocks
begin and end is markdown-it's business.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from symattn.errors import ReadError
from symattn.files.named import LIMITS
from symattn.pages.syntax import (
    Block,
    Found,
    after_space,
    claimed,
    holds_worksheet,
    marked_lines,
)

if TYPE_CHECKING:
    from markdown_it.token import Token

_OURS = re.compile(r"\{claim\}|symattn|\{attention\}|<!--\s*(?:claim\b|worksheet\b)")
_MARK = re.compile(r"\s*claim(?:\s+(?P<key>[^\W\d]\w*(?:\[[^\[\]]*\])*))?\s*\Z")
_UNSEEN = re.compile(r"<!--[ \t]*worksheet[ \t]*\n(?P<sheet>.*?)-->", re.S)
_INFO = re.compile(
    r"(?:\{symattn\}|(?P<shared>\{attention\})|(?:toml\s+)?symattn\b)\s*(?P<file>\S+\.toml)?"
)
_SIGN = re.compile(r"\\[\\`]|`+|<!--")
_RUN = re.compile(r"`+")
_CODE = ("fence", "code_block", "html_block")
_GAP = re.compile(r"\n[ \t\r]*(?=\n)")
#: Where a directive of ours between colons begins, as MyST has them, and where one ends.
_OPENED = re.compile(r"^ {0,3}(:{3,})(?=\{(?:symattn|attention)\})", re.M)
_CLOSED = re.compile(r"^ {0,3}(:{3,})[ \t]*$", re.M)
_OPTION = re.compile(r":[\w-]+:[^\n]*\n")


def markdown(text: str) -> Iterator[Found]:
    """Worksheets and claims of a Markdown page, in order.

    Raises `ReadError` for a page with too many lines.
    """
    if not _OURS.search(text):
        return
    done = 0
    for first, last, block in fences(text):
        yield from _roles(text, done, first)
        if block is not None and not block.equations:
            yield block
        done = last
    yield from _roles(text, done, len(text))


def fences(text: str) -> Iterator[tuple[int, int, Block | None]]:
    """Where each block of code begins and ends, with the worksheet or equations that it is, if any.

    So for each comment that is a worksheet.
    Raises `ReadError` for a page with too many lines.
    """
    starts = [0, *(match.end() for match in re.finditer("\n", text)), len(text)]
    if len(starts) > LIMITS.lines or len(text) > LIMITS.bytes:
        raise ReadError(f"1: more than {LIMITS.lines:,} lines, or 2 MB, are too many for a page")
    tokens = _blocks(text.replace("\r", " "), starts)
    done = 0
    for token in tokens:
        if token.type not in _CODE or token.map is None:
            continue
        first, last = (starts[min(line, len(starts) - 1)] for line in token.map)
        if first < done:
            continue
        if token.type == "html_block":
            unseen = _UNSEEN.match(text, first, last)
            if unseen is not None:
                yield first, last, Block(unseen["sheet"], unseen.start("sheet"))
                done = last
            continue
        yield first, last, _fenced(text, starts, token)
        done = last


def _fenced(text: str, starts: list[int], token: Token) -> Block | None:
    """The worksheet or the equations that a block of code is, if it is one."""
    if token.type != "fence" or token.map is None:
        return None
    words, (start, end) = token.info.strip(), _inside(starts, token.map[0], token.content)
    if words == "{equations}":
        return Block(text[start:end], start, equations=True)
    info = _INFO.match(words)
    if info is not None and info["file"]:
        return Block("", starts[token.map[0]], file=info["file"])
    if info is None:
        return None
    block = _block(text, start, end)
    return None if info["shared"] and not holds_worksheet(block.text) else block


def _blocks(text: str, starts: list[int]) -> list[Token]:
    """The blocks of a page, directives of ours between colons read as fences of tildes."""
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark").disable("inline")
    tokens = reader.parse(text)
    if _OPENED.search(text) is None:
        return tokens
    code = [token.map for token in tokens if token.type in _CODE and token.map is not None]
    ends = [last for _, last in code]
    out, done = "", 0
    for opened in _OPENED.finditer(text):
        line = bisect_left(starts, opened.end()) - 1
        around = bisect_right(ends, line)
        if opened.start() < done or (around < len(code) and code[around][0] <= line):
            continue
        closings = (m for m in _CLOSED.finditer(text, opened.end()) if len(m[1]) >= len(opened[1]))
        both = [opened, *islice(closings, 1)]
        for colons in both:
            out += text[done : colons.start(1)] + "~" * len(colons[1])
            done = colons.end(1)
        if len(both) == 1:
            break  # it goes on to the end
    return reader.parse(out + text[done:])


def _inside(starts: list[int], opening: int, content: str) -> tuple[int, int]:
    """Where the content of a fence begins and ends; its last line may lack an end."""
    lines = content.count("\n") + bool(content.rpartition("\n")[2])
    first, last = (min(opening + 1 + line, len(starts) - 1) for line in (0, lines))
    return starts[first], starts[last]


def _block(text: str, start: int, end: int) -> Block:
    """The worksheet inside a fence, after the directive's options."""
    while option := _OPTION.match(text, start, end):
        start = option.end()
    return Block(text[start:end], start)


def _roles(text: str, start: int, end: int) -> Iterator[Found]:
    """The claims between two places, code spans and comments passed over."""
    gaps = [match.start() for match in _GAP.finditer(text, start, end)]
    runs: dict[int, list[int]] = {}
    for run in _RUN.finditer(text, start, end):
        runs.setdefault(len(run[0]), []).append(run.start())
    place = start
    while sign := _SIGN.search(text, place, end):
        place = sign.end()
        if sign[0] == "<!--":
            close = text.find("-->", place, end)
            marks = _MARK.match(text[place:close]) if close >= 0 else None
            place = end if close < 0 else close + 3
            if marks is not None:
                first = after_space(text, place, end)
                last = _first_from(gaps, first, end)
                yield from marked_lines(text, min(first, last), last, marks["key"] or "")
                place = last
        elif sign[0][0] == "`":
            alike = runs.get(len(sign[0]), [])
            close = _first_from(alike, place, end)
            if close == end or close > _first_from(gaps, place, end):
                continue  # nothing closes it in its paragraph
            role = len(sign[0]) == 1 and text.endswith("{claim}", start, sign.start())
            if role:
                yield claimed(text[place:close], place)
            place = close + len(sign[0])


def _first_from(places: list[int], place: int, end: int) -> int:
    """The first of the places from `place` on, `end` if there is none."""
    index = bisect_left(places, place)
    return places[index] if index < len(places) else end
