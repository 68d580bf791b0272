"""What engines do in situations on which they differ, found by asking them.

``python -m tests.semantics`` writes the answers of the engines that are installed to
`docs/explanation/semantics.json`; `tests/attention/test_asked.py` asks PyTorch, JAX and ONNX again.
V is the identity, so that an output is its weights. What cannot be seen in an answer (where a
scale is applied) stands in `docs/engines.md`, with its source.
"""

from __future__ import annotations

import datetime
import json
import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numpy as np

from symattn import Attention, SymattnError
from tests import ROOT

KEPT = ROOT / "docs" / "explanation" / "semantics.json"

Array = Any


class NoSuchOption(Exception):
    """An engine cannot be told."""


#: An attention of (heads, n, d) arrays; what it is told besides has the names of `_OPTIONS`.
Attend = Callable[..., Array]
_OPTIONS = {"mask", "causal", "bias", "cap", "window", "past", "scale"}


def _only(told: Mapping[str, Any], *names: str) -> None:
    assert set(told) <= _OPTIONS, told
    if set(told) - {*names}:
        raise NoSuchOption


def torch(q: Array, k: Array, v: Array, **told: Any) -> Array:
    _only(told, "mask", "causal", "bias", "past", "scale")
    torch_ = import_module("torch")
    tensors = [torch_.from_numpy(x)[None] for x in (q, k, v)]
    mask = told.get("mask", told.get("bias"))
    if "mask" in told and "bias" in told:
        raise NoSuchOption
    if "past" in told:
        given = import_module("torch.nn.attention.bias").causal_lower_right(q.shape[1], k.shape[1])
    else:
        given = None if mask is None else torch_.from_numpy(mask)
    causal = {"is_causal": told.get("causal", False) and "past" not in told}
    more = {"enable_gqa": True} if len(k) < len(q) else {}
    more |= {"scale": told["scale"]} if "scale" in told else {}
    sdpa = torch_.nn.functional.scaled_dot_product_attention
    return sdpa(*tensors, attn_mask=given, **causal, **more)[0].numpy()


def jax(q: Array, k: Array, v: Array, **told: Any) -> Array:
    _only(told, "mask", "causal", "bias", "window", "scale")
    jax_ = import_module("jax")
    jax_.config.update("jax_platforms", "cpu")
    jax_.config.update("jax_enable_x64", True)
    arrays = (jax_.numpy.asarray(x.swapaxes(0, 1)[None]) for x in (q, k, v))
    mask, bias = (
        None if x is None else jax_.numpy.asarray(np.broadcast_to(x, (1, len(q), *x.shape[-2:])))
        for x in (told.get("mask"), told.get("bias"))
    )
    options = {"is_causal": told.get("causal", False), "scale": told.get("scale")}
    if "window" in told:
        options["local_window_size"] = told["window"]
    with jax_.disable_jit():
        out = jax_.nn.dot_product_attention(*arrays, bias, mask, **options)
    return np.asarray(out[0]).swapaxes(0, 1)


def onnx(q: Array, k: Array, v: Array, **told: Any) -> Array:
    _only(told, "mask", "causal", "bias", "cap", "past", "scale")
    if "mask" in told and "bias" in told:
        raise NoSuchOption
    helper, evaluator = import_module("onnx.helper"), import_module("onnx.reference")
    past = told.get("past", 0)
    inputs = {"Q": q[None], "K": k[None, :, past:], "V": v[None, :, past:]}
    names, added = ["Q", "K", "V"], told.get("mask", told.get("bias"))
    names.append("attn_mask" if added is not None else "")
    if added is not None:
        inputs["attn_mask"] = added[None] if added.ndim == 3 else added
    if past:
        names += ["past_key", "past_value"]
        inputs |= {"past_key": k[None, :, :past], "past_value": v[None, :, :past]}
    node = helper.make_node(
        "Attention",
        names,
        ["Y"],
        is_causal=int(told.get("causal", False)),
        softcap=float(told.get("cap", 0)),
        **({"scale": told["scale"]} if "scale" in told else {}),
    )
    kinds = {np.dtype(bool): 9, np.dtype(float): 11}
    infos = [helper.make_tensor_value_info(n, kinds[x.dtype], None) for n, x in inputs.items()]
    out = helper.make_tensor_value_info("Y", 11, None)
    graph = helper.make_graph([node], "attention", infos, [out])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 24)])
    return evaluator.ReferenceEvaluator(model).run(None, inputs)[0][0]


