"""What an array is, as a text of equations says it: formulas put together with their brackets."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
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


#: The exponentials of scores, from which the largest of each row is subtracted.
_SHIFTED = re.compile(r"exp\((.*) - rowmax\(\1\)\)")


#: The product of two matrices, of which one is a row, perhaps over a number.
_TWO = re.compile(
    r"(?=.*\[\d+\])(\w+(?:\[\w+\])?)(\^T)? (\w+(?:\[\w+\])?)(\^T)?((?: / sqrt\(\w+\)| / \d+)?)"
)


class Unsaid(SymattnError):
    """What has no formula here, and what would have one."""


#: What is said of numbers that become whole ones.
CUT = "numbers are cut to whole ones; real numbers have a form"


def is_whole(dtype: Any) -> bool:
    """Whether a dtype of any library's is one of whole numbers."""
    return "int" in str(dtype)


#: What is said of a choice by numbers that has no name.
ASKED = "np.where asks the numbers; np.where with a mask has a formula"


@dataclass(frozen=True)
class Said:
    """The formula of a matrix, how strongly it holds together, and how its array lies.

    `axes` says of each axis of the array what it runs along: rows ("i") or columns ("j") of the
    matrix, which one of a family it is ("h", "g"), or nothing ("").
    """

    text: str
    level: int = ATOM
    axes: tuple[str, ...] = ()
    #: The number that it is, where it is a constant one.
    number: float | None = None

    def within(self, level: int) -> str:
        """The text, in brackets where it holds together less than this."""
        return self.text if self.level >= level else f"({self.text})"

    @property
    def turned(self) -> Said:
        """The same array, by the formula of the transpose."""
        axes = tuple(_TURNED.get(axis, axis) for axis in self.axes)
        if self.level == ATOM and self.text.endswith("^T"):
            return replace(self, text=self.text.removesuffix("^T"), axes=axes)
        two = _TWO.fullmatch(self.text)
        if two and bool(two[2]) != bool(two[4]):
            pairs = (two.group(3, 4), two.group(1, 2))
            first, second = (x if turned else f"{x}^T" for x, turned in pairs)
            return replace(self, text=f"{first} {second}{two[5]}", axes=axes)
        return Said(f"{self.within(ATOM)}^T", ATOM, axes)

    @property
    def upright(self) -> Said:
        """The same array, by a formula whose rows come before its columns."""
        places = [self.axes.index(axis) for axis in "ij" if axis in self.axes]
        return self if places == sorted(places) else self.turned

    @property
    def index(self) -> str:
        """The index of a family; empty for one matrix."""
        return next((axis for axis in self.axes if axis in FAMILIES), "")


#: The indices of families, and what rows and columns of a matrix are of its transpose.
FAMILIES = ("h", "g")
_TURNED: Mapping[str, str] = {"i": "j", "j": "i"}


def together(one: Sequence[str], other: Sequence[str]) -> tuple[str, ...] | None:
    """What the axes of two arrays run along, where one is repeated along the other.

    None where two would run along one axis, or one along two.
    """
    most = max(len(one), len(other))
    padded = [("",) * (most - len(axes)) + tuple(axes) for axes in (one, other)]
    joined = tuple(a or b for a, b in zip(*padded, strict=True))
    fits = all(a == b or not (a and b) for a, b in zip(*padded, strict=True))
    named = [axis for axis in joined if axis]
    return joined if fits and len({*named}) == len(named) else None


def aligned(one: Said, other: Said) -> tuple[Said, Said, tuple[str, ...]]:
    """Two formulas whose rows are along the same axes, and what these run along.

    Raises `Unsaid` where they cannot be.
    """
    for second in (other, other.turned):
        axes = together(one.axes, second.axes)
        if axes is not None:
            return one, second, axes
    raise Unsaid("arrays that are repeated along more than the rows and columns of matrices")


def laid(numbers: npt.NDArray[Any], axes: Sequence[str]) -> npt.NDArray[Any]:
    """An array as the matrix that its formula is, one for each head where it is of a family.

    Raises `ValueError` for an array of another shape.
    """
    order = sorted(range(len(axes)), key=lambda axis: "hgij".find(axes[axis]) if axes[axis] else -1)
    kept = [axis for axis in order if axes[axis]]
    placed = numbers.transpose(order).reshape([numbers.shape[axis] for axis in kept])
    if "j" not in axes:
        placed = placed[..., None]
    return placed if "i" in axes else placed[..., None, :]


def of_number(value: float, sizes: Mapping[str, int]) -> Said:
    """The formula of a number. Raises `Unsaid` for none."""
    if math.isnan(value):
        raise Unsaid("nan is no number")
    text = written(value, sizes)
    level = PRODUCT if {*"/*"} & {*text} and not text.startswith("(") else ATOM
    return Said(text, SUM if text.startswith("-") else level, number=value)


def called(name: str, one: Said, options: str = "") -> Said:
    """A function of the entries of a formula, or of its rows."""
    return Said(f"{name}({one.text}{options})", ATOM, one.axes)


