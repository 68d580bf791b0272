"""Numbers with letters, brought to one form: sums of monomials and exponentials.

A sum has a coefficient for each monomial x^a y^b … e^P, where P is such a sum itself, so that
e^P e^R = e^(P + R) is how monomials are multiplied. A function of which no more is known (a largest
number, a logarithm, tanh) is a letter, named by the form of its arguments, and so is 1/D of a sum
D, which is divided by one of its monomials first. Two sums that are the same over a common divisor
are the same function of their letters, where both are defined; of others nothing is said. Roots of
whole numbers are powers of primes: √12 is 2 · 3^(1/2).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import permutations, repeat
from typing import Any, TypeAlias

import sympy

from symattn.budget import foresee, spend
from symattn.errors import SymattnError
from symattn.lifting.limits import LIMITS
from symattn.lifting.numerals import LOWEST

#: A letter, and how it is told from others.
Letter: TypeAlias = tuple[Any, ...]

#: Letters with their powers, and the exponent of e, as its coefficients.
Monomial: TypeAlias = tuple[frozenset[tuple[Letter, Fraction]], "frozenset[Any]"]
Sum: TypeAlias = Mapping[Monomial, Fraction]

_NOTHING: Monomial = (frozenset(), frozenset())

#: The largest denominator of a float that is taken for a quotient, and the most digits of one that
#: is taken for a decimal.
_MOST_BELOW, _FEW_BELOW, _MOST_DIGITS = 10_000, 1024, 12


class Unknown(SymattnError):
    """What has no form here."""


@dataclass(frozen=True, eq=False)
class Term:
    """A sum of monomials; `lowest` is −∞, which has none."""

    terms: Sum
    lowest: bool = False

    # ---- arithmetic ----------------------------------------------------------------------

    def __add__(self, other: Any) -> Term:
        other = term(other)
        if self.lowest or other.lowest:
            return LOWEST_TERM
        return Term(_plus(self.terms, other.terms))

    def __sub__(self, other: Any) -> Term:
        return self + (-term(other))

    def __rsub__(self, other: Any) -> Term:
        return term(other) - self

    def __neg__(self) -> Term:
        if self.lowest:
            raise Unknown("∞ has no place in a sum here")
        return Term({monomial: -number for monomial, number in self.terms.items()})

    def __mul__(self, other: Any) -> Term:
        other = term(other)
        if self.lowest or other.lowest:
            factor = other if self.lowest else self
            if factor.is_truth:
                return _letter_of("ln", ONE - factor)
            if factor.number is None or factor.number <= 0:
                raise Unknown("−∞ times a number that may be 0 or negative")
            return LOWEST_TERM
        return Term(_times(self.terms, other.terms))

    def __truediv__(self, other: Any) -> Term:
        return self * term(other).inverse

    def __rtruediv__(self, other: Any) -> Term:
        return term(other) * self.inverse

    def __pow__(self, exponent: Any) -> Term:
        return self.power(Fraction(str(exponent)))

    __radd__, __rmul__ = __add__, __mul__

    @cached_property
    def inverse(self) -> Term:
        """1/x: of a monomial one, of a sum that and a letter."""
        if self.lowest or not self.terms:
            raise Unknown("a divisor that is 0 or −∞")
        first, number, rest = self.split
        monomial, factor = _inverse(first)
        out = _of(monomial, factor / number)
        return out if rest == ONE else out * function("inverse", rest)

    def power(self, exponent: Fraction) -> Term:
        """x^e: of whole numbers, of monomials, and else a letter for a root."""
        own = self.single
        known = own is not None and own[0] == "root" and _is_sum_of_squares(own[1].terms)
        if own is not None and known and exponent == own[2].number:
            return term(own[1])  # of what may be below 0 there is no root
        if exponent.denominator == 1:
            base = self if exponent >= 0 else self.inverse
            return math.prod(repeat(base, abs(int(exponent))), start=ONE)
        number = self.number
        if number is not None and number > 0:
            return _root(number, exponent)
        root = function("root", self, term(exponent.denominator))
        return root.power(Fraction(exponent.numerator))

    # ---- what it is ----------------------------------------------------------------------

    @cached_property
    def key(self) -> Any:
        """What equal forms have in common."""
        return "−∞" if self.lowest else frozenset(self.terms.items())

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Term) and self.key == other.key)

    def __hash__(self) -> int:
        return hash(self.key)

    @cached_property
    def split(self) -> tuple[Monomial, Fraction, Term]:
        """A monomial of it, its number, and it over both, the same for all its multiples.

        By what is 1 or 0 nothing is divided.
        """
        found = []
        for (powers, exponent), number in self.terms.items():
            first = frozenset(one for one in powers if one[0][0] != "truth"), exponent
            monomial, factor = _inverse(first)
            rest = Term(_times(self.terms, {monomial: factor / number}))
            found.append((first, number, rest))
        return min(found, key=lambda one: hash(one[2]))

    @property
    def number(self) -> Fraction | None:
        """The rational number that it is, if it is one."""
        is_one = not self.lowest and {*self.terms} <= {_NOTHING}
        return self.terms.get(_NOTHING, Fraction(0)) if is_one else None

    @property
    def value(self) -> float | None:
        """The number that it is, rational or not, if it is one."""
        total = 0.0
        for (powers, exponent), coefficient in self.terms.items():
            if exponent or any(own[0] not in ("prime", "number") for own, _ in powers):
                return None
            total += float(coefficient) * math.prod(float(x[1]) ** float(e) for x, e in powers)
        return None if self.lowest else total

    @property
    def single(self) -> Letter | None:
        """The letter that it is, if it is one."""
        if self.lowest or len(self.terms) != 1:
            return None
        ((powers, exponent), coefficient) = next(iter(self.terms.items()))
        if coefficient != 1 or exponent or len(powers) != 1:
            return None
        ((letter, power),) = powers
        return letter if power == 1 else None

    @property
    def is_truth(self) -> bool:
        """Whether it is 1 of what is true and 0 of what is false, or the other way."""
        return any((one.single or ("",))[0] == "truth" for one in (self, ONE - self))

    @property
    def sign(self) -> int | None:
        """1 of what is always above 0, −1 of what is always below, 0 of 0; None of others."""
        if self.lowest:
            return -1
        if not self.terms:
            return 0
        signs = {1 if coefficient > 0 else -1 for coefficient in self.terms.values()}
        known = all(_is_positive(own) for powers, _ in self.terms for own, _ in powers)
        return signs.pop() if len(signs) == 1 and known else None

    def equals(self, other: Term) -> bool:
        """Whether both are the same over a common divisor; if not, nothing is said."""
        if self.lowest or other.lowest:
            return self.lowest and other.lowest
        rest = (self - other).terms
        while rest:
            divisors = {own for powers, _ in rest for own, _ in powers if own[0] == "inverse"}
            if not divisors:
                return False
            rest = _cleared(rest, divisors.pop())
        return True

    def equals_either_way(self, other: Term, most: int = 6) -> bool:
        """The same, where comparisons that are not decided are taken each way, so many of them."""
        if self.equals(other):
            return True
        asked = next(_compared(self - other), None) if most and not self.lowest else None
        if asked is None or other.lowest:
            return False
        ways = asked[1] if asked[0] == "max" else (ONE, ZERO)
        try:
            return all(self._equals_by(other, asked, way, most) for way in ways)
        except Unknown:  # as of a divisor that is 0 this way
            return False

    def _equals_by(self, other: Term, asked: Letter, way: Term, most: int) -> bool:
        """The same where a comparison goes one way."""
        one, two = (_replaced(x, {asked: way}.get) for x in (self, other))
        while asked in _compared(one - two):  # another one has become the same
            one, two = (_replaced(x, {asked: way}.get) for x in (one, two))
        return one.equals_either_way(two, most - 1)


def _compared(x: Term) -> Iterator[Letter]:
    """The letters of a term that stand for comparisons, the innermost first."""
    for powers, exponent in x.terms:
        yield from _compared(Term(dict(exponent)))
        for own, _ in powers:
            for inner in own[1] if own[0] == "max" else own[1:]:
                if isinstance(inner, Term):
                    yield from _compared(inner)
            if own[0] in ("max", "above"):
                yield own


def _cleared(terms: Sum, divisor: Letter) -> Sum:
    """A sum times a power of a divisor, in which it stands no more."""
    powers = [dict(monomial[0]).get(divisor, Fraction(0)) for monomial in terms]
    most = max(powers)
    out: Sum = {}
    for (own, exponent), number, power in zip(terms, terms.values(), powers, strict=True):
        rest = frozenset(one for one in own if one[0] != divisor)
        factor = divisor[1].power(most - power).terms
        out = _plus(out, _times({(rest, exponent): number}, factor))
        if len(out) > LIMITS.monomials:
            raise Unknown("a sum of too many terms; give smaller sizes")
    return out


def _is_positive(own: Letter) -> bool:
    """Whether a letter is above 0, whatever is given."""
    if own[0] != "inverse":
        return own[0] in ("prime", "number")
    divisor: Term = own[1]
    return divisor.sign == 1


def _of(monomial: Monomial, coefficient: Fraction = Fraction(1)) -> Term:
    return Term({monomial: coefficient} if coefficient else {})


#: Functions whose values of numbers are numbers, told by their first digits.
_OF_NUMBERS: Mapping[str, Callable[[float], float]] = {
    "cos": math.cos,
    "sin": math.sin,
    "tanh": math.tanh,
    "erf": math.erf,
}

ONE = _of(_NOTHING)
ZERO = Term({})
LOWEST_TERM = Term({}, lowest=True)


def _letter_of(*own: Any) -> Term:
    return _of((frozenset({(own, Fraction(1))}), frozenset()))


def letter(name: Any) -> Term:
    """A letter of its own."""
    return _letter_of("letter", name)


def truth(name: Any) -> Term:
    """1 or 0 of what is true or false, which is its own square."""
    return _letter_of("truth", name)


#: Functions of which f(−x) = −f(x).
_ODD = frozenset(["tanh", "sin", "erf"])


def function(name: str, *arguments: Term) -> Term:
    """A function of which no more is known than its arguments; of numbers it is one."""
    known = _OF_NUMBERS.get(name)
    value = None if known is None or len(arguments) != 1 else arguments[0].value
    if known is not None and value is not None:
        return of_float(known(value))
    if name in _ODD and _is_turned(arguments[0]):
        return -_letter_of(name, -arguments[0])
    return _letter_of(name, *arguments)


def _is_turned(x: Term) -> bool:
    """Of x and −x, whether the other one is taken: always the same."""
    if x.lowest or not x.terms:
        return False
    _, number = min(x.terms.items(), key=lambda item: hash(item[0]))
    return number < 0


def term(value: Any) -> Term:
    """A number as a term."""
    if isinstance(value, Term):
        return value
    if isinstance(value, int | Fraction):
        return _of(_NOTHING, Fraction(value))
    return of_float(float(value))


def of_float(value: float) -> Term:
    """The number that a float stands for: a quotient, a root of one, a decimal, or one by itself.

    >>> of_float(0.5**0.5).equals(term(2).power(Fraction(-1, 2)))
    True
    """
    if value <= LOWEST:
        return LOWEST_TERM
    if not math.isfinite(value):
        raise Unknown("∞ or NaN")
    near = Fraction(value).limit_denominator(_MOST_BELOW)
    if float(near) == value or value.is_integer():
        return _of(_NOTHING, near if float(near) == value else Fraction(value))
    few = Fraction(value).limit_denominator(_FEW_BELOW)
    if math.isclose(float(few), value, rel_tol=5e-16):  # as 2^-2 is by way of exponentials
        return _of(_NOTHING, few)
    if len(Decimal(repr(value)).as_tuple().digits) <= _MOST_DIGITS:
        return _of(_NOTHING, Fraction(repr(value)))
    for root in (2, 4):
        power = Fraction(abs(value) ** root).limit_denominator(_MOST_BELOW)
        if power and math.isclose(float(power) ** (1 / root), abs(value), rel_tol=1e-15):
            found = _root(power, Fraction(1, root))
            return found if value > 0 else -found
    for scale, known in ((math.log(2), LN_2), (1 / math.log(2), LN_2.inverse)):
        rest = value / scale
        if math.isclose(float(Fraction(rest).limit_denominator(64)), rest, rel_tol=1e-15):
            return known * term(Fraction(rest).limit_denominator(64))
        square = Fraction(rest * rest).limit_denominator(64)
        if rest > 0 and math.isclose(math.sqrt(square), rest, rel_tol=2e-15):
            return known * _root(square, Fraction(1, 2))
    own = _letter_of("number", f"{abs(value):.13g}")
    return own if value > 0 else -own


def of_sympy(value: sympy.Expr) -> Term:
    """A closed number of SymPy's."""
    if value is sympy.S.NegativeInfinity:
        return LOWEST_TERM
    if value.is_Rational:
        return term(Fraction(int(value.p), int(value.q)))
    if value.is_Pow and value.base.is_Rational and value.exp.is_Rational and value.base > 0:
        base = Fraction(int(value.base.p), int(value.base.q))
        return term(base).power(Fraction(int(value.exp.p), int(value.exp.q)))
    if value.is_Mul:
        return math.prod((of_sympy(one) for one in value.args), start=ONE)
    if value.is_Add:
        return sum((of_sympy(one) for one in value.args), start=ZERO)
    return of_float(float(value))


