"""The notation tree read as Unicode text (or ASCII): one line, or several where a grid needs them.

The layout is a box of lines with a baseline; boxes are set side by side on their baselines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Literal, TypeVar
from unicodedata import category, combining, east_asian_width

from symattn.arguments import choice
from symattn.errors import CannotSpell
from symattn.greek import GREEK
from symattn.notation import tree as t
from symattn.notation.latex import escape_controls
from symattn.notation.tree import Tree

Charset = Literal["unicode", "ascii"]
T = TypeVar("T")

_SPACED = {"=", "≈", "+", "−", "≤", "<", "≥", ">", "≠", "∈", "∪", ":", "∘", "⊘", "×"}
_SUPERSCRIPTS = dict(zip("0123456789()ihT⊤′", "⁰¹²³⁴⁵⁶⁷⁸⁹⁽⁾ⁱʰᵀ⊤′", strict=True))
_ASCII = {
    "−": "-",
    "≈": "~=",
    "·": "*",
    "×": "x",
    "√": "sqrt",
    "∑": "Sum",
    "∞": "inf",
    "⋯": "...",
    "⋮": ":",
    "⋱": "...",
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
    "∈": "in",
    "∪": "union",
    "∘": "o",
    "⊘": "./",
    "⊤": "T",
    "ℝ": "R",
    "′": "'",
    "∂": "d",
    "…": "..",
    "\u2062": "",
    "\u2061": "",
    **{letter: name for name, letter in GREEK.items() if name != "ell"},
    "⌊": "floor(",
    "⌋": ")",
    **{above: f"^{below}" for below, above in _SUPERSCRIPTS.items() if below.isascii()},
}
_BRACKETS = {"[": "⎡⎢⎣", "]": "⎤⎥⎦", "(": "⎛⎜⎝", ")": "⎞⎟⎠", "{": "⎧⎨⎩", "}": "⎫⎬⎭", "|": "│││"}


@dataclass(frozen=True)
class Box:
    """Lines of equal width and the line on which neighbours stand."""

    lines: tuple[str, ...]
    baseline: int = 0

    @property
    def width(self) -> int:
        """How many terminal cells a line takes."""
        return width(self.lines[0])

    def __str__(self) -> str:
        return "\n".join(line.rstrip() for line in self.lines)


def in_ascii(words: str) -> str:
    """Words with the signs of mathematics spelled in ASCII; what has no spelling is ``?``.

    >>> in_ascii("Q Kᵀ/√d_k")
    'Q K^T/sqrtd_k'
    """
    return "".join(_ASCII.get(c, c if c.isascii() else "?") for c in words)


def text(tree: Tree, charset: Charset = "unicode") -> str:
    """The tree as text; grids take several lines."""
    return str(_Layout(charset, flat=False).box(tree))


def line(tree: Tree, charset: Charset = "unicode") -> str:
    """The tree as one line; a grid becomes ``[[a, b], [c, d]]``."""
    return str(_Layout(charset, flat=True).box(tree))


def box(tree: Tree, charset: Charset = "unicode") -> Box:
    """The tree as a box of lines, for setting beside others."""
    return _Layout(charset, flat=False).box(tree)


def box_width(tree: Tree) -> float:
    """How many characters wide a tree is as text."""
    return box(tree).width


def side_by_side(
    trees: Iterable[Tree], room: float, size: Callable[[Tree], float] = box_width
) -> list[Tree]:
    """The trees in as few rows as lines of so many characters have room for, equally full.

    `size` measures a tree where a line is not counted in characters.

    >>> heads = [t.Num(digit) for digit in "1234"]
    >>> [line(row) for row in side_by_side(heads, 9)]
    ['1   2', '3   4']
    """
    sized = [(tree, size(tree)) for tree in trees]
    gap = size(t.GAP)
    rows = packed(sized, room, gap)
    for most in range(1, len(sized)):
        even = packed(sized, room, gap, most)
        if len(even) == len(rows):
            rows = even
            break
    return [t.apart(row) if len(row) > 1 else row[0] for row in rows]


def packed(
    sized: Iterable[tuple[T, float]], room: float, gap: float = 0, most: float = inf
) -> list[list[T]]:
    """Things with their sizes in groups that have room for them, in order, each with all it can.

    What has no room by itself is alone; a `gap` is between two, and `most` are together.

    >>> packed([("a", 2), ("b", 2), ("c", 3)], 5)
    [['a', 'b'], ['c']]
    """
    groups: list[list[T]] = []
    left = 0.0
    for thing, size in sized:
        if groups and len(groups[-1]) < most and gap + size <= left:
            groups[-1].append(thing)
            left -= gap + size
        else:
            groups.append([thing])
            left = room - size
    return groups


def width(words: str) -> int:
    """How many terminal cells the words take."""
    return sum(_cell_width(character) for character in words)


def _cell_width(character: str) -> int:
    if combining(character) or category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if east_asian_width(character) in ("W", "F") else 1


@dataclass(frozen=True)
class _Tables:
    """What takes several lines: brackets, grids, Falk's scheme; `box` lays out a cell."""

    charset: Charset
    box: Callable[[Tree], Box]

    def fenced(self, body: Box, left: str, right: str, padded: bool = False) -> Box:
        if len(body.lines) == 1:
            gap = " " * padded
            return beside(Box((left + gap,)), body, Box((gap + right,)))
        if not right:
            return beside(self._side(left, body), body)
        space = Box((" ",) * len(body.lines), body.baseline)
        return beside(self._side(left, body), space, body, space, self._side(right, body))

    def _side(self, fence: str, body: Box) -> Box:
        """A fence as high as what it stands beside; an empty one takes no room."""
        count = len(body.lines)
        if not fence:
            return Box(("",) * count, body.baseline)
        if fence not in _BRACKETS:
            raise CannotSpell(f"the fence {fence!r} has no text spelling here")
        gap = " " if fence == "{" else ""
        top, middle, bottom = (piece + gap for piece in _BRACKETS[fence])
        side = "⎪" + gap if fence in "{}" else middle
        if self.charset == "ascii":
            top = middle = side = bottom = "|" + gap
        sides = [side] * (count - 2)
        sides[(count - 3) // 2 : (count - 1) // 2] = [middle] * (count > 2)  # a brace's tip
        return Box((top, *sides, bottom), body.baseline)

    def flat_grid(self, grid: t.Grid) -> Box:
        lines = ["[" + ", ".join(str(self.box(x)) for x in row) + "]" for row in grid.rows]
        return Box((lines[0] if len(lines) == 1 else f"[{', '.join(lines)}]",))

    def _tall_grid(self, boxes: list[list[Box]]) -> Box:
        """Cells of several lines, as in conditions inside conditions."""
        widths = [max(cell.width for cell in column) for column in zip(*boxes, strict=True)]
        rows = []
        for line in boxes:
            pieces: list[Box] = []
            for cell, size in zip(line, widths, strict=True):
                pad = Box((" " * (size - cell.width + 2),) * len(cell.lines), cell.baseline)
                pieces += [cell, pad]
            rows.append(beside(*pieces))
        return below(*rows)

    def labelled(self, grid: t.Grid) -> Box:
        """A matrix in brackets with the names of its rows and columns outside them."""
        body = self.grid(t.Grid(grid.rows, (), grid.column_labels, grid.align))
        head = body.lines[:1] if grid.column_labels else ()
        rows = body.lines[len(head) :]
        fenced = self.fenced(Box(rows, (len(rows) - 1) // 2), "[", "]", padded=True)
        lines = [f"  {line}  " for line in head] + list(fenced.lines)
        if grid.row_labels:
            names = padded([escape_controls(label) for label in grid.row_labels], "l")
            blank = " " * width(names[0])
            lines = [
                f"{x} {name}" for name, x in zip([blank] * len(head) + names, lines, strict=True)
            ]
        return Box(tuple(lines), len(head) + fenced.baseline)

    def grid(self, grid: t.Grid) -> Box:
        boxes = [[self.box(cell) for cell in row] for row in grid.rows]
        if any(len(cell.lines) > 1 for line in boxes for cell in line):
            return self._tall_grid(boxes)
        columns = [self._column(column, grid.align) for column in zip(*grid.rows, strict=True)]
        labels = [escape_controls(label) for label in grid.column_labels]
        if labels:
            columns = [
                padded([label, *column], "r") for label, column in zip(labels, columns, strict=True)
            ]
        lines = ["  ".join(row) for row in zip(*columns, strict=True)] or [""]
        return Box(tuple(lines), (len(lines) - 1) // 2)

    def _column(self, cells: tuple[Tree, ...], align: str) -> list[str]:
        """A column in line; the brackets of what is picked stand outside the others' width."""
        bare = [str(self.box(c.body if isinstance(c, t.Picked) else c)) for c in cells]
        levelled = t.levelled([[cell] for cell in cells], align)
        blanks = [" " * len(figures) for ((_, figures),) in levelled]
        lines = padded([text + blank for text, blank in zip(bare, blanks, strict=True)], align)
        if not any(isinstance(cell, t.Picked) for cell in cells):
            return lines
        out = []
        for cell, text, whole in zip(cells, bare, lines, strict=True):
            left, right = (
                (" ", " ") if not isinstance(cell, t.Picked) else "[]" if cell.boxed else "()"
            )
            start = whole.index(text)
            out.append(f"{whole[:start]}{left}{text}{right}{whole[start + len(text) :]}")
        return out

    def scheme(self, scheme: t.Scheme) -> Box:
        """Falk's scheme with its two rules; the numbers above and below are aligned apart."""
        table = t.ruled(scheme)
        columns = [
            padded(self._column(c[: table.above], a) + self._column(c[table.above :], a), a)
            for c, a in zip(zip(*table.lines, strict=True), table.align, strict=True)
        ]
        upright, level, cross = "│─┼" if self.charset == "unicode" else "|-+"
        sides = (columns[: table.before], columns[table.before :])
        left, right = (["  ".join(line) for line in zip(*side, strict=True)] for side in sides)
        lines = [f"{a} {upright} {b}" for a, b in zip(left, right, strict=True)]
        rule = level * (width(left[0]) + 1) + cross + level * (width(right[0]) + 1)
        return Box((*lines[: table.above], rule, *lines[table.above :]), table.above)


@dataclass(frozen=True)
class _Layout:
    charset: Charset
    flat: bool

    def __post_init__(self) -> None:
        choice(self.charset, "charset", ("unicode", "ascii"))

    @cached_property
    def tables(self) -> _Tables:
        return _Tables(self.charset, self.box)

    def box(self, tree: Tree) -> Box:
        match tree:
            case t.Num(digits):
                return Box((digits,))
            case t.Ident(name, _):
                return Box((self._glyphs(name),))
            case t.Op(symbol):
                return Box((self._operator(symbol),))
            case t.Row(()):
                return Box(("",))
            case t.Row(items):
                return self._row(items)
            case t.Script():
                return self._script(tree)
            case t.Frac(num, den):
                left = t.bracketed(num, t.ATOM if isinstance(num, t.Frac) else t.MULTIPLICATIVE)
                right = den if t.is_bare_sum(den) else t.bracketed(den, t.ATOM)
                slash = Box((self._slash(left, right),))
                return beside(self.box(left), slash, self.box(right))
            case t.Marked(mark, body):
                return beside(self.box(mark), self.box(body))
            case t.Root((t.Num() | t.Ident() | t.Script(_, _, None)) as atom) if not self.ascii:
                return beside(Box(("√",)), self.box(atom))
            case t.Root(body):  # √(a²), and (√a)² below
                return beside(Box((self._glyphs("√"),)), self.box(_in_brackets(body)))
            case t.Fenced(t.Grid() as grid, _, _) if self.flat:
                return self.tables.flat_grid(grid)
            case t.Fenced(t.Grid() as grid, _, _) if grid.row_labels or grid.column_labels:
                return self.tables.labelled(grid)
            case t.Fenced(body, left, right):
                return self.tables.fenced(
                    self.box(body), left, right, padded=isinstance(body, t.Grid)
                )
            case t.Grid():
                return self.tables.flat_grid(tree) if self.flat else self.tables.grid(tree)
            case t.Text(words):
                return Box((escape_controls(words),))
            case t.Custom(latex):
                return Box((self._glyphs(_plain(latex)),))
            case t.Picked(body, boxed):
                return self.tables.fenced(self.box(body), *("[]" if boxed else "()"))
            case t.Scheme():
                return self.box(tree.equations) if self.flat else self.tables.scheme(tree)
        raise t.no_tree(tree)

    @property
    def ascii(self) -> bool:
        """Whether it is spelled in ASCII."""
        return self.charset == "ascii"

    def _glyphs(self, words: str) -> str:
        return in_ascii(words) if self.ascii else words

    def _operator(self, symbol: str) -> str:
        if symbol in ("\u2062", "\u2061"):
            return ""
        if symbol == t.GAP.symbol:
            return "   "
        return self._glyphs(symbol)

    def _slash(self, left: Tree, right: Tree) -> str:
        """Tight between short atoms, wide in a formula of matrices."""
        wide = any(
            isinstance(item, t.Op)
            for side in (left, right)
            if isinstance(side, t.Row)
            for item in side.items
        )
        return " / " if wide or t.is_bare_sum(right) else "/"

    def _row(self, items: tuple[Tree, ...]) -> Box:
        pieces: list[Box] = []
        for index, item in enumerate(items):
            if item == t.APPLY:
                continue
            if item == t.TIMES:
                piece = Box((" ",))
            elif isinstance(item, t.Op) and item.symbol in _SPACED:
                glyph = self._operator(item.symbol)
                piece = Box((glyph if t.is_sign(items, index) else f" {glyph} ",))
            elif item == t.Op(","):
                piece = Box((", ",))
            else:
                body = item
                in_product = any(
                    x in (t.TIMES, t.DOT) for x in items[max(index - 1, 0) : index + 2]
                )
                if isinstance(item, t.Frac) and in_product:
                    body = t.Fenced(item)
                piece = self.box(body)
                if isinstance(item, t.Script) and item.base == t.SUM:
                    piece = beside(piece, Box((" ",)))
            pieces.append(piece)
        return beside(*pieces) if pieces else Box(("",))

    def _script(self, script: t.Script) -> Box:
        if script.base == t.SUM:
            return self._sum(script)
        rooted = isinstance(script.base, t.Root) and script.sup is not None
        out = self.box(_in_brackets(script.base) if rooted else script.base)
        raised = "" if script.sup is None else self._raised(script.sup)
        lowered = "" if script.sub is None else f"_{self._lowered(script.sub)}"
        # a power with indices below reads w^Q_ij, as it is typed, but K_r^⌈i/2⌉
        is_first = raised.startswith("^") and not isinstance(script.sub, t.Ident | t.Num)
        scripts = raised + lowered if is_first else lowered + raised
        return beside(out, Box((scripts,))) if scripts else out

    def _sum(self, script: t.Script) -> Box:
        """∑ with its index alone, as one writes it in a line: Σ_l; with a set, Σ_l∈A, or Σ_l≤i."""
        sign = "Σ" if self.charset == "unicode" else "Sum"
        if script.sub is None:
            return Box((sign,))
        below = script.sub
        if isinstance(below, t.Row) and not {t.Op("∈"), t.Op("≤")} & {*below.items}:
            below = below.items[0]
        return Box((f"{sign}_{self._lowered(below)}",))

    def _raised(self, sup: Tree) -> str:
        plain = str(self.box(sup))
        if self.charset == "unicode" and all(c in _SUPERSCRIPTS for c in plain):
            return "".join(_SUPERSCRIPTS[c] for c in plain)
        if (
            isinstance(sup, t.Row)
            and len(sup.items) == 2
            and not (t.is_bare_sum(sup) or isinstance(sup.items[0], t.Op))
        ):
            first, second = map(self._raised, sup.items)
            if not second.startswith("^"):
                return f"{first}{second}"  # w^Q⁽ⁱ⁾, K^⌈i/2⌉ᵀ
            if isinstance(sup.items[1], t.Fenced):
                return f"{first}{second[1:]}"  # k^r⌈i/2⌉
        return f"^{plain}" if isinstance(sup, t.Ident | t.Num | t.Fenced) else f"^({plain})"

    def _lowered(self, sub: Tree) -> str:
        return str(self.box(_dotted(sub))).replace(" ", "")


def below(*boxes: Box) -> Box:
    """Boxes one under the other, left edges level."""
    widest = max(each.width for each in boxes)
    lines = [line + " " * (widest - width(line)) for each in boxes for line in each.lines]
    return Box(tuple(lines), (len(lines) - 1) // 2)


def beside(*boxes: Box) -> Box:
    """Boxes side by side, their baselines level."""
    above = max(box.baseline for box in boxes)
    below = max(len(box.lines) - box.baseline for box in boxes)
    lines = [""] * (above + below)
    for each in boxes:
        top = above - each.baseline
        for index in range(above + below):
            inside = top <= index < top + len(each.lines)
            lines[index] += each.lines[index - top] if inside else " " * each.width
    return Box(tuple(lines), above)


def padded(column: Sequence[str], align: str) -> list[str]:
    """The words as wide as the widest, blanks behind those of a column on the left (``l``)."""
    widest = max(width(cell) for cell in column)
    gaps = [" " * (widest - width(cell)) for cell in column]
    if align == "l":
        return [cell + gap for cell, gap in zip(column, gaps, strict=True)]
    return [gap + cell for cell, gap in zip(column, gaps, strict=True)]


def _dotted(tree: Tree) -> Tree:
    """Products with a dot, since a subscript has no room for a space."""
    match tree:
        case t.Row(items):
            return t.Row(tuple(t.DOT if item == t.TIMES else _dotted(item) for item in items))
        case t.Fenced(body, left, right):
            return t.Fenced(_dotted(body), left, right)
        case _:
            return tree


def _in_brackets(tree: Tree) -> Tree:
    return tree if isinstance(tree, t.Fenced) else t.Fenced(tree)


_ACCENTS = {"tilde": "\u0303", "hat": "\u0302", "bar": "\u0304", "vec": "\u20d7"}


def _plain(latex: str) -> str:
    """A LaTeX symbol without its commands: ``\\mathbf{W}^Q`` is W^Q."""
    bare = re.sub(r"\\(math[a-z]+|boldsymbol)(?![a-z])", "", latex)
    for accent, mark in _ACCENTS.items():
        bare = re.sub(rf"\\{accent}(?:\{{([A-Za-z])\}}|(?![a-z]))", rf"\g<1>{mark}", bare)
    bare = re.sub(r"\\([A-Za-z]+)", r"\1", bare)
    return bare.replace("{", "").replace("}", "").strip()
