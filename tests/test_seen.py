"""Every reader of every output sees the same digits: those of the text, matrix by matrix.

`tests.sheets` says of which derivations. A document is opened by the program that people open it
with, all of them in one run of it, and what that program shows is read back by `tests.seen`.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from symattn.cli import main
from symattn.documents.html import html_document
from symattn.documents.markdown import FLAVORS, markdown_document
from symattn.documents.mathml import mathml_document
from symattn.documents.outline import View, outline
from symattn.documents.text import text_document
from symattn.documents.tex import tex_document
from symattn.notation.prose import Prose
from symattn.notation.text import line
from tests.seen import (
    Part,
    Seen,
    cell,
    in_formula,
    in_page,
    in_text,
    of_chtml,
    of_katex,
    of_mathml,
    prose_pattern,
)
from tests.sheets import SHEETS, VARIANT_SHEETS, evaluated, notation_of, outlines, sheet
from tests.test_markdown import formulas
from tests.test_page import cells

#: What is compared: what an entry comes from, and the matrix of a step.
VIEWS: tuple[View, ...] = ("worked", "value")

ROOT = Path(__file__).parent.parent

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


def expected(
    names: Iterable[str], views: Sequence[View] = VIEWS, given_together: bool = False
) -> Iterator[Expected]:
    """For each section what opens it on a page, and the text's own matrices as one run.

    `given_together`: on slides what is given has one heading and no sentences.
    """
    for name in names:
        for page in outlines(name, *views):
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
                               rf"{opening}{told}[^0-9∞]*?\(\s*{shape}\s*\)", stream)  # fmt: skip
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


# Office

#: All worksheets, and some variants; not elu, which pandoc reads out of Word as e, l and u.
_SOME = tuple(name for k, name in enumerate(SHEETS)
              if (k % 4 == 0 and "linear" not in name) or name not in VARIANT_SHEETS)  # fmt: skip


def pandoc(tool: Callable[[str], str], folder: Path, source: str, *told: str) -> str:
    """What pandoc makes of a document, without a warning."""
    ran = subprocess.run([tool("pandoc"), "--fail-if-warnings", *told], input=source, cwd=folder,
                         check=True, capture_output=True, encoding="utf-8", timeout=200)  # fmt: skip
    assert ran.stderr == ""
    return ran.stdout


def blocks(html: str) -> list[Part]:
    """The displays of a page."""
    found = re.findall(r'<math display="block".*?</math>', html, re.DOTALL)
    return [of_mathml(ElementTree.fromstring(each)) for each in found]


def test_pandoc_and_word(tool: Callable[[str], str], tmp_path: Path) -> None:
    """Markdown as pandoc reads it, and once more out of the Word file it makes of it."""
    source = "\n".join(markdown_document(page) for name in _SOME for page in outlines(name, *VIEWS))
    wanted = [seen for name in _SOME for seen in text_of(name)]
    direct = pandoc(tool, tmp_path, source, "-t", "html", "--mathml")
    pandoc(tool, tmp_path, source, "-o", "page.docx")
    back = pandoc(tool, tmp_path, "", "page.docx", "-t", "html", "--mathml")
    for page in (direct, back):
        seen = [each for part in blocks(page) for each in in_formula(part)]
        assert differences({"page": seen}, lambda _: wanted) == []


def test_libreoffice(tool: Callable[[str], str], tmp_path: Path) -> None:
    """The MathML in a Word file, opened by LibreOffice, which cuts lines off that are too long."""
    names = [name for name in _SOME if name != "exact"]
    pages = [page for name in names for page in outlines(name, "value")]
    pandoc(tool, tmp_path, mathml_document(*pages), "-f", "html", "-o", "page.docx")
    subprocess.run([tool("soffice"), f"-env:UserInstallation=file://{tmp_path}/profile",
                    "--headless", "--convert-to", "pdf", "page.docx"], cwd=tmp_path, check=True,
                   capture_output=True, timeout=300)  # fmt: skip
    assert amiss(letters(tool, tmp_path), [*expected(names, ["value"])]) == []


# a browser

_VISIBLE = """() => [...document.querySelectorAll("math[display=block]")].map((math) => {
    for (const leaf of math.querySelectorAll("mi, mn, mo, mtext")) {
        const box = leaf.getBoundingClientRect();
        if (!(box.width > 0 && box.height > 0)) leaf.textContent = "";
    }
    const misplaced = [...math.querySelectorAll("mtr")].filter((row) => {
        const left = [...row.children].map((cell) => cell.getBoundingClientRect().left);
        const below = row.nextElementSibling?.getBoundingClientRect().top ?? Infinity;
        return left.some((x, k) => x <= left[k - 1]) || row.getBoundingClientRect().top >= below;
    });
    return misplaced.length ? `<p>${math.textContent}</p>` : math.outerHTML;
})"""


def test_browser(browser: Any, tmp_path: Path) -> None:
    """MathML as Chromium lays it out: what has an extent, in rows and columns."""
    page = browser.new_page()
    found = {}
    for name in SHEETS:
        shown = mathml_document(*outlines(name, *VIEWS))
        (tmp_path / "page.html").write_text(f"<!doctype html><meta charset=utf-8>{shown}", "utf-8")
        page.goto((tmp_path / "page.html").as_uri())
        found[name] = [of_mathml(ElementTree.fromstring(each.replace("&nbsp;", " ")))
                       for each in page.evaluate(_VISIBLE)]  # fmt: skip
    page.close()
    assert differences(seen_by(found), text_of) == []


def test_page(browser: Any, tmp_path: Path) -> None:
    """The page's cells, each matrix of each head by itself; its own tests see to the variants."""
    page = browser.new_page()
    for name in SHEETS:
        if name in VARIANT_SHEETS or len(evaluated(name)) > 1 or name == "exact":
            continue
        ((derivation, values),) = evaluated(name)
        whole = notation_of(name).but(limit=0)
        text = text_document(outline(derivation, values, notation=whole, views=["value"]))
        html = html_document(derivation, values, notation=whole)
        (tmp_path / "page.html").write_text(html, "utf-8")
        page.goto((tmp_path / "page.html").as_uri())
        tables: dict[tuple[str, str], dict[tuple[int, int], str]] = {}
        for key, shown in cells(page).items():
            letter, head, row, column = key.split("|")
            tables.setdefault((letter, head), {})[int(row), int(column)] = cell(shown)
        items = [item.letter for item in (*derivation.inputs, *derivation)]
        in_order = sorted(tables, key=lambda key: (items.index(key[0]), key[1]))
        wanted = [{(i, j): number for i, row in enumerate(seen.rows) for j, number in enumerate(row)}
                  for seen in in_text(text)]  # fmt: skip
        assert [tables[key] for key in in_order] == wanted, name
    page.close()


