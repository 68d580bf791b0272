"""Sanity notes: each said where it holds, and not beside it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.checking import check

ROW = {"scores": [[1, 1, 2]], "V": [[1], [2], [4]]}  # weights 0.2119, 0.2119, 0.5761; output 2.9402


def notes(given: dict[str, Any], claims: dict[str, Any], **rest: Any) -> list[str]:
    return list(check(given, claims, **rest).notes)


@pytest.mark.parametrize(
    ("weights", "total"),
    [
        (["0.21", "0.21", "0.60"], "1.02"),
        (["0.21", "0.21", "0.56"], "0.98"),
        (["0.20", "0.20", "0.50"], "0.9"),
        (["0.0", "0.0", "0.0"], "0"),
        (["10", "10", "10"], "30"),
        (["1e20", "0.5", "0.25"], "100000000000000000000.75"),
        (["-0.20", "0.10", "0.00"], "-0.1"),
    ],
)
def test_a_row_that_does_not_sum_to_1(weights: list[str], total: str) -> None:
    assert f"weights[1,:] sums to {total}, not to 1" in notes(ROW, {"weights": weights})


@pytest.mark.parametrize(
    "weights", [["0.21", "0.21", "0.59"], ["0.22", "0.21", "0.57"], ["0.2", "0.2", "0.7"]]
)
def test_a_row_that_sums_to_1_within_its_rounding(weights: list[str]) -> None:
    assert not any("sums to" in note for note in notes(ROW, {"weights": weights}))


def test_sums_are_for_rows_that_should_and_are_whole() -> None:
    assert not any("sums to" in n for n in notes(ROW, {"weights": ["0.9", "0.9", "?"]}))
    assert not any("sums to" in n for n in notes(ROW, {"weights": ["1/2", "0.9", "0.9"]}))
    sigmoid = {"scale": False, "normaliser": "sigmoid"}
    assert not any("sums to" in n for n in notes(ROW, {"weights": ["0.9"] * 3}, attention=sigmoid))
    causal = {"scale": False, "mask": [[False, False], [True, True]]}
    given = {"scores": [[1, 1], [1, 1]]}
    found = notes(given, {"weights": [["0", "0"], ["0.9", "0.9"]]}, attention=causal)
    assert [note for note in found if "sums to" in note] == ["weights[2,:] sums to 1.8, not to 1"]


def test_equal_scores_with_unequal_weights() -> None:
    found = notes(ROW, {"weights": ["0.20", "0.22", "0.58"]})
    assert (
        "weights[1,:]: keys 1 and 2 have equal entries in scores, but weights 0.20 and 0.22"
        in found
    )
    assert not any("equal" in note for note in notes(ROW, {"weights": ["0.20", "0.20", "0.60"]}))


def test_order_that_the_weights_do_not_keep() -> None:
    found = notes(ROW, {"weights": ["0.40", "0.40", "0.20"]})
    words = "weights[1,:]: key 3 has a higher entry in scores than key {}, but a lower weight"
    assert words.format(1) in found and words.format(2) in found
    assert not any("higher" in note for note in notes(ROW, {"weights": ["0.30", "0.30", "0.40"]}))
    assert not any("higher" in note for note in notes(ROW, {"weights": ["0.40", "0.40", "0.40"]}))


def test_outputs_outside_the_range_of_the_values() -> None:
    said = "output[1,1]: {} is outside the range of the values it averages, 1 to 4"
    assert said.format("4.10") in notes(ROW, {"output": "4.10"})
    assert said.format("0.90") in notes(ROW, {"output": "0.90"})
    assert said.format("4.2e0") in notes(ROW, {"output": "4.2e0"})
    assert said.format("-123456789e291") in notes(ROW, {"output": "-123456789e291"})
    assert said.format("4.011") in notes(ROW, {"output": "4.011"})
    assert said.format("0.989") in notes(ROW, {"output": "0.989"})
    for inside in ("4.00", "1.00", "2.50", "4.01", "0.99"):  # a unit of the last digit more or less
        assert not any("outside" in note for note in notes(ROW, {"output": inside}))


def test_ranges_are_those_of_the_own_head() -> None:
    given = {"Q": [[[1]], [[1]]], "K": [[[1], [1]]] * 2, "V": [[[0], [1]], [[10], [20]]]}
    found = notes(given, {"heads[1]": "15.0", "heads[2]": "0.5"})
    assert any("heads[1,1,1]: 15.0 is outside" in n and "0 to 1" in n for n in found)
    assert any("heads[2,1,1]: 0.5 is outside" in n and "10 to 20" in n for n in found)


def test_too_few_digits_to_tell() -> None:
    assert notes(ROW, {"weights": ["0", "0", "1"]}) == [
        "too few digits: weights[1,1], weights[1,2], weights[1,3] without decimals would "
        "be right for many weights"
    ]
    assert notes({"scores": [["-1e300", 0]]}, {"weights": ["0", "1"]}) == []
    assert notes(ROW, {"weights": ["0.2", "0.2", "0.6"]}) == []


@pytest.mark.parametrize(
    ("claim", "said"), [("0.2", True), ("0.21", False), ("1/5", False), ("2e-1", True)]
)
def test_fewer_decimals_than_asked_for(claim: str, said: bool) -> None:
    found = notes(ROW, {"weights[1,1]": claim}, min_digits=2)
    assert (f"weights[1,1]: {claim} has 1 decimal; the policy asks for 2" in found) is said


def test_kinds_of_equal_length_are_counted_each() -> None:
    given = {"scores": [[1, 2]] * 9}
    found = notes(given, {"weights": [["0.9", "0.8"]] * 9})
    assert [sum(words in note for note in found) for words in ("sums to", "has a higher")] == [6, 6]
    assert found[6] == found[13] == "… and 3 more of this kind"
    assert len(found) == 14


#: Rows 2 and 3 of these weights are exchanged; then a number of row 2 is another one.
EXCHANGED = [["0.042", "0.114", "0.844"], ["0.042", "0.844", "0.114"], ["0.844", "0.114", "0.042"]]
MORE_WRONG = [EXCHANGED[0], ["0.042", "0.844", "0.314"], EXCHANGED[2]]


@pytest.mark.parametrize(
    ("weights", "names", "said"),
    [(EXCHANGED, ["exchanged-rows"], 0), (MORE_WRONG, [], 5)],
    ids=["explained", "not explained"],
)
def test_notes_on_what_an_explanation_says_are_left_out(
    weights: list[Any], names: list[str], said: int
) -> None:
    given = {"scores": [[1, 2, 4], [4, 2, 1], [1, 4, 2]]}
    unexplained = check(given, {"weights": weights}).notes
    marks = check(given, {"weights": weights}, explain=True)
    assert [each.name for each in marks.explanations] == names
    assert len(marks.notes) == said
    assert set(marks.notes) <= set(unexplained)
    assert len(unexplained) >= 4
