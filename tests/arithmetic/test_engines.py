"""Every arithmetic against an independent oracle, attention in mpmath."""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy
from flint import arb
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from symattn import Attention, Evaluation, Notation, SymattnError
from symattn.arithmetic.enclosure import ball, precision
from symattn.evaluate.check import compare
from tests.reference import Array, Case, cases
from tests.shares import share

DTYPES = ("float64", "float32", "float16")
MANY = settings(max_examples=50, deadline=None, derandomize=True)
FEW = settings(max_examples=30, deadline=None, derandomize=True)


def evaluated(case: Case, dtype: str = "float64") -> Evaluation:
    """symattn's answer."""
    derivation = Attention(**case.spec).derivation(given=case.told)
    return derivation.evaluate(dtype=dtype, **case.told)


# ---- arrays ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", share(DTYPES, 2))
def test_arrays_are_what_mpmath_says_and_checked(dtype: str) -> None:
    """Equal shapes, the same −∞, no NaN, and everything else within the slack."""

    @MANY
    @given(cases(large=dtype != "float16"))
    def agree(case: Case) -> None:
        evaluation, wanted = evaluated(case, dtype), case.plain()
        slack = case.slack(float(np.finfo(dtype).eps))
        assert {step.name for step in evaluation.steps} - {"mask"} == set(wanted)
        for name, value in wanted.items():
            array = evaluation[name].array
            assert (array.dtype, array.shape) == (np.dtype(dtype), value.shape), name
            assert not np.isnan(array).any(), name
            np.testing.assert_allclose(array.astype(float), value, rtol=0, atol=slack, err_msg=name)
        check = evaluation.check()
        assert check, check.first_wrong
        assert check.first_wrong is None
        assert check.dtype == dtype
        for step in check.steps:
            assert math.isfinite(step.tolerance), step
            assert step.error <= step.tolerance, step

    agree()


def as_array(value: Any) -> Array:
    """A SymPy matrix, or tuples of them, as an object array."""
    if isinstance(value, tuple):
        return np.stack([as_array(part) for part in value])
    return np.array(value.tolist(), dtype=object)


# ---- balls, exact values and decimals ----------------------------------------------------------


def decimal(value: Any, places: int) -> Decimal:
    """A number of mpmath as a decimal of so many places, which makes a tie an exact tie again."""
    with mpmath.workdps(places + 30), localcontext(prec=places + 30):
        return Decimal(mpmath.nstr(value, places + 20)).quantize(Decimal(1).scaleb(-places))


def places_of(value: Array) -> Iterator[tuple[int, ...]]:
    """The indices of all entries but −∞."""
    return (place for place in np.ndindex(*value.shape) if value[place] != mpmath.mpf("-inf"))


@FEW
@given(cases(most=3))
def test_balls_enclose_what_mpmath_says(case: Case) -> None:
    evaluation = evaluated(case)
    for name, wanted in case.precise().items():
        narrow, exact = evaluation[name].balls, as_array(evaluation[name].exact)
        wide = evaluation.balls(evaluation[name].step.letter, 40)
        assert narrow.shape == wanted.shape, name
        assert (exact == -sympy.oo).tolist() == (wanted == mpmath.mpf("-inf")).tolist(), name
        for place in places_of(wanted):
            with precision(256):
                true = arb(mpmath.nstr(wanted[place], 70)) + arb(0, 1e-50)
                assert wide[place].overlaps(true), (name, place)
                assert narrow[place].overlaps(true), (name, place)
                assert wide[place].contains(narrow[place].mid()), (name, place)
                assert narrow[place].rad() < 1e-28, (name, place)
                assert ball(exact[place]).overlaps(true), (name, place)


@MANY
@given(cases(batches=False), st.integers(0, 12))
def test_decimals_are_what_mpmath_rounds_to(case: Case, digits: int) -> None:
    spread = case.spread()
    assume(spread < 4000)
    evaluation, notation = evaluated(case), Notation(digits=digits)
    places = 40 + int(spread)  # a weight of e^(-spread) tips a tie over
    for name, wanted in case.precise(places + 10).items():
        shown: Any = np.array(evaluation[name].decimals(digits), dtype=object)
        assert shown.shape == wanted.shape, name
        for place in np.ndindex(*wanted.shape):
            text, answer = shown[place], evaluation[name].digits(place, notation)
            assert answer.text == text, (name, place)
            assert answer.proven, (name, place)
            if wanted[place] == mpmath.mpf("-inf"):
                assert (text, answer.exact) == ("-inf", True), (name, place)
                continue
            true = decimal(wanted[place], places)
            with localcontext(prec=places + 30):
                rounded = true.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
            assert Decimal(text) == rounded, (name, place, text)
            assert answer.exact == (Decimal(text) == true), (name, place, text)
            assert answer.exact or len(text.partition(".")[2]) == digits, (name, place, text)


