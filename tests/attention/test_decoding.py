"""Decoding with a cache: every row is the row of the pass over all tokens, exactly."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import sympy
from click.testing import CliRunner
from numpy.typing import NDArray

from symattn import Attention, Chunk, Evaluation, SymattnError, decode
from symattn.arithmetic.enclosure import precision
from symattn.attention.decoding import MOST_CHUNKS, chunk_sizes
from symattn.cli import main
from symattn.sheets.worksheet import read_worksheet
from tests import ROOT
from tests.shares import share

Array = NDArray[np.float64]
EXAMPLE = ROOT / "examples" / "decoding.toml"
HEADS: dict[str, Any] = {"source": "self", "heads": 4, "output_projection": True}
SIZES = {
    "n": 4,
    "m": 4,
    "p": 2,
    "d_model": 4,
    "d_k": 4,
    "d_v": 2,
    "d_out": 3,
    "d_c": 2,
    "d_a": 2,
    "d_r": 2,
    "d_cq": 2,
    "n_clip": 1,
    "n_vocab": 3,
}

#: Causal attentions over every axis that counts positions, or is made of what is cached.
CAUSAL: dict[str, dict[str, Any]] = {
    "given": {"mask": "causal"},
    "self": {"source": "self", "mask": "causal"},
    "past already": {"source": "self", "mask": "causal", "cache": True, "bias": "alibi"},
    "past said": {"mask": {"causal": 2}, "cache": True},
    "sinusoidal": {"source": "self", "mask": "causal", "positions": {"sinusoidal": {"start": 1}}},
    "learned": {"source": "self", "mask": "causal", "positions": "learned", "embedded": True},
    "rotary": {"source": "self", "mask": "causal", "positions": "rotary"},
    "half rotary": {
        "source": "self",
        "mask": "causal",
        "cache": True,
        "positions": {"rotary": {"pairing": "half", "dims": 2, "start": 3}},
    },
    "grouped": {**HEADS, "kv_heads": 2, "mask": "causal"},
    "multi-query": {**HEADS, "kv_heads": 1, "mask": "causal", "projection_bias": True},
    "sum form": {**HEADS, "output_form": "sum", "mask": "causal"},
    "llama": {
        **HEADS,
        "kv_heads": 2,
        "mask": "causal",
        "positions": {"rotary": {"pairing": "half"}},
    },
    "alibi": {**HEADS, "mask": "causal", "bias": "alibi"},
    "symmetric": {**HEADS, "mask": "causal", "bias": {"alibi": {"symmetric": True}}},
    "t5": {
        **HEADS,
        "mask": "causal",
        "scale": False,
        "bias": {"relative": {"buckets": 8, "max_distance": 6}},
    },
    "clipped": {"source": "self", "mask": "causal", "bias": {"relative": {"clip": 1}}},
    "matrices": {"mask": ["causal", "boolean"], "bias": "given"},
    "added": {"mask": ["causal", "additive"]},
    "window": {"source": "self", "mask": {"window": [1, 0]}},
    "window over a past": {"source": "self", "mask": {"window": [2, 0]}, "cache": True},
    "strided": {"mask": {"strided": 2}},
    "dilated": {"mask": ["causal", {"dilated": [1, 2]}]},
    "documents": {"mask": ["causal", {"documents": [1, 2, 1, 2]}]},
    "lengths": {"mask": ["causal", {"documents": {"lengths": [1, 3]}}]},
    "chunks": {"source": "self", "mask": {"chunk": 2}},
    "packed": {"mask": ["causal", {"packed": [1, 3]}]},
    "before": {"mask": {"causal": -1}},
    "chosen keys": {"mask": ["causal", {"top-k": 2}]},
    "chosen keys of heads": {**HEADS, "kv_heads": 2, "mask": ["causal", {"top-k": 1}]},
    "documents over a past": {
        "mask": {"all": ["causal", {"documents": [1, 1, 2, 1, 2, 2]}]},
        "cache": True,
    },
    "longformer": {"mask": ["causal", {"any": [{"window": 1}, {"global": [1]}]}]},
    "padding": {"mask": ["causal", {"padding": 3}]},
    "linear": {"mask": "causal", "feature_map": "relu", "normaliser": "none", "scale": False},
    "cosine": {"mask": "causal", "score": "cosine", "normaliser": "sigmoid"},
    "additive score": {"mask": "causal", "score": "additive", "scale": False, "soft_cap": 2},
    "sink": {**HEADS, "mask": "causal", "normaliser": "softmax-sink"},
    "unfolded": {"mask": "causal", "unfold": True},
    "unfolded by hand": {"mask": "causal", "unfold": "plain"},
    "latent": {**HEADS, "mask": "causal", "latent": True},
    "absorbed": {
        **HEADS,
        "mask": "causal",
        "latent": "absorbed",
        "query_latent": True,
        "positions": {"rotary": {"decoupled": True}},
    },
    "decoupled": {
        **HEADS,
        "kv_heads": 2,
        "mask": "causal",
        "cache": True,
        "positions": {"rotary": {"decoupled": True}},
    },
    "latent keys are values": {**HEADS, "mask": "causal", "latent": True, "tie": "key-value"},
    "shaw": {**HEADS, "mask": "causal", "score": "shaw"},
    "transformer-xl": {"source": "self", "mask": "causal", "score": "transformer-xl"},
    "values are keys": {"source": "self", "heads": 2, "mask": "causal", "tie": "key-value"},
    "keys are queries": {
        **HEADS,
        "kv_heads": 2,
        "mask": "causal",
        "tie": "query-key",
        "positions": "rotary",
    },
}

#: Takes two minutes, for its roots are shown to be equal by SymPy.
DEAR = {"keys are queries of length 1": CAUSAL["keys are queries"] | {"score": "cosine"}}
CUTS: tuple[Any, ...] = (1, [3, 1], [1, 2, 1], 4)


def numbers(spec: Attention, seed: int = 5) -> dict[str, Any]:
    """Small whole numbers for every input."""
    rng = np.random.default_rng(seed)
    given: dict[str, Any] = {}
    for item in spec.derivation().inputs:
        shape = tuple(int(s.subs({x: SIZES[x.name] for x in s.free_symbols})) for s in item.shape)
        if item.per_head:
            count = spec.kv_heads if str(item.count) == "g" else spec.heads
            shape = (int(count or 1), *shape)
        value: Array = rng.integers(-2, 3, shape).astype(float)
        if item.name == "allowed":
            value = np.tril(np.ones(shape), 0)
            value[2, 0] = 0
        if item.name == "one_hot":
            value = np.eye(shape[1])[[0, 2, 0, 1]]
        given[item.name] = value.astype(int)
    return given


def exactly(value: Any) -> list[sympy.Matrix]:
    return list(value) if isinstance(value, tuple) else [value]


def rows_differ(chunks: tuple[Chunk, ...], whole: Evaluation, name: str) -> list[int]:
    """The tokens whose row in a chunk is not their row of the whole: exactly, and in NumPy."""
    wrong = []
    for chunk in chunks:
        start, stop = chunk.tokens.start, chunk.tokens.stop
        pairs = zip(exactly(chunk.evaluation[name].exact), exactly(whole[name].exact), strict=True)
        same = all(
            bool(a == b or (a - b).equals(sympy.zeros(*a.shape)))
            for a, b in ((one, other[start:stop, :]) for one, other in pairs)
        )
        array = whole[name].array[..., start:stop, :]
        near = np.allclose(chunk.evaluation[name].array, array, rtol=1e-12, atol=1e-14)
        with precision(128):
            meet = all(
                a.overlaps(b)
                for a, b in zip(
                    chunk.evaluation[name].balls.ravel(),
                    whole[name].balls[..., start:stop, :].ravel(),
                    strict=True,
                )
            )
        wrong += [] if same and near and meet else list(chunk.tokens)
    return wrong


@pytest.mark.parametrize(
    "name", [*share(CAUSAL, 12), *(pytest.param(name, marks=pytest.mark.nightly) for name in DEAR)]
)
def test_every_row_is_the_row_of_the_whole_pass(name: str) -> None:
    spec = Attention(**(CAUSAL | DEAR)[name])
    given = numbers(spec)
    derivation = spec.derivation(given)
    whole = derivation.evaluate(**given)
    for cut in CUTS:
        chunks = decode(spec, cut, **given)
        assert [t for chunk in chunks for t in chunk.tokens] == [0, 1, 2, 3]
        assert rows_differ(chunks, whole, derivation.names[-1]) == []
        assert all(chunk.evaluation.check().agrees for chunk in chunks)


def test_a_wrong_row_is_noticed() -> None:
    spec = Attention(mask="causal")
    given = numbers(spec)
    other = {**given, "V": given["V"] + np.array([[0], [1], [0], [0]])}
    whole = spec.derivation().evaluate(**given)
    assert rows_differ(decode(spec, **other), whole, "output") == [1, 2, 3]


def test_plain_numpy_decodes_the_same() -> None:
    """A loop that appends to its cache, as Shazeer's (2019, section 2.4)."""
    rng = np.random.default_rng(2)
    x, w_q, w_k, w_v = (rng.integers(-2, 3, shape) for shape in ((5, 3), (3, 2), (3, 2), (3, 2)))
    spec = Attention(source="self", mask="causal")
    chunks = decode(spec, X=x, W_Q=w_q, W_K=w_k, W_V=w_v)
    keys, values = np.empty((0, 2)), np.empty((0, 2))
    for token, chunk in zip(x, chunks, strict=True):
        keys, values = np.vstack([keys, token @ w_k]), np.vstack([values, token @ w_v])
        logits = token @ w_q @ keys.T / np.sqrt(2)
        weights = np.exp(logits - logits.max())
        expected = weights / weights.sum() @ values
        np.testing.assert_allclose(chunk.evaluation["output"].array[0], expected, rtol=1e-13)


