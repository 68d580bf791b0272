"""`symattn mark`: the answers of a class, from the files to the marks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pytest

from symattn.classroom import feedback, gradebook, judge, marks
from symattn.cli.mark import mark
from tests.classroom.handed_in import exercise
from tests.command import run


def choices(option: str) -> set[str]:
    """What may be chosen for an option of the command."""
    (found,) = (one for one in mark.params if f"--{option}" in one.opts)
    assert isinstance(found.type, click.Choice)
    return {*found.type.choices}


def test_what_may_be_chosen_is_what_there_is() -> None:
    assert choices("gradebook") == {*gradebook.FLAVORS} - {"plain"}
    assert choices("feedback") == {*marks.FORMS}
    assert choices("reveal") == {*feedback.REVEALS}


def test_a_preview_searches_for_no_slips(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def searched(*_: Any) -> Any:
        raise AssertionError("slips are searched for")

    monkeypatch.setattr(judge._Found, "_explained", searched)
    (tmp_path / "exercise.toml").write_text(exercise().text, "utf-8")
    said = run("mark", "--exercise", str(tmp_path / "exercise.toml"), "--preview", status=0).stdout
    assert "the least of 1" in said and "the key" in said
