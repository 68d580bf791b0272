"""Claims: which entry of which step, by whole step, head, row, column or entry."""

from __future__ import annotations

from typing import Any

import pytest

from symattn.claims.claims import read_claims
from symattn.claims.policy import VERDICTS, Policy
from symattn.errors import ReadError
from symattn.reports.check import check_worksheet
from symattn.sheets.worksheet import Worksheet, worksheet_of
from tests.checking import check, toml, verdicts

ROW = {"scores": [[0, 0, 0], [1, 2, 3]], "V": [[1, 2], [3, 4], [5, 6]]}
HEADS = {"Q": [[[1, 0]], [[0, 1]]], "K": [[[1, 0], [0, 1]]] * 2, "V": [[[1], [2]]] * 2}


def claimed(given: Any, **claims: Any) -> dict[tuple[int, ...], str]:
    """The claims by place, from 1; one step only."""
    sheet: Worksheet = worksheet_of(toml(given, claims))
    found = read_claims(sheet.claims, sheet.evaluate())
    assert len({claim.letter for claim in found}) == 1
    ordered = sorted(found, key=lambda claim: str(claim.place))
    return {tuple(i + 1 for i in claim.place): claim.written.text for claim in ordered}


@pytest.mark.parametrize(
    ("key", "value", "places"),
    [
        (
            "weights",
            [["1", "2", "3"], ["4", "5", "6"]],
            {(1, 1): "1", (1, 2): "2", (1, 3): "3", (2, 1): "4", (2, 2): "5", (2, 3): "6"},
        ),
        ("weights[2,:]", ["1", "2", "3"], {(2, 1): "1", (2, 2): "2", (2, 3): "3"}),
        ("weights[2]", ["1", "2", "3"], {(2, 1): "1", (2, 2): "2", (2, 3): "3"}),
        ("weights[1:2,3]", ["1", "2"], {(1, 3): "1", (2, 3): "2"}),
        ("weights[2:2,2:3]", [["1", "2"]], {(2, 2): "1", (2, 3): "2"}),
        (
            "weights[:,2:]",
            [["1", "2"], ["3", "4"]],
            {(1, 2): "1", (1, 3): "2", (2, 2): "3", (2, 3): "4"},
        ),
        ("weights[: 1, :2]", [["1", "2"]], {(1, 1): "1", (1, 2): "2"}),
        ("a_23", "1", {(2, 3): "1"}),
        ("a_{2,3}", "1", {(2, 3): "1"}),
        ("A₂₃", "1", {(2, 3): "1"}),
        ("weights[:,3]", ["1", "2"], {(1, 3): "1", (2, 3): "2"}),
        ("weights[:,3]", [["1", "2"]], {(1, 3): "1", (2, 3): "2"}),
        ("weights[2,3]", "1", {(2, 3): "1"}),
        ("weights[2][3]", "1", {(2, 3): "1"}),
        ("weights[ 2 , 3 ]", "1", {(2, 3): "1"}),
        ("weights[:,:]", [["1", "?", "?"], ["", "…", "2"]], {(1, 1): "1", (2, 3): "2"}),
        ("weights[2,3]", ["1"], {(2, 3): "1"}),
    ],
    ids=str,
)
def test_places(key: str, value: Any, places: dict[tuple[int, ...], str]) -> None:
    assert claimed(ROW, **{key: value}) == places


@pytest.mark.parametrize(
    ("key", "value", "places"),
    [
        (
            "scores",
            [[["1", "2"]], [["3", "4"]]],
            {(1, 1, 1): "1", (1, 1, 2): "2", (2, 1, 1): "3", (2, 1, 2): "4"},
        ),
        ("scores[2]", [["3", "4"]], {(2, 1, 1): "3", (2, 1, 2): "4"}),
        ("scores[2]", ["3", "4"], {(2, 1, 1): "3", (2, 1, 2): "4"}),
        ("scores[2][1,:]", ["3", "4"], {(2, 1, 1): "3", (2, 1, 2): "4"}),
        ("scores[2][1]", ["3", "4"], {(2, 1, 1): "3", (2, 1, 2): "4"}),
        ("scores[1:2][1][2]", ["3", "4"], {(1, 1, 2): "3", (2, 1, 2): "4"}),
        ("s^{(2)}_{12}", "4", {(2, 1, 2): "4"}),
        ("s_12⁽²⁾", "4", {(2, 1, 2): "4"}),
        ("scores[2,1,2]", "4", {(2, 1, 2): "4"}),
        ("scores[:,1,2]", ["2", "4"], {(1, 1, 2): "2", (2, 1, 2): "4"}),
    ],
    ids=str,
)
def test_places_of_heads(key: str, value: Any, places: dict[tuple[int, ...], str]) -> None:
    assert claimed(HEADS, **{key: value}) == places