def test_batches_are_cut_alike() -> None:
    rng = np.random.default_rng(3)
    given: dict[str, Any] = {name: rng.integers(-2, 3, (2, 4, 3, 2)) for name in ("Q", "K", "V")}
    spec = Attention(mask="causal", heads=4)
    whole = spec.derivation().evaluate(**given)
    for chunk in decode(spec, **given):
        wanted = whole["concat"].array[:, list(chunk.tokens)]
        np.testing.assert_allclose(chunk.evaluation["concat"].array, wanted, rtol=1e-13)


# ---- where cutting would change the answer -----------------------------------------------------

SEES_AHEAD: list[tuple[Any, Any, str]] = [
    (None, 1, "token 1 attends to token 2"),
    ({"window": 1}, [2, 2], "token 2 attends to token 3"),
    ({"window": [1, 1]}, 1, "token 1 attends to token 2"),
    ({"prefix": 3}, [2, 2], "token 1 attends to token 3"),
    ({"global": [1]}, [3, 1], "token 1 attends to token 4"),
    ({"causal": 1}, [3, 1], "token 3 attends to token 4"),
    ("boolean", 1, "token 1 attends to token 3"),
    ("additive", 2, "token 1 attends to token 3"),
]
MATRIX = [[1, 0, 1, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]]


