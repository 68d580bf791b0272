"""Broken attention functions, as people break them; each has to be refused, and its mistake named.

They import nothing of symattn.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.oracle import entmax15, sparsemax

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


def steps(
    Q: Array,
    K: Array,
    V: Array,
    keep: Callable[[Array], Array] = np.tril,
    hidden: float = -math.inf,
    square: Callable[[Array], Array] = np.sqrt,
) -> dict[str, Array]:
    """Causal attention, every step of it returned; what is broken is handed in."""
    S = Q @ K.T
    Z = S / square(np.array(Q.shape[1]))
    M = np.where(keep(np.ones(S.shape, bool)), Z, hidden)
    A = softmax(M)
    return {"scores": S, "scaled": Z, "masked": M, "weights": A, "output": A @ V}


def steps_with_unmasked_scores_for_weights(Q: Array, K: Array, V: Array) -> dict[str, Array]:
    found = steps(Q, K, V)
    return {**found, "output": found["scaled"] @ V}


def steps_not_masked(Q: Array, K: Array, V: Array) -> dict[str, Array]:
    found = steps(Q, K, V, keep=lambda seen: seen)
    return {name: found[name] for name in ("scores", "scaled", "weights", "output")}


def steps_masked_to_zero(Q: Array, K: Array, V: Array) -> dict[str, Array]:
    return steps(Q, K, V, hidden=0.0)


def steps_divided_by_width(Q: Array, K: Array, V: Array) -> dict[str, Array]:
    return steps(Q, K, V, square=lambda width: width)


def steps_transposed(Q: Array, K: Array, V: Array) -> dict[str, Array]:
    return steps(Q, K, V, keep=np.triu)


def steps_that_give_no_number(Q: Array, K: Array, V: Array) -> dict[str, Array]:
    found = steps(Q, K, V)
    return {**found, "output": np.where(V.sum() == 0, found["weights"] @ V, np.nan)}


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


# ---- one small thing each ----------------------------------------------------------------------

Function = Callable[..., Any]


def _scores(q: Array, k: Array) -> Array:
    return q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])


def _over(e: Array, more: Array = 0.0) -> Array:
    with np.errstate(all="ignore"):
        return e / (e.sum(axis=-1, keepdims=True) + more)


def _shifted(z: Array) -> Array:
    return np.exp(z - z.max(axis=-1, keepdims=True))


def _log_softmax(z: Array) -> Array:
    low = z - z.max(axis=-1, keepdims=True)
    return low - np.log(np.exp(low).sum(axis=-1, keepdims=True))


def _one_more(z: Array) -> Array:
    top = np.maximum(z.max(axis=-1, keepdims=True), 0)
    e = np.exp(z - top)
    return e / (e.sum(axis=-1, keepdims=True) + np.exp(-top))


def _weighed(weigh: Function) -> Function:
    """Other weights from the scores."""
    return lambda q, k, v: weigh(_scores(q, k)) @ v


def _scored(score: Function) -> Function:
    """Other scores."""
    return lambda q, k, v: softmax(score(q, k)) @ v


def _over_batch(q: Array, k: Array, v: Array) -> Array:
    assert q.ndim == 3
    return softmax(_scores(q, k), axis=0) @ v


_DOT: dict[str, Function] = {
    "shifted-by-the-largest-of-all": _weighed(lambda z: _over(np.exp(z - z.max()))),
    "shifted-by-the-mean": _weighed(lambda z: _over(np.exp(z - z.mean(axis=-1, keepdims=True)))),
    "multiplied-by-d_k": _scored(lambda q, k: q @ k.T * q.shape[1]),
    "scaled-by-fourth-root": _scored(lambda q, k: q @ k.T / q.shape[1] ** 0.25),
    "scaled-by-queries": _scored(lambda q, k: q @ k.T / math.sqrt(len(q))),
    "rounded-down": _scored(lambda q, k: q @ k.T // math.sqrt(q.shape[1])),
    "negated": _scored(lambda q, k: -_scores(q, k)),
    "absolute-scores": _scored(lambda q, k: abs(_scores(q, k))),
    "negative-scores-cut-off": _scored(lambda q, k: np.maximum(_scores(q, k), 0)),
    "distance-for-dot": _scored(
        lambda q, k: -((q[:, None] - k[None]) ** 2).sum(axis=-1) / math.sqrt(q.shape[1])
    ),
    "keys-reshaped": _scored(lambda q, k: q @ k.reshape(k.shape[::-1]) / math.sqrt(q.shape[1])),
    "softmax-over-batch": _over_batch,
    "sigmoid-for-softmax": _weighed(lambda z: 1 / (1 + np.exp(-z))),
    "relu-for-softmax": _weighed(lambda z: np.maximum(z, 0)),
    "relu-over-its-sum": _weighed(
        lambda z: _over(np.maximum(z, 0), z.max(axis=-1, keepdims=True) <= 0)
    ),
    "log-softmax": _weighed(_log_softmax),
    "one-added": _weighed(_one_more),
    "scores-times-log2e": _weighed(lambda z: softmax(z * math.log2(math.e))),
    "scores-times-log-2-squared": _weighed(lambda z: softmax(z * math.log(2) ** 2)),
    "length-1-for-sum-1": _weighed(
        lambda z: _shifted(z) / np.linalg.norm(_shifted(z), axis=-1, keepdims=True)
    ),
    "equal-weights": _weighed(lambda z: np.full(z.shape, 1 / z.shape[-1])),
    "row-sums-along-columns-shifted": _weighed(lambda z: _shifted(z) / _shifted(z).sum(axis=1)),
    "over-everything-shifted": _weighed(lambda z: _shifted(z) / _shifted(z).sum()),
    "softmax-of-output": lambda q, k, v: softmax(attend(q, k, v)),
    **{
        f"clipped-at-{most}": _weighed(lambda z, c=most: softmax(np.clip(z, -c, c)))
        for most in (20, 30, 50, 100)
    },
    **{
        f"1e-{digits}-added": _weighed(lambda z, d=digits: _over(_shifted(z), 10.0**-d))
        for digits in (3, 4, 5, 6, 7, 8, 9, 10, 12)
    },
    **{
        f"scaled-by-{number}": _scored(lambda q, k, by=number: q @ k.T / by)
        for number in (4, 8, 16)
    },
}


# ---- keys and queries in blocks ----------------------------------------------------------------


def _online(block: int, output: bool, sums: bool) -> Function:
    """An online softmax that rescales one of its sums, or none."""

    def function(q: Array, k: Array, v: Array) -> Array:
        top = np.full((len(q), 1), -np.inf)
        total, out = np.zeros((len(q), 1)), np.zeros((len(q), v.shape[1]))
        for start in range(0, len(k), block):
            z = _scores(q, k[start : start + block])
            new = np.maximum(top, z.max(axis=1, keepdims=True))
            p, old = np.exp(z - new), np.exp(top - new)
            total = total * (old if sums else 1) + p.sum(axis=1, keepdims=True)
            out = out * (old if output else 1) + p @ v[start : start + block]
            top = new
        return out / total

    return function


def _averaged(block: int) -> Function:
    def function(q: Array, k: Array, v: Array) -> Array:
        starts = range(0, len(k), block)
        parts = [attend(q, k[start : start + block], v[start : start + block]) for start in starts]
        return np.mean(parts, axis=0)

    return function


def _without_the_last(block: int) -> Function:
    def function(q: Array, k: Array, v: Array) -> Array:
        kept = len(k) // block * block or len(k)
        return attend(q, k[:kept], v[:kept])

    return function


def _filled(block: int) -> Function:
    def function(q: Array, k: Array, v: Array) -> Array:
        more = ((0, -len(k) % block), (0, 0))
        return attend(q, np.pad(k, more), np.pad(v, more))

    return function


def _without_last_queries(block: int) -> Function:
    def function(q: Array, k: Array, v: Array) -> Array:
        out = attend(q, k, v)
        out[len(q) // block * block or len(q) :] = 0
        return out

    return function


def _in_blocks(block: int) -> dict[str, Function]:
    online = {
        f"online-{block}-not-rescaled": _online(block, output=False, sums=False),
        f"online-{block}-output-not-rescaled": _online(block, output=False, sums=True),
        f"online-{block}-sum-not-rescaled": _online(block, output=True, sums=False),
    }
    if block == 1:
        return online
    return {
        **online,
        f"blocks-of-{block}-averaged": _averaged(block),
        f"last-block-of-{block}-dropped": _without_the_last(block),
        f"last-block-of-{block}-filled": _filled(block),
        f"last-block-of-{block}-queries-dropped": _without_last_queries(block),
    }


# ---- masks, biases, caps -----------------------------------------------------------------------


def _masked(change: Function) -> Function:
    """Scores made of the right ones and of a triangle of ones."""
    return lambda q, k, v: softmax(change(_scores(q, k), np.tri(*_scores(q, k).shape))) @ v


def _seen(see: Function) -> Function:
    """Other keys seen: by the distance from a query back to a key."""

    def function(x: Array, w_q: Array, w_k: Array, w_v: Array) -> Array:
        back = np.arange(len(x))[:, None] - np.arange(len(x))
        return softmax(np.where(see(back), _scores(x @ w_q, x @ w_k), -np.inf)) @ (x @ w_v)

    return function


def _with_bias(weigh: Function) -> Function:
    return lambda q, k, v, bias: weigh(_scores(q, k), bias, math.sqrt(q.shape[1])) @ v


def _added_before_scale(q: Array, k: Array, v: Array, mask: Array) -> Array:
    return softmax((q @ k.T + mask) / math.sqrt(q.shape[1])) @ v


# ---- heads -------------------------------------------------------------------------------------


def _multi(
    split: Function = _split,
    weigh: Function = lambda q, k: softmax(_scores(q, k)),
    join: Function = lambda heads: heads.swapaxes(0, 1).reshape(heads.shape[1], -1),
) -> Function:
    def function(x: Array, w_q: Array, w_k: Array, w_v: Array, w_o: Array, num_heads: int) -> Array:
        q, k, v = (split(x @ w, num_heads) for w in (w_q, w_k, w_v))
        return join(weigh(q, k) @ v) @ w_o

    return function


def _by_reshape(x: Array, heads: int) -> Array:
    return x.reshape(heads, len(x), -1)


def _by_columns(x: Array, heads: int) -> Array:
    return x.reshape(len(x), -1, heads).transpose(2, 0, 1)


def _of_the_first(q: Array, k: Array) -> Array:
    return softmax(_scores(q, k))[[0] * len(q)]


def _mean_of_heads(heads: Array) -> Array:
    return np.tile(heads.mean(axis=0), (1, len(heads)))


def _one_head(x: Array, w_q: Array, w_k: Array, w_v: Array, w_o: Array, num_heads: int) -> Array:
    return attend(x @ w_q, x @ w_k, x @ w_v) @ w_o


def _unfinished(x: Array, w_q: Array, w_k: Array, w_v: Array, w_o: Array, num_heads: int) -> Array:
    return _multi()(x, w_q, w_k, w_v, np.eye(w_o.shape[0]), num_heads)


def _scaled_by_latent(
    x: Array, w_q: Array, w_dkv: Array, w_uk: Array, w_uv: Array, w_o: Array, num_heads: int
) -> Array:
    c = x @ w_dkv
    q, k, v = (_split(y, num_heads) for y in (x @ w_q, c @ w_uk, c @ w_uv))
    heads = softmax(q @ k.swapaxes(1, 2) / math.sqrt(c.shape[1])) @ v
    return heads.swapaxes(0, 1).reshape(len(x), -1) @ w_o


def _groups_by_reshape(
    x: Array, wq: Array, wk: Array, wv: Array, wo: Array, n_heads: int, n_kv_heads: int
) -> Array:
    q, k, v = _by_reshape(x @ wq, n_heads), *(_by_reshape(x @ w, n_kv_heads) for w in (wk, wv))
    times = n_heads // n_kv_heads
    heads = attend(q, np.repeat(k, times, 0), np.repeat(v, times, 0))
    return heads.swapaxes(0, 1).reshape(len(x), -1) @ wo


#: Which group head i of h uses, of g.
_GROUP: dict[str, Function] = {
    "first-group-for-all": lambda i, h, g: 0 * i,
    "last-group-for-all": lambda i, h, g: 0 * i + g - 1,
    "groups-tiled": lambda i, h, g: i % g,
    "groups-reversed": lambda i, h, g: g - 1 - i * g // h,
}


def _of_groups(index: Function, keys: bool, values: bool) -> Function:
    def function(q: Array, k: Array, v: Array) -> Array:
        heads, groups = len(q), len(k)
        own = np.arange(heads) * groups // heads
        other = index(np.arange(heads), heads, groups)
        return attend(q, k[other if keys else own], v[other if values else own])

    return function


# ---- two sequences, a cache, positions ---------------------------------------------------------


def _crossed(q: Function, k: Function, v: Function) -> Function:
    """Queries, keys and values of one of two sequences."""
    return lambda x, context, w_q, w_k, w_v: attend(
        q(x, context) @ w_q, k(x, context) @ w_k, v(x, context) @ w_v
    )


def _first(x: Array, y: Array) -> Array:
    return x


def _second(x: Array, y: Array) -> Array:
    return y


def _causally(q: Array, k: Array, v: Array, start: int = 0, bias: Array = 0.0) -> Array:
    z = _scores(q, k)
    return softmax(np.where(np.tri(z.shape[-2], z.shape[-1], start) == 1, z + bias, -np.inf)) @ v


def _cache_last(
    x: Array, w_q: Array, w_k: Array, w_v: Array, k_past: Array, v_past: Array
) -> Array:
    k, v = np.concatenate([x @ w_k, k_past]), np.concatenate([x @ w_v, v_past])
    return _causally(x @ w_q, k, v, len(k_past))


def _cached_from_zero(
    x: Array, w_q: Array, w_k: Array, w_v: Array, k_past: Array, v_past: Array
) -> Array:
    k, v = np.concatenate([k_past, x @ w_k]), np.concatenate([v_past, x @ w_v])
    return _causally(_turned(x @ w_q), _turned(k), v, len(k_past))


def _turned(
    x: Array, start: int = 0, base: float = 1e4, sign: int = 1, half: bool = False, plus: int = -1
) -> Array:
    """Rotated by position; `plus` is the sign of x′ sin φ."""
    n, d = x.shape
    angle = sign * (np.arange(n) + start)[:, None] * base ** (-np.arange(0, d, 2) / d)
    c, s = np.cos(angle), np.sin(angle)
    one, two = (x[:, : d // 2], x[:, d // 2 :]) if half else (x[:, 0::2], x[:, 1::2])
    pairs = one * c + plus * two * s, two * c + one * s
    return np.concatenate(pairs, axis=1) if half else np.stack(pairs, axis=-1).reshape(n, d)


def _same(x: Array) -> Array:
    return x


def _rotary(q: Function = _turned, k: Function = _turned, v: Function = _same) -> Function:
    return lambda x, w_q, w_k, w_v: _causally(q(x @ w_q), k(x @ w_k), v(x @ w_v))


def _rotary_of(**ways: Any) -> Function:
    return _rotary(lambda y: _turned(y, **ways), lambda y: _turned(y, **ways))


def _tokens_rotated(x: Array, w_q: Array, w_k: Array, w_v: Array) -> Array:
    return _causally(_turned(x) @ w_q, _turned(x) @ w_k, x @ w_v)


def _sloped(slopes: Function) -> Function:
    """ALiBi with other slopes, made of the numbers 1 … h and h."""

    def function(x: Array, w_q: Array, w_k: Array, w_v: Array, num_heads: int) -> Array:
        q, k, v = (_split(x @ w, num_heads) for w in (w_q, w_k, w_v))
        apart = np.arange(len(x)) - np.arange(len(x))[:, None]
        of_heads = slopes(np.arange(1.0, num_heads + 1), num_heads)
        heads = _causally(q, k, v, bias=of_heads[:, None, None] * apart)
        return heads.swapaxes(0, 1).reshape(len(x), -1)

    return function


#: The attention that it is to be and a function, by the mistake that this makes.
MADE: dict[str, tuple[str, Function]] = {
    **{name: ("dot", function) for name, function in _DOT.items()},
    **{
        name: ("dot", function)
        for block in (1, 2, 4, 8, 16, 32, 64, 128)
        for name, function in _in_blocks(block).items()
    },
    "extra-term-left-out": ("off-by-one", _weighed(softmax)),
    "one-added-after-shift": ("off-by-one", _weighed(lambda z: _over(_shifted(z), 1.0))),
    "softmax-for-sigmoid": ("sigmoid", _weighed(softmax)),
    "softmax-for-sparsemax": ("sparsemax", _weighed(softmax)),
    "sparsemax-for-entmax": ("entmax", _weighed(sparsemax)),
    "entmax-not-halved": ("entmax", _weighed(lambda z: entmax15(2 * z))),
    "mask-added-as-1": ("causal dot", _masked(lambda z, ones: z + ones)),
    "mask-added-as-1-inverted": ("causal dot", _masked(lambda z, ones: z - ones)),
    "mask-one-too-many": (
        "causal dot",
        _masked(lambda z, ones: np.where(np.tri(len(z), z.shape[1], 1) == 1, z, -np.inf)),
    ),
    "window-too-narrow": ("mistral", _seen(lambda back: (back >= 0) & (back < 3))),
    "window-too-wide": ("mistral", _seen(lambda back: (back >= 0) & (back <= 4))),
    "window-two-sided": ("mistral", _seen(lambda back: abs(back) <= 3)),
    "window-without-end": ("mistral", _seen(lambda back: back >= 0)),
    "window-one-sided": ("sliding-window", _seen(lambda back: (back >= 0) & (back <= 2))),
    "window-halved": ("sliding-window", _seen(lambda back: abs(back) <= 1)),
    "bias-before-scale": ("bias", _with_bias(lambda z, b, root: softmax(z + b / root))),
    "bias-multiplied": ("bias", _with_bias(lambda z, b, root: softmax(z * b))),
    "bias-after-softmax": ("bias", _with_bias(lambda z, b, root: softmax(z) + b)),
    "mask-before-scale": ("biased", _added_before_scale),
    "soft-cap-not-multiplied-back": ("cap", _weighed(lambda z: softmax(np.tanh(z / 20)))),
    "soft-cap-not-divided": ("cap", _weighed(lambda z: softmax(20 * np.tanh(z)))),
    "soft-cap-before-scale": (
        "cap",
        _scored(lambda q, k: 20 * np.tanh(q @ k.T / 20) / math.sqrt(q.shape[1])),
    ),
    "hard-cap": ("cap", _weighed(lambda z: softmax(np.clip(z, -20, 20)))),
    "groups-split-by-reshape": ("grouped-query", _groups_by_reshape),
    "split-and-merged-by-reshape": (
        "multi-head",
        _multi(_by_reshape, join=lambda heads: heads.reshape(heads.shape[1], -1)),
    ),
    "scaled-by-latent": ("multi-head-latent", _scaled_by_latent),
    "split-by-columns": ("multi-head", _multi(_by_columns)),
    "one-head": ("multi-head", _one_head),
    "weights-of-the-first-head": ("multi-head", _multi(weigh=_of_the_first)),
    "heads-averaged": ("multi-head", _multi(join=_mean_of_heads)),
    "unfinished": ("multi-head", _unfinished),
    **{
        f"{before}{name}": ("groups", _of_groups(index, "k" in of, "v" in of))
        for before, of in (("", "kv"), ("keys-", "k"), ("values-", "v"))
        for name, index in _GROUP.items()
    },
    "keys-of-x": ("cross", _crossed(_first, _first, _second)),
    "values-of-x": ("cross", _crossed(_first, _second, _first)),
    "keys-and-values-of-x": ("cross", _crossed(_first, _first, _first)),
    "sequences-exchanged": ("cross", _crossed(_second, _first, _first)),
    "cache-after-new": ("cached", _cache_last),
    "positions-without-cache": ("cached rotary", _cached_from_zero),
    "keys-not-rotated": ("rotary", _rotary(k=_same)),
    "queries-not-rotated": ("rotary", _rotary(q=_same)),
    "values-rotated": ("rotary", _rotary(v=_turned)),
    "rotated-backwards": ("rotary", _rotary_of(sign=-1)),
    "queries-rotated-backwards": ("rotary", _rotary(q=lambda y: _turned(y, sign=-1))),
    "keys-rotated-backwards": ("rotary", _rotary(k=lambda y: _turned(y, sign=-1))),
    "rotary-sign-missing": ("rotary", _rotary_of(plus=1)),
    "query-pairs-differ": ("rotary", _rotary(q=lambda y: _turned(y, half=True))),
    "key-pairs-differ": ("rotary", _rotary(k=lambda y: _turned(y, half=True))),
    "queries-a-position-ahead": ("rotary", _rotary(q=lambda y: _turned(y, 1))),
    "keys-a-position-ahead": ("rotary", _rotary(k=lambda y: _turned(y, 1))),
    "rotary-half-exponent": ("rotary", _rotary_of(base=100.0)),
    "rotary-double-exponent": ("rotary", _rotary_of(base=1e8)),
    **{
        f"rotary-base-{base}": ("rotary", _rotary_of(base=float(base)))
        for base in (1000, 100_000, 500_000, 1_000_000)
    },
    "rotary-base-10000": ("rotary of 500,000", _rotary_of()),
    "rotated-before-projection": ("rotary", _tokens_rotated),
    "alibi-halves": ("alibi", _sloped(lambda i, h: 2.0**-i)),
    "alibi-from-1": ("alibi", _sloped(lambda i, h: 2.0 ** (-8 * (i - 1) / h))),
    "alibi-first-slope": ("alibi", _sloped(lambda i, h: 2.0 ** (-8 / h + 0 * i))),
    "alibi-last-slope": ("alibi", _sloped(lambda i, h: 2.0 ** (-8 + 0 * i))),
    "alibi-reversed": ("alibi", _sloped(lambda i, h: 2.0 ** (-8 * i[::-1] / h))),
}