def test_one_row_needs_no_outer_brackets() -> None:
    given = {"scores": [[1, 2]]}
    assert claimed(given, weights=["1", "2"]) == {(1, 1): "1", (1, 2): "2"}


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("weights", ["1", "2"], "2 × 3 entries are expected here"),
        ("weights", [["1", "2", "3"]], "1 row where 2 are expected"),
        ("weights", [["1", "2"], ["3", "4"]], "2 numbers where 3 are expected"),
        ("weights", [["1", "2", "3"], ["4", "5"]], "2 numbers where 3 are expected"),
        ("weights", "1", "2 × 3 entries are expected here"),
        ("weights", [[["1"] * 3] * 2] * 2, "2 numbers where 3 are expected"),
        ("weights[2,3]", [["1", "2"]], "not more brackets"),
        ("weights[1,:]", "1", "3 entries are expected here"),
        ("weights[3,1]", "1", "no row 3: rows are 1 to 2 (index_base = 1)"),
        ("weights[0,1]", "1", "no row 0: rows are 1 to 2"),
        ("weights[-1,1]", "1", 'no row "-1": rows are'),
        ("weights[1,4]", "1", "no column 4: columns are 1 to 3"),
        ("weights[1,]", "1", 'no column "": columns are'),
        ("weights[١,1]", "1", "rows are 1 to 2"),
        ("weights[1,1,1]", "1", "weights is 2 × 3; write"),
        ("weights[2:3,1]", "1", "no rows 2:3: rows are 1 to 2"),
        ("weights[2:1,1]", "1", "no rows 2:1: rows are 1 to 2"),
        ("weights[0:1,1]", "1", "no rows 0:1: rows are 1 to 2"),
        ("decimal", ",", "it belongs in [policy]"),
        ("weights[99999999,1]", "1", "rows are 1 to 2"),
        ("weights[" + "1" * 1000 + ",1]", "1", "names no entry"),
        ("weights[1,1", "1", "names no entry"),
        ("weights 1", "1", "names no entry"),
        ("", "1", "names no entry"),
        ("wieghts[1,1]", "1", 'did you mean "weights"'),
        ("scaled[1,1]", "1", "the scores are not scaled; leave scale = false out"),
        ("masked[1,1]", "1", "say which mask"),
        ("projected[1,1]", "1", "give W_O"),
        ("heads[1]", "1", "there is one head"),
        ("concat", "1", "there is one head"),
        ("Q", "1", "it has V, scores, weights, output"),
        ("weights[1,1]", "half", "names and code are not read"),
        ("weights[1,1]", True, "does not show how many digits"),
        ("weights[1,:]", ["1", "x", "1"], "weights[1,:], entry 2: "),
    ],
    ids=str,
)
def test_what_claims_no_entry_is_refused(key: str, value: Any, message: str) -> None:
    with pytest.raises(ReadError) as caught:
        check(ROW, {key: value})
    assert message in str(caught.value)
    assert str(caught.value).count("\n") == 0


def test_several_heads_have_no_output() -> None:
    with pytest.raises(ReadError, match="claim heads, concat or projected"):
        check(HEADS, {"output": "1"})


def test_an_entry_is_claimed_once() -> None:
    with pytest.raises(ReadError, match="claimed twice"):
        check(ROW, {"weights[1,:]": ["0.33"] * 3, "weights[:,2]": ["0.33", "?"]})
    found = check(ROW, {"weights[1,:]": ["0.33"] * 3, "weights[:,2]": ["?", "0.24"]})
    assert verdicts(found) == {"weights": ["right"] * 4}


@pytest.mark.parametrize("claims", [{}, {"weights[1,:]": ["?", "?", "…"]}])
def test_nothing_claimed_is_not_all_right(claims: dict[str, Any]) -> None:
    with pytest.raises(ReadError, match=r"no claims|every claim is blank"):
        check(ROW, claims)


def test_the_order_of_keys_does_not_matter() -> None:
    claims = {"output[2,1]": "3.9", "weights[2,:]": ["0.09", "0.24", "0.70"]}
    backward = dict(reversed(claims.items()))
    assert verdicts(check(ROW, claims)) == verdicts(check(ROW, backward))
    assert list(verdicts(check(ROW, claims))) == ["weights", "output"]


def test_exp_and_exp_sum_take_the_softmax_apart() -> None:
    found = check(ROW, {"exp[2,:]": ["2.72", "7.39", "20.09"], "exp_sum[2,1]": "30.19"})
    assert verdicts(found) == {"exp": ["right"] * 3, "exp_sum": ["right"]}


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ({"rounding": "up"}, "did you mean|known"),
        ({"min_digits": -1}, "whole number from 0 to 100"),
        ({"min_digits": True}, "whole number from 0 to 100"),
        ({"accept": ["fine"]}, "is not a verdict"),
        ({"accept": 1}, "give a list of verdicts"),
        ({"accept": {"right": 1}}, "give a list of verdicts"),
    ],
    ids=str,
)
def test_policies_that_are_none(policy: dict[str, Any], message: str) -> None:
    with pytest.raises(ReadError, match=message):
        Policy(**policy)


def test_policy_always_accepts_right() -> None:
    assert Policy(accept=()).accept == ("right",)
    assert Policy(accept="wrong").accept == ("right", "wrong")  # type: ignore[arg-type]
    assert set(Policy().accept) < set(VERDICTS)


@pytest.mark.parametrize("key", ["dO", "d_output", '"dO[1,1]"'])
def test_the_gradient_that_is_assumed_may_be_claimed_by_its_letter(key: str) -> None:
    number = "1" if "[" in key else "[[1, 1]]"
    given = "[given]\nQ = [[1]]\nK = [[1]]\nV = [[1, 2]]\n"
    found = check_worksheet(worksheet_of(f'gradient = ["V"]\n{given}[claims]\n{key} = {number}\n'))
    assert {str(entry.verdict) for entry in found.entries} == {"right"}
