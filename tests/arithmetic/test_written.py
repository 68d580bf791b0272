"""Numbers as written: their digits are told by their form, and nothing else is read."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from symattn.arithmetic.written import BLANKS, Written, read_written
from symattn.errors import ReadError


def written(value: object) -> Written:
    found = read_written(value, "x")
    assert found is not None
    return found


#: A number, its value, and how many decimals it claims (None: all of them).
FORMS = (
    ("0.50", Fraction(1, 2), 2),
    ("0.5", Fraction(1, 2), 1),
    (".5", Fraction(1, 2), 1),
    ("5.", Fraction(5), 0),
    ("5e-1", Fraction(1, 2), 1),
    ("5E-1", Fraction(1, 2), 1),
    ("0.50e0", Fraction(1, 2), 2),
    ("50e-2", Fraction(1, 2), 2),
    ("12", Fraction(12), 0),
    ("1200", Fraction(1200), 0),
    ("1.2e3", Fraction(1200), -2),
    ("1e3", Fraction(1000), -3),
    ("1.200e3", Fraction(1200), 0),
    ("1e0000003", Fraction(1000), -3),
    ("-0.25", Fraction(-1, 4), 2),
    ("−0.25", Fraction(-1, 4), 2),
    ("+0.25", Fraction(1, 4), 2),
    (" 0.25 ", Fraction(1, 4), 2),
    ("00.250", Fraction(1, 4), 3),
    ("-0", Fraction(0), 0),
    ("6.0337e-06", Fraction(60337, 10**10), 10),
    ("1/3", Fraction(1, 3), None),
    ("2/2", Fraction(1), None),
    ("(0.5)", Fraction(1, 2), None),
    ("0.5+0", Fraction(1, 2), None),
    ("--1", Fraction(1), None),
    (Decimal("0.50"), Fraction(1, 2), 2),
    (Decimal("5E-1"), Fraction(1, 2), 1),
    (3, Fraction(3), 0),
    (-3, Fraction(-3), 0),
    (Fraction(1, 3), Fraction(1, 3), None),
)


@pytest.mark.parametrize(("text", "value", "places"), FORMS, ids=str)
def test_digits_come_from_the_form(text: object, value: Fraction, places: int | None) -> None:
    found = written(text)
    assert found.value == sympy.Rational(value.numerator, value.denominator)
    assert found.places == places


@pytest.mark.parametrize("text", ["e^2/(e^2+2e^4)", "sqrt(2)", "ln 2", "2pi"])
def test_an_expression_claims_to_be_the_value(text: str) -> None:
    assert written(text).places is None


@given(st.integers(-(10**30), 10**30), st.integers(-40, 40))
def test_unit_number_and_bounds_agree_with_fractions(units: int, places: int) -> None:
    found = written(f"{units}e{-places}")
    unit = Fraction(1, 10**places) if places >= 0 else Fraction(10**-places)
    assert found.places == places
    assert Fraction(int(found.unit.p), int(found.unit.q)) == unit
    assert Fraction(int(found.number.p), int(found.number.q)) == units * unit
    for bound, exact in zip(found.bounds, (-unit / 2, unit / 2), strict=True):
        wanted = units * unit + exact
        middle, radius = (Fraction(str(part)) for part in _mid_rad(bound))
        assert abs(middle - wanted) <= radius
        assert radius <= abs(wanted) / 2**100


def _mid_rad(ball: object) -> tuple[sympy.Rational, sympy.Rational]:
    def exact(part: object) -> sympy.Rational:
        mantissa, exponent = part.man_exp()  # type: ignore[attr-defined]
        return sympy.Integer(int(mantissa)) * sympy.Integer(2) ** int(exponent)

    return exact(ball.mid()), exact(ball.rad())  # type: ignore[attr-defined]


@pytest.mark.parametrize("blank", [*BLANKS, " ? ", "  "])
def test_blanks(blank: str) -> None:
    assert read_written(blank, "x") is None


@pytest.mark.parametrize("text", ["-inf", "−inf", "-∞", "-infinity", Decimal("-inf")])
def test_minus_infinity(text: object) -> None:
    found = written(text)
    assert found.hidden
    assert not written("-1e9").hidden


def test_floats_of_what_floats_do_not_reach() -> None:
    assert written("1e399").nearest == math.inf
    assert written("-1e399").nearest == -math.inf
    assert written("-inf").nearest == -math.inf
    assert written("0.25").nearest == 0.25
    assert written("1e-399").nearest_unit == 0
    assert written("1e399").nearest_unit == math.inf
    assert written("0.25").nearest_unit == 0.01
    assert written("1/3").nearest_unit == 0


@pytest.mark.parametrize(
    "value",
    [
        "inf",
        "nan",
        "NaN",
        "sNaN",
        "1_0",
        "٣",
        "１",
        "0x10",
        "1e401",
        "9^9^9^9",
        "1e20000000",
        "1,",
        "10,000",
        "1,23,456",
        "0.(3)",
        "1 000",
        "≈ 1/3",
        "≈",
        "1/0",
        "import os",
        "1e",
        ".",
        "(" * 300 + "1" + ")" * 300,
        "0." + "1" * 121,
        "1" * 201,
        Decimal("nan"),
        Decimal("sNaN"),
        Decimal("inf"),
        Decimal("1e99999"),
        10**500,
    ],
    ids=lambda v: str(v)[:20],
)
def test_what_is_no_number_is_refused_in_one_line(value: object) -> None:
    with pytest.raises(ReadError) as caught:
        read_written(value, "weights[1,1]")
    assert str(caught.value).startswith("weights[1,1]: ")
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("value", [True, 0.5, None])
def test_what_does_not_say_its_digits_is_refused(value: object) -> None:
    with pytest.raises(ReadError, match="does not show how many digits it has; write it in quotes"):
        read_written(value, "x")
