"""`Input` and `Step`, the items of a derivation: what is given, and symbol = expression."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Self, TypeAlias, TypeVar

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arguments import flag, instance, whole, word, wrong
from symattn.errors import NoSuchName, ShapeError, SymattnError, nearest, quote
from symattn.nodes.arguments import as_scalar
from symattn.nodes.base import Definition, definitions, shape_of
from symattn.nodes.flip import flip
from symattn.nodes.heads import head_of, stack_of
from symattn.nodes.number import NumberSymbol
from symattn.nodes.recurrence import Recurrence
from symattn.nodes.rule import Index, Rule, rule_of
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.latex import latex
from symattn.notation.mime import bundle
from symattn.notation.options import Notation, among, is_of_a_document, notation_of
from symattn.notation.prose import plain
from symattn.notation.text import line
from symattn.notation.tree import Tree

#: The most that a size may be.
MOST_OF_A_SIZE = 10**6

#: The row and the column of an entry rule, and the head that a per-head step is stated for.
ROW, COLUMN, HEAD = (sympy.Symbol(name, integer=True) for name in ("i", "j", "head"))


#: A notation, of whichever vocabulary.
SomeNotation = TypeVar("SomeNotation", bound=Notation)

#: Facts of an item by their names, as they are handed on to another item.
Facts: TypeAlias = dict[str, Any]


@dataclass(frozen=True, repr=False)
class Item:
    """A matrix of a derivation: its name, its symbol, and the facts that its numbers obey.

    - `count`: how many there are of a matrix of each head (h heads, g groups of them); None for
      one that all heads share.
    - `logits`: its entries may be −∞, a score that is hidden.
    - `boolean`: its entries are 0 and 1, false and true.
    - `fixed`: it only says which; its gradient is found where it is asked for by name.
    - `batch`: its axes before heads and rows are all that the calculation has.
    - `title`: what it is called in a heading, "attention weights"; its name if empty.
    - `each`: the letter of the index that there is one matrix for, where that is no head: t.
    - `weights`: row i says how much query i takes of each key; pictures and pages shade it.
    """

    name: str
    symbol: MatrixExpr
    title: str = field(default="", kw_only=True)
    count: sympy.Expr | None = field(default=None, kw_only=True)
    logits: bool = field(default=False, kw_only=True)
    boolean: bool = field(default=False, kw_only=True)
    fixed: bool = field(default=False, kw_only=True)
    batch: bool = field(default=False, kw_only=True)
    weights: bool = field(default=False, kw_only=True)
    each: str = field(default="", kw_only=True)

    def __repr__(self) -> str:
        return f"<{self.name}: {self}>"

    def __str__(self) -> str:
        return " × ".join(map(str, self.shape))

    def __post_init__(self) -> None:
        word(self.name, "name")
        word(self.title, f"{self.name}: title")
        for fact in self.facts:
            if fact not in ("title", "count", "each"):
                flag(getattr(self, fact), f"{self.name}: {fact}")
        instance(self.symbol, MatrixExpr, f"{self.name}: symbol", "a MatrixSymbol")
        if not hasattr(self.symbol, "name"):
            raise wrong(self.symbol, f"{self.name}: symbol", "a MatrixSymbol")
        if self.per_head or self.count is not None:
            instance(self.count, sympy.Expr, f"{self.name}: count", "the number of its heads")
        if self.count is not None and not self.per_head:
            raise SymattnError(f"{self.name}: count: all heads share this matrix; leave it out")

    @cached_property
    def letter(self) -> str:
        """The name of the matrix symbol."""
        return letter_of(self.symbol)

    @property
    def heading(self) -> str:
        """Its title as a heading: Attention weights."""
        return self.title[:1].upper() + self.title[1:] or self.name

    @property
    def per_head(self) -> bool:
        """Whether there is one such matrix for each head."""
        return head_of(self.symbol) is not None

    @property
    def is_number(self) -> bool:
        """Whether it is one number, written without brackets and indices."""
        return isinstance(self.symbol, NumberSymbol)

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """Rows and columns (of one head)."""
        return shape_of(self.symbol)

    def heads(self, sizes: Mapping[sympy.Symbol, int]) -> int:
        """How many matrices there are at these sizes: 1 of one that is shared, 0 if not known."""
        if self.count is None:
            return 1
        count = self.count.subs(sizes)
        return int(count) if count.is_Integer else 0

    @property
    def facts(self) -> Facts:
        """All but its name, symbol and what a subclass adds."""
        return {fact.name: getattr(self, fact.name) for fact in fields(Item) if fact.kw_only}

    def subs(self, sizes: Mapping[sympy.Symbol, object]) -> Self:
        """The item with sizes put in, and so the steps that a merged formula is made of."""
        instance(sizes, Mapping, "sizes", "a table of sizes")
        sizes = {as_scalar(size, "sizes"): size_put_in(n, str(size)) for size, n in sizes.items()}
        own = {part.name: getattr(self, part.name) for part in fields(self)}
        return replace(self, **{name: _sized(value, sizes) for name, value in own.items()})


@dataclass(frozen=True, repr=False)
class Input(Item):
    """A matrix that is given, and what it stands for."""

    meaning: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        word(self.meaning, f"{self.name}: meaning")

    @classmethod
    def of(cls, item: Item) -> Input:
        """An item with its facts, where it is given."""
        if isinstance(item, Input):
            return item
        return cls(item.name, item.symbol, **item.facts)


@dataclass(frozen=True, repr=False)
class Step(Item):
    """A named step: ``symbol = expr``, by which rule and why; its shape is checked.

    `because` is the reason with its mathematics in braces (see `symattn.notation.prose`).

    Raises `ShapeError` when the two sides, or the parts of a product, do not fit.
    """

    expr: MatrixExpr
    rule: str = ""
    because: str = ""
    source: str = ""
    #: The steps that a merged formula is made of, the one that it stands for last.
    parts: tuple[Step, ...] = field(default=(), kw_only=True)

    @property
    def recurrent(self) -> bool:
        """Whether each of its matrices is made of the one before: states, token by token."""
        return isinstance(self.expr, Recurrence)

    @property
    def reason(self) -> str:
        """Why the step is taken, in one plain sentence."""
        return plain(self.because)

    def __post_init__(self) -> None:
        super().__post_init__()
        for field_name in ("rule", "because", "source"):
            word(getattr(self, field_name), f"{self.name}: {field_name}")
        instance(self.expr, MatrixExpr, f"{self.name}: expr", "a matrix expression of SymPy")
        check_shapes(self.expr, self.name)
        left, right = shape_of(self.symbol), shape_of(self.expr)
        if not _fits(left, right):
            raise ShapeError(
                f"{self.name}: declared {dims(left)}, but {line(Speller().matrix(self.expr))} is "
                f"{dims(right)}; give {letter_of(self.symbol)} that shape"
            )

    @cached_property
    def operands(self) -> tuple[str, ...]:
        """The letters of the matrices the expression reads."""
        return letters_in(self.expr)

    def _speller(self, notation: Notation | None) -> Speller:
        """Spells its formulas, the index of a family by its own letter."""
        return Speller(of_each(self, self._among(notation_of(notation))))

    def in_convention(self, notation: Notation) -> tuple[MatrixExpr, MatrixExpr]:
        """Symbol and expression with tokens as rows, or as columns."""
        notation = notation_of(notation)
        if notation.convention == "columns":
            return flip(self.symbol), flip(self.expr)
        return self.symbol, self.expr

    def formula(self, notation: Notation | None = None) -> Tree:
        """The formula view, as a notation tree: S = Q Kᵀ."""
        speller = self._speller(notation)
        symbol, expr = self.in_convention(speller.notation)
        return t.equation(speller.matrix(symbol), (t.EQUALS, speller.matrix(expr)))

    def entry(self, notation: Notation | None = None) -> Tree:
        """The entry view: s_ij = Σ_l q_il k_jl."""
        speller = self._speller(notation)
        symbol, expr = self.in_convention(speller.notation)
        i, j, rule = stated(expr, ROW, COLUMN)
        return t.equation(speller.rule(rule_of(symbol, i, j)), (t.EQUALS, speller.rule(rule)))

    def definitions(self, notation: Notation | None = None) -> tuple[Definition, ...]:
        """What the letters in the entry view stand for, as far as no other step makes them."""
        if self.parts:
            found = (one for part in self.parts for one in part.definitions(notation))
            return tuple({one.statement: one for one in found}.values())
        speller = self._speller(notation)
        _, expr = self.in_convention(speller.notation)
        return tuple(definitions(expr, speller, ROW, COLUMN))

    def _among(self, notation: Notation) -> Notation:
        """The notation of a document, or with indices that have no letter of this step's."""
        if is_of_a_document(notation):
            return notation
        sizes = self.expr.free_symbols | {one for size in self.shape for one in size.free_symbols}
        names = [size.name for size in sizes if isinstance(size, sympy.Symbol)]
        matrices = () if self.is_number else (self.letter,)
        return among(notation, (*matrices, *self.operands), names)

    def __str__(self) -> str:
        return line(self.formula())

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return bundle(str(self), latex(self.formula()))


