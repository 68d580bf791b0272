"""A page of prose with worksheets in it and numbers claimed where they stand.

Every syntax finds the same two things: a `Block`, which holds a worksheet, and an `Anchor`, a
number in the prose that claims to be an entry of the worksheet before it. Both know where they
stand in the file, to the character, so that a wrong number can be put right in place.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from symattn.errors import ReadError

#: What stands between the brackets of a claim: an entry, a relation, a number.
_CLAIM = re.compile(r"\s*([A-Za-z_]+(?:\[[^\[\]]*\])+)\s*(?:=|≈|≃|~=)\s*(\S(?:.*\S)?)\s*\Z", re.S)


@dataclass(frozen=True)
class Block:
    """The text of a worksheet and where it begins in the file.

    `places` says where each of its characters stands, if not one after the other. A block may
    name a worksheet `file` beside the page instead of holding one.
    """

    text: str
    start: int
    file: str = ""
    places: Callable[[int], int] | None = None

    def place(self, at: int) -> int:
        """Where a character of the text stands in the file."""
        return self.start + at if self.places is None else self.places(at)


@dataclass(frozen=True)
class Anchor:
    """A number in the prose: which entry it claims, its text, and where that stands."""

    key: str
    number: str
    start: int


Found: TypeAlias = "Block | Anchor"

#: More lines than this are too many for a page of prose.
MAX_LINES = 50_000

#: A syntax: the text of a page to what stands in it, in order.
Syntax: TypeAlias = Callable[[str], Iterator[Found]]


def anchor(inside: str, start: int, line: Callable[[int], int]) -> Anchor:
    """The claim in a role's text, ``weights[1,2] = 0.47``, which starts at `start`.

    Raises `ReadError`, which begins with the line, for a text that is no claim.
    """
    match = _CLAIM.match(inside)
    if match is None:
        raise ReadError(
            f"{line(start)}: {inside[:40]!r} is no claim; write e.g. weights[1,2] = 0.47"
        )
    return Anchor(one_line(match[1]), match[2], start + match.start(2))


def one_line(key: str) -> str:
    """A key that a page may have broken over lines."""
    return " ".join(key.split())


def line_of(text: str, place: int) -> int:
    """The line that a place in a text is on, from 1."""
    return place_of(text, place)[0]


def place_of(text: str, place: int) -> tuple[int, int]:
    """Line and column of a place in a text, both from 1."""
    starts = _line_starts(text)
    line = bisect_right(starts, place)
    return line, place - starts[line - 1] + 1


@lru_cache(maxsize=1)
def _line_starts(text: str) -> tuple[int, ...]:
    return (0, *(match.end() for match in re.finditer("\n", text)))
