"""Pages that stand still begin with one heading, which is their title."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from symattn.cli import main
from symattn.documents.blocks import Document, Paragraph
from symattn.documents.page.static import write
from tests.documents.page.test_page import axe_faults

SHEET = """
[given]
Q = [[1, 0]]
K = [[1, 0], [0, 1]]
V = [[1, 2], [3, 4]]
[claims]
"weights[1,:]" = [0.73, 0.27]
"""

#: What is typed, and the heading of the page.
PAGES = {
    "prove 'softmax(2 S) = softmax(S)'": "softmax(2 S) = softmax(S)",
    "prove shift": "shift: adding the same number to all scores of a query changes nothing",
    "prove causal mistral": "causal = mistral",
    "check sheet.toml": "Numbers, checked",
    "prove causal#weights": "Why this step: attention weights",
}


def made(words: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(folder)
    (folder / "sheet.toml").write_text(SHEET, "utf-8")
    ran = CliRunner().invoke(main, f"{words} --format html")
    assert ran.exit_code in (0, 1), ran.output
    return ran.stdout


@pytest.mark.parametrize("words", PAGES)
def test_a_page_begins_with_one_heading(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = made(words, tmp_path, monkeypatch)
    levels = [int(level) for level in re.findall(r"<h(\d)", page)]
    heading = re.search(r"<main[^>]*>\s*<h1>(.*?)</h1>", page, re.S)
    title = re.search(r"<title>(.*?)</title>", page)
    assert heading and title and heading[1] == title[1]
    assert unescape(heading[1]) == PAGES[words]
    assert levels.count(1) == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))


def test_a_document_with_a_title_has_no_other() -> None:
    page = write([Document("Named", (Paragraph(("words",)),), called="Otherwise")])
    assert page.count("<h1>") == 1 and "<h1>Named</h1>" in page and "Otherwise" not in page


def test_axe_finds_nothing_on_the_page_of_a_statement(
    browser: Any,
    node_file: Callable[[str], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    axe = node_file("axe-core/axe.min.js").read_text(encoding="utf-8")
    words = next(iter(PAGES))
    text = made(words, tmp_path, monkeypatch)
    headless = re.sub(r"<h1>.*?</h1>", "", text)
    context = browser.new_context()
    for page, found in ((text, []), (headless, ["page-has-heading-one"])):
        (tmp_path / "page.html").write_text(page, "utf-8")
        opened = context.new_page()
        opened.goto((tmp_path / "page.html").as_uri())
        assert [rule for rule, _ in axe_faults(opened, axe)] == found
    context.close()
