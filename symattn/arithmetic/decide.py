"""Which digits to show: a decimal is written down only when Arb or exact arithmetic proves it.

A ball decides a rounding as soon as it lies on one side of every half unit. If it keeps
straddling one, the value may be a tie, and only exact arithmetic can say so
(`symattn.arithmetic.proof`): on which side of the tie it lies, or that it is the tie. At first its
quick answer is asked for, over the names of long operands; what they are made of is looked into
only once more bits have not helped. The effort is bounded, so that beyond it a digit is marked as
not proven.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from flint import arb, fmpq, fmpz

from symattn.arithmetic.base import Ground
from symattn.arithmetic.enclosure import BITS, is_minus_infinity, nearest, precision
from symattn.arithmetic.quantity import Quantity
from symattn.notation.options import Rounding

#: From this many digits before the point on, a number is shown in scientific notation.
_LONG = 16

_HALF = arb(0.5)

#: From this precision on an exact value is taken apart as far as it takes.
_DEEP = BITS[2]


@dataclass(frozen=True)
class Digits:
    """A decimal to show: `text`, whether it is the exact value, whether it is proven."""

    text: str
    exact: bool
    proven: bool = True

    @property
    def marked(self) -> str:
        """The same with a question mark where it is not proven."""
        return self.text if self.proven or self.text == "?" else f"{self.text}?"


def decide(
    x: Quantity,
    digits: int,
    rounding: Rounding = "half-up",
    tiny: int | None = None,
    long: int = _LONG,
) -> Digits:
    """The value correctly rounded to `digits` decimals, proven, or marked as not proven.

    The exact value is asked for only when a ball cannot decide. A value below 10^−tiny is shown in
    scientific notation, with so many digits, instead of as nearly zero, and so is one from 10^long
    on.
    """
    value: arb | None = None
    for bits, value in x.enclosures():
        if is_minus_infinity(value):
            return Digits("-inf", True)
        if not value.is_finite():
            continue
        with precision(bits + 64):
            size = None if _is_usual(value, tiny, long) else _magnitude(value)
            if size is None or (size < long and (tiny is None or size >= -tiny)):
                size = 0
            # beyond this power of ten a number is handled by its logarithm
            if abs(size) > 5000:
                found = _scientific(value, size, digits)
            else:
                found = _plain(x, value, bits, size, digits, rounding)
        if found is not None:
            return found
    return _unproven(value, digits)


def rounded(value: arb, digits: int) -> str | None:
    """A ball as a decimal with all its digits, None where it is not decided by the ball alone.

    >>> rounded(arb(2), 3), rounded(arb(1) / 3, 3), rounded(arb(0.0625), 3)
    ('2.000', '0.333', None)
    """
    units = _units(value * arb(10) ** digits)
    return None if units is None else _fixed(units, digits)


def decided(values: Iterable[arb], digits: int) -> list[Digits | None]:
    """What `decide` says of many numbers, None of those that one ball each does not decide.

    >>> [one and one.text for one in decided([arb(2), arb(1) / 3, arb(0.0625)], 3)]
    ['2', '0.333', None]
    """
    found: list[Digits | None] = []
    with precision(BITS[0] + 64):
        power, most = arb(10) ** digits, fmpz(10) ** (digits + _LONG - 1)
        for value in values:
            scaled = value * power
            units = _units(scaled)
            if units is None or abs(units) >= most:
                found.append(None)
            elif not (scaled - units).contains(0):
                found.append(Digits(_fixed(units, digits), False))
            else:
                exact = value.is_exact() and scaled == units
                found.append(Digits(_trimmed(_fixed(units, digits)), True) if exact else None)
    return found


def _trimmed(text: str) -> str:
    """A decimal that is the exact value, without its last zeros."""
    return text.rstrip("0").rstrip(".") if "." in text else text


def _plain(
    x: Quantity, value: arb, bits: int, size: int, digits: int, rounding: Rounding
) -> Digits | None:
    """The digits of a number in units of 10^size; None where more precision is needed."""
    deep, places = bits >= _DEEP, digits - size
    side = _unasked if bits < BITS[1] else partial(x.exact_side, deep=deep)
    units = _round(value, side, places, rounding)
    if units is None:
        return None
    if size and abs(units) >= fmpz(10) ** (digits + 1):  # 9.99996 became 10.0000
        return _plain(x, value, bits, size + 1, digits, rounding)
    decimal = fmpq(units) / _ten(places)
    is_exact = value.is_exact() and value.fmpq() == decimal
    if not value.is_exact() and _contains(value, decimal):
        known = side(decimal)
        if known is None and not deep:
            return None
        is_exact = known == 0
    text = _fixed(units, digits)
    if is_exact:
        text = _trimmed(text)
    return Digits(f"{text}e{size}" if size else text, is_exact)


def _unasked(q: fmpq) -> None:
    """What exact arithmetic says, before a finer ball has been looked at, which costs less."""


def _scientific(value: arb, size: int, digits: int) -> Digits | None:
    """An astronomically large or small number, by its logarithm: 10^size is never written out.

    None where that is too coarse: for the digits, or even for the power of ten.
    """
    with precision(BITS[1] + 8 * digits + size.bit_length()):
        mantissa = (abs(value).log() - size * arb(10).log()).exp()
        units = _units(mantissa * 10**digits)
        if units is None:
            return None
    if not 10**digits <= units < 10 ** (digits + 1):
        one_off = -1 if units < 10**digits else 1
        near = mantissa > 0.5 if one_off < 0 else mantissa < 20
        return _scientific(value, size + one_off, digits) if near else None
    minus = "-" if value < 0 else ""
    return Digits(f"{minus}{_fixed(units, digits)}e{size}", False)


def _ten(places: int) -> fmpq:
    return fmpq(fmpz(10) ** places) if places >= 0 else 1 / fmpq(fmpz(10) ** -places)


def _contains(value: arb, number: fmpq) -> bool:
    """Whether the ball may be `number`: False is a proof that it is not."""
    return bool((value - arb(number)).contains(0))


def _is_usual(value: arb, tiny: int | None, long: int) -> bool:
    """Whether the midpoint alone shows that no scientific notation comes into question."""
    least = 0 if tiny is None else 10.0 ** (1 - tiny)
    return least <= abs(nearest(value)) < 10.0 ** (long - 1)


def _magnitude(value: arb) -> int | None:
    """The power of ten of the value's leading digit (at most one off), None near zero."""
    if value.contains(0):
        return None
    power = (abs(value).log() / arb(10).log()).mid().floor().unique_fmpz()
    assert power is not None  # a midpoint is one number
    return int(power)


