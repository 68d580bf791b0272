"""A normal form for sums over symbolic indices, for identities that hold at every size.

A polynomial maps monomials to rational coefficients; a monomial is a set of factors with powers; a
factor is an entry m_ij, a scalar, e to a monomial, a sum over indices, a polynomial (under a
fraction bar or a root), a function, or a condition i = j. Sums are split into the parts that
share no index, what does not depend on an index leaves its sum, and bound indices get names that
do not depend on how they were written. Equal normal forms are equal functions at all sizes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from functools import lru_cache
from itertools import count
from typing import Any

import sympy

from symattn.algebra.effort import spend

Factor = tuple[Any, ...]
Mono = frozenset[tuple[Factor, Fraction]]
Poly = dict[Mono, Fraction]

ONE: Mono = frozenset()


class NotHere(Exception):
    """This normal form does not cover the expression."""


def fresh() -> sympy.Symbol:
    """An index that nothing else in the statement uses."""
    return sympy.Symbol(f"l{next(_NUMBERS.get()):06d}", integer=True)


def constant(value: Any) -> Poly:
    """A rational number as a polynomial."""
    number = Fraction(value)
    return {ONE: number} if number else {}


def single(factor: Factor, power: Any = 1) -> Poly:
    """One factor to a power."""
    return {frozenset({(factor, Fraction(power))}): Fraction(1)}


def plus(polys: Iterable[Poly]) -> Poly:
    """The sum."""
    out: Poly = {}
    for poly in polys:
        for mono, coefficient in poly.items():
            total = out.get(mono, Fraction(0)) + coefficient
            if total:
                out[mono] = total
            else:
                out.pop(mono, None)
    return out


def scaled(poly: Poly, number: Any) -> Poly:
    """The product with a rational number."""
    factor = Fraction(number)
    return {mono: c * factor for mono, c in poly.items()} if factor else {}


def times(one: Poly, other: Poly) -> Poly:
    """The product, expanded."""
    spend(len(one) * len(other))
    return plus(scaled(product(a, b), c * d) for a, c in one.items() for b, d in other.items())


def product(one: Mono, other: Mono) -> Poly:
    """The product of two monomials; sums under whole positive powers are multiplied out."""
    powers = dict(in_order(one))
    for factor, power in in_order(other):
        powers[factor] = powers.get(factor, Fraction(0)) + power
    return settled(powers)


def settled(powers: Mapping[Factor, Fraction]) -> Poly:
    """A monomial of these factors, as a polynomial."""
    factors: dict[Factor, Fraction] = {}
    expanded: list[Poly] = []
    for factor, p in powers.items():
        if p == 0:
            continue
        if factor[0] == "=":
            factors[factor] = Fraction(1)
        elif factor[0] == "number" and p.denominator == 1:
            expanded.append(constant(Fraction(factor[1]) ** int(p)))
        elif factor[0] == "number":
            whole = p.numerator // p.denominator
            expanded += [constant(Fraction(factor[1]) ** whole)] if whole else []
            factors[factor] = p - whole
        elif factor[:2] == ("fn", "abs") and p.denominator == 1 and p % 2 == 0:
            expanded.append(power(dict(factor[2]), p))  # |x|² is x²
        elif factor[:2] == ("fn", "sin") and p.denominator == 1 and p >= 2:
            square = plus((constant(1), scaled(single(("fn", "cos", factor[2]), 2), -1)))
            expanded.append(power(square, Fraction(p // 2)))  # sin² is 1 − cos²
            if p % 2:
                factors[factor] = Fraction(1)
        elif factor[0] == "poly" and p >= 1:
            whole = p.numerator // p.denominator
            expanded += [dict(factor[1])] * whole
            if p > whole:
                factors[factor] = p - whole
        else:
            factors[factor] = p
    out: Poly = {frozenset(factors.items()): Fraction(1)}
    for poly in expanded:
        out = times(out, poly)
    return out


def power(poly: Poly, exponent: Any) -> Poly:
    """A power with a rational exponent.

    A fractional power of a product is the product of the powers only where all factors are
    positive; otherwise the whole stays under the root.
    """
    exponent = Fraction(exponent)
    if exponent < 0 and any(factor[0] == "=" for mono in poly for factor, _ in mono):
        raise NotHere("a quotient by what is 0 off a diagonal")
    if exponent.denominator == 1 and exponent >= 0:
        out = constant(1)
        for _ in range(int(exponent)):
            out = times(out, poly)
        return out
    if not poly:
        raise NotHere("a quotient by 0")
    if exponent.denominator != 1:
        return _root(poly, exponent)
    if len(poly) == 1:
        ((mono, coefficient),) = poly.items()
        turned = {factor: p * exponent for factor, p in mono}
        return scaled(settled(turned), coefficient ** int(exponent))
    content, rest, lead = primitive(poly)
    outside = power(scaled({content: Fraction(1)}, lead), exponent)
    return times(outside, single(("poly", frozenset(rest.items())), exponent))


def _root(poly: Poly, exponent: Fraction) -> Poly:
    """A power that is not whole, of what is ≥ 0: √(x² y) is |x| √y."""
    content, rest, lead = primitive(poly)
    out, inside = number_power(abs(lead), exponent), scaled(rest, 1 if lead > 0 else -1)
    gone = {factor for factor, _ in content if not is_positive(factor)}
    for factor, p in in_order(content):
        if is_nonnegative(factor):
            out = times(out, single(factor, p * exponent))
        elif p.denominator == 1:  # x³ is x² x
            size = single(("fn", "abs", frozenset(single(factor).items())), (p - p % 2) * exponent)
            out = times(out, size)
            inside = times(inside, single(factor, p % 2))
        else:
            inside = times(inside, single(factor, p))
    if inside == constant(1):
        return out
    if all(gone <= {factor for factor, _ in mono} for mono in inside):
        known_nonnegative(inside)  # else what has left may be 0, and this below 0 then
    if len(inside) == 1:
        ((mono, number),) = inside.items()
        if len(mono) == 1 and number == 1:
            ((factor, p),) = mono
            return times(out, single(factor, p * exponent))
    return times(out, single(("poly", frozenset(inside.items())), exponent))


def known_nonnegative(poly: Poly) -> None:
    """Note that this is ≥ 0 wherever the statement at hand has a value."""
    _ROOTED.get().add(("poly", frozenset(poly.items())))


#: What a root is taken of somewhere in the statement at hand: it is ≥ 0 where both sides are
#: defined, which is where they are compared.
_ROOTED: ContextVar[set[Factor]] = ContextVar("rooted")

#: Numbers for the indices of a statement, so that its proof takes the same steps every time.
_NUMBERS: ContextVar[Iterator[int]] = ContextVar("numbers")


@contextmanager
def one_statement() -> Iterator[None]:
    """What is inside belongs to one statement: its indices, and what roots are taken of."""
    tokens = _ROOTED.set(set()), _NUMBERS.set(count())
    try:
        yield
    finally:
        _ROOTED.reset(tokens[0])
        _NUMBERS.reset(tokens[1])


def in_order(mono: Mono) -> list[tuple[Factor, Fraction]]:
    """The factors of a monomial in an order that does not depend on how they are stored."""
    return sorted(mono, key=lambda pair: word(pair[0]))


def absolute(poly: Poly) -> Poly:
    """|poly|: positive factors leave it, and |−p| is |p|."""
    if not poly:
        return poly
    content, rest, lead = primitive(poly)
    out = constant(abs(lead))
    for factor, p in in_order(content):
        if is_nonnegative(factor):
            out = times(out, single(factor, p))
        elif p.denominator != 1:
            return single(("fn", "abs", frozenset(poly.items())))
        elif p % 2 == 0:
            out = times(out, single(factor, p))
        else:
            out = times(out, single(("fn", "abs", frozenset(single(factor).items())), p))
    if len(rest) == 1 and ONE in rest:
        return times(out, constant(abs(rest[ONE])))
    if evidently_nonnegative(rest):
        return times(out, rest)
    return times(out, single(("fn", "abs", frozenset(rest.items()))))


#: The largest multiple of an angle that is written by multiples of cos and sin of the angle.
_MOST_TURNS = 24


def cos_sin(angle: Poly) -> tuple[Poly, Poly]:
    """Cosine and sine of an angle, by the addition formulas along its terms."""
    cosine, sine = constant(1), constant(0)
    for mono, coefficient in sorted(angle.items(), key=lambda term: spelled(term[0])):
        unit, turns = Fraction(1, coefficient.denominator), abs(coefficient.numerator)
        if turns > _MOST_TURNS:
            raise NotHere("a large multiple of an angle")
        inner = frozenset({(mono, unit)})
        c, s = single(("fn", "cos", inner)), single(("fn", "sin", inner))
        s = scaled(s, 1 if coefficient > 0 else -1)
        for _ in range(turns):
            cosine, sine = (
                plus((times(cosine, c), scaled(times(sine, s), -1))),
                plus((times(sine, c), times(cosine, s))),
            )
    return cosine, sine


def number_power(value: Fraction, exponent: Fraction) -> Poly:
    """A positive rational to a power, along its primes."""
    powers: dict[Factor, Fraction] = {}
    for part, sign in ((value.numerator, 1), (value.denominator, -1)):
        for prime, times_ in sympy.factorint(part).items():
            key = ("number", int(prime))
            powers[key] = powers.get(key, Fraction(0)) + sign * times_ * exponent
    return settled(powers)


def primitive(poly: Poly) -> tuple[Mono, Poly, Fraction]:
    """Content, the rest, and a number: every factor's least power in the rest is 0."""
    least: dict[Factor, Fraction] = {}
    factors = dict.fromkeys(
        factor for mono in poly for factor, _ in in_order(mono) if factor[0] not in ("=", "number")
    )
    for factor in factors:
        least[factor] = min(dict(mono).get(factor, Fraction(0)) for mono in poly)
    content = frozenset((factor, p) for factor, p in least.items() if p)
    turned = {factor: -p for factor, p in content}
    rest: Poly = plus(
        scaled(product(mono, frozenset(turned.items())), c) for mono, c in poly.items()
    )
    first = min(rest, key=spelled)
    lead = rest[first]
    return content, scaled(rest, 1 / lead), lead


