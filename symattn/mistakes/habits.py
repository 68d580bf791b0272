"""Habits: weights that were made up, or changed so that they look right.

No formula reproduces these. A new one is a row of `HABITS` and its test on a step's marks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from symattn.marking.sanity import full_rows, row_sum, sums_to_one
from symattn.marking.verdicts import StepMark
from symattn.mistakes.base import Mistake
from symattn.step import Item


@dataclass(frozen=True)
class Habit(Mistake):
    """A habit: what is done instead, what to tell, where it is known from, and how it shows.

    `shows` says of a step and its marks whether the claimed numbers look like it.
    """

    source: str
    shows: Callable[[Item, StepMark], bool]


def _invented(item: Item, mark: StepMark) -> bool:
    """Whether rows have several wrong weights, and all rows sum to 1 within their rounding.

    A number that was rounded too coarsely is none of these. Where the rounding of a row may add up
    to 1/2 its sum shows nothing, unless it is 1.
    """
    if not sums_to_one(item) or mark.verdict != "wrong":
        return False
    own = [
        sum(entry.verdict == "wrong" and not entry.is_coarse for entry in row)
        for row in full_rows(mark)
    ]
    sums = [(*row_sum(row), any(e.verdict != "right" for e in row)) for row in full_rows(mark)]
    return max(own, default=0) > 1 and all(
        total == 1
        or abs(total - 1) <= rounding < Fraction(1, 2)
        # a query with nothing to attend to
        or (total == 0 and rounding < Fraction(1, 2) and not mistaken)
        for total, rounding, mistaken in sums
    )


def _forced(item: Item, mark: StepMark) -> bool:
    """Whether the rows with a last digit that is off sum to exactly 1."""
    if not sums_to_one(item) or mark.verdict != "last-digit":
        return False
    forced = [row for row in full_rows(mark) if any(e.verdict == "last-digit" for e in row)]
    return bool(forced) and all(row_sum(row)[0] == 1 for row in forced)


HABITS: tuple[Habit, ...] = (
    Habit(
        "last-digit-forced",
        "a last digit is changed so that the row sums to exactly 1",
        "Correctly rounded weights need not sum to exactly 1; leave the digits as they are.",
        "published worked examples",
        _forced,
    ),
    Habit(
        "invented",
        "the weights sum to 1, but match no formula that was tried",
        "Raise e to each score, then divide by the sum of the row.",
        "published worked examples",
        _invented,
    ),
)
