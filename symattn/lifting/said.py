"""What an array is, as a text of equations says it: formulas put together with their brackets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from symattn.errors import SymattnError
from symattn.lifting.numerals import LOWEST, written

#: How strongly a formula holds together: a sum, a product entry by entry, a product, a letter.
SUM, ENTRIES, PRODUCT, ATOM = range(4)

#: Functions of entries, by NumPy's names.
OF_ENTRIES: Mapping[str, str] = {
    "exp": "exp",
    "log": "ln",
    "sqrt": "sqrt",
    "tanh": "tanh",
    "absolute": "abs",
    "cos": "cos",
    "sin": "sin",
}


class Unsaid(SymattnError):
    """What has no formula here, and what would have one."""


@dataclass(frozen=True)
class Said:
    """A formula, and how strongly it holds together.

    `turned`: of an array with one axis, that the formula is a column; else it is a row.
    `minus`: of a number before a product, its sign.
    """

    text: str
    level: int = ATOM
    turned: bool = False

    def within(self, level: int) -> str:
        """The text, in brackets where it holds together less than this."""
        return self.text if self.level >= level else f"({self.text})"

    @property
    def transposed(self) -> Said:
        """The formula of the transpose."""
        if self.level == ATOM and self.text.endswith("^T"):
            return replace(self, text=self.text.removesuffix("^T"))
        return replace(self, text=f"{self.within(ATOM)}^T", level=ATOM)

    def lying(self, as_column: bool) -> Said:
        """Of an array with one axis, the formula as a column, or as a row."""
        return self if self.turned == as_column else replace(self.transposed, turned=as_column)


def of_number(value: float, sizes: Mapping[str, int]) -> Said:
    """The formula of a number."""
    text = written(value, sizes)
    if text.startswith("-"):
        return Said(text, SUM)
    return Said(text, PRODUCT if "/" in text and not text.startswith("(") else ATOM)


def called(name: str, one: Said, **more: Any) -> Said:
    """A function of a formula."""
    return Said(f"{name}({one.text})", ATOM, **more)


def added(one: Said, other: Said, sign: str) -> Said:
    """A sum or a difference."""
    return Said(f"{one.within(SUM)} {sign} {other.within(ENTRIES)}", SUM, one.turned)


def divided(one: Said, other: Said) -> Said:
    """A quotient: by a number, a column, a row, or entry by entry."""
    return Said(f"{one.within(PRODUCT)} / {other.within(ATOM)}", PRODUCT, one.turned)


def multiplied(one: Said, other: Said, numbers: tuple[bool, bool]) -> Said:
    """A product with a number, or entry by entry; `numbers`: which of the two are numbers."""
    if "1" in (one.text, other.text) and any(numbers):  # which is a column of ones elsewhere
        return other if one.text == "1" else one
    if numbers[1] and not numbers[0]:
        if other.text.startswith("1/"):
            return divided(one, Said(other.text.removeprefix("1/")))
        one, other = other, one
    if any(numbers):
        return Said(f"{one.within(PRODUCT)} {other.within(ATOM)}", PRODUCT, other.turned)
    return Said(f"{one.within(PRODUCT)} ∘ {other.within(PRODUCT)}", ENTRIES, one.turned)


def product(one: Said, other: Said) -> Said:
    """A product of matrices."""
    return Said(f"{one.within(PRODUCT)} {other.within(ATOM)}", PRODUCT)


def power(one: Said, exponent: float) -> Said:
    """A power of every entry."""
    match exponent:
        case 2:
            return Said(f"{one.within(ATOM)} ∘ {one.within(ATOM)}", ENTRIES, one.turned)
        case 0.5:
            return called("sqrt", one, turned=one.turned)
        case -1:
            return replace(divided(Said("1"), one), turned=one.turned)
        case -0.5:
            below = called("sqrt", one)
            return replace(divided(Said("1"), below), turned=one.turned)
    raise Unsaid(f"a power of {exponent:g}; 2, 1/2, -1 and -1/2 have a formula")


def pattern(allowed: npt.NDArray[np.bool_]) -> str:
    """The test of i and j that a matrix of zeros and ones passes, as a text.

    Raises `Unsaid` for what is no band along the diagonal.

    >>> pattern(np.tril(np.ones((17, 23), bool)))
    'j <= i'
    """
    rows, columns = allowed.shape
    distance = np.arange(columns) - np.arange(rows)[:, None]
    if not allowed.any():
        raise Unsaid("a mask that hides everything")
    low, high = distance[allowed].min(), distance[allowed].max()
    if not np.array_equal(allowed, (distance >= low) & (distance <= high)):
        raise Unsaid(
            "a mask that is no band along the diagonal; a triangle or a band has a formula"
        )
    tests = []
    if low > distance.min():
        tests.append(f"j >= i {'-' if low < 0 else '+'} {abs(low)}" if low else "j >= i")
    if high < distance.max():
        tests.append(f"j <= i {'-' if high < 0 else '+'} {abs(high)}" if high else "j <= i")
    return " and ".join(tests) or "0 <= 0"


def by_entries(values: npt.NDArray[Any], sizes: Mapping[str, int]) -> str:
    """A constant matrix by its entries: of two numbers, one within a band and one outside.

    Raises `Unsaid` for any other.
    """
    found = np.unique(values)
    if len(found) != 2:
        raise Unsaid("a table of numbers; a matrix of two numbers has a formula")
    low, high = map(float, found)
    try:
        inside, within, outside = pattern(values == high), high, low
    except Unsaid:
        inside, within, outside = pattern(values == low), low, high
    one, other = (
        "-inf" if number <= LOWEST else written(number, sizes) for number in (within, outside)
    )
    return f"{one} if {inside} else {other}"