def _round(
    value: arb, exact_side: Callable[[fmpq], int | None], places: int, rounding: Rounding
) -> fmpz | None:
    """The value in units of 10^-places rounded to a whole number, or None if undecided."""
    scaled = value * arb(_ten(places))
    units = _units(scaled)
    if units is not None:
        return units
    twice = (2 * scaled + _HALF).floor().unique_fmpz()
    if twice is None or twice % 2 == 0:
        return None
    tie = fmpq(twice, 2) / _ten(places)
    below = (twice - 1) // 2
    known_tie = value.is_exact() and arb(tie).is_exact() and value == arb(tie)
    side = 0 if known_tie else exact_side(tie)
    if side != 0:
        return None if side is None else below + 1 if side > 0 else below
    if rounding == "half-even":
        return below if below % 2 == 0 else below + 1
    return below + 1 if twice > 0 else below


def _units(scaled: arb) -> fmpz | None:
    """The nearest whole number; None where the ball alone does not tell which."""
    above = scaled + _HALF
    return None if above.contains_integer() else above.floor().unique_fmpz()


def _fixed(units: fmpz, digits: int) -> str:
    """An integer count of 10^-digits as a decimal."""
    sign, body = ("-", str(-units)) if units < 0 else ("", str(units))
    if digits == 0:
        return sign + body
    body = body.rjust(digits + 1, "0")
    return f"{sign}{body[:-digits]}.{body[-digits:]}"


def _unproven(value: arb | None, digits: int) -> Digits:
    """The best midpoint where no procedure decided, marked as such."""
    if value is None or not value.is_finite():
        return Digits("?", False, proven=False)
    with precision(BITS[0]):
        units = (value.mid() * arb(10) ** digits + _HALF).floor().unique_fmpz()
    text = "?" if units is None else _fixed(units, digits)
    return Digits(text, False, proven=False)


def enclosure(value: Ground, digits: int = 20) -> tuple[str, str]:
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
