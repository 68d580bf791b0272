"""Every reader of every output sees the same digits: those of the text, matrix by matrix.

`tests.sheets` says of which derivations. A document is opened by the program that people open it
with, all of them in one run of it, and what that program shows is read back by `tests.seen`.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from symattn.documents.markdown import FLAVORS, markdown_document
from symattn.documents.mathml import mathml_document
from symattn.documents.outline import View
from symattn.documents.text import text_document
from symattn.documents.tex import tex_document
from symattn.notation.prose import Prose
from symattn.notation.text import line
from tests.seen import (
    Part,
    Seen,
    in_formula,
    in_page,
    in_text,
    of_chtml,
    of_katex,
    of_mathml,
    prose_pattern,
)
from tests.sheets import SHEETS, outlines
from tests.test_markdown import formulas

#: What is compared: what an entry comes from, and the matrix of a step.
VIEWS: tuple[View, ...] = ("worked", "value")

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
    return tuple(seen for page in outlines(name, *VIEWS) for seen in in_text(text_document(page)))


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
            ran = subprocess.run([tool("node"), "-e", source + _RUN], input=json.dumps(sources),
                                 capture_output=True, check=True, encoding="utf-8", timeout=300)  # fmt: skip
            shown: list[list[str]] = json.loads(ran.stdout)
            return shown

        return run

    return program


def displayed(name: str, flavor: str) -> list[str]:
    """The displays of a derivation's Markdown."""
    return [source for page in outlines(name, *VIEWS)
            for display, source in formulas(markdown_document(page, flavor)) if display]  # fmt: skip


def seen_by(shown: dict[str, list[Part]]) -> dict[str, list[Seen]]:
    """What is seen in the displays of each derivation."""
    return {name: [seen for part in parts for seen in in_formula(part)]
            for name, parts in shown.items()}  # fmt: skip


def test_katex(node: Callable[[str], Set], katex: Any) -> None:
    sources = {(name, flavor): displayed(name, flavor) for name in SHEETS for flavor in FLAVORS}
    different = list(dict.fromkeys(source for each in sources.values() for source in each))
    shown = dict(zip(different, node(_KATEX)([(True, each) for each in different]), strict=True))
    for k, read in enumerate((of_mathml, of_katex)):
        seen = {source: in_formula(read(ElementTree.fromstring(shown[source][k])))
                for source in different}  # fmt: skip
        for flavor in FLAVORS:
            found = {name: [one for source in sources[name, flavor] for one in seen[source]]
                     for name in SHEETS}  # fmt: skip
            assert differences(found, text_of) == []


def test_mathjax(node: Callable[[str], Set], mathjax: Any) -> None:
    sources = {name: displayed(name, "github") for name in SHEETS}
    different = list(dict.fromkeys(source for each in sources.values() for source in each))
    shown = dict(zip(different, node(_MATHJAX)([(True, each) for each in different]), strict=True))
    found = {name: [of_chtml(ElementTree.fromstring(shown[source][0])) for source in sources[name]]
             for name in SHEETS}  # fmt: skip
    assert differences(seen_by(found), text_of) == []


def test_mathml() -> None:
    found = {}
    for name in SHEETS:
        root = ElementTree.fromstring(mathml_document(*outlines(name, *VIEWS)))
        shown = [math for math in root.iter(_MATH) if math.get("display") == "block"]
        found[name] = [seen for math in shown for seen in in_formula(of_mathml(math))]
    assert differences(found, text_of) == []


# pages

def _plain(parts: Prose) -> str:
    return "".join(part if isinstance(part, str) else line(part) for part in parts)


@dataclass(frozen=True)
class Expected:
    """What a page has to show behind an opening, and whose it is."""

    whose: str
    opening: str
    stream: str


def expected(names: Iterable[str], given_together: bool = False) -> Iterator[Expected]:
    """For each section what opens it on a page, and the text's own matrices as one run.

    `given_together`: on slides what is given has one heading and no sentences.
    """
    for name in names:
        for page in outlines(name, *VIEWS):
            seen = in_text(text_document(page))
            opening = prose_pattern(page.title) + r"(?s:.*?)"
            place = 0
            if given_together:
                place = sum(len(section.lines) for section in page.given)
                stream = "".join(each.stream for each in seen[:place])
                yield Expected(f"{name}, given", rf"{opening}\nGiven\n", stream)
                opening = ""
            for section in page.steps if given_together else (*page.given, *page.steps):
                shape = r"\s*".join(map(re.escape, "".join(_plain(section.shape).split())))
                heading = rf"\n{section.number}\. {section.name}\n(?s:.*?)"
                told = heading if section.number else prose_pattern(_plain(section.why))
                stop = place + len(section.lines)
                stream = "".join(each.stream for each in seen[place:stop])
                yield Expected(f"{name}, {section.name}",
                               rf"{opening}{told}[^0-9∞]*?\({shape}\)", stream)  # fmt: skip
                opening, place = "", stop
            assert place == len(seen)


def amiss(page: str, wanted: Sequence[Expected]) -> list[str]:
    """Where a page shows something else than the text."""
    found = in_page(page, [each.opening for each in wanted])
    return [f"{each.whose}\n  {each.stream}\n  {stream}"
            for each, stream in zip(wanted, found, strict=True) if each.stream != stream]  # fmt: skip


def letters(tool: Callable[[str], str], folder: Path) -> str:
    """The letters of page.pdf, in the order in which they were set."""
    ran = subprocess.run([tool("pdftotext"), "-raw", "page.pdf", "-"], cwd=folder, check=True,
                         capture_output=True, encoding="utf-8")  # fmt: skip
    return f"\n{ran.stdout}"


@pytest.mark.parametrize(
    ("flavor", "program", "names"),
    [
        ("article", "pdflatex", tuple(SHEETS)),
        ("article", "lualatex", tuple(SHEETS)[::3]),
        ("standalone", "pdflatex", tuple(SHEETS)[1::3]),
        ("beamer", "pdflatex", tuple(SHEETS)[2::6]),
    ],
)
def test_pdf(
    flavor: str, program: str, names: Sequence[str], tool: Callable[[str], str], tmp_path: Path
) -> None:
    """All of it in an article; of the other classes and programs a cover of the derivations."""
    pages = [page for name in names for page in outlines(name, *VIEWS)]
    source = tex_document(*pages, flavor=flavor)
    start = r"\begin{document}"
    told = source.replace(start, rf"{start}\setcounter{{equation}}{{7000}}")
    (tmp_path / "page.tex").write_text(told, "utf-8")
    subprocess.run([tool(program), "-interaction=nonstopmode", "page.tex"], cwd=tmp_path,
                   check=True, capture_output=True, timeout=300)  # fmt: skip
    wanted = [*expected(names, given_together=flavor == "beamer")]
    assert amiss(letters(tool, tmp_path), wanted) == []
