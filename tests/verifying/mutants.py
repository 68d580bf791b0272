"""Right functions with one small change each: a table of (function, text, other text).

The functions are those of `tests.verifying.right`; the changed one is made of its source.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from tests.verifying import right

#: name of the function, what stands there, what stands there instead.
MUTANTS: tuple[tuple[str, str, str], ...] = (
    ("textbook", "np.sqrt(Q.shape[-1])", "Q.shape[-1]"),
    ("textbook", "/ np.sqrt(Q.shape[-1])", ""),
    ("textbook", "np.sqrt(Q.shape[-1])", "np.sqrt(V.shape[-1])"),
    ("textbook", "np.sqrt(Q.shape[-1])", "np.sqrt(Q.shape[-2])"),
    ("textbook", "np.swapaxes(K, -1, -2)", "np.swapaxes(Q, -1, -2)"),
    ("textbook", "/ np.sqrt", "* np.sqrt"),
    ("with_weights", "** -0.5", "** -0.25"),
    ("with_weights", "weights @ value, weights", "weights @ value, weights ** 2"),
    (
        "every_step",
        "scaled = scores / np.sqrt(k.shape[1])",
        "scaled = scores / np.sqrt(k.shape[1] + 1)",
    ),
    ("every_step", "softmax(scaled)", "softmax(scores)"),
    ("every_step", '"scores": scores', '"scores": scaled'),
    ("loops", "top = max(scores)", "top = 0"),
    ("loops", "p * v[j] for", "p * v[0] for"),
    ("loops", "for k in keys]", "for k in keys[:-1]]"),
    ("loops", "math.sqrt(len(q))", "math.sqrt(len(keys))"),
    ("blockwise", "out = out * old +", "out = out +"),
    ("blockwise", "total = total * old +", "total = total +"),
    ("blockwise", "start : start + block", "start : start + 1"),
    ("blockwise", "np.maximum(top, ", "(lambda _, x: x)(top, "),
    ("in_place_on_copies", "query = query.copy()", "query = query"),
    ("in_place_on_copies", "z -= z.max(-1, keepdims=True)", "pass"),
    ("causal", "np.tri(*z.shape[-2:])", "np.tri(*z.shape[-2:], 1)"),
    ("causal", "np.tri(*z.shape[-2:])", "np.tri(*z.shape[-2:], z.shape[-1] - z.shape[-2])"),
    ("causal", "z, -np.inf", "z, 0"),
    ("causal", "z, -np.inf", "z, -30"),
    ("causal_with_a_mask", "mask, z, -np.inf", "mask.T, z, -np.inf"),
    ("masked", "attn_mask, z, -np.inf", "~attn_mask, z, -np.inf"),
    ("masked", "attn_mask, z, -np.inf", "attn_mask, z, np.finfo(z.dtype).min"),
    (
        "grouped",
        "np.repeat(k, times, -3), np.repeat(v",
        "np.concatenate([k] * times, -3), np.repeat(v",
    ),
    ("tokens_first", '"nhd,mhd->hnm"', '"nhd,mhd->hmn"'),
    ("multi_head", "heads.transpose(1, 0, 2).reshape", "heads.transpose(1, 2, 0).reshape"),
    ("multi_head", "split(x @ w_k), split(x @ w_v)", "split(x @ w_v), split(x @ w_k)"),
    ("multi_head_of_lists", "heads = [textbook", "heads = [0.5 * textbook"),
    ("grouped_query", "(wk, wv)", "(wv, wk)"),
)


#: The same, and the misconception that explains what comes of it.
NAMED: tuple[tuple[str, str, str, str], ...] = (
    ("textbook", "np.sqrt(Q.shape[-1])", "Q.shape[-1] ** 0.25", "scaled-by-fourth-root"),
    ("textbook", "/ np.sqrt(Q.shape[-1])", "* Q.shape[-1]", "multiplied-by-d_k"),
    ("textbook", "np.sqrt(Q.shape[-1])", "np.sqrt(Q.shape[-2])", "scaled-by-queries"),
    ("textbook", "/ np.sqrt", "// np.sqrt", "rounded-down"),
    ("textbook", "(Q @", "(-Q @", "negated"),
    ("textbook", "softmax(Q", "(lambda z: 1 / (1 + np.exp(-z)))(Q", "sigmoid-for-softmax"),
    ("textbook", "np.swapaxes(K, -1, -2)", "K.reshape(K.shape[::-1])", "keys-reshaped"),
    ("blockwise", "out = out * old +", "out = out +", "online-2-output-not-rescaled"),
    ("blockwise", "total = total * old +", "total = total +", "online-2-sum-not-rescaled"),
    ("blockwise", "len(K), block", "len(K) - 1, block", "last-block-of-2-dropped"),
    ("powers_of_two", "math.log2(math.e)", "1", "base-2"),
    ("causal", "np.tri(*z.shape[-2:])", "np.tri(*z.shape[-2:], 1)", "mask-one-too-many"),
    (
        "causal",
        "np.where(np.tri(*z.shape[-2:]) == 1, z, -np.inf)",
        "z + np.tri(*z.shape[-2:])",
        "mask-added-as-1",
    ),
    ("causal", "z, -np.inf", "z, -1e4", "masked-to-minus-1e4"),
    ("query_by_query", "k[: i + 1], v[: i + 1]", "k[: i + 2], v[: i + 2]", "mask-one-too-many"),
    ("windowed", "apart <= window", "apart < window", "window-too-narrow"),
    ("windowed", "(apart >= 0)", "(-apart <= window)", "window-two-sided"),
    ("windowed", "& (apart <= window)", "", "window-without-end"),
    ("cross", "context @ w_k", "x @ w_k", "keys-of-x"),
    ("multi_head", "@ w_o", "", "unfinished"),
    (
        "multi_head",
        "y.reshape(n, num_heads, -1).transpose(1, 0, 2)",
        "y.reshape(n, -1, num_heads).transpose(2, 0, 1)",
        "split-by-columns",
    ),
    (
        "grouped",
        "np.repeat(v, times, -3)",
        "np.concatenate([v] * times, -3)",
        "values-groups-tiled",
    ),
    ("rotary", "turned(k)", "k", "keys-not-rotated"),
    ("rotary", "turned(q)", "turned(q, 1)", "queries-a-position-ahead"),
    ("turned", "np.exp(1j", "np.exp(-1j", "rotated-backwards"),
    ("turned", "np.arange(0, d, 2) / d", "np.arange(0, d, 2) / d / 2", "rotary-half-exponent"),
    ("linear_bias", "- slopes", "+ slopes", "bias-subtracted"),
    (
        "linear_bias",
        "-8 * np.arange(1, num_heads + 1) / num_heads",
        "-np.arange(1.0, num_heads + 1)",
        "alibi-halves",
    ),
    ("soft_capped", "cap * np.tanh", "np.tanh", "soft-cap-not-multiplied-back"),
)


def changed(name: str, old: str, new: str) -> Callable[..., Any]:
    """The function with a change in its source."""
    source = inspect.getsource(getattr(right, name))
    assert source.count(old) >= 1, f"{name} has no {old}"
    space = dict(vars(right))
    exec(compile(source.replace(old, new), name, "exec"), space)
    function: Callable[..., Any] = space[name]
    return function
