"""How a reader wants things spelled."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, Self, TypeVar

from symattn.arguments import flag, instance, table, whole, word, words
from symattn.errors import SymattnError, nearest, quote
from symattn.greek import GREEK
from symattn.notation import tree as t
from symattn.notation.letters import (
    ALPHABET,
    CHANGE,
    COUNTS,
    GRADIENT,
    LOSSES,
    allocated,
    custom_symbol,
    derived_from,
    entry_letter,
    name_tree,
    parts,
    size_tree,
)
from symattn.notation.tree import Tree
from symattn.shown import Changed

Rounding = Literal["half-up", "half-even"]

Side = TypeVar("Side")

_INDICES = ("i", "j", "l", "head")

#: The most decimals that are shown, and the largest number of a head.
MAX_DIGITS = 100
MOST_HEADS = 10**6


@dataclass(frozen=True, repr=False)
class Notation(Changed):
    """The reader's choices; every output follows them.

    - `index_base`: the number of the first row, column and head: 1 or 0.
    - `transpose`: the sign of the transpose: ``T``, ``⊤`` or ``'``.
    - `gradients`: the gradient of the loss with respect to V is written dV (``d``) or ∂L/∂V
      (``partial``).
    - `convention`: ``rows`` (tokens are rows, S = Q Kᵀ) or ``columns`` (S = Kᵀ Q).
    - `symbols`: other letters, by the name of a matrix, a size or an index in expressions:
      ``{"A": "alpha", "d_k": "d_h", "i": "q"}``; ``A[i,j]`` is that of the entries of A. LaTeX such
      as ``\\mathbf{A}`` is taken too. What they take of `symattn.notation.letters.OTHERS` has the
      next free letter.
    - `head_index`: that of a head stands above in brackets, Q⁽ʰ⁾ (``above``), or below, Q_h.
    - `digits`: decimals shown; `exact`: show exact values instead; `rounding` of ties.
    - `limit`: matrices and sums longer than this are shown with ⋯, and so are stages of a worked
      line with more than eight times as many numbers; 0 for no limit.
    - `layout`: the value of a product is a matrix (``matrix``) or stands in Falk's scheme
      (``falk``): the second factor above it, the first on its left.
    - `steps`: the names of the steps that are shown; those between them are put into their
      formulas. All of them if there are none.
    - `worked`: of each step the most telling entry is worked out (``telling``), or ``all``.
    - `head`: the one head that is shown, counted as the reader counts; None for all.
    - `heads`: the matrices of heads stand ``side by side``, as many as fit, or in a ``column``.
    - `page`: the interactive page opens as a ``sheet``, its steps one below the other, or on its
      ``stage``, one step at a time; on its stage where there is a story, if neither is said.

    >>> Notation(symbols={"A": "alpha"}).letter("A")
    <α>
    """

    index_base: int = 1
    transpose: str = "T"
    convention: Literal["rows", "columns"] = "rows"
    symbols: Mapping[str, str] = field(default_factory=dict, hash=False)
    digits: int = 4
    exact: bool = False
    rounding: Rounding = "half-up"
    limit: int = 8
    gradients: Literal["d", "partial"] = "d"
    layout: Literal["matrix", "falk"] = "matrix"
    steps: tuple[str, ...] = ()
    worked: Literal["telling", "all"] = "telling"
    head: int | None = None
    heads: Literal["side by side", "column"] = "side by side"
    head_index: Literal["above", "below"] = "above"
    page: Literal["", "sheet", "stage"] = ""
    #: The letters of matrices, entries and sizes in what is printed, where that is known.
    _in_use: ClassVar[frozenset[str] | None] = None

    def __post_init__(self) -> None:
        for name, allowed in _ONE_OF.items():
            _one_of(name, getattr(self, name), allowed)
        self._keep("steps", words(self.steps, "steps"))
        if self.head is not None:
            self._keep("head", whole(self.head, "head", self.index_base, MOST_HEADS))
        self._keep("digits", whole(self.digits, "digits", 0, MAX_DIGITS))
        self._keep("limit", whole(self.limit, "limit"))
        flag(self.exact, "exact")
        self._keep("symbols", table(self.symbols, "symbols"))
        for name, symbol in self.symbols.items():
            if not isinstance(symbol, str):
                raise SymattnError(
                    f"symbols: {name} = {quote(symbol)}: give the symbol as a string"
                )
            custom_symbol(symbol)
        self._keep("symbols", self._by_letter(self.symbols))
        allocated(self.symbols)

    def _by_letter(self, symbols: Mapping[str, str]) -> Mapping[str, str]:
        """The symbols by the default letters of what they are for."""
        return dict(symbols)

    def _keep(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def but(self, **changes: Any) -> Self:
        """The same choices with some of them changed."""
        for name in changes:
            if name not in _CHOICES:
                raise SymattnError(f"Notation has no choice {quote(name)}{nearest(name, _CHOICES)}")
        return _kept(replace(self, **changes), self._in_use)

    @cached_property
    def _others(self) -> Mapping[str, str]:
        return allocated(self.symbols, self._in_use)

    @property
    def flipped(self) -> bool:
        """Whether tokens are columns."""
        return self.convention == "columns"

    def sides(self, shape: Iterable[Side]) -> list[Side]:
        """Rows and columns as they are shown: in their order, or, where tokens are columns, not."""
        return [*shape][::-1] if self.flipped else [*shape]

    def letter(self, name: str, per_head: bool = False) -> Tree:
        """How the matrix whose default letter is `name` is written, that of all heads or of one."""
        word(name, "letter", "the default letter of a step")
        if name in LOSSES.values() and (name == "L" or name not in self.symbols):
            loss, _, part = name.partition("_")
            letter = self._other(loss)
            return t.Script(letter, t.Ident(part, roman=True)) if part else letter
        taken = None if name in self.symbols else derived_from(name)
        if taken is None:
            symbol = self.symbols.get(name, name)
            return custom_symbol(self.symbols.get(f"{name}[head]", symbol) if per_head else symbol)
        return self._prefixed(taken[0], self.letter(taken[1], per_head))

    def scalar(self, name: str) -> Tree:
        """How a size, an index or another number of this name is written: d_k, i, θ, κ_ij."""
        base, *indices = name.split("@")
        if indices:
            return t.Script(self.scalar(base), index_row(tuple(map(self.scalar, indices))))
        if name in self._others:
            return self._other(name)
        chosen = self.symbols.get(name)
        return size_tree(name) if chosen is None else self._upright(custom_symbol(chosen))

    def _upright(self, symbol: Tree) -> Tree:
        """A label that has the letter of an index stands upright: d_h beside head h."""
        match symbol:
            case t.Script(base, t.Ident() as label, None) if label in map(self._other, _INDICES):
                return t.Script(base, t.Ident(label.name, roman=True))
        return symbol

    def named(self, name: str) -> Tree:
        """What a sentence names: a matrix, a size, or a letter with its index, theta_t."""
        base, _, index = name.partition("_")
        if base in self._others and index in self._others:
            return t.Script(self._other(base), self._other(index))
        if name in self._others:
            return self._other(name)
        return self.scalar(name) if name in COUNTS else self.letter(name)

    def _other(self, name: str) -> Tree:
        letter = self._others[name]
        return custom_symbol(letter) if letter.isascii() else t.Op(letter)

    def _prefixed(self, prefix: str, symbol: Tree) -> Tree:
        """The symbol of a gradient or of a change: dV or ∂L/∂V, δV."""
        if prefix == CHANGE:
            return t.Marked(t.Ident(GREEK.get(self._others[CHANGE], CHANGE)), symbol)
        if self.gradients == "d" and self._others[GRADIENT] == GRADIENT:
            return t.Marked(t.Ident(GRADIENT, roman=True), symbol)
        return t.Frac(t.Marked(t.Ident("∂"), self._other("L")), t.Marked(t.Ident("∂"), symbol))

    def ones(self, one_row: bool, one_column: bool) -> Tree:
        """A column of ones as 1, a row of them as 1ᵀ, a matrix of them as 1 1ᵀ."""
        column: Tree = t.Num("1")
        row = self.transposed(column)
        return column if one_column else row if one_row else t.times([column, row])

    def transposed(self, base: Tree) -> Tree:
        """`base` with the transpose sign, which is ⊤ where T is a letter of the reader's."""
        t.check_tree(base)
        sign = self._others["T"] if self.transpose == "T" else self.transpose.replace("'", "′")
        return t.power(base, t.Ident("T") if sign == "T" else t.Op(sign))

    def in_head(self, symbol: Tree, head: Tree) -> Tree:
        """The symbol of one head: W_Q⁽ʰ⁾; with `head_index` below, the label is above: W_h^Q."""
        t.check_tree(symbol)
        t.check_tree(head)
        if isinstance(symbol, t.Marked):
            return t.Marked(symbol.mark, self.in_head(symbol.body, head))
        if isinstance(symbol, t.Frac):
            return t.Frac(symbol.num, self.in_head(symbol.den, head))
        found = parts(symbol) if self.head_index == "below" else None
        if found is not None:
            return t.Script(found[0], head, found[1])
        return t.power(symbol, t.Fenced(head))

    def entry(self, name: str, head: Tree | None, indices: tuple[Tree, ...]) -> Tree:
        """One entry of a matrix, its small letter with indices: s_ij, w^Q_ij, s^(h)_ij.

        The capital stays where the small letter means something else: M_ij. Of a numbered matrix
        it is [S_1]_ij, since a raised 1 would be a power.
        """
        taken = None if name in self.symbols else derived_from(name)
        if taken is not None:
            return self._prefixed(taken[0], self.entry(taken[1], head, indices))
        symbol, own = self.letter(name, head is not None), self.symbols.get(f"{name}[i,j]")
        base, label = parts(symbol if own is None else custom_symbol(own)) or (None, None)
        if base is not None and own is None:
            base = self._small(base, label is not None)
        if head is not None and self.head_index == "below":
            symbol, head, base = self.in_head(symbol, head), None, None
        if base is None:
            base, label = t.Fenced(symbol, "[", "]"), None
        if head is not None:
            label = t.Fenced(head) if label is None else t.row(label, t.Fenced(head))
        return t.Script(base, index_row(indices), label)

    def _small(self, letter: Tree, labelled: bool) -> Tree | None:
        """The letter of the entries of a matrix."""
        return entry_letter(letter, labelled)