# notebooks

#: Every hard worksheet that is one derivation, and a few variants.
_BOOKS = tuple(name for k, name in enumerate(SHEETS)
               if (k % 12 == 0 or name not in VARIANT_SHEETS) and len(evaluated(name)) == 1)  # fmt: skip


def derived(name: str, folder: Path, form: str, *told: str) -> str:
    """What ``symattn derive`` writes of a worksheet."""
    (folder / f"{name}.toml").write_text(SHEETS[name], "utf-8")
    exact = ["--exact"] if notation_of(name).exact else []
    words = ["derive", str(folder / f"{name}.toml"), "--format", form, *exact, *told]
    ran = CliRunner().invoke(main, words)
    assert ran.exit_code == 0, ran.output
    return ran.output


def steps_of(name: str) -> list[Seen]:
    """The matrices of a derivation's steps in its text, without those that are given."""
    ((page,),) = [outlines(name, "value")]
    given = sum(len(section.lines) for section in page.given)
    return in_text(text_document(page))[given:]


def test_notebooks(node: Callable[[str], Set], katex: Any, tmp_path: Path) -> None:
    """What the cells of a notebook show when it is run is what is written above them."""
    nbformat: Any = pytest.importorskip("nbformat")
    whole, starts = nbformat.v4.new_notebook(), []
    for name in _BOOKS:
        starts.append(len(whole.cells))
        book = nbformat.reads(derived(name, tmp_path, "ipynb"), as_version=4)
        whole.cells += book.cells
        whole.metadata = book.metadata
    for number, each in enumerate(whole.cells):
        each["id"] = f"cell-{number}"
    nbformat.write(whole, tmp_path / "all.ipynb")
    run = "import nbformat, nbclient; book = nbformat.read('all.ipynb', as_version=4); " \
          "nbclient.NotebookClient(book, timeout=200).execute(); nbformat.write(book, 'all.ipynb')"
    place = {**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)}
    subprocess.run([sys.executable, "-c", run], cwd=tmp_path, check=True, env=place,
                   capture_output=True, timeout=300)  # fmt: skip
    done = nbformat.read(tmp_path / "all.ipynb", as_version=4).cells
    plain: dict[str, list[Seen]] = {}
    sources: dict[str, list[str]] = {}
    for name, start, stop in zip(_BOOKS, starts, [*starts[1:], len(done)], strict=True):
        shown = [out.data for each in done[start:stop] if each.cell_type == "code"
                 for out in each.outputs]  # fmt: skip
        plain[name] = [seen for data in shown for seen in in_text(data["text/plain"])]
        formulas_of = [data["text/latex"].removeprefix(r"$\displaystyle ").removesuffix("$")
                       for data in shown]  # fmt: skip
        assert [data["text/markdown"] for data in shown] == [f"$$\n{x}\n$$" for x in formulas_of]
        sources[name] = [part for each in formulas_of for part in each.split(r" \quad ")]
    assert differences(plain, steps_of) == []
    every = [source for name in _BOOKS for source in sources[name]]
    shown = iter(node(_KATEX)([(True, source) for source in every]))
    katexed = {name: [of_mathml(ElementTree.fromstring(next(shown)[0])) for _ in sources[name]]
               for name in _BOOKS}  # fmt: skip
    assert differences(seen_by(katexed), steps_of) == []
    exported = subprocess.run(
        [sys.executable, "-m", "nbconvert", "--to", "html", "--stdout", "all.ipynb"],
        cwd=tmp_path, check=True, capture_output=True, encoding="utf-8", env=place, timeout=200,
    ).stdout  # fmt: skip
    html, found = unescape(exported), 0
    for each in done:
        if each.cell_type == "markdown":
            for display, source in formulas(each.source):
                found = html.find(source, found) if display else found
                assert found >= 0, source


