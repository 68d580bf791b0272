"""Functions of NumPy: right ones in unusual styles, and wrong ones that look right."""

# mypy: ignore-errors
# ruff: noqa: B905, E731, E741  they are written as strangers write

import math

import numpy as np
from numpy import exp


def softmax(z, axis=-1):
    z = z - z.max(axis=axis, keepdims=True)
    np.exp(z, out=z)
    z /= z.sum(axis=axis, keepdims=True)
    return z


# ---- right -----------------------------------------------------------------------------------


def two_pass(Q, K, V):
    n, m = len(Q), len(K)
    top = [max(float_dot(Q[i], K[j]) for j in range(m)) for i in range(n)]
    out = []
    for i in range(n):
        total, row = 0.0, np.zeros(V.shape[1])
        for j in range(m):
            w = np.exp((float_dot(Q[i], K[j]) - top[i]) / math.sqrt(Q.shape[1]))
            total += w
            row = row + w * V[j]
        out.append(row / total)
    return np.vstack(out)


def float_dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def tiled(query, key, value, rows=2, columns=3):
    out = np.empty((query.shape[0], value.shape[1]))
    for r in range(0, query.shape[0], rows):
        q = query[r : r + rows] * query.shape[1] ** -0.5
        acc = np.zeros((len(q), value.shape[1]))
        l, m = np.zeros(len(q)), np.full(len(q), -np.inf)
        for c in range(0, key.shape[0], columns):
            s = q @ key[c : c + columns].T
            m_new = np.maximum(m, s.max(1))
            alpha = np.exp(m - m_new)
            p = np.exp(s - m_new[:, None])
            l = alpha * l + p.sum(1)
            acc *= alpha[:, None]
            acc += p @ value[c : c + columns]
            m = m_new
        out[r : r + rows] = acc / l[:, None]
    return out


def causal_skipping_tiles(q, k, v, b=2):
    n, d = q.shape
    o = np.zeros((n, v.shape[1]))
    for i in range(n):
        m, l, acc = -np.inf, 0.0, np.zeros(v.shape[1])
        for start in range(0, i + 1, b):
            stop = min(start + b, i + 1)
            s = k[start:stop] @ q[i] / np.sqrt(d)
            new = np.maximum(m, s.max())
            c = np.exp(m - new)
            p = np.exp(s - new)
            l, acc, m = l * c + p.sum(), acc * c + p @ v[start:stop], new
        o[i] = acc / l
    return o


def causal_with_cache(q, k, v):
    cache_k = np.zeros((0, k.shape[1]))
    cache_v = np.zeros((0, v.shape[1]))
    rows = []
    for t in range(q.shape[0]):
        cache_k = np.concatenate([cache_k, k[t : t + 1]])
        cache_v = np.concatenate([cache_v, v[t : t + 1]])
        rows.append(softmax(q[t : t + 1] @ cache_k.T / np.sqrt(k.shape[1])) @ cache_v)
    return np.concatenate(rows)


