"""The one family of errors that symattn raises on purpose.

A message is one line: where, what is wrong, and how to mend it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class SymattnError(ValueError):
    """Something given to symattn cannot be used; the message says where and how to mend it."""


class ShapeError(SymattnError):
    """Two shapes do not fit; the message names the step, both shapes and the fix."""


class ReadError(SymattnError):
    """A text (number, expression, file) cannot be read."""


class CannotSpell(SymattnError):
    """An expression has no spelling here; nothing is printed rather than something wrong."""


class Undecided(SymattnError):
    """No procedure decided the question; the message gives the precision that was tried."""


def shown(value: object) -> str:
    """A short picture of a wrong value in a message, as a worksheet would write it."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():  # a line stays one line
            text = f'"{" ".join(value.splitlines())}"'
        case dict():
            return "a table"
        case list() | tuple():
            return "a list"
        case _:
            text = str(value)
    return text if len(text) <= 50 else f"{text[:47]}…"


def counted(count: int, noun: str) -> str:
    """How many of them: ``1 head``, ``3 heads``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def nearest(word: str, known: Iterable[str]) -> str:
    """A hint for a misspelt name: ``; did you mean "scores"?`` or the list of known names."""
    names = list(known)
    if close := close_to(word, names):
        return f'; did you mean "{close}"?'
    few = names if len(names) <= 30 else [*names[:30], "…"]
    return f"; known: {', '.join(few)}" if names else ""


def close_to(word: str, known: Iterable[str]) -> str:
    """The known name that a misspelt one is closest to, or nothing."""
    lowered = {name.lower(): name for name in known}
    close = difflib.get_close_matches(word.lower()[:60], list(lowered)[:2000], n=1, cutoff=0.6)
    return lowered[close[0]] if close else ""
