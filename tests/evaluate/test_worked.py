"""Every worked line, read back and worked out again, gives its result; its signs = are true."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy

from symattn import (
    VARIANTS,
    Attention,
    Derivation,
    Evaluation,
    Notation,
    derivation,
    text,
    variant,
)
from symattn.arithmetic.decide import enclosure
from symattn.attention.example import small_example
from symattn.derivations import Input, Step, worked_together
from symattn.nodes.entrywise import Entrywise
from symattn.sheets.worksheet import read_worksheet
from tests.shares import share
from tests.worked_lines import DIGITS, faults, names_in, value_of

EXAMPLES = sorted(Path("examples").glob("*.toml"))


def lines_of(derivation: Derivation, evaluation: Evaluation, digits: int) -> Iterator[Any]:
    """The worked line of every entry of every step, and the entry's value."""
    notation = Notation(digits=digits)
    for step in derivation:
        value = evaluation[step.name]
        balls = evaluation.balls(step.letter, 256)
        for place in np.ndindex(*value.shape):
            *lead, row, column = (index + 1 for index in place)
            head = lead[0] if lead else None
            low, _ = enclosure(balls[place], DIGITS)
            with mpmath.workdps(DIGITS):
                yield text(value.worked(row, column, head, notation)), mpmath.mpf(low)


def wrong_lines(derivation: Derivation, evaluation: Evaluation, digits: int) -> list[str]:
    lines = list(lines_of(derivation, evaluation, digits))
    names = names_in(lines)
    return [f"{line}\n   {fault}" for line, _ in lines for fault in faults(line, digits, names)]


@cache
def example(name: str) -> tuple[Derivation, Evaluation]:
    """A small example of a variant."""
    return small_example(variant(name).spec)


@pytest.mark.parametrize(
    ("name", "digits"), share(product([row.name for row in VARIANTS], range(1, 9)), 80, 15)
)
def test_the_lines_of_every_variant_give_their_results(name: str, digits: int) -> None:
    assert wrong_lines(*example(name), digits) == []


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_lines_of_every_example_give_their_results(path: Path) -> None:
    worksheet = read_worksheet(path)
    derivation = worksheet.derivation()
    assert wrong_lines(derivation, worksheet.evaluate(derivation), 4) == []


def line_of(derivation: Derivation, name: str, place: tuple[int, int], **given: Any) -> str:
    """A worked line; the scores are not scaled unless asked."""
    return text(derivation.evaluate(**given)[name].worked(*place))


def test_lines_of_exact_operands_are_exact() -> None:
    plain = Attention(scale=False).derivation()
    thirds: dict[str, Any] = {"Q": [[0]], "K": [[1], [2], [3]], "V": [[1], [3], [5]]}
    assert line_of(plain, "output", (1, 1), **thirds) == "o_11 = (1/3)·1 + (1/3)·3 + (1/3)·5 = 3"
    long = {"Q": [["0.12345678", "1/7"]], "K": [["2", "1/3"]], "V": [[1]]}
    assert line_of(plain, "scores", (1, 1), **long) == "s_11 = 0.12345678·2 + (1/7)·(1/3) ≈ 0.2945"
    scaled = Attention().derivation()
    thirds = {"Q": [["1/3", "0.03125"]], "K": [[1, 1]], "V": [[1]]}
    line = line_of(scaled, "scaled", (1, 1), **thirds)
    assert line == "z_11 = ((1/3)·1 + 0.03125·1)/√2 = (35/96)/√2 ≈ 0.2578"


def test_a_tie_is_given_by_the_numbers_shown() -> None:
    derivation = Attention(source="self", scale=False).derivation()
    told = {"X": [[1]], "W_Q": [["1/3"]], "W_K": [["1.05"]], "W_V": [[1]]}  # 0.35
    scores = derivation.evaluate(**told)["scores"]
    line = text(scores.worked(1, 1, notation=Notation(digits=1)))
    assert line == "s_11 = (1/3)·1.05 ≈ 0.4"  # 0.3333·1.05 would give 0.3
    cosine = Attention(score="cosine", scale=False).derivation()
    unit = cosine.evaluate(Q=[[1, 1]], K=[[1, 1]], V=[[1]])["scores"]
    assert text(unit.worked(1, 1)) == "s_11 = (1/√2)·(1/√2) + (1/√2)·(1/√2) = 1"


def test_a_distance_of_equal_coordinates_has_no_minus_zero() -> None:
    for scale in (False, True):
        derivation = Attention(score="distance", scale=scale).derivation()
        for key in ("1/3", "1/7"):
            told: dict[str, Any] = {"Q": [["1/3", "sqrt(2)"]], "K": [[key, "sqrt(2)"]], "V": [[1]]}
            line = line_of(derivation, "scaled" if scale else "scores", (1, 1), **told)
            assert "−0 " not in line and "−0/" not in line
            assert list(faults(line, 4, {})) == []


