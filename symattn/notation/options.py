"""How a reader wants things spelled, and how the names of gradients and changes are formed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, Self, TypeVar

from symattn.arguments import flag, instance, table, whole, word, words
from symattn.errors import SymattnError, nearest, quote
from symattn.notation import tree as t
from symattn.notation.tree import Tree

#: What a name begins with that is not a matrix itself: d for the gradient of the loss with respect
#: to it (dQ, d_scores), delta for its change in one direction (delta_Q); its letter has d or δ.
GRADIENT, CHANGE = "d", "δ"

#: A name that d stands right before: a letter, with a subscript or without, or such a gradient.
_SHORT = re.compile(r"d*(?:[A-Za-z]?|delta)(?:_.*)?\Z")

_PLAIN_NAME = re.compile(r"[A-Za-z]{1,20}[0-9]{0,3}(_[A-Za-z0-9]{1,20})?\Z")
_NUMBERED = re.compile(r"[A-Za-zα-ωΑ-Ω][0-9]{1,3}")
_LATEX_TOKEN = re.compile(
    r"\\(?:mathbf|mathrm|mathcal|mathbb|mathsf|tilde|hat|bar|vec|boldsymbol|top|prime|ell|"
    + "|".join(t.GREEK)
    + r")(?![A-Za-z])|[A-Za-z0-9^_{}() ,'*+-]"
)

Rounding = Literal["half-up", "half-even"]

#: The most decimals that are shown, and the largest number of a head.
MAX_DIGITS, MOST_HEADS = 100, 10**6


@dataclass(frozen=True)
class Notation:
    """The reader's choices; every output follows them.

    - `index_base`: the number of the first row, column and head: 1 or 0.
    - `transpose`: the sign of the transpose: ``T``, ``⊤`` or ``'``.
    - `gradients`: the gradient of the loss with respect to V is written dV (``d``) or ∂L/∂V
      (``partial``).
    - `convention`: ``rows`` (tokens are rows, S = Q Kᵀ) or ``columns`` (S = Kᵀ Q).
    - `symbols`: other letters, by default letter: ``{"A": "alpha"}``; LaTeX such as
      ``\\mathbf{A}`` is taken too.
    - `digits`: decimals shown; `exact`: show exact values instead; `rounding` of ties.
    - `limit`: matrices and sums longer than this are shown with ⋯; 0 for no limit.
    - `layout`: the value of a product is a matrix (``matrix``) or stands in Falk's scheme
      (``falk``): the second factor above it, the first on its left.
    - `steps`: the names of the steps that are shown; those between them are put into their
      formulas. All of them if there are none.
    - `worked`: of each step the most telling entry is worked out (``telling``), or ``all``.
    - `head`: the one head that is shown, counted as the reader counts; None for all.
    - `heads`: the matrices of heads stand ``side by side``, as many as fit, or in a ``column``.

    >>> Notation(symbols={"A": "alpha"}).letter("A")
    Ident(name='α', roman=False)
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

    def __post_init__(self) -> None:
        _one_of("index_base", self.index_base, (0, 1))
        _one_of("transpose", self.transpose, ("T", "⊤", "'"))
        _one_of("convention", self.convention, ("rows", "columns"))
        _one_of("rounding", self.rounding, ("half-up", "half-even"))
        _one_of("gradients", self.gradients, ("d", "partial"))
        _one_of("layout", self.layout, ("matrix", "falk"))
        _one_of("worked", self.worked, ("telling", "all"))
        _one_of("heads", self.heads, ("side by side", "column"))
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

    def _keep(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def but(self, **changes: Any) -> Self:
        """The same choices with some of them changed."""
        for name in changes:
            if name not in _CHOICES:
                raise SymattnError(f"Notation has no choice {quote(name)}{nearest(name, _CHOICES)}")
        return replace(self, **changes)

    def letter(self, name: str) -> Tree:
        """How the matrix whose default letter is `name` is written."""
        word(name, "letter", "the default letter of a step")
        taken = None if name in self.symbols else derived_from(name)
        if taken is None:
            return custom_symbol(self.symbols.get(name, name))
        return self._prefixed(taken[0], self.letter(taken[1]))

    def _prefixed(self, prefix: str, symbol: Tree) -> Tree:
        """The symbol of a gradient or of a change: dV or ∂L/∂V, δV."""
        if prefix == CHANGE:
            return t.Marked(t.Ident(CHANGE), symbol)
        if self.gradients == "d":
            return t.Marked(t.Ident(GRADIENT, roman=True), symbol)
        return t.Frac(t.Marked(t.Ident("∂"), t.Ident("L")), t.Marked(t.Ident("∂"), symbol))

    def ones(self, one_row: bool, one_column: bool) -> Tree:
        """A column of ones as 1, a row of them as 1ᵀ, a matrix of them as 1 1ᵀ."""
        column: Tree = t.Num("1")
        row = self.transposed(column)
        return column if one_column else row if one_row else t.times([column, row])

    def transposed(self, base: Tree) -> Tree:
        """`base` with the transpose sign."""
        t.check_tree(base)
        sign: Tree = (
            t.Ident("T") if self.transpose == "T" else t.Op(self.transpose.replace("'", "′"))
        )
        return t.power(base, sign)

    def in_head(self, symbol: Tree, head: Tree) -> Tree:
        """The symbol of one head: W_Q⁽ⁱ⁾."""
        t.check_tree(symbol)
        t.check_tree(head)
        return t.power(symbol, head if isinstance(head, t.Fenced) else t.Fenced(head))

    def entry(self, name: str, head: Tree | None, indices: tuple[Tree, ...]) -> Tree:
        """One entry of a matrix, its lower-case letter with indices: s_ij, w^Q_ij, s^(i)_ab.

        Of a numbered matrix it is [S_1]_ij, since a raised 1 would be a power.
        """
        taken = None if name in self.symbols else derived_from(name)
        if taken is not None:
            return self._prefixed(taken[0], self.entry(taken[1], head, indices))
        symbol = self.letter(name)
        base: Tree = symbol
        sup: Tree | None = None
        match symbol:
            case t.Script(t.Ident() as name_, sub, None) if not isinstance(sub, t.Num):
                base, sup = name_, sub
        if isinstance(base, t.Ident) and len(base.name) == 1 and base.name.isascii():
            base = t.Ident(base.name.lower(), base.roman)
        elif not (isinstance(base, t.Ident) and len(base.name) == 1):
            base, sup = t.Fenced(symbol, "[", "]"), None
        if head is not None:
            mark = head if isinstance(head, t.Fenced) else t.Fenced(head)
            sup = mark if sup is None else t.row(sup, mark)
        return t.Script(base, index_row(indices), sup)


_CHOICES = tuple(choice.name for choice in fields(Notation))


Spelled = TypeVar("Spelled", bound=Notation)

#: The choices that a page makes for one derivation, in words.
DISPLAY = ("digits", "layout", "steps", "worked", "head", "heads")


def displayed(notation: Spelled, chosen: Mapping[str, str]) -> Spelled:
    """The notation with the choices of `DISPLAY` that are made in words: steps of weights,output.

    Words of a choice may be joined by hyphens: side-by-side. Raises `SymattnError`.
    """
    changes: dict[str, object] = {}
    for name, words_ in chosen.items():
        text = word(words_, name)
        changes[name] = text
        if name in ("digits", "head"):
            if not re.fullmatch(r"[0-9]{1,7}", text, re.ASCII):
                raise SymattnError(f"{name}={text}: give a whole number")
            changes[name] = int(text)
        elif name == "steps":
            changes[name] = tuple(filter(None, re.split(r"[,\s]+", text)))
        elif name == "heads":
            changes[name] = text.replace("-", " ")
    return notation.but(**changes)


def notation_of(notation: Notation | None, usual: Notation | None = None) -> Notation:
    """The notation that was asked for, or the usual one. Raises `SymattnError` for what is none."""
    if notation is None:
        return Notation() if usual is None else usual
    instance(notation, Notation, "notation", "a Notation, or None for the usual one")
    return notation


def prefixed(prefix: str, name: str) -> str:
    """The name of a gradient or of a change: dQ, dW_Q, but d_scores; delta_Q, delta_scores.

    >>> prefixed(GRADIENT, "W_Q"), prefixed(GRADIENT, "scores"), prefixed(CHANGE, "dQ")
    ('dW_Q', 'd_scores', 'delta_dQ')
    """
    if prefix == CHANGE:
        return f"delta_{name}"
    return f"d{name}" if _SHORT.match(name) else f"d_{name}"


def derived_from(letter: str) -> tuple[str, str] | None:
    """What the letter of a gradient or of a change is made of; None for others.

    What d or δ stands before is one letter, with a subscript or without, or derived itself.

    >>> derived_from("dS"), derived_from("δdW_Q"), derived_from("d_k"), derived_from("delta")
    (('d', 'S'), ('δ', 'dW_Q'), None, None)
    """
    prefix, rest = letter[:1], letter[1:]
    if prefix not in (GRADIENT, CHANGE):
        return None
    base = rest.partition("_")[0]
    whole = len(base) == 1 or base in t.GREEK or derived_from(rest) is not None
    return (prefix, rest) if whole else None


def index_row(indices: tuple[Tree, ...]) -> Tree:
    """Indices side by side, with commas where one is longer than a character: ij, 12, 1,10."""
    short = all(
        (isinstance(index, t.Ident) and len(index.name) == 1)
        or (isinstance(index, t.Num) and len(index.digits) == 1)
        for index in indices
    )
    return t.row(*indices) if short else t.commas(indices)


def name_tree(name: str) -> Tree:
    """A plain name as a symbol: S, d_k, d_model, W_Q, alpha, S_1 of S1."""
    base, _, sub = name.partition("_")
    if not sub and _NUMBERED.fullmatch(base):
        base, sub = base[:1], base[1:]
    if not sub:
        return _word(base)
    return t.Script(_word(base), _word(sub))


def _word(word: str) -> Tree:
    if word.isdigit():
        return t.Num(word)
    if word in t.GREEK:
        return t.Ident(t.GREEK[word])
    return t.Ident(word, roman=len(word) > 1)


def custom_symbol(letter: str) -> Tree:
    """A symbol as people write it: a plain name, or a little LaTeX from a fixed list of commands.

    Raises `SymattnError` for anything else, so that no other LaTeX can be smuggled in.

    >>> custom_symbol("W_Q")
    Script(base=Ident(name='W', roman=False), sub=Ident(name='Q', roman=False), sup=None)
    """
    if _PLAIN_NAME.match(letter):
        return name_tree(letter)
    if len(letter) == 1 and letter in t.GREEK.values():
        return t.Ident(letter)
    if letter[:1] == "\\" and letter[1:] in t.GREEK:
        return t.Ident(t.GREEK[letter[1:]])
    position = 0
    while position < len(letter):
        token = _LATEX_TOKEN.match(letter, position)
        if token is None:
            break
        position = token.end()
    if position != len(letter) or not letter.strip() or len(letter) > 60 or not _balanced(letter):
        raise SymattnError(
            f"symbol {quote(letter)}: use a name such as A, W_Q or alpha, or LaTeX made of "
            r"letters, scripts and \mathbf, \mathrm, \mathcal, \tilde, \hat, \bar or Greek letters"
        )
    if _LOOSE.search(letter) or ("'" in letter and "^" in letter) or not _converts(letter.strip()):
        raise SymattnError(
            f"symbol {quote(letter)}: this LaTeX cannot be set; put what a command applies to in "
            r"braces, as in \mathbf{A}, and give each letter one subscript and one superscript"
        )
    return t.Custom(letter.strip())


#: A command without the braces it needs; a script on nothing or of a script.
_LOOSE = re.compile(
    r"\\(?:math[a-z]+|tilde|hat|bar|vec|boldsymbol)(?![a-z])(?!\{[^}])|(?:^|[{(,])\s*[\^_']|[\^_]\s*[\^_']"
)


def _converts(latex: str) -> bool:
    from symattn.notation.mathml import mathml

    try:
        mathml(t.Custom(latex))
    except Exception:  # latex2mathml raises errors of many kinds
        return False
    return True


def _balanced(latex: str) -> bool:
    depth = 0
    for character in latex:
        depth += {"{": 1, "}": -1}.get(character, 0)
        if depth < 0:
            return False
    return depth == 0 and "^^" not in latex and "__" not in latex and latex.strip()[-1] not in "^_"


def _one_of(name: str, value: object, allowed: tuple[object, ...]) -> None:
    if not isinstance(value, str | int) or isinstance(value, bool) or value not in allowed:
        listed = ", ".join(str(choice) for choice in allowed)
        raise SymattnError(f"{name} = {quote(value)}: choose one of {listed}")