def added(one: Said, other: Said, sign: str) -> Said:
    """A sum or a difference; one with 0 is what it is added to."""
    one, other, axes = aligned(one, other)
    if other.text == "0" or (one.text == "0" and sign == "+"):
        return replace(one if other.text == "0" else other, axes=axes)
    back = f" {'-' if sign == '+' else '+'} {other.text}"
    if other.number is not None and one.text.endswith(back):
        return Said(one.text.removesuffix(back), SUM, axes)
    return Said(f"{one.within(SUM)} {sign} {other.within(ENTRIES)}", SUM, axes)


def divided(one: Said, other: Said) -> Said:
    """A quotient: by a number, a column, a row, or entry by entry; a softmax by its name."""
    one, other, axes = aligned(one, other)
    scores = _SHIFTED.fullmatch(one.text)
    if scores and other.text == f"rowsum({one.text})":
        return Said(f"softmax({scores[1]})", ATOM, axes)
    return Said(f"{one.within(PRODUCT)} / {other.within(ATOM)}", PRODUCT, axes)


def negative(one: Said) -> Said:
    """The same with the other sign."""
    return Said(f"-{one.within(PRODUCT)}", SUM, one.axes)


def multiplied(one: Said, other: Said) -> Said:
    """A product with a number, or entry by entry."""
    numbers = [each.number is not None for each in (one, other)]
    one, other, axes = aligned(one, other)
    for factor, rest in ((one, other), (other, one)):
        if factor.text == "1" and not factor.axes:
            return replace(rest, axes=axes)
        if factor.text.startswith("1 / ") and factor.level == PRODUCT and not any(numbers):
            below = Said(factor.text.removeprefix("1 / "), axes=factor.axes)
            return replace(divided(rest, below), axes=axes)
    if numbers[1] and not numbers[0]:
        if other.text.startswith("1/"):
            return divided(one, Said(other.text.removeprefix("1/")))
        one, other = other, one
    if any(numbers):
        return Said(f"{one.within(PRODUCT)} {other.within(ATOM)}", PRODUCT, axes)
    kept = ["".join(each.axes) for each in (one, other)]
    if {*kept} == {"i", "j"}:  # a column and a row
        column, row = (one, other) if kept[0] == "i" else (other, one)
        if axes.index("j") < axes.index("i"):  # the array lies turned
            column, row = row.turned, column.turned
            axes = tuple(_TURNED.get(axis, axis) for axis in axes)
        return Said(f"{column.within(PRODUCT)} {row.within(ATOM)}", PRODUCT, axes)
    return Said(f"{one.within(PRODUCT)} ∘ {other.within(PRODUCT)}", ENTRIES, axes)


def product(one: Said, other: Said, axes: tuple[str, ...]) -> Said:
    """A product of matrices, whose array has these axes; A^T B^T is that of (B A)^T."""
    if all(each.text.endswith("^T") and each.level == ATOM for each in (one, other)):
        one, other = other.turned, one.turned
        axes = tuple(_TURNED.get(axis, axis) for axis in axes)
    return Said(f"{one.within(PRODUCT)} {other.within(ATOM)}", PRODUCT, axes)


def power(one: Said, exponent: Said) -> Said:
    """A power of every entry."""
    match exponent.number:
        case None:
            raise Unsaid("a power whose exponent is no number")
        case 2 | 3 | 4 as times:
            factors = [one.within(ATOM)] * int(times)
            return Said(" ∘ ".join(factors), ENTRIES, one.axes)
        case 0.5:
            return called("sqrt", one)
        case -1:
            return divided(Said("1"), one)
        case -0.5:
            return divided(Said("1"), called("sqrt", one))
    raise Unsaid(f"a power of {exponent.number:g}; 2, 3, 4, 1/2, -1 and -1/2 have a formula")


def extreme(name: str, one: Said, other: Said) -> Said:
    """The larger or the smaller of two, entry by entry; than −∞ every number is larger."""
    if one.number is not None:
        one, other = other, one
    if name == "max" and other.number == 0:
        return called("relu", one)
    if name == "max" and other.number == -math.inf:
        return one
    first, second, axes = aligned(one, other)
    return Said(f"{name}({first.text}, {second.text})", ATOM, axes)


def above(one: Said, other: Said, high: Said, low: Said) -> Said:
    """What is `high` where one is above the other, and `low` elsewhere: max, min, relu or elu.

    Raises `Unsaid` where that has no name.
    """
    if one.number is not None:
        one, other, high, low = other, one, low, high
    if (high, low) == (one, other):
        return extreme("max", one, other)
    if (high, low) == (other, one):
        return extreme("min", one, other)
    if other.number == 0:
        unit = Said("1", number=1)
        powers = [called("exp", x) for x in (one, extreme("min", one, other))]
        if high in (added(one, unit, "+"), added(unit, one, "+")) and low in powers:
            return called("elu1", one)
        if high == one and low in [added(x, unit, "-") for x in powers]:
            return added(called("elu1", one), unit, "-")
    raise Unsaid(ASKED)


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
        "-inf" if number <= LOWEST else of_number(number, sizes).text
        for number in (within, outside)
    )
    return f"{one} if {inside} else {other}"