# ---- functions -------------------------------------------------------------------------------


def exp(x: Term) -> Term:
    """e^x; of −∞ it is 0, of a sum with logarithms a product with their arguments."""
    if x.lowest:
        return ZERO
    out = ONE
    rest: dict[Monomial, Fraction] = {}
    for monomial, share in x.terms.items():
        inner = _logarithm(monomial)
        if inner is not None and share.denominator == 1:
            out = out * inner.power(share)
        else:
            rest[monomial] = share
    if not rest:
        return out
    return out * _of((frozenset(), frozenset(rest.items())))


def _logarithm(monomial: Monomial) -> Term | None:
    """What a monomial is the logarithm of, where it is one."""
    own = _of(monomial).single
    return own[1] if own is not None and own[0] == "ln" else None


def ln(x: Term) -> Term:
    """The logarithm: of e^P it is P, of a sum of exponentials one of them and a rest."""
    if x.lowest or not x.terms:
        raise Unknown("the logarithm of 0 or −∞")
    (powers, exponent), number, rest = x.split
    if powers or number < 0:
        return function("ln", x)
    out = Term(dict(exponent))
    if number != 1:
        out = out + function("ln", term(number))
    return out if rest == ONE else out + function("ln", rest)


LN_2 = function("ln", term(2))


