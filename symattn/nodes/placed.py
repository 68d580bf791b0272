"""A matrix by its entries, M = [m_ij]: numbers of each place, and what is computed of them.

`whole` are its rows and columns. A number of SymPy's may be made of the places, `ROW_NUMBER` and
`COLUMN_NUMBER`; a matrix stands for its entry at each place.
"""

from __future__ import annotations

from typing import TypeAlias

import sympy
from sympy import HadamardProduct
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.errors import ReadError
from symattn.nodes.defined import COLUMN_NUMBER, ROW_NUMBER, Counted, WherePlaced
from symattn.nodes.entrywise import EntryQuotient, Entrywise, Exponential
from symattn.nodes.lines import Filled
from symattn.nodes.masks import Causal
from symattn.nodes.operators import ONE, filling, multiple, over, shape_in
from symattn.nodes.powers import WhereAtMost, WholePower
from symattn.nodes.scale import NumberTimes, Quotient

#: Row and column of an entry.
PLACES = (ROW_NUMBER, COLUMN_NUMBER)

#: Rows and columns.
Whole: TypeAlias = tuple[sympy.Expr, sympy.Expr]


def is_placed(value: sympy.Expr) -> bool:
    """Whether a number of SymPy's is made of the places."""
    return shape_in(value) is None and bool(value.has(*PLACES))


def placed(value: sympy.Expr, whole: Whole) -> sympy.Expr:
    """A number made of places as a matrix of them; others as they are."""
    return of_places(value, whole) if is_placed(value) else value


def everywhere(value: sympy.Expr, whole: Whole) -> MatrixExpr:
    """A value as the matrix that has it at each place."""
    return filling(placed(value, whole), whole)


def of_places(formula: sympy.Expr, whole: Whole) -> MatrixExpr:
    """A number made of places, for each of them."""
    if formula.is_integer:
        return Counted(*whole, formula)
    above, below = sympy.fraction(sympy.together(formula))
    if above.is_integer and below.is_integer and (above.has(*PLACES) or below.has(*PLACES)):
        if not below.has(*PLACES):
            return Quotient(Counted(*whole, above), below)
        return EntryQuotient(_filled(above, whole), Counted(*whole, below))
    match formula:
        case sympy.Pow(base=base, exp=exponent) if not base.has(*PLACES):
            return Exponential(multiple(sympy.log(base), of_places(exponent, whole)))
        case sympy.Pow(base=base, exp=sympy.Rational() as power):
            inner = of_places(base, whole)
            if power == sympy.S.Half:
                return Entrywise(inner, "√")
            return Exponential(Quotient(Entrywise(inner, "ln"), 1 / power))
        case sympy.exp(args=(inner,)):
            return Exponential(of_places(inner, whole))
        case sympy.Add(args=args):
            return sympy.MatAdd(*(_filled(part, whole) for part in args))
        case sympy.Mul(args=args):
            numbers = [part for part in args if not part.has(*PLACES)]
            others = [of_places(part, whole) for part in args if part.has(*PLACES)]
            product = others[0] if len(others) == 1 else HadamardProduct(*others)
            return multiple(sympy.Mul(*numbers), product)
        case sympy.cos() | sympy.sin() | sympy.tanh() | sympy.log():
            name = {"log": "ln"}.get(type(formula).__name__, type(formula).__name__)
            return Entrywise(of_places(formula.args[0], whole), name)
    raise ReadError(f"{formula} cannot be made of the places of row and column here")


def _filled(part: sympy.Expr, whole: Whole) -> MatrixExpr:
    """A term of a formula at each place."""
    return of_places(part, whole) if part.has(*PLACES) else Filled(*whole, part)


def product(one: sympy.Expr, other: sympy.Expr, whole: Whole) -> sympy.Expr:
    """The product of two numbers of each place."""
    own, of_other = shape_in(one), shape_in(other)
    if own is None and of_other is None:
        return one * other
    if own is None or of_other is None:
        number, matrix = (one, other) if own is None else (other, one)
        if is_placed(number):
            return product(of_places(number, whole), matrix, whole)
        return multiple(number, matrix)
    if own != of_other and ONE in (own, of_other):
        return NumberTimes(*((one, other) if own == ONE else (other, one)))
    return HadamardProduct(one, other)


def quotient(top: sympy.Expr, bottom: sympy.Expr, whole: Whole) -> sympy.Expr:
    """The quotient of two numbers of each place."""
    if is_placed(bottom) and shape_in(top) is not None:
        return over(everywhere(top, whole), of_places(bottom, whole))
    return top / bottom if is_placed(bottom) else over(top, bottom)


def power(base: sympy.Expr, exponent: sympy.Expr, whole: Whole) -> sympy.Expr:
    """A number of each place to a power that is a number: rational, or whole and of places."""
    if shape_in(base) is None:
        return base**exponent
    if exponent == sympy.S.Half:
        return Entrywise(base, "√")
    if exponent == -1:
        return EntryQuotient(Filled(*base.shape, 1), base)
    if exponent.is_Integer:
        return base if exponent == 1 else WholePower(base, exponent)
    return Exponential(multiple(exponent, Entrywise(base, "ln")))


def extreme(name: str, one: MatrixExpr, other: MatrixExpr) -> MatrixExpr:
    """The smaller (min), or the larger, of two numbers at each place."""
    return WhereAtMost(one, other, *((one, other) if name == "min" else (other, one)))


def where(
    left: MatrixExpr, sign: str, right: MatrixExpr, value: MatrixExpr, otherwise: MatrixExpr
) -> MatrixExpr:
    """One of two by a comparison of two numbers that are computed."""
    match sign:
        case "≤":
            return WhereAtMost(left, right, value, otherwise)
        case "≥":
            return WhereAtMost(right, left, value, otherwise)
        case "<":
            return WhereAtMost(right, left, otherwise, value)
        case ">":
            return WhereAtMost(left, right, otherwise, value)
    raise ReadError("numbers that are computed are compared by <, <=, > or >=")


def named_mask(matrix: MatrixExpr) -> MatrixExpr:
    """A causal mask that is said by its entries, as the node that it is; others as they are."""
    match matrix:
        case WherePlaced(value=value, otherwise=otherwise, test=sympy.Le(args=(left, right))):
            start = sympy.expand(right - left - ROW_NUMBER + COLUMN_NUMBER)
            hides = otherwise == Filled(*matrix.shape, -sympy.oo)
            if hides and value == sympy.ZeroMatrix(*matrix.shape) and start.is_Integer:
                return Causal(*matrix.shape, start) if start >= 0 else matrix
    return matrix
