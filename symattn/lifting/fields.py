"""A random test over two finite fields: whether functions are equal, but for a chance.

A program of sums, products, quotients and exponentials is run on random elements of fields, where
nothing is rounded and no sum grows; if both results agree there, both are the same function, but
for a chance that is computed here. After M. Wu et al., *Mirage: A Multi-Level Superoptimizer for
Tensor Programs* (2024), section 5, which does so with fixed primes; the bound here is another one.

**What is tested.** Let O be the integers with the roots that occur, √2 say. A program's number is
formally N/D, where N and D are sums Σ a_i E^{r_i}: a_i is a polynomial over O in the letters (what
is given, and each largest number, root, cosine of what is computed: if results agree whatever these
are, they agree), and E^r a symbol for e^r, with E^r E^s = E^(r + s), r and s quotients of such
polynomials in the same letters. What is formally equal is equal wherever both are defined. Of
others nothing is said.

**How.** Each letter gets two random whole numbers below 2^B, one for where it is a factor and one
for where it is in an exponent. Then a random prime q is drawn, a random prime p = k q + 1, and a
random ω of order q in Z_p. Values are computed in Z_p, exponents in Z_q, and E^r is ω^r. An
`Element` has a value and, if no exponential is in it, is an exponent; of a logarithm only its
exponential is known. So at most one exponential may be on a path; another one is refused.

**The chance.** Let N₁ D₂ ≠ N₂ D₁ formally. Their difference is Σ a_i E^{r_i}, with at most t
exponents, and h bits in all its coefficients together, where letters have B bits. Both bounds are
carried along; so is g, the bits of a difference of exponents over their common divisor. The test
errs only

1. if some a_i ≠ 0 vanishes at the numbers drawn: h/B is its degree, so at most (h/B)/2^B
   (J. Schwartz 1980; R. Zippel 1979);
2. or if r_i is some other r_j at the numbers drawn: at most t (g/B)/2^B;
3. or modulo q: the norms of all r_i - r_j together have [O:Z] t g bits, so that at most [O:Z] t g/β
   primes above 2^β divide them. q is the first prime among at most T numbers drawn
   from 2^(β-2): at most T [O:Z] t g/(β 2^(β-2));
4. or modulo p: what is left is α = Σ A_e ζ^e ≠ 0 in O[ζ], ζ^q = 1, whose norm has at most
   [O:Z] (q - 1) h bits. Each pair of p and ω at which α vanishes is an ideal of index p that
   contains α, so there are at most [O:Z] (q - 1) h/β of them. A pair is drawn among q - 1 elements
   for each of R numbers, at most T times: at most T [O:Z] h/(β R).

No theorem on the density of primes is needed. The same holds for each two numbers that are compared
to tell whether letters are the same one.
"""

from __future__ import annotations

import math
import operator
import secrets
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce
from typing import Any, TypeAlias

import flint

from symattn.budget import Spent, within
from symattn.errors import SymattnError, Undecided
from symattn.lifting import terms
from symattn.lifting.limits import LIMITS
from symattn.lifting.tapes import Kind
from symattn.lifting.terms import Term, Unknown


@dataclass(frozen=True)
class _Bits:
    """How many bits numbers have: those of letters, q, k in p = k q + 1; the numbers tried."""

    letters: int = 1024
    exponents: int = 256
    factor: int = 192
    tried: int = 20
    #: The chance that has to be reached, and the draws in all, as powers of two.
    chance: int = 80
    draws: int = 3


BITS = _Bits()


class Redraw(ArithmeticError):
    """A prime has no root in the field; or 1, where a divisor is 0."""


class Apart(SymattnError):
    """What differs in two fields, and is made of what is given alone: so it is not the same."""


# ---- quotients, with their bounds ------------------------------------------------------------


