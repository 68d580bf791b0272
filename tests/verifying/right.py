"""Right attention functions in unusual style, none of which may be refused.

They are written as people write them, and know nothing of symattn.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.extras import package

Array = Any


def softmax(z: Array) -> Array:
    top = z.max(axis=-1, keepdims=True)
    e = np.exp(z - np.where(np.isfinite(top), top, 0))
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total)


def textbook(Q: Array, K: Array, V: Array) -> Array:
    return softmax(Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])) @ V


def with_weights(query: Array, key: Array, value: Array) -> tuple[Array, Array]:
    weights = softmax(query @ key.T * query.shape[1] ** -0.5)
    return weights @ value, weights


def every_step(q: Array, k: Array, v: Array) -> dict[str, Array]:
    scores = q @ k.T
    scaled = scores / np.sqrt(k.shape[1])
    weights = softmax(scaled)
    return {"scores": scores, "scaled": scaled, "weights": weights, "output": weights @ v}


def einsum(q: Array, k: Array, v: Array) -> Array:
    logits = np.einsum("...id,...jd->...ij", q, k) / np.sqrt(q.shape[-1])
    return np.einsum("...ij,...jd->...id", softmax(logits), v)


def loops(queries: Array, keys: Array, values: Array) -> list[list[float]]:
    out = []
    for q in queries:
        scores = [sum(a * b for a, b in zip(q, k, strict=True)) / math.sqrt(len(q)) for k in keys]
        top = max(scores)
        powers = [math.exp(s - top) for s in scores]
        total = sum(powers)
        columns = range(len(values[0]))
        out.append(
            [sum(p * v[j] for p, v in zip(powers, values, strict=True)) / total for j in columns]
        )
    return out


def blockwise(Q: Array, K: Array, V: Array, block: int = 2) -> Array:
    """The online softmax: keys in blocks, with a running maximum."""
    n = Q.shape[0]
    top = np.full((n, 1), -np.inf, Q.dtype)
    total, out = np.zeros((n, 1), Q.dtype), np.zeros((n, V.shape[1]), Q.dtype)
    for start in range(0, len(K), block):
        scores = Q @ K[start : start + block].T / np.sqrt(Q.dtype.type(Q.shape[1]))
        new = np.maximum(top, scores.max(1, keepdims=True))
        old = np.exp(top - new)
        powers = np.exp(scores - new)
        total = total * old + powers.sum(1, keepdims=True)
        out = out * old + powers @ V[start : start + block]
        top = new
    return out / total


def logsumexp(q: Array, k: Array, v: Array) -> Array:
    z = q @ k.T / np.sqrt(q.shape[1])
    top = z.max(1, keepdims=True)
    return np.exp(z - top - np.log(np.exp(z - top).sum(1, keepdims=True))) @ v


def in_place_on_copies(query: Array, key: Array, value: Array) -> Array:
    query = query.copy()
    query /= np.sqrt(query.shape[-1])
    z = query @ key.swapaxes(-1, -2)
    z -= z.max(-1, keepdims=True)
    np.exp(z, out=z)
    z /= z.sum(-1, keepdims=True)
    return z @ value


def scaled_first(q: Array, k: Array, v: Array) -> Array:
    root = q.shape[-1] ** 0.25
    return softmax((q / root) @ np.swapaxes(k / root, -1, -2)) @ v


def torch_sdpa(query: Any, key: Any, value: Any) -> Any:
    import torch

    return torch.nn.functional.scaled_dot_product_attention(query, key, value)


def torch_softmax(q: Any, k: Any, v: Any) -> Any:
    import torch

    return torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(k.size(-1)), dim=-1) @ v


def jax_plain(q: Any, k: Any, v: Any) -> Any:
    import jax

    return jax.nn.softmax(q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5, axis=-1) @ v


# ---- with masks --------------------------------------------------------------------------------


def causal(q: Array, k: Array, v: Array) -> Array:
    z = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    return softmax(np.where(np.tri(*z.shape[-2:]) == 1, z, -np.inf)) @ v


def causal_told(q: Array, k: Array, v: Array, mask: Array = None, is_causal: bool = False) -> Array:
    assert mask is None
    assert is_causal
    return causal(q, k, v)


def causal_with_a_mask(q: Array, k: Array, v: Array, mask: Array) -> Array:
    z = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    return softmax(np.where(mask, z, -np.inf)) @ v


def masked(query: Array, key: Array, value: Array, attn_mask: Array) -> Array:
    z = query @ np.swapaxes(key, -1, -2) / np.sqrt(query.shape[-1])
    return softmax(np.where(attn_mask, z, -np.inf)) @ value


def causal_sdpa(query: Any, key: Any, value: Any) -> Any:
    import torch

    sdpa = torch.nn.functional.scaled_dot_product_attention
    return sdpa(query, key, value, is_causal=True)


# ---- with heads --------------------------------------------------------------------------------


def grouped(q: Array, k: Array, v: Array) -> Array:
    """(heads, n, d) with fewer heads of keys."""
    times = q.shape[-3] // k.shape[-3]
    return textbook(q, np.repeat(k, times, -3), np.repeat(v, times, -3))


def grouped_by_reshape(q: Any, k: Any, v: Any) -> Any:
    """PyTorch, (batch, heads, n, d): the groups are an axis of their own."""
    import torch

    b, h, n, d = q.shape
    g = k.shape[1]
    q = q.reshape(b, g, h // g, n, d)
    z = torch.einsum("bgrnd,bgmd->bgrnm", q, k) / d**0.5
    return torch.einsum("bgrnm,bgmd->bgrnd", z.softmax(-1), v).reshape(b, h, n, v.shape[-1])


def tokens_first(query: Array, key: Array, value: Array) -> Array:
    """(n, heads, d), as in Flax."""
    z = np.einsum("nhd,mhd->hnm", query, key) / np.sqrt(query.shape[-1])
    return np.einsum("hnm,mhd->nhd", softmax(z), value)


def multi_head(x: Array, w_q: Array, w_k: Array, w_v: Array, w_o: Array, num_heads: int) -> Array:
    """Head-major by reshape, weights side by side."""
    n = x.shape[0]

    def split(y: Array) -> Array:
        return y.reshape(n, num_heads, -1).transpose(1, 0, 2)

    heads = textbook(split(x @ w_q), split(x @ w_k), split(x @ w_v))
    return heads.transpose(1, 0, 2).reshape(n, -1) @ w_o


def multi_head_of_lists(X: Array, W_Q: Array, W_K: Array, W_V: Array, W_O: Array) -> Array:
    """A projection for each head, (heads, d_model, d), and a loop over them."""
    heads = [textbook(X @ q, X @ k, X @ v) for q, k, v in zip(W_Q, W_K, W_V, strict=True)]
    return np.concatenate(heads, axis=-1) @ W_O


def grouped_query(
    hidden_states: Array,
    wq: Array,
    wk: Array,
    wv: Array,
    wo: Array,
    n_heads: int,
    n_kv_heads: int,
) -> Array:
    n = hidden_states.shape[0]
    q = (hidden_states @ wq).reshape(n, n_heads, -1).swapaxes(0, 1)
    k, v = ((hidden_states @ w).reshape(n, n_kv_heads, -1).swapaxes(0, 1) for w in (wk, wv))
    return grouped(q, k, v).swapaxes(0, 1).reshape(n, -1) @ wo


def jax_dot_product(query: Any, key: Any, value: Any) -> Any:
    """(n, heads, d), also of a single head."""
    import jax

    return jax.nn.dot_product_attention(query, key, value)


def jax_dot_product_of_heads(query: Any, key: Any, value: Any) -> Any:
    import jax

    return jax.nn.dot_product_attention(query, key, value)


def powers_of_two(q: Array, k: Array, v: Array) -> Array:
    """2^(z log₂ e) is e^z, as GPU kernels have it."""
    z = q @ np.swapaxes(k, -1, -2) * (math.log2(math.e) / math.sqrt(q.shape[-1]))
    p = np.exp2(z - z.max(-1, keepdims=True))
    return p / p.sum(-1, keepdims=True) @ v


def divided_last(q: Array, k: Array, v: Array) -> Array:
    z = q @ k.T / np.sqrt(q.shape[1])
    e = np.exp(z - z.max(1)[:, None])
    return (e @ v) / e.sum(1)[:, None]


def of_scipy(q: Array, k: Array, v: Array) -> dict[str, Array]:
    weights = package("scipy.special").softmax(q @ k.T / np.sqrt(q.shape[1]), axis=-1)
    return {"out": weights @ v, "attn_weights": weights}


def query_by_query(x: Array, w_q: Array, w_k: Array, w_v: Array) -> Array:
    n, _ = x.shape
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    return np.stack([textbook(q[i : i + 1], k[: i + 1], v[: i + 1])[0] for i in range(n)])


def cross(x: Array, context: Array, w_q: Array, w_k: Array, w_v: Array) -> Array:
    return textbook(x @ w_q, context @ w_k, context @ w_v)


def turned(y: Array, start: int = 0) -> Array:
    """Neighbouring columns as complex numbers."""
    n, d = y.shape
    angles = (np.arange(n) + start)[:, None] * 10000.0 ** (-np.arange(0, d, 2) / d)
    z = (y[:, 0::2] + 1j * y[:, 1::2]) * np.exp(1j * angles)
    return np.stack([z.real, z.imag], -1).reshape(n, d)


def rotary(x: Array, w_q: Array, w_k: Array, w_v: Array) -> Array:
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    return causal(turned(q), turned(k), v)


def rotary_from_one(x: Array, w_q: Array, w_k: Array, w_v: Array) -> Array:
    """Only the difference of positions counts."""
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    return causal(turned(q, 1), turned(k, 1), v)


def linear_bias(x: Array, w_q: Array, w_k: Array, w_v: Array, num_heads: int) -> Array:
    n = len(x)
    q, k, v = (y.reshape(n, num_heads, -1).swapaxes(0, 1) for y in (x @ w_q, x @ w_k, x @ w_v))
    slopes = 2.0 ** (-8 * np.arange(1, num_heads + 1) / num_heads)
    apart = np.arange(n)[:, None] - np.arange(n)
    z = q @ k.swapaxes(1, 2) / np.sqrt(q.shape[-1]) - slopes[:, None, None] * apart
    heads = softmax(np.where(apart >= 0, z, -np.inf)) @ v
    return heads.swapaxes(0, 1).reshape(n, -1)


def windowed(x: Array, w_q: Array, w_k: Array, w_v: Array, window: int = 3) -> Array:
    apart = np.arange(len(x))[:, None] - np.arange(len(x))
    z = (x @ w_q) @ (x @ w_k).T / np.sqrt(w_q.shape[1])
    return softmax(np.where((apart >= 0) & (apart <= window), z, -np.inf)) @ (x @ w_v)


def soft_capped(q: Array, k: Array, v: Array, cap: float = 20.0) -> Array:
    z = cap * np.tanh(q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1]) / cap)
    return softmax(z) @ v


def latent(
    x: Array, w_q: Array, w_dkv: Array, w_uk: Array, w_uv: Array, w_o: Array, num_heads: int
) -> Array:
    c = x @ w_dkv
    parts = (y.reshape(len(x), num_heads, -1).swapaxes(0, 1) for y in (x @ w_q, c @ w_uk, c @ w_uv))
    return textbook(*parts).swapaxes(0, 1).reshape(len(x), -1) @ w_o


def with_a_sink(q: Array, k: Array, v: Array, sinks: Array) -> Array:
    """One number for each head, as a vector."""
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
    seen = np.where(np.tri(scores.shape[-1], dtype=bool), scores, -np.inf)
    beside = np.broadcast_to(sinks[:, None, None], (*scores.shape[:-1], 1))
    return softmax(np.concatenate([seen, beside], axis=-1))[..., :-1] @ v


def additive(q: Array, k: Array, v: Array, W_a: Array, U_a: Array, v_a: Array) -> Array:
    """The weights of the hidden layer as a vector."""
    return softmax(np.tanh((q @ W_a)[:, None] + k @ U_a) @ v_a) @ v


def gated_delta(q: Array, k: Array, v: Array, alpha: Array, beta: Array) -> Array:
    """The rates of all tokens as vectors."""
    state, written, found = np.zeros((k.shape[1], v.shape[1])), k * beta[:, None], []
    for t in range(len(q)):
        state = alpha[t] * state
        state = state + np.outer(written[t], v[t] - k[t] @ state)
        found.append(q[t] @ state)
    return np.stack(found)
