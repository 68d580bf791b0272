"""The program that a page holds is that of the parts that people read."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from symattn.documents.html import html_document
from symattn.documents.page import frame
from symattn.documents.shown import Shown
from symattn.mistakes.hypotheses import supposed
from symattn.sheets.rewriting import head_of
from symattn.sheets.worksheet import read_worksheet
from tests import ROOT, program


def is_fresh(text: str, whole: str) -> bool:
    """Whether the file was made of these parts."""
    return text.startswith(program.heading(whole))


def test_the_program_is_made_of_its_parts() -> None:
    whole = program.source()
    assert is_fresh(program.PROGRAM.read_text(encoding="utf-8"), whole), (
        "the parts have changed; run python -m tests.program"
    )
    assert not is_fresh(program.PROGRAM.read_text(encoding="utf-8"), whole + " ")


def test_every_part_is_in_it() -> None:
    assert {path.name for path in program.FOLDER.iterdir()} == set(program.PARTS)


def test_esbuild_writes_it_again(node_file: Callable[[str], Path]) -> None:
    esbuild = str(node_file("esbuild/bin/esbuild"))
    assert program.minified(program.source(), esbuild) == frame.scripts() + "\n"
    assert f"esbuild@{program.ESBUILD} " in (ROOT / ".ci" / "tools").read_text(encoding="utf-8")
    with pytest.raises(SystemExit, match="has already been declared"):
        program.minified("const one = 1; const one = 2;", esbuild)


def declared(text: str) -> list[str]:
    """The names that a part declares for all."""
    found = re.findall(
        r"(?m)^(?:const|let|class|function\*?|async function) (\w+|[\[{][^\]}]*[\]}])", text
    )
    return [name for names in found for name in re.findall(r"\w+", names)]


def test_no_two_parts_declare_the_same_name() -> None:
    """Two functions of one name are no error in JavaScript: the second is taken."""
    parts = [(program.FOLDER / name).read_text(encoding="utf-8") for name in program.PARTS]
    names = [name for part in parts for name in declared(part)]
    assert len(names) > 300
    assert sorted(names) == sorted(set(names))
    assert declared("const [one, two] = [1, 2];\nfunction one() {}") == ["one", "two", "one"]


def test_a_page_of_three_tokens_stays_light() -> None:
    found = read_worksheet(ROOT / "examples" / "causal.toml")
    derivation = found.derivation()
    values = found.evaluate(derivation)
    shown = Shown(
        derivation,
        values,
        found.notation,
        worksheet=head_of(found),
        supposed=supposed(derivation, values),
    )
    page = html_document(shown)
    assert 150_000 < len(page.encode()) <= 202_000
