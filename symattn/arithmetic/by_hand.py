"""Arithmetic as people do it by hand: what is computed on the way is kept with a few decimals.

Many ways of doing so are followed at once: arrays have a leading axis, one entry for each way.
Exponentials, sums of rows, products before they are added and irrational factors are rounded, or
cut off, to the decimals of their way; the last operation of a formula is not, since its result is
written down, with digits of its own.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import sympy
from numpy.typing import NDArray

from symattn.arithmetic.arrays import Arrays
from symattn.arithmetic.base import Array, Ground

#: Decimals that stand for "unrounded": as many as a float holds.
UNROUNDED = sys.float_info.dig

#: A tie that floating point missed by this much, in units, is a tie.
_TIE = 1e-9

#: A product of floats is short by less than this factor.
_ULP = 1 + 4e-16

#: What is added to the size of a number, in units, before its fraction is dropped; ties that are
#: rounded to an even digit are put right afterwards: those of decimals, or, as NumPy rounds, those
#: that floating point hits.
ROUNDED, HALF_EVEN, CUT_OFF, NUMPY = 0.5 + _TIE, 0.5 + 2 * _TIE, _TIE, 0.5
TO_EVEN = (HALF_EVEN, NUMPY)

#: From this many units on a float has no fraction to drop.
_NO_FRACTION = 2.0**50

#: Products of one matrix product that are rounded one by one; by hand nobody computes more.
MOST_TERMS = 100_000


@dataclass(frozen=True, eq=False)
class Between:
    """The decimals to which intermediate numbers are rounded; one entry for each way.

    `sums`: exponentials and sums of rows; `terms`: products before they are added; `root`:
    irrational factors; `steps`: whatever is given to `ByHand.between`. `significant`: whether
    significant digits are counted instead of decimals.
    """

    sums: Array
    terms: Array
    root: Array
    steps: Array
    significant: Array


@dataclass(frozen=True, eq=False)
class Manner:
    """Which of two equal formulas is calculated; one entry for each way.

    `shifted`: e^(z − max) for e^z; `inverse`: times 1/√d_k for over √d_k.
    """

    shifted: Array
    inverse: Array


class _Keeper:
    """The rounding of one kind of intermediate number in each way, for many arrays."""

    def __init__(self, decimals: Array, offsets: Array, significant: Array) -> None:
        self.rows = np.flatnonzero(decimals < UNROUNDED)  # the ways that round it at all
        self.every = len(self.rows) == len(decimals)
        self.decimals, self.offsets = decimals[self.rows], offsets[self.rows]
        self.powers = 10.0**self.decimals
        self.even = np.flatnonzero(np.isin(self.offsets, TO_EVEN))
        self.significant = np.flatnonzero(significant[self.rows])

    def __call__(self, x: Array) -> Array:
        if not self.rows.size:
            return x
        some = x if self.every else x[self.rows]
        along = (-1, *(1,) * (x.ndim - 1))
        short = to_decimals(
            some, self.powers.reshape(along), self.offsets.reshape(along), self.even
        )
        if self.significant.size:
            rows = self.significant
            few = some[rows]
            size = np.abs(np.where(np.isfinite(few) & (few != 0), few, 1.0))
            places = self.decimals[rows].reshape(along) - 1 - np.floor(np.log10(size))
            even = np.flatnonzero(np.isin(self.offsets[rows], TO_EVEN))
            short[rows] = to_decimals(few, 10.0**places, self.offsets[rows].reshape(along), even)
        if self.every:
            return short
        out = np.array(x)
        out[self.rows] = short
        return out


class ByHand(Arrays):
    """float64 with intermediate numbers rounded to a few decimals, several ways at once.

    `offsets[w]` is `ROUNDED`, `HALF_EVEN`, `CUT_OFF` or `NUMPY`. No other axis may be as long as
    the first.
    """

    name = "by hand"

    def __init__(self, decimals: Between, offsets: Array, manner: Manner | None = None) -> None:
        super().__init__()
        self.ways = len(offsets)
        self.offsets = offsets
        self._sums, self._terms, self._root, self._steps = (
            _Keeper(part, offsets, decimals.significant)
            for part in (decimals.sums, decimals.terms, decimals.root, decimals.steps)
        )
        plain = np.zeros(self.ways, dtype=bool)
        self.manner = manner or Manner(plain, plain)

    @cached_property
    def without_between(self) -> ByHand:
        """The same ways without rounding of intermediate numbers."""
        none = np.full(self.ways, UNROUNDED, float)
        significant = np.zeros(self.ways, dtype=bool)
        return ByHand(Between(none, none, none, none, significant), self.offsets, self.manner)

    def between(self, x: Array) -> Array:
        """Intermediate numbers, rounded; those that are the same in every way stay."""
        return self._in_decimals(x, self._steps)

    def _in_decimals(self, x: Array, keeper: _Keeper) -> Array:
        return keeper(x) if x.ndim >= 3 and x.shape[0] == self.ways else x

    def sums(self, x: Array) -> Array:
        """Exponentials and row sums, rounded."""
        return self._in_decimals(x, self._sums)

    def exp(self, x: Array) -> Array:
        whole = np.exp(x)
        powers = self.sums(whole)
        shifted = self._each(self.manner.shifted, x)
        if shifted is None:
            return powers
        # nobody who subtracts the maximum keeps as 0 what it leaves of a number that counts
        return np.where(shifted & (powers == 0) & (whole > 0), np.nan, powers)

    def row_sum(self, x: Array) -> Array:
        return self.sums(super().row_sum(x))

    def apply(self, name: str, x: Array) -> Array:
        value = super().apply(name, x)
        return self.sums(value) if name == "tanh" else value

    def matmul(self, a: Array, b: Array) -> Array:
        leading = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        count = int(np.prod([*leading[1:], *a.shape[-2:], b.shape[-1]]))
        if not self._terms.rows.size or count > MOST_TERMS:
            return super().matmul(a, b)
        products = a[..., :, :, None] * b[..., None, :, :]
        return np.asarray(self._in_decimals(products, self._terms).sum(axis=-2))

    def scaled(self, x: Array, factor: sympy.Expr) -> Array:
        self._keeps_minus_infinity(x, factor)
        return self.multiply(x, self._constant(factor, x))

    def over(self, x: Array, divisor: sympy.Expr) -> Array:
        self._keeps_minus_infinity(x, divisor)
        quotient = self.divide(x, self._constant(divisor, x))
        inverse = self._each(self.manner.inverse, x)
        if inverse is None:
            return quotient
        return np.where(inverse, self.multiply(x, self._constant(1 / divisor, x)), quotient)

    def _constant(self, value: sympy.Expr, x: Array) -> Array | Ground:
        number = self.scalar(value)
        if value.is_Rational or x.ndim < 3 or x.shape[0] != self.ways:
            return number
        shape = (self.ways, *(1,) * (x.ndim - 1))
        return self._in_decimals(np.full(shape, number), self._root)

    def _each(self, chosen: Array, x: Array) -> Array | None:
        """A choice for each way, along the first axis of `x`; None where no way makes it."""
        if not chosen.any() or x.ndim < 3 or x.shape[0] != self.ways:
            return None
        return chosen.reshape(-1, *(1,) * (x.ndim - 1))

    def shift(self, x: Array) -> Array:
        """By hand e^z is mostly taken as it stands; what leaves the range of floats is moved."""
        within = np.minimum(x, 1e300)
        top = self.row_max(within)
        # e to more than this is near the end of floats; by hand nobody goes there
        moved = top > 600.0
        shifted = self._each(self.manner.shifted, x)
        if shifted is not None:
            moved = moved | shifted & np.isfinite(top)
        return np.asarray(within - np.where(moved, top, 0.0))

    def vanishing(self, x: Array) -> NDArray[np.bool_]:
        """A way in which a sum is 0 comes to nothing by itself; the others go on."""
        return np.zeros(x.shape, dtype=bool)


def to_decimals(x: Array, powers: Array, offsets: Array, even: Array) -> Array:
    """Numbers with as many decimals as their power of ten has, rounded or cut off.

    `even`: the places on the first axis where ties are rounded to an even digit.
    """
    units = np.abs(x) * powers
    whole = units * _ULP
    whole += offsets
    np.floor(whole, out=whole)
    if even.size:
        some = units[even]
        tie = np.floor(some) + 0.5
        missed = (np.abs(some - tie) <= 2 * _TIE) & (offsets[even] != NUMPY)
        whole[even] = np.rint(np.where(missed, tie, some))
    whole /= powers
    np.copysign(whole, x, out=whole)
    if not units.max(initial=0.0) < _NO_FRACTION:
        whole = np.where(units < _NO_FRACTION, whole, x)
    return whole
