"""The notation tree read aloud: plain words, for people who listen to a page.

A formula is read in order, with a word for every sign; a script that is a transpose is
"transposed", a superscript 2 "squared", a subscript just its letters. A fraction, a root or an
exponent that is more than a name or a number says where it ends.
"""

from __future__ import annotations

import unicodedata

from symattn.notation import tree as t
from symattn.notation.tree import Tree

_WORDS = {
    "=": "equals",
    "≈": "is about",
    "+": "plus",
    "−": "minus",
    "·": "times",
    "×": "by",
    "/": "over",
    "∑": "the sum",
    "∞": "infinity",
    "⋯": "and so on",
    "⋮": "and so on",
    "⋱": "and so on",
    ",": ",",
    ":": "such that",
    "\u2003": ",",
    "≤": "is at most",
    "<": "is less than",
    "≥": "is at least",
    ">": "is more than",
    "≠": "is not",
    "∈": "is in",
    "∪": "together with",
    "∘": "entrywise times",
    "⊤": "transposed",
    "′": "prime",
    "?": "unknown",
    "\u2062": "",
    "\u2061": "of",
}
_TURNS = (t.Ident("T"), t.Op("⊤"), t.Op("′"))

#: Letters that are not called what Unicode calls them.
_SAID = {"∂": "partial", "λ": "lambda", "Λ": "lambda"}
_FENCES = {"|": "the absolute value of", "⌊": "the floor of", "⌈": "the ceiling of"}


def spoken(tree: Tree) -> str:
    """The tree in words.

    >>> turned = t.Script(t.Ident("K"), None, t.Ident("T"))
    >>> spoken(t.Row((t.Ident("S"), t.EQUALS, t.Ident("Q"), turned)))
    'S equals Q K transposed'
    """
    return " ".join(_speech(tree).split()).replace(" ,", ",")


def _speech(tree: Tree) -> str:
    match tree:
        case t.Ident(name, _):
            return " ".join(map(_letter, name)) if len(name) == 1 else name
        case t.Num(digits):
            return digits
        case t.Op(symbol):
            return _WORDS.get(symbol, symbol)
        case t.Text(words):
            return words
        case t.Row(items):
            return " ".join(_in_row(items, k) for k in range(len(items)))
        case t.Frac(num, den):
            words = f"{_speech(num)} over {_speech(den)}"
            return words if _is_short(num, den) else f"the fraction {words} end fraction"
        case t.Root(body):
            return f"the square root of {_ended(body, 'root')}"
        case t.Script():
            return _script(tree)
        case t.Fenced(t.Grid() as grid, _, _):
            return _grid(grid)
        case t.Fenced(body, "(", ")") if len(_speech(body).split()) > 2:
            return f"open parenthesis {_speech(body)} close parenthesis"
        case t.Fenced(body, left, _):
            return f"{_FENCES.get(left, '')} {_speech(body)}"
        case t.Grid():
            return _grid(tree)
        case t.Marked(mark, body):
            return f"{_speech(mark)} {_speech(body)}"
        case t.Picked(body, boxed):
            return f"boxed {_speech(body)}" if boxed else _speech(body)
        case t.Scheme():
            return _speech(tree.equations)
        case t.Custom(latex):
            return latex.replace("\\", " ").replace("{", " ").replace("}", " ")


def _letter(character: str) -> str:
    if character.isascii() or character in _SAID:
        return _SAID.get(character, character)
    name = unicodedata.name(character, character).lower()
    return name.rpartition(" letter ")[2] or name


def _in_row(items: tuple[Tree, ...], place: int) -> str:
    """An item of a row; a factor that would be heard as one with the number before it is apart."""
    behind = items[place + 1 : place + 2]
    if items[place] == t.TIMES and any(isinstance(one, t.Num | t.Root | t.Frac) for one in behind):
        return "times"
    return _speech(items[place])


def _is_short(*trees: Tree) -> bool:
    """Whether nobody can hear what follows these as a part of them."""
    return all(
        isinstance(tree, t.Num | t.Ident | t.Custom | t.Marked)
        or (isinstance(tree, t.Row) and tree.items[0] == t.MINUS and _is_short(*tree.items[1:]))
        or (tree == t.INFINITY)
        or (isinstance(tree, t.Script) and tree.base != t.SUM and _is_plain(tree.sup))
        or (isinstance(tree, t.Root) and _is_short(tree.body))
        for tree in trees
    )


def _is_plain(sup: Tree | None) -> bool:
    """Whether a superscript is no power, or a square."""
    return sup is None or sup in (t.Num("2"), *_TURNS) or isinstance(sup, t.Fenced)


def _ended(tree: Tree, kind: str) -> str:
    """What stands in a root or an exponent, with words that say where it ends."""
    return _speech(tree) if _is_short(tree) else f"{_speech(tree)} end {kind}"


def _script(tree: t.Script) -> str:
    if tree.base == t.Ident("ℝ") and tree.sup is not None:  # matrices of this shape
        return f"the real matrices, {_speech(tree.sup)}"
    if tree.base == t.EXTENDED and tree.sup is not None:
        return f"the matrices of real numbers and minus infinity, {_speech(tree.sup)}"
    base = _speech(tree.base)
    if tree.base == t.SUM:
        low = "" if tree.sub is None else f"over {_speech(tree.sub)}"
        high = "" if tree.sup is None else f"to {_speech(tree.sup)}"
        return f"the sum {low} {high} of"
    label, sup = _labelled(tree)
    base = f"{base} {'' if label is None else _speech(label)}"
    if tree.sub is not None:
        base = f"{base} {_speech(tree.sub)}"
    match sup:
        case None:
            return base
        case t.Ident("T") | t.Op("⊤") | t.Op("′"):
            return f"{base} transposed"
        case t.Num("2"):
            return f"{base} squared"
        case t.Fenced() as head:
            return f"{base} of head {_speech(head.body)}"
        case t.Row((*before, t.Ident("T") | t.Op("⊤") | t.Op("′"))):
            return f"{_script(t.Script(tree.base, tree.sub, t.row(*before)))} transposed"
    return f"{base} to the power {_ended(sup, 'power')}"


def _labelled(tree: t.Script) -> tuple[Tree | None, Tree | None]:
    """The label of an entry, which stands above it, and what else is there: k^u_ij, w^Q(h)_ij."""
    match tree.sup:
        case t.Ident() if tree.sub is not None and tree.sup not in _TURNS:
            return tree.sup, None
        case t.Row((label, t.Fenced() as head)):
            return label, head
    return None, tree.sup


def _grid(grid: t.Grid) -> str:
    rows = [", ".join(map(_speech, line)) for line in grid.rows]
    return "; ".join(rows)
