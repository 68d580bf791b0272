"""Attentions and blocks of the literature as texts, each beside its paper's formulas in PyTorch.

Whoever writes the texts knows `docs/equations.md` alone; the functions are written from the
formulas, without symattn, so that autograd gives their gradients.
"""

# ruff: noqa: PLC3002 (a function within a row of the table)
from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import torch
from torch.nn import functional as f

Tensor: TypeAlias = Any

INF = float("inf")


@dataclass(frozen=True)
class Work:
    """A text, the sizes of its inputs, and its last step as a function of them."""

    name: str
    text: str
    shapes: Mapping[str, tuple[int, ...]]
    value: Callable[[Any], Tensor]
    #: Inputs whose entries are between 0 and 1.
    positive: tuple[str, ...] = ()

    def numbers(self) -> dict[str, Any]:
        """Numbers of three decimals for its inputs."""
        rng = np.random.default_rng(len(self.name))
        return {
            name: np.round(rng.uniform(0.2 if name in self.positive else -1, 1, shape), 3)
            for name, shape in self.shapes.items()
        }


def by(rows: int, columns: int, entry: Callable[[int, int], float]) -> Tensor:
    """A matrix by its entries, counted from 1."""
    table = [[entry(i, j) for j in range(1, columns + 1)] for i in range(1, rows + 1)]
    return torch.tensor(table, dtype=torch.float64)


def causal(n: int) -> Tensor:
    return by(n, n, lambda i, j: 0 if j <= i else -INF)


def rms(x: Tensor, gain: Tensor | float = 1.0, eps: float = 0.0) -> Tensor:
    return x / torch.sqrt((x * x).mean(-1, keepdim=True) + eps) * gain


def layer(
    x: Tensor, gain: Tensor | float = 1.0, shift: Tensor | float = 0.0, eps: float = 0.0
) -> Tensor:
    centred = x - x.mean(-1, keepdim=True)
    return centred / torch.sqrt((centred**2).mean(-1, keepdim=True) + eps) * gain + shift


