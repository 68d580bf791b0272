"""Exercises drawn from a seed: what a style promises, in plain NumPy and fractions."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from symattn.classroom.draws import Draws
from symattn.classroom.exercise import Exercise
from symattn.classroom.generator import Generator
from symattn.classroom.search import Search
from symattn.classroom.styles import DIFFICULTIES, STYLES
from symattn.classroom.task import Task, task_of
from symattn.errors import SymattnError
from symattn.reports.check import check_worksheet
from symattn.sheets.worksheet import worksheet_of
from tests import ROOT
from tests.classroom.tasks import generator, task

SQUARE = [("decimals", 2), ("integers", 4), ("fractions", 4)]


def numbers(exercise: Exercise) -> dict[str, Any]:
    """What is given, as arrays, logarithms put in."""
    given = tomllib.loads(exercise.text)["given"]

    def number(entry: int | str) -> float:
        return float(np.log(int(entry[3:]))) if isinstance(entry, str) else entry

    return {name: np.array([[*map(number, row)] for row in rows]) for name, rows in given.items()}


def causal(exercise: Exercise) -> tuple[Any, Any, Any]:
    """Scaled scores, weights and output, by NumPy alone."""
    given = numbers(exercise)
    scaled = given["Q"] @ given["K"].T / np.sqrt(given["Q"].shape[1])
    seen = np.tri(*scaled.shape) == 1
    exponentials = np.where(seen, np.exp(scaled), 0)
    weights = exponentials / exponentials.sum(axis=1, keepdims=True)
    return scaled, weights, weights @ given["V"]


def test_the_generator_is_the_published_one() -> None:
    """The first numbers from the seed 1234567, as Vigna's splitmix64.c prints them."""
    draws = Draws(1234567)
    expected = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert [draws.word() for _ in expected] == expected
    assert {Draws(seed).below(3) for seed in range(50)} == {0, 1, 2}


@pytest.mark.parametrize(("style", "d_k"), SQUARE)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_style_keeps_its_promise(style: str, d_k: int, seed: int) -> None:
    exercise = generator(style=style, d_k=d_k).exercise(seed)
    scaled, weights, output = causal(exercise)
    seen = np.tri(3) == 1
    assert (weights[seen] >= 0.03 - 1e-12).all()
    for row in weights:
        some = row[row > 0]
        assert all(abs(one - other) > 1e-6 for one, other in combinations(some, 2))
    if style == "integers":
        assert np.allclose(scaled, scaled.round())
        assert all(np.ptp(row[: k + 1]) < 3.001 for k, row in enumerate(scaled))
    if style == "fractions":
        assert np.allclose(output, output.round())
        answers = {blank: x for blank, x in exercise.answers.items() if blank.step == "weights"}
        assert all(Fraction(x).denominator <= 12 for x in answers.values())
    else:
        given = np.concatenate([array.ravel() for array in numbers(exercise).values()])
        assert {*given} <= {-1, 0, 1, 2}
    shown = {"weights": weights, "output": output, "scaled": scaled}
    for blank, answer in exercise.answers.items():
        if blank.step in shown:
            assert abs(float(Fraction(answer)) - shown[blank.step][blank.place]) <= 0.0005 + 1e-12


@pytest.mark.parametrize(("style", "d_k"), SQUARE)
def test_misconceptions_are_three_units_apart(style: str, d_k: int) -> None:
    """By the printed answers: three units apart before they are rounded, two at least after."""
    exercise = generator(style=style, d_k=d_k).exercise(4)
    rows = {one.misconception.name: one.answers for one in exercise.mistaken}
    rows["right"] = tuple(exercise.answers.values())
    assert len(rows) > 25
    told = {frozenset((one.name, other.name)) for one, other in exercise.alike}
    told |= {frozenset((one.name, "right")) for one in exercise.unseen}
    told |= {frozenset(("not-masked", "softmax-of-unmasked"))}  # reported as the first: no M asked
    for same in exercise.unseen[1:]:
        del rows[same.name]  # as the first of them: right
    for one, other in combinations(rows, 2):
        pairs = zip(rows[one], rows[other], strict=True)
        apart = any(
            x != y and ("inf" in x + y or abs(Fraction(x) - Fraction(y)) > Fraction(15, 10000))
            for x, y in pairs
        )
        assert apart != (frozenset((one, other)) in told), (one, other)


def test_the_key_says_what_the_blanks_cannot_tell() -> None:
    weights = generator(blank=("weights",)).exercise(5)
    said = " ".join(weights.untold)
    for name in ("keys-as-values", "queries-as-values", "weights-transposed", "residual-added"):
        assert name in said.partition("give the right answers")[0]
    assert f"# {weights.untold[0]}\n" in weights.key
    every = generator().exercise(5)
    assert "keys-as-values" not in " ".join(every.untold)