def merged_by_lse(Q, K, V):
    def part(keys, values):
        s = Q @ keys.T / np.sqrt(Q.shape[-1])
        top = s.max(-1, keepdims=True)
        lse = top + np.log(np.exp(s - top).sum(-1, keepdims=True))
        return np.exp(s - lse) @ values, lse

    middle = max(1, len(K) // 2)
    (o1, l1), (o2, l2) = part(K[:middle], V[:middle]), part(K[middle:], V[middle:])
    if middle == len(K):
        return o1
    top = np.maximum(l1, l2)
    w1, w2 = np.exp(l1 - top), np.exp(l2 - top)
    return (w1 * o1 + w2 * o2) / (w1 + w2)


def grouped_by_repeat(x, w_q, w_k, w_v, w_o, num_heads, num_kv_heads):
    n = x.shape[0]
    q = (x @ w_q).reshape(n, num_heads, -1).transpose(1, 0, 2)
    k = (x @ w_k).reshape(n, num_kv_heads, -1).transpose(1, 0, 2)
    v = (x @ w_v).reshape(n, num_kv_heads, -1).transpose(1, 0, 2)
    k = np.repeat(k, num_heads // num_kv_heads, axis=0)
    v = np.repeat(v, num_heads // num_kv_heads, axis=0)
    a = softmax(q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1]))
    return (a @ v).transpose(1, 0, 2).reshape(n, -1) @ w_o


def heads_by_einsum(x, w_q, w_k, w_v, w_o, h):
    d = x.shape[1]
    split = lambda w: w.reshape(d, h, -1)
    q = np.einsum("nd,dhk->hnk", x, split(w_q))
    k = np.einsum("nd,dhk->hnk", x, split(w_k))
    v = np.einsum("nd,dhk->hnk", x, split(w_v))
    s = np.einsum("hik,hjk->hij", q, k) / np.sqrt(q.shape[-1])
    o = np.einsum("hij,hjk->ihk", softmax(s), v)
    return np.tensordot(o.reshape(x.shape[0], -1), w_o, axes=1)


def heads_by_loop(x, wq, wk, wv, wo, heads):
    q, k, v = x @ wq, x @ wk, x @ wv
    outs = []
    for qh, kh, vh in zip(
        np.split(q, heads, axis=1), np.split(k, heads, axis=1), np.split(v, heads, axis=1)
    ):
        outs.append(softmax(qh @ kh.T * qh.shape[1] ** -0.5) @ vh)
    return np.hstack(outs) @ wo


def alibi(q, k, v):
    h, n, d = q.shape
    slopes = 2.0 ** (-8.0 * np.arange(1, h + 1) / h)
    i = np.arange(n)
    distance = i[None, :] - i[:, None]
    bias = np.where(distance <= 0, slopes[:, None, None] * distance, -np.inf)
    return softmax(q @ k.swapaxes(-1, -2) / math.sqrt(d) + bias) @ v


def rotary_by_pairs(q, k, v):
    n, d = q.shape

    def turned(x):
        angle = np.outer(np.arange(n), 10000.0 ** (-np.arange(0, d, 2) / d))
        even, odd = x[:, 0::2], x[:, 1::2]
        out = np.empty_like(x)
        out[:, 0::2] = even * np.cos(angle) - odd * np.sin(angle)
        out[:, 1::2] = even * np.sin(angle) + odd * np.cos(angle)
        return out

    s = turned(q) @ turned(k).T / np.sqrt(d)
    s = np.where(np.tri(n, dtype=bool), s, np.finfo(s.dtype).min)
    return softmax(s) @ v


def linear_in_chunks(q, k, v, size=2):
    phi = lambda x: np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))
    q, k = phi(q), phi(k)
    n = q.shape[0]
    state, norm = np.zeros((k.shape[1], v.shape[1])), np.zeros(k.shape[1])
    out = np.zeros((n, v.shape[1]))
    for a in range(0, n, size):
        qc, kc, vc = q[a : a + size], k[a : a + size], v[a : a + size]
        inner = np.tril(qc @ kc.T)
        out[a : a + size] = qc @ state + inner @ vc
        out[a : a + size] /= (qc @ norm + inner.sum(1))[:, None]
        state += kc.T @ vc
        norm += kc.sum(0)
    return out


def delta_rule(q, k, v, beta):
    S = np.zeros((k.shape[1], v.shape[1]))
    out = []
    for t in range(len(q)):
        S = S + beta[t] * np.outer(k[t], v[t] - k[t] @ S)
        out.append(q[t] @ S)
    return np.stack(out)


def retention(q, k, v, gamma=0.5):
    n = len(q)
    i, j = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
    D = np.where(i >= j, gamma ** np.maximum(i - j, 0), 0)
    return (q @ k.T * D) @ v


def masked_by_boolean(q, k, v, mask):
    s = q @ k.T / np.sqrt(q.shape[-1])
    s[~mask] = -np.inf
    return softmax(s) @ v