def keras(q: Array, k: Array, v: Array, **told: Any) -> Array:
    _only(told, "mask", "causal", "bias", "cap", "scale")
    ops = import_module("keras.ops")
    arrays = (ops.convert_to_tensor(x.swapaxes(0, 1)[None], dtype="float64") for x in (q, k, v))
    mask, bias = (
        None if x is None else np.broadcast_to(x, (1, len(q), *x.shape[-2:]))
        for x in (told.get("mask"), told.get("bias"))
    )
    options: dict[str, Any] = {"is_causal": told.get("causal", False), "scale": told.get("scale")}
    if "cap" in told:
        options["attn_logits_soft_cap"] = told["cap"]
    out = ops.dot_product_attention(*arrays, bias=bias, mask=mask, **options)
    return ops.convert_to_numpy(out)[0].swapaxes(0, 1)


def transformers(q: Array, k: Array, v: Array, **told: Any) -> Array:
    """Llama's eager attention, Gemma 2's with a cap, and the masks that models make; in float32."""
    _only(told, "mask", "causal", "bias", "cap", "window", "past")
    torch_ = import_module("torch")
    masks = import_module("transformers.masking_utils")
    model = "gemma2" if "cap" in told else "llama"
    module = import_module(f"transformers.models.{model}.modeling_{model}")
    n, m = q.shape[1], k.shape[1]
    wanted = []
    if "mask" in told:
        allowed = torch_.from_numpy(np.broadcast_to(told["mask"], (len(q), n, m)).copy())
        wanted.append(lambda b, h, i, j: allowed[0, i, j])
        if told["mask"].ndim == 3 and (told["mask"] != told["mask"][:1]).any():
            raise NoSuchOption  # the masks that models make are of one head
    if told.get("causal"):
        wanted.append(masks.causal_mask_function)
    if "window" in told:
        wanted.append(masks.sliding_window_causal_mask_function(told["window"]))
    sees = masks.and_masks(*wanted) if wanted else None
    given = told.get("past", 0)
    added = None
    if sees is not None:
        added = masks.eager_mask(
            1, n, m, q_offset=given, mask_function=sees, dtype=torch_.float32, use_vmap=False
        )
    if "bias" in told:
        if added is not None:
            raise NoSuchOption
        added = torch_.from_numpy(np.broadcast_to(told["bias"], (1, len(q), n, m)).copy()).float()
    own = torch_.nn.Module()
    own.num_key_value_groups = len(q) // len(k)
    own.eval()
    tensors = [torch_.from_numpy(x)[None].float() for x in (q, k, v)]
    options = {"softcap": told["cap"]} if "cap" in told else {}
    out, _ = module.eager_attention_forward(
        own, *tensors, added, scaling=q.shape[-1] ** -0.5, **options
    )
    return out[0].transpose(0, 1).numpy()