def largest(terms: Iterable[Term]) -> Term:
    """The largest; a letter, named by all that are not −∞."""
    found = {part for one in terms for part in _parts(one) if not part.lowest}
    known = [number for one in found if (number := one.number) is not None]
    rest = {one for one in found if one.number is None}
    if known:
        rest.add(term(max(known)))
    if not rest:
        return LOWEST_TERM
    if len(rest) == 1:
        return rest.pop()
    if len(rest) == 2:
        for one, other in permutations(rest):
            above = one - other
            if above.sign == 1 or _is_sum_of_squares(above.terms):
                return one
    ways = [_apart(base, rest) for base in rest]
    base, scale, apart = min(ways, key=lambda way: hash(way[2]))
    return base + term(scale) * _letter_of("max", apart)


def _apart(base: Term, rest: set[Term]) -> tuple[Term, Fraction, frozenset[Term]]:
    """How far terms are above one of them; of two, up to a number, the same for all multiples."""
    apart = frozenset(one - base for one in rest)
    if len(apart) > 2:
        return base, Fraction(1), apart
    (other,) = apart - {ZERO}
    scale = abs(other.terms[min(other.terms, key=hash)])
    return base, scale, frozenset([ZERO, other * term(1 / scale)])


def has_a_key(x: Term) -> bool:
    """Whether a sum of exponentials is above 0, where a mask leaves each query a key."""
    letters = {own for powers, _ in x.terms for own, _ in powers}
    is_of_keys = all(_is_positive(own) or _is_truth(own) for own in letters)
    return len(x.terms) > 1 and is_of_keys and all(number > 0 for number in x.terms.values())


