"""The notation tree: what a piece of mathematics looks like, before any output format.

Every formula, entry rule, worked line and matrix becomes one of these trees, and LaTeX, MathML
and Unicode text are three readings of it. That is what makes the three agree. Nothing here
knows SymPy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal, TypeAlias, get_args

from symattn import handed
from symattn.errors import CannotSpell, quote


def no_tree(value: object) -> CannotSpell:
    """The error of a writer for what is no notation tree."""
    return CannotSpell(
        f"{quote(value)} is not a notation tree; give one like step.formula(), or use SymPy's own "
        "printers"
    )


class _Shown:
    """What a console, a notebook and `print` show of a tree: the formula."""

    def __repr__(self) -> str:
        return f"<{self}>"

    def __str__(self) -> str:
        return handed.spelled(self)["text/plain"]

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return handed.spelled(self)


@dataclass(frozen=True, repr=False)
class Ident(_Shown):
    """A name: a variable in italics (``S``, ``d``) or, with ``roman``, a word (``softmax``)."""

    name: str
    roman: bool = False


@dataclass(frozen=True, repr=False)
class Num(_Shown):
    """An unsigned number as it is to be read: ``0.4446``. A sign is an operator before it."""

    digits: str


@dataclass(frozen=True, repr=False)
class Op(_Shown):
    """An operator or a bare symbol: ``=``, ``+``, ``·``, ``∑``, ``∞``, ``⋯``."""

    symbol: str


@dataclass(frozen=True, repr=False)
class Row(_Shown):
    """Pieces side by side."""

    items: tuple[Tree, ...]


@dataclass(frozen=True, repr=False)
class Script(_Shown):
    """A base with a subscript, a superscript or both; limits when the base is ``∑``."""

    base: Tree
    sub: Tree | None = None
    sup: Tree | None = None


@dataclass(frozen=True, repr=False)
class Frac(_Shown):
    """A fraction."""

    num: Tree
    den: Tree


@dataclass(frozen=True, repr=False)
class Root(_Shown):
    """A square root."""

    body: Tree


@dataclass(frozen=True, repr=False)
class Fenced(_Shown):
    """A body between two fences; an empty fence is not drawn."""

    body: Tree
    open: str = "("
    close: str = ")"


@dataclass(frozen=True, repr=False)
class Grid(_Shown):
    """Cells in rows and columns, with the names of the rows and columns where they have any."""

    rows: tuple[tuple[Tree, ...], ...]
    row_labels: tuple[str, ...] = ()
    column_labels: tuple[str, ...] = ()
    align: Literal["r", "l", "c"] = "r"

    @property
    def labelled(self) -> bool:
        """Whether its rows or its columns have names."""
        return bool(self.row_labels or self.column_labels)


@dataclass(frozen=True, repr=False)
class Text(_Shown):
    """Plain words inside a formula."""

    words: str


@dataclass(frozen=True, repr=False)
class Custom(_Shown):
    """A symbol that somebody handed in as LaTeX (``\\mathbf{A}``); see `options.custom_symbol`."""

    latex: str


@dataclass(frozen=True, repr=False)
class Marked(_Shown):
    """A symbol with a sign before it that belongs to it: dS, δQ, ∂L; scripts go to the symbol."""

    mark: Ident
    body: Tree


@dataclass(frozen=True, repr=False)
class Picked(_Shown):
    """A highlighted cell: an entry in a box, or one of its operands in bold."""

    body: Tree
    boxed: bool = True


@dataclass(frozen=True)
class Part:
    """A matrix of a `Scheme` with its name, and whether its numbers are exact (=) or not (≈)."""

    symbol: Tree
    relation: Op
    grid: Grid


@dataclass(frozen=True, repr=False)
class Scheme(_Shown):
    """Falk's scheme of a product: the second factor above it, the first on its left."""

    first: Part
    second: Part
    product: Part

    @property
    def equations(self) -> Tree:
        """The three matrices one after the other, where there is one line for them."""
        parts = (self.first, self.second, self.product)
        return commas(equation(p.symbol, (p.relation, Fenced(p.grid, "[", "]"))) for p in parts)


Tree: TypeAlias = (
    Ident
    | Num
    | Op
    | Row
    | Script
    | Frac
    | Root
    | Fenced
    | Grid
    | Text
    | Custom
    | Marked
    | Picked
    | Scheme
)

