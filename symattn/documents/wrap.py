"""A side of an equation that is wider than a page, cut into rows before its + and −."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from symattn.notation import tree as t
from symattn.notation.latex import is_tall, latex
from symattn.notation.text import line
from symattn.notation.tree import Fenced, Frac, Grid, Num, Op, Root, Row, Script, Tree

#: About how many digits wide a row may be: those of an article's narrowest page, and of ours.
ROOM, WIDE_ROOM = 66, 88

#: Signs with a gap on either side.
_SPACED = "=≈+−<>≤≥≠∈∘"


class Piece(NamedTuple):
    """A part that is not broken: its LaTeX, and its width in digits, about."""

    tex: str
    size: float


def wrapped(items: Sequence[Tree], room: int = ROOM) -> list[Piece]:
    """The items in one row, or, where they are wider than `room`, in several.

    A fraction that is too wide by itself is written with a slash, so that it can be cut as well.
    """
    whole = Row(tuple(items))
    if size_of(whole) <= room:
        return [Piece(latex(whole), size_of(whole))]
    rows: list[Piece] = []
    for piece in _pieces(tuple(items)):
        if rows and rows[-1].size + piece.size <= room:
            last = rows.pop()
            rows.append(Piece(f"{last.tex} {piece.tex}", last.size + piece.size))
        else:
            rows.append(piece)
    return rows


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
            return max(size_of(num), size_of(den))
        case Grid(rows):
            columns = zip(*rows, strict=True)
            return sum(max(map(size_of, column)) + 2 for column in columns)
        case Fenced(body, _, _):
            return size_of(body) + 2
        case Root(body):
            return size_of(body) + 2
        case Script(base, sub, sup):
            scripts = [size_of(each) for each in (sub, sup) if each is not None]
            return size_of(base) + 0.7 * max(scripts, default=0)
        case Op(symbol):
            return 2.5 if symbol in _SPACED else 2 if symbol in "∞⋯" else len(line(tree))
    return len(line(tree))


def _pieces(items: tuple[Tree, ...], goes_on: bool = False) -> Iterator[Piece]:
    """The items cut before each + and −, and inside brackets and fractions that are too wide.

    The first piece stands behind something where it `goes_on`, as all others do.
    """
    cuts = [
        k
        for k, item in enumerate(items)
        if k and item in (t.PLUS, t.MINUS) and not isinstance(items[k - 1], Op)
    ]
    for start, stop in zip((0, *cuts), (*cuts, len(items)), strict=True):
        part, behind = items[start:stop], goes_on or start > 0
        wide = max(range(len(part)), key=lambda k: size_of(part[k]))
        inside, before, after = part[wide], part[:wide], part[wide + 1 :]
        if size_of(Row(part)) <= ROOM / 2:
            yield _piece(part, behind)
        elif isinstance(inside, Frac):
            yield from _pieces((*before, *_items(t.inline(inside)), *after), behind)
        elif isinstance(inside, Fenced) and not is_tall(inside.body):
            yield from _bracketed(_piece(before, behind), inside, _piece(after, True))
        else:
            yield _piece(part, behind)


def _bracketed(before: Piece, fenced: Fenced, after: Piece) -> Iterator[Piece]:
    """A long bracket in pieces, the first with what stands before it, the last with the rest."""
    empty = latex(Fenced(t.EMPTY, fenced.open, fenced.close))
    opening, closing = empty[: len(empty) // 2], empty[len(empty) // 2 :]
    pieces = list(_pieces(_items(fenced.body)))
    first = pieces[0]
    pieces[0] = Piece(f"{before.tex}{opening}{first.tex}", before.size + 1 + first.size)
    last = pieces[-1]
    pieces[-1] = Piece(f"{last.tex}{closing}{after.tex}", last.size + 1 + after.size)
    yield from pieces


def _items(tree: Tree) -> tuple[Tree, ...]:
    return tree.items if isinstance(tree, Row) else (tree,)


def _piece(items: tuple[Tree, ...], behind: bool) -> Piece:
    """Items in one piece; ``{}`` before a first + or − makes it a sign between two terms."""
    joins = "{} " if behind and items and items[0] in (t.PLUS, t.MINUS) else ""
    return Piece(f"{joins}{latex(Row(items))}", size_of(Row(items)))
