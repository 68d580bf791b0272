"""How each verdict is worded and shown, in every report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


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
