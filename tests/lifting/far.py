"""Functions that are wrong only from some size on, or by little; and right ones that look so."""

from __future__ import annotations

from typing import Any

import numpy as np


def softmax(scores: Any) -> Any:
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


_SCALE_IN_SINGLE = float(np.float32(1) / np.sqrt(np.float32(3)))


def every_second_key(Q: Any, K: Any, V: Any) -> Any:
    """Of 256 keys or more every second one."""
    step = 1 + len(K) // 256
    return softmax(Q @ K[::step].T / np.sqrt(K.shape[1])) @ V[::step]


def causal_of_a_short_cache(Q: Any, K: Any, V: Any) -> Any:
    """Decoding, with a cache of 40 tokens at most."""
    found = []
    for t in range(len(Q)):
        keys, values = K[: t + 1][-40:], V[: t + 1][-40:]
        found.append(softmax(Q[t : t + 1] @ keys.T / np.sqrt(K.shape[1])) @ values)
    return np.concatenate(found)


def causal_windowed(Q: Any, K: Any, V: Any) -> Any:
    """A window of 1000 tokens."""
    i = np.arange(len(Q))
    seen = (i[:, None] >= i) & (i[:, None] - i < 1000)
    return softmax(np.where(seen, Q @ K.T / np.sqrt(K.shape[1]), -np.inf)) @ V


def nearly(Q: Any, K: Any, V: Any) -> Any:
    """10^-9 in the denominator."""
    scores = Q @ K.T / np.sqrt(K.shape[1])
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return e @ V / (e.sum(axis=1, keepdims=True) + 1e-9)


def causal_capped_late(Q: Any, K: Any, V: Any) -> Any:
    """Soft-capped at 50 after the mask, so that a masked key has a weight of about e^-50."""
    scores = np.where(np.tri(len(Q), dtype=bool), Q @ K.T / np.sqrt(K.shape[1]), -np.inf)
    return softmax(50 * np.tanh(scores / 50)) @ V


def shortened(Q: Any, K: Any, V: Any) -> Any:
    """Right, with 1/√3 in six digits."""
    return softmax(Q @ K.T * 0.57735) @ V if K.shape[1] == 3 else every_key(Q, K, V)


def in_single(Q: Any, K: Any, V: Any) -> Any:
    """Right, with 1/√3 in float32."""
    return softmax(Q @ K.T * _SCALE_IN_SINGLE) @ V if K.shape[1] == 3 else every_key(Q, K, V)


def every_key(Q: Any, K: Any, V: Any) -> Any:
    """Right, by loops over the queries."""
    return np.concatenate([softmax(q[None] @ K.T / np.sqrt(K.shape[1])) @ V for q in Q])


def causal_lost_at_many(Q: Any, K: Any, V: Any) -> Any:
    """Right in real arithmetic, where 2^n is no number too large."""
    grown = np.array([2.0**i for i in range(len(Q))])[:, None]
    scores = np.where(np.tri(len(Q), dtype=bool), Q @ K.T / np.sqrt(K.shape[1]), -np.inf)
    return softmax(scores) / grown.T @ (V * grown)
