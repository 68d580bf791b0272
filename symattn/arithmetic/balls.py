"""Ball arithmetic: every entry is an Arb ball that provably contains the true value."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce

import flint
import numpy as np
import sympy
from flint import arb
from numpy.typing import NDArray

from symattn.arithmetic.base import (
    Arithmetic,
    Array,
    elementwise,
    equal_by_order,
    filled,
    inverted,
    of_rows,
    rowwise,
    stacked,
)
from symattn.arithmetic.enclosure import ANY, MINUS_INFINITY, ball, is_minus_infinity
from symattn.arithmetic.functions import FUNCTIONS
from symattn.arithmetic.machine import decimals, is_machine
from symattn.arithmetic.shapes import Size
from symattn.errors import SymattnError


class Balls(Arithmetic):
    """Arb balls in object arrays, at the precision in force."""

    name = "balls"

    @property
    def key(self) -> tuple[object, ...]:
        """With the precision in force."""
        return self.name, flint.ctx.prec

    def scalar(self, value: sympy.Expr) -> arb:
        return ball(value)

    def array(self, exact: Array) -> Array:
        return _read(exact) if is_machine(exact) else elementwise(ball, exact)

    def exp(self, x: Array) -> Array:
        return elementwise(arb.exp, x)

    def apply(self, name: str, x: Array) -> Array:
        return elementwise(FUNCTIONS[name].ball, x)

    def hidden(self, x: Array) -> NDArray[np.bool_]:
        return np.asarray(x == MINUS_INFINITY, dtype=bool)

    def row_max(self, x: Array) -> Array:
        return of_rows(largest, x)

    def shift(self, x: Array) -> Array:
        """x_ij − t_i with t_i the largest midpoint of the row, exact, so that no e^x overflows."""

        def moved(row: Array) -> Array:
            top = max(entry.mid() for entry in row)
            return np.asarray(row - (arb(0) if is_minus_infinity(top) else top))

        return rowwise(moved, x)

    def share(self, part: Array, whole: Array) -> Array:
        """A part beside which all others are 0 is the whole: exactly 1, where a ball would be wide.

        Else a causal mask's first row would have its exact value asked for.
        """
        seen = ~np.asarray(part == 0, dtype=bool)
        alone = seen & (seen.sum(axis=-1, keepdims=True) == 1)
        return self.where(alone, arb(1), self.divide(part, whole))

    def threshold(self, x: Array) -> Array:
        """By τ = max_k (sum of the k largest − 1)/k, which no tie can upset.

        Any set S has Σ_S (x − τ) ≤ Σ max(0, x − τ) = 1, with equality for the support; so the
        largest (Σ_S x − 1)/|S| is τ. The k-th largest of numbers in intervals lies between the
        k-th largest of the lower and of the upper ends.
        """
        return of_rows(lambda row: self._threshold(list(row)), x)

    def _threshold(self, row: list[arb]) -> arb:
        seen = [entry for entry in row if not is_minus_infinity(entry)]
        best, added, size = arb(0), arb(0), arb(0)
        for count, entry in enumerate(_ranked(seen), start=1):
            added, size = added + entry, size + abs(entry)
            above = self._widen(self._widen(added, size, count) - 1, size + 1, 1)
            level = above / count
            best = best.max(self._widen(level, level, 2)) if count > 1 else level
        return best

    def threshold_of_squares(self, x: Array) -> Array:
        """By the mean and spread of the k largest, for all k that may be the number above τ.

        Where it is open whether x_k is above the τ of k, that of k − 1 counts, too. What lies 1
        below the largest is never above τ and may be taken for that. The roundings are those of
        sums of k squares up to 1, and of a root that is 1/k at least.
        """
        return of_rows(lambda row: self._threshold_of_squares(list(row)), x)

    def _threshold_of_squares(self, row: list[arb]) -> arb:
        ranked = _ranked([entry for entry in row if not is_minus_infinity(entry)])
        if not ranked:
            return arb(0)
        top = ranked[0].mid()
        least, level = ranked[0].lower() - top - 1, arb(0)
        added, squares = arb(0), arb(0)
        for count, entry in enumerate(ranked, start=1):
            moved = (entry - top).max(least)
            added, squares = added + moved, squares + moved * moved
            left = (1 - squares + added * added / count) / count
            if left < 0:
                break
            found = added / count - left.max(arb(0)).sqrt()
            found = self._widen(found, 1 + abs(top), count * count + 7 * count + 10)
            if found > moved:
                break
            level = found if count == 1 or found <= moved else level.union(found)
        return level + top

    def _widen(self, x: arb, size: arb, roundings: int) -> arb:
        """Add to x the error of so many roundings of `size`: none in Arb, whose balls hold it."""
        return x

    def first_largest(self, x: Array) -> Array:
        return rowwise(lambda row: _first_largest(list(row)), x)

    def top(self, x: Array, count: Size) -> Array:
        return rowwise(lambda row: _top(list(row), int(count)), x)

    def vanishing(self, x: Array) -> NDArray[np.bool_]:
        return np.asarray(elementwise(lambda entry: entry.contains(0), x), dtype=bool)

    def where_at_most(self, left: Array, right: Array, a: Array, b: Array) -> Array:
        """Where the comparison is open, a ball that holds both."""
        return elementwise(_by_comparison, left, right, a, b)

    where_equal = equal_by_order

    def matmul(self, a: Array, b: Array) -> Array:
        return stacked(a, b, _product)

    def inverse(self, x: Array) -> Array:
        return inverted(x, _inverse)


def _inverse(x: Array) -> Array:
    try:
        return filled(x.shape, flint.arb_mat(len(x), len(x), list(x.ravel())).inv().entries())
    except ZeroDivisionError:
        raise SymattnError(
            "a matrix that has no inverse, or is too close to singular to tell"
        ) from None


def _by_comparison(left: arb, right: arb, value: arb, otherwise: arb) -> arb:
    if left <= right:
        return value
    return otherwise if left > right else value.union(otherwise)


def less(function: Callable[[Array], arb], x: Array) -> Array:
    """x_ij − f(x_i) for every row; −∞ stays −∞."""

    def lowered(row: Array) -> list[arb]:
        top = function(row)
        return [e if is_minus_infinity(e) else e - top for e in row]

    return rowwise(lowered, x)


def _read(array: Array) -> Array:
    """Balls of machine numbers; a decimal is a quotient of whole numbers, rounded once."""
    read = decimals(array)
    every = {decimal[1] for decimal in read if decimal is not None}
    powers = {places: flint.fmpz(10) ** abs(places) for places in every}
    divisors = {places: arb(power) for places, power in powers.items()}
    entries = [
        MINUS_INFINITY
        if decimal is None
        else arb(decimal[0]) / divisors[decimal[1]]
        if decimal[1] > 0
        else arb(decimal[0] * powers[decimal[1]])
        for decimal in read
    ]
    return filled(array.shape, entries)


def largest(row: Iterable[arb]) -> arb:
    """A ball that contains the maximum of the numbers in some balls; −∞ of none."""
    return reduce(lambda top, entry: entry.max(top), row, MINUS_INFINITY)


def _product(a: Array, b: Array) -> Array:
    left = flint.arb_mat(a.shape[0], a.shape[1], list(a.ravel()))
    out = left * flint.arb_mat(b.shape[0], b.shape[1], list(b.ravel()))
    return filled((a.shape[0], b.shape[1]), out.entries())


def _ranked(row: list[arb]) -> list[arb]:
    """Balls of the largest, the second largest, … of the numbers in a row of balls."""
    lows = sorted((entry.lower() for entry in row), reverse=True)
    highs = sorted((entry.upper() for entry in row), reverse=True)
    pairs = zip(lows, highs, strict=True)
    return [low if low == high else low.union(high) for low, high in pairs]


def _first_largest(row: list[arb]) -> list[arb]:
    """1, 0, or [0, 1] where the balls overlap so that the comparison is open."""
    least = max((entry.lower() for entry in row), default=MINUS_INFINITY)
    able = [j for j, entry in enumerate(row) if not entry < least]
    out = [arb(0)] * len(row)
    for j in able:
        one = row[j]
        if any(row[k] >= one if k < j else row[k] > one for k in able if k != j):
            continue
        sure = all(one > row[k] if k < j else one >= row[k] for k in able if k != j)
        out[j] = arb(1) if sure else arb(0.5, 0.5)
    return out


def _top(row: list[arb], count: int) -> list[arb]:
    """0, −∞, or all numbers where the balls overlap so that it is open which are the largest."""
    out = []
    for place, one in enumerate(row):
        first, rest = row[:place], row[place + 1 :]
        before = sum(bool(x >= one) for x in first) + sum(bool(x > one) for x in rest)
        after = sum(bool(x < one) for x in first) + sum(bool(x <= one) for x in rest)
        is_open = before < count and len(row) - 1 - after >= count
        out.append(ANY if is_open else arb(0) if before < count else MINUS_INFINITY)
    return out


def is_settled(x: arb) -> bool:
    """Whether a ball has bounds, or is −∞."""
    return bool(x.is_finite() or is_minus_infinity(x))


def finer(x: arb, other: arb) -> bool:
    """Whether a ball is a number, or a million times narrower than another."""
    return bool(x.is_exact() or x.rad() * 1_000_000 < other.rad())


BALLS = Balls()
