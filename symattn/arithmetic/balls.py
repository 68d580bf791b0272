"""Ball arithmetic: every number is an interval that provably contains the true value (Arb).

Source: F. Johansson, "Arb: efficient arbitrary-precision midpoint-radius interval arithmetic",
IEEE Trans. Computers 66 (2017). Traps of python-flint that this file steps around: `Fraction`
and `Decimal` are refused, `arb_mat.exp` is the matrix exponential, and the precision is global
to the process (so: no threads).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import flint
import numpy as np
import sympy
from flint import arb
from numpy.typing import NDArray

from symattn.arithmetic.base import Arithmetic, Array, elementwise, stacked
from symattn.errors import SymattnError

_MINUS_INFINITY = arb.neg_inf()


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

    def shift(self, x: Array) -> Array:
        """Moved by an exact number near each row's maximum: no exponential overflows."""
        out = np.empty(x.shape, dtype=object)
        for index in np.ndindex(*x.shape[:-1]):
            seen = [entry.mid() for entry in x[index] if not is_minus_infinity(entry)]
            top = max(seen) if seen else arb(0)
            out[index] = [e if is_minus_infinity(e) else e - top for e in x[index]]
        return out

    def vanishing(self, x: Array) -> NDArray[np.bool_]:
        return np.asarray(elementwise(lambda entry: entry.contains(0), x), dtype=bool)

    def matmul(self, a: Array, b: Array) -> Array:
        return stacked(a, b, _product)


def _product(a: Array, b: Array) -> Array:
    left = flint.arb_mat(a.shape[0], a.shape[1], list(a.ravel()))
    out = left * flint.arb_mat(b.shape[0], b.shape[1], list(b.ravel()))
    entries = np.empty(a.shape[0] * b.shape[1], dtype=object)
    entries[:] = out.entries()
    return entries.reshape(a.shape[0], b.shape[1])


def ball_sigmoid(x: Any) -> Any:
    """1 / (1 + e^−x), without overflow on either side."""
    return 1 / (1 + (-x).exp()) if not x < 0 else x.exp() / (1 + x.exp())


def ball_relu(x: Any) -> Any:
    """The larger of 0 and x."""
    return x.max(arb(0))


#: The functions of one number that formulas use beside exp.
BALL_FUNCTIONS: Mapping[str, Callable[[Any], Any]] = {
    "tanh": arb.tanh,
    "σ": ball_sigmoid,
    "√": arb.sqrt,
    "cos": arb.cos,
    "sin": arb.sin,
    "max0": ball_relu,
}


def nearest(x: Any) -> float:
    """The midpoint as a float; ±inf beyond its range."""
    try:
        return float(x.mid())
    except OverflowError:
        return float("inf") if x > 0 else float("-inf")


def is_minus_infinity(x: Any) -> bool:
    """Whether the ball is exactly −∞."""
    return bool(x == _MINUS_INFINITY)


def ball(value: sympy.Expr) -> Any:
    """A ball that contains the SymPy number `value`.

    Raises `SymattnError` for what is not a real number made of rationals, roots, e, π,
    exponentials and logarithms (a symbol, for instance).
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
        case sympy.tanh() | sympy.cos() | sympy.sin():
            return getattr(ball(value.args[0]), type(value).__name__)()
        case sympy.Pow():
            return _power(value)
    if value is sympy.S.NegativeInfinity:
        return _MINUS_INFINITY
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
        return ball(base) ** int(exponent)
    return ball(base) ** ball(exponent)


BALLS = Balls()
