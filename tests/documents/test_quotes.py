"""Quotes and dashes that somebody writes are in a PDF whichever TeX makes it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.command import run
from tests.conftest import Tool

SHEET = """
title = "What “it” looks at"
story = "She said “look”; it’s ‘here’ — or there."
[given]
Q = [[1, 0]]
K = [[1, 0], [0, 1]]
V = [[1, 2], [3, 4]]
"""


@pytest.mark.parametrize(("flavor", "engine"), [("article", "pdflatex"), ("beamer", "lualatex")])
def test_quotes_are_kept(
    flavor: str, engine: str, tool: Tool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sheet.toml").write_text(SHEET, "utf-8")
    command = f"derive sheet.toml --steps scores --format tex --flavor {flavor} -o sheet.tex"
    run(*command.split(), status=0)
    typeset = [tool(engine), "-interaction=nonstopmode", "-halt-on-error", "sheet.tex"]
    subprocess.run(typeset, check=True, capture_output=True, timeout=120)
    assert "Missing character" not in Path("sheet.log").read_text("utf-8", "replace")
    told = subprocess.run(
        [tool("pdftotext"), "sheet.pdf", "-"], capture_output=True, encoding="utf-8", check=True
    ).stdout
    assert "What “it” looks at" in told
    assert "She said “look”; it’s ‘here’ — or there." in " ".join(told.split())
