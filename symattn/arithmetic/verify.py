"""Whether a written number is a correct rounding of a true one: decided, not sampled.

Each question comes down to the sign of x − q for a rational q, half a unit above or below what was
written (see `symattn.arithmetic.quantity`). Beyond the bound on effort the answer is "undecided",
with the bits that were tried.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from flint import arb, fmpq

from symattn.arithmetic.enclosure import BITS
from symattn.arithmetic.quantity import Quantity
from symattn.arithmetic.written import Written

#: The ways of rounding that count as right; "either" takes half-up and half-even.
Accepted: TypeAlias = Literal["either", "half-up", "half-even", "truncated"]


def rounds_to(x: Quantity, written: Written, accepted: Accepted = "either") -> bool:
    """Whether what is written is a correct rounding of x at its own digits.

    An exact claim has to be x itself; −∞ only −∞; of a number whose digits go on (``0.33…``) they
    may be x cut off. Raises `Undecided`.
    """
    if written.hidden or x.hidden:
        return written.hidden and x.hidden
    if written.places is None:
        return x.same(written.value)
    if accepted == "truncated":
        return cuts_to(x, written)
    if written.continued and cuts_to(x, written):
        return True
    value = x.ball_at(BITS[0])
    if surely_rounds(value, written):
        return True
    low, high = written.bounds
    if value < low or value > high:
        return False
    c, half = written.number, written.unit / 2
    below, above = x.side(c - half), x.side(c + half)
    if below < 0 or above > 0:
        return False
    if below > 0 and above < 0:
        return True
    tie = c - half if below == 0 else c + half
    if abs(tie) < abs(c) and accepted != "half-even":  # half-up: away from zero
        return True
    return accepted != "half-up" and _is_even(c / written.unit)


def surely_rounds(value: arb, written: Written) -> bool:
    """Whether a ball lies within half a unit of what is written: True is a proof."""
    if written.places is None:
        return False
    low, high = written.bounds
    return bool(value > low and value < high)


def surely_apart(value: arb, written: Written) -> bool:
    """Whether a ball lies more than one unit from what is written: True is a proof."""
    if written.places is None or written.hidden or not value.is_finite():
        return False
    low, high = written.reach
    return bool(value < low or value > high)


def _is_even(units: fmpq) -> bool:
    return bool(int(units.p) % 2 == 0)


def cuts_to(x: Quantity, written: Written) -> bool:
    """Whether what is written is x with the digits after its last one cut off."""
    if written.places is None or written.hidden or x.hidden:
        return False
    c, unit = written.number, written.unit
    if c == 0:
        return x.side(-unit) > 0 and x.side(unit) < 0
    if c > 0:
        return x.side(c) >= 0 and x.side(c + unit) < 0
    return x.side(c) <= 0 and x.side(c - unit) > 0


def near(x: Quantity, written: Written) -> bool:
    """Whether what is written is within one unit of its last place of x."""
    if written.places is None or written.hidden or x.hidden:
        return False
    return x.side(written.number - written.unit) >= 0 and x.side(written.number + written.unit) <= 0
