"""A ball, an interval with a midpoint and a radius, that provably contains a number (Arb).

Source: F. Johansson, "Arb: efficient arbitrary-precision midpoint-radius interval arithmetic",
IEEE Trans. Computers 66 (2017). Traps of python-flint that are stepped around: `Fraction` and
`Decimal` are refused, `arb_mat.exp` is the matrix exponential, and the precision is global to the
process (so: no threads).
"""

from __future__ import annotations

import copyreg
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import prod

import flint
import sympy
from flint import arb

from symattn.errors import SymattnError

#: Precisions tried, in bits; the last is a bound on effort, not a claim about numbers.
BITS = (96, 256, 1024, 4096, 16384, 65536, 262144)

MINUS_INFINITY = arb.neg_inf()

#: A ball that holds every number, −∞ too.
ANY = arb(0, arb.pos_inf())


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Arb computes with this many bits inside the block."""
    before = flint.ctx.prec
    flint.ctx.prec = bits
    try:
        yield
    finally:
        flint.ctx.prec = before


def nearest(x: arb) -> float:
    """The midpoint as a float; ±inf beyond its range."""
    try:
        return float(x.mid())
    except OverflowError:
        return float("inf") if x > 0 else float("-inf")


def is_minus_infinity(x: arb) -> bool:
    """Whether the ball is exactly −∞."""
    return bool(x == MINUS_INFINITY)


def in_flint(value: sympy.Rational) -> flint.fmpq:
    """A rational of SymPy as one of FLINT."""
    return flint.fmpq(int(value.p), int(value.q))


def in_sympy(value: flint.fmpq) -> sympy.Rational:
    """A rational of FLINT as one of SymPy."""
    return sympy.Rational(int(value.p), int(value.q))


def ball(value: sympy.Expr) -> arb:
    """A ball that contains the SymPy number `value`.

    A number that knows its own ball (``value.ball()``) is asked for it. Raises `SymattnError` for
    what is not a real number made of rationals, roots, e, π, exponentials and logarithms (a
    symbol, for instance).
    """
    match value:
        case sympy.Integer():
            return arb(int(value.p))
        case sympy.Rational():
            return arb(in_flint(value))
        case sympy.Float():
            return ball(sympy.Rational(value))
        case sympy.Add():
            return sum((ball(term) for term in value.args), arb(0))
        case sympy.Mul():
            return prod(map(ball, value.args), start=arb(1))
        case sympy.exp() | sympy.log() | sympy.tanh() | sympy.cos() | sympy.sin():
            function: Callable[[], arb] = getattr(ball(value.args[0]), type(value).__name__)
            return function()
        case sympy.Abs():
            return abs(ball(value.args[0]))
        case sympy.erf():
            return ball_erf(ball(value.args[0]))
        case sympy.Pow():
            return _power(value)
    own: Callable[[], arb] | None = getattr(value, "ball", None)
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


def _power(value: sympy.Pow) -> arb:
    base, exponent = value.args
    if exponent == sympy.S.Half:
        return ball(base).sqrt()
    if exponent == -sympy.S.Half:
        return ball(base).rsqrt()
    if isinstance(exponent, sympy.Integer):
        inside = ball(base)
        if 0 < exponent < 8:  # arb's own power of a ball about 0 is NaN
            return prod([inside] * int(exponent), start=arb(1))
        return inside ** int(exponent)
    return ball(base) ** ball(exponent)


def ball_erf(x: arb) -> arb:
    """The error function (2/√π) ∫₀ˣ e^(−t²) dt; it rises, so the ends of a ball bound it."""
    # at ±∞, where Arb's erf is NaN, tanh has the same limits
    low, high = (end.erf() if end.is_finite() else end.tanh() for end in (x.lower(), x.upper()))
    return low.union(high)


def _whole(x: arb) -> tuple[int, int]:
    mantissa, exponent = x.man_exp()
    return int(mantissa), int(exponent)


def _reduced(x: arb) -> tuple[Callable[..., arb], tuple[object, ...]]:
    """How a ball is pickled and copied, which Arb leaves open: by its midpoint and radius."""
    if x.is_finite():
        return restored, (_whole(x.mid()), _whole(x.rad()))
    infinite = (arb.neg_inf, arb.pos_inf)
    infinity = next((one for one in infinite if x == one()), arb.nan if x.is_nan() else None)
    return (infinity, ()) if infinity is not None else (arb, (0, float("inf")))


def restored(middle: tuple[int, int], radius: tuple[int, int]) -> arb:
    """A ball that holds the one with this midpoint and radius, in any precision."""
    return arb(middle, radius) if radius[0] else arb(middle)


copyreg.pickle(arb, _reduced)
