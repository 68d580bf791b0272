"""Arithmetic by hand against decimals: every way by itself, entry by entry."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest
import sympy

from symattn.arithmetic.by_hand import (
    CUT_OFF,
    HALF_EVEN,
    MOST_TERMS,
    ROUNDED,
    UNROUNDED,
    Between,
    ByHand,
    Manner,
    to_decimals,
)

WIDE = Context(prec=60)
MODES = {ROUNDED: ROUND_HALF_UP, HALF_EVEN: ROUND_HALF_EVEN, CUT_OFF: ROUND_DOWN}

#: Decimals and how the rest is dropped, a way each; seven, which no axis below has.
WAYS = (
    (2, ROUNDED),
    (2, HALF_EVEN),
    (2, CUT_OFF),
    (3, ROUNDED),
    (4, CUT_OFF),
    (0, ROUNDED),
    (UNROUNDED, ROUNDED),
)


def by_hand(
    ways: Iterable[tuple[int, float]] = WAYS,
    parts: str = "sums terms root steps",
    significant: bool = False,
    manner: Manner | None = None,
) -> ByHand:
    """The ways, for some of what is not written; the other is unrounded."""
    decimals, offsets = (np.array(column, float) for column in zip(*ways, strict=True))
    none = np.full(len(offsets), UNROUNDED, float)
    found = {
        part: decimals if part in parts else none for part in ("sums", "terms", "root", "steps")
    }
    counted = np.full(len(offsets), significant)
    return ByHand(Between(**found, significant=counted), offsets, manner)


def short(x: Decimal, decimals: int, offset: float) -> Decimal:
    """By the definition of decimal arithmetic."""
    if decimals >= UNROUNDED or not x.is_finite():
        return x
    return x.quantize(Decimal(1).scaleb(-decimals), MODES[offset], Context(prec=400))


def every(rows: list[list[str]]) -> Any:
    """The same matrix in every way."""
    matrix = np.array([[float(x) for x in row] for row in rows])
    return np.broadcast_to(matrix, (len(WAYS), *matrix.shape))


def decimals_of(rows: list[list[str]]) -> list[list[Decimal]]:
    return [[Decimal(x) for x in row] for row in rows]


def agree(found: Any, expected: list[list[list[Decimal]]]) -> None:
    """Way by way, to fourteen digits."""
    wanted = np.array([[[float(x) for x in row] for row in rows] for rows in expected])
    np.testing.assert_allclose(np.broadcast_to(found, wanted.shape), wanted, rtol=1e-13, atol=0)


def matrix(rng: Random, rows: int, columns: int) -> list[list[str]]:
    return [[f"{rng.randint(-4000, 4000) / 1000}" for _ in range(columns)] for _ in range(rows)]


SAMPLES = [matrix(Random(seed), 2, 3) for seed in range(20)]
TIES = [["0.125", "-0.125", "0.375"], ["-0.375", "2.5", "-2.5"]]


# ---- numbers ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "decimals", "half_up", "half_even", "cut"),
    [
        ("0.125", 2, "0.13", "0.12", "0.12"),
        ("-0.125", 2, "-0.13", "-0.12", "-0.12"),
        ("0.375", 2, "0.38", "0.38", "0.37"),
        ("-0.375", 2, "-0.38", "-0.38", "-0.37"),
        ("2.675", 2, "2.68", "2.68", "2.67"),  # a float a hair below its tie
        ("1.005", 2, "1.01", "1.00", "1.00"),
        ("0.29", 2, "0.29", "0.29", "0.29"),  # 0.29 · 100 is 28.999999999999996
        ("-0.29", 2, "-0.29", "-0.29", "-0.29"),
        ("0.1249", 2, "0.12", "0.12", "0.12"),
        ("0.12501", 2, "0.13", "0.13", "0.12"),
        ("0.5", 0, "1", "0", "0"),
        ("1.5", 0, "2", "2", "1"),
        ("-0.004", 2, "0", "0", "0"),
        ("0", 4, "0", "0", "0"),
        ("123456789.125", 2, "123456789.13", "123456789.12", "123456789.12"),
        ("1e200", 2, "1e200", "1e200", "1e200"),
        ("-1e300", 4, "-1e300", "-1e300", "-1e300"),
        ("1e-300", 4, "0", "0", "0"),
        ("-inf", 2, "-inf", "-inf", "-inf"),
    ],
)
def test_a_number_as_it_is_kept(
    x: str, decimals: int, half_up: str, half_even: str, cut: str
) -> None:
    offsets = np.array([ROUNDED, HALF_EVEN, CUT_OFF])
    with np.errstate(invalid="ignore"):  # of −∞
        found = to_decimals(
            np.full(3, float(x)), np.full(3, 10.0**decimals), offsets, np.array([1])
        )
    assert found.tolist() == [float(half_up), float(half_even), float(cut)]


def test_numbers_agree_with_decimals_and_their_shortest_digits() -> None:
    rng = Random(11)
    for _ in range(2000):
        text = f"{rng.uniform(-1, 1) * 10 ** rng.randint(-3, 2):.{rng.randint(0, 6)}f}"
        for decimals, (offset, mode) in product((0, 1, 2, 3, 4), MODES.items()):
            even = np.flatnonzero([offset == HALF_EVEN])
            one = np.array([float(text)])
            (found,) = to_decimals(one, np.full(1, 10.0**decimals), np.array([offset]), even)
            wanted = Decimal(text).quantize(Decimal(1).scaleb(-decimals), mode)
            assert float(found) == float(wanted), (text, decimals, mode)


# ---- operations ---------------------------------------------------------------------------


@pytest.mark.parametrize("rows", SAMPLES)
def test_exponentials(rows: list[list[str]]) -> None:
    expected = [
        [[short(WIDE.exp(x), *way) for x in row] for row in decimals_of(rows)] for way in WAYS
    ]
    agree(by_hand().exp(every(rows)), expected)


@pytest.mark.parametrize("rows", [*SAMPLES, TIES])
def test_sums_of_rows(rows: list[list[str]]) -> None:
    expected = [[[short(sum(row, Decimal(0)), *way)] for row in decimals_of(rows)] for way in WAYS]
    found = by_hand().row_sum(every(rows))
    assert found.shape == (len(WAYS), 2, 1)
    np.testing.assert_allclose(found, np.array(expected, float), rtol=0, atol=1e-12)


@pytest.mark.parametrize("rows", [*SAMPLES, TIES])
def test_products_are_kept_one_by_one_and_their_sum_as_it_is(rows: list[list[str]]) -> None:
    others = [["0.5", "1.01", "-3", "0.125"], ["1.5", "-1", "7.3", "0"], ["2", "1", "-0.25", "1"]]
    expected = [
        [
            [
                sum((short(a * b, *way) for a, b in zip(row, column, strict=True)), Decimal(0))
                for column in zip(*decimals_of(others), strict=True)
            ]
            for row in decimals_of(rows)
        ]
        for way in WAYS
    ]
    found = by_hand().matmul(every(rows), every(others))
    np.testing.assert_allclose(found, np.array(expected, float), rtol=0, atol=1e-12)


@pytest.mark.parametrize("square", [2, 3, 4, 5, 8])
def test_a_root_is_kept_and_a_whole_number_left(square: int) -> None:
    x, z, root = every(SAMPLES[0]), decimals_of(SAMPLES[0]), WIDE.sqrt(Decimal(square))
    expected = [[[WIDE.divide(y, short(root, *way)) for y in row] for row in z] for way in WAYS]
    agree(by_hand().over(x, sympy.sqrt(square)), expected)
    factor, inverse = 1 / sympy.sqrt(square), WIDE.divide(1, root)
    if not factor.is_Rational:
        expected = [[[y * short(inverse, *way) for y in row] for row in z] for way in WAYS]
        agree(by_hand().scaled(x, factor), expected)
    third = [[[y / 3 for y in row] for row in z]] * len(WAYS)
    agree(by_hand().scaled(x, sympy.Rational(1, 3)), third)
    agree(by_hand().over(x, sympy.Integer(3)), third)


# ---- edges --------------------------------------------------------------------------------------


def test_minus_infinity_weighs_nothing() -> None:
    row = every([["-inf", "0.5"], ["-inf", "-inf"]])
    assert by_hand().exp(row)[0].tolist() == [[0.0, 1.65], [0.0, 0.0]]
    assert by_hand().over(row, sympy.sqrt(2))[0, 1].tolist() == [-np.inf, -np.inf]
    shifted = by_hand().shift(row)
    assert (shifted[:, 0] == row[:, 0]).all()  # e^z as it stands, not e^(z − max)


def test_only_what_leaves_the_range_of_floats_is_moved() -> None:
    rows = every([["599", "1"], ["800", "799"]])
    shifted = by_hand().shift(rows)
    assert shifted[0].tolist() == [[599.0, 1.0], [0.0, -1.0]]


def test_each_way_shifts_or_inverts_as_it_does() -> None:
    ways = ((2, ROUNDED), (2, ROUNDED), (UNROUNDED, ROUNDED))
    odd = np.array([False, True, True])
    none = np.zeros(3, dtype=bool)
    row = np.broadcast_to(np.array([[1.0, 3.0, -np.inf], [2.0, 2.5, 0.0]]), (3, 2, 3))
    shifting = by_hand(ways, manner=Manner(odd, none))
    shifted = shifting.shift(row)
    assert (shifted[0] == row[0]).all()
    assert shifted[1].tolist() == [[-2.0, 0.0, -np.inf], [-0.5, 0.0, -2.5]]
    assert shifting.exp(shifted)[1].tolist() == [[0.14, 1.0, 0.0], [0.61, 1.0, 0.08]]
    inverting = by_hand(ways, manner=Manner(none, odd))
    found = inverting.over(row, sympy.sqrt(2))[:, 0, 1]
    np.testing.assert_allclose(found, [3 / 1.41, 3 * 0.71, 3 / np.sqrt(2)])
    assert inverting.over(row, sympy.sqrt(4))[:, 0, 1].tolist() == [1.5] * 3
    assert (inverting.shift(row) == row).all()


def test_a_way_in_which_all_powers_are_nought_does_not_end_the_others() -> None:
    powers = by_hand().exp(every([["-6", "-7"]]))
    assert powers[0].tolist() == [[0.0, 0.0]]
    sums = by_hand().row_sum(powers)
    assert not by_hand().vanishing(sums).any()
    with np.errstate(all="ignore"):
        weights = by_hand().divide(powers, sums)
    assert np.isnan(weights[0]).all()
    assert weights[-1, 0, 0] == pytest.approx(1 / (1 + np.exp(-1)))


def test_very_large_products_are_not_kept_one_by_one() -> None:
    length = MOST_TERMS + 1
    row = np.full((2, 1, length), 0.001)
    column = np.full((2, length, 1), 0.5)
    ways = ((2, ROUNDED), (2, CUT_OFF))
    assert by_hand(ways).matmul(row, column)[0, 0, 0] == pytest.approx(0.0005 * length)
    fewer = by_hand(ways).matmul(row[..., :10], column[:, :10])
    assert fewer.ravel().tolist() == [0.0, 0.0]


def test_significant_digits_are_counted_from_the_first() -> None:
    numbers = np.array([[123.456, -0.0123456, 0.0, -np.inf, 9.996, 2.0281]])
    ways = ((2, ROUNDED), (3, ROUNDED), (3, CUT_OFF), (4, ROUNDED), (UNROUNDED, ROUNDED))
    found = by_hand(ways, significant=True).between(np.broadcast_to(numbers, (5, 1, 6)))
    expected = [
        [120.0, -0.012, 0.0, -np.inf, 10.0, 2.0],
        [123.0, -0.0123, 0.0, -np.inf, 10.0, 2.03],
        [123.0, -0.0123, 0.0, -np.inf, 9.99, 2.02],
        [123.5, -0.01235, 0.0, -np.inf, 9.996, 2.028],
        numbers[0],
    ]
    assert np.allclose(found[:, 0], expected, rtol=1e-12, atol=0)
