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

#: Takes a script of `tests/`, pages by name, a browser and what else the script is told; gives what
#: it finds there.
InBrowser = Callable[..., dict[str, Any]]


@pytest.fixture
def in_browser(tool: Tool, node_file: Callable[[str], Path], tmp_path: Path) -> InBrowser:
    """Pages opened in a browser by a script."""
    node_file("puppeteer-core/package.json")

    def found(script: str, pages: Mapping[str, str], program: str, *told: str) -> dict[str, Any]:
        files = [put(tmp_path / f"{name}.html", page) for name, page in pages.items()]
        command = [tool("node"), str(ROOT / "tests" / script), tool(program)]
        command += [*(file.as_uri() for file in files), *told]
        run = subprocess.run(command, capture_output=True, text=True, timeout=400, check=False)
        assert run.returncode == 0, run.stderr
        shown: dict[str, Any] = json.loads(run.stdout)
        return shown

    return found


@pytest.fixture(scope="session")
def free() -> dict[str, list[Any]]:
    """Pages that no test uses, by their options; a new one takes a process of its own."""
    return {}


@pytest.fixture
def opened(
    browser: Any, free: dict[str, list[Any]], tmp_path: Path
) -> Iterator[Callable[..., Any]]:
    """Opens a document in a browser; at the end nothing may have gone wrong or been fetched."""
    said: list[str] = []
    hears: dict[str, Callable[[Any], None]] = {
        "console": lambda message: said.append(message.text),
        "pageerror": lambda error: said.append(str(error)),
        "request": lambda request: (
            said.append(request.url) if not request.url.startswith("file:") else None
        ),
    }
    used: list[tuple[list[Any], Any]] = []

    def open_page(document: str, width: int = 1280, **options: Any) -> Any:
        others = free.setdefault(repr(sorted(options.items())), [])
        page = others.pop() if others else browser.new_context(**options).new_page()
        used.append((others, page))
        page.set_viewport_size({"width": width, "height": 800})
        for event, hear in hears.items():
            page.on(event, hear)
        file = put(tmp_path / f"page{len(used)}.html", document)
        page.goto(file.as_uri())
        return page

    yield open_page
    for others, page in used:
        for event, hear in hears.items():
            page.remove_listener(event, hear)
        if not page.is_closed():
            page.goto("about:blank")
            page.emulate_media(media="null")
            page.mouse.move(0, 0)
            others.append(page)
    assert said == []
