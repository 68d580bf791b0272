"""A page for practice and `symattn mark` say the same of what students write.

The students share no code with either (`tests/students.py`). A verdict of the page that judges has
to be that of the marker; where the page does not judge, it says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from random import Random
from typing import Any

import pytest

from symattn.classroom.answered import Answers
from symattn.classroom.exercise import Exercise
from symattn.classroom.handout import Handout
from symattn.classroom.judge import SOUND, Judge
from symattn.classroom.preview import slipped
from symattn.documents.job import written
from tests.benchmarks.stack_points import STYLES, exercise_of
from tests.classroom.tasks import generator
from tests.shares import share
from tests.students import SLIPS, Exercises, Style, honest, slip

#: Which verdicts of the marker agree with one of the page.
AGREEING = {
    "good": ("right",),
    "follows": ("right", "rounded", "follows", "undecided"),
    "wrong": ("wrong",),
    "flat": ("not computed",),
    "open": (*SOUND, "wrong", "unreadable"),
    "": ("blank",),
}

FILL = """texts => {
    const fields = [...document.querySelectorAll("input.blank[data-key]")];
    for (const field of fields) field.value = texts[field.dataset.key];
    fields[0].dispatchEvent(new Event("input", { bubbles: true }));
    return fields.map((field) => [field.dataset.key, field.className.slice(6)]);
}"""


def said(page: Any, exercise: Exercise, texts: Sequence[str]) -> list[str]:
    """What the page says of each blank."""
    names = [exercise.name(blank) for blank in exercise.blanks]
    found = dict(page.evaluate(FILL, dict(zip(names, texts, strict=True))))
    return [found[name] for name in names]


def by_students(
    style: Style, count: int, seed: int
) -> Iterator[tuple[Exercise, list[tuple[str, ...]]]]:
    """Exercises, and what a student writes who makes no mistake, or slips once and computes on."""
    rng = Random(seed)
    exercises = Exercises(rng, 6, 200)
    for _ in range(count):
        sheet = honest(exercises, style, 3, 60)
        made = slip(rng, sheet, rng.choice([kind for kind in SLIPS if "unit" not in kind]))
        exercise = exercise_of(sheet)
        places = [(x.step, x.place[-2], x.place[-1]) for x in exercise.blanks]
        sheets = [sheet, *([] if made is None else [made.sheet])]
        yield (
            exercise,
            [tuple(one.text(x) if x in one.written else "" for x in places) for one in sheets],
        )


def differing(page: Any, exercise: Exercise, sheets: Iterable[Sequence[str]]) -> tuple[Any, Any]:
    """How often the page and the marker say what, and where these do not agree."""
    judge = Judge(exercise, explain=False)
    table, odd = Counter[tuple[str, str]](), []
    for texts in sheets:
        marked = judge.judge(Answers(tuple(texts))).verdicts
        for blank, *both in zip(exercise.blanks, said(page, exercise, texts), marked, strict=True):
            table[both[0], both[1]] += 1
            if both[1] not in AGREEING[both[0]]:
                odd.append((exercise.name(blank), *both, tuple(texts)))
    return table, odd


@pytest.mark.parametrize("name", share([*STYLES], 2))
def test_what_the_page_judges_of_students_is_what_mark_says(
    name: str, opened: Callable[..., Any]
) -> None:
    table = Counter[tuple[str, str]]()
    for exercise, sheets in by_students(STYLES[name], 3, 5):
        page = opened(str(written("html", [Handout(exercise).sheet()])))
        found, odd = differing(page, exercise, sheets)
        table += found
        assert not odd
    judged = sum(count for (own, _), count in table.items() if own not in ("", "open"))
    assert judged > sum(count for (own, _), count in table.items() if own == "open")


@pytest.fixture(scope="module")
def exercise() -> Exercise:
    return generator(blank=("scores", "scaled", "weights", "output")).exercise(4)


def test_misconceptions_and_what_nobody_computed_are_marked_alike(
    exercise: Exercise, opened: Callable[..., Any]
) -> None:
    page = opened(str(written("html", [Handout(exercise).sheet()])))
    sheets = [*(one.answers for one in exercise.seen), *slipped(exercise, 1, 40)]
    for steps in (["scaled"], ["weights"], ["scaled", "weights"]):
        answers = exercise.answers.items()
        sheets.append(tuple("0.4" if blank.step in steps else x for blank, x in answers))
    table, odd = differing(page, exercise, sheets)
    assert not odd
    assert table["follows", "follows"] > 100 and table["flat", "not computed"] > 10
    assert table["wrong", "wrong"] > 100


def test_what_follows_is_told_of_whom_it_follows(
    exercise: Exercise, opened: Callable[..., Any]
) -> None:
    page = opened(str(written("html", [Handout(exercise).sheet()])))
    names = [exercise.name(blank) for blank in exercise.blanks]
    right, behind = tuple(exercise.answers.values()), 0
    for texts in slipped(exercise, 2, 12):
        first, *after = [k for k, (x, y) in enumerate(zip(texts, right, strict=True)) if x != y]
        told = said(page, exercise, texts)
        assert told[first] == "wrong"
        if after:
            behind += 1
            assert {told[k] for k in after} <= {"follows", "good"}
            sentences = page.locator("p.told").all_text_contents()
            assert any(f"It follows from your {names[first]}." in words for words in sentences)
    assert behind > 3


def test_a_page_that_follows_by_another_rule_is_found_out(
    exercise: Exercise, opened: Callable[..., Any]
) -> None:
    spoilt = str(written("html", [Handout(exercise).sheet()])).replace('["exp",', '["+",1,')
    _, odd = differing(opened(spoilt), exercise, [one.answers for one in exercise.seen])
    assert odd
