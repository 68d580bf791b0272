"""The normalisers, held against NumPy and mpmath versions written here from their papers."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any, TypeAlias

import mpmath
import numpy as np
import pytest
import sympy
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from symattn import SymattnError
from symattn.arithmetic.arrays import Arrays
from symattn.arithmetic.balls import BALLS
from symattn.arithmetic.base import filled
from symattn.arithmetic.enclosure import ball, precision
from symattn.arithmetic.exact import EXACT
from symattn.arithmetic.functions import ball_sigmoid
from symattn.arithmetic.proof import ordered
from symattn.arithmetic.rounded import Rounded
from symattn.derivations import Derivation, Evaluation, Input, Step, worked
from symattn.nodes.normalise import (
    NORMALISERS,
    Hardmax,
    SinkSoftmax,
)
from symattn.notation.text import line
from tests.rows import every_one_has_a_row
from tests.shares import share

Array: TypeAlias = NDArray[Any]
HIDDEN = -sympy.oo
MANY = settings(max_examples=50, deadline=None, derandomize=True)
FEW = settings(max_examples=25, deadline=None, derandomize=True)
NEW = tuple(name for name in NORMALISERS if name not in ("softmax", "sum"))

n, m = sympy.symbols("n m", integer=True, positive=True)
S, A = sympy.MatrixSymbol("S", n, m), sympy.MatrixSymbol("A", n, m)
BETA = sympy.MatrixSymbol("beta", 1, 1)


# ---- the papers, for one row of floats (or of mpmath numbers) ------------------------------------


def off_by_one(row: list[Any], sink: Any, lib: Any) -> list[Any]:
    """Miller 2023: exp(x_i) / (1 + Σ exp(x_j))."""
    return with_sink(row, 0, lib)


def with_sink(row: list[Any], sink: Any, lib: Any) -> list[Any]:
    """A softmax over the row and the sink, which is then dropped (gpt-oss)."""
    top = max(*row, sink)
    powers = [0 if x == -np.inf else lib.exp(x - top) for x in row]
    return [p / (sum(powers) + lib.exp(sink - top)) for p in powers]


def sigmoid(row: list[Any], sink: Any, lib: Any) -> list[Any]:
    """1 / (1 + exp(−x))."""
    out = []
    for x in row:
        small = 0 if x == -np.inf else lib.exp(-abs(x))
        out.append(1 / (1 + small) if x >= 0 else small / (1 + small))
    return out


def sparsemax(row: list[Any], sink: Any, lib: Any) -> list[Any]:
    """Martins and Astudillo 2016, algorithm 1: sort, k(z) = max{k: 1 + k z_(k) > Σ z_(j)}."""
    ranked = sorted((x for x in row if x != -np.inf), reverse=True)
    if not ranked:
        return [0] * len(row)
    support = max(k for k in range(1, len(ranked) + 1) if 1 + k * ranked[k - 1] > sum(ranked[:k]))
    level = (sum(ranked[:support]) - 1) / support
    return [max(0, x - level) for x in row]


def entmax15(row: list[Any], sink: Any, lib: Any) -> list[Any]:
    """Peters, Niculae, Martins 2019: p_i = max(z_i/2 − τ, 0)², with τ found by halving."""
    half = [x / 2 for x in row if x != -np.inf]
    if not half:
        return [0] * len(row)
    low, high = max(half) - 1, max(half)
    for _ in range(400 if lib is mpmath else 100):
        middle = (low + high) / 2
        above = sum(max(0, x - middle) ** 2 for x in half) > 1
        low, high = (middle, high) if above else (low, middle)
    return [0 if x == -np.inf else max(0, x / 2 - low) ** 2 for x in row]


def hardmax(row: list[Any], sink: Any, lib: Any) -> list[Any]:
    """ONNX: 1 for the first maximum value, 0 for the others."""
    best = row.index(max(row))
    return [int(place == best and x != -np.inf) for place, x in enumerate(row)]


def none(row: list[Any], sink: Any, lib: Any) -> list[Any]:
    return [0 if x == -np.inf else x for x in row]


PAPERS: dict[str, Callable[[list[Any], Any, Any], list[Any]]] = {
    "softmax-off-by-one": off_by_one,
    "softmax-sink": with_sink,
    "sigmoid": sigmoid,
    "sparsemax": sparsemax,
    "entmax15": entmax15,
    "hardmax": hardmax,
    "none": none,
}


def test_every_normaliser_has_a_reference() -> None:
    home = "PAPERS of tests/nodes/test_normalisers.py"
    every_one_has_a_row(NEW, PAPERS, home, "its weights in plain Python")


def wanted(name: str, scores: Array, sink: Any, lib: Any = np) -> Array:
    out = np.empty(scores.shape, dtype=object if lib is mpmath else float)
    for place in np.ndindex(*scores.shape[:-1]):
        out[place] = PAPERS[name](list(scores[place]), sink, lib)
    return out


# ---- symattn, node alone -----------------------------------------------------------------------


def rows_of(name: str, arithmetic: Any, scores: Array, sink: Any, axis: int = 1) -> Any:
    """The node's formula for exact scores (an object array of SymPy numbers)."""
    parts = [arithmetic.array(scores)]
    if name == "softmax-sink":
        parts.append(arithmetic.array(filled((1, 1), [sink])))
    with np.errstate(all="ignore"):
        return NORMALISERS[name]._compute(arithmetic, *parts, sympy.Integer(axis))


