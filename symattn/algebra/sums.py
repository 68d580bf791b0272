"""Sums over symbolic indices: what leaves them, what meets in them, and names for their indices.

Every index has a range, 0 … size − 1, whose size may depend on other indices (the keys that a
causal query sees). Each rewriting below names what it needs of the ranges; what is not shown makes
the rewriting unavailable, and the sum stays as it is:

* a sum over nothing but a condition, Σ_l [l = k] f(l) = f(k), needs 0 ≤ k < size;
* an inverse or an orthonormal matrix that meets its partner, and an index that occurs only
  permuted, need the full range of the matrix;
* an index leaves a sum only if no other range depends on it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import permutations
from typing import Any

import sympy

from symattn.algebra.effort import spend
from symattn.algebra.normal import (
    Factor,
    Mono,
    NotHere,
    Poly,
    constant,
    depth,
    exp,
    fresh,
    in_order,
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
)
from symattn.nodes.heads import Head

_MOST_BOUND = 6


class Place(sympy.Function):  # type: ignore[misc]  # SymPy has no types
    """Where a permutation, by name, takes an index (or its inverse, if the last argument is 1)."""

    nargs = 3
    is_integer = True


@dataclass(frozen=True)
class Contraction:
    """Two matrices whose product is the identity: Σ_l a_il b_lj is 1 where i = j, else 0.

    Each may be transposed; l runs over all of `size`.
    """

    one: Any
    one_turned: bool
    other: Any
    other_turned: bool
    size: sympy.Expr


@dataclass
class Ranges:
    """The range of every index that was made, and what is known of sizes and permutations."""

    sizes: dict[sympy.Symbol, sympy.Expr] = field(default_factory=dict)
    #: How many things each permutation permutes.
    permuted: dict[str, sympy.Expr] = field(default_factory=dict)
    #: Sizes in terms of others, where one is assumed to be no less: m is n + t, t ≥ 0.
    order: dict[sympy.Symbol, sympy.Expr] = field(default_factory=dict)

    def new(self, size: Any) -> sympy.Symbol:
        """A fresh index with this range."""
        letter = fresh()
        self.sizes[letter] = sympy.sympify(size, strict=True)
        return letter

    def least(self, expr: Any) -> sympy.Expr | None:
        """A lower bound of a linear expression over all ranges; None if there is none to see.

        The innermost index is put at an end of its range first; where that range is empty, there
        is nothing that the bound could be wrong for.
        """
        out = sympy.expand(expr)
        while True:
            spend()
            places = out.atoms(Place)
            if places:
                place = max(places, key=lambda one: len(str(one)))  # one that no other holds
                count = self.permuted[place.args[0].name]
                out = self._at_end(out, place, count)
            else:
                inside = [x for x in out.free_symbols if x in self.sizes]
                if not inside:
                    return out
                needed = {y for x in inside for y in letters(self.sizes[x])}
                last = next((x for x in sorted(inside, key=str) if x not in needed), None)
                if last is None:
                    return None
                out = self._at_end(out, last, self.sizes[last])
            if out is None:
                return None

    def _at_end(self, expr: sympy.Expr, place: sympy.Expr, size: sympy.Expr) -> Any:
        slope = expr.coeff(place)
        if slope.has(place) or sympy.expand(expr - slope * place).has(place):
            return None  # not linear
        if self.is_positive(slope):
            return sympy.expand(expr.xreplace({place: sympy.S.Zero}))
        if self.is_positive(-slope):
            return sympy.expand(expr.xreplace({place: size - 1}))
        return None

    def is_positive(self, size: sympy.Expr) -> bool:
        """Whether an expression over sizes alone is above 0."""
        return self._sizes_at_least(size - 1)

    def _sizes_at_least(self, expr: sympy.Expr) -> bool:
        """Whether an expression over sizes is ≥ 0: no coefficient below 0 once sizes are 1 + k."""
        found = sympy.expand(expr)
        for _ in range(len(self.order) + 1):
            found = sympy.expand(found.xreplace(self.order))
        more = {s: s + 1 for s in found.free_symbols if s.is_positive}
        found = sympy.expand(found.xreplace(more))
        if not all(s.is_nonnegative for s in found.free_symbols):
            return False
        if not found.is_polynomial(*found.free_symbols):
            return False
        terms = sympy.Poly(found, *found.free_symbols).coeffs() if found.free_symbols else [found]
        return all(bool(term >= 0) for term in terms)

    def nonnegative(self, expr: Any) -> bool:
        """Whether an expression over indices and sizes is ≥ 0 throughout all ranges."""
        least = self.least(expr)
        return least is not None and self._sizes_at_least(least)

    def within(self, index: Any, size: Any) -> bool:
        """Whether an index expression lies in 0 … size − 1."""
        return self.nonnegative(index) and self.nonnegative(size - 1 - index)

    def outside(self, index: Any, size: Any) -> bool:
        """Whether an index expression lies outside 0 … size − 1."""
        return self.nonnegative(-index - 1) or self.nonnegative(index - size)

    def same(self, one: Any, other: Any) -> bool:
        """Whether two sizes are the same."""
        return bool(sympy.expand(sympy.sympify(one, strict=True) - other) == 0)

    # ---- conditions ------------------------------------------------------------------------

    def equals(self, one: Any, other: Any) -> Poly:
        """1 where two indices are the same, else 0; a permutation stands on one side at most."""
        low, high = sorted(
            (sympy.sympify(one, strict=True), sympy.sympify(other, strict=True)), key=str
        )
        for left, right in ((low, high), (high, low)):
            if isinstance(left, Place):
                name, back = left.args[0].name, bool(left.args[2])
                turned = permuted(name, right, not back)
                known = self.within(right, self.permuted[name])
                simpler = len(str(turned)) < len(str(right))
                if known and (simpler or str(left.args[1]) < str(right)):
                    return self.equals(left.args[1], turned)
        difference = sympy.expand(low - high)
        if difference == 0:
            return constant(1)
        if self.nonnegative(difference - 1) or self.nonnegative(-difference - 1):
            return {}
        return single(("=", low, high))

    def solved(self, one: Any, other: Any, index: sympy.Symbol) -> Any:
        """The index solved from one = other, through permutations; None if it cannot be."""
        for left, right in ((one, other), (other, one)):
            inner, value = left, right
            while isinstance(inner, Place):
                name, back = inner.args[0].name, bool(inner.args[2])
                if not self.within(value, self.permuted[name]):
                    break
                inner, value = inner.args[1], permuted(name, value, not back)
            if inner == index and index not in value.free_symbols:
                return value
            shift = sympy.expand(inner - index) if inner.is_Add else None
            if shift is not None and index not in shift.free_symbols | value.free_symbols:
                return sympy.expand(value - shift)
        return None


def permuted(name: str, index: Any, back: bool = False) -> Any:
    """The index that a permutation, or its inverse, takes an index to."""
    expr = sympy.sympify(index, strict=True)
    if isinstance(expr, Place) and expr.args[0].name == name and bool(expr.args[2]) is not back:
        return expr.args[1]
    return Place(sympy.Symbol(name), expr, sympy.Integer(back))


def at(index: Any, places: Mapping[sympy.Symbol, Any]) -> Any:
    """An index expression with indices put in."""
    expr = sympy.sympify(index, strict=True)
    if isinstance(expr, Place):
        return permuted(expr.args[0].name, at(expr.args[1], places), bool(expr.args[2]))
    if expr.has(Place) and expr.free_symbols & set(places):
        turned = {place: at(place, places) for place in expr.atoms(Place)}
        return sympy.expand(expr.xreplace(turned).xreplace(dict(places)))
    return sympy.expand(expr.xreplace(dict(places)))


@dataclass
class Sums:
    """Sums, over the ranges of their indices and matrices that are inverse to one another."""

    ranges: Ranges
    unit: list[Contraction] = field(default_factory=list)

    def know_inverse(self, inverse: Any) -> None:
        """A matrix and its inverse make the identity, in either order."""
        base, size = inverse.arg, inverse.shape[0]
        for one, other in ((inverse, base), (base, inverse)):
            for turned in (False, True):
                pair = Contraction(one, turned, other, turned, size)
                if pair not in self.unit:
                    self.unit.append(pair)

    # ---- putting in ------------------------------------------------------------------------

    def substitute(self, poly: Poly, places: Mapping[sympy.Symbol, Any]) -> Poly:
        """The polynomial with indices put in."""
        return plus(scaled(self.substitute_mono(mono, places), c) for mono, c in poly.items())

    def substitute_mono(self, mono: Mono, places: Mapping[sympy.Symbol, Any]) -> Poly:
        """The monomial with indices put in."""
        if not mono_indices(mono) & set(places):
            return {mono: Fraction(1)}
        return self.changed_mono(mono, lambda factor: self._substitute_factor(factor, places))

    def changed(self, poly: Poly, change: Callable[[Factor], Poly]) -> Poly:
        """The polynomial with every factor changed."""
        return plus(scaled(self.changed_mono(mono, change), c) for mono, c in poly.items())

    def changed_mono(self, mono: Mono, change: Callable[[Factor], Poly]) -> Poly:
        """The monomial with every factor changed."""
        out = constant(1)
        for factor, p in in_order(mono):
            out = times(out, power(change(factor), p))
        return out

    def inside(self, factor: Factor, change: Callable[[Factor], Poly]) -> Poly:
        """A factor with what it is made of changed."""
        match factor[0]:
            case "exp":
                return exp(self.changed_mono(factor[1], change))
            case "sum":
                renamed, bound = self.renamed(factor[1], {})
                body = self.changed(self.substitute_mono(factor[2], renamed), change)
                return self.summed(body, bound)
            case "line":
                renamed, ((index, size),) = self.renamed((factor[2],), {})
                body = self.changed(self.substitute(dict(factor[3]), renamed), change)
                return self.line(factor[1], body, index, size)
            case "poly":
                return self.changed(dict(factor[1]), change)
            case "ln" | "fn":
                inner = self.changed(dict(factor[-1]), change)
                return single((*factor[:-1], frozenset(inner.items())))
        return single(factor)

    def _substitute_factor(self, factor: Factor, places: Mapping[sympy.Symbol, Any]) -> Poly:
        if not indices(factor) & set(places):
            return single(factor)
        match factor[0]:
            case "entry":
                matrix, i, j = factor[1:4]
                if isinstance(matrix, Head):
                    matrix = Head(matrix.args[0], at(matrix.head, places))
                return single(("entry", matrix, at(i, places), at(j, places), factor[4]))
            case "index":
                return size_poly(at(factor[1], places))
            case "=":
                return self.ranges.equals(at(factor[1], places), at(factor[2], places))
            case "sum":
                renamed, bound = self.renamed(factor[1], places)
                return self.summed(self.substitute_mono(factor[2], {**places, **renamed}), bound)
            case "line":
                renamed, ((index, size),) = self.renamed((factor[2],), places)
                body = self.substitute(dict(factor[3]), {**places, **renamed})
                return self.line(factor[1], body, index, size)
        return self.inside(factor, lambda part: self._substitute_factor(part, places))

    def renamed(
        self, limits: Sequence[tuple[sympy.Symbol, Any]], places: Mapping[sympy.Symbol, Any]
    ) -> tuple[dict[sympy.Symbol, sympy.Symbol], list[tuple[sympy.Symbol, Any]]]:
        """Fresh names for bound indices, whose ranges may depend on one another."""
        renamed = {old: fresh() for old, _ in limits}
        bound = [(renamed[old], at(size, {**places, **renamed})) for old, size in limits]
        self.ranges.sizes.update(bound)
        return renamed, bound

    # ---- sums ------------------------------------------------------------------------------

    def summed(self, poly: Poly, bound: Sequence[tuple[sympy.Symbol, Any]]) -> Poly:
        """The sum over indices from 0 to size − 1."""
        self.ranges.sizes.update(bound)
        out: list[Poly] = []
        for mono, coefficient in poly.items():
            factors, inner = dict(in_order(mono)), list(bound)
            self._open(factors, inner)
            out.append(scaled(self._contracted(factors, inner), coefficient))
        return plus(out)

    def _open(self, factors: dict[Factor, Fraction], bound: list[tuple[sympy.Symbol, Any]]) -> None:
        """Take the sums that depend on a bound index apart, so that all is one sum."""
        again = True
        while again:
            again = False
            mine = {index for index, _ in bound}
            for factor in list(factors):
                times_, whole = factors[factor], factors[factor].denominator == 1
                if factor[0] == "sum" and whole and times_ > 0 and indices(factor) & mine:
                    factors[factor] -= 1
                    if times_ == 1:
                        del factors[factor]
                    renamed, new = self.renamed(factor[1], {})
                    opened = self.substitute_mono(factor[2], renamed)
                    if len(opened) != 1:
                        raise NotHere("a sum that changes when it is opened")
                    ((mono, coefficient),) = opened.items()
                    if coefficient != 1:
                        raise NotHere("a sum that changes when it is opened")
                    for part, p in in_order(mono):
                        total = factors.get(part, Fraction(0)) + p
                        factors[part] = Fraction(1) if part[0] == "=" else total
                        if not total:
                            del factors[part]
                    bound += new
                    again = True
                    break

    def _contracted(
        self, factors: dict[Factor, Fraction], bound: list[tuple[sympy.Symbol, Any]]
    ) -> Poly:
        for index, size in bound:
            spend(1 + len(factors))
            rest = [pair for pair in bound if pair[0] != index]
            uses = [factor for factor in factors if index in indices(factor)]
            gone = self._eliminated(factors, uses, (index, size), rest)
            if gone is not None:
                return gone
            if any(index in letters(inner) for _, inner in rest):
                continue  # the range of another index depends on this one
            found = self._met(factors, uses, index, size)
            if found is not None:
                return self._summed_again(found, rest)
            renamed_to = self._only_through(uses, index, size)
            if renamed_to is not None:  # Σ_l f(π(l)) is Σ_l f(l)
                renamed = self.substitute_mono(frozenset(factors.items()), {index: renamed_to})
                return self._summed_again(renamed, list(bound))
        return self._components(factors, bound)

    def _eliminated(
        self,
        factors: dict[Factor, Fraction],
        uses: list[Factor],
        pair: tuple[sympy.Symbol, Any],
        rest: list[tuple[sympy.Symbol, Any]],
    ) -> Poly | None:
        """Σ_l [l = k] f(l) is f(k) for a k in the range of l, and 0 for a k outside.

        Ranges that depend on l then depend on k, which must not be an index of such a range.
        """
        index, size = pair
        dependent = {other for other, inner in rest if index in letters(inner)}
        for factor in uses:
            if factor[0] != "=":
                continue
            other = self.ranges.solved(factor[1], factor[2], index)
            if other is None or letters(other) & dependent:
                continue
            if self.ranges.outside(other, size):
                return {}
            if self.ranges.within(other, size):
                left = frozenset((f, p) for f, p in factors.items() if f != factor)
                sized = [(inner, at(wide, {index: other})) for inner, wide in rest]
                return self._summed_again(self.substitute_mono(left, {index: other}), sized)
        return None

    def _met(
        self, factors: dict[Factor, Fraction], uses: list[Factor], index: sympy.Symbol, size: Any
    ) -> Poly | None:
        """Σ over one index of the product of the factors, where a rewriting gives it."""
        pair = uses * 2 if len(uses) == 1 and factors[uses[0]] == 2 else uses
        if len(pair) == 2 and (len(uses) == 1 or all(factors[factor] == 1 for factor in uses)):
            ends = self._unit_ends(pair, index, size)
            if ends is not None:
                left = frozenset((f, p) for f, p in factors.items() if f not in uses)
                return times({left: Fraction(1)}, self.ranges.equals(*ends))
        if not uses:
            return times({frozenset(factors.items()): Fraction(1)}, size_poly(size))
        return None

    def _only_through(self, uses: list[Factor], index: sympy.Symbol, size: Any) -> Any:
        """The substitution i = π⁻¹(k) for an index that occurs only as π(i)."""
        wholes = {part for factor in uses for part in _places(factor, index)}
        if len(wholes) != 1:
            return None
        (whole,) = wholes
        name = whole.args[0].name
        if not self.ranges.same(size, self.ranges.permuted[name]):
            return None
        for factor in uses:
            if any(index in e.xreplace({whole: sympy.S.Zero}).free_symbols for e in exprs(factor)):
                return None
        return permuted(name, index, not whole.args[2])

    def _summed_again(self, poly: Poly, bound: list[Any]) -> Poly:
        return self.summed(poly, bound) if bound else poly

    def _unit_ends(
        self, uses: list[Factor], index: sympy.Symbol, size: Any
    ) -> tuple[Any, Any] | None:
        """The outer indices of Σ_l a_il b_lj where that is the identity."""
        if any(factor[0] != "entry" for factor in uses):
            return None
        for one, other in (uses, uses[::-1]):
            for pair in self.unit:
                if one[1] != pair.one or other[1] != pair.other:
                    continue
                if not self.ranges.same(size, pair.size):
                    continue
                left = one[2:4][::-1] if pair.one_turned else one[2:4]
                right = other[2:4][::-1] if pair.other_turned else other[2:4]
                free = index not in letters(left[0]) | letters(right[1])
                if left[1] == index == right[0] and free:
                    return left[0], right[1]
        return None

    def _components(
        self, factors: dict[Factor, Fraction], bound: list[tuple[sympy.Symbol, Any]]
    ) -> Poly:
        """The product of the sums over indices that have to do with one another."""
        every = {i for i, _ in bound}
        out = settled({f: p for f, p in factors.items() if not indices(f) & every})
        groups: list[tuple[set[sympy.Symbol], list[Factor]]] = []
        parts: list[tuple[set[sympy.Symbol], list[Factor]]] = [
            (set(indices(f) & every), [f]) for f in factors if indices(f) & every
        ]
        parts += [({index, *(letters(size) & every)}, []) for index, size in bound]
        for part in parts:
            touched, mine = part
            apart = []
            for group in groups:
                if group[0] & part[0]:
                    touched, mine = touched | group[0], mine + group[1]
                else:
                    apart.append(group)
            groups = [*apart, (touched, mine)]
        for touched, mine in groups:
            pairs = [(i, size) for i, size in bound if i in touched]
            out = times(out, single(self._canonical({f: factors[f] for f in mine}, pairs)))
        return out

    def _canonical(
        self, factors: dict[Factor, Fraction], bound: list[tuple[sympy.Symbol, Any]]
    ) -> Factor:
        """One sum, its indices named so that the text is the least."""
        if len(bound) > _MOST_BOUND:
            raise NotHere("too many indices in one sum")
        deep = 1 + max((depth(factor) for factor in factors), default=0)
        mono = frozenset(factors.items())
        best: tuple[str, Factor] | None = None
        for order in permutations(bound):
            spend(1 + len(factors))
            names = {
                old: sympy.Symbol(f"_{deep}{'abcdef'[k]}", integer=True)
                for k, (old, _) in enumerate(order)
            }
            limits = tuple((names[old], at(size, names)) for old, size in order)
            renamed = rename_mono(mono, names)
            if deep > 1:  # sums inside may name their own indices otherwise now
                again = self.substitute_mono(mono, names)
                renamed = next(iter(again)) if list(again.values()) == [1] else renamed
            text = f"{limits} {spelled(renamed)}"
            if best is None or text < best[0]:
                best = text, ("sum", limits, renamed)
        assert best is not None
        return best[1]

    # ---- functions of a line ---------------------------------------------------------------

    def line(self, name: str, body: Poly, index: sympy.Symbol, size: Any) -> Poly:
        """The maximum of a line, or its threshold τ, with common terms and factors outside.

        max_l (k a_l + c) = k max_l a_l + c for k > 0, and τ(z + c) = τ(z) + c.
        """
        self.ranges.sizes[index] = size
        outer: Poly = {m: c for m, c in body.items() if index not in mono_indices(m)}
        inner: Poly = {m: c for m, c in body.items() if index in mono_indices(m)}
        if not inner:
            if name == "max":
                return outer
            inner, outer = body, {}
        factor = constant(1)
        if name == "max":
            shared = frozenset.intersection(
                *(
                    frozenset((f, p) for f, p in mono if _is_scale(f) and index not in indices(f))
                    for mono in inner
                )
            )
            number = min(abs(c) for c in inner.values())
            factor = scaled({shared: Fraction(1)}, number)
            back = power(factor, -1)
            inner = times(inner, back)
        deep = 1 + max((depth(f) for mono in inner for f, _ in mono), default=0)
        bound = sympy.Symbol(f"_{deep}a", integer=True)
        renamed: Poly = {}
        for mono, c in inner.items():
            new = rename_mono(mono, {index: bound})
            renamed[new] = renamed.get(new, Fraction(0)) + c
        only = _only_place(renamed, bound)
        if only is not None and self.ranges.same(size, self.ranges.permuted[only.args[0].name]):
            turned: Poly = {}
            for mono, c in renamed.items():  # the largest of permuted entries is the largest
                turned[rename_mono(mono, {only: bound})] = c
            renamed = turned
        found = single(("line", name, (bound, size), frozenset(renamed.items())))
        return plus((times(factor, found), outer))


def _is_scale(factor: Factor) -> bool:
    return factor[0] in ("scalar", "number", "exp") and (
        factor[0] != "scalar" or factor[1].is_positive is True
    )


def _only_place(poly: Poly, index: sympy.Symbol) -> Any:
    """The one permutation within which alone an index occurs; None if there is none."""
    factors = [factor for mono in poly for factor, _ in mono if index in indices(factor)]
    wholes = {part for factor in factors for part in _places(factor, index)}
    if len(wholes) != 1:
        return None
    (whole,) = wholes
    for factor in factors:
        if any(index in e.xreplace({whole: sympy.S.Zero}).free_symbols for e in exprs(factor)):
            return None
    return whole


def rename_mono(mono: Mono, names: Mapping[Any, Any]) -> Mono:
    """A monomial with indices exchanged for other letters, and nothing else changed."""
    return frozenset((_rename(factor, names), p) for factor, p in mono)


def _rename(factor: Factor, names: Mapping[Any, Any]) -> Factor:
    def name(expr: Any) -> Any:
        return sympy.sympify(expr, strict=True).xreplace(dict(names))

    match factor[0]:
        case "entry":
            matrix = factor[1]
            if isinstance(matrix, Head):
                matrix = Head(matrix.args[0], name(matrix.head))
            return ("entry", matrix, name(factor[2]), name(factor[3]), factor[4])
        case "index":
            return ("index", name(factor[1]))
        case "=":
            return ("=", *sorted((name(factor[1]), name(factor[2])), key=str))
        case "exp":
            return ("exp", rename_mono(factor[1], names))
        case "sum":
            limits = tuple((index, name(size)) for index, size in factor[1])
            return ("sum", limits, rename_mono(factor[2], names))
        case "line":
            index, size = factor[2]
            body = frozenset((rename_mono(mono, names), c) for mono, c in factor[3])
            return ("line", factor[1], (index, name(size)), body)
        case "poly" | "ln" | "fn":
            inner = frozenset((rename_mono(mono, names), c) for mono, c in factor[-1])
            return (*factor[:-1], inner)
    return factor


def _places(factor: Factor, index: sympy.Symbol) -> set[Any]:
    return {part for expr in exprs(factor) for part in expr.atoms(Place) if part.args[1] == index}


def exprs(factor: Factor) -> list[Any]:
    """All index expressions inside a factor."""
    match factor[0]:
        case "entry":
            head = getattr(factor[1], "head", sympy.S.Zero)
            return [sympy.sympify(x, strict=True) for x in (*factor[2:4], head)]
        case "=" | "index":
            return list(factor[1:])
        case "exp":
            return [expr for inner, _ in factor[1] for expr in exprs(inner)]
        case "sum":
            sizes = [sympy.sympify(size, strict=True) for _, size in factor[1]]
            return sizes + [expr for inner, _ in factor[2] for expr in exprs(inner)]
        case "poly" | "ln" | "fn" | "line":
            sizes = [sympy.sympify(factor[2][1], strict=True)] if factor[0] == "line" else []
            return sizes + [e for mono, _ in factor[-1] for inner, _ in mono for e in exprs(inner)]
    return []
