"""Heads and masks in the layout of ONNX and JAX, asked of symattn's public spec and arrays.

Every case goes one way: its attributes become choices of `Attention`, its tensors the inputs of a
derivation, and what the steps are worth is the answer. Only layout is done here: heads cut out of
rank-3 tensors, masks padded to all keys, lengths per batch written as a boolean matrix.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symattn import Attention, Evaluation, derivation
from symattn.nodes.normalise import Softmax
from tests.extras import package

Array = NDArray[Any]

#: The cases that miss their own tolerance in their own float16, and why. All others meet it.
NOT_IN_FLOAT16: Mapping[str, str] = {
    "test_attention_4d_gqa_with_past_and_present_fp16": "one of 576 entries of Y is two float16 "
    "units from ONNX's, and rtol 0.001 is one unit: ONNX rounds Q√s and K√s, symattn s·QKᵀ; the "
    "exact value lies between. Computed in float32 and rounded once, it agrees"
}

#: ONNX's modules of cases that are not called as their operator is.
_MODULES = {"LinearAttention": "linear_attention"}

#: NumPy's names for the tensor types that a softmax can be computed in.
_PRECISIONS = {1: "float32", 10: "float16", 11: "float64"}

#: The steps before the weights, in their order.
_LOGITS = ("scores", "scaled", "capped", "biased", "masked")

#: The last of them that each output mode reports; mode 3 reports the weights.
_UNTIL = {0: "scaled", 1: "capped", 2: "masked"}


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


def node_cases(*ops: str) -> list[Any]:
    """ONNX's own cases for these operators; its collector makes those of all, which takes long."""
    cases = package("onnx.backend.test.case.node")
    for op in ops:
        package(f"{cases.__name__}.{_MODULES.get(op, op.lower())}")
    found: list[Any] = cases._NodeTestCases
    return found


def collected(ops: Collection[str]) -> list[Case]:
    """ONNX's cases of one node for these operators."""
    helper = package("onnx.helper")
    out = []
    for case in node_cases(*ops):
        nodes = case.model.graph.node
        if len(nodes) != 1 or nodes[0].op_type not in ops:
            continue
        node, (data,) = nodes[0], case.data_sets
        names = [name for name in node.input if name], [name for name in node.output if name]
        inputs, outputs = (
            {name: np.asarray(value) for name, value in zip(*pair, strict=True)}
            for pair in zip(names, data, strict=True)
        )
        settings = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        out.append(Case(case.name, node.op_type, settings, inputs, outputs, case.rtol, case.atol))
    return out


def softmax(case: Case) -> dict[str, Array]:
    """The answer to a Softmax case: along rows, with the axis moved there and back."""
    x, axis = case.inputs["x"], case.settings.get("axis", -1)
    weights = Softmax.numpy(np.moveaxis(x, axis, -1), 1)
    return {"y": np.moveaxis(weights, -1, axis).astype(x.dtype)}


def attention(case: Case, dtype: str | None = None) -> dict[str, Array]:
    """The answer to an Attention case by the names of its outputs, computed in this dtype.

    Without one it is the case's own, or float32 for bfloat16, which NumPy cannot compute in.
    """
    settings, own = case.settings, case.inputs["Q"].dtype
    dtype = dtype or ("float32" if own.name == "bfloat16" else own.name)
    plain = {
        name: value.astype(dtype) if value.dtype == own else value
        for name, value in case.inputs.items()
    }
    if plain["Q"].ndim == 3:
        for name, count in (("Q", "q_num_heads"), ("K", "kv_num_heads"), ("V", "kv_num_heads")):
            plain[name] = _cut(plain[name], settings[count])
    names = {"K_past": "past_key", "V_past": "past_value"}
    told = {name: plain[name] for name in ("Q", "K", "V")}
    told |= {name: plain[past] for name, past in names.items() if past in plain}
    choices = {"scale": settings.get("scale", True), "soft_cap": settings.get("softcap") or None}
    precision = _PRECISIONS.get(settings.get("softmax_precision", 0))
    answer = attended(choices, visible(settings, plain), told, dtype, precision)
    mode = settings.get("qk_matmul_output_mode", 0)
    found = {
        "Y": answer["heads"],
        "present_key": answer.get("K_cached", told["K"]),
        "present_value": answer.get("V_cached", told["V"]),
        "qk_matmul_output": answer[_last(answer, _UNTIL[mode]) if mode < 3 else "weights"],
    }
    if case.inputs["Q"].ndim == 3:
        found["Y"] = answer["concat"]
    return {name: found[name].astype(own) for name in case.outputs}


