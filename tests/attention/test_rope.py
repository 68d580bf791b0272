"""Rotary positions in steps against references written out here from papers and models' code."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import mpmath
import numpy as np
import pytest
import sympy
from numpy.typing import NDArray

from symattn import Attention, Derivation, SymattnError, decode, equal
from symattn.arithmetic.arrays import Arrays
from symattn.nodes.positions import PairDot, Turned
from tests.onnx_adapter import node_cases
from tests.positions import frequencies, pair_axes

Array: TypeAlias = NDArray[Any]
Options: TypeAlias = dict[str, Any]
RNG = np.random.default_rng(5)
TOKENS = 6


def scaling(kind: str, **keys: Any) -> Options:
    """A scaling of a model that was trained on so many tokens."""
    return {"rope_type": kind, **keys}


#: Scalings: their table, the columns that turn, and the length that was trained on, if it matters.
SCALINGS: dict[str, Options] = {
    "plain": scaling("default", rope_theta=500),
    "linear": scaling("linear", factor=4),
    "linear of a base": scaling("linear", factor="5/2", rope_theta=1000),
    "proportional": scaling("proportional", partial_rotary_factor=0.5),
    "proportional, rounded down": scaling("proportional", partial_rotary_factor=0.3, factor=2),
    "dynamic, beyond": scaling("dynamic", factor=2, original_max_position_embeddings=4),
    "dynamic, within": scaling("dynamic", factor=2, original_max_position_embeddings=64),
    "llama3": scaling(
        "llama3",
        **{"factor": 8, "low_freq_factor": 1, "high_freq_factor": 4},
        original_max_position_embeddings=100,
    ),
    "llama3 in one band": scaling(
        "llama3",
        **{"factor": 8, "low_freq_factor": 1, "high_freq_factor": 4},
        original_max_position_embeddings=2,
    ),
    "yarn": scaling("yarn", factor=4, original_max_position_embeddings=64),
    "yarn not truncated": scaling(
        "yarn",
        **{"factor": 4, "truncate": False, "beta_fast": 4, "beta_slow": 0.5},
        original_max_position_embeddings=64,
    ),
    "yarn by turns": scaling(
        "yarn", factor=16, ramp="rotations", original_max_position_embeddings=100
    ),
    "yarn of DeepSeek": scaling(
        "yarn", factor=40, mscale=1, mscale_all_dim=0.5, original_max_position_embeddings=4096
    ),
    "yarn with its factor": scaling(
        "yarn", factor=4, attention_factor=0.75, original_max_position_embeddings=64
    ),
    "yarn, bounds alike": scaling("yarn", factor=4, original_max_position_embeddings=6),
    "longrope, long": scaling(
        "longrope",
        **{"short_factor": [1, 1.1, 1.2, 1.3], "long_factor": [1.5, 2, 3, 4]},
        **{"factor": 4, "original_max_position_embeddings": 4},
    ),
    "longrope, short": scaling(
        "longrope",
        **{"short_factor": [1, 1.1, 1.2, 1.3], "long_factor": [1.5, 2, 3, 4]},
        **{"factor": 4, "original_max_position_embeddings": 64},
    ),
}


def derived(options: Options) -> Derivation:
    """Given queries and keys with these rotary positions."""
    return Attention(positions={"rotary": options}).derivation()


def plain(table: Options) -> Options:
    """The numbers of a scaling as floats."""
    return {
        key: float(sympy.Rational(value)) if key in ("factor", "rope_theta") else value
        for key, value in table.items()
    }


@pytest.mark.parametrize("name", SCALINGS)
def test_scaled_frequencies_are_those_of_their_source(name: str) -> None:
    table = SCALINGS[name]
    options: Options = {"scaling": table}
    if table["rope_type"] == "yarn":
        options["dims"] = 8
    q, k = RNG.integers(-4, 5, (2, TOKENS, 8)).astype(float)
    evaluation = derived(options).evaluate(Q=q, K=k, V=k)
    wanted, factor = frequencies(8, 10000, plain(table), TOKENS)
    step = "frequencies" if table["rope_type"] == "default" else "frequencies_scaled"
    np.testing.assert_allclose(evaluation[step].array[0], wanted, rtol=1e-12, atol=0)
    turns = factor * np.exp(1j * np.outer(np.arange(TOKENS), wanted))
    pairs = (q[:, ::2] + 1j * q[:, 1::2]) * turns
    np.testing.assert_allclose(evaluation["Q_rotated"].array, pairs.view(float), atol=1e-11)


@pytest.mark.parametrize("kind", [{}, {"rope_type": "linear", "factor": 4}])
def test_a_configuration_says_which_part_of_the_columns_turns(kind: Options) -> None:
    q, k = np.random.default_rng(7).integers(-4, 5, (2, TOKENS, 8)).astype(float)
    options = {"pairing": "half", "scaling": kind | {"partial_rotary_factor": 0.5}}
    turned = derived(options).evaluate(Q=q, K=k, V=k)["Q_rotated"].array
    wanted, _ = frequencies(4, 10000, kind, TOKENS)
    turns = np.exp(1j * np.outer(np.arange(TOKENS), wanted))
    pairs = (q[:, :2] + 1j * q[:, 2:4]) * turns
    np.testing.assert_allclose(turned, np.hstack([pairs.real, pairs.imag, q[:, 4:]]), atol=1e-12)


def test_an_axial_configuration_is_its_sections_in_their_layout() -> None:
    said: Options = {"sections": [2, 2], "layout": "restarted"}
    axial = derived(said | {"scaling": {"rope_type": "axial", "rope_theta": 100}})
    assert axial.steps == derived(said | {"base": 100}).steps
    assert axial.steps != derived(said | {"base": 10}).steps


def test_digits_of_a_scaled_rotation_are_proven() -> None:
    """Thirty digits of Llama 3's middle band and of its rotation, against mpmath."""
    q = [["1", "2", "0", "1"], ["1/3", "1", "2", "-1"]]
    options: Options = {"base": 500000, "scaling": SCALINGS["llama3"]}
    evaluation = derived(options).evaluate(Q=q, K=q, V=q)
    with mpmath.workdps(50):
        theta = 1 / mpmath.sqrt(500000)
        turns = 100 * theta / (2 * mpmath.pi)
        assert turns < 1  # so that this pair is divided
        first = mpmath.mpf(1)
        mixed = min(1, (100 / (2 * mpmath.pi) - 1) / 3)
        first = mixed * first + (1 - mixed) * first / 8
        wanted = 2 * mpmath.cos(theta / 8) + mpmath.sin(theta / 8)
        exact = evaluation["Q_rotated"].exact
        assert mpmath.almosteq(mpmath.mpf(str(exact[1, 2].evalf(40))), wanted, 1e-35)
        wanted = mpmath.cos(first) / 3 - mpmath.sin(first)
        assert mpmath.almosteq(mpmath.mpf(str(exact[1, 0].evalf(40))), wanted, 1e-35)


