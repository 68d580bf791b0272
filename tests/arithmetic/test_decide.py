"""Deciding digits: rounding proven by balls, ties by exact arithmetic, the rest marked."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction
from typing import Any

import mpmath
import pytest
import sympy
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from symattn.arithmetic.decide import Digits, decide, enclosure
from symattn.arithmetic.enclosure import ball, precision
from symattn.arithmetic.proof import equals
from symattn.arithmetic.quantity import Quantity, exactly
from symattn.errors import SymattnError
from symattn.notation.options import Rounding

E = sympy.exp


def digits_of(
    value: Any, digits: int, rounding: Rounding = "half-up", tiny: int | None = None
) -> Digits:
    return decide(exactly(sympy.sympify(value)), digits, rounding, tiny)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    st.fractions(min_value=-1000, max_value=1000, max_denominator=2000),
    st.integers(min_value=0, max_value=6),
    st.sampled_from(["half-up", "half-even"]),
)
def test_rationals_are_rounded_as_decimal_rounds(
    value: Fraction, digits: int, rounding: Rounding
) -> None:
    found = digits_of(sympy.Rational(value.numerator, value.denominator), digits, rounding)
    mode = ROUND_HALF_UP if rounding == "half-up" else ROUND_HALF_EVEN
    with localcontext() as context:
        context.prec = 60
        near = Decimal(value.numerator) / Decimal(value.denominator)
        expected = near.quantize(Decimal(1).scaleb(-digits), rounding=mode)
    assert Decimal(found.text) == expected
    assert found.proven
    assert found.exact == (Fraction(found.text) == value)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(st.integers(min_value=-8, max_value=8), min_size=2, max_size=4), st.integers(0, 30))
def test_softmax_entries_are_rounded_as_mpmath_rounds(scores: list[int], digits: int) -> None:
    value = E(scores[0]) / sum(E(score) for score in scores)
    with mpmath.workdps(80):
        near = mpmath.exp(scores[0]) / mpmath.fsum(mpmath.exp(s) for s in scores)
        expected = Decimal(mpmath.nstr(near, 60)).quantize(
            Decimal(1).scaleb(-digits), rounding=ROUND_HALF_UP
        )
    assert Decimal(digits_of(value, digits).text) == expected


@pytest.mark.parametrize(
    ("value", "digits", "up", "even"),
    [
        ("1/8", 2, "0.13", "0.12"),
        ("-1/8", 2, "-0.13", "-0.12"),
        ("3/8", 2, "0.38", "0.38"),
        ("5/2", 0, "3", "2"),
        ("-5/2", 0, "-3", "-2"),
        (E(2) / (2 * E(2)), 0, "1", "0"),
        ((E(1) + 3 * E(2)) / (2 * E(1) + 6 * E(2)), 0, "1", "0"),
    ],
)
def test_ties_are_decided_exactly(value: Any, digits: int, up: str, even: str) -> None:
    assert digits_of(value, digits, "half-up").text == up
    assert digits_of(value, digits, "half-even").text == even


def test_a_hair_from_a_tie_is_no_tie() -> None:
    above = sympy.Rational(1, 8) + sympy.Rational(1, 10**300)
    assert digits_of(above, 2, "half-even") == Digits("0.13", False)
    nearly = (1 - E(-400)) / 2
    assert digits_of(nearly, 0) == Digits("0", False)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("27/20", Digits("1.35", True)),
        ("2", Digits("2", True)),
        ("0", Digits("0", True)),
        ("1/3", Digits("0.3333", False)),
        (sympy.sqrt(2) * 4, Digits("5.6569", False)),
        (-sympy.oo, Digits("-inf", True)),
        (1 - E(-10000), Digits("1.0000", False)),
        (E(-20), Digits("0.0000", False)),
        (10**300, Digits("1e300", True)),
        (E(10000), Digits("8.8068e4342", False)),
    ],
)
def test_exact_numbers_show_it(value: Any, expected: Digits) -> None:
    assert digits_of(value, 4) == expected


def test_tiny_numbers_can_be_shown_in_scientific_notation() -> None:
    assert digits_of(E(-20), 4, tiny=4).text == "2.0612e-9"
    almost = sympy.Rational(99999999, 10**13)
    assert digits_of(almost, 3, tiny=3).text == "1.000e-5"
    more = [digits_of(E(-11), digits, tiny=4).text for digits in (4, 5, 6)]
    assert more == ["1.6702e-5", "1.67017e-5", "1.670170e-5"]


def test_what_cannot_be_decided_is_marked() -> None:
    straddling = arb(0.5) + arb(0, 1e-30)
    found = decide(Quantity(lambda _: straddling, lambda: None), 0)
    assert not found.proven and not found.exact
    nowhere = decide(Quantity(lambda _: arb("nan"), lambda: None), 2)
    assert nowhere == Digits("?", False, proven=False)


def test_a_ball_that_lies_would_be_believed_so_balls_must_not_lie() -> None:
    """The digits follow the enclosure, not the midpoint of something wider."""
    wide = arb(0.34) + arb(0, 0.001)
    assert decide(Quantity(lambda _: wide, lambda: None), 2).text == "0.34"
    assert not decide(Quantity(lambda _: wide, lambda: None), 3).proven


@pytest.mark.parametrize(
    ("value", "number", "expected"),
    [
        ((2 * E(2) + 2 * E(4)) / (E(2) + E(4)), 2, True),
        (E(2 * sympy.sqrt(2) + 1) / (E(1) * E(4 / sympy.sqrt(2))), 1, True),
        ((1 + sympy.sqrt(2)) ** 2 * E(3) / ((3 + 2 * sympy.sqrt(2)) * E(3)), 1, True),
        (E(1) / (E(1) + 1), sympy.Rational(73, 100), False),
        (sympy.sqrt(2), sympy.Rational(7, 5), False),
        (sympy.log(2), sympy.Rational(7, 10), False),
        (sympy.log(6) - sympy.log(2) - sympy.log(3), 0, None),
    ],
)
def test_equality_with_a_rational(value: Any, number: Any, expected: bool | None) -> None:
    assert equals(value, sympy.Rational(number)) is expected


@pytest.mark.parametrize("value", ["1/3", "-22/7", "1e-30", "12345678901234567890.5"])
def test_enclosures_enclose(value: str) -> None:
    exact = sympy.Rational(value)
    with precision(128):
        low, high = enclosure(ball(exact), 12)
    assert Fraction(low) <= Fraction(int(exact.p), int(exact.q)) <= Fraction(high)


def test_enclosures_of_the_infinite() -> None:
    assert enclosure(arb.neg_inf()) == ("-inf", "-inf")
    assert enclosure(arb("nan")) == ("-inf", "inf")


def test_only_real_numbers_are_enclosed() -> None:
    with pytest.raises(SymattnError, match="no number was given"):
        ball(sympy.Symbol("x"))
    with pytest.raises(SymattnError, match="not a real number"):
        ball(sympy.I)


def test_precision_is_put_back() -> None:
    import flint

    before = flint.ctx.prec
    with pytest.raises(ZeroDivisionError), precision(500):
        assert flint.ctx.prec == 500
        raise ZeroDivisionError
    assert flint.ctx.prec == before


@pytest.mark.parametrize("power", [40, 400])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_power_of_ten_is_as_right_as_the_digits(power: int, sign: int) -> None:
    """e^(10^400) is some 10^(4·10^399): its logarithm has more digits than the usual precision."""
    found = digits_of(E(sign * sympy.Integer(10) ** power), 4, tiny=2)
    if found.text == "0.0000":  # right as well, where the logarithm is not known to its last digit
        assert (power, sign) == (400, -1)
        return
    with mpmath.workdps(power + 30):
        size = sign * mpmath.mpf(10) ** power / mpmath.ln(10)
        mantissa = mpmath.mpf(10) ** (size - mpmath.floor(size))
        assert found.text == f"{mpmath.nstr(mantissa, 5)}e{int(mpmath.floor(size))}"
