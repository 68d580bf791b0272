"""The attentions that the language was made for, beside their formulas in PyTorch."""

from __future__ import annotations

import math
from typing import Any

import torch

from tests.language.literature import (
    INF,
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


def _gated(g: Any) -> Tensor:
    weights = soft(g.X @ g.W_Q, g.X @ g.W_K, causal(3))
    return weights @ g.X @ g.W_V * torch.sigmoid(g.X @ g.W_G)


def _retention(g: Any) -> Tensor:
    decay = g.gamma ** by(3, 3, lambda i, j: max(i - j, 0))
    return (g.Q @ g.K.mT * decay).tril() @ g.V


def _differential(g: Any) -> Tensor:
    q, k = g.X @ g.W_Q, g.X @ g.W_K
    first, second = (soft(q[:, part], k[:, part], causal(3)) for part in ([0, 1], [2, 3]))
    return (1 - g.lambda_) * rms((first - g.lambda_ * second) @ g.X @ g.W_V)


def _normed(g: Any) -> Tensor:
    q, k = rms(g.X @ g.W_Q, g.g_Q, 1e-6), rms(g.X @ g.W_K, g.g_K, 1e-6)
    return soft(q, k, causal(3)) @ g.X @ g.W_V


def _latent(g: Any) -> Tensor:
    c, heads = g.X @ g.W_D, []
    for h in range(2):
        q = torch.cat([g.X @ g.W_Q[h], rope(g.X @ g.W_QR[h])], 1)
        k = torch.cat([c @ g.W_K[h], rope(g.X @ g.W_KR)], 1)
        heads.append(soft(q, k, causal(3)) @ c @ g.W_V[h])
    return beside(heads) @ g.W_O


def _memories(g: Any) -> Tensor:
    q, near = g.X @ g.W_Q, by(3, 3, lambda i, j: 0 if abs(i - j) <= 1 else -INF)
    scores = torch.cat([q @ (g.Y @ g.W_K).mT, q @ (g.U @ g.W_J).mT + near], 1)
    return torch.softmax(scores / math.sqrt(2), -1) @ torch.cat([g.Y, g.U]) @ g.W_V


def _talking(g: Any) -> Tensor:
    k, v = (torch.repeat_interleave(one, 2, 0) for one in (g.K, g.V))
    scores = torch.einsum("hl,lij->hij", g.P, g.Q @ k.mT / math.sqrt(2))
    return beside(torch.einsum("hl,lij->hij", g.R, torch.softmax(scores, -1)) @ v) @ g.W_O


def _gated_delta(g: Any) -> Tensor:
    def step(s: Tensor, t: int) -> tuple[Tensor, Tensor]:
        s = g.alpha[t] * s
        s = s + g.beta[t] * torch.outer(g.K[t], g.V[t] - g.K[t] @ s)
        return s, g.Q[t] @ s

    return states(step, g.S_0, 3)


def _recurrent(g: Any) -> Tensor:
    def step(s: Tensor, t: int) -> tuple[Tensor, Tensor]:
        s = torch.tanh(g.X[t] @ g.W + s @ g.R)
        return s, s @ g.W_Y

    return states(step, g.U[0], 3)


_X, _W = (3, 3), (3, 2)

CASES = (
    Work(
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
    Work(
        "retention",
        """
        D[i,j] = γ^(i-j) if j <= i else 0
        O = (Q K^T ∘ D) V
        """,
        {"Q": (3, 2), "K": (3, 2), "V": (3, 2), "gamma": (1, 1)},
        _retention,
    ),
    Work(
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
    Work(
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
    Work(
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
    Work(
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
    Work(
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
    Work(
        "retention, token by token",
        """
        S[0] = 0
        S[t] = γ S[t-1] + K[t]^T V[t]
        R[t,:] = Q[t] S[t]             # The same as row t of the parallel form.
        """,
        {"Q": (3, 2), "K": (3, 2), "V": (3, 2), "gamma": (1, 1)},
        _retention,
    ),
    Work(
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
    Work(
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
