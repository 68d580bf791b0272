"""The example that CONTRIBUTING works through does what the page says of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from symattn import Attention, SymattnError, document
from symattn.cli import main
from symattn.documents.job import FORMATS
from symattn.nodes import masks
from symattn.nodes.masks import Mask
from tests import ROOT
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
    result = CliRunner().invoke(main, ["derive", str(sheet), "--format", form, "-o", str(out)])
    assert (result.exit_code, result.output) == (0, "")
    expected = {"svg": b"0.6698", "tikz": b"0.6698", "png": b"PNG", "pdf": b"%PDF"}
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
