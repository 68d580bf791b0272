"""Claims that are nothing: all zeros, all alike, without sense, or enormous."""

from __future__ import annotations

import pytest

from tests.checking import check, verdicts

PAIR = {"Q": [[1, 0]], "K": [[1, 0], [0, 1]], "V": [[1], [2]]}
THIRDS = {"scores": [[0, 0, 0]], "V": [[1], [2], [6]]}


@pytest.mark.parametrize(
    ("weights", "output", "words"),
    [
        (["0", "0"], "0.00", "weights[1,:], which is all zeros and earns nothing"),
        (["0.50", "0.50"], "1.50", "weights[1,:], which is all alike and earns nothing"),
    ],
)
def test_degenerate_claims_earn_nothing(weights: list[str], output: str, words: str) -> None:
    given = {"scores": [[3, 1]], "V": [[1], [2]]}
    found = check(given, {"weights": weights, "output": output})
    (entry,) = found.steps[-1].entries
    assert entry.verdict == "wrong"
    assert entry.remark == f"follows only from {words}"
    assert any(words in note for note in found.notes)


def test_rows_that_are_rightly_alike_are_not_degenerate() -> None:
    found = check(THIRDS, {"weights": ["0.33"] * 3, "output": "2.97"})
    assert verdicts(found) == {"weights": ["right"] * 3, "output": ["rounded-early"]}
    given = {"scores": [[3, 1]], "V": [[1], [2]]}
    found = check(given, {"weights": ["0.51", "0.50"], "output": "1.51"})
    assert verdicts(found)["output"] == ["carried"]


@pytest.mark.parametrize(
    ("weights", "output", "verdict"),
    [
        (["0.0", "?"], "0.1", "wrong"),  # a row of which one is claimed: only zeros are degenerate
        (["0.7", "?"], "0.8", "carried"),
        (["1.0", "?"], "1.1", "carried"),
        (["0.0", "0.0"], "0.0", "wrong"),
    ],
)
def test_rows_that_are_claimed_in_part(weights: list[str], output: str, verdict: str) -> None:
    given = {"scores": [[1, 3]], "V": [[1], ["0.15"]]}  # weights 0.12, 0.88; output 0.251
    found = check(given, {"weights[1,:]": weights, "output": output})
    (entry,) = found.steps[-1].entries
    assert (entry.verdict, bool(entry.remark)) == (verdict, verdict == "wrong")


def test_degenerate_rows_a_last_digit_off_and_of_heads_are_named() -> None:
    near = {"scores": [["1/50", 0]], "V": [[100], [0]]}  # 0.50500
    found = check(near, {"weights": ["0.51", "0.51"], "output": "51.0"})
    assert verdicts(found)["weights"] == ["last-digit", "wrong"]
    near = {"scores": [["1/100", "-1/100"]], "V": [[100], [0]]}  # 0.504998, 0.495002
    found = check(near, {"weights": ["0.51", "?"], "output": "51.0"})
    assert verdicts(found) == {"weights": ["last-digit"], "output": ["carried"]}
    found = check({**near, "scores": [["1/100", "1/100"]]}, {"weights": ["0.51"] * 2,
                                                             "output": "51.0"})  # fmt: skip
    assert verdicts(found)["weights"] == ["last-digit"] * 2
    assert found.steps[-1].entries[0].remark == (
        "follows only from weights[1,:], which is all alike and earns nothing"
    )
    heads = {"Q": [[[1]], [[1]]], "K": [[[3], [1]]] * 2, "V": [[[1], [2]]] * 2}
    found = check(heads, {"weights[2]": ["0.5", "0.5"], "heads[2]": "1.50"})
    (entry,) = found.steps[-1].entries
    assert entry.remark.startswith("follows only from weights[2,1,:], which is all alike")


def test_what_follows_has_no_remark() -> None:
    found = check(PAIR, {"scores": ["2", "0"], "weights": ["0.88", "0.11"]})
    assert [(e.verdict, e.remark) for e in found.steps[1].entries] == [("carried", "")] * 2


def test_claims_that_make_no_sense_lead_nowhere() -> None:
    ratio = {"scale": False, "normaliser": "sum"}
    claims = {"scores": ["0", "0"], "weights": ["0.5", "0.5"]}
    given = {"Q": [[1, 2]], "K": [[1, 0], [0, 1]], "V": [[1], [2]]}
    found = verdicts(check(given, claims, ratio))
    assert found == {"scores": ["wrong", "wrong"], "weights": ["wrong", "wrong"]}


@pytest.mark.parametrize("score", ["1e300", "-1e300", "1e399", "-inf"])
def test_enormous_claims_are_followed(score: str) -> None:
    weights = ["0.0", "1.0"] if score[0] == "-" else ["1.0", "0.0"]
    found = verdicts(check(PAIR, {"scores": [score, "0"], "weights": weights}))
    assert found == {"scores": ["wrong", "right"], "weights": ["carried"] * 2}
    found = verdicts(check(PAIR, {"scores": [score, "0"], "weights": weights[::-1]}))
    assert found["weights"] == ["wrong"] * 2
