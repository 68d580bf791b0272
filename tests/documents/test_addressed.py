"""A finished document speaks to its reader: of options and commands only the terminal tells."""

from __future__ import annotations

import html
import io
import json
import re
import zipfile
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from symattn import VARIANTS, Notation
from symattn.attention.example import small_example
from symattn.documents.job import FORMATS, Job, document_of
from symattn.documents.views import VIEWS
from tests.command import put, run
from tests.shares import share

#: Words about how to call the program, whatever the document is of.
_ABOUT_OPTIONS = re.compile(
    r"(?<![-\w])--[a-z]+|\bsymattn\b|\bshow more\b|\boptions?\b|\bcommand|\bderive\b|"
    r"\bpip install\b|\bflag\b",
    re.IGNORECASE,
)


def _cells(page: str) -> Iterator[str]:
    """What a notebook shows: its words, and what its Python, which it runs, has printed."""
    for cell in json.loads(page)["cells"]:
        if cell["cell_type"] == "markdown":
            yield "".join(cell["source"])
        for output in cell.get("outputs", ()):
            yield json.dumps(output.get("data", output.get("text")))


def read(form: str, page: str | bytes) -> str:
    """What stands in a document, its comments too, without the marks of its format."""
    if form == "docx":
        assert isinstance(page, bytes)
        with zipfile.ZipFile(io.BytesIO(page)) as archive:
            page = archive.read("word/document.xml").decode()
    assert isinstance(page, str)
    if form == "ipynb":
        return "\n".join(_cells(page))
    if form in ("tex", "latex", "md"):
        return re.sub(r"\\[A-Za-z]+", " ", page)
    if form in ("html", "docx", "mathml"):
        page = re.sub(r"<(script|style)\b.*?</\1>", " ", page, flags=re.DOTALL)
        said = re.findall(r'(?:title|aria-label|alt|alttext)="([^"]*)"', page)
        return html.unescape(" ".join([re.sub(r"<[^>!]*>", "", page), *said]))
    return page


#: How a derivation is shown, so that something of it has no room, is merged, or is asked for.
SHOWN: dict[str, dict[str, Any]] = {
    "as it is": {},
    "in one formula": {"steps": "last"},
    "in Falk's scheme": {"steps": "last", "layout": "falk"},
    "every entry, little room": {"worked": "all", "limit": 2},
    "many heads": {"limit": 1},
}
_FORMS = [
    name for name, row in FORMATS.items() if row.kind == "page" and name not in ("pdf", "ipynb")
]


def document(name: str, form: str, shown: str, views: tuple[str, ...] = VIEWS) -> str | bytes:
    """A variant on numbers, shown in one of these ways."""
    derivation, values = small_example({row.name: row for row in VARIANTS}[name].spec)
    choices = dict(SHOWN[shown])
    if choices.get("steps"):
        choices["steps"] = (derivation.steps[-1].name,)
    job = Job(derivation, values, Notation(**choices), views, check=values.check(), code="values")
    return document_of(form, [job])


@pytest.mark.parametrize(
    ("name", "form", "shown"),
    share([(row.name, form, how) for row in VARIANTS for how in SHOWN for form in _FORMS], 200, 1),
)
def test_no_document_tells_its_reader_of_options(name: str, form: str, shown: str) -> None:
    page = read(form, document(name, form, shown))
    assert len(page) > 100
    assert _ABOUT_OPTIONS.findall(page) == []


@pytest.mark.parametrize(
    "words",
    [
        "(12 more entries are left out; --full shows them)",
        "More: `symattn derive river.toml --entry x`",
        "the rule of an entry has cases inside a sum; show more steps to see it",
        "<!-- heads 3 to 8 are left out; --head 3 shows one of them -->",
    ],
)
def test_words_about_options_are_found(words: str) -> None:
    for form in ("md", "html", "text"):
        assert _ABOUT_OPTIONS.search(read(form, f"<p>{words}</p>"))


def test_what_the_command_writes_tells_of_none(tmp_path: Path) -> None:
    """Also what only the command line adds: notes, claims that are not marked, an example."""
    sheet = put(
        tmp_path / "river.toml",
        '[attention]\nvariant = "causal"\n[given]\nX = [[1, 0], [0, 2]]\nW_Q = [[1, 0], [0, 1]]\n'
        "W_K = [[1, 0], [0, 1]]\nW_V = [[1, 1], [0, 1]]\n[claims]\nscores = [[1, 0], [0, 4]]\n",
    )
    forms = ("tex", "md", "docx", "html", "ipynb", "mathml", "latex")
    for source, some in (
        ("deepseek", forms[::2]),
        ("multi-head", forms[1::2]),
        (str(sheet), forms),
    ):
        for form in some:
            target = tmp_path / f"page.{form}"
            arguments = ["derive", source, "--format", form, "--steps", "weights", "-o"]
            ran = run(*arguments, str(target), status=0)
            page = target.read_bytes() if form == "docx" else target.read_text()
            found = _ABOUT_OPTIONS.findall(read(form, page).replace(str(sheet), ""))
            assert found == [], (source, form)
            unmarked = source == str(sheet) and form != "html"
            assert unmarked == ("derive does not mark it" in ran.stderr)


#: Statements that are not decided, each for another reason.
OPEN = (
    ("exp(ln(A)) = A",),
    ("e_i e_j^T = e_j e_i^T",),
    ("scaled-dot-product", "multi-query"),
    ("sparsemax(sparsemax(S)) = sparsemax(S)",),
)


def test_a_proof_that_is_not_found_tells_of_none(tmp_path: Path) -> None:
    for form, statement in zip(cycle(("md", "html")), OPEN, strict=False):
        target = tmp_path / f"page.{form}"
        ran = run("prove", *statement, "--format", form, "-o", str(target))
        assert ran.exit_code in (1, 4), ran.output
        assert _ABOUT_OPTIONS.findall(read(form, target.read_text())) == [], statement
