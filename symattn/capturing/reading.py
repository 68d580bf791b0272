"""What PyTorch's two attention functions are called with, read as a spec and its matrices."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np

from symattn.arithmetic.base import Array
from symattn.arithmetic.reading import MAX_ENTRIES
from symattn.attention.plan import PER_HEAD
from symattn.attention.spec import Attention
from symattn.capturing.call import Call
from symattn.errors import SymattnError
from symattn.nodes.arguments import Setting

if TYPE_CHECKING:
    import torch


_DROPOUT = "dropout gives random results; put the model in eval mode"
NESTED = "nested tensors are not captured; give padded ones and a mask"


def is_nested(value: object) -> bool:
    """Whether this is a tensor whose rows differ in length."""
    return bool(getattr(value, "is_nested", False))


def _array(tensor: torch.Tensor, dtype: torch.dtype | None = None) -> Array:
    """A copy of a tensor's numbers, in the type that was computed with, which autocast changes.

    bfloat16, which NumPy lacks, becomes float32, which holds it exactly.
    """
    import torch

    if is_nested(tensor):
        raise SymattnError(NESTED)
    try:
        copy = tensor.detach().cpu()
        if dtype is not None and copy.is_floating_point():
            copy = copy.to(dtype)
        return np.array((copy.float() if copy.dtype == torch.bfloat16 else copy).numpy())
    except (RuntimeError, TypeError, NotImplementedError):
        raise SymattnError(
            f"a tensor's numbers cannot be read here ({type(tensor).__name__}); run the model "
            "outside of vmap, tracing and the like"
        ) from None


def _digits(tensor: torch.Tensor) -> int | None:
    """The significant binary digits of a dtype that NumPy lacks."""
    import torch

    return 8 if tensor.dtype == torch.bfloat16 else None


def dot_product(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, Call]:
    """A call of scaled_dot_product_attention: its result, and what is recorded."""
    import torch

    arguments = _arguments(args, kwargs)
    if arguments["dropout_p"]:
        raise SymattnError(_DROPOUT)
    result = torch.nn.functional.scaled_dot_product_attention(*args, **kwargs)
    choices, given, axes = _compared(arguments, result.dtype)
    spec = Attention(source="given", **choices)
    return result, Call(name, spec, given, _array(result), axes, _digits(result))


def _arguments(args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call of scaled_dot_product_attention by name, with its defaults."""
    names = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal")
    arguments = {"attn_mask": None, "dropout_p": 0.0, "is_causal": False, "scale": None}
    return arguments | dict(zip(names, args, strict=False)) | dict(kwargs)