def symattn(q: Array, k: Array, v: Array, **told: Any) -> Array:
    _only(told, "mask", "causal", "bias", "cap", "window", "past")
    given: dict[str, Any] = {"Q": q, "K": k, "V": v}
    masks: list[Any] = ["causal"] * told.get("causal", False)
    if "mask" in told:
        shared = told["mask"].ndim == 2 or (told["mask"] == told["mask"][:1]).all()
        masks.append("boolean" if shared else {"boolean": "head"})
        given["allowed"] = told["mask"] if told["mask"].ndim == 2 or not shared else told["mask"][0]
    if "bias" in told:
        masks.append("additive")
        given["mask"] = told["bias"]
    if "window" in told:
        masks.append({"window": list(told["window"])})
    past = told.get("past", 0)
    if past:
        given |= {"K": k[:, past:], "V": v[:, past:]}
        given |= {"K_past": k[:, :past], "V_past": v[:, :past]}
    heads = len(q)
    if heads == 1:
        given = {name: x[0] if x.ndim == 3 else x for name, x in given.items()}
    groups = len(k) if len(k) != heads else None
    spec = Attention(
        mask=masks or None,
        soft_cap=told.get("cap"),
        cache=bool(past),
        source="given",
        heads=heads if heads > 1 else None,
        kv_heads=groups,
    )
    values = spec.derivation(given=given).evaluate(**given)
    return np.asarray(values["heads" if heads > 1 else "output"].array).reshape(
        heads, *q.shape[1:2], -1
    )


# ---- the situations ---------------------------------------------------------------------------

_RANDOM = np.random.default_rng(7)
_Q, _K = _RANDOM.normal(size=(2, 1, 4, 4))
_V = np.eye(4)[None]
_LOWER = np.tri(4, dtype=bool)


def _row(weights: Array) -> str:
    if np.isnan(weights).any():
        return "NaN"
    if (weights == 0).all():
        return "0"
    return "the mean of V" if np.allclose(weights, 1 / len(weights)) else "something else"


def _seen(weights: Array) -> Array:
    return np.where(np.isnan(weights), 0, weights) > 1e-9


def nothing_seen(attend: Attend) -> str:
    """A boolean mask that hides every key of a query."""
    mask = np.ones((4, 4), bool)
    mask[1] = False
    return _row(attend(_Q, _K, _V, mask=mask)[0, 1])


def minus_infinity(attend: Attend) -> str:
    """−∞ added to every score of a query."""
    bias = np.zeros((4, 4))
    bias[1] = -np.inf
    return _row(attend(_Q, _K, _V, bias=bias)[0, 1])


def rectangular(attend: Attend) -> str:
    """Causal, 2 queries and 4 keys."""
    seen = _seen(attend(_Q[:, :2], _K, _V, causal=True)[0])
    if (seen == np.tri(2, 4, dtype=bool)).all():
        return "top-left"
    return "bottom-right" if (seen == np.tri(2, 4, 2, dtype=bool)).all() else "something else"


def after_a_cache(attend: Attend) -> str:
    """Causal, 2 queries after 2 cached keys."""
    seen = _seen(attend(_Q[:, :2], _K, _V, causal=True, past=2)[0])
    return "up to key p + i" if (seen == np.tri(2, 4, 2, dtype=bool)).all() else "something else"


def true_says(attend: Attend) -> str:
    """A boolean mask, and who is seen."""
    seen = _seen(attend(_Q, _K, _V, mask=_LOWER)[0])
    return "attends" if (seen == _LOWER).all() else "is masked" if not seen.any() else "other"


def mask_and_causal(attend: Attend) -> str:
    """A mask that hides key 1, and causal."""
    mask = np.ones((4, 4), bool)
    mask[1:, 0] = False
    try:
        seen = _seen(attend(_Q, _K, _V, mask=mask, causal=True)[0])
    except RuntimeError:
        return "refused"
    return "both apply" if (seen == (mask & _LOWER)).all() else "one of them"


def by_head(attend: Attend) -> str:
    """A mask for each of two heads."""
    mask = np.stack([_LOWER, _LOWER.T])
    two = [np.concatenate([x, x]) for x in (_Q, _K, _V)]
    return "yes" if (_seen(attend(*two, mask=mask)) == mask).all() else "no"


