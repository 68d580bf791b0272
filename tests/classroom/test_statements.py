"""Statements that are true or false: handed out in a worksheet, answered in each format, marked."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import pytest

from symattn.classroom.answers import answers_in
from symattn.classroom.exercise import STATEMENTS, Exercise
from symattn.classroom.feedback import Feedback
from symattn.classroom.handout import Handout
from symattn.classroom.records import Marking, Record
from symattn.classroom.report import ClassReport
from symattn.classroom.scheme import scheme_of
from symattn.documents.job import written
from symattn.errors import ReadError, SymattnError
from symattn.reports.check import check_worksheet
from symattn.sheets.worksheet import worksheet_of
from tests.classroom.tasks import generator

COUNT = 4


@pytest.fixture(scope="module")
def exercise() -> Exercise:
    drawn = generator("scaled-dot-product", blank=("weights",)).exercise(3, statements=COUNT)
    assert {row.holds for row in drawn.statements} == {True, False}
    return Exercise.of(worksheet_of(drawn.text))


def filled(exercise: Exercise, said: Mapping[str, str]) -> dict[str, str]:
    """All answers by their names, the right ones but for what is `said` of statements."""
    numbers = [*exercise.answers.values(), *{**exercise.truths, **said}.values()]
    return dict(zip(exercise.asked, numbers, strict=True))


def record(exercise: Exercise, raw: bytes, ending: str, scheme: str = "") -> Record:
    one = Marking(exercise, scheme_of(scheme))
    submission = answers_in(raw, ending)
    answers = one.sheet.read(submission)
    assert answers.remarks == ()
    return one.record(submission, answers, one.judge.judge(answers))


def as_toml(exercise: Exercise, answers: Mapping[str, str]) -> bytes:
    text = exercise.text
    for row in exercise.statements:
        said = answers[f"{STATEMENTS}[{row.name}]"]
        line = next(x for x in text.splitlines() if x.endswith(' = "?"') and row.name in x)
        text = text.replace(line, line.replace('"?"', f'"{said}"'))
    numbers = {k: v for k, v in answers.items() if not k.startswith(STATEMENTS)}
    lines = "\n".join(f'"{name}" = "{x}"' for name, x in numbers.items())
    start, end = text.index("weights = "), text.index("[notation]")
    return f"{text[:start]}{lines}\n\n{text[end:]}".encode()


def as_tables(exercise: Exercise, answers: Mapping[str, str], form: str) -> bytes:
    """The sheet of a format with its blanks filled in, one after the other."""
    page = written(form, [Handout(exercise).sheet()])
    if isinstance(page, bytes):
        from docx import Document as Book

        book = Book(io.BytesIO(page))
        left = iter(answers.values())
        for cell in (c for table in book.tables for row in table.rows for c in row.cells):
            if cell.text.startswith("____"):
                cell.text = next(left)
        out = io.BytesIO()
        book.save(out)
        return out.getvalue()
    first, *rest = page.split("_____")
    assert len(rest) == 1 + len(answers)
    texts = ["Ada", *answers.values()]
    pairs = zip(texts, rest, strict=True)
    return "".join([first, *(part for pair in pairs for part in pair)]).encode()


FORMATS = {
    ".toml": as_toml,
    ".json": lambda _, answers: json.dumps({"student": "Ada", **answers}).encode(),
    ".csv": lambda _, answers: "\n".join(f'"{x}",{y}' for x, y in answers.items()).encode(),
    ".md": lambda exercise, answers: as_tables(exercise, answers, "md"),
    ".ipynb": lambda exercise, answers: as_tables(exercise, answers, "ipynb"),
    ".docx": lambda exercise, answers: as_tables(exercise, answers, "docx"),
}


@pytest.mark.parametrize("ending", FORMATS)
def test_statements_are_marked_however_they_are_handed_in(ending: str, exercise: Exercise) -> None:
    made: Any = FORMATS[ending]
    right = record(exercise, made(exercise, filled(exercise, {})), ending)
    assert right.points == right.most == len(exercise.blanks) + COUNT
    first, second = list(exercise.truths)[:2]
    lie = "false" if exercise.truths[first] == "true" else "true"
    said = filled(exercise, {first: lie, second: "perhaps"})
    found = record(exercise, made(exercise, said), ending)
    verdicts = {mark.entry: mark.verdict for mark in found.marks}
    assert verdicts.pop(f"{STATEMENTS}[{first}]") == "wrong"
    assert verdicts.pop(f"{STATEMENTS}[{second}]") == "unreadable"
    assert {*verdicts.values()} == {"right"} and found.points == found.most - 2


def test_booleans_of_toml_and_letters_are_answers_too(exercise: Exercise) -> None:
    for true, false in (("true", "false"), ('"T"', '"F"'), ('"True"', '"False"')):
        text = exercise.text
        for row in exercise.statements:
            head, _, rest = text.partition(f'{row.name}" = "?"')
            if not rest:
                head, _, rest = text.partition(f'{row.name} = "?"')
                text = f"{head}{row.name} = {true if row.holds else false}{rest}"
            else:
                text = f'{head}{row.name}" = {true if row.holds else false}{rest}'
        assert record(exercise, text.encode(), ".toml").points == COUNT


def test_a_scheme_gives_points_to_statements(exercise: Exercise) -> None:
    name = exercise.asked[-1]
    scheme = f'points = {{weights = 6, statements = 2, "{name}" = 1}}'
    made = record(exercise, as_toml(exercise, filled(exercise, {})), ".toml", scheme)
    six, three = Fraction(6), Fraction(3)
    assert made.steps == {"weights": six, STATEMENTS: three}
    one = next(mark for mark in made.marks if mark.entry == name)
    assert one.points == 1 + 2 / COUNT
    with pytest.raises(ReadError, match="there are points for weights, statements"):
        scheme_of('points = {"statements[shifted]" = 1}').of(exercise)


def test_a_student_is_told_which_statement_and_no_more_than_asked(exercise: Exercise) -> None:
    row = exercise.statements[0]
    lie = "false" if row.holds else "true"
    found = record(exercise, as_toml(exercise, filled(exercise, {row.name: lie})), ".toml")
    texts = {
        x: str(written("text", [Feedback(exercise, x).document(found)])) for x in ("hint", "value")
    }
    told = {x: " ".join(text.split()) for x, text in texts.items()}
    for words in told.values():
        assert f"the only mistake is in the statements, in “{row.says}”" in words
    truth = f"It is {exercise.truths[row.name]}: {' '.join(row.use.split())}"
    assert truth in told["value"] and truth not in told["hint"] and row.use not in told["hint"]


def test_the_report_on_a_class_has_the_statements(exercise: Exercise) -> None:
    row = exercise.statements[1]
    lie = "false" if row.holds else "true"
    report = ClassReport(exercise)
    for said in ({}, {row.name: lie}, {row.name: lie}, {row.name: lie}):
        report.add(record(exercise, as_toml(exercise, filled(exercise, said)), ".toml"))
    text = str(written("text", [report.document(Fraction(1))]))
    line = next(x for x in text.splitlines() if row.says in x)
    assert line.split()[-1] == "75"
    other = generator("scaled-dot-product", blank=("weights",)).exercise(8, statements=1)
    mine = Exercise.of(worksheet_of(other.text))
    new = mine.statements[0]
    assert new not in exercise.statements
    lie = "false" if new.holds else "true"
    report.add(record(mine, as_toml(mine, filled(mine, {new.name: lie})), ".toml"))
    text = str(written("text", [report.document(Fraction(1))]))
    shares = {r.says: x.split()[-1] for r in (row, new) for x in text.splitlines() if r.says in x}
    assert shares == {row.says: "75", new.says: "100"}


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('"mask-aftr" = "?"', "no identity is called"),
        ('shift = "maybe"', 'shift = "maybe": write "true", "false", "?"'),
        ("shift = 1", "shift = 1: write"),
    ],
)
def test_a_worksheet_refuses_other_statements(line: str, told: str) -> None:
    text = f"given = {{scores = [[1, 2]]}}\n[statements]\n{line}\n"
    with pytest.raises(SymattnError) as refused:
        worksheet_of(text)
    assert told in str(refused.value) and str(refused.value).startswith("worksheet")


def test_check_says_that_it_judges_no_statements(exercise: Exercise) -> None:
    done = as_toml(exercise, filled(exercise, {})).decode()
    marking = check_worksheet(worksheet_of(done))
    assert any("statements are judged by symattn mark" in note for note in marking.notes)
    blank = done.replace('"true"', '"?"').replace('"false"', '"?"')
    assert not any("statements" in note for note in check_worksheet(worksheet_of(blank)).notes)
