"""``symattn exercise``: sheets, keys and pages, read back as their readers read them."""

from __future__ import annotations

import json
import re
import tomllib
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from symattn.classroom.exercise import Exercise
from symattn.classroom.generator import statements_of
from symattn.classroom.handout import Handout
from symattn.documents.blocks import Blank, Cell, Document, Paragraph, Row, Table
from symattn.documents.job import FORMATS, written
from symattn.reports.check import check_worksheet
from symattn.sheets.worksheet import worksheet_of
from tests.classroom.tasks import generator
from tests.command import put, run


class Fields(HTMLParser):
    """The fields of a page, what it marks them by, and its scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.fields: list[dict[str, str | None]] = []
        self.scripts: list[str] = []
        self.data: dict[str, Any] = {}
        self._kind: str | None = None
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if tag == "input":
            self.fields.append(found)
        self._kind = (found.get("class") or "program") if tag == "script" else None

    def handle_data(self, data: str) -> None:
        if self._kind == "practice":
            self.data = json.loads(data)
        elif self._kind == "program":
            self.scripts.append(data)
        self._kind = None


def command(*words: str, status: int = 0) -> str:
    result = run("exercise", *words)
    assert result.exit_code == status, result.output
    return result.stdout if status == 0 else result.stderr


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_command_writes_the_exercise_of_the_generator() -> None:
    blank = ("scores", "scaled", "weights", "output")
    text = command("causal", "--blank", ",".join(blank), "--seed", "7", "--format", "toml")
    assert text == generator(blank=blank).exercise(7).text


def test_a_file_that_is_an_exercise_is_shown_as_it_is_unless_others_are_drawn(here: Path) -> None:
    command("causal", "--seed", "7", "--format", "toml", "-o", "mine.toml")
    command("causal", "--seed", "7", "--format", "toml", "--key", "-o", "key.toml")
    text = Path("mine.toml").read_text("utf-8")
    assert command("mine.toml", "--format", "toml") == text
    assert command("mine.toml", "--key", "--format", "toml") == Path("key.toml").read_text("utf-8")
    assert "Seed 7." in command("mine.toml")
    assert command("mine.toml", "--seed", "7", "--format", "toml") == text
    assert "Seed 8." in command("mine.toml", "--seed", "8")
    assert "Seed 1." in command("key.toml")


def test_a_page_has_a_field_for_every_blank_and_the_answers_beside_them() -> None:
    page = Fields(command("causal", "--format", "html", "--true-or-false", "2"))
    sheet = command("causal", "--format", "toml", "--true-or-false", "2")
    exercise = Exercise.of(worksheet_of(sheet))
    names = [exercise.name(blank) for blank in exercise.blanks]
    keyed = [field["data-key"] for field in page.fields if "data-key" in field]
    assert keyed == [*exercise.asked] == [*names, *exercise.asked[-2:]]
    assert all(field["aria-label"] for field in page.fields)
    unit = page.data["finer"] * 10 ** page.data["digits"]
    for blank, name in zip(exercise.blanks, names, strict=True):
        answer, right = exercise.answers[blank], page.data["entries"][name]["right"]
        assert (right is None) == (answer == "-inf")
        assert right is None or abs(right / unit - float(answer)) <= 0.00051
    told = [page.data["entries"][name]["right"] for name in exercise.asked[-2:]]
    assert told == [row.holds for row in statements_of(1, 2)]
    assert len(page.scripts) == 1 and "://" not in page.scripts[0]
    assert "practice" not in command("causal", "--format", "html", "--key")


@pytest.mark.parametrize("form", [name for name, row in FORMATS.items() if row.writer])
def test_every_format_leaves_room_for_each_blank(form: str) -> None:
    """Words are written where nothing is typed: as many blanks as the sheet has, and a name."""
    exercise = generator().exercise(3)
    sheet = Handout(exercise).sheet()
    page = written(form, [sheet])
    signs = {"latex": r"\underline", "tex": r"\underline", "html": "<input", "mathml": "<input"}
    if isinstance(page, bytes):
        assert len(page) > 1000
        return
    count = page.count(signs.get(form, "_____"))
    assert count == 1 + len(exercise.blanks), form


def test_word_has_the_blanks_too() -> None:
    from docx import Document as Book

    command("causal", "--format", "docx", "-o", "a.docx")
    book = Book("a.docx")
    cells = [cell.text for table in book.tables for row in table.rows for cell in row.cells]
    exercise = Exercise.of(worksheet_of(command("causal", "--format", "toml")))
    assert cells.count("_" * 8) == len(exercise.blanks)


def test_the_key_has_every_answer_and_what_misconceptions_answer() -> None:
    exercise = generator(blank=("weights", "output")).exercise(2, statements=3)
    key = Handout(exercise).key()
    tables = {table.label: table for table in _blocks(key) if isinstance(table, Table)}
    said = next(x for x in _blocks(key) if isinstance(x, Table) and x.columns == ("true or false",))
    assert len(said.rows) == 3
    cells = [cell.text for row in tables["weights"].rows for cell in row.cells]
    answers = [x for blank, x in exercise.answers.items() if blank.step == "weights"]
    assert cells == answers
    told = {row.name.text: [cell.text for cell in row.cells] for row in tables[""].rows}
    assert {*told} == {
        one.misconception.name
        for one in exercise.mistaken
        if one.misconception not in exercise.unseen
    }
    for one in exercise.mistaken:
        if one.misconception.name in told:
            _, entry, true, other = told[one.misconception.name]
            names = [exercise.name(blank) for blank in exercise.blanks]
            assert other == one.answers[names.index(entry)].replace("-", "−")
            assert true != other


def _blocks(block: Any) -> list[Any]:
    found = [block]
    for inside in getattr(block, "blocks", ()):
        found += _blocks(inside)
    return found


def test_fractions_are_given_and_worked_exactly() -> None:
    """A sheet that gave ln 9 as 2.197 could not ask for 9/14."""
    words = ("causal", "--style", "fractions", "--size", "d_k=4")
    sheet, key = command(*words), command(*words, "--key")
    given = sheet.partition("1. Scores")[0]
    assert "ln(9)" in given
    assert "ln(4)" in given
    assert "≈" not in given
    assert "≈" not in key.partition("Worked")[2]


def test_hints_tell_the_formula_the_entry_and_no_result() -> None:
    page = command("causal", "--hints")
    first, second, third = (page.index(f"Hint {k}") for k in (1, 2, 3))
    assert "A = softmax(G)" in page[first:second]
    assert "o_ij = Σ_l a_il v_lj" in page[second:third]
    put_in = re.findall(r"^ *(s_\d\d = .*)$", page[third:], re.MULTILINE)
    assert len(put_in) == 1 and put_in[0].count("=") == 1


def test_a_class_gets_a_sheet_and_a_key_each(here: Path) -> None:
    command("causal", "--count", "2", "--seed", "5", "--key", "--format", "toml", "-o", "class")
    names = sorted(path.name for path in (here / "class").iterdir())
    assert names == [
        "exercise-5-key.toml",
        "exercise-5.toml",
        "exercise-6-key.toml",
        "exercise-6.toml",
    ]
    for seed in (5, 6):
        key = (here / f"class/exercise-{seed}-key.toml").read_text("utf-8")
        sheet = (here / f"class/exercise-{seed}.toml").read_text("utf-8")
        assert check_worksheet(worksheet_of(key)).passed
        assert tomllib.loads(key)["given"] == tomllib.loads(sheet)["given"]
    again = run(
        "exercise", "causal", "--count", "2", "--seed", "5", "-o", "class", "--format", "toml"
    )
    assert again.exit_code == 2 and "is there already; remove it" in again.stderr


def test_a_roster_gives_each_student_a_seed_of_the_name_alone(here: Path) -> None:
    put(Path("names.csv"), "name,room\nAda Lovelace,1\n\n../../etc/passwd,2\n李,3\n")
    command("causal", "--roster", "names.csv", "--format", "toml", "-o", "class")
    made = {path.name: path.read_text("utf-8") for path in (here / "class").iterdir()}
    assert len(made) == 3 and {"ada-lovelace.toml", "etc-passwd.toml"} < {*made}
    students = [tomllib.loads(text)["exercise"]["student"] for text in made.values()]
    assert {*students} == {"Ada Lovelace", "../../etc/passwd", "李"}
    command("causal", "--roster", "names.csv", "--key", "--format", "text", "-o", "keys")
    key = next(path for path in (here / "keys").iterdir() if path.stem == "ada-lovelace-key")
    assert re.search(r"Name: Ada Lovelace\. Seed \d+\.", key.read_text("utf-8"))
    put(Path("more.csv"), "Emmy Noether\nAda Lovelace\n")
    command("causal", "--roster", "more.csv", "--format", "toml", "-o", "more")
    assert (here / "more/ada-lovelace.toml").read_text("utf-8") == made["ada-lovelace.toml"]


@pytest.mark.parametrize(
    "roster",
    [
        "Ada Lovelace;7\nEmmy Noether;8\n",
        "id;name\n7;Ada Lovelace\n8;Emmy Noether\n",
        "Last name,First name\nLovelace,Ada\nNoether,Emmy\n",
    ],
)
def test_a_roster_is_read_as_tables_of_a_class_are(roster: str, here: Path) -> None:
    put(Path("names.csv"), roster)
    command("causal", "--roster", "names.csv", "--format", "toml", "-o", "class")
    assert sorted(file.name for file in (here / "class").iterdir()) == [
        "ada-lovelace.toml",
        "emmy-noether.toml",
    ]


@pytest.mark.parametrize(
    ("roster", "told"),
    [
        ("", "no name stands below a head, or in the first column"),
        ("Ada\nADA\n", "line 2: ADA has the file of Ada already, ada"),
        ("Ada\nAda\n", "line 2: Ada has the file already, ada"),
        ('"Ada\n', "is no CSV"),
        (f"{'x' * 500}\n", "line 1: 500 characters are too many"),
    ],
)
def test_a_roster_that_cannot_be_used_is_refused(roster: str, told: str) -> None:
    put(Path("names.csv"), roster)
    line = command("causal", "--roster", "names.csv", "-o", "class", status=2)
    assert told in line and line.startswith("symattn: names.csv") and line.count("\n") == 1


def test_statements_are_true_or_false_as_the_catalogue_has_it() -> None:
    exercise = generator().exercise(9, statements=8)
    rows = statements_of(9, 8)
    assert exercise.statements == rows
    assert {row.holds for row in rows} == {True, False} and len({row.name for row in rows}) == 8
    sheet, key = Handout(exercise).sheet(), Handout(exercise).key()
    asked, told = (
        next(x for x in _blocks(one) if isinstance(x, Table) and x.columns == ("true or false",))
        for one in (sheet, key)
    )
    assert all(isinstance(row.cells[0].words[-1], Blank) for row in asked.rows)
    for row, line in zip(rows, told.rows, strict=True):
        (said,) = line.cells[0].words
        assert getattr(said, "words", "").startswith("true" if row.holds else "false: ")


def test_a_blank_is_spelled_in_a_sentence_of_every_format() -> None:
    """A format that did not know it would raise, or leave it out."""
    row = Row(Cell(("a",)), (Cell((Blank("x", "x"),)),))
    document = Document("", (Paragraph(("Here: ", Blank("y"))), Table(("1",), (row,))))
    for form in ("text", "md", "latex", "html", "mathml", "ipynb"):
        page = str(written(form, [document]))
        assert page.count("<input" if form in ("html", "mathml") else "_____") == 2 or (
            form == "latex" and page.count(r"\underline") == 2
        ), form
