"""Numbers as somebody wrote them: their digits are a claim of their own.

``0.50`` and ``50%`` claim two decimals and ``5e-1`` one; ``12`` claims none, ``1.2e3`` hundreds; a
fraction or a closed expression (``1/3``, ``e^2/(e^2+2e^4)``) claims exactness.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, lru_cache
from math import inf
from typing import Any

import sympy
from flint import arb, fmpq, fmpz

from symattn.arithmetic.balls import precision
from symattn.arithmetic.reading import read_number
from symattn.errors import ReadError, shown

#: What stands where nothing was claimed.
BLANKS = ("?", "…", "")

#: How the decimal module spells what TOML spells -inf.
_MINUS_INFINITY = {"-Infinity": "-inf"}

_PLAIN = re.compile(r"([+-]?)([0-9]{0,120})(?:\.([0-9]{0,120}))?(?:[eE]([+-]?[0-9]{1,9}))?\Z")


@dataclass(frozen=True)
class Written:
    """A number with the digits it was written with.

    `places` counts the decimals, negative for tens and hundreds; None claims the exact `value`.
    """

    text: str
    value: sympy.Expr
    places: int | None

    @cached_property
    def number(self) -> Any:
        """The decimal that stands there, as a FLINT rational."""
        assert self.places is not None
        return fmpq(int(self.value.p), int(self.value.q))

    @cached_property
    def unit(self) -> Any:
        """One unit of the last digit, as a FLINT rational."""
        assert self.places is not None
        ten = fmpz(10) ** abs(self.places)
        return fmpq(1, ten) if self.places >= 0 else fmpq(ten)

    @cached_property
    def bounds(self) -> tuple[Any, Any]:
        """Half a unit of the last digit below and above, as balls of 128 bits."""
        half = self.unit / 2
        with precision(128):
            return arb(self.number - half), arb(self.number + half)

    @cached_property
    def reach(self) -> tuple[Any, Any]:
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


def read_written(value: Any, where: str) -> Written | None:
    """A claimed number, None for a blank; `where` begins the message of a `ReadError`.

    >>> read_written("0.50", "x"), read_written("?", "x")
    (Written(text='0.50', value=1/2, places=2), None)
    >>> read_written("5e-1", "x").places, read_written("1.2e3", "x").places
    (1, -2)
    >>> read_written("1/3", "x").places is None, read_written("33 %", "x").places
    (True, 2)
    """
    if isinstance(value, str | Decimal) or type(value) is int:
        text = _MINUS_INFINITY.get(str(value), str(value).strip())
        try:
            return None if text in BLANKS else _read(text)
        except ReadError as error:
            raise ReadError(f"{where}: {error}") from None
    if isinstance(value, bool | float) or value is None:
        raise ReadError(f"{where}: {shown(value)} does not say its digits; write it as text")
    return Written(str(value), read_number(value, where), None)


@lru_cache(maxsize=8192)
def _read(text: str) -> Written:
    percent = text.endswith("%")
    plain = text.removesuffix("%").rstrip()
    try:
        value = read_number(plain, "") / (100 if percent else 1)
    except ReadError as error:
        raise ReadError(str(error).removeprefix(": ")) from None
    match = _PLAIN.match(plain.replace("−", "-"))
    if match is None or not (match[2] or match[3]):
        return Written(text, value, None)
    return Written(text, value, len(match[3] or "") - int(match[4] or 0) + 2 * percent)
