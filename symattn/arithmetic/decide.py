"""Which digits to show: a decimal is written down only when Arb or exact arithmetic proves it.

A ball decides a rounding as soon as it lies on one side of every half unit. If it keeps
straddling one, the value may be a tie, and only exact arithmetic can say so. Why this ends: with
rational (or algebraic) inputs one layer of softmax attention yields quotients of sums of
algebraic multiples of e^algebraic. Exponentials of distinct algebraic numbers are linearly
independent over the algebraic numbers (Lindemann-Weierstrass; A. Baker, *Transcendental Number
Theory*, theorem 1.4), so that N/Z = q holds exactly when N - qZ, expanded and collected, has no
term left. If it does not hold, some precision separates the two; how much it takes grows with the
logits, and the effort is bounded (`BITS`), so that beyond it a digit is marked as not proven.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import sympy
from flint import arb, fmpq, fmpz

from symattn.arithmetic.balls import ball, is_minus_infinity, precision
from symattn.notation.options import Rounding

#: Precisions tried, in bits; the last is a bound on effort, not a claim about numbers.
BITS = (96, 256, 1024, 4096, 16384, 65536, 262144)

#: How far to go where the numbers are many, and each bit is paid for many times.
USUAL_BITS = 16384

#: From this many digits before the point on, a number is shown in scientific notation.
_LONG = 16

#: A ball with fewer good bits than this, at a precision that should do, hides a comparison.
LOOSE = 16

#: Exact values that would have more terms than this over one denominator are not multiplied out.
_MOST_TERMS = 20_000

#: Beyond this power of ten a number is handled by its logarithm.
_HUGE = 5000


@dataclass(frozen=True)
class Digits:
    """A decimal to show: `text`, whether it is the exact value, whether it is proven."""

    text: str
    exact: bool
    proven: bool = True


def decide(
    ball_at: Callable[[int], Any],
    exact: Callable[[], sympy.Expr | None],
    digits: int,
    rounding: Rounding = "half-up",
    tiny: int | None = None,
    most_bits: int = USUAL_BITS,
) -> Digits:
    """The value correctly rounded to `digits` decimals, proven, or marked as not proven.

    `ball_at(bits)` encloses the value; `exact()` is the value itself, or None, and is asked only
    when a ball cannot decide. A value below 10^−tiny is shown in scientific notation, with so many
    digits, instead of as nearly zero.
    """
    value: Any = None
    for bits in (bits for bits in BITS if bits <= most_bits):
        value = ball_at(bits)
        if is_minus_infinity(value):
            return Digits("-inf", True)
        if not value.is_finite():
            continue
        with precision(bits + 64):
            found = _attempt(value, exact, digits, rounding, tiny)
        if found is not None:
            return found
        if bits == BITS[1] and value.rel_accuracy_bits() < LOOSE:
            settled = exact()  # a comparison (hardmax) may be open at any precision
            ball_at = ball_at if settled is None else _enclosed(settled)
    return _unproven(value, digits)


def _enclosed(value: sympy.Expr) -> Callable[[int], Any]:
    """Balls of an exact value, at any precision."""

    def at(bits: int) -> Any:
        with precision(bits):
            return ball(value)

    return at


def _attempt(
    value: Any,
    exact: Callable[[], sympy.Expr | None],
    digits: int,
    rounding: Rounding,
    tiny: int | None,
) -> Digits | None:
    """The decided digits, or None where more precision is needed."""
    size = _magnitude(value)
    if size is not None and (size >= _LONG or (tiny is not None and size < -tiny)):
        if abs(size) > _HUGE:
            return _scientific(value, size, digits)
        places = digits - size
    else:
        size, places = 0, digits
    units = _round(value, exact, places, rounding)
    if units is None:
        return None
    if size and abs(units) >= fmpz(10) ** (digits + 1):  # 9.99996 became 10.0000
        size, places = size + 1, places - 1
        units = _round(value, exact, places, rounding)
        if units is None:
            return None
    shown = fmpq(units) / _ten(places)
    is_exact = _contains(value, shown) and (
        value.fmpq() == shown
        if value.is_exact()
        else equals(exact(), sympy.Rational(int(shown.p), int(shown.q))) is True
    )
    text = _fixed(units, digits)
    if is_exact and "." in text:
        text = text.rstrip("0").rstrip(".")
    return Digits(f"{text}e{size}" if size else text, is_exact)


def _scientific(value: Any, size: int, digits: int) -> Digits | None:
    """An astronomically large or small number, by its logarithm: 10^size is never written out."""
    with precision(BITS[1] + 8 * digits + size.bit_length()):
        mantissa = (abs(value).log() - size * arb(10).log()).exp()
        half = mantissa * 10**digits + arb(0.5)
        units = half.floor().unique_fmpz()
        if units is None or half.contains_integer():
            return None
    if units >= 10 ** (digits + 1):
        return _scientific(value, size + 1, digits)
    sign = "-" if value < 0 else ""
    return Digits(f"{sign}{_fixed(units, digits)}e{size}", False)


def _ten(places: int) -> Any:
    return fmpq(fmpz(10) ** places) if places >= 0 else 1 / fmpq(fmpz(10) ** -places)


def _contains(value: Any, number: Any) -> bool:
    """Whether the ball may be `number`: False is a proof that it is not."""
    return bool((value - arb(number)).contains(0))


def _magnitude(value: Any) -> int | None:
    """The power of ten of the value's leading digit (at most one off), None near zero."""
    if value.contains(0):
        return None
    return int((abs(value).log() / arb(10).log()).mid().floor().unique_fmpz())