def of_each(item: Item, notation: SomeNotation) -> SomeNotation:
    """The notation in which the index of a family has its own letter, unless a reader chose one."""
    if not item.each or "head" in notation.symbols:
        return notation
    return notation.but(symbols={**notation.symbols, "head": item.each})


def _sized(value: Any, sizes: Mapping[Any, Any]) -> Any:
    """A symbol, an expression or parts with sizes put in, and everything else as it is."""
    if isinstance(value, tuple):
        return tuple(part.subs(sizes) for part in value)
    return value.subs(sizes) if isinstance(value, sympy.Basic) else value


def called(
    items: Sequence[Item], names: Sequence[str], notation: Notation | None = None
) -> tuple[str, ...]:
    """The names of the items that are called so, by their names or by their letters.

    A letter is written as a document writes it in this notation, or as the reader gave it; or it
    is the default one. Raises `NoSuchName` for what none is called, or more than one.
    """
    notation = notation_of(notation)
    found = []
    for one in names:
        named = [item.name for item in items if item.name == one]
        lettered = [item.name for item in items if one in _spellings(item, notation)]
        usual = [item.name for item in items if item.letter == one]
        which = [*dict.fromkeys((*named, *lettered))] or usual
        if len(which) > 1:
            both = (item for item in items if item.name in which)
            listed = " or ".join(
                f"{item.name} (letter {line(_lettered(item, notation))})" for item in both
            )
            raise NoSuchName(f"steps: {quote(one)} may be {listed}; use another of these")
        if not which:
            known = {item.name: item.letter for item in items}
            raise NoSuchName(f"no step is called {quote(one)}{nearest(one, known)}")
        found += which
    return tuple(dict.fromkeys(found))


