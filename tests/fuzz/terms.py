"""Random terms of the statement language: written as text, and evaluated in NumPy or mpmath.

Nothing here knows how symattn reads or decides. Every letter has declared sizes, so that a text
has one reading; a part whose size could be read from nowhere (``ones ones^T`` alone) is refused
by `anchored`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import mpmath
import numpy as np

from tests.oracle import KINDS, TOGETHER

#: A size: its name, or 1, or those of blocks side by side.
Size = str | int | tuple[str, ...]
Shape = tuple[Size, Size]

#: Letters, by how they are drawn, and what is assumed of them.
HYPOTHESES: Mapping[str, tuple[str, ...]] = {
    "orthonormal": ("{0}^T {0} = I",),
    "projection": ("{0}^2 = {0}",),
    "symmetric": ("{0}^T = {0}",),
    "skew": ("{0}^T = -{0}",),
    "commuting": ("F G = G F",),
    "stochastic": ("{0} 1 = 1",),
}


class Loose(Exception):
    """A size of a part could not be read from the text."""


@dataclass(frozen=True)
class Term:
    """An operation on parts; a letter has a name and a kind, a multiple its number."""

    op: str
    parts: tuple[Term, ...]
    shape: Shape
    name: str = ""
    kind: str = ""
    number: Fraction = Fraction(1)

    def __str__(self) -> str:
        return written(self)

    def walk(self) -> Iterator[tuple[tuple[int, ...], Term]]:
        """Every part with its place, this one first."""
        yield (), self
        for k, part in enumerate(self.parts):
            for place, inner in part.walk():
                yield (k, *place), inner

    def put(self, place: tuple[int, ...], other: Term) -> Term:
        """This term with the part at a place replaced."""
        if not place:
            return other
        parts = list(self.parts)
        parts[place[0]] = parts[place[0]].put(place[1:], other)
        return replace(self, parts=tuple(parts))


# ---- terms from parts --------------------------------------------------------------------------


def letter(name: str, rows: Size, columns: Size, kind: str = "plain") -> Term:
    return Term("letter", (), (rows, columns), name, kind)


def ones(rows: Size) -> Term:
    return Term("ones", (), (rows, 1))


def unit(size: Size) -> Term:
    return Term("I", (), (size, size))


def mask(rows: Size, columns: Size) -> Term:
    return Term("causal", (), (rows, columns))


def add(one: Term, other: Term) -> Term:
    return Term("+", (one, other), one.shape)


def subtract(one: Term, other: Term) -> Term:
    return Term("-", (one, other), one.shape)


def entrywise(one: Term, other: Term) -> Term:
    return Term("∘", (one, other), one.shape)


def product(one: Term, other: Term) -> Term:
    return Term("*", (one, other), (one.shape[0], other.shape[1]))


def turned(one: Term) -> Term:
    return Term("T", (one,), (one.shape[1], one.shape[0]))


def inverse(one: Term) -> Term:
    return Term("inv", (one,), one.shape)


def multiple(number: Fraction | int, one: Term) -> Term:
    return Term("times", (one,), one.shape, number=Fraction(number))


def function(name: str, one: Term) -> Term:
    shapes: dict[str, Shape] = {
        "rowsum": (one.shape[0], 1),
        "colsum": (1, one.shape[1]),
        "rowmean": (one.shape[0], 1),
        "diag": (_length(one), _length(one)),
    }
    return Term("call", (one,), shapes.get(name, one.shape), name)


def divided(one: Term, column: Term) -> Term:
    """Rows divided by the entries of a column."""
    return Term("/", (one, column), one.shape)


def beside(one: Term, other: Term) -> Term:
    return Term("beside", (one, other), (one.shape[0], _joined(one.shape[1], other.shape[1])))


def below(one: Term, other: Term) -> Term:
    return Term("below", (one, other), (_joined(one.shape[0], other.shape[0]), one.shape[1]))


def again(term: Term, parts: Sequence[Term], number: Fraction | None = None) -> Term:
    """The operation of a term on other parts. Raises `Loose` where their sizes do not meet."""
    makers: dict[str, Callable[..., Term]] = {
        "+": add,
        "-": subtract,
        "∘": entrywise,
        "*": product,
        "T": turned,
        "inv": inverse,
        "/": divided,
        "beside": beside,
        "below": below,
        "times": partial(multiple, term.number if number is None else number),
        "call": partial(function, term.name),
    }
    if term.op in ("+", "-", "∘") and parts[0].shape != parts[1].shape:
        raise Loose
    if term.op == "*" and parts[0].shape[1] != parts[1].shape[0]:
        raise Loose
    return makers[term.op](*parts)


def _joined(*sizes: Size) -> Size:
    out: tuple[str, ...] = ()
    for size in sizes:
        out += size if isinstance(size, tuple) else (str(size),)
    return out


def _length(one: Term) -> Size:
    rows, columns = one.shape
    return rows if columns == 1 else columns


# ---- text --------------------------------------------------------------------------------------


def written(term: Term) -> str:
    """The text, with brackets around every part that is no letter or function."""
    match term.op:
        case "letter":
            return term.name
        case "ones":
            return "ones"
        case "I":
            return "I"
        case "causal":
            return "causal()"
        case "+" | "-" | "∘":
            left, right = map(_bracketed, term.parts)
            return f"{left} {term.op} {right}"
        case "*":
            return " ".join(map(_bracketed, term.parts))
        case "T":
            return f"{_bracketed(term.parts[0])}^T"
        case "inv":
            return f"{_bracketed(term.parts[0])}^-1"
        case "times":
            number = str(abs(term.number))
            number = f"({number})" if "/" in number else number
            sign = "-" if term.number < 0 else ""
            part = _bracketed(term.parts[0])
            return f"{sign}{part}" if number == "1" else f"{sign}{number} {part}"
        case "call":
            return f"{term.name}({written(term.parts[0])})"
        case "/":
            return " / ".join(map(_bracketed, term.parts))
        case "beside":
            return f"[{', '.join(map(written, term.parts))}]"
        case "below":
            return f"[{'; '.join(map(written, term.parts))}]"
    raise AssertionError(term.op)


def _bracketed(term: Term) -> str:
    plain = term.op in {"letter", "ones", "I", "causal", "call", "beside", "below", "T", "inv"}
    text = written(term)
    return text if plain else f"({text})"


def letters(*terms: Term) -> dict[str, Term]:
    """The letters that occur; a commuting pair occurs together."""
    out = {part.name: part for term in terms for _, part in term.walk() if part.op == "letter"}
    for name, other in (("F", "G"), ("G", "F")):
        if name in out and other not in out:
            out[other] = replace(out[name], name=other)
    return dict(sorted(out.items()))


def options(*terms: Term) -> dict[str, Any]:
    """What `equal` has to be told of the letters."""
    found = letters(*terms)
    where = [
        text.format(name)
        for name, one in found.items()
        for text in HYPOTHESES.get(one.kind, ())
        if name != "G"
    ]
    out: dict[str, Any] = {"shapes": {name: list(one.shape) for name, one in found.items()}}
    positive = [name for name, one in found.items() if one.kind == "positive"]
    permuting = [name for name, one in found.items() if one.kind == "permutation"]
    for name, value in (("where", where), ("positive", positive), ("permuting", permuting)):
        if value:
            out[name] = value
    return out


def anchored(term: Term) -> tuple[bool, bool]:
    """Whether the numbers of rows and columns can be read from the text. Raises `Loose`."""
    found = [anchored(part) for part in term.parts]
    match term.op:
        case "letter":
            return True, True
        case "ones":
            return False, True
        case "I" | "causal":
            return False, False
        case "+" | "-" | "∘" | "/":
            (a, b), (c, d) = found
            return (a or c), (b or d or term.op == "/")
        case "*":
            (a, b), (c, d) = found
            if not b and not c:
                raise Loose
            return a, d
        case "T":
            return found[0][1], found[0][0]
        case "inv" | "beside" | "below":
            if not all(all(pair) for pair in found):
                raise Loose
            return True, True
        case "call" if term.name in _WHOLE:
            if not all(found[0]):
                raise Loose
            return True, True
    return found[0]


#: Functions that need the size of what they are given.
_WHOLE = frozenset(
    {"softmax", "colsoftmax", "softmax1", "ratio", "rowsum", "colsum", "rowmean", "diag", "unit"}
)


# ---- numbers -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Numbers:
    """An arithmetic: functions of entries, and the inverse of a matrix."""

    of: Mapping[str, Callable[[Any], Any]]
    inverse: Callable[[Any], Any]
    number: Callable[[Fraction], Any]
    array: Callable[[Any], Any]


def _exact_inverse(matrix: Any) -> Any:
    with mpmath.workdps(80):
        inverted = mpmath.matrix(matrix.tolist()) ** -1
    return np.array(inverted.tolist(), dtype=object)


def _each(of_one: Callable[[Any], Any]) -> Callable[[Any], Any]:
    each: Callable[[Any], Any] = np.frompyfunc(of_one, 1, 1)
    return each


FLOATS = Numbers(
    {
        "exp": np.exp,
        "tanh": np.tanh,
        "σ": lambda x: 1 / (1 + np.exp(-x)),
        "relu": lambda x: np.maximum(x, 0),
        "abs": np.abs,
        "cos": np.cos,
        "sin": np.sin,
        "sqrt": np.sqrt,
        "ln": np.log,
    },
    np.linalg.inv,
    float,
    np.asarray,
)

#: Sixty digits, for what floats leave in doubt.
DIGITS = Numbers(
    {
        "exp": _each(mpmath.exp),
        "tanh": _each(mpmath.tanh),
        "σ": _each(lambda x: 1 / (1 + mpmath.exp(-x))),
        "relu": _each(lambda x: max(x, mpmath.mpf(0))),
        "abs": _each(abs),
        "cos": _each(mpmath.cos),
        "sin": _each(mpmath.sin),
        "sqrt": _each(mpmath.sqrt),
        "ln": _each(mpmath.log),
    },
    _exact_inverse,
    lambda x: mpmath.mpf(x.numerator) / x.denominator,
    _each(mpmath.mpf),
)


def length(size: Size, sizes: Mapping[str, int]) -> int:
    """A size's number."""
    if isinstance(size, tuple):
        return sum(length(part, sizes) for part in size)
    return sizes[size] if isinstance(size, str) and not size.isdigit() else int(size)