def _round(
    value: Any, exact: Callable[[], sympy.Expr | None], places: int, rounding: Rounding
) -> Any | None:
    """The value in units of 10^-places rounded to a whole number, or None if undecided."""
    scaled = value * arb(_ten(places))
    half = scaled + arb(0.5)
    floor = half.floor().unique_fmpz()
    if floor is not None and not half.contains_integer():
        return floor
    twice = (2 * scaled + arb(0.5)).floor().unique_fmpz()
    if twice is None or twice % 2 == 0:
        return None
    tie = fmpq(twice, 2) / _ten(places)
    known_tie = value.is_exact() and arb(tie).is_exact() and value == arb(tie)
    if not known_tie and equals(exact(), sympy.Rational(int(tie.p), int(tie.q))) is not True:
        return None
    below = (twice - 1) // 2
    if rounding == "half-even":
        return below if below % 2 == 0 else below + 1
    return below + 1 if twice > 0 else below


def _fixed(units: Any, digits: int) -> str:
    """An integer count of 10^-digits as a decimal."""
    sign, body = ("-", str(-units)) if units < 0 else ("", str(units))
    if digits == 0:
        return sign + body
    body = body.rjust(digits + 1, "0")
    return f"{sign}{body[:-digits]}.{body[-digits:]}"


def _unproven(value: Any, digits: int) -> Digits:
    """The best midpoint where no procedure decided, marked as such."""
    if value is None or not value.is_finite():
        return Digits("?", False, proven=False)
    with precision(BITS[0]):
        units = (value.mid() * arb(10) ** digits + arb(0.5)).floor().unique_fmpz()
    text = "?" if units is None else _fixed(units, digits)
    return Digits(text, False, proven=False)


def equals(value: sympy.Expr | None, number: sympy.Rational) -> bool | None:
    """Whether an exact value is the rational `number`: True or False by proof, None if unknown.

    >>> equals(sympy.exp(2) / (2 * sympy.exp(2)), sympy.Rational(1, 2))
    True
    >>> equals(1 / (1 + sympy.exp(1)), sympy.Rational(1, 4))
    False
    """
    if value is None:
        return None
    if isinstance(value, sympy.Rational):
        return bool(value == number)
    verdict = _equals(value, number)
    if verdict is None and value.count_ops() < _MOST_TERMS:
        simpler = _denested(value)
        verdict = _equals(simpler, number) if simpler != value else None
    return verdict


