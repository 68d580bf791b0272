"""Position schemes against references written out here from the papers and their code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy
from numpy.typing import NDArray

from symattn import SymattnError
from symattn.arithmetic.arrays import Arrays
from symattn.arithmetic.balls import BALLS
from symattn.arithmetic.enclosure import ball, precision
from symattn.arithmetic.exact import EXACT
from symattn.arithmetic.rounded import Rounded
from symattn.evaluate.check import compare
from symattn.nodes.base import Node
from symattn.nodes.biases import ALiBi, RelativeBias, alibi_slopes, relative_bucket
from symattn.nodes.positions import PAIRINGS, Rotary, Sinusoidal, rotated
from symattn.step import HEAD
from tests.onnx_adapter import node_cases
from tests.positions import get_slopes, position_bucket, turned, waves

Array = NDArray[Any]
RNG = np.random.default_rng(11)
T = sympy.MatrixSymbol("T", 8, 1)


# ---- references ----------------------------------------------------------------------------------


# ---- all arithmetics -----------------------------------------------------------------------------


def in_all(node: Node, *matrices: Array) -> Array:
    """The node's value in float64, after exact values, balls, roundings and entries agree on it."""
    args = [arg for arg in node.args if not isinstance(arg, sympy.MatrixBase | sympy.MatrixSymbol)]
    exacts = [np.vectorize(sympy.Rational, otypes=[object])(matrix) for matrix in matrices]
    place = 2 if isinstance(node, RelativeBias) else 0

    def value(arithmetic: Any) -> Array:
        full = [*args[:place], *(arithmetic.array(exact) for exact in exacts), *args[place:]]
        return type(node)._compute(arithmetic, *full)

    exact = value(EXACT)
    with precision(128):
        balls: Any = value(BALLS)
        for index in np.ndindex(*balls.shape):
            assert balls[index].overlaps(ball(exact[index])), index
            assert balls[index].rad() < 1e-30, index
    for dtype in ("float64", "float32", "float16"):
        array = value(Arrays(dtype))
        assert array.dtype == np.dtype(dtype)
        with precision(128):
            result = compare("x", array, balls, value(Rounded(dtype)))
        assert result.agrees, (dtype, result)
        wrong = array.astype(float) + 1.0
        assert not compare("x", wrong, balls, value(Rounded("float64"))).agrees
    return value(Arrays("float64"))


def explicit(node: Any) -> Array:
    """The entries by the rule, as floats."""
    return np.array(node.as_explicit().evalf(30).tolist(), dtype=object).astype(float)


# ---- sinusoids -----------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [1, 2, 3, 6, 7])
@pytest.mark.parametrize(("base", "start"), [(10000, 0), (100, 5), (2.5, 1)])
def test_sinusoids_are_those_of_the_paper(width: int, base: Any, start: int) -> None:
    node = Sinusoidal(4, width, base, start)
    wanted = waves(np.arange(4) + start, width, base)
    np.testing.assert_allclose(in_all(node), wanted, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(explicit(node), wanted, rtol=1e-13, atol=1e-15)


# ---- rotary --------------------------------------------------------------------------------------

ROTATIONS = [
    {},
    {"pairing": "half"},
    {"base": 500, "start": 3},
    {"dims": 4},
    {"dims": 2, "pairing": "half", "start": 1},
]


@pytest.mark.parametrize("options", ROTATIONS)
def test_rotary_is_a_product_of_complex_numbers(options: dict[str, Any]) -> None:
    x = RNG.integers(-8, 9, (3, 6)) / 4
    full: dict[str, Any] = {"base": 10000, "dims": 6, "pairing": "interleaved", "start": 0}
    full |= options
    node = Rotary(sympy.Matrix(x.tolist()).applyfunc(sympy.Rational), **options)
    wanted = turned(x, **full)
    np.testing.assert_allclose(in_all(node, x), wanted, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(explicit(node), wanted, rtol=1e-12, atol=1e-14)
    batch = RNG.normal(size=(2, 4, 3, 6))
    done = Rotary._compute(Arrays(), batch, *node.args[1:])
    np.testing.assert_allclose(done, turned(batch, **full), rtol=1e-12, atol=1e-14)
    assert PAIRINGS[node.pairing] == full["pairing"]


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        (3, {}, "pairs"),
        (4, {"dims": 3}, "pairs"),
        (4, {"dims": 6}, "pairs"),
        (4, {"dims": 0}, "pairs"),
        (4, {"dims": -2}, "whole number"),
        (4, {"pairing": "neighbours"}, "pairing"),
        (4, {"base": 0}, "positive"),
        (4, {"base": sympy.oo}, "not a number"),
        (4, {"start": -1}, "whole number"),
        (4, {"start": 1.5}, "whole number"),
    ],
)
def test_rotary_refuses(columns: int, options: dict[str, Any], message: str) -> None:
    with pytest.raises(SymattnError, match=message):
        Rotary(sympy.MatrixSymbol("Q", 2, columns), **options)