def floats(scores: Array) -> Array:
    flat = [-np.inf if x == HIDDEN else float(x) for x in scores.ravel()]
    return np.array(flat).reshape(scores.shape)


ENTRIES = st.one_of(
    st.integers(-6, 6).map(sympy.Integer),
    st.fractions(-4, 4, max_denominator=8).map(
        lambda x: sympy.Rational(x.numerator, x.denominator)
    ),
    st.integers(2, 12).map(sympy.sqrt),
    st.just(HIDDEN),
)


@st.composite
def score_arrays(draw: st.DrawFn, entries: Any = ENTRIES, most: int = 5) -> Array:
    lead = draw(st.sampled_from([(), (2,), (2, 1)]))
    shape = (*lead, draw(st.integers(1, 3)), draw(st.integers(1, most)))
    count = int(np.prod(shape))
    return filled(shape, draw(st.lists(entries, min_size=count, max_size=count)))


SINKS = st.sampled_from([sympy.Integer(0), sympy.Rational(-3, 7), sympy.sqrt(3), sympy.Integer(9)])


@pytest.mark.parametrize("name", PAPERS)
def test_all_arithmetics_are_what_the_paper_says(name: str) -> None:
    @MANY
    @given(score_arrays(), SINKS)
    def agree(scores: Array, sink: sympy.Expr) -> None:
        plain = wanted(name, floats(scores), float(sink))
        arrays = rows_of(name, Arrays(), scores, sink)
        assert arrays.dtype == np.float64 and arrays.shape == scores.shape
        np.testing.assert_allclose(arrays, plain, rtol=1e-13, atol=1e-14)
        exact = rows_of(name, EXACT, scores, sink)
        np.testing.assert_allclose(floats(exact), plain, rtol=1e-13, atol=1e-14)
        with precision(96):
            balls = rows_of(name, BALLS, scores, sink)
            for place in np.ndindex(*scores.shape):
                assert balls[place].overlaps(ball(exact[place])), place
                narrow = balls[place].rad() < 1e-20
                assert narrow or (name == "hardmax" and balls[place].contains(0)), place

    agree()


@pytest.mark.parametrize(
    ("name", "dtype"), share(product(PAPERS, ["float64", "float32", "float16"]), 4)
)
def test_arrays_lie_in_the_rounded_balls(name: str, dtype: str) -> None:
    large = st.one_of(
        ENTRIES,
        st.sampled_from([sympy.Integer(10) ** 4, -(sympy.Integer(10) ** 4)]),
        st.fractions(-30, 30, max_denominator=1000).map(lambda x: sympy.Rational(str(x))),
    )

    @MANY
    @given(score_arrays(large), SINKS)
    def agree(scores: Array, sink: sympy.Expr) -> None:
        arrays = rows_of(name, Arrays(dtype), scores, sink)
        assert arrays.dtype == np.dtype(dtype)
        assert np.isfinite(arrays).all()
        with precision(96):
            allowed = rows_of(name, Rounded(dtype), scores, sink)
            true = rows_of(name, EXACT, scores, sink)
            for place in np.ndindex(*scores.shape):
                assert allowed[place].is_finite(), place
                assert allowed[place].contains(arb(float(arrays[place]))), place
                assert allowed[place].overlaps(ball(true[place])), place
                assert allowed[place].rad() < 1.1 * max(1, abs(float(true[place]))), place

    agree()


