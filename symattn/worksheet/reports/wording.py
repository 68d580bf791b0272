"""How each verdict is worded and shown, in every report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Wording(NamedTuple):
    """A verdict's sign beside a number, its words, and its tint behind a number in HTML."""

    sign: str
    phrase: str
    #: Behind black text with a contrast above 7 to 1; the sign says the verdict too.
    tint: str


#: The wording of each verdict, in the order of `VERDICTS`.
WORDING: Mapping[str, Wording] = {
    "right": Wording(" ", "right", ""),
    "truncated": Wording("⌊", "cut off", "#fff3c4"),
    "rounded-early": Wording("≈", "rounded early", "#fff3c4"),
    "undecided": Wording("?", "undecided", "#e5e5e5"),
    "last-digit": Wording("±", "off in the last digit", "#ffe0b3"),
    "carried": Wording("→", "follows from a mistake", "#ffe0b3"),
    "wrong": Wording("✗", "wrong", "#ffc9c9"),
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
