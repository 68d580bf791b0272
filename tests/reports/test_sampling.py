"""Arrays too large to be judged entry by entry: a sample of their rows is, and says so."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from symattn import Attention
from symattn.errors import ShapeError
from symattn.evaluate.sampled import Sampled
from symattn.reports.single import report_data, report_of
from tests.extras import package
from tests.shares import share


def given(heads: int, tokens: int, width: int) -> dict[str, Any]:
    random = np.random.default_rng(5)
    return {name: random.standard_normal((heads, tokens, width)) for name in "QKV"}


def softmax_of(Q: Any, K: Any, V: Any, causal: bool = False) -> Any:
    """The attention of every head, written out in NumPy."""
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    if causal:
        scores = np.where(np.tri(scores.shape[-2], dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True) @ V


@pytest.mark.parametrize("place", share([((1, 777, 5),), ((0, 0, 0),), ((1, 1023, 7),)], 3))
def test_one_wrong_number_of_very_many_is_named_by_its_place(place: Any) -> None:
    numbers = given(2, 1024, 16)
    values = Attention(heads=2).derivation().evaluate(**numbers)
    heads = softmax_of(**numbers)
    heads[place] += 1e-9
    marks = values.compare(heads=heads, explain=False)
    assert str(marks.first_wrong) == "heads[{},{},{}]".format(*(i + 1 for i in place))
    wrong = [entry.place for entry in marks.entries if entry.verdict != "right"]
    assert wrong == [place]


def test_right_ones_agree_and_say_which_rows_were_judged() -> None:
    numbers = given(2, 1024, 16)
    values = Attention(heads=2, mask="causal").derivation().evaluate(**numbers)
    marks = values.compare(heads=softmax_of(**numbers, causal=True))
    assert marks.passed
    data = report_data(report_of(marks))
    rows = data["steps"]["heads"]["sampled_rows"]
    assert json.dumps(rows) and {entry.place[1] + 1 for entry in marks.entries} == {*rows}
    assert len(rows) < 20 and {1, 512, 513, 1024} <= {*rows}
    listed = ", ".join(map(str, rows))
    assert f"rows {listed} of 1,024 were judged" in " ".join(marks.notes)
    judged = f"the {len(rows)} rows of 1,024 that were tried: {2 * 16 * len(rows)} right."
    assert data["conclusion"] == f"Agrees on {judged}"


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_short_dtypes_are_not_accused_and_one_wrong_row_is_judged(dtype: str) -> None:
    torch = package("torch")
    random = np.random.default_rng(7)
    kind = getattr(torch, dtype)
    given = [torch.tensor(random.standard_normal((1024, 16))).to(kind) for _ in range(3)]
    numbers = {name: x.double().numpy() for name, x in zip("QKV", given, strict=True)}
    values = Attention().derivation().evaluate(**numbers)
    output = torch.tensor(softmax_of(**numbers)).to(kind)
    assert values.compare(output=output).passed
    output[515] += 1.0
    marks = values.compare(output=output, explain=False)
    assert 515 in {entry.place[0] for entry in marks.entries}
    wrong = {entry.place[0] for entry in marks.entries if entry.verdict != "right"}
    assert wrong == {515}
    verdicts = {entry.verdict for entry in marks.entries} - {"right"}
    if dtype == "float32":
        assert verdicts == {"wrong"}
        conclusion = report_data(report_of(marks))["conclusion"]
        assert str(conclusion).startswith("Does not agree on the ")
    else:  # rounding of 1,024 tokens may do more than 1 in bfloat16, by the bound that is proven
        assert verdicts == {"undecided"}
        assert not marks.passed


def test_one_wrong_bit_of_a_mask_is_found() -> None:
    numbers = {name: x[0] for name, x in given(1, 1024, 16).items()}
    values = Attention(mask="causal").derivation().evaluate(**numbers)
    scores = numbers["Q"] @ numbers["K"].T / 4
    allowed = np.tri(1024, dtype=bool)
    allowed[700, 300] = False
    weights = np.exp(np.where(allowed, scores, -np.inf))
    weights /= weights.sum(axis=-1, keepdims=True)
    marks = values.compare(output=(weights @ numbers["V"]).astype(np.float32), explain=False)
    assert {entry.place[0] for entry in marks.entries if entry.verdict != "right"} == {700}


@pytest.mark.nightly
def test_what_is_wrong_throughout_is_explained() -> None:
    numbers = {name: x[0] for name, x in given(1, 1024, 16).items()}
    values = Attention().derivation().evaluate(**numbers)
    marks = values.compare(output=softmax_of(numbers["Q"] / 4, numbers["K"], numbers["V"]))
    assert "scaled-by-d_k" in [one.name for one in marks.explanations]


@pytest.mark.parametrize(
    "spec",
    [
        {"mask": "causal"},
        {"bias": "alibi", "heads": 2},
        {"positions": "rotary"},
        {"source": "self", "heads": 2, "output_projection": True},
        {"normaliser": "sparsemax"},
    ],
)
def test_rows_of_a_sample_are_those_of_the_whole(spec: dict[str, Any]) -> None:
    derivation = Attention(**spec).derivation()
    random = np.random.default_rng(3)
    sizes = {"n": 9, "m": 9, "d_model": 4, "d_k": 4, "d_v": 4, "h": 2, "g": 2, "d_out": 4}
    numbers = {}
    for item in derivation.inputs:
        shape = [
            int(size.subs({s: sizes[s.name] for s in size.free_symbols})) for size in item.shape
        ]
        lead = [2] if item.count is not None else []
        numbers[item.name] = random.integers(-8, 9, size=(*lead, *shape)) / 8
    whole = derivation.evaluate(**numbers)
    for name in whole:
        letter = whole[name].step.letter
        count = whole.shape(letter)[-2]
        if name in {item.name for item in derivation.inputs} or count != 9:
            continue
        rows = np.array([1, 4, 8])
        sample = Sampled(whole, {letter: whole.array(letter)}, {9: rows})
        there, here = whole.balls(letter, 96)[..., rows, :], sample.balls(letter, 96)
        assert there.shape == here.shape
        assert all(a.overlaps(b) or a == b for a, b in zip(there.flat, here.flat, strict=True))


def test_a_row_that_needs_too_much_is_refused_in_a_line() -> None:
    random = np.random.default_rng(1)
    Q, K, V = (random.standard_normal((1, n, 1)) for n in (2, 2_000_000, 2_000_000))
    values = Attention(heads=1).derivation().evaluate(Q=Q, K=K, V=V)
    with pytest.raises(ShapeError, match="weights: would have 4000000 entries, too many"):
        values.compare(heads=np.zeros((1, 2, 1)))