def _is_truth(own: Letter) -> bool:
    inner = own[1].single if own[0] == "inverse" else own
    return inner is not None and inner[0] == "truth"


def are_alike(x: Term, y: Term) -> bool:
    """Whether one is the other times what is known to be above 0."""
    (first, number), *_ = [*x.terms.items()] or [(_NOTHING, Fraction(0))]
    for other, its in y.terms.items():
        factor = _of(first, number) * _of(other, its).inverse
        if factor.sign == 1 and x.equals(factor * y):
            return True
    return False


def is_never_negative(x: Term) -> bool:
    """Whether it is known not to be below 0."""
    return not x.lowest and _is_sum_of_squares(x.terms)


def _is_sum_of_squares(x: Sum) -> bool:
    """Whether a sum is a quadratic form that is never negative, as a variance is.

    Each letter is taken out in turn: its own square has to be there, or nothing of it.
    """
    form: dict[frozenset[Letter], Fraction] = {}
    for (powers, exponent), number in x.items():
        if exponent or sum(power for _, power in powers) != 2 or any(p < 1 for _, p in powers):
            return False
        form[frozenset(own for own, _ in powers)] = number
    for own in {own for pair in form for own in pair}:
        square = form.pop(frozenset([own]), Fraction(0))
        rest = {pair - {own}: form.pop(pair) for pair in [*form] if own in pair}
        if square < 0 or (rest and not square):
            return False
        for one, a in rest.items():
            for other, b in rest.items():
                pair = one | other
                form[pair] = form.get(pair, Fraction(0)) - a * b / (4 * square)
        form = {pair: number for pair, number in form.items() if number}
    return True


