"""The softmax in steps: with the row maximum taken off, and as by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sympy

from symattn import Attention, SymattnError, text
from symattn.attention.variants import VARIANTS, Variant
from symattn.nodes.rule import Named, parts, rule_of
from symattn.reports.check import check_worksheet
from symattn.sheets.worksheet import worksheet_of
from symattn.step import COLUMN, ROW

SCORES: dict[str, list[list[Any]]] = {
    "float64": [[800, 792, -800], [-800, -801, -800], ["-inf", "-inf", "-inf"]],
    "float32": [[200, 192, -200], [-200, -201, -200], ["-inf", "-inf", "-inf"]],
    "float16": [[12, 11, -12], [-12, -13, -12], ["-inf", "-inf", "-inf"]],
}
SHEET = """
schema = 1
[attention]
scale = false
{axes}
[given]
Q = [[1], [2]]
K = [[1], [2], [3]]
V = [[1], [2], [3]]
[claims]
{claims}
"""


def softmax(rows: list[list[Any]]) -> np.ndarray[Any, Any]:
    """By mpmath at 60 digits, row by row; 0 for a row of −∞ alone."""
    import mpmath

    out = np.zeros((len(rows), len(rows[0])))
    with mpmath.workdps(60):
        for i, row in enumerate(rows):
            powers = [mpmath.exp(mpmath.mpf(x)) for x in row]
            total = mpmath.fsum(powers)
            if total:
                out[i] = [float(power / total) for power in powers]
    return out


@pytest.mark.parametrize("dtype", SCORES)
def test_large_logits_give_the_right_weights(dtype: str) -> None:
    derivation = Attention(unfold=True).derivation(given=["masked", "V"])
    values = derivation.evaluate(dtype=dtype, masked=SCORES[dtype], V=[[1], [2], [3]])
    array = values["weights"].array
    assert array.dtype == np.dtype(dtype)
    units = 4 * float(np.finfo(dtype).eps)
    np.testing.assert_allclose(array, softmax(SCORES[dtype]), rtol=units, atol=units)
    check = values.check()
    assert check.agrees, check.first_wrong
    assert values["weights"].exact.row(2) == sympy.zeros(1, 3)
    assert float(values["weights"].exact[0, 1]) == pytest.approx(softmax(SCORES[dtype])[0, 1])
    assert values["output"].exact[2, 0] == 0


@pytest.mark.parametrize("dtype", SCORES)
def test_without_the_maximum_they_overflow(dtype: str) -> None:
    """What the step is for; and that the test above could fail."""
    derivation = Attention(unfold="plain").derivation(given=["masked", "V"])
    values = derivation.evaluate(dtype=dtype, masked=SCORES[dtype], V=[[1], [2], [3]])
    assert not values.check().agrees
    assert float(values["weights"].exact[0, 1]) == pytest.approx(softmax(SCORES[dtype])[0, 1])


def test_the_steps_and_their_lines() -> None:
    derivation = Attention(unfold=True, scale=False).derivation()
    assert [step.name for step in derivation.steps] == [
        "scores",
        "row_max",
        "exp",
        "exp_sum",
        "weights",
        "output",
    ]
    assert [str(step) for step in derivation.steps[1:3]] == ["ρ = rowmax(S)", "F = exp(S − ρ 1ᵀ)"]
    values = derivation.evaluate(Q=[[1], [2]], K=[["0.5"], [1]], V=[[1], [2]])
    assert text(values["row_max"].worked(2, 1)) == "ρ_21 = max(1, 2) = 2"
    assert text(values["exp"].worked(2, 1)) == "f_21 = e^(1 − 2) = e^(−1) ≈ 0.3679"
    assert text(derivation["exp"].entry()) == "f_ij = e^(s_ij − ρ_i1)"


def test_a_row_of_nothing_says_so() -> None:
    derivation = Attention(unfold=True, scale=False, mask="boolean").derivation()
    values = derivation.evaluate(Q=[[1], [2]], K=[[1], [2]], V=[[1], [2]], allowed=[[1, 1], [0, 0]])
    assert text(values["row_max"].worked(2, 1)) == "ρ_21 = max(−∞, −∞) = −∞"
    for name in ("exp", "weights"):
        line = text(values[name].worked(2, 1))
        assert line.endswith(" = 0 (no key may be attended to)"), line
    assert values.check().agrees
    assert np.isfinite(values["weights"].array).all()


@pytest.mark.parametrize(
    "row",
    [row for row in VARIANTS if row.spec.normaliser == "softmax"],
    ids=lambda row: row.name,
)
def test_no_letter_means_two_things(row: Variant) -> None:
    """The letter of the maximum is none of an input, another step, a size or an entry rule."""
    derivation = replace(row.spec, unfold=True).derivation()
    items = (*derivation.inputs, *derivation.steps)
    assert [item.name for item in items if item.letter == "rho"] == ["row_max"]
    assert "rho" not in {letter for item in items for letter in map(str, item.shape)}
    for step in derivation.steps:
        rule = rule_of(step.expr, ROW, COLUMN)
        assert "rho" not in {part.letter for part in parts(rule) if isinstance(part, Named)}


def test_the_gradient_does_not_see_the_maximum() -> None:
    """dρ is exactly 0: the weights do not depend on what was taken off."""
    derivation = Attention(unfold=True, scale=False).derivation().gradient(("Q",))
    told: dict[str, Any] = {"Q": [[1], [2]], "K": [[1], ["1/2"]], "V": [[3], [1]], "dO": [[1], [2]]}
    values = derivation.evaluate(**told)
    assert values["d_row_max"].decimals(6) == [["0"], ["0"]]
    whole = Attention(scale=False).derivation().gradient(("Q",)).evaluate(**told)
    assert values["dQ"].decimals(12) == whole["dQ"].decimals(12)
    assert values.check().agrees


def marked(claims: str, axes: str = "") -> dict[str, list[str]]:
    """The verdicts by step."""
    sheet = worksheet_of(SHEET.format(claims=claims, axes=axes))
    steps = check_worksheet(sheet).steps
    return {step.name: [entry.verdict for entry in step.entries] for step in steps}


BY_HAND = '"exp[1,:]" = ["2.72", "7.39", "20.09"]\n"exp_sum[1,1]" = "30.19"\n'
TAKEN_OFF = '"exp[1,:]" = ["0.14", "0.37", "1.00"]\n"exp_sum[1,1]" = "1.50"\n'


@pytest.mark.parametrize(
    ("claims", "axes"),
    [
        (BY_HAND, ""),
        (BY_HAND, "unfold = true"),
        (BY_HAND, 'unfold = "plain"'),
        (TAKEN_OFF, 'unfold = "shifted"'),
        (TAKEN_OFF + '"row_max[1,1]" = 3\n', ""),
        (TAKEN_OFF + '"row_max[1,1]" = 3\n', "unfold = true"),
    ],
)
def test_claims_mean_what_their_author_computed(claims: str, axes: str) -> None:
    found = marked(claims, axes)
    assert found["exp"] == ["right"] * 3
    assert found["exp_sum"] == ["right"]
    assert set(found) <= {"row_max", "exp", "exp_sum"}


def test_the_other_exponentials_are_wrong() -> None:
    assert set(marked(BY_HAND, 'unfold = "shifted"')["exp"]) == {"wrong"}
    assert set(marked(TAKEN_OFF, 'unfold = "plain"')["exp"]) == {"wrong"}


def test_an_unfolding_that_does_not_exist() -> None:
    with pytest.raises(SymattnError, match='did you mean "shifted"'):
        Attention(unfold="shfted")
    with pytest.raises(SymattnError, match="known: plain, shifted"):
        Attention(unfold="zzz")


#: From 2.72, 7.39 and 20.09 the weights are 0.0901, 0.2448 and 0.6654; true are 0.0900, 0.2447, …
@pytest.mark.parametrize(
    ("exps", "total", "weights", "expected"),
    [
        (
            ["2.72", "7.39", "20.09"],
            "30.20",
            ["0.0901", "0.2447", "0.6652"],
            ["rounded-early", "right", "right"],
        ),  # 2.72/30.20
        (["2.72", "7.39", "20.09"], "30.19", ["0.0900", "0.2447", "0.6652"], ["right"] * 3),
        (
            ["2.72", "7.39", "20.09"],
            "30.20",
            ["0.0901", "0.2448", "0.6652"],
            ["rounded-early", "last-digit", "right"],
        ),  # 7.39/30.20 is 0.24470
        (["2.72", "7.39", "20.90"], "31.01", ["0.0877", "0.2383", "0.6740"], ["carried"] * 3),
        (
            ["2.72", "7.39", "20.90"],
            "31.01",
            ["0.0877", "0.2393", "0.6740"],
            ["carried", "wrong", "carried"],
        ),
        (["2.72", "7.39", "20.09"], "31.20", ["0.0872", "0.2369", "0.6439"], ["carried"] * 3),
        (
            ["2.72", "7.39", "20.09"],
            "31.20",
            ["0.0901", "0.2369", "0.6652"],
            ["rounded-early", "carried", "right"],
        ),  # 2.72/30.20, of which 31.20 is a wrong copy
    ],
)
def test_weights_follow_from_the_powers_and_the_sum_as_written(
    exps: list[str], total: str, weights: list[str], expected: list[str]
) -> None:
    claims = {"exp[1,:]": exps, "exp_sum[1,1]": total, "weights[1,:]": weights}
    text = "".join(f'"{key}" = {json.dumps(value)}\n' for key, value in claims.items())
    found = marked(text)
    sums = {"30.19": "right", "30.20": "rounded-early", "31.01": "carried", "31.20": "wrong"}
    assert found["exp_sum"] == [sums[total]]
    assert found["weights"] == expected


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ('["0.446", "0.109", "0.446"]', ["right"] * 3),
        ('["0.4457", "0.1087", "0.4457"]', ["rounded-early"] * 3),  # 4.1/9.2 and 1/9.2
        ('["0.451", "0.110", "0.450"]', ["wrong"] * 3),  # 4.1/9.1 and 1/9.1: e^z counted twice
    ],
)
def test_no_power_is_counted_twice(weights: str, expected: list[str]) -> None:
    text = (
        '[attention]\nscale = false\n[given]\nscores = [["1.41", 0, "1.41"]]\n[claims]\n'
        f'exp = [["4.1", "1", "4.1"]]\nweights = [{weights}]\n'
    )
    steps = check_worksheet(worksheet_of(text)).steps
    assert [entry.verdict for entry in steps[-1].entries] == expected
