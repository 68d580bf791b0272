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
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

import sympy

from symattn.budget import foresee
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
_MOST_BELOW, _MOST_DIGITS = 10_000, 12


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
            number = (other if self.lowest else self).number
            if number is None or number <= 0:
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
        if exponent.denominator == 1:
            base = self if exponent >= 0 else self.inverse
            out = ONE
            for _ in range(abs(int(exponent))):
                out = out * base
            return out
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
        """A monomial of it, its number, and it over both, the same for all its multiples."""
        found = []
        for first, number in self.terms.items():
            monomial, factor = _inverse(first)
            rest = Term(_times(self.terms, {monomial: factor / number}))
            found.append((first, number, rest))
        return min(found, key=lambda one: hash(one[2]))

    @property
    def number(self) -> Fraction | None:
        """The rational number that it is, if it is one."""
        if self.lowest:
            return None
        if not self.terms:
            return Fraction(0)
        return self.terms[_NOTHING] if {*self.terms} == {_NOTHING} else None

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
        return bool(own[0] == "prime")
    divisor: Term = own[1]
    return divisor.sign == 1


def _of(monomial: Monomial, coefficient: Fraction = Fraction(1)) -> Term:
    return Term({monomial: coefficient} if coefficient else {})


ONE = _of(_NOTHING)
ZERO = Term({})
LOWEST_TERM = Term({}, lowest=True)


def letter(name: Any) -> Term:
    """A letter of its own."""
    return _of((frozenset({(("letter", name), Fraction(1))}), frozenset()))


def function(name: str, *arguments: Term) -> Term:
    """A function of which no more is known than its arguments."""
    return _of((frozenset({((name, *arguments), Fraction(1))}), frozenset()))


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
    own = letter(("number", f"{abs(value):.13g}"))
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
    powers, exponent = monomial
    if exponent or len(powers) != 1:
        return None
    ((own, power),) = powers
    return own[1] if own[0] == "ln" and power == 1 else None


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
    found: set[Term] = set()
    for one in terms:
        own = one.single
        parts = own[1] if own is not None and own[0] == "max" else (one,)
        found.update(part for part in parts if not part.lowest)
    known = [number for one in found if (number := one.number) is not None]
    rest = {one for one in found if one.number is None}
    if known:
        rest.add(term(max(known)))
    if not rest:
        return LOWEST_TERM
    if len(rest) == 1:
        return rest.pop()
    return _of((frozenset({(("max", frozenset(rest)), Fraction(1))}), frozenset()))


def _sigmoid(x: Term) -> Term:
    return (ONE + exp(-x)).inverse


#: Functions of one number, by name.
FUNCTIONS: Mapping[str, Callable[[Term], Term]] = {
    "exp": exp,
    "ln": ln,
    "√": lambda x: x.power(Fraction(1, 2)),
    "tanh": lambda x: function("tanh", x),
    "cos": lambda x: ONE if x.number == 0 else function("cos", x),
    "sin": lambda x: ZERO if x.number == 0 else function("sin", x),
    "abs": lambda x: largest([x, -x]),
    "σ": _sigmoid,
    "max0": lambda x: largest([x, ZERO]),
    "erf": lambda x: function("erf", x),
    "SiLU": lambda x: x * _sigmoid(x),
    "GELU": lambda x: x * (ONE + function("erf", x * _root(Fraction(1, 2), Fraction(1, 2)))) / 2,
}


# ---- sums ------------------------------------------------------------------------------------


def _plus(one: Sum, other: Sum) -> Sum:
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
        for prime, times in sympy.factorint(whole).items():
            power = sign * times * exponent
            own = ("prime", int(prime))
            powers[own] = powers.get(own, Fraction(0)) + power
    for own, power in [*powers.items()]:
        factor *= Fraction(own[1]) ** math.floor(power)
        powers[own] = power - math.floor(power)
        if not powers[own]:
            del powers[own]
    return _of((frozenset(powers.items()), frozenset()), factor)