def _parts(x: Term) -> Iterable[Term]:
    """Those of which a term is the largest: of one and a largest number each of their sums."""
    for (powers, exponent), number in x.terms.items():
        if len(powers) != 1 or exponent or number < 0:
            continue
        ((own, power),) = powers
        if own[0] == "max" and power == 1:
            rest = x - _of((powers, exponent), number)
            return [rest + term(number) * one for one in own[1]]
    return (x,)


def chosen(difference: Term, one: Term, other: Term) -> Term:
    """The one where a difference is above 0, else the other; the same for all its multiples.

    A difference that is a multiple of a letter may be taken with either sign where both are equal
    at 0, so that ≥ is > there.
    """
    sign = difference.sign
    if sign is not None:
        return one if sign > 0 else other
    if one.lowest or other.lowest:
        return function("above", difference, one, other)
    one, other = _given_above(one, difference), _given_above(other, -difference)
    monomial, number = min(difference.terms.items(), key=lambda item: hash(item[0]))
    scaled = difference * term(1 / abs(number))
    if number < 0 and _at_zero(one - other, monomial, len(difference.terms)) == ZERO:
        one, other, scaled = other, one, -scaled
    return other + (one - other) * _letter_of("above", scaled)


def same(one: Term, other: Term) -> bool:
    """Whether two are the same, either way that comparisons go; if not, nothing is said."""
    return one.equals_either_way(other)


def _given_above(x: Term, difference: Term) -> Term:
    """A term where a difference is not below 0: of a multiple of it and 0 the larger is known."""

    def known(own: Letter) -> Term | None:
        if own[0] != "max" or len(own[1]) != 2:
            return None
        (other,) = own[1] - {ZERO}
        if {*other.terms} != {*difference.terms}:
            return None
        ratios = {other.terms[key] / difference.terms[key] for key in other.terms}
        if len(ratios) > 1:
            return None
        return other if ratios.pop() > 0 else ZERO

    return _replaced(x, known)


def _at_zero(x: Term, monomial: Monomial, count: int) -> Term | None:
    """A term with 0 for a letter, if that is all of a difference; None where it cannot be."""
    own = _of(monomial).single
    if own is None or count != 1:
        return None
    try:
        return _replaced(x, lambda one: ZERO if one == own else None)
    except Unknown:
        return None


