"""Whether one exact number is below, equal to or above another, by proof.

Balls tell apart what differs by enough. What is left is brought over one denominator and
multiplied out as Σ c_k e^(a_k) with distinct a_k: if nothing is left of it, the numbers are equal;
if something is, the large parts that cancel are gone, and a ball of the rest has a sign however
small it is. That this ends for rational (or algebraic) inputs and one layer of softmax is the
Lindemann-Weierstrass theorem: there Σ c_k e^(a_k) is 0 only if every c_k is (A. Baker,
*Transcendental Number Theory*, theorem 1.4).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from itertools import islice

import sympy

from symattn.arithmetic.abbreviated import Abbreviation, opened
from symattn.arithmetic.enclosure import BITS, ball, precision
from symattn.errors import SymattnError, Undecided, quote

#: Numbers that would have more terms over one denominator are not multiplied out, and those with
#: more nodes not taken apart any further.
_MOST_TERMS, _MOST_NODES = 20_000, 2_000

#: Functions of one number that rise wherever they are defined.
_RISING = (sympy.exp, sympy.log, sympy.tanh, sympy.erf)


def ordered(a: sympy.Expr, b: sympy.Expr) -> int:
    """−1, 0 or 1 as the number a is below, equal to or above b, by proof.

    Raises `Undecided` where neither balls nor algebra tell.

    >>> ordered(sympy.sqrt(8), 2 * sympy.sqrt(2)), ordered(sympy.pi, sympy.Rational(22, 7))
    (0, -1)
    >>> ordered(sympy.tanh(10**9), sympy.tanh(10**9 + 1))
    -1
    """
    if a == b:
        return 0
    if isinstance(a, sympy.Rational) and isinstance(b, sympy.Rational):
        return 1 if a > b else -1
    if sympy.S.NegativeInfinity in (a, b):
        return 1 if b is sympy.S.NegativeInfinity else -1
    found = next((order for order in _orders(a, b) if order is not None), None)
    if found is None:
        raise Undecided(
            f"{quote(a)} and {quote(b)}: not told apart at {BITS[4]} bits, nor proven equal; "
            "write equal numbers in the same way"
        )
    return found


def _orders(a: sympy.Expr, b: sympy.Expr) -> Iterator[int | None]:
    """What each way of telling two numbers apart says, the cheapest first; None of what is open."""
    yield _by_balls(a - b, BITS[:1])
    yield sign(a - b, deep=False)
    yield _by_arguments(a, b)
    yield sign(a - b)


def _by_balls(value: sympy.Expr, precisions: tuple[int, ...]) -> int | None:
    """The sign of a number as its enclosures tell it."""
    for bits in precisions:
        with precision(bits):
            size = ball(value)
        if size > 0 or size < 0:
            return 1 if size > 0 else -1
    return None


def _by_arguments(a: sympy.Expr, b: sympy.Expr) -> int | None:
    """The order of c f(x) + r and c f(y) + r, with f rising, by that of x and y."""
    left, right = (Counter(sympy.Add.make_args(side)) for side in (a, b))
    ours, theirs = list((left - right).elements()), list((right - left).elements())
    if len(ours) != 1 or len(theirs) != 1:
        return None
    (factor, one), (other_factor, other) = (term.as_coeff_Mul() for term in (*ours, *theirs))
    if factor != other_factor or one.func is not other.func or not isinstance(one, _RISING):
        return None
    order = ordered(one.args[0], other.args[0])
    return order if factor > 0 else -order


def equals(value: sympy.Expr, number: sympy.Rational) -> bool | None:
    """Whether an exact value is the rational `number`: True or False by proof, None if unknown.

    >>> equals(sympy.exp(2) / (2 * sympy.exp(2)), sympy.Rational(1, 2))
    True
    >>> equals(1 / (1 + sympy.exp(1)), sympy.Rational(1, 4))
    False
    """
    if isinstance(value, sympy.Rational):
        return bool(value == number)
    found = sign(value - number)
    return None if found is None else found == 0


@lru_cache(maxsize=1024)
def sign(value: sympy.Expr, deep: bool = True) -> int | None:
    """The sign of an exact number by balls of many bits or by algebra, None if unknown.

    Names stand for themselves first; with `deep` they are opened, one layer after the other. A
    matrix repeats numbers, and a document shows each in several places: they are kept.
    """
    return next((found for found in _signs(value, deep) if found is not None), None)


def _signs(value: sympy.Expr, deep: bool) -> Iterator[int | None]:
    """What each way of finding a sign says, the cheapest first; None of what is open."""
    if deep:
        yield sign(value, deep=False)
        yield from map(_sign, islice(_forms(value), 1, None))
        return
    # of few nodes algebra is as quick as balls of many bits, which say nothing of what is 0
    parts = islice(sympy.preorder_traversal(value), _MOST_NODES // 10, None)
    is_short = next(parts, None) is None
    with suppress(SymattnError):  # it has symbols, which may go where it is multiplied out
        yield _by_balls(value, BITS[2:3] if is_short else BITS[2:5])
    yield _sign(value)
    with suppress(SymattnError):
        yield _by_balls(value, BITS[3:5]) if is_short else None


def _forms(value: sympy.Expr) -> Iterator[sympy.Expr]:
    """The value, then without cos and sin, without nested roots, then with names opened."""
    while True:
        yield value
        for explicit in (_of_exponentials(value), _denested(value)):
            if explicit != value:
                yield explicit
        if not value.atoms(Abbreviation):
            return
        value = opened(value)
        if sum(1 for _ in islice(sympy.preorder_traversal(value), _MOST_NODES)) == _MOST_NODES:
            return


def _of_exponentials(value: sympy.Expr) -> sympy.Expr:
    """The value with sines and cosines written as (complex) exponentials."""
    return value.rewrite((sympy.sin, sympy.cos), sympy.exp)


def _denested(value: sympy.Expr) -> sympy.Expr:
    """The value with √(5 + 2√6) written √2 + √3, in exponents too."""
    roots = {r: sympy.sqrtdenest(r) for r in value.atoms(sympy.Pow) if r.args[1] == sympy.S.Half}
    flat = value.xreplace(roots)
    powers = {e: sympy.exp(sympy.radsimp(e.args[0])) for e in flat.atoms(sympy.exp)}
    return flat.xreplace(powers)


def _sign(value: sympy.Expr) -> int | None:
    value = _without_tanh(value)
    functions = {
        f: sympy.Dummy(positive=_is_real_power(f) or None) for f in value.atoms(sympy.Function)
    }
    value = value.xreplace(functions)
    if _multiplied_out(value) > _MOST_TERMS:
        return None
    above, below = _fraction(value)
    meant = {letter: function for function, letter in functions.items()}
    terms = _by_exponential(above, meant)
    if all(coefficient == 0 for coefficient in terms.values()):
        return 0
    left = sympy.Add(*(c * sympy.exp(power, evaluate=False) for power, c in terms.items()))
    below = below.xreplace(meant)
    if left.has(sympy.I) or below.has(sympy.I):
        return None
    one, other = (_by_balls(part, BITS[:3]) for part in (left, below))
    return None if one is None or other is None else one * other


def _fraction(value: sympy.Expr) -> tuple[sympy.Expr, sympy.Expr]:
    """The value over one denominator, which is 1 where nothing is divided by more than a number."""
    if not any(power.exp.could_extract_minus_sign() for power in value.atoms(sympy.Pow)):
        return value, sympy.S.One
    above, below = sympy.fraction(sympy.together(value))
    return above, below


def _is_real_power(function: sympy.Expr) -> bool:
    return isinstance(function, sympy.exp) and not function.has(sympy.I)


def _without_tanh(value: sympy.Expr) -> sympy.Expr:
    """The value with tanh x outside of functions written (e^2x − 1)/(e^2x + 1)."""
    if isinstance(value, sympy.tanh):
        power = sympy.exp(2 * value.args[0])
        return (power - 1) / (power + 1)
    if isinstance(value, sympy.Add | sympy.Mul | sympy.Pow):
        return value.func(*map(_without_tanh, value.args))
    return value


def _multiplied_out(value: sympy.Expr) -> int:
    """About how many terms the value has over one common denominator."""
    parts = [sympy.fraction(term) for term in sympy.Add.make_args(value)]
    below = {factor for _, den in parts for factor in sympy.Mul.make_args(den)}
    count = sum(len(sympy.Add.make_args(above)) for above, _ in parts)
    for factor in below:
        base, power = factor.as_base_exp()
        times = abs(int(power)) if power.is_Integer else 1
        count *= len(sympy.Add.make_args(base)) ** min(times, 20)
    return count


def _by_exponential(
    value: sympy.Expr, meant: dict[sympy.Dummy, sympy.Expr]
) -> dict[sympy.Expr, sympy.Expr]:
    """The value multiplied out as {exponent: coefficient}, Σ coefficient · e^exponent.

    `meant` says what function each letter in it stands for.
    """
    terms: dict[sympy.Expr, sympy.Expr] = {}
    for term in sympy.Add.make_args(_expanded(value)):
        exponent, coefficient = sympy.S.Zero, sympy.S.One
        for factor in sympy.Mul.make_args(term):
            base, power = factor.as_base_exp()
            function = meant.get(base)
            if isinstance(function, sympy.exp):
                exponent += power * function.args[0]
            elif base is sympy.S.Exp1:
                exponent += power
            elif isinstance(function, sympy.sin) and power.is_Integer and power > 1:
                square = 1 - sympy.cos(*function.args) ** 2
                coefficient *= base ** (power % 2) * square ** (power // 2)
            else:
                coefficient *= factor
        exponent = _expanded(exponent)
        coefficient = coefficient.xreplace(meant)
        terms[exponent] = _expanded(terms.get(exponent, sympy.S.Zero) + coefficient)
    return terms


def _expanded(value: sympy.Expr) -> sympy.Expr:
    return sympy.expand(value, power_exp=False, power_base=False)
