"""Correct rounding, cutting off and nearness against exact fractions, at and beside every edge."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import pytest
import sympy
from flint import arb
from hypothesis import example, given
from hypothesis import strategies as st

from symattn.arithmetic.quantity import Quantity, exactly
from symattn.arithmetic.verify import (
    Accepted,
    cuts_to,
    near,
    rounds_to,
    surely_apart,
    surely_rounds,
)
from symattn.arithmetic.written import Written, read_written
from symattn.errors import Undecided

POLICIES: tuple[Accepted, ...] = ("either", "half-up", "half-even", "truncated")


def known(value: sympy.Expr | Fraction) -> Quantity:
    """A quantity with a known value."""
    return exactly(sympy.sympify(value))


def written(text: str) -> Written:
    found = read_written(text, "")
    assert found is not None
    return found


def accepts(x: Fraction, units: int, places: int, policy: Accepted) -> bool:
    """The definition, in integers: is `units`/10^places x rounded, or cut off?"""
    scaled = x * Fraction(10) ** places
    floor = scaled.numerator // scaled.denominator
    if policy == "truncated":
        return units == (floor if x >= 0 or scaled == floor else floor + 1)
    twice = 2 * scaled
    if twice.denominator != 1 or twice % 2 == 0:  # no tie
        nearest = (twice.numerator + twice.denominator) // (2 * twice.denominator)
        return units == nearest
    away = floor + 1 if x > 0 else floor
    even = floor if floor % 2 == 0 else floor + 1
    return units in {"half-up": (away,), "half-even": (even,)}.get(policy, (away, even))


@given(
    st.fractions(-20, 20, max_denominator=4000),
    st.integers(-1, 3),
    st.integers(-2, 2),
    st.sampled_from(POLICIES),
)
@example(Fraction(1, 8), 2, 0, "half-even")
@example(Fraction(-1, 8), 2, 1, "half-up")
@example(Fraction(-1, 8), 2, -1, "half-up")
@example(Fraction(5), -1, 0, "half-even")
def test_rounding_agrees_with_integers(
    x: Fraction, places: int, off: int, policy: Accepted
) -> None:
    scaled = x * Fraction(10) ** places
    units = scaled.numerator // scaled.denominator + off
    claim = written(f"{units}e{-places}")
    assert rounds_to(known(x), claim, policy) is accepts(x, units, places, policy)
    assert cuts_to(known(x), claim) is accepts(x, units, places, "truncated")
    assert near(known(x), claim) is (
        abs(x - units / Fraction(10) ** places) <= 1 / Fraction(10) ** places
    )


#: A tie, what each policy makes of it, and beside it by less than a double can tell.
@pytest.mark.parametrize(
    ("x", "claim", "right"),
    [
        ("0.125", "0.13", {"either", "half-up"}),
        ("0.125", "0.12", {"either", "half-even", "truncated"}),
        ("0.375", "0.38", {"either", "half-up", "half-even"}),
        ("0.375", "0.37", {"truncated"}),
        ("-0.125", "-0.13", {"either", "half-up"}),
        ("-0.125", "-0.12", {"either", "half-even", "truncated"}),
        ("0.5", "1", {"either", "half-up"}),
        ("0.5", "0", {"either", "half-even", "truncated"}),
        ("-0.5", "-1", {"either", "half-up"}),
        ("-0.5", "-0", {"either", "half-even", "truncated"}),
        ("1.5", "2", {"either", "half-up", "half-even"}),
        ("150", "2e2", {"either", "half-up", "half-even"}),
        ("250", "3e2", {"either", "half-up"}),
        ("0.125", "0.14", set()),
        ("0.125", "0.11", set()),
    ],
)
def test_ties(x: str, claim: str, right: set[str]) -> None:
    quantity = known(Fraction(x))
    assert {policy for policy in POLICIES if rounds_to(quantity, written(claim), policy)} == right


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("exponent", [20, 60, 300])
def test_a_hair_beside_a_tie_is_none(sign: int, exponent: int) -> None:
    hair = Fraction(sign, 10**exponent)
    assert rounds_to(known(Fraction(1, 8) + hair), written("0.13")) is (sign > 0)
    assert rounds_to(known(Fraction(1, 8) + hair), written("0.12")) is (sign < 0)
    irrational = sympy.Rational(1, 8) + sign * sympy.exp(-exponent)
    assert rounds_to(known(irrational), written("0.13")) is (sign > 0)


def test_undecided_says_how_many_bits_were_tried() -> None:
    lost = Quantity(lambda bits: arb(0.125, 2.0**-40), lambda: None, most_bits=1024)
    with pytest.raises(Undecided, match="1,024 bits"):
        rounds_to(lost, written("0.13"))
    assert rounds_to(lost, written("0.1"))  # which needs no more


def test_an_exact_claim_without_an_exact_value_is_undecided() -> None:
    root = Quantity(known(sympy.sqrt(2)).ball_at, lambda: None)
    with pytest.raises(Undecided, match="undecided at 1,024 bits"):
        rounds_to(root, written("sqrt(2)"))
    assert not rounds_to(root, written("sqrt(2)+10^-200"))


@pytest.mark.parametrize(
    ("value", "claim", "same"),
    [
        (sympy.Rational(1, 3), "1/3", True),
        (sympy.Rational(1, 3), "0.3333333333/1", False),
        (1 / (1 + 2 * sympy.exp(2)), "e^2/(e^2+2e^4)", True),
        (1 / (1 + 2 * sympy.exp(2)), "e^2/(e^2+2e^4)+10^-300", False),
        (sympy.sqrt(2) + sympy.sqrt(3), "sqrt(5+2sqrt(6))", True),
        (sympy.Integer(0), "e^(-300)", False),
    ],
)
def test_exact_claims_are_decided_known(value: sympy.Expr, claim: str, same: bool) -> None:
    assert rounds_to(known(value), written(claim)) is same
    assert not near(known(value), written(claim))
    assert not cuts_to(known(value), written(claim))


def test_minus_infinity_is_only_itself() -> None:
    hidden, number = known(sympy.S.NegativeInfinity), known(Fraction(-(10**9)))
    assert rounds_to(hidden, written("-inf"))
    assert not rounds_to(hidden, written("-1e9"))
    assert not rounds_to(number, written("-inf"))
    for compare, (x, claim) in product((cuts_to, near), ((hidden, "-1e9"), (number, "-inf"))):
        assert not compare(x, written(claim))


@pytest.mark.parametrize(
    ("ball", "claim", "inside", "apart"),
    [
        (arb("0.121"), "0.12", True, False),
        (arb("0.1249"), "0.12", True, False),
        (arb("0.1251"), "0.12", False, False),  # beyond half a unit
        (arb("0.1299"), "0.12", False, False),
        (arb("0.1301"), "0.12", False, True),  # beyond a unit
        (arb("0.1099"), "0.12", False, True),
        (arb("-0.1301"), "-0.12", False, True),
        (arb("-0.121"), "-0.12", True, False),
        (arb("0.12", 0.0051), "0.12", False, False),  # too wide to tell
        (arb("0.12", 0.0049), "0.12", True, False),
        (arb("0.14", 0.0101), "0.12", False, False),
        (arb("0.14", 0.0099), "0.12", False, True),
        (arb("0.121"), "3/25", False, False),  # an exact claim has no unit
        (arb("9"), "3/25", False, False),
        (arb("nan"), "0.12", False, False),
        (arb("inf"), "0.12", False, False),
        (arb(0, arb("inf")), "0.12", False, False),
        (arb("-inf"), "-inf", False, False),
        (arb("0.12"), "-inf", False, False),
    ],
)
def test_one_ball_that_tells(ball: Any, claim: str, inside: bool, apart: bool) -> None:
    """It lies within half a unit, or more than a unit away; where it cannot tell, neither."""
    assert surely_rounds(ball, written(claim)) is inside
    assert surely_apart(ball, written(claim)) is apart
