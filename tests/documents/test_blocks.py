"""Blocks say the same in every format, and nothing in them becomes markup."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

import symattn
from symattn import Attention
from symattn.cli.formats import FORMS
from symattn.documents import blocks as b
from symattn.documents import markdown, tex, text
from symattn.documents.code.languages import LANGUAGES
from symattn.documents.job import FORMATS, PROGRAMS, written
from symattn.notation import tree as t
from tests.command import run
from tests.conftest import Tool
from tests.documents.test_word import paragraphs
from tests.extras import package

X, Y, Z = map(t.Ident, "xyz")
EQUATION = t.equation(X, (t.EQUALS, Y), (t.APPROX, t.Num("0.27")))

CELLS = (b.Cell(("0.73",)), b.Cell(("0.2",), "wrong", "✗", "wrong"), b.Cell(("⋯",), "gap"))
NUMBERS = b.Table(
    ("1", "|2", "⋯"),
    (b.Row(b.Cell(("a",)), CELLS),),
    "head 2",
    "weights",
    left_out="2 rows left out",
)
FILES = b.Table(
    ("first wrong", "true"),
    (
        b.Row(
            b.Cell((b.Link("a.toml", "file-1"),)), (b.Cell(("weights[1,2]",)), b.Cell(("0.119",)))
        ),
    ),
    "",
    "Overview",
    "file",
    "lr",
)
STEP = b.Formulas(
    (b.Line("formula", EQUATION), b.Line("entry", EQUATION)),
    ("Why ", X, "?"),
    (t.Num("3"),),
    "scores",
    "4 rows left out",
)

#: Every block there is, with words that formats take for markup.
EVERYTHING = b.Document(
    "Everything <b>",
    (
        b.Paragraph(("1 file: ", b.Strong("2 wrong"), " in ", b.Code("x_1 = 2"), X), "bad"),
        FILES,
        b.Notebook("print(1)"),
        b.Break(),
        b.Section("Given", (b.Formulas((b.Line("value", EQUATION),), ("the queries",), (X,)),)),
        b.Section("1. scores", (STEP,)),
        b.Document(
            "a.toml",
            (
                b.Worked("Row 1 of scores gives", EQUATION),
                b.Worked("Your numbers give", EQUATION, inline=True),
                b.Chain(X, ((Y, ("by definition & more",)), (Z, ("again",)))),
                b.Section(
                    "Notes",
                    (
                        b.List(
                            (b.Item(("a *star*",)), b.Item(("second",), more="Do it.")),
                        ),
                    ),
                ),
                b.List(
                    (
                        b.Item(("✓ 9 right",), "scores"),
                        b.Item(("✗ 1 wrong",), "weights", blocks=(NUMBERS,)),
                    )
                ),
                b.List((b.Item(("✗ weights[1,2]: 0.2",)),), signed=True),
                b.Section("", (b.Paragraph(("untitled part",), "note", whole=True),)),
            ),
            "file-1",
        ),
    ),
)

#: What every format has to say of it.
SAID: tuple[str, ...] = (
    "Everything",
    "2 wrong",
    "Given",
    "1. scores",
    "first wrong",
    "0.119",
    "Notes",
    "second",
)
SAID += ("9 right", "1 wrong", "head 2", "2 rows left out", "untitled part", "by definition")

PAGES = [name for name in FORMS if name not in ("json", "pdf")]


def shown(form: str, *documents: b.Document) -> str:
    if form == "ipynb":
        package("nbformat")
    page = written(form, documents)
    return paragraphs(page) if isinstance(page, bytes) else page


@pytest.mark.parametrize("form", PAGES)
def test_every_format_says_everything(form: str) -> None:
    page = shown(form, EVERYTHING)
    assert [words for words in SAID if words not in page] == []
    assert "<b>" not in page.replace(r"\\<b\\>", "").replace(r"\<b\>", "") or form in (
        "text",
        "docx",
    )
    assert ("print(1)" in page) is (form == "ipynb")


def test_the_test_of_every_format_can_fail() -> None:
    page = shown("md", b.Document("Everything", EVERYTHING.blocks[2:]))
    assert [words for words in SAID if words not in page] == ["2 wrong", "first wrong", "0.119"]


@pytest.mark.parametrize("form", PAGES)
def test_several_documents_stand_in_a_row(form: str) -> None:
    one, two = (b.Document(name, (b.Paragraph((f"{name} words",)),)) for name in ("First", "Last"))
    page = shown(form, one, two)
    places = [page.rindex(words) for words in ("First words", "Last words")]
    assert places == sorted(places)


class Headings(HTMLParser):
    """The levels of headings in order, the tags that are open, and tables with what names them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.levels: list[int] = []
        self.found: dict[str, list[dict[str, str | None]]] = {}
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.setdefault(tag, []).append(dict(attrs))
        if re.fullmatch("h[1-6]", tag):
            self.levels.append(int(tag[1]))


