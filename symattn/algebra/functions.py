"""Signs, powers and functions of polynomials, and functions of a line, each in one form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import reduce
from typing import TypeAlias

import sympy

from symattn.algebra.forms import Form, Refused, number, place, plus_form, variable
from symattn.algebra.polynomials import (
    MOST_POWER,
    MOST_TURNS,
    Bound,
    constant,
    function,
    height,
    indices,
    indices_of,
    is_zero,
    plus,
    power_of_number,
    primes,
    product,
    renamed_items,
    scaled,
    settled,
    single,
    times,
)
from symattn.algebra.scope import Scope
from symattn.algebra.texts import Atom, Items, Mono, Poly, atoms_of, terms_of, text_of

#: What stands in each part of a range, None for −∞, and the indices of the part.
Parts: TypeAlias = list[tuple[Poly | None, Bound]]


class Signs(Scope):
    """Of what it is known that it is positive, ≥ 0, or not 0."""

    def __init__(self, positive: Iterable[str] = ()) -> None:
        super().__init__()
        self.positive = frozenset(positive)
        #: Polynomials that are ≥ 0, since they were multiplied out of squares.
        self.from_squares: set[Items] = set()

    def primitive(self, poly: Poly) -> tuple[Mono, Poly, Fraction]:
        """Common factors, the rest whose first coefficient is 1, and a number."""
        shared: dict[Atom, Fraction] = {}
        for atom in {a for mono in poly for a, _ in mono if a.kind not in ("δ", "prime")}:
            shared[atom] = min(dict(mono).get(atom, Fraction(0)) for mono in poly)
        content = frozenset((atom, p) for atom, p in shared.items() if p)
        back = frozenset((atom, -p) for atom, p in content)
        rest = plus(*(scaled(product(mono, back), c) for mono, c in poly.items()))
        lead = terms_of(rest)[0][1]
        return content, scaled(rest, 1 / lead), lead

    def is_positive(self, atom: Atom) -> bool:
        """Whether an atom is above 0; a sum is where it is not empty."""
        match atom:
            case Atom("exp" | "prime" | "positive"):
                return True
            case Atom("size", name):
                return self.here.is_filled(name)
            case Atom("entry", name, (_, _)):
                return name in self.positive
            case Atom("sum" | "poly"):
                return all(c > 0 and all(map(self.is_positive, dict(m))) for m, c in atom.terms)
        return False

    def is_nonnegative(self, atom: Atom) -> bool:
        """Whether an atom is ≥ 0."""
        match atom:
            case Atom("δ" | "first" | "size") | Atom("fn", "abs"):
                return True
            case Atom("sum"):
                return self.is_square(atom.mono)
            case Atom("poly"):
                return self.all_nonnegative(dict(atom.terms))
        return self.is_positive(atom)

    def is_square(self, mono: Mono) -> bool:
        """Whether a product is of even powers, of roots and of what is ≥ 0."""
        return all(
            p % 2 == 0 or p.denominator != 1 or self.is_nonnegative(atom) for atom, p in mono
        )

    def signed(self, poly: Poly) -> tuple[Mono, Poly, Fraction]:
        """Common factors, the rest, and a number ≥ 0: the sign is that of the rest."""
        content, rest, lead = self.primitive(poly)
        return content, scaled(rest, 1 if lead > 0 else -1), abs(lead)

    def keep_square(self, poly: Poly) -> None:
        """Keep that this was made of squares, which is not seen any more."""
        if is_zero(poly):
            return
        content, rest, _ = self.signed(poly)
        if self.all_positive({content: Fraction(1)}):
            self.from_squares.add(frozenset(rest.items()))

    def all_nonnegative(self, poly: Poly) -> bool:
        """Whether a sum was made of squares, or is of terms ≥ 0 and of c (|x| ± x)."""
        if self.from_squares and not is_zero(poly):
            content, inside, _ = self.signed(poly)
            if frozenset(inside.items()) in self.from_squares and self.is_square(content):
                return True
        known: list[Poly | None] = []
        for mono, c in terms_of(poly):
            for atom, p in atoms_of(mono) if c > 0 else ():
                rest = mono - {(atom, p)}
                if atom[:2] == ("fn", "abs") and p == 1 and self.is_square(rest):
                    inner = times({rest: Fraction(1)}, dict(atom.terms))
                    known += [plus({mono: Fraction(1)}, scaled(inner, s)) for s in (1, -1)]
        for one in [*known, None]:
            less = {mono: c for mono, c in poly.items() if c <= 0 or not self.is_square(mono)}
            if not less:
                return True
            shares = [less[m] / one[m] for m in less if one and m in one and one[m] * less[m] > 0]
            if one and shares:
                poly = plus(poly, scaled(one, -max(shares)))
        return False

    def all_positive(self, poly: Poly) -> bool:
        """Whether every term is a positive number times positive factors, and there is one."""
        return bool(poly) and all(
            c > 0
            and all(
                self.is_positive(a) or (p.denominator == 1 and p % 2 == 0 and p < 0) for a, p in m
            )
            for m, c in poly.items()
        )

    def never_zero(self, poly: Poly) -> bool:
        """Whether a polynomial is positive and one of its terms has no empty sum."""
        return self.all_positive(poly) and any(
            all(self.is_filled(atom) for atom, _ in mono) for mono in poly
        )

    def is_filled(self, atom: Atom, inside: Mapping[str, Form] = {}) -> bool:
        """Whether the sums in a positive atom have something to sum, within other sums' ranges."""
        match atom:
            case Atom("sum" | "poly"):
                within = {**inside, **dict(atom.bound)}
                least = (plus_form(size, number(-1)) for _, size in atom.bound)
                full = all(self.nonnegative(one, within) for one in least)
                parts = (part for mono, _ in atom.terms for part, _ in mono)
                return full and all(self.is_filled(part, within) for part in parts)
        return True


