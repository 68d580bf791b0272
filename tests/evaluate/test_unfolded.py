"""The softmax in steps: with the row maximum taken off, and as by hand."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import sympy

from symattn import Attention, text
from symattn.reports.check import check_worksheet
from symattn.sheets.worksheet import worksheet_of

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


def test_a_row_of_nothing_says_so() -> None:
    derivation = Attention(unfold=True, scale=False, mask="boolean").derivation()
    values = derivation.evaluate(Q=[[1], [2]], K=[[1], [2]], V=[[1], [2]], allowed=[[1, 1], [0, 0]])
    assert text(values["row_max"].worked(2, 1)) == "ρ_21 = max(−∞, −∞) = −∞"
    for name in ("exp", "weights"):
        line = text(values[name].worked(2, 1))
        assert line.endswith(" = 0 (no key may be attended to)"), line
    assert values.check().agrees
    assert np.isfinite(values["weights"].array).all()


def marked(claims: str, axes: str = "") -> dict[str, list[str]]:
    """The verdicts by step."""
    sheet = worksheet_of(SHEET.format(claims=claims, axes=axes))
    steps = check_worksheet(sheet).steps
    return {step.name: [entry.verdict for entry in step.entries] for step in steps}


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
