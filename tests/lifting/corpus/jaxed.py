"""Functions of JAX: right ones in unusual styles, and wrong ones that look right."""

# mypy: ignore-errors
# ruff: noqa: B905, E741  they are written as strangers write

import math
from functools import partial

import jax
import jax.numpy as jnp
from jax import lax

# ---- right -----------------------------------------------------------------------------------


def by_dot_general(q, k, v):
    s = lax.dot_general(q, k, (((1,), (1,)), ((), ()))) * lax.rsqrt(float(q.shape[-1]))
    return lax.dot(jax.nn.softmax(s, axis=-1), v)


@partial(jax.jit, static_argnames="block")
def online_by_fori(q, k, v, block=1):
    n, d = q.shape

    def body(j, carry):
        m, l, acc = carry
        kj = lax.dynamic_slice_in_dim(k, j * block, block, 0)
        vj = lax.dynamic_slice_in_dim(v, j * block, block, 0)
        s = q @ kj.T / jnp.sqrt(d)
        new = jnp.maximum(m, s.max(-1))
        p = jnp.exp(s - new[:, None])
        c = jnp.exp(m - new)
        return new, l * c + p.sum(-1), acc * c[:, None] + p @ vj

    start = (jnp.full((n,), -jnp.inf), jnp.zeros((n,)), jnp.zeros((n, v.shape[1])))
    _, l, acc = lax.fori_loop(0, k.shape[0] // block, body, start)
    return acc / l[:, None]


def causal_by_scan(q, k, v):
    n = q.shape[0]

    def row(_, given):
        i, qi = given
        s = jnp.where(jnp.arange(n) <= i, k @ qi / math.sqrt(q.shape[1]), -jnp.inf)
        return None, jax.nn.softmax(s) @ v

    return lax.scan(row, None, (jnp.arange(n), q))[1]


def causal_by_where_of_softmax(q, k, v):
    s = q @ k.T / jnp.sqrt(q.shape[-1])
    return jax.nn.softmax(s, axis=-1, where=jnp.tri(*s.shape, dtype=bool)) @ v


def heads_by_vmap(x, w_q, w_k, w_v, w_o, num_heads):
    def split(w):
        return jnp.stack(jnp.split(x @ w, num_heads, axis=-1))

    def head(q, k, v):
        return jax.nn.softmax(q @ k.T / math.sqrt(q.shape[-1])) @ v

    out = jax.vmap(head)(split(w_q), split(w_k), split(w_v))
    return jnp.concatenate(list(out), axis=-1) @ w_o


def grouped_by_einsum(x, w_q, w_k, w_v, w_o, num_heads, num_kv_heads):
    n, g = x.shape[0], num_kv_heads
    q = (x @ w_q).reshape(n, g, num_heads // g, -1)
    k, v = (x @ w_k).reshape(n, g, -1), (x @ w_v).reshape(n, g, -1)
    s = jnp.einsum("igrd,jgd->grij", q, k) / q.shape[-1] ** 0.5
    o = jnp.einsum("grij,jgd->igrd", jax.nn.softmax(s, -1), v)
    return o.reshape(n, -1) @ w_o


def library_causal(query, key, value):
    return jax.nn.dot_product_attention(
        query[:, None], key[:, None], value[:, None], is_causal=True
    )[:, 0]


def causal_with_cache(q, k, v):
    n = q.shape[0]
    keys, values = jnp.zeros_like(k), jnp.zeros_like(v)
    outs = jnp.zeros_like(v)

    def step(t, carry):
        keys, values, outs = carry
        keys = lax.dynamic_update_slice(keys, k[t][None], (t, 0))
        values = values.at[t].set(v[t])
        s = jnp.where(jnp.arange(n) <= t, keys @ q[t] / math.sqrt(q.shape[1]), -1e30)
        return keys, values, outs.at[t].set(jax.nn.softmax(s) @ values)

    return lax.fori_loop(0, n, step, (keys, values, outs))[2]


def combined_by_lse(q, k, v):
    s = q @ k.T / math.sqrt(q.shape[-1])
    half = max(1, s.shape[1] // 2)
    parts = [(s[:, :half], v[:half]), (s[:, half:], v[half:])]
    lse = [jax.nn.logsumexp(a, axis=-1, keepdims=True) for a, _ in parts]
    whole = jnp.logaddexp(*lse)
    return sum(jnp.exp(a - l) @ b * jnp.exp(l - whole) for (a, b), l in zip(parts, lse))


def alibi(q, k, v):
    h, n, d = q.shape[-3:]
    slopes = jnp.exp2(-8 * (jnp.arange(h) + 1) / h)
    i = jnp.arange(n)
    bias = jnp.einsum("h,ij->hij", slopes, (i[None, :] - i[:, None]).astype(q.dtype))
    s = jnp.einsum("...id,...jd->...ij", q, k) / jnp.sqrt(d) + bias
    s = lax.select(
        jnp.broadcast_to(i[None, :] <= i[:, None], s.shape), s, jnp.full_like(s, -jnp.inf)
    )
    return jax.nn.softmax(s) @ v


def rotary_by_pairs(q, k, v):
    n, d = q.shape

    def turned(x):
        angle = jnp.arange(n)[:, None] / 10000 ** (jnp.arange(0, d, 2) / d)
        x = x.reshape(n, -1, 2)
        turn = jnp.array([[jnp.cos(angle), -jnp.sin(angle)], [jnp.sin(angle), jnp.cos(angle)]])
        return jnp.einsum("abnf,nfb->nfa", turn, x).reshape(n, d)

    s = turned(q) @ turned(k).T * d**-0.5
    return jax.nn.softmax(jnp.where(jnp.tri(n), s, jnp.finfo(s.dtype).min)) @ v


def linear_by_scan(q, k, v):
    q, k = jax.nn.elu(q) + 1, jax.nn.elu(k) + 1

    def step(carry, token):
        state, norm = carry
        qt, kt, vt = token
        state, norm = state + jnp.outer(kt, vt), norm + kt
        return (state, norm), qt @ state / (qt @ norm)

    start = jnp.zeros((k.shape[1], v.shape[1])), jnp.zeros(k.shape[1])
    return lax.scan(step, start, (q, k, v))[1]


def delta_rule(q, k, v, beta):
    def step(state, token):
        qt, kt, vt, bt = token
        state = state - bt * jnp.outer(kt, kt @ state) + bt * jnp.outer(kt, vt)
        return state, qt @ state

    return lax.scan(step, jnp.zeros((k.shape[1], v.shape[1])), (q, k, v, beta))[1]


def decayed(q, k, v, gamma=0.5):
    def step(state, token):
        qt, kt, vt = token
        state = gamma * state + kt[:, None] * vt
        return state, qt @ state

    return lax.scan(step, jnp.zeros((k.shape[1], v.shape[1])), (q, k, v))[1]


def masked(q, k, v, mask):
    s = q @ k.T / math.sqrt(q.shape[1])
    return jax.nn.softmax(s, where=mask, axis=-1) @ v


def biased(q, k, v, bias):
    s = jnp.matmul(q, k.T) / math.sqrt(q.shape[1]) + bias
    e = jnp.exp(s - lax.stop_gradient(s.max(-1, keepdims=True)))
    return e @ v / e.sum(-1, keepdims=True)


def windowed(q, k, v, w=4):
    i = jnp.arange(q.shape[0])
    far = i[:, None] - i[None]
    bias = jnp.where(jnp.logical_and(far >= 0, far < w), 0.0, -jnp.inf)
    return jax.nn.softmax(q @ k.T / math.sqrt(q.shape[1]) + bias, axis=1) @ v


def capped(q, k, v):
    s = 50.0 * jnp.tanh(jnp.einsum("...id,...jd->...ij", q, k) / jnp.sqrt(q.shape[-1]) / 50.0)
    s = jnp.where(jnp.triu(jnp.ones(s.shape[-2:]), 1), -jnp.inf, s)
    return jax.nn.softmax(s) @ v


def with_sinks(q, k, v, sinks):
    s = jnp.einsum("...id,...jd->...ij", q, k) / math.sqrt(q.shape[-1])
    s = jnp.where(jnp.tri(s.shape[-1], dtype=bool), s, -jnp.inf)
    sink = sinks.reshape(-1, 1, 1)
    top = jnp.maximum(s.max(-1, keepdims=True), sink)
    e = jnp.exp(s - top)
    return e @ v / (e.sum(-1, keepdims=True) + jnp.exp(sink - top))


def crossed(x, memory, w_q, w_k, w_v):
    q, k, v = x @ w_q, memory @ w_k, memory @ w_v
    return jax.vmap(lambda row: jax.nn.softmax(k @ row / math.sqrt(row.size)) @ v)(q)


# ---- wrong -----------------------------------------------------------------------------------


def softmax_of_all(q, k, v):
    return jax.nn.softmax(q @ k.T / math.sqrt(q.shape[-1]), axis=None) @ v


def scaled_by_the_width(q, k, v):
    return jax.nn.softmax(q @ k.T / q.shape[-1]) @ v


def online_without_rescaling(q, k, v):
    n, d = q.shape

    def body(j, carry):
        m, l, acc = carry
        s = q @ k[j] / jnp.sqrt(d)
        new = jnp.maximum(m, s)
        p = jnp.exp(s - new)
        return new, l * jnp.exp(m - new) + p, acc + p[:, None] * v[j]

    start = (jnp.full((n,), -jnp.inf), jnp.zeros((n,)), jnp.zeros((n, v.shape[1])))
    _, l, acc = lax.fori_loop(0, k.shape[0], body, start)
    return acc / l[:, None]


def causal_of_one_more(q, k, v):
    s = q @ k.T / jnp.sqrt(q.shape[-1])
    return jax.nn.softmax(jnp.where(jnp.tri(*s.shape, k=1), s, -jnp.inf)) @ v


def causal_with_zeros(q, k, v):
    s = q @ k.T / jnp.sqrt(q.shape[-1])
    return jax.nn.softmax(jnp.tril(s)) @ v


def causal_not_renormalised(q, k, v):
    return jnp.tril(jax.nn.softmax(q @ k.T / jnp.sqrt(q.shape[-1]))) @ v


def heads_side_by_side(x, w_q, w_k, w_v, w_o, num_heads):
    n = x.shape[0]
    q, k, v = ((x @ w).reshape(n, -1, num_heads) for w in (w_q, w_k, w_v))
    s = jnp.einsum("idh,jdh->hij", q, k) / q.shape[1] ** 0.5
    return jnp.einsum("hij,jdh->idh", jax.nn.softmax(s), v).reshape(n, -1) @ w_o


def grouped_the_other_way(x, w_q, w_k, w_v, w_o, num_heads, num_kv_heads):
    n, g = x.shape[0], num_kv_heads
    q = (x @ w_q).reshape(n, num_heads // g, g, -1)
    k, v = (x @ w_k).reshape(n, g, -1), (x @ w_v).reshape(n, g, -1)
    s = jnp.einsum("irgd,jgd->grij", q, k) / q.shape[-1] ** 0.5
    o = jnp.einsum("grij,jgd->irgd", jax.nn.softmax(s, -1), v)
    return o.reshape(n, -1) @ w_o


def cache_of_the_step_before(q, k, v):
    n = q.shape[0]

    def step(t, carry):
        keys, values, outs = carry
        s = jnp.where(jnp.arange(n) <= t, keys @ q[t] / math.sqrt(q.shape[1]), -1e30)
        outs = outs.at[t].set(jax.nn.softmax(s) @ values)
        return keys.at[t].set(k[t]), values.at[t].set(v[t]), outs

    start = jnp.zeros_like(k), jnp.zeros_like(v), jnp.zeros_like(v)
    return lax.fori_loop(0, n, step, start)[2]


def combined_with_one_weight(q, k, v):
    s = q @ k.T / math.sqrt(q.shape[-1])
    half = max(1, s.shape[1] // 2)
    one, other = jax.nn.softmax(s[:, :half]) @ v[:half], jax.nn.softmax(s[:, half:]) @ v[half:]
    w = jax.nn.sigmoid(s[:, :half].max(-1) - s[:, half:].max(-1, initial=-1e9))[:, None]
    return w * one + (1 - w) * other


def alibi_from_the_first(q, k, v):
    h, n, d = q.shape[-3:]
    slopes = jnp.exp2(-8 * jnp.arange(h) / h)
    i = jnp.arange(n)
    bias = slopes[:, None, None] * (i[None, :] - i[:, None])
    s = jnp.einsum("...id,...jd->...ij", q, k) / jnp.sqrt(d) + bias
    return jax.nn.softmax(jnp.where(i[None, :] <= i[:, None], s, -jnp.inf)) @ v


def rotary_turned_apart(q, k, v):
    n, d = q.shape

    def turned(x, sign):
        angle = sign * jnp.arange(n)[:, None] / 10000 ** (jnp.arange(0, d, 2) / d)
        a, b = x[:, ::2], x[:, 1::2]
        c, s = jnp.cos(angle), jnp.sin(angle)
        return jnp.stack([a * c - b * s, a * s + b * c], -1).reshape(n, d)

    s = turned(q, 1) @ turned(k, -1).T * d**-0.5
    return jax.nn.softmax(jnp.where(jnp.tri(n), s, -jnp.inf)) @ v


def linear_one_late(q, k, v):
    q, k = jax.nn.elu(q) + 1, jax.nn.elu(k) + 1

    def step(carry, token):
        state, norm = carry
        qt, kt, vt = token
        out = qt @ state / jnp.maximum(qt @ norm, 1e-9)
        return (state + jnp.outer(kt, vt), norm + kt), out

    start = jnp.zeros((k.shape[1], v.shape[1])), jnp.zeros(k.shape[1])
    return lax.scan(step, start, (q, k, v))[1]


def delta_of_another_order(q, k, v, beta):
    def step(state, token):
        qt, kt, vt, bt = token
        state = state + bt * jnp.outer(kt, vt)
        state = state - bt * jnp.outer(kt, kt @ state)
        return state, qt @ state

    return lax.scan(step, jnp.zeros((k.shape[1], v.shape[1])), (q, k, v, beta))[1]


def decayed_too_early(q, k, v, gamma=0.5):
    def step(state, token):
        qt, kt, vt = token
        state = gamma * (state + kt[:, None] * vt)
        return state, qt @ state

    return lax.scan(step, jnp.zeros((k.shape[1], v.shape[1])), (q, k, v))[1]


def mask_added_as_numbers(q, k, v, mask):
    s = q @ k.T / math.sqrt(q.shape[1]) + mask
    return jax.nn.softmax(s) @ v


def window_one_short(q, k, v, w=3):
    i = jnp.arange(q.shape[0])
    far = i[:, None] - i[None]
    bias = jnp.where(jnp.logical_and(far >= 0, far < w), 0.0, -jnp.inf)
    return jax.nn.softmax(q @ k.T / math.sqrt(q.shape[1]) + bias, axis=1) @ v


def capped_after_the_mask(q, k, v):
    s = jnp.einsum("...id,...jd->...ij", q, k) / jnp.sqrt(q.shape[-1])
    s = jnp.where(jnp.triu(jnp.ones(s.shape[-2:]), 1), -jnp.inf, s)
    return jax.nn.softmax(50.0 * jnp.tanh(s / 50.0)) @ v


def sinks_as_weights(q, k, v, sinks):
    s = jnp.einsum("...id,...jd->...ij", q, k) / math.sqrt(q.shape[-1])
    s = jnp.where(jnp.tri(s.shape[-1], dtype=bool), s, -jnp.inf)
    e = jnp.exp(s)
    return e @ v / (e.sum(-1, keepdims=True) + sinks.reshape(-1, 1, 1))


def crossed_values_of_the_tokens(x, memory, w_q, w_k, w_v):
    q, k, v = x @ w_q, memory @ w_k, memory @ w_v
    s = q @ k.T / math.sqrt(w_v.shape[1])
    return jax.nn.softmax(s) @ v


_DELTA = """
q : n × d_k; k : n × d_k; v : n × d_v; beta : n × 1
S[0] = 0
S[t] = S[t-1] + beta[t] k[t]^T (v[t] - k[t] S[t-1])
output O[t,:] = q[t] S[t]
"""
_DECAYED = """
q : n × d_k; k : n × d_k; v : n × d_v
S[0] = 0
S[t] = 1/2 S[t-1] + k[t]^T v[t]
output O[t,:] = q[t] S[t]
"""

RIGHT = {
    "by_dot_general": "scaled-dot-product",
    "online_by_fori": "scaled-dot-product",
    "causal_by_scan": "causal",
    "causal_by_where_of_softmax": "causal",
    "heads_by_vmap": "multi-head",
    "grouped_by_einsum": "grouped-query",
    "library_causal": "causal",
    "causal_with_cache": "causal",
    "combined_by_lse": "scaled-dot-product",
    "alibi": "alibi",
    "rotary_by_pairs": "rotary",
    "linear_by_scan": "causal-linear",
    "delta_rule": _DELTA,
    "decayed": _DECAYED,
    "masked": "masked",
    "biased": "biased",
    "windowed": "mistral",
    "capped": "gemma",
    "with_sinks": "sink",
    "crossed": "cross",
}
WRONG = {
    "softmax_of_all": "scaled-dot-product",
    "scaled_by_the_width": "scaled-dot-product",
    "online_without_rescaling": "scaled-dot-product",
    "causal_of_one_more": "causal",
    "causal_with_zeros": "causal",
    "causal_not_renormalised": "causal",
    "heads_side_by_side": "multi-head",
    "grouped_the_other_way": "grouped-query",
    "cache_of_the_step_before": "causal",
    "combined_with_one_weight": "scaled-dot-product",
    "alibi_from_the_first": "alibi",
    "rotary_turned_apart": "rotary",
    "linear_one_late": "causal-linear",
    "delta_of_another_order": _DELTA,
    "decayed_too_early": _DECAYED,
    "mask_added_as_numbers": "masked",
    "window_one_short": "mistral",
    "capped_after_the_mask": "gemma",
    "sinks_as_weights": "sink",
    "crossed_values_of_the_tokens": "cross",
}
