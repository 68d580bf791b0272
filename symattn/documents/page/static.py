"""Blocks as a page that stands still: one file with its own style, which fetches nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.resources import files

from symattn.documents.blocks import Block, Document, Practice, Section
from symattn.documents.mathml import xhtml
from symattn.documents.page.colour import palette
from symattn.documents.page.elements import Markup, el
from symattn.notation.mathml import without_intent


def write(documents: Sequence[Document], flavor: str = "") -> str:
    """The whole file; its title is that of the first document, and its only first heading."""
    title = next(_titles(documents), "Report")
    heading: list[Markup] = []
    practice = _has_practice(documents)
    if not _is_titled(documents[0]):
        title = documents[0].called or title
        heading = [el("h1", title)]
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="generator", content="symattn"),
        el("title", title),
        el("style", Markup(_style() + (_file("practice.css") if practice else ""))),
    )
    content = _content("main", documents, 1 + len(heading), *heading)
    scripts = [el("script", Markup(_file("practice.js")), type="module")] if practice else []
    body = el("body", content, *scripts, class_="page")
    return f"<!doctype html>\n{el('html', head, body, lang='en')}\n"


def _is_titled(document: Document) -> bool:
    """Whether a heading is the first of a document."""
    first = document.blocks[0] if document.blocks else None
    inside = isinstance(first, Document | Section) and first.title
    return bool(document.title or inside)


def _titles(blocks: Sequence[Block]) -> Iterator[str]:
    """The titles of documents, those inside others too, in order."""
    for block in blocks:
        if isinstance(block, Document | Section):
            yield from filter(None, [block.title])
            yield from _titles(block.blocks)


def fragment(documents: Sequence[Document]) -> str:
    """The documents as a section with their style, to stand inside a page."""
    style = el("style", Markup(_style()))
    return f"{_content('section', documents, 2, style)}\n"


def _content(tag: str, documents: Sequence[Document], level: int, *before: Markup) -> Markup:
    lines = [*before, *(Markup(without_intent(part)) for part in xhtml(documents, level))]
    return el(tag, Markup("\n"), *(Markup(f"{part}\n") for part in lines), class_="symattn")


def _has_practice(blocks: Sequence[Block]) -> bool:
    """Whether the page marks what is typed into it."""
    inside = (block.blocks for block in blocks if isinstance(block, Document | Section))
    return any(isinstance(block, Practice) for block in blocks) or any(map(_has_practice, inside))


def _style() -> str:
    return palette(".symattn") + _file("static.css")


def _file(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")
