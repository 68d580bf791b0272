"""Strangers' words in Markdown: no renderer, with formulas or without, makes anything of them.

The oracles are the renderers themselves: what they make of hostile words has the same elements as
what they make of plain ones, and the words are read back from it.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Sequence
from functools import cache
from html.parser import HTMLParser
from itertools import product

import pytest
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

from symattn import Notation, document
from symattn.derivations import Evaluation
from symattn.documents import blocks as b
from symattn.documents import markdown
from symattn.documents.markdown import FLAVORS
from symattn.notation import tree as t
from symattn.notation.latex import text
from symattn.notation.markdown import inert
from symattn.sheets.worksheet import worksheet_of
from tests.conftest import Formulas
from tests.extras import package

#: Words that are Markdown, or HTML, or a formula, in one renderer or another.
HOSTILE = (
    *("![x](http://e/x.png)", "[c](javascript:alert(1))", "[c]( javascript:alert(1) 't')"),
    *("![x] [y]", "[a][b]", "[a]: http://e/", "[[wiki]]", "[^1]", "[^1]: a", "[@cite]", "@user"),
    *("<javascript:alert(1)>", "<http://e/>", "<img src=x onerror=alert(1)>", "<b>x</b>", "<!--"),
    *(
        "http://e.example/x",
        "HTTPS://e.example",
        "www.e.example",
        "see www.e.example x",
        "ftp://e/x",
    ),
    *("ann@e.example", "mailto:ann@e.example", "xmpp:ann@e.example", "#12", "GH-1", ":tada:"),
    *("*a*", "**a**", "_a_", "__a__", "~~a~~", "`a`", "``", "```", "~~~", "a`b", "$a$", "$$", "\\"),
    *(
        "$`a`$",
        "`$a$`",
        "{math}`x`",
        "{ref}`a <b>`",
        "[x]{.red}",
        "{{x}}",
        "{% raw %}",
        "&lt;b&gt;",
    ),
    *(
        "- a",
        "+ a",
        "* a",
        "1. a",
        "12) a",
        "# a",
        "> a",
        "---",
        "***",
        "===",
        "+++",
        "% a",
        "::: a",
    ),
    *(
        "| a | b |",
        "a|b",
        "\\|",
        "&copy;",
        "\\[a\\]",
        "\\(a\\)",
        "a\n\nb",
        "a  \nb",
        "<br>",
    ),
    *(
        "]{}(x)",
        "![",
        "](javascript:alert(1))",
        "[c](javascript&colon;alert(1))",
        "data:text/html,x",
    ),
    *("x](y)", "[x\\](javascript:1)", "!\\[x](y)", "'\"><svg onload=1>", "\x1b]8;;http://e\x07x"),
    *(
        "[CLS]",
        "don't!",
        "a: b",
        "12:30",
        "C:\\x",
        "a/b",
        "é 中",
        "(i)",
        "x = 1",
        "50 %",
        "-3.5",
        "…",
    ),
)
PLAIN = "plain"

#: Elements that say nothing about whose words stand in them: TeX's own _ and \\ make these.
_ANYWHERE = {"em", "strong", "br"}


class _Page(HTMLParser):
    """The elements of a page with the addresses they have, and its text."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.said = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        live = [f"{k}={v}" for k, v in attrs if k in ("href", "src") or k.startswith("on")]
        if tag not in _ANYWHERE:
            self.elements.append(" ".join([tag, *live]))

    handle_startendtag = handle_starttag

    def handle_data(self, data: str) -> None:
        self.said += data


def seen(html: str) -> _Page:
    page = _Page()
    page.feed(html)
    page.close()
    return page


def sheet(tokens: Sequence[str], **words: str) -> str:
    """A worksheet with these words in its fields."""
    rows = [[k % 3, 1] for k in range(len(tokens))]
    given = (f"given.{name} = {rows}" for name in "QKV")
    lines = (f"{name} = {json.dumps(each)}" for name, each in words.items())
    return "\n".join([*lines, f"attention.tokens = {json.dumps([*tokens])}", *given])


@cache
def evaluated(text: str) -> Evaluation:
    read = worksheet_of(text, "sheet")
    return read.evaluate(read.derivation())


def written(tokens: Sequence[str], flavor: str, **words: str) -> str:
    """A derivation in Markdown."""
    values = evaluated(sheet(tokens, **words))
    return str(document(values, "md", flavor=flavor, notation=Notation(limit=0)))


def everywhere(word: str) -> b.Document:
    """Words in all that a document is made of."""
    said = t.row(t.Ident("a"), t.EQUALS, t.Text(word), t.Text(f"x {word} y"))
    grid = t.Fenced(t.Grid(((t.Text(word), said), (said, t.Text(word)))))
    words: b.Words = (
        word,
        " ",
        said,
        " and ",
        b.Strong(word),
        b.Code(f"x{word}"),
        b.Link(word, "x"),
        word,
    )
    cell = b.Cell(words, sign="✓")
    row = b.Row(b.Cell((word,)), (cell, cell))
    return b.Document(
        word,
        (
            b.Paragraph((word,)),
            b.Paragraph(words),
            b.Paragraph((said, " ", word)),
            b.Formulas((b.Line("formula", said), b.Line("value", grid)), words, (said,), "x", word),
            b.Worked(word, said),
            b.Worked(word, said, inline=True),
            b.Chain(said, ((said, words), (said, (word,)))),
            b.List((b.Item((word,)), b.Item(words, word, word, blocks=(b.Paragraph((word,)),)))),
            b.List((b.named(word, word, word),)),
            b.Table((word, word), (row, row), word, word, word),
            b.Section(word, (b.Paragraph((word,)),)),
        ),
    )


