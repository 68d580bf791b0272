"""How each verdict is worded and shown, in every report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True)
class Bounds:
    """How much a report shows where it leaves something out."""

    #: Numbers under a table, or of a file: of their own, and of those that follow from others.
    listed: int = 8
    carried: int = 3
    heads: int = 4
    explanations: int = 3
    #: Rows and columns with wrong numbers, in multiples of a notation's limit.
    wrong: int = 2
    #: The most names of files without claims that a screen has; other formats have all.
    names: int = 12
    #: A cell of the overview is not longer; what is below it has the whole name.
    cell: int = 160
    #: How many cells of a terminal a line takes, where it can be broken.
    width: int = 80


BOUNDS = Bounds()


class Wording(NamedTuple):
    """A verdict's sign beside a number, its words, and its tint behind a number in HTML.

    The tint is one of `TINTS` in `symattn.documents.page.colour`.
    """

    sign: str
    phrase: str
    tint: str


#: The wording of each verdict, in the order of `VERDICTS`.
WORDING: Mapping[str, Wording] = {
    "right": Wording(" ", "right", ""),
    "truncated": Wording("⌊", "cut off", "rounded"),
    "rounded-early": Wording("≈", "rounded early", "rounded"),
    "undecided": Wording("?", "undecided", "open"),
    "last-digit": Wording("±", "off in the last digit", "follows"),
    "carried": Wording("→", "follows from a mistake", "follows"),
    "wrong": Wording("✗", "wrong", "wrong"),
}


def of_count(verdict: str, count: int) -> str:
    """The phrase of a verdict as it goes with a count: ``follow from a mistake`` of 2."""
    words = WORDING[verdict].phrase
    return words if count == 1 else words.replace("follows", "follow")


def numbered(verdict: str, count: int) -> str:
    """How many numbers have a verdict.

    >>> numbered("wrong", 2), numbered("carried", 1), numbered("carried", 2)
    ('2 wrong', '1 follows from a mistake', '2 follow from a mistake')
    """
    return f"{count} {of_count(verdict, count)}"


def disagreement(entry: str, claimed: str, true: str, meaning: str) -> str:
    """The sentence about a number that is not right, where it stands alone."""
    reason = "" if meaning == WORDING["wrong"].phrase else f" ({meaning})"
    return f"{entry}: you wrote {claimed}; the true value is {true}{reason}"
