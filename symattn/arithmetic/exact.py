"""Exact arithmetic: rationals, radicals and exponentials as SymPy numbers.

Products of rational matrices go through FLINT; entries of a product with quotients are collected
over their common denominators, so that an attention output stays one fraction, N/Z, and does not
repeat Z in each term.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cmp_to_key
from typing import TypeAlias

import flint
import numpy as np
import sympy
from numpy.typing import NDArray

from symattn.arithmetic.base import (
    Arithmetic,
    Array,
    elementwise,
    equal_by_order,
    filled,
    inverted,
    of_rows,
    rowwise,
    stacked,
)
from symattn.arithmetic.enclosure import in_flint, in_sympy
from symattn.arithmetic.functions import FUNCTIONS, exact_above
from symattn.arithmetic.machine import exact_numbers, is_machine
from symattn.arithmetic.proof import ordered
from symattn.arithmetic.shapes import Size


class Argmax(sympy.Function):  # type: ignore[misc]  # SymPy has no types
    """The place, from 0, of the first largest of its arguments; −1 where all are −∞."""

    is_integer = True

    @classmethod
    def eval(cls, *terms: sympy.Expr) -> sympy.Integer | None:
        """A number once all arguments are."""
        if _symbolic(terms):
            return None
        size = cmp_to_key(ordered)
        row = [size(term) for term in (sympy.S.NegativeInfinity, *terms)]
        return sympy.Integer(max(range(len(row)), key=row.__getitem__) - 1)


class Largest(sympy.Function):  # type: ignore[misc]
    """The largest of its arguments; −∞ of none. Symbols are left to SymPy's Max."""

    is_commutative = True  # a number, though SymPy takes its matrices for its factors

    @classmethod
    def eval(cls, *terms: sympy.Expr) -> sympy.Expr | None:
        """The largest number by proof, or SymPy's own maximum of terms with symbols."""
        if any(isinstance(term, sympy.Lambda) for term in terms):
            return None
        if _symbolic(terms):
            return sympy.Max(*terms)
        return max((sympy.S.NegativeInfinity, *terms), key=cmp_to_key(ordered))


class Threshold(sympy.Function):  # type: ignore[misc]
    """The τ with Σ max(0, x − τ) = 1 over its arguments x; 0 where all are −∞.

    Source: Martins and Astudillo 2016, their algorithm for sparsemax.
    """

    is_commutative = True  # a number, though SymPy takes its matrices for its factors

    @classmethod
    def eval(cls, *terms: sympy.Expr) -> sympy.Expr | None:
        """A number once all arguments are."""
        if _symbolic(terms):
            return None
        seen = [term for term in terms if term is not sympy.S.NegativeInfinity]
        level = added = sympy.S.Zero
        for count, term in enumerate(sorted(seen, key=cmp_to_key(ordered), reverse=True), start=1):
            if count > 1 and ordered(term, level) <= 0:
                break
            added = added + term
            level = sympy.expand_mul((added - 1) / count)
        return level

    def fdiff(self, argindex: int = 1) -> sympy.Expr:
        """1/k for the k arguments above τ, 0 for the others."""
        above = [exact_above(term - self) for term in self.args]
        return above[argindex - 1] / sympy.Add(*above)


class SquareThreshold(sympy.Function):  # type: ignore[misc]
    """The τ with Σ max(0, x − τ)² = 1 over its arguments x; 0 where all are −∞.

    Source: Peters, Niculae, Martins 2019, algorithm 2.
    """

    is_commutative = True  # a number, though SymPy takes its matrices for its factors

    @classmethod
    def eval(cls, *terms: sympy.Expr) -> sympy.Expr | None:
        """A number once all arguments are."""
        if _symbolic(terms):
            return None
        seen = [term for term in terms if term is not sympy.S.NegativeInfinity]
        falling = sorted(seen, key=cmp_to_key(ordered), reverse=True)
        level = sympy.S.Zero
        for count in range(1, len(falling) + 1):
            mean = sympy.Add(*falling[:count]) / count
            spread = sympy.Add(*((term - mean) ** 2 for term in falling[:count]))
            left = sympy.expand_mul(sympy.expand(1 - spread) / count)
            if ordered(left, sympy.S.Zero) < 0:
                break
            lower = mean - sympy.sqrt(left)
            if ordered(lower, falling[count - 1]) > 0:
                break
            level = lower
        return level

    def fdiff(self, argindex: int = 1) -> sympy.Expr:
        """The excess of an argument over τ, as a share of all of them."""
        above = [FUNCTIONS["max0"].exact(term - self) for term in self.args]
        return above[argindex - 1] / sympy.Add(*above)


def _symbolic(terms: tuple[sympy.Expr, ...]) -> bool:
    return any(isinstance(term, sympy.Lambda) or term.free_symbols for term in terms)


#: The functions of a whole row of numbers that an entry rule may apply.
ROW_FUNCTIONS: Mapping[str, Callable[..., sympy.Expr]] = {
    "argmax": Argmax,
    "max": Largest,
    "τ": Threshold,
    "τ2": SquareThreshold,
}