def pages(flavor: str, words_of: Callable[[str], str] = str) -> str:
    """The hostile words in every field; some in a derivation, as names of its tokens."""
    some = [words_of(each) for each in HOSTILE]
    parts = [written(some[k : k + 30], flavor) for k in range(0, len(some), 30)]
    parts.append(written("ab", flavor, title=some[0], story=some[1]))
    return "\n\n* * *\n\n".join([*parts, markdown.write([*map(everywhere, some)], flavor)])


def markdown_it(kind: str) -> Callable[[str], str]:
    if kind == "math":
        return MarkdownIt("commonmark").use(dollarmath_plugin).render
    found = MarkdownIt(kind, {"linkify": kind != "commonmark"})
    return (found.enable("linkify") if kind != "commonmark" else found).render


def rendered(kind: str, tool: Callable[[str], str]) -> Callable[[str], str]:
    """What a renderer makes of a page."""
    if kind.startswith("markdown-it "):
        return markdown_it(kind.removeprefix("markdown-it "))

    def pandoc(page: str) -> str:
        told = [tool("pandoc"), "-f", kind, "-t", "html", "--mathml"]
        return subprocess.run(
            told, input=page, capture_output=True, check=True, encoding="utf-8", timeout=300
        ).stdout

    return pandoc


#: Elements of formulas, in which more signs stand where more words do.
_SET = {"mo", "mover", "mtext", "mrow", "mspace"}

#: Renderers that look for formulas first.
_READ_FORMULAS = ("markdown", "commonmark_x", "markdown-it math")

RENDERERS = (
    *("commonmark", "gfm", "markdown", "commonmark_x"),
    *("markdown-it commonmark", "markdown-it gfm-like", "markdown-it math"),
)


@pytest.fixture(scope="module")
def made() -> Callable[[str, bool], str]:
    kept: dict[tuple[str, bool], str] = {}

    def make(flavor: str, hostile: bool) -> str:
        key = flavor, hostile
        if key not in kept:
            kept[key] = pages(flavor, str if hostile else lambda _: PLAIN)
        return kept[key]

    return make


def live(found: Sequence[str]) -> list[str]:
    """Elements that lead somewhere, load something or run."""
    alive = re.compile(r"(a|img|svg|iframe|script|object|style|form)\b|.* (href|src|on\w+)=")
    return [each for each in found if alive.match(each)]


#: Renderers of both kinds, those that read formulas and those that do not, on one flavor, and one
#: on the others.
USUAL = {
    ("github", "markdown-it gfm-like"),
    ("katex", "markdown-it math"),
}


@pytest.mark.parametrize(
    ("flavor", "kind"),
    [
        pytest.param(*pair, marks=() if pair in USUAL else pytest.mark.nightly)
        for pair in product(FLAVORS, RENDERERS)
    ],
)
def test_no_renderer_makes_anything_of_words(
    flavor: str, kind: str, made: Callable[[str, bool], str], tool: Callable[[str], str]
) -> None:
    render = rendered(kind, tool)
    found, plain = (seen(render(made(flavor, hostile))).elements for hostile in (True, False))
    assert live(found) == live(plain) == []
    assert {*found} <= {*plain} | _SET
    blocks = ("h1", "h2", "h3", "h4", "li", "ul", "ol", "dl", "table", "hr", "blockquote", "sup")
    assert [found.count(each) for each in blocks] == [plain.count(each) for each in blocks]


@pytest.mark.parametrize("kind", [each for each in RENDERERS if each not in _READ_FORMULAS])
def test_what_is_made_of_words_is_noticed(kind: str, tool: Callable[[str], str]) -> None:
    tex = [r"$$\text{![x](http://e/x.png)}$$", r"\text{[c](javascript:alert(1))}"]
    assert live(seen(rendered(kind, tool)("\n\n".join(tex))).elements) != []


@pytest.mark.nightly
def test_myst_and_its_directives(made: Callable[[str, bool], str]) -> None:
    from docutils.core import publish_string

    docutils_ = package("myst_parser.docutils_")

    def render(page: str) -> str:
        told = {"myst_enable_extensions": ["dollarmath", "colon_fence"], "report_level": 5}
        return str(
            publish_string(page, parser=docutils_.Parser(), writer="html5", settings_overrides=told)
        )

    found, plain = (seen(render(made("sphinx", hostile))).elements for hostile in (True, False))
    assert live(found) == live(plain)
    assert {*found} <= {*plain} | _SET


#: What TeX has another sign for, and what no formula shows.
_SEEN = str.maketrans({"*": "∗", "`": "ˋ", "~": "∼", "^": "∧", "|": "∣", "'": "’"})


def test_words_of_a_formula_are_read_as_they_were_written(
    katex: Formulas, mathjax: Formulas
) -> None:
    words = [word for word in HOSTILE if word.isascii() and word.isprintable()]
    formulas = [inert(text(word)) for word in words]
    for judge in (katex, mathjax):
        assert {*judge([(True, each) for each in formulas])} == {""}
    shown = katex.mathml([(True, each) for each in formulas])
    shown = [re.sub("(?s)<annotation.*</annotation>", "", each) for each in shown]
    pairs = [
        (re.sub(r"\s+", " ", seen(x).said.replace("\xa0", " ")), word)
        for x, word in zip(shown, words, strict=True)
    ]
    assert [(x, w) for x, w in pairs if x != w.translate(_SEEN)] == []
