"""reStructuredText: a directive ``symattn`` (or ``attention``) and a role ``:claim:``.

A comment ``.. claim`` says that the formulas, or the lines, of the paragraph behind it are claims.
Literal blocks, code directives, comments and double backquotes show examples and are left alone;
where all of these begin and end is read as docutils reads it, so that Sphinx agrees.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from symattn.errors import ReadError
from symattn.files.named import LIMITS
from symattn.pages.syntax import Found

_OURS = re.compile(r":claim:|\.\.[ \t]+claim|(?:symattn|attention)[ ]?::")


def restructured(text: str) -> Iterator[Found]:
    """Worksheets and claims of a reStructuredText page, in order.

    Raises `ReadError` for a page with too many lines, too long ones, or too many levels.
    """
    if not _OURS.search(text):
        return
    lines = text.splitlines()
    if len(lines) > LIMITS.lines:
        raise ReadError(f"1: more than {LIMITS.lines:,} lines are too many for a page")
    for number, line in enumerate(lines, 1):
        if len(line) > LIMITS.rst_line:
            raise ReadError(f"{number}: the line has more than {LIMITS.rst_line:,} characters")
    from symattn.pages.structure import found_in

    try:
        yield from found_in(text)
    except RecursionError:
        raise ReadError("1: its blocks are nested too deeply") from None