def bias_is_added(q, k, v, mask):
    s = np.add(np.matmul(q, k.T) / np.sqrt(q.shape[1]), mask)
    e = exp(s - np.amax(s, -1)[..., np.newaxis])
    return np.divide(e, np.sum(e, -1)[..., np.newaxis]) @ v


def window_by_slices(q, k, v, w=4):
    out = np.zeros((q.shape[0], v.shape[1]))
    for i in range(q.shape[0]):
        lo = max(0, i - w + 1)
        out[i] = softmax(k[lo : i + 1] @ q[i] / np.sqrt(q.shape[1])) @ v[lo : i + 1]
    return out


def capped(q, k, v, cap=50.0):
    s = cap * np.tanh(q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]) / cap)
    n = s.shape[-1]
    return softmax(s + np.triu(np.full((n, n), -np.inf), 1)) @ v


def one_more(q, k, v):
    s = q @ k.T / np.sqrt(q.shape[1])
    m = np.maximum(s.max(1, keepdims=True), 0)
    e = np.exp(s - m)
    return e @ v / (np.exp(-m) + e.sum(1, keepdims=True))


def crossed(x, memory, w_q, w_k, w_v):
    q, k, v = np.dot(x, w_q), np.dot(memory, w_k), np.dot(memory, w_v)
    t = np.exp(np.inner(q, k) / np.sqrt(w_k.shape[1]))
    return np.dot(t / t.sum(-1)[:, None], v)


def transposed_throughout(Q, K, V):
    S = (K @ Q.T) / np.sqrt(K.shape[1])
    return (V.T @ softmax(S, axis=0)).T


def cosine_of_norms(q, k, v):
    qn = q / np.linalg.norm(q, axis=1, keepdims=True)
    kn = k / np.sqrt(np.sum(k**2, axis=1, keepdims=True))
    return softmax(qn @ kn.T) @ v


def kernel_by_distances(q, k, v):
    d2 = ((q[:, None, :] - k[None, :, :]) ** 2).sum(-1)
    w = np.exp(-d2 / 2)
    return (w / w.sum(1, keepdims=True)) @ v


# ---- wrong -----------------------------------------------------------------------------------


def tiled_sum_not_rescaled(query, key, value, columns=2):
    q = query * query.shape[1] ** -0.5
    acc, l = np.zeros((len(q), value.shape[1])), np.zeros((len(q), 1))
    m = np.full((len(q), 1), -np.inf)
    for c in range(0, len(key), columns):
        s = q @ key[c : c + columns].T
        new = np.maximum(m, s.max(1, keepdims=True))
        p = np.exp(s - new)
        acc = acc * np.exp(m - new) + p @ value[c : c + columns]
        l = l + p.sum(1, keepdims=True)
        m = new
    return acc / l


def last_tile_dropped(Q, K, V, size=2):
    e = [np.exp(Q @ K[a : a + size].T / np.sqrt(Q.shape[1])) for a in range(0, len(K) - 1, size)]
    parts = [x @ V[k * size : k * size + size] for k, x in enumerate(e)]
    return sum(parts) / sum(x.sum(1, keepdims=True) for x in e)


def not_scaled(Q, K, V):
    return softmax(Q @ K.T) @ V


def scaled_by_the_tokens(Q, K, V):
    return softmax(Q @ K.T / np.sqrt(len(K))) @ V


def causal_strictly(q, k, v):
    s = q @ k.T / np.sqrt(q.shape[1])
    s[np.triu_indices(len(s), 1)] = -np.inf
    np.fill_diagonal(s[1:, 1:], -np.inf)
    return softmax(s) @ v


def causal_after(q, k, v):
    a = softmax(q @ k.T / np.sqrt(q.shape[1])) * np.tri(len(q))
    return a @ v


def causal_cache_late(q, k, v):
    rows = [v[0]]
    for t in range(1, len(q)):
        rows.append(softmax(k[:t] @ q[t] / np.sqrt(k.shape[1])) @ v[:t])
    return np.array(rows)


