"""The variants that equations say, each beside its paper's formulas in PyTorch.

Loops over tokens and keys are as the papers write them.
"""

# ruff: noqa: PLC3002 (a function within a row of the table)
from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, TypeAlias

import torch
from torch.nn import functional as f

from symattn import variant
from tests.language.literature import (
    QKV,
    XQKV,
    Tensor,
    Work,
    beside,
    by,
    causal,
    rms,
    rope,
    soft,
    states,
)
from tests.language.literature import WORKS as LITERATURE

Sizes: TypeAlias = Mapping[str, tuple[int, ...]]

_CHUNKS: Sizes = dict.fromkeys("QKV", (2, 2, 2))
_HEADS: Sizes = {"X": (4, 3), **{f"W_{x}": (2, 3, 2) for x in "QKV"}, "W_O": (4, 3)}


def zeros(*shape: int) -> Tensor:
    return torch.zeros(*shape, dtype=torch.float64)


def projected(g: Any) -> tuple[Tensor, Tensor, Tensor]:
    return g.X @ g.W_Q, g.X @ g.W_K, g.X @ g.W_V


def _differential(g: Any) -> Tensor:
    first, second = soft(g.X @ g.W_Q1, g.X @ g.W_K1), soft(g.X @ g.W_Q2, g.X @ g.W_K2)
    heads = rms((first - g.lambda_ * second) @ (g.X @ g.W_V))
    return beside((1 - g.lambda_0) * heads) @ g.W_O


def _talking(g: Any) -> Tensor:
    q, k, v = projected(g)
    logits = q @ k.mT / math.sqrt(2)
    weights = torch.softmax(torch.einsum("gij,gh->hij", logits, g.P_L), -1)
    return beside(torch.einsum("gij,gh->hij", weights, g.P_W) @ v) @ g.W_O


def _stick(g: Any) -> Tensor:
    q, k, v = projected(g)
    share, rows = torch.sigmoid(q @ k.T / math.sqrt(2)), []
    for i in range(4):
        row, left = zeros(2), torch.ones(())
        for j in reversed(range(i)):
            row = row + left * share[i, j] * v[j]
            left = left * (1 - share[i, j])
        rows.append(row)
    return torch.stack(rows)


def _forgetting(g: Any) -> Tensor:
    q, k, v = projected(g)
    gates = torch.sigmoid(g.X @ g.w + g.b).ravel()
    rows = []
    for i in range(4):
        e = [
            torch.prod(gates[j + 1 : i + 1]) * torch.exp(q[i] @ k[j] / math.sqrt(2))
            for j in range(i + 1)
        ]
        rows.append(sum(e[j] * v[j] for j in range(i + 1)) / sum(e))
    return torch.stack(rows)


def _disentangled(g: Any) -> Tensor:
    q, k, v = projected(g)
    q_r, k_r = g.R @ g.W_QR, g.R @ g.W_KR
    reach = (len(g.R) - 1) // 2

    def score(i: int, j: int) -> Tensor:
        there, back = (max(-reach, min(reach, d)) + reach for d in (j - i, i - j))
        return q[i] @ k[j] + q[i] @ k_r[there] + k[j] @ q_r[back]

    rows = [torch.stack([score(i, j) for j in range(4)]) for i in range(4)]
    return torch.softmax(torch.stack(rows) / math.sqrt(6), -1) @ v


def _cross_layer(g: Any) -> Tensor:
    k, v = g.X @ g.W_K, g.X @ g.W_V
    h = g.X + soft(g.X @ g.W_Q, k, causal(4)) @ v @ g.W_O
    return h + soft(h @ g.W_P, k, causal(4)) @ v @ g.W_R


def _value_residual(g: Any) -> Tensor:
    v = g.X @ g.W_V
    h = g.X + soft(g.X @ g.W_Q, g.X @ g.W_K, causal(4)) @ v
    mixed = g.lambda_ * v + (1 - g.lambda_) * (h @ g.W_U)
    return h + soft(h @ g.W_P, h @ g.W_R, causal(4)) @ mixed


def _online(g: Any) -> Tensor:
    """Algorithm 3 of Milakov and Gimelshein, one query and one key at a time, with the values."""
    rows = []
    for i in range(4):
        most, total, out = torch.tensor(-math.inf, dtype=torch.float64), zeros(1), zeros(2)
        for j in range(4):
            score = g.Q[i] @ g.K[j] / math.sqrt(2)
            new = torch.maximum(most, score)
            total = total * torch.exp(most - new) + torch.exp(score - new)
            out = out * torch.exp(most - new) + torch.exp(score - new) * g.V[j]
            most = new
        rows.append(out / total)
    return torch.stack(rows)


