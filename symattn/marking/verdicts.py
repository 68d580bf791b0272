"""Marking: a verdict for every claimed entry, each one a proof.

The verdict is the first that holds of: ``right`` (a correct rounding of the true value at the
written digits), ``carried`` (follows from the claims before it, one of which is wrong),
``rounded-early`` (follows from the claims before it, none of which is worse than rounded or cut
off), ``truncated`` (cut off instead of rounded), ``last-digit`` (within one unit of the last
place) and ``wrong``; ``undecided`` only where no procedure decides, with the bits tried.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import groupby

import sympy

from symattn.arithmetic.base import Array
from symattn.arithmetic.decide import Digits
from symattn.arithmetic.enclosure import BITS
from symattn.arithmetic.quantity import Quantity
from symattn.arithmetic.verify import (
    cuts_to,
    near,
    rounds_to,
    surely_apart,
    surely_rounds,
)
from symattn.arithmetic.written import Written
from symattn.claims.computed import in_order
from symattn.claims.entry_names import entry_name
from symattn.claims.policy import VERDICTS, Policy
from symattn.derivations import Evaluation, Place
from symattn.errors import SymattnError, Undecided
from symattn.evaluate.worked import worked
from symattn.marking.chains import Chains, Claimed, ClaimKey, Proven
from symattn.notation.options import MAX_DIGITS, Notation
from symattn.notation.tree import Tree

_RANK = {verdict: rank for rank, verdict in enumerate(VERDICTS)}

#: Digits that the true value is shown with beyond those claimed.
MORE_DIGITS = 2

#: The remarks on a number that is cut off where no other one is, and where others are rounded.
_CUT_OFF_ONCE = "no other number is cut off, so it may be a mistake"
_CUT_OFF_BESIDE = "other numbers are rounded, so it may be a mistake"

#: The remark on a number that was rounded so coarsely that what was computed from it is wrong.
_COARSE = "it is rounded too coarsely to be computed with"


@dataclass(frozen=True)
class EntryMark:
    """One claimed entry and its verdict; `place` counts from 0, (batch, head,) row, column."""

    step: str
    place: Place
    claimed: Written
    verdict: str
    #: Why it is undecided, or wrong although it follows from the claims before it.
    remark: str = ""
    #: How the worksheet counts and turns entries, for its name: ``weights[1,2]``.
    notation: Notation = field(default=Notation(), repr=False, compare=False)
    #: Finds the entries of `because`, when these are asked for.
    find_origins: Callable[[], tuple[EntryMark, ...]] = field(
        default=tuple, repr=False, compare=False
    )

    @property
    def is_coarse(self) -> bool:
        """Whether it is a mistake only because it was rounded so coarsely and then used so."""
        return self.remark == _COARSE

    @cached_property
    def because(self) -> tuple[EntryMark, ...]:
        """The claimed entries that it follows from.

        Of a carried entry the mistaken ones, of one that was rounded early all of them.
        """
        return self.find_origins()

    def __str__(self) -> str:
        return entry_name(self.step, self.place, self.notation)


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

    @cached_property
    def _claimed(self) -> dict[str, Claimed]:
        """The claims on each matrix, in the order of the derivation."""
        return {
            letter: Claimed(
                self.claims[letter],
                partial(self.evaluation.array, letter),
                partial(self._proven, letter, self.evaluation.balls(letter, BITS[0])),
            )
            for letter in in_order(self.evaluation, self.claims)
        }

    @cached_property
    def chains(self) -> Chains | None:
        """How the claims follow from one another; None where every one of them is right."""
        if all(claimed.right.all() for claimed in self._claimed.values()):
            return None
        return Chains(self.evaluation, self._claimed, self.policy.rounding)

    def marks(self) -> tuple[StepMark, ...]:
        """The marks of all claimed steps, in the order of the derivation."""
        found: list[StepMark] = []
        for letter, group in groupby(self._marks.items(), key=lambda pair: pair[0][0]):
            item = self.evaluation[letter]
            entries = tuple(entry for _, entry in group)
            found.append(StepMark(item.name, letter, item.shape, entries))
        return tuple(found)

    @cached_property
    def _marks(self) -> dict[ClaimKey, EntryMark]:
        """The mark of every claim, in the order of the derivation."""
        chains, found = self.chains, dict[ClaimKey, EntryMark]()
        #: What was not computed, and what follows only from that.
        baseless: set[ClaimKey] = set()
        for letter, claimed in self._claimed.items():
            if chains is not None:
                baseless |= {(letter, n) for n in chains.uncomputed(letter)}
            name, notation = self.evaluation.item(letter).name, self.evaluation.notation
            for number, (place, written) in enumerate(claimed):
                key, verdict, remark = (letter, number), "right", ""
                if chains is not None and key in chains.too_coarse:
                    verdict, remark = "wrong", _COARSE
                elif chains is not None and not claimed.right[number]:
                    verdict, remark = self._verdict(key, written, chains, baseless)
                origins = partial(self._origins, key, verdict)
                found[key] = EntryMark(name, place, written, verdict, remark, notation, origins)
        return found

    def judge(self, letter: str, place: Place, written: Written) -> EntryMark:
        """The mark of a number if it were claimed at this place, instead of what is."""
        known = self.claims[letter][place]
        marker = self
        if known is None or known.text != written.text:
            instead = {**self.claims, letter: self.claims[letter].copy()}
            instead[letter][place] = written
            marker = Marker(self.evaluation, instead, self.policy)
        (mark,) = (m for m in marker.marks() if m.letter == letter)
        (entry,) = (entry for entry in mark.entries if entry.place == place)
        return entry

    @property
    def style(self) -> str:
        """How numbers were kept and rounded, where that explains one that is not right."""
        if self.chains is None:
            return ""
        excused = {mark.verdict for mark in self._marks.values() if not mark.remark}
        excused &= {"truncated", "rounded-early"}
        if not excused:
            return ""
        if "rounded-early" not in excused:
            return "Digits were cut off, not rounded."
        return str(self.chains.best.style)

    def own_work(self, entry: EntryMark, notation: Notation) -> Tree | None:
        """How an entry follows from the claimed numbers before it, worked out with these.

        None where it does not, where these numbers make no sense together, and where it follows
        only from rounded numbers that nobody wrote down.
        """
        if self.chains is None or entry.verdict not in ("carried", "rounded-early"):
            return None
        if not self.chains.best.style.written_only:
            return None
        letter = self.evaluation[entry.step].step.letter
        item, (*heads, row, column) = self.evaluation.within(letter, entry.place)
        places = max(entry.claimed.places or 0, 0)
        try:
            evaluation = self.chains.own_work(letter)
            if evaluation is None:
                return None
            if item:
                evaluation = evaluation.of_batch(*item)
            own = notation.but(digits=min(places, MAX_DIGITS)) if places else notation
            place = (*heads, row, column)
            if places and not _reads(evaluation.digits(letter, place, own), entry.claimed):
                return None  # at a tie it is rounded the other way
            step = evaluation.step(letter)
            assert step is not None
            seen = (column, row) if notation.convention == "columns" else (row, column)
            return worked(evaluation, step, *seen, heads[0] if heads else None, own)
        except SymattnError:
            return None

    def _proven(self, letter: str, true: Array, place: Place, written: Written) -> Proven:
        """Whether a claim is right, or cut off; `true` has balls of the true values."""
        rounding, right = self.policy.rounding, False
        if rounding != "truncated" and surely_rounds(true[place], written):
            return Proven(right=True)
        if surely_apart(true[place], written):
            return Proven(apart=True)
        x = true_value(self.evaluation, letter, place)
        try:
            right = rounds_to(x, written, rounding)
            return Proven(right, (written.places or 0) >= 1 and cuts_to(x, written))
        except Undecided as open_question:
            return Proven(right, undecided=str(open_question))

    def _origins(self, key: ClaimKey, verdict: str) -> tuple[EntryMark, ...]:
        """The claimed entries that a claim follows from."""
        if self.chains is None or verdict not in ("carried", "rounded-early"):
            return ()
        carried = verdict == "carried"
        claims = self.chains.mistakes.get(key, ()) if carried else self.chains.operands(key)
        return tuple(self._marks[claim] for claim in claims)

    def _verdict(
        self, key: ClaimKey, written: Written, chains: Chains, baseless: set[ClaimKey]
    ) -> tuple[str, str]:
        """The verdict on a claim that is not right, and a remark; what is baseless grows."""
        letter, number = key
        claimed, followed, remark = self._claimed[letter], chains.best[letter], ""
        proven = claimed.proven[number]
        if proven.undecided:
            return "undecided", proven.undecided
        if followed.explained[number]:
            if not followed.depends[number]:
                return self._unmistaken(key, chains)
            mistakes = chains.mistakes.get(key, ()) if baseless else ()
            first = next((claim for claim in mistakes if claim in baseless), None)
            if first is None:
                return "carried", ""
            baseless.add(key)
            remark = (
                f"it follows from {self.evaluation.item(first[0]).name}, which was not computed"
            )
        if proven.cut and not followed.depends[number]:
            return "truncated", _CUT_OFF_ONCE
        if proven.apart or (written.places or 0) < 2:
            return "wrong", remark
        try:
            close = near(true_value(self.evaluation, letter, claimed.places[number]), written)
        except Undecided as open_question:
            return "undecided", str(open_question)
        return ("last-digit" if close else "wrong"), remark

    def _unmistaken(self, key: ClaimKey, chains: Chains) -> tuple[str, str]:
        """The verdict on a claim that follows and depends on no mistake."""
        letter, number = key
        if not (self._claimed[letter].proven[number].cut and chains.best.style.cut):
            return "rounded-early", ""
        if chains.explained_only == 1:
            return "truncated", _CUT_OFF_ONCE
        cut, rounded = chains.cut_off
        return "truncated", _CUT_OFF_BESIDE if rounded >= cut else ""


def _reads(digits: Digits, claimed: Written) -> bool:
    """Whether digits read as the number that was claimed."""
    if not digits.proven or claimed.hidden or digits.text == "-inf":
        return digits.proven and claimed.hidden and digits.text == "-inf"
    return bool(sympy.Rational(digits.text) == claimed.value)


def true_value(evaluation: Evaluation, letter: str, place: Place) -> Quantity:
    """The true value of an entry."""
    return Quantity(
        lambda bits: evaluation.balls(letter, bits)[place],
        lambda: evaluation.exact(letter)[place],
    )


def true_digits(evaluation: Evaluation, mark: StepMark, entry: EntryMark) -> Digits:
    """The true value of a claimed entry, with a few digits more than were claimed."""
    places = entry.claimed.places
    wanted = 4 if places is None else min(max(places + MORE_DIGITS, 0), MAX_DIGITS)
    return evaluation.digits(mark.letter, entry.place, Notation(digits=wanted))


def rank(verdict: str) -> int:
    """How bad a verdict is; 0 is right."""
    return _RANK[verdict]


def verdict_counts(verdicts: Iterable[str]) -> dict[str, int]:
    """How often each verdict is among some."""
    counts = Counter(verdicts)
    return {verdict: counts[verdict] for verdict in VERDICTS if verdict in counts}