@pytest.mark.parametrize(
    "line",
    [
        "s_11 = 1·2 + 3·4 = 15",
        "s_11 ≈ 0.3333·3 ≈ 1",
        "o_11 ≈ 0.3333·0.37035 ≈ 0.1235",
        "a_11 ≈ e^0.5/(e^0.5 + e^1.5) ≈ 1.65/(1.65 + 4.48) ≈ 0.2689",
        "z_11 = √2·√2 = 2.0001",
        "z_11 = 1/3 = 0.3333",
        "s_11 = −0 = 0",
        "a_12 = 1 since argmax(1, 2, 3) = 2",
        "a_11 ≈ e^0/(e^0 + e^2.7279) ≈ 1/(1 + 15.3008) ≈ 0.0613",
        "a_11 ≈ (0.25·3 + 1.5)/√4 ≈ 2.26/√4 ≈ 1.13",
        "a_11 ≈ 0.5·0.1235 + 1 ≈ 0.5·0.124 + 1 ≈ 1.062",
        "a_11 ≈ 5.03·10^(−7039)/(5.03·10^(−7039) + 1) ≈ 5.04·10^(−7039)",
        "a_11 ≈ max(0, 2.8284 − τ(0, 2.8284, 2.8284, 1)) ≈ 0.4",
    ],
)
def test_a_wrong_line_is_noticed(line: str) -> None:
    assert list(faults(line, 4, {})) != []


@pytest.mark.parametrize(
    ("stage", "value"),
    [
        ("(−3)²·10^(−5)", Fraction(9, 100_000)),
        ("−(1/2 − 2)² + 2 √4·3", Fraction(39, 4)),
        ("max(0, 2 − τ(1/3, 2, 1.5, −3))", Fraction(3, 4)),
        ("σ(−∞) + e^(−∞) + tanh(0)", Fraction(0)),
        ("s_11 − q^f⁽¹⁾_12", Fraction(1)),
    ],
)
def test_text_is_read_as_it_is_meant(stage: str, value: Fraction) -> None:
    assert value_of(stage, {"s_11": Fraction(3), "q^f⁽¹⁾_12": Fraction(2)}) == value


@pytest.mark.parametrize("name", ["tanh", "cos", "erf"])
def test_a_function_of_each_entry_is_worked_out(name: str) -> None:
    n, m = sympy.symbols("n m", integer=True, positive=True)
    X, Y = (sympy.MatrixSymbol(letter, n, m) for letter in "XY")
    derivation = Derivation((Input("X", X, "numbers"),), (Step("y", Y, Entrywise(X, name)),))
    rows = derivation.evaluate(X=[["0", "-7/3", "√2"], ["0.001", "3", "12"]])["y"]
    lines = [text(rows.worked(i, j)) for i in (1, 2) for j in (1, 2, 3)]
    for line in lines:
        assert f"{name}(" in line
        assert list(faults(line, 4, {})) == []
    assert list(faults(lines[1].replace(name, "sin"), 4, {})) != []


@pytest.mark.parametrize(
    ("score", "result"),
    [("1e80", "1.0000"), ("1e300", "1.0000"), ("-1e80", "0.0000"), ("1e-80", "0.5000")],
)
def test_numbers_too_large_to_be_written_out_are_not(score: str, result: str) -> None:
    """Their lines cannot be worked out again, and end in the proven result all the same."""
    evaluation = Attention(scale=False).derivation(["scores"]).evaluate(scores=[[score, 0]])
    assert text(evaluation["weights"].worked(1, 1)).endswith(f"≈ {result}")


def test_what_is_hidden_rounds_nothing() -> None:
    rows = (
        Attention(mask="causal")
        .derivation()
        .evaluate(Q=[[1, 0], [0, 1]], K=[[1, 2], [0, 1]], V=[[1], [0]])["weights"]
    )
    shown = "/(e^(1/√2) + e^(−∞))", "/(e^(1/√2) + 0)"
    assert text(rows.worked(1, 1)) == f"a_11 = e^(1/√2){shown[0]} = e^(1/√2){shown[1]} = 1"
    assert text(rows.worked(1, 2)) == f"a_12 = e^(−∞){shown[0]} = 0{shown[1]} = 0"
    assert "≈ 0.6698" in text(rows.worked(2, 1))


