"""The notation tree read aloud: plain words, for people who listen to a page.

A formula is read in order, with a word for every sign; a script that is a transpose is
"transposed", a superscript 2 "squared", a subscript just its letters.
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
            return " ".join(map(_speech, items))
        case t.Frac(num, den):
            return f"{_grouped(num)} over {_grouped(den)}"
        case t.Root(body):
            return f"the square root of {_speech(body)}"
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
    if character.isascii():
        return character
    name = unicodedata.name(character, character).lower()
    return name.rpartition(" letter ")[2] or name


def _grouped(tree: Tree) -> str:
    """A long numerator or denominator, with a word that says where it begins."""
    speech = _speech(tree)
    return f"the quantity {speech}" if " plus " in speech or " minus " in speech else speech


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
            return f"{base} of head {_speech(head)}"
        case t.Row((*before, t.Ident("T") | t.Op("⊤") | t.Op("′"))):
            return f"{_script(t.Script(tree.base, tree.sub, t.row(*before)))} transposed"
    return f"{base} to the power {_speech(sup)}"


def _labelled(tree: t.Script) -> tuple[Tree | None, Tree | None]:
    """The label of an entry, which stands above it, and what else is there: k^u_ij, w^Q(h)_ij."""
    turns = (t.Ident("T"), t.Op("⊤"), t.Op("′"))
    match tree.sup:
        case t.Ident() if tree.sub is not None and tree.sup not in turns:
            return tree.sup, None
        case t.Row((label, t.Fenced() as head)):
            return label, head
    return None, tree.sup


def _grid(grid: t.Grid) -> str:
    rows = [", ".join(map(_speech, line)) for line in grid.rows]
    return "; ".join(rows)