def suited(notation: SomeNotation, items: Sequence[Item]) -> SomeNotation:
    """The notation in which entries have no letter that is another matrix's: A_ij beside an a."""
    letters = {_lettered(item, notation): item.letter for item in items}
    capitals = {}
    for item in items:
        entry = notation.entry(item.letter, None, (t.Ident("i"), t.Ident("j")))
        base = entry.base if isinstance(entry, t.Script) and entry.sup is None else None
        other = item.letter if base is None else letters.get(base, item.letter)
        chosen = {item.letter, other} & {*notation.symbols}  # what a reader chose is refused
        if other != item.letter and not chosen:
            capitals[f"{item.letter}[i,j]"] = item.letter
    known = {**capitals, **notation.symbols}
    return notation if known == notation.symbols else notation.but(symbols=known)


def _lettered(item: Item, notation: Notation) -> Tree:
    return notation.letter(item.letter, item.per_head)


def _spellings(item: Item, notation: Notation) -> set[str]:
    """How a reader writes the letter of an item."""
    own = (notation.symbols.get(f"{item.letter}{part}") for part in ("", "[head]"))
    return {line(_lettered(item, notation)), *filter(None, own)}


def stated(expr: MatrixExpr, i: Index, j: Index) -> tuple[Index, Index, Rule]:
    """Row, column and entry rule as a reader states them."""
    own = getattr(expr, "statement", None)
    return own(i, j) if own is not None else (i, j, rule_of(expr, i, j))


