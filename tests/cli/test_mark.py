"""`symattn mark`: the answers of a class, from the files to the marks."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import Result

from symattn.classroom import feedback, gradebook, judge, marks, submissions
from symattn.cli.mark import mark
from symattn.errors import ReadError
from tests.classroom.handed_in import but, exercise, right
from tests.command import assert_refused, put, run


def choices(option: str) -> set[str]:
    """What may be chosen for an option of the command."""
    (found,) = (one for one in mark.params if f"--{option}" in one.opts)
    assert isinstance(found.type, click.Choice)
    return {*found.type.choices}


def test_what_may_be_chosen_is_what_there_is() -> None:
    assert choices("gradebook") == {*gradebook.FLAVORS} - {"plain"}
    assert choices("feedback") == {*marks.FORMS}
    assert choices("reveal") == {*feedback.REVEALS}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An exercise, and the answers of a class of two: all right, and one wrong."""
    names = ",".join(f'"{exercise().name(blank)}"' for blank in exercise().blanks)
    wrong = ",".join(but({"scores[1,1]": "7"}))
    put(tmp_path / "exercise.toml", exercise().text)
    put(tmp_path / "class.csv", f"student,{names}\nAda,{','.join(right())}\nBo,{wrong}\n")
    return tmp_path


def marked(folder: Path, *more: object, status: int = 0) -> Result:
    """The class, marked by one process into a folder of its own."""
    words = ("--exercise", folder / "exercise.toml", "-o", folder / "marks", "--processes", 1)
    return run("mark", folder / "class.csv", *words, *more, status=status)


def test_a_name_with_extra_time_that_nobody_has_is_a_line(folder: Path) -> None:
    scheme = put(folder / "s.toml", '[attempts]\nextra_time = {"ADA" = 30, "Bob" = 9, "Bo" = 1}')
    assert marked(folder, "--scheme", scheme).stderr == (
        "symattn: extra_time: nothing was handed in by Bob\n"
    )


def test_what_cannot_be_written_is_refused_before_anything_is_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(*_: Any) -> Any:
        raise ReadError("it is read")

    monkeypatch.setattr(submissions, "submissions_in", read)
    assert_refused(marked(folder, status=2), "it is read")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert_refused(marked(folder, "--records", status=2), "pip install 'symattn[parquet]'")
    put(folder / "marks" / "groups.toml", "[one]\nlabel = 1")
    assert_refused(marked(folder, status=2), "groups.toml: one: label = 1")
    (folder / "marks" / "groups.toml").unlink()
    (folder / "marks" / "report.html").mkdir()
    assert_refused(marked(folder, status=2), "report.html: cannot be written: is a directory")


def test_a_preview_searches_for_no_slips(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def searched(*_: Any) -> Any:
        raise AssertionError("slips are searched for")

    monkeypatch.setattr(judge._Found, "_explained", searched)
    file = put(tmp_path / "exercise.toml", exercise().text)
    said = run("mark", "--exercise", file, "--preview", status=0).stdout
    assert "the least of 1" in said and "the key" in said
