"""Explanations: which misconceptions would produce the wrong numbers.

From the first wrong step on, each row of `MISCONCEPTIONS` that applies is tried, then each pair.
NumPy screens: the changed steps are recomputed and those far from what was claimed are dropped.
What is left is certified: the worksheet is marked again, by the same marker, against the changed
derivation, and fits where every claim is a right, cut-off or early-rounded number of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from symattn.arithmetic.base import Array
from symattn.derivation import Derivation, Evaluation, Step
from symattn.errors import SymattnError
from symattn.worksheet.claims import Policy
from symattn.worksheet.mark import Marker, StepMark
from symattn.worksheet.misconceptions import MISCONCEPTIONS, Misconception, Steps
from symattn.worksheet.misconceptions.inventing import HABITS, Habit

#: Verdicts that a claim has when it follows from a changed derivation.
_FITTING = ("right", "truncated", "rounded-early")

#: How far from a claim a screened number may be, in units of its last digit: recomputed from what
#: is given, and from the claims before it (with a share of the largest number in its matrix).
_FROM_GIVEN, _FROM_CLAIMS, _SHARE = 1.05, 2.05, 0.02


@dataclass(frozen=True)
class Explanation:
    """Misconceptions that together would produce what was claimed.

    `fits` names the claimed steps, from the first wrong one on, that they reproduce; `whole` says
    whether those are all of them.
    """

    misconceptions: tuple[Misconception | Habit, ...]
    fits: tuple[str, ...]
    whole: bool

    @property
    def name(self) -> str:
        """The names, joined by ``+``."""
        return " + ".join(each.name for each in self.misconceptions)


@dataclass(frozen=True, eq=False)
class _Changed:
    """A derivation with some steps done differently."""

    misconceptions: tuple[Misconception, ...]
    steps: Mapping[str, Step]


class Explainer:
    """Tries misconceptions on one derivation at concrete sizes; made once, used for many sheets."""

    def __init__(self, derivation: Derivation, evaluation: Evaluation) -> None:
        sizes = {s: n for s, n in evaluation.sizes.items() if s.name not in ("h", "g")}
        heads = {s: n for s, n in evaluation.sizes.items() if s.name in ("h", "g")}
        self.derivation = replace(derivation.subs(sizes), sizes=heads)
        self.singles = tuple(self._singles())
        self._pairs: dict[tuple[_Changed, _Changed], tuple[_Changed, ...]] = {}
        self._first: dict[_Changed, Evaluation] = {}

    def _singles(self) -> Iterator[_Changed]:
        steps = Steps(self.derivation)
        for misconception in MISCONCEPTIONS:
            changed = _made(steps, misconception)
            if changed:
                yield _Changed((misconception,), changed)

    def pairs(self, one: _Changed, other: _Changed) -> tuple[_Changed, ...]:
        """Two changes together: side by side, or one upon the other where they meet in a step."""
        if (one, other) not in self._pairs:
            both = (*one.misconceptions, *other.misconceptions)
            if set(one.steps) & set(other.steps):
                steps = self._upon(one, other) or self._upon(other, one)
            else:
                steps = {**one.steps, **other.steps}
            known = {tuple(single.steps.items()) for single in self.singles}
            new = steps and tuple(steps.items()) not in known
            self._pairs[one, other] = (_Changed(both, steps),) if new else ()
        return self._pairs[one, other]

    def _upon(self, one: _Changed, other: _Changed) -> Mapping[str, Step]:
        """The second change made to what the first has made of the derivation."""
        first = tuple(one.steps.get(step.name, step) for step in self.derivation.steps)
        steps = Steps(replace(self.derivation, steps=first))
        (misconception,) = other.misconceptions
        return {**one.steps, **changed} if (changed := _made(steps, misconception)) else {}

    def explain(
        self,
        evaluation: Evaluation,
        claims: Mapping[str, Array],
        policy: Policy,
        marks: Sequence[StepMark],
        first: str,
    ) -> tuple[Explanation, ...]:
        """The misconceptions that fit from the step `first` on, the simplest first."""
        claimed = [mark.name for mark in marks]
        later = claimed[claimed.index(first) :]
        screen = _Screen(self.derivation, evaluation, claims, later)
        found: list[Explanation] = []
        seen = {single: screen.compare(single) for single in self.singles}
        for single, compared in seen.items():
            if compared.first is True:
                found.extend(self._certified(single, evaluation, claims, policy, later))
        if not any(explanation.whole for explanation in found):
            for one, other in combinations(self.singles, 2):
                if not seen[one].may_join(seen[other]):
                    continue
                for pair in self.pairs(one, other):
                    if screen.compare(pair).whole:
                        found.extend(self._certified(pair, evaluation, claims, policy, later))
        whole = [explanation for explanation in found if explanation.whole]
        found = whole or sorted(found, key=lambda e: -len(e.fits))
        if not whole:
            (mark,) = (mark for mark in marks if mark.name == first)
            item = evaluation[first].step
            habits = [habit for habit in HABITS if habit.shows(item, mark)]
            found += [Explanation((habit,), (first,), whole=False) for habit in habits]
        return tuple(found)

    def _certified(
        self,
        changed: _Changed,
        evaluation: Evaluation,
        claims: Mapping[str, Array],
        policy: Policy,
        later: Sequence[str],
    ) -> Iterator[Explanation]:
        given = {item.name: evaluation.given[item.letter] for item in self.derivation.inputs}
        try:
            marks = Marker(self._evaluated(changed, given), claims, policy).marks()
        except SymattnError:
            return  # it makes no sense with these numbers
        fitting = [mark.name for mark in marks if mark.verdict in _FITTING]
        before = [mark.name for mark in marks if mark.name not in later]
        if later[0] in fitting and all(name in fitting for name in before):
            fits = tuple(name for name in later if name in fitting)
            yield Explanation(changed.misconceptions, fits, len(fits) == len(later))

    def _evaluated(self, changed: _Changed, given: Mapping[str, Array]) -> Evaluation:
        """The changed derivation with these numbers."""
        if changed not in self._first:
            steps = [changed.steps.get(step.name, step) for step in self.derivation.steps]
            self._first[changed] = Evaluation(
                self.derivation.inputs, steps, given, self.derivation.sizes, {}
            )
        return self._first[changed].again(**given)


def _made(steps: Steps, misconception: Misconception) -> dict[str, Step]:
    """The steps that a misconception changes; none where it does not apply."""
    try:
        change = misconception.change(steps) or {}
        return {name: replace(steps.steps[name], expr=expr) for name, expr in change.items()}
    except SymattnError:
        return {}  # its shapes do not fit here


def cannot_tell(found: Sequence[Explanation]) -> tuple[str, ...]:
    """A note where these numbers cannot tell two mistakes apart."""
    whole = [explanation.name for explanation in found if explanation.whole]
    if len(whole) < 2:
        return ()
    listed = f"{', '.join(whole[:-1])} and {whole[-1]}"
    return (f"these numbers cannot tell {listed} apart; other numbers would",)


@dataclass(frozen=True)
class _Compared:
    """How near a changed derivation comes to the claims.

    `first`: whether to those on the first wrong step, None if it leaves that step as it is;
    `whole`: whether to all claims from there on; `contradicts`: whether it changes a step before
    that, whose claims are right.
    """

    first: bool | None
    whole: bool
    contradicts: bool

    def may_join(self, other: _Compared) -> bool:
        """Whether the two together could explain the first wrong step."""
        if self.contradicts or other.contradicts:
            return False
        if self.first is None or other.first is None:
            return self.first is True or other.first is True
        return True


class _Screen:
    """Compares changed derivations with the claims, in floating point."""

    def __init__(
        self,
        derivation: Derivation,
        evaluation: Evaluation,
        claims: Mapping[str, Array],
        later: Sequence[str],
    ) -> None:
        self.evaluation, self.steps = evaluation, derivation.steps
        self.claims = {letter: _Floats(claimed) for letter, claimed in claims.items()}
        self.first = evaluation[later[0]].step.letter
        self._taken: dict[str, Array] = {}

    def compare(self, changed: _Changed) -> _Compared:
        """How near the changed derivation comes to the claims, step by step."""
        given: dict[str, Array] = {}  # what it changes, recomputed from what is given
        taken: dict[str, Array] = {}  # and from the claims before

        def from_given(letter: str) -> Array:
            return given[letter] if letter in given else self.evaluation.array(letter)

        def from_claims(letter: str) -> Array:
            return taken[letter] if letter in taken else self._as_claimed(letter)

        follow, arithmetic = self.evaluation.follow, self.evaluation.arithmetic
        first, whole, reached = None, True, False
        with np.errstate(all="ignore"):
            for step in self.steps:
                reached = reached or step.letter == self.first
                if step.name not in changed.steps and not any(x in given for x in step.operands):
                    continue
                other = changed.steps.get(step.name, step)
                try:
                    given[step.letter] = follow(other, from_given, arithmetic)
                    again = follow(other, from_claims, arithmetic)
                except SymattnError:  # no sense on its own; with another change it may have
                    return _Compared(False, whole=False, contradicts=False)
                claimed = self.claims.get(step.letter)
                taken[step.letter] = again if claimed is None else claimed.put_in(again)
                near = claimed is None or claimed.near(given[step.letter], again)
                if not (near or reached):
                    return _Compared(False, whole=False, contradicts=True)
                if step.letter == self.first:
                    first = near
                whole = whole and near
        return _Compared(first, bool(first) and whole, contradicts=False)

    def _as_claimed(self, letter: str) -> Array:
        """A matrix that is not changed, with the claims put in."""
        if letter not in self._taken:
            value, claimed = self.evaluation.array(letter), self.claims.get(letter)
            self._taken[letter] = value if claimed is None else claimed.put_in(value)
        return self._taken[letter]


class _Floats:
    """The claims on a step as floats: which are there, their numbers and their units."""

    def __init__(self, claimed: Array) -> None:
        self.there = np.array([written is not None for written in claimed.ravel()])
        written = [entry for entry in claimed.ravel() if entry is not None]
        self.numbers = np.array([entry.nearest for entry in written])
        self.units = np.array([entry.nearest_unit for entry in written])
        self.hidden = np.isneginf(self.numbers)

    def put_in(self, value: Array) -> Array:
        """The value with the claims in their places."""
        out = np.array(value, dtype=float)
        out.ravel()[self.there] = self.numbers
        return out

    def near(self, value: Array, again: Array) -> bool:
        """Whether each claim is near one of the two values of its entry."""
        one, two = value.ravel()[self.there], again.ravel()[self.there]
        finite = ~self.hidden
        if (np.isneginf(one) != self.hidden).any() or not np.isfinite(one[finite]).all():
            return False
        largest = np.abs(one[finite]).max(initial=0.0)
        slack = 1e-9 * largest
        first = np.abs(one - self.numbers) <= _FROM_GIVEN * self.units + slack
        rounded = (self.units > 0) * _SHARE * largest
        second = np.abs(two - self.numbers) <= _FROM_CLAIMS * self.units + rounded + slack
        return bool((first | second)[finite].all())
