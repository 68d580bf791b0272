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
from itertools import combinations

#: Sizes that a program is run at first: primes, none next to another.
TRIAL = (17, 23, 29, 37, 43, 53, 61, 71, 83, 97)

#: The largest denominator of a quotient that is written as one.
_MOST_BELOW = 1000

#: From here on a number that is added to scores stands for −∞: e^-10000 is 0 in every dtype.
LOWEST = -1e4


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
    for number, text in _of_sizes(sizes):
        if math.isclose(number, value, rel_tol=1e-15):
            return text
    near = Fraction(value).limit_denominator(_MOST_BELOW)
    if float(near) == value:
        return str(near)
    square = Fraction(value * value).limit_denominator(_MOST_BELOW)
    if math.isclose(math.sqrt(square), value, rel_tol=1e-15):
        return f"sqrt({square})"
    fourth = Fraction(value**4).limit_denominator(_MOST_BELOW)
    if math.isclose(float(fourth) ** 0.25, value, rel_tol=1e-15):
        return f"({fourth})^(1/4)"
    return format(Decimal(repr(value)), "f")


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
