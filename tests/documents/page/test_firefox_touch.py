"""A finger on the stage in Firefox, as `test_stage_room` has it in Chromium."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from symattn.documents.html import html_document
from symattn.documents.page import frame
from symattn.documents.shown import Shown
from tests import ROOT
from tests.command import put
from tests.documents.page.opening import variant
from tests.program import source

Tool = Callable[[str], str]
NodeFile = Callable[[str], Path]


def touched(tool: Tool, node_file: NodeFile, folder: Path) -> dict[str, Any]:
    """What swipes, taps and drags do on the stage of a variant with matrices wider than a phone."""
    node_file("puppeteer-core/package.json")
    page = put(folder / "page.html", html_document(Shown(*variant("cached-llama"))))
    script = str(ROOT / "tests" / "firefox_touch.cjs")
    command = [tool("node"), script, tool("firefox-esr"), page.as_uri()]
    run = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert run.returncode == 0, run.stderr
    found: dict[str, Any] = json.loads(run.stdout)
    return found


def test_fingers_on_the_stage_in_firefox(tool: Tool, node_file: NodeFile, tmp_path: Path) -> None:
    steps = [step.name for step in variant("cached-llama")[0].steps]
    found = touched(tool, node_file, tmp_path)
    assert found["said"] == []
    assert [one["step"] for one in found["swiped"]] == steps
    assert all(one["wide"] <= 375 for one in found["swiped"])
    assert found["back"] == found["up"] == found["wide"] == steps[-2]
    assert found["onward"] == "1"
    assert found["slid"]["frame"] == found["slid"]["last"]
    assert found["slid"]["step"] == steps[-2]


def test_a_stage_that_no_finger_moves_would_be_found(
    tool: Tool, node_file: NodeFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = source()
    wrong = right.replace('"touchend"', '"touchended"')
    assert wrong != right
    monkeypatch.setattr(frame, "scripts", lambda: wrong)
    assert len(touched(tool, node_file, tmp_path)["swiped"]) == 1
