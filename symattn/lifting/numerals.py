"""A number of a program, written as the sizes and whole numbers that it was made of.

A function runs at sizes that are primes, and unlikely ones, so that a number tells which size it
comes from: 0.23570226… is 1/√18.0…, and where 17 is d_k, 0.24253562503633297 is 1/√d_k. Whether it
was read rightly is seen at other sizes, where the equations have to give the function's numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import combinations

import numpy as np
import numpy.typing as npt

#: Sizes that a program is run at first, primes, none next to another; those that it is run at
#: again, with more tokens than their numbers; and smaller ones, where it does too much at those.
TRIAL, AGAIN, FEW = (
    (17, 23, 29, 37, 43, 53, 61, 71, 83, 97),
    (31, 19, 13, 11, 41, 47, 59, 67, 73, 79),
    (7, 11, 5, 13, 19, 23, 29, 37, 43, 53),
)

#: The largest denominator of a quotient that is written as one.
_MOST_BELOW = 1000
_BELOW = np.arange(1.0, _MOST_BELOW + 1)

#: From the first on a number that is added to scores stands for −∞: e^-10000 is 0 in every dtype;
#: from the second on one with which a largest number begins does, too.
LOWEST, LOWEST_START = -1e4, -1e9


def written(value: float, sizes: Mapping[str, int]) -> str:
    """A number as a text of equations has it; `sizes` are those of the run.

    >>> written(17**-0.5, {"d_k": 17}), written(0.25, {}), written(-3, {})
    ('1/sqrt(d_k)', '1/4', '-3')
    """
    value = float(value)
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if value < 0:
        return f"-{written(-value, sizes)}"
    known, texts = _listed(tuple(sizes.items()))
    near = np.flatnonzero(np.abs(known - value) <= 1e-15 * value)
    if near.size:
        return texts[int(near[0])]
    for exponent, form in ((1, "{}"), (2, "sqrt({})"), (4, "({})^(1/4)")):
        found = _quotient(value, exponent)
        if found is not None:
            return form.format(found)
    return format(Decimal(repr(value)), "f")


@lru_cache(maxsize=16)
def _listed(sizes: tuple[tuple[str, int], ...]) -> tuple[npt.NDArray[np.float64], list[str]]:
    """The numbers that programs make of these sizes, and how each is written."""
    listed = [*_of_sizes(dict(sizes))]
    return np.array([number for number, _ in listed]), [text for _, text in listed]


def _quotient(value: float, exponent: int) -> Fraction | None:
    """The quotient of small whole numbers whose root a number is, as nearly as a float can be."""
    power = value**exponent
    if not value.is_integer():
        roots = (np.round(power * _BELOW) / _BELOW) ** (1 / exponent)
        if not (np.abs(roots - value) <= 2e-15 * value).any():
            return None
    found = Fraction(power).limit_denominator(_MOST_BELOW)
    if exponent == 1:
        return found if float(found) == value else None
    return found if math.isclose(found ** (1 / exponent), value, rel_tol=1e-15) else None


def size_at(name: str, sizes: Mapping[str, int]) -> int:
    """A size of a shape: a name, a whole number, or a product of these.

    >>> size_at("2*d_k", {"d_k": 3})
    6
    """
    return math.prod(int(one) if one.isdigit() else sizes[one] for one in name.split("*"))


def sizes_in(shapes: Iterable[Sequence[str]]) -> list[str]:
    """The names and whole numbers of which the sizes of these shapes are made, each once.

    >>> sizes_in([("n", "2*d_k"), ("m", "2*d_k")])
    ['n', '2', 'd_k', 'm']
    """
    listed = (one for shape in shapes for size in shape for one in size.split("*"))
    return [*dict.fromkeys(listed)]


def sizes_said(sizes: Mapping[str, int]) -> str:
    """Sizes as a sentence has them."""
    return ", ".join(f"{name} = {size}" for name, size in sizes.items())


def _of_sizes(sizes: Mapping[str, int]) -> Iterator[tuple[float, str]]:
    """The numbers that programs make of a size, each with how it is written."""
    for text, size in _made_of(sizes):
        name = f"({text})" if "*" in text else text
        yield size, text
        yield math.sqrt(size), f"sqrt({text})"
        yield 1 / size, f"1/{name}"
        yield 1 / math.sqrt(size), f"1/sqrt({name})"
        yield size**0.25, f"{name}^(1/4)"
        yield size**-0.25, f"1/{name}^(1/4)"
    for text, size in sizes.items():
        yield size - 1, f"({text} - 1)"
        yield size + 1, f"({text} + 1)"


def _made_of(sizes: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    """The sizes, and their products with one another and with small numbers."""
    yield from sizes.items()
    for (one, size), (other, more) in combinations(sizes.items(), 2):
        yield f"{one}*{other}", size * more
    for name, size in sizes.items():
        for times in range(2, min(TRIAL)):
            yield f"{times}*{name}", times * size
