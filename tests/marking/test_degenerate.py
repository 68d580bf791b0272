"""Claims that are nothing: all zeros, all alike, without sense, or enormous."""

from __future__ import annotations

import pytest

from tests.checking import check, verdicts

THIRDS = {"scores": [[0, 0, 0]], "V": [[1], [2], [6]]}


NOTHING = "it follows from weights, which was not computed"


@pytest.mark.parametrize(
    ("weights", "output", "expected"),
    [
        (["0.0", "0.0"], "0.00", ["wrong", "wrong", "wrong"]),
        (["0", "0"], "0.00", ["wrong", "wrong", "wrong"]),  # 0 for 0.12 is too coarse
        (["0.50", "0.50"], "1.50", ["wrong", "wrong", "wrong"]),
        (["0.50", "0.50"], "1.12", ["wrong", "wrong", "right"]),  # true for all that
        (["0.50", "0.51"], "1.52", ["wrong", "wrong", "carried"]),
        (["0.12", "0.12"], "0.36", ["wrong", "right", "carried"]),  # one slip made them alike
        (["0.12", "?"], "0.36", ["wrong", "carried"]),
        (["0.50", "?"], "0.74", ["wrong", "carried"]),
    ],
)
def test_a_matrix_of_one_number_earns_nothing(
    weights: list[str], output: str, expected: list[str]
) -> None:
    """The true weights are 0.8808 and 0.1192, the output is 1.1192."""
    given = {"scores": [[3, 1]], "V": [[1], [2]]}
    found = check(given, {"weights": weights, "output": output})
    assert [e.verdict for e in found.entries] == expected
    remark = NOTHING if expected[-1] == "wrong" else ""
    *before, last = (e.remark for e in found.entries)
    assert last == remark and NOTHING not in before


def test_a_row_of_one_number_is_a_mistake_like_any_other() -> None:
    given = {"scores": [[3, 1], [1, 0]], "V": [[1], [2]]}
    claims = {"weights": [["0.50", "0.50"], ["0.73", "0.27"]], "output": [["1.50"], ["1.27"]]}
    assert verdicts(check(given, claims))["output"] == ["carried", "right"]
    claims["weights"][1] = ["0.50", "0.50"]
    claims["output"][1] = ["1.50"]
    assert verdicts(check(given, claims))["output"] == ["wrong", "wrong"]


def test_what_earns_nothing_hands_on_nothing() -> None:
    given = {"Q": [[1, 0]], "K": [[2, 0], [0, 1]], "V": [[1], [2]]}
    claims = {"scores": ["0", "0"], "weights": ["0.5", "0.5"], "output": "1.5"}
    found = verdicts(check(given, claims))  # the second score is right: one slip
    assert found == {
        "scores": ["wrong", "right"],
        "weights": ["carried"] * 2,
        "output": ["carried"],
    }
    given["K"] = [[2, 0], [1, 1]]
    marking = check(given, claims)
    assert {entry.verdict for entry in marking.entries} == {"wrong"}
    remarks = [entry.remark for entry in marking.entries[2:]]
    assert remarks == [NOTHING.replace("weights", "scores")] * 2 + [NOTHING]


def test_a_matrix_that_is_rightly_of_one_number_is_computed() -> None:
    found = check(THIRDS, {"weights": ["0.33"] * 3, "output": "2.97"})
    assert verdicts(found) == {"weights": ["right"] * 3, "output": ["rounded-early"]}
    found = check(THIRDS, {"weights": ["0.35"] * 3, "output": "3.15"})
    assert verdicts(found) == {"weights": ["wrong"] * 3, "output": ["carried"]}


def test_each_head_of_one_number_alone_is_no_matrix() -> None:
    heads = {"Q": [[[1]], [[1]]], "K": [[[3], [1]]] * 2, "V": [[[1], [2]]] * 2}
    found = check(heads, {"weights[2]": ["0.5", "0.5"], "heads[2]": "1.50"})
    assert found.entries[-1].remark == NOTHING
    found = check(heads, {"weights": [[["0.88", "0.12"]], [["0.5", "0.5"]]], "heads[2]": "1.50"})
    assert found.entries[-1].verdict == "carried"