@pytest.mark.parametrize("name", PAPERS)
def test_tolerances_are_small_for_ordinary_scores(name: str) -> None:
    rng = np.random.default_rng(5)
    entries = [sympy.Rational(int(x), 64) for x in rng.permutation(200)[:24] - 100]
    with precision(96):
        for dtype, most in (("float64", 1e-13), ("float32", 1e-5), ("float16", 0.1)):
            allowed = rows_of(name, Rounded(dtype), filled((4, 6), entries), sympy.S.One)
            assert max(float(x.rad()) for x in allowed.ravel()) < most


@pytest.mark.parametrize("name", PAPERS)
def test_mpmath_at_fifty_digits(name: str) -> None:
    given_rows = [
        ["1/3", "2", "-7/5", "1/9"],
        ["40", "-40", "39.5", "40.25"],
        ["-3", "-9", "-4", "-5"],
    ]
    with mpmath.workdps(60), precision(250):
        scores = np.array(
            [
                [mpmath.mpf(Fraction(x).numerator) / Fraction(x).denominator for x in row]
                for row in given_rows
            ],
            dtype=object,
        )
        plain = wanted(name, scores, mpmath.mpf(1) / 3, mpmath)
        rational = filled(scores.shape, [sympy.Rational(x) for row in given_rows for x in row])
        for arithmetic in (BALLS, EXACT):
            found = rows_of(name, arithmetic, rational, sympy.Rational(1, 3))
            for place in np.ndindex(*scores.shape):
                value = found[place] if arithmetic is BALLS else ball(found[place])
                assert abs(value - arb(mpmath.nstr(plain[place], 55))) < arb(10) ** -50, place


@FEW
@given(score_arrays(st.one_of(st.integers(-6, 6).map(sympy.Integer), st.just(HIDDEN))))
def test_sparsemax_is_the_nearest_point_of_the_simplex(scores: Array) -> None:
    weights = rows_of("sparsemax", EXACT, scores, 0)
    for place in np.ndindex(*scores.shape[:-1]):
        seen = [(z, p) for z, p in zip(scores[place], weights[place], strict=True) if z != HIDDEN]
        if not seen:
            assert set(weights[place]) == {0}
            continue
        assert sum(p for _, p in seen) == 1
        slopes = [z - p for z, p in seen]  # optimal if all moves along the simplex lead away
        assert all(
            s <= max(slopes) and (p == 0 or s == max(slopes))
            for s, (_, p) in zip(slopes, seen, strict=True)
        )


# ---- masked entries, leading axes, columns -----------------------------------------------------


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_a_sink_for_each_head(dtype: str) -> None:
    scores = np.arange(24.0).reshape(2, 1, 3, 4).astype(dtype) / 8
    sinks = np.array([0.5, -2, 7], dtype=dtype).reshape(3, 1, 1)
    weights = SinkSoftmax._compute(Arrays(dtype), scores, sinks, sympy.Integer(1))
    assert weights.shape == (2, 3, 3, 4) and weights.dtype == np.dtype(dtype)
    for head, sink in enumerate([0.5, -2, 7]):
        one = wanted("softmax-sink", scores[:, 0].astype(float), sink)
        np.testing.assert_allclose(weights[:, head], one, rtol=20 * float(np.finfo(dtype).eps))


# ---- ties --------------------------------------------------------------------------------------

TIE = filled((1, 3), [sympy.Integer(1), sympy.sqrt(8), 2 * sympy.sqrt(2)])


