"""Blocks as XHTML with MathML Core: a fragment for a page, and what the static page shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from symattn.documents import blocks as b
from symattn.documents.page.elements import Markup, el, joined
from symattn.notation import tree as t
from symattn.notation.latex import latex
from symattn.notation.mathml import math
from symattn.notation.text import line
from symattn.notation.tree import APPROX, EQUALS, Row, Tree

_XHTML = "http://www.w3.org/1999/xhtml"


def write(documents: Sequence[b.Document], flavor: str = "") -> str:
    """One ``div`` with headings, sentences and a ``math`` element for each displayed line."""
    levels = [
        (2 if each.title else 3) if each.headings is None else each.headings for each in documents
    ]
    parts = [
        part
        for document, level in zip(documents, levels, strict=True)
        for part in xhtml([document], level)
    ]
    inside = Markup("".join(f"{part}\n" for part in parts))
    return f"{el('div', Markup(chr(10)), inside, xmlns=_XHTML, class_='symattn')}\n"


def xhtml(blocks: Sequence[b.Block], level: int) -> Iterator[Markup]:
    """The elements of blocks whose first headings are of a level, 0 for none."""
    for block in blocks:
        match block:
            case b.Document(title, inside) | b.Section(title, inside):
                if title and level:
                    anchor = block.anchor if isinstance(block, b.Document) else ""
                    yield el(f"h{min(level, 6)}", title, id=anchor or None)
                deeper = isinstance(block, b.Section) or title
                yield from xhtml(inside, level + 1 if level and deeper else level)
            case b.Paragraph(words, role):
                yield el("p", sentence(words), class_=None if role in _PLAIN else role)
            case b.Formulas():
                yield from _formulas(block)
            case b.Worked(lead, tree):
                yield from _worked(lead, tree)
            case b.Chain():
                yield _chain(block)
            case b.List():
                yield from _list(block, level)
            case b.Table():
                yield from _table(block)
            case b.Practice(data):
                yield el("script", Markup(data), type="application/json", class_="practice")
            case b.Break() | b.Notebook():
                pass


#: Roles that are words like any others.
_PLAIN = ("plain", "note", "heading")


def sentence(words: b.Words) -> Markup:
    """A sentence with its formulas."""
    parts: list[str] = []
    for part in words:
        match part:
            case str():
                parts.append(part)
            case b.Strong(inside):
                parts.append(el("strong", inside))
            case b.Code(inside):
                parts.append(el("code", inside))
            case b.Link(inside, anchor):
                parts.append(el("a", inside, href=f"#{anchor}"))
            case b.Blank(name, key, field):
                parts.append(field or _input(name, key))
            case _:
                parts.append(formula(part, display=False))
    return joined(*parts)


def _input(name: str, key: str) -> Markup:
    """A field for what is filled in."""
    return el(
        "input",
        class_="blank",
        type="text",
        size=8,
        autocomplete="off",
        aria_label=name,
        data_key=key or None,
    )


def formula(tree: Tree, display: bool) -> Markup:
    """A ``math`` element with its plain alternative, and its LaTeX, which can be copied."""
    return Markup(math(tree, line(tree), display, latex(tree)))


def _formulas(block: b.Formulas) -> Iterator[Markup]:
    yield from [el("p", sentence(block.said))] if block.said else []
    for each in block.lines:
        yield el("p", formula(each.tree, display=True), class_=each.view)
    if block.left_out:
        yield el("p", f"({block.left_out})")


def _worked(lead: str, tree: Tree) -> Iterator[Markup]:
    """A worked line, each of its links a formula of its own, so that a narrow page can break it."""
    items = tree.items if isinstance(tree, Row) else (tree,)
    starts = [k for k, item in enumerate(items) if item in (EQUALS, APPROX)]
    links = (Row(items[start:end]) for start, end in pairwise([0, *starts, len(items)]))
    if lead:
        yield el("p", lead)
    written = " ".join(formula(link, display=False) for link in links)
    yield el("p", Markup(written), class_="worked wide", tabindex=0)


def _chain(block: b.Chain) -> Markup:
    """The left side, then each right side with its reason."""
    rows = [el("li", formula(block.left, display=False))]
    for tree, reason in block.links:
        equation = formula(t.row(EQUALS, tree), display=False)
        rows.append(el("li", equation, " ", el("span", sentence(reason), class_="reason")))
    return el("ol", *rows, class_="chain")


def _list(block: b.List, level: int) -> Iterator[Markup]:
    """The items; where some have blocks of their own, all are headings."""
    if any(item.blocks for item in block.items):
        for item in block.items:
            words = el("small", sentence(item.words))
            yield el(f"h{min(level, 6)}", item.name, " ", words)
            yield from xhtml(item.blocks, level + 1)
        return
    kind = "signed" if block.signed else None
    yield el("ul", *(el("li", *_item(item)) for item in block.items), class_=kind)


def _item(item: b.Item) -> Iterator[str]:
    if item.name:
        yield from (el("strong", item.name), " ")
    yield sentence(item.words)
    if item.more:
        yield f". {item.more}"


def _table(table: b.Table) -> Iterator[Markup]:
    """A table that the keyboard can scroll, with names of its rows and columns."""
    corner = el("th", table.corner, scope="col") if table.corner else el("td")
    sides = [{"class_": "words"} if side == "l" else {} for side in table.sides]
    labels = (
        el("th", label, scope="col", **side)
        for label, side in zip(table.columns, sides, strict=True)
    )
    body = []
    for row in table.rows:
        kind = "words" if table.align else None
        name = el("th", sentence(row.name.words), scope="row", class_=kind)
        cells = (_cell(cell, **side) for cell, side in zip(row.cells, sides, strict=True))
        body.append(el("tr", name, *cells, class_=None if row.role == "plain" else row.role))
    inside = el(
        "table",
        *([el("caption", table.caption)] if table.caption else []),
        el("thead", el("tr", corner, *labels)),
        el("tbody", *body),
    )
    label = ", ".join(filter(None, (table.label, table.caption)))
    yield el("div", inside, class_="wide", tabindex=0, role="region", aria_label=label or "table")
    if table.left_out:
        yield el("p", f"({table.left_out})")


def _cell(cell: b.Cell, class_: str = "") -> Markup:
    """A cell; of a judged number with the sign of its verdict, and its name for who hears it."""
    kinds = " ".join(filter(None, (class_, cell.tint))) or None
    if not cell.sign:
        return el("td", sentence(cell.words), class_=kinds)
    sign = el("span", cell.sign, aria_hidden="true")
    name = el("span", cell.spoken, class_="spoken")
    return el("td", sign, name, " ", sentence(cell.words), class_=kinds)