class Functions(Signs):
    """Powers and functions of one number, each brought to one form."""

    def power(self, poly: Poly, p: Fraction) -> Poly:
        """A rational power; of a root all factors that leave it are ≥ 0."""
        if abs(p) > MOST_POWER:
            raise Refused("a power is too large")
        if p < 0 and any(atom.kind in ("δ", "first") for mono in poly for atom, _ in mono):
            raise Refused("division by something that is 0 off a diagonal")
        if p.denominator == 1 and p >= 0:
            return reduce(times, [poly] * int(p), constant(1))
        if is_zero(poly):
            if p < 0:
                raise Refused("division by 0")
            return {}
        if p.denominator != 1:
            return self.root(poly, p)
        if len(poly) == 1:
            ((mono, c),) = poly.items()
            return scaled(settled({atom: q * p for atom, q in mono}), c ** int(p))
        content, rest, lead = self.primitive(poly)
        outside = settled({atom: q * p for atom, q in content})
        return scaled(
            times(outside, single(Atom("poly", terms=frozenset(rest.items())), p)), lead ** int(p)
        )

    def divisor(self, below: Poly, empty: sympy.Expr | None) -> Poly:
        """1 over what is not 0, or is said not to be."""
        if empty is not None and self.all_positive(below) and not self.never_zero(below):
            raise Refused("a sum that may be empty")
        return self.raised(below, Fraction(-1))

    def raised(self, inner: Poly, p: Fraction) -> Poly:
        """A power, which has no value where it divides by 0 or is a root of what is below 0."""
        self.lack("a root", p.denominator != 1 and not self.all_nonnegative(inner))
        self.lack("a divisor", p < 0 and not self.never_zero(inner))
        return self.power(inner, p)

    def root(self, poly: Poly, p: Fraction) -> Poly:
        """A power that is not whole, of what is ≥ 0 where it is defined."""
        content, inside, size = self.signed(poly)
        out = power_of_number(size, p)
        odd = [atom for atom, q in content if not self.is_square(frozenset({(atom, q)}))]
        alone = odd if len(odd) == 1 and inside == constant(1) else []  # ≥ 0, as the whole is
        for atom, q in atoms_of(content):
            if atom in alone or q.denominator != 1 or self.is_nonnegative(atom):
                out = times(out, settled({atom: q * p}))
            else:  # x³ is x² x
                out = times(
                    out, settled({Atom("fn", "abs", terms=items_of(atom)): (q - q % 2) * p})
                )
                inside = times(inside, single(atom, q % 2) if q % 2 else constant(1))
        if inside == constant(1):
            return out
        return times(out, settled({Atom("poly", terms=frozenset(inside.items())): p}))

    def absolute(self, poly: Poly) -> Poly:
        """|poly|: what is ≥ 0 leaves it, and |−p| is |p|."""
        if is_zero(poly):
            return {}
        content, rest, lead = self.primitive(poly)
        out = constant(abs(lead))
        for atom, p in atoms_of(content):
            leaves = self.is_square(frozenset({(atom, p)}))
            size = atom if leaves else Atom("fn", "abs", terms=items_of(atom))
            out = times(out, settled({size: p}))
        for sign in (1, -1):
            if self.all_nonnegative(scaled(rest, sign)):
                return scaled(times(out, rest), sign)
        return times(out, function("abs", rest))

    def exp(self, poly: Poly) -> Poly:
        """E to a polynomial is a product over its terms."""
        out = constant(1)
        for mono, c in poly.items():
            condition = frozenset(pair for pair in mono if pair[0].kind == "δ")
            if condition:  # e^{[i = j] x} is 1 + [i = j] (e^x − 1)
                more = plus(self.exp({mono - condition: c}), constant(-1))
                out = times(out, plus(constant(1), times({condition: Fraction(1)}, more)))
                continue
            logarithm = next(iter(mono)) if len(mono) == 1 else None
            if logarithm and logarithm[0][:2] == ("fn", "ln") and logarithm[1] == 1:
                out = times(out, self.power(dict(logarithm[0].terms), c))  # e^{q ln x} is x^q
                continue
            out = times(out, single(Atom("exp", terms=frozenset({(mono, Fraction(1))})), c))
        return out

    def cos_sin(self, angle: Poly) -> tuple[Poly, Poly]:
        """Cosine and sine by the addition formulas along the terms of the angle."""
        cosine, sine = constant(1), constant(0)
        for mono, c in terms_of(angle):
            turns = abs(c.numerator)
            if turns > MOST_TURNS:
                raise Refused("a large multiple of an angle")
            one, two = (function(f, {mono: Fraction(1, c.denominator)}) for f in ("cos", "sin"))
            two = scaled(two, 1 if c > 0 else -1)
            for _ in range(turns):
                cosine, sine = (
                    plus(times(cosine, one), scaled(times(sine, two), -1)),
                    plus(times(sine, one), times(cosine, two)),
                )
        return cosine, sine

    def logarithm(self, inner: Poly) -> Poly:
        """Ln of a product of what is ≥ 0 is a sum."""
        if len(inner) == 1:
            ((mono, c),) = inner.items()
            odd = [pair for pair in mono if not self.is_square(frozenset({pair}))]
            if c > 0 and len(odd) < 2:
                out = [scaled(function("ln", constant(prime)), turns) for prime, turns in primes(c)]
                for atom, p in atoms_of(mono):
                    if atom.kind == "exp":
                        out.append({atom.mono: p})
                    else:
                        out.append(scaled(function("ln", self.absolute(single(atom))), p))
                return plus(*out)
        elif not is_zero(inner):
            content, rest, lead = self.primitive(inner)
            if content and lead > 0 and all(map(self.is_positive, dict(content))):
                return plus(self.logarithm({content: lead}), function("ln", rest))
        return function("ln", inner)

    def applied(self, name: str, inner: Poly | None) -> Poly:
        """A function of one number."""
        if inner is None:
            if name in ("σ", "max0"):
                return {}
            raise Refused("a function of −∞")
        one = constant(1)
        match name:
            case "√":
                return self.raised(inner, Fraction(1, 2))
            case "tanh":
                twice = self.exp(scaled(inner, 2))
                return times(plus(twice, constant(-1)), self.power(plus(twice, one), Fraction(-1)))
            case "σ":
                up = self.exp(inner)
                return times(up, self.power(plus(one, up), Fraction(-1)))
            case "ln":
                self.lack("a logarithm", not self.never_zero(inner))
                return self.logarithm(inner)
            case "abs":
                return self.absolute(inner)
            case "cos" | "sin":
                return self.cos_sin(inner)[name == "sin"]
            case "max0":  # (x + |x|) / 2
                return scaled(plus(inner, self.absolute(inner)), Fraction(1, 2))
            case "erf" if is_zero(inner):
                return {}
            case "erf" if self.primitive(inner)[2] < 0:  # odd
                return scaled(self.applied(name, scaled(inner, -1)), -1)
        return function(name, inner)

    def some(self, poly: Poly | None) -> Poly:
        """A polynomial that is not −∞."""
        if poly is None:
            raise Refused("−∞ where a number has to be")
        return poly