def test_ties_of_hardmax() -> None:
    assert rows_of("hardmax", EXACT, TIE, 0).tolist() == [[0, 1, 0]]
    for bits in (64, 256, 4096):
        with precision(bits):
            found = rows_of("hardmax", BALLS, TIE, 0)[0]
            assert found[0] == 0
            assert all(x.contains(0) and x.contains(1) and x.rad() < 0.51 for x in found[1:])
    whole = filled((1, 4), [sympy.Integer(x) for x in (3, 5, 5, 5)])
    assert [float(x) for x in rows_of("hardmax", BALLS, whole, 0)[0]] == [0, 1, 0, 0]


def test_near_ties_of_hardmax_are_told_apart() -> None:
    near = filled((1, 2), [sympy.sqrt(2), sympy.sqrt(2) + sympy.Rational(1, 10**40)])
    assert rows_of("hardmax", EXACT, near, 0).tolist() == [[0, 1]]
    with precision(64):
        assert rows_of("hardmax", BALLS, near, 0)[0, 0].contains(1)
    with precision(256):
        assert rows_of("hardmax", BALLS, near, 0)[0, 0] == 0


def test_ties_of_sparsemax() -> None:
    half = sympy.Rational(1, 2)
    assert rows_of("sparsemax", EXACT, TIE, 0).tolist() == [[0, half, half]]
    edge = filled((1, 2), [sympy.sqrt(2), sympy.sqrt(2) - 1])  # exactly at the edge of the support
    assert rows_of("sparsemax", EXACT, edge, 0).tolist() == [[1, 0]]
    with precision(128):
        balls = rows_of("sparsemax", BALLS, edge, 0)[0]
        assert balls[1].contains(0) and balls[1].rad() < 1e-30


def test_ordered_proves() -> None:
    nested = sympy.sqrt(5 + 2 * sympy.sqrt(6))
    assert ordered(nested, sympy.sqrt(2) + sympy.sqrt(3)) == 0
    assert ordered(sympy.exp(sympy.sqrt(2)), 4) == 1
    assert (ordered(HIDDEN, sympy.S.Zero), ordered(sympy.S.Zero, HIDDEN)) == (-1, 1)
    with pytest.raises(SymattnError, match="no number was given"):
        ordered(sympy.Symbol("x"), sympy.S.Zero)


def test_nan_is_not_hidden_by_hardmax() -> None:
    found = Hardmax._compute(Arrays(), np.array([[1.0, np.nan], [1.0, 2.0]]), sympy.Integer(1))
    np.testing.assert_array_equal(found, [[np.nan, np.nan], [0, 1]])


def test_ball_sigmoid_stays_bounded() -> None:
    for wide in (arb(0, 1e4), arb(300, 400), arb(0, np.inf)):
        found = ball_sigmoid(wide)
        assert found.contains(0) and found.contains(1) and found.rad() < 0.6


# ---- entries and worked lines ------------------------------------------------------------------

GIVEN = [["1/3", 2, "1.5", -3], [0, "sqrt(8)", "2 sqrt(2)", 1], [1, "-inf", 2, 0], ["-inf"] * 4]


def evaluated(name: str, dtype: str = "float64") -> tuple[Evaluation, Step]:
    """A derivation of the weights alone, with numbers, and its step."""
    kind = NORMALISERS[name]
    sink = name == "softmax-sink"
    expr = kind(S, BETA) if sink else kind(S)
    inputs = (
        Input("scores", S, "scores", logits=True),
        *([Input("sink", BETA, "the sink")] if sink else []),
    )
    step = Step("weights", A, expr, kind.rule_name, kind.reason, kind.source)
    told: dict[str, Any] = {"scores": GIVEN} | ({"sink": [["0.5"]]} if sink else {})
    return Derivation(inputs, (step,)).evaluate(dtype=dtype, **told), step


def test_a_near_tie_is_shown_with_the_digits_that_tell() -> None:
    _, step = evaluated("hardmax")
    derivation = Derivation((Input("scores", S, logits=True),), (step,))
    evaluation = derivation.evaluate(scores=[["0.20203", "0.2020301"]])
    text = line(worked(evaluation, step, 0, 1))
    assert text == "a_12 = 1 since argmax(0.20203, 0.2020301) = 2"