def is_positive(factor: Factor) -> bool:
    """Whether a factor is evidently positive; a sum over nothing is 0 all the same."""
    match factor[0]:
        case "exp" | "number":
            return True
        case "scalar":
            return factor[1].is_positive is True
        case "entry":
            return bool(factor[4])
        case "sum":
            return all(is_positive(inner) for inner, _ in factor[2])
        case "poly":
            return all(
                c > 0 and all(is_positive(inner) for inner, _ in mono) for mono, c in factor[1]
            )
    return False


def is_nonnegative(factor: Factor) -> bool:
    """Whether a factor is evidently ≥ 0, or a root or logarithm is taken of it elsewhere."""
    if ("poly", frozenset(single(factor).items())) in _ROOTED.get():
        return True
    match factor[0]:
        case "=":
            return True
        case "fn":
            return bool(factor[1] == "abs")
        case "sum":
            return all(is_nonnegative(inner) or p % 2 == 0 for inner, p in factor[2])
        case "poly":
            return factor in _ROOTED.get() or evidently_nonnegative(dict(factor[1]))
    return is_positive(factor)


def evidently_nonnegative(poly: Poly) -> bool:
    """Whether every term is ≥ 0, or has its absolute value beside it: x + |x|."""
    left = dict(poly)
    for mono, c in poly.items():
        if all(is_nonnegative(factor) or p % 2 == 0 for factor, p in mono):
            continue
        whole = absolute({mono: Fraction(1)})
        if len(whole) != 1:
            return False
        ((partner, scale),) = whole.items()
        left[partner] = left.get(partner, Fraction(0)) - abs(c) * scale
        del left[mono]
    return all(c >= 0 for c in left.values())


