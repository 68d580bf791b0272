"""A page for practice in a real browser: it marks what is typed, and fetches nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from symattn.classroom.exercise import Exercise
from symattn.classroom.generator import statements_of
from symattn.classroom.handout import Handout
from symattn.documents.job import written
from tests.classroom.tasks import generator

BLANK = ("scaled", "masked", "weights")


@pytest.fixture(scope="module")
def exercise() -> Exercise:
    return generator(blank=BLANK).exercise(3, statements=2)


@pytest.fixture
def page(exercise: Exercise, opened: Callable[..., Any]) -> Any:
    return opened(str(written("html", [Handout(exercise).sheet()])))


def fill(page: Any, name: str, typed: str) -> str:
    field = page.locator(f'input[data-key="{name}"]')
    field.fill(typed)
    return str(field.get_attribute("class")).removeprefix("blank").strip()


def test_a_right_answer_is_taken_however_it_is_typed(page: Any, exercise: Exercise) -> None:
    first = exercise.name(next(blank for blank in exercise.blanks if blank.step == "weights"))
    assert [fill(page, first, x) for x in ("1", "1,000", "3/3", "100 %", "+1.0")] == ["good"] * 5
    assert [fill(page, first, x) for x in ("", "one", "1.001", "1/3", "-inf")] == [
        "",
        "open",
        "open",
        "wrong",
        "wrong",
    ]
    hidden = exercise.name(next(b for b, x in exercise.answers.items() if x == "-inf"))
    assert [fill(page, hidden, x) for x in ("-inf", "−∞", "0")] == ["good", "good", "wrong"]


def test_a_misconception_is_named_once_a_step_shows_it(page: Any, exercise: Exercise) -> None:
    told = page.locator("p.told")
    one = next(x for x in exercise.mistaken if x.misconception.name == "scaled-by-d_k")
    answers = [*zip(exercise.blanks, exercise.answers.values(), one.answers, strict=True)]
    for blank, _, wrong in answers[:9]:
        fill(page, exercise.name(blank), f"{float(wrong):.3f}")
    assert one.misconception.instead in told.nth(0).text_content()
    for blank, right, _ in answers[:9]:
        fill(page, exercise.name(blank), right)
    assert told.nth(0).text_content() == "All of this is right."
    fill(page, exercise.name(answers[0][0]), "77")
    assert told.nth(0).text_content() == "Not right yet."


def test_a_statement_is_true_or_false(page: Any) -> None:
    for row in statements_of(3, 2):
        name = f"statements[{row.name}]"
        truth, lie = ("true", "F") if row.holds else ("false", "T")
        assert (fill(page, name, truth), fill(page, name, lie)) == ("good", "wrong")