def _compared(
    arguments: Mapping[str, Any], dtype: torch.dtype
) -> tuple[dict[str, Setting], dict[str, Array], dict[str, int]]:
    """The axes of the spec, the matrices, and how many of their axes are not batches."""
    query, key, value = (_array(arguments[part], dtype) for part in ("query", "key", "value"))
    choices: dict[str, Setting] = {}
    per_head = 3 if query.ndim > 3 else 2
    axes = dict.fromkeys(("Q", "K", "V", "output"), per_head)
    if per_head == 3:
        choices["heads"], groups = query.shape[-3], key.shape[-3]
        if value.shape[-3] != groups:
            key, value = (
                np.repeat(part, choices["heads"] // part.shape[-3], axis=-3)
                for part in (key, value)
            )
        elif groups != choices["heads"]:
            choices["kv_heads"] = groups
            if groups == 1:  # one key head is a matrix that all heads share
                key, value, axes["K"], axes["V"] = key[..., 0, :, :], value[..., 0, :, :], 2, 2
    if arguments["scale"] is not None and not _is_usual(float(arguments["scale"]), query.shape[-1]):
        choices["scale"] = float(arguments["scale"])
    kinds: list[Setting] = ["causal"] if arguments["is_causal"] else []
    masks: dict[str, Array] = {}
    if arguments["attn_mask"] is not None:
        shape = (query.shape[-2], key.shape[-2])
        kind, masks, axes_of_mask = _mask(arguments["attn_mask"], dtype, shape, per_head == 3)
        kinds.append(kind)
        axes |= dict.fromkeys(masks, axes_of_mask)
    choices["mask"] = kinds or None
    return choices, {"Q": query, "K": key, "V": value, **masks}, axes


def _is_usual(scale: float, width: int) -> bool:
    """Whether |scale · √d_k − 1| is rounding error: PyTorch's own factor is 1/√d_k."""
    return abs(scale * math.sqrt(width) - 1) < 4 * sys.float_info.epsilon


def _mask(
    mask: torch.Tensor, dtype: torch.dtype, shape: tuple[int, int], heads: bool
) -> tuple[Setting, dict[str, Array], int]:
    """The kind of a mask, its matrix, and how many axes of that are not batches.

    Numbers that are 0 and −∞ only are a boolean mask, and one that is a triangle is ``causal``,
    which needs no matrix. One that is the same for all heads is one for all.
    """
    array = _array(_triangle(mask), dtype)
    if array.dtype != bool and ((array == 0) | (array == -np.inf)).all():
        array = array == 0
    array = np.broadcast_to(array, (*array.shape[:-2], *shape))
    per_head = heads and array.ndim > 2 and bool((array != array[..., :1, :, :]).any())
    if heads and array.ndim > 2 and not per_head:
        array = array[..., 0, :, :]
    rows, columns = shape
    if array.dtype == bool and rows > 1:
        for past in (0, max(columns - rows, 0)):
            if (array == np.tri(rows, columns, past, dtype=bool)).all():
                return ({"causal": past} if past else "causal"), {}, 2
    kind, name = ("boolean", "allowed") if array.dtype == bool else ("additive", "mask")
    return {kind: PER_HEAD if per_head else True}, {name: array}, 3 if per_head else 2


def _triangle(mask: torch.Tensor) -> torch.Tensor:
    """The tensor of a mask that stands for one, such as `causal_lower_right`."""
    import torch
    from torch.nn.attention.bias import CausalBias, CausalVariant

    if not isinstance(mask, CausalBias):
        return mask
    rows, columns = mask.seq_len_q, mask.seq_len_kv
    last = columns - rows if mask.variant is CausalVariant.LOWER_RIGHT else 0
    return torch.ones(rows, columns, dtype=torch.bool).tril(last)


def multi_head(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, Call]:
    """A call of multi_head_attention_forward, from its inputs and weights if that can be said.

    Otherwise from the Q, K and V that it makes, with the reasons as the note of the call; up to
    the heads where the projections are too large to show. The mask is made of all masks in it.
    """
    from torch.nn import functional

    call = signature(functional.multi_head_attention_forward).bind(*args, **kwargs)
    call.apply_defaults()
    part = call.arguments
    if part["training"] and part["dropout_p"]:
        raise SymattnError(_DROPOUT)
    inner: list[dict[str, Any]] = []
    result, _ = returned = _seen(inner, part)
    if not inner:  # with weights wanted, they are worked out elsewhere
        _seen(inner, {**part, "need_weights": False, "is_causal": False})
    choices, given, axes = _compared(inner[0], result.dtype)
    if _width(part) ** 2 > MAX_ENTRIES:
        note = (
            f"from Q, K and V to the heads' outputs: projections of more than {MAX_ENTRIES} "
            "entries are too large to show"
        )
        spec = Attention(source="given", **choices)
        output = _array(inner[0]["result"], result.dtype)
        return returned, Call(name, spec, given, output, axes, _digits(result), note)
    extra = _extra(part)
    note = ""
    if extra:
        choices["source"] = "given"
        note = f"from Q, K and V after the projections: {extra}"
    else:
        choices["source"], sequences = _sequences(part, result.dtype)
        given = {name: x for name, x in given.items() if name not in ("Q", "K", "V")}
        given = {**sequences, **_projections(part, result.dtype), **given}
        axes |= dict.fromkeys(sequences, 2)
    given["W_O"] = _array(part["out_proj_weight"], result.dtype).T
    biased = part["out_proj_bias"] is not None or (not extra and part["in_proj_bias"] is not None)
    if biased:
        bias = part["out_proj_bias"]
        given["b_O"] = (
            np.zeros_like(given["W_O"][:1]) if bias is None else _array(bias, result.dtype)[None, :]
        )
    spec = Attention(**choices, output_projection=True, projection_bias=biased)
    axes["output"] = 2
    return returned, Call(
        name, spec, given, _array(_batches_first(result)), axes, _digits(result), note
    )


def _width(part: Mapping[str, Any]) -> int:
    """d_model."""
    return int(part["out_proj_weight"].shape[0])


def _seen(
    inner: list[dict[str, Any]], part: Mapping[str, Any]
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """The result of multi_head_attention_forward, which leaves its Q, K, V and mask in `inner`.

    No mode sees what it calls without seeing itself again, so the name it calls is lent out.
    """
    from torch.nn import functional

    whole = functional.scaled_dot_product_attention

    def noting(*args: Any, **kwargs: Any) -> torch.Tensor:
        result = whole(*args, **kwargs)
        inner.append({**_arguments(args, kwargs), "result": result})
        return result

    functional.scaled_dot_product_attention = noting
    try:
        return functional.multi_head_attention_forward(**part)
    finally:
        functional.scaled_dot_product_attention = whole


def _extra(part: Mapping[str, Any]) -> str:
    """What keys and values have that no projection of one sequence makes; empty for nothing."""
    reasons = (
        (
            part["static_k"] is not None or part["static_v"] is not None,
            "keys or values are given ready-made (static_k, static_v)",
        ),
        (part["bias_k"] is not None, "a learned key and value are added (add_bias_kv)"),
        (part["add_zero_attn"], "a key and value of zeros are added (add_zero_attn)"),
        (not _same(part["key"], part["value"]), "keys and values come from different sequences"),
    )
    return "; ".join(why for found, why in reasons if found)


def _same(one: torch.Tensor, other: torch.Tensor) -> bool:
    import torch

    return one is other or (one.shape == other.shape and torch.equal(one, other))


def _batches_first(sequence: torch.Tensor) -> torch.Tensor:
    """A sequence, which this function takes with the batches second, or alone."""
    return sequence.transpose(0, 1) if sequence.dim() == 3 else sequence[None]


def _sequences(part: Mapping[str, Any], dtype: torch.dtype) -> tuple[str, dict[str, Array]]:
    """Whether a sequence attends to itself, and the sequences."""
    queries = {"X": _array(_batches_first(part["query"]), dtype)}
    if _same(part["query"], part["key"]):
        return "self", queries
    return "cross", {**queries, "memory": _array(_batches_first(part["key"]), dtype)}


def _projections(part: Mapping[str, Any], dtype: torch.dtype) -> dict[str, Array]:
    """The weights that make queries, keys and values, turned so that they multiply from the right.

    Where there is only a bias of the output, the others are 0.
    """
    names = ("q_proj_weight", "k_proj_weight", "v_proj_weight")
    separate = part["use_separate_proj_weight"]
    matrices = [part[name] for name in names] if separate else part["in_proj_weight"].chunk(3)
    found = {f"W_{x}": _array(w, dtype).T for x, w in zip("QKV", matrices, strict=True)}
    if part["in_proj_bias"] is not None:
        vectors = part["in_proj_bias"].chunk(3)
        found |= {f"b_{x}": _array(b, dtype)[None, :] for x, b in zip("QKV", vectors, strict=True)}
    elif part["out_proj_bias"] is not None:
        found |= {f"b_{x}": np.zeros_like(found[f"W_{x}"][:1]) for x in "QKV"}
    return found
