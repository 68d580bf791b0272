"""An exact field of functions: rational functions in inputs, exponentials, logarithms, roots.

A number here is a quotient of two polynomials in generators. A generator is an input or stands for
one exponential e^{s·m} of a monomial m, for tan(s·m/2), for ln p, or for a root of p. What SymPy
would have to guess about is then arithmetic of FLINT's multivariate polynomials, with a normal
form: an element is 0 if and only if its numerator is. That a non-zero element is a non-zero
function follows from Ax, *On Schanuel's Conjectures* (1971), Theorem 3, and for constants from
Lindemann–Weierstrass; see docs/proofs.md. No answer "equal" rests on either: every step here
replaces a function by an equal one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from typing import Any

import flint

from symattn.arithmetic.base import Ground
from symattn.budget import spend
from symattn.errors import SymattnError

#: How many terms a numerator or denominator may have.
_MOST_TERMS = 20_000


class Again(Exception):
    """Raised where a new scale or order is found: the computation starts again with it."""


class NeedSign(Exception):
    """Raised where the result depends on the sign of a polynomial: compute with both."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


class Empty(Exception):
    """Raised where no input has the signs that are assumed."""


class TooHard(SymattnError):
    """Something that this decision does not cover; the message says what."""


@dataclass
class Known:
    """Scales, orders and signs found in earlier rounds of a computation."""

    scales: dict[str, list[Fraction]] = field(default_factory=dict)
    orders: dict[str, int] = field(default_factory=dict)
    signs: dict[str, int] = field(default_factory=dict)
    #: Whether functions by cases are taken as they are; equal arguments then give equal values.
    opaque: bool = False
    #: Whether a sign was told by a root or logarithm that would have no value otherwise.
    partial: bool = False

    def assuming(self, key: str, sign: int) -> Known:
        """The same, and the sign of one more polynomial."""
        return Known(self.scales, self.orders, {**self.signs, key: sign}, partial=self.partial)


class Undefined(SymattnError):
    """A quotient by 0, or ∞ − ∞: the expression has no value, whatever the inputs are."""


@dataclass(frozen=True)
class Generator:
    """One transcendental or algebraic generator: what it is, and how to find its value."""

    name: str
    kind: str  # input, exp, tan, log, root
    positive: bool
    #: The element it is made of (the monomial, the argument of ln, the radicand).
    of: Any = None
    scale: Fraction = Fraction(1)
    order: int = 0
    #: Whether it is positive only in the case of signs at hand, which leaves out where it is 0.
    assumed: bool = False

    @property
    def is_never_zero(self) -> bool:
        """Whether no inputs make it 0."""
        if self.kind == "root":
            return bool(self.of.num.is_constant())
        return self.positive and not self.assumed and self.kind in ("exp", "input")


