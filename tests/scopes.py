"""A reader of notation trees that lists the indices bound inside their own scope.

The scope of Σ_l reaches to the end of its term, that of max_l over its argument.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import is_dataclass

from symattn.notation import tree as t
from symattn.notation.tree import Tree

#: What ends the term that a sum is taken over, where it stands between two.
_ENDS = (t.PLUS, t.MINUS, t.EQUALS, t.APPROX, t.COMMA, t.GAP)


def bound_again(tree: Tree, scope: frozenset[str] = frozenset()) -> Iterator[str]:
    """The letters of a formula that are bound where they are bound already.

    >>> index = t.Script(t.SUM, t.Ident("l"))
    >>> [*bound_again(t.row(index, t.Ident("a"), t.Fenced(t.row(index, t.Ident("b")))))]
    ['l']
    >>> [*bound_again(t.row(index, t.Ident("a"), t.PLUS, index, t.Ident("b")))]
    []
    """
    if not isinstance(tree, t.Row):
        for part in _parts(tree):
            yield from bound_again(part, scope)
        return
    inside = argument = scope
    for place, item in enumerate(tree.items):
        if item in _ENDS and place and not isinstance(tree.items[place - 1], t.Op):
            inside = scope
        letter = _bound(item)
        if letter is not None and letter in inside:
            yield letter
        if letter is not None and isinstance(item, t.Script) and item.base == t.SUM:
            inside = inside | {letter}
        yield from bound_again(item, argument if isinstance(item, t.Fenced) else inside)
        if letter is not None:
            argument = inside | {letter}
        elif item != t.APPLY:
            argument = inside


def _bound(item: Tree) -> str | None:
    """The letter that Σ_l, max_l or Σ_{j < l ≤ i} binds."""
    if not isinstance(item, t.Script) or item.sub is None:
        return None
    if item.base != t.SUM and item.base not in [t.Ident(x, True) for x in ("max", "argmax")]:
        return None
    parts = item.sub.items if isinstance(item.sub, t.Row) else (item.sub,)
    signs = [k for k, part in enumerate(parts) if part in (t.Op("<"), t.Op("≤"))]
    found = parts[signs[0] + 1] if len(signs) == 2 else parts[0]
    return found.name if isinstance(found, t.Ident) else None


def _parts(value: object) -> Iterator[Tree]:
    """The trees that a tree, or one of its fields, is directly made of."""
    for each in value if isinstance(value, tuple) else _fields(value):
        if isinstance(each, tuple):
            yield from _parts(each)
        elif is_dataclass(each):
            yield each  # type: ignore[misc]  # what is no word and no number in a tree is a tree


def _fields(tree: object) -> Iterator[object]:
    return (getattr(tree, name) for name in getattr(tree, "__dataclass_fields__", ()))
