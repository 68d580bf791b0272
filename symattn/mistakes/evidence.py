"""Evidence: how many of the numbers that an entry might have taken were tried.

A wrong number that one of k tried numbers reproduces is evidence only if an arbitrary number would
hardly have met one of the k. Of N numbers that the entry might have been, that chance is k/N, and
the evidence is log₂(N/k) bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import floor, inf, isfinite, log2, pi

import numpy as np
import sympy

from symattn.arithmetic.base import Array

#: Nothing is reported that would explain more than one of so many arbitrary numbers.
ODDS = 20
LEAST_BITS = log2(ODDS)

#: Two mistakes at once are less likely: each has to have as much evidence.
LEAST_BITS_OF_TWO = 2 * LEAST_BITS

#: An exact claim (√2/3) counts as written with so many digits of the largest number; a fraction
#: (1/3), as one of those whose denominators are not larger.
_EXACT = 1e-6

#: Nobody writes −∞ by accident, and no program NaN: it counts as two decimals do.
INFINITE = 6.0


class Candidates:
    """The claims on one step as floats (NaN for none), and the numbers that each might have been.

    Those are the multiples of a claim's unit between the least and the largest number of the
    matrix, true or claimed; of weights, between 0 and 1.
    """

    def __init__(self, claims: Array, true: Array, shares: bool) -> None:
        written = claims.ravel()
        self.shape = claims.shape
        self.claimed = np.array([one is not None for one in written]).reshape(self.shape)
        numbers = [(np.nan, np.nan) if x is None else (x.nearest, x.nearest_unit) for x in written]
        self.claims, self.units = np.array(numbers, dtype=float).T.reshape(2, *self.shape)
        self.true = np.asarray(true, dtype=float)
        self._finite = self.true[np.isfinite(self.true)]
        seen = np.concatenate([self.true.ravel(), self.claims.ravel()])
        seen = seen[np.isfinite(seen)]
        more = [0.0, 1.0] if shares else []
        self.low = float(min([*seen, *more], default=0.0))
        self.high = float(max([*seen, *more], default=0.0))
        self.largest = max(abs(self.low), abs(self.high))
        self.hidden = np.isneginf(self.claims)
        steps = [
            np.nan if one is None else one.nearest_unit or self._apart(one.value) for one in written
        ]
        self.steps = np.array(steps, dtype=float).reshape(self.shape)

    def _apart(self, exact: sympy.Expr) -> float:
        """How far apart exact numbers are that are as simple as this one.

        From 0 to 1 there are about 3q²/π² fractions with denominators up to q.
        """
        least = _EXACT * (self.largest or 1.0)
        if not exact.is_Rational:
            return least
        below = min(int(exact.q), round(1 / _EXACT))
        return max(least, 1 / max(1.0, 3 * below**2 / pi**2))

    def filled_in(self, value: Array) -> Array:
        """A value of the step, with the claims where there are some."""
        return np.where(self.claimed, self.claims, value)

    def unit(self, place: tuple[int, ...]) -> float:
        """The step between the numbers that an entry might have been.

        Where all true numbers of the matrix are whole, and the claim is, so are the others.
        """
        unit = float(self.steps[place])
        claim = float(self.claims[place])
        while isfinite(claim) and unit < 1 and claim / (10 * unit) == round(claim / (10 * unit)):
            coarser = self._finite / (10 * unit)
            if not np.allclose(coarser, np.round(coarser), rtol=0, atol=1e-9):
                break
            unit *= 10
        return unit

    def bits(self, place: tuple[int, ...], meant: float) -> float:
        """How many bits a claimed number holds where `meant` is right.

        A number that is a unit off says no more than that: as near, there are few others.
        """
        claim = float(self.claims[place])
        if not isfinite(claim):
            return INFINITE
        reach = min(max(self.high, 0.0) - min(self.low, 0.0), 4 * abs(claim - meant))
        return log2(reach / self.unit(place) + 1)

    def chance(self, place: tuple[int, ...], tried: Iterable[float], meant: float) -> float:
        """How often an arbitrary number at this place would be one of those that were tried.

        Arbitrary among all that the entry might have been, and among those that are as near to
        `meant`, the right one: the larger chance counts.
        """
        claim, unit = float(self.claims[place]), self.unit(place)
        if not isfinite(claim):
            return 1.0
        low, high = self.low - unit / 2, self.high + unit / 2
        numbers = {round((x - claim) / unit): x for x in tried if isfinite(x) and low <= x <= high}
        everywhere = len(numbers) / ((self.high - self.low) / unit + 1)
        if not isfinite(meant):
            return everywhere
        reach = 2 * abs(claim - meant)
        near = sum(abs(x - meant) <= reach + unit / 2 for x in numbers.values())
        width = min(high, meant + reach) - max(low, meant - reach)
        return max(everywhere, near / max(floor(width / unit + 0.5), 1))

    def sums_to_one(self, places: Sequence[tuple[int, ...]]) -> bool:
        """Whether these are a whole row of claimed shares, whose last one says nothing new."""
        row = places[0][:-1]
        if len(places) < self.shape[-1] or self.low < 0 or self.high > 1:
            return False
        return bool(abs(self.claims[row].sum() - 1) <= self.units[row].sum())

    def matches(self, place: tuple[int, ...], value: float) -> bool:
        """Whether a number rounds to what is claimed."""
        claim, unit = float(self.claims[place]), float(self.units[place])
        if not (isfinite(claim) and isfinite(value)):
            return claim == value
        return abs(value - claim) <= 0.5 * unit + 1e-9 * max(1.0, float(self.largest))


def bits_against(chance: float) -> float:
    """The bits of evidence in what happens by chance so often: −log₂ p."""
    return -log2(chance) if chance > 0 else inf
