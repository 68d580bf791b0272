"""`jax.nn.dot_product_attention` over its options; where it answers differently, by name."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.extras import package
from tests.onnx_adapter import Array, Visible, attended, joined

Jax = Callable[..., Array]


@pytest.fixture(scope="module")
def jax() -> Jax:
    """JAX's attention in float64 on a CPU: (batch, heads, rows, columns) in and out."""
    module = package("jax")
    module.config.update("jax_platforms", "cpu")
    module.config.update("jax_enable_x64", True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module.numpy.zeros(1).block_until_ready()

    def attend(q: Array, k: Array, v: Array, **options: Any) -> Array:
        columns = (np.swapaxes(x, 1, 2) for x in (q, k, v))
        out = module.nn.dot_product_attention(*map(module.numpy.asarray, columns), **options)
        assert out.dtype == np.float64
        return np.swapaxes(np.asarray(out), 1, 2)

    return attend


@dataclass(frozen=True)
class Example:
    """The same question for JAX, as its options, and for symattn, as what is seen."""

    told: dict[str, Array]
    options: dict[str, Any] = field(default_factory=dict)
    choices: dict[str, Any] = field(default_factory=dict)
    seen: Visible = field(default_factory=Visible)

    def asked(self, jax: Jax) -> Array:
        return jax(*(self.told[name] for name in ("Q", "K", "V")), **self.options)

    def answered(self) -> dict[str, Array]:
        return attended(self.choices, self.seen, self.told, "float64")


#: Batch, heads, groups, queries, keys, columns: a few, because JAX compiles for each.
SHAPES = ((2, 4, 2, 3, 4, 2), (2, 2, 2, 4, 2, 3), (1, 2, 1, 3, 3, 1))


@st.composite
def examples(draw: st.DrawFn) -> Example:
    batch, heads, groups, n, m, width = draw(st.sampled_from(SHAPES))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    told = {"Q": rng.normal(size=(batch, heads, n, width), scale=2)}
    told |= {name: rng.normal(size=(batch, groups, m, width)) for name in ("K", "V")}
    options: dict[str, Any] = {}
    named: list[Any] = []
    seen: list[Array] = []
    scale = draw(st.sampled_from([None, 1.0, 0.3, -2.0]))
    if scale is not None:
        options["scale"] = scale
    if draw(st.booleans()):
        options["is_causal"] = True
        named.append("causal")
    if draw(st.booleans()):
        window = draw(st.tuples(st.integers(0, 3), st.integers(0, 3)) | st.integers(0, 3))
        options["local_window_size"] = window
        named.append({"window": window if isinstance(window, int) else list(window)})
    if draw(st.booleans()):
        lengths = rng.integers(0, m + 1, batch)
        options["key_value_seq_lengths"] = lengths.astype(np.int32)
        seen.append(np.arange(m) < lengths[:, None, None, None])
    if draw(st.booleans()):
        lengths = rng.integers(0, n + 1, batch)
        options["query_seq_lengths"] = lengths.astype(np.int32)
        seen.append(np.arange(n)[:, None] < lengths[:, None, None, None])
    added = None
    one_or = [draw(st.sampled_from([(1, 1), (batch, 1), (1, heads), (batch, heads)])) for _ in "mb"]
    if draw(st.booleans()):
        options["mask"] = rng.random((*one_or[0], n, m)) < draw(st.sampled_from([0.4, 0.8]))
        seen.append(options["mask"])
    if draw(st.booleans()):
        options["bias"] = added = rng.normal(size=(*one_or[1], n, m))
    visible = Visible(tuple(named), joined(seen, n, m), added)
    return Example(told, options, {"scale": True if scale is None else scale}, visible)


def per_head(values: Array, heads: int) -> Array:
    """The values of the group that each head belongs to."""
    return np.repeat(values, heads // values.shape[1], axis=1)


def slack(example: Example, answer: dict[str, Array]) -> float:
    """JAX computes every softmax in float32: how far that can be off."""
    last = [name for name in ("scores", "scaled", "biased", "masked") if name in answer][-1]
    logits = answer[last]
    largest = np.abs(logits, where=np.isfinite(logits), out=np.zeros_like(logits)).max(initial=0)
    return float(2.0**-23 * (8 + 4 * largest) * np.abs(example.told["V"]).max())


def test_attention_is_that_of_jax(jax: Jax) -> None:
    kinds: set[str] = set()

    @settings(max_examples=14, deadline=None, derandomize=True)
    @given(examples())
    def agree(example: Example) -> None:
        wanted, answer = example.asked(jax), example.answered()
        ours, weights = answer["heads"], answer["weights"]
        hidden = weights.sum(axis=-1) == 0
        kinds.update(example.options, ["hidden"] if hidden.any() else [])
        assert (ours[hidden] == 0).all()
        expected = np.where(hidden[..., None], mean_of_values(example), ours)
        np.testing.assert_allclose(wanted, expected, rtol=0, atol=slack(example, answer))

    agree()
    assert kinds == {
        "scale",
        "is_causal",
        "local_window_size",
        "key_value_seq_lengths",
        "query_seq_lengths",
        "mask",
        "bias",
        "hidden",
    }


def mean_of_values(example: Example) -> Array:
    """What JAX answers where nothing may be seen: the mean of all V, but 0 past a query length."""
    heads, n = example.told["Q"].shape[1:3]
    mean = per_head(example.told["V"], heads).mean(axis=-2, keepdims=True)
    lengths = example.options.get("query_seq_lengths")
    if lengths is None:
        return np.asarray(mean)
    real = np.arange(n)[:, None] < lengths[:, None, None, None]
    return np.where(real, mean, 0.0)


# ---- what differs, by name -----------------------------------------------------------------------
