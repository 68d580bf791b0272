"""Two sides with numbers or functions put in; numbers for which they differ, proven by balls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

import flint
import numpy as np
import sympy
from numpy.typing import NDArray

from symattn.algebra.claims import Slope
from symattn.arithmetic.balls import BALLS, Balls
from symattn.arithmetic.base import Arithmetic, Array, Ground, filled
from symattn.arithmetic.enclosure import ball, is_minus_infinity, precision
from symattn.derivations import Derivation
from symattn.derivatives.rules import change
from symattn.errors import SymattnError
from symattn.evaluate.walk import Program, program_of, program_of_step
from symattn.nodes.heads import heads_in
from symattn.nodes.masks import Allowed
from symattn.step import Step

_BITS = (80, 320)

#: Balls that meet and have smaller radii than this count as equal; no more bits are tried.
_SHARP = flint.arb(2) ** -50

Sizes = Mapping[sympy.Symbol, int]

#: What a side of an equation means: an expression of SymPy, a matrix or a number, or a derivation.
Meaning: TypeAlias = Any
Sides: TypeAlias = tuple[Meaning, Meaning]


@dataclass(frozen=True, repr=False)
class Counterexample:
    """Numbers for which two sides differ, the first entry where they do, and both values.

    `left` and `right` are decimals; the proof is that their balls do not meet.
    """

    values: tuple[tuple[str, Ground | Array], ...]
    place: tuple[int, ...]
    left: str
    right: str

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        numbers = ", ".join(f"{name} = {_listed(value)}" for name, value in self.values)
        where = ", ".join(str(k + 1) for k in self.place)
        at = f"entry ({where})" if self.place else "the value"
        return f"with {numbers}: {at} is {self.left} on the left and {self.right} on the right"


def _listed(value: Ground | Array) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_listed, value))}]"
    return str(value)


@dataclass(frozen=True)
class Side:
    """One side: an expression, or a derivation whose last step is meant.

    `text` is the side as it was written, if it was, and `spare` are the shapes in it that no letter
    tells.
    """

    meaning: Meaning
    text: str = ""
    spare: tuple[tuple[sympy.Expr, sympy.Expr], ...] = ()

    @property
    def expressions(self) -> list[Meaning]:
        """The side, or the steps of a derivation."""
        is_derivation = isinstance(self.meaning, Derivation)
        return [step.expr for step in self.meaning.steps] if is_derivation else [self.meaning]

    def letters(self) -> Mapping[str, Letter]:
        """The matrices that are given, by letter."""
        return self._letters

    @cached_property
    def _letters(self) -> Mapping[str, Letter]:
        out: dict[str, Letter] = {}
        if isinstance(self.meaning, Derivation):
            known = self.meaning.sizes
            for item in self.meaning.inputs:
                shape = tuple(sympy.sympify(size, strict=True).subs(known) for size in item.shape)
                count = item.count if item.count is None else item.count.subs(known)
                out[item.letter] = Letter(shape, count)
        else:
            for symbol in sorted(self._symbols(), key=str):
                out[symbol.name] = Letter(tuple(symbol.shape))
        boolean = {
            symbol.name
            for expr in self.expressions
            if hasattr(expr, "atoms")
            for node in expr.atoms(Allowed)
            for symbol in node.atoms(sympy.MatrixSymbol)
        }
        return {name: replace(letter, boolean=name in boolean) for name, letter in out.items()}

    def _symbols(self) -> set[sympy.MatrixSymbol]:
        if not isinstance(self.meaning, sympy.Basic):
            return set()
        if heads_in(self.meaning):
            raise SymattnError("a matrix of one head has no value by itself; give the derivation")
        return set(self.meaning.atoms(sympy.MatrixSymbol))

    def scalars(self) -> set[sympy.Symbol]:
        """The scalar symbols, sizes included."""
        if isinstance(self.meaning, Derivation):
            return {s for s in self.meaning.size_symbols if s not in self.meaning.sizes}
        symbols = getattr(self.meaning, "free_symbols", ())
        return {symbol for symbol in symbols if isinstance(symbol, sympy.Symbol)}

    def is_refused(self, sizes: Sizes) -> bool:
        """Whether these scalars leave the side without a value: √x for x < 0, 1/x for x = 0."""
        return any(
            bool(number == 0 if divides else number < 0)
            for inner, divides in self.asked
            for number in [ball(inner.subs(sizes))]
        )

    @cached_property
    def asked(self) -> Sequence[tuple[sympy.Expr, bool]]:
        """The numbers of which roots and logarithms are taken, and those that divide, inner first.

        Whether it is one that divides, and may not be 0; the others are not below 0.
        """
        if not isinstance(self.meaning, sympy.Basic):
            return ()
        found = []
        for part in sympy.postorder_traversal(self.meaning):
            power = part.exp if isinstance(part, sympy.Pow) else sympy.S.One
            if isinstance(part, sympy.log) or (power.is_Rational and not power.is_Integer):
                found.append((part.args[0], False))
            if power.is_negative:
                found.append((part.args[0], True))
        return found

    def value(self, given: Mapping[str, Array], arithmetic: Arithmetic, sizes: Sizes) -> Array:
        """The value in an arithmetic."""
        if isinstance(self.meaning, Derivation):
            values = dict(given)
            sizes = {**sizes, **self.meaning.sizes}
            known = frozenset(sizes.items())
            for step in self.meaning.steps:
                values[step.letter] = _of_step(step, known)(values.__getitem__, arithmetic)
            return values[self.meaning.steps[-1].letter]
        if isinstance(self.meaning, Slope):
            return _differentiated(self.meaning, given, arithmetic, sizes)
        if isinstance(self.meaning, sympy.MatrixBase | sympy.MatrixExpr):
            meaning = self.meaning
            if _is_explicit(meaning):  # its entries may hold scalars
                scalars = {s: sizes[s] for s in meaning.free_symbols if s in sizes}
                meaning = meaning.xreplace(scalars)
            return _program(meaning, frozenset(sizes.items()))(given.__getitem__, arithmetic)
        scalar = sympy.sympify(self.meaning, strict=True).subs(sizes)
        return arithmetic.array(filled((1, 1), [scalar]))


def _differentiated(
    slope: Slope, given: Mapping[str, Array], arithmetic: Arithmetic, sizes: Sizes
) -> Array:
    """How a number changes with each entry of a letter, forwards."""
    letter = slope.letter
    along = sympy.MatrixSymbol(f"∂{letter.name}", *letter.shape)
    changed = change(slope.expr, lambda one: along if one == letter else None)
    out = arithmetic.array(np.full(given[letter.name].shape, sympy.S.Zero))
    if changed is None:
        return out
    program = _program(changed, frozenset(sizes.items()))
    for place in np.ndindex(*out.shape):
        unit = np.full(out.shape, sympy.S.Zero)
        unit[place] = sympy.S.One
        values = {**given, along.name: arithmetic.array(unit)}
        out[place] = program(values.__getitem__, arithmetic).item()
    return out


@lru_cache(maxsize=256)
def _is_explicit(meaning: Meaning) -> bool:
    """Whether there is a matrix of numbers in an expression."""
    return any(isinstance(part, sympy.MatrixBase) for part in sympy.preorder_traversal(meaning))


@lru_cache(maxsize=1024)
def _of_step(step: Step, sizes: frozenset[tuple[sympy.Symbol, sympy.Expr]]) -> Program:
    return program_of_step(step, dict(sizes))


@lru_cache(maxsize=256)
def _program(meaning: Meaning, sizes: frozenset[tuple[sympy.Symbol, sympy.Expr]]) -> Program:
    return program_of(meaning, dict(sizes))


@dataclass(frozen=True)
class Letter:
    """A matrix that is given: rows and columns, the size that counts its heads, whether boolean."""

    shape: tuple[sympy.Expr, ...]
    count: sympy.Expr | None = None
    boolean: bool = False

    def __str__(self) -> str:
        heads = "" if self.count is None else f" for each of {self.count} heads"
        return " × ".join(map(str, self.shape)) + heads

    def dims(self, sizes: Sizes) -> tuple[int, ...]:
        """Its shape in numbers, with the heads before it."""
        rows, columns = (int(sympy.sympify(size, strict=True).subs(sizes)) for size in self.shape)
        if self.count is None:
            return rows, columns
        return int(self.count.subs(sizes)), rows, columns


def broadcast(left: Array, right: Array) -> tuple[Array, Array]:
    """Both as arrays of one shape; a 1 × 1 value is repeated. Raises `SymattnError` otherwise."""
    if left.shape == right.shape:
        return left, right
    if left.shape == (1, 1) or right.shape == (1, 1):
        shape = np.broadcast_shapes(left.shape, right.shape)
        return np.broadcast_to(left, shape), np.broadcast_to(right, shape)
    sizes = [" × ".join(map(str, value.shape)) for value in (left, right)]
    raise SymattnError(f"{sizes[0]} and {sizes[1]}: matrices of different shapes are never equal")


@dataclass(frozen=True)
class Compared:
    """Two sides with numbers put in: whether they agree, or the first entry where they differ.

    Neither is the case where a side has no value.
    """

    agree: bool
    place: tuple[int, ...] | None = None
    left: str = ""
    right: str = ""


class _Tried(Balls):
    """Balls that remember a divisor of 0, where a quotient of rows is 0 by definition."""

    def __init__(self) -> None:
        self.divided_by_zero = False

    def equals(self, x: Array, number: int) -> NDArray[np.bool_]:
        found = super().equals(x, number)
        self.divided_by_zero |= number == 0 and bool(found.any())
        return found


def evaluated(
    given: Mapping[str, Array], defined: Mapping[str, Meaning], scalars: Sizes
) -> dict[str, Array] | None:
    """The matrices that are given and those that hypotheses define; None where one has no value.

    Definitions are balls, which `compared` takes as they are.
    """
    arrays, left = dict(given), dict(defined)
    with precision(_BITS[-1]), np.errstate(all="ignore"):
        while left:
            ready = [
                name for name, meaning in left.items() if not {*Side(meaning).letters()} & set(left)
            ]
            if not ready:
                return None
            for name in ready:
                found = _values([Side(left.pop(name))], arrays, scalars, BALLS)
                if found is None or not all(map(_is_known, found[0].ravel())):
                    return None
                arrays[name] = found[0]
    return arrays


def _values(
    sides: Sequence[Side], given: Mapping[str, Array], sizes: Sizes, arithmetic: Arithmetic
) -> list[Array] | None:
    """The values of sides in balls; None where one of them has none."""
    letters = {name for side in sides for name in side.letters()}
    try:
        if any(side.is_refused(sizes) for side in sides):
            return None
        arrays = {name: in_balls(value) for name, value in given.items() if name in letters}
        return [side.value(arrays, arithmetic, sizes) for side in sides]
    except SymattnError:
        return None


def in_balls(value: Array) -> Array:
    """Numbers in balls, which those that hypotheses define are already."""
    return value if value.size and isinstance(value.flat[0], flint.arb) else BALLS.array(value)


def compared(
    left: Side, right: Side, given: Mapping[str, Array], sizes: Sizes, at_most: bool = False
) -> Compared:
    """The sides in balls, with more bits where the first do not tell.

    `at_most`: whether the left side is nowhere above the right one.
    """
    answer = Compared(False)
    for bits in _BITS:
        tried = _Tried()
        with precision(bits), np.errstate(all="ignore"):
            values = _values((left, right), given, sizes, tried)
            if values is None:
                return Compared(False)
            one, two = broadcast(*values)
            if tried.divided_by_zero and not _has_derivation(left, right):
                return Compared(False)
            answer = _compared(one, two, at_most)
            if answer.place is not None or not answer.agree:
                return answer
            if all(x.rad() < _SHARP for array in (one, two) for x in array.ravel()):
                return answer
    return answer


def has_value(side: Side, given: Mapping[str, Array], sizes: Sizes) -> bool:
    """Whether every entry of a side has a value for these numbers."""
    tried = _Tried()
    with precision(_BITS[-1]), np.errstate(all="ignore"):
        values = _values([side], given, sizes, tried)
        return (
            values is not None
            and not tried.divided_by_zero
            and all(map(_is_known, values[0].ravel()))
        )


def _is_known(x: Ground) -> bool:
    return bool(x.is_finite()) or is_minus_infinity(x)


def _has_derivation(*sides: Side) -> bool:
    return any(isinstance(side.meaning, Derivation) for side in sides)


def _compared(one: Array, two: Array, at_most: bool) -> Compared:
    found = None
    for place in np.ndindex(*one.shape):
        a, b = one.item(*place), two.item(*place)
        if not (_is_known(a) and _is_known(b)):
            return Compared(False)
        if found is None and (a > b if at_most else not a.overlaps(b)):
            found = Compared(False, place, *_decimals(a, b))
    return found or Compared(True)


def _decimals(a: Ground, b: Ground) -> tuple[str, str]:
    """Two balls that do not meet, with as many digits as it takes to see that."""
    for digits in (6, 12, 24, 48):
        one, other = _decimal(a, digits), _decimal(b, digits)
        if one != other:
            break
    return one, other


def _decimal(x: Ground, digits: int) -> str:
    """A ball as a decimal."""
    if not x.is_finite():
        return "−∞" if x < 0 else "∞"
    text = str(x.str(digits, radius=False))
    if "e" not in text and "." in text:
        text = text.rstrip("0").rstrip(".")
    return text or "0"
