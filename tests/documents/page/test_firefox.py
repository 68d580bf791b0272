"""The page in Firefox: the main things, the stage, and formulas that are not cut off."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from symattn import VARIANTS
from symattn.documents.html import html_document
from symattn.documents.shown import Shown
from tests import ROOT
from tests.documents.page.opening import sheet, variant

Tool = Callable[[str], str]
NodeFile = Callable[[str], Path]

#: Variants whose formulas have all that hangs out of a line, measured in the usual run.
HIGH = ("cached-llama", "t5", "transformer-xl")


def found(
    tool: Tool, node_file: NodeFile, folder: Path, first: str, others: tuple[str, ...]
) -> dict[str, Any]:
    """What Firefox shows of a page, and which formulas of it and of these variants it cuts off."""
    node_file("puppeteer-core/package.json")
    pages = {"page": first, **{name: html_document(Shown(*variant(name))) for name in others}}
    for name, document in pages.items():
        (folder / f"{name}.html").write_text(document, encoding="utf-8")
    addresses = [(folder / f"{name}.html").as_uri() for name in pages]
    script = str(ROOT / "tests" / "firefox.cjs")
    command = [tool("node"), script, tool("firefox-esr"), *addresses]
    run = subprocess.run(command, capture_output=True, text=True, timeout=400, check=False)
    assert run.returncode == 0, run.stderr
    shown: dict[str, Any] = json.loads(run.stdout)
    return shown


def test_firefox_does_the_main_things(tool: Tool, node_file: NodeFile, tmp_path: Path) -> None:
    page = html_document(Shown(*sheet("causal")))
    shown = found(tool, node_file, tmp_path, page, HIGH)
    assert shown["said"] == []
    assert shown["halves"] == 0
    assert shown["title"] == "Causal self-attention"
    assert shown["clipped"] == []
    assert shown["marks"] == ["chosen", "source", "source", "source"]
    assert shown["keyboard"] == "A||0|2"
    assert shown["live"]["state"].startswith("Changed")
    assert abs(shown["live"]["weight"] - 0.7679) < 5e-5
    assert shown["reset"] == "0.5760"
    assert shown["wide"] is False
    steps = [step.name for step in sheet("causal")[0].steps]
    for width in ("375", "1440"):
        frames = shown["stage"][width]
        assert list(dict.fromkeys(frame["step"] for frame in frames)) == steps
        assert [frame for frame in frames if frame["faults"]] == []
        assert len({frame["buttons"] for frame in frames}) == 1
    assert shown["back"] == 0


@pytest.mark.nightly
def test_firefox_cuts_no_formula_of_any_variant(
    tool: Tool, node_file: NodeFile, tmp_path: Path
) -> None:
    names = tuple(row.name for row in VARIANTS)
    page = html_document(Shown(*sheet("causal")))
    assert found(tool, node_file, tmp_path, page, names)["clipped"] == []


@pytest.mark.nightly
def test_a_formula_that_is_cut_off_would_be_found(
    tool: Tool, node_file: NodeFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from symattn.documents.page import frame

    file = frame._file  # pyright: ignore
    narrow = ".line{overflow:hidden!important;width:20px!important;height:4px}"
    monkeypatch.setattr(frame, "_file", lambda name: file(name) + narrow)
    page = html_document(Shown(*sheet("causal")))
    assert found(tool, node_file, tmp_path, page, ())["clipped"]
