"""A document opened in a real browser."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests import ROOT
from tests.command import put
from tests.conftest import Tool

#: Takes a script of `tests/`, pages by name and a browser; gives what the script finds there.
InBrowser = Callable[[str, Mapping[str, str], str], dict[str, Any]]


@pytest.fixture
def in_browser(tool: Tool, node_file: Callable[[str], Path], tmp_path: Path) -> InBrowser:
    """Pages opened in a browser by a script."""
    node_file("puppeteer-core/package.json")

    def found(script: str, pages: Mapping[str, str], program: str) -> dict[str, Any]:
        files = [put(tmp_path / f"{name}.html", page) for name, page in pages.items()]
        command = [tool("node"), str(ROOT / "tests" / script), tool(program)]
        command += [file.as_uri() for file in files]
        run = subprocess.run(command, capture_output=True, text=True, timeout=400, check=False)
        assert run.returncode == 0, run.stderr
        shown: dict[str, Any] = json.loads(run.stdout)
        return shown

    return found


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Opens a document in a browser; at the end nothing may have gone wrong or been fetched."""
    said: list[str] = []
    contexts = []

    def open_page(document: str, width: int = 1280, **options: Any) -> Any:
        context = browser.new_context(viewport={"width": width, "height": 800}, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on(
            "request",
            lambda request: (
                said.append(request.url) if not request.url.startswith("file:") else None
            ),
        )
        file = put(tmp_path / f"page{len(contexts)}.html", document)
        page.goto(file.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert said == []