class Ratio:
    """N/D in a field: bounds of N, and how often each divisor stands in D.

    N has at most so many `terms`, each with an exponent of its own, and bits of `height` in all (t
    and h above). A divisor is the N of another one.
    """

    __slots__ = ("below", "height", "terms", "value")

    def __init__(self, value: Any, terms: float, height: float, below: Divisors) -> None:
        self.value, self.terms, self.height, self.below = value, terms, height, below

    def __add__(self, other: Ratio) -> Ratio:
        value, below = self.value + other.value, self.below
        if below is other.below or below == other.below:
            height = max(self.height, other.height) + 1
            return Ratio(value, self.terms + other.terms, height, below)
        below = below | other.below
        (mine, high), (its, higher) = (_bounds(below - one.below) for one in (self, other))
        height = max(self.height + high, other.height + higher) + 1
        return Ratio(value, self.terms * mine + other.terms * its, height, below)

    def __mul__(self, other: Ratio) -> Ratio:
        below = self.below or other.below
        if self.below and other.below:
            below = self.below + other.below
        terms, height = self.terms * other.terms, self.height + other.height
        return Ratio(self.value * other.value, terms, height, below)

    def __pow__(self, exponent: int) -> Ratio:
        if exponent < 0:
            return _inverse(self) ** -exponent
        half = self ** (exponent // 2) if exponent > 1 else Ratio(self.value**0, 1.0, 0.0, NONE)
        return half * half * self if exponent % 2 else half * half


Divisors: TypeAlias = Counter[Ratio]
NONE: Divisors = Counter()


def _bounds(divisors: Divisors) -> tuple[float, float]:
    """The bounds of a product."""
    each = [*divisors.elements()]
    return math.prod(one.terms for one in each), sum(one.height for one in each)


@lru_cache(maxsize=2**14)
def _inverse(one: Ratio) -> Ratio:
    """D/N, with N as a divisor. Raises `Redraw` where N is 0."""
    if one.value == 0:
        raise Redraw(1)
    return Ratio(1 / one.value, *_bounds(one.below), Counter([one]))


class Field:
    """The whole numbers modulo a prime p ≡ 3 (mod 4), with roots of those of its squares."""

    def __init__(self, prime: flint.fmpz) -> None:
        self.prime = int(prime)
        self.of = flint.fmpz_mod_ctx(prime)
        self.numbers: dict[Fraction, Ratio] = {}
        #: By prime, the least common multiple of the roots that were taken of it.
        self.roots: dict[int, int] = {}

    def letter(self) -> Ratio:
        """A random whole number."""
        return Ratio(self.of(secrets.randbits(BITS.letters)), 1.0, float(BITS.letters), NONE)

    def number(self, number: Fraction) -> Ratio:
        """A rational number."""
        if number not in self.numbers:
            height = math.log2(abs(number.numerator) or 1)
            found = Ratio(self.of(number.numerator), 1.0, height, NONE)
            if number.denominator > 1:
                found = found * _inverse(self.number(Fraction(number.denominator)))
            self.numbers[number] = found
        return self.numbers[number]

    def root(self, prime: int, power: Fraction) -> Ratio:
        """prime^power, 0 < power < 1: the only one that is a square, so that products are kept.

        Raises `Redraw` where there is none, and `Unknown` where there are several.
        """
        half = self.prime // 2
        if flint.fmpz(prime).jacobi(self.prime) != 1:
            raise Redraw(prime)
        if math.gcd(power.denominator, half) != 1:
            raise Unknown(f"{prime} has several roots of order {power.denominator}")
        self.roots[prime] = math.lcm(self.roots.get(prime, 1), power.denominator)
        exponent = power.numerator * pow(power.denominator, -1, half) % half
        return Ratio(self.of(prime) ** exponent, 1.0, math.log2(prime), NONE)


# ---- elements --------------------------------------------------------------------------------


class Element:
    """A number of a program: its value and, where it is known, itself as an exponent.

    Of a logarithm e^x is known instead, as `raised`. What is `closed` depends on nothing that is
    given; what `is_truth` is 1 or 0.
    """

    __slots__ = ("closed", "exponent", "is_truth", "of", "raised", "value")

    def __init__(
        self,
        of: Fields,
        value: Ratio | None,
        exponent: Ratio | None = None,
        raised: Ratio | None = None,
        closed: Term | None = None,
        is_truth: bool = False,
    ) -> None:
        self.of, self.value, self.exponent, self.raised = of, value, exponent, raised
        self.closed, self.is_truth = closed, is_truth

    @property
    def lowest(self) -> bool:
        """Whether it is −∞."""
        return self.closed is not None and self.closed.lowest

    @property
    def number(self) -> Fraction | None:
        """The rational number that it is, if it is one."""
        return None if self.closed is None else self.closed.number

    @property
    def exponential(self) -> Ratio:
        """e^x. Raises `Unknown` where it is not known."""
        if self.raised is not None:
            return self.raised
        if self.exponent is None:
            raise Unknown("an exponential of what an exponential is in")
        return self.of.exponential(self.exponent)

    def __add__(self, other: Element) -> Element:
        if self.closed is not None:
            both = other.closed is not None
            return self.of.term(self.closed + other.closed) if both else other + self
        if other.closed is not None and (other.lowest or other.number == 0):
            return other if other.lowest else self
        if self.value is None or other.value is None:
            return Element(self.of, None, raised=self.exponential * other.exponential)
        exponent = _both(operator.add, self.exponent, other.exponent)
        return Element(self.of, self.value + other.value, exponent)

    def __neg__(self) -> Element:
        return self * self.of.term(-1)

    def __sub__(self, other: Element) -> Element:
        return self + (-other)

    def __mul__(self, other: Element) -> Element:
        if self.closed is not None:
            both = other.closed is not None
            return self.of.term(self.closed * other.closed) if both else other * self
        if other.lowest:
            raise Unknown("−∞ times a number that may be 0 or negative")
        number = other.number
        if number == 0:
            return other
        if self.value is None or other.value is None:
            if self.raised is None or number is None or number.denominator > 1:
                raise Unknown("a product with a logarithm")
            return Element(self.of, None, raised=self.raised ** int(number))
        exponent = _both(operator.mul, self.exponent, other.exponent)
        return Element(self.of, self.value * other.value, exponent)

    def __truediv__(self, other: Element) -> Element:
        return self * other.inverse

    @property
    def inverse(self) -> Element:
        """1/x. Raises `Redraw` where that is not defined in the fields."""
        if self.closed is not None:
            return self.of.term(self.closed.inverse)
        if self.value is None:
            raise Unknown("a quotient by a logarithm")
        exponent = None if self.exponent is None else _inverse(self.exponent)
        return Element(self.of, _inverse(self.value), exponent)

    def power(self, exponent: Fraction) -> Element:
        """x^e: of a whole number products, else of a letter for the root."""
        if self.closed is not None:
            return self.of.term(self.closed.power(exponent))
        if exponent.denominator != 1:
            root = self.of.function("root", self, self.of.term(exponent.denominator))
            return root.power(Fraction(exponent.numerator))
        base = self if exponent >= 0 else self.inverse
        return math.prod([base] * abs(int(exponent)), start=self.of.term(1))

    def __pow__(self, exponent: int) -> Element:
        return self.power(Fraction(exponent))


def _both(
    operation: Callable[[Ratio, Ratio], Ratio], one: Ratio | None, other: Ratio | None
) -> Ratio | None:
    """What is known if both are."""
    return None if one is None or other is None else operation(one, other)


class Fields:
    """Two fields with random elements for letters, and what was compared in them.

    What a program and an attention do is read in it as in `terms`, whose names its methods have.
    `squares` are primes that have a root in both fields.
    """

    def __init__(self, squares: Iterable[int] = ()) -> None:
        needed = [2, 3, 5, 7, *squares]
        self.exponents = Field(_prime(needed))
        self.values = Field(_prime(needed, self.exponents.prime))
        self.omega = _of_order(self.exponents.prime, self.values)
        #: What stands for letters: as values, and in exponents.
        self.named: dict[Any, tuple[Ratio, Ratio]] = {}
        self.numbers: dict[Any, Element] = {}
        #: The bits of all that exponentials were taken of.
        self.heights: list[float] = []
        #: What was told by its value from any other, or by its exponential.
        self.compared: list[Ratio] = []

    # ---- letters and numbers -------------------------------------------------------------

    def letter(self, name: Any) -> Element:
        """A letter of its own."""
        return Element(self, *self._drawn(("letter", name)))

    def truth(self, name: Any) -> Element:
        """What is 1 or 0: any number, as what holds of all holds of these."""
        return Element(self, *self._drawn(("truth", name)), is_truth=True)

    def _drawn(self, name: Any) -> tuple[Ratio, Ratio]:
        if name not in self.named:
            self.named[name] = self.values.letter(), self.exponents.letter()
        return self.named[name]

    def function(self, name: str, *arguments: Element) -> Element:
        """A function of which no more is known than its arguments; of numbers it is one.

        The hyperbolic tangent is one of exponentials, (e^2x − 1)/(e^2x + 1); what e to that power
        is has a letter, as of any function.
        """
        numbers = [one.closed for one in arguments if one.closed is not None]
        if len(numbers) == len(arguments):
            return self.term(terms.function(name, *numbers))
        made = Element(self, *self._drawn((name, *map(self._key, arguments))))
        if name != "tanh" or (arguments[0].exponent is None and arguments[0].raised is None):
            return made
        power, one = self.exp(arguments[0] + arguments[0]), self.term(1)
        quotient = (power - one) * (power + one).inverse
        return Element(self, quotient.value, made.exponent)

    def _key(self, one: Element) -> tuple[str, int]:
        """What equal ones have in common, and others but for a chance have not."""
        if one.lowest:
            return "−∞", 0
        kind, ratio = ("e^", one.exponential) if one.value is None else ("", one.value)
        self.compared.append(ratio)
        return kind, int(ratio.value)

    def term(self, value: Any) -> Element:
        """A number, as `terms` reads it."""
        if isinstance(value, Element):
            return value
        if value not in self.numbers:
            x = terms.term(value)
            read = None if x.lowest else self._read(x, self.values)
            exponential = x.lowest or any(exponent for _, exponent in x.terms)
            exponent = None if exponential else self._read(x, self.exponents)
            self.numbers[value] = Element(self, read, exponent, closed=x)
        return self.numbers[value]

    def _read(self, x: Term, field: Field) -> Ratio:
        """A number in a field: what is no root of a fraction, and no power of e, is a letter."""
        out = field.number(Fraction(0))
        for (powers, exponent), number in x.terms.items():
            part = field.number(number)
            if exponent:
                part = part * self.exponential(self._read(Term(dict(exponent)), self.exponents))
            for own, power in powers:
                if own[0] == "prime":
                    part = part * field.root(own[1], power)
                else:
                    drawn = self._drawn((own, power.denominator))
                    part = part * drawn[field is self.exponents] ** power.numerator
            out = out + part
        return out

    # ---- functions -----------------------------------------------------------------------

    def exponential(self, exponent: Ratio) -> Ratio:
        """ω^r of an exponent."""
        self.heights.append(exponent.height + _bounds(exponent.below)[1])
        return Ratio(self.omega ** int(exponent.value), 1.0, 1.0, NONE)

    def exp(self, x: Element) -> Element:
        """e^x; of −∞ it is 0."""
        if x.closed is not None:
            return self.term(terms.exp(x.closed))
        return Element(self, x.exponential)

    def ln(self, x: Element) -> Element:
        """The logarithm: of what is computed its exponential is known."""
        if x.closed is not None:
            return self.term(terms.ln(x.closed))
        if x.value is None:
            raise Unknown("a logarithm of a logarithm")
        return Element(self, None, raised=x.value)

    def largest(self, items: Iterable[Element]) -> Element:
        """The largest: any number, but the same of the same ones."""
        return reduce(self._larger, items)

    def _larger(self, one: Element, other: Element) -> Element:
        if one.lowest or other.lowest:
            return other if one.lowest else one
        if one.closed is not None and other.closed is not None:
            return self.term(terms.largest([one.closed, other.closed]))
        both = frozenset(map(self._key, (one, other)))
        return one if len(both) == 1 else Element(self, *self._drawn(("max", both)))

    def absolute(self, x: Element) -> Element:
        """|x|: the larger of x and -x."""
        return self.largest([x, -x])

    def chosen(self, difference: Element, one: Element, other: Element) -> Element:
        """The one where a difference is above 0, else the other; a letter tells it elsewhere."""
        sign = None if difference.closed is None else difference.closed.sign
        if sign is not None:
            return one if sign > 0 else other
        return other + (one - other) * self.function("above", difference)

    # ---- what is the same ----------------------------------------------------------------

    def same(self, one: Element, other: Element) -> bool:
        """Whether two are equal, but for a chance."""
        return self._key(one) == self._key(other)

    @property
    def chance(self) -> float:
        """At most the chance that any two were taken to be equal that are not: the four cases."""
        bounds = [(one.terms, one.height, *_bounds(one.below)) for one in self.compared]
        most, high, below, low = map(max, zip(*bounds, strict=True)) if bounds else (1, 1, 1, 1)
        count, height = 2 * most * below, high + low + 1
        apart = sum(self.heights) + math.log2(2 * height) + 1
        degree = math.prod([*self.values.roots.values(), *self.exponents.roots.values()])
        drawn = (height + count * apart) / BITS.letters * 2.0**-BITS.letters
        norms = count * apart / 2.0 ** (BITS.exponents - 3) + height / 2.0**BITS.factor
        each = drawn + 2**BITS.tried * degree * norms / (BITS.exponents - 1)
        return float(2**BITS.draws * len(self.compared) ** 2 * each)


def decided(hold: Callable[[Kind], bool], operations: int) -> tuple[str, bool]:
    """Hold what has so many operations by normal forms or, where these do not decide, in fields.

    "" where it has the same forms, and what `hold` says of these; else why that is not known, and
    the fields agree. Raises `SymattnError` where neither is so.
    """
    try:
        if operations > LIMITS.operations:
            raise Undecided(f"{operations:,} operations are too many for normal forms")
        with within(LIMITS.work):
            return "", hold(terms)
    except Spent:
        why = f"normal forms take more than {LIMITS.work:,} steps"
    except SymattnError as error:
        why = str(error)
    try:
        by_chance(hold)
    except SymattnError as other:
        also = str(other).removeprefix("no proof was found: ")
        raise SymattnError(f"{why}; in finite fields: {also}") from None
    return why, False


def by_chance(hold: Callable[[Kind], bool]) -> None:
    """Hold it in two fields alone. Raises `SymattnError` where it is not the same there.

    That is `Apart` where it shows more: a letter for what is not computed (a largest number, a
    root, a cosine) may be another one though the numbers are the same.
    """
    squares: set[int] = set()
    for _ in range(2**BITS.draws):
        fields = Fields(squares)
        try:
            hold(fields)
        except Redraw as redrawn:
            squares.update(redrawn.args)
        except Unknown:
            raise
        except SymattnError as other:
            is_computed = all(name[0] == "letter" for name in fields.named)
            raise (Apart(str(other)) if is_computed else other) from None
        else:
            if fields.chance < 2.0**-BITS.chance:
                return
            raise Unknown("the chance of a random test is not known to be small")
    raise Unknown("it divides by 0")


def _prime(squares: Iterable[int], order: int | None = None) -> flint.fmpz:
    """A random prime, or one above a multiple of `order`, ≡ 3 (mod 4), of which these are squares.

    That the latter is one is shown by `_of_order`. Raises `Unknown` if so many numbers are none.
    """
    for _ in range(2**BITS.tried):
        if order is None:
            drawn = 2 ** (BITS.exponents - 1) + 4 * secrets.randbits(BITS.exponents - 3) + 3
        else:
            drawn = order * (4 * (2**BITS.factor + secrets.randbits(BITS.factor)) + 2) + 1
        found = flint.fmpz(drawn)
        have_roots = all(flint.fmpz(x).jacobi(found) == 1 for x in squares)
        if have_roots and found.is_probable_prime() and (order is not None or found.is_prime()):
            return found
    raise Unknown("no prime with so many roots was found")


def _of_order(order: int, field: Field) -> Any:
    """A random element of this order, a prime above √p that divides p − 1, which shows p prime.

    After H. C. Pocklington (1914): no smaller prime divides p if ω^order = 1, and ω − 1 has an
    inverse. Raises `Unknown` where it is none.
    """
    found = field.of(1)
    while found == 1:
        drawn = secrets.randbelow(field.prime - 1) + 1
        found = field.of(drawn) ** (field.prime // order)
    if found**order != 1 or math.gcd(int(found) - 1, field.prime) != 1:
        raise Unknown("what was taken for a prime is none")
    return found
