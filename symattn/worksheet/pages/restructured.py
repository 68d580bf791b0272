"""reStructuredText: a directive ``symattn`` (or ``attention``) and a role ``:claim:``.

Literal blocks, code directives and double backquotes show examples and are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from symattn.worksheet.pages.page import Block, Found, anchor, line_of

_OPENING = re.compile(
    r"(?P<indent>[ \t]*)(?:\.\. (?P<name>[\w-]+)::(?P<file>[^\n]*)|(?!\.\. )[^\n]*::[ \t]*)$"
)
_ROLE = re.compile(r"``.*?``|:claim:`([^`]*)`", re.DOTALL)
_OPTION = re.compile(r"[ \t]+:[\w-]+:[^\n]*\n")
_LITERAL = ("code", "code-block", "sourcecode", "literalinclude", "parsed-literal", "raw")


def restructured(text: str) -> Iterator[Found]:
    """Worksheets and claims of a reStructuredText page, in order."""
    lines = text.splitlines(keepends=True)
    number, place, prose = 0, 0, 0
    while number < len(lines):
        opening = _OPENING.match(lines[number].rstrip("\r\n"))
        name = opening and opening["name"]
        here, number = place, number + 1
        place += len(lines[number - 1])
        if opening is None or not (name is None or name in _LITERAL or _is_ours(name)):
            continue
        if name is not None and _is_ours(name) and opening["file"].strip().endswith(".toml"):
            yield from _roles(text, prose, here)
            yield Block("", here, file=opening["file"].strip())
            prose = place
            continue
        last = _indented(lines, number, len(opening["indent"].expandtabs()))
        size = sum(map(len, lines[number:last]))
        if name is None or name in _LITERAL or "[given]" in text[place : place + size]:
            yield from _roles(text, prose, here if name else place)
            if name is not None and _is_ours(name):
                yield _block(text, place, place + size)
            place += size
            number, prose = last, place
    yield from _roles(text, prose, len(text))


def _is_ours(name: str) -> bool:
    return name in ("symattn", "attention")


def _indented(lines: list[str], first: int, indent: int) -> int:
    """The line after the block that is indented deeper, trailing blank lines left out."""
    last = first
    for number in range(first, len(lines)):
        words = lines[number].expandtabs()
        if words.strip() and len(words) - len(words.lstrip()) <= indent:
            break
        if words.strip():
            last = number + 1
    return last


def _block(text: str, start: int, end: int) -> Block:
    while option := _OPTION.match(text, start, end):
        start = option.end()
    return Block(text[start:end], start)


def _roles(text: str, start: int, end: int) -> Iterator[Found]:
    for match in _ROLE.finditer(text, start, end):
        if match[1] is not None:
            yield anchor(match[1], match.start(1), lambda at: line_of(text, at))
