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

#: How far from a claim a screened number may be: in units of its last digit, and as a share of
#: the largest number in its matrix, for what was rounded on the way.
_UNITS, _SHARE = 1.05, 0.15


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


@dataclass(frozen=True)
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

    def _singles(self) -> Iterator[_Changed]:
        steps = Steps(self.derivation)
        for misconception in MISCONCEPTIONS:
            try:
                change = misconception.change(steps)
                changed = {name: replace(steps.steps[name], expr=expr)
                           for name, expr in (change or {}).items()}  # fmt: skip
            except SymattnError:
                continue  # its shapes do not fit here
            if changed:
                yield _Changed((misconception,), changed)

    def _pairs(self) -> Iterator[_Changed]:
        for one, other in combinations(self.singles, 2):
            if not set(one.steps) & set(other.steps):
                both = (*one.misconceptions, *other.misconceptions)
                yield _Changed(both, {**one.steps, **other.steps})

    def explain(
        self, evaluation: Evaluation, claims: Mapping[str, Array], policy: Policy,
        marks: Sequence[StepMark], first: str,
    ) -> tuple[Explanation, ...]:  # fmt: skip
        """The misconceptions that fit from the step `first` on, the simplest first."""
        claimed = [mark.name for mark in marks]
        later = claimed[claimed.index(first) :]
        screen = _Screen(self.derivation, evaluation, claims, first)
        found: list[Explanation] = []
        for tried in (self.singles, self._pairs()):
            for changed in tried:
                if screen.passes(changed):
                    found.extend(self._certified(changed, evaluation, claims, policy, later))
            if any(explanation.whole for explanation in found):
                break
        whole = [explanation for explanation in found if explanation.whole]
        found = whole or sorted(found, key=lambda e: -len(e.fits))
        if not whole:
            (mark,) = (mark for mark in marks if mark.name == first)
            item = evaluation[first].step
            habits = [habit for habit in HABITS if habit.shows(item, mark)]
            found += [Explanation((habit,), (first,), whole=False) for habit in habits]
        return tuple(found)

    def _certified(
        self, changed: _Changed, evaluation: Evaluation, claims: Mapping[str, Array],
        policy: Policy, later: Sequence[str],
    ) -> Iterator[Explanation]:  # fmt: skip
        steps = [changed.steps.get(step.name, step) for step in self.derivation.steps]
        given = {item.name: evaluation.given[item.letter] for item in self.derivation.inputs}
        try:
            other = Evaluation(self.derivation.inputs, steps, given, self.derivation.sizes, {})
            marks = Marker(other, claims, policy).marks()
        except SymattnError:
            return  # it makes no sense with these numbers
        fitting = [mark.name for mark in marks if mark.verdict in _FITTING]
        before = [mark.name for mark in marks if mark.name not in later]
        if later[0] in fitting and all(name in fitting for name in before):
            fits = tuple(name for name in later if name in fitting)
            yield Explanation(changed.misconceptions, fits, len(fits) == len(later))


def cannot_tell(found: Sequence[Explanation]) -> tuple[str, ...]:
    """A note where these numbers cannot tell two mistakes apart."""
    whole = [explanation.name for explanation in found if explanation.whole]
    if len(whole) < 2:
        return ()
    listed = f"{', '.join(whole[:-1])} and {whole[-1]}"
    return (f"these numbers cannot tell {listed} apart; other numbers would",)


class _Screen:
    """Drops, in floating point, what is far from the claims on one step."""

    def __init__(
        self, derivation: Derivation, evaluation: Evaluation, claims: Mapping[str, Array],
        first: str,
    ) -> None:  # fmt: skip
        self.evaluation, self.steps = evaluation, derivation.steps
        self.first = evaluation[first].step.letter
        claimed = claims[self.first]
        self.there = np.array([written is not None for written in claimed.ravel()])
        written = [entry for entry in claimed.ravel() if entry is not None]
        self.claimed = np.array([float(entry.value) for entry in written])
        self.units = np.array([float(entry.unit) if entry.places is not None else 0.0
                               for entry in written])  # fmt: skip

    def passes(self, changed: _Changed) -> bool:
        """Whether the changed step comes near what was claimed."""
        values: dict[str, Array] = {}

        def operand(letter: str) -> Array:
            return values[letter] if letter in values else self.evaluation.array(letter)

        with np.errstate(all="ignore"):
            for step in self.steps:
                other = changed.steps.get(step.name)
                if other is None and not any(letter in values for letter in step.operands):
                    continue
                try:
                    values[step.letter] = self.evaluation.follow(
                        other or step, operand, self.evaluation.arithmetic
                    )
                except SymattnError:
                    return False
                if step.letter == self.first:
                    break
            return self.first in values and self._near(values[self.first])

    def _near(self, value: Array) -> bool:
        found = value.ravel()[self.there]
        hidden = np.isneginf(self.claimed)
        if (np.isneginf(found) != hidden).any() or not np.isfinite(found[~hidden]).all():
            return False
        largest = np.abs(found[~hidden]).max(initial=0.0)
        allowed = _UNITS * self.units[~hidden] + _SHARE * largest * (self.units[~hidden] > 0)
        return bool((np.abs(found - self.claimed)[~hidden] <= allowed + 1e-9 * largest).all())
