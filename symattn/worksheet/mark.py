"""Marking: a verdict for every claimed entry, each one a proof.

The verdict is the first that holds of: ``right`` (a correct rounding of the true value at the
written digits), ``carried`` (follows from the claims before it, one of which is wrong),
``rounded-early`` (follows from the claims before it, none of which is worse than rounded or cut
off), ``truncated`` (cut off instead of rounded), ``last-digit`` (within one unit of the last
place) and ``wrong``; ``undecided`` only where no procedure decides, with the bits tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from symattn.arithmetic.balls import BITS
from symattn.arithmetic.base import Array
from symattn.arithmetic.decide import Digits
from symattn.arithmetic.verify import Quantity, cuts_to, near, overlaps, rounds_to, surely_rounds
from symattn.arithmetic.written import Written
from symattn.derivation import Evaluation, Place
from symattn.errors import SymattnError, Undecided
from symattn.evaluate.carried import Carried, Read
from symattn.notation.options import MAX_DIGITS, Notation
from symattn.worksheet.claims import VERDICTS, Policy

_RANK = {verdict: rank for rank, verdict in enumerate(VERDICTS)}

#: From this rank on, what was claimed is a mistake that later steps carry on.
_MISTAKEN = _RANK["last-digit"]

#: Digits that the true value is shown with beyond those claimed.
_MORE_DIGITS = 2


@dataclass(frozen=True)
class EntryMark:
    """One claimed entry and its verdict; `place` counts from 0, (head,) row, column."""

    step: str
    place: Place
    claimed: Written
    verdict: str
    #: Why there is no verdict, or why a claim that follows earns nothing.
    remark: str = ""
    #: The claimed entries that it follows from: the mistaken ones of a carried entry, and all
    #: claimed ones of an entry that was rounded early.
    because: tuple[EntryMark, ...] = ()

    @property
    def index(self) -> tuple[int, ...]:
        """The place as worksheets count it, from 1."""
        return tuple(i + 1 for i in self.place)

    def __str__(self) -> str:
        return f"{self.step}[{','.join(map(str, self.index))}]"


@dataclass(frozen=True)
class StepMark:
    """A step's marks; its verdict is the worst of its entries'."""

    name: str
    letter: str
    shape: tuple[int, ...]
    entries: tuple[EntryMark, ...]

    @cached_property
    def verdict(self) -> str:
        """The worst verdict of its entries."""
        return max((entry.verdict for entry in self.entries), key=_RANK.__getitem__)


class Marker:
    """Marks the claims on one evaluated derivation."""

    def __init__(self, evaluation: Evaluation, claims: Mapping[str, Array], policy: Policy) -> None:
        self.evaluation, self.claims, self.policy = evaluation, claims, policy
        self.carried = Carried(evaluation, claims)
        self._verdicts: dict[Read, str] = {}
        self._steps: dict[str, int] = {}  # the rank of each step's worst entry so far

    def marks(self) -> tuple[StepMark, ...]:
        """The marks of all claimed steps, in the order of the derivation."""
        return tuple(
            StepMark(name, item.step.letter, item.shape, tuple(self._step(name, item.step.letter)))
            for name in self.evaluation
            if (item := self.evaluation[name]).step.letter in self.claims
            and any(written is not None for written in self.claims[item.step.letter].ravel())
        )

    def _step(self, name: str, letter: str) -> Iterator[EntryMark]:
        claimed = self.claims[letter]
        true = self.evaluation.balls(letter, BITS[0])
        for place in np.ndindex(*claimed.shape):
            written: Any = claimed[place]
            if written is None:
                continue
            verdict, remark = "right", ""
            if self.policy.rounding == "truncated" or not surely_rounds(true[place], written):
                verdict, remark = self.judge(letter, place, written)
            self._verdicts[letter, place] = verdict
            self._steps[letter] = max(self._steps.get(letter, 0), _RANK[verdict])
            if verdict == "truncated":
                self.carried.cut.add((letter, place))
            yield EntryMark(name, place, written, verdict, remark)

    def judge(self, letter: str, place: Place, written: Written) -> tuple[str, str]:
        """The verdict on a number at a place, after the claims before it, and a remark."""
        try:
            return self._verdict(letter, place, written)
        except Undecided as open_question:
            return "undecided", str(open_question)

    def _verdict(self, letter: str, place: Place, written: Written) -> tuple[str, str]:
        x = true_value(self.evaluation, letter, place)
        if rounds_to(x, written, self.policy.rounding):
            return "right", ""
        earned, remark = "", ""
        places = written.places or 0
        if self._follows(letter, place, written):
            earned, remark = self._earned(letter, place)
        if earned:
            return earned, ""
        if places >= 1 and cuts_to(x, written):
            return "truncated", remark
        if places >= 1 and self._cut_from(letter, place, written):
            earned, remark = self._earned(letter, place)
        if earned:
            return earned, ""
        if places >= 2 and near(x, written):
            return "last-digit", remark
        return "wrong", remark

    def _follows(self, letter: str, place: Place, written: Written) -> bool:
        """Whether an entry follows from the claims before it, or from what they were rounded from.

        Where those make no sense (a row that sums to 0), nothing follows from them.
        """
        try:
            again = self.carried.quantity(letter, place)
            try:
                if rounds_to(again, written, self.policy.rounding):
                    return True
            except Undecided:
                pass  # the range around it holds it
            return overlaps(self.carried.range(letter, place), written)
        except Undecided:
            raise
        except SymattnError:
            return False

    def _cut_from(self, letter: str, place: Place, written: Written) -> bool:
        """Whether an entry is what follows from the claims before it, cut off."""
        try:
            return cuts_to(self.carried.quantity(letter, place), written)
        except SymattnError:
            return False

    def _earned(self, letter: str, place: Place) -> tuple[str, str]:
        """The verdict on an entry that follows; "" where nothing is claimed before it.

        Where the claims before it earn nothing, also why.
        """
        sources = tuple(self.carried.sources(letter, place))
        if not sources:
            return "", ""
        remark = self._nothing_earned(sources)
        if remark:
            return "", remark
        worst = max(self._steps[letter] for letter, _ in sources)
        return ("carried" if worst >= _MISTAKEN else "rounded-early"), ""

    def _nothing_earned(self, sources: tuple[Read, ...]) -> str:
        """Why what follows from these claims earns nothing: rows all alike that should not be."""
        for letter, place in sources:
            if _RANK[self._verdicts[letter, place]] < _MISTAKEN:
                continue
            row = [entry for entry in self.claims[letter][place[:-1]] if entry is not None]
            if len({entry.value for entry in row}) == 1 and (len(row) > 1 or row[0].value == 0):
                name = self.evaluation[letter].name
                where = f"{name}[{','.join(str(i + 1) for i in place[:-1])},:]"
                alike = "all zeros" if row[0].value == 0 else "all alike"
                return f"follows only from {where}, which is {alike} and earns nothing"
        return ""


def true_value(evaluation: Evaluation, letter: str, place: Place) -> Quantity:
    """The true value of an entry."""
    return Quantity(
        lambda bits: evaluation.balls(letter, bits)[place],
        lambda: evaluation.exact(letter)[place],
    )


def true_digits(evaluation: Evaluation, mark: StepMark, entry: EntryMark) -> Digits:
    """The true value of a claimed entry, with a few digits more than were claimed."""
    places = entry.claimed.places
    wanted = 4 if places is None else min(max(places + _MORE_DIGITS, 0), MAX_DIGITS)
    return evaluation.digits(mark.letter, entry.place, Notation(digits=wanted))


def rank(verdict: str) -> int:
    """How bad a verdict is; 0 is right."""
    return _RANK[verdict]


def summary(marks: tuple[StepMark, ...]) -> dict[str, int]:
    """How many entries have each verdict."""
    counts: dict[str, int] = {}
    for mark in marks:
        for entry in mark.entries:
            counts[entry.verdict] = counts.get(entry.verdict, 0) + 1
    return {verdict: counts[verdict] for verdict in VERDICTS if verdict in counts}
