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
    ("einsum", '"...ij,...jd->...id"', '"...ji,...jd->...id"'),
    ("loops", "top = max(scores)", "top = 0"),
    ("loops", "p * v[j] for", "p * v[0] for"),
    ("loops", "for k in keys]", "for k in keys[:-1]]"),
    ("loops", "math.sqrt(len(q))", "math.sqrt(len(keys))"),
    ("blockwise", "out = out * old +", "out = out +"),
    ("blockwise", "total = total * old +", "total = total +"),
    ("blockwise", "start : start + block", "start : start + 1"),
    ("blockwise", "np.maximum(top, ", "(lambda _, x: x)(top, "),
    ("logsumexp", "np.log(np.exp(z - top)", "np.log2(np.exp(z - top)"),
    ("logsumexp", "z.max(1, keepdims=True)", "z.min(1, keepdims=True)"),
    ("in_place_on_copies", "query = query.copy()", "query = query"),
    ("in_place_on_copies", "z -= z.max(-1, keepdims=True)", "pass"),
    ("scaled_first", "0.25", "0.5"),
    ("scaled_first", "np.swapaxes(k / root", "np.swapaxes(k"),
    ("torch_softmax", "dim=-1", "dim=-2"),
    ("torch_softmax", "k.size(-1)", "k.size(-2)"),
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
    (
        "grouped_by_reshape",
        "q.reshape(b, g, h // g, n, d)",
        "q.reshape(b, h // g, g, n, d).transpose(1, 2)",
    ),
    ("tokens_first", '"nhd,mhd->hnm"', '"nhd,mhd->hmn"'),
    ("multi_head", "heads.transpose(1, 0, 2).reshape", "heads.transpose(1, 2, 0).reshape"),
    ("multi_head", "split(x @ w_k), split(x @ w_v)", "split(x @ w_v), split(x @ w_k)"),
    ("multi_head_of_lists", "heads = [textbook", "heads = [0.5 * textbook"),
    ("grouped_query", "(wk, wv)", "(wv, wk)"),
)


def changed(name: str, old: str, new: str) -> Callable[..., Any]:
    """The function with a change in its source."""
    source = inspect.getsource(getattr(right, name))
    assert source.count(old) >= 1, f"{name} has no {old}"
    space = dict(vars(right))
    exec(compile(source.replace(old, new), name, "exec"), space)
    function: Callable[..., Any] = space[name]
    return function
