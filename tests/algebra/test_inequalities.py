"""Inequalities: what is proven, refuted and left open, and what the checker refuses."""

from __future__ import annotations

import copy
import re
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

from symattn import equal
from symattn.algebra.bounds import RULES, check
from symattn.algebra.forms import Refused
from symattn.errors import ReadError, SymattnError
from tests.command import run
from tests.fuzz.bounds import cases, changed_certificates, verdict

PROVEN = {
    "0 <= softmax(S) <= 1": "proven (for all sizes)",
    "sigmoid(S) ≤ 1": "proven (for all sizes)",
    "relu(S) >= 0": "proven (for all sizes)",
    r"0 \le exp(S)": "proven (for all sizes)",
    "rowmax(S) <= lse(S) <= rowmax(S) + ln m": "proven (for all sizes)",
    "-(1 rowmax(-V^T)^T) <= softmax(S) V <= 1 rowmax(V^T)^T": "proven (for all sizes)",
    "softmax(S + causal()) V <= 1 rowmax(V^T)^T": "proven (for all sizes)",
    "colsum(colsoftmax(S + causal())) <= 1": "proven (for all sizes)",
    "-1 <= unit(Q) unit(K)^T <= 1": "proven (for all sizes, where both sides are defined)",
    "abs(Q K^T) <= sqrt(norm2(Q)) sqrt(norm2(K))^T": "proven (for all sizes)",
    "2 a b <= a^2 + b^2": "proven (for all sizes)",
    "softmax(S) ∘ (1 - softmax(S)) <= 1/4": "proven (for all sizes)",
    "0 <= sqrt(S)": "proven (for all sizes, where both sides are defined)",
    "rowmean(S) <= rowmax(S)": "proven (for all sizes)",
    "abs(A + B) <= abs(A) + abs(B)": "proven (for all sizes)",
    "1 + S <= exp(S)": "proven (for all sizes)",
    "1 + a <= exp(a)": "proven (for all sizes)",
    "ln(a) <= a - 1": "proven (for all sizes, where both sides are defined)",
    "0 <= sqrt(a)": "proven (for all sizes, where both sides are defined)",
    "ln(A) <= A": "proven (for all sizes, where both sides are defined)",
    "0 <= relu(a) <= abs(a)": "proven (for all sizes)",
    "abs(a + b) <= abs(a) + abs(b)": "proven (for all sizes)",
    "cos(a) + tanh(b) <= 2": "proven (for all sizes)",
    "tanh(a) + 1 >= 0": "proven (for all sizes)",
    "(n - 1)/(n - 1) >= 1": "proven (for all sizes, where both sides are defined)",
}

REFUTED = (
    "0 <= unit(Q) unit(K)^T",
    "softmax(S) <= 0.99",
    "S <= exp(S) <= 1",
    "lse(S) <= rowmax(S) + 0.99 ln m",
    # a key that no query sees: its weights and its output are 0
    "colsoftmax(S + causal())^T V <= 1 rowmax(V^T)^T",
    "1 <= colsum(colsoftmax(S + causal()))",
    "sigmoid(S) V <= 1 rowmax(V^T)^T",
    "softmax1(S) V <= 1 rowmax(V^T)^T",
    # near 0 alone, and far from it
    "a <= a^2",
    "sqrt(S) <= S",
    "-5 <= ln(S)",
    "exp(a) <= 1000",
    "a^2 <= 20",
)


@pytest.mark.parametrize("text", PROVEN)
def test_true_ones_are_proven(text: str) -> None:
    answer = equal(text)
    assert answer.summary == PROVEN[text]
    assert answer
    assert [*map(str, check(answer.certificate))]


@pytest.mark.parametrize("text", REFUTED)
def test_false_ones_are_refuted_by_numbers(text: str) -> None:
    answer = equal(text)
    assert answer.verdict == "refuted"
    assert not answer
    assert answer.counterexample is not None
    assert float(answer.counterexample.left) > float(answer.counterexample.right)


def test_what_is_true_but_not_found_is_undecided() -> None:
    answer = equal("softmax(S) <= exp(S - rowmax(S))")
    assert (answer.verdict, bool(answer)) == ("undecided", False)


def test_what_holds_only_where_a_premise_has_a_value_is_not_proven() -> None:
    """0 ≤ a follows from e^(ln a) = a, where a > 0 alone."""
    assert equal("0 <= a").verdict == "refuted"


@pytest.mark.parametrize(
    "text",
    [
        "x/x >= 1",
        "sqrt(x)^2 >= x",
        "x y / x >= y",
        "0 ln(x) <= 0",
        "0/x <= 0",
        "1/x - 1/x >= 0",
        "(x^(1/2))^4 <= x^2",
        "softmax(S + 0/x) <= 1",
        "softmax(S) + 0 ln(x) >= 0",
    ],
)
def test_numbers_that_cancel_are_kept_as_they_were_written(text: str) -> None:
    shapes = {name: "scalar" for name in "xy" if re.search(rf"\b{name}\b", text)}
    answer = equal(text, shapes=shapes)
    assert answer.summary == "proven (for all sizes, where both sides are defined)"
    (goal,) = check(answer.certificate)
    assert "x" in {str(one) for side in (goal.left, goal.right) for one in side.free_symbols}


