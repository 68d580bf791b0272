"""What floating point may do to a formula, as balls: the tolerance of every comparison.

Each operation is computed in balls and widened by the standard model of rounding errors,
fl(a ∘ b) = (a ∘ b)(1 + δ), |δ| ≤ u, with γ_k = k u / (1 − k u) for a sum of k products, plus the
smallest subnormal for underflow (N. Higham, *Accuracy and Stability of Numerical Algorithms*,
2nd ed., sections 2.2 and 3.1). The value that NumPy returns lies in the ball that comes out,
whatever the order of summation; so the radius is a tolerance that follows from the sizes and the
dtype.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy
from flint import arb, arb_mat
from numpy.typing import DTypeLike, NDArray

from symattn.arithmetic.balls import Balls, largest, less
from symattn.arithmetic.base import Array, Ground, elementwise, filled, of_rows
from symattn.arithmetic.enclosure import is_minus_infinity, nearest
from symattn.arithmetic.functions import FUNCTIONS

#: What nothing is added to has no size.
_NONE = arb(0)


def nearest_exponent(x: arb) -> int:
    """The k with |x| about 2^k, at the midpoint; far below every dtype's range for 0."""
    if x.is_zero() or not x.is_finite():
        return -100_000
    mantissa, exponent = x.mid().man_exp()
    return int(abs(int(mantissa)).bit_length() + int(exponent)) if mantissa else -100_000