def test_rotary_is_that_of_onnx() -> None:
    found = [
        case
        for case in node_cases("RotaryEmbedding")
        if case.model.graph.node[0].op_type == "RotaryEmbedding"
    ]
    assert len(found) >= 8
    for case in found:
        settings = {a.name: a.i for a in case.model.graph.node[0].attribute}
        (inputs, (wanted,)) = case.data_sets[0]
        x, cos, sin, *ids = (np.asarray(value) for value in inputs)
        flat = x.ndim == 3
        if flat:
            heads = settings["num_heads"]
            x = np.swapaxes(x.reshape(*x.shape[:2], heads, -1), 1, 2)
        if ids:
            cos, sin = cos[ids[0]], sin[ids[0]]
        pairing = "interleaved" if settings.get("interleaved") else "half"
        got = rotated(Arrays("float32"), x, cos[:, None], sin[:, None], pairing)
        assert got.dtype == np.float32
        if flat:
            got = np.swapaxes(got, 1, 2).reshape(wanted.shape)
        np.testing.assert_allclose(got, wanted, rtol=case.rtol, atol=case.atol, err_msg=case.name)


# ---- ALiBi ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("heads", range(1, 13))
def test_slopes_are_those_of_the_code(heads: int) -> None:
    slopes = alibi_slopes(heads)
    assert len(slopes) == heads
    np.testing.assert_allclose([float(x) for x in slopes], get_slopes(heads), rtol=1e-12)


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("heads", [1, 3, 8, 12])
@pytest.mark.parametrize("shape", [(3, 3), (2, 5), (4, 1)])
def test_alibi_is_slope_times_distance(heads: int, symmetric: bool, shape: tuple[int, int]) -> None:
    rows, columns = shape
    away = np.arange(columns)[None, :] - np.arange(rows)[:, None]
    away = -abs(away) if symmetric else away
    wanted = np.array(get_slopes(heads))[:, None, None] * away
    node = ALiBi(rows, columns, heads, HEAD, symmetric)
    value = in_all(node)
    assert value.shape == (heads, rows, columns)
    np.testing.assert_allclose(value, wanted, rtol=1e-12)
    for head in range(heads):
        np.testing.assert_allclose(explicit(node.subs(HEAD, head)), wanted[head], rtol=1e-12)
        np.testing.assert_allclose(in_all(node.subs(HEAD, head)), wanted[head], rtol=1e-12)
    assert node.doit() == node
    first = sympy.lambdify([], node.subs(HEAD, 0), "numpy")()
    np.testing.assert_allclose(first, wanted[0], rtol=1e-12)


@pytest.mark.parametrize(
    ("heads", "index"), [(2, None), (2, 2), (2, -1), (0, 0), (2, sympy.Rational(1, 2)), (1.5, 0)]
)
def test_alibi_refuses(heads: Any, index: Any) -> None:
    with pytest.raises(SymattnError, match="ALiBi"):
        ALiBi(2, 2, heads, index)


BIASES: list[Callable[..., Any]] = [
    lambda rows, start: ALiBi(rows, 5, 4, 1, start=start),
    lambda rows, start: ALiBi(rows, 5, 3, HEAD, True, start),
    lambda rows, start: RelativeBias(rows, 5, T, 8, 9, start=start),
    lambda rows, start: RelativeBias(rows, 5, T, 8, 9, False, start=start),
    lambda rows, start: RelativeBias(rows, 5, sympy.MatrixSymbol("T", 3, 1), clip=1, start=start),
]


