"""Formulas and sentences that are wider than a page, cut into rows as one does by hand.

A side of an equation is cut before its + and −; a term that is wider than a row before one of its
factors; a factor inside its brackets. Nothing is cut that fits in a row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from symattn.documents import blocks as b
from symattn.notation import tree as t
from symattn.notation.latex import brackets, is_tall, latex
from symattn.notation.text import line
from symattn.notation.tree import Fenced, Frac, Grid, Ident, Num, Op, Root, Row, Script, Tree

#: About how many digits wide a row may be: in a column of a paper, in an article's narrowest page,
#: on a slide, and on our pages; and what the number of an equation takes of it.
COLUMN_ROOM, ROOM, SLIDE_ROOM, WIDE_ROOM, NUMBER_ROOM = 45, 66, 70, 98, 8

#: About how many digits a row that goes on is moved to the right.
INDENT = 4

#: Signs with a gap on either side.
_SPACED = "=≈+−<>≤≥≠∈∘"

#: How wide some other signs are.
_SIGNS = {"∞": 2.0, "⋯": 2.0, "·": 1.4, t.GAP.symbol: 2.0}

#: Signs before which a product is cut; one that is not written is written there.
_PRODUCTS = (t.TIMES, t.DOT, t.ENTRYWISE, Op("/"))

#: Of a row at least so much stands on either side of a cut in a product.
_LEAST = 1 / 4

#: What no row of words begins with.
_HELD = ("; ", ", ", ": ")

#: What the brackets about a sum or a fraction are wider than the others.
_LARGE = 1.5


class Piece(NamedTuple):
    """A part that is not broken: its LaTeX, its width in digits, about, and its sign.

    `sign` stands before it at the start of a row.
    """

    tex: str
    size: float
    sign: str = ""


def wrapped(items: Sequence[Tree], room: float = ROOM) -> list[Piece]:
    """The items in one row, or, where they are wider than `room`, in several.

    A fraction that is too wide by itself is written with a slash, and e^x as exp(x), so that they
    can be cut as well.
    """
    rows: list[Piece] = []
    for piece in _cut(tuple(items), room):
        left = room - INDENT * (len(rows) > 1)
        if rows and rows[-1].size + piece.size <= left:
            rows[-1] = Piece(f"{rows[-1].tex} {piece.tex}", rows[-1].size + piece.size)
        else:
            rows.append(Piece(f"{piece.sign}{piece.tex}" if rows else piece.tex, piece.size))
    return rows


def wrapped_words(words: b.Words, room: float = ROOM) -> list[b.Words]:
    """A sentence in rows that are no wider than `room`, where it has blanks to cut it at."""
    rows: list[list[b.Inline]] = [[]]
    used = 0.0
    for part in words:
        for word in re.findall(r"\S*\s+|\S+", part) if isinstance(part, str) else (part,):
            size = words_size((word,))
            if used and used + size > room and word not in _HELD:
                rows.append([])
                used = 0.0
            before = rows[-1][-1] if rows[-1] else None
            if isinstance(word, str) and isinstance(before, str):
                rows[-1][-1] = before + word
            else:
                rows[-1].append(word)
            used += size
    return [tuple(row) for row in rows]


def words_size(words: b.Words) -> float:
    """About how many digits wide a sentence is when it is set."""
    return sum(
        size_of(part) if isinstance(part, Tree) else len(b.spelled((part,), str, line))
        for part in words
    )


def size_of(tree: Tree) -> float:
    """About how many digits wide a formula is when it is set."""
    match tree:
        case Row(items):
            signs = sum(
                item == t.MINUS and (k == 0 or isinstance(items[k - 1], Op))
                for k, item in enumerate(items)
            )
            return sum(map(size_of, items)) - signs  # which have no gaps about them
        case Num(digits):
            return len(digits) - digits.count(".") / 2
        case Frac(num, den):
            return max(size_of(num), size_of(den)) + 0.5
        case Grid() | t.Scheme():
            return _table_size(t.ruled(tree).levelled)
        case t.Marked(mark, body):
            return size_of(mark) + size_of(body)
        case t.Picked(body):
            return size_of(body)
        case Fenced(body, _, _):
            return size_of(body) + 2 + _LARGE * (is_tall(body) and not isinstance(body, Grid))
        case Root(body):
            return size_of(body) + 2
        case Script(base, sub, sup):
            scripts = [size_of(each) for each in (sub, sup) if each is not None]
            return size_of(base) + 0.7 * max(scripts, default=0)
        case Ident(name) if len(name) == 1 and name.isupper():
            return 1.9 if name in "MW" else 1.5
        case Op(symbol):
            return _SIGNS.get(symbol, 2.5 if symbol in _SPACED else len(line(tree)))
    return len(line(tree))


def _table_size(lines: Sequence[Sequence[tuple[Tree, str]]]) -> float:
    """About how wide a table is: its columns, their gaps, the figures that are not seen."""
    sizes = ([_cell_size(*cell) for cell in line] for line in lines)
    return sum(max(column) + 2 for column in zip_longest(*sizes, fillvalue=0.0))


def _cell_size(cell: Tree, figures: str) -> float:
    return size_of(cell) + len(figures) - figures.count(".") / 2


def _cut(items: tuple[Tree, ...], room: float, goes_on: bool = False) -> Iterator[Piece]:
    """The items in pieces no wider than a row, as far as they can be cut.

    The first piece stands behind something where it `goes_on`, as all others do.
    """
    cuts = [] if size_of(Row(items)) <= room else _signs(items)
    if size_of(Row(items)) > room and not cuts:
        yield from _product(items, room, goes_on)
        return
    for start, stop in zip((0, *cuts), (*cuts, len(items)), strict=True):
        if cuts:
            yield from _cut(items[start:stop], room, goes_on or start > 0)
        else:
            yield _piece(items, goes_on)


def _signs(items: tuple[Tree, ...]) -> list[int]:
    """Where a list is cut, behind its commas, or a sum, before its + and −."""
    commas = [k for k in range(1, len(items)) if items[k - 1] == t.COMMA]
    return commas or [
        k
        for k, item in enumerate(items)
        if k and item in (t.PLUS, t.MINUS) and not isinstance(items[k - 1], Op)
    ]


def _product(items: tuple[Tree, ...], room: float, goes_on: bool) -> Iterator[Piece]:
    """A term in pieces: cut in its middle, if it has one, or inside the widest factor that can be.

    What cannot be cut is one piece.
    """
    cuts = [k for k, item in enumerate(items) if k and item in _PRODUCTS]
    halves = [(items[:k], items[k:]) for k in cuts]
    sizes = [sorted((size_of(Row(one)), size_of(Row(other)))) for one, other in halves]
    least, _ = max(sizes, default=(0.0, 0.0))
    if halves and least >= _LEAST * room:
        one, other = halves[[size for size, _ in sizes].index(least)]
        yield from (*_cut(one, room, goes_on), *_cut(other, room, True))
        return
    for k in sorted(range(len(items)), key=lambda k: -size_of(items[k])):
        pieces = [*_opened(items[:k], items[k], items[k + 1 :], room, goes_on)]
        if len(pieces) > 1:
            yield from pieces
            return
    yield _piece(items, goes_on)


def _opened(
    before: tuple[Tree, ...], inside: Tree, after: tuple[Tree, ...], room: float, goes_on: bool
) -> Iterator[Piece]:
    """A factor cut inside, the first piece with what stands before it, the last with the rest."""
    match inside:
        case Frac():
            yield from _cut((*before, *_items(t.inline(inside)), *after), room, goes_on)
        case Script(Ident("e"), None, power) if power is not None:
            exponential = (Ident("exp", roman=True), t.APPLY, Fenced(power))
            yield from _cut((*before, *exponential, *after), room, goes_on)
        case Fenced() | Script(Fenced()):
            fenced: Tree = inside
            scripts = ""
            if isinstance(inside, Script):
                fenced = inside.base
                scripts = latex(Script(t.EMPTY, inside.sub, inside.sup)).removeprefix("{}")
            assert isinstance(fenced, Fenced)
            opening, closing = brackets(fenced, r"\biggl" if is_tall(fenced.body) else "")
            first, *others = _cut(_items(fenced.body), room - 2)
            if not others:
                return
            *others, last = others
            lead, tail = _piece(before, goes_on), latex(Row(after))
            yield Piece(f"{lead.tex}{opening}{first.tex}", lead.size + 1 + first.size, lead.sign)
            yield from others
            size = last.size + size_of(Row(after)) + 1
            yield Piece(f"{last.tex}{closing}{scripts} {tail}".rstrip(), size, last.sign)


def _items(tree: Tree) -> tuple[Tree, ...]:
    return tree.items if isinstance(tree, Row) else (tree,)


def _piece(items: tuple[Tree, ...], behind: bool) -> Piece:
    """Items in one piece; ``{}`` before a first + or − makes it a sign between two terms."""
    size = size_of(Row(items))
    if not behind or not items or not isinstance(items[0], Op):
        return Piece(latex(Row(items)), size)
    if items[0] == t.TIMES:
        return Piece(latex(Row(items)), size, r"{} \cdot ")
    joins = "{} " if items[0] in (t.PLUS, t.MINUS) else ""
    return Piece(f"{joins}{latex(Row(items))}", size, "" if joins else "{} ")