@pytest.mark.parametrize(("mask", "cut", "message"), SEES_AHEAD)
def test_a_query_that_sees_a_later_chunk_is_refused(mask: Any, cut: Any, message: str) -> None:
    spec = Attention(mask=mask)
    given = numbers(Attention())
    if mask == "boolean":
        given["allowed"] = MATRIX
    if mask == "additive":
        given["mask"] = [["0" if seen else "-inf" for seen in row] for row in MATRIX]
    with pytest.raises(SymattnError, match=f"^chunks: {message}, in a later chunk"):
        decode(spec, cut, **given)
    (alone,) = decode(spec, [4], **given)
    whole = spec.derivation(given).evaluate(**given)
    assert alone.evaluation["output"].exact == whole["output"].exact


# ---- bad input ---------------------------------------------------------------------------------

QKV = {name: [[1], [2], [3]] for name in ("Q", "K", "V")}
EYE = {"W_Q": [[1]], "W_K": [[1]], "W_V": [[1]]}
REFUSED: list[tuple[Any, Any, dict[str, Any], str]] = [
    (0, {}, QKV, "0 is not a number of tokens"),
    (-1, {}, QKV, "-1 is not"),
    (True, {}, QKV, "is not a number of tokens"),
    (1.0, {}, QKV, "is not a number of tokens"),
    ("1", {}, QKV, "is not a number of tokens"),
    (None, {}, QKV, "is not a number of tokens"),
    ([], {}, QKV, "no chunk is given"),
    ([1, 0, 2], {}, QKV, "0 is not"),
    ([[3]], {}, QKV, "is not a number of tokens"),
    ([1, 1], {}, QKV, r"\[1, 1\] make 2 tokens, and 3 are given"),
    ([2, 2], {}, QKV, "make 4 tokens, and 3 are given"),
    ([1] * 9, {}, QKV, r"\[1, 1, 1, 1, 1, 1, 1, 1, …\] make 9"),
    (1, {}, {**QKV, "K": [[1], [2]], "V": [[1], [2]]}, "3 queries and 2 keys"),
    (1, {}, {"scores": [[1, 2], [3, 4]], "V": [[1], [2]]}, "K does not follow"),
    (1, {}, {"X": [[1], [2]], "memory": [[1]], **EYE}, "cross-attention"),
    (1, {"source": "bare", "scale": False}, {"X": [[1], [2]]}, "no keys and values to cache"),
]