def _denested(value: sympy.Expr) -> sympy.Expr:
    """The value with √(5 + 2√6) written √2 + √3, in exponents too."""
    roots = {r: sympy.sqrtdenest(r) for r in value.atoms(sympy.Pow) if r.args[1] == sympy.S.Half}
    flat = value.xreplace(roots)
    powers = {e: sympy.exp(sympy.radsimp(e.args[0])) for e in flat.atoms(sympy.exp)}
    return flat.xreplace(powers)


def _equals(value: sympy.Expr, number: sympy.Rational) -> bool | None:
    if value.has(sympy.tanh, sympy.sin, sympy.cos):
        value = value.rewrite(sympy.exp)
    if _multiplied_out(value) > _MOST_TERMS:
        return None
    above, below = sympy.fraction(sympy.together(value))
    terms = _by_exponential(above - number * below)
    if all(coefficient == 0 for coefficient in terms.values()):
        return True
    known = all(_is_sum_of_surds(part) for pair in terms.items() for part in pair)
    return False if known else None


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


def _by_exponential(value: sympy.Expr) -> dict[sympy.Expr, sympy.Expr]:
    """The value multiplied out as {exponent: coefficient}, Σ coefficient · e^exponent."""
    terms: dict[sympy.Expr, sympy.Expr] = {}
    for term in sympy.Add.make_args(_expanded(value)):
        exponent, coefficient = sympy.S.Zero, sympy.S.One
        for factor in sympy.Mul.make_args(term):
            base, power = factor.as_base_exp()
            if base is sympy.S.Exp1:
                exponent += power
            else:
                coefficient *= factor
        exponent = _expanded(exponent)
        terms[exponent] = _expanded(terms.get(exponent, sympy.S.Zero) + coefficient)
    return terms


def _expanded(value: sympy.Expr) -> sympy.Expr:
    return sympy.expand(value, power_exp=False, power_base=False)


def _is_sum_of_surds(value: sympy.Expr) -> bool:
    return all(_is_surd(term) for term in sympy.Add.make_args(value))


def _is_surd(value: sympy.Expr) -> bool:
    """Whether the value is a rational times square roots of positive integers."""
    return all(
        isinstance(factor, sympy.Rational)
        or (
            isinstance(factor, sympy.Pow)
            and factor.args[1] == sympy.S.Half
            and isinstance(factor.args[0], sympy.Integer)
            and factor.args[0] > 0
        )
        for factor in sympy.Mul.make_args(value)
    )


def enclosure(value: Any, digits: int = 20) -> tuple[str, str]:
    """A lower and an upper decimal bound of the ball, rigorously.

    >>> enclosure(arb(1) / 3, 6)
    ('0.33333333331', '0.33333333335')
    """
    if is_minus_infinity(value):
        return "-inf", "-inf"
    if not value.is_finite():
        return "-inf", "inf"
    middle, radius, exponent = value.mid_rad_10exp(digits)
    return _bound(middle - radius, exponent), _bound(middle + radius, exponent)


def _bound(units: fmpz, exponent: fmpz) -> str:
    """Units · 10^exponent without superfluous zeros, in scientific notation far from 1."""
    if units == 0:
        return "0"
    sign, digits, places = ("-" if units < 0 else ""), str(abs(units)), int(exponent)
    stripped = digits.rstrip("0")
    places += len(digits) - len(stripped)
    if 0 <= places <= _LONG:
        return sign + stripped + "0" * places
    if -_LONG - len(stripped) <= places < 0:
        return sign + _fixed(fmpz(int(stripped)), -places)
    point = f".{stripped[1:]}" if len(stripped) > 1 else ""
    return f"{sign}{stripped[0]}{point}e{places + len(stripped) - 1}"
