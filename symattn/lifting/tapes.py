"""What a program has recorded, read elsewhere: as numbers, balls, terms or elements of fields.

Each number that a program is given has a name (`named`), by which its tape asks for it.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from flint import arb

from symattn.arithmetic.base import Array, elementwise
from symattn.claims.computed import computed
from symattn.errors import SymattnError, Undecided
from symattn.lifting import terms
from symattn.lifting.limits import LIMITS
from symattn.lifting.terms import Unknown
from symattn.verifying.calling import Answer

#: What stands at places of what a program returns, in the shape in which they are.
Reading: TypeAlias = Callable[[Array], Array]

#: What stands for letters and numbers: the module `terms`, or `Fields` with methods so named.
Kind: TypeAlias = Any


def named(numbers: Mapping[str, Array]) -> dict[str, Array]:
    """For each number of what is given a number of its own."""
    names, start = {}, 0
    for name, array in numbers.items():
        names[name] = np.arange(start, start + array.size, dtype=float).reshape(array.shape)
        start += array.size
    return names


def numbers_by_name(ids: Mapping[str, Array], numbers: Mapping[str, Array]) -> dict[int, float]:
    """The numbers of what is given, by their names on the tape."""
    pairs = (zip(ids[name].flat, numbers[name].flat, strict=True) for name in ids)
    return {int(name): float(number) for pair in pairs for name, number in pair}


def near(one: Array, other: Array, rounding: float = 0.0) -> Array:
    """Whether numbers are the same but for rounding, of which there may be a few hundred."""
    finite = np.abs(other[np.isfinite(other)])
    bound = max(LIMITS.near, 256 * rounding) * max(1.0, float(finite.max(initial=0)))
    with np.errstate(invalid="ignore"):
        return np.asarray((np.abs(one - other) <= bound) | (one == other))


def hold_same(of: Kind, ones: Array, others: Array, what: str) -> None:
    """Raise `SymattnError` unless each of some numbers is the same as its counterpart."""
    pairs = zip(ones.flat, others.flat, strict=True)
    if not all(of.same(of.term(one), of.term(other)) for one, other in pairs):
        raise SymattnError(f"no proof was found: {what} has another form")


#: What has to be above 0, not below 0, or not 0: the argument of an operation, by its sign.
Asked: TypeAlias = tuple[str, Any]

#: Operations that are not defined everywhere.
_PARTIAL: Mapping[str, str] = {"div": "÷", "ln": "ln", "√": "√"}


def may_be_undefined(mine: Sequence[Asked], others: Sequence[Asked]) -> bool:
    """Whether one asks for something that is not defined everywhere, and the other does not.

    They ask of terms: a sum of exponentials, say, is known to be above 0.
    """
    unknown, known = (
        [one for one in dict.fromkeys(asked) if not _is_defined(*one)] for asked in (mine, others)
    )
    return any(
        not any(kind == other and terms.are_alike(x, its) for other, its in known)
        for kind, x in unknown
    )


def _is_defined(kind: str, x: terms.Term) -> bool:
    if kind == "√":
        return x.sign in (0, 1) or terms.is_never_negative(x)
    return x.sign == 1 or terms.has_a_key(x) or (kind == "÷" and x.sign == -1)


def _asked_of_power(base: Any, exponent: float) -> Iterator[Asked]:
    if exponent < 0:
        yield "÷", base
    if exponent % 1:
        yield "√", base


class Tape:
    """What a program has recorded, read as numbers or as terms."""

    def __init__(self, said: Mapping[str, Any]) -> None:
        self.operations: list[list[Any]] = said["operations"]
        #: Of what was read last as terms, what is not defined everywhere.
        self.asked: list[Asked] = []
        #: The rounding that is in the function's own numbers beyond that of their dtype.
        self.rounding = LIMITS.shown if said["single"] else 0.0
        #: All that is returned, one after the other: places on the tape, or numbers.
        self.returned: list[int | float] = []
        parts = []
        for name, shape, flat in said["parts"]:
            start = len(self.returned)
            self.returned += flat
            places = np.arange(start, start + len(flat), dtype=float).reshape(shape)
            parts.append((str(name), computed(places, name or "what it returns")))
        self.answer = Answer(None, "", said["form"], tuple(parts))

    def formal(self, of: Kind) -> Reading:
        """What stands at places of what is returned, as terms or as elements of fields."""
        self.asked.clear()
        return self._read(of.letter, of.truth, of.term, _formal(of))

    def floats(self, given: Mapping[int, float]) -> Reading:
        """The same as floats."""
        return self._read(given.__getitem__, given.__getitem__, float, _FLOATS)

    def enclosed(self, given: Mapping[int, float], spread: int) -> Reading:
        """The same as balls, which contain the numbers of real arithmetic.

        A number of the program may be what is left of another one by `spread` roundings.
        """

        def ball(name: int) -> arb:
            return arb(given[name])

        return self._read(ball, ball, partial(_meant, spread), _BALLS)

    def _read(
        self,
        letter: Callable[[int], Any],
        truth: Callable[[int], Any],
        number: Callable[[float], Any],
        table: Mapping[str, Callable[..., Any]],
    ) -> Reading:
        values: list[Any] = []

        def value(place: int | float) -> Any:
            return values[place] if isinstance(place, int) else number(place)

        for name, *arguments in self.operations:
            if name == "letter":
                values.append(letter(int(arguments[0])))
            elif name == "truth":
                values.append(truth(int(arguments[0])))
            elif name == "pow":
                base, exponent = value(arguments[0]), arguments[1]
                self.asked.extend(_asked_of_power(base, exponent))
                values.append(table["pow"](base, exponent))
            elif name in table:
                given = [*map(value, arguments)]
                if name in _PARTIAL:
                    self.asked.append((_PARTIAL[name], given[-1]))
                values.append(table[name](*given))
            else:
                raise Unknown(f"{str(name)[:40]} has no form here")
        return lambda places: elementwise(lambda place: value(self.returned[int(place)]), places)


def _meant(spread: int, value: float) -> arb:
    """The numbers that one of a program may stand for: 0.353553 for 1/√8, of which it has 6 digits.

    Whole numbers and others of few binary digits, as 0.375, stand for themselves. What is a number
    of float32 may have been rounded to one, as an angle is, and grown by `spread`; one of doubles
    may have been made in a few thousand steps.
    """
    if not math.isfinite(value) or value.is_integer():
        return arb(value)
    numerator, _ = value.as_integer_ratio()
    if numerator.bit_length() <= LIMITS.meant:
        return arb(value)
    is_single = float(np.float32(value)) == value
    dtype, times = (np.float32, spread) if is_single else (np.float64, max(spread, LIMITS.made))
    off = times * float(np.finfo(dtype).epsneg) * max(1.0, abs(value))
    typed = Decimal(repr(value)).as_tuple()
    if len(typed.digits) > LIMITS.typed:
        off = max(off, 0.5 * 10.0 ** int(typed.exponent))
    return arb(value, off)


def _exponent(value: float) -> Fraction:
    """The quotient that an exponent is. Raises `Unknown` for none of small numbers."""
    found = Fraction(value).limit_denominator(64)
    if float(found) != value:
        raise Unknown(f"a power of {value:g}; quotients of small numbers have a form")
    return found


def _formal(of: Kind) -> Mapping[str, Callable[..., Any]]:
    """What each operation of a tape does to terms, or to elements of fields."""
    return {
        "add": operator.add,
        "sub": operator.sub,
        "mul": operator.mul,
        "div": operator.truediv,
        "pow": lambda x, exponent: x.power(_exponent(exponent)),
        "max": lambda a, b: of.largest([a, b]),
        "min": lambda a, b: -of.largest([-a, -b]),
        "at least": lambda a, b, one, other: of.chosen(b - a, other, one),
        "above": lambda a, b, one, other: of.chosen(a - b, one, other),
        "equal": lambda a, b, one, other: of.chosen((a - b) ** 2, other, one),
        "true": partial(by_truth, of),
        **functions(of),
    }


def functions(of: Kind) -> Mapping[str, Callable[[Any], Any]]:
    """Functions of one number, by name."""
    one, half = of.term(1), Fraction(1, 2)

    def sigmoid(x: Any) -> Any:
        return one / (one + of.exp(-x))

    return {
        **{name: partial(of.function, name) for name in ("tanh", "cos", "sin", "erf")},
        "exp": of.exp,
        "ln": of.ln,
        "abs": of.absolute,
        "σ": sigmoid,
        "√": lambda x: x.power(half),
        "elu1": lambda x: of.chosen(x, x + one, of.exp(x)),
        "max0": lambda x: of.largest([x, of.term(0)]),
        "SiLU": lambda x: x * sigmoid(x),
        "GELU": lambda x: (
            x * (one + of.function("erf", x * of.term(half).power(half))) * of.term(half)
        ),
    }


def by_truth(of: Kind, which: Any, one: Any, other: Any) -> Any:
    """One of two by what is 1 or 0; −∞ is the logarithm of 0."""
    if one.lowest and other.lowest:
        return one
    if other.lowest:
        return one + of.ln(which)
    if one.lowest:
        return other + of.ln(of.term(1) - which)
    return other + (one - other) * which


#: What each operation does to floats.
_FLOATS: Mapping[str, Callable[..., float]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "pow": math.pow,
    "max": max,
    "min": min,
    "exp": math.exp,
    "ln": math.log,
    "√": math.sqrt,
    "tanh": math.tanh,
    "cos": math.cos,
    "sin": math.sin,
    "abs": abs,
    "erf": math.erf,
    "at least": lambda a, b, x, y: x if a >= b else y,
    "above": lambda a, b, x, y: x if a > b else y,
    "equal": lambda a, b, x, y: x if a == b else y,
    "true": lambda a, x, y: x if a else y,
}


def _by_sign(difference: arb, above: arb, below: arb) -> arb:
    """A choice by a sign. Raises `Undecided` where a ball contains numbers of both."""
    if difference > 0:
        return above
    if difference < 0:
        return below
    raise Undecided("a comparison is not decided in so many digits")


def _defined(operation: Callable[..., arb]) -> Callable[..., arb]:
    """An operation that gives NaN only where its arguments are exact, as 0/0 does.

    It raises `Undecided` where a ball contains numbers for which it is not defined.
    """

    def of(*balls: arb) -> arb:
        found = operation(*balls)
        if found.is_nan() and not all(ball.is_exact() or ball.is_nan() for ball in balls):
            raise Undecided("what is divided by, or has a root, is not known to be above 0")
        return found

    return of


def _at_least(a: arb, b: arb, one: arb, other: arb) -> arb:
    return one if a >= b else _by_sign(a - b, one, other)


def _above(a: arb, b: arb, one: arb, other: arb) -> arb:
    return other if a <= b else _by_sign(a - b, one, other)


#: What each operation does to balls.
_BALLS: Mapping[str, Callable[..., arb]] = {
    "add": _defined(arb.__add__),
    "sub": _defined(arb.__sub__),
    "mul": _defined(arb.__mul__),
    "div": _defined(arb.__truediv__),
    "pow": lambda a, exponent: _defined(arb.__pow__)(a, arb(exponent)),
    "max": arb.max,
    "min": arb.min,
    "exp": arb.exp,
    "ln": _defined(arb.log),
    "√": _defined(arb.sqrt),
    "tanh": arb.tanh,
    "cos": arb.cos,
    "sin": arb.sin,
    "abs": abs,
    "erf": arb.erf,
    "at least": _at_least,
    "above": _above,
    "equal": lambda a, b, one, other: one if a == b else _by_sign(a - b, other, other),
    "true": lambda a, one, other: other if a == 0 else one,  # every ball is true to Python
}