@pytest.mark.parametrize(("chunks", "axes", "given", "message"), REFUSED)
def test_bad_chunks_are_refused_in_one_line(
    chunks: Any, axes: dict[str, Any], given: dict[str, Any], message: str
) -> None:
    mask = None if "scores" in given else "causal"
    with pytest.raises(SymattnError, match=message) as caught:
        decode(Attention(**{"mask": mask, **axes}), chunks, **given)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


def test_too_many_chunks_are_refused() -> None:
    with pytest.raises(SymattnError, match=f"{MOST_CHUNKS} at most"):
        chunk_sizes(1, MOST_CHUNKS + 1)
    assert len(chunk_sizes(2, 2 * MOST_CHUNKS)) == MOST_CHUNKS


# ---- worksheets and the command line -----------------------------------------------------------


def run(*args: str, text: str | None = None, status: int = 0) -> str:
    result = CliRunner().invoke(main, ["derive", *args], input=text)
    assert result.exit_code == status, result.output
    return result.output


def test_chunks_can_be_told_on_the_command_line() -> None:
    text = run(str(EXAMPLE), "--chunks", "2,1,1", "--view", "value", "--steps", "K_cached")
    assert re.findall("token[^\n]*", text) == ['token 3 of 4: "sat"', 'token 4 of 4: "down"']
    text = run("llama", "--size", "tokens=3,d_k=2", "--chunks", "1", "--steps", "output", status=2)
    assert 'no step is called "output"' in text
    text = run("llama", "--size", "tokens=3,d_k=2", "--chunks", "2", "--steps", "projected")
    assert text.count("[projected]  (") == 2
    assert "token 3 of 3" in run("causal", "--chunks", "1", "--symbolic")
    assert run("cached-window", "--size", "tokens=4", "--chunks", "1").count(", token ") == 4


def test_past_tokens_name_cached_keys() -> None:
    text = (
        '[attention]\ncache = true\nmask = "causal"\npast_tokens = ["a", "b"]\ntokens = ["c"]\n'
        "[given]\nQ = [[1]]\nK = [[1]]\nV = [[1]]\nK_past = [[1], [2]]\nV_past = [[1], [2]]\n"
    )
    shown = run("-", "--view", "value", "--steps", "K_cached,scores", text=text)
    assert re.search(r"K_c = ⎢ 2 ⎥ b\n +⎣ 1 ⎦ c", shown), shown
    assert re.search(r" a +b +c\n +S = ", shown), shown


def test_a_cached_variant_starts_with_nothing_kept() -> None:
    rows = [[1, 0], [2, 1], [0, 1]]
    weights: dict[str, Any] = {f"W_{name}": [[1, 0], [1, 2]] for name in "QKV"}
    spec = Attention(source="self", mask="causal")
    ours = decode(Attention(source="self", mask="causal", cache=True), 1, X=rows, **weights)
    theirs = decode(spec, 1, X=rows, **weights)
    assert len(ours) == 3
    for one, other in zip(ours, theirs, strict=True):
        assert one.evaluation["output"].exact == other.evaluation["output"].exact


def test_names_of_columns_stay_in_every_chunk() -> None:
    for chunk in read_worksheet(EXAMPLE).decode():
        labels = {str(size): names for size, names in chunk.derivation.labels.items()}
        assert labels["d_model"] == ("modifier", "head", "content")
        assert labels["d_k"] == ("head", "modifier")
    spec = Attention(mask="causal")
    rows = [[1], [2]]
    first, _ = decode(spec, 1, Q=rows, K=rows, V=rows, labels={"d_k": ["a"]})
    assert [*map(str, first.derivation.labels)] == ["d_k"]