def test_an_exponential_stays_above_the_bar() -> None:
    values = (
        Attention()
        .derivation()
        .evaluate(Q=[["1/3", "-sqrt(2)"]], K=[[1, 0], ["-1/2", 1]], V=[[1], [0]])
    )
    line = text(values["weights"].worked(1, 2, notation=Notation(exact=True)))
    power = "e^(√2 (−√2 − 1/6)/2)"
    assert line.endswith(f"= {power}/({power} + e^(1/(3 √2)))")


#: A rounded decimal; what is in scientific notation is rounded otherwise.
_DECIMAL = re.compile(r"(?<![\w.])\d+\.(\d+)(?!\d*·10)")


def decimals_of(line: str, digits: int, exact: set[str]) -> list[set[int]]:
    """How many decimals the rounded numbers of each stage but the result have."""
    links = re.split(r" [=≈] ", line.partition(" since ")[0].partition(" (no key")[0])
    return [
        {
            len(match[1])
            for match in _DECIMAL.finditer(stage)
            if len(match[1]) >= digits and match[0] not in exact
        }
        for stage in links[1:-1]
    ]


@pytest.mark.parametrize(
    ("name", "digits"), share(product([row.name for row in VARIANTS], range(1, 9)), 40, 15)
)
def test_the_numbers_of_a_stage_have_as_many_decimals(name: str, digits: int) -> None:
    """In a line, and, as far as they have the same stages, in the lines of a step."""
    derivation, evaluation = example(name)
    notation, names = Notation(digits=digits), dict[str, Any]()
    exact = {  # 0.8 of a step before has all its digits
        str(abs(float(x))) for item in derivation for x in evaluation.exact(item.letter).flat
    }
    for step in derivation:
        places = [*np.ndindex(*evaluation[step.name].shape)][:6]
        trees = worked_together(evaluation, step, places, notation)
        found = []
        for tree in trees:
            line = text(tree)
            assert list(faults(line, digits, names)) == []
            found.append(decimals_of(line, digits, exact))
            assert all(len(some) <= 1 for some in found[-1]), line
        for one, other in product(found, found):
            if len(one) == len(other) and all(map(bool, one)) and all(map(bool, other)):
                assert one == other, [text(tree) for tree in trees]


def test_a_result_that_rounds_to_nothing_follows_from_numbers() -> None:
    """A sum of −0.0028 is 0.00 in two decimals, not −2.8·10^(−3): it has as many as the others."""
    keys, rows = [["1", "0"], ["0", "1"], ["0", "0"]], [["1", "1"], ["-1", "0"], ["-0.0084", "1"]]
    evaluation = Attention().derivation().evaluate(Q=[["0", "0"]], K=keys, V=rows)
    step = next(step for step in evaluation.steps if step.name == "output")
    lines = [*map(text, worked_together(evaluation, step, [(0, 0), (0, 1)], Notation(digits=2)))]
    assert "·(−0.0084)" in lines[0]
    assert lines[0].endswith(" ≈ 0.00"), lines[0]
    assert lines[1].endswith(" ≈ 0.67"), lines[1]


@pytest.mark.parametrize(
    ("scores", "line"),
    [
        (
            ["36.5", "30.25", "12"],
            "a_11 = e^36.5/(e^36.5 + e^30.25 + e¹²) "
            "≈ 7.1080·10¹⁵ / (7.1080·10¹⁵ + 1.3722·10¹³ + 162754.7914) "
            "≈ 7.1080·10¹⁵ / (7.1217·10¹⁵) ≈ 0.9981",
        ),
        (
            ["20", "19.5", "3"],
            "a_11 = e²⁰/(e²⁰ + e^19.5 + e³) "
            "≈ 485165195.4098/(485165195.4098 + 294267566.0415 + 20.0855) "
            "≈ 485165195.4098/779432781.5368 ≈ 0.6225",
        ),
    ],
)
def test_large_rounded_numbers_are_powers_of_ten(scores: list[str], line: str) -> None:
    values = Attention(scale=False).derivation(["scores"]).evaluate(scores=[scores])["weights"]
    assert text(values.worked(1, 1)) == line
    assert list(faults(line, 4, {})) == []


def test_exact_numbers_of_a_line_have_one_form() -> None:
    given = {"A": [["1/3", "0.5"], ["0.25", "0.5"]], "V": [[0.5], [1]]}
    step = derivation("O = A V").evaluate(**given)["O"]
    exact = Notation(exact=True)
    assert text(step.worked(1, 1, notation=exact)) == "o_11 = (1/3)·(1/2) + (1/2)·1 = 2/3"
    assert text(step.worked(2, 1, notation=exact)) == "o_21 = 0.25·0.5 + 0.5·1 = 0.625"
