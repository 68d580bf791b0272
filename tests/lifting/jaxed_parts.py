"""Parts of models in JAX, by its functions and by hand; wrong ones end in ``_not``."""

# mypy: ignore-errors

import jax
import jax.numpy as jnp
from jax import lax


def standardized(x):
    return jax.nn.standardize(x, axis=-1, epsilon=1e-5)


def standardized_by_hand(x):
    apart = x - x.mean(-1, keepdims=True)
    return apart * lax.rsqrt(jnp.var(x, axis=-1, keepdims=True) + 1e-5)


def standardized_not(x):
    apart = x - x.mean(-1, keepdims=True)
    return apart * lax.rsqrt(jnp.var(x, axis=-1, keepdims=True, ddof=1) + 1e-5)


def gelu(x):
    return jax.nn.gelu(x, approximate=False)


def gelu_by_hand(x):
    return x * (1 + lax.erf(x / 2**0.5)) / 2


def gelu_not(x):
    return jax.nn.gelu(x)


def row_by_row(q, k):
    out = jnp.zeros(q.shape)
    for i in range(len(q)):
        out = out.at[i].add(jax.nn.softmax(q[i] @ k.T) @ k)
        out = out.at[i, 0].mul(2.0)
    return out


def row_by_row_by_hand(q, k):
    out = jax.nn.softmax(q @ k.T) @ k
    return jnp.concatenate([2 * out[:, :1], out[:, 1:]], axis=1)


def row_by_row_not(q, k):
    out = jax.nn.softmax(q @ k.T) @ k
    return out.at[0].mul(2.0)


def sums_so_far(q, k):
    return lax.cumlogsumexp(q @ k.T, axis=1) + lax.cummax(q @ k.T, axis=0, reverse=True)


def sums_so_far_by_hand(q, k):
    s = q @ k.T
    most = jnp.stack([s[i:].max(0) for i in range(len(q))])
    return jnp.log(jnp.cumsum(jnp.exp(s), axis=1)) + most


def sums_so_far_not(q, k):
    return lax.cumlogsumexp(q @ k.T, axis=1) + lax.cummax(q @ k.T, axis=0)


def _turns(n, width):
    return jnp.exp(1j * jnp.arange(n)[:, None] / 500 ** (jnp.arange(0, width, 2) / width))


def turned_scores(q, k):
    turns = _turns(len(q), 4)
    a, b = (q[..., ::2] + 1j * q[..., 1::2]) * turns, (k[..., ::2] + 1j * k[..., 1::2]) * turns
    a = jnp.stack([a.real, a.imag], -1).reshape(q.shape)
    b = jnp.stack([jnp.real(b), jnp.imag(b)], -1).reshape(k.shape)
    return a @ b.T


def turned_scores_by_hand(q, k):
    a, b = (lax.complex(x[:, ::2], x[:, 1::2]) * _turns(len(x), 4) for x in (q, k))
    return jnp.real(a @ jnp.conj(b).T)


def turned_scores_not(q, k):
    a, b = (lax.complex(x[:, ::2], x[:, 1::2]) * _turns(len(x), 4) for x in (q, k))
    return jnp.real(a @ b.T)


def of_features(q, k, v):
    q, k = jax.nn.elu(q) + 1, jax.nn.elu(k) + 1
    return q @ (k.T @ v) / (q @ k.sum(0))[:, None]


def of_a_batch(query, key, value):
    scores = jnp.einsum("...qhd,...khd->...hqk", query / jnp.sqrt(query.shape[-1]), key)
    return jnp.einsum("...hqk,...khd->...qhd", jax.nn.softmax(scores), value)


def by_log_sum_exp(q, k, v):
    s = q @ k.T
    return jnp.exp(s - jax.nn.logsumexp(s, axis=-1, keepdims=True)) @ v
