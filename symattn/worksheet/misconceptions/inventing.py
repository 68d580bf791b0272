"""Habits that no formula reproduces: numbers made up, or mended so that they look right.

Adding one is adding a row here, and the test that shows it in a step's marks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from symattn.nodes.lines import LineQuotient
from symattn.nodes.normalise import Normaliser
from symattn.step import Item, Step
from symattn.worksheet.marking.verdicts import EntryMark, StepMark


@dataclass(frozen=True)
class Habit:
    """What shows in the numbers of one step, though no changed formula gives them."""

    name: str
    instead: str
    tell: str
    source: str
    shows: Callable[[Item, StepMark], bool]


def sums_to_one(item: Item) -> bool:
    """Whether every row of a step sums to 1 by its definition."""
    expr = item.expr if isinstance(item, Step) else None
    if isinstance(expr, Normaliser):
        return expr.sums_to_one
    return isinstance(expr, LineQuotient)


def full_rows(mark: StepMark) -> Iterator[list[EntryMark]]:
    """The rows that are claimed whole, in decimals."""
    rows: dict[tuple[int, ...], list[EntryMark]] = {}
    for entry in mark.entries:
        rows.setdefault(entry.place[:-1], []).append(entry)
    for row in rows.values():
        if len(row) == mark.shape[-1] and all(e.claimed.places is not None for e in row):
            yield row


def row_sum(row: list[EntryMark]) -> tuple[Fraction, Fraction]:
    """The sum of a row as claimed, and how far rounding may have moved it."""
    claims = [entry.claimed for entry in row]
    total = sum((Fraction(int(c.number.p), int(c.number.q)) for c in claims), Fraction(0))
    spread = sum((Fraction(int(c.unit.p), int(c.unit.q)) / 2 for c in claims), Fraction(0))
    return total, spread


def _invented(item: Item, mark: StepMark) -> bool:
    if not sums_to_one(item) or mark.verdict != "wrong":
        return False
    wrong = [row for row in full_rows(mark) if sum(e.verdict == "wrong" for e in row) > 1]
    sums = [row_sum(row) for row in wrong]
    return bool(sums) and all(abs(total - 1) <= spread for total, spread in sums)


def _forced(item: Item, mark: StepMark) -> bool:
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
        "weights that sum to 1, but fit no formula that was tried",
        "Raise e to each score, and divide by the sum of the row.",
        "published worked examples",
        _invented,
    ),
)
