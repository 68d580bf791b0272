"""Ball arithmetic: every number is an interval that provably contains the true value (Arb).

Source: F. Johansson, "Arb: efficient arbitrary-precision midpoint-radius interval arithmetic",
IEEE Trans. Computers 66 (2017). Traps of python-flint that this file steps around: `Fraction`
and `Decimal` are refused, `arb_mat.exp` is the matrix exponential, and the precision is global
to the process (so: no threads).
"""

from __future__ import annotations

import copyreg
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from math import prod
from typing import Any

import flint
import numpy as np
import sympy
from flint import arb
from numpy.typing import NDArray

from symattn.arithmetic.base import Arithmetic, Array, elementwise, stacked
from symattn.errors import SymattnError

#: Precisions tried, in bits; the last is a bound on effort, not a claim about numbers.
BITS = (96, 256, 1024, 4096, 16384, 65536, 262144)

MINUS_INFINITY = arb.neg_inf()


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Arb computes with this many bits inside the block."""
    before = flint.ctx.prec
    flint.ctx.prec = bits
    try:
        yield
    finally:
        flint.ctx.prec = before


class Balls(Arithmetic):
    """Arb balls in object arrays, at the precision in force."""

    name = "balls"

    def scalar(self, value: sympy.Expr) -> Any:
        return ball(value)

    def array(self, exact: Array) -> Array:
        return elementwise(ball, exact)

    def exp(self, x: Array) -> Array:
        return elementwise(arb.exp, x)

    def apply(self, name: str, x: Array) -> Array:
        return elementwise(BALL_FUNCTIONS[name], x)

    def hidden(self, x: Array) -> NDArray[np.bool_]:
        return np.asarray(elementwise(is_minus_infinity, x), dtype=bool)

    def row_max(self, x: Array) -> Array:
        out = np.empty((*x.shape[:-1], 1), dtype=object)
        for index in np.ndindex(*x.shape[:-1]):
            out[index] = [largest(x[index])]
        return out

    def shift(self, x: Array) -> Array:
        """Moved by an exact number near each row's maximum: no exponential overflows."""
        out = np.empty(x.shape, dtype=object)
        for index in np.ndindex(*x.shape[:-1]):
            seen = [entry.mid() for entry in x[index] if not is_minus_infinity(entry)]
            top = max(seen) if seen else arb(0)
            out[index] = [e if is_minus_infinity(e) else e - top for e in x[index]]
        return out

    def threshold(self, x: Array) -> Array:
        """By τ = max_k (sum of the k largest − 1)/k, which no tie can upset.

        Any set S has Σ_S (x − τ) ≤ Σ max(0, x − τ) = 1, with equality for the support; so the
        largest (Σ_S x − 1)/|S| is τ. The k-th largest of numbers in intervals lies between the
        k-th largest of the lower and of the upper ends.
        """
        out = np.empty((*x.shape[:-1], 1), dtype=object)
        for index in np.ndindex(*x.shape[:-1]):
            out[index] = [self._threshold(list(x[index]))]
        return out

    def _threshold(self, row: list[Any]) -> Any:
        seen = [entry for entry in row if not is_minus_infinity(entry)]
        best, added, size = arb(0), arb(0), arb(0)
        for count, entry in enumerate(_ranked(seen), start=1):
            added, size = added + entry, size + abs(entry)
            above = self._widen(self._widen(added, size, count) - 1, size + 1, 1)
            level = above / count
            best = best.max(self._widen(level, level, 2)) if count > 1 else level
        return best

    def _widen(self, x: Any, size: Any, roundings: int) -> Any:
        """What rounding in floating point may add to x; here nothing."""
        return x

    def first_largest(self, x: Array) -> Array:
        out = np.empty(x.shape, dtype=object)
        for index in np.ndindex(*x.shape[:-1]):
            out[index] = _first_largest(list(x[index]))
        return out

    def vanishing(self, x: Array) -> NDArray[np.bool_]:
        return np.asarray(elementwise(lambda entry: entry.contains(0), x), dtype=bool)

    def matmul(self, a: Array, b: Array) -> Array:
        return stacked(a, b, _product)

    def inverse(self, x: Array) -> Array:
        try:
            entries = flint.arb_mat(x.shape[-2], x.shape[-1], list(x.ravel())).inv().entries()
        except ZeroDivisionError:
            raise SymattnError("a matrix that has no inverse, or too near to tell") from None
        out = np.empty(x.size, dtype=object)
        out[:] = entries
        return out.reshape(x.shape)


def _whole(x: Any) -> tuple[int, int]:
    mantissa, exponent = x.man_exp()
    return int(mantissa), int(exponent)