@dataclass(frozen=True, repr=False)
class Typed(Notation):
    """The letters as they are typed in a statement, whatever they mean in attention."""

    def scalar(self, name: str) -> Tree:
        """The name itself."""
        return name_tree(_TYPED.get(name, name).replace("@", "_", 1).replace("@", ""))

    def _small(self, letter: Tree, labelled: bool) -> Tree | None:
        return entry_letter(letter, labelled, frozenset())


#: The index of a head and of one of its group, in proofs.
_TYPED = {"head": "i", "member": "s"}


_CHOICES = tuple(choice.name for choice in fields(Notation))

#: The choices that are one of a few.
_ONE_OF: Mapping[str, tuple[object, ...]] = {
    "index_base": (0, 1),
    "transpose": ("T", "⊤", "'"),
    "convention": ("rows", "columns"),
    "rounding": ("half-up", "half-even"),
    "gradients": ("d", "partial"),
    "layout": ("matrix", "falk"),
    "worked": ("telling", "all"),
    "heads": ("side by side", "column"),
    "head_index": ("above", "below"),
    "page": ("", "sheet", "stage"),
}


Spelled = TypeVar("Spelled", bound=Notation)

#: The choices that a page makes for one derivation, in words.
DISPLAY = ("digits", "layout", "steps", "worked", "head", "heads")