def test_data_in_which_something_cannot_be_made_is_refused() -> None:
    data = copy.deepcopy(equal("0 <= softmax(S)").certificate)
    assert data is not None
    data["links"][0]["statement"]["left"] = {"expr": ["Mod", "1", "0"]}
    with pytest.raises(Refused, match="cannot be replayed"):
        check(data)


def test_positive_letters_and_sizes() -> None:
    assert equal("0 <= A / rowsum(A) <= 1", positive=["A"])
    assert equal("rowsum(softmax(S)) <= 1", sizes={"n": 2, "m": 3}).scope.startswith("at the sizes")
    assert equal("c <= 2", where=["c = 2"])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("softmax(S) < 1", "strict"),
        ("0 <= S >= 1", "one sign"),
        ("0 <= S = 1", "one sign"),
        ("<= S", "a side is empty"),
        ("0 <= (S <= 1)", "has no meaning"),
    ],
)
def test_what_is_no_chain_is_refused(text: str, says: str) -> None:
    with pytest.raises(SymattnError, match=says):
        equal(text)


def test_the_command_prints_the_steps() -> None:
    printed = run("prove", "rowmax(S) + ln m >= lse(S)", status=0).output
    assert "ln(rowsum(exp(S))) ≤ rowmax(S) + ln(m) 1   a sum of multiples" in printed
    assert "proven (for all sizes)" in printed
    assert "on the left and" in run("prove", "0 <= unit(Q) unit(K)^T", status=1).output
    run("prove", "softmax(S) <= exp(S - rowmax(S))", status=4)
    assert "not into inequalities" in run("prove", "0 <= S", "--with", "small", status=2).output


@pytest.mark.parametrize(
    ("text", "sides", "link"),
    [
        ("2 softmax(0 S) >= 3 softmax(0 S)", "2/3 3/3", ""),
        ("1 >= softmax(0 S) >= 1/2", "1/3 1/2", "2 of 2"),
        ("1/2 <= softmax(0 S) <= 1", "1/2 1/3", "1 of 2"),
    ],
)
def test_what_refutes_a_chain_is_told_as_it_is_written(text: str, sides: str, link: str) -> None:
    found = equal(text, sizes={"n": 2, "m": 3})
    assert found.counterexample is not None
    told = (float(found.counterexample.left), float(found.counterexample.right))
    assert told == pytest.approx([float(Fraction(side)) for side in sides.split()], abs=1e-5)
    assert found.notes == ((f"this is of the link {link}",) if link else ())


def test_a_certificate_is_written_and_checked(tmp_path: Path) -> None:
    file = tmp_path / "bounds.json"
    run("prove", "0 <= softmax(S) <= 1", "--format", "certificate", "-o", file, status=0)
    printed = run("prove", file, status=0).output
    assert "0 ≤ softmax(S)" in printed
    assert "replayed: proven (for all sizes)" in printed
    file.write_text(file.read_text("utf-8").replace("ZeroMatrix", "OneMatrix"), "utf-8")
    assert "refused" in run("prove", file, status=1).output


def test_every_rule_can_refuse() -> None:
    """A claim that does not follow by a rule is refused, whatever the rule."""
    data = copy.deepcopy(equal("softmax(S) <= 1").certificate)
    step = data["links"][0]["proof"]
    step["right"] = ["MatMul", "1/2", step["right"]]
    data["links"][0]["statement"]["right"] = {"expr": step["right"]}
    for rule in RULES:
        step["rule"] = rule
        with pytest.raises(Refused):
            check(data)
    with pytest.raises(ReadError):
        check({"certificate": 1})


@pytest.mark.parametrize("number", ["0.5", "2/2", "01", " 1", "1e999999999", 1, None, True])
def test_a_multiple_is_written_in_one_way(number: object) -> None:
    data = copy.deepcopy(equal("rowmax(S) + ln m >= lse(S)").certificate)
    step = data["links"][0]["proof"]
    assert step["rule"] == "combination"
    assert check(data)
    step["by"][0] = number
    with pytest.raises(Refused):
        check(data)


def test_no_verdict_is_false() -> None:
    """A share of ``python -m tests.fuzz.bounds``: NumPy says which are false."""
    found = Counter((true, verdict(case)) for case, true in cases(24, seed=5))
    assert found[True, "refuted"] == found[False, "proven"] == 0
    assert found[True, "proven"] >= 9


def test_no_changed_certificate_of_a_false_statement_is_accepted() -> None:
    found = changed_certificates(40, seed=1)
    assert found["accepted, false"] == 0
    assert found["refused"] > 15
