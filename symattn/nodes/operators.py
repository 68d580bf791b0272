"""What the signs of equations mean as nodes, by the shapes of both sides: lines are repeated.

A value is a matrix, which may be one number that is an input or a step, or a number of SymPy's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.errors import ReadError, ShapeError
from symattn.nodes.base import shape_of
from symattn.nodes.entrywise import EntryQuotient
from symattn.nodes.lines import Filled, LineDifference, LineQuotient, PlusVector, Spread
from symattn.nodes.scale import Everywhere, NumberQuotient, NumberTimes, Quotient

#: Rows and columns; None of a number.
Shape: TypeAlias = tuple[sympy.Expr, sympy.Expr] | None

#: The shape of one number that is a matrix.
ONE = (sympy.S.One, sympy.S.One)


def shape_in(value: sympy.Expr) -> Shape:
    """Rows and columns of a matrix; None of a number."""
    return shape_of(value) if isinstance(value, MatrixExpr | sympy.MatrixBase) else None


def is_one(value: sympy.Expr) -> bool:
    """Whether a value is one number, as a matrix or not."""
    return shape_in(value) in (None, ONE)


def filling(value: sympy.Expr, shape: Shape) -> MatrixExpr:
    """A number, a column or a row repeated to fill a shape."""
    assert shape is not None
    own, (rows, columns) = shape_in(value), shape
    if own is None:
        return sympy.ZeroMatrix(rows, columns) if value == 0 else Filled(rows, columns, value)
    if own == shape:
        return value
    if own == ONE:
        return Everywhere(value, rows, columns)
    return Spread(value, columns) if own[1] == 1 else Spread(value, rows, 0)


def coefficient(value: MatrixExpr) -> tuple[sympy.Expr, MatrixExpr]:
    """The number before a product, and the rest of it."""
    if not isinstance(value, sympy.MatMul):
        return sympy.S.One, value
    number, factors = value.as_coeff_matrices()
    return number, chain(factors)


def chain(factors: Sequence[MatrixExpr]) -> MatrixExpr:
    """The product of matrices, as it is written."""
    return factors[0] if len(factors) == 1 else sympy.MatMul(*factors)


def multiple(number: sympy.Expr, matrix: MatrixExpr) -> MatrixExpr:
    """A number of SymPy's times a matrix."""
    return matrix if number == 1 else sympy.MatMul(number, matrix)


def scaled(
    number: sympy.Expr, value: sympy.Expr, product: Callable[..., sympy.Expr] = sympy.Mul
) -> sympy.Expr:
    """A number of SymPy's times a value, before the number that it has; `product` joins both."""
    if shape_in(value) is None:
        return product(number, value)
    own, factors = coefficient(value)
    return multiple(number if own == 1 else product(number, own), factors)


def transposed(value: MatrixExpr) -> MatrixExpr:
    """The transpose, which stays where it was written: Q (Y W_K)ᵀ."""
    return value.arg if isinstance(value, sympy.Transpose) else sympy.Transpose(value)


def negative(value: sympy.Expr, product: Callable[..., sympy.Expr] = sympy.Mul) -> sympy.Expr:
    """Minus a value; `product` joins −1 and its number."""
    if isinstance(value, Filled):
        return Filled(*value.shape, -value.number)
    if isinstance(value, Quotient):
        return Quotient(negative(value.matrix, product), value.divisor)
    return scaled(sympy.S.NegativeOne, value, product)


def plus(terms: Sequence[sympy.Expr]) -> sympy.Expr:
    """A sum in its order."""
    shape = together([*map(shape_in, terms)])
    if shape is None:
        return sympy.Add(*terms)
    out: MatrixExpr | None = None
    pending: list[MatrixExpr] = []
    for value in terms:
        own = shape_in(value)
        if out is not None and not pending and own not in (shape, None, ONE):
            out = _plus_line(out, value)
            continue
        pending.append(filling(value, shape))
        if own == shape and out is None and len(pending) == 1:
            out = pending.pop()
    parts = ([] if out is None else [out]) + pending
    return parts[0] if len(parts) == 1 else sympy.MatAdd(*parts)