#: The choices that the option ``--notation`` makes in words; others have options of their own.
SPELLED = (
    *("layout", "worked", "heads", "page", "head_index"),
    *("index_base", "transpose", "convention", "gradients", "rounding"),
)


def displayed(notation: Spelled, chosen: Mapping[str, str]) -> Spelled:
    """The notation with choices that are made in words: steps of weights,output.

    Words of a choice may be joined by hyphens: side-by-side. Raises `SymattnError`.
    """
    changes: dict[str, object] = {}
    for name, words_ in chosen.items():
        text = word(words_, name)
        changes[name] = text
        if name in ("digits", "head", "index_base"):
            if not re.fullmatch(r"[0-9]{1,7}", text, re.ASCII):
                raise SymattnError(f"{name}={text}: give a whole number")
            changes[name] = int(text)
        elif name == "steps":
            changes[name] = tuple(filter(None, re.split(r"[,\s]+", text)))
        elif name == "heads":
            changes[name] = text.replace("-", " ")
    return notation.but(**changes)


def _kept(notation: Spelled, letters: frozenset[str] | None) -> Spelled:
    """The same choices in a document of these letters."""
    object.__setattr__(notation, "_in_use", letters)
    return notation


def is_of_a_document(notation: Notation) -> bool:
    """Whether it is known beside which letters the indices stand."""
    return notation._in_use is not None


