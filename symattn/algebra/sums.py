"""Sums over symbolic indices: what leaves them, what meets in them, and names for their indices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import permutations
from typing import Any

import sympy

from symattn.algebra.normal import (
    Factor,
    Mono,
    NotHere,
    Poly,
    constant,
    depth,
    exp,
    fresh,
    indices,
    letters,
    mono_indices,
    plus,
    power,
    scaled,
    settled,
    single,
    size_poly,
    spelled,
    times,
)  # fmt: skip
from symattn.nodes.heads import Head

_MOST_BOUND = 6


def put(poly: Poly, places: Mapping[sympy.Symbol, Any]) -> Poly:
    """The polynomial with indices renamed."""
    return plus(scaled(put_mono(mono, places), c) for mono, c in poly.items())


def put_mono(mono: Mono, places: Mapping[sympy.Symbol, Any]) -> Poly:
    """The monomial with indices renamed."""
    if not mono_indices(mono) & set(places):
        return {mono: Fraction(1)}
    return _changed(mono, lambda factor: _put(factor, places))


def changed(poly: Poly, change: Callable[[Factor], Poly]) -> Poly:
    """The polynomial with every factor changed."""
    return plus(scaled(_changed(mono, change), c) for mono, c in poly.items())


def _changed(mono: Mono, change: Callable[[Factor], Poly]) -> Poly:
    out = constant(1)
    for factor, p in mono:
        out = times(out, power(change(factor), p))
    return out


def inside(factor: Factor, change: Callable[[Factor], Poly]) -> Poly:
    """A factor with what it is made of changed."""
    match factor[0]:
        case "exp":
            return exp(_changed(factor[1], change))
        case "sum":
            return summed(_changed(factor[2], change), list(factor[1]), ())
        case "poly":
            return changed(dict(factor[1]), change)
        case "ln" | "fn":
            return single((*factor[:-1], frozenset(changed(dict(factor[-1]), change).items())))
    return single(factor)


def _put(factor: Factor, places: Mapping[sympy.Symbol, Any]) -> Poly:
    if not indices(factor) & set(places):
        return single(factor)
    match factor[0]:
        case "entry":
            matrix, i, j = factor[1:4]
            if isinstance(matrix, Head):
                matrix = Head(matrix.args[0], _at(matrix.head, places))
            return single(("entry", matrix, _at(i, places), _at(j, places), factor[4]))
        case "index":
            return size_poly(_at(factor[1], places))
        case "=":
            return equals(_at(factor[1], places), _at(factor[2], places))
        case "sum":
            bound = [(fresh(), _at(size, places)) for _, size in factor[1]]
            renamed = {old: new for (old, _), (new, _) in zip(factor[1], bound, strict=True)}
            return summed(put_mono(factor[2], {**places, **renamed}), bound, ())
    return inside(factor, lambda part: _put(part, places))


def _at(index: Any, places: Mapping[sympy.Symbol, Any]) -> Any:
    expr = sympy.sympify(index, strict=True)
    if isinstance(expr, Place):
        return permuted(expr.args[0].name, _at(expr.args[1], places), bool(expr.args[2]))
    return sympy.expand(expr.xreplace(dict(places)))


def permuted(name: str, index: Any, back: bool = False) -> Any:
    """The index that a permutation, or its inverse, takes an index to."""
    expr = sympy.sympify(index, strict=True)
    if isinstance(expr, Place) and expr.args[0].name == name and bool(expr.args[2]) is not back:
        return expr.args[1]
    return Place(sympy.Symbol(name), expr, sympy.Integer(back))


class Place(sympy.Function):  # type: ignore[misc]  # SymPy has no types
    """Where a permutation takes an index."""

    nargs = 3
    is_integer = True


def _solved(one: Any, other: Any, index: sympy.Symbol) -> Any:
    """What the index is where one = other, through permutations; None if that is not told."""
    for sides in ((one, other), (other, one)):
        left, right = sides
        while isinstance(left, Place):
            name, back = left.args[0].name, bool(left.args[2])
            left, right = left.args[1], permuted(name, right, not back)
        if left == index and index not in right.free_symbols:
            return right
    return None


def equals(one: Any, other: Any) -> Poly:
    """1 where two indices are the same, else 0."""
    difference = sympy.expand(sympy.sympify(one, strict=True) - other)
    if difference == 0:
        return constant(1)
    if difference.is_nonzero:
        return {}
    low, high = sorted(
        (sympy.sympify(one, strict=True), sympy.sympify(other, strict=True)), key=str
    )
    return single(("=", low, high))


#: Two matrices whose product is the identity: Σ_l a_il b_lj is 1 where i = j, each as
#: (matrix, whether it is transposed).
Contraction = tuple[Any, bool, Any, bool]


def summed(
    poly: Poly, bound: Sequence[tuple[sympy.Symbol, Any]], unit: Sequence[Contraction]
) -> Poly:
    """The sum over indices from 0 to size − 1."""
    out: list[Poly] = []
    for mono, coefficient in poly.items():
        factors, inner = dict(mono), list(bound)
        _open(factors, inner)
        out.append(scaled(_contracted(factors, inner, unit), coefficient))
    return plus(out)


def _open(factors: dict[Factor, Fraction], bound: list[tuple[sympy.Symbol, Any]]) -> None:
    """Take the sums that depend on a bound index apart, so that all is one sum."""
    again = True
    while again:
        again = False
        mine = {index for index, _ in bound}
        for factor in list(factors):
            if factor[0] == "sum" and factors[factor] == 1 and indices(factor) & mine:
                del factors[factor]
                new = [(fresh(), size) for _, size in factor[1]]
                renamed = {old: i for (old, _), (i, _) in zip(factor[1], new, strict=True)}
                opened = put_mono(factor[2], renamed)
                ((mono, _),) = opened.items()
                for part, p in mono:
                    factors[part] = factors.get(part, Fraction(0)) + p
                bound += new
                again = True
                break


def _contracted(
    factors: dict[Factor, Fraction], bound: list[tuple[sympy.Symbol, Any]],
    unit: Sequence[Contraction],
) -> Poly:  # fmt: skip
    for index, size in bound:
        uses = [factor for factor in factors if index in indices(factor)]
        rest = [pair for pair in bound if pair[0] != index]
        for factor in uses:  # Σ_l [l = k] f(l) is f(k)
            other = _solved(factor[1], factor[2], index) if factor[0] == "=" else None
            if other is not None:
                left = {f: p for f, p in factors.items() if f != factor}
                renamed = put_mono(frozenset(left.items()), {index: other})
                sized = [(inner, _at(size, {index: other})) for inner, size in rest]
                return _summed_again(renamed, sized, unit)
        if any(index in letters(inner) for _, inner in rest):
            continue  # the range of another index depends on this one
        if len(uses) == 2 and all(factors[factor] == 1 for factor in uses):
            ends = _unit_ends(uses, index, unit)
            if ends is not None:
                left = {f: p for f, p in factors.items() if f not in uses}
                joined = times({frozenset(left.items()): Fraction(1)}, equals(*ends))
                return _summed_again(joined, rest, unit)
        renamed_to = _only_through(uses, index)
        if renamed_to is not None:  # Σ_l f(π(l)) is Σ_l f(l)
            renamed = put_mono(frozenset(factors.items()), {index: renamed_to})
            return _summed_again(renamed, list(bound), unit)
        if not uses:
            counted = times({frozenset(factors.items()): Fraction(1)}, size_poly(size))
            return _summed_again(counted, rest, unit)
    return _components(factors, bound)


def _only_through(uses: list[Factor], index: sympy.Symbol) -> Any:
    """What to put for an index that occurs only within one permutation, to be rid of that."""
    wholes = {part for factor in uses for part in _places(factor, index)}
    if len(wholes) != 1:
        return None
    (whole,) = wholes
    for factor in uses:
        if any(index in e.xreplace({whole: sympy.S.Zero}).free_symbols for e in _exprs(factor)):
            return None
    return permuted(whole.args[0].name, index, not whole.args[2])


def _places(factor: Factor, index: sympy.Symbol) -> set[Any]:
    return {part for expr in _exprs(factor) for part in expr.atoms(Place) if part.args[1] == index}


def _exprs(factor: Factor) -> list[Any]:
    """All index expressions inside a factor."""
    match factor[0]:
        case "entry":
            head = getattr(factor[1], "head", sympy.S.Zero)
            return [sympy.sympify(x, strict=True) for x in (*factor[2:4], head)]
        case "=" | "index":
            return list(factor[1:])
        case "exp":
            return [expr for inner, _ in factor[1] for expr in _exprs(inner)]
        case "sum":
            sizes = [sympy.sympify(size, strict=True) for _, size in factor[1]]
            return sizes + [expr for inner, _ in factor[2] for expr in _exprs(inner)]
        case "poly" | "ln" | "fn":
            return [expr for mono, _ in factor[-1] for inner, _ in mono for expr in _exprs(inner)]
    return []


def _summed_again(poly: Poly, bound: list[Any], unit: Sequence[Contraction]) -> Poly:
    return summed(poly, bound, unit) if bound else poly


def _unit_ends(
    uses: list[Factor], index: sympy.Symbol, unit: Sequence[Contraction]
) -> tuple[Any, Any] | None:
    """The outer indices of Σ_l a_il b_lj where that is the identity."""
    if any(factor[0] != "entry" for factor in uses):
        return None
    for one, other in (uses, reversed(uses)):
        for a, a_turned, b, b_turned in unit:
            if one[1] != a or other[1] != b:
                continue
            left = one[2:4][::-1] if a_turned else one[2:4]
            right = other[2:4][::-1] if b_turned else other[2:4]
            if left[1] == index == right[0]:
                return left[0], right[1]
    return None


def _components(factors: dict[Factor, Fraction], bound: list[tuple[sympy.Symbol, Any]]) -> Poly:
    """The product of the sums over indices that have to do with one another."""
    out = settled({f: p for f, p in factors.items() if not indices(f) & {i for i, _ in bound}})
    left = [f for f in factors if indices(f) & {i for i, _ in bound}]
    groups: list[tuple[set[sympy.Symbol], list[Factor]]] = []
    every = {i for i, _ in bound}
    for factor in left:
        touched, mine = set(indices(factor) & every), [factor]
        for index, size in bound:
            if index in touched:
                touched = touched | (letters(size) & every)
        apart = []
        for group in groups:
            if group[0] & touched:
                touched, mine = touched | group[0], mine + group[1]
            else:
                apart.append(group)
        groups = [*apart, (set(touched), mine)]
    for touched, mine in groups:
        pairs = [(i, size) for i, size in bound if i in touched]
        out = times(out, single(_canonical({f: factors[f] for f in mine}, pairs)))
    return out


def _canonical(factors: dict[Factor, Fraction], bound: list[tuple[sympy.Symbol, Any]]) -> Factor:
    """One sum, its indices named so that the text is the least."""
    if len(bound) > _MOST_BOUND:
        raise NotHere("too many indices in one sum")
    deep = 1 + max((depth(factor) for factor in factors), default=0)
    mono = frozenset(factors.items())
    best: tuple[str, Factor] | None = None
    for order in permutations(bound):
        names = {old: sympy.Symbol(f"_{deep}{'abcdef'[k]}", integer=True)
                 for k, (old, _) in enumerate(order)}  # fmt: skip
        ((renamed, _),) = put_mono(mono, names).items()
        limits = tuple((names[old], _at(size, names)) for old, size in order)
        text = f"{limits} {spelled(renamed)}"
        if best is None or text < best[0]:
            best = text, ("sum", limits, renamed)
    assert best is not None
    return best[1]