# Sphinx


def test_sphinx(node: Callable[[str], Set], katex: Any, tmp_path: Path) -> None:
    """The builders of text and HTML; what HTML leaves to MathJax is read as KaTeX shows it."""
    names = [name for name in _BOOKS if name != "exact" and not sheet(name).claims]
    (tmp_path / "conf.py").write_text('extensions = ["symattn.sphinxext"]\n', "utf-8")
    parts = ["Title\n=====\n"]
    for name in names:
        (tmp_path / f"{name}.toml").write_text(SHEETS[name], "utf-8")
        parts.append(f"{name}\n{'-' * 40}\n\n.. attention:: {name}.toml\n   :view: worked, value\n")
    (tmp_path / "index.rst").write_text("\n".join(parts), "utf-8")
    for builder in ("text", "html"):
        ran = subprocess.run(
            [sys.executable, "-m", "sphinx", "-q", "-W", "-b", builder, ".", builder],
            cwd=tmp_path, check=False, capture_output=True, encoding="utf-8", timeout=200,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        assert (ran.returncode, ran.stderr) == (0, "")
    wanted = [seen for name in names for seen in text_of(name)]
    text = (tmp_path / "text" / "index.txt").read_text("utf-8")
    assert differences({"text": in_text(text)}, lambda _: wanted) == []
    html = (tmp_path / "html" / "index.html").read_text("utf-8")
    sources = re.findall(r'<div class="math.*?>\s*\\\[(.*?)\\\]</div>', html, re.DOTALL)
    shown = node(_KATEX)([(True, unescape(source)) for source in sources])
    seen = [each for one in shown for each in in_formula(of_mathml(ElementTree.fromstring(one[0])))]
    assert differences({"html": seen}, lambda _: wanted) == []