def among(notation: Spelled, matrices: Iterable[str], sizes: Iterable[str]) -> Spelled:
    """The same choices, for what is printed of matrices of these letters and of these sizes.

    No index has a letter of theirs, of their entries or of their labels.
    """
    one = t.Num("1")
    letters = [*matrices]
    trees = [notation.entry(letter, None, (one, one)) for letter in letters]
    trees += [*map(notation.letter, letters), *map(notation.scalar, sizes)]
    signs = (part for tree in trees for part in t.parts(tree))
    names = (sign.name for sign in signs if isinstance(sign, t.Ident))
    return _kept(replace(notation), frozenset(name for name in names if len(name) == 1))


def sums_of(notation: Notation) -> tuple[str, ...]:
    """The names of indices to sum over, in the order in which sums inside one another have them.

    Behind l and r those of the alphabet that are no other letter's in what is printed, and that no
    letter of the reader's is written for.
    """
    taken = {"l", "r"}
    if isinstance(notation, Typed):
        taken |= {"i", "j", *_TYPED.values()}
    elif notation._in_use is None:
        return ("l", "r")
    else:
        taken |= {*notation._in_use, *notation._others.values(), *notation._others}
        taken |= {*notation.symbols.values(), *notation.symbols}
    return ("l", "r", *(letter for letter in ALPHABET if letter not in taken))


def notation_of(notation: Notation | None, usual: Notation | None = None) -> Notation:
    """The notation that was asked for, or the usual one. Raises `SymattnError` for what is none."""
    if notation is None:
        return Notation() if usual is None else usual
    instance(notation, Notation, "notation", "a Notation, or None for the usual one")
    return notation


def index_row(indices: tuple[Tree, ...]) -> Tree:
    """Indices side by side, with commas where one is longer than a character: ij, 12, 1,10."""
    short = all(
        (isinstance(index, t.Ident) and len(index.name) == 1)
        or (isinstance(index, t.Num) and len(index.digits) == 1)
        for index in indices
    )
    return t.row(*indices) if short else t.commas(indices)


def _one_of(name: str, value: object, allowed: tuple[object, ...]) -> None:
    if not isinstance(value, str | int) or isinstance(value, bool) or value not in allowed:
        listed = ", ".join(str(choice) for choice in allowed)
        raise SymattnError(f"{name} = {quote(value)}: choose one of {listed}")