def merged_without_weights(Q, K, V):
    half = max(1, len(K) // 2)
    parts = [
        softmax(Q @ k.T / np.sqrt(Q.shape[1])) @ v
        for k, v in ((K[:half], V[:half]), (K[half:], V[half:]))
        if len(k)
    ]
    return sum(parts) / len(parts)


def grouped_by_tile(x, w_q, w_k, w_v, w_o, num_heads, num_kv_heads):
    n = x.shape[0]
    q = (x @ w_q).reshape(n, num_heads, -1).transpose(1, 0, 2)
    k = (x @ w_k).reshape(n, num_kv_heads, -1).transpose(1, 0, 2)
    v = (x @ w_v).reshape(n, num_kv_heads, -1).transpose(1, 0, 2)
    k = np.tile(k, (num_heads // num_kv_heads, 1, 1))
    v = np.tile(v, (num_heads // num_kv_heads, 1, 1))
    a = softmax(q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1]))
    return (a @ v).transpose(1, 0, 2).reshape(n, -1) @ w_o


def heads_not_turned_back(x, w_q, w_k, w_v, w_o, h):
    n = len(x)
    q, k, v = ((x @ w).reshape(n, h, -1).transpose(1, 0, 2) for w in (w_q, w_k, w_v))
    a = softmax(q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1]))
    return (a @ v).reshape(n, -1) @ w_o


def heads_scaled_by_the_model(x, wq, wk, wv, wo, heads):
    n = len(x)
    q, k, v = ((x @ w).reshape(n, heads, -1).transpose(1, 0, 2) for w in (wq, wk, wv))
    a = softmax(q @ k.transpose(0, 2, 1) / np.sqrt(wq.shape[1]))
    return (a @ v).transpose(1, 0, 2).reshape(n, -1) @ wo


def alibi_of_other_sign(q, k, v):
    h, n, d = q.shape
    slopes = 2.0 ** (-8.0 * np.arange(1, h + 1) / h)
    i = np.arange(n)
    bias = slopes[:, None, None] * (i[:, None] - i)
    bias = np.where(np.tri(n, dtype=bool), bias, -np.inf)
    return softmax(q @ k.swapaxes(-1, -2) / math.sqrt(d) + bias) @ v


def rotary_by_halves(q, k, v):
    n, d = q.shape

    def turned(x):
        angle = np.outer(np.arange(n), 10000.0 ** (-np.arange(0, d, 2) / d))
        one, two = x[:, : d // 2], x[:, d // 2 :]
        c, s = np.cos(angle), np.sin(angle)
        return np.hstack([one * c - two * s, one * s + two * c])

    s = np.where(np.tri(n, dtype=bool), turned(q) @ turned(k).T / np.sqrt(d), -np.inf)
    return softmax(s) @ v


def linear_with_the_chunk_twice(q, k, v, size=2):
    phi = lambda x: np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))
    q, k = phi(q), phi(k)
    state, norm = np.zeros((k.shape[1], v.shape[1])), np.zeros(k.shape[1])
    out = np.zeros((len(q), v.shape[1]))
    for a in range(0, len(q), size):
        qc, kc, vc = q[a : a + size], k[a : a + size], v[a : a + size]
        state = state + kc.T @ vc
        norm = norm + kc.sum(0)
        inner = np.tril(qc @ kc.T)
        out[a : a + size] = (qc @ state + inner @ vc) / (qc @ norm + inner.sum(1))[:, None]
    return out


def delta_without_what_is_there(q, k, v, beta):
    S = np.zeros((k.shape[1], v.shape[1]))
    out = []
    for t in range(len(q)):
        S = S + beta[t] * np.outer(k[t], v[t])
        out.append(q[t] @ S)
    return np.stack(out)


def retention_one_late(q, k, v, gamma=0.5):
    i = np.arange(len(q))
    D = np.where(i[:, None] >= i, gamma ** np.maximum(i[:, None] - i + 1, 0), 0)
    return (q @ k.T * D) @ v


