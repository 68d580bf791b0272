"""Theorems of inequalities: what they say is what was asked, and Rocq accepts their proofs."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from symattn import equal
from symattn.algebra.bounds import RULES
from symattn.algebra.forms import Refused
from symattn.algebra.rocq.asking import asked
from symattn.algebra.rocq.files import exported
from symattn.algebra.rocq.inequalities import TACTICS
from tests.algebra.test_inequalities import PROVEN, REFUTED
from tests.command import run
from tests.conftest import Tool
from tests.fuzz.bounds import WORDS, Case, _numbers, cases
from tests.oracle import agree
from tests.rocq import Theorem, theorem, theorems
from tests.shares import share

#: What has no theorem yet, and why.
LACKING = {
    "sparsemax(S) <= 1": "Sparsemax has no definition in Rocq yet",
    "0 <= relu(S + causal())": "Entrywise max0∞ has no definition in Rocq yet",
    "ln(A) <= A": "a logarithm of what may be negative has no proof in Rocq yet",
    "cos(a) + tanh(b) <= 2": "cos has no term in Rocq yet",
}


def of(text: str, **options: Any) -> str:
    """The file of an inequality that is proven."""
    return exported(json.loads(json.dumps(equal(text, **options).certificate)))


def test_every_rule_has_a_tactic() -> None:
    assert {*TACTICS, "combination"} == {*RULES}


@pytest.mark.parametrize("text", LACKING)
def test_what_has_no_theorem_is_named(text: str) -> None:
    with pytest.raises(Refused, match=LACKING[text]):
        of(text)


def test_a_false_one_has_none() -> None:
    for text in REFUTED:
        assert equal(text).certificate is None


@pytest.mark.parametrize("text", share([one for one in PROVEN if one not in LACKING], 16))
def test_rocq_accepts_what_is_proven(text: str, tool: Tool) -> None:
    tool("coqc")
    assert asked([of(text)], 300) == [""]


#: What had no proof when it was found: a tactic did not know what a rule says of it.
FOUND = (
    "-(rowmax(S - rowmax(S)) + ln m) <= lse(S - rowmax(S))",
    "abs(rowsum(Q K^T / sqrt(d_k))) <= rowsum(abs(Q K^T / sqrt(d_k)))",
    "ln(A) <= A - 1",
    "ln(sigmoid(S)) <= 0",
    "exp(unit(Q) unit(K)^T) <= e",
    "S <= 1.01 relu(S)",
)


@pytest.mark.nightly
def test_rocq_accepts_what_was_found(tool: Tool) -> None:
    tool("coqc")
    assert asked([of(text) for text in FOUND], 600) == [""] * len(FOUND)


def exports(count: int, seed: int) -> list[tuple[Case, str]]:
    """Inequalities that are true by NumPy, and their files."""
    out = []
    for case, is_true in cases(count, seed):
        certificate = equal(case.text).certificate
        assert is_true or certificate is None, case.text
        if certificate is not None:
            try:
                out.append((case, exported(json.loads(json.dumps(certificate)))))
            except Refused:
                continue
    return out


@pytest.mark.nightly
def test_rocq_accepts_all_that_has_a_file(tool: Tool) -> None:
    tool("coqc")
    found = exports(200, 31)
    answers = asked([text for _, text in found], 3000)
    assert [(case.text, why) for (case, _), why in zip(found, answers, strict=True) if why] == []
    assert len(found) > 50


def said(found: Theorem, numbers: dict[str, Any]) -> tuple[list[Any], bool]:
    """Both sides of a theorem for these numbers, and whether its hypotheses hold."""
    with np.errstate(all="ignore"):
        known = found.known(numbers)
        return [*found.sides(known)], all(found.obeyed(known).values())


@pytest.mark.parametrize(
    ("count", "least"), [(12, 2), pytest.param(300, 90, marks=pytest.mark.nightly)]
)
def test_a_theorem_says_what_was_asked(count: int, least: int) -> None:
    """Also of rows of 0, and of one key: where NumPy has a value, hypotheses hold, else not."""
    chance, tried = np.random.default_rng(4), 0
    for case, text in exports(count, 32):
        found = theorem(text)
        assert found.sign == "<="
        for k in range(40):
            numbers = {
                name: value
                for name, value in _numbers(chance, k).items()
                if name in found.variables
            }
            if any(np.abs(value).max() > 40 for value in numbers.values()):
                continue  # an exponential overflows here and not there
            with np.errstate(all="ignore"):
                wanted = [eval(code, {**WORDS, "np": np}, numbers) for code in case.code]
            sides, holds = said(found, numbers)
            has_value = all(np.all(np.isfinite(np.asarray(one, float))) for one in wanted)
            assert holds == has_value, (case.text, numbers, found.hypotheses)
            if has_value:
                whole = np.broadcast_arrays(*sides, *wanted)
                assert agree(whole[0], whole[2]), case.text
                assert agree(whole[1], whole[3]), case.text
        tried += 1
    assert tried >= least


def test_the_reader_can_tell_inequalities_apart() -> None:
    numbers = {"S": np.array([[1.0, -2.0]])}
    for text, shown in (("softmax(S) <= 1", 1.0), ("softmax(S) <= 3", 3.0)):
        sides, holds = said(theorem(of(text)), numbers)
        assert holds
        assert np.all(sides[1] == shown)


def test_a_key_that_nobody_sees_has_weights_of_0() -> None:
    """Where all of a line is hidden the theorem is about the same matrices, too."""
    found = theorem(of("colsum(colsoftmax(S + causal())) <= 1"))
    (left, right), holds = said(found, {"S": np.ones((2, 3))})
    assert holds
    assert right == 1
    assert agree(left, np.array([[1.0, 1.0, 0.0]]))


@pytest.mark.nightly
def test_a_chain_has_a_theorem_for_each_link(tool: Tool) -> None:
    tool("coqc")
    text = of("rowmax(S) <= lse(S) <= rowmax(S) + ln m")
    assert [one.left for one in theorems(text)] == [
        "(rowmax S)",
        "(map_mx ln (rowsum (map_mx e S)))",
    ]
    assert text.count("Print Assumptions") == 2
    assert asked([text, text.replace("<= ((ln m%:R)", "<= ((2%:R *: ln m%:R)")], 300)[0] == ""


def test_what_is_assumed_is_said() -> None:
    """e^x is above its tangent where that is used, and lengths by which it divides are not 0."""
    grows = "(forall x, 1 + x <= e x)"
    assert theorem(of("1 + S <= exp(S)")).hypotheses == [grows]
    assert theorem(of("softmax(S) <= 1")).hypotheses == []
    assert theorem(of("unit(Q) unit(K)^T <= 1")).hypotheses[-2:] == [
        "(forall i j, (lengths Q) i j != 0)",
        "(forall i j, (lengths K) i j != 0)",
    ]
    positive = theorem(of("0 <= A / rowsum(A)", positive=["A"]))
    assert positive.hypotheses[-1] == "(forall i j, 0 < A i j)"


def test_a_size_is_not_taken_for_an_index(tool: Tool) -> None:
    """Sizes i and j have other names, as the entries are those of all i and j."""
    tool("coqc")
    text = of("rowmean(S) <= rowmax(S)", shapes={"S": ("i", "j")})
    found = theorem(text)
    assert found.variables["S"] == "'M[R]_(i_, j_)"
    assert "j_%:R" in found.left
    assert asked([text], 300) == [""]


def test_a_changed_certificate_is_refused() -> None:
    data = json.loads(json.dumps(equal("softmax(S) <= 1").certificate))
    data["links"][0]["statement"]["right"] = {"text": "1/2", "spare": []}
    with pytest.raises(Refused):
        exported(data)


def test_the_command_writes_it(tmp_path: Any) -> None:
    out = tmp_path / "bounds.v"
    run("prove", "weights-bounded", "--format", "rocq", "-o", out, status=0)
    assert "Theorem weights_bounded_2" in out.read_text("utf-8")
