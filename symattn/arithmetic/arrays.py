"""Floating-point arithmetic: NumPy arrays of float64, float32 or float16."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import sympy
from numpy.typing import NDArray

from symattn.arithmetic.base import Arithmetic, Array, Ground
from symattn.arithmetic.enclosure import ball, nearest, precision
from symattn.arithmetic.functions import FUNCTIONS
from symattn.arithmetic.machine import as_floats, is_machine
from symattn.arithmetic.shapes import Size
from symattn.errors import SymattnError, quote

DTYPES = ("float64", "float32", "float16")


class Arrays(Arithmetic):
    """NumPy floats of one dtype; numerically stable (the row maximum is subtracted)."""

    name = "arrays"

    def __init__(self, dtype: Any = "float64") -> None:
        name = ""
        if isinstance(dtype, str | type | np.dtype):  # to NumPy None is float64
            with suppress(TypeError, ValueError, SyntaxError):  # as it refuses texts
                name = np.dtype(dtype).name
        if name not in DTYPES:
            raise SymattnError(f"dtype {quote(dtype)}: choose one of {', '.join(DTYPES)}")
        self.dtype: np.dtype[Any] = np.dtype(name)

    @property
    def key(self) -> tuple[object, ...]:
        """With the dtype."""
        return self.name, self.dtype

    @property
    def wide(self) -> Arithmetic:
        """Double precision: half precision lacks most whole numbers above 2,048."""
        return self if self.dtype == np.float64 else FLOAT64

    def narrowed(self, x: Array) -> Array:
        return x.astype(self.dtype, copy=False)

    def scalar(self, value: sympy.Expr) -> Ground:
        return self.dtype.type(nearest_float(value))

    def array(self, exact: Array) -> Array:
        if exact.dtype == self.dtype:
            return exact
        if is_machine(exact):
            with np.errstate(over="ignore"):
                return as_floats(exact).astype(self.dtype)
        with np.errstate(over="ignore"):  # beyond the dtype's range is inf, as in any program
            return np.array([nearest_float(x) for x in exact.ravel()], dtype=self.dtype).reshape(
                exact.shape
            )

    def numbers(self, places: Array) -> Array:
        return places.astype(self.dtype)

    def exp(self, x: Array) -> Array:
        return np.asarray(np.exp(x))

    def apply(self, name: str, x: Array) -> Array:
        return np.asarray(FUNCTIONS[name].array(x), dtype=self.dtype)

    def whole_power(self, x: Array, exponents: Array) -> Array:
        with np.errstate(all="ignore"):  # 0 to a power below 0 is chosen nowhere, or inf
            return np.asarray(np.power(x, exponents.astype(self.dtype)), dtype=self.dtype)

    def inverse(self, x: Array) -> Array:
        try:
            return np.asarray(np.linalg.inv(x.astype(float)), dtype=self.dtype)
        except np.linalg.LinAlgError:
            raise SymattnError("a matrix that has no inverse") from None

    def hidden(self, x: Array) -> NDArray[np.bool_]:
        return np.asarray(x == -np.inf)

    def all_hidden(self, x: Array) -> Any:
        first = self.hidden(x[..., :1])  # most rows show by their first entry that they are not
        return super().all_hidden(x) if first.any() else first

    def where(self, condition: NDArray[np.bool_], a: Array | Any, b: Array | Any) -> Array:
        if isinstance(b, np.ndarray) and b.dtype == self.dtype and not np.ndim(a):
            lines = condition.shape == (*b.shape[:-1], 1)
            if (lines or condition.shape == b.shape) and not condition.any():
                return b  # which it is throughout
        return super().where(condition, a, b)

    def row_max(self, x: Array) -> Array:
        return np.asarray(x.max(axis=-1, keepdims=True, initial=-np.inf))

    def shift(self, x: Array) -> Array:
        top = self.row_max(x)
        return np.asarray(x - np.where(np.isneginf(top), np.zeros_like(top), top))

    def in_range(self, x: Array) -> tuple[Array, Array | None]:
        top = np.abs(x).max(axis=-1, keepdims=True, initial=0)
        _, exponent = np.frexp(np.where(np.isfinite(top), top, 1))
        return np.ldexp(x, -exponent), np.ldexp(np.ones_like(top), exponent)

    def lowered(self, x: Array) -> Array:
        return np.asarray(x - self.row_max(x))

    def threshold(self, x: Array) -> Array:
        ranked = np.flip(np.sort(x, axis=-1), axis=-1)
        sums = np.cumsum(ranked, axis=-1, dtype=self.dtype)
        counts = np.arange(1, x.shape[-1] + 1).astype(self.dtype)
        levels = (sums - 1) / counts
        return np.asarray(levels.max(axis=-1, keepdims=True, initial=-np.inf))

    def threshold_of_squares(self, x: Array) -> Array:
        top = self.row_max(x)
        top = np.where(np.isneginf(top), self.zero, top)
        ranked = np.maximum(
            np.flip(np.sort(x - top, axis=-1), axis=-1), -1
        )  # 1 below is never above τ
        counts = np.arange(1, x.shape[-1] + 1).astype(self.dtype)
        means = np.cumsum(ranked, axis=-1, dtype=self.dtype) / counts
        squares = np.cumsum(ranked * ranked, axis=-1, dtype=self.dtype) / counts
        levels = means - np.sqrt(np.maximum(1 / counts - squares + means * means, 0))
        support = (levels <= ranked).sum(axis=-1, keepdims=True)
        return np.asarray(np.take_along_axis(levels, support - 1, axis=-1) + top)

    def first_largest(self, x: Array) -> Array:
        first = x.argmax(axis=-1, keepdims=True)
        chosen = (np.arange(x.shape[-1]) == first).astype(self.dtype)
        unknown = np.isnan(x).any(axis=-1, keepdims=True)
        return np.asarray(np.where(unknown, self.dtype.type(np.nan), chosen))

    def top(self, x: Array, count: Size) -> Array:
        falling = np.argsort(-x, axis=-1, stable=True)
        ranks = np.argsort(falling, axis=-1)
        return self.where(ranks < int(count), self.zero, self.minus_infinity)


def nearest_float(value: sympy.Expr) -> float:
    """The float64 nearest to a SymPy number; ±inf beyond its range."""
    if isinstance(value, sympy.Rational):
        try:
            return int(value.p) / int(value.q)
        except OverflowError:
            return float("inf") if value > 0 else float("-inf")
    if value is sympy.S.NegativeInfinity:
        return float("-inf")
    with precision(80):
        return nearest(ball(value))


FLOAT64 = Arrays()
