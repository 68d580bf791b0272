"""The examples: their pages show what they are about, and those to begin with can be read."""

from __future__ import annotations

import html
import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from symattn.claims.labels import texts_of
from symattn.cli.examples import Example, all_examples
from symattn.sheets.worksheet import read_worksheet, worksheet_of
from tests import ROOT
from tests.command import run
from tests.gates import CAUSAL, EXAMPLES
from tests.indexed import INDEX
from tests.sheets import evaluated

SIDES = ("query_tokens", "key_tokens")
LISTED, _, _ = INDEX.read_text("utf-8").partition("\n| file")
#: The worksheets that the index says to begin with.
STORIES = re.findall(r"\[(\w+)\.toml\]\(\1\.toml\)", LISTED)
#: The weights of the token that a page follows are inside of these.
LEAST, MOST = 0.02, 0.95


def choices(text: str) -> dict[str, Any]:
    """What a worksheet says under [attention]."""
    return dict(tomllib.loads(text).get("attention", {}))


def faults(text: str) -> list[str]:
    """Why a worksheet is none to begin with."""
    sheet = worksheet_of(text)
    named = {key.removeprefix("query_") for key in choices(text)}
    found = [key for key in ("tokens", "features") if key not in named]
    last = sheet.evaluate()["weights"].array[..., -1, :]  # of each head
    if not np.all((last > LEAST) & (last < MOST)):
        found.append("weights")
    given: Any = sheet.given.get("W_Q", [[]])
    for matrix in given if np.ndim(given) == 3 else [given]:
        if np.array_equal(matrix, np.eye(len(matrix))):
            found.append("W_Q")
    return found


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_agrees_and_its_page_shows_its_names(path: Path) -> None:
    assert all(values.check().agrees for _, values in evaluated(path.stem))
    said = choices(path.read_text("utf-8"))
    names = {name for key in ("tokens", *SIDES, "features") for name in texts_of(said.get(key, []))}
    page = run("derive", str(path), "--format", "html", status=0).stdout
    shown = set(re.findall(r">([^<>]+)<", html.unescape(page)))
    assert {read_worksheet(path).title, *names} <= shown


@pytest.mark.parametrize("name", STORIES)
def test_the_numbers_of_a_story_can_be_read(name: str) -> None:
    assert faults((ROOT / "examples" / f"{name}.toml").read_text("utf-8")) == []


def test_what_cannot_be_read_is_found() -> None:
    assert (len(STORIES), len(FINDING)) == (10, 4)
    assert faults(CAUSAL.read_text("utf-8")) == ["features", "W_Q"]
    story = (ROOT / "examples" / "head_it_cat.toml").read_text("utf-8")
    assert faults(story.replace("[given]", "scale = 5\n[given]")) == ["weights"]


FOUND = re.compile(r'"([^"]+)" finds "([^"]+)"')
FINDING = [example for example in all_examples() if FOUND.search(example.purpose)]


@pytest.mark.parametrize("example", FINDING, ids=lambda example: example.stem)
def test_a_token_finds_the_one_that_is_said(example: Example) -> None:
    weights = worksheet_of(example.text).evaluate()["weights"].array
    said = choices(example.text)
    queries, keys = (said.get(side) or said["tokens"] for side in SIDES)
    for query, key in FOUND.findall(example.purpose):
        row = weights[queries.index(query)]
        assert keys[int(row.argmax())] == key
        assert np.sum(row == row.max()) == 1