def capped(attend: Attend) -> str:
    """A soft cap of 1, and a mask."""
    z = np.tanh((_Q @ _K.swapaxes(1, 2))[0] / 2)
    powers = np.where(_LOWER, np.exp(z), 0)
    try:
        weights = attend(_Q, _K, _V, mask=_LOWER, cap=1.0)[0]
    except ValueError:  # of Keras: "only supported for JAX on TPU"
        return "refused on a CPU"
    right = np.allclose(weights, powers / powers.sum(1, keepdims=True), atol=1e-6)
    return "cap, then mask" if right else "something else"


def bias_and_mask(attend: Attend) -> str:
    """Numbers to add and a boolean mask in one call."""
    try:
        attend(_Q, _K, _V, bias=np.ones((4, 4)), mask=_LOWER)
    except NoSuchOption:
        return "one argument"
    return "two arguments"


def groups(attend: Attend) -> str:
    """Four query heads, two of keys."""
    q = np.concatenate([_Q] * 4)
    k = np.concatenate([_K, -_K])
    out = attend(q, k, np.concatenate([_V, _V]))
    first, second = attend(_Q, _K, _V)[0], attend(_Q, -_K, _V)[0]
    neighbours = np.allclose(out, [first, first, second, second], atol=1e-6)
    return "neighbours share" if neighbours else "something else"


def precision(attend: Attend) -> str:
    """How near the weights of float64 come to those of NumPy in float64."""
    z = (_Q @ _K.swapaxes(1, 2))[0] / 2
    powers = np.exp(z - z.max(1, keepdims=True))
    off = abs(attend(_Q, _K, _V)[0] - powers / powers.sum(1, keepdims=True)).max()
    return "float64" if off < 1e-14 else "float32" if off < 1e-6 else "something else"


def hidden_nan(attend: Attend) -> str:
    """NaN in the value of a key that a mask hides."""
    v = _V.copy()
    v[0, 3, 3] = np.nan
    mask = np.ones((4, 4), bool)
    mask[:, 3] = False
    try:
        out = attend(_Q, _K, v, mask=mask)
    except SymattnError:
        return "refused"
    return "gets through" if np.isnan(out).any() else "stays hidden"


SITUATIONS: dict[str, Callable[[Attend], str]] = {
    "a query with every key masked out by a boolean mask": nothing_seen,
    "… by −∞ that is added": minus_infinity,
    "causal, 2 queries and 4 keys": rectangular,
    "causal after p cached keys": after_a_cache,
    "true in a boolean mask": true_says,
    "a mask and causal together": mask_and_causal,
    "masks that differ by head": by_head,
    "a soft cap and a mask": capped,
    "numbers to add and a boolean mask": bias_and_mask,
    "grouped heads": groups,
    "the softmax of float64": precision,
    "NaN in the value of a masked-out key": hidden_nan,
}

ENGINES: dict[str, tuple[str, str, Attend]] = {
    "PyTorch": ("torch", "torch.nn.functional.scaled_dot_product_attention", torch),
    "JAX": ("jax", "jax.nn.dot_product_attention", jax),
    "ONNX": ("onnx", "the operator Attention", onnx),
    "Keras": ("keras", "keras.ops.dot_product_attention", keras),
    "transformers": ("transformers", "eager_attention_forward of Llama and Gemma 2", transformers),
    "symattn": ("symattn", "Attention", symattn),
}


def answers(name: str) -> dict[str, str]:
    """What an engine does in each situation."""
    _, _, attend = ENGINES[name]
    found = {}
    for words, asked in SITUATIONS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found[words] = asked(attend)
            except NoSuchOption:
                found[words] = "no such option"
    return found


if __name__ == "__main__":
    made = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {}
    for name, (package, function, _) in ENGINES.items():
        if find_spec(package) is not None:
            made[name] = {
                "version": version(package).partition("+")[0],
                "function": function,
                "date": datetime.date.today().isoformat(),
                "answers": answers(name),
            }
    KEPT.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", "utf-8")
