"""ONNX's own node cases for three operators, within each case's own tolerance."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from symattn import Attention, SymattnError
from tests import ROOT
from tests.onnx_adapter import (
    NOT_IN_FLOAT16,
    Array,
    Case,
    attention,
    collected,
    linear,
    softmax,
)

PAGE = ROOT / "docs/engines.md"

#: What ONNX's own runner grants bfloat16, whatever the case says: two units in the last place.
BFLOAT16_RTOL = 2.0**-6

#: What a case can do without and still be answered, because of the numbers that it has.
IDLE = {
    ("test_attention_4d_attn_mask_bool", "attn_mask"),  # true everywhere
    ("test_attention_4d_attn_mask_bool_4d", "attn_mask"),  # true everywhere
    ("test_attention_4d_gqa_causal_nonpad_decode", "is_causal"),  # one query, the last key
    ("test_attention_4d_gqa_causal_nonpad_decode_fp16", "is_causal"),
    ("test_attention_causal_boolmask_nan_robustness", "is_causal"),  # the mask hides more
    ("test_attention_local_window_default", "left_window_size"),  # −1, no limit
    ("test_attention_local_window_default", "right_window_size"),
    ("test_attention_local_window_rank1_boolean_mask", "attn_mask"),  # the window hides more
    ("test_attention_local_window_ext_cache_float16_mask", "is_causal"),  # every V is the same
    ("test_attention_local_window_ext_cache_float16_mask", "left_window_size"),
    ("test_attention_local_window_ext_cache_float16_mask", "attn_mask"),
    ("test_attention_local_window_ext_cache_float16_mask", "nonpad_kv_seqlen"),
}

SETTINGS = ("is_causal", "scale", "softcap", "left_window_size", "right_window_size")
TENSORS = ("attn_mask", "nonpad_kv_seqlen")


def heads(case: Case) -> tuple[int, int]:
    """How many heads of queries and of keys there are."""
    if case.inputs["Q"].ndim == 4:
        return case.inputs["Q"].shape[1], case.inputs["K"].shape[1]
    return case.settings["q_num_heads"], case.settings["kv_num_heads"]


def mask_of(case: Case, kind: str) -> bool:
    mask = case.inputs.get("attn_mask")
    return mask is not None and (mask.dtype == bool) is (kind == "boolean")


#: The groups of docs/engines.md; a case is in all that fit.
GROUPS: Mapping[str, Callable[[Case], bool]] = {
    "rank-3 tensors, heads side by side": lambda case: case.inputs["Q"].ndim == 3,
    "grouped heads": lambda case: heads(case)[0] != heads(case)[1],
    "values wider or narrower than keys": lambda case: (
        case.inputs["K"].shape[-1] != case.inputs["V"].shape[-1]
    ),
    "`scale`": lambda case: "scale" in case.settings,
    "`softcap`": lambda case: "softcap" in case.settings,
    "`is_causal`": lambda case: bool(case.settings.get("is_causal")),
    "window": lambda case: "left_window_size" in case.settings,
    "`attn_mask`, boolean": lambda case: mask_of(case, "boolean"),
    "`attn_mask`, numbers": lambda case: mask_of(case, "numbers"),
    "`attn_mask` that differs by head": lambda case: (
        "attn_mask" in case.inputs and case.inputs["attn_mask"].shape[-3:][:-2] not in ((), (1,))
    ),
    "`past_key`, `past_value`": lambda case: "past_key" in case.inputs,
    "`nonpad_kv_seqlen`": lambda case: "nonpad_kv_seqlen" in case.inputs,
    "`qk_matmul_output`": lambda case: "qk_matmul_output" in case.outputs,
    "`softmax_precision`": lambda case: "softmax_precision" in case.settings,
    "float16": lambda case: case.inputs["Q"].dtype.name == "float16",
    "bfloat16": lambda case: case.inputs["Q"].dtype.name == "bfloat16",
}


#: The groups of LinearAttention, likewise.
RECURRENT: Mapping[str, Callable[[Case], bool]] = {
    "LinearAttention, all": lambda case: True,
    "`past_state`": lambda case: "past_state" in case.inputs,
    "`decay`": lambda case: "decay" in case.inputs,
    "`beta`": lambda case: "beta" in case.inputs,
}


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return collected(("Attention", "Softmax"))


@pytest.fixture(scope="module")
def asked(cases: list[Case]) -> list[Case]:
    return [case for case in cases if case.op == "Attention"]


@pytest.fixture(scope="module")
def recurrent() -> list[Case]:
    return collected(("LinearAttention",))


def wrong(case: Case, answer: Mapping[str, Array]) -> str:
    """How the answer misses what the case wants; empty if it does not."""
    assert set(answer) == set(case.outputs)
    for name, tensor in case.outputs.items():
        wanted = tensor
        assert answer[name].dtype == wanted.dtype, name
        actual, rtol = answer[name], case.rtol
        if wanted.dtype.name == "bfloat16":
            actual, wanted = actual.astype(np.float32), wanted.astype(np.float32)
            rtol = max(rtol, BFLOAT16_RTOL)
        try:
            np.testing.assert_allclose(actual, wanted, rtol, case.atol, err_msg=name)
        except AssertionError as error:
            return str(error)
    return ""


def without(case: Case, name: str) -> Case:
    settings, inputs = (
        {key: value for key, value in part.items() if key != name}
        for part in (case.settings, case.inputs)
    )
    return dataclasses.replace(case, settings=settings, inputs=inputs)


def test_attention_is_that_of_onnx(asked: list[Case]) -> None:
    assert len(asked) >= 93
    found = {case.name: wrong(case, attention(case)) for case in asked}
    missed = {name: why for name, why in found.items() if why and name not in NOT_IN_FLOAT16}
    assert not missed, missed


def test_softmax_is_that_of_onnx(cases: list[Case]) -> None:
    found = {case.name: wrong(case, softmax(case)) for case in cases if case.op == "Softmax"}
    assert len(found) >= 7
    assert not any(found.values()), found


def test_linear_attention_is_that_of_onnx(recurrent: list[Case]) -> None:
    assert len(recurrent) >= 14
    found = {case.name: wrong(case, linear(case)) for case in recurrent}
    assert not any(found.values()), found


def test_every_part_of_a_recurrence_counts(recurrent: list[Case]) -> None:
    """Without the state that is handed on, or with another update rule, the answer is wrong."""
    carried = [case for case in recurrent if case.inputs.get("past_state", np.zeros(1)).any()]
    assert len(carried) >= 2
    assert all(wrong(case, linear(without(case, "past_state"))) for case in carried)
    plain = next(case for case in recurrent if case.settings.get("update_rule") == b"delta")
    other = without(plain, "beta")
    other = dataclasses.replace(other, settings={**plain.settings, "update_rule": b"linear"})
    assert wrong(plain, linear(other))


def test_what_is_not_in_float16_is_rounding(asked: list[Case]) -> None:
    named = [case for case in asked if case.name in NOT_IN_FLOAT16]
    assert len(named) == len(NOT_IN_FLOAT16)
    for case in named:
        assert case.inputs["Q"].dtype == np.float16
        assert not wrong(case, attention(case, "float32"))
        own, wide = attention(case), attention(case, "float32")
        for name, wanted in case.outputs.items():
            unit = np.spacing(np.abs(wanted)).astype(float)
            apart = np.abs(own[name].astype(float) - wanted.astype(float)) / unit
            assert apart.max() <= 2, name
            assert (apart > 1).mean() < 0.01, name
            off = np.abs(own[name].astype(float) - wide[name].astype(float)) / unit
            assert off.max() <= 2, name


def test_every_part_of_a_case_counts(asked: list[Case]) -> None:
    idle = {
        (case.name, name)
        for case in asked
        for name in (*SETTINGS, *TENSORS)
        if (name in case.settings or name in case.inputs)
        and case.name not in NOT_IN_FLOAT16
        and not wrong(case, attention(without(case, name)))
    }
    assert idle == IDLE


def test_masks_that_differ_by_head_have_to_be_said() -> None:
    rng = np.random.default_rng(1)
    given: dict[str, Any] = {name: rng.normal(size=(2, 3, 4, 5)) for name in ("Q", "K", "V")}
    told = {**given, "allowed": rng.random((2, 3, 4, 4)) < 0.5}
    with pytest.raises(SymattnError, match="leading axes"):
        Attention(heads=3, mask="boolean").derivation(given=told).evaluate(**told)
    spec = Attention(heads=3, mask={"boolean": "head"})
    weights = spec.derivation(given=told).evaluate(**told)["weights"].array
    assert ((weights > 0) == told["allowed"]).all()


def test_the_page_counts_these_cases(
    asked: list[Case], cases: list[Case], recurrent: list[Case]
) -> None:
    page = PAGE.read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| ([^|]+?) \| (\d+) \|", page, re.M))
    counts = {name: sum(map(fits, asked)) for name, fits in GROUPS.items()}
    counts |= {"Attention, all": len(asked), "Softmax, all": len(cases) - len(asked)}
    counts |= {name: sum(map(fits, recurrent)) for name, fits in RECURRENT.items()}
    assert {name: int(count) for name, count in rows.items()} == counts
    for name in NOT_IN_FLOAT16:
        assert name in page