# ---- the check ---------------------------------------------------------------------------------


def example(dtype: str) -> Evaluation:
    """Every kind of step, with numbers that no dtype holds exactly."""
    told = {
        "X": [[1, "1/3"], [-2, "0.1"]],
        "memory": [["1/9"], ["0.7"], [-1]],
        "W_Q": [["1/7", 1, "0.3", -1], ["2/3", "1/2", "0.3", "1.1"]],
        "W_K": [["1/7", "0.9", "0.6", "1/3"]],
        "W_V": [["0.2", "-1/3"]],
        "W_O": [["1/3", 1], ["0.1", "-0.7"]],
    }
    derivation = Attention(heads=2, mask="causal").derivation(given=told)
    return derivation.evaluate(dtype=dtype, **told)


STEPS = tuple(step.name for step in example("float64").steps)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", STEPS)
def test_check_fails_beyond_the_tolerance(name: str, dtype: str) -> None:
    evaluation = example(dtype)
    assert evaluation.check()
    letter = evaluation[name].step.letter
    kept, kept_as = evaluation.array(letter), ("value", letter, evaluation.arithmetic.key)
    true: Any = evaluation.balls(letter, 256)
    allowed: Any = evaluation.rounded(letter)
    for place in np.ndindex(*kept.shape):
        for side in (-1, 1):
            wrong = kept.copy()
            if np.isneginf(kept[place]):
                wrong[place] = -1e4 if side < 0 else np.nan
            else:
                tolerance = float(allowed[place].rad() + abs(allowed[place].mid() - true[place]))
                wrong[place] = float(true[place].mid()) + 3 * side * tolerance
                if tolerance == 0:
                    wrong[place] = np.nextafter(kept[place], kept.dtype.type(side * np.inf))
            evaluation._computed[kept_as] = wrong
            check = evaluation.check()
            assert not check, (name, place, side)
            assert check.first_wrong is not None
            assert check.first_wrong.name == name, (place, side)
    evaluation._computed[kept_as] = kept
    assert evaluation.check()


def balls(*numbers: float, radius: float = 0.0) -> Array:
    """A row of balls."""
    out = np.empty((1, len(numbers)), dtype=object)
    out[0, :] = [arb(number) + arb(0, radius) if radius else arb(number) for number in numbers]
    return out


@pytest.mark.parametrize(
    ("numbers", "error"),
    [
        ([[1.0, math.nan]], math.inf),
        ([[math.inf, 2.0]], math.inf),
        ([[-math.inf, 2.0]], math.inf),
        ([[1.0, 2.5]], 0.5),
        ([[1.0], [2.0]], math.inf),
        ([1.0, 2.0], math.inf),
        ([[1.0, 2.0, 3.0]], math.inf),
    ],
)
def test_compare_refuses(numbers: Any, error: float) -> None:
    true = balls(1, 2)
    result = compare("x", np.array(numbers), true, balls(1, 2, radius=0.25))
    assert not result.agrees
    assert result.error == pytest.approx(error)


def test_compare_agrees_within_and_at_minus_infinity() -> None:
    hidden = -math.inf
    true, allowed = balls(1, hidden), balls(1, hidden, radius=0)
    assert compare("x", np.array([[1.0, hidden]]), true, allowed).agrees
    near = compare("x", np.array([[1.2, hidden]]), true, np.array([[arb(1, 0.25), arb.neg_inf()]]))
    assert (near.agrees, near.worst) == (True, (0, 0))
    assert near.error == pytest.approx(0.2)
    assert 0.25 <= near.tolerance < 0.2500001
    assert near.ulps == pytest.approx(0.2 / 2.0**-52)
    for wrong in (math.inf, math.nan, -1e308, 0.0):
        assert not compare("x", np.array([[1.0, wrong]]), true, allowed).agrees


def test_compare_needs_a_finite_tolerance() -> None:
    for allowed in (arb("nan"), arb(1) / arb(0, 1), arb(1) + arb(0, math.inf)):
        result = compare("x", np.array([[7.0]]), balls(1), np.array([[allowed]]))
        assert not result.agrees, allowed


