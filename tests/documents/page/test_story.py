"""What the tokens are about: every document begins with it, and a page opens on its stage."""

from __future__ import annotations

from pathlib import Path

import pytest

from symattn import SymattnError
from symattn.sheets.worksheet import read_worksheet
from tests import ROOT
from tests.command import run

RILEY = ROOT / "examples" / "rileys_dog.toml"
BEGINS = "that Riley is a dog tells more about Riley"


@pytest.mark.parametrize("form", ["text", "latex", "md", "mathml", "html", "ipynb", "json"])
def test_a_story_stands_at_the_top(form: str) -> None:
    shown = run("derive", str(RILEY), "--format", form, "--steps", "scores").output
    again = form in ("html", "ipynb")  # the worksheet that a page writes, or that a cell reads
    assert shown.count(BEGINS) == 1 + again
    assert shown.index(BEGINS) < shown.index("compared" if form != "json" else '"steps"')


def test_a_story_is_told_once_in_a_series(tmp_path: Path) -> None:
    sheet = tmp_path / "decoding.toml"
    text = (ROOT / "examples" / "decoding.toml").read_text(encoding="utf-8")
    sheet.write_text(f'story = "Once <upon> a time."\n{text}', encoding="utf-8")
    assert run("derive", str(sheet)).output.count("Once <upon> a time.") == 1


def test_a_story_that_is_none(tmp_path: Path) -> None:
    text = RILEY.read_text(encoding="utf-8").replace("story = ", "story = 3 # ")
    (tmp_path / "sheet.toml").write_text(text, encoding="utf-8")
    with pytest.raises(SymattnError, match="story: 3 is not text"):
        read_worksheet(tmp_path / "sheet.toml")
