"""Families of programs that compute the same, written in several ways."""

# mypy: ignore-errors

import numpy as np

from tests.lifting import attentions
from tests.lifting.attentions import softmax


def plain(Q, K, V):
    S = Q @ K.T / np.sqrt(Q.shape[1])
    E = np.exp(S - S.max(axis=1, keepdims=True))
    return E / E.sum(axis=1, keepdims=True) @ V


def in_blocks(Q, K, V, block=3):
    out = np.empty((Q.shape[0], V.shape[1]))
    for i in range(len(Q)):
        top, total, acc = -np.inf, 0.0, np.zeros(V.shape[1])
        for start in range(0, len(K), block):
            s = K[start : start + block] @ Q[i] / np.sqrt(Q.shape[1])
            new = np.maximum(top, np.max(s))
            e = np.exp(s - new)
            total = total * np.exp(top - new) + e.sum()
            acc = acc * np.exp(top - new) + e @ V[start : start + block]
            top = new
        out[i] = acc / total
    return out


def causal(Q, K, V):
    S = Q @ K.T / np.sqrt(Q.shape[1])
    S = np.where(np.tri(len(Q), len(K)) > 0, S, -1e30)
    E = np.exp(S - S.max(axis=1, keepdims=True))
    return E / E.sum(axis=1, keepdims=True) @ V


def of_heads(Q, K, V, heads=2):
    width, wide = Q.shape[1] // heads, V.shape[1] // heads
    parts = []
    for h in range(heads):
        S = (
            Q[:, h * width : h * width + width]
            @ K[:, h * width : h * width + width].T
            / np.sqrt(3.0)
        )
        E = np.exp(S - S.max(axis=1, keepdims=True))
        parts.append(E / E.sum(axis=1, keepdims=True) @ V[:, h * wide : h * wide + wide])
    return np.concatenate(parts, axis=-1)


def of_heads_at_once(Q, K, V, heads=2):
    q, k, v = (x.reshape(len(x), heads, -1).transpose(1, 0, 2) for x in (Q, K, V))
    S = np.einsum("hid,hjd->hij", q, k) * 3.0**-0.5
    E = np.exp(S)
    return ((E @ v) / E.sum(axis=2, keepdims=True)).transpose(1, 0, 2).reshape(len(Q), -1)


def by_states(Q, K, V):
    state, total = np.zeros((Q.shape[1], V.shape[1])), np.zeros(Q.shape[1])
    out = []
    for t in range(len(Q)):
        f, g = np.maximum(Q[t], 0) + 1, np.maximum(K[t], 0) + 1
        state = state + np.outer(g, V[t])
        total = total + g
        out.append(f @ state / (f @ total))
    return np.stack(out)


def by_all_pairs(Q, K, V):
    f, g = np.maximum(Q, 0.0) + 1, np.maximum(0.0, K) + 1
    A = np.tril(f @ g.T)
    return A @ V / A.sum(axis=1, keepdims=True)


def normed(Q, K, V):
    q = Q / np.sqrt((Q * Q).mean(axis=1, keepdims=True) + 0.01)
    k = K / np.sqrt((K * K).mean(axis=1, keepdims=True) + 0.01)
    E = np.exp(q @ k.T * 0.25)
    return E @ V / E.sum(axis=1, keepdims=True)


def normed_by_key(Q, K, V):
    norms = [(sum(x * x for x in k) / len(k) + 0.01) ** 0.5 for k in K]
    own = [(sum(x * x for x in q) / len(q) + 0.01) ** 0.5 for q in Q]
    S = np.stack(
        [
            np.stack([Q[i] @ K[j] / 4 / (own[i] * norms[j]) for j in range(len(K))])
            for i in range(len(Q))
        ]
    )
    return softmax(S) @ V


def gated(Q, K, V):
    S = Q @ K.T / np.sqrt(Q.shape[1])
    return softmax(S) @ V / (1 + np.exp(-V))


def gated_after(Q, K, V):
    E = np.exp(Q @ K.T / np.sqrt(Q.shape[1]))
    gate = np.exp(V) / (1 + np.exp(V))
    return gate * (E @ V) / E.sum(axis=1, keepdims=True)


FAMILIES = (
    (plain, in_blocks, attentions.online, attentions.row_by_row, attentions.by_log_sum_exp,
     attentions.in_powers_of_two),
    (causal, attentions.causal_by_multiplying, attentions.causal_by_index,
     attentions.causal_decoding, attentions.causal_negative_number),
    (of_heads, of_heads_at_once),
    (by_states, by_all_pairs),
    (normed, normed_by_key),
    (gated, gated_after),
)  # fmt: skip
