"""Sentences with a little mathematics in them: ``Dividing by {√d_k} keeps …``.

What stands in braces is a symbol (``d_k``, ``W_O``), minus a symbol (``−n_clip``), a root of one or
of a sum (``√d_k``, ``√(d_k + d_r)``) or ``−∞``; each output spells it in its own way.
"""

from __future__ import annotations

import re
from typing import TypeAlias

from symattn.notation.numbers import number
from symattn.notation.options import Notation, notation_of
from symattn.notation.tree import MINUS, Root, Tree, plus, row

#: A sentence: words and the trees between them.
Prose: TypeAlias = "tuple[str | Tree, ...]"


def read_prose(sentence: str, notation: Notation | None = None) -> Prose:
    """The sentence as words and trees, its letters as in a notation.

    >>> read_prose("a {−∞} b")[0]
    'a '
    """
    notation = notation_of(notation)
    parts = enumerate(re.split(r"\{([^}]*)\}", sentence))
    return tuple(
        _symbol(part, notation) if place % 2 else part for place, part in parts if place % 2 or part
    )


def plain(sentence: str) -> str:
    """The sentence as it is read in plain text."""
    return re.sub(r"[{}]", "", sentence)


def _symbol(source: str, notation: Notation) -> Tree:
    if source == "−∞":
        return number("-inf")
    if source.startswith("√"):
        terms = source[1:].removeprefix("(").removesuffix(")").split(" + ")
        return Root(plus([notation.named(term) for term in terms]))
    if source.startswith("−"):
        return row(MINUS, notation.named(source[1:]))
    return notation.named(source)