def linear(case: Case) -> dict[str, Array]:
    """The answer to a LinearAttention case: equations of one head, all heads and batches at once.

    As ONNX's reference it is computed in float32 and rounded once. A head of queries reads the
    state of its group, which is made once for each of them.
    """
    settings, plain = case.settings, case.inputs
    heads, groups = settings["q_num_heads"], settings["kv_num_heads"]
    told = {"Q": _cut(plain["query"], heads)}
    for letter, name in (("K", "key"), ("V", "value"), ("G", "decay"), ("beta", "beta")):
        if name in plain:
            count = groups if plain[name].shape[-1] % groups == 0 else 1
            told[letter] = _cut(plain[name], count)
    if "past_state" in plain:
        told["S_0"] = plain["past_state"]
    batch = len(plain["query"])
    given = {}
    for letter, value in told.items():
        every = np.repeat(value, heads // value.shape[1], axis=1).astype("float32")
        given[letter] = every.reshape(batch * heads, *value.shape[2:])
    if "G" in given and given["G"].shape[-1] == 1:  # a number for each token
        given["alpha"] = given.pop("G")
    if settings.get("scale"):
        given["s"] = np.asarray(settings["scale"], "float32")
    text = recurrent(settings.get("update_rule", b"gated_delta").decode(), given)
    answer = _stepped(derivation(text).evaluate(dtype="float32", **given))
    output, states = (
        answer[name].reshape(batch, heads, *answer[name].shape[-2:]) for name in ("output", "last")
    )
    found = {
        "output": np.swapaxes(output, 1, 2).reshape(*output.shape[:1], output.shape[2], -1),
        "present_state": states[:, :: heads // groups],
    }
    return {name: found[name].astype(wanted.dtype) for name, wanted in case.outputs.items()}


def recurrent(rule: str, given: Collection[str]) -> str:
    """The equations of an update rule of LinearAttention, from what is given beside Q, K and V."""
    state = "S[t-1]"
    if "gated" in rule:
        factor = "diag(exp(G[t]))" if "G" in given else "exp(α[t])"
        state = f"{factor} {state}"
    write = f"β[t] K[t]^T (V[t] - K[t] ({state}))" if "delta" in rule else "K[t]^T V[t]"
    return f"""
K : n × d_k;  V : n × d_v;  S_0 : d_k × d_v
{"" if "S_0" in given else "S[0] = 0"}
S[t] = {state} + {write}
output O[t,:] = {"s Q[t]" if "s" in given else "Q[t] / sqrt(d_k)"} S[t]
last Z = S[n]   # The state after the last token, which the next chunk begins with.
"""


def _cut(x: Array, heads: int) -> Array:
    """(batch, rows, heads · columns) as (batch, heads, rows, columns)."""
    return np.swapaxes(x.reshape(*x.shape[:2], heads, -1), 1, 2)


# ---- masks ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Visible:
    """What a query sees: masks that symattn names, a boolean matrix, numbers to add.

    The matrices are (batch or 1, heads or 1, n, m).
    """

    named: tuple[Any, ...] = ()
    allowed: Array | None = None
    added: Array | None = None


def visible(settings: Mapping[str, Any], plain: Mapping[str, Array]) -> Visible:
    """What a query of a case may see, over all keys, the cached ones first."""
    past = plain["past_key"].shape[-2] if "past_key" in plain else 0
    n, m = plain["Q"].shape[-2], past + plain["K"].shape[-2]
    lengths = plain.get("nonpad_kv_seqlen")
    left, right = (settings.get(f"{side}_window_size", -1) for side in ("left", "right"))
    causal, window = bool(settings.get("is_causal")), max(left, right) >= 0
    named: list[Any] = []
    seen: list[Array] = []
    if lengths is None:  # the positions that symattn's own masks count, cached keys first
        named += ["causal"] if causal else []
        named += [{"window": [left, right]}] if window else []
    else:
        start = lengths[:, None, None, None] - n
        away = np.arange(m) - (np.arange(n)[:, None] + start)
        if causal:
            seen.append(away <= 0)
        if window:
            seen.append(((left < 0) | (-away <= left)) & ((right < 0) | (away <= right)))
    if lengths is not None:
        seen.append(np.arange(m) < lengths[:, None, None, None])
    mask, added = plain.get("attn_mask"), None
    if mask is not None:
        short = [(0, 0)] * (mask.ndim - 1) + [(0, m - mask.shape[-1])]
        full = np.pad(mask, short, constant_values=False if mask.dtype == bool else -np.inf)
        full = full.reshape((1,) * (4 - full.ndim) + full.shape)
        full = np.broadcast_to(full, (*full.shape[:2], n, m))
        if mask.dtype == bool:
            seen.append(full)
        else:
            added = full
    return Visible(tuple(named), joined(seen, n, m), added)


def joined(seen: Collection[Array], n: int, m: int) -> Array | None:
    """The boolean matrix that allows what all of these allow; None if there is none."""
    if not seen:
        return None
    out = np.ones((1, 1, n, m), bool)
    for part in seen:
        out = out & part
    return out


# ---- evaluation ----------------------------------------------------------------------------------


def attended(
    choices: Mapping[str, Any],
    seen: Visible,
    told: Mapping[str, Array],
    dtype: str,
    precision: str | None = None,
) -> dict[str, Array]:
    """The steps' arrays by name, (batch, heads, rows, columns), and `concat`.

    The softmax is computed in `precision` if that is given.
    """
    spec, given = _laid(choices, seen, told)
    answer = _arrays(Attention(**spec), given, dtype, precision)
    batch, heads = told["Q"].shape[:2]
    out = {}
    for name, value in answer.items():
        shared = name in ("K_cached", "V_cached")
        count = told["K"].shape[1] if shared else heads
        is_whole = name in ("concat", "mask")
        out[name] = value if is_whole else value.reshape(batch, count, *value.shape[-2:])
    return out


def _laid(
    choices: Mapping[str, Any], seen: Visible, told: Mapping[str, Array]
) -> tuple[dict[str, Any], dict[str, Array]]:
    """The spec and what is given; masks that differ by head are given for each head."""
    heads, groups = told["Q"].shape[1], told["K"].shape[1]
    given = dict(told)
    if groups == 1 < heads:  # keys for all heads are one matrix, without an axis
        given |= {name: value[:, 0] for name, value in told.items() if name != "Q"}
    masks = [*seen.named]
    for name, kind, part in (
        ("allowed", "boolean", seen.allowed),
        ("mask", "additive", seen.added),
    ):
        if part is not None:
            differs = part.shape[1] > 1
            given[name] = part if differs else part[:, 0]
            masks.append({kind: "head"} if differs else kind)
    spec = {
        **choices,
        "source": "given",
        "heads": heads,
        "kv_heads": groups if groups != heads else None,
        "cache": "K_past" in given,
        "mask": masks or None,
    }
    return spec, given


def _arrays(
    attention: Attention, given: Mapping[str, Array], dtype: str, precision: str | None
) -> dict[str, Array]:
    """The steps' values; with another precision for the softmax, in three derivations."""
    out = _stepped(attention.derivation(given=given).evaluate(dtype=dtype, **given))
    if precision in (None, dtype):
        return out
    last = _last(out, "masked")
    middle = attention.derivation(given=[last]).evaluate(dtype=precision, **{last: out[last]})
    rest = {name: given[name] for name in ("V", "V_past") if name in given}
    rest["weights"] = middle["weights"].array.astype(dtype)
    done = attention.derivation(given=rest).evaluate(dtype=dtype, **rest)
    return {**out, "weights": rest["weights"], **_stepped(done)}


def _stepped(evaluation: Evaluation) -> dict[str, Array]:
    return {step.name: evaluation[step.name].array for step in evaluation.steps}


def _last(answer: Mapping[str, Array], until: str) -> str:
    """The last step before the weights that there is, up to this one."""
    names = _LOGITS[: _LOGITS.index(until) + 1]
    return [name for name in names if name in answer][-1]