@pytest.mark.parametrize("bias", BIASES)
def test_biases_after_a_cache_are_the_later_rows(bias: Callable[..., Any]) -> None:
    later, whole = bias(2, 3), bias(5, 0)
    assert later.func(*later.args) == later
    assert "start = 3" in str(later)
    table = [RNG.normal(size=(8, 1))] if later.has(sympy.MatrixSymbol) else []
    args = [
        [a if isinstance(a, sympy.Basic) and not a.is_Matrix else table[0] for a in node.args]
        for node in (later, whole)
    ]
    one, other = (type(later)._compute(Arrays(), *each) for each in args)
    np.testing.assert_array_equal(one, other[..., 3:, :])
    head = {HEAD: 1}
    assert later.subs(head).as_explicit() == whole.subs(head).as_explicit()[3:, :]


# ---- relative biases -----------------------------------------------------------------------------

LAYOUTS = [(32, 128), (32, 256), (8, 8), (8, 20), (16, 100), (64, 500), (4, 2), (6, 7)]


@pytest.mark.parametrize("both", [True, False])
@pytest.mark.parametrize(("buckets", "far"), LAYOUTS)
def test_buckets_are_those_of_t5(buckets: int, far: int, both: bool) -> None:
    if not both and far <= buckets // 2:
        far = buckets
    used = set()
    for relative in range(-300, 301):
        bucket = relative_bucket(relative, buckets, far, both)
        assert bucket == position_bucket(relative, both, buckets, far), relative
        used.add(bucket)
    assert used <= set(range(buckets))
    back = [relative_bucket(-distance, buckets, far, both) for distance in range(600)]
    assert back == sorted(back)
    last = (buckets // 2 if both else buckets) - 1
    assert back[far] == last


@pytest.mark.parametrize("both", [True, False])
def test_a_bias_is_looked_up(both: bool) -> None:
    table = RNG.integers(-9, 9, (8, 1)) / 4
    node = RelativeBias(9, 12, sympy.MatrixSymbol("T", 8, 1), 8, 9, both)
    wanted = [[table[position_bucket(j - i, both, 8, 9), 0] for j in range(12)] for i in range(9)]
    np.testing.assert_array_equal(in_all(node, table), wanted)
    entries = node.as_explicit()
    got = entries.subs({entry: table[entry.i, 0] for entry in entries.atoms(type(entries[0, 0]))})
    np.testing.assert_allclose(np.array(got.tolist(), dtype=float), wanted)
    heads = RNG.normal(size=(2, 3, 8, 1))
    stack = RelativeBias._compute(Arrays(), 9, 12, heads, *node.args[3:])
    assert stack.shape == (2, 3, 9, 12)
    np.testing.assert_array_equal(
        stack[1, 2], RelativeBias._compute(Arrays(), 9, 12, heads[1, 2], *node.args[3:])
    )


@pytest.mark.parametrize("k", [0, 1, 3])
def test_a_clipped_bias_is_that_of_shaw(k: int) -> None:
    table = RNG.integers(-9, 9, (2 * k + 1, 1)) / 4
    symbol = sympy.MatrixSymbol("T", 2 * k + 1, 1)
    node = RelativeBias.clipped(5, 4, symbol, k)
    wanted = [[table[max(-k, min(k, j - i)) + k, 0] for j in range(4)] for i in range(5)]
    np.testing.assert_array_equal(in_all(node, table), wanted)
    put = {symbol[row, 0]: table[row, 0] for row in range(2 * k + 1)}
    np.testing.assert_allclose(np.array(node.as_explicit().subs(put).tolist(), float), wanted)
    assert node.func(*node.args) == node


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"buckets": 9}, "table"),
        ({"buckets": 8, "max_distance": 2}, "distance above 2"),
        ({"buckets": 7}, "even"),
        ({"buckets": 2}, "whole number from 4"),
        ({"buckets": sympy.Symbol("k", integer=True)}, "symbol"),
        ({"clip": 4}, "9 × 1"),
        ({"clip": -3}, "whole number"),
        ({"buckets": 16}, "16 × 1"),
    ],
)
def test_a_bias_refuses(options: dict[str, Any], message: str) -> None:
    if options == {"buckets": 9}:
        options, message = {"buckets": 10}, "the table is 8 × 1"
    with pytest.raises(SymattnError, match=message):
        RelativeBias(2, 2, T, **options)


# ---- in a derivation -----------------------------------------------------------------------------
