"""Each verdict: a case in which it is given, and one in which a hair's breadth denies it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from symattn.claims.policy import VERDICTS
from symattn.marking.verdicts import rank
from tests.checking import check, one, verdicts

THIRDS = {"scores": [[0, 0, 0]], "V": [[1], [2], [6]]}
HALVES = {"Q": [["0.125"]], "K": [[1], [-1], [3]]}
PAIR = {"Q": [[1, 0]], "K": [[1, 0], [0, 1]], "V": [[1], [2]]}
SOFTMAX = {"scores": [[2, 4, 4]]}


# ---- right -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("0.3333", "right"),
        ("0.3334", "last-digit"),
        ("0.3332", "wrong"),
        ("0.3382", "wrong"),
        ("0.33", "right"),
        ("0.34", "last-digit"),
        ("0.32", "wrong"),
        ("0.3", "right"),
        ("0.4", "wrong"),
        ("0", "right"),
        ("1", "wrong"),
        ("3e-1", "right"),
        ("33e-2", "right"),
        ("0.33e0", "right"),
        ("3.3", "wrong"),
        ("33e-1", "wrong"),
        (".333", "right"),
        ("-0", "right"),
        ("0.", "right"),
        ("0e3", "right"),
        ("1/3", "right"),
        ("2/6", "right"),
        ("0.3/0.9", "right"),
        ("1/3 + 10^-300", "wrong"),
        ("333333/1000000", "wrong"),
        ("0." + "3" * 60, "right"),
        ("0." + "3" * 60 + "4", "last-digit"),
        ("-0.33", "wrong"),
        ("-inf", "wrong"),
    ],
)
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
        ("0.06340", "wrong"),
        ("0.06335", "wrong"),
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
        assert one(given, "output[1,1]", str(1 - int(claim)), rounding=policy) != "right"
    beside = {**given, "V": [[-2], [3], ["1/2 - 10^-200"]]}
    assert one(beside, "output[1,1]", "1", rounding="half-up") != "right"
    assert one(beside, "output[1,1]", "0", rounding="half-up") == "right"


def test_every_head_is_marked_by_itself() -> None:
    given = {"Q": [[[1, 0]], [[0, 1]]], "K": [[[1, 0], [0, 1]]] * 2, "V": [[[1], [2]]] * 2}
    claims = {"scores[1]": ["1", "0"], "scores[2]": ["1", "0"], "heads": [[["1.27"]], [["1.73"]]]}
    found = check(given, claims)
    assert verdicts(found)["scores"] == ["right", "right", "wrong", "wrong"]
    assert verdicts(found)["heads"] == ["right", "right"]
    first = found.first_wrong
    assert first is not None
    assert (first.step, first.place, str(first)) == ("scores", (1, 0, 0), "scores[2,1,1]")


# ---- follow-through ------------------------------------------------------------------------

#: Weights 0.73106 and 0.26894, output 12.68941.
TENS = {"scores": [[1, 0]], "V": [[10], [20]]}


def in_steps(given: dict[str, Any], claims: dict[str, Any], **axes: Any) -> dict[str, list[str]]:
    """The verdicts by step, unscaled."""
    return verdicts(check(given, claims, {"scale": False, **axes}))


def because(given: dict[str, Any], claims: dict[str, Any], **axes: Any) -> dict[str, list[str]]:
    """What each carried entry follows from."""
    marking = check(given, claims, {"scale": False, **axes})
    return {str(e): [*map(str, e.because)] for e in marking.entries if e.verdict == "carried"}


@pytest.mark.parametrize(
    ("scores", "weights", "expected"),
    [
        # from scores 2, 0 the weights are 0.8808 and 0.1192; the true ones are 0.7311 and 0.2689
        (["2", "0"], ["0.88", "0.12"], ["carried"] * 2),
        (["2", "0"], ["0.8808", "0.1192"], ["carried"] * 2),
        (["2", "0"], ["0.88", "0.11"], ["carried"] * 2),  # cut off, as 0.88 may be
        (["2", "0"], ["0.87", "0.12"], ["wrong", "carried"]),  # a second slip
        (["2", "0"], ["0.8815", "0.1185"], ["wrong"] * 2),
        (["2", "0"], ["0.73", "0.27"], ["right"] * 2),
        (["2", "0"], ["0.73", "0.12"], ["right", "carried"]),
        (["1", "0"], ["0.52", "0.48"], ["wrong"] * 2),
        (["2", "?"], ["0.88", "0.12"], ["carried"] * 2),
    ],
)
def test_weights_after_scores(scores: list[str], weights: list[str], expected: list[str]) -> None:
    assert in_steps(PAIR, {"scores": scores, "weights": weights})["weights"] == expected


@pytest.mark.parametrize(
    ("claims", "expected"),
    [
        ({"output": "12.69"}, "right"),
        ({"output": "12.70"}, "rounded-early"),  # 0.73·10 + 0.27·20, as written
        ({"output": "12.68"}, "truncated"),
        ({"output": "12.71"}, "wrong"),
        ({"output": "12.55"}, "wrong"),  # from 0.735 and 0.26, which nobody computed
        ({"output": "12.85"}, "wrong"),
        ({"weights": ["0.7", "0.3"], "output": "13"}, "right"),
        ({"weights": ["0.7", "0.3"], "output": "13.0"}, "rounded-early"),
        ({"weights": ["0.7", "0.3"], "output": "14"}, "wrong"),
        ({"weights": ["0.74", "0.27"], "output": "12.80"}, "carried"),
        ({"weights": ["0.74", "0.27"], "output": "12.69"}, "right"),
        # 0.73 miscopied as 0.74: the output was made of 0.73
        ({"weights": ["0.74", "0.27"], "output": "12.70"}, "rounded-early"),
        ({"weights": ["0.74", "0.27"], "output": "12.79"}, "wrong"),
        ({"weights": ["0.83", "0.17"], "output": "11.70"}, "carried"),
        ({"weights": ["0.83", "0.17"], "output": "11.7"}, "carried"),
        ({"weights": ["0.83", "0.17"], "output": "11.8"}, "wrong"),
    ],
)
def test_an_output_after_weights(claims: dict[str, Any], expected: str) -> None:
    assert in_steps(TENS, {"weights": ["0.73", "0.27"], **claims})["output"] == [expected]


@pytest.mark.parametrize(
    ("given", "claims", "axes", "expected"),
    [
        # copied from the row, not computed: 0·0.67 + 1·0.33 is 0.33
        (
            {"Q": [[1, 0]], "K": [[1, 0], [0, 1]], "V": [[1, 0], [0, 1]]},
            {"weights": [["0.67", "0.33"]], "output": [["0.67", "0.34"]]},
            {"scale": True},
            {"weights": ["right"] * 2, "output": ["right", "last-digit"]},
        ),
        # the weights written give 17.0
        (
            {"scaled": [[0, "7/10"]], "V": [[10], [20]]},
            {"weights": [["0.3", "0.7"]], "output": [["18.4"]]},
            {"scale": True},
            {"weights": ["right"] * 2, "output": ["wrong"]},
        ),
        # one slip, and six numbers that follow from it
        (
            {"Q": [[1, 1]], "K": [[1, 2], [2, 2]], "V": [[4, 0], [0, 8]]},
            {
                "scores": [["3", "3"]],
                "scaled": [["2.121", "2.121"]],
                "weights": [["0.5", "0.5"]],
                "output": [["2.0", "4.0"]],
            },
            {"scale": True},
            {
                "scores": ["right", "wrong"],
                "scaled": ["right", "carried"],
                "weights": ["carried"] * 2,
                "output": ["carried"] * 2,
            },
        ),
        # a row that sums to 1.011: no number is counted twice
        (
            {"scores": [["1.41", "0", "1.41"]]},
            {"exp": [["4.1", "1", "4.1"]], "weights": [["0.451", "0.110", "0.450"]]},
            {},
            {"exp": ["right"] * 3, "weights": ["wrong"] * 3},
        ),
        (
            {"scores": [["1.41", "0", "1.41"]]},
            {"exp": [["4.1", "1", "4.1"]], "weights": [["0.4457", "0.1087", "0.4457"]]},
            {},
            {"exp": ["right"] * 3, "weights": ["rounded-early"] * 3},
        ),
    ],
)
def test_what_no_calculation_gives_is_not_excused(
    given: dict[str, Any], claims: dict[str, Any], axes: dict[str, Any], expected: Any
) -> None:
    assert in_steps(given, claims, **axes) == expected


WIDE = {"scores": [[1, 0]], "V": [[10, 100], [20, 200]]}  # output 12.68941, 126.8941


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (["12.70", "127.00"], ["rounded-early"] * 2),  # both as written
        (["12.69", "126.90"], ["right", "rounded-early"]),  # both with a digit more
        (["12.70", "126.89"], ["rounded-early", "right"]),  # a right number decides no style
        (["12.69", "127.00"], ["right", "rounded-early"]),
        (["12.70", "126.90"], ["rounded-early", "last-digit"]),
    ],
)
def test_one_style_explains_the_whole_sheet(output: list[str], expected: list[str]) -> None:
    found = in_steps(WIDE, {"weights": ["0.73", "0.27"], "output": [output]})
    assert found == {"weights": ["right"] * 2, "output": expected}


def test_the_style_is_told_where_it_explains_something() -> None:
    early = check(TENS, {"weights": ["0.73", "0.27"], "output": "12.70"})
    assert early.style == "The numbers were used as written."
    assert [str(e) for e in early.entries[-1].because] == ["weights[1,1]", "weights[1,2]"]
    assert check(TENS, {"weights": ["0.73", "0.27"], "output": "12.69"}).style == ""
    assert check(TENS, {"weights": ["0.73", "0.27"], "output": "12.71"}).style == ""


NO_HABIT = "no other number is cut off, so it may be a mistake"


@pytest.mark.parametrize(
    ("weights", "output", "expected", "remark"),
    [
        # 0.73106, 0.26894 and 12.68941; from 0.7310 and 0.2689 as written 12.688
        (["0.7310", "0.2689"], "12.688", ["truncated", "right", "rounded-early"], ""),
        (["0.7310", "0.2689"], "12.68", ["truncated", "right", "truncated"], ""),
        (["0.7310", "0.2689"], "12.689", ["truncated", "right", "right"], NO_HABIT),
        (["0.7311", "0.2689"], "12.68", ["right", "right", "truncated"], NO_HABIT),
        (["0.7311", "0.2689"], "12.67", ["right", "right", "wrong"], ""),
        (["0.7309", "0.2689"], "12.689", ["wrong", "right", "right"], ""),
    ],
)
def test_cutting_off_is_a_habit_or_a_doubt(
    weights: list[str], output: str, expected: list[str], remark: str
) -> None:
    found = check(TENS, {"weights": weights, "output": output})
    assert [e.verdict for e in found.entries] == expected
    assert {e.remark for e in found.entries if e.verdict == "truncated"} <= {remark}


def test_what_was_cut_off_is_used_cut_off_or_whole() -> None:
    low = {"scores": [[2, 0]], "V": [[1000], [0]]}  # 0.880797: 0.8807 is cut off
    for output, verdict in (
        ("880.79", "truncated"),
        ("880.70", "rounded-early"),
        ("880.75", "wrong"),
        ("880.71", "wrong"),
    ):
        found = in_steps(low, {"weights[1,1]": "0.8807", "output": output})
        assert found == {"weights": ["truncated"], "output": [verdict]}, output


# ---- what depends on a mistake ---------------------------------------------------------------

ROWS = {"scores": [[1, 0], [1, 0]], "V": [["0.5"], ["0.25"]]}  # each row 0.4328


def test_a_mistake_in_another_row_carries_nothing() -> None:
    weights = [["0.731", "0.269"], ["0.5", "0.4"]]
    claims = {"weights": weights, "output": [["0.4327"], ["0.3500"]]}  # 0.43275 from the row
    claims["output"][0] = ["0.4328"]
    assert in_steps(ROWS, claims)["output"] == ["right", "carried"]
    assert because(ROWS, claims) == {"output[2,1]": ["weights[2,1]", "weights[2,2]"]}
    claims["output"][1] = ["0.3600"]
    assert in_steps(ROWS, claims)["output"] == ["right", "wrong"]


def test_a_coefficient_of_nought_carries_nothing() -> None:
    given = {"scores": [[1, 0]], "V": [[10, 0], [0, 10]]}  # output 7.311, 2.689
    claims = {"weights": ["0.78", "0.27"], "output": [["7.80", "2.70"]]}
    assert in_steps(given, claims) == {
        "weights": ["wrong", "right"],
        "output": ["carried", "rounded-early"],
    }
    assert because(given, claims) == {"output[1,1]": ["weights[1,1]"]}
    claims["output"] = [["7.80", "2.80"]]
    assert in_steps(given, claims)["output"] == ["carried", "wrong"]


def test_a_mistake_in_another_head_carries_nothing() -> None:
    given = {"Q": [[[1]], [[1]]], "K": [[[1], [0]]] * 2, "V": [[[10], [20]]] * 2}
    claims = {
        "weights[1]": ["0.83", "0.27"],
        "weights[2]": ["0.73", "0.27"],
        "heads": [[["13.70"]], [["12.70"]]],
    }
    assert in_steps(given, claims)["heads"] == ["carried", "rounded-early"]
    assert because(given, claims) == {"heads[1,1,1]": ["weights[1,1,1]"]}
    claims["heads"] = [[["13.70"]], [["13.70"]]]
    assert in_steps(given, claims)["heads"] == ["carried", "wrong"]


def test_whole_numbers_are_themselves() -> None:
    third = {"Q": [["1/3"]], "K": [[3], [1]]}  # scores 1, 1/3; weights 0.6608, 0.3392
    for scores, weight, verdict in (
        (["1", "0.3"], "0.67", "rounded-early"),  # 1/(1 + e^-0.7) = 0.6682
        (["1", "0.33"], "0.67", "last-digit"),  # 0.6615, and 0.6608 unrounded
        (["1", "0"], "0.73", "carried"),  # 0 is 1/3 rounded, but no number to go on from
        (["1", "0"], "0.72", "wrong"),  # from 0.94, which rounds to 1; but 1 is 1
    ):
        found = in_steps(third, {"scores": scores, "weights[1,1]": weight})
        assert found["weights"] == [verdict], (scores, weight)


COARSE = {"X": [[1, 0], [0, 1]], "W_Q": [[1, "0.5"], [1, "2.5"]], "K": [[1, 2], [3, 1]]}


@pytest.mark.parametrize(
    ("claims", "expected"),
    [
        # scores 2, 3.5, 6 and 5.5; from 0 for 0.5 and 2 for 2.5 they are 1, 3, 5 and 5
        (
            {"Q": [["1", "0"], ["1", "2"]], "scores": [["1", "3"], ["5", "5"]]},
            {"Q": ["right", "wrong", "right", "wrong"], "scores": ["carried"] * 4},
        ),
        (
            {"Q": [["1", "0"], ["1", "2"]], "scores": [["2.0", "3.5"], ["6.0", "5.5"]]},
            {"Q": ["right"] * 4, "scores": ["right"] * 4},
        ),
        ({"Q": [["1", "0"], ["1", "2"]]}, {"Q": ["right"] * 4}),
        ({"Q": [["1", "0.5"], ["1", "2.5"]]}, {"Q": ["right"] * 4}),
    ],
)
def test_a_rounding_that_makes_another_number_is_a_mistake_where_it_is_used(
    claims: dict[str, object], expected: dict[str, list[str]]
) -> None:
    assert in_steps(COARSE, claims) == expected


@pytest.mark.parametrize(
    ("values", "claimed", "output", "expected"),
    [
        (["123.4", "87.2"], ["123", "87"], "113.28", ["right", "right", "rounded-early"]),
        (["12.4", "8.2"], ["12", "8"], "10.92", ["wrong", "wrong", "carried"]),
        (["0.05", "0.025"], ["0.1", "0.0"], "0.07311", ["wrong", "wrong", "carried"]),
        (["0.05", "0.025"], ["0.1", "0.0"], "0.1", ["right", "right", "rounded-early"]),
        (["0.9", "0.34"], ["0.9", "0.3"], "0.739", ["right", "right", "rounded-early"]),
    ],
)
def test_how_coarse_a_rounding_may_be(
    values: list[str], claimed: list[str], output: str, expected: list[str]
) -> None:
    given = {"scores": [[1, 0], [0, 1]], "X": [[1, 0], [0, 1]], "W_V": [[v] for v in values]}
    found = check(given, {"V": [[c] for c in claimed], "output[1,1]": output})
    assert [e.verdict for e in found.entries] == expected


# ---- truncated, last digit, wrong, undecided -------------------------------------------------


@pytest.mark.parametrize(
    ("true", "claim", "verdict"),
    [
        ("2/3", "0.6", "truncated"),
        ("2/3", "0.7", "right"),
        ("2/3", "0.5", "wrong"),
        ("2/3", "0.66", "truncated"),
        ("2/3", "0.65", "wrong"),
        ("2/3", "0.68", "wrong"),
        ("2/3", "0", "wrong"),
        ("-2/3", "-0.6", "truncated"),
        ("-2/3", "-0.66", "truncated"),
        ("-2/3", "-0.68", "wrong"),
        ("-2/3", "-0", "wrong"),
        ("0.06", "0.0", "truncated"),
        ("-0.06", "0.0", "truncated"),
        ("-0.06", "-0.0", "truncated"),
        ("0.1", "0.0", "wrong"),
        ("0.0999", "0.09", "truncated"),
        ("0.0999", "0.10", "right"),
        ("0.0999", "0.11", "wrong"),
        ("0.995", "1.00", "right"),
        ("0.994", "1.00", "last-digit"),
        ("0.99", "1.00", "last-digit"),
        ("0.9899", "1.00", "wrong"),
        ("0.34", "0.3", "right"),
        ("0.34", "0.4", "wrong"),
        ("150", "1e2", "wrong"),
        ("-0.994", "-1.00", "last-digit"),
        ("0.3", "0.31", "last-digit"),
        ("0.3", "0.29", "last-digit"),
        ("0.3", "0.28", "wrong"),
        ("0.3", "2.9e-1", "last-digit"),
    ],
)
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
        "right",
        "truncated",
        "rounded-early",
        "undecided",
        "last-digit",
        "carried",
        "wrong",
    )
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


def test_true_values_are_shown_beyond_the_claim() -> None:
    from symattn.reports.results import true_text

    found = check(THIRDS, {"weights": ["0.33", "0.3", "1/3"]})
    mark = found.steps[0]
    assert [true_text(found, mark, entry) for entry in mark.entries] == [
        "0.3333",
        "0.333",
        "0.3333",
    ]
    assert Fraction(true_text(found, mark, mark.entries[0])) < Fraction(1, 3)


def test_a_right_number_decides_no_style() -> None:
    """1.00 is the true value, and 3 · 0.33 is 0.99: the other numbers were used as written."""
    one = [[-1, 1], [1, -1], [0, 0]]
    given = {"Q": one, "K": [[1, -1], [-1, 1], [0, 0]], "V": [[2, 0], [0, 2], [1, 1]]}
    weights = [["0.05", "0.77", "0.19"], ["0.77", "0.05", "0.19"], ["0.33"] * 3]
    output = [["0.29", "1.73"], ["1.73", "0.29"], ["1.00", "1.00"]]
    found = check(given, {"weights": weights, "output": output}, {})
    assert found.passed and found.style == "The numbers were used as written."
    assert verdicts(found)["output"] == ["rounded-early"] * 4 + ["right"] * 2
    for place, slip in (((0, 0), "0.30"), ((1, 0), "1.75")):
        slipped = [list(row) for row in output]
        slipped[place[0]][place[1]] = slip
        assert not check(given, {"weights": weights, "output": slipped}, {}).passed