def rope(x: Tensor, base: float = 10000.0) -> Tensor:
    n, width = x.shape[-2:]
    angle = by(n, width // 2, lambda i, j: (i - 1) * base ** (-2 * (j - 1) / width))
    a, b, cos, sin = x[..., ::2], x[..., 1::2], angle.cos(), angle.sin()
    return torch.stack([a * cos - b * sin, b * cos + a * sin], -1).reshape(x.shape)


def soft(q: Tensor, k: Tensor, mask: Tensor | float = 0.0) -> Tensor:
    return torch.softmax(q @ k.mT / math.sqrt(k.shape[-1]) + mask, -1)


def beside(heads: Tensor) -> Tensor:
    """The heads beside one another."""
    return torch.cat(tuple(heads), -1)


def states(step: Callable[[Tensor, int], tuple[Tensor, Tensor]], start: Tensor, n: int) -> Tensor:
    """The rows that a recurrence gives, one for each token."""
    rows, state = [], start
    for t in range(n):
        state, row = step(state, t)
        rows.append(row)
    return torch.stack(rows)


_N, QKV = 4, {"Q": (4, 2), "K": (4, 2), "V": (4, 2)}
_PROJ = {"W_Q": (3, 2), "W_K": (3, 2), "W_V": (3, 2)}
XQKV = {"X": (4, 3), **_PROJ}
_HEADS = {"Q": (2, 4, 2), "K": (2, 4, 2), "V": (2, 4, 2)}
_PROJECT = "Q = X W_Q;  K = X W_K;  V = X W_V\n"
_SCORES = _PROJECT + "S = Q K^T / sqrt(d_k)\n"


def _qkv(g: Any) -> tuple[Tensor, Tensor, Tensor]:
    return g.X @ g.W_Q, g.X @ g.W_K, g.X @ g.W_V


def _cosformer(g: Any) -> Tensor:
    i = torch.arange(1, 5, dtype=torch.float64)
    decay = torch.cos(math.pi / 8 * (i[:, None] - i[None, :]))
    weights = (torch.relu(g.Q) @ torch.relu(g.K).mT) * decay
    return weights @ g.V / weights.sum(-1, keepdim=True)


def _forgetting(g: Any) -> Tensor:
    total = torch.cumsum(torch.log(torch.sigmoid(g.X @ g.w + g.b)), 0)
    return soft(g.Q, g.K, total - total.mT + causal(4)) @ g.V


def _alibi(g: Any) -> Tensor:
    bias = by(4, 4, lambda i, j: -abs(i - j))
    return beside([soft(g.Q[h], g.K[h], g.a[h] * bias + causal(4)) @ g.V[h] for h in range(2)])


def _sinks(g: Any) -> Tensor:
    keys, values = torch.cat([g.P, g.K]), torch.cat([g.U, g.V])
    return soft(g.Q, keys) @ values


def _sink_logit(g: Any) -> Tensor:
    powers = torch.exp(g.Q @ g.K.mT / math.sqrt(2))
    return powers / (powers.sum(-1, keepdim=True) + torch.exp(g.s)) @ g.V


def _softmax1(g: Any) -> Tensor:
    q, k, v = _qkv(g)
    powers = torch.exp(q @ k.mT / math.sqrt(2))
    return powers / (1 + powers.sum(-1, keepdim=True)) @ v


def _pre(g: Any) -> Tensor:
    n = rms(g.X, g.g_1, 1e-6)
    h = g.X + beside(soft(n @ g.W_Q, n @ g.W_K, causal(4)) @ (n @ g.W_V)) @ g.W_O
    return h + f.gelu(rms(h, g.g_2, 1e-6) @ g.W_1 + g.b_1) @ g.W_2 + g.b_2


def _post(g: Any) -> Tensor:
    q, k, v = _qkv(g)
    h = layer(g.X + soft(q, k) @ v @ g.W_O, g.g_1, g.s_1, 1e-5)
    return layer(h + torch.relu(h @ g.W_1 + g.b_1) @ g.W_2 + g.b_2, g.g_2, g.s_2, 1e-5)


def _local_global(g: Any) -> Tensor:
    near = by(4, 4, lambda i, j: 0 if abs(i - j) <= 1 or i == 1 or j == 1 else -INF)
    return soft(g.Q, g.K, near) @ g.V


def _delta(g: Any) -> Tensor:
    def step(s: Tensor, t: int) -> tuple[Tensor, Tensor]:
        s = s + g.beta[t] * torch.outer(g.K[t], g.V[t] - g.K[t] @ s)
        return s, g.Q[t] @ s

    return states(step, torch.zeros(2, 2, dtype=torch.float64), 4)


def _gla(g: Any) -> Tensor:
    gates = torch.sigmoid(g.X @ g.W_A)

    def step(s: Tensor, t: int) -> tuple[Tensor, Tensor]:
        s = gates[t][:, None] * s + torch.outer(g.K[t], g.V[t])
        return s, g.Q[t] @ s

    return states(step, torch.zeros(2, 2, dtype=torch.float64), 4)


def _mamba(g: Any) -> Tensor:
    delta = f.softplus(g.X @ g.w + g.b)

    def step(s: Tensor, t: int) -> tuple[Tensor, Tensor]:
        s = torch.exp(-delta[t] * g.a) * s + delta[t] * torch.outer(g.B[t], g.X[t])
        return s, g.C[t] @ s + g.D_1[0] * g.X[t]

    return states(step, torch.zeros(2, 3, dtype=torch.float64), 4)


WORKS = (
    Work(
        "gated attention (Qiu et al. 2025)",
        """
        Q[h] = X W_Q[h];  K[h] = X W_K[h];  V[h] = X W_V[h]
        A[h] = softmax(Q[h] K[h]^T / sqrt(d_k) + causal())
        Y[h] = sigmoid(X W_G[h]) ∘ (A[h] V[h])
        O = concat_h(Y[h]) W_O
        """,
        {
            "X": (4, 3),
            **{f"W_{x}": (2, 3, 2) for x in "QKVG"},
            "W_O": (4, 3),
        },
        lambda g: (
            beside(
                torch.sigmoid(g.X @ g.W_G)
                * (soft(g.X @ g.W_Q, g.X @ g.W_K, causal(4)) @ (g.X @ g.W_V))
            )
            @ g.W_O
        ),
    ),
    Work(
        "retention with a norm and a gate (Sun et al. 2023)",
        """
        D[i,j] = gamma^(i-j) if i >= j else 0
        """
        + """
        Y = RMSNorm((Q K^T ∘ D) V)
        O = (SiLU(X W_G) ∘ Y) W_O
        """,
        {**QKV, "X": (4, 3), "W_G": (3, 2), "W_O": (2, 3), "gamma": (1, 1)},
        lambda g: (
            (
                f.silu(g.X @ g.W_G)
                * rms(
                    (g.Q @ g.K.mT)
                    * torch.tril(g.gamma ** by(4, 4, lambda i, j: max(i - j, 0)))
                    @ g.V
                )
            )
            @ g.W_O
        ),
        ("gamma",),
    ),
    Work(
        "linear attention, elu + 1 (Katharopoulos et al. 2020)",
        """
        φ(x) = x + 1 if x > 0 else exp(x)
        O = φ(Q) (φ(K)^T V) / (φ(Q) (φ(K)^T 1))
        """,
        QKV,
        lambda g: (
            (f.elu(g.Q) + 1)
            @ ((f.elu(g.K) + 1).mT @ g.V)
            / ((f.elu(g.Q) + 1) @ (f.elu(g.K) + 1).sum(0)[:, None])
        ),
    ),
    Work(
        "linear attention with a causal mask, squared relu",
        """
        phi(x) = relu(x)^2
        M[i,j] = 1 if j <= i else 0
        S = phi(Q) phi(K)^T ∘ M
        O = S V / (rowsum(S) + ε)
        """,
        {**QKV, "epsilon": (1, 1)},
        lambda g: (
            torch.tril(torch.relu(g.Q) ** 2 @ (torch.relu(g.K) ** 2).mT)
            @ g.V
            / (
                torch.tril(torch.relu(g.Q) ** 2 @ (torch.relu(g.K) ** 2).mT).sum(-1, keepdim=True)
                + g.epsilon
            )
        ),
        ("epsilon",),
    ),
    Work(
        "cosFormer (Qin et al. 2022)",
        """
        D[i,j] = cos(pi/2 * (i - j)/n)
        S = relu(Q) relu(K)^T ∘ D
        O = S V / rowsum(S)
        """,
        QKV,
        _cosformer,
        ("Q", "K"),
    ),
    Work(
        "forgetting attention (Lin et al. 2025)",
        """
        T[i,j] = 1 if j <= i else 0
        w : d_model × 1
        F = T ln(sigmoid(X w + b))
        D[i,j] = F[i] - F[j] if j <= i else -inf
        O = softmax(Q K^T / sqrt(d_k) + D) V
        """,
        {**QKV, "X": (4, 3), "w": (3, 1), "b": (1, 1)},
        _forgetting,
    ),
    Work(
        "ALiBi with slopes of one's own (Press et al. 2022)",
        """
        B[h][i,j] = -a[h] abs(i - j)
        A[h] = softmax(Q[h] K[h]^T / sqrt(d_k) + B[h] + causal())
        O = concat_h(A[h] V[h])
        """,
        {**_HEADS, "a": (2, 1)},
        _alibi,
    ),
    Work(
        "a table of biases by distance (Raffel et al. 2020)",
        """
        O = softmax(Q K^T / sqrt(d_k) + B) V
        """,
        {**QKV, "B": (4, 4)},
        lambda g: soft(g.Q, g.K, g.B) @ g.V,
    ),
    Work(
        "a sliding window by entries (Beltagy et al. 2020)",
        """
        M[i,j] = 0 if 0 <= i - j <= 1 else -inf
        weights A = softmax(Q K^T / sqrt(d_k) + M)
        O = A V
        """,
        QKV,
        lambda g: soft(g.Q, g.K, by(4, 4, lambda i, j: 0 if 0 <= i - j <= 1 else -INF)) @ g.V,
    ),
    Work(
        "attention sinks as learned keys (Xiao et al. 2024)",
        """
        A = softmax(Q [P; K]^T / sqrt(d_k))
        O = A [U; V]
        """,
        {**QKV, "P": (1, 2), "U": (1, 2)},
        _sinks,
    ),
    Work(
        "a sink by its logit (gpt-oss 2025)",
        """
        E = exp(Q K^T / sqrt(d_k))
        A = E / (rowsum(E) + exp(s))
        O = A V
        """,
        {**QKV, "s": (1, 1)},
        _sink_logit,
    ),
    Work(
        "softmax1 (Miller 2023)",
        _SCORES + "weights A = softmax1(S)\nO = A V",
        XQKV,
        _softmax1,
    ),
    Work(
        "sigmoid attention with a bias (Ramapuram et al. 2024)",
        _SCORES + "b = -ln(4)\nweights A = sigmoid(S + b)\nO = A V",
        XQKV,
        lambda g: (
            torch.sigmoid(g.X @ g.W_Q @ (g.X @ g.W_K).mT / math.sqrt(2) - math.log(4))
            @ (g.X @ g.W_V)
        ),
    ),
    Work(
        "attention by a squared relu (Hua et al. 2022)",
        """
        r(x) = relu(x)^2
        g_Q : 1 × d_k;  g_K : 1 × d_k
        Z = SiLU(X W_Z)
        Q = Z ∘ (1 g_Q) + b_Q;  K = Z ∘ (1 g_K) + b_K
        A = r(Q K^T / n)
        O = (SiLU(X W_U) ∘ (A SiLU(X W_V))) W_O
        """,
        {
            **{"X": (4, 3), "W_Z": (3, 2), "W_U": (3, 2), "W_V": (3, 2), "W_O": (2, 3)},
            **dict.fromkeys(("g_Q", "g_K", "b_Q", "b_K"), (1, 2)),
        },
        lambda g: (
            (
                f.silu(g.X @ g.W_U)
                * (
                    torch.relu(
                        (f.silu(g.X @ g.W_Z) * g.g_Q + g.b_Q)
                        @ (f.silu(g.X @ g.W_Z) * g.g_K + g.b_K).mT
                        / 4
                    )
                    ** 2
                    @ f.silu(g.X @ g.W_V)
                )
            )
            @ g.W_O
        ),
    ),
    Work(
        "norms of queries and keys with a temperature (Henry et al. 2020)",
        """
        Q = unit(X W_Q)
        K = unit(X W_K)
        A = softmax(τ Q K^T + causal())
        O = A X W_V
        """,
        {**XQKV, "tau": (1, 1)},
        lambda g: (
            torch.softmax(
                g.tau * f.normalize(g.X @ g.W_Q) @ f.normalize(g.X @ g.W_K).mT + causal(4), -1
            )
            @ g.X
            @ g.W_V
        ),
    ),
    Work(
        "cross attention (Vaswani et al. 2017)",
        """
        A = softmax(X W_Q (Y W_K)^T / sqrt(d_k))
        O = X + A Y W_V W_O
        """,
        {"X": (4, 3), "Y": (3, 2), "W_Q": (3, 2), "W_K": (2, 2), "W_V": (2, 2), "W_O": (2, 3)},
        lambda g: g.X + soft(g.X @ g.W_Q, g.Y @ g.W_K) @ g.Y @ g.W_V @ g.W_O,
    ),
    Work(
        "memory tokens (Burtsev et al. 2020)",
        """
        W_V : d_model × d_model;  M : 2 × d_model
        Z = [M; X]
        H = Z + softmax(Z W_Q (Z W_K)^T / sqrt(d_k)) Z W_V
        Y = H[3:, :]
        """,
        {"X": (4, 3), "M": (2, 3), "W_Q": (3, 2), "W_K": (3, 2), "W_V": (3, 3)},
        lambda g: (lambda z: (z + soft(z @ g.W_Q, z @ g.W_K) @ z @ g.W_V)[2:])(
            torch.cat([g.M, g.X])
        ),
    ),
    Work(
        "values of the first layer (Zhou et al. 2024)",
        """
        W_V : d_model × d_model
        V_1 = X W_V
        H = X + softmax(X W_Q (X W_K)^T / sqrt(d_k)) V_1
        V_2 = λ V_1 + (1 - λ) H W_U
        O = H + softmax(H W_P (H W_R)^T) V_2
        """,
        {
            "X": (4, 3),
            **dict.fromkeys(("W_Q", "W_K", "W_P", "W_R"), (3, 2)),
            **{"W_V": (3, 3), "W_U": (3, 3), "lambda": (1, 1)},
        },
        lambda g: (
            lambda h, v: (
                h
                + torch.softmax(h @ g.W_P @ (h @ g.W_R).mT, -1)
                @ (g.lambda_ * v + (1 - g.lambda_) * h @ g.W_U)
            )
        )(g.X + soft(g.X @ g.W_Q, g.X @ g.W_K) @ g.X @ g.W_V, g.X @ g.W_V),
    ),
    Work(
        "a pre-norm block of heads with GELU (Radford et al. 2019)",
        """
        N = RMSNorm(X, gain=g_1, eps=1e-6)
        A[h] = softmax(N W_Q[h] (N W_K[h])^T / sqrt(d_k) + causal())
        H = X + concat_h(A[h] N W_V[h]) W_O
        Y = H + GELU(RMSNorm(H, gain=g_2, eps=1e-6) W_1 + b_1) W_2 + b_2
        """,
        {
            **{"X": (4, 3), "W_Q": (2, 3, 2), "W_K": (2, 3, 2), "W_V": (2, 3, 2), "W_O": (4, 3)},
            **{"W_1": (3, 4), "W_2": (4, 3), "b_1": (1, 4), "b_2": (1, 3)},
            **{"g_1": (1, 3), "g_2": (1, 3)},
        },
        _pre,
    ),
    Work(
        "a post-norm block (Vaswani et al. 2017)",
        _PROJECT
        + """
        A = softmax(Q K^T / sqrt(d_k))
        H = LayerNorm(X + A V W_O, gain=g_1, shift=s_1, eps=1e-5)
        F = relu(H W_1 + b_1) W_2 + b_2
        Y = LayerNorm(H + F, gain=g_2, shift=s_2, eps=1e-5)
        """,
        {
            **XQKV,
            **{"W_O": (2, 3), "W_1": (3, 4), "W_2": (4, 3), "b_1": (1, 4), "b_2": (1, 3)},
            **dict.fromkeys(("g_1", "s_1", "g_2", "s_2"), (1, 3)),
        },
        _post,
    ),
    Work(
        "GEGLU (Shazeer 2020)",
        "Y = (GELU(X W_1) ∘ (X W_3)) W_2",
        {"X": (4, 3), "W_1": (3, 4), "W_3": (3, 4), "W_2": (4, 3)},
        lambda g: f.gelu(g.X @ g.W_1) * (g.X @ g.W_3) @ g.W_2,
    ),
    Work(
        "dense Synthesizer (Tay et al. 2021)",
        """
        W_1 : d_model × d_model;  W_2 : d_model × n;  X : n × d_model
        A = softmax(relu(X W_1 + b_1) W_2 + b_2)
        O = A X W_V
        """,
        {
            **{"X": (4, 3), "W_1": (3, 3), "b_1": (1, 3), "W_2": (3, 4), "b_2": (1, 4)},
            "W_V": (3, 2),
        },
        lambda g: torch.softmax(torch.relu(g.X @ g.W_1 + g.b_1) @ g.W_2 + g.b_2, -1) @ g.X @ g.W_V,
    ),
    Work(
        "Linformer (Wang et al. 2020)",
        """
        E : p × m;  F : p × m
        A = softmax(Q (E K)^T / sqrt(d_k))
        O = A (F V)
        """,
        {**QKV, "E": (2, 4), "F": (2, 4)},
        lambda g: soft(g.Q, g.E @ g.K) @ (g.F @ g.V),
    ),
    Work(
        "local and global attention (Zaheer et al. 2020)",
        """
        M[i,j] = 0 if abs(i - j) <= 1 or i == 1 or j == 1 else -inf
        O = softmax(Q K^T / sqrt(d_k) + M) V
        """,
        QKV,
        _local_global,
    ),
    Work(
        "DeltaNet (Schlag et al. 2021)",
        """
        S[0] = 0
        S[t] = S[t-1] + β[t] K[t]^T (V[t] - K[t] S[t-1])
        O[t,:] = Q[t] S[t]
        """,
        {**QKV, "beta": (4, 1)},
        _delta,
    ),
    Work(
        "gated linear attention (Yang et al. 2023)",
        """
        G = sigmoid(X W_A)
        S[0] = 0
        S[t] = diag(G[t]) S[t-1] + K[t]^T V[t]
        O[t,:] = Q[t] S[t]
        """,
        {**QKV, "X": (4, 3), "W_A": (3, 2)},
        _gla,
    ),
    Work(
        "a state space with a scalar decay (Dao and Gu 2024)",
        """
        w : d_model × 1;  B : n × d_s;  C : n × d_s;  D_1 : number
        f(x) = ln(1 + exp(x))
        δ = f(X w + b)
        S[0] = 0
        S[t] = exp(-a δ[t]) S[t-1] + δ[t] B[t]^T X[t]
        Y[t,:] = C[t] S[t] + D_1 X[t]
        """,
        {
            **{"X": (4, 3), "w": (3, 1), "b": (1, 1), "a": (1, 1), "B": (4, 2), "C": (4, 2)},
            "D_1": (1, 1),
        },
        _mamba,
    ),
    Work(
        "an update of a Hopfield network (Ramsauer et al. 2021)",
        """
        Y : m × d_model
        Z = softmax(β X Y^T) Y
        O = softmax(β Z Y^T) Y
        """,
        {"X": (3, 2), "Y": (4, 2), "beta": (1, 1)},
        lambda g: (lambda z: torch.softmax(g.beta * z @ g.Y.mT, -1) @ g.Y)(
            torch.softmax(g.beta * g.X @ g.Y.mT, -1) @ g.Y
        ),
    ),
    Work(
        "a set pooled by seeds (Lee et al. 2019)",
        """
        H = LayerNorm(P + softmax(P W_Q (X W_K)^T / sqrt(d_k)) X W_V)
        Y = LayerNorm(H + relu(H W_F))
        """,
        {"P": (2, 3), "X": (4, 3), "W_Q": (3, 2), "W_K": (3, 2), "W_V": (3, 3), "W_F": (3, 3)},
        lambda g: (lambda h: layer(h + torch.relu(h @ g.W_F)))(
            layer(g.P + soft(g.P @ g.W_Q, g.X @ g.W_K) @ g.X @ g.W_V)
        ),
    ),
    Work(
        "a temperature as an input (Hinton et al. 2015)",
        "A = softmax(Q K^T / (τ sqrt(d_k))); O = A V",
        {**QKV, "tau": (1, 1)},
        lambda g: torch.softmax(g.Q @ g.K.mT / (g.tau * math.sqrt(2)), -1) @ g.V,
        ("tau",),
    ),
    Work(
        "capped logits (Gemma Team 2024)",
        "S = softcap(Q K^T / sqrt(d_k), 5); A = softmax(S + causal()); O = A V",
        QKV,
        lambda g: (
            torch.softmax(5 * torch.tanh(g.Q @ g.K.mT / math.sqrt(2) / 5) + causal(4), -1) @ g.V
        ),
    ),
    Work(
        "logits capped by hand",
        """
        S = Q K^T / sqrt(d_k)
        A = softmax(c tanh(S / c) + causal())
        O = A V
        """,
        {**QKV, "c": (1, 1)},
        lambda g: (
            torch.softmax(g.c * torch.tanh(g.Q @ g.K.mT / math.sqrt(2) / g.c) + causal(4), -1) @ g.V
        ),
        ("c",),
    ),
)