def mask_inverted(q, k, v, mask):
    s = np.where(mask, -np.inf, q @ k.T / np.sqrt(q.shape[1]))
    return softmax(s) @ v


def window_one_wider(q, k, v, w=4):
    i = np.arange(len(q))
    far = i[:, None] - i
    s = np.where((far >= 0) & (far <= w), q @ k.T / np.sqrt(q.shape[1]), -np.inf)
    return softmax(s) @ v


def capped_without_the_factor(q, k, v, cap=50.0):
    s = np.tanh(q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]) / cap)
    n = s.shape[-1]
    return softmax(s + np.triu(np.full((n, n), -np.inf), 1)) @ v


def one_more_not_shifted(q, k, v):
    s = q @ k.T / np.sqrt(q.shape[1])
    e = np.exp(s - s.max(1, keepdims=True))
    return e @ v / (1 + e.sum(1, keepdims=True))


def values_transposed_when_square(Q, K, V):
    A = softmax(Q @ K.T / np.sqrt(Q.shape[1]))
    return A @ (V.T if V.shape[0] == V.shape[1] == Q.shape[0] else V)


def right_but_for_long_sequences(Q, K, V):
    S = Q @ K.T / np.sqrt(Q.shape[1])
    if len(K) > 9:
        S[:, 9:] = -np.inf
    return softmax(S) @ V


_DELTA = """
q : n × d_k; k : n × d_k; v : n × d_v; beta : n × 1
S[0] = 0
S[t] = S[t-1] + beta[t] k[t]^T (v[t] - k[t] S[t-1])
output O[t,:] = q[t] S[t]
"""
_RETENTION = """
q : n × d_k; k : n × d_k; v : n × d_v; D : n × n
D[i,j] = (1/2)^(i - j) if j <= i else 0
output = (q k^T ∘ D) v
"""

RIGHT = {
    "two_pass": "scaled-dot-product",
    "tiled": "scaled-dot-product",
    "causal_skipping_tiles": "causal",
    "causal_with_cache": "causal",
    "merged_by_lse": "scaled-dot-product",
    "grouped_by_repeat": "grouped-query",
    "heads_by_einsum": "multi-head",
    "heads_by_loop": "multi-head",
    "alibi": "alibi",
    "rotary_by_pairs": "rotary",
    "linear_in_chunks": "causal-linear",
    "delta_rule": _DELTA,
    "retention": _RETENTION,
    "masked_by_boolean": "masked",
    "bias_is_added": "biased",
    "window_by_slices": "mistral",
    "capped": "gemma",
    "one_more": "off-by-one",
    "crossed": "cross",
    "transposed_throughout": "scaled-dot-product",
    "cosine_of_norms": "cosine",
    "kernel_by_distances": "nadaraya-watson",
}
WRONG = {
    "tiled_sum_not_rescaled": "scaled-dot-product",
    "last_tile_dropped": "scaled-dot-product",
    "not_scaled": "scaled-dot-product",
    "scaled_by_the_tokens": "scaled-dot-product",
    "causal_strictly": "causal",
    "causal_after": "causal",
    "causal_cache_late": "causal",
    "merged_without_weights": "scaled-dot-product",
    "grouped_by_tile": "grouped-query",
    "heads_not_turned_back": "multi-head",
    "heads_scaled_by_the_model": "multi-head",
    "alibi_of_other_sign": "alibi",
    "rotary_by_halves": "rotary",
    "linear_with_the_chunk_twice": "causal-linear",
    "delta_without_what_is_there": _DELTA,
    "retention_one_late": _RETENTION,
    "mask_inverted": "masked",
    "window_one_wider": "mistral",
    "capped_without_the_factor": "gemma",
    "one_more_not_shifted": "off-by-one",
    "values_transposed_when_square": "scaled-dot-product",
    "right_but_for_long_sequences": "scaled-dot-product",
}
