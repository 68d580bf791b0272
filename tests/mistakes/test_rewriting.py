"""Equations of misconceptions: what they make of the steps of a derivation."""

from __future__ import annotations

import pytest

from symattn import Attention
from symattn.errors import ReadError
from symattn.mistakes import OF_PROGRAMS, Steps
from symattn.mistakes.backward import OF_BACKWARD
from symattn.mistakes.rewriting import misconception_of, rewritten
from symattn.reports.check import check_worksheet
from symattn.sheets.worksheet import worksheet_of

SIZES = {"n": 3, "m": 3, "d_k": 4, "d_v": 2, "d_model": 4}
PLAIN = Attention(mask="causal")
SELF = Attention(source="self", positions={"rotary": {"base": 100}})


def changed(spec: Attention, text: str, **sizes: int) -> dict[str, str]:
    """What a text makes of the steps at these sizes."""
    derivation = spec.derivation()
    every = {**SIZES, **sizes}
    known = {size for item in derivation.inputs for size in item.shape}
    steps = Steps(derivation.subs({size: every[size.name] for size in known}))
    return {name: str(expr) for name, expr in rewritten(steps, text).items()}


@pytest.mark.parametrize(
    ("spec", "text", "wanted"),
    [
        (PLAIN, "scores: Q K^T = K Q^T", {"scores": "K*Q.T"}),
        (PLAIN, "scores: A B^T = A Q^T", {"scores": "Q*Q.T"}),
        (PLAIN, "scaled: S / c = S / c^2", {"scaled": "S/4"}),
        (
            PLAIN,
            "scaled: S / c = S; weights: A = A / c",
            {"scaled": "S", "weights": "softmax(G) / 2"},
        ),
        (PLAIN, "masked: Z + M = Z + M^T", {"masked": "Z + Mᵀ"}),
        (
            PLAIN,
            "masked: Z + causal(start=s) = Z + causal(start=s + 1)",
            {"masked": "Z + causal(3, 3, start = 1)"},
        ),
        (PLAIN, "Q K^T = Q K; if d_k > n", {}),
        (PLAIN, "scores = 2 scores", {"scaled": "2 S / 2"}),
        (PLAIN, "in masked: scaled = c scaled; where scaled = S / c", {"masked": "2 Z + M"}),
        (SELF, "Q, K, V: X W = X W^T", {"Q": "X*W_Q.T", "K": "X*W_K.T"}),
        (SELF, "Q_rotated, K_rotated: rotary(A) = A", {"Q_rotated": "Q", "K_rotated": "K"}),
        (
            SELF,
            "Q_rotated: rotary(A, base=b) = rotary(A, base=b^2)",
            {"Q_rotated": "rope(Q)"},
        ),
        (SELF, "Q: A B = A D; where K = C D", {"Q": "X*W_K"}),
        (SELF, "scaled: S / c = S; if mask", {}),
        (SELF, "scaled: S / c = S; if no mask", {"scaled": "S"}),
    ],
)
def test_what_equations_make_of_steps(spec: Attention, text: str, wanted: dict[str, str]) -> None:
    assert changed(spec, text) == wanted


def test_nobody_divides_by_1_or_changes_a_shape() -> None:
    assert changed(PLAIN, "scaled: S / c = S", d_k=1) == {}
    assert changed(PLAIN, "scores: Q K^T = K Q^T", n=2) == {}
    assert changed(PLAIN, "result: A B = A B") == {}


def test_every_equation_can_be_read() -> None:
    for row in (*OF_PROGRAMS, *OF_BACKWARD):
        texts = (row.change,) if isinstance(row.change, str) else row.change
        for text in texts if isinstance(texts, tuple) else ():
            assert misconception_of(row.name, text, "", "").name == row.name


SHEET = """
[given]
Q = [[1, 0], [2, 1]]
K = [[1, 2], [0, 1]]
V = [[1, 0], [0, 1]]
[claims]
scaled = [["2", "0"], ["8", "2"]]
[[misconception]]
name = "halved"
equation = "S / c = 2 S"
tell = "Nothing is doubled."
"""


def test_a_worksheet_adds_a_misconception() -> None:
    (found,) = check_worksheet(worksheet_of(SHEET)).explanations
    assert (found.name, found.tell, found.whole) == ("halved", "Nothing is doubled.", True)
    assert found.instead == "S / c = 2 S is taken to hold"
    said = SHEET.replace("tell =", 'instead = "the scores are doubled"\ntell =')
    assert check_worksheet(worksheet_of(said)).explanations[0].instead == "the scores are doubled"


@pytest.mark.parametrize(
    "equation",
    [
        "S / c = width(c)",
        "S / c = S / mod(c, 0)",
        "S / c = take(S, which=5)",
        "S / c = filled(1, rows=1000000000, columns=1000000000)",
        "S / c = blocks(S, 0)",
        "softmax(Z) = at(Z, 2, 3)",
        "S / c = S / (c - c)",
        "scaled: Q = nothing + Q",
    ],
)
def test_what_makes_no_sense_explains_nothing(equation: str) -> None:
    own = SHEET.replace("S / c = 2 S", equation)
    try:
        found = check_worksheet(worksheet_of(own)).explanations
    except ReadError:
        return
    assert "halved" not in [one.name for one in found]


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('name = "halved"', "", "misconception: name is missing"),
        ("S / c = 2 S", "S / c", 'misconception "halved": "S / c" cannot be read'),
        ("S / c = 2 S", "if m > 1", 'misconception "halved": an equation is missing'),
        ("[[misconception]]", "[misconception]", r"misconception: write \[\[misconception\]\]"),
        ("tell =", "say =", '"say" in \\[misconception\\] is not a known key'),
    ],
)
def test_a_misconception_that_cannot_be_used(old: str, new: str, why: str) -> None:
    with pytest.raises(ReadError, match=why):
        check_worksheet(worksheet_of(SHEET.replace(old, new)))
