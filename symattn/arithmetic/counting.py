"""Formulas over shapes alone: how many operations they take, of which kind of numbers.

A node's own formula, called with `Counting`, says what it would do: no node has a count of its
own, so that none can be forgotten. The arrays hold no values: each is one number, the `Kind` of its
entries, broadcast to the shape.
"""

from __future__ import annotations

from collections import Counter
from math import prod

import numpy as np
import sympy
from numpy.typing import NDArray

from symattn.arithmetic.base import Arithmetic, Array, Ground
from symattn.arithmetic.functions import FUNCTIONS, Kind


class Counting(Arithmetic):
    """Counts scalar operations (a product and its sum are one), by the `Kind` of their results."""

    name = "counting"

    def __init__(self) -> None:
        self.operations: Counter[Kind] = Counter()
        #: How many terms the longest sum has, or whatever else is made of a whole row.
        self.longest = 1

    def scalar(self, value: sympy.Expr) -> np.float64:
        return np.float64(_kind_of(value))

    def array(self, exact: Array) -> Array:
        if exact.dtype != object:
            return array_of(exact.shape)
        return array_of(exact.shape, max(map(_kind_of, exact.ravel()), default=Kind.RATIONAL))

    def exp(self, x: Array) -> Array:
        return self._each(x, least=Kind.IRRATIONAL)

    def apply(self, name: str, x: Array) -> Array:
        return self._each(x, least=FUNCTIONS[name].kind)

    def hidden(self, x: Array) -> NDArray[np.bool_]:
        return np.broadcast_to(np.False_, x.shape)

    def vanishing(self, x: Array) -> NDArray[np.bool_]:
        return self.hidden(x)

    def equals(self, x: Array, number: int) -> NDArray[np.bool_]:
        return self.hidden(x)

    def shift(self, x: Array) -> Array:
        return self._each(x)

    def lowered(self, x: Array) -> Array:
        return self._each(x)

    def threshold(self, x: Array) -> Array:
        return self._rows(x)

    def first_largest(self, x: Array) -> Array:
        self._rows(x)
        return array_of(x.shape)

    def row_max(self, x: Array) -> Array:
        return self._rows(x)

    def row_sum(self, x: Array) -> Array:
        return self._rows(x)

    def matmul(self, a: Array, b: Array) -> Array:
        lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        return self._result((*lead, a.shape[-2], b.shape[-1]), a.shape[-1], a, b)

    def inverse(self, x: Array) -> Array:
        return self._result(x.shape, x.shape[-1], x)

    def add(self, a: Array, b: Array) -> Array:
        return self._together(a, b)

    def multiply(self, a: Array | Ground, b: Array | Ground) -> Array:
        return self._together(a, b)

    def divide(self, a: Array, b: Array | Ground) -> Array:
        return self._together(a, b)

    def whole_power(self, x: Array, exponents: Array) -> Array:
        return self._together(x, array_of(exponents.shape))

    def where_at_most(self, left: Array, right: Array, a: Array, b: Array) -> Array:
        parts = left, right, a, b
        return self._result(np.broadcast_shapes(*map(np.shape, parts)), 2, *parts)

    def where(self, condition: NDArray[np.bool_], a: Array | Ground, b: Array | Ground) -> Array:
        shape = np.broadcast_shapes(condition.shape, np.shape(a), np.shape(b))
        return self._result(shape, 1, a, b)

    def _keeps_minus_infinity(self, x: Array, factor: sympy.Expr) -> None:
        """Nothing is known of the numbers."""

    def _each(self, x: Array, least: Kind = Kind.RATIONAL) -> Array:
        return self._result(x.shape, 1, x, least=least)

    def _rows(self, x: Array) -> Array:
        return self._result((*x.shape[:-1], 1), x.shape[-1], x)

    def _together(self, a: Array | Ground, b: Array | Ground) -> Array:
        return self._result(np.broadcast_shapes(np.shape(a), np.shape(b)), 1, a, b)

    def _result(
        self,
        shape: tuple[int, ...],
        terms: int,
        *operands: Array | Ground,
        least: Kind = Kind.RATIONAL,
    ) -> Array:
        """An array of this shape made of `operands`, in `terms` operations an entry."""
        kind = max(least, *map(kind_of, operands))
        self.operations[kind] += prod(shape) * terms
        self.longest = max(self.longest, terms)
        return array_of(shape, kind)


def array_of(shape: tuple[int, ...], kind: Kind = Kind.RATIONAL) -> Array:
    """An array of entries of this kind; it takes no room."""
    return np.broadcast_to(np.float64(kind), shape)


def kind_of(x: Array | Ground) -> Kind:
    """The kind of the entries of an array of kinds; NumPy may have turned their signs."""
    array = np.asarray(x, dtype=float)
    return Kind(int(np.abs(array).max(initial=0)))


def _kind_of(value: sympy.Expr) -> Kind:
    if isinstance(value, sympy.Rational) or value in (sympy.oo, -sympy.oo):
        return Kind.RATIONAL
    transcendental = value.has(sympy.Function) and value.atoms(sympy.Function) != value.atoms(
        sympy.exp
    )
    return Kind.TRANSCENDENTAL if transcendental else Kind.IRRATIONAL
