"""`symattn.check`: texts and paths told apart, what the marks answer, and how they show."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.dom import minidom

import pytest

import symattn
from symattn.errors import SymattnError
from symattn.marking.verdicts import EntryMark
from symattn.pages.display import PageMarks
from symattn.reports.results import Marking
from symattn.reports.single import report_of
from tests.written import text_report

SHEET = """
[given]
Q = [[1, 0]]
K = [[1, 0], [0, 1]]
V = [[1, 2], [3, 4]]
[claims]
scaled = [["0.71", 0]]
weights = [["0.67", "0.43"]]
"""
RIGHT = SHEET.replace("0.43", "0.33")


def page(*sheets: str) -> str:
    return "\n".join(f"```symattn{sheet}```\n" for sheet in sheets)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "sheet.toml").write_text(SHEET, encoding="utf-8")
    (tmp_path / "sheet").write_text(SHEET, encoding="utf-8")
    (tmp_path / "page.md").write_text(page(RIGHT, SHEET), encoding="utf-8")
    (tmp_path / "empty.md").write_text("Nothing.\n", encoding="utf-8")
    return tmp_path


def test_a_text_is_marked() -> None:
    marks = symattn.check(SHEET)
    assert isinstance(marks, Marking)
    assert not marks.passed
    assert [step.name for step in marks.steps] == ["scaled", "weights"]
    first = marks.first_wrong
    assert isinstance(first, EntryMark)
    assert (first.step, first.place, first.claimed.text, first.verdict, first.because) == (
        "weights",
        (0, 1),
        "0.43",
        "wrong",
        (),
    )
    assert first is marks.entries[3] is marks.steps[1].entries[1]
    assert [marks.passes(entry) for entry in marks.entries] == [True, True, True, False]
    assert symattn.check(RIGHT).passed
    assert symattn.check(RIGHT).first_wrong is None


def test_explanations_are_looked_for_on_request() -> None:
    text = "[given]\nQ = [[1, 2]]\nK = [[2, 1], [1, 1]]\n[claims]\nscaled = [[4, 3]]\n"
    assert [each.name for each in symattn.check(text).explanations] == ["not-scaled"]
    assert symattn.check(text, explain=False).explanations == ()


@pytest.mark.parametrize("kind", [Path, str])
@pytest.mark.parametrize("name", ["sheet.toml", "sheet"])
def test_a_path_is_read(kind: Any, name: str, files: Path) -> None:
    marks = symattn.check(kind(files / name))
    assert isinstance(marks, Marking)
    assert str(marks.first_wrong) == "weights[1,2]"


def test_one_line_of_text_is_text(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SymattnError, match="no claims"):
        symattn.check("given = {scores = [[0, 0]]}")
    with pytest.raises(SymattnError, match="not valid TOML"):
        symattn.check("given = {scores = [[0, 0]")
    text = 'attention.scale = false\ngiven.scores = [[0, 0]]\nclaims."weights[1,1]" = 0.5'
    assert symattn.check(text).passed


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("nowhere.toml", "nowhere.toml: cannot be read: no such file"),
        (Path("nowhere"), "nowhere: cannot be read: no such file"),
        ("NOWHERE.MD", "NOWHERE.MD: cannot be read: no such file"),
        ("weights", "neither a file nor the text of a worksheet"),
        ("", "neither a file nor the text of a worksheet"),
        ("x" * 100_000, "neither a file nor the text of a worksheet"),
        ("a\0b", "neither a file nor the text of a worksheet"),
        (None, "neither text nor a path"),
        (b"[given]", "neither text nor a path"),
        (["a.toml"], "neither text nor a path"),
        ("\n", "no claims|no calculation|given"),
        (".", "is a folder"),
    ],
    ids=lambda value: str(value)[:20] if isinstance(value, str) else type(value).__name__,
)
def test_what_is_neither_is_one_clear_error(
    given: Any, told: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SymattnError, match=told) as error:
        symattn.check(given)
    assert len(str(error.value).splitlines()) == 1


def test_a_page_is_the_sequence_of_its_worksheets(files: Path) -> None:
    marks = symattn.check(files / "page.md")
    assert isinstance(marks, PageMarks)
    assert (len(marks), marks.passed, [one.passed for one in marks]) == (2, False, [True, False])
    assert marks.first_wrong is marks[1].first_wrong is marks.entries[7]
    assert [marks.passes(entry) for entry in marks.entries] == [True] * 7 + [False]
    assert [step.name for step in marks.steps] == ["scaled", "weights"] * 2
    assert len(marks[:1]) == 1
    assert len(marks.findings) == 8
    with pytest.raises(SymattnError, match="no claims"):
        symattn.check(files / "empty.md")


def test_marks_show_their_report(files: Path) -> None:
    marks = symattn.check(SHEET)
    assert isinstance(marks, Marking)
    assert str(marks) + "\n" == text_report(report_of(marks))
    assert repr(marks).startswith("Your first wrong number is weights[1,2]: you wrote 0.43")
    for shown in (marks, symattn.check(files / "page.md")):
        html: str = shown._repr_html_()
        minidom.parseString(html)
        assert html.startswith("<section")
        assert "you wrote 0.43" in html
        assert "you wrote 0.43" in shown._repr_markdown_()
