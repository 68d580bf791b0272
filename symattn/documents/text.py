"""Blocks as text for the terminal: formulas, worked lines, aligned tables and matrices."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from itertools import islice
from math import inf
from typing import TypeAlias

from symattn.documents import blocks as b
from symattn.notation.latex import escape_controls
from symattn.notation.text import Charset, box, in_ascii, line, packed, padded, width
from symattn.printable import as_line

#: A line and what it is, so that a terminal can colour it.
Styled: TypeAlias = tuple[b.Role, str]

_INDENT = "   "

#: How many characters a worked line, or a table of numbers, takes before it is broken.
WIDTH = 80

#: Signs of verdicts and of what is left out.
_SIGNS = {"⌊": "_", "≈": "~", "±": "+", "→": ">", "✗": "x", "✓": "v", "⋯": "..", "·": ".", "─": "-"}


def write(documents: Sequence[b.Document], flavor: str = "") -> str:
    """The documents as plain text, an empty line between them."""
    return "\n".join(words for _, words in styled_lines(documents)) + "\n"


def styled_lines(documents: Sequence[b.Document], charset: Charset = "unicode") -> Iterator[Styled]:
    """The documents line by line, each with its style."""
    for number, document in enumerate(documents):
        if number:
            yield "plain", ""
        for style, words in _document(document, charset, top=True):
            yield style, as_line(words if charset == "unicode" else _ascii(words))


def _ascii(words: str) -> str:
    return in_ascii("".join(_SIGNS.get(sign, sign) for sign in words))


def _document(document: b.Document, charset: Charset, top: bool) -> Iterator[Styled]:
    if document.title:
        title = escape_controls(document.title)
        yield "title", title
        if top:
            yield "title", "─" * width(title)
    yield from _blocks(document.blocks, charset, document.width)


def _blocks(blocks: Sequence[b.Block], charset: Charset, room: int | None) -> Iterator[Styled]:
    for block in blocks:
        match block:
            case b.Document():
                yield from _document(block, charset, top=False)
            case b.Section(title, inside):
                if title:
                    yield "heading", title + _name_and_size(title, inside, charset)
                narrower = None if room is None else room - len(_INDENT)
                yield from _indented(_blocks(inside, charset, narrower))
            case b.Break():
                yield "plain", ""
            case b.Paragraph(words, role, whole):
                yield from _wrapped(role, sentence(words, charset), None if whole else room)
            case b.List():
                yield from _list(block, charset, room)
            case b.Table():
                yield from _table(block, room)
            case b.Formulas():
                yield from _formulas(block, charset)
            case b.Worked(lead, tree):
                yield from _worked(lead, line(tree, charset), WIDTH if room is None else room)
            case b.Chain():
                yield from _chain(block, charset)
            case b.Notebook() | b.Practice():
                pass


def _name_and_size(title: str, blocks: Sequence[b.Block], charset: Charset) -> str:
    """The name of a step, where its heading has other words, and the shape of its matrix."""
    if not (blocks and isinstance(blocks[0], b.Formulas) and blocks[0].label):
        return ""
    name = blocks[0].label
    named = "" if title.lower().endswith(f". {name.lower()}") else f"  [{name}]"
    return f"{named}  ({sentence(blocks[0].size, charset)})"


def _indented(lines: Iterator[Styled], indent: str = _INDENT) -> Iterator[Styled]:
    return ((style, f"{indent}{words}".rstrip()) for style, words in lines)


def sentence(words: b.Words, charset: Charset) -> str:
    """A sentence on one line."""
    return b.spelled(words, str, lambda tree: line(tree, charset))


def _wrapped(role: b.Role, words: str, room: int | None, hanging: str = "") -> Iterator[Styled]:
    """Words broken between them, where a line ends; "follows from" keeps its entry."""
    if room is None:
        yield role, words
        return
    kept = words.replace("follows from ", "follows\u00a0from\u00a0")
    lines = textwrap.wrap(
        kept,
        room,
        subsequent_indent=hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )
    yield from ((role, each.replace("\u00a0", " ")) for each in lines)


def _list(block: b.List, charset: Charset, room: int | None) -> Iterator[Styled]:
    names = padded([item.name for item in block.items], "l") if block.items else []
    for name, item in zip(names, block.items, strict=True):
        words = sentence(item.words, charset)
        if item.name:
            yield item.role, f"{name}  {words}".rstrip()
        else:
            yield from _wrapped(item.role, words, room, "  " if block.signed else "")
        deeper = " " * (width(name) + 2) if item.name else _INDENT
        narrower = None if room is None else room - len(deeper)
        if item.more:
            yield from _indented(_wrapped("note", item.more, narrower), deeper)
        narrower = None if room is None else room - len(_INDENT)
        yield from _indented(_blocks(item.blocks, charset, narrower))


def _formulas(block: b.Formulas, charset: Charset) -> Iterator[Styled]:
    words = sentence(block.words, charset)
    if words and block.lines:
        yield from _wrapped("note", words, None if block.label else WIDTH)
    for formula in block.lines:
        style: b.Role = "formula" if formula.view == "formula" else "plain"
        yield from ((style, words.rstrip()) for words in box(formula.tree, charset).lines)
    if block.left_out:
        yield "note", f"({block.left_out})"


def _chain(block: b.Chain, charset: Charset, most: int = 60) -> Iterator[Styled]:
    """The left side, then each right side with its reason; the reasons stand below each other.

    The reason of a line of more than so many characters stands below it.
    """
    rows = [(line(tree, charset), sentence(why, charset)) for tree, why in block.links]
    short = [len(words) for words, _ in rows if len(words) <= most]
    longest = max(short, default=0)
    yield "plain", f"  {line(block.left, charset)}"
    for words, reason in rows:
        if len(words) <= longest:
            yield "plain", f"= {words:<{longest}}   {reason}".rstrip()
        else:
            yield "plain", f"= {words}"
            yield "note", f"{_INDENT}{_INDENT}{reason}"


# ---- worked lines --------------------------------------------------------------------------


def _worked(lead: str, words: str, room: int) -> Iterator[Styled]:
    """A worked line and what it is made from, broken before = and ≈ where it is long."""
    whole = f"{lead} {words}".strip()
    if width(whole) <= room:
        yield "formula", whole
        return
    if lead:
        yield "formula", lead
    left, *links = re.split(r" (?=[=≈] )", words)
    row = f"{_INDENT}{left}"
    behind = " " * width(row)
    begun = True  # the first link stands behind the left side, however long it is
    for link in links:
        wide = width(f"{behind} {link}") > room
        for number, piece in enumerate(re.split(r" (?=\+ )", link) if wide else [link]):
            new = wide and number == 0
            if not begun and (new or width(f"{row} {piece}") > room):
                yield "formula", row
                row = behind
            row, begun = f"{row} {piece}", False
    yield "formula", row


# ---- tables --------------------------------------------------------------------------------


def _table(table: b.Table, room: int | None) -> Iterator[Styled]:
    """A table; one of numbers with the sign of its verdict before each, in blocks that fit."""
    if table.caption:
        yield "plain", table.caption
    names = [table.corner, *(row.name.text for row in table.rows)]
    roles: list[b.Role] = ["note" if table.align else "plain", *(row.role for row in table.rows)]
    columns = [
        [label, *(_cell(row.cells[k], table) for row in table.rows)]
        for k, label in enumerate(table.columns)
    ]
    first = padded(names, "l")
    fits = None if room is None or table.align else room - max(map(width, names))
    headless = not any((table.corner, *table.columns))
    aligned = map(padded, columns, table.sides)
    sized = [(column, width(column[0]) + 2) for column in aligned]
    for block in packed(sized, inf if fits is None else fits) or [[]]:
        rows = zip(roles, first, *block, strict=True)
        for role, *cells in islice(rows, headless, None):
            yield role, "  ".join(cells).rstrip()
    if table.left_out:
        yield "plain", f"({table.left_out})"


def _cell(cell: b.Cell, table: b.Table) -> str:
    if table.align or cell.tint == "gap":
        return cell.text
    return f"{cell.sign or ' '} {cell.text or '·'}"