def _linear(g: Any) -> Tensor:
    q, k = f.elu(g.Q) + 1, f.elu(g.K) + 1
    likeness = torch.tril(q @ k.T)
    return likeness @ g.V / likeness.sum(-1, keepdim=True)


def _retention(g: Any) -> Tensor:
    q, k, v = rope(g.X @ g.W_Q), rope(g.X @ g.W_K), g.X @ g.W_V
    decay = by(4, 4, lambda i, j: float(i >= j)) * g.gamma ** by(4, 4, lambda i, j: max(i - j, 0))
    return (q @ k.T * decay) @ v


def _gated_linear(g: Any) -> Tensor:
    q, k, v = projected(g)
    gate = torch.sigmoid(g.X @ g.W_A @ g.W_B + g.b_A) ** (1 / 16)

    def step(s: Tensor, t: int) -> tuple[Tensor, Tensor]:
        s = gate[t][:, None] * s + torch.outer(k[t], v[t])
        return s, q[t] @ s

    return states(step, zeros(2, 2), 4)


def _mamba(g: Any) -> Tensor:
    def step(s: Tensor, t: int) -> tuple[Tensor, Tensor]:
        s = torch.exp(-g.delta[t]) * s + torch.outer(g.B[t], g.X[t])
        return s, g.C[t] @ s

    return states(step, zeros(2, 3), 4)


def _delta(q: Tensor, k: Tensor, v: Tensor, beta: Tensor, decay: Tensor) -> Tensor:
    """The delta rule in the papers' columns: S maps keys to values."""

    def step(s: Tensor, t: int) -> tuple[Tensor, Tensor]:
        s = s * decay[t]
        s = s @ (torch.eye(2) - beta[t] * torch.outer(k[t], k[t])) + beta[t] * torch.outer(
            v[t], k[t]
        )
        return s, s @ q[t]

    return states(step, zeros(v.shape[1], 2), 4)


def _deltanet(g: Any) -> Tensor:
    q, k = (f.normalize(f.silu(g.X @ w)) for w in (g.W_Q, g.W_K))
    return _delta(q, k, f.silu(g.X @ g.W_V), torch.sigmoid(g.X @ g.w), torch.ones(4, 1))


def _linear_sums(g: Any) -> Tensor:
    """Linear attention without a normaliser, decayed by γ where there is one, token by token."""
    factor = getattr(g, "gamma", torch.ones(()))

    def step(s: Tensor, t: int) -> tuple[Tensor, Tensor]:
        s = factor * s + torch.outer(g.K[t], g.V[t])
        return s, g.Q[t] @ s

    return states(step, zeros(2, 2), 4)


def _in_chunks(value: Any) -> Any:
    """The outputs of a loop over the tokens of all chunks, one after another, in chunks again."""

    def outputs(g: Any) -> Tensor:
        given = {name: x for name, x in vars(g).items() if x is not None}
        flat = {name: x.flatten(0, 1) if x.ndim == 3 else x for name, x in given.items()}
        return value(SimpleNamespace(**flat)).unflatten(0, (2, 2))

    return outputs


def _lightning(g: Any) -> Tensor:
    q, k, v = map(f.silu, projected(g))
    decay = by(4, 4, lambda i, j: float(i >= j)) * g.lambda_ ** by(4, 4, lambda i, j: max(i - j, 0))
    return torch.sigmoid(g.X @ g.W_G) * rms((q @ k.T * decay) @ v)


def _rnn(g: Any) -> Tensor:
    def step(h: Tensor, t: int) -> tuple[Tensor, Tensor]:
        h = torch.tanh(g.X[t] @ g.W_X + h @ g.W_H + g.b_H)
        return h, (h @ g.W_O + g.b_O)[0]

    return states(step, zeros(1, 3), 4)


def _gru(g: Any) -> Tensor:
    def step(h: Tensor, t: int) -> tuple[Tensor, Tensor]:
        x = g.X[t]
        z = torch.sigmoid(x @ g.W_Z + h @ g.U_Z + g.b_Z)
        r = torch.sigmoid(x @ g.W_R + h @ g.U_R + g.b_R)
        h = z * h + (1 - z) * torch.tanh(x @ g.W_C + (r * h) @ g.U_C + g.b_C)
        return h, h[0]

    return states(step, zeros(1, 2), 4)


def _work(name: str, shapes: Sizes, value: Any, *positive: str) -> Work:
    return Work(name, variant(name).text, shapes, value, positive)


def _same(name: str, title: str) -> Work:
    """A variant that a text of the literature says in other words."""
    (work,) = (one for one in LITERATURE if one.name == title)
    return replace(work, name=name, text=variant(name).text)


