"""Which misconceptions reproduce arrays that a program computed, on every input that was tried.

The misconceptions are those of `symattn.mistakes`; a changed derivation is
evaluated in NumPy and compared whole. What it reproduces counts by the numbers that were wrong,
less what was tried: see `symattn.mistakes.evidence`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from math import log2

import numpy as np
import sympy

from symattn.arithmetic.arrays import FLOAT64
from symattn.arithmetic.base import Array
from symattn.arithmetic.enclosure import BITS, nearest
from symattn.arithmetic.written import Measured
from symattn.claims.computed import Computed, in_order
from symattn.derivations import Derivation, Evaluation
from symattn.errors import SymattnError
from symattn.evaluate.sampled import Sampled
from symattn.marking.sanity import sums_to_one
from symattn.mistakes import COMMON, OF_PROGRAMS, Misconception
from symattn.mistakes.cases import MOST_PAIRS
from symattn.mistakes.evidence import (
    INFINITE,
    LEAST_BITS,
    LEAST_BITS_OF_TWO,
    Candidates,
)
from symattn.mistakes.explanations import MOST_SHOWN, Explainer, Explanation
from symattn.mistakes.hypotheses import Hypothesis
from symattn.mistakes.programs import MEASURED, with_number

#: How far a program that does the same may be away, in roundings of the largest number of a matrix
#: and in tolerances of the right one.
_ROUNDINGS, _TOLERANCES = 16, 2

#: A misconception explains a wrong number if it comes so many times nearer than the true value, but
#: for roundings; and twice as near in any case.
_BETTER = 10

#: So many wrong numbers of a matrix are evidence enough.
_MOST_WEIGHED = 64


#: A score beside which no other one has weight, and what is masked, the last step first.
_HUGE, _BEFORE_MASK = 10**5, ("biased", "capped", "scaled", "scores")

#: How uncertain a number that is found may be; how near a plain one has to be to it, and how many
#: digits that may have.
_MOST_DOUBT, _SURE, _MOST_DIGITS = 0.1, 1e-6, 5

#: What is most often done wrong together with something else.
_COMPANIONS = (*COMMON, "masked-to-minus-1e9", "masked-to-minus-1e4")


@dataclass(frozen=True, eq=False)
class Run:
    """What a program computed from the numbers of an evaluation.

    `tolerances` says how far each number may be off, `right` which are not.
    """

    explainer: Explainer
    evaluation: Evaluation
    arrays: Mapping[str, Computed]
    tolerances: Mapping[str, Array]
    right: Mapping[str, Array]

    @cached_property
    def letters(self) -> tuple[str, ...]:
        """The letters of what was computed, in the order of the derivation."""
        return tuple(in_order(self.evaluation, self.arrays))

    @cached_property
    def given(self) -> dict[str, Array]:
        """The numbers that were put in."""
        return {item.name: self.evaluation.given[item.letter] for item in self.evaluation.inputs}

    @cached_property
    def is_right(self) -> bool:
        """Whether every number is right."""
        return all(right.all() for right in self.right.values())

    def hypothesis(self, misconceptions: Sequence[Misconception]) -> Hypothesis | None:
        """One misconception, or two, at these sizes; None where one is idle."""
        one, *others = map(self.explainer.single, misconceptions)
        if one is None or None in others:
            return None
        return self.explainer.pair(one, *filter(None, others)) if others else one

    def fits(
        self, hypothesis: Hypothesis, exactly: bool = False, partly: bool = False
    ) -> frozenset[str]:
        """The letters of the arrays that a changed derivation gives too, in every number.

        `partly`: in every one of which it makes sense, which 0/0 does not.
        """
        values = self.values(hypothesis, exactly)
        return frozenset(x for x, value in values.items() if self._same(x, value, partly).all())

    def reproduced(self, hypothesis: Hypothesis) -> int:
        """How many numbers a changed derivation gives too."""
        values = self.values(hypothesis)
        return sum(int(self._same(letter, value).sum()) for letter, value in values.items())

    def is_idle(self, hypothesis: Hypothesis) -> bool:
        """Whether a change leaves every number as it is, or makes no sense by itself."""
        values = self.values(hypothesis)
        with np.errstate(invalid="ignore"):
            return all(
                np.allclose(value, self.evaluation.array(x), rtol=1e-12, atol=0, equal_nan=True)
                for x, value in values.items()
            )

    def values(self, hypothesis: Hypothesis, exactly: bool = False) -> dict[str, Array]:
        """What a changed derivation gives instead; nothing where it makes no sense.

        `exactly`: in balls, which neither overflow nor underflow as NumPy does.
        """
        evaluation = self.evaluation
        usual = partial(evaluation.value, arithmetic=FLOAT64)
        try:
            if exactly and not any(part.floating for part in hypothesis.misconceptions):
                changed = self.explainer.evaluated(hypothesis, self.given)
                return {letter: _middles(changed.balls(letter, BITS[0])) for letter in self.letters}
            with np.errstate(all="ignore"):
                steps = hypothesis.followed(evaluation, usual, FLOAT64)
                found = {step.letter: value for step, value in steps}
            every = {x: found[x] if x in found else usual(x) for x in self.letters}
            return {x: evaluation.judged(x, value) for x, value in every.items()}
        except (SymattnError, ArithmeticError, ValueError):
            return {}

    def _same(self, letter: str, value: Array, partly: bool = False) -> Array:
        """Which numbers a changed derivation gives too.

        A wrong one it has to reproduce far better than the true value does; where 0 is right it
        gives no more than rounding may leave there. `partly`: where it gives NaN, any number.
        """
        array = self.arrays[letter]
        numbers = array.numbers.astype(float)
        if value.shape != numbers.shape:
            try:
                value = np.broadcast_to(value, numbers.shape)
            except ValueError:  # two misconceptions may make a matrix of another shape
                return np.zeros(numbers.shape, dtype=bool)
        near = self._near(letter, value)
        right, true = self.right[letter], self.evaluation.array(letter)
        with np.errstate(invalid="ignore"):
            off = np.abs(numbers - true)
            own = _ROUNDINGS * array.rounding * np.abs(numbers[np.isfinite(numbers)]).max(initial=0)
            better = np.fmin(np.fmax(off / _BETTER, own), off / 2)
            nothing = np.where(numbers == 0, _BETTER * self.tolerances[letter], near)
            close = np.abs(value - numbers) <= np.fmin(near, np.where(right, nothing, better))
        same = (value == numbers) | close | (np.isnan(value) & (partly | np.isnan(numbers)))
        return np.asarray(same)

    def _near(self, letter: str, *values: Array) -> float:
        """How far numbers of this matrix may be apart that are meant to be the same."""
        array = self.arrays[letter]
        sizes = [np.abs(x[np.isfinite(x)]).max(initial=0.0) for x in (array.numbers, *values)]
        rounding = _ROUNDINGS * array.rounding * max(map(float, sizes))
        bounds = self.tolerances[letter]
        return rounding + _TOLERANCES * float(bounds[np.isfinite(bounds)].max(initial=0.0))

    @cached_property
    def bits(self) -> float:
        """The bits of the first wrong numbers: how many others each of them might have been."""
        total = 0.0
        for letter in self.letters:
            wrong = np.argwhere(~self.right[letter])
            if not len(wrong):
                continue
            array, true = self.arrays[letter], self.evaluation.array(letter)
            reach = self._near(letter, true)
            claims = np.full(array.numbers.shape, None, dtype=object)
            for place, number in np.ndenumerate(array.numbers.astype(float)):
                if np.isfinite(number):
                    exact = sympy.Rational(*float(number).as_integer_ratio())
                    claims[place] = Measured("", exact, 0, reaching=reach)
            candidates = Candidates(claims, true, sums_to_one(self.evaluation[letter].step))
            for place in map(tuple, wrong[:_MOST_WEIGHED]):
                if claims[place] is None:
                    total += INFINITE
                elif np.isfinite(true[place]):
                    total += candidates.bits(place, float(true[place]))
        return total


#: What explains an array that is the value of an earlier step, of another shape than the last.
UNFINISHED = Explanation(
    tuple(row for row in OF_PROGRAMS if row.name == "unfinished"), (), True, INFINITE
)


_middles = np.vectorize(nearest, otypes=[float])


def explainer_of(
    evaluation: Evaluation, misconceptions: Sequence[Misconception] = OF_PROGRAMS
) -> Explainer:
    """Tries the misconceptions of programs on a derivation at these sizes."""
    derivation = Derivation(evaluation.inputs, evaluation.steps, evaluation.sizes)
    return Explainer(derivation, evaluation, misconceptions)


def explained(runs: Sequence[Run], besides: str = "") -> tuple[Explanation, ...]:
    """The misconceptions that reproduce all that was computed in every run, the simplest first.

    Where none does, two together; then, of a single run, those that reproduce the first wrong step
    completely. `besides` names one that is known from other runs: no two are tried then.
    """
    wrong_runs = [run for run in runs if not run.is_right]
    if not wrong_runs:
        return ()
    first = wrong_runs[0]
    singles = first.explainer.singles
    tried = log2(len(singles) or 1)
    bits = sum(run.bits for run in wrong_runs) - tried
    if bits < LEAST_BITS:
        return ()
    every = frozenset(first.letters)
    found = _singles(wrong_runs, runs)
    bits_of_two = bits - tried
    is_sample = isinstance(first.evaluation, Sampled)  # of so many numbers pairs take minutes
    if not (found or besides or is_sample) and bits_of_two >= LEAST_BITS_OF_TWO:
        found, bits = list(_pairs(first, runs)), bits_of_two
    if not found and not besides:
        found = [one for one in _measured(wrong_runs) if _everywhere(one, runs)]
    if found:
        names = {part.name for one in found for part in one.misconceptions}
        plain = [h for h in found if not any(p.rather in names for p in h.misconceptions)]
        more = tuple(row for row in OF_PROGRAMS if row.name == besides)
        return tuple(_explanation(h, first, every, bits, more) for h in plain[:MOST_SHOWN])
    fits = {single: first.fits(single) for single in singles} if len(runs) == 1 else {}
    wrong = next(letter for letter in first.letters if not first.right[letter].all())
    partly = [single for single in fits if wrong in fits[single]]
    return tuple(_explanation(h, first, fits[h], bits) for h in partly[:MOST_SHOWN])


def _singles(wrong_runs: Sequence[Run], runs: Sequence[Run]) -> list[Hypothesis]:
    """Those that reproduce every run; one may make no sense at the sizes of the first."""
    letters = [frozenset(run.letters) for run in wrong_runs]
    every = (
        [h for h in run.explainer.singles if run.fits(h) == whole and _everywhere(h, runs)]
        for run, whole in zip(wrong_runs, letters, strict=True)
    )
    return next(filter(None, every), [])


def _measured(runs: Sequence[Run]) -> Iterator[Hypothesis]:
    """Misconceptions with a number in them that is found from what was computed."""
    for function in MEASURED:
        told = [one for run in runs for one in _scores_of_hidden(run, function)]
        if told:
            score, doubt = min(told, key=lambda one: one[1])
            row = with_number(function, _plainest(score, doubt))
            found = (run.explainer.single(row) for run in runs)
            yield from islice(filter(None, found), 1)


def _scores_of_hidden(run: Run, function: str) -> Iterator[tuple[float, float]]:
    """What masked scores are set to, or lowered by, and how uncertain that is, by entry.

    In u = e^x an entry is (a + u b)/(c + u d), with c = Σ e^z over the keys that are seen, and d
    the number of the others, or Σ e^z over them. Then u d/c is (entry − a/c)/(b/d − entry), and
    b/d is the entry for x → ∞.
    """
    evaluation, all_hidden = run.evaluation, run.explainer.single(with_number(function, _HUGE))
    if all_hidden is None:
        return
    before = next(name for name in _BEFORE_MASK if name in evaluation)
    masked = evaluation.array(evaluation["masked"].step.letter)
    logits = evaluation.array(evaluation[before].step.letter)
    hidden = np.isneginf(masked)
    seen = np.logaddexp.reduce(masked, axis=-1, keepdims=True)
    others = np.where(hidden, logits if function == "lower" else 0.0, -np.inf)
    unseen = np.logaddexp.reduce(others, axis=-1, keepdims=True)
    for letter, ends in run.values(all_hidden).items():
        true, numbers = evaluation.array(letter), run.arrays[letter].numbers.astype(float)
        if true.shape[:-1] != masked.shape[:-1]:
            continue  # heads are joined
        own = run.tolerances[letter] + run.arrays[letter].rounding * np.abs(numbers)
        with np.errstate(all="ignore"):
            above, below = numbers - true, ends - numbers
            scores = np.log(above / below) + seen - unseen
            doubts = own / np.abs(above) + own / np.abs(below)
        known = ~run.right[letter] & np.isfinite(scores) & (doubts < _MOST_DOUBT)
        yield from zip(scores[known].tolist(), doubts[known].tolist(), strict=True)


def _plainest(number: float, doubt: float) -> sympy.Rational:
    """The number of fewest digits that is near enough."""
    for digits in range(1, _MOST_DIGITS):
        plain = float(f"{number:.{digits - 1}e}")
        if abs(plain - number) <= max(doubt, _SURE):
            return sympy.Rational(str(plain))
    return sympy.Rational(*number.as_integer_ratio())


def _pairs(first: Run, runs: Sequence[Run]) -> Iterator[Hypothesis]:
    """Two misconceptions that only together reproduce everything; the first ones found."""
    every, found = frozenset(first.letters), 0
    singles = first.explainer.singles
    touching = [single for single in singles if not first.is_idle(single)]
    touching.sort(key=first.reproduced, reverse=True)  # what explains most stands first
    place = {single: number for number, single in enumerate(singles)}
    # one that changes nothing by itself may do so with another: a row that now has no keys
    often = [
        single
        for single in singles
        if any(part.floating or part.name in _COMPANIONS for part in single.misconceptions)
    ]
    pairs = dict.fromkeys(
        (one, other) if place[one] < place[other] else (other, one)
        for others in (often, singles)
        for one in touching
        for other in others
        if other is not one
    )
    for one, other in islice(pairs, MOST_PAIRS):
        pair = first.explainer.pair(one, other)
        if pair is not None and first.fits(pair) == every and _everywhere(pair, runs):
            yield pair
            found += 1
            if found == 2:
                return


def overflowing(explainer: Explainer, evaluation: Evaluation) -> tuple[Explanation, ...]:
    """The misconceptions by which these numbers leave the range of floating point.

    For a program that raises an error there, as Python's own functions do, and returns nothing.
    """
    last = evaluation.steps[-1]
    run = Run(explainer, evaluation, {last.letter: Computed(evaluation.array(last.letter))}, {}, {})
    found = [
        single
        for single in explainer.singles
        if any(part.floating for part in single.misconceptions)
        and not all(np.isfinite(value).all() for value in run.values(single).values())
    ]
    return tuple(
        Explanation(h.misconceptions, (last.name,), True, INFINITE) for h in found[:MOST_SHOWN]
    )


def _everywhere(hypothesis: Hypothesis, runs: Sequence[Run]) -> bool:
    """Whether what was computed in every run is what the same misconceptions give there.

    Sizes at which they do not apply (a transpose needs a square matrix) tell nothing, nor do
    numbers of which they make no sense (the direction of a vector of zeros, a sum of 0 as divisor).
    """
    for run in runs:
        own, every = run.hypothesis(hypothesis.misconceptions), len(run.letters)
        if own is None or any(len(run.fits(own, x, partly=True)) == every for x in (False, True)):
            continue
        if run.values(own):
            return False
    return True


def _explanation(
    hypothesis: Hypothesis,
    run: Run,
    fits: frozenset[str],
    bits: float,
    more: tuple[Misconception, ...] = (),
) -> Explanation:
    wrong = next(i for i, x in enumerate(run.letters) if not run.right[x].all())
    steps = tuple(run.evaluation[letter].name for letter in run.letters[wrong:] if letter in fits)
    whole = len(fits) == len(run.letters)
    return Explanation((*hypothesis.misconceptions, *more), steps, whole, bits)