def items_of(atom: Atom) -> Items:
    """The terms of an atom, which may be a polynomial."""
    return atom.terms if atom.kind == "poly" else frozenset(single(atom).items())


class Lines(Functions):
    """Functions of the numbers along a line: the largest, where it is, the level of sparsemax."""

    def first(self, at: Form, body: Poly, index: str, size: Form) -> Poly:
        """1 where an index is the first of the largest entries of a line, else 0.

        A positive factor and a term that are the same along the line leave it, and so does e^x.
        """
        inner = {m: c for m, c in body.items() if index in indices_of(m)}
        if not inner:
            return self.delta(at, number(0))
        inner = times(inner, self.power(self.scale(inner, index, True), Fraction(-1)))
        (mono, c), *more = inner.items()
        if c == 1 and not more and all(atom.kind == "exp" for atom, _ in mono):
            return self.first(at, {atom.mono: p for atom, p in mono}, index, size)
        return single(
            self.named_line("argmax", inner, index, size)._replace(kind="first", places=(at,))
        )

    def largest(self, name: str, parts: Parts) -> Poly | None:
        """The largest entry of a line, or its τ; entries of −∞ have no part in it."""
        lines = []
        if any(len(bound) > 1 for _, bound in parts):
            raise Refused(f"{name} of a row of blocks")
        for poly, ((index, count),) in parts:
            if poly is not None:
                if not self.nonnegative(plus_form(count, number(-1))):
                    raise Refused("a row that may be empty")
                lines.append(self.line(name, poly, index, count) if index else poly)
        if name != "max" and (len(lines) > 1 or any(not i for _, ((i, _),) in parts)):
            raise Refused(f"{name} of a row in parts")
        out = lines[0] if lines else None
        for other in lines[1:]:  # max(a, b) = (a + b + |a − b|)/2
            apart = self.absolute(plus(out or {}, scaled(other, -1)))
            out = scaled(plus(out or {}, other, apart), Fraction(1, 2))
        return out

    def line(self, name: str, body: Poly, index: str, size: Form) -> Poly:
        """The maximum of a line or its τ: max_l (k a_l + c) = k max_l a_l + c for k > 0."""
        outer = {m: c for m, c in body.items() if index not in indices_of(m)}
        inner = {m: c for m, c in body.items() if index in indices_of(m)}
        if not inner and name == "max":
            return outer
        if not inner:
            inner, outer = body, {}
        factor = constant(1)
        if name == "max":
            factor = self.scale(inner, index)
            inner = times(inner, self.power(factor, Fraction(-1)))
            ((mono, c), *more) = inner.items()
            if c == 1 and not more and all(atom.kind == "exp" for atom, _ in mono):
                top = self.line(name, {atom.mono: p for atom, p in mono}, index, size)
                return plus(times(factor, self.exp(top)), outer)  # e^x grows with x
        return plus(times(factor, single(self.named_line(name, inner, index, size))), outer)

    def scale(self, inner: Poly, index: str, strict: bool = False) -> Poly:
        """The common factor ≥ 0, or > 0, of the terms along a line."""
        shared = frozenset.intersection(
            *(
                frozenset(
                    (a, p)
                    for a, p in mono
                    if self.is_positive(a)
                    and index not in indices(a)
                    and (not strict or self.is_filled(a))
                )
                for mono in inner
            )
        )
        return scaled({shared: Fraction(1)}, min(abs(c) for c in inner.values()))

    def named_line(self, name: str, inner: Poly, index: str, size: Form) -> Atom:
        """A function of a line, its index named by its depth."""
        deep = 1 + max((height(a) for mono in inner for a, _ in mono), default=0)
        new = f"_{deep}a"
        items = renamed_items(inner.items(), {index: variable(new)})
        for letter in sorted(self.permuted) if name != "argmax" else ():
            if self.permuted[letter] == size:  # the largest of permuted entries is the largest
                turned = (place(letter, variable(new), back) for back in (0, 1))
                ways = [items, *(renamed_items(items, {new: one}) for one in turned)]
                items = min(ways, key=lambda one: (len(text_of(dict(one))), text_of(dict(one))))
        return Atom("line", name, (), ((new, size),), items)
