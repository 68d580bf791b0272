"""CONTRIBUTING names files and tables that there are; its example does what the page says of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from symattn import Attention, SymattnError, document, equal
from symattn.documents.job import FORMATS
from symattn.language.spec import Equations
from symattn.nodes import catalogue, masks
from symattn.nodes.masks import Mask
from tests import ROOT
from tests.command import run
from tests.conftest import Formulas
from tests.documents.test_latex import formulas

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
GIVEN = {"Q": [[1, 0], [0, 2], [1, 1]], "K": [[1, 1], [0, 1], [2, 0]], "V": [[1], [2], [3]]}


@pytest.fixture
def every_second(monkeypatch: pytest.MonkeyPatch) -> type[Mask]:
    """The mask of the page, among the others."""
    (example,) = re.findall(r"```python\n(class EverySecond.*?)```", PAGE, re.S)
    room: dict[str, Any] = dict(vars(masks))
    exec(compile(example, "CONTRIBUTING.md", "exec", dont_inherit=True), room)
    mask: type[Mask] = room["EverySecond"]
    monkeypatch.setitem(masks.MASKS, mask.word, mask)
    return mask


@pytest.mark.parametrize("form", FORMATS)
def test_the_mask_is_printed_in_every_format(
    form: str, every_second: type[Mask], tmp_path: Path
) -> None:
    sheet, out = tmp_path / "sheet.toml", tmp_path / f"out.{form}"
    given = "".join(f"{name} = {rows}\n" for name, rows in GIVEN.items())
    sheet.write_text(f'attention.mask = "every-second"\n[given]\n{given}', encoding="utf-8")
    result = run("derive", str(sheet), "--format", form, "-o", str(out))
    assert (result.exit_code, result.output) == (0, "")
    expected = {"svg": b"0.6698", "tikz": b"0.6698", "png": b"PNG", "pdf": b"%PDF", "docx": b"PK"}
    assert expected.get(form, b"mask") in out.read_bytes()


def test_the_mask_is_spelled_as_a_word(every_second: type[Mask], katex: Formulas) -> None:
    evaluation = Attention(mask="every-second").derivation().evaluate(**GIVEN)
    latex = str(document(evaluation, "latex", steps=["mask"]))
    assert r"\mathrm{every\text{-}second}" in latex
    assert [*filter(None, katex(formulas(latex)))] == []


def test_the_mask_hides_every_second_key(every_second: type[Mask]) -> None:
    weights = Attention(mask="every-second").derivation().evaluate(**GIVEN)["weights"].array
    hidden = [[abs(i - j) % 2 == 1 for j in range(3)] for i in range(3)]
    np.testing.assert_array_equal(weights == 0, hidden)
    cached = every_second(1, 3, start=2).as_explicit()
    assert [entry == 0 for entry in cached] == [True, False, True]
    with pytest.raises(SymattnError, match="has no parameter"):
        every_second.of(2, 4, 3)


def test_equations_call_the_mask_by_its_name(every_second: type[Mask]) -> None:
    derivation = Attention(mask="every-second").derivation()
    text = document(derivation, "equations")
    assert "M = every_second()" in text
    read = Equations(str(text)).derivation()
    masks_read, masks_written = (
        [step.expr for step in one.steps if step.name == "mask"] for one in (read, derivation)
    )
    assert masks_read == masks_written != []
    with pytest.raises(SymattnError, match="every_third"):
        Equations("O = softmax(Q K^T + every_third()) V").derivation()


def test_equations_and_statements_call_a_node_by_its_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(catalogue.CALLED, "peaks", catalogue.CALLED["rowmax"])
    read = Equations("R = peaks(S)").derivation()
    assert read.steps[-1].expr == Equations("R = rowmax(S)").derivation().steps[-1].expr
    assert equal("peaks(S)", "rowmax(S)")
    with pytest.raises(SymattnError, match="peaks needs a matrix"):
        Equations("R = peaks()").derivation()


# ---- the tables --------------------------------------------------------------------------------

_CODE = re.compile(r"`([^`]+)`")
_PATH = re.compile(r"(?:[\w.]+/)*(?:[\w.]+/|\w+\.(?:py|css|md|txt|toml))")
_NAME = re.compile(r"_?[A-Za-z]\w*")


def faults(page: str) -> Iterator[str]:
    """Rows of the tables of changes that name a file that is not there, or what it does not have.

    A file by its name alone stands in the folder named before it in its row.
    """
    table = page[page.index("## Where a change goes") : page.index("## A mask, worked through")]
    for row in re.findall(r"^\| (?!to |---).* \|$", table, re.M):
        what, names, source, folder = row.split("|")[1].strip(), [], "", ROOT
        for word in _CODE.findall(row):
            if _PATH.fullmatch(word):
                path = ROOT / word if "/" in word else folder / word
                folder = path if path.is_dir() else path.parent
                if not path.exists():
                    yield f"{what}: there is no {path.relative_to(ROOT)}"
                for file in path.rglob("*.py") if path.is_dir() else [path]:
                    source += file.read_text(encoding="utf-8") if file.exists() else ""
            elif _NAME.fullmatch(word):
                names.append(word)
        if not source:
            yield f"{what}: no file is named"
        for name in names:
            defined = re.search(rf"^ *(?:(?:class|def) {name}\b|{name}(?::| =))", source, re.M)
            argument = re.search(rf"\b{name}=", source)
            if source and not (defined or argument):
                yield f"{what}: {name} is not in the files of this row"


def test_every_file_and_table_that_a_change_goes_to_is_there() -> None:
    assert [*faults(PAGE)] == []


def test_files_and_names_that_are_gone_are_noticed() -> None:
    moved = PAGE.replace("symattn/nodes/masks.py", "symattn/nodes/mask.py")
    assert "a mask: there is no symattn/nodes/mask.py" in [*faults(moved)]
    renamed = PAGE.replace("`MASKS`", "`MASKERS`")
    assert [*faults(renamed)] == ["a mask: MASKERS is not in the files of this row"]
    nowhere = PAGE.replace("`Status` in `symattn/status.py`", "`Status`")
    assert [*faults(nowhere)] == ["an exit status: no file is named"]
