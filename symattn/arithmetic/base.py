"""What a formula asks of the numbers it is evaluated in.

A node states its formula once, over an `Arithmetic`; exact SymPy numbers, proven balls and NumPy
floats each answer with their own operations (the idea is mpmath's: the arithmetic is an
argument). Values are NumPy arrays throughout, of floats or of objects, so that leading axes
(batches, heads) broadcast in all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
import sympy
from numpy.typing import NDArray

from symattn.arithmetic.shapes import Array, Shapes, Size
from symattn.budget import foresee
from symattn.errors import SymattnError

__all__ = ["Arithmetic", "Array", "Ground", "elementwise", "exactly", "stacked"]

#: A number as some arithmetic holds it: SymPy's, a ball of Arb, a float.
Ground: TypeAlias = Any


class Ranks(Shapes):
    """What compares the numbers of a row with one another, or an entry with a number."""

    def vanishing(self, x: Array) -> NDArray[np.bool_]:
        """Where an entry is 0, or a ball that contains 0."""
        return np.asarray(x == 0, dtype=bool)

    def equals(self, x: Array, number: int) -> NDArray[np.bool_]:
        """Where an entry is exactly `number`."""
        return np.asarray(x == number, dtype=bool)

    def where(self, condition: NDArray[np.bool_], a: Array | Ground, b: Array | Ground) -> Array:
        """`a` where the condition holds, else `b`, whatever the other one is (NaN, ∞)."""
        return np.where(condition, a, b)

    def where_equal(self, x: Array, number: int, a: Array, b: Array) -> Array:
        """`a` where an entry is `number`, else `b`; a ball of both where it is not known."""
        return self.where(self.equals(x, number), a, b)

    def threshold(self, x: Array) -> Array:
        """For each row the τ with Σ max(0, x − τ) = 1, as an axis of length 1."""
        raise NotImplementedError

    def threshold_of_squares(self, x: Array) -> Array:
        """For each row the τ with Σ max(0, x − τ)² = 1, as an axis of length 1."""
        raise NotImplementedError

    def first_largest(self, x: Array) -> Array:
        """1 at the first largest entry of each row, 0 elsewhere; [0, 1] where it is not known."""
        raise NotImplementedError

    def top(self, x: Array, count: Size) -> Array:
        """0 at the `count` largest entries of each row, of equal ones the first, −∞ elsewhere.

        A ball that holds both where it is not known.
        """
        raise NotImplementedError


class Arithmetic(Ranks):
    """The operations a formula may use. Subclasses hold floats or objects in NumPy arrays.

    Those that move entries about, and count positions, are in `Shapes`.
    """

    name: str = "abstract"

    @property
    def key(self) -> tuple[object, ...]:
        """What its values are kept under: two arithmetics that compute the same have the same."""
        return (self.name,)

    @property
    def wide(self) -> Arithmetic:
        """What is made of positions is computed in this: itself, or one of at least float32."""
        return self

    def narrowed(self, x: Array) -> Array:
        """Numbers of `wide` in this arithmetic."""
        return x

    def scalar(self, value: sympy.Expr) -> Ground:
        """A SymPy number in this arithmetic."""
        raise NotImplementedError

    def array(self, exact: Array) -> Array:
        """An array of SymPy numbers, or of NumPy's that were given, in this arithmetic."""
        raise NotImplementedError

    def numbers(self, places: Array) -> Array:
        """Whole numbers, such as positions, in this arithmetic."""
        return self.array(exactly(places.shape, map(int, places.ravel())))

    def table(self, function: Callable[..., Sequence[Ground]], *sizes: Size) -> Array:
        """The exact numbers that a function lists; in a program it is called by its name."""
        listed = function(*map(int, sizes))
        return self.array(exactly((len(listed),), listed))

    def powers(self, base: sympy.Expr, step: int, size: Size) -> Array:
        """base^(step t/size) for t = 0, 1, … below size/2."""
        exponents = [sympy.Rational(step * t, int(size)) for t in range((int(size) + 1) // 2)]
        return self.array(exactly((len(exponents),), [base**exponent for exponent in exponents]))

    def filled(self, number: sympy.Expr, rows: Size, columns: Size) -> Array:
        """A matrix of one number."""
        shape = int(rows), int(columns)
        return self.array(exactly(shape, [number] * (shape[0] * shape[1])))

    def identity(self, size: Size) -> Array:
        """Ones on the diagonal."""
        return self.numbers(np.eye(int(size), dtype=int))

    def call(self, formula: Callable[..., Array], *args: Array) -> Array:
        """A formula over this arithmetic; in a program it is a function, called by its name."""
        return formula(self, *args)

    def exp(self, x: Array) -> Array:
        """Elementwise exponential; of −∞ it is exactly 0."""
        raise NotImplementedError

    def apply(self, name: str, x: Array) -> Array:
        """A function of one number, elementwise, by its name in `FUNCTIONS`: tanh, σ, √."""
        raise NotImplementedError

    def hidden(self, x: Array) -> NDArray[np.bool_]:
        """Where an entry is −∞."""
        raise NotImplementedError

    def visible(self, x: Array) -> Array:
        """The numbers with 0 in the place of −∞."""
        return self.where(self.hidden(x), self.zero, x)

    def all_hidden(self, x: Array) -> Any:
        """Which rows are −∞ alone, as an axis of length 1."""
        return self.every(self.hidden(x))

    def kept(self, x: Array) -> Array:
        """A value, of which later ones are made: the same, or written in a shorter way."""
        return x

    def shift(self, x: Array) -> Array:
        """x_ij − c_i with some c_i for each row, where the arithmetic needs it to stay in range.

        Only for formulas that such a shift leaves unchanged (softmax).
        """
        raise NotImplementedError

    def in_range(self, x: Array) -> tuple[Array, Array | None]:
        """Rows over a power of two each, where squares would else leave the range; and the powers.

        Only for formulas in which such a factor can be put back, or cancels (lengths, directions).
        None where nothing is divided.
        """
        return x, None

    def lowered(self, x: Array) -> Array:
        """x_ij − max_l x_il, where the arithmetic needs it to stay accurate; else x."""
        return x

    def matmul(self, a: Array, b: Array) -> Array:
        """Matrix product over the last two axes; the others broadcast."""
        return np.asarray(np.matmul(a, b))

    def inverse(self, x: Array) -> Array:
        """The inverse of a square matrix. Raises `SymattnError` where there is none."""
        raise NotImplementedError

    def transpose(self, x: Array) -> Array:
        """The last two axes exchanged."""
        return np.swapaxes(x, -1, -2)

    def add(self, a: Array, b: Array) -> Array:
        """Elementwise sum."""
        return np.asarray(a + b)

    def subtract(self, a: Array, b: Array) -> Array:
        """Elementwise difference."""
        return self.add(a, self.negative(b))

    def negative(self, x: Array) -> Array:
        """Every entry with the other sign."""
        return np.asarray(-x)

    def multiply(self, a: Array | Ground, b: Array | Ground) -> Array:
        """Elementwise product, or by a scalar."""
        return np.asarray(a * b)

    def scaled(self, x: Array, factor: sympy.Expr) -> Array:
        """Every entry times a SymPy number. Raises `SymattnError` where −∞ would become +∞."""
        self._keeps_minus_infinity(x, factor)
        return self.multiply(x, self.scalar(factor))

    def over(self, x: Array, divisor: sympy.Expr) -> Array:
        """Every entry over a SymPy number. Raises `SymattnError` where −∞ would become +∞."""
        self._keeps_minus_infinity(x, divisor)
        return self.divide(x, self.scalar(divisor))

    def _keeps_minus_infinity(self, x: Array, factor: sympy.Expr) -> None:
        if factor.is_negative and self.anywhere(self.hidden(x)):
            raise SymattnError("scaled: −∞ times a negative scale is +∞; use a positive one")

    def divide(self, a: Array, b: Array | Ground) -> Array:
        """Elementwise quotient, or by a scalar."""
        return np.asarray(a / b)

    def share(self, part: Array, whole: Array) -> Array:
        """Non-negative parts of each row over their sum: quotients from 0 to 1."""
        return self.divide(part, whole)

    def row_max(self, x: Array) -> Array:
        """Largest entry of the last axis, kept as an axis of length 1; −∞ where all are −∞.

        Here the first largest entry is chosen; an arithmetic that has a maximum takes that.
        """
        hidden = self.hidden(x)
        finite = self.where(hidden, self.zero, x)
        chosen = self.row_sum(self.multiply(finite, self.first_largest(x)))
        return self.where(self.every(hidden), self.minus_infinity, chosen)

    def row_sum(self, x: Array) -> Array:
        """Sum over the last axis, kept as an axis of length 1."""
        return np.asarray(x.sum(axis=-1, keepdims=True))

    def total(self, x: Array, axis: int) -> Array:
        """Sum over an axis, which goes."""
        return np.asarray(self.row_sum(np.moveaxis(x, axis, -1))[..., 0])

    def sums_at(self, x: Array, places: Array, count: Size) -> Array:
        """In each row the sums of entries that share a place: out_ic = Σ_j x_ij over p_ij = c."""
        sums = (self.row_sum(self.where(places == c, x, self.zero)) for c in range(int(count)))
        return np.concatenate([*sums], axis=-1)

    def whole_power(self, x: Array, exponents: Array) -> Array:
        """Every entry to the whole power at its place, which may be below 0; x^0 is 1."""
        return np.asarray(x ** exponents.astype(object))

    def where_at_most(self, left: Array, right: Array, a: Array, b: Array) -> Array:
        """`a` where left ≤ right, else `b`."""
        return self.where(np.asarray(left <= right, dtype=bool), a, b)

    @property
    def zero(self) -> Ground:
        """0 in this arithmetic."""
        return self.scalar(sympy.S.Zero)

    @property
    def minus_infinity(self) -> Ground:
        """−∞ in this arithmetic."""
        return self.scalar(sympy.S.NegativeInfinity)


def equal_by_order(self: Arithmetic, x: Array, number: int, a: Array, b: Array) -> Array:
    """`Ranks.where_equal` where two numbers are told apart by their order alone."""
    one: Ground = self.scalar(sympy.Integer(number))
    return self.where_at_most(x, one, self.where_at_most(one, x, a, b), b)


def filled(shape: tuple[int, ...], entries: list[Ground]) -> Array:
    """An object array of this shape with these entries."""
    out = np.empty(len(entries), dtype=object)
    out[:] = entries
    return out.reshape(shape)


def exactly(shape: tuple[int, ...], entries: Iterable[Ground]) -> Array:
    """Exact numbers as an array of this shape."""
    return filled(shape, [sympy.sympify(entry, strict=True) for entry in entries])


def elementwise(function: Callable[..., Ground], *arrays: Array) -> Array:
    """`function` of the entries at the same place in all, broadcast, as an object array."""
    return np.asarray(np.frompyfunc(function, len(arrays), 1)(*arrays), dtype=object)


def rowwise(function: Callable[[Array], Iterable[Ground]], x: Array) -> Array:
    """What a function makes of every row, as many numbers, as an object array."""
    places = np.ndindex(x.shape[:-1])
    return filled(x.shape, [entry for place in places for entry in function(x[place])])


def of_rows(function: Callable[[Array], Ground], x: Array) -> Array:
    """The number that a function makes of every row, kept as an axis of length 1."""
    return filled((*x.shape[:-1], 1), [function(x[place]) for place in np.ndindex(x.shape[:-1])])


def inverted(x: Array, inverse: Callable[[Array], Array]) -> Array:
    """The inverse of each matrix over leading axes."""
    foresee(x.shape[-1] ** 3)
    out = np.empty(x.shape, dtype=object)
    for place in np.ndindex(x.shape[:-2]):
        out[place] = inverse(x[place])
    return out


def stacked(a: Array, b: Array, product: Callable[[Array, Array], Array]) -> Array:
    """A product of two matrices applied over broadcast leading axes."""
    foresee(a.shape[-2] * a.shape[-1] * b.shape[-1])
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    left = np.broadcast_to(a, (*lead, *a.shape[-2:]))
    right = np.broadcast_to(b, (*lead, *b.shape[-2:]))
    out = np.empty((*lead, a.shape[-2], b.shape[-1]), dtype=object)
    for place in np.ndindex(lead):
        out[place] = product(left[place], right[place])
    return out
