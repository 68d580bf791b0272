"""Every reader of every output sees the same digits: those of the text, matrix by matrix.

`tests.sheets` says of which derivations. A document is opened by the program that people open it
with, all of them in one run of it, and what that program shows is read back by `tests.seen`.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any
from xml.etree import ElementTree

import pytest

from symattn.documents.markdown import FLAVORS, markdown_document
from symattn.documents.mathml import mathml_document
from symattn.documents.text import text_document
from tests.seen import Part, Seen, in_formula, in_text, of_chtml, of_katex, of_mathml
from tests.sheets import SHEETS, outlines
from tests.test_markdown import formulas

_MATH = "{http://www.w3.org/1998/Math/MathML}math"

_KATEX = """
const katex = require("katex");
const set = ([displayMode, source]) =>
  ["mathml", "html"].map((output) => katex.renderToString(source, {displayMode, output}));
"""
_MATHJAX = """
const { mathjax } = require("mathjax-full/js/mathjax.js");
const { TeX } = require("mathjax-full/js/input/tex.js");
const { CHTML } = require("mathjax-full/js/output/chtml.js");
require("mathjax-full/js/input/tex/AllPackages.js");
const { liteAdaptor } = require("mathjax-full/js/adaptors/liteAdaptor.js");
const { RegisterHTMLHandler } = require("mathjax-full/js/handlers/html.js");
const adaptor = liteAdaptor();
RegisterHTMLHandler(adaptor);
const page = mathjax.document("", {
  InputJax: new TeX({ packages: ["base", "ams"] }), OutputJax: new CHTML(),
});
const set = ([display, source]) => [adaptor.outerHTML(page.convert(source, { display }))];
"""
_RUN = """
const sources = JSON.parse(require("fs").readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(sources.map(set)));
"""

Set = Callable[[list[tuple[bool, str]]], list[list[str]]]


@cache
def text_of(name: str) -> tuple[Seen, ...]:
    """The matrices of a derivation as the text shows them: what all else is held against."""
    return tuple(seen for page in outlines(name, "value") for seen in in_text(text_document(page)))


def differences(found: dict[str, Iterable[Seen]], wanted: Callable[[str], Iterable[Seen]]) -> list[str]:
    """Where a reader sees something else than the text shows."""
    out = []
    for name, seen in found.items():
        ours, theirs = list(wanted(name)), list(seen)
        pairs = zip(ours, theirs, strict=False)
        first = next((f"{a}\\n  {b}" for a, b in pairs if a != b), "")
        if first or len(ours) != len(theirs):
            out.append(f"{name}: {len(ours)} matrices, {len(theirs)} seen\\n  {first}")
    return out


@pytest.fixture(scope="module")
def node(tool: Callable[[str], str]) -> Callable[[str], Set]:
    """Formulas as a program for Node sets them, all in one run."""

    def program(source: str) -> Set:
        def run(sources: list[tuple[bool, str]]) -> list[list[str]]:
            different = list(dict.fromkeys(sources))
            ran = subprocess.run([tool("node"), "-e", source + _RUN], input=json.dumps(different),
                                 capture_output=True, check=True, encoding="utf-8", timeout=300)  # fmt: skip
            shown = dict(zip(different, json.loads(ran.stdout), strict=True))
            return [shown[each] for each in sources]

        return run

    return program


def displayed(name: str, flavor: str) -> list[str]:
    """The displays of a derivation's Markdown."""
    return [source for page in outlines(name, "value")
            for display, source in formulas(markdown_document(page, flavor)) if display]  # fmt: skip


def test_katex(node: Callable[[str], Set], katex: Any) -> None:
    for flavor in FLAVORS:
        sources = [(name, source) for name in SHEETS for source in displayed(name, flavor)]
        shown = node(_KATEX)([(True, source) for _, source in sources])
        for k, read in enumerate((of_mathml, of_katex)):
            found: dict[str, list[Seen]] = {name: [] for name in SHEETS}
            for (name, _), each in zip(sources, shown, strict=True):
                found[name] += in_formula(read(ElementTree.fromstring(each[k])))
            assert differences(found, text_of) == []


def test_mathjax(node: Callable[[str], Set], mathjax: Any) -> None:
    sources = [(name, source) for name in SHEETS for source in displayed(name, "github")]
    shown = node(_MATHJAX)([(True, source) for _, source in sources])
    found: dict[str, list[Seen]] = {name: [] for name in SHEETS}
    for (name, _), (each,) in zip(sources, shown, strict=True):
        found[name] += in_formula(of_chtml(ElementTree.fromstring(each)))
    assert differences(found, text_of) == []


def test_mathml() -> None:
    found = {}
    for name in SHEETS:
        root = ElementTree.fromstring(mathml_document(*outlines(name, "value")))
        shown = [math for math in root.iter(_MATH) if math.get("display") == "block"]
        found[name] = [seen for math in shown for seen in in_formula(of_mathml(math))]
    assert differences(found, text_of) == []
