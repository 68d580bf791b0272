"""Markdown and MyST: a fenced block ``symattn`` holds a worksheet, a role ``{claim}`` a number.

A role inside other code (a fence, a longer run of backticks) is an example of one, and is left
alone; where blocks begin and end is markdown-it's business.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from symattn.worksheet.pages.page import Block, Found, anchor, line_of

_INFO = re.compile(r"(?:\{(?:symattn|attention)\}|(?:toml\s+)?symattn\b)\s*(\S+\.toml)?")
_RUN = re.compile(r"`+")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_OPTION = re.compile(r":[\w-]+:[^\n]*\n")


def markdown(text: str) -> Iterator[Found]:
    """Worksheets and claims of a Markdown page, in order."""
    done = 0
    for first, last, block in fences(text):
        yield from _roles(text, done, first)
        if block is not None:
            yield block
        done = last
    yield from _roles(text, done, len(text))


def fences(text: str) -> Iterator[tuple[int, int, Block | None]]:
    """Where each block of code begins and ends, with the worksheet that it is, if it is one."""
    from markdown_it import MarkdownIt

    starts = [0, *(match.end() for match in re.finditer("\n", text)), len(text)]
    done = 0
    for token in MarkdownIt("commonmark").parse(text.replace("\r", " ")):
        if token.type not in ("fence", "code_block") or token.map is None:
            continue
        first, last = (starts[min(line, len(starts) - 1)] for line in token.map)
        if first < done:
            continue
        info = _INFO.match(token.info.strip()) if token.type == "fence" else None
        block = None
        if info is not None:
            named = info[1]
            block = Block("", first, file=named) if named else _block(text, first, last)
        yield first, last, block
        done = last


def _block(text: str, first: int, last: int) -> Block | None:
    """The worksheet inside a fence, after the directive's options."""
    inside = text.index("\n", first) + 1
    while option := _OPTION.match(text, inside, last):
        inside = option.end()
    end = text.rfind("\n", inside, max(last - 1, inside))
    body = text[inside : end + 1 if end >= 0 else last]
    if "[given]" in body or "[attention]" in body:  # a MyST admonition is called attention too
        return Block(body, inside)
    return None


def _roles(text: str, start: int, end: int) -> Iterator[Found]:
    """The claims between two places, code spans and comments passed over."""
    comments = [match.span() for match in _COMMENT.finditer(text, start, end)]
    place = start
    while run := _RUN.search(text, place, end):
        close = _closing(text, run, end)
        if close is None:
            place = run.end()
            continue
        role = text[: run.start()].endswith("{claim}") and len(run[0]) == 1
        if role and not any(a <= run.start() < b for a, b in comments):
            yield anchor(text[run.end() : close], run.end(), lambda at: line_of(text, at))
        place = close + len(run[0])


def _closing(text: str, run: re.Match[str], end: int) -> int | None:
    """Where the run of backticks that closes this one begins, in the same paragraph."""
    stop = text.find("\n\n", run.end(), end)
    for other in _RUN.finditer(text, run.end(), stop if stop >= 0 else end):
        if len(other[0]) == len(run[0]):
            return other.start()
    return None