def test_a_page_has_one_first_heading_and_skips_none() -> None:
    for document in (EVERYTHING, b.Document("", EVERYTHING.blocks[3:6])):
        page = Headings(shown("html", document))
        first, *rest = page.levels
        assert first == 1
        assert all(after <= before + 1 for before, after in zip(page.levels, rest, strict=False))
    page = Headings(shown("html", EVERYTHING))
    assert page.levels.count(1) == 1
    assert page.found["html"] == [{"lang": "en"}]
    assert {"charset": "utf-8"} in page.found["meta"]
    for region in page.found["div"]:
        assert region["tabindex"] == "0" and region["role"] == "region" and region["aria-label"]
    assert all(cell["scope"] in ("row", "col") for cell in page.found["th"])
    assert page.found["a"] == [{"href": "#file-1"}]
    assert {"id": "file-1"} in page.found["h2"]
    assert "prefers-color-scheme:dark" in shown("html", EVERYTHING)


def test_the_fragment_is_well_formed() -> None:
    root = ElementTree.fromstring(shown("mathml", EVERYTHING))
    assert root.tag == "{http://www.w3.org/1999/xhtml}div"


def test_a_notebook_runs_what_stands_in_it() -> None:
    cells = json.loads(shown("ipynb", EVERYTHING))["cells"]
    assert [cell["cell_type"] for cell in cells] == ["markdown", "markdown", "code"] + [
        "markdown"
    ] * 3
    assert cells[0]["source"] == ["# Everything \\<b\\>"]


def test_text_is_ascii_where_it_has_to_be() -> None:
    lines = [words for _, words in text.styled_lines([EVERYTHING], "ascii")]
    assert all(words.isascii() for words in lines)
    assert "x 0.2" in "\n".join(lines) and "v 9 right" in "\n".join(lines)


def test_every_flavor_can_be_asked_for() -> None:
    for name, row in FORMATS.items():
        for flavor in row.flavors if row.writer and name != "pdf" else ():
            assert "2 wrong" in str(written(name, [EVERYTHING], flavor)), (name, flavor)


def test_the_rows_of_formats_name_every_flavor_and_every_program() -> None:
    files = tuple(name for name in tex.FLAVORS if name != "fragment")
    assert FORMATS["tex"].flavors == tuple(tex.FLAVORS) and FORMATS["pdf"].flavors == files
    assert FORMATS["md"].flavors == tuple(markdown.FLAVORS)
    assert tuple(LANGUAGES) == PROGRAMS


# ---- the commands ------------------------------------------------------------------------

SHEET = '[given]\nscores = [[1, 2]]\nV = [[1], [2]]\n[claims]\nweights = [["0.27", "0.74"]]\n'
COMMANDS = {"variants": "deepseek", "ladder scaled": "0.1966", "prove": "shift", "check": "0.74"}


@pytest.mark.parametrize("form", [name for name in FORMS if name != "pdf"])
def test_every_command_writes_every_format(form: str, tmp_path: Path) -> None:
    sheet, out = tmp_path / "sheet.toml", tmp_path / "out"
    sheet.write_text(f"attention.scale = false\n{SHEET}", encoding="utf-8")
    for command, said in COMMANDS.items():
        paths = [str(sheet)] if command == "check" else []
        words = [*command.split(), *paths, "--format", form, "-o", str(out)]
        result = run(*words)
        assert result.output == "" and result.exit_code == (command == "check"), words
        if command != "ladder scaled":
            page = out.read_bytes()
            assert said in (paragraphs(page) if form == "docx" else page.decode())


@pytest.mark.parametrize("flavor", FORMATS["pdf"].flavors)
def test_a_pdf_of_everything(flavor: str, tool: Tool) -> None:
    tool("pdflatex")
    page = written("pdf", [EVERYTHING], flavor)
    assert isinstance(page, bytes) and page.startswith(b"%PDF")


def test_what_is_given_is_followed_by_the_sizes_and_notes_hold_what_is_typed() -> None:
    values = Attention().derivation().evaluate(Q=[[1, 2]], K=[[3, 4], [0, 1]], V=[[5], [6]])
    page = str(symattn.document(values, "md", notes=["try `--digits 8`, or one ` alone"]))
    assert "Sizes: $`n = 1`$, $`m = 2`$, $`d_{k} = 2`$, $`d_{v} = 1`$." in page
    assert r"try <code>--digits 8</code>, or one \` alone" in page
    assert "Sizes" not in str(symattn.document(Attention().derivation(), "md"))
