"""Screening: how near a hypothesis comes to what is claimed, in floating point.

What a hypothesis changes is recomputed twice: from what is given, and from the claims before it,
as somebody does who goes on with rounded numbers. One that comes near is marked again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log2
from typing import TypeAlias

import numpy as np

from symattn.arithmetic.base import Array
from symattn.derivations import Evaluation, Place
from symattn.marking.sanity import sums_to_one
from symattn.marking.verdicts import StepMark
from symattn.mistakes.base import SENSELESS
from symattn.mistakes.evidence import Candidates, bits_against
from symattn.mistakes.hypotheses import Hypothesis
from symattn.mistakes.slips import Numbers

#: Verdicts that a claim has when it follows from a changed derivation, and when it is a mistake
#: of its own rather than one that follows from another.
FITTING = ("right", "truncated", "rounded-early")
MISTAKEN = ("wrong", "last-digit")

#: How far from a claim a screened number may be, in units of its last digit: recomputed from what
#: is given, and from the claims before it (with a share of the largest number in its matrix).
_FROM_GIVEN, _FROM_CLAIMS, _SHARE = 1.05, 2.05, 0.02

#: The numbers that a hypothesis gives mistaken entries, by letter and place.
Effect: TypeAlias = Mapping[tuple[str, Place], float]


@dataclass(frozen=True, eq=False)
class StepClaims:
    """The claims on one step: the numbers, which are mistakes of their own, and which are right."""

    candidates: Candidates
    mistaken: Array
    right: Array

    @classmethod
    def of(cls, evaluation: Evaluation, claims: Array, mark: StepMark) -> StepClaims:
        """The claims on a step as they are marked."""
        with np.errstate(all="ignore"):
            true = evaluation.array(mark.letter)
            candidates = Candidates(claims, true, sums_to_one(evaluation[mark.name].step))
        mistaken, right = np.zeros((2, *candidates.shape), dtype=bool)
        for entry in mark.entries:
            mistaken[entry.place] = entry.verdict in MISTAKEN
            right[entry.place] = entry.verdict in FITTING
        return cls(candidates, mistaken, right)

    @property
    def is_right(self) -> bool:
        """Whether everything that is claimed is right."""
        return bool((self.right | ~self.candidates.claimed).all())

    def rows_alone(self, near: Array) -> tuple[int, ...]:
        """The rows with mistakes, where all of them are as a misconception has them."""
        claimed, rows = self.candidates.claimed, self.mistaken.any(axis=-1)
        if claimed.ndim != 2:
            return ()
        fitting = (near | ~claimed).all(axis=-1)
        if rows.all() or not (fitting | ~rows).all():
            return ()
        return tuple(int(row) for row in np.flatnonzero(rows))


@dataclass(frozen=True, eq=False)
class _Step:
    """A claimed step that a hypothesis reaches: its numbers from what is given, and from claims."""

    letter: str
    claims: StepClaims
    #: Whether the hypothesis changes the step itself.
    own: bool
    given: Array
    again: Array

    @cached_property
    def near(self) -> Array:
        """The claims that one of the numbers may round to."""
        candidates = self.claims.candidates
        value, again = (np.broadcast_to(x, candidates.shape) for x in (self.given, self.again))
        largest = np.abs(value[np.isfinite(value)]).max(initial=0.0)
        slack = 1e-9 * largest
        first = np.abs(value - candidates.claims) <= _FROM_GIVEN * candidates.units + slack
        # a number far larger than any claim shows nothing of how well the others fit
        rounded = (candidates.units > 0) * _SHARE * min(largest, candidates.largest)
        reach = _FROM_CLAIMS * candidates.units + rounded + slack
        near = np.isfinite(value) & (first | (np.abs(again - candidates.claims) <= reach))
        out: Array = candidates.claimed & np.where(candidates.hidden, np.isneginf(value), near)
        return out

    @cached_property
    def fits(self) -> Array:
        """The mistaken entries that are reproduced."""
        return np.asarray(self.near & self.claims.mistaken)

    @cached_property
    def off(self) -> Array:
        """The entries that are right and would be changed."""
        return np.asarray(self.claims.right & ~self.near)

    @cached_property
    @np.errstate(all="ignore")
    def value(self) -> Array:
        """Of both numbers the nearer one."""
        claims = self.claims.candidates.claims
        closer = np.abs(self.again - claims) < np.abs(self.given - claims)
        return np.where(closer, self.again, self.given)

    @property
    @np.errstate(all="ignore")
    def distance(self) -> float:
        """How far it is from the mistaken entries that it reproduces, at most, in units."""
        candidates = self.claims.candidates
        off = np.abs(self.value - candidates.claims)[self.fits] / candidates.steps[self.fits]
        return float(off[np.isfinite(off)].max(initial=0.0))

    @property
    @np.errstate(all="ignore")
    def touches(self) -> bool:
        """Whether a claimed number is another than the true one."""
        candidates = self.claims.candidates
        least = 1e-9 * max(1.0, candidates.largest)
        other = (np.abs(self.value - candidates.true) > least) | ~np.isfinite(self.value)
        return bool((other & candidates.claimed).any())

    @property
    def is_lost(self) -> bool:
        """Whether there is no number where one is mistaken."""
        known = np.isfinite(self.claims.candidates.true) & self.claims.mistaken
        return bool((~np.isfinite(self.value) & known).any())

    @property
    @np.errstate(all="ignore")
    def exact(self) -> bool:
        """Whether every claim rounds its number, and no number is half-way between two."""
        candidates = self.claims.candidates
        if self.given.shape != candidates.shape:
            return False
        at = candidates.claimed
        off = np.abs(self.given[at] - candidates.claims[at])
        near = off < 0.499999 * candidates.units[at]
        return bool(np.where(candidates.hidden[at], np.isneginf(self.given[at]), near).all())


@dataclass(frozen=True, eq=False)
class Comparison:
    """How near a hypothesis comes to the claims, in the claimed steps that it reaches, in order.

    None of its properties holds of one that makes no sense (`senseless`).
    """

    steps: tuple[_Step, ...] = ()
    #: The letters of claimed steps that are not right in every entry.
    wrong: frozenset[str] = frozenset()
    senseless: bool = False

    @cached_property
    def fixed(self) -> Effect:
        """The numbers of the mistaken entries that it reproduces."""
        return {
            (step.letter, place): float(step.value[place])
            for step in self.steps
            for place in zip(*map(np.ndarray.tolist, np.nonzero(step.fits)), strict=True)
        }

    @property
    def distance(self) -> float:
        """How far its numbers are from those that it reproduces, at most, in units."""
        return max((step.distance for step in self.steps), default=0.0)

    @cached_property
    def broken(self) -> int:
        """How many entries that are right it would change."""
        return int(self.senseless) + sum(int(step.off.sum()) for step in self.steps)

    @cached_property
    def direct(self) -> bool:
        """Whether one of these is in a step that it changes itself."""
        return self.senseless or any(step.own and step.off.any() for step in self.steps)

    @property
    def rows(self) -> tuple[int, ...]:
        """The rows of the first claimed step in which it fits, where it does not fit the others."""
        first = self.steps[0] if self.steps else None
        if first is None or not (first.off.any() and first.fits.any()):
            return ()
        return first.claims.rows_alone(first.near)

    @cached_property
    def touches(self) -> bool:
        """Whether it changes any claimed entry."""
        return self.senseless or any(step.touches for step in self.steps)

    @cached_property
    def exact(self) -> bool:
        """Whether all its numbers, recomputed from what is given, round to what is claimed."""
        reached = {step.letter for step in self.steps}
        every = all(step.exact for step in self.steps)
        return bool(self.steps) and every and not self.broken and self.wrong <= reached

    def is_lost(self, first: str) -> bool:
        """Whether it has no number where the step with this letter is mistaken."""
        return self.senseless or any(s.letter == first and s.is_lost for s in self.steps)

    def same(self, other: Comparison) -> bool:
        """Whether two hypotheses change every claimed number alike."""
        return len(self.steps) == len(other.steps) and all(
            one.value.shape == two.value.shape
            and np.allclose(one.value, two.value, rtol=1e-9, atol=1e-12)
            for one, two in zip(self.steps, other.steps, strict=True)
        )


class Screen:
    """The claims of one sheet as they are marked, which hypotheses are held against."""

    def __init__(
        self,
        evaluation: Evaluation,
        claims: Mapping[str, Array],
        marks: Sequence[StepMark],
    ) -> None:
        self.evaluation = evaluation
        self.numbers = Numbers(evaluation, claims, own=True)
        self.steps = {
            mark.letter: StepClaims.of(evaluation, claims[mark.letter], mark) for mark in marks
        }
        self.wrong = frozenset(x for x, step in self.steps.items() if not step.is_right)
        self.claimed = sum(int(step.candidates.claimed.sum()) for step in self.steps.values())
        self.mistaken = sum(int(step.mistaken.sum()) for step in self.steps.values())

    @cached_property
    def candidates(self) -> Mapping[str, Candidates]:
        """The claims by letter."""
        return {letter: step.candidates for letter, step in self.steps.items()}

    def is_refuted(self, hypothesis: Hypothesis) -> bool:
        """Whether the first claimed step that a hypothesis reaches is right in every entry."""
        step = next((self.steps[x] for x in hypothesis.reached if x in self.steps), None)
        return step is None or bool(step.candidates.claimed.all() and step.right.all())

    def compare(self, hypothesis: Hypothesis) -> Comparison:
        """How near a changed derivation comes to the claims."""
        if self.is_refuted(hypothesis):
            return Comparison()
        found: list[_Step] = []
        arrays, arithmetic = self.evaluation, self.evaluation.arithmetic
        given = hypothesis.followed(arrays, arrays.array, arithmetic)
        again = hypothesis.followed(arrays, self.numbers.taken, arithmetic, self._kept)
        with np.errstate(all="ignore"):
            try:
                for (step, one), (_, other) in zip(given, again, strict=True):
                    claims = self.steps.get(step.letter)
                    if claims is None:
                        continue
                    now = _Step(step.letter, claims, step.name in hypothesis.steps, one, other)
                    found.append(now)
                    so_far = Comparison(tuple(found), self.wrong)
                    nothing = now.off.any() and not now.fits.any()
                    if nothing and (so_far.direct or not so_far.fixed):
                        break
            except SENSELESS:  # no sense on its own; with another change it may have
                return Comparison(senseless=True)
        return Comparison(tuple(found), self.wrong)

    def _kept(self, letter: str, value: Array) -> Array:
        """A value as later steps read it: with the claims where there are some."""
        return self.candidates[letter].filled_in(value) if letter in self.steps else value

    # ---- evidence ---------------------------------------------------------------------------

    def evidence(self, fixed: Effect, effects: Sequence[Effect], more: float = 0.0) -> float:
        """Bits of the entries reproduced, less those of the effects that were tried."""
        if len(fixed) != 1:
            return self.bits(fixed) - log2(max(len(effects), 1)) - more
        ((letter, place),) = fixed
        tried = [effect[letter, place] for effect in effects if (letter, place) in effect]
        meant = float(self.numbers.computed(letter)[place])
        return bits_against(self.candidates[letter].chance(place, tried, meant)) - more

    def bits_of(self, letter: str, place: Place) -> float:
        """The bits of one claimed entry."""
        meant = float(self.numbers.computed(letter)[place])
        return self.candidates[letter].bits(place, meant)

    def bits(self, fixed: Iterable[tuple[str, Place]]) -> float:
        """The bits of claimed entries; the last of a row that sums to 1 tells nothing."""
        rows: dict[tuple[str, Place], list[Place]] = {}
        for letter, place in fixed:
            rows.setdefault((letter, place[:-1]), []).append(place)
        total = 0.0
        for (letter, _), places in rows.items():
            bits = [self.bits_of(letter, place) for place in places]
            total += sum(bits) - (max(bits) if self.candidates[letter].sums_to_one(places) else 0)
        return total


def alike(one: Effect, other: Effect) -> bool:
    """Whether two hypotheses give the same numbers."""
    return one.keys() == other.keys() and all(
        abs(value - other[key]) <= 1e-9 * max(1.0, abs(value)) for key, value in one.items()
    )
