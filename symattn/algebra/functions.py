"""Exponentials, logarithms, roots, cosines and signs as elements of the exact field.

e^f is split along the terms of f: e^{2xy + z/3} is (e^{xy})² e^{z/3}, so that one generator stands
for each monomial, with the scale that all its multiples need. What lies in the way of one formula
for everything (the sign under a root, the larger of two scores) is decided by cases: the sign of
a polynomial is assumed + and −, and both have to agree. Where a new scale or sign is needed the
computation starts again, knowing it (`Again`).

Sources: Risch, *Algebraic Properties of the Elementary Functions of Analysis* (1979), for which
exponentials and logarithms are new; Weierstrass's t = tan(x/2) for cosines.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from fractions import Fraction
from math import lcm

import flint

from symattn.algebra.field import (
    Again,
    Element,
    Empty,
    Generator,
    Known,
    NeedSign,
    Ring,
    TooHard,
    Undefined,
    fraction,
    never_zero,
    sign_by_terms,
    solved,
)

#: The largest multiple of an angle, and of an exponent, that is written in one generator.
MOST_TURNS, MOST_POWER = 24, 10_000


class Functions:
    """The elementary functions over one `Ring`."""

    def __init__(self, known: Known) -> None:
        self.ring, self.known = Ring(), known
        self.ring.partial = known.partial
        #: What stands in the way of the independence of all generators, in words.
        self.doubts: dict[str, None] = {}
        self._fractions: list[tuple[Element, str]] = []

    def input(self, name: str, positive: bool = False) -> Element:
        """The generator of an input."""
        assumed = not positive and self.known.signs.get(f"1*{name}^1", 0) == 1
        return self._generator(Generator(name, "input", positive or assumed, assumed=assumed))

    def _generator(self, generator: Generator) -> Element:
        place = self.ring.place.get(generator.name)
        return self.ring.element(self.ring.add(generator) if place is None else place)

    # ---- exponentials ----------------------------------------------------------------------

    def exp(self, x: Element) -> Element:
        """e^x; of −∞ it is 0."""
        if x.hidden:
            return self.ring.number(0)
        num, den = x.parts()
        out = self.ring.number(1)
        if not den.is_constant():
            whole, rest = divmod(num, den)
            if not rest.is_zero():
                out, whole = self._exp_fraction(Element(self.ring, rest, den), whole)
            num = whole
        for powers, coefficient in self.ring.of(num).terms():
            out = out * self._exp_monomial(powers, coefficient)
        return out

    def _exp_monomial(self, powers: tuple[int, ...], factor: Fraction) -> Element:
        used = [(place, power) for place, power in enumerate(powers) if power]
        if len(used) == 1 and used[0][1] == 1:
            generator = self.ring.generators[used[0][0]]
            if generator.kind == "log":  # e^{q ln p} is p^q
                return self.power(generator.of, factor)
        monomial = self._monomial(used)
        return self._exp_of(self._name(used), monomial, factor)

    def _monomial(self, used: list[tuple[int, int]]) -> Element:
        out = self.ring.number(1)
        for place, power in used:
            out = out * self.ring.element(place) ** power
        return out

    def _name(self, used: list[tuple[int, int]]) -> str:
        return "·".join(f"{self.ring.generators[k].name}^{p}" for k, p in used) or "1"

    def _exp_of(self, name: str, argument: Element, factor: Fraction) -> Element:
        scale, times = self._scaled(f"e:{name}", factor, MOST_POWER)
        base = self._generator(Generator(f"e^({scale}·{name})", "exp", True, argument, scale))
        return base**times

    def _scaled(self, key: str, factor: Fraction, most: int) -> tuple[Fraction, int]:
        """A scale that the factor is a whole multiple of, and the multiple.

        A new scale that refines an old one means starting again. Scales too far apart are kept
        apart, which may hide that one is a multiple of the other: a doubt.
        """
        scales = self.known.scales.setdefault(key, [])
        for scale in scales:
            times = factor / scale
            if times.denominator == 1 and abs(times) <= most:
                return scale, int(times)
        for place, scale in enumerate(scales):
            times = factor / scale
            if abs(times) <= most and times.denominator <= most:
                finer = scale / times.denominator
                if max(abs(times.numerator), times.denominator) <= most:
                    scales[place] = finer
                    raise Again
        if scales:
            self.doubts[f"{key[2:]} occurs with very different factors"] = None
        scales.append(
            Fraction(1, factor.denominator) if abs(factor.numerator) <= most else abs(factor)
        )
        return self._scaled(key, factor, most)

    def _exp_fraction(
        self, rest: Element, whole: flint.fmpq_mpoly
    ) -> tuple[Element, flint.fmpq_mpoly]:
        """E of a proper fraction, by exponents seen before where it depends on them over ℚ.

        Over a common denominator D, f = Σ r_k y_k + polynomial if and only if the remainders of
        f D by D do: division by one polynomial is linear. What is left is added to `whole`.
        """
        fractions = self._related(rest)
        known = [y for y, _ in fractions]
        common = self.ring.constant(1)
        for y in (*known, rest):
            den = y.parts()[1]
            common = common * (den / common.gcd(den))
        tops = [(y * self.ring.of(common)).parts()[0] for y in (*known, rest)]
        remainders = [divmod(top, common)[1].to_dict() for top in tops]
        factors: list[Fraction] | None = None
        if known:
            monomials = sorted({powers for part in remainders for powers in part})
            table = [
                [fraction_of(part, powers) for part in remainders[:-1]] for powers in monomials
            ]
            wanted = [fraction_of(remainders[-1], p) for p in monomials]
            factors = solved(table, wanted)
        if factors is None:
            name = _short(rest.key())
            self._fractions.append((rest, name))
            return self._exp_of(name, rest, Fraction(1)), whole
        out, left = self.ring.number(1), rest
        for factor, (y, name) in zip(factors, fractions, strict=True):
            if factor:
                out = out * self._exp_of(name, y, factor)
                left = left - y * self.ring.number(factor)
        return out, self.ring.lifted(whole) + left.parts()[0]

    def _related(self, rest: Element) -> list[tuple[Element, str]]:
        """The exponents that a relation with this one may involve.

        An exponent with a pole that no other has takes no part in a relation over ℚ.
        """
        poles = {name: self._poles(y) for y, name in self._fractions}
        mine, left = self._poles(rest), list(self._fractions)
        while True:
            count = Counter(pole for _, name in left for pole in poles[name])
            count.update(mine)
            if any(count[pole] == 1 for pole in mine):
                return []
            others = [(y, name) for y, name in left if all(count[pole] > 1 for pole in poles[name])]
            if len(others) == len(left):
                return others
            left = others

    def _poles(self, y: Element) -> set[str]:
        _, factors = y.parts()[1].factor()
        return {
            self._key(part / self.ring.constant(part.leading_coefficient())) for part, _ in factors
        }

    def unknown(self, name: str, key: str) -> Element:
        """f(x) as a new input: equal arguments give equal values, and nothing else is used of f."""
        return self._generator(Generator(f"{name}({_short(key)})", "function", False))

    # ---- logarithms and powers -------------------------------------------------------------

    def log(self, x: Element) -> Element:
        """Ln x, for x > 0: along the factors of x."""
        if x.hidden or x.is_zero:
            raise Undefined("the logarithm of 0, or of −∞")
        content, factors = self._factored(x)
        self.ring.partial |= not all(never_zero(self.ring, poly) for poly, _ in factors)
        self._positive_where_defined(content, factors, root=False)
        out = self.ring.number(0)
        for prime, times in _primes(abs(content)):
            out = out + self._log_of(self.ring.number(prime), str(prime)) * times
        for poly, times in factors:
            out = out + self._log_factor(poly) * times
        return out

    def _positive_where_defined(
        self, content: Fraction, factors: list[tuple[flint.fmpq_mpoly, int]], root: bool
    ) -> None:
        """The argument of ln is positive, that of a root ≥ 0, which decides a last unknown sign.

        Of a root it does not where another factor may be 0: then it has a value all the same.
        """
        sign, unknown = (1 if content > 0 else -1), []
        for poly, times in factors:
            evident = sign_by_terms(self.ring, poly) != 0
            self.ring.partial |= not evident and (times < 0 or times % 2 == 1)
            if times % 2:
                seen = self._sign_seen(poly)
                sign *= seen or 1
                unknown += [] if seen else [poly]
        vanishing = root and any(
            times > 0 and not never_zero(self.ring, poly)
            for poly, times in factors
            if poly not in unknown
        )
        if vanishing and (unknown or sign < 0):
            raise TooHard("a root whose factors may be 0")
        if not unknown and sign < 0:
            raise Empty
        if len(unknown) == 1:
            self.known.signs[self._key(unknown[0])] = sign
            self.known.partial = True
            raise Again

    def _log_factor(self, poly: flint.fmpq_mpoly) -> Element:
        places = [place for place, degree in enumerate(poly.degrees()) if degree > 0]
        if len(places) == 1 and poly == self.ring.gens[places[0]]:
            generator = self.ring.generators[places[0]]
            if generator.kind == "exp":
                exponent: Element = generator.of * self.ring.number(generator.scale)
                return exponent
            if generator.kind == "root":
                return self.log(generator.of) * self.ring.number(Fraction(1, generator.order))
        if self.ring.roots_in(poly):
            self.doubts["a logarithm of a sum with roots"] = None
        return self._log_of(self._absolute(poly), self._key(poly))

    def _log_of(self, value: Element, name: str) -> Element:
        return self._generator(Generator(f"ln({name})", "log", False, value))

    def power(self, x: Element, exponent: Fraction) -> Element:
        """x^q, for x > 0 unless q is whole."""
        if exponent.denominator == 1:
            return x ** int(exponent)
        return self.root(x, exponent.denominator) ** int(exponent.numerator)

    def root(self, x: Element, order: int = 2) -> Element:
        """The N-th root of x ≥ 0: along the factors of x. Of less than 0 there is none, nor odd."""
        if x.is_zero:
            return x
        if x.hidden:
            raise Undefined("a root of −∞")
        num, _ = x.parts()
        if self.ring.roots_in(num) and len(num.to_dict()) > 1:
            return self._nested_root(x, order)
        content, factors = self._factored(x)
        self._positive_where_defined(content, factors, root=True)
        out = self.ring.number(1)
        for prime, times in _primes(abs(content)):
            out = out * self._root_of(self.ring.number(prime), str(prime), times, order)
        for poly, times in factors:
            out = out * self._root_factor(poly, times, order)
        return out

    def _root_factor(self, poly: flint.fmpq_mpoly, times: int, order: int) -> Element:
        if times % order == 0:
            return self._absolute(poly) ** (times // order)
        places = [place for place, degree in enumerate(poly.degrees()) if degree > 0]
        if len(places) == 1 and poly == self.ring.gens[places[0]]:
            generator = self.ring.generators[places[0]]
            if generator.kind == "exp":
                return self.exp(
                    generator.of * self.ring.number(generator.scale * Fraction(times, order))
                )
            if generator.kind == "root":
                return self.root(generator.of**times, order * generator.order)
        return self._root_of(self._absolute(poly), self._key(poly), times, order)

    def _root_of(self, value: Element, key: str, times: int, order: int) -> Element:
        """value^{times/order}, with one generator for all orders that occur."""
        exact = Fraction(times, order)
        needed = lcm(self.known.orders.get(key, 1), exact.denominator)
        if exact.denominator == 1:
            return value ** int(exact)
        if needed != self.known.orders.get(key):
            before = self.known.orders.get(key)
            self.known.orders[key] = needed
            if before is not None:
                raise Again
        generator = Generator(f"({key})^(1/{needed})", "root", True, value, order=needed)
        return self._generator(generator) ** int(exact * needed)

    def _nested_root(self, x: Element, order: int) -> Element:
        """A root of a sum with roots: one more generator, which may not be independent."""
        self.doubts["a root of a sum with roots"] = None
        num, den = x.parts()
        whole = Element(
            self.ring, self.ring.reduced(num * den ** (order - 1)), self.ring.constant(1)
        )
        name = f"({_short(whole.key())})^(1/{order})"
        top = self._generator(Generator(name, "root", True, whole, order=order))
        return top / self._absolute(den)

    # ---- angles ----------------------------------------------------------------------------

    def cos_sin(self, x: Element) -> tuple[Element, Element]:
        """Cos x and sin x by the addition formulas, over t = tan(s m / 2) of each monomial m."""
        if x.hidden:
            raise Undefined("an angle of −∞")
        _, den = x.parts()
        one, zero = self.ring.number(1), self.ring.number(0)
        if not den.is_constant():
            name = _short(x.key())
            self.doubts["an angle that is a quotient"] = None
            return self._turned(name, x, Fraction(1))
        out = one, zero
        for powers, factor in x.terms():
            used = [(place, power) for place, power in enumerate(powers) if power]
            turn = self._turned(self._name(used), self._monomial(used), factor)
            out = _turn(out, turn)
        return out

    def _turned(self, name: str, argument: Element, factor: Fraction) -> tuple[Element, Element]:
        scale, times = self._scaled(f"t:{name}", factor, MOST_TURNS)
        t = self._generator(Generator(f"tan({scale}·{name}/2)", "tan", False, argument, scale))
        below = 1 + t * t
        one = (1 - t * t) / below, 2 * t / below
        out = self.ring.number(1), self.ring.number(0)
        for _ in range(abs(times)):
            out = _turn(out, one)
        return (out[0], -out[1]) if times < 0 else out

    # ---- signs -----------------------------------------------------------------------------

    def sign(self, x: Element) -> int:
        """−1, 0 or 1: the sign of x where it is not 0, assumed where nothing tells it."""
        if x.hidden:
            return -1
        if x.is_zero:
            return 0
        content, factors = self._factored(x)
        out = 1 if content > 0 else -1
        for poly, times in factors:
            if times % 2:
                out *= self._sign_of(poly)
        return out

    def absolute(self, x: Element) -> Element:
        """|x|."""
        return x * self.sign(x)

    def _absolute(self, poly: flint.fmpq_mpoly) -> Element:
        return self.ring.of(poly) * self._sign_of(poly)

    def _sign_seen(self, poly: flint.fmpq_mpoly) -> int:
        return sign_by_terms(self.ring, poly) or self.known.signs.get(self._key(poly), 0)

    def _sign_of(self, poly: flint.fmpq_mpoly) -> int:
        sign = self._sign_seen(poly)
        if not sign:
            raise NeedSign(self._key(poly))
        return sign

    def _key(self, poly: flint.fmpq_mpoly) -> str:
        return self.ring.number(1).spelled(poly)

    def _factored(self, x: Element) -> tuple[Fraction, list[tuple[flint.fmpq_mpoly, int]]]:
        """X = c Π p^k with monic p, each once; denominators have negative powers."""
        content, out = Fraction(1), []
        for poly, direction in zip(x.parts(), (1, -1), strict=True):
            lead, factors = poly.factor()
            content *= fraction(lead) ** direction
            for part, times in factors:
                monic = part / self.ring.constant(part.leading_coefficient())
                content *= fraction(part.leading_coefficient()) ** (int(times) * direction)
                out.append((monic, int(times) * direction))
        return content, out


def _turn(one: tuple[Element, Element], other: tuple[Element, Element]) -> tuple[Element, Element]:
    """The cosine and sine of a sum."""
    (c, s), (d, r) = one, other
    return c * d - s * r, s * d + c * r


def _primes(value: Fraction) -> list[tuple[int, int]]:
    """The primes of a positive rational with their exponents."""
    out: list[tuple[int, int]] = []
    for number, direction in ((value.numerator, 1), (value.denominator, -1)):
        if number.bit_length() > 200:
            raise TooHard("a root or logarithm of a very large number")
        out += [(int(p), int(k) * direction) for p, k in flint.fmpz(number).factor()]
    return out


def fraction_of(part: dict[tuple[int, ...], flint.fmpq], powers: tuple[int, ...]) -> Fraction:
    """The coefficient of a monomial, 0 where it does not occur."""
    return Fraction(0) if powers not in part else fraction(part[powers])


def _short(text: str) -> str:
    """A long name by its digest."""
    return text if len(text) <= 60 else hashlib.sha256(text.encode()).hexdigest()[:24]
