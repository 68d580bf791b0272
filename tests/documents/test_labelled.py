"""Names of columns stand in every format wherever a matrix has columns, or rows, of that size."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from tests import ROOT
from tests.command import run

SHEET = ROOT / "examples" / "causal.toml"


def written(form: str, folder: Path) -> str:
    """The example in a format; of a Word file its document."""
    file = folder / f"page.{form}"
    run("derive", str(SHEET), "--format", form, "-o", str(file), status=0)
    if form != "docx":
        return file.read_text("utf-8")
    with zipfile.ZipFile(file) as archive:
        return archive.read("word/document.xml").decode()


@pytest.mark.parametrize("form", ["text", "latex", "tex", "md", "docx", "mathml", "html", "ipynb"])
def test_a_name_stands_at_every_column_and_row_of_its_size(form: str, tmp_path: Path) -> None:
    # the columns of X, W_Q, W_K, Q and K, and the rows of W_Q, W_K and W_V
    page = written(form, tmp_path)
    assert page.count("animate") >= 8
    assert page.count("action") >= 3  # the columns of W_V, V and the output


def test_names_are_told_by_size() -> None:
    data = json.loads(run("derive", str(SHEET), "--format", "json", status=0).stdout)
    assert data["labels"]["d_model"] == ["noun", "animate", "verb"]
    assert data["labels"]["d_k"] == ["noun", "animate"]


def test_a_row_says_what_its_feature_asks_for() -> None:
    given, _ = run("derive", str(SHEET), "--view", "value", status=0).stdout.split("1. Queries")
    rows = [" ".join(line.split()) for line in given.splitlines()]
    assert "noun animate verb noun animate" in rows
    assert "⎣ 0 0 1 ⎦ sat ⎣ 1 2 ⎦ verb" in rows  # X and W_Q
