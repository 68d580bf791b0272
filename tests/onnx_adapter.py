"""ONNX's own node cases, asked of symattn's public spec and array evaluation.

Every case goes one way: its attributes become choices of `Attention`, its tensors the inputs of a
derivation, and what the steps are worth is the answer. Only layout is done here: heads cut out of
rank-3 tensors, masks padded to all keys, lengths per batch written as a boolean matrix.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import sympy
from numpy.typing import NDArray

from symattn import Attention, Evaluation
from symattn.nodes import Softmax

Array = NDArray[Any]

#: The cases that the public API cannot express, and why.
NOT_COVERED: Mapping[str, str] = {}

#: What ONNX's own runner grants bfloat16, whatever the case says: two units in the last place.
BFLOAT16_RTOL = 2.0**-6

#: NumPy's name for the tensor types that ONNX computes a softmax in.
_PRECISIONS = {1: "float32", 10: "float16", 11: "float64"}

#: The steps before the weights, in their order.
_LOGITS = ("scores", "scaled", "capped", "biased", "masked")


@dataclass(frozen=True)
class Case:
    """One node, what goes in and what must come out, by name."""

    name: str
    op: str
    settings: Mapping[str, Any]
    inputs: Mapping[str, Array]
    outputs: Mapping[str, Array]
    rtol: float
    atol: float


def collected(ops: Iterable[str]) -> list[Case]:
    """ONNX's cases of one node for these operators. Raises `ImportError` without onnx."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its other operators overflow on purpose
        from onnx import helper
        from onnx.backend.test.case.node import collect_testcases

        cases = cast(Any, collect_testcases(None))
    out = []
    for case in cases:
        nodes = case.model.graph.node
        if len(nodes) != 1 or nodes[0].op_type not in ops:
            continue
        node, data = nodes[0], case.data_sets[0]
        names = [name for name in node.input if name], [name for name in node.output if name]
        tensors = [dict(zip(*pair, strict=True)) for pair in zip(names, data, strict=True)]
        settings = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        out.append(Case(case.name, node.op_type, settings, *tensors, case.rtol, case.atol))
    return out


def softmax(case: Case) -> dict[str, Array]:
    """The answer to a Softmax case: the axis moved last, one row for each of the others."""
    x, axis = case.inputs["x"], case.settings.get("axis", -1)
    moved = np.moveaxis(x, axis, -1)
    rows = np.ascontiguousarray(moved).reshape(-1, moved.shape[-1])
    weights = Softmax.numpy(rows, sympy.S.One).reshape(moved.shape)
    return {"y": np.moveaxis(weights, -1, axis).astype(x.dtype)}


@dataclass(frozen=True)
class Visible:
    """Which keys a query sees: masks that symattn names, a boolean matrix, numbers to add."""

    named: tuple[Any, ...]
    allowed: Array | None
    added: Array | None

    @property
    def differs_by_head(self) -> bool:
        """Whether the boolean matrix is another one for each head."""
        return self.allowed is not None and self.allowed.shape[1] > 1


def attention(case: Case) -> dict[str, Array]:
    """The answer to an Attention case, by the names of its outputs."""
    settings, inputs = case.settings, case.inputs
    flat = inputs["Q"].ndim == 3
    given = dtype = inputs["Q"].dtype
    if dtype.name == "bfloat16":
        dtype = np.dtype("float32")
    plain = {
        name: value.astype(dtype) if value.dtype == given else value
        for name, value in inputs.items()
    }
    groups = {"Q": "q_num_heads", "K": "kv_num_heads", "V": "kv_num_heads"}
    q, k, v = (
        _apart(plain[name], settings[heads]) if flat else plain[name]
        for name, heads in groups.items()
    )
    told = {"Q": q, "K": k, "V": v}
    for name, past in (("K_past", "past_key"), ("V_past", "past_value")):
        if past in plain:
            told[name] = plain[past]
    visible = _visible(settings, plain, q.shape[-2], k.shape[-2])
    choices: dict[str, Any] = {"source": "given", "cache": "K_past" in told}
    choices["scale"] = settings.get("scale", True)
    choices["soft_cap"] = settings.get("softcap") or None
    layout = _apart_layout if _is_hidden_by_head(visible) else _head_layout
    spec, told = layout(choices, visible, told)
    answer = _evaluated(spec, told, dtype.name, _PRECISIONS.get(settings.get("softmax_precision")))
    mode, heads = settings.get("qk_matmul_output_mode", 0), q.shape[1]
    found = {
        "Y": answer["concat" if "concat" in answer and flat else "heads"],
        "present_key": answer.get("K_cached", k),
        "present_value": answer.get("V_cached", v),
        "qk_matmul_output": answer[_reported(mode, answer)],
    }
    out = {}
    for name, wanted in case.outputs.items():
        value = found[name]
        if name == "Y" and flat and "concat" not in answer:
            value = np.moveaxis(value.reshape(-1, heads, *value.shape[-2:]), 1, 2)
        out[name] = value.reshape(wanted.shape).astype(given)
    return out


def _apart(x: Array, heads: int) -> Array:
    """(batch, rows, heads · columns) as (batch, heads, rows, columns)."""
    return np.swapaxes(x.reshape(*x.shape[:2], heads, -1), 1, 2)


