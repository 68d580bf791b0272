"""Broken attention functions, as people break them; each has to be refused, and its mistake named.

They import nothing of symattn.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Array = Any


def softmax(z: Array, axis: int = -1) -> Array:
    top = z.max(axis=axis, keepdims=True)
    e = np.exp(z - np.where(np.isfinite(top), top, 0))
    total = e.sum(axis=axis, keepdims=True)
    return e / np.where(total == 0, 1, total)


def divided_by_width(Q: Array, K: Array, V: Array) -> Array:
    return softmax(Q @ K.T / K.shape[1]) @ V


def no_scale(query: Array, key: Array, value: Array) -> Array:
    return softmax(np.einsum("id,jd->ij", query, key)) @ value


def scaled_by_tokens(q: Array, k: Array, v: Array) -> Array:
    return softmax(q @ k.T / math.sqrt(len(k))) @ v


def over_queries(q: Array, k: Array, v: Array) -> Array:
    return softmax(q @ k.T / math.sqrt(q.shape[1]), axis=0) @ v


def overflowing(q: Array, k: Array, v: Array) -> Array:
    e = np.exp(q @ k.T / math.sqrt(q.shape[1]))
    return (e / e.sum(axis=1, keepdims=True)) @ v


def scaled_afterwards(q: Array, k: Array, v: Array) -> Array:
    return softmax(q @ k.T) / math.sqrt(q.shape[1]) @ v


def softmaxed_twice(q: Array, k: Array, v: Array) -> Array:
    return softmax(softmax(q @ k.T / math.sqrt(q.shape[1]))) @ v


def without_exponentials(q: Array, k: Array, v: Array) -> Array:
    z = q @ k.T / math.sqrt(q.shape[1])
    return z / z.sum(axis=1, keepdims=True) @ v


def base_two(q: Array, k: Array, v: Array) -> Array:
    z = q @ k.T / math.sqrt(q.shape[1])
    p = np.exp2(z - z.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True) @ v


def scores_for_weights(q: Array, k: Array, v: Array) -> Array:
    return q @ k.T / math.sqrt(q.shape[1]) @ v


def keys_averaged(q: Array, k: Array, v: Array) -> Array:
    out = softmax(q @ k.T / math.sqrt(q.shape[1])) @ k
    return out[:, : v.shape[1]] if out.shape[1] >= v.shape[1] else np.pad(out, ((0, 0), (0, 1)))


def whole_matrix(q: Array, k: Array, v: Array) -> Array:
    z = q @ k.T / math.sqrt(q.shape[1])
    e = np.exp(z - z.max())
    return e / e.sum() @ v


def changes_its_input(q: Array, k: Array, v: Array) -> Array:
    q /= math.sqrt(q.shape[1])
    return softmax(q @ k.T) @ v


def never_twice_the_same(q: Array, k: Array, v: Array) -> Array:
    weights = softmax(q @ k.T / math.sqrt(q.shape[1]))
    return (weights + np.random.default_rng().random(weights.shape)) @ v  # a dropout, say


def one_row_too_few(q: Array, k: Array, v: Array) -> Array:
    return (softmax(q @ k.T / math.sqrt(q.shape[1])) @ v)[:-1]


def only_square(q: Array, k: Array, v: Array) -> Array:
    z = np.zeros((len(q), len(q)))
    for i in range(len(q)):
        for j in range(len(q)):
            z[i, j] = q[i] @ k[j] / math.sqrt(q.shape[1])
    return softmax(z) @ v


# ---- with masks --------------------------------------------------------------------------------


def causal_strictly(q: Array, k: Array, v: Array) -> Array:
    z = q @ k.T / math.sqrt(q.shape[1])
    return softmax(np.where(np.tril(np.ones(z.shape), -1) == 1, z, -np.inf)) @ v


def causal_at_the_other_corner(q: Array, k: Array, v: Array) -> Array:
    z = q @ k.T / math.sqrt(q.shape[1])
    n, m = z.shape
    return softmax(np.where(np.tri(n, m, m - n) == 1, z, -np.inf)) @ v


def causal_transposed(q: Array, k: Array, v: Array) -> Array:
    z = q @ k.T / math.sqrt(q.shape[1])
    return softmax(np.where(np.triu(np.ones(z.shape)) == 1, z, -np.inf)) @ v


def not_causal(q: Array, k: Array, v: Array) -> Array:
    return softmax(q @ k.T / math.sqrt(q.shape[1])) @ v


def masked_with_zeros(q: Array, k: Array, v: Array) -> Array:
    z = q @ k.T / math.sqrt(q.shape[1])
    return softmax(z * np.tri(*z.shape)) @ v


def masked_after_softmax(q: Array, k: Array, v: Array) -> Array:
    z = q @ k.T / math.sqrt(q.shape[1])
    return softmax(z) * np.tri(*z.shape) @ v


def masked_with_minus_1e4(q: Array, k: Array, v: Array, mask: Array) -> Array:
    z = q @ k.T / math.sqrt(q.shape[1])
    return softmax(np.where(mask, z, -1e4)) @ v


def masked_with_minus_1e9(q: Array, k: Array, v: Array, mask: Array) -> Array:
    z = q @ k.T / math.sqrt(q.shape[1])
    return softmax(np.where(mask, z, -1e9)) @ v


def lowered_by_1e4(q: Array, k: Array, v: Array, mask: Array) -> Array:
    z = q @ k.T / math.sqrt(q.shape[1])
    return softmax(z - 1e4 * (1 - mask)) @ v


def lowered_by_1e9(q: Array, k: Array, v: Array, mask: Array) -> Array:
    z = q @ k.T / math.sqrt(q.shape[1])
    return softmax(z - 1e9 * (1 - mask)) @ v


def nan_where_nothing_is_seen(q: Array, k: Array, v: Array, mask: Array) -> Array:
    z = np.where(mask, q @ k.T / math.sqrt(q.shape[1]), -np.inf)
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True) @ v


def mask_the_other_way(q: Array, k: Array, v: Array, mask: Array) -> Array:
    z = q @ k.T / math.sqrt(q.shape[1])
    return softmax(np.where(mask, -np.inf, z)) @ v


# ---- with heads --------------------------------------------------------------------------------


def attend(q: Array, k: Array, v: Array) -> Array:
    return softmax(q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])) @ v


def tiled(q: Array, k: Array, v: Array) -> Array:
    times = len(q) // len(k)
    return attend(q, np.concatenate([k] * times), np.concatenate([v] * times))


def first_group(q: Array, k: Array, v: Array) -> Array:
    return attend(q, k[:1], v[:1])


def over_heads(q: Array, k: Array, v: Array) -> Array:
    return softmax(q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1]), axis=0) @ v


def _split(x: Array, heads: int) -> Array:
    return x.reshape(len(x), heads, -1).swapaxes(0, 1)


def _heads(x: Array, w_q: Array, w_k: Array, w_v: Array, heads: int) -> Array:
    return attend(*(_split(x @ w, heads) for w in (w_q, w_k, w_v)))


def heads_reversed(x: Array, w_q: Array, w_k: Array, w_v: Array, w_o: Array, heads: int) -> Array:
    return np.concatenate(list(_heads(x, w_q, w_k, w_v, heads))[::-1], axis=1) @ w_o


def heads_interleaved(
    x: Array, w_q: Array, w_k: Array, w_v: Array, w_o: Array, heads: int
) -> Array:
    return _heads(x, w_q, w_k, w_v, heads).transpose(1, 2, 0).reshape(len(x), -1) @ w_o


def heads_merged_by_reshape(
    x: Array, w_q: Array, w_k: Array, w_v: Array, w_o: Array, heads: int
) -> Array:
    return _heads(x, w_q, w_k, w_v, heads).reshape(len(x), -1) @ w_o


def heads_split_by_reshape(
    x: Array, w_q: Array, w_k: Array, w_v: Array, w_o: Array, heads: int
) -> Array:
    parts = ((x @ w).reshape(heads, len(x), -1) for w in (w_q, w_k, w_v))
    return attend(*parts).swapaxes(0, 1).reshape(len(x), -1) @ w_o


def scaled_by_all_heads(
    x: Array, w_q: Array, w_k: Array, w_v: Array, w_o: Array, heads: int
) -> Array:
    q, k, v = (_split(x @ w, heads) for w in (w_q, w_k, w_v))
    out = softmax(q @ k.swapaxes(1, 2) / math.sqrt(w_q.shape[1])) @ v
    return out.swapaxes(0, 1).reshape(len(x), -1) @ w_o


def keys_from_queries(
    x: Array, w_q: Array, w_k: Array, w_v: Array, w_o: Array, heads: int
) -> Array:
    return _heads(x, w_q, w_q, w_v, heads).swapaxes(0, 1).reshape(len(x), -1) @ w_o


def torch_over_the_wrong_axis(query: Any, key: Any, value: Any) -> Any:
    """(batch, heads, n, d)."""
    import torch

    _, _, _, d = query.shape
    return torch.softmax(query @ key.transpose(2, 3) / d**0.5, dim=1) @ value


def torch_divided_by_width(query: Any, key: Any, value: Any) -> Any:
    import torch

    return torch.softmax(query @ key.transpose(-2, -1) / query.size(-1), dim=-1) @ value


def small_number_added(q: Array, k: Array, v: Array) -> Array:
    z = q @ k.T / math.sqrt(q.shape[1])
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / (e.sum(axis=1, keepdims=True) + 1e-6) @ v


def causal_self_minus_1e4(X: Array, W_Q: Array, W_K: Array, W_V: Array) -> Array:
    z = (X @ W_Q) @ (X @ W_K).T / math.sqrt(W_Q.shape[1])
    return softmax(np.where(np.tri(len(X)) == 1, z, -1e4)) @ (X @ W_V)


def strictly_and_minus_1e9(X: Array, W_Q: Array, W_K: Array, W_V: Array) -> Array:
    z = (X @ W_Q) @ (X @ W_K).T / math.sqrt(W_Q.shape[1])
    return softmax(np.where(np.tri(len(X), k=-1) == 1, z, -1e9)) @ (X @ W_V)