def value(
    term: Term, given: Mapping[str, Any], sizes: Mapping[str, int], numbers: Numbers = FLOATS
) -> Any:
    """The value of a term for these letters and sizes."""
    parts = [value(part, given, sizes, numbers) for part in term.parts]
    rows, columns = (length(size, sizes) for size in term.shape)
    match term.op:
        case "letter":
            return given[term.name]
        case "ones":
            return numbers.array(np.ones((rows, 1)))
        case "I":
            return numbers.array(np.eye(rows))
        case "causal":
            seen = np.tril(np.ones((rows, columns))) > 0
            return numbers.array(np.where(seen, 0.0, -np.inf))
        case "+":
            return parts[0] + parts[1]
        case "-":
            return parts[0] - parts[1]
        case "∘":
            return parts[0] * parts[1]
        case "*":
            return parts[0] @ parts[1]
        case "T":
            return parts[0].T
        case "inv":
            return numbers.inverse(parts[0])
        case "times":
            return numbers.number(term.number) * parts[0]
        case "/":
            return parts[0] / parts[1]
        case "beside":
            return np.hstack(parts)
        case "below":
            return np.vstack(parts)
    return _called(term.name, parts[0], numbers)


def _called(name: str, x: Any, numbers: Numbers) -> Any:
    def over(powers: Any, axis: int, more: int = 0) -> Any:
        return powers / (more + powers.sum(axis=axis, keepdims=True))

    match name:
        case "softmax":
            return over(numbers.of["exp"](x), 1)
        case "colsoftmax":
            return over(numbers.of["exp"](x), 0)
        case "softmax1":
            return over(numbers.of["exp"](x), 1, 1)
        case "ratio":
            return over(x, 1)
        case "rowsum":
            return x.sum(axis=1, keepdims=True)
        case "colsum":
            return x.sum(axis=0, keepdims=True)
        case "rowmean":
            return x.sum(axis=1, keepdims=True) / x.shape[1]
        case "unit":
            return x / numbers.of["sqrt"]((x * x).sum(axis=1, keepdims=True))
        case "diag":
            out = numbers.array(np.zeros((x.size, x.size)))
            np.fill_diagonal(out, np.ravel(x))
            return out
    return numbers.of[name](x)


def drawn(
    found: Mapping[str, Term], sizes: Mapping[str, int], random: np.random.Generator, scale: float
) -> dict[str, Any]:
    """Numbers for letters, as their kinds say; free ones of this scale."""
    out: dict[str, Any] = {}
    for name, one in found.items():
        dims = [length(size, sizes) for size in one.shape]
        if one.kind == "commuting":
            if name == "F":
                out["F"], out["G"] = TOGETHER["commuting"](random, dims[0])
        elif one.kind == "plain":
            out[name] = scale * random.normal(size=dims)
        elif one.kind in {"permutation", "square", "projection", "symmetric", "skew"}:
            out[name] = KINDS[one.kind](random, dims[0])
        else:
            out[name] = KINDS[one.kind](random, *dims)
    return out