def _reduced(x: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """How a ball is pickled and copied, which Arb leaves open: by its midpoint and radius."""
    if x.is_finite():
        return restored, (_whole(x.mid()), _whole(x.rad()))
    infinite = (arb.neg_inf, arb.pos_inf)
    made = next((one for one in infinite if x == one()), arb.nan if x.is_nan() else None)
    return (made, ()) if made is not None else (arb, (0, float("inf")))


def restored(middle: tuple[int, int], radius: tuple[int, int]) -> Any:
    """A ball that holds the one with this midpoint and radius, in any precision."""
    return arb(middle, radius) if radius[0] else arb(middle)


copyreg.pickle(arb, _reduced)


def largest(row: Iterable[Any]) -> Any:
    """A ball that holds the largest of the numbers in some balls, whichever it is; −∞ of none."""
    top = MINUS_INFINITY
    for entry in row:
        top = entry.max(top)
    return top


def _product(a: Array, b: Array) -> Array:
    left = flint.arb_mat(a.shape[0], a.shape[1], list(a.ravel()))
    out = left * flint.arb_mat(b.shape[0], b.shape[1], list(b.ravel()))
    entries = np.empty(a.shape[0] * b.shape[1], dtype=object)
    entries[:] = out.entries()
    return entries.reshape(a.shape[0], b.shape[1])


def _ranked(row: list[Any]) -> list[Any]:
    """Balls of the largest, the second largest, … of the numbers in a row of balls."""
    lows = sorted((entry.lower() for entry in row), reverse=True)
    highs = sorted((entry.upper() for entry in row), reverse=True)
    pairs = zip(lows, highs, strict=True)
    return [low if low == high else low.union(high) for low, high in pairs]


def _first_largest(row: list[Any]) -> list[Any]:
    """1, 0, or [0, 1] where the balls overlap so that the comparison is open."""
    least = max((entry.lower() for entry in row), default=None)
    able = [j for j, entry in enumerate(row) if not entry < least]
    out = [arb(0)] * len(row)
    for j in able:
        one = row[j]
        if any(row[k] >= one if k < j else row[k] > one for k in able if k != j):
            continue
        sure = all(one > row[k] if k < j else one >= row[k] for k in able if k != j)
        out[j] = arb(1) if sure else arb(0.5, 0.5)
    return out


def ball_sigmoid(x: Any) -> Any:
    """1 / (1 + e^−x), without overflow on either side."""
    if x.rad() > 1:  # it rises, so its ends bound it
        return ball_sigmoid(x.lower()).union(ball_sigmoid(x.upper()))
    return 1 / (1 + (-x).exp()) if not x < 0 else x.exp() / (1 + x.exp())


def ball_erf(x: Any) -> Any:
    """The error function (2/√π) ∫₀ˣ e^(−t²) dt; it rises, so the ends of a ball bound it."""
    low, high = (end.erf() if end.is_finite() else end.tanh() for end in (x.lower(), x.upper()))
    return low.union(high)


def ball_relu(x: Any) -> Any:
    """The larger of 0 and x."""
    return x.max(arb(0))


def ball_elu1(x: Any) -> Any:
    """elu(x) + 1: x + 1 from 0 on, e^x below."""
    return x + 1 if x >= 0 else x.exp() if x < 0 else (x + 1).union(x.exp())


def ball_min1(x: Any) -> Any:
    """The smaller of 1 and x."""
    return x.min(arb(1))


def ball_above0(x: Any) -> Any:
    """1 where x > 0, else 0; [0, 1] where the ball does not tell."""
    return arb(1) if x > 0 else arb(0) if x <= 0 else arb(0.5, 0.5)


def ball_below1(x: Any) -> Any:
    """1 where x < 1, else 0; [0, 1] where the ball does not tell."""
    return ball_above0(1 - x)


#: The functions of one number that formulas use beside exp.
BALL_FUNCTIONS: Mapping[str, Callable[[Any], Any]] = {
    "tanh": arb.tanh,
    "σ": ball_sigmoid,
    "√": arb.sqrt,
    "cos": arb.cos,
    "sin": arb.sin,
    "erf": ball_erf,
    "max0": ball_relu,
    "elu1": ball_elu1,
    "ln": arb.log,
    "abs": abs,
    "min1": ball_min1,
    "above0": ball_above0,
    "below1": ball_below1,
}


def nearest(x: Any) -> float:
    """The midpoint as a float; ±inf beyond its range."""
    try:
        return float(x.mid())
    except OverflowError:
        return float("inf") if x > 0 else float("-inf")


def is_minus_infinity(x: Any) -> bool:
    """Whether the ball is exactly −∞."""
    return bool(x == MINUS_INFINITY)


def ball(value: sympy.Expr) -> Any:
    """A ball that contains the SymPy number `value`.

    A number that knows its own ball (``value.ball()``) is asked for it. Raises `SymattnError` for
    what is not a real number made of rationals, roots, e, π, exponentials and logarithms (a
    symbol, for instance).
    """
    match value:
        case sympy.Rational():
            return arb(flint.fmpq(int(value.p), int(value.q)))
        case sympy.Float():
            return ball(sympy.Rational(value))
        case sympy.Add():
            return sum((ball(term) for term in value.args), arb(0))
        case sympy.Mul():
            out = arb(1)
            for factor in value.args:
                out *= ball(factor)
            return out
        case sympy.exp():
            return ball(value.args[0]).exp()
        case sympy.log():
            return ball(value.args[0]).log()
        case sympy.Abs():
            return abs(ball(value.args[0]))
        case sympy.tanh() | sympy.cos() | sympy.sin():
            return getattr(ball(value.args[0]), type(value).__name__)()
        case sympy.erf():
            return ball_erf(ball(value.args[0]))
        case sympy.Pow():
            return _power(value)
    own = getattr(value, "ball", None)
    if own is not None:
        return own()
    if value is sympy.S.NegativeInfinity:
        return MINUS_INFINITY
    if value is sympy.S.Exp1:
        return arb(1).exp()
    if value is sympy.S.Pi:
        return arb.pi()
    names = sorted(str(symbol) for symbol in getattr(value, "free_symbols", ()))
    if names:
        raise SymattnError(
            f"{', '.join(names)}: no number was given for it; give one, or ask for the exact values"
        )
    raise SymattnError(f"{value} is not a real number that can be enclosed here")


def _power(value: sympy.Pow) -> Any:
    base, exponent = value.args
    if exponent == sympy.S.Half:
        return ball(base).sqrt()
    if exponent == -sympy.S.Half:
        return ball(base).rsqrt()
    if isinstance(exponent, sympy.Integer):
        inside = ball(base)
        if 0 < exponent < 8:  # arb's own power of a ball about 0 is NaN
            return prod([inside] * int(exponent))
        return inside ** int(exponent)
    return ball(base) ** ball(exponent)


BALLS = Balls()