def evidently_positive(poly: Poly) -> bool:
    """Whether every term is a positive number times positive factors."""
    return bool(poly) and all(
        c > 0
        and all(
            is_positive(factor) or (p.denominator == 1 and p % 2 == 0 and p < 0)
            for factor, p in mono
        )
        for mono, c in poly.items()
    )


# ---- indices -------------------------------------------------------------------------------


@lru_cache(maxsize=65536)
def indices(factor: Factor) -> frozenset[sympy.Symbol]:
    """The indices that a factor depends on."""
    match factor[0]:
        case "entry":
            head = getattr(factor[1], "head", sympy.S.Zero)
            return letters(factor[2]) | letters(factor[3]) | letters(head)
        case "scalar" | "number":
            return frozenset()
        case "index":
            return letters(factor[1])
        case "=":
            return letters(factor[1]) | letters(factor[2])
        case "exp":
            return mono_indices(factor[1])
        case "sum":
            bound = {index for index, _ in factor[1]}
            sizes = frozenset().union(*(letters(size) for _, size in factor[1]))
            return (mono_indices(factor[2]) | sizes) - bound
        case "line":
            index, size = factor[2]
            inner = frozenset().union(*(mono_indices(mono) for mono, _ in factor[3]))
            return (inner | letters(size)) - {index}
    return frozenset().union(*(mono_indices(mono) for mono, _ in factor[-1]))