@pytest.mark.parametrize(("style", "d_k"), SQUARE)
def test_the_key_is_marked_right_and_a_misconception_is_named(style: str, d_k: int) -> None:
    exercise = generator(style=style, d_k=d_k).exercise(6)
    marking = check_worksheet(worksheet_of(exercise.key))
    assert marking.passed and len(marking.entries) == len(exercise.blanks)
    assert marking.notes == ()
    found = next(x for x in exercise.mistaken if x.misconception.name == "query-key-exchanged")
    answers = dict(zip(exercise.blanks, found.answers, strict=True))
    text = exercise.task.text(exercise.sheet.numbers, answers, exercise.sheet.exercise, {})
    wrong = check_worksheet(worksheet_of(text))
    assert not wrong.passed
    assert [one.name for one in wrong.explanations] == ["query-key-exchanged"]


@pytest.mark.parametrize("name", ["softmax-of-one", "over-the-largest"])
def test_a_whole_number_is_exact_where_fractions_are_asked_for(name: str) -> None:
    """1 is no 2/3 rounded, so that who writes whole numbers is told what was believed."""
    blank = ("scores", "scaled", "masked", "weights", "output")
    exercise = generator(style="fractions", d_k=4, blank=blank).exercise(0)
    one = next(x for x in exercise.mistaken if x.misconception.name == name)
    answers = dict(zip(exercise.blanks, one.answers, strict=True))
    text = exercise.task.text(exercise.sheet.numbers, answers, exercise.sheet.exercise, {})
    marking = check_worksheet(worksheet_of(text))
    assert [found.name for found in marking.explanations] == [name]
    plain = check_worksheet(worksheet_of(text.replace('style = "fractions"', "")))
    assert any("coarse" in entry.remark for entry in plain.entries) or not plain.explanations


def test_a_file_is_the_exercise_again() -> None:
    exercise = generator().exercise(7, title="Seven", student="Ada Lovelace")
    again = Exercise.of(worksheet_of(exercise.text))
    assert (again.blanks, again.answers) == (exercise.blanks, exercise.answers)
    assert again.sheet.exercise == {
        "style": "decimals",
        "difficulty": "usual",
        "digits": 3,
        "seed": 7,
        "generator": 1,
        "student": "Ada Lovelace",
    }
    assert again.sheet.title == "Seven"


def test_another_seed_is_another_exercise() -> None:
    found = {str(generator().exercise(seed).sheet.numbers) for seed in range(6)}
    assert len(found) == 6