class Rounded(Balls):
    """Balls widened by what one floating-point dtype may round away.

    `digits` are its significant binary digits, where they are fewer than those of the NumPy dtype
    that holds it: 8 for bfloat16 in float32.
    """

    name = "rounded"

    def __init__(self, dtype: DTypeLike, digits: int | None = None) -> None:
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        info = np.finfo(self.dtype)
        self.digits = digits
        self.unit = arb(float(info.eps)) / 2 if digits is None else arb(2) ** -digits
        self.tiny = arb(float(info.smallest_subnormal))
        self._known: dict[int, tuple[arb, arb]] = {}

    @property
    def key(self) -> tuple[object, ...]:
        """With the dtype and its digits."""
        return (*super().key, self.dtype, self.digits)

    @property
    def wide(self) -> Rounded:
        short = self.digits is not None or self.dtype == np.float16
        return Rounded(np.float32) if short else self

    def narrowed(self, x: Array) -> Array:
        return x if self.wide is self else self._widened(x)

    def _widened(self, x: Array, roundings: int = 1) -> Array:
        return self._widened_by(x, x, roundings)

    def _widened_by(self, x: Array, sizes: Array, roundings: int) -> Array:
        """Every entry of x with an error bound of so many roundings of its size.

        As `_widen`, but of all entries together: [−1, 1] times γ |size|, and the underflow.
        """
        entries = [*x.flat]
        listed = [
            _NONE if size.is_zero() or is_minus_infinity(entry) else size
            for entry, size in zip(entries, np.broadcast_to(sizes, x.shape).flat, strict=True)
        ]
        if not all(map(arb.is_finite, listed)):
            return elementwise(lambda entry, size: self._widen(entry, size, roundings), x, sizes)
        gamma, tiny = self._known.get(roundings) or self._bounds(roundings)
        underflow = arb(0, tiny)
        known = arb_mat(1, len(listed), listed) * arb(0, gamma.upper())
        known += arb_mat(1, len(listed), [_NONE if one is _NONE else underflow for one in listed])
        known += arb_mat(1, len(listed), entries)
        return filled(x.shape, known.entries())

    def _widen(self, x: arb, size: arb, roundings: int) -> arb:
        if size.is_zero() or is_minus_infinity(x):
            return x
        gamma, tiny = self._known.get(roundings) or self._bounds(roundings)
        return x + arb(0, (gamma * size.abs_upper() + tiny).upper())

    def _bounds(self, roundings: int) -> tuple[arb, arb]:
        """γ_k, and k times the smallest subnormal."""
        gamma = roundings * self.unit / (1 - roundings * self.unit)
        self._known[roundings] = gamma, roundings * self.tiny
        return self._known[roundings]

    def scalar(self, value: sympy.Expr) -> arb:
        stored: arb = self.stored(filled((1, 1), [super().scalar(value)]))[0, 0]
        return stored

    def array(self, exact: Array) -> Array:
        return self.stored(super().array(exact))

    def stored(self, x: Array) -> Array:
        """Numbers as the dtype stores them: widened unless they are there exactly."""

        def lost(one: arb, there: float) -> arb:
            return _NONE if one == arb(there) else one

        there = self.nearest(elementwise(nearest, x).astype(float))
        return self._widened_by(x, elementwise(lost, x, there), 2)

    def nearest(self, x: Array) -> Array:
        """The floats of the dtype that are nearest to floats, in float64."""
        with np.errstate(over="ignore"):
            near = x.astype(self.dtype).astype(float)
        if self.digits is None:
            return near
        fraction, exponent = np.frexp(near)
        short = np.ldexp(np.rint(np.ldexp(fraction, self.digits)), exponent - self.digits)
        return np.where(np.isfinite(near), short, near)

    def exp(self, x: Array) -> Array:
        return self._widened(super().exp(x), FUNCTIONS["exp"].roundings)

    def apply(self, name: str, x: Array) -> Array:
        # an error of the argument is in its ball already; the function adds its own
        return self._widened(super().apply(name, x), FUNCTIONS[name].roundings)

    def vanishing(self, x: Array) -> NDArray[np.bool_]:
        """Nowhere: what is too near 0 to divide by gets a tolerance without bound instead."""
        return np.zeros(x.shape, dtype=bool)

    def in_range(self, x: Array) -> tuple[Array, Array | None]:
        """Each row over a power of two near its largest entry: exact but where it underflows."""
        powers = of_rows(lambda row: arb(2) ** max(map(nearest_exponent, row), default=0), x)

        def scaled(entry: arb, power: arb) -> arb:
            quotient = entry * (1 / power)
            return quotient if quotient.is_zero() else quotient + arb(0, self.tiny)

        return elementwise(scaled, x, powers), powers

    def lowered(self, x: Array) -> Array:
        """x_ij − max_l x_il, with a ball that contains the maximum of any numbers in the row."""
        return self._widened(less(largest, x))

    def shift(self, x: Array) -> Array:
        """The shift of balls and two roundings; floating point may take another c_i.

        A single number that is not −∞ is taken off itself, whichever it is.
        """
        shifted = self._widened(super().shift(x), 2)
        hidden = self.hidden(x)
        alone = ~hidden & ((~hidden).sum(axis=-1, keepdims=True) == 1)
        return self.where(alone, self.zero, shifted)

    def whole_power(self, x: Array, exponents: Array) -> Array:
        """As many roundings as a power by repeated products has, and those of a library's own."""
        most = int(np.abs(exponents).max(initial=0))
        return self._widened(super().whole_power(x, exponents), most + 8)

    def add(self, a: Array, b: Array) -> Array:
        return self._widened(super().add(a, b))

    def multiply(self, a: Array | Ground, b: Array | Ground) -> Array:
        return self._widened(super().multiply(a, b))

    def divide(self, a: Array, b: Array | Ground) -> Array:
        return self._widened(super().divide(a, b))

    def share(self, part: Array, whole: Array) -> Array:
        """Where rounding leaves no sharper bound, a share still lies between 0 and 1."""
        between = arb(0.5, 0.5) + arb(0, 2 * self.unit)
        half = between.rad()

        def bounded(quotient: arb) -> arb:
            if not quotient.is_finite():
                return between
            return quotient if quotient.rad() < half else quotient.intersection(between)

        shares = elementwise(bounded, self.divide(part, whole))
        return self.where(Balls.vanishing(self, part) & self.equals(part, 0), self.zero, shares)

    def row_sum(self, x: Array) -> Array:
        sizes = super().row_sum(elementwise(abs, x))
        return self._widened_by(super().row_sum(x), sizes, x.shape[-1])

    def matmul(self, a: Array, b: Array) -> Array:
        sizes = super().matmul(elementwise(abs, a), elementwise(abs, b))
        return self._widened_by(super().matmul(a, b), sizes, a.shape[-1])