def _plus_line(matrix: MatrixExpr, value: MatrixExpr) -> MatrixExpr:
    """A row added to every row, or a number of each row taken off it."""
    if shape_of(value)[0] == 1:
        return PlusVector(matrix, value)
    number, factors = coefficient(value)
    return LineDifference(matrix, factors) if number == -1 else PlusVector(matrix, value, 0)


def together(shapes: Sequence[Shape]) -> Shape:
    """The shape of entry-by-entry work, where numbers, columns and rows are repeated."""
    known = [shape for shape in shapes if shape is not None]
    if not known:
        return None
    out = []
    for axis in (0, 1):
        wide = [shape[axis] for shape in known if shape[axis] != 1]
        if any(size != wide[0] for size in wide):
            raise ShapeError(f"{wide[0]} and {wide[-1]} are not the same size")
        out.append(wide[0] if wide else sympy.S.One)
    return out[0], out[1]


def groups(
    shapes: Sequence[tuple[sympy.Expr, sympy.Expr] | None], is_one: Callable[[sympy.Expr], bool]
) -> list[list[int]]:
    """The factors of a product by their places: numbers, 1 × 1 matrices, and chains.

    A chain that has come down to 1 × 1, aᵀ b, ends before a matrix that it can only scale.
    """
    out: list[list[int]] = []
    rows: sympy.Expr = None  # where the last group began, if more may be joined to it
    for place, shape in enumerate(shapes):
        if shape is None or (is_one(shape[0]) and is_one(shape[1])):
            out.append([place])
            rows = rows if shape is None else None
            continue
        last = next((g for g in reversed(out) if shapes[g[-1]] is not None), None)
        before = shapes[last[-1]] if last is not None else None
        if (
            last is None
            or before is None
            or rows is None
            or (is_one(rows) and is_one(before[1]) and not is_one(shape[0]))
        ):
            out.append([place])
            rows = shape[0]
        else:
            last.append(place)
    return out


def factors_of(values: Sequence[sympy.Expr]) -> tuple[list[sympy.Expr], list[MatrixExpr]]:
    """The numbers of a product, and the chains of matrices in it."""
    shapes = [*map(shape_in, values)]
    numbers = [value for value, own in zip(values, shapes, strict=True) if own is None]
    chains = ([values[k] for k in group if shapes[k]] for group in groups(shapes, _is_1))
    return numbers, [chain(factors) for factors in chains if factors]


def times(values: Sequence[sympy.Expr]) -> sympy.Expr:
    """A product; numbers that are matrices are taken to its front, in their order."""
    numbers, parts = factors_of(values)
    scalar = sympy.Mul(*numbers)
    if not parts:
        return scalar
    numbers = [part for part in parts if shape_in(part) == ONE]
    wide = [part for part in parts if shape_in(part) != ONE]
    if not wide:
        return multiple(scalar, chain(numbers))
    out = chain(wide)
    for number in reversed(numbers):
        out = NumberTimes(number, out)
    return multiple(scalar, out)


def _is_1(size: sympy.Expr) -> bool:
    return bool(size == 1)


def over(top: sympy.Expr, bottom: sympy.Expr) -> sympy.Expr:
    """A quotient: by a number, by a column or a row, or entry by entry."""
    above, below = shape_in(top), shape_in(bottom)
    if below == ONE:
        return NumberQuotient(Filled(1, 1, top) if above is None else top, bottom)
    if below is None and bottom == 0:
        raise ReadError("it divides by 0, which has no value")
    if below is None:
        return top / bottom if above is None else Quotient(top, bottom)
    shape = together([above, below])
    top = filling(top, shape)
    if shape != below and 1 in below:
        return LineQuotient(top, bottom, int(below[1] == 1))
    return EntryQuotient(top, bottom)


def entry_by_entry(sign: str, left: sympy.Expr, right: sympy.Expr) -> MatrixExpr:
    """The product (∘) or the quotient (⊘) of every two entries."""
    shape = together([shape_in(left), shape_in(right)])
    kind = EntryQuotient if sign == "⊘" else sympy.HadamardProduct
    return kind(filling(left, shape), filling(right, shape))
