"""Arrays of floats are kept as they are, and mean the decimals that their own dtype prints."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy
from flint import arb, fmpq

from symattn import Attention, SymattnError
from symattn.arithmetic.arrays import Arrays
from symattn.arithmetic.balls import BALLS
from symattn.arithmetic.base import Array
from symattn.arithmetic.enclosure import precision
from symattn.arithmetic.exact import EXACT
from symattn.arithmetic.machine import decimals, kept
from symattn.arithmetic.reading import MAX_ENTRIES, read_array, read_matrix

DERIVATION = Attention().derivation()
RANDOM = np.random.default_rng(19)


def floats(dtype: Any, count: int) -> Array:
    """Finite floats of all sizes: those of random bits."""
    size = np.dtype(dtype).itemsize
    bits = RANDOM.integers(0, 256, size=3 * count * size, dtype=np.uint8).view(dtype)
    return np.asarray(bits[np.isfinite(bits)][:count])


HALVES = np.arange(2**16, dtype=np.uint16).view(np.float16)
KINDS = {
    "float16": HALVES[np.isfinite(HALVES)],
    "float32": floats(np.float32, 5000),
    "float64": floats(np.float64, 5000),
    "int64": RANDOM.integers(-(2**63), 2**63 - 1, size=500),
    "uint64": RANDOM.integers(0, 2**64 - 1, size=500, dtype=np.uint64),
    "bool": np.array([True, False]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_an_entry_is_the_decimal_that_its_own_dtype_prints(kind: str) -> None:
    numbers = KINDS[kind]
    meant = [Fraction(int(x) if numbers.dtype.kind == "b" else str(x)) for x in numbers]
    read = [*decimals(numbers)]
    assert [Fraction(*x[:1]) / Fraction(10) ** x[1] for x in read if x] == meant
    some = numbers[:: len(numbers) // 400 + 1]
    exact = EXACT.array(some)
    assert [Fraction(int(x.p), int(x.q)) for x in exact] == meant[:: len(numbers) // 400 + 1]


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
@pytest.mark.parametrize("kind", KINDS)
def test_floats_round_as_their_exact_values_do(kind: str, dtype: str) -> None:
    numbers = kept(KINDS[kind])[:: 1 if kind == dtype else 7]
    arithmetic = Arrays(dtype)
    found, wanted = arithmetic.array(numbers), arithmetic.array(EXACT.array(numbers))
    assert found.dtype == wanted.dtype == np.dtype(dtype)
    assert found.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("bits", [53, 128])
@pytest.mark.parametrize("kind", KINDS)
def test_balls_of_floats_hold_their_decimals(kind: str, bits: int) -> None:
    numbers = KINDS[kind][:400]
    with precision(bits):
        balls = BALLS.array(numbers)
    for ball, number in zip(balls, EXACT.array(numbers), strict=True):
        value = fmpq(int(number.p), int(number.q))
        with precision(2000):
            assert ball.contains(arb(value)) and ball.rad() <= abs(arb(value)) * arb(2) ** (
                1 - bits
            )
        if number.q & (number.q - 1) == 0 and abs(number.p).bit_length() <= bits:
            assert ball.is_exact()


def test_minus_infinity_and_minus_zero() -> None:
    logits = kept(np.array([[-np.inf, -0.0, 1.0]]))
    assert EXACT.array(logits).tolist() == [[-sympy.oo, 0, 1]]
    assert BALLS.array(logits)[0, 0] == arb.neg_inf()
    assert not np.signbit(Arrays().array(logits)[0, 1])


BAD = {
    "nan": np.array([[1.0, 2.0], [np.nan, np.inf]]),
    "inf": np.array([[1.0, np.inf]]),
    "minus infinity": np.array([[1.0, -np.inf]]),
    "float32 nan": np.array([[1.0, np.nan]], dtype=np.float32),
    "float16 inf": np.array([[np.inf]], dtype=np.float16),
    "truth": np.array([[True, False]]),
    "empty": np.zeros((0, 2)),
    "empty rows": np.zeros((2, 0)),
    "a list": np.zeros(3),
    "a value": np.array(3.0),
    "three levels": np.zeros((1, 1, 1)),
}


@pytest.mark.parametrize("kind", BAD)
def test_an_array_is_refused_as_the_same_numbers_in_brackets_are(kind: str) -> None:
    with pytest.raises(SymattnError) as listed:
        read_array(BAD[kind].tolist(), "Q")
    with pytest.raises(SymattnError) as found:
        read_matrix(BAD[kind], "Q")
    assert str(found.value) == str(listed.value)


@pytest.mark.parametrize("wrong", [2.0, np.float32(0.5), np.int32(-1), np.nan])
def test_what_is_neither_true_nor_false_is_refused_as_in_brackets(wrong: Any) -> None:
    array = np.array([[1, wrong]], dtype=np.asarray(wrong).dtype)
    with pytest.raises(SymattnError) as found:
        read_matrix(array, "allowed", boolean=True)
    with pytest.raises(SymattnError) as expected:
        read_array(array, "allowed", boolean=True)
    assert str(found.value) == str(expected.value) and "allowed[1,2]" in str(found.value)


def test_masks_take_infinity_and_truth_as_arrays() -> None:
    mask = np.array([[-np.inf, 0.0]])
    assert read_matrix(mask, "mask", infinite=True).tolist() == mask.tolist()
    allowed = read_matrix(np.array([[True, False]]), "allowed", boolean=True)
    assert EXACT.array(allowed).tolist() == [[1, 0]]


LONG = np.ones((300, 300))


@pytest.mark.parametrize(
    ("array", "why"),
    [
        (np.where(np.eye(300) == 1, np.nan, LONG), r'Q\[1,1\]: "nan" is not a number'),
        (LONG.reshape(1, 1, 1, 300, 300), "5 levels, where 2, 3 or 4"),
        (LONG.ravel(), "90000 entries are too many to derive"),
        (LONG.astype(str), "too many to read as texts"),
    ],
)
def test_large_arrays_are_looked_at_too(array: Array, why: str) -> None:
    assert array.size > MAX_ENTRIES
    with pytest.raises(SymattnError, match=why):
        DERIVATION.evaluate(Q=array, K=LONG, V=LONG)


def test_large_arrays_mean_the_same_numbers_as_small_ones() -> None:
    tenths = np.full((300, 300), 0.1, dtype=np.float32)
    assert (DERIVATION.evaluate(Q=tenths, K=tenths, V=tenths)["Q"].array == 0.1).all()
    with pytest.raises(SymattnError, match="90000 entries are too many for exact values"):
        assert DERIVATION.evaluate(Q=tenths, K=tenths, V=tenths)["weights"].exact


def test_values_are_those_of_the_same_numbers_in_brackets() -> None:
    arrays = {name: RANDOM.standard_normal((3, 3)).round(3) for name in "QKV"}
    of_arrays = DERIVATION.evaluate(**arrays)
    of_lists = DERIVATION.evaluate(**{name: array.tolist() for name, array in arrays.items()})
    for name in of_arrays:
        mine, other = of_arrays[name], of_lists[name]
        assert mine.exact == other.exact and mine.decimals(6) == other.decimals(6)
        assert mine.array.tobytes() == other.array.tobytes()
    assert str(of_arrays.check()) == str(of_lists.check())


def test_what_is_given_does_not_change_afterwards() -> None:
    given = {name: RANDOM.standard_normal((2, 2)) for name in "QKV"}
    values = DERIVATION.evaluate(**given)
    before = values["output"].array.tolist()
    again = DERIVATION.evaluate(**given)
    given["Q"][:] = 0
    assert again["output"].array.tolist() == before
    assert all(array.flags.writeable for array in given.values())


def test_shapes_are_checked_anew_and_what_is_known_of_them_is_shared() -> None:
    square, wide = np.eye(2), np.ones((2, 3))
    for _ in range(2):
        assert DERIVATION.evaluate(Q=square, K=square, V=wide).known_sizes["d_v"] == 3
        with pytest.raises(SymattnError, match="K: is 2 × 3; because of Q it has to be"):
            DERIVATION.evaluate(Q=square, K=wide, V=wide)
    for rows in range(1, 20):  # more shapes than are kept
        array = np.ones((rows, 2))
        values = DERIVATION.evaluate(Q=array, K=array, V=array)
        assert values.known_sizes["n"] == rows and values["weights"].shape == (rows, rows)
    for other in (pickle.loads(pickle.dumps(DERIVATION)), copy.deepcopy(DERIVATION)):
        assert other == DERIVATION
        assert other.evaluate(Q=square, K=square, V=wide)["output"].shape == (2, 3)