def _visible(settings: Mapping[str, Any], plain: Mapping[str, Array], n: int, new: int) -> Visible:
    """What a query of the case may see, over all keys, cached ones first."""
    past = plain["past_key"].shape[-2] if "past_key" in plain else 0
    lengths, m = plain.get("nonpad_kv_seqlen"), past + new
    window = [settings.get(f"{side}_window_size", -1) for side in ("left", "right")]
    named: list[Any] = []
    seen: list[Array] = []
    starts = np.array(past) if lengths is None else lengths[:, None, None, None] - n
    away = np.arange(m) - (np.arange(n)[:, None] + starts)
    if settings.get("is_causal"):
        if lengths is None:
            named.append({"causal": past})
        else:
            seen.append(away <= 0)
    if max(window) >= 0:
        if lengths is None and past == 0:
            named.append({"window": window})
        else:
            left, right = window
            seen.append(((left < 0) | (-away <= left)) & ((right < 0) | (away <= right)))
    if lengths is not None:
        seen.append(np.arange(m) < lengths[:, None, None, None])
    added = None
    mask = plain.get("attn_mask")
    if mask is not None:
        short = [(0, 0)] * (mask.ndim - 1) + [(0, m - mask.shape[-1] if mask.shape[-1] > 1 else 0)]
        mask = np.pad(mask, short, constant_values=False if mask.dtype == bool else -np.inf)
        if mask.dtype == bool:
            seen.append(mask)
        else:
            added = _whole(mask, n, m)
    allowed = None
    if seen:
        allowed = np.ones((1, 1, n, m), bool)
        for part in seen:
            allowed = allowed & part
    return Visible(tuple(named), allowed, added)


def _whole(mask: Array, n: int, m: int) -> Array:
    """A mask as (batch or 1, heads or 1, n, m)."""
    apart = mask.reshape((1,) * (4 - mask.ndim) + mask.shape)
    return np.broadcast_to(apart, (*apart.shape[:2], n, m))


def _is_hidden_by_head(visible: Visible) -> bool:
    """Whether another key is hidden from each head, by true and false or by −∞."""
    added = visible.added
    numbers = added is not None and added.shape[1] > 1 and bool(np.isneginf(added).any())
    return visible.differs_by_head or numbers


def _masks(visible: Visible, added: str | None) -> list[Any] | None:
    parts = [*visible.named]
    parts += ["boolean"] if visible.allowed is not None else []
    parts += ["additive"] if added == "mask" else []
    return parts or None


Laid = tuple[dict[str, Any], dict[str, Array]]


def _head_layout(
    choices: Mapping[str, Any], visible: Visible, told: Mapping[str, Array]
) -> Laid:
    """Heads as symattn's heads: masks are shared by them, numbers a head are a bias."""
    heads, groups = told["Q"].shape[1], told["K"].shape[1]
    spec = {**choices, "heads": heads, "kv_heads": groups if groups != heads else None}
    given = dict(told)
    if groups == 1 < heads:  # one key matrix for all heads has no axis for them
        given |= {name: value[:, 0] for name, value in told.items() if name != "Q"}
    added = None
    if visible.allowed is not None:
        given["allowed"] = visible.allowed[:, 0]
    if visible.added is not None:
        added = "mask" if visible.added.shape[1] == 1 else "bias"
        given[added] = visible.added[:, 0] if added == "mask" else visible.added
        if added == "bias":
            spec["bias"] = "given"
    return {**spec, "mask": _masks(visible, added)}, given


def _apart_layout(
    choices: Mapping[str, Any], visible: Visible, told: Mapping[str, Array]
) -> Laid:
    """Heads as batches: every head has its own masks, the queries of a group share its keys."""
    batch, heads, n, _ = told["Q"].shape
    groups = told["K"].shape[1]
    lead = batch * groups, heads // groups
    given = {
        name: value.reshape(*lead, *value.shape[-2:])
        if name == "Q"
        else value.reshape(lead[0], 1, *value.shape[-2:])
        for name, value in told.items()
    }
    parts = {"allowed": visible.allowed, "mask": visible.added}
    for name, part in parts.items():
        if part is not None:
            full = np.broadcast_to(part, (batch, heads, n, part.shape[-1]))
            given[name] = full.reshape(*lead, *full.shape[-2:])
    return {**choices, "mask": _masks(visible, "mask" if "mask" in given else None)}, given


def _evaluated(
    spec: Mapping[str, Any], told: Mapping[str, Array], dtype: str, precision: str | None
) -> dict[str, Array]:
    """The steps' arrays by name; the output of one unnumbered head is called `heads` too."""
    attention = Attention(**spec)
    out = _arrays(attention.derivation(given=told).evaluate(dtype=dtype, **told))
    if precision not in (None, dtype):
        last = [name for name in _LOGITS if name in out][-1]
        inner = attention.derivation(given=[last]).evaluate(dtype=precision, **{last: out[last]})
        weights = inner["weights"].array.astype(dtype)
        values = {name: told[name] for name in ("V", "V_past") if name in told}
        rest = attention.derivation(given=["weights", *values])
        done = _arrays(rest.evaluate(dtype=dtype, weights=weights, **values))
        out |= {**done, "weights": weights}
    return {"heads": out["output"], **out} if "output" in out else out


def _arrays(evaluation: Evaluation) -> dict[str, Array]:
    return {step.name: evaluation[step.name].array for step in evaluation.steps}


def _reported(mode: int, answer: Mapping[str, Array]) -> str:
    """The step that an output mode means: scaled scores, capped, with bias and masks, weights."""
    until = {0: "scaled", 1: "capped", 2: "masked"}.get(mode)
    if until is None:
        return "weights"
    names = _LOGITS[: _LOGITS.index(until) + 1]
    return [name for name in names if name in answer][-1]