class Ring:
    """The polynomials over ℚ in generators that grow in number as they are needed."""

    def __init__(self) -> None:
        self.generators: list[Generator] = []
        self.place: dict[str, int] = {}
        self.roots: list[int] = []
        #: Whether something was divided by what may be 0, or a root or logarithm may be missing.
        self.partial = False
        self._grow(16)

    def _grow(self, capacity: int) -> None:
        names = tuple(f"x{k}" for k in range(capacity))
        self.context = flint.fmpq_mpoly_ctx.get(names, "degrevlex")
        self.gens = self.context.gens()

    def add(self, generator: Generator) -> int:
        """A new generator; its place."""
        place = len(self.generators)
        if place >= len(self.gens):
            self._grow(4 * len(self.gens))
        self.generators.append(generator)
        self.place[generator.name] = place
        if generator.kind == "root":
            self.roots.append(place)
        return place

    def constant(self, value: Ground) -> flint.fmpq_mpoly:
        """A rational number as a polynomial."""
        number = value if isinstance(value, flint.fmpq) else rational(value)
        return self.context.constant(number)

    def lifted(self, poly: flint.fmpq_mpoly) -> flint.fmpq_mpoly:
        """A polynomial in the context that is in force."""
        if poly.context() is self.context:
            return poly
        more = (0,) * (len(self.gens) - poly.context().nvars())
        terms = {(*powers, *more): number for powers, number in poly.to_dict().items()}
        return self.context.from_dict(terms)

    def element(self, place: int) -> Element:
        """The generator at a place, as an element."""
        return Element(self, self.gens[place], self.constant(1))

    def number(self, value: Ground) -> Element:
        """A rational number as an element."""
        return Element(self, self.constant(value), self.constant(1))

    def of(self, poly: flint.fmpq_mpoly) -> Element:
        """A polynomial as an element."""
        return Element(self, poly, self.constant(1))

    # ---- roots: r^N = u -------------------------------------------------------------------

    def reduced(self, poly: flint.fmpq_mpoly) -> flint.fmpq_mpoly:
        """The polynomial with every power of a root below its order."""
        for place in reversed(self.roots):
            order = self.generators[place].order
            while poly.degrees()[place] >= order:
                poly = self._reduced_at(poly, place, order)
        return poly

    def _reduced_at(self, poly: flint.fmpq_mpoly, place: int, order: int) -> Any:
        radicand = self.lifted(self.generators[place].of.num)
        parts: dict[int, dict[tuple[int, ...], flint.fmpq]] = {}
        for powers, coefficient in poly.to_dict().items():
            turns, rest = divmod(powers[place], order)
            left = (*powers[:place], rest, *powers[place + 1 :])
            parts.setdefault(turns, {})[left] = coefficient
        out = self.constant(0)
        for turns, part in parts.items():
            out += self.context.from_dict(part) * radicand**turns
        return out

    def roots_in(self, poly: flint.fmpq_mpoly) -> list[int]:
        """The places of the roots that occur in a polynomial."""
        if not self.roots:
            return []
        degrees = poly.degrees()
        return [place for place in self.roots if degrees[place] > 0]

    def by_powers(self, poly: flint.fmpq_mpoly, place: int) -> dict[int, flint.fmpq_mpoly]:
        """The coefficients of a polynomial in one generator, by its powers."""
        spend(len(poly))
        parts: dict[int, dict[tuple[int, ...], flint.fmpq]] = {}
        for powers, coefficient in poly.to_dict().items():
            left = (*powers[:place], 0, *powers[place + 1 :])
            parts.setdefault(powers[place], {})[left] = coefficient
        return {power: self.context.from_dict(part) for power, part in parts.items()}