# ---- axes, positions and tables that are given -------------------------------------------------

LAYOUTS = {
    "blocks": [1 / 100 ** (t / 4) for t in range(4)],
    "interleaved": [1 / 100 ** (t / 4) for t in range(4)],
    "alternating": [100 ** (-t / 4) for t in (0, 2, 1, 3)],
    "restarted": [1, 0.1, 1, 0.1],
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_each_pair_turns_by_the_position_along_its_axis(layout: str) -> None:
    options: Options = {"sections": [2, 2], "layout": layout, "base": 100, "pairing": "half"}
    q, k = RNG.integers(-4, 5, (2, TOKENS, 8)).astype(float)
    places, others = RNG.integers(-3, 40, (2, TOKENS, 2))
    evaluation = derived(options).evaluate(
        Q=q, K=k, V=k, position_ids=places.tolist(), key_position_ids=others.tolist()
    )
    for which, x, ids in (("Q", q, places), ("K", k, others)):
        angles = ids[:, pair_axes([2, 2], layout)] * np.array(LAYOUTS[layout])
        pairs = (x[:, :4] + 1j * x[:, 4:]) * np.exp(1j * angles)
        wanted = np.concatenate([pairs.real, pairs.imag], 1)
        np.testing.assert_allclose(evaluation[f"{which}_rotated"].array, wanted, atol=1e-11)


def test_three_axes_take_turns_as_in_qwen3_vl() -> None:
    table = {"mrope_section": [4, 2, 2], "mrope_interleaved": True}
    evaluation = derived({"scaling": table}).evaluate(
        Q=np.ones((1, 16)),
        K=np.ones((1, 16)),
        V=np.ones((1, 1)),
        position_ids=[[1, 2, 3]],
        key_position_ids=[[1, 2, 3]],
    )
    rows = np.argmax(evaluation["frequencies_axes"].array != 0, 0)
    assert rows.tolist() == pair_axes([4, 2, 2], "interleaved") == [0, 1, 2, 0, 1, 2, 0, 0]


def test_tables_of_cosines_are_those_of_onnx() -> None:
    found = [
        case
        for case in node_cases("RotaryEmbedding")
        if case.model.graph.node[0].op_type == "RotaryEmbedding"
    ]
    tried = 0
    for case in found:
        settings = {a.name: a.i for a in case.model.graph.node[0].attribute}
        (inputs, (wanted,)) = case.data_sets[0]
        x, cos, sin, *ids = (np.asarray(value) for value in inputs)
        if x.ndim == 4:
            cos, sin = (table[ids[0]] if ids else table for table in (cos, sin))
            got = Turned._compute(
                Arrays("float32"),
                *(x, cos[:, None], sin[:, None]),
                *(sympy.Integer(settings.get("interleaved", 0)), sympy.S.Zero),
            )
            np.testing.assert_allclose(got, wanted, rtol=case.rtol, atol=case.atol)
            tried += 1
    assert tried >= 4


@pytest.mark.parametrize("pairing", ["half", "interleaved"])
@pytest.mark.parametrize("first", [0, 1, 3])
def test_columns_outside_stay(pairing: str, first: int) -> None:
    x, waves = RNG.integers(-4, 5, (2, 7)), RNG.integers(-4, 5, (2, 2, 2))
    cos, sin = (sympy.Matrix(each.tolist()) for each in waves)
    node = Turned(sympy.Matrix(x.tolist()), cos, sin, pairing=pairing, first=first)
    got = np.array(node.doit().tolist(), float)
    np.testing.assert_array_equal(got, np.array(node.as_explicit().tolist(), float))
    wanted = x.astype(float)
    for t in range(2):
        a, b = (t, t + 2) if pairing == "half" else (2 * t, 2 * t + 1)
        one, other = x[:, first + a], x[:, first + b]
        wanted[:, first + a] = one * waves[0][:, t] - other * waves[1][:, t]
        wanted[:, first + b] = other * waves[0][:, t] + one * waves[1][:, t]
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("crossed", [False, True])
@pytest.mark.parametrize("place", [0, 1])
def test_the_gradient_of_a_pair_s_product(crossed: bool, place: int) -> None:
    """⟨U, P(dX, Y)⟩ = ⟨adjoint, dX⟩ for columns that stay, too."""
    x, y, dx = (sympy.Matrix(RNG.integers(-4, 5, (2, 6)).tolist()) for _ in range(3))
    upstream = sympy.Matrix(RNG.integers(-4, 5, (2, 2)).tolist())
    node = PairDot(x, y, 2, crossed, first=1)
    moved = PairDot(*((dx, y) if place == 0 else (x, dx)), 2, crossed, first=1)
    adjoint = node._adjoint(place, sympy.ImmutableMatrix(upstream), node)
    assert adjoint is not None
    left = sum(sympy.matrix_multiply_elementwise(upstream, moved.doit()))
    assert left == sum(sympy.matrix_multiply_elementwise(adjoint.doit(), dx))
    assert left != 0


def test_a_rotation_by_any_angles_preserves_lengths() -> None:
    shapes = {"Q": ("n", 4), "P": ("n", 2)}
    assert equal("norm2(turned(Q, cos(P), sin(P)))", "norm2(Q)", shapes=shapes)
    assert not equal("norm2(turned(Q, cos(P), cos(P)))", "norm2(Q)", shapes=shapes)


# ---- what is refused ---------------------------------------------------------------------------

REFUSED: list[tuple[Options, str]] = [
    ({"scaling": 4}, "give a table"),
    ({"scaling": {"rope_type": "linaer", "factor": 2}}, 'did you mean "linear"'),
    ({"scaling": {"rope_type": "linear"}}, "needs factor"),
    ({"scaling": {"rope_type": "linear", "factor": 0}}, "positive"),
    ({"scaling": {"rope_type": "linear", "factor": 2, "facto": 3}}, "no key"),
    (
        {"scaling": SCALINGS["llama3"] | {"low_freq_factor": 4}},
        "low_freq_factor has to be less",
    ),
    ({"scaling": SCALINGS["yarn by turns"] | {"beta_fast": 1}}, "beta_slow has to be less"),
    ({"scaling": SCALINGS["yarn"]}, "say dims"),
    (
        {"scaling": {"rope_type": "yarn", "original_max_position_embeddings": 4}},
        "needs factor, or",
    ),
    ({"scaling": SCALINGS["proportional"] | {"partial_rotary_factor": 2}}, "1 at most"),
    ({"scaling": {"partial_rotary_factor": 0.5}, "dims": 4}, "say one of them"),
    ({"scaling": {"rope_type": "axial"}}, "say sections = "),
    ({"scaling": {"rope_type": "axial"}, "sections": [2, 2]}, "and their layout"),
    ({"scaling": SCALINGS["longrope, long"] | {"long_factor": [1]}}, "of one length"),
    ({"scaling": SCALINGS["longrope, long"], "dims": 8}, "leave dims out"),
    ({"scaling": SCALINGS["linear of a base"], "base": 3}, "say one of them"),
    ({"scaling": SCALINGS["linear of a base"], "frequencies": True}, "leave rope_theta"),
    ({"scaling": SCALINGS["dynamic, within"], "position_ids": True}, "depends on the length"),
    ({"caches": True, "base": 3}, "leave base out"),
    ({"caches": False}, "say true"),
    ({"position_ids": True, "start": 2}, "leave start out"),
    ({"layout": "blocks"}, "say sections"),
    ({"sections": [2]}, "two axes"),
    ({"sections": 3}, "a list of numbers"),
    ({"sections": [1, 2], "layout": "alternating"}, "of one size"),
    ({"sections": [1, 1], "scaling": {"mrope_section": [1, 1]}}, "say one of them"),
    ({"part": "middle"}, "first, last"),
    ({"part": "last", "dims": "x"}, "whole number"),
    ({"part": "last", "dims": 3}, "pairs"),
    ({"part": "last", "base": -1}, "positive"),
]


@pytest.mark.parametrize(("options", "message"), REFUSED)
def test_what_means_nothing_is_refused_in_a_line(options: Options, message: str) -> None:
    with pytest.raises(SymattnError, match=message) as caught:
        derived(options)
    assert "\n" not in str(caught.value)


def test_more_columns_than_there_are_cannot_turn() -> None:
    with pytest.raises(SymattnError, match="cannot turn 8 of the columns"):
        derived({"sections": [2, 2]}).evaluate(
            Q=[[1, 2]], K=[[1, 2]], V=[[1]], position_ids=[[0, 0]], key_position_ids=[[0, 0]]
        )


@pytest.mark.parametrize(
    ("options", "given", "message"),
    [
        ({"scaling": SCALINGS["dynamic, within"]}, {}, "how many tokens"),
        ({"position_ids": True}, {"position_ids": [[0], [1]]}, "not cut"),
    ],
)
def test_what_all_tokens_decide_is_not_cut(options: Options, given: Options, message: str) -> None:
    rows = [[1, 0, 2, 1], [0, 2, 1, 1]]
    spec = Attention(mask="causal", positions={"rotary": options})
    with pytest.raises(SymattnError, match=message):
        decode(spec, 1, Q=rows, K=rows, V=rows, **given)


def test_decoding_goes_on_with_the_scaled_frequencies() -> None:
    rows = [[1, 0, 2, 1], [0, 2, 1, 1], [1, 1, 0, 3]]
    spec = Attention(mask="causal", positions={"rotary": {"scaling": SCALINGS["llama3"]}})
    chunks = decode(spec, 1, Q=rows, K=rows, V=rows)
    whole = spec.derivation().evaluate(Q=rows, K=rows, V=rows)["output"].array
    got = np.concatenate([chunk.evaluation["output"].array for chunk in chunks])
    np.testing.assert_allclose(got, whole, rtol=1e-12)
    assert not math.isclose(float(whole[2, 0]), float(whole[1, 0]))