def size_put_in(value: object, name: str) -> sympy.Expr:
    """A size: a whole number from 1, or a formula of other sizes."""
    if isinstance(value, sympy.Expr) and value.free_symbols and not value.is_Matrix:
        return value
    return sympy.Integer(whole(value, name, 1, MOST_OF_A_SIZE))


def listed_sizes(sizes: Mapping[sympy.Symbol, int], order: Sequence[str]) -> dict[str, int]:
    """Sizes by name, in this order; those that it lacks come last."""
    by_name = {symbol.name: count for symbol, count in sizes.items()}
    return {name: by_name[name] for name in dict.fromkeys((*order, *by_name)) if name in by_name}


def letter_of(expr: MatrixExpr) -> str:
    """The letter of a MatrixSymbol or of one head's matrix; "" of any other expression."""
    return str(expr.name) if isinstance(stack_of(expr), sympy.MatrixSymbol) else ""


def leading_to(steps: Sequence[Step], letters: Iterable[str]) -> set[str]:
    """These letters and all that they are made of, by way of the steps."""
    found = set(letters)
    for step in reversed(steps):
        if step.letter in found:
            found |= set(step.operands)
    return found


def letters_in(expr: MatrixExpr) -> tuple[str, ...]:
    """The letters of all matrix symbols in the expression, in order of appearance."""
    found: dict[str, None] = {}
    for part in sympy.preorder_traversal(expr):
        if isinstance(part, sympy.MatrixSymbol):
            found[str(part.name)] = None
    return tuple(found)


def dims(shape: tuple[sympy.Expr, sympy.Expr]) -> str:
    """A shape as people write it: n × d_k."""
    return f"{shape[0]} × {shape[1]}"


def check_shapes(expr: MatrixExpr, name: str) -> None:
    """Refuse products and sums whose parts do not fit, and inverses of what is not square."""
    for part in sympy.preorder_traversal(expr):
        if isinstance(part, sympy.MatMul):
            _, factors = part.as_coeff_matrices()
            for left, right in pairwise(factors):
                if not _same(left.shape[1], right.shape[0]):
                    raise ShapeError(
                        f"{name}: {_part(left)} times {_part(right)} needs as many columns on "
                        f"the left ({left.shape[1]}) as rows on the right ({right.shape[0]})"
                    )
        elif isinstance(part, sympy.Inverse) and not _same(*part.arg.shape):
            raise ShapeError(f"{name}: {_part(part.arg)} has no inverse: it is not square")
        elif isinstance(part, sympy.MatAdd | sympy.HadamardProduct):
            for other in part.args[1:]:
                if not _fits(shape_of(part.args[0]), shape_of(other)):
                    raise ShapeError(
                        f"{name}: {_part(part.args[0])} and {_part(other)} need the same shape"
                    )


def _part(expr: MatrixExpr) -> str:
    return f"{line(Speller().matrix(expr))} ({dims(expr.shape)})"


def _same(one: sympy.Expr, other: sympy.Expr) -> bool:
    return bool(one == other) or bool(sympy.expand(one - other) == 0)


def _fits(one: tuple[sympy.Expr, sympy.Expr], other: tuple[sympy.Expr, sympy.Expr]) -> bool:
    return _same(one[0], other[0]) and _same(one[1], other[1])