#: Juxtaposed factors (U+2062) and a function before its argument (U+2061).
TIMES = Op("\u2062")
DOT = Op("·")
APPLY = Op("\u2061")
PLUS = Op("+")
MINUS = Op("−")
EQUALS = Op("=")
APPROX = Op("≈")
INFINITY = Op("∞")
DOTS = Op("⋯")
VDOTS = Op("⋮")
DDOTS = Op("⋱")
SUM = Op("∑")
COMMA = Op(",")
#: The real numbers and −∞: ℝ ∪ {−∞}.
EXTENDED = Fenced(Row((Ident("ℝ"), Op("∪"), Fenced(Row((MINUS, INFINITY)), "{", "}"))))
#: Room between two formulas that stand side by side.
GAP = Op("\u2003")
EMPTY = Row(())
ENTRYWISE = Op("∘")

#: How tightly a tree holds together: a sum needs brackets inside a product, and so on.
ADDITIVE, MULTIPLICATIVE, ATOM = 1, 2, 3


def parts(tree: Tree) -> Iterator[Tree]:
    """The tree and all that it is made of, in the order in which it is read."""
    yield tree
    yield from _within(tuple(vars(tree).values()))


def _within(values: tuple[object, ...]) -> Iterator[Tree]:
    """The parts of the trees among the values, and of those in what holds trees."""
    for value in values:
        if isinstance(value, get_args(Tree)):
            yield from parts(value)
        elif isinstance(value, tuple):
            yield from _within(value)
        elif isinstance(value, Part):
            yield from _within(tuple(vars(value).values()))


def row(*items: Tree) -> Tree:
    """The pieces side by side; a single piece stays itself, and rows inside are joined."""
    flat: list[Tree] = []
    for item in items:
        flat.extend(item.items if isinstance(item, Row) else (item,))
    return flat[0] if len(flat) == 1 else Row(tuple(flat))


def holds(tree: Tree) -> int:
    """How tightly `tree` holds together: ADDITIVE, MULTIPLICATIVE or ATOM."""
    if isinstance(tree, Frac):
        return MULTIPLICATIVE
    if isinstance(tree, Row):
        if any(item in (PLUS, MINUS, ENTRYWISE) for item in tree.items):
            return ADDITIVE  # A ∘ B is bracketed in a product too, so that A ∘ B C is never read
        if any(isinstance(item, Script) and item.base == SUM for item in tree.items):
            return ADDITIVE  # what follows a ∑ belongs to it
        if Text(" mod ") in tree.items:
            return ADDITIVE
        if any(item in (TIMES, DOT, Op("/")) for item in tree.items):
            return MULTIPLICATIVE
    return ATOM


def bracketed(tree: Tree, at_least: int) -> Tree:
    """`tree`, in brackets if it holds together less tightly than `at_least`."""
    return Fenced(tree) if holds(tree) < at_least else tree


#: Operators that are read like letters: what stands behind one is not the sign of anything.
_ORDINARY = "∞⋯⋮⋱?′⊤…"


def is_sign(items: Sequence[Tree], place: int) -> bool:
    """Whether what stands there in a row is a minus that belongs to what follows: −1, = −1."""
    before = items[place - 1] if place else PLUS
    operates = isinstance(before, Op) and before.symbol not in _ORDINARY
    return items[place] == MINUS and operates


def is_negative(tree: Tree) -> bool:
    """Whether the tree starts with a minus sign."""
    return isinstance(tree, Row) and tree.items[0] == MINUS


def negated(tree: Tree) -> Tree:
    """Minus the tree."""
    return row(MINUS, bracketed(tree, MULTIPLICATIVE))


def plus(terms: Sequence[Tree]) -> Tree:
    """A sum; a later term that starts with a minus is subtracted, and a ∑ ends in brackets."""
    items: list[Tree] = []
    for index, term in enumerate(terms):
        if index and not is_negative(term):
            items.append(PLUS)
        goes_on = index < len(terms) - 1 and is_bare_sum(term)
        items.append(Fenced(term) if goes_on else term)
    return row(*items)


def times(factors: Sequence[Tree], by: Op = TIMES) -> Tree:
    """A product in the order given; a sum or a negative factor is bracketed."""
    if len(factors) == 1:
        return factors[0]
    fenced = [bracketed(factor, MULTIPLICATIVE) for factor in factors]
    if factors and is_bare_sum(factors[-1]):
        fenced[-1] = factors[-1]
    return _between(fenced, by)


def is_bare_sum(tree: Tree) -> bool:
    """Whether the tree is ``∑ …``: it needs no brackets as the last factor."""
    return isinstance(tree, Row) and isinstance(tree.items[0], Script) and tree.items[0].base == SUM


