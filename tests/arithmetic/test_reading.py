"""Numbers as people write them: read exactly, bounded, never run."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from symattn.arithmetic.reading import read_array, read_number
from symattn.errors import ReadError
from tests import within_seconds

R = sympy.Rational


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("0.10", R(1, 10)),
        (0.1, R(1, 10)),
        (np.float32(0.1), R(1, 10)),
        (np.float16(0.1), R(1, 10)),
        (Decimal("0.50"), R(1, 2)),
        (Fraction(2, 6), R(1, 3)),
        (7, R(7)),
        (np.int64(7), R(7)),
        ("1/3", R(1, 3)),
        ("-1.5e-3", R(-3, 2000)),
        ("5e2", R(500)),
        (".5", R(1, 2)),
        ("−2", R(-2)),
        ("sqrt(2)", sympy.sqrt(2)),
        ("√2/2", sympy.sqrt(2) / 2),
        ("ln 2", sympy.log(2)),
        ("2 pi", 2 * sympy.pi),
        ("e^2/(e^2+2e^4)", sympy.exp(2) / (sympy.exp(2) + 2 * sympy.exp(4))),
        ("exp(-1/2)", sympy.exp(R(-1, 2))),
        ("2^-3", R(1, 8)),
        ("2^3^2", R(512)),
        ("-2^2", R(-4)),
        ("(1+2)*3", R(9)),
        ("6/2*3", R(9)),
        ("4^(1/2)", R(2)),
        ("2^2^-1", sympy.sqrt(2)),
        ("2^-1^2", R(1, 2)),
        ("e^-2^2", sympy.exp(-4)),
        ("ln(2)^2", sympy.log(2) ** 2),
        ("sqrt(2)^2", R(2)),
        ("exp(1)^2", sympy.exp(2)),
        ("ln2", sympy.log(2)),
        ("1./3*2", R(2, 3)),
        ("2.5E-1 + .5", R(3, 4)),
        ("2³ − 3⁻²", R(71, 9)),
        (r"\sqrt{2}\cdot\pi", sympy.sqrt(2) * sympy.pi),
        ("-inf", -sympy.oo),
        (sympy.sqrt(3), sympy.sqrt(3)),
        (sympy.Float("0.25"), R(1, 4)),
    ],
)
def test_numbers_are_read_exactly(written: Any, meant: Any) -> None:
    assert read_number(written, "x") == meant


REFUSED: list[tuple[Any, str]] = [
    ("", "empty"),
    ("nan", "not part of a number"),
    (float("nan"), "not a number that attention can use"),
    (float("inf"), "not a number that attention can use"),
    ("inf", "not a real number"),
    (Decimal("sNaN"), "not a number that attention can use"),
    (True, "only a mask takes true and false"),
    (None, "is not a number"),
    ("1_0", "not part of a number"),
    ("٣", "not part of a number"),
    ("0x10", "not part of a number"),
    ("1e999999999", "exponent within"),
    ("1e20000000000", "cannot be read"),
    (Decimal("1e9999"), "exponent within"),
    (10**500, "too large"),
    ("9^9^9^9", "exponents within"),
    ("e^e^e^9", "too large"),
    ("e^1000000", "too large"),
    ("(" * 50 + "1" + ")" * 50, "nested deeper"),
    ("-" * 150 + "1", "nested deeper"),
    ("-" * 30 + "(" * 30 + "1" + ")" * 30, "nested deeper"),
    ("2" * 201, "too many"),
    ("1/0", "divides by zero"),
    ("1/(sqrt(2)-sqrt(2))", "divides by zero"),
    ("0^-1", "divides by zero"),
    ("sqrt(-1)", "root of a negative"),
    ("(-8)^(1/2)", "root of a negative"),
    ("1.5.5", "not expected after a number"),
    ("1,5", "write a decimal with a point"),
    ("2^T", "not part of a number"),
    ("2e", "an exponent is cut off; write 2e3, or 2*e"),
    ("2.e+", "an exponent is cut off"),
    ("0." + "1" * 61 + "*2", "too many digits"),
    ("2^pi", "only e may have such an exponent"),
    ("ln(0)", "logarithm"),
    ("1 2", "not expected"),
    ("(1", "the bracket opened at character 1 is not closed"),
    ("1)", "not expected"),
    ("ln 2^2", "write ln(2^2) or (ln 2)^2"),
    ("log2(8)", "is not a function here"),
    ("1+", "ends too early"),
    ("__import__('os').system('true')", "names and code are not read"),
    ("lambda: 1", "names and code are not read"),
    ("x", "names and code are not read"),
    (sympy.oo, "not a number"),
    ([1], "not a number"),
]


@pytest.mark.parametrize(("written", "why"), REFUSED, ids=lambda x: repr(x)[:30])
def test_what_is_no_number_is_refused_in_one_quick_line(written: Any, why: str) -> None:
    with within_seconds(1), pytest.raises(ReadError) as error:
        read_number(written, "K[2,1]")
    message = str(error.value)
    assert message.startswith("K[2,1]: ") and why in message
    assert "\n" not in message and len(message) < 300


@settings(max_examples=400, deadline=1000, derandomize=True)
@given(st.text(alphabet="0123456789.e+-*/^() sqrtlnpi√∞'_x", max_size=40))
def test_any_text_is_a_number_or_a_refusal(text: str) -> None:
    try:
        value = read_number(text, "x")
    except ReadError as error:
        assert "\n" not in str(error)
    else:
        assert value.is_real or value == -sympy.oo


def test_matrices_come_in_many_shapes_and_mean_the_same() -> None:
    expected = [[R(1, 10), R(2)]]
    for matrix in (
        [[0.1, 2]],
        (("0.1", "2"),),
        np.array([[0.1, 2]]),
        np.array([[0.1, 2]], dtype=np.float32),
        sympy.Matrix([[R(1, 10), 2]]),
    ):
        assert read_array(matrix, "Q").tolist() == expected


@pytest.mark.parametrize(
    ("matrix", "why"),
    [
        ([[1, 2], [3]], "row 1 has 2 entries, row 2 has 1 entry"),
        ([[1, 2], 3], "row 2 has a single number"),
        ([1, [2]], "numbers and rows are mixed"),
        ([], "empty"),
        ([[]], "empty"),
        ([1, 2], "a single list"),
        ([[[1]]], "3 levels, where 2"),
        (5, "a single value"),
        ({"a": 1}, "a single value"),
        ([[1] * 300] * 300, "90000 entries are too many"),
        (np.zeros((300, 300)), "90000 entries are too many"),
        (np.array([[1j]]), "not a matrix of numbers"),
        ([[1, "-inf"]], "−∞ has no meaning"),
        ([[True]], "only a mask"),
    ],
    ids=lambda x: repr(x)[:30],
)
def test_what_is_no_matrix_is_refused(matrix: Any, why: str) -> None:
    with pytest.raises(ReadError, match=r"^Q") as error:
        read_array(matrix, "Q")
    assert why in str(error.value)


def test_masks_take_infinity_and_truth() -> None:
    assert read_array([["-inf", 0]], "mask", infinite=True)[0, 0] == -sympy.oo
    assert read_array([[True, False]], "allowed", boolean=True).tolist() == [[1, 0]]
