"""The claims of a worksheet on the page of a series: each in the chunk that has its token."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.command import put, run
from tests.documents.page.test_series import expect
from tests.gates import EXAMPLES

SHEET = next(path for path in EXAMPLES if path.stem == "decoding").read_text(encoding="utf-8")

#: Of 21 numbers 17 are right; that of the first output, and three of the last row of the weights.
CLAIMS = """
[claims]
Q = [[1, 0], [0, 1], [1, 1], [2, 0]]
weights = [[1, 0, 0, 0], ["?", "?", "?", "?"], ["?", "?", "?", 0], [0.0596, 0.25, 0.095, 0.7]]
output = [[3], [2.5379], [1], [2.2384]]
"""


@pytest.fixture
def page(opened: Callable[..., Any], tmp_path: Path) -> Any:
    path = put(tmp_path / "decoding.toml", SHEET + CLAIMS)
    done = run("derive", str(path), "--format", "html", status=0)
    return opened(done.output)


def told(page: Any) -> list[str]:
    return [str(text) for text in page.locator("header .claims").all_inner_texts()]


@pytest.mark.nightly
def test_each_chunk_has_the_claims_of_its_tokens(page: Any) -> None:
    rights = []
    wrong: list[str] = []
    for number in (1, 2, 3, 4):
        expect(page, number, 4)
        head = re.match(r"Claims: (\d+) of (\d+) numbers? of this chunk", told(page)[0])
        assert head is not None, told(page)
        rights.append((int(head[1]), int(head[2])))
        cells = page.locator(".claimed td:not(:empty)")
        assert cells.count() == int(head[2])
        wrong += [str(text) for text in page.locator(".claimed li").all_inner_texts()]
        page.keyboard.press("]")
    later = [3, 0, 1, 0]  # zeros beside keys that a chunk does not have
    assert rights == [(3, 4), (3, 3), (3, 3), (4, 7)]
    assert sum(count for _, count in rights) + sum(later) == 8 + 9 + 4
    assert re.findall(r"(\w+\[\d,\d\]),", "; ".join(wrong)) == [
        "output[1,1]",
        "weights[4,2]",
        "weights[4,3]",
        "weights[4,4]",
    ]


def test_the_mark_stands_at_the_entry_that_is_meant(page: Any) -> None:
    expect(page, 1, 4)
    assert "3 more numbers are about keys of later chunks." in told(page)
    page.locator("#output .home td[data-c]").click()
    assert "Claimed: 3, true value 2" in page.locator("#origin .verdict").inner_text()
    alone = page.locator("#output .claim")  # one cell, which has a tint and no bracket over it
    size = "(cell) => getComputedStyle(cell).backgroundSize"
    assert "6px" in alone.evaluate(size)
    for number in (2, 3, 4):
        page.keyboard.press("]")
        expect(page, number, 4)
    page.locator("#weights .home td[data-c]").nth(1).click()
    assert page.locator("#origin .verdict").inner_text().startswith("Claimed: 0.25, true value")
    assert "Rows and columns are counted as in the worksheet, over all tokens." in told(page)
    page.locator("#weights .home td[data-c]").first.click()
    assert page.locator("#origin .verdict").inner_text() == "Claimed: 0.0596, right."


@pytest.mark.nightly
def test_nothing_is_said_of_marks_that_are_shown(page: Any) -> None:
    assert "does not mark" not in page.content()


def test_formulas_alone_of_chunks_are_refused_in_one_line() -> None:
    words = ["derive", "causal", "--symbolic", "--chunks", "2,1", "--format", "html"]
    done = run(*words, status=2)
    wanted = "symattn: html: shows chunks with their numbers; leave out --symbolic\n"
    assert done.stderr == wanted


def test_claims_that_cannot_be_read_are_refused_and_other_formats_mark_none(tmp_path: Path) -> None:
    path = put(tmp_path / "decoding.toml", f"{SHEET}\n[claims]\nscores = [[0]]\n")
    done = run("derive", str(path), "--format", "html", status=2)
    assert "scores: 1 row where 4 are expected" in done.stderr
    done = run("derive", str(path), "--format", "md")
    assert "derive does not mark it" in done.output
