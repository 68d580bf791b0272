"""What every document is made of, before any format: headings, words, formulas, tables, lists.

A derivation, the marks of a worksheet, a proof and the ladder each become a `Document`; a writer
spells the blocks of any of them in one format.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from symattn.notation.text import line
from symattn.notation.tree import Tree

if TYPE_CHECKING:
    from symattn.documents.pictures.drawing import Drawing

#: What a line or a paragraph is, so that a terminal or a page can colour it.
Role: TypeAlias = Literal["title", "heading", "note", "formula", "good", "bad", "plain"]


@dataclass(frozen=True)
class Strong:
    """Words that stand out."""

    words: str


@dataclass(frozen=True)
class Code:
    """Words as somebody typed them."""

    words: str


@dataclass(frozen=True)
class Link:
    """Words that lead to the document with this anchor, where a format has links."""

    words: str
    anchor: str


@dataclass(frozen=True)
class Blank:
    """Room for a number, or a word, that is to be filled in; `name` says which to who hears it.

    `key` is what a page marks it by; `field` what stands in markup in place of a field of its own.
    """

    name: str
    key: str = ""
    field: str = ""


Inline: TypeAlias = str | Tree | Strong | Code | Link | Blank

#: A sentence: text, notation trees, and words that stand out.
Words: TypeAlias = tuple[Inline, ...]


@dataclass(frozen=True)
class Line:
    """One displayed formula and which view it is; "where" defines an entry's letters."""

    view: Literal["formula", "entry", "worked", "value", "where"]
    tree: Tree


class Block:
    """One thing of a document, below those before it."""


@dataclass(frozen=True)
class Formulas(Block):
    """Displayed formulas behind a sentence; `label` is that of a step, "" of what is given.

    `size` is the shape of the matrix that they are of, `left_out` what is not shown.
    """

    lines: tuple[Line, ...]
    words: Words = ()
    size: Words = ()
    label: str = ""
    left_out: str = ""

    @property
    def sized(self) -> Words:
        """The size in a sentence."""
        return ("Size: ", *self.size, ".") if self.size else ()

    @property
    def said(self) -> Words:
        """The sentence, and that of the size."""
        return (*self.words, *([" "] if self.words and self.size else []), *self.sized)


@dataclass(frozen=True)
class Worked(Block):
    """A worked line and the words that lead to it; `inline` where it goes on in their line."""

    words: str
    tree: Tree
    inline: bool = False


@dataclass(frozen=True)
class Chain(Block):
    """left = right₁ = right₂ = …: each right side with the reason why it follows."""

    left: Tree
    links: tuple[tuple[Tree, Words], ...]


@dataclass(frozen=True)
class Paragraph(Block):
    """A sentence or several; `whole` where a line of it must not be broken."""

    words: Words
    role: Role = "plain"
    whole: bool = False


@dataclass(frozen=True)
class Item:
    """One thing of a list: perhaps a name, words, more about them, and blocks below them."""

    words: Words
    name: str = ""
    more: str = ""
    role: Role = "plain"
    blocks: tuple[Block, ...] = ()


@dataclass(frozen=True)
class List(Block):
    """Things one below the other; `signed` where each begins with the sign of a verdict."""

    items: tuple[Item, ...]
    signed: bool = False


@dataclass(frozen=True)
class Cell:
    """A cell of a table; of a number that is judged the tint, the sign and the name of that.

    `tint` is one of `TINTS` (`symattn.documents.page.colour`), or ``gap`` for what is left out.
    """

    words: Words
    tint: str = ""
    sign: str = ""
    spoken: str = ""

    @property
    def text(self) -> str:
        """The words of a cell as plain text."""
        return spelled(self.words, str, line)


@dataclass(frozen=True)
class Row:
    """A row of a table under its name."""

    name: Cell
    cells: tuple[Cell, ...]
    role: Role = "plain"


@dataclass(frozen=True)
class Table(Block):
    """Rows of cells; `align` has a letter, l or r, for each column, and is "" for numbers.

    `corner` heads the rows' names. `label` says what it is to those who cannot see it; `caption`
    is shown.
    """

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    caption: str = ""
    label: str = ""
    corner: str = ""
    align: str = ""
    left_out: str = ""

    @property
    def sides(self) -> str:
        """The alignment of every column."""
        return self.align or "r" * len(self.columns)


@dataclass(frozen=True)
class Notebook(Block):
    """Python that a notebook runs here, and what it shows, by MIME type; in no other format."""

    code: str
    shows: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Practice(Block):
    """What a page marks the blanks before it by, as data; in no other format."""

    data: str


@dataclass(frozen=True)
class Break(Block):
    """The end of a part: an empty line in plain text, a new cell in a notebook."""


@dataclass(frozen=True)
class Section(Block):
    """Blocks under a heading."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Document(Block):
    """Blocks under a title; inside another one it is a part of that.

    `width` is that of a line of plain text, None where no line is broken. `headings` is the level
    of the first heading where it may stand inside somebody's page, 0 for none, None for the
    format's own; `label` is what the labels of its equations begin with, "" for the format's own.
    `room` is about how many digits wide a row of its formulas may be, None for the format's own.
    `called` is the heading of a page of its own where there is no title; `drawn` has the pictures
    of steps, by the labels of their formulas, for slides.
    """

    title: str
    blocks: tuple[Block, ...]
    anchor: str = ""
    width: int | None = None
    headings: int | None = None
    label: str = ""
    room: float | None = None
    called: str = ""
    drawn: Mapping[str, Drawing] = field(default_factory=dict)


def named(name: str, words: str, more: str = "", brief: bool = False) -> Item:
    """What a name stands for: ``name: words``, or, on a screen, in a column beside the names."""
    return Item((words,), name, more) if brief else Item((Strong(name), f": {words}"), more=more)


def spelled(
    parts: Words,
    words: Callable[[str], str],
    formula: Callable[[Tree], str],
    strong: str = "{}",
    code: str = "{}",
    blank: str = "_____",
) -> str:
    """A sentence as a format writes its words and formulas; {} stands for what stands out."""
    frames = {Strong: strong, Code: code}
    written = []
    for part in parts:
        match part:
            case str():
                written.append(words(part))
            case Strong(inside) | Code(inside) | Link(inside):
                written.append(frames.get(type(part), "{}").replace("{}", words(inside)))
            case Blank():
                written.append(blank)
            case _:
                written.append(formula(part))
    return "".join(written)
