"""Correct rounding, cutting off and nearness against exact fractions, at and beside every edge."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import pytest
import sympy
from flint import arb, fmpq
from hypothesis import example, given
from hypothesis import strategies as st

from symattn.arithmetic.balls import ball, precision
from symattn.arithmetic.verify import (
    Accepted,
    Quantity,
    cuts_to,
    near,
    overlaps,
    rounds_to,
    spread,
    surely_rounds,
)
from symattn.arithmetic.written import Written, read_written
from symattn.errors import Undecided

POLICIES: tuple[Accepted, ...] = ("either", "half-up", "half-even", "truncated")


def exactly(value: sympy.Expr | Fraction) -> Quantity:
    """A quantity with a known value."""
    if isinstance(value, Fraction):
        value = sympy.Rational(value.numerator, value.denominator)

    def at(bits: int) -> Any:
        with precision(bits):
            return ball(value)

    return Quantity(at, lambda: value)


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
    assert rounds_to(exactly(x), claim, policy) is accepts(x, units, places, policy)
    assert cuts_to(exactly(x), claim) is accepts(x, units, places, "truncated")
    assert near(exactly(x), claim) is (abs(x - units / Fraction(10) ** places)
                                       <= 1 / Fraction(10) ** places)  # fmt: skip


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
    quantity = exactly(Fraction(x))
    assert {policy for policy in POLICIES if rounds_to(quantity, written(claim), policy)} == right


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("exponent", [20, 60, 300])
def test_a_hair_beside_a_tie_is_none(sign: int, exponent: int) -> None:
    hair = Fraction(sign, 10**exponent)
    assert rounds_to(exactly(Fraction(1, 8) + hair), written("0.13")) is (sign > 0)
    assert rounds_to(exactly(Fraction(1, 8) + hair), written("0.12")) is (sign < 0)
    irrational = sympy.Rational(1, 8) + sign * sympy.exp(-exponent)
    assert rounds_to(exactly(irrational), written("0.13")) is (sign > 0)


def test_a_tie_in_disguise_is_one() -> None:
    half = sympy.exp(2) / (8 * sympy.exp(2))
    assert rounds_to(exactly(half), written("0.13"), "half-up")
    assert not rounds_to(exactly(half), written("0.13"), "half-even")


@pytest.mark.parametrize("digits", [15, 17, 20, 40, 80, 120])
def test_many_digits_are_decided(digits: int) -> None:
    third = exactly(Fraction(1, 3))
    assert rounds_to(third, written("0." + "3" * digits))
    assert not rounds_to(third, written("0." + "3" * (digits - 1) + "4"))
    assert near(third, written("0." + "3" * (digits - 1) + "4"))
    assert not near(third, written("0." + "3" * (digits - 1) + "5"))


def test_undecided_says_how_many_bits_were_tried() -> None:
    lost = Quantity(lambda bits: arb(0.125, 2.0**-40), lambda: None, most_bits=1024)
    with pytest.raises(Undecided, match="1,024 bits"):
        rounds_to(lost, written("0.13"))
    assert rounds_to(lost, written("0.1"))  # which needs no more


def test_an_exact_claim_without_an_exact_value_is_undecided() -> None:
    root = Quantity(exactly(sympy.sqrt(2)).ball_at, lambda: None)
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
def test_exact_claims_are_decided_exactly(value: sympy.Expr, claim: str, same: bool) -> None:
    assert rounds_to(exactly(value), written(claim)) is same
    assert not near(exactly(value), written(claim))
    assert not cuts_to(exactly(value), written(claim))


def test_minus_infinity_is_only_itself() -> None:
    hidden, number = exactly(sympy.S.NegativeInfinity), exactly(Fraction(-(10**9)))
    assert rounds_to(hidden, written("-inf"))
    assert not rounds_to(hidden, written("-1e9"))
    assert not rounds_to(number, written("-inf"))
    for compare, (x, claim) in product((cuts_to, near), ((hidden, "-1e9"), (number, "-inf"))):
        assert not compare(x, written(claim))


@pytest.mark.parametrize(("low", "high"), [("0.115", "0.125"), ("0.125", "0.135"), ("0.1", "0.2")])
def test_ranges_that_meet_what_rounds_to_a_claim(low: str, high: str) -> None:
    claim = written("0.12")
    middle, half = (Fraction(low) + Fraction(high)) / 2, (Fraction(high) - Fraction(low)) / 2
    around = arb(fmpq(middle.numerator, middle.denominator))
    around += arb(0, arb(fmpq(half.numerator, half.denominator)).upper())
    assert overlaps(around, claim)
    assert not surely_rounds(around, claim)
    assert not overlaps(around + 1, claim)
    assert surely_rounds(arb("0.121"), claim)
    assert not surely_rounds(arb("0.121"), written("121/1000"))
    assert not overlaps(arb("nan"), claim)
    assert not overlaps(arb(0, arb("inf")), claim)
    assert overlaps(arb("-inf"), written("-inf"))
    assert not overlaps(arb("-inf"), claim)
    assert overlaps(around, written("1/8"))
    assert not overlaps(around + 1, written("1/8"))


def test_a_claimed_number_stands_for_all_that_rounds_to_it() -> None:
    computed = arb(1) / 3
    around = spread(written("0.33"), computed)
    assert all(around.contains(arb(text)) for text in ("0.3251", "0.33", "0.3349"))
    assert not around.contains(arb("0.3249"))
    assert not around.contains(arb("0.3351"))
    cut = spread(written("0.33"), computed, cut=True)
    assert all(cut.contains(arb(text)) for text in ("0.3251", "0.3399"))
    assert not cut.contains(arb("0.3401"))
    below = spread(written("-0.33"), -computed, cut=True)
    assert below.contains(arb("-0.3399"))
    assert not below.contains(arb("-0.3401"))


@pytest.mark.parametrize(("claim", "computed"), [("2", "2"), ("0.50", "0.5"), ("1/3", "0.3")])
def test_where_nothing_was_rounded_a_number_stands_for_itself(claim: str, computed: str) -> None:
    assert spread(written(claim), arb(fmpq(*Fraction(computed).as_integer_ratio()))).rad() < 1e-9
