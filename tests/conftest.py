"""Fixtures for tests that need programs from outside Python."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from symattn.errors import MissingExtra
from tests import ROOT
from tests.extras import package, unavailable

# compiling is most of what JAX takes here; read when it is imported
os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")

Tool = Callable[[str], str]

_KATEX = """
const katex = require("katex");
const set = ([displayMode, source]) => {
  try {
    const told = {displayMode, throwOnError: true, strict: "error", trust: false};
    return [katex.renderToString(source, told).match(/<math.*<\\/math>/s)[0], ""];
  } catch (error) {
    return ["", String(error)];
  }
};
"""
_MATHJAX = """
const { mathjax } = require("mathjax-full/js/mathjax.js");
const { TeX } = require("mathjax-full/js/input/tex.js");
require("mathjax-full/js/input/tex/AllPackages.js");
const { SerializedMmlVisitor } = require("mathjax-full/js/core/MmlTree/SerializedMmlVisitor.js");
const { liteAdaptor } = require("mathjax-full/js/adaptors/liteAdaptor.js");
const { RegisterHTMLHandler } = require("mathjax-full/js/handlers/html.js");
const { STATE } = require("mathjax-full/js/core/MathItem.js");
RegisterHTMLHandler(liteAdaptor());
const page = mathjax.document("", { InputJax: new TeX({ packages: ["base", "ams"] }) });
const visitor = new SerializedMmlVisitor();
const set = ([display, source]) => {
  try {
    const shown = visitor.visitTree(page.convert(source, { display, end: STATE.CONVERT }));
    const error = shown.match(/data-mjx-error="([^"]*)"/);
    return [shown, error ? error[1] : ""];
  } catch (error) {
    return ["", String(error)];
  }
};
"""
_RUN = """
const sources = JSON.parse(require("fs").readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(sources.map(set)));
"""


@dataclass(frozen=True)
class Formulas:
    """A program for Node that sets formulas (whether displayed, source), all in one run."""

    node: str
    program: str

    def __call__(self, formulas: list[tuple[bool, str]]) -> list[str]:
        """What is held against each, "" if nothing."""
        return [why for _, why in self._set(formulas)]

    def mathml(self, formulas: list[tuple[bool, str]]) -> list[str]:
        """Each as it is set."""
        return [shown for shown, _ in self._set(formulas)]

    def _set(self, formulas: list[tuple[bool, str]]) -> list[list[str]]:
        ran = subprocess.run(
            [self.node, "-e", self.program + _RUN],
            input=json.dumps(formulas),
            capture_output=True,
            check=True,
            encoding="utf-8",
            timeout=300,
        )
        found: list[list[str]] = json.loads(ran.stdout)
        assert len(found) == len(formulas)
        return found


#: The files that take longest, which workers begin with: at the end none waits for another.
_LONGEST = (
    "verifying/test_verifying.py",
    "attention/test_combinations.py",
    "lifting/test_loops.py",
    "lifting/test_graphs.py",
    "verifying/test_assignments.py",
    "lifting/test_proving.py",
    "documents/page/test_page.py",
    "documents/code/test_code.py",
    "documents/page/test_boxes.py",
    "documents/test_tex.py",
    "documents/test_seen.py",
)


def pytest_configure(config: pytest.Config) -> None:
    """What JAX has compiled serves the processes of functions, too; a worker's are its own."""
    compiled = tempfile.TemporaryDirectory(prefix="jax-")
    os.environ["JAX_COMPILATION_CACHE_DIR"] = compiled.name
    config.add_cleanup(compiled.cleanup)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest files first."""
    places = {ROOT / "tests" / name: place for place, name in enumerate(_LONGEST)}
    items.sort(key=lambda item: places.get(item.path, len(places)))


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call() -> Iterator[None]:
    """A test that imports a package which is not installed is skipped with its name, but in CI."""
    try:
        return (yield)
    except (ModuleNotFoundError, MissingExtra) as error:
        ours = (getattr(error, "name", None) or "").partition(".")[0] in ("symattn", "tests")
        if ours or os.environ.get("CI") == "true":
            raise
        pytest.skip(str(error))


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup() -> Iterator[None]:
    """So is a test whose fixture does."""
    return (yield from pytest_pyfunc_call())


@pytest.fixture(scope="session")
def tool() -> Tool:
    """The path of an external program by its name."""

    def find(name: str) -> str:
        path = shutil.which(name)
        if path is None:
            unavailable(name)
        return path

    return find


@pytest.fixture(scope="session")
def node_file() -> Callable[[str], Path]:
    """A file of a Node package, found where Node looks for packages."""

    def find(name: str) -> Path:
        for folder in os.environ.get("NODE_PATH", "").split(os.pathsep):
            if folder and (Path(folder) / name).exists():
                return Path(folder) / name
        return unavailable(name)

    return find


@pytest.fixture(scope="session")
def browser(tool: Tool) -> Iterator[Any]:
    """Chromium, through playwright."""
    path = tool("chromium")
    with package("playwright.sync_api").sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield found
        found.close()


def _setting(program: str, package: str) -> Callable[..., Formulas]:
    def fixture(tool: Tool) -> Formulas:
        node = tool("node")
        probe = f'require.resolve("{package}")'
        if subprocess.run([node, "-e", probe], capture_output=True, check=False).returncode:
            unavailable(f"{package} (for node, through NODE_PATH)")
        return Formulas(node, program)

    return fixture


katex = pytest.fixture(scope="session", name="katex")(_setting(_KATEX, "katex"))
mathjax = pytest.fixture(scope="session", name="mathjax")(
    _setting(_MATHJAX, "mathjax-full/js/mathjax.js")
)