def mono_indices(mono: Mono) -> frozenset[sympy.Symbol]:
    """The indices that a monomial depends on."""
    return frozenset().union(*(indices(factor) for factor, _ in mono))


def letters(index: Any) -> frozenset[sympy.Symbol]:
    """The indices in an index expression; sizes are positive, indices are not."""
    return frozenset(
        s
        for s in sympy.sympify(index, strict=True).free_symbols
        if s.is_integer and s.is_positive is not True
    )


def exp(poly: Poly) -> Poly:
    """E to a polynomial: one factor for each monomial, its coefficient the power."""
    out = constant(1)
    for mono, coefficient in poly.items():
        same = frozenset(pair for pair in mono if pair[0][0] == "=")
        if same:  # e^{[i = j] x} is 1 + [i = j] (e^x − 1)
            more = plus((exp({mono - same: coefficient}), constant(-1)))
            out = times(out, plus((constant(1), times({same: Fraction(1)}, more))))
            continue
        if len(mono) == 1:
            ((factor, p),) = mono
            if factor[0] == "ln" and p == 1:  # e^{q ln x} is x^q
                out = times(out, power(dict(factor[1]), coefficient))
                continue
        out = times(out, single(("exp", mono), coefficient))
    return out


@lru_cache(maxsize=65536)
def depth(factor: Factor) -> int:
    """How deep sums are nested in a factor."""
    match factor[0]:
        case "sum":
            return 1 + max((depth(inner) for inner, _ in factor[2]), default=0)
        case "exp":
            return max((depth(inner) for inner, _ in factor[1]), default=0)
        case "line":
            return 1 + max((depth(f) for mono, _ in factor[3] for f, _ in mono), default=0)
        case "poly" | "ln" | "fn":
            return max((depth(inner) for mono, _ in factor[-1] for inner, _ in mono), default=0)
    return 0


def size_poly(size: Any) -> Poly:
    """A size as a polynomial: m, n + 1, i + 1."""
    expr = sympy.expand(sympy.sympify(size, strict=True))
    out = []
    for term in sympy.Add.make_args(expr):
        number, rest = term.as_coeff_Mul()
        if rest == 1:
            out.append(constant(Fraction(int(number.p), int(number.q))))
        else:
            kind = "scalar" if rest.is_positive else "index"
            out.append(scaled(single((kind, rest)), Fraction(int(number.p), int(number.q))))
    return plus(out)


@lru_cache(maxsize=65536)
def word(factor: Factor) -> str:
    """A factor as a text that is the same for equal ones."""
    match factor[0]:
        case "exp":
            return f"exp({spelled(factor[1])})"
        case "sum":
            return f"sum({factor[1]}; {spelled(factor[2])})"
        case "poly" | "ln" | "fn" | "line":
            inner = " + ".join(sorted(f"{c} {spelled(m)}" for m, c in factor[-1]))
            return f"{factor[:-1]}({inner})"
    return str(factor)


@lru_cache(maxsize=65536)
def spelled(mono: Mono) -> str:
    """A monomial as a text that is the same for equal ones."""
    return " ".join(sorted(f"{word(factor)}^{p}" for factor, p in mono))


def is_zero(poly: Poly) -> bool:
    """Whether a polynomial is 0 once its denominators are cleared."""
    for _ in range(24):
        if not poly:
            return True
        below: dict[Factor, Fraction] = {}
        for mono in poly:
            for factor, p in mono:
                if factor[0] == "poly" and p < 0:
                    below[factor] = min(below.get(factor, Fraction(0)), p)
        if not below:
            return False
        factor, least = min(below.items(), key=lambda pair: word(pair[0]))
        up = -(least.numerator // least.denominator)
        poly = plus(
            scaled(product(mono, frozenset({(factor, Fraction(up))})), c)
            for mono, c in poly.items()
        )
    return False
