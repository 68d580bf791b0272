"""Theorems of Rocq with a changed statement: what they say, and that another proof proves none."""

from __future__ import annotations

import random
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

from tests.conftest import Tool
from tests.fuzz.theorems import GOOD, Rocq, made, outcomes, source, sources, tried, unnoticed
from tests.statements import STATEMENTS


@pytest.mark.nightly
def test_what_is_asked_is_read_back() -> None:
    rng = random.Random(2)
    of = [*islice(sources(rng), 16)]
    found = [one for source in of for one in made(source, rng)]
    assert [one.statement for one in found if not one.is_read_back] == []
    assert sum(not one.is_true for one in found) > 40
    assert [said for source in of for said in unnoticed(source)] == []
    assert sum(source.sign == "<=" for source in of) > 4


@pytest.mark.nightly
def test_no_proof_proves_another_statement(tool: Tool, tmp_path: Path) -> None:
    tool("coqtop")
    (row,) = (row for row in STATEMENTS if row.text == "softmax(S) 1 = 1")
    found = [*tried(Rocq(tmp_path), source(row), random.Random(1))]
    assert [(word, one.statement) for one, word in found if word not in GOOD] == []
    counts = Counter(word for _, word in found)
    assert counts["true, accepted"] >= 1
    assert counts["false, refused"] >= 3


@pytest.mark.nightly
def test_no_proof_proves_any_other_statement(tool: Tool) -> None:
    tool("coqtop")
    found = [*outcomes(500, 0)]
    assert [(word, one.statement) for one, word in found if word not in GOOD] == []
    assert sum(word == "false, refused" for _, word in found) >= 300
