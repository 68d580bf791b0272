"""Loops in JAX."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp


def scanned(Q: Any, K: Any, V: Any) -> Any:
    def step(S: Any, row: Any) -> Any:
        q, k, v = row
        S = S + jnp.outer(k, v)
        return S, q @ S

    _, out = jax.lax.scan(step, jnp.zeros((Q.shape[1], V.shape[1])), (Q, K, V))
    return out


def delta(Q: Any, K: Any, V: Any) -> Any:
    def step(S: Any, row: Any) -> Any:
        q, k, v = row
        S = S + jnp.outer(k, v - k @ S)
        return S, S.T @ q

    return jax.lax.scan(step, jnp.zeros((K.shape[1], V.shape[1])), (Q, K, V))[1]


def joined(Q: Any, K: Any, V: Any) -> Any:
    S, out = jnp.zeros((K.shape[1], V.shape[1])), []
    for t in range(len(Q)):
        S = S + jnp.outer(K[t], V[t] - K[t] @ S)
        out.append(S.T @ Q[t])
    return jnp.array(out)


def causal(Q: Any, K: Any, V: Any) -> Any:
    out = []
    for t in range(len(Q)):
        s = K[: t + 1] @ Q[t] / K.shape[1] ** 0.5
        w = jax.nn.softmax(s)
        out.append(w @ V[: t + 1])
    return jnp.stack(out)


def cached(Q: Any, K: Any, V: Any) -> Any:
    keys, values, out = K[:0], V[:0], []
    for t in range(len(Q)):
        keys = jnp.concatenate([keys, K[t : t + 1]])
        values = jnp.concatenate([values, V[t : t + 1]])
        s = keys @ Q[t] / K.shape[1] ** 0.5
        w = jax.nn.softmax(s)
        out.append(w @ values)
    return jnp.stack(out)
