"""Batches: several calculations of the same shape in one worksheet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import symattn
from symattn import VARIANTS, Attention, variant
from symattn.attention.example import small_inputs
from symattn.cli import main
from symattn.errors import SymattnError
from symattn.notation.text import line
from symattn.reports.check import check_worksheet
from symattn.reports.results import Marking
from symattn.reports.single import report_data, report_of
from symattn.sheets.worksheet import worksheet_of
from tests.checking import toml, verdicts
from tests.shares import share
from tests.written import html_report, markdown_report, text_report

X: Any = [[[1, 0], [0, 1], [2, 1]], [[1, 1], [2, 0], [0, "0.5"]]]
W: dict[str, Any] = {"W_Q": [[1, 0], [1, 1]], "W_K": [[0, 1], [1, 0]], "W_V": [[1, 2], [0, 1]]}
Q: Any = [[[1, 0], [0, 2]], [[1, 1], [2, "0.5"]]]
K: Any = [[[1, 1], [0, 2], [1, 0]], [[2, 1], [0, 1], [1, 1]]]
V: Any = [[[1, 2], [3, 4], [0, 1]], [[2, 0], [1, 5], [1, 1]]]
HEADS: dict[str, Any] = {"Q": [Q, Q[::-1], Q], "K": [K, K, K[::-1]], "V": [V, V[::-1], V]}


def floats(value: Any) -> Any:
    return np.array(value, dtype=object).astype(float)


def attention(q: Any, k: Any, v: Any, mask: Any = 0.0) -> tuple[Any, Any]:
    """Weights and output, by NumPy alone; any axes before rows and columns."""
    z = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1]) + mask
    powers = np.exp(z - z.max(axis=-1, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    return weights, weights @ v


def rounded(value: Any, places: int = 3) -> Any:
    """Nested lists of decimals as somebody writes them."""
    if np.ndim(value) == 0:
        return f"{value:.{places}f}"
    return [rounded(part, places) for part in value]


def check(given: Any, claims: Any, told: Any = None, explain: bool = True, **more: Any) -> Marking:
    return check_worksheet(worksheet_of(toml(given, claims, told or {}, **more)), explain)


def with_notation(text: str, **choices: Any) -> str:
    return text + "[notation]\n" + "".join(f"{k} = {json.dumps(v)}\n" for k, v in choices.items())


# ---- what a batch is -------------------------------------------------------------------------


def test_four_levels_are_a_batch_of_heads() -> None:
    sheet = worksheet_of(toml(HEADS, {}, {}))
    values = sheet.evaluate()
    assert isinstance(sheet.spec, Attention)
    assert (sheet.batch, sheet.spec.heads, values.batch) == (3, 2, (3,))
    weights, heads = attention(*(floats(HEADS[name]) for name in "QKV"))
    np.testing.assert_allclose(values["weights"].array, weights, rtol=1e-13)
    np.testing.assert_allclose(values["heads"].array, heads, rtol=1e-13)


def test_three_levels_are_heads_unless_a_batch_is_said() -> None:
    given = {"Q": Q, "K": K, "V": V}
    heads = worksheet_of(toml(given, {}, {}))
    batch = worksheet_of(toml(given, {}, {"batch": 2}))
    assert isinstance(heads.spec, Attention)
    assert isinstance(batch.spec, Attention)
    assert (heads.spec.heads, heads.batch) == (2, None)
    assert (batch.spec.heads, batch.batch) == (None, 2)
    assert "output" in batch.evaluate()
    assert "heads" in heads.evaluate()


def test_what_has_no_level_of_its_own_is_shared() -> None:
    shared = worksheet_of(toml({"Q": Q, "K": K, "V": V[0]}, {}, {"batch": 2})).evaluate()
    _, output = attention(floats(Q), floats(K), floats(V[0]))
    np.testing.assert_allclose(shared["output"].array, output, rtol=1e-13)
    cross = {"X": X[0], "memory": X, **W}
    memory = worksheet_of(toml(cross, {}, {})).evaluate()
    assert memory["Q"].shape == (3, 2)
    q, k, v = (floats(x) @ floats(W[f"W_{n}"]) for n, x in zip("QKV", (X[0], X, X), strict=True))
    np.testing.assert_allclose(memory["output"].array, attention(q, k, v)[1], rtol=1e-13)


@pytest.mark.parametrize("place", ["given", "attention"])
def test_each_item_may_have_a_mask_of_its_own(place: str) -> None:
    mask = [[[True, False, True], [True, True, False]], [[True, True, True], [False, True, True]]]
    given = {"Q": Q, "K": K, "V": V} | ({"allowed": mask} if place == "given" else {})
    told = {"batch": 2} | ({"mask": mask} if place == "attention" else {})
    values = worksheet_of(toml(given, {}, told)).evaluate()
    hidden = np.where(np.array(mask), 0, -np.inf)
    weights, _ = attention(floats(Q), floats(K), floats(V), hidden)
    np.testing.assert_allclose(values["weights"].array, weights, rtol=1e-13)


def test_a_mask_of_each_item_is_told_from_one_of_each_head() -> None:
    one = [[True, False, True], [True, True, True]]
    for count, shape in ((2, (2, 2, 3)), (3, (3, 2, 3))):
        values = worksheet_of(toml({**HEADS, "allowed": [one] * count}, {}, {})).evaluate()
        assert values["allowed"].shape == shape
        hidden = np.where(np.array([one] * count), 0, -np.inf)
        hidden = hidden if count == 2 else hidden[:, None]  # two heads; three items
        q, k, v = (floats(HEADS[name]) for name in "QKV")
        weights, _ = attention(q, k, v, hidden)
        np.testing.assert_allclose(values["weights"].array, weights, rtol=1e-13)


def test_items_may_be_given_one_by_one() -> None:
    given = {"X[1]": X[0], "X[2]": X[1], **W}
    one_by_one = worksheet_of(toml(given, {}, {})).evaluate()["output"].array
    whole = worksheet_of(toml({"X": X, **W}, {}, {})).evaluate()["output"].array
    np.testing.assert_array_equal(one_by_one, whole)


@pytest.mark.parametrize(
    ("given", "told", "said"),
    [
        ({"X": X, "memory": [*X, X[0]], **W}, {}, "memory: has 3 items .* there are 2, .* of X"),
        ({"Q": Q, "K": [*K, K[0]], "V": V}, {"batch": 2}, "K: has 3 items .* because of batch = 2"),
        ({"Q": Q[0], "K": K[0], "V": V[0]}, {"batch": 2}, "batch = 2: nothing is given for each"),
        ({"Q": Q, "K": K, "V": V}, {"batch": True}, "batch = true: give a whole number"),
        ({"Q": Q, "K": K, "V": V}, {"batch": 0}, "batch = 0: give a whole number"),
        ({"Q": Q, "K": K, "V": V}, {"batch": 2, "heads": 3}, "Q: is given for each item .* four"),
        ({"X": [X, X], **W}, {}, "X: has 4 levels of brackets; it needs 2, or 3 in a batch"),
        ({"X": X, **W, "W_Q": [[W["W_Q"]]]}, {}, "W_Q: all items of a batch share it"),
        ({"X": X, **W, "W_O": [W["W_V"]] * 2}, {}, "W_O: three levels of brackets, but all heads"),
        ({"Q": Q, "memory": X, "W_K": W["W_K"], "W_V": W["W_V"]}, {}, "or batch = 2 if Q is"),
        ({"X": [X[0], X[1][:2]], **W}, {}, "X: row 1 has 3 entries"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(given: Any, told: Any, said: str) -> None:
    with pytest.raises(SymattnError, match=said) as refused:
        worksheet_of(toml(given, {}, told)).evaluate()
    assert "\n" not in str(refused.value)


def test_a_gradient_and_chunks_are_of_one_calculation() -> None:
    sheet = worksheet_of(toml({"X": X, **W}, {}, {}))
    with pytest.raises(SymattnError, match="gradient: is taken of one calculation"):
        sheet.backward(["X"]).evaluate()
    with pytest.raises(SymattnError, match="chunks: are cut from one calculation"):
        sheet.decode(1)
    assert sheet.of_batch(2).backward(["X"]).evaluate()["dX"].shape == (3, 2)


# ---- claims ----------------------------------------------------------------------------------


def test_keys_name_items_heads_rows_and_slices() -> None:
    values = worksheet_of(toml(HEADS, {}, {})).evaluate()
    weights = rounded(values["weights"].array)
    marking = check(
        HEADS,
        {
            "weights[3][2][1,:]": weights[2][1][0],
            "weights[1]": weights[0],
            "weights[2][1:2,2,1:2]": [row[1][:2] for row in weights[1]],
            "heads[2,1,1,2]": rounded(values["heads"].array[1, 0, 0, 1]),
        },
    )
    assert marking.passed
    assert [str(e) for e in marking.entries if e.place[0] == 2] == [
        f"weights[3,2,1,{j}]" for j in (1, 2, 3)
    ]
    assert str(marking.steps[-1].entries[0]) == "heads[2,1,1,2]"
    with pytest.raises(SymattnError, match="no item 4: items are 1 to 3"):
        check(HEADS, {"weights[4][1][1,:]": weights[0][0][0]})


# ---- one mistake in item 2 -------------------------------------------------------------------


def slipped(heads: bool) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """A batch with one slip in item 2, worked on from; and item 2 alone."""
    given: Any = {name: HEADS[name][:2] for name in "QKV"} if heads else {"Q": Q, "K": K, "V": V}
    told = {} if heads else {"batch": 2}
    q, k, v = (floats(given[name]) for name in "QKV")
    scaled = np.round(q @ np.swapaxes(k, -1, -2) / np.sqrt(2), 3)
    where = (1, 0, 1, 2) if heads else (1, 1, 2)
    scaled[where] *= -1
    weights = np.round(np.exp(scaled) / np.exp(scaled).sum(axis=-1, keepdims=True), 3)
    claims = {"scaled": scaled, "weights": weights, "heads" if heads else "output": weights @ v}
    return given, told, {name: rounded(value) for name, value in claims.items()}


@pytest.mark.parametrize("heads", [False, True])
def test_a_mistake_in_one_item_touches_no_other(heads: bool) -> None:
    given, told, claims = slipped(heads)
    marking = check(given, claims, told)
    alone = check(
        {name: value[1] for name, value in given.items()},
        {name: value[1] for name, value in claims.items()},
    )
    assert {e.verdict for e in marking.entries if e.place[0] == 0} <= {"right", "rounded-early"}
    own = {
        name: [e.verdict for e in mark.entries if e.place[0] == 1]
        for name, mark in ((mark.name, mark) for mark in marking.steps)
    }
    assert own == verdicts(alone)
    assert "carried" in own["weights"]
    first = marking.first_wrong
    assert first is not None
    assert str(first) == ("scaled[2,1,2,3]" if heads else "scaled[2,2,3]")
    carried = [e for e in marking.entries if e.verdict == "carried"]
    assert all(e.because[0].place[:1] == (1,) for e in carried)


def test_a_misconception_is_named_in_the_first_item_that_has_it() -> None:
    q, k, v = map(floats, (Q, K, V))
    weights, output = attention(q * np.sqrt(2), k, v)  # not scaled
    weights[0], output[0] = (x[0] for x in attention(q, k, v))
    marking = check(
        {"Q": Q, "K": K, "V": V},
        {"weights": rounded(weights), "output": rounded(output)},
        {"batch": 2},
    )
    assert [found.name for found in marking.explanations][:1] == ["not-scaled"]
    assert not any("are searched for" in note for note in marking.notes)
    weights, output = attention(q * np.sqrt(2), k, v)
    marking = check({"Q": Q, "K": K, "V": V}, {"weights": rounded(weights)}, {"batch": 2})
    assert [found.name for found in marking.explanations][:1] == ["not-scaled"]
    assert "mistakes that explain the numbers are searched for in batch 1 only" in marking.notes


def test_a_mistake_in_what_is_shared_reaches_every_item() -> None:
    given = {"X": X, "memory": X[0], **W}
    told = {"scale": False}
    q, k = floats(X) @ floats(W["W_Q"]), floats(X[0]) @ floats(W["W_K"])
    k[0, 0] += 5
    marking = check(given, {"K": rounded(k, 0), "scores": rounded(q @ k.T, 1)}, told)
    assert str(marking.first_wrong) == "K[1,1]"
    carried = [e for e in marking.entries if e.verdict == "carried"]
    assert {e.place[0] for e in carried} == {0, 1}
    assert {str(cause) for e in carried for cause in e.because} == {"K[1,1]"}


# ---- the report ------------------------------------------------------------------------------


def test_the_report_says_which_item_and_head() -> None:
    given, told, claims = slipped(heads=True)
    marking = check(given, claims, told)
    found = report_of(marking)
    assert found.steps[0].tables[0].caption == "batch 2, head 1"
    assert found.first is not None
    assert found.first.sentence.startswith("Your first wrong number is scaled[2,1,2,3]: you wrote")
    assert found.first.origin == "scores[2,1,2,3] gives"
    assert found.first.worked is not None
    assert line(found.first.worked) == "z_23⁽¹⁾ = (2·1 + 0.5·0)/√2 = 2/√2 ≈ 1.41421"
    (slip,) = [e for e in marking.steps[0].entries if str(e) == "scaled[2,1,2,3]"]
    true = floats(HEADS["Q"][1][0][1]) @ floats(HEADS["K"][1][0][2]) / np.sqrt(2)
    assert slip.verdict == "wrong"
    assert abs(float(found.first.entry.true) - true) < 1e-3
    own = found.steps[1].own_work
    assert own is not None
    text = text_report(found)
    assert "batch 2, head 1" in text
    for written in (markdown_report(found), html_report(found)):
        assert "batch 2, head 1" in written
        assert "scaled[2,1,2,3]" in written.replace("\\", "")
    data = report_data(report_of(marking))
    assert data["first_wrong"]["index"] == [2, 1, 2, 3]


def test_worked_lines_of_items() -> None:
    values = worksheet_of(toml({"Q": Q, "K": K, "V": V}, {}, {"batch": 2})).evaluate()
    tree = values["scaled"].worked(2, 1, batch=2)
    assert line(tree) == "z_21 = (2·2 + 0.5·1)/√2 = 4.5/√2 ≈ 3.1820"
    with pytest.raises(SymattnError, match="say which item of the batch"):
        values["scaled"].worked(2, 1)
    told = {"batch": 2, "scale": False}
    given = {"Q": Q, "K": K, "V": V}
    right = check(given, {"scores[2][2,1]": "s_21 = 2·2 + 0.5·1 = 4.5"}, told)
    assert right.passed
    assert not right.lines
    wrong = check(given, {"scores[2][2,1]": "2·2 + 1·1 = 4.5"}, told)
    assert [link.entry for link in wrong.lines][:1] == ["scores[2,2,1]"]
    assert not wrong.passed


# ---- at the command line ---------------------------------------------------------------------


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, list(arguments))
    return result.exit_code, result.output


@pytest.mark.parametrize("notation", [{}, {"index_base": 0, "convention": "columns"}])
def test_what_derive_prints_of_an_item_is_right_typed_back(
    tmp_path: Path, notation: dict[str, Any]
) -> None:
    file = tmp_path / "batch.toml"
    told = {"mask": "causal"}
    file.write_text(with_notation(toml({"X": X, **W}, {}, told), **notation), encoding="utf-8")
    base = notation.get("index_base", 1)
    claims: dict[str, Any] = {}
    for item in (base, base + 1):
        status, printed = run("derive", str(file), "--batch", str(item), "--format", "json")
        assert status == 0
        for name, step in json.loads(printed)["steps"].items():
            if name != "mask":  # the items share it
                claims[f"{name}[{item}]"] = step["decimals"]
    marks = symattn.check(with_notation(toml({"X": X, **W}, claims, told), **notation))
    assert {e.verdict for e in marks.entries} == {"right"}
    assert {e.place[0] for e in marks.entries} == {0, 1}


def test_derive_asks_which_item(tmp_path: Path) -> None:
    file = tmp_path / "batch.toml"
    file.write_text(toml({"X": X, **W}, {}, {}), encoding="utf-8")
    status, printed = run("derive", str(file))
    assert status == 2
    assert "one of the 2 calculations of this batch" in printed
    status, printed = run("derive", str(file), "--batch", "3")
    assert status == 2
    assert "there is no item 3 among 1 to 2" in printed
    assert run("derive", str(file), "--symbolic")[0] == 0


def plus_one(value: Any) -> Any:
    if isinstance(value, list):
        return [plus_one(part) for part in value]
    return value if isinstance(value, bool | str) else value + 1


@pytest.mark.parametrize("name", share([row.name for row in VARIANTS], 4))
def test_each_item_has_the_values_that_it_has_alone(name: str) -> None:
    spec, given = small_inputs(variant(name).spec)
    told = {"variant": name} | {
        axis: count
        for axis, count in (("heads", spec.heads), ("kv_heads", spec.kv_heads))
        if count is not None
    }
    own = [key for key in given if key in ("X", "memory", "one_hot", "Q", "K", "V", "scores")]
    items = [given, {key: plus_one(x) if key in own else x for key, x in given.items()}]
    batch = {key: [item[key] for item in items] if key in own else given[key] for key in given}
    values = worksheet_of(toml(batch, {}, {**told, "batch": 2})).evaluate()
    for index, item in enumerate(items):
        alone = worksheet_of(toml(item, {}, told)).evaluate()
        part = values.of_batch(index)
        for step in alone.steps:
            np.testing.assert_array_equal(part[step.name].array, alone[step.name].array)
            array = values.item_of(step.letter, values[step.name].array, (index,))
            np.testing.assert_allclose(array, alone[step.name].array, rtol=1e-13, atol=1e-15)