class Element:
    """A quotient of polynomials in lowest terms, the denominator monic and free of roots.

    −∞ is an element too (`num` is None): it absorbs what is added to it, and e^{−∞} = 0.
    """

    __slots__ = ("den", "num", "ring")

    def __init__(self, ring: Ring, num: Any, den: Any) -> None:
        self.ring, self.num, self.den = ring, num, den

    @property
    def hidden(self) -> bool:
        """Whether this is −∞."""
        return self.num is None

    @property
    def is_zero(self) -> bool:
        """Whether this is the function 0."""
        return self.num is not None and bool(self.num.is_zero())

    def parts(self) -> tuple[flint.fmpq_mpoly, flint.fmpq_mpoly]:
        """Numerator and denominator in the context in force."""
        return self.ring.lifted(self.num), self.ring.lifted(self.den)

    def _other(self, other: Ground) -> Element:
        return other if isinstance(other, Element) else self.ring.number(other)

    def __add__(self, other: Ground) -> Element:
        right = self._other(other)
        if self.hidden or right.hidden:
            return self if self.hidden else right
        (a, b), (c, d) = self.parts(), right.parts()
        spend(len(a) + len(c) + len(b) * len(d))
        if b == d:
            return _lowest(self.ring, a + c, b)
        shared = b.gcd(d)
        left, below = b / shared, d / shared
        return _lowest(self.ring, a * below + c * left, b * below)

    __radd__ = __add__

    def __neg__(self) -> Element:
        if self.hidden:
            raise Undefined("minus −∞ is +∞, which has no place here")
        return Element(self.ring, -self.num, self.den)

    def __sub__(self, other: Ground) -> Element:
        return self + (-self._other(other))

    def __rsub__(self, other: Ground) -> Element:
        return self._other(other) - self

    def __mul__(self, other: Ground) -> Element:
        right = self._other(other)
        if self.hidden or right.hidden:
            return _times_hidden(self, right)
        if self.is_zero or right.is_zero:
            return self.ring.number(0)
        (a, b), (c, d) = self.parts(), right.parts()
        spend(1 + len(a) * len(c) + len(b) * len(d))
        one, two = a.gcd(d), c.gcd(b)
        num = self.ring.reduced((a / one) * (c / two))
        return _lowest(self.ring, num, (b / two) * (d / one))

    __rmul__ = __mul__

    def inverse(self) -> Element:
        """1 over this. Raises `Undefined` for 0."""
        if self.hidden or self.is_zero:
            raise Undefined("division by 0")
        num, den = self.parts()
        self.ring.partial |= not never_zero(self.ring, num)
        places = self.ring.roots_in(num)
        if not places:
            return _lowest(self.ring, den, num)
        return _lowest(self.ring, den, self.ring.constant(1)) * _rooted_inverse(
            self.ring, num, places[-1]
        )

    def __truediv__(self, other: Ground) -> Element:
        return self * self._other(other).inverse()

    def __rtruediv__(self, other: Ground) -> Element:
        return self._other(other) / self

    def __pow__(self, exponent: int) -> Element:
        base = self if exponent >= 0 else self.inverse()
        return reduce(lambda out, _: out * base, range(abs(exponent)), self.ring.number(1))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Element | int):
            return NotImplemented
        right = self._other(other)
        if self.hidden or right.hidden:
            return self.hidden and right.hidden
        return (self - right).is_zero

    __hash__ = None  # type: ignore[assignment]  # equality is decided, not structural

    def terms(self) -> list[tuple[tuple[int, ...], Fraction]]:
        """The terms of the numerator: powers and coefficients."""
        num, _ = self.parts()
        return [(powers, fraction(c)) for powers, c in num.to_dict().items()]

    def places(self) -> set[int]:
        """The places of all generators that occur."""
        return {
            place
            for poly in self.parts()
            for place, degree in enumerate(poly.degrees())
            if degree > 0
        }

    def key(self) -> str:
        """A text that is the same for equal elements over the same generators."""
        return f"({self.spelled(self.parts()[0])})/({self.spelled(self.parts()[1])})"

    def spelled(self, poly: flint.fmpq_mpoly) -> str:
        """A polynomial over the names of the generators."""
        names = [generator.name for generator in self.ring.generators]
        terms = []
        for powers, coefficient in sorted(poly.to_dict().items(), reverse=True):
            used = [f"{names[k]}^{p}" for k, p in enumerate(powers) if p]
            terms.append("*".join([str(coefficient), *used]))
        return " + ".join(terms) or "0"

    def substitute(self, place: int, value: Element) -> Element:
        """This with an element put in for a generator."""

        def at(poly: flint.fmpq_mpoly) -> Element:
            out = self.ring.number(0)
            for power, part in self.ring.by_powers(poly, place).items():
                out = out + self.ring.of(part) * value**power
            return out

        if self.hidden or place not in self.places():
            return self
        num, den = self.parts()
        return at(num) / at(den)

    def at(self, value: Callable[[int], Ground], one: Callable[[Fraction], Ground]) -> Ground:
        """The value, given each generator's in any arithmetic; `one` converts a rational."""

        def number(poly: flint.fmpq_mpoly) -> Ground:
            out = one(Fraction(0))
            for powers, coefficient in poly.to_dict().items():
                term = one(fraction(coefficient))
                for place, power in enumerate(powers):
                    for _ in range(power):
                        term = term * value(place)
                out = out + term
            return out

        num, den = self.parts()
        return number(num) / number(den)


def _lowest(ring: Ring, num: flint.fmpq_mpoly, den: flint.fmpq_mpoly) -> Element:
    """The quotient in lowest terms. Raises `TooHard` for polynomials of very many terms."""
    if len(num) > _MOST_TERMS or len(den) > _MOST_TERMS:
        raise TooHard("the polynomials grow too large; choose smaller sizes")
    if num.is_zero():
        return Element(ring, num, ring.constant(1))
    if not den.is_constant():
        spend(len(num) * len(den))
        shared = num.gcd(den)
        if not shared.is_constant():
            num, den = num / shared, den / shared
    lead = den.leading_coefficient()
    if lead != 1:
        num, den = num / ring.constant(lead), den / ring.constant(lead)
    return Element(ring, num, den)


def _times_hidden(one: Element, other: Element) -> Element:
    """−∞ times a positive number, which alone has a meaning."""
    hidden, factor = (one, other) if one.hidden else (other, one)
    number = None if factor.hidden else evidently_positive(factor)
    if not number:
        raise Undefined("−∞ times something that is not evidently positive")
    return hidden