WORKS = (
    _work(
        "differential",
        {
            "X": (4, 3),
            **{f"W_{x}": (2, 3, 2) for x in ("Q1", "K1", "Q2", "K2", "V")},
            **{"lambda": (1, 1), "lambda_0": (1, 1), "W_O": (4, 3)},
        },
        _differential,
    ),
    _work("talking-heads", {**_HEADS, "P_L": (2, 2), "P_W": (2, 2)}, _talking),
    _work("stick-breaking", XQKV, _stick),
    _work("forgetting", {**XQKV, "w": (3, 1), "b": (1, 1)}, _forgetting),
    _work(
        "memory-tokens",
        {**XQKV, "M": (2, 3)},
        lambda g: (lambda h: soft(h @ g.W_Q, h @ g.W_K) @ h @ g.W_V)(torch.cat([g.M, g.X])),
    ),
    _work("disentangled", {**XQKV, "R": (5, 3), "W_QR": (3, 2), "W_KR": (3, 2)}, _disentangled),
    _work(
        "cross-layer",
        {**XQKV, "W_O": (2, 3), "W_P": (3, 2), "W_R": (2, 3)},
        _cross_layer,
    ),
    _same("gated", "gated attention (Qiu et al. 2025)"),
    _work(
        "value-residual",
        {
            **{"X": (4, 3), "W_Q": (3, 2), "W_K": (3, 2), "W_V": (3, 3), "lambda": (1, 1)},
            **{"W_U": (3, 3), "W_P": (3, 2), "W_R": (3, 2)},
        },
        _value_residual,
    ),
    _work(
        "query-key-norm",
        {**XQKV, "g": (1, 1)},
        lambda g: (
            torch.softmax(g.g * f.normalize(g.X @ g.W_Q) @ f.normalize(g.X @ g.W_K).T, -1)
            @ g.X
            @ g.W_V
        ),
    ),
    _same("linformer", "Linformer (Wang et al. 2020)"),
    _same("synthesizer", "dense Synthesizer (Tay et al. 2021)"),
    _work("online-softmax", QKV, _online),
    _work("linear-recurrent", QKV, _linear),
    _work("retention", {**XQKV, "gamma": (1, 1)}, _retention, "gamma"),
    _work("retention-recurrent", {**XQKV, "gamma": (1, 1)}, _retention, "gamma"),
    _work("gated-linear", {**XQKV, "W_A": (3, 1), "W_B": (1, 2), "b_A": (1, 2)}, _gated_linear),
    _work("mamba-2", {"X": (4, 3), "B": (4, 2), "C": (4, 2), "delta": (4, 1)}, _mamba),
    _work("mamba-2-dual", {"X": (4, 3), "B": (4, 2), "C": (4, 2), "delta": (4, 1)}, _mamba),
    _work("deltanet", {**XQKV, "w": (3, 1)}, _deltanet),
    _work("linear-chunked", _CHUNKS, _in_chunks(_linear_sums)),
    _work("retention-chunked", {**_CHUNKS, "gamma": (1, 1)}, _in_chunks(_linear_sums), "gamma"),
    _work(
        "mamba-2-chunked",
        {"X": (2, 2, 3), "B": (2, 2, 2), "C": (2, 2, 2), "Delta": (2, 2, 1)},
        _in_chunks(lambda g: _mamba(SimpleNamespace(**vars(g), delta=g.Delta))),
    ),
    _work(
        "deltanet-chunked",
        {**_CHUNKS, "B": (2, 2, 1)},
        _in_chunks(lambda g: _delta(g.Q, g.K, g.V, g.B, torch.ones(4, 1))),
    ),
    _work(
        "gated-deltanet",
        {**QKV, "alpha": (4, 1), "beta": (4, 1)},
        lambda g: _delta(g.Q, g.K, g.V, g.beta, g.alpha),
    ),
    _work(
        "kimi-delta",
        {**QKV, "G": (4, 2), "beta": (4, 1)},
        lambda g: _delta(g.Q, g.K, g.V, g.beta, g.G),
    ),
    _work("lightning", {**XQKV, "lambda": (1, 1), "W_G": (3, 2)}, _lightning, "lambda"),
    _work(
        "rnn",
        {
            **{"X": (4, 3), "W_X": (3, 3), "W_H": (3, 3), "b_H": (1, 3)},
            **{"W_O": (3, 2), "b_O": (1, 2)},
        },
        _rnn,
    ),
    _work(
        "gru",
        {
            "X": (4, 3),
            **{f"W_{x}": (3, 2) for x in "ZRC"},
            **{f"U_{x}": (2, 2) for x in "ZRC"},
            **{f"b_{x}": (1, 2) for x in "ZRC"},
        },
        _gru,
    ),
)
