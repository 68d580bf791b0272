"""Numbers as somebody wrote them: their digits are a claim of their own.

``0.50``, ``0,50`` and ``50%`` claim two decimals and ``5e-1`` one; ``12`` claims none, ``1.2e3``
hundreds; ``0.33…`` says that its digits go on; a fraction or a closed expression (``1/3``, ``½``,
``e^2/(e^2+2e^4)``) claims exactness. How numbers are spelled: `symattn.arithmetic.spelling`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property, lru_cache
from math import inf

import sympy
from flint import arb, fmpq, fmpz

from symattn.arithmetic.enclosure import in_flint, precision
from symattn.arithmetic.reading import read_number
from symattn.arithmetic.spelling import Form, form_of, plain_text, without_lead
from symattn.errors import ReadError, quote
from symattn.grammar import MAX_EXPONENT, MAX_LENGTH

#: What stands where nothing was claimed.
BLANKS = ("?", "…", "...", "⋯", "")

#: The most digits on either side of a decimal sign.
_MOST_DIGITS = 120

#: How the decimal module spells what TOML spells -inf.
_MINUS_INFINITY = {"-Infinity": "-inf"}


@dataclass(frozen=True)
class Written:
    """A number with the digits it was written with.

    `places` counts the decimals, negative for tens and hundreds; None claims the exact `value`.
    `continued` says that further digits follow (``0.33…``).
    """

    text: str
    value: sympy.Expr
    places: int | None
    continued: bool = field(default=False, repr=False)

    @cached_property
    def number(self) -> fmpq:
        """The decimal that stands there, as a FLINT rational."""
        assert self.places is not None
        return in_flint(self.value)

    @cached_property
    def unit(self) -> fmpq:
        """One unit of the last digit, as a FLINT rational."""
        assert self.places is not None
        ten = fmpz(10) ** abs(self.places)
        return fmpq(1, ten) if self.places >= 0 else fmpq(ten)

    @cached_property
    def bounds(self) -> tuple[arb, arb]:
        """Half a unit of the last digit below and above, as balls of 128 bits."""
        half = self.unit / 2
        with precision(128):
            return arb(self.number - half), arb(self.number + half)

    @cached_property
    def reach(self) -> tuple[arb, arb]:
        """One unit of the last digit below and above, as balls of 128 bits."""
        with precision(128):
            return arb(self.number - self.unit), arb(self.number + self.unit)

    @cached_property
    def nearest(self) -> float:
        """The nearest float, infinite where it is larger than floats are."""
        try:
            return float(self.value)
        except OverflowError:
            return inf if self.value > 0 else -inf

    @cached_property
    def nearest_unit(self) -> float:
        """The float nearest to `unit`; 0 for an exact claim."""
        return 0.0 if self.places is None else float(f"1e{-self.places}")

    @property
    def hidden(self) -> bool:
        """Whether it says −∞."""
        return self.value is sympy.S.NegativeInfinity

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Measured(Written):
    """A number that a program computed, with the `reaching` that rounding may have moved it by.

    It claims to lie so near to the true value, as a decimal claims half a unit of its last digit;
    `places` is how many decimals are shown.
    """

    reaching: float = 0.0
    #: Whether it has more digits than are shown.
    rounded: bool = field(default=False, repr=False)

    @cached_property
    def unit(self) -> fmpq:
        """Twice how far rounding may have moved it, as a FLINT rational."""
        above, below = (2 * self.reaching).as_integer_ratio()
        return fmpq(above, below)

    @cached_property
    def nearest_unit(self) -> float:
        """The float nearest to `unit`."""
        return 2 * self.reaching


def read_written(value: object, where: str, decimal: str = "") -> Written | None:
    """A claimed number, None for a blank; `where` begins the message of a `ReadError`.

    `decimal` is the decimal sign of the sheet, "" where that is not known.

    >>> read_written("0.50", "x"), read_written("?", "x")
    (Written(text='0.50', value=1/2, places=2), None)
    >>> read_written("5e-1", "x").places, read_written("1.2e3", "x").places
    (1, -2)
    >>> read_written("1/3", "x").places is None, read_written("33 %", "x").places
    (True, 2)
    >>> read_written("0,670", "x").value, read_written("1½", "x").value
    (67/100, 3/2)
    """
    if isinstance(value, str | Decimal) or type(value) is int:
        text = _MINUS_INFINITY.get(str(value), str(value).strip())
        try:
            if text in BLANKS:
                return None
            return _read(text, decimal if isinstance(value, str) else ".")
        except ReadError as error:
            raise ReadError(f"{where}: {error}") from None
    if isinstance(value, bool | float) or value is None:
        raise ReadError(
            f"{where}: {quote(value)} does not show how many digits it has; write it in quotes"
        )
    return Written(str(value), read_number(value, where), None)


@lru_cache(maxsize=8192)
def _read(text: str, decimal: str) -> Written:
    if len(text) > MAX_LENGTH:
        raise ReadError(f"{len(text)} characters are too many; write {MAX_LENGTH} at most")
    form = form_of(text, decimal)
    if form is not None:
        return Written(text, _number(form, text), form.places, bool(form.dots))
    bare = without_lead(text).strip()
    if bare != text and "=" not in text[: len(text) - len(bare)]:
        if not bare:
            raise ReadError(f"{quote(text)} is not a number; write e.g. 0.47")
        raise ReadError(
            f"{quote(text)} does not show its digits; write {bare[:40]} if it is exact, "
            "or a decimal such as 0.33"
        )
    percent = bare.endswith("%")
    plain = plain_text(bare.removesuffix("%").removesuffix("\\").rstrip(), decimal)
    try:
        exact = read_number(plain, "", MAX_LENGTH) / (100 if percent else 1)
    except ReadError as error:
        raise ReadError(str(error).removeprefix(": ")) from None
    return Written(text, exact, None)


def _number(form: Form, text: str) -> sympy.Expr:
    """The decimal that stands there, exactly."""
    whole, _, fraction = form.plain.partition(".")
    exponent = form.exponent
    if abs(exponent) > MAX_EXPONENT:
        raise ReadError(f"{text[:40]}: keep the exponent within ±{MAX_EXPONENT}")
    if max(len(whole), len(fraction)) > _MOST_DIGITS:
        raise ReadError(f"{quote(text)} has too many digits; write at most {_MOST_DIGITS}")
    units = int(whole + fraction or "0")
    if form.sign and form.sign != "+":
        units = -units
    if form.places <= 0:
        return sympy.Integer(units * 10**-form.places)
    return sympy.Rational(units, 10**form.places)
