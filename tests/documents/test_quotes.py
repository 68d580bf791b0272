"""Quotes and dashes that somebody writes are in a PDF whichever TeX makes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command import put, run
from tests.conftest import Tool
from tests.documents.conftest import Typeset, words_of

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
    flavor: str, engine: str, typeset: Typeset, tool: Tool, tmp_path: Path
) -> None:
    sheet = put(tmp_path / "sheet.toml", SHEET)
    command = f"derive {sheet} --steps scores --format tex:{flavor}"
    assert typeset(engine, run(*command.split(), status=0).stdout, tmp_path) == []
    told = words_of(tool, tmp_path)
    assert "What “it” looks at" in told
    assert "She said “look”; it’s ‘here’ — or there." in " ".join(told.split())
