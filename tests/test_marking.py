"""Each verdict: a case in which it is given, and one in which a hair's breadth denies it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from symattn.attention.example import small_example
from symattn.attention.variants import VARIANTS, Variant
from symattn.worksheet.claims import VERDICTS
from symattn.worksheet.mark import rank
from tests.checking import check, one, verdicts

THIRDS = {"scores": [[0, 0, 0]], "V": [[1], [2], [6]]}
HALVES = {"Q": [["0.125"]], "K": [[1], [-1], [3]]}
PAIR = {"Q": [[1, 0]], "K": [[1, 0], [0, 1]], "V": [[1], [2]]}
SOFTMAX = {"scores": [[2, 4, 4]]}


# ---- right -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("0.3333", "right"), ("0.3334", "last-digit"), ("0.3332", "wrong"), ("0.3382", "wrong"),
        ("0.33", "right"), ("0.34", "last-digit"), ("0.32", "wrong"), ("0.3", "right"),
        ("0.4", "wrong"), ("0", "right"), ("1", "wrong"), ("3e-1", "right"), ("33e-2", "right"),
        ("0.33e0", "right"), ("3.3", "wrong"), ("33e-1", "wrong"), (".333", "right"), ("-0",
        "right"),
        ("0.", "right"), ("0e3", "right"), ("1/3", "right"), ("2/6", "right"), ("0.3/0.9", "right"),
        ("1/3 + 10^-300", "wrong"), ("333333/1000000", "wrong"), ("0." + "3" * 60, "right"),
        ("0." + "3" * 60 + "4", "last-digit"), ("-0.33", "wrong"), ("-inf", "wrong"),
    ],
)  # fmt: skip
def test_a_third(claim: str, verdict: str) -> None:
    assert one(THIRDS, "weights[1,1]", claim) == verdict


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("e^2/(e^2+2e^4)", "right"),
        ("1/(1+2e^2)", "right"),
        ("1/(1+2*7.38905609893065)", "wrong"),
        ("e^2/(e^2+2e^4)+e^(-200)", "wrong"),
        ("0.0634", "right"),
        ("0.06338", "right"),
        ("0.06339", "wrong"),
        ("0.06336", "wrong"),
        ("0.0633", "truncated"),
        ("6.34e-2", "right"),
        ("6.33e-2", "truncated"),
    ],
)
def test_a_softmax(claim: str, verdict: str) -> None:
    assert one(SOFTMAX, "weights[1,1]", claim) == verdict


TIES = {
    "half-up": {"right": ("0.13", "-0.13", "0.38"), "not": ("0.12", "-0.12", "0.37")},
    "half-even": {"right": ("0.12", "-0.12", "0.38"), "not": ("0.13", "-0.13", "0.37")},
    "truncated": {"right": ("0.12", "-0.12", "0.37"), "not": ("0.13", "-0.13", "0.38")},
}


@pytest.mark.parametrize("policy", TIES)
def test_ties_by_policy(policy: str) -> None:
    found = check(HALVES, {"scores[1,:]": TIES[policy]["right"]}, rounding=policy)
    assert verdicts(found)["scores"] == ["right"] * 3
    found = check(HALVES, {"scores[1,:]": TIES[policy]["not"]}, rounding=policy)
    assert "right" not in verdicts(found)["scores"]


def test_either_takes_both_ways_of_a_tie_and_no_third() -> None:
    for row in (TIES["half-up"]["right"], TIES["half-even"]["right"]):
        assert verdicts(check(HALVES, {"scores[1,:]": row}))["scores"] == ["right"] * 3
    assert one(HALVES, "scores[1,3]", "0.37") == "truncated"
    assert one(HALVES, "scores[1,3]", "0.39") == "wrong"


def test_a_hair_beside_a_tie_is_no_tie() -> None:
    above = {"Q": [["0.125"]], "K": [["1 + 10^-300"], ["1 - 10^-300"]]}
    found = check(above, {"scores": [["0.12", "0.13"]]})
    assert verdicts(found)["scores"] == ["truncated", "last-digit"]
    assert verdicts(check(above, {"scores": [["0.13", "0.12"]]}))["scores"] == ["right"] * 2


def test_a_tie_in_disguise() -> None:
    """(1 + e/2)/(e + 2) is 1/2: no precision tells, exact arithmetic does."""
    given = {"scores": [[-2, -2, -1]], "V": [[-2], [3], ["1/2"]]}
    for claim, policy in (("1", "half-up"), ("0", "half-even"), ("0", "truncated")):
        assert one(given, "output[1,1]", claim, rounding=policy) == "right"
        assert one(given, "output[1,1]", str(1 - int(claim)), rounding=policy) == "wrong"
    beside = {**given, "V": [[-2], [3], ["1/2 - 10^-200"]]}
    assert one(beside, "output[1,1]", "1", rounding="half-up") == "wrong"


def test_minus_infinity() -> None:
    given, causal = {"scores": [[1, 2], [3, 4]]}, {"scale": False, "mask": "causal"}
    found = check(given, {"masked": [["1", "-inf"], ["3", "4"]]}, causal)
    assert verdicts(found)["masked"] == ["right"] * 4
    found = check(given, {"masked": [["1", "-1e9"], ["-∞", "4"]]}, causal)
    assert verdicts(found)["masked"] == ["right", "wrong", "wrong", "right"]


def test_whole_numbers_and_tens() -> None:
    given = {"Q": [[1234]], "K": [[1], [-1]]}
    for claim, verdict in (("1234", "right"), ("1.23e3", "right"), ("1.2e3", "right"), ("1e3",
    "right"),
                           ("1235", "wrong"), ("1.24e3", "wrong"), ("2e3", "wrong"),
                           ("1234.0", "right"), ("1234.1", "wrong"), ("1234.01",
                           "last-digit")):  # fmt: skip
        assert one(given, "scores[1,1]", claim) == verdict, claim
    assert one(given, "scores[1,2]", "-1.23e3") == "right"


def test_every_head_is_marked_by_itself() -> None:
    given = {"Q": [[[1, 0]], [[0, 1]]], "K": [[[1, 0], [0, 1]]] * 2, "V": [[[1], [2]]] * 2}
    claims = {"scores[1]": ["1", "0"], "scores[2]": ["1", "0"], "heads": [[["1.27"]], [["1.73"]]]}
    found = check(given, claims)
    assert verdicts(found)["scores"] == ["right", "right", "wrong", "wrong"]
    assert verdicts(found)["heads"] == ["right", "right"]
    first = found.first_wrong
    assert first is not None
    assert (first.step, first.place, str(first)) == ("scores", (1, 0, 0), "scores[2,1,1]")


# ---- carried and rounded early ------------------------------------------------------------


def follow_up(scores: list[str], weights: list[str], **policy: Any) -> dict[str, list[str]]:
    """Verdicts on the true scores 1, 0 and weights 0.731, 0.269."""
    return verdicts(check(PAIR, {"scores": scores, "weights": weights}, **policy))


def test_carried_follows_from_what_was_wrong() -> None:
    # from scores 2, 0 the weights are 0.8808 and 0.1192
    assert follow_up(["2", "0"], ["0.88", "0.12"])["weights"] == ["carried"] * 2
    assert follow_up(["2", "0"], ["0.8808", "0.1192"])["weights"] == ["carried"] * 2
    assert follow_up(["2", "0"], ["0.8809", "0.1191"])["weights"] == ["wrong"] * 2
    assert follow_up(["2", "0"], ["0.73", "0.27"])["weights"] == ["right"] * 2


def test_carried_looks_at_the_step_and_not_at_the_entry() -> None:
    given = {"scores": [[1, 0], [1, 0]], "V": [["0.5"], ["0.25"]]}
    weights = [["0.731", "0.269"], ["0.5", "0.4"]]
    true = "0.4327"  # 0.731·0.5 + 0.269·0.25 = 0.43275, true is 0.43276
    assert verdicts(check(given, {"weights": [*weights[:1], ["?", "?"]], "output[1,1]": true})) == {
        "weights": ["right"] * 2, "output": ["rounded-early"]}  # fmt: skip
    assert verdicts(check(given, {"weights": weights, "output[1,1]": true}))["output"] == [
        "carried"
    ]


def test_carried_through_steps_that_are_not_claimed() -> None:
    found = verdicts(check(PAIR, {"scores": ["2", "0"], "output": "1.12"}))
    assert found["output"] == ["carried"]
    assert verdicts(check(PAIR, {"scores": ["2", "0"], "output": "1.14"}))["output"] == ["wrong"]


def test_carried_from_a_wrong_copy_of_what_is_given() -> None:
    claims = {"Q": ["2", "0"], "scores": ["2", "0"], "weights": ["0.88", "0.12"]}
    found = verdicts(check(PAIR, claims))
    assert found["scores"] == ["carried", "right"]
    assert found["weights"] == ["carried"] * 2
    claims["Q"] = ["1", "0"]
    assert verdicts(check(PAIR, claims))["scores"] == ["wrong", "right"]


def test_a_last_digit_carries_on() -> None:
    given = {"scores": [["1.00", "0.00"]], "V": [[100], [0]]}
    # 0.73106: 0.74 is one unit off; 74 follows from it
    found = verdicts(check(given, {"weights": ["0.74", "0.27"], "output": "74"}))
    assert found == {"weights": ["last-digit", "right"], "output": ["carried"]}


def test_rounded_early_follows_from_rounded_numbers() -> None:
    given = {"scores": [[1, 0]], "V": [[10], [20]]}  # weights 0.73106, 0.26894, output 12.6894
    for output, verdict in (("12.69", "right"), ("12.70", "rounded-early"), ("12.55",
    "rounded-early"),
                            ("12.54", "wrong"), ("12.85", "rounded-early"), ("12.86",
                            "wrong")):  # fmt: skip
        claims = {"weights": ["0.73", "0.27"], "output": output}
        assert verdicts(check(given, claims))["output"] == [verdict]
    assert verdicts(check(given, {"output": "12.70"}))["output"] == ["wrong"]


def test_rounded_early_from_the_interval_of_half_a_unit() -> None:
    given = {"scores": [[1, 0]], "V": [[100], [200]]}  # output 126.894
    around = {"weights": ["0.7", "0.3"]}  # 0.65 to 0.75 and 0.25 to 0.35: 115 to 145
    for output, verdict in (("130", "rounded-early"), ("145", "rounded-early"), ("146", "wrong"),
                            ("115", "rounded-early"), ("114", "wrong"), ("127",
                            "right")):  # fmt: skip
        assert verdicts(check(given, around | {"output": output}))["output"] == [verdict], output


def test_a_number_that_was_not_rounded_stands_for_itself() -> None:
    # scores 1 and 0 are whole: not all that rounds to them, or weights of 0.52 would follow
    assert follow_up(["1", "0"], ["0.52", "0.48"])["weights"] == ["wrong"] * 2
    third = {"Q": [["1/3"]], "K": [[3], [1]]}  # scores 1, 1/3; weights 0.6608
    for scores, verdict in ((["1", "0"], "rounded-early"), (["1", "0.33"], "wrong")):
        found = check(third, {"scores": scores, "weights[1,1]": "0.72"})
        assert verdicts(found)["weights"] == [verdict]


def test_what_is_cut_off_stands_for_a_unit_away_from_zero() -> None:
    given = {"scores": [[1, 0]], "V": [[1000], [0]]}  # 0.7310586
    for weight, output, verdict in (("0.7", "799", "wrong"), ("0.7", "700", "rounded-early"),
                                    ("0.73", "735", "rounded-early"), ("0.73", "736",
                                    "wrong")):  # fmt: skip
        found = check(given, {"weights[1,1]": weight, "output": output})
        assert verdicts(found)["output"] == [verdict], (weight, output)
    cut = {"scores": [["0.5", 0]], "V": [[1000], [0]]}  # 0.62246: 0.622 is right, 0.62 is right
    assert one(cut, "weights[1,1]", "0.622") == "right"
    low = {"scores": [[2, 0]], "V": [[1000], [0]]}  # 0.880797: 0.8807 is cut off
    for output, verdict in (("880.79", "rounded-early"), ("880.75", "rounded-early"),
                            ("880.70", "rounded-early"), ("880.81", "wrong")):  # fmt: skip
        found = check(low, {"weights[1,1]": "0.8807", "output": output})
        assert verdicts(found)["output"] == [verdict], output


def test_what_follows_cut_off_follows_too() -> None:
    given = {"scores": [[1, 0]], "V": [[10], ["21.45"]]}  # 13.0794; from the claims 12.29
    claims = {"weights": ["0.800", "0.200"], "output": "12.2"}
    assert verdicts(check(given, claims))["output"] == ["carried"]
    assert verdicts(check(given, claims | {"output": "12.3"}))["output"] == ["carried"]
    assert verdicts(check(given, claims | {"output": "12.1"}))["output"] == ["wrong"]


def test_published_ones_are_cut_off_before_they_are_early() -> None:
    given = {"Q": [[1, 0, 2]], "K": [[0, 1, 1], [4, 4, 0], [2, 3, 1]]}
    found = check(given, {"scores": ["2", "4", "4"], "weights": ["0.0", "0.5", "0.5"]})
    assert verdicts(found)["weights"] == ["truncated", "right", "right"]


# ---- truncated, last digit, wrong, undecided -------------------------------------------------


@pytest.mark.parametrize(
    ("true", "claim", "verdict"),
    [
        ("2/3", "0.6", "truncated"), ("2/3", "0.7", "right"), ("2/3", "0.5", "wrong"),
        ("2/3", "0.66", "truncated"), ("2/3", "0.65", "wrong"), ("2/3", "0.68", "wrong"),
        ("2/3", "0", "wrong"), ("-2/3", "-0.6", "truncated"), ("-2/3", "-0.66", "truncated"),
        ("-2/3", "-0.68", "wrong"), ("-2/3", "-0", "wrong"), ("0.06", "0.0", "truncated"),
        ("-0.06", "0.0", "truncated"), ("-0.06", "-0.0", "truncated"), ("0.1", "0.0", "wrong"),
        ("0.0999", "0.09", "truncated"), ("0.0999", "0.10", "right"), ("0.0999", "0.11", "wrong"),
        ("0.995", "1.00", "right"), ("0.994", "1.00", "last-digit"), ("0.99", "1.00", "last-digit"),
        ("0.9899", "1.00", "wrong"), ("0.34", "0.3", "right"), ("0.34", "0.4", "wrong"),
        ("150", "1e2", "wrong"), ("-0.994", "-1.00", "last-digit"), ("0.3", "0.31", "last-digit"),
        ("0.3", "0.29", "last-digit"), ("0.3", "0.28", "wrong"), ("0.3", "2.9e-1", "last-digit"),
    ],
)  # fmt: skip
def test_cut_off_near_and_wrong(true: str, claim: str, verdict: str) -> None:
    assert one({"Q": [[true]], "K": [[1]]}, "scores[1,1]", claim) == verdict


def test_undecided_where_no_procedure_decides() -> None:
    # 1.5 + e^-20000/4: no tie, but 16,384 bits do not tell it from one
    hair = {"scores": [["e^(-20000)", 0]], "V": [[2], [1]]}
    found = check(hair, {"output[1,1]": "2"})
    (entry,) = found.steps[0].entries
    assert (entry.verdict, entry.remark) == ("undecided", "undecided at 16,384 bits")
    assert not found.passes(entry)
    assert one(hair, "output[1,1]", "1.5") == "right"
    assert one({**hair, "scores": [["e^(-2000)", 0]]}, "output[1,1]", "2") == "right"
    assert one({**hair, "scores": [["-e^(-2000)", 0]]}, "output[1,1]", "2") == "wrong"
    assert one({**hair, "scores": [[0, 0]]}, "output[1,1]", "2") == "right"


# ---- steps and worksheets --------------------------------------------------------------------


def test_a_step_has_the_worst_verdict_and_a_sheet_the_first_wrong_entry() -> None:
    assert VERDICTS == (
        "right", "truncated", "rounded-early", "undecided", "last-digit", "carried",
        "wrong")  # fmt: skip
    assert [rank(verdict) for verdict in VERDICTS] == list(range(7))
    found = check(THIRDS, {"weights": ["0.33", "0.34", "0.40"], "output": "?"})
    assert found.steps[0].verdict == "wrong"
    assert str(found.first_wrong) == "weights[1,2]"
    assert check(THIRDS, {"weights": ["0.33"] * 3}).first_wrong is None


def test_the_policy_says_what_passes() -> None:
    claims = {"weights": ["0.33", "0.34", "?"]}
    assert check(THIRDS, claims, accept=["last-digit"]).first_wrong is None
    assert check(THIRDS, claims).first_wrong is not None
    cut = {"scores": [[2, 0]]}
    assert check(cut, {"weights[1,1]": "0.8807"}).first_wrong is None
    assert check(cut, {"weights[1,1]": "0.8807"}, accept=[]).first_wrong is not None


@pytest.mark.parametrize("row", VARIANTS, ids=lambda row: row.name)
def test_what_an_entry_reads_is_all_that_it_depends_on(row: Variant) -> None:
    """In every variant: where an operand's entry is changed, only entries that read it change."""
    derivation, evaluation = small_example(row.spec)
    carried = Carried(evaluation, {})
    for step in derivation.steps:
        value = evaluation.array(step.letter)
        for letter in step.operands:
            operand = evaluation.array(letter)
            for place in np.ndindex(*operand.shape):
                moved = {letter: operand.astype(float)}
                moved[letter][place] += 0.5
                known = {o: evaluation.array(o) for o in step.operands} | moved
                again = evaluation.follow(step, known.__getitem__, evaluation.arithmetic)
                for changed in np.argwhere(~np.isclose(again, value, equal_nan=True)):
                    assert (letter, place) in carried.reads(step.letter, tuple(map(int, changed)))


def test_true_values_are_shown_beyond_the_claim() -> None:
    from symattn.worksheet.report import shown_true

    found = check(THIRDS, {"weights": ["0.33", "0.3", "1/3"]})
    mark = found.steps[0]
    assert [shown_true(found, mark, entry) for entry in mark.entries] == [
        "0.3333",
        "0.333",
        "0.3333",
    ]
    assert Fraction(shown_true(found, mark, mark.entries[0])) < Fraction(1, 3)