def evidently_positive(element: Element) -> bool:
    """Whether all terms have one sign, and one of them is never 0."""
    ring, parts = element.ring, element.parts()
    signs = [_sign_by_terms(ring, poly) for poly in parts]
    return signs[0] == signs[1] and all(never_zero(ring, poly) for poly in parts)


def never_zero(ring: Ring, poly: flint.fmpq_mpoly) -> bool:
    """Whether a polynomial has evidently no zeros: one sign, and a term that is never 0.

    The square of an input may be 0, and a root too; exponentials and positive inputs are not.
    """
    poly = ring.lifted(poly)
    return _sign_by_terms(ring, poly) != 0 and any(
        all(ring.generators[k].is_never_zero for k, p in enumerate(powers) if p)
        for powers in poly.to_dict()
    )


def _sign_by_terms(ring: Ring, poly: flint.fmpq_mpoly) -> int:
    """1 or −1 where every term of a polynomial has this sign; 0 where that is not seen."""
    found = 0
    for powers, coefficient in poly.to_dict().items():
        if any(p % 2 and not ring.generators[k].positive for k, p in enumerate(powers)):
            return 0
        sign = 1 if coefficient > 0 else -1
        if found not in (0, sign):
            return 0
        found = sign
    return found


def sign_by_terms(ring: Ring, poly: flint.fmpq_mpoly) -> int:
    """1 or −1 where every term of a polynomial evidently has this sign, else 0."""
    return _sign_by_terms(ring, ring.lifted(poly))


def _rooted_inverse(ring: Ring, num: flint.fmpq_mpoly, place: int) -> Element:
    """1 over a polynomial in a root r, r^N = u, as a polynomial in r.

    With num = Σ a_k r^k, the b with num · Σ b_k r^k = 1 solve N linear equations.
    """
    order, radicand = ring.generators[place].order, ring.generators[place].of
    parts = {power: ring.of(part) for power, part in ring.by_powers(num, place).items()}
    root = ring.element(place)
    if len(parts) == 1:
        ((power, only),) = parts.items()
        below: Element = radicand.inverse()
        return only.inverse() * (root ** (order - power)) * below
    zero = ring.number(0)
    rows = []
    for k in range(order):
        row = [zero] * order
        for power, part in parts.items():
            turns, rest = divmod(power + k, order)
            row[rest] = row[rest] + (part * radicand if turns else part)
        rows.append(row)
    # column k of the system is r^k times num; transpose: unknown b_k multiplies rows[k]
    table = [[rows[k][line] for k in range(order)] for line in range(order)]
    wanted = [ring.number(1), *[zero] * (order - 1)]
    solution = solved(table, wanted)
    if solution is None:
        raise Undefined("division by 0")
    out = zero
    for power, part in enumerate(solution):
        out = out + part * root**power
    return out


def solved(
    table: list[list[Ground]], wanted: list[Ground], free: list[Ground] | None = None
) -> list[Ground] | None:
    """A solution of linear equations over any field; None where there is none.

    What is not determined is as `free` has it; without that, several solutions are none.
    """
    rows = [[*line, right] for line, right in zip(table, wanted, strict=True)]
    unknowns = len(table[0]) if free is None else len(free)
    pivots: list[int] = []
    for column in range(unknowns):
        at = len(pivots)
        pivot = next((k for k in range(at, len(rows)) if rows[k][column] != 0), None)
        if pivot is None:
            if free is None:
                return None
            continue
        rows[at], rows[pivot] = rows[pivot], rows[at]
        lead = rows[at][column]
        rows[at] = [entry / lead for entry in rows[at]]
        for k, row in enumerate(rows):
            if k != at and row[column] != 0:
                spend(len(row))
                rows[k] = [a - row[column] * b for a, b in zip(row, rows[at], strict=True)]
        pivots.append(column)
    if any(row[-1] != 0 for row in rows[len(pivots) :]):
        return None
    out = [row[-1] for row in rows[:unknowns]] if free is None else list(free)
    for row, column in zip(rows, pivots, strict=False):
        out[column] = row[-1]
        for k in range(unknowns):
            if k not in pivots:
                out[column] -= row[k] * out[k]
    return out


def rational(value: Ground) -> flint.fmpq:
    """FLINT's rational number."""
    number = Fraction(value)
    return flint.fmpq(number.numerator, number.denominator)


def fraction(value: Ground) -> Fraction:
    """Python's fraction of FLINT's rational number."""
    return Fraction(int(value.p), int(value.q))