def _replaced(x: Term, by: Callable[[Letter], Term | None]) -> Term:
    """A term with others for some of its letters, also in exponents and in functions."""
    if x.lowest:
        return x
    out = ZERO
    for (powers, exponent), number in x.terms.items():
        part = _of(_NOTHING, number)
        for own, power in powers:
            other = by(own)
            other = _rebuilt(own, by) if other is None else other
            same = other.single == own
            part = part * (
                _of((frozenset({(own, power)}), frozenset())) if same else other.power(power)
            )
        if exponent:
            part = part * exp(_replaced(Term(dict(exponent)), by))
        out = out + part
    return out


def _rebuilt(own: Letter, by: Callable[[Letter], Term | None]) -> Term:
    """A letter with others for those within it."""
    name, *inner = own
    if name == "max":
        return largest(_replaced(one, by) for one in inner[0])
    if not all(isinstance(one, Term) for one in inner):
        return _letter_of(*own)
    new = [_replaced(one, by) for one in inner]
    if new == inner:
        return _letter_of(*own)
    if name == "inverse":
        return new[0].inverse
    if name == "above":
        return chosen(new[0], ONE, ZERO)
    return ln(*new) if name == "ln" else function(name, *new)


def absolute(x: Term) -> Term:
    """|x|: x or -x where its sign is known, else the larger."""
    return largest([x, -x]) if x.sign is None else x if x.sign > 0 else -x


# ---- sums ------------------------------------------------------------------------------------


def _plus(one: Sum, other: Sum) -> Sum:
    spend(len(one) + len(other))
    out = dict(one)
    for monomial, coefficient in other.items():
        added = out.get(monomial, 0) + coefficient
        if added:
            out[monomial] = added
        else:
            out.pop(monomial, None)
    return out


def _times(one: Sum, other: Sum) -> Sum:
    foresee(len(one) * len(other))
    spend(len(one) * len(other))
    out: dict[Monomial, Fraction] = {}
    for first, a in one.items():
        for second, b in other.items():
            monomial, factor = _product(first, second)
            added = out.get(monomial, 0) + a * b * factor
            if added:
                out[monomial] = added
            else:
                out.pop(monomial, None)
    return out


def _product(one: Monomial, other: Monomial) -> tuple[Monomial, Fraction]:
    """A product of monomials, and the number that whole powers of primes make."""
    if _NOTHING in (one, other):
        return (one if other == _NOTHING else other), Fraction(1)
    powers = dict(one[0])
    factor = Fraction(1)
    for own, power in other[0]:
        powers[own] = powers.get(own, Fraction(0)) + power
    for own, power in [*powers.items()]:
        if own[0] == "prime":
            factor *= Fraction(own[1]) ** math.floor(power)
            powers[own] = power - math.floor(power)
        elif own[0] == "truth" and power > 1:
            powers[own] = Fraction(1)
        if not powers[own]:
            del powers[own]
    return (frozenset(powers.items()), _exponents(one[1], other[1])), factor


def _exponents(one: frozenset[Any], other: frozenset[Any]) -> frozenset[Any]:
    if not one or not other:
        return one or other
    return frozenset(_plus(dict(one), dict(other)).items())


def _inverse(monomial: Monomial) -> tuple[Monomial, Fraction]:
    powers: dict[Letter, Fraction] = {}
    factor = Fraction(1)
    for own, power in monomial[0]:
        if own[0] == "prime":
            powers[own] = 1 - power
            factor /= own[1]
        else:
            powers[own] = -power
    exponent = frozenset((one, -coefficient) for one, coefficient in monomial[1])
    return (frozenset(powers.items()), exponent), factor


def _root(number: Fraction, exponent: Fraction) -> Term:
    """A power of a rational number above 0, as powers of primes."""
    powers: dict[Letter, Fraction] = {}
    factor = Fraction(1)
    for whole, sign in ((number.numerator, 1), (number.denominator, -1)):
        for prime, times in sympy.factorint(whole).items():  # none divides both
            power = sign * times * exponent
            factor *= Fraction(int(prime)) ** math.floor(power)
            if power.denominator > 1:
                powers["prime", int(prime)] = power - math.floor(power)
    return _of((frozenset(powers.items()), frozenset()), factor)
