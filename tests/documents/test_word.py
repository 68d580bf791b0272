"""Word files: Office's own formulas, marks in tables; `test_seen` reads their digits back."""

from __future__ import annotations

import io
import re
import sys
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest

from symattn.errors import CannotSpell
from symattn.notation import tree as t
from symattn.notation.letters import custom_symbol
from symattn.notation.omml import NAMESPACE, omml
from tests import ROOT
from tests.command import run
from tests.sheets import SHEETS, outlines
from tests.written import word_document

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_M = f"{{{NAMESPACE}}}"


def body(file: bytes) -> ElementTree.Element:
    """What stands in a Word file."""
    with zipfile.ZipFile(io.BytesIO(file)) as parts:
        return ElementTree.fromstring(parts.read("word/document.xml"))


def paragraphs(file: bytes) -> str:
    """The words of a Word file, a line for each paragraph."""
    return "\n".join(map(said, body(file).iter(f"{_W}p")))


def element(tree: t.Tree) -> ElementTree.Element:
    """A formula by itself."""
    declared = omml(tree).replace("<m:oMath>", f'<m:oMath xmlns:m="{NAMESPACE}">', 1)
    return ElementTree.fromstring(declared)


def said(root: ElementTree.Element) -> str:
    """The characters of a formula."""
    return "".join(root.itertext())


@pytest.mark.parametrize(
    ("symbol", "shown", "inside"),
    [
        (r"\mathbf{W}^Q", "𝐖Q", "sSup"),
        (r"\boldsymbol{\alpha}_1", "𝜶1", "sSub"),
        (r"\hat{Q}", "Q", "acc"),
        (r"\bar{q}_2", "q2", "acc"),
        (r"W^{(Q)}_1", "W1(Q)", "sSubSup"),
        (r"\mathrm{softmax}_\tau", "softmaxτ", "sSub"),
        ("Q'", "Q′", "sSup"),
        ("theta", "θ", "r"),
    ],
)
def test_every_kind_of_symbol_has_a_form(symbol: str, shown: str, inside: str) -> None:
    root = element(custom_symbol(symbol))
    assert said(root) == shown
    assert root.find(f".//{_M}{inside}") is not None


def test_what_word_does_not_know_is_refused() -> None:
    with pytest.raises(CannotSpell, match="<mfrac> has no form in Word"):
        omml(t.Custom(r"\frac{a}{b}"))
    with pytest.raises(CannotSpell, match="not a notation tree"):
        omml("x")  # type: ignore[arg-type]


def test_a_sum_takes_what_it_sums_and_no_more() -> None:
    whole = t.Script(t.SUM, t.Ident("l"), t.Ident("n"))
    root = element(t.row(t.Ident("s"), t.EQUALS, whole, t.Ident("q"), t.APPROX, t.Num("2")))
    (summed,) = root.iter(f"{_M}nary")
    inside = summed.find(f"{_M}e")
    assert inside is not None
    assert said(inside) == "q"
    assert said(root) == "s=lnq≈2"


def test_a_word_is_upright_and_one_run() -> None:
    (run,) = element(t.Ident("softmax", roman=True))
    assert said(run) == "softmax"
    assert run.find(f"{_M}rPr/{_M}nor") is not None
    (letter,) = element(t.Ident("q"))
    assert letter.find(f"{_M}rPr") is None


@pytest.mark.parametrize("name", [*SHEETS][::8])
def test_no_part_of_a_formula_is_empty(name: str) -> None:
    """An empty part is shown by Word as a dotted box, and ends the formula in LibreOffice."""
    root = body(word_document(*outlines(name, "formula", "entry", "worked", "value")))
    parts = [part for kind in ("e", "num", "den", "sub", "sup") for part in root.iter(_M + kind)]
    hidden = [part for one in root.iter(f"{_M}nary") for part in one if len(part) == 0]
    assert len(parts) > 30
    assert [part.tag for part in parts if len(part) == 0 and part not in hidden] == []


def test_a_file_is_the_same_each_time() -> None:
    (page,) = outlines("exact", "value")
    assert word_document(page) == word_document(page)


def test_marks_stand_in_tables_with_their_signs_and_tints(tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.toml"
    given = "[given]\nQ = [[1]]\nK = [[1], [2]]\nV = [[1], [2]]\n"
    sheet.write_text(f"{given}[claims]\nscores = [[1, 3]]\n", "utf-8")
    run("check", sheet, "--format", "docx", "-o", tmp_path / "marks.docx", status=1)
    root = body((tmp_path / "marks.docx").read_bytes())
    cells = {said(cell).strip(): cell for cell in root.iter(f"{_W}tc")}
    wrong = next(cell for words, cell in cells.items() if "✗" in words and "3" in words)
    shade = wrong.find(f".//{_W}shd")
    assert shade is not None
    assert shade.get(f"{_W}fill") == "ffc9c9"
    assert cells["1"].find(f".//{_W}shd") is None


def test_headings_have_the_level_that_is_asked_for(tmp_path: Path) -> None:
    sheet = ROOT / "examples" / "it_cat_mat.toml"
    told = ("derive", sheet, "--format", "docx", "--headings", "2", "-o", tmp_path / "page.docx")
    run(*told, status=0)
    root = body((tmp_path / "page.docx").read_bytes())
    styles = [style.get(f"{_W}val") or "" for style in root.iter(f"{_W}pStyle")]
    assert min(name for name in styles if name.startswith("Heading")) == "Heading2"


def test_without_the_library_one_line_names_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "docx", None)
    ran = run("derive", "causal", "--format", "docx", "-o", tmp_path / "page.docx", status=2)
    assert re.fullmatch(r".*docx: needs python-docx; pip install 'symattn\[word\]'\n", ran.stderr)
    assert not (tmp_path / "page.docx").exists()
