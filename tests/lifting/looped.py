"""Attention by loops, over tokens, entries and heads, as people write it; and loops without one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max())
    return e / e.sum()


def appended(Q: Any, K: Any, V: Any) -> Any:
    rows = []
    for q in Q:
        s = K @ q / np.sqrt(K.shape[1])
        rows.append(softmax(s) @ V)
    return np.stack(rows)


def written(Q: Any, K: Any, V: Any) -> Any:
    n, d_k = Q.shape
    scores = np.zeros((n, K.shape[0]))
    weights = np.zeros_like(scores)
    out = np.empty((n, V.shape[1]))
    for i in range(n):
        scores[i] = K @ Q[i] / math.sqrt(d_k)
        e = np.exp(scores[i] - np.max(scores[i]))
        weights[i] = e / np.sum(e)
        out[i] = weights[i] @ V
    return out


def by_entries(Q: Any, K: Any, V: Any) -> Any:
    S = np.zeros((len(Q), len(K)))
    for i in range(len(Q)):
        for j in range(len(K)):
            S[i, j] = np.dot(K[j], Q[i]) / np.sqrt(Q.shape[1])
    A = np.exp(S)
    A = A / A.sum(axis=1, keepdims=True)
    return A @ V


def by_sums(Q: Any, K: Any, V: Any) -> Any:
    out = []
    for q in Q:
        s = np.array([q @ k for k in K]) / np.sqrt(len(q))
        w = np.exp(s) / np.exp(s).sum()
        out.append(sum(w[j] * V[j] for j in range(len(V))))
    return np.array(out)


def of_heads(Q: Any, K: Any, V: Any) -> Any:
    out = []
    for h in range(Q.shape[0]):
        s = Q[h] @ K[h].T / np.sqrt(K.shape[-1])
        e = np.exp(s - s.max(-1, keepdims=True))
        out.append(e / e.sum(-1, keepdims=True) @ V[h])
    return np.concatenate(out, axis=-1)


def of_three(Q: Any, K: Any, V: Any) -> Any:
    """Three things are added that are made alike, and are no columns."""
    parts = []
    for _ in range(3):
        A = np.exp(K)
        parts.append(A)
    return np.stack([np.maximum(sum(A @ q for A in parts), 0) @ V for q in Q])


def causal_by_parts(Q: Any, K: Any, V: Any) -> Any:
    out = np.zeros((len(Q), V.shape[1]))
    for t in range(len(Q)):
        out[t] = softmax(K[: t + 1] @ Q[t]) @ V[: t + 1]
    return out


def decoding(Q: Any, K: Any, V: Any) -> Any:
    """The keys and values so far, kept in lists."""
    keys, values, out = [], [], []
    for q, k, v in zip(Q, K, V, strict=True):
        keys.append(k)
        values.append(v)
        s = np.stack(keys) @ q / np.sqrt(len(q))
        w = softmax(s)
        out.append(w @ np.stack(values))
    return np.stack(out)


def linear(Q: Any, K: Any, V: Any) -> Any:
    S, z = np.zeros((K.shape[1], V.shape[1])), np.zeros(K.shape[1])
    out = []
    for q, k, v in zip(Q, K, V, strict=True):
        p = np.exp(k)
        S = S + np.outer(p, v)
        z = z + p
        out.append(q @ S / (q @ z))
    return np.vstack(out)


def retention(Q: Any, K: Any, V: Any) -> Any:
    S = np.zeros((K.shape[1], V.shape[1]))
    out = np.zeros((Q.shape[0], V.shape[1]))
    for t in range(Q.shape[0]):
        S = 0.9 * S + K[t][:, None] * V[t][None, :]
        out[t] = Q[t] @ S
    return out


def delta(Q: Any, K: Any, V: Any) -> Any:
    S = np.zeros((K.shape[1], V.shape[1]))
    out = []
    for q, k, v in zip(Q, K, V, strict=True):
        S = S + np.outer(k, v - k @ S)
        out.append(q @ S)
    return np.stack(out)


# ---- without a formula -----------------------------------------------------------------------


def growing(Q: Any, K: Any, V: Any) -> Any:
    """Row t is multiplied by t."""
    return np.stack([(i + 1) * (softmax(K @ q) @ V) for i, q in enumerate(Q)])


def first_otherwise(Q: Any, K: Any, V: Any) -> Any:
    """The first row is the mean of the values."""
    out = np.zeros((len(Q), V.shape[1]))
    for i, q in enumerate(Q):
        out[i] = V.mean(axis=0) if i == 0 else softmax(K @ q) @ V
    return out


def one_left_out(Q: Any, K: Any, V: Any) -> Any:
    """The last row stays 0."""
    out = np.zeros((len(Q), V.shape[1]))
    for i in range(len(Q) - 1):
        out[i] = softmax(K @ Q[i]) @ V
    return out


def written_twice(Q: Any, K: Any, V: Any) -> Any:
    """A row is written over after it has been read."""
    out = np.zeros((len(Q), V.shape[1]))
    for i in range(len(Q)):
        out[i] = softmax(K @ Q[i]) @ V
    out[0] = V[0]
    return out


def shifted(Q: Any, K: Any, V: Any) -> Any:
    """Query t is that of the token before, the first that of the last one."""
    return np.stack([softmax(K @ Q[i - 1]) @ V for i in range(len(Q))])


def mirrored(Q: Any, K: Any, V: Any) -> Any:
    """The rows from the last to the first."""
    return np.stack([softmax(K @ q) @ V for q in Q[::-1]])


def state_of_two(Q: Any, K: Any, V: Any) -> Any:
    """A state that is made of the one before the last, too."""
    S = [np.zeros((K.shape[1], V.shape[1]))] * 2
    out = []
    for q, k, v in zip(Q, K, V, strict=True):
        S.append(S[-1] + S[-2] / 2 + np.outer(k, v))
        out.append(q @ S[-1])
    return np.stack(out)


def strictly_causal(Q: Any, K: Any, V: Any) -> Any:
    """The keys before each token, of which the first has none."""
    out = np.zeros((len(Q), V.shape[1]))
    for t in range(1, len(Q)):
        out[t] = softmax(K[:t] @ Q[t]) @ V[:t]
    return out


def windowed(Q: Any, K: Any, V: Any) -> Any:
    parts = [slice(max(0, t - 2), t + 1) for t in range(len(Q))]
    return np.stack([softmax(K[part] @ q) @ V[part] for q, part in zip(Q, parts, strict=True)])


def linear_by_parts(Q: Any, K: Any, V: Any) -> Any:
    """Without an exponential nothing is 0 where a mask hides a key."""
    out = []
    for t in range(len(Q)):
        s = K[: t + 1] @ Q[t]
        out.append(s @ V[: t + 1])
    return np.stack(out)


def first_doubled(Q: Any, K: Any, V: Any) -> Any:
    out = []
    for t in range(len(Q)):
        w = softmax(K[: t + 1] @ Q[t])
        out.append(w @ V[: t + 1] if t else 2 * V[0])
    return np.stack(out)


def last_doubled(Q: Any, K: Any, V: Any) -> Any:
    out = []
    for t in range(len(Q)):
        w = softmax(K[: t + 1] @ Q[t])
        out.append((1 + (t == len(Q) - 1)) * (w @ V[: t + 1]))
    return np.stack(out)


def mean_so_far(Q: Any, K: Any, V: Any) -> Any:
    return np.stack([V[: t + 1].mean(axis=0) for t in range(len(Q))])


# ---- keys and values that are kept -----------------------------------------------------------


def named_parts(Q: Any, K: Any, V: Any) -> Any:
    out = []
    for t in range(len(Q)):
        keys, values = K[: t + 1], V[: t + 1]
        w = softmax(keys @ Q[t] / np.sqrt(Q.shape[1]))
        out.append(w @ values)
    return np.stack(out)


def joined(Q: Any, K: Any, V: Any) -> Any:
    keys, values = np.zeros((0, K.shape[1])), np.zeros((0, V.shape[1]))
    out = []
    for t in range(len(Q)):
        keys = np.concatenate([keys, K[t : t + 1]])
        values = np.vstack([values, V[t]])
        s = keys @ Q[t] / np.sqrt(Q.shape[1])
        w = softmax(s)
        out.append(w @ values)
    return np.stack(out)


def joined_in_a_pair(Q: Any, K: Any, V: Any) -> Any:
    cache, rows = None, []
    for t in range(len(Q)):
        k, v = K[t][None], V[t][None]
        cache = (k, v) if cache is None else (np.vstack((cache[0], k)), np.vstack((cache[1], v)))
        s = Q[t][None] @ cache[0].T / np.sqrt(Q.shape[1])
        w = np.exp(s) / np.exp(s).sum(-1, keepdims=True)
        rows.append(w @ cache[1])
    return np.concatenate(rows, axis=0)


def projected(X: Any, W_Q: Any, W_K: Any, W_V: Any) -> Any:
    keys, values = [], []
    out = np.zeros((len(X), W_V.shape[1]))
    for t, x in enumerate(X):
        q, k, v = x @ W_Q, x @ W_K, x @ W_V
        keys.append(k)
        values.append(v)
        s = np.stack(keys) @ q / np.sqrt(W_Q.shape[1])
        out[t] = softmax(s) @ np.stack(values)
    return out


def new_ones_first(Q: Any, K: Any, V: Any) -> Any:
    keys, values, out = K[:0], V[:0], []
    for t in range(len(Q)):
        keys, values = np.vstack([K[t], keys]), np.vstack([values, V[t]])
        out.append(softmax(keys @ Q[t]) @ values)
    return np.stack(out)


def every_second_kept(Q: Any, K: Any, V: Any) -> Any:
    keys, values, out = K[:0], V[:0], []
    for t in range(len(Q)):
        if t % 2 == 0:
            keys, values = np.vstack([keys, K[t]]), np.vstack([values, V[t]])
        out.append(softmax(keys @ Q[t]) @ values)
    return np.stack(out)


def values_of_before(Q: Any, K: Any, V: Any) -> Any:
    keys, values, out = K[:1], V[:1], []
    for t in range(len(Q)):
        out.append(softmax(K[: t + 1] @ Q[t])[: len(values)] @ values)
        keys, values = np.vstack([keys, K[t]]), np.vstack([values, V[t]])
    return np.stack(out)


def kept_twice(Q: Any, K: Any, V: Any) -> Any:
    keys, values, out = K[:0], V[:0], []
    for t in range(len(Q)):
        keys, values = np.vstack([keys, K[t], K[t]]), np.vstack([values, V[t], V[t]])
        out.append(softmax(keys @ Q[t]) @ values)
    return np.stack(out)


def of_other_rows(Q: Any, K: Any, V: Any) -> Any:
    out = []
    for t in range(len(Q)):
        keys, values = K[: t + 1], V[len(Q) - t - 1 :]
        out.append(softmax(keys @ Q[t]) @ values)
    return np.stack(out)


# ---- sums over keys, one after another -------------------------------------------------------


def added_up(Q: Any, K: Any, V: Any) -> Any:
    out = np.zeros((len(Q), V.shape[1]))
    for i in range(len(Q)):
        total, number = np.zeros(V.shape[1]), 0.0
        for j in range(len(K)):
            w = np.exp(Q[i] @ K[j] / np.sqrt(Q.shape[1]))
            total += w * V[j]
            number += w
        out[i] = total / number
    return out


def added_so_far(Q: Any, K: Any, V: Any) -> Any:
    out = np.zeros((len(Q), V.shape[1]))
    for i in range(len(Q)):
        total, number = np.zeros(V.shape[1]), 0.0
        for j in range(i + 1):
            w = np.exp(Q[i] @ K[j] / np.sqrt(Q.shape[1]))
            total = total + w * V[j]
            number = number + w
        out[i] = total / number
    return out


def in_place(Q: Any, K: Any, V: Any) -> Any:
    S = np.zeros((len(Q), len(K)))
    for i in range(len(Q)):
        for j in range(len(K)):
            S[i, j] = np.sum(Q[i] * K[j])
    A = np.exp(S) / np.exp(S).sum(axis=1, keepdims=True)
    out = np.zeros((len(Q), V.shape[1]))
    for i in range(len(Q)):
        for j in range(len(K)):
            out[i] += A[i, j] * V[j]
    return out


def hidden_before(Q: Any, K: Any, V: Any) -> Any:
    S = np.full((len(Q), len(Q)), -np.inf)
    for i in range(len(Q)):
        for j in range(i + 1):
            S[i, j] = Q[i] @ K[j]
    A = np.exp(S - S.max(axis=1, keepdims=True))
    return A / A.sum(axis=1, keepdims=True) @ V


def hidden_by_entry(Q: Any, K: Any, V: Any) -> Any:
    S = np.zeros((len(Q), len(Q)))
    for i in range(len(Q)):
        for j in range(len(Q)):
            S[i, j] = Q[i] @ K[j] if j <= i else -np.inf
    A = np.exp(S - S.max(axis=1, keepdims=True))
    return A / A.sum(axis=1, keepdims=True) @ V


def listed(Q: Any, K: Any, V: Any) -> Any:
    out = []
    for q in Q:
        weights = [np.exp(np.dot(q, k)) for k in K]
        total = sum(weights)
        out.append(sum(w / total * v for w, v in zip(weights, V, strict=True)))
    return np.array(out)


def own_key_twice(Q: Any, K: Any, V: Any) -> Any:
    out = np.zeros((len(Q), V.shape[1]))
    for i in range(len(Q)):
        total, number = np.zeros(V.shape[1]), 0.0
        for j in [*range(i + 1), i]:
            w = np.exp(Q[i] @ K[j])
            total, number = total + w * V[j], number + w
        out[i] = total / number
    return out


def values_shifted(Q: Any, K: Any, V: Any) -> Any:
    out = np.zeros((len(Q), V.shape[1]))
    for i in range(len(Q)):
        total, number = np.zeros(V.shape[1]), 0.0
        for j in range(len(K)):
            w = np.exp(Q[i] @ K[j])
            total, number = total + w * V[j - 1], number + w
        out[i] = total / number
    return out


def nothing_for_hidden(Q: Any, K: Any, V: Any) -> Any:
    """0 where scores are not written, which hides nothing."""
    S = np.zeros((len(Q), len(Q)))
    for i in range(len(Q)):
        for j in range(i + 1):
            S[i, j] = Q[i] @ K[j]
    A = np.exp(S)
    return A / A.sum(axis=1, keepdims=True) @ V


def weighed_by_scores(Q: Any, K: Any, V: Any) -> Any:
    out = np.zeros((len(Q), V.shape[1]))
    for i in range(len(Q)):
        for j in range(i + 1):
            out[i] += (Q[i] @ K[j]) * V[j]
    return out


def divided_by_scores(Q: Any, K: Any, V: Any) -> Any:
    out = []
    for t in range(len(Q)):
        w = K[: t + 1] @ Q[t] / np.sqrt(K.shape[1])
        out.append(w / w.sum() @ V[: t + 1])
    return np.array(out)


def of_heads_by_rows(X: Any, W_Q: Any, W_K: Any, W_V: Any) -> Any:
    outs = []
    for h in range(W_Q.shape[0]):
        Q, K, V = X @ W_Q[h], X @ W_K[h], X @ W_V[h]
        out = np.zeros((len(X), W_V.shape[2]))
        for i in range(len(X)):
            s = K[: i + 1] @ Q[i] / np.sqrt(K.shape[1])
            w = np.exp(s - s.max())
            out[i] = w / w.sum() @ V[: i + 1]
        outs.append(out)
    return np.concatenate(outs, axis=1)


def of_heads_in_place(Q: Any, K: Any, V: Any) -> Any:
    out = np.zeros((*Q.shape[:2], V.shape[2]))
    for h in range(Q.shape[0]):
        for i in range(Q.shape[1]):
            s = K[h] @ Q[h, i] / np.sqrt(K.shape[2])
            w = np.exp(s) / np.exp(s).sum()
            out[h, i] = w @ V[h]
    return out


def in_columns(Q: Any, K: Any, V: Any) -> Any:
    columns = []
    for q in Q:
        w = np.exp(K @ q)
        columns.append(V.T @ (w / w.sum()))
    return np.stack(columns, axis=1).T


def keys_of_the_head_before(Q: Any, K: Any, V: Any) -> Any:
    out = np.zeros((*Q.shape[:2], V.shape[2]))
    for h in range(Q.shape[0]):
        for i in range(Q.shape[1]):
            w = np.exp(K[max(h - 1, 0)] @ Q[h, i])
            out[h, i] = w / w.sum() @ V[h]
    return out


def own_score_twice(Q: Any, K: Any, V: Any) -> Any:
    out = np.zeros((len(Q), V.shape[1]))
    for i in range(len(Q)):
        for j in range(i + 1):
            out[i] += (Q[i] @ K[j]) * V[j]
        out[i] += (Q[i] @ K[i]) * V[i]
    return out


def later_heads_see_less(X: Any, W_Q: Any, W_K: Any, W_V: Any) -> Any:
    outs = []
    for h in range(W_Q.shape[0]):
        Q, K, V = X @ W_Q[h], X @ W_K[h], X @ W_V[h]
        out = np.zeros((len(X), W_V.shape[2]))
        for i in range(len(X)):
            first = max(0, i - 3) if h > 1 else 0
            w = np.exp(K[first : i + 1] @ Q[i])
            out[i] = w / w.sum() @ V[first : i + 1]
        outs.append(out)
    return np.concatenate(outs, axis=1)
