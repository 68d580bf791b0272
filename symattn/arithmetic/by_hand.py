"""Arithmetic as people do it by hand: what is computed on the way is kept with a few decimals.

Many ways of doing so are followed at once: arrays have a leading axis, one entry for each way.
Exponentials, sums of rows, products before they are added and irrational factors are rounded, or
cut off, to the decimals of their way; the last operation of a formula is not, since its result is
written down, with digits of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sympy

from symattn.arithmetic.arrays import Arrays
from symattn.arithmetic.base import Array

#: Decimals that stand for "unrounded": more than a float holds.
UNROUNDED = 15

#: A tie that floating point missed by this much, in units, is a tie.
_TIE = 1e-9

#: A product of floats is short by less than this factor.
_ULP = 1 + 4e-16

#: What is added to the size of a number, in units, before its fraction is dropped; ties that are
#: rounded to an even digit are put right afterwards.
ROUNDED, HALF_EVEN, CUT_OFF = 0.5 + _TIE, 0.5 + 2 * _TIE, _TIE

#: From this many units on a float has no fraction to drop.
_NO_FRACTION = 2.0**50

#: e to more than this is near the end of floats; by hand nobody goes there.
_HIGHEST = 600.0

#: Products of one matrix product that are rounded one by one; by hand nobody computes more.
MOST_TERMS = 100_000


@dataclass(frozen=True, eq=False)
class Between:
    """To how many decimals each way keeps what is not written down; an entry for each way.

    `sums`: exponentials and sums of rows; `terms`: products before they are added; `rest`:
    irrational factors, and whatever else is told by `ByHand.between`. `significant`: whether
    significant digits are counted instead of decimals.
    """

    sums: Array
    terms: Array
    rest: Array
    significant: Array


@dataclass(frozen=True, eq=False)
class Manner:
    """How each way computes where there are two; an entry for each way.

    `shifted`: e^(z − max) for e^z; `inverse`: times 1/√d_k for over √d_k.
    """

    shifted: Array
    inverse: Array


class ByHand(Arrays):
    """float64, with what comes in between kept to a few decimals, each way its own.

    `offsets[w]` is `ROUNDED`, `HALF_EVEN` or `CUT_OFF`. No other axis may be as long as the first.
    """

    name = "by hand"

    def __init__(self, decimals: Between, offsets: Array, manner: Manner | None = None) -> None:
        super().__init__()
        self.ways = len(offsets)
        self.decimals, self.offsets = decimals, offsets
        plain = np.zeros(self.ways, dtype=bool)
        self.manner = manner or Manner(plain, plain)

    @cached_property
    def without_between(self) -> ByHand:
        """The same ways with nothing rounded in between."""
        none = np.full(self.ways, UNROUNDED, float)
        significant = np.zeros(self.ways, dtype=bool)
        return ByHand(Between(none, none, none, significant), self.offsets, self.manner)

    def between(self, x: Array) -> Array:
        """Numbers as they are kept; those that are the same in every way are left alone."""
        return self._kept(x, self.decimals.rest)

    def _kept(self, x: Array, decimals: Array) -> Array:
        if x.ndim < 3 or x.shape[0] != self.ways or decimals.min() >= UNROUNDED:
            return x
        along = (-1, *(1,) * (x.ndim - 1))
        places = decimals.reshape(along)
        significant = self._each(self.decimals.significant, x)
        if significant is not None:
            size = np.abs(np.where(np.isfinite(x) & (x != 0), x, 1.0))
            places = np.where(significant, places - 1 - np.floor(np.log10(size)), places)
        return kept(x, 10.0**places, self.offsets.reshape(along))

    def sums(self, x: Array) -> Array:
        """Exponentials and sums of rows as they are kept."""
        return self._kept(x, self.decimals.sums)

    def exp(self, x: Array) -> Array:
        return self.sums(np.exp(x))

    def row_sum(self, x: Array) -> Array:
        return self.sums(super().row_sum(x))

    def apply(self, name: str, x: Array) -> Array:
        value = super().apply(name, x)
        return self.sums(value) if name == "tanh" else value

    def matmul(self, a: Array, b: Array) -> Array:
        leading = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        count = int(np.prod([*leading[1:], *a.shape[-2:], b.shape[-1]]))
        if self.decimals.terms.min() >= UNROUNDED or count > MOST_TERMS:
            return super().matmul(a, b)
        products = a[..., :, :, None] * b[..., None, :, :]
        return np.asarray(self._kept(products, self.decimals.terms).sum(axis=-2))

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

    def _constant(self, value: sympy.Expr, x: Array) -> Any:
        number = self.scalar(value)
        if value.is_Rational or x.ndim < 3 or x.shape[0] != self.ways:
            return number
        shape = (self.ways, *(1,) * (x.ndim - 1))
        return self.between(np.full(shape, number))

    def _each(self, chosen: Array, x: Array) -> Array | None:
        """A choice for each way, along the first axis of `x`; None where no way makes it."""
        if not chosen.any() or x.ndim < 3 or x.shape[0] != self.ways:
            return None
        return chosen.reshape(-1, *(1,) * (x.ndim - 1))

    def shift(self, x: Array) -> Array:
        """By hand e^z is mostly taken as it stands; what leaves the range of floats is moved."""
        within = np.minimum(x, 1e300)
        top = self.row_max(within)
        moved = top > _HIGHEST
        shifted = self._each(self.manner.shifted, x)
        if shifted is not None:
            moved = moved | shifted & np.isfinite(top)
        return np.asarray(within - np.where(moved, top, 0.0))

    def vanishing(self, x: Array) -> Any:
        """A way in which a sum is 0 comes to nothing by itself; the others go on."""
        return np.zeros(x.shape, dtype=bool)


def kept(x: Array, powers: Array, offsets: Array) -> Array:
    """Numbers with as many decimals as their power of ten has, rounded or cut off."""
    units = np.abs(x) * powers
    whole = np.floor(units * _ULP + offsets)
    even = offsets == HALF_EVEN
    if even.any():
        tie = even & (np.abs(units - whole + 0.5) <= 2 * _TIE) & (whole % 2 == 1)
        whole = np.where(tie, whole - 1, whole)
    shortened = np.copysign(whole / powers, x)
    return np.asarray(np.where(units < _NO_FRACTION, shortened, x))
