"""Polynomials over atoms, which are entries, e to a monomial, sums, functions and the like."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import lru_cache, reduce

import flint

from symattn.algebra.forms import Form, Refused, factors_of, names, put, variable
from symattn.algebra.texts import Atom, Items, Mono, Poly, form_text, spelled
from symattn.budget import spend

#: How many terms a polynomial may have, the largest power, and how often an angle may be added,
#: or a divisor be contained in an index.
MOST_TERMS, MOST_POWER, MOST_TURNS = 5_000, 64, 24


Bound = list[tuple[str, Form]]


UNIT: Mono = frozenset()


def constant(value: Fraction | int) -> Poly:
    """A rational number."""
    return {UNIT: Fraction(value)} if value else {}


def single(atom: Atom, power: Fraction | int = 1) -> Poly:
    """An atom to a power."""
    return {frozenset({(atom, Fraction(power))}): Fraction(1)}


def plus(*polys: Poly) -> Poly:
    """A sum."""
    out: Poly = {}
    for poly in polys:
        for mono, c in poly.items():
            out[mono] = out.get(mono, Fraction(0)) + c
    if len(out) > MOST_TERMS:
        raise Refused("a polynomial has too many terms")
    return {mono: c for mono, c in out.items() if c}


def scaled(poly: Poly, value: Fraction | int) -> Poly:
    """A multiple by a rational number."""
    return {mono: c * value for mono, c in poly.items()} if value else {}


@lru_cache(maxsize=65536)
def indices(atom: Atom) -> frozenset[str]:
    """The indices that an atom depends on."""
    within = [*map(indices_of, dict(atom.terms)), *(names(size) for _, size in atom.bound)]
    free = frozenset[str]().union(*within) - {name for name, _ in atom.bound}
    return free.union(*map(names, atom.places))


def indices_of(mono: Mono) -> frozenset[str]:
    """The indices that a monomial depends on."""
    return frozenset().union(*(indices(atom) for atom, _ in mono))


@lru_cache(maxsize=65536)
def height(atom: Atom) -> int:
    """How deep sums and lines are nested in an atom."""
    inside = (height(inner) for mono, _ in atom.terms for inner, _ in mono)
    return bool(atom.bound) + max(inside, default=0)


def renamed(atom: Atom, new: Mapping[str, Form]) -> Atom:
    """An atom with its free indices exchanged for others, and nothing else changed."""
    if not indices(atom) & set(new):
        return atom
    places = [put(at, new) for at in atom.places]
    if atom.kind == "δ":
        places.sort(key=form_text)
    bound = tuple((name, put(size, new)) for name, size in atom.bound)
    return Atom(atom.kind, atom.name, tuple(places), bound, renamed_items(atom.terms, new))


def renamed_mono(mono: Mono, new: Mapping[str, Form]) -> Mono:
    """A monomial with indices exchanged."""
    return frozenset((renamed(atom, new), p) for atom, p in mono)


def along_line(line: Atom, index: str) -> Poly:
    """The entries of a line, its index being this one."""
    ((own, _),) = line.bound
    return dict(renamed_items(line.terms, {own: variable(index)}))


def renamed_items(items: Iterable[tuple[Mono, Fraction]], new: Mapping[str, Form]) -> Items:
    """The terms of a polynomial with indices exchanged."""
    return frozenset((renamed_mono(mono, new), c) for mono, c in items)


def kept_part(atom: Atom, p: Fraction) -> tuple[Fraction, list[Poly]]:
    """What stays of atom^p as an atom's power, and the polynomials that are multiplied out."""
    whole = p.numerator // p.denominator
    match atom:
        case Atom("δ" | "first"):
            return Fraction(1), []
        case Atom("prime", value):
            return p - whole, [constant(Fraction(value) ** whole)] if whole else []
        case Atom("poly") if p >= 1:
            return p - whole, [dict(atom.terms)] * whole
        case Atom("fn", "abs") if p.denominator == 1 and abs(p) >= 2:
            even = 2 * Fraction(int(p / 2))  # |x|³ is x² |x|
            return p - even, [settled({Atom("poly", terms=atom.terms): even})]
        case Atom("fn", "sin") if p.denominator == 1 and p >= 2:
            square = plus(constant(1), scaled(single(atom._replace(name="cos"), 2), -1))
            return p % 2, [square] * int(p // 2)
    return p, []


def settled(powers: Mapping[Atom, Fraction]) -> Poly:
    """A product of powers of atoms."""
    kept: dict[Atom, Fraction] = {}
    parts: list[Poly] = []
    for atom, p in powers.items():
        if p:
            left, more = kept_part(atom, p)
            parts += more
            if left:
                kept[atom] = left
    return reduce(times, parts, {frozenset(kept.items()): Fraction(1)})


def product(one: Mono, other: Mono) -> Poly:
    """The product of two monomials."""
    powers = dict(one)
    for atom, p in other:
        powers[atom] = powers.get(atom, Fraction(0)) + p
    return settled(powers)


def times(one: Poly, other: Poly) -> Poly:
    """The product of two polynomials."""
    spend(len(one) * len(other))
    return plus(*(scaled(product(a, b), c * d) for a, c in one.items() for b, d in other.items()))


def is_zero(poly: Poly) -> bool:
    """Whether this is 0 over its atoms: it is multiplied by what it divides by, until nothing is.

    A polynomial in a power goes before those that stand in it.
    """
    whole = [(p.numerator // p.denominator, atom) for mono in poly for atom, p in mono if p < 0]
    divisors = [atom for _, atom in whole if atom.kind == "poly"]
    if not divisors:
        return not poly
    last = max(divisors, key=lambda atom: (len(spelled(atom)), spelled(atom)))
    power = -min(p for p, atom in whole if atom == last)
    return not is_zero(dict(last.terms)) and is_zero(times(poly, single(last, power)))


def function(name: str, inner: Poly) -> Poly:
    """A function of a polynomial as it is."""
    return single(Atom("fn", name, terms=frozenset(inner.items())))


def atom_alone(poly: Poly) -> Atom | None:
    """The atom that a polynomial is; None of any other."""
    atom = next((atom for mono in poly for atom, _ in mono), None)
    return atom if atom is not None and poly == single(atom) else None


def primes(value: Fraction) -> list[tuple[int, int]]:
    """The primes of a positive rational with their exponents."""
    out: list[tuple[int, int]] = []
    for part, sign in ((value.numerator, 1), (value.denominator, -1)):
        if part.bit_length() > 200:
            raise Refused("a root or logarithm of a very large number")
        out += [(int(p), int(k) * sign) for p, k in flint.fmpz(part).factor()]
    return out


def power_of_number(value: Fraction, p: Fraction) -> Poly:
    """A positive rational to a power, along its primes."""
    return settled({Atom("prime", prime): p * turns for prime, turns in primes(value)})


def form_poly(one: Form) -> Poly:
    """A linear form as a polynomial."""
    out: Poly = {}
    for atom, c in one:
        if isinstance(atom, tuple):
            raise Refused("a permuted index or a quotient as a number")
        factors = (
            Atom("index", places=(variable(name),)) if name[:1] == "#" else Atom("size", name)
            for name in factors_of(atom)
        )
        out = plus(out, reduce(times, map(single, factors), constant(c)))
    return out
