"""Misconceptions about attention of one head, made in plain NumPy, which knows no symattn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from tests.oracle import softmax

Array: TypeAlias = Any
Ways: TypeAlias = Mapping[str, Callable[..., Any]]

Q = np.array([[1.0, 2, 0], [0, 1, 3], [2, -1, 1]])
K = np.array([[2.0, 0, 1], [1, 1, -1], [0, 2, 1]])
V = np.array([[1.0, 5, 2], [7, 2, 4], [3, 8, 9]])
BIAS = np.array([[0.5, 1, -1], [0, 2, 1], [1, -0.5, 0.25]])
D = 3


def unit(x: Array) -> Array:
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def top(x: Array) -> Array:
    """0 at the two largest numbers of each row, of equal ones the first, −∞ elsewhere."""
    places = np.argsort(-x, axis=1, kind="stable")[:, :2]
    out = np.full(x.shape, -np.inf)
    np.put_along_axis(out, places, 0, axis=1)
    return out


CHOICE: dict[str, Any] = {"mask": ["causal", {"top-k": 2}]}


def work(
    attention: Mapping[str, Any],
    ways: Ways,
    given: tuple[Array, ...] = (Q, K, V),
    kept: Callable[[str, Array], Array] = lambda _, value: value,
) -> dict[str, Array]:
    """The steps of single-head attention over Q, K, V; `ways` says what is done otherwise.

    `kept` says with which numbers a step goes on.
    """
    q, k, v = given
    out: dict[str, Array] = {}

    def step(name: str, usual: Callable[..., Any], *of: Any) -> Array:
        out[name] = kept(name, ways.get(name, usual)(*of))
        return out[name]

    z = step("scores", lambda q, k, v: q @ k.T, q, k, v)
    if attention.get("scale", True):
        z = step("scaled", lambda s: s / np.sqrt(q.shape[1]), z)
    if "soft_cap" in attention:
        z = step("capped", lambda z, c: c * np.tanh(z / c), z, attention["soft_cap"])
    if "bias" in attention:
        z = step("biased", lambda z, b: z + b, z, BIAS)
    if "mask" in attention:
        seen = np.tri(*z.shape) == 1
        before = z
        z = step("masked", lambda z, seen: np.where(seen, z, -np.inf), z, seen)
    if attention.get("mask") == CHOICE["mask"]:
        best = step("choice", lambda g, z: top(g), z, before)
        z = step("selected", lambda g, best: g + best, z, best)
    ratio = attention.get("normaliser") == "sum"
    a = step("weights", (lambda z: z / z.sum(1, keepdims=True)) if ratio else softmax, z)
    step("output", lambda a, q, k, v: a @ v, a, q, k, v)
    return out


#: name: what attention, what is done otherwise, what is given instead of Q, K, V.
Case: TypeAlias = tuple[dict[str, Any], Ways, tuple[Array, ...]]
USUAL = (Q, K, V)
WIDE = (np.tile(Q, 2)[:, :4], np.tile(K, 2)[:, 1:5], V)  # d_k = 4 of 3 tokens, d_v = 3
RATIO = (np.abs(Q) + 0.5, np.abs(K) + 0.25, V)
LONG = (Q[:2], K, V)
MASK = {"mask": "causal"}
CASES: dict[str, Case] = {
    "softmax-over-columns": ({}, {"weights": lambda z: softmax(z, 0)}, USUAL),
    "ratio": ({}, {"weights": lambda z: z / z.sum(1, keepdims=True)}, RATIO),
    "softmax-for-ratio": ({"normaliser": "sum"}, {"weights": softmax}, RATIO),
    "row-sums-along-columns": ({}, {"weights": lambda z: np.exp(z) / np.exp(z).sum(1)}, USUAL),
    "over-everything": ({}, {"weights": lambda z: np.exp(z) / np.exp(z).sum()}, USUAL),
    "softmax-of-one": ({}, {"weights": np.ones_like}, USUAL),
    "softmax-twice": ({}, {"weights": lambda z: softmax(softmax(z))}, USUAL),
    "exponentials-only": ({}, {"weights": np.exp}, USUAL),
    "base-2": ({}, {"weights": lambda z: 2**z / (2**z).sum(1, keepdims=True)}, USUAL),
    "base-10": ({}, {"weights": lambda z: 10**z / (10**z).sum(1, keepdims=True)}, USUAL),
    "over-the-largest": ({}, {"weights": lambda z: np.exp(z - z.max(1, keepdims=True))}, USUAL),
    "softmax-of-unscaled": ({}, {"weights": lambda z: softmax(z * np.sqrt(D))}, USUAL),
    "softmax-of-unmasked": (MASK, {"weights": lambda z: softmax(Q @ K.T / np.sqrt(D))}, USUAL),
    "residual-added": ({}, {"output": lambda a, q, k, v: a @ v + q}, USUAL),
    "all-on-the-largest": ({}, {"weights": lambda z: (z == z.max(1, keepdims=True)) * 1.0}, USUAL),
    "keys-as-values": ({}, {"output": lambda a, q, k, v: a @ k}, USUAL),
    "queries-as-values": ({}, {"output": lambda a, q, k, v: a @ q}, USUAL),
    "keys-values-exchanged": (
        {},
        {"scores": lambda q, k, v: q @ v.T, "output": lambda a, q, k, v: a @ k},
        USUAL,
    ),
    "weights-transposed": ({}, {"output": lambda a, q, k, v: a.T @ v}, USUAL),
    "scores-as-weights": ({"scale": False}, {"output": lambda a, q, k, v: q @ k.T @ v}, USUAL),
    "not-scaled": ({}, {"scaled": lambda s: s}, USUAL),
    "scaled-by-d_k": ({}, {"scaled": lambda s: s / D}, USUAL),
    "multiplied-by-root": ({}, {"scaled": lambda s: s * np.sqrt(D)}, USUAL),
    "scaled-by-length": ({}, {"scaled": lambda s: s / np.sqrt(3)}, (WIDE[0], WIDE[1], V[:, :2])),
    "scaled-by-d_v": ({}, {"scaled": lambda s: s / np.sqrt(2)}, (Q, K, V[:, :2])),
    "scaled-anyway": ({"scale": False}, {"weights": lambda s: softmax(s / np.sqrt(D))}, USUAL),
    "keys-not-transposed": ({}, {"scores": lambda q, k, v: q @ k}, USUAL),
    "query-key-exchanged": ({}, {"scores": lambda q, k, v: k @ q.T}, USUAL),
    "values-as-keys": ({}, {"scores": lambda q, k, v: q @ v.T}, USUAL),
    "queries-as-keys": ({}, {"scores": lambda q, k, v: q @ q.T}, USUAL),
    "cosine-for-dot": ({}, {"scores": lambda q, k, v: unit(q) @ unit(k).T}, USUAL),
    "not-masked": (MASK, {"masked": lambda z, seen: z}, USUAL),
    "mask-inverted": (
        MASK,
        {"masked": lambda z, seen: np.where(seen, -np.inf, z), "weights": softmax},
        USUAL,
    ),
    "choice-left-out": (CHOICE, {"selected": lambda g, best: g}, USUAL),
    "choice-before-mask": (CHOICE, {"choice": lambda g, z: top(z)}, USUAL),
    "choice-by-columns": (CHOICE, {"choice": lambda g, z: top(g.T).T}, USUAL),
    "mask-transposed": (MASK, {"masked": lambda z, seen: np.where(seen.T, z, -np.inf)}, USUAL),
    "mask-strict": (
        MASK,
        {"masked": lambda z, seen: np.where(np.tri(3, k=-1), z, -np.inf), "weights": softmax},
        USUAL,
    ),
    "mask-other-corner": (
        MASK,
        {"masked": lambda z, s: np.where(np.tri(2, 3, 1), z, -np.inf)},
        LONG,
    ),
    "masked-to-0": (MASK, {"masked": lambda z, seen: np.where(seen, z, 0)}, USUAL),
    "masked-to-minus-1e9": (MASK, {"masked": lambda z, seen: np.where(seen, z, -1e9)}, USUAL),
    "masked-to-minus-1e4": (MASK, {"masked": lambda z, seen: np.where(seen, z, -1e4)}, USUAL),
    "mask-after-softmax": (
        MASK,
        {"masked": lambda z, seen: z, "weights": lambda z: softmax(z) * np.tri(*z.shape)},
        USUAL,
    ),
    "soft-cap-left-out": ({"soft_cap": 2}, {"capped": lambda z, c: z}, USUAL),
    "soft-cap-after-mask": (
        {"soft_cap": 2, **MASK},
        {"masked": lambda z, seen: np.where(seen, z, -2)},
        USUAL,
    ),
    "bias-left-out": ({"bias": "given"}, {"biased": lambda z, b: z}, USUAL),
    "bias-subtracted": ({"bias": "given"}, {"biased": lambda z, b: z - b}, USUAL),
}
