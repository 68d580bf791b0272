"""reStructuredText: a directive ``symattn`` (or ``attention``) and a role ``:claim:``.

A comment ``.. claim`` says that the formulas, or the lines, of the paragraph behind it are claims.
Literal blocks, code directives, comments and double backquotes show examples and are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from symattn.errors import ReadError
from symattn.worksheet.syntaxes.page import (
    MAX_LINES,
    Block,
    Found,
    claimed,
    holds_worksheet,
    marked_lines,
)

_OURS = re.compile(r":claim:|\.\.[ \t]+claim|(?:symattn|attention)::")
_DIRECTIVE = re.compile(r"\.\.[ \t]+([\w.+:-]+?)::(?:\s|$)")
_COMMENT = re.compile(r"\.\.(?:[ \t]+(?![\[_|])|$)")
_MARK = re.compile(r"[ \t]*\.\.[ \t]+claim\s*\Z")
_MATH = re.compile(r"[ \t]*\.\.[ \t]+math::")
_ROLE = re.compile(r"``(?:[^`\n]|`(?!`)|\n(?![ \t\r]*\n))*+``|:claim:`([^`]*+)`")
_OPTION = re.compile(r"[ \t]+:[\w-]+:[^\n]*\n")
_LITERAL = ("code", "code-block", "sourcecode", "literalinclude", "parsed-literal", "raw")


def restructured(text: str) -> Iterator[Found]:
    """Worksheets and claims of a reStructuredText page, in order.

    Raises `ReadError` for a page with too many lines.
    """
    if not _OURS.search(text):
        return
    lines = text.splitlines(keepends=True)
    if len(lines) > MAX_LINES:
        raise ReadError(f"1: more than {MAX_LINES:,} lines are too many for a page")
    indents = [_indent(line) for line in lines]
    number, place, prose = 0, 0, 0
    while number < len(lines):
        name = _opened(lines[number].strip())
        here, number = place, number + 1
        place += len(lines[number - 1])
        if name is None:
            continue
        if _MARK.match(lines[number - 1]):
            yield from _roles(text, prose, here)
            while number < len(lines) and indents[number] is None:
                place, number = place + len(lines[number]), number + 1
            last = _marked(lines, indents, number)
            end = place + sum(map(len, lines[number:last]))
            start = place
            if number < len(lines) and (math := _MATH.match(lines[number])):
                start = place + math.end()
            yield from marked_lines(text, min(start, end), end)
            number, place, prose = last, end, end
            continue
        file = lines[number - 1].strip().partition("::")[2].strip()
        if _is_ours(name) and file.endswith(".toml"):
            yield from _roles(text, prose, here)
            yield Block("", here, file=file)
            prose = place
            continue
        last = _indented(indents, number)
        end = place + sum(map(len, lines[number:last]))
        if name == "attention" and not holds_worksheet(text[place:end]):
            continue
        yield from _roles(text, prose, place if name == "::" else here)
        if _is_ours(name):
            yield _block(text, place, end)
        number, place, prose = last, end, end
    yield from _roles(text, prose, len(text))


def _marked(lines: list[str], indents: list[int | None], first: int) -> int:
    """The line after the paragraph, or the formula, that begins on a line."""
    if first < len(lines) and _MATH.match(lines[first]):
        return _indented(indents, first + 1)
    last = first
    while last < len(lines) and indents[last] is not None:
        last += 1
    return last


def _opened(line: str) -> str | None:
    """What a line opens that is not prose: a directive by name, ``..`` a comment, ``::``."""
    directive = _DIRECTIVE.match(line)
    if directive is not None:
        name = directive[1]
        return name if name in _LITERAL or _is_ours(name) else None
    if _COMMENT.match(line):
        return ".."
    return "::" if line.endswith("::") and not line.startswith("..") else None


def _is_ours(name: str) -> bool:
    return name in ("symattn", "attention")


def _indent(line: str) -> int | None:
    """How far a line is indented, None for a blank one."""
    words = line.lstrip()
    return len(line[: len(line) - len(words)].expandtabs()) if words else None


def _indented(indents: list[int | None], first: int) -> int:
    """The line after the block that is indented deeper than the line before `first`.

    Blank lines at its end are left out.
    """
    outer, last = indents[first - 1] or 0, first
    for number in range(first, len(indents)):
        indent = indents[number]
        if indent is None:
            continue
        if indent <= outer:
            break
        last = number + 1
    return last


def _block(text: str, start: int, end: int) -> Block:
    while option := _OPTION.match(text, start, end):
        start = option.end()
    return Block(text[start:end], start)


def _roles(text: str, start: int, end: int) -> Iterator[Found]:
    for match in _ROLE.finditer(text, start, end):
        if match[1] is not None:
            yield claimed(match[1], match.start(1))
