"""The scopes of the indices that a rule binds: which letter each has, and how deep they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import sympy

from symattn.nodes.rule import (
    Const,
    Entry,
    Named,
    OfRow,
    Ordinal,
    Rule,
    Total,
    children,
    is_unlettered,
    letter_beside,
    letters_in,
    rebuilt,
)

#: The fields of each kind of rule that may hold indices.
_INDICES: Mapping[type, tuple[str, ...]] = {
    Entry: ("matrix", "row", "column"),
    Const: ("value",),
    Ordinal: ("index",),
    Named: ("indices",),
    Total: ("size", "start"),
    OfRow: ("size",),
}


def told_apart(rule: Rule, letters: Sequence[str]) -> Rule:
    """The rule with a letter of its own for each index that is bound inside the scope of another.

    Σ_l a_il Σ_l b_l is Σ_l a_il Σ_r b_r: rules that are put into others keep the letters that they
    had alone. `letters` are those to sum over.
    """
    lettered = _lettered(rule, {}, frozenset(_free(rule)), letters)
    return rule if lettered == rule else lettered  # others know the parts of a rule by identity


def placed(rule: Rule, index: sympy.Symbol, place: sympy.Expr) -> Rule:
    """The rule with a place put in for an index: z_i1 of z_il."""
    return _lettered(rule, {index: place}, frozenset(), ())


def _lettered(
    rule: Rule,
    new: Mapping[sympy.Symbol, sympy.Expr],
    taken: frozenset[str],
    letters: Sequence[str],
) -> Rule:
    """The rule with these put in for letters; an index that is taken has another letter."""
    inner, known = dict(new), taken
    changes: dict[str, Any] = {}
    bound = _bound(rule)
    if bound is not None:
        inner.pop(bound, None)
        if bound.name in taken or (letters and is_unlettered(bound)):
            letter = letter_beside(taken, letters)
            inner[bound] = changes["index"] = letter
            known = taken | {letter.name}
        else:
            known = taken | {bound.name}
    for name in _INDICES.get(type(rule), ()):  # a range is outside the scope of its index
        changes[name] = _substituted(getattr(rule, name), new)
    whole = rebuilt(rule, lambda part: _lettered(part, inner, known, letters))
    return replace(whole, **changes) if changes else whole


def _substituted(value: Any, new: Mapping[sympy.Symbol, sympy.Expr]) -> Any:
    """A field of a rule with these put in for letters."""
    if isinstance(value, tuple):
        return tuple(_substituted(one, new) for one in value)
    return value.xreplace(new) if new and isinstance(value, sympy.Basic) else value


def _free(rule: Rule) -> set[str]:
    """The letters of a rule that no sum in it binds."""
    found: set[str] = set()
    for name in _INDICES.get(type(rule), ()):
        value = getattr(rule, name)
        listed = value if isinstance(value, tuple) else (value,)
        found |= letters_in(x for x in listed if isinstance(x, sympy.Basic))
    inside: set[str] = set().union(*map(_free, children(rule)))
    bound = _bound(rule)
    if bound is not None:
        inside.discard(bound.name)
    return found | inside


def depth(rule: Rule) -> int:
    """How many sums stand inside one another, at most."""
    inside = max(map(depth, children(rule)), default=0)
    return inside if _bound(rule) is None else inside + 1


def _bound(rule: Rule) -> sympy.Symbol | None:
    """The index that a rule itself binds, if it does."""
    return rule.index if isinstance(rule, Total | OfRow) else None