def entrywise(factors: Sequence[Tree]) -> Tree:
    """A ∘ B; a product or a sum among the factors is bracketed."""
    fenced = [f if isinstance(f, Frac) else bracketed(f, ATOM) for f in factors]
    return times(fenced, ENTRYWISE)


def power(base: Tree, exponent: Tree) -> Tree:
    """A superscript; one joins a label, W^(Q)ᵀ, and stands outside brackets of a power, (x²)³."""
    if isinstance(base, Marked):
        return Marked(base.mark, power(base.body, exponent))
    if isinstance(base, Script) and base.base != SUM and base.sup is not None:
        if not _joins(base, base.sup, exponent):
            return Script(Fenced(base), None, exponent)
        return Script(base.base, base.sub, row(base.sup, exponent))
    if isinstance(base, Script):
        return Script(base.base, base.sub, exponent)
    return Script(bracketed(base, ATOM), None, exponent)


def _joins(base: Script, sup: Tree, exponent: Tree) -> bool:
    """Whether a superscript is a label, of a head or a role, or the one that follows it is."""
    if isinstance(exponent, Fenced):
        return True
    parts = sup.items if isinstance(sup, Row) else (sup,)
    return base.base != Ident("e") and isinstance(parts[-1], Fenced)


def inline(tree: Tree) -> Tree:
    """Fractions written with a slash, where tall ones would be too small to read."""
    if isinstance(tree, Row) and (holds(tree) == ADDITIVE or is_negative(tree)):
        return row(*(_inline(tree.items, place) for place in range(len(tree.items))))
    if not isinstance(tree, Frac):
        return tree
    return row(bracketed(tree.num, MULTIPLICATIVE), Op("/"), bracketed(tree.den, ATOM))


def _inline(items: tuple[Tree, ...], place: int) -> Tree:
    """An item of a row with slashes; a fraction that is a factor beside others has brackets."""
    beside = items[max(place - 1, 0) : place + 2]
    is_factor = isinstance(items[place], Frac) and (TIMES in beside or DOT in beside)
    return Fenced(inline(items[place])) if is_factor else inline(items[place])


def call(name: Tree, *arguments: Tree) -> Tree:
    """A function and its arguments: softmax(Z)."""
    return row(name, APPLY, Fenced(commas(arguments)))


def commas(items: Iterable[Tree]) -> Tree:
    """The items with commas between them."""
    return _between(items, COMMA)


def joined(items: Iterable[Tree], words: str) -> Tree:
    """The items with words between them."""
    return _between(items, Text(words))


def apart(items: Iterable[Tree]) -> Tree:
    """Formulas side by side, with room between them."""
    return _between(items, GAP)


def _between(items: Iterable[Tree], sign: Tree) -> Tree:
    """The items with a sign between them."""
    out = [part for item in items for part in (sign, item)]
    return row(*out[1:]) if out else EMPTY


def cases(branches: Iterable[tuple[Tree, Tree]], otherwise: Tree) -> Tree:
    """Values with their conditions, the first of which counts, and what holds otherwise."""
    rows = [(value, row(Text("if "), condition)) for value, condition in branches]
    if not rows:
        return otherwise
    return Fenced(Grid((*rows, (otherwise, Text("otherwise"))), align="l"), "{", "")


def equation(left: Tree, *rest: tuple[Op, Tree]) -> Tree:
    """``left = a ≈ b``: the left side and what each relation sign leads to."""
    return row(left, *(part for pair in rest for part in pair))


@dataclass(frozen=True)
class Ruled:
    """A table with a rule below its first `above` lines and one behind its first `before` columns.

    `align` has a letter for each column: r, l or c. What is empty is an empty row.
    """

    lines: tuple[tuple[Tree, ...], ...]
    above: int
    before: int
    align: str

    @property
    def levelled(self) -> list[list[tuple[Tree, str]]]:
        """The cells as the function `levelled` has them, above and below the rule by themselves."""
        above, below = self.lines[: self.above], self.lines[self.above :]
        return levelled(above, self.align) + levelled(below, self.align)


def ruled(table: Grid | Scheme) -> Ruled:
    """A matrix with the names of its rows and columns, or Falk's scheme, as a table with rules."""
    return _named(table) if isinstance(table, Grid) else _falk(table)


def _named(grid: Grid) -> Ruled:
    """A matrix with the names of its columns above it and those of its rows before it."""
    before = int(bool(grid.row_labels))
    lines = [
        (*map(Text, grid.row_labels[k : k + before]), *cells) for k, cells in enumerate(grid.rows)
    ]
    if grid.column_labels:
        lines.insert(0, (*_empty(before), *map(Text, grid.column_labels)))
    columns = max(map(len, grid.rows), default=0)
    align = "r" * before + grid.align * columns
    return Ruled(tuple(lines), int(bool(grid.column_labels)), before, align)


