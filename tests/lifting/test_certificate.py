"""Certificates at sizes: accepted where they are honest, refused where anything else is said."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from symattn.algebra.forms import Refused
from symattn.cli.attentions import attention_meant
from symattn.errors import SymattnError
from symattn.isolation import Limits
from symattn.lifting import fields, tapes, terms
from symattn.lifting.certificate import TAKES, check, why_other
from symattn.lifting.comparing import prove_programs
from symattn.lifting.limits import LIMITS
from symattn.lifting.proving import prove_program
from symattn.verifying.subject import Wanted
from tests import ROOT
from tests.command import run
from tests.fuzz.at_sizes import CHANGED, PAIRS, tried
from tests.lifting import attentions, partial

FILE = ROOT / "tests" / "lifting" / "attentions.py"

Made = dict[str, Any]


def made(function: Callable[..., Any], attention: str = "scaled-dot-product", **sizes: int) -> Made:
    """The certificate of a function, as it is read from a file."""
    wanted = Wanted(attention_meant(attention), source=attention)
    found = prove_program(function, wanted, sizes)
    data: Made = json.loads(json.dumps(found.certificate))
    return data


@pytest.fixture(scope="module")
def online() -> Made:
    return made(attentions.online)


@pytest.fixture
def own(online: Made) -> Made:
    return copy.deepcopy(online)


#: Two functions that are the same, though not if the larger of two numbers may be any.
SQUARE = dict.fromkeys("QK", ("n", "n"))


#: The delta rule, whose rates are a column.
DELTA_RULE = """beta : n × 1
S[0] = 0
S[t] = S[t-1] + beta[t] K[t]^T (V[t] - K[t] S[t-1])
output O[t,:] = Q[t] S[t]"""


def by_rates(Q: Any, K: Any, V: Any, beta: Any) -> Any:
    (n,) = beta.shape
    state, rows = np.zeros((K.shape[1], V.shape[1])), []
    for query, key, value, rate in zip(Q, K, V, beta[:n], strict=True):
        state = state + np.multiply.outer(rate * key, value - key @ state)
        rows.append(query @ state)
    return np.stack(rows)


def either_way(Q: Any, K: Any) -> Any:
    return np.maximum(Q, K) + np.minimum(Q, K)


def one_way(Q: Any, K: Any) -> Any:
    return Q + K


def operations(data: Made) -> list[str]:
    found: list[str] = data["functions"][0]["operations"]
    return found


def test_an_honest_one_is_accepted_and_says_what_it_is_about(online: Made) -> None:
    found = check(online)
    assert found.undecided == ""
    assert found.lines == (
        "206 operations recorded of online(Q, K, V) = output of scaled-dot-product attention",
        "  with Q = Q, K = K, V = V; numpy, no batch",
    )
    assert found.sizes == {"n": 3, "d_k": 2, "m": 4, "d_v": 3}


def test_what_stands_behind_it_is_said(online: Made) -> None:
    assert [*check(online).notes] == ["normal forms and two finite fields say so"]
    found = check(made(attentions.causal_negative_number, "causal", n=2, d_k=2, d_v=1))
    assert next(iter(found.notes)) == "a number of at most -10000 stands for −∞"
    found = check(prove_programs(either_way, one_way, SQUARE, {"n": 2}).certificate)
    assert "not decided by finite fields" in [*found.notes][-1]


def test_two_functions_have_one() -> None:
    found = prove_programs(attentions.online, attentions.row_by_row).certificate
    lines = check(found).lines
    assert lines[0].endswith("recorded of row_by_row(Q, K, V)")
    assert lines[-1] == "  Q: n × d_k, K: m × d_k, V: m × d_v"
    found["functions"][1]["parts"][0][2].reverse()
    with pytest.raises(Refused, match="an entry has another form"):
        check(found)


def test_the_attention_is_made_anew_and_not_believed(own: Made) -> None:
    for name in ("dot-product", "off-by-one", "unfolded"):
        own["attention"] = name
        if name == "unfolded":
            assert check(own).lines[0].endswith("output of unfolded attention")
        else:
            with pytest.raises(Refused, match="an entry of output has another form"):
                check(own)
    own["attention"] = "softmax(Q K^T / sqrt(d_k)) V"
    assert check(own).lines[1] == "  softmax(Q K^T / sqrt(d_k)) V"
    own["attention"] = "softmax(K Q^T) V"
    with pytest.raises(Refused):
        check(own)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("mul(0, 6)", "mul(0, 7)", "another form"),
        ("mul(0, 6)", "add(0, 6)", "another form"),
        ("mul(0, 6)", "mul(0, 206)", "no place of one before it"),
        ("mul(0, 6)", "mul(0, 6.0)", "another form"),
        ("mul(0, 6)", "mul(0,6)", "is no operation"),
        ("mul(0, 6)", "mul(0, 06)", "no place of one before it"),
        ("mul(0, 6)", "mul(0, 6, 7)", "is no operation"),
        ("mul(0, 6)", "mul(0, nan)", "no place of one before it"),
        ("mul(0, 6)", "pow(0, 6)", "the exponent is no number"),
        ("mul(0, 6)", "letter(0)", "another form"),
        ("mul(0, 6)", "letter(99)", "not given all that the inputs are"),
        ("letter(3)", "letter(2)", "not given all that the inputs are"),
        ("letter(3)", "truth(3)", "not given all that the inputs are"),
        ("div(28, 1.4142135623730951)", "div(28, 1.4142135623)", "another form"),
        ("div(28, 1.4142135623730951)", "div(28, 1.41421356237309510)", "is no number"),
    ],
)
def test_other_operations_are_refused(own: Made, old: str, new: str, why: str) -> None:
    texts = operations(own)
    texts[texts.index(old)] = new
    with pytest.raises(Refused, match=why):
        check(own)


def test_sizes_and_inputs_are_those_of_what_was_recorded(own: Made) -> None:
    own["sizes"][0][1] = 4
    with pytest.raises(Refused, match="its inputs are not those of the attention"):
        check(own)
    own["inputs"][0][1][0] = 4
    with pytest.raises(Refused, match="not given all that the inputs are"):
        check(own)
    for size in (10**4, 10**9):
        own["sizes"][0][1] = own["inputs"][0][1][0] = size
        with pytest.raises(Refused, match="more is given to it than it has recorded"):
            check(own)


def test_the_order_of_inputs_tells_whose_a_number_is(own: Made) -> None:
    own["inputs"].reverse()
    with pytest.raises(Refused, match="its inputs are not those of the attention"):
        check(own)


def test_a_value_of_another_type_is_refused(own: Made) -> None:
    for key, value in (("partial", 0), ("sizes", {}), ("functions", []), ("layout", [0, "", ""])):
        with pytest.raises(Refused):
            check({**own, key: value})
    with pytest.raises(Refused):
        check({**own, "more": 1})


def test_where_both_are_defined_is_found_again(own: Made) -> None:
    with pytest.raises(Refused, match="about where both sides are defined is wrong"):
        check({**own, "partial": True})
    quotient = made(partial.by_a_quotient)
    assert quotient["partial"] is True
    check(quotient)
    with pytest.raises(Refused, match="about where both sides are defined is wrong"):
        check({**quotient, "partial": False})


# ---- what stands beside the normal forms -----------------------------------------------------


def _wrong(data: Made) -> Made:
    texts = operations(data)
    texts[texts.index("mul(0, 6)")] = "mul(0, 7)"
    return data


def test_numbers_find_out_normal_forms_that_take_all_to_be_the_same(
    own: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terms, "same", lambda one, other: True)
    with pytest.raises(Refused, match="random numbers show that the sides differ"):
        check(_wrong(own))


def test_fields_find_them_out_without_these(own: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terms, "same", lambda one, other: True)
    monkeypatch.setattr("symattn.lifting.certificate.LIMITS", replace(LIMITS, draws=()))
    texts = operations(own)
    own["functions"][0]["operations"] = [text.replace("max(", "add(") for text in texts]
    check(own)  # what is subtracted from all scores of a row is any number
    with pytest.raises(Refused, match="normal forms and finite fields say different things"):
        check(_wrong(own))


def test_an_operation_has_one_count_of_numbers() -> None:
    assert {*TAKES} == {"letter", "truth", *tapes._FLOATS} == {"letter", "truth", *tapes._BALLS}


def test_only_what_is_made_of_what_is_given_is_apart() -> None:
    def letters(of: Any) -> bool:
        tapes.hold_same(of, np.array([of.letter(1)]), np.array([of.letter(2)]), "it")
        return False

    def roots(of: Any) -> bool:
        root = of.letter(1).power(Fraction(1, 2))
        tapes.hold_same(of, np.array([root * root]), np.array([of.letter(1)]), "it")
        return False

    with pytest.raises(fields.Apart):
        fields.by_chance(letters)
    with pytest.raises(SymattnError) as found:
        fields.by_chance(roots)
    assert not isinstance(found.value, fields.Apart)


# ---- with the function at hand ---------------------------------------------------------------


def test_a_function_is_recorded_again(online: Made) -> None:
    assert why_other(online, [attentions.online], Limits()) == ""
    assert (
        why_other(online, [attentions.row_by_row], Limits()) == "it is about online, not row_by_row"
    )
    named = copy.deepcopy(online)
    named["functions"][0]["name"] = "row_by_row"
    why = why_other(named, [attentions.row_by_row], Limits())
    assert why == "row_by_row does other operations, or returns others"


def test_what_is_given_as_a_vector_is_so_when_it_is_recorded_again() -> None:
    found = made(by_rates, DELTA_RULE, n=2, d_k=1, d_v=1)
    assert found["layout"] == [0, "first", "joined", True]
    assert check(found).lines[-1].endswith("columns as vectors")
    assert why_other(found, [by_rates], Limits()) == ""
    found["layout"][-1] = False
    check(found)  # of the numbers that the function has, it is true
    with pytest.raises(SymattnError):
        why_other(found, [by_rates], Limits())


def test_it_is_written_and_replayed_on_the_command_line(tmp_path: Path) -> None:
    target, written = f"{FILE}:online", tmp_path / "online.json"
    assert (
        run(
            "prove", target, "scaled-dot-product", "--format", "certificate", "-o", written
        ).exit_code
        == 4
    )
    found = run("prove", written)
    assert found.exit_code == 0
    assert "replayed: equal (for all inputs at n = 3, d_k = 2, m = 4, d_v = 3" in found.output
    assert "that attentions.py:online did so is believed" in found.output
    found = run("prove", written, target)
    assert found.exit_code == 0
    assert "recorded again, with the same operations" in found.output
    assert "believed" not in found.output
    found = run("prove", written, f"{FILE}:row_by_row")
    assert (found.exit_code, "refused: it is about" in found.output) == (1, True)
    assert run("prove", written, target, target).exit_code == 2
    assert run("prove", written, "causal").exit_code == 2
    written.write_text(json.dumps(_wrong(json.loads(written.read_text()))))
    found = run("prove", written)
    assert (found.exit_code, "refused: " in found.output) == (1, True)


def test_no_changed_certificate_is_accepted_that_says_something_false() -> None:
    found, false = tried(60, 5, CHANGED[:1], PAIRS[:1])
    assert false == []
    said = {said for _, said in found}
    assert {"refused", "accepted, true"} <= said


def test_one_that_was_written_before_is_still_accepted() -> None:
    file = ROOT / "tests" / "stable" / "at_sizes.json"
    assert check(json.loads(file.read_text(encoding="utf-8"))).undecided == ""
    assert run("prove", file, f"{FILE}:online").exit_code == 0
