"""Statements in NumPy: the value of a text, given its letters.

The tree of a text is read by the grammar; what it means is worked out here, by arrays. A column of
ones, an identity and a mask have the shape that what stands beside them needs.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from symattn.grammar import Apart, Call, Name, Number, Tree, read
from symattn.grammar import sides as halves
from tests import oracle
from tests.oracle import SIZES, Array, Statement


@dataclass(frozen=True)
class Shapeless:
    """A matrix of a shape that is not told: all ones, or a square one."""

    made: Callable[[int, int], Array]
    ones: bool = False

    def beside(self, size: int, left: bool) -> Array:
        """It as a factor beside a matrix with so many rows or columns: ones are a column or row."""
        rows, columns = (1, size) if left else (size, 1)
        return self.made(rows, columns) if self.ones else self.made(size, size)


FUNCTIONS: Mapping[str, Callable[..., Array]] = {
    **{
        name: getattr(oracle, name)
        for name in (
            "softmax",
            "colsoftmax",
            "softmax1",
            "ratio",
            "rowsum",
            "colsum",
            "rowmean",
            "colmean",
            "rowmax",
            "lse",
            "rowvar",
            "unit",
            "norm2",
            "dist2",
            "softcap",
            "sparsemax",
            "hardmax",
            "rotary",
            "tr",
            "diag",
            "inv",
        )
    },
    "LayerNorm": oracle.layernorm,
    "RMSNorm": oracle.rmsnorm,
    "sum": oracle.total,
    "beside": oracle.beside,
    "below": oracle.below,
}
ENTRYWISE: Mapping[str, Callable[[Array], Array]] = {
    "exp": np.exp,
    "ln": np.log,
    "√": np.sqrt,
    "tanh": np.tanh,
    "cos": np.cos,
    "sin": np.sin,
    "abs": np.abs,
    "σ": oracle.sigmoid,
    "max0": oracle.relu,
}


def value(tree: Tree, letters: Mapping[str, Any]) -> Any:
    """The value of a tree: an array, a number, or what has no shape yet."""
    match tree:
        case Number(number, vector):
            return Shapeless(oracle.ones, True) if vector else float(number)
        case Name("I") if "I" not in letters:
            return Shapeless(lambda rows, columns: oracle.eye(rows))
        case Name(name):
            return letters[name]
        case Call("causal"):
            return Shapeless(oracle.causal)
        case Call(name, args):
            inner = [value(arg, letters) for arg in args]
            if name in ENTRYWISE:
                return entrywise(ENTRYWISE[name], *inner)
            known: Array = next((x for x in inner if isinstance(x, np.ndarray)), None)
            axis = int(name == "below")  # the side at which blocks meet
            sized = [
                x.beside(known.shape[axis], True) if isinstance(x, Shapeless) else x for x in inner
            ]
            return FUNCTIONS[name](*sized)
        case Apart("T", (part,)):
            return turned(value(part, letters))
        case Apart("neg", (part,)):
            return entrywise(np.negative, value(part, letters))
        case Apart("inv", (part,)):
            return squared(oracle.inv, value(part, letters))
        case Apart("^", (part,), exponent):
            return power(value(part, letters), exponent)
        case Apart("*" | "×", parts):
            out, *more = (value(part, letters) for part in parts)
            for one in more:
                out = times(out, one)
            return out
        case Apart("/", (above, below)):
            return entrywise(np.divide, value(above, letters), value(below, letters))
        case Apart(sign, parts):
            out, *more = (value(part, letters) for part in parts)
            for one in more:
                out = entrywise({"+": np.add, "∘": np.multiply, "⊘": np.divide}[sign], out, one)
            return out
    raise AssertionError(tree)


def entrywise(function: Callable[..., Array], *args: Any) -> Any:
    """A function of entries; rows, columns and numbers are repeated."""
    shapes = [np.shape(x) for x in args if not isinstance(x, Shapeless)]
    wide = [shape for shape in shapes if len(shape) == 2 and 1 not in shape]
    if all(not isinstance(x, Shapeless) for x in args):
        return function(*args)

    def made(rows: int, columns: int) -> Array:
        return function(*(x.made(rows, columns) if isinstance(x, Shapeless) else x for x in args))

    if wide or any(shapes):
        return made(*np.broadcast_shapes(*shapes))
    return Shapeless(made, all(x.ones for x in args if isinstance(x, Shapeless)))


def turned(one: Any) -> Any:
    """The transpose."""
    if isinstance(one, Shapeless):
        return Shapeless(lambda rows, columns: one.made(columns, rows).T, one.ones)
    return np.transpose(one)


def squared(function: Callable[[Array], Array], one: Any) -> Any:
    """A function of a square matrix."""
    if isinstance(one, Shapeless):
        return Shapeless(lambda rows, columns: function(one.made(rows, rows)))
    return 1 / one if np.ndim(one) == 0 else function(one)


def power(one: Any, exponent: Any) -> Any:
    """A power of a matrix or a number."""
    if np.ndim(one) == 0 and not isinstance(one, Shapeless):
        return one ** float(exponent)
    if exponent != int(exponent):
        return one**exponent
    return squared(lambda x: np.linalg.matrix_power(x, int(exponent)), one)


def times(one: Any, other: Any) -> Any:
    """A product; numbers and 1 × 1 matrices multiply all entries."""
    if isinstance(one, Shapeless) and isinstance(other, Shapeless):
        if one.ones and other.ones:
            return one
        return Shapeless(lambda rows, columns: one.made(rows, rows) @ other.made(rows, columns))
    for left, (part, beside) in enumerate(((other, one), (one, other))):
        if isinstance(part, Shapeless):
            if np.ndim(beside) == 0 or np.size(beside) == 1:
                return entrywise(np.multiply, part, beside)
            return (
                part.beside(beside.shape[0], True) @ beside
                if left
                else beside @ part.beside(beside.shape[1], False)
            )
    if np.ndim(one) == 0 or np.ndim(other) == 0 or 1 in (np.size(one), np.size(other)):
        fits = np.ndim(one) == np.ndim(other) == 2 and np.shape(one)[1] == np.shape(other)[0]
        return one @ other if fits else one * other
    if one.shape[1] != other.shape[0] == 1:  # equal rows, of which one is kept
        other = np.repeat(other, one.shape[1], axis=0)
    return one @ other


def law(text: str, holds: bool, letters: str = "", **options: Any) -> Statement:
    """A statement whose sides are the values of its text.

    Letters are drawn with the shapes that they are given; a letter that an equation defines is the
    value of its other side.
    """
    shapes = options.get("shapes", {})
    left, right = (read(side, shapes) for side in halves(text))
    where = [
        [read(side, shapes) for side in halves(one)] for one in _listed(options.get("where", ()))
    ]
    defined = {
        one.name: two for one, two in where if isinstance(one, Name) and one.name not in _names(two)
    }
    drawn = {name for part in letters.split(";") for name in part.partition(":")[0].split()}
    used = dict.fromkeys(name for tree in (left, right, *defined.values()) for name in _names(tree))
    wanted = [name for name in used if name not in ("I", "π", "e")]
    free = [name for name in wanted if name not in defined or name in drawn]
    rows = [letters] if letters else []
    for name in free:
        if name in shapes and name not in drawn:
            kind = "positive" if name in options.get("positive", ()) else ""
            kind = "permutation" if name in options.get("permuting", ()) else kind
            shape = shapes[name]
            dims = "scalar" if shape == "scalar" else " ".join(map(str, shape))
            dims = dims.split()[0] if kind == "permutation" else dims
            kind = "positivescalar" if (kind, dims) == ("positive", "scalar") else f"{kind} {dims}"
            rows.append(f"{name}: {kind}")

    def sides(**values: Any) -> tuple[Any, Any]:
        known = {
            name: x[0, 0] if _is_number(name, shapes, letters) else x for name, x in values.items()
        }
        for name, meaning in defined.items():
            if name not in known:
                known[name] = value(meaning, known)
        one, other = value(left, known), value(right, known)
        if isinstance(one, Shapeless):
            one = one.made(*(np.shape(other) or (4, 4)))
        if isinstance(other, Shapeless):
            other = other.made(*np.shape(one))
        first, second = np.broadcast_arrays(np.atleast_2d(one), np.atleast_2d(other))
        return first, second

    parameters = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in free]
    sides.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return Statement(text, holds, sides, "; ".join(rows), options)


def _listed(where: Any) -> list[str]:
    return [where] if isinstance(where, str) else list(where)


def _is_number(name: str, shapes: Mapping[str, Any], letters: str) -> bool:
    """Whether a drawn letter is a number, which NumPy has as a 1 × 1 array."""
    if name in SIZES:
        return False
    found = f"{name}: scalar" in letters or f"{name}: positivescalar" in letters
    return shapes.get(name) == "scalar" or (found and name not in shapes)


def _names(tree: Tree) -> list[str]:
    match tree:
        case Name(name):
            return [name]
        case Call(_, parts) | Apart(_, parts):
            return [name for part in parts for name in _names(part)]
    return []