def _falk(scheme: Scheme) -> Ruled:
    """Falk's scheme: rows of the first factor and columns of the second meet in it.

    The names of the matrices stand at its sides, those of rows behind it, those of columns above.
    """
    first, second, product = scheme.first.grid, scheme.second.grid, scheme.product.grid
    inner, columns = len(first.rows[0]), len(product.rows[0])
    labelled = bool(second.row_labels or product.row_labels)
    right = 1 + labelled
    lines: list[tuple[Tree, ...]] = []
    if product.column_labels:
        names = map(Text, product.column_labels)
        lines.append((*_empty(1 + inner), *names, *_empty(right)))
    for k, cells in enumerate(second.rows):
        last = k == len(second.rows) - 1
        left = tuple(map(Text, first.column_labels)) if last else ()
        lines.append(
            (*_empty(1), *(left or _empty(inner)), *cells, *_behind(scheme.second, k, labelled))
        )
    above = len(lines)
    for k, (before, cells) in enumerate(zip(first.rows, product.rows, strict=True)):
        name = row(scheme.first.symbol, scheme.first.relation, _NOTHING)
        name = name if _middle(first, k) else EMPTY
        lines.append((name, *before, *cells, *_behind(scheme.product, k, labelled)))
    align = "r" * (1 + inner + columns) + "l" * right
    return Ruled(tuple(lines), above, 1 + inner, align)


def _behind(part: Part, k: int, labelled: bool) -> tuple[Tree, ...]:
    """The labels right of row k of a matrix: the name of the row, and that of the matrix."""
    labels = part.grid.row_labels
    label = (Text(labels[k]) if labels else EMPTY,) if labelled else ()
    name = row(_NOTHING, part.relation, part.symbol)
    return (*label, name if _middle(part.grid, k) else EMPTY)


#: What stands at the open side of a relation in a cell: LibreOffice takes none without.
_NOTHING = Text("")


def _middle(grid: Grid, k: int) -> bool:
    return k == (len(grid.rows) - 1) // 2


def _empty(count: int) -> tuple[Tree, ...]:
    return (EMPTY,) * count


def levelled(lines: Sequence[Sequence[Tree]], align: str) -> list[list[tuple[Tree, str]]]:
    """Each cell with the figures that it lacks for the points of its column to be level.

    >>> levelled([[Num("0.25")], [INFINITY], [Num("1.5")]], "r")[1:]
    [[(<∞>, '')], [(<1.5>, '5')]]
    """
    columns = [_figures(column) for column in zip_longest(*lines, fillvalue=EMPTY)]
    return [
        [(cell, columns[k][number] if align[k] == "r" else "") for k, cell in enumerate(cells)]
        for number, cells in enumerate(lines)
    ]


def _figures(column: Sequence[Tree]) -> list[str]:
    """What each cell lacks of the longest decimal; nothing where some cell is no decimal."""
    tails = [_decimals(cell) for cell in column]
    if None in tails:
        return [""] * len(column)
    longest = max(filter(None, tails), key=len, default="")
    return [
        "" if tail is None or _has_no_point(cell) else longest[len(tail) :]
        for cell, tail in zip(column, tails, strict=True)
    ]


def _decimals(cell: Tree) -> str | None:
    """The point and what follows it, "" where there is none; None of what is no decimal."""
    match cell:
        case Picked(body):
            return _decimals(body)
        case Row((Op("−"), body)):
            return _decimals(body)
        case Num(digits):
            _, point, tail = digits.partition(".")
            return point + tail
        case Op("∞" | "⋯" | "⋮" | "⋱" | "?"):
            return ""
    return "" if _is_name(cell) else None


def _has_no_point(cell: Tree) -> bool:
    """Whether a cell stands at the end of its column: words, and ±∞, wider than a digit."""
    bare = cell.body if isinstance(cell, Picked) else cell
    return _is_name(bare) or INFINITY in (bare.items if isinstance(bare, Row) else (bare,))


def _is_name(cell: Tree) -> bool:
    """Whether a cell is empty or holds words."""
    return cell == EMPTY or isinstance(cell, Text)


def check_tree(value: object) -> None:
    """Refuse what is no notation tree."""
    if not isinstance(value, get_args(Tree)):
        raise no_tree(value)
