"""Misconceptions about norms and gates, made in plain NumPy, which knows no symattn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from tests.oracle import softmax
from tests.positions import turned

Array: TypeAlias = Any
Ways: TypeAlias = Mapping[str, Callable[..., Any]]

X = np.array([[1.0, 0, 2, 1], [0, 3, 1, -1], [2, 1, 0, 1]])
GIVEN: Mapping[str, Array] = {
    "X": X,
    "W_Q": np.array([[1.0, 0, 1, 2], [0, 1, -1, 0], [1, 1, 0, 1], [0, 2, 1, 0]]),
    "W_K": np.array([[0.0, 1, 1, 0], [1, 0, 0, 1], [-1, 1, 2, 0], [1, 0, 1, 1]]),
    "W_V": np.array([[2.0, 1, 0, 3], [1, 0, 1, 0], [0, 4, 1, 1], [1, 1, 0, 2]]),
}
GAINS = {"gain_Q": np.array([[2.0, 1, -1, 3]]), "gain_K": np.array([[1.0, 2, 3, -1]])}
GATE = {"W_G": np.array([[1.0, 0, -1, 1], [0, 1, 1, -1], [1, -1, 0, 2], [-1, 0, 2, 1]])}
EPS = 0.5


def rms(x: Array, eps: float = EPS) -> Array:
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps)


def layer(x: Array, eps: float = EPS) -> Array:
    return rms(x - x.mean(-1, keepdims=True), eps)


def _way(ways: Ways, name: str, usual: Callable[..., Any]) -> Callable[..., Any]:
    """What is done in one place."""
    return ways.get(name, usual)


def _turned(x: Array) -> Array:
    return turned(x, 10000, 4, "interleaved")


def _of(given: Mapping[str, Array], ways: Ways) -> dict[str, Array]:
    """The steps of one head whose queries and keys are normalised, and whose output is gated.

    `norm` is of a matrix and its gain, of all heads side by side where there are more; `gain` says
    what the gain is; rotations come where they are said.
    """
    out = {name: given["X"] @ given[f"W_{name}"] for name in "QKV"}
    norm = _way(ways, "norm", lambda x, g: rms(x) * g)
    for name in "QK":
        x, gain = out[name], given.get(f"gain_{name}", np.ones((1, 4)))
        out[f"{name}_normed"] = norm(ways.get("before", np.asarray)(x), gain)
        if "after" in ways:
            out[f"{name}_rotated"] = ways["after"](out[f"{name}_normed"], out[name], gain)
    last = "rotated" if "after" in ways else "normed"
    q, k, v = out[f"Q_{last}"], out[f"K_{last}"], out["V"]
    if "heads" not in ways:
        out["scores"] = q @ k.T
        out["scaled"] = out["scores"] / 2
        out["weights"] = softmax(out["scaled"])
        out["output"] = out["weights"] @ v
    else:
        split = ways["heads"]
        out = {name: split(x) for name, x in out.items()}
        out["scores"] = split(q) @ split(k).swapaxes(1, 2)
        out["scaled"] = out["scores"] / np.sqrt(2)
        out["weights"] = softmax(out["scaled"])
        out["heads"] = out["weights"] @ split(v)
    if "W_G" in given:
        out["gate_scores"] = given["X"] @ given["W_G"]
        out["gate"] = _way(ways, "gate", lambda z: 1 / (1 + np.exp(-z)))(out["gate_scores"])
        out["output_gated"] = _way(ways, "gated", lambda g, o: g * o)(out["gate"], out["output"])
    return out


def _case(
    attention: dict[str, Any], more: Mapping[str, Array], right: Ways, **wrong: Callable[..., Any]
) -> tuple[dict[str, Any], ...]:
    given = {**GIVEN, **more}
    return attention, given, _of(given, right), _of(given, {**right, **wrong})


def _split(x: Array) -> Array:
    """(n, 4) to (2, n, 2)."""
    return np.moveaxis(x.reshape(len(x), 2, 2), 1, 0)


def _each(x: Array, gain: Array) -> Array:
    """Each of two heads by itself."""
    return rms(x.reshape(len(x), 2, 2)).reshape(len(x), 4) * gain


def _by_heads(case: tuple[dict[str, Any], ...]) -> tuple[dict[str, Any], ...]:
    attention, given, right, wrong = case
    return attention, {k: x if k == "X" else _split(x) for k, x in given.items()}, right, wrong


_RMS: dict[str, Any] = {"norm": {"rms": {"eps": "0.5", "gain": True}}}
_LAYER: dict[str, Any] = {"norm": {"layer": {"eps": "0.5", "gain": True}}}
_ONE_PLUS: dict[str, Any] = {"norm": {"rms": {"eps": "0.5", "gain": "one-plus"}}}
_LATE: dict[str, Any] = {"norm": {"rms": {"eps": "0.5", "gain": True, "rotated": True}}}
_JOINED: dict[str, Any] = {"heads": 2, "norm": {"rms": {"eps": "0.5", "joined": True}}}
_GATED: dict[str, Any] = {**_RMS, "output_gate": "sigmoid"}
_TURN: Ways = {"after": lambda normed, x, g: _turned(normed)}
_FIRST: Ways = {"before": _turned}
_PLUS: Ways = {"norm": lambda x, g: rms(x) * (1 + g)}
_OF_LAYER: Ways = {"norm": lambda x, g: layer(x) * g}
_GATES = {**GAINS, **GATE}

#: name: what attention, what is given, the steps as they should be and as they are.
CASES: dict[str, tuple[dict[str, Any], ...]] = {
    "norm-left-out": _case(_RMS, GAINS, {}, norm=lambda x, g: x * g),
    "norm-and-gain-left-out": _case(_RMS, GAINS, {}, norm=lambda x, g: x),
    "gain-left-out": _case(_RMS, GAINS, {}, norm=lambda x, g: rms(x)),
    "gain-without-1": _case(_ONE_PLUS, GAINS, _PLUS, norm=lambda x, g: rms(x) * g),
    "norm-after-rotation": _case(
        {**_RMS, "positions": "rotary"},
        GAINS,
        _TURN,
        after=lambda normed, x, g: rms(_turned(x)) * g,
    ),
    "norm-before-rotation": _case(
        {**_LATE, "positions": "rotary"},
        GAINS,
        _FIRST,
        before=np.asarray,
        norm=lambda x, g: _turned(rms(x) * g),
    ),
    "mean-not-subtracted": _case(_LAYER, GAINS, _OF_LAYER, norm=lambda x, g: rms(x) * g),
    "mean-subtracted": _case(_RMS, GAINS, {}, norm=lambda x, g: layer(x) * g),
    "length-for-rms": _case(
        _RMS, GAINS, {}, norm=lambda x, g: x / np.linalg.norm(x, axis=1, keepdims=True) * g
    ),
    "eps-outside-the-root": _case(
        _RMS,
        GAINS,
        {},
        norm=lambda x, g: x / (np.sqrt((x * x).mean(1, keepdims=True)) + EPS) * g,
    ),
    "eps-left-out": _case(_RMS, GAINS, {}, norm=lambda x, g: rms(x, 0) * g),
    "norm-of-each-head": _by_heads(_case(_JOINED, GAINS, {"heads": _split}, norm=_each)),
    "gate-left-out": _case(_GATED, _GATES, {}, gated=lambda g, o: o),
    "gate-without-activation": _case(_GATED, _GATES, {}, gate=lambda z: z),
    "gate-by-softmax": _case(_GATED, _GATES, {}, gate=softmax),
}
