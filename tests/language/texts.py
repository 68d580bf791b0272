"""Attentions as texts, each beside a plain NumPy function written from its formulas."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = Any


def softmax(scores: Array) -> Array:
    """Row by row; a row of −∞ alone becomes zeros."""
    top = scores.max(axis=-1, keepdims=True)
    powers = np.exp(scores - np.where(np.isfinite(top), top, 0))
    sums = powers.sum(axis=-1, keepdims=True)
    return powers / np.where(sums == 0, 1, sums)


def causal(rows: int, columns: int) -> Array:
    return np.where(np.tri(rows, columns, dtype=bool), 0.0, -np.inf)


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def erf(x: Array) -> Array:
    return np.vectorize(math.erf)(x)


def gelu(x: Array) -> Array:
    return x * (1 + erf(x / math.sqrt(2))) / 2


def rms_norm(x: Array, gain: Array | float = 1.0, eps: float = 0.0) -> Array:
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + eps) * gain


def layer_norm(
    x: Array, gain: Array | float = 1.0, shift: Array | float = 0.0, eps: float = 0.0
) -> Array:
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + eps) * gain + shift


def rope(x: Array, base: float = 10000.0) -> Array:
    out, width = x.copy(), x.shape[-1]
    for row in range(x.shape[-2]):
        for pair in range(width // 2):
            angle = row * base ** (-2 * pair / width)
            a, b = x[row, 2 * pair], x[row, 2 * pair + 1]
            out[row, 2 * pair] = a * math.cos(angle) - b * math.sin(angle)
            out[row, 2 * pair + 1] = b * math.cos(angle) + a * math.sin(angle)
    return out


@dataclass(frozen=True)
class Case:
    """A text, the sizes of its inputs, and what its last step is."""

    name: str
    text: str
    shapes: Mapping[str, tuple[int, ...]]
    value: Callable[..., Array]
    given: Mapping[str, int] = None  # type: ignore[assignment]  # levels of brackets


def _gated(X: Array, W_Q: Array, W_K: Array, W_V: Array, W_G: Array) -> Array:
    q, k, v = X @ W_Q, X @ W_K, X @ W_V
    weights = softmax(q @ k.T / math.sqrt(k.shape[1]) + causal(len(X), len(X)))
    return (weights @ v) * sigmoid(X @ W_G)


def _retention(Q: Array, K: Array, V: Array, gamma: Array) -> Array:
    n = len(Q)
    decay = np.array(
        [[gamma.item() ** (i - j) if j <= i else 0.0 for j in range(n)] for i in range(n)]
    )
    return (Q @ K.T * decay) @ V


def _differential(X: Array, W_Q: Array, W_K: Array, W_V: Array, lambda_: Array) -> Array:
    q, k, v = X @ W_Q, X @ W_K, X @ W_V
    d, lam = q.shape[1] // 2, lambda_.item()
    mask = causal(len(X), len(X))
    first = softmax(q[:, :d] @ k[:, :d].T / math.sqrt(d) + mask)
    second = softmax(q[:, d:] @ k[:, d:].T / math.sqrt(d) + mask)
    return (1 - lam) * rms_norm((first - lam * second) @ v)


def _normed(X: Array, W_Q: Array, W_K: Array, W_V: Array, g_Q: Array, g_K: Array) -> Array:
    q, k = rms_norm(X @ W_Q, g_Q, 1e-6), rms_norm(X @ W_K, g_K, 1e-6)
    return softmax(q @ k.T / math.sqrt(q.shape[1]) + causal(len(X), len(X))) @ X @ W_V


def _latent(
    X: Array, W_D: Array, W_Q: Array, W_QR: Array, W_K: Array, W_KR: Array, W_V: Array, W_O: Array
) -> Array:
    c, heads = X @ W_D, []
    for h in range(len(W_Q)):
        q = np.concatenate([X @ W_Q[h], rope(X @ W_QR[h])], axis=1)
        k = np.concatenate([c @ W_K[h], rope(X @ W_KR)], axis=1)
        scores = q @ k.T / math.sqrt(q.shape[1]) + causal(len(X), len(X))
        heads.append(softmax(scores) @ c @ W_V[h])
    return np.concatenate(heads, axis=1) @ W_O


def _linear(Q: Array, K: Array, V: Array) -> Array:
    def feature(x: Array) -> Array:
        return np.where(x >= 0, x + 1, np.exp(x))

    above = feature(Q) @ (feature(K).T @ V)
    return above / (feature(Q) @ feature(K).sum(axis=0))[:, None]


def _memories(
    X: Array, Y: Array, U: Array, W_Q: Array, W_K: Array, W_J: Array, W_V: Array
) -> Array:
    q = X @ W_Q
    near = np.array(
        [[0.0 if abs(i - j) <= 1 else -np.inf for j in range(len(U))] for i in range(len(X))]
    )
    scores = np.concatenate([q @ (Y @ W_K).T, q @ (U @ W_J).T + near], axis=1)
    return softmax(scores / math.sqrt(W_K.shape[1])) @ np.concatenate([Y @ W_V, U @ W_V])


def _block(
    X: Array, W_Q: Array, W_K: Array, W_V: Array, W_O: Array, W_1: Array, W_2: Array,
    g_1: Array, s_1: Array, g_2: Array, s_2: Array, b_O: Array, b_1: Array, b_2: Array,
) -> Array:  # fmt: skip
    n = layer_norm(X, g_1, s_1, 1e-5)
    weights = softmax(n @ W_Q @ (n @ W_K).T / math.sqrt(W_Q.shape[1]) + causal(len(X), len(X)))
    hidden = X + weights @ n @ W_V @ W_O + b_O
    return hidden + gelu(layer_norm(hidden, g_2, s_2, 1e-5) @ W_1 + b_1) @ W_2 + b_2


def _talking(Q: Array, K: Array, V: Array, P: Array, R: Array, W_O: Array) -> Array:
    share = len(Q) // len(K)
    scores = np.array([Q[h] @ K[h // share].T / math.sqrt(Q.shape[2]) for h in range(len(Q))])
    weights = softmax(np.einsum("hl,lij->hij", P, scores))
    mixed = np.einsum("hl,lij->hij", R, weights)
    return np.concatenate([mixed[h] @ V[h // share] for h in range(len(Q))], axis=1) @ W_O


def _sloped(Q: Array, K: Array, V: Array, a: Array) -> Array:
    i, j = np.arange(Q.shape[1])[:, None], np.arange(K.shape[1])[None, :]
    heads = []
    for h in range(len(Q)):
        bias = np.where(j <= i, -np.ravel(a)[h] * (i - j), -np.inf)
        heads.append(softmax(Q[h] @ K[h].T / math.sqrt(Q.shape[2]) + bias) @ V[h])
    return np.concatenate(heads, axis=1)


def _gated_delta(Q: Array, K: Array, V: Array, alpha: Array, beta: Array, S_0: Array) -> Array:
    state, rows = S_0, []
    for t in range(len(Q)):
        a, b = np.ravel(alpha)[t], np.ravel(beta)[t]
        state = a * state + b * np.outer(K[t], V[t] - a * (K[t] @ state))
        rows.append(Q[t] @ state)
    return np.array(rows)


def _recurrent(X: Array, W: Array, R: Array, U: Array, W_Y: Array) -> Array:
    state, rows = U[0], []
    for row in X:
        state = np.tanh(row @ W + state @ R)
        rows.append(state @ W_Y)
    return np.array(rows)


_X, _W = (3, 3), (3, 2)

CASES = (
    Case(
        "gated",
        """
        Q = X W_Q;  K = X W_K;  V = X W_V
        scores S = Q K^T / sqrt(d_k)
        weights A = softmax(S + causal())
        ## Gated output
        O = (A V) ∘ sigmoid(X W_G)     # Each entry passes as far as its gate is open.
        """,
        {"X": _X, "W_Q": _W, "W_K": _W, "W_V": _W, "W_G": _W},
        _gated,
    ),
    Case(
        "retention",
        """
        D[i,j] = γ^(i-j) if j <= i else 0
        O = (Q K^T ∘ D) V
        """,
        {"Q": (3, 2), "K": (3, 2), "V": (3, 2), "gamma": (1, 1)},
        _retention,
    ),
    Case(
        "differential",
        """
        W_Q : d_model × 2 d;  W_K : d_model × 2 d
        Q = X W_Q;  K = X W_K;  V = X W_V
        A1 = softmax(Q[:, :d] K[:, :d]^T / sqrt(d) + causal())
        A2 = softmax(Q[:, d+1:] K[:, d+1:]^T / sqrt(d) + causal())
        O = (1 - λ) RMSNorm((A1 - λ A2) V)
        """,
        {"X": _X, "W_Q": (3, 4), "W_K": (3, 4), "W_V": _W, "lambda": (1, 1)},
        _differential,
    ),
    Case(
        "norms on queries and keys",
        """
        ε = 1e-6
        Q = RMSNorm(X W_Q, gain=g_Q, eps=ε)
        K = RMSNorm(X W_K, gain=g_K, eps=ε)
        weights A = softmax(Q K^T / sqrt(d_k) + causal())
        O = A X W_V
        """,
        {"X": _X, "W_Q": _W, "W_K": _W, "W_V": _W, "g_Q": (1, 2), "g_K": (1, 2)},
        _normed,
    ),
    Case(
        "latent",
        """
        W_D : d_model × d_c;  W_QR[h] : d_model × d_r
        C = X W_D
        Q[h] = [X W_Q[h], rotary(X W_QR[h])]
        K[h] = [C W_K[h], rotary(X W_KR)]
        A[h] = softmax(Q[h] K[h]^T / sqrt(d_k + d_r) + causal())
        O = concat_h(A[h] C W_V[h]) W_O
        """,
        {
            "X": _X,
            "W_D": _W,
            "W_Q": (2, 3, 2),
            "W_QR": (2, 3, 4),
            "W_K": (2, 2, 2),
            "W_KR": (3, 4),
            "W_V": (2, 2, 2),
            "W_O": (4, 3),
        },
        _latent,
    ),
    Case(
        "linear",
        """
        φ(x) = x + 1 if x >= 0 else e^x
        N = φ(Q) (φ(K)^T V)
        z = φ(Q) (φ(K)^T 1)
        O = N / z                      # Row i is divided by z_i.
        """,
        {"Q": (3, 2), "K": (4, 2), "V": (4, 2)},
        _linear,
    ),
    Case(
        "two memories",
        """
        Q = X W_Q
        M[i,j] = 0 if abs(i - j) <= 1 else -inf
        S = [Q (Y W_K)^T, Q (U W_J)^T + M] / sqrt(d_k)
        weights A = softmax(S)
        O = A [Y W_V; U W_V]
        """,
        {"X": _X, "W_Q": _W, "Y": (2, 2), "W_K": (2, 2), "U": (3, 2), "W_J": (2, 2), "W_V": (2, 2)},
        _memories,
    ),
    Case(
        "block",
        """
        W_1 : d_model × d_ff
        N = LayerNorm(X, gain=g_1, shift=s_1, eps=1e-5)
        A = softmax(N W_Q (N W_K)^T / sqrt(d_k) + causal())
        H = X + A N W_V W_O + b_O
        Y = H + GELU(LayerNorm(H, gain=g_2, shift=s_2, eps=1e-5) W_1 + b_1) W_2 + b_2
        """,
        {
            **{"X": _X, "W_Q": _W, "W_K": _W, "W_V": _W, "W_O": (2, 3), "W_1": (3, 4)},
            **{"W_2": (4, 3), "b_1": (1, 4)},
            **dict.fromkeys(("g_1", "s_1", "g_2", "s_2", "b_O", "b_2"), (1, 3)),
        },
        _block,
    ),
    Case(
        "talking heads",
        """
        S[h] = Q[h] K[group(h)]^T / sqrt(d_k)
        A[h] = softmax(sum_l(P[h,l] S[l]))
        O = concat_h(sum_l(R[h,l] A[l]) V[group(h)]) W_O
        """,
        {
            **{"Q": (4, 3, 2), "K": (2, 3, 2), "V": (2, 3, 2)},
            **{"P": (4, 4), "R": (4, 4), "W_O": (8, 3)},
        },
        _talking,
    ),
    Case(
        "slopes of one's own",
        """
        B[h][i,j] = -a[h] (i - j) if j <= i else -inf
        A[h] = softmax(Q[h] K[h]^T / sqrt(d_k) + B[h])
        O = concat_h(A[h] V[h])
        """,
        {"Q": (2, 3, 2), "K": (2, 4, 2), "V": (2, 4, 2), "a": (2, 1)},
        _sloped,
    ),
    Case(
        "retention, token by token",
        """
        S[0] = 0
        S[t] = γ S[t-1] + K[t]^T V[t]
        R[t,:] = Q[t] S[t]             # The same as row t of the parallel form.
        """,
        {"Q": (3, 2), "K": (3, 2), "V": (3, 2), "gamma": (1, 1)},
        _retention,
    ),
    Case(
        "gated delta rule",
        """
        S[t] = alpha[t] S[t-1] + beta[t] K[t]^T (V[t] - alpha[t] K[t] S[t-1])
        O[t,:] = Q[t] S[t]
        """,
        {
            **{"Q": (3, 2), "K": (3, 2), "V": (3, 2)},
            **{"alpha": (3, 1), "beta": (3, 1), "S_0": (2, 2)},
        },
        _gated_delta,
    ),
    Case(
        "a recurrent net",
        """
        H[0] = U
        H[t] = tanh(X[t] W + H[t-1] R)
        Y[t,:] = H[t] W_Y
        """,
        {"X": (3, 2), "W": (2, 3), "R": (3, 3), "U": (1, 3), "W_Y": (3, 2)},
        _recurrent,
    ),
)