class Exact(Arithmetic):
    """SymPy numbers (or symbols) in object arrays; `short` writes a long one shorter."""

    name = "exact"

    def __init__(self, short: Callable[[sympy.Expr], sympy.Expr] | None = None) -> None:
        self.short = short

    def scalar(self, value: sympy.Expr) -> sympy.Expr:
        return value

    def array(self, exact: Array) -> Array:
        return exact_numbers(exact) if is_machine(exact) else exact

    def exp(self, x: Array) -> Array:
        return elementwise(sympy.exp, x)

    def apply(self, name: str, x: Array) -> Array:
        return elementwise(FUNCTIONS[name].exact, x)

    def hidden(self, x: Array) -> NDArray[np.bool_]:
        return np.asarray(x == sympy.S.NegativeInfinity, dtype=bool)

    def kept(self, x: Array) -> Array:
        return x if self.short is None else elementwise(self.short, x)

    def shift(self, x: Array) -> Array:
        return x

    def share(self, part: Array, whole: Array) -> Array:
        """Over a sum that is abbreviated first: SymPy would ask each quotient for its sign."""
        return self.divide(part, self.kept(whole))

    def row_max(self, x: Array) -> Array:
        return of_rows(lambda row: Largest(*row), x)

    def threshold(self, x: Array) -> Array:
        return of_rows(lambda row: Threshold(*row), x)

    def threshold_of_squares(self, x: Array) -> Array:
        return of_rows(lambda row: SquareThreshold(*row), x)

    def first_largest(self, x: Array) -> Array:
        def chosen(row: Array) -> list[sympy.Expr]:
            first = Argmax(*row)
            here = (sympy.Eq(first, place) for place in range(len(row)))
            return [sympy.Piecewise((1, condition), (0, True)) for condition in here]

        return rowwise(chosen, x)

    def top(self, x: Array, count: Size) -> Array:
        return rowwise(lambda row: _top(list(row), int(count)), x)

    def add(self, a: Array, b: Array) -> Array:
        return np.asarray(a + b, dtype=object)

    def row_sum(self, x: Array) -> Array:
        return of_rows(lambda row: total(list(row)), x)

    def where_at_most(self, left: Array, right: Array, a: Array, b: Array) -> Array:
        return elementwise(_by_comparison, left, right, a, b)

    where_equal = equal_by_order

    def matmul(self, a: Array, b: Array) -> Array:
        return stacked(a, b, _product)

    def inverse(self, x: Array) -> Array:
        return inverted(x, lambda one: filled(one.shape, list(sympy.Matrix(one).inv())))


def _top(row: list[sympy.Expr], count: int) -> list[sympy.Expr]:
    """0 at the largest numbers of a row, −∞ elsewhere; by cases where there are symbols."""
    hidden = sympy.S.NegativeInfinity
    if _symbolic(tuple(row)):
        ranks = (1 + sympy.Add(*_before(row, place)) for place in range(len(row)))
        return [sympy.Piecewise((0, rank <= count), (hidden, True)) for rank in ranks]
    size = cmp_to_key(ordered)
    falling = sorted(range(len(row)), key=lambda place: size(row[place]), reverse=True)
    return [sympy.S.Zero if place in falling[:count] else hidden for place in range(len(row))]


def _before(row: list[sympy.Expr], place: int) -> Iterator[sympy.Expr]:
    """1 for each entry that comes before one in decreasing order, 0 for the others."""
    for k, other in enumerate(row):
        comes = other >= row[place] if k < place else other > row[place]
        yield sympy.Piecewise((1, comes), (0, True))


def _by_comparison(
    left: sympy.Expr, right: sympy.Expr, value: sympy.Expr, otherwise: sympy.Expr
) -> sympy.Expr:
    if left.free_symbols | right.free_symbols:
        return sympy.Piecewise((value, left <= right), (otherwise, True))
    return value if ordered(left, right) <= 0 else otherwise


def total(values: list[sympy.Expr]) -> sympy.Expr:
    """The sum of exact values; rationals are added by FLINT, which is far quicker."""
    if all(isinstance(value, sympy.Rational) for value in values):
        added = sum(map(in_flint, values), flint.fmpq(0))
        return in_sympy(added)
    return sympy.Add(*values)


def _product(a: Array, b: Array) -> Array:
    if _is_rational(a) and _is_rational(b):
        out = _fmpq_mat(a) * _fmpq_mat(b)
        entries = [*map(in_sympy, out.entries())]
        return filled((a.shape[0], b.shape[1]), entries)
    left = [[*map(_quotient, line)] for line in a]
    right = [[*map(_quotient, line)] for line in b.T]
    return filled((len(left), len(right)), [_dot(row, column) for row in left for column in right])


#: A number as n/(q d): a numerator, a rational number, and the rest of the denominator.
_Quotient: TypeAlias = tuple[sympy.Expr, sympy.Rational, sympy.Expr]


def _quotient(value: sympy.Expr) -> _Quotient:
    above, below = sympy.fraction(value)
    return above, *below.as_coeff_Mul()


def _dot(row: list[_Quotient], column: list[_Quotient]) -> sympy.Expr:
    """Σ (n₁/d₁)(n₂/d₂) with the numerators over equal denominators added first."""
    over: dict[sympy.Expr, list[sympy.Expr]] = {}
    for (n1, number1, below1), (n2, number2, below2) in zip(row, column, strict=True):
        if n1 is sympy.S.Zero or n2 is sympy.S.Zero:
            continue
        over.setdefault(below1 * below2, []).append(_over(n1 * n2, number1 * number2))
    return total([_over(total(parts), below) for below, parts in over.items()])


def _over(above: sympy.Expr, below: sympy.Expr) -> sympy.Expr:
    return above if below is sympy.S.One else above / below  # SymPy is slow to divide by 1


def _is_rational(x: Array) -> bool:
    return all(isinstance(entry, sympy.Rational) for entry in x.ravel())


def _fmpq_mat(x: Array) -> flint.fmpq_mat:
    return flint.fmpq_mat(x.shape[0], x.shape[1], [*map(in_flint, x.ravel())])


EXACT = Exact()