def test_a_seed_is_the_same_file_in_every_process() -> None:
    """Whatever the order of hashes, and whatever was drawn before."""
    code = (
        "from tests.classroom.tasks import generator\n"
        "print(generator(style='integers', d_k=4).exercise(11).text)"
    )
    made = [
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    maker = generator(style="integers", d_k=4)
    maker.exercise(12)
    assert made == [maker.exercise(11).text + "\n"] * 2
    assert tomllib.loads(made[0])["given"] == {
        "Q": tomllib.loads(made[0])["given"]["Q"],
        **{name: maker.exercise(11).sheet.numbers[name] for name in ("K", "V")},
    }


def test_harder_ones_take_more_operations() -> None:
    def median(difficulty: str) -> float:
        maker = generator(difficulty=difficulty)
        return float(np.median([maker.exercise(seed).operations for seed in range(7)]))

    assert [*DIFFICULTIES] == ["easy", "usual", "hard"]
    assert median("easy") < median("usual") < median("hard")


def test_parts_of_a_step_are_asked_for_and_the_others_shown() -> None:
    some = task_of(task("causal", 2).sheet, ["output"], entries=["weights[3,:]", "output[2,1]"])
    exercise = Generator(some, STYLES["decimals"]).exercise(3)
    claims = tomllib.loads(exercise.text)["claims"]
    assert claims["weights"][2] == ["?", "?", "?"] and claims["weights"][0] == ["1", "0", "0"]
    assert [sum(row.count("?") for row in claims[name]) for name in claims] == [3, 1]
    assert Exercise.of(worksheet_of(exercise.text)).blanks == exercise.blanks
    again = task_of(worksheet_of(exercise.text))
    assert again.blanks == some.blanks


def test_any_worksheet_and_equations_become_exercises() -> None:
    sheet = worksheet_of(
        """
        equations = '''
        scores S = Q K^T
        weights A = softmax(S / 2)
        output O = A V
        '''
        given = {Q = [[1, 2]], K = [[0, 1], [1, 1]], V = [[1], [2]]}
        notation = {index_base = 0}
        """
    )
    exercise = Generator(task_of(sheet), STYLES["decimals"]).exercise(2)
    assert exercise.steps == ("scores", "weights", "output")
    assert check_worksheet(worksheet_of(exercise.key)).passed
    assert exercise.name(exercise.blanks[0]) == "scores[0,0]"


def test_integers_do_without_a_step_of_scaled_scores() -> None:
    sheet = worksheet_of(
        """
        equations = '''
        scores S = Q K^T
        weights A = softmax(S / sqrt(d_k))
        output O = A V
        '''
        [given]
        Q = [[1, 2, 0, 1]]
        K = [[0, 1, 1, 0], [1, 1, 0, 0]]
        V = [[1], [2]]
        """
    )
    exercise = Generator(task_of(sheet), STYLES["integers"]).exercise(2)
    scores = exercise.evaluation["scores"].array / 2
    assert np.allclose(scores - scores.max(), (scores - scores.max()).round())
    assert 0 < np.ptp(scores) <= 3


def test_what_a_worksheet_claims_is_asked_for() -> None:
    text = "given = {Q = [[1, 2]], K = [[0, 1], [1, 1]], V = [[1], [2]]}\n"
    whole = task_of(worksheet_of(text + "claims = {weights = [[0.5, 0.5]]}"))
    part = task_of(worksheet_of(text + 'claims = {weights = [["?", 0.5]]}'))
    assert [blank.place for blank in whole.blanks] == [(0, 0), (0, 1)]
    assert [blank.place for blank in part.blanks] == [(0, 0)]


def test_a_sheet_of_columns_is_turned_as_its_notation_is() -> None:
    sheet = worksheet_of(
        """
        attention = {mask = "causal"}
        given = {Q = [[1, 2], [0, 1]], K = [[0, 1], [1, 1]], V = [[1], [2]]}
        notation = {convention = "columns"}
        """
    )
    exercise = Generator(task_of(sheet), STYLES["decimals"]).exercise(2)
    assert len(tomllib.loads(exercise.key)["claims"]["output"]) == 1
    assert check_worksheet(worksheet_of(exercise.key)).passed


@pytest.mark.parametrize(
    ("name", "style", "d_k", "tokens", "told"),
    [
        ("causal", "integers", 2, 3, "needs a square d_k, since √2 is not whole; the nearest is"),
        ("causal", "fractions", 3, 3, "the nearest is --size d_k=4, or --given scaled,V"),
        ("sigmoid", "integers", 8, 3, "the nearest is --size d_k=9"),
        ("scaled-dot-product", "integers", 4, 6, "try --ties, fewer tokens or --style decimals"),
    ],
)
def test_what_a_style_cannot_do_is_refused_with_what_can(
    name: str, style: str, d_k: int, tokens: int, told: str
) -> None:
    some = task(name, d_k, tokens=tokens, style=style)
    with pytest.raises(SymattnError, match=rf"style {style}: ") as refused:
        Generator(some, STYLES[style]).exercise(1)
    assert told in str(refused.value)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"blank": ["wieghts"]}, 'is not part of this attention; did you mean "weights"?'),
        ({"blank": ["Q"], "given": ["Q", "K", "V"]}, "Q: is given here; it cannot be asked for"),
        ({"entries": ["weights[9,9]"]}, "weights[9,9]"),
        ({"given": ["scroes"]}, "did you mean"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(arguments: dict[str, Any], told: str) -> None:
    with pytest.raises(SymattnError) as refused:
        task_of(task("causal", 2).sheet, **arguments)
    assert told in str(refused.value)


def test_a_worksheet_without_blanks_is_none() -> None:
    with pytest.raises(SymattnError, match="nothing is asked for"):
        Exercise.of(worksheet_of("given = {Q = [[1]], K = [[1]], V = [[1]]}"))
    with pytest.raises(SymattnError, match="too many for an exercise by hand"):
        task("causal", 2, tokens=20)


def test_a_generator_that_breaks_its_promise_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all draws nearly half break a promise: without the check one would be seen."""
    maker = Generator(task("causal", 4, "weights"), STYLES["integers"])
    monkeypatch.setattr(Search, "_faults", lambda _, chosen: np.zeros(len(chosen), dtype=int))
    kept = 0
    for seed in range(4):
        scaled, _, _ = causal(maker.exercise(seed))
        kept += bool(np.allclose(scaled, scaled.round()))
    assert kept < 4


def test_the_example_of_a_task_is_untouched() -> None:
    some = task("masked", 2)
    before = some.sheet.text
    exercise = Generator(some, STYLES["decimals"]).exercise(1)
    assert some.sheet.text == before and isinstance(some, Task)
    assert exercise.sheet.numbers["allowed"] == some.sheet.numbers["allowed"]