@FEW
@given(st.integers(1, 8), st.integers(1, 8), st.integers(1, 8), st.integers(0, 2**32 - 1))
def test_tolerance_is_never_wildly_loose(n: int, m: int, width: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    given = {
        name: rng.uniform(-1, 1, (rows, width)) for name, rows in [("Q", n), ("K", m), ("V", m)]
    }
    whole = rng.integers(-1, 2, (n, m))  # exact in every dtype, so that e^z rounds alone
    unfolded = Attention(unfold=True, scale=False).derivation(given=["scores"])
    for dtype, most in (("float64", 1e-13), ("float32", 1e-4), ("float16", 0.5)):
        check = Attention().derivation().evaluate(dtype=dtype, **given).check()
        alone = unfolded.evaluate(dtype=dtype, scores=whole).check()
        for step in (*check.steps, *alone.steps):
            assert step.agrees, step
            assert step.tolerance <= most, step


def test_an_overflow_is_told_from_a_disagreement() -> None:
    derivation = Attention(unfold="plain", scale=False).derivation()
    told: dict[str, Any] = {"Q": [[1], [800]], "K": [[1], ["0.5"]], "V": [[1], [2]]}
    check = derivation.evaluate(**told).check()
    assert [step.name for step in check.steps if step.overflowed] == [
        "exp",
        "exp_sum",
        "weights",
        "output",
    ]
    first = check.first_wrong
    assert first is not None
    assert (first.failed, first.entry(), first.entry(0)) == ((1, 0), "exp[2,1]", "exp[1,0]")
    assert str(first) == "exp[2,1]: the dtype overflowed; use a wider one"


@pytest.mark.parametrize("number", [np.inf, np.nan, 1e300])
def test_a_number_that_fits_has_not_overflowed(number: float) -> None:
    """Not every ∞ is the dtype's doing."""
    values = Attention(scale=False).derivation().evaluate(Q=[[1]], K=[[1], [2]], V=[[1], [2]])
    letter = values["scores"].step.letter
    values.array(letter)
    values._computed["value", letter, values.arithmetic.key] = np.array([[1.0, number]])
    first = values.check().first_wrong
    assert first is not None
    assert (first.entry(), first.overflowed) == ("scores[1,2]", False)
    assert "disagrees" in str(first)


def test_the_entry_that_failed_is_named_though_another_is_further_off() -> None:
    true, allowed = balls(1000, 1), np.array([[arb(1000, 10), arb(1, 0.01)]])
    found = compare("x", np.array([[1005.0, 1.1]]), true, allowed)
    assert (found.worst, found.failed, found.entry()) == ((0, 0), (0, 1), "x[1,2]")


def test_numbers_that_do_not_fit_into_the_dtype_when_given() -> None:
    values = (
        Attention(scale=False)
        .derivation()
        .evaluate(dtype="float16", Q=[[70000]], K=[[1], [0]], V=[[1], [2]])
    )
    first = values.check().first_wrong
    assert first is not None and first.overflowed, first


@pytest.mark.parametrize("size", ["e-310", "e-200", "", "e200"])
def test_cosines_of_very_short_and_long_vectors(size: str) -> None:
    """Exact, enclosed and in floats: the squares of the entries leave the range, cosines do not."""
    spec = Attention(score="cosine", scale=False)
    values = spec.derivation().evaluate(
        Q=[[f"3{size}", f"4{size}"]], K=[[1, 0], [1, 1]], V=[[1], [2]]
    )
    assert values["scores"].exact[0, 0] == sympy.Rational(3, 5)
    assert values["scores"].decimals(6) == [["0.6", "0.989949"]]
    np.testing.assert_allclose(values["scores"].array, [[0.6, 0.7 * 2**0.5]], rtol=1e-14)
    assert values.check().agrees


def test_a_vector_that_underflows_says_so() -> None:
    values = (
        Attention(score="cosine", scale=False)
        .derivation()
        .evaluate(dtype="float32", Q=[["3e-200", "4e-200"]], K=[[1, 0]], V=[[1]])
    )
    assert values["scores"].decimals(2) == [["0.6"]]
    with pytest.raises(SymattnError, match="all 0 in float32"):
        values["scores"].array.tolist()
    with pytest.raises(SymattnError, match="a zero vector"):
        Attention(score="cosine").derivation().evaluate(Q=[[0, 0]], K=[[1, 0]], V=[[1]])[
            "scores"
        ].exact.tolist()
