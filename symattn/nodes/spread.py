"""What is left of sums, quotients and lengths when they are differentiated.

A number for each row spread over it, rows times numbers of their own, matrices of one number,
lengths.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arithmetic.base import Arithmetic, Array
from symattn.arithmetic.exact import filled
from symattn.errors import ShapeError
from symattn.nodes.base import Node, as_matrix, as_scalar, shape_of
from symattn.nodes.rule import (
    Apply,
    Const,
    Index,
    Power,
    Rule,
    Times,
    Total,
    dummy,
    rule_of,
)
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.tree import Tree

_REVERSE = "Griewank and Walther 2008, section 3.2"


class Filled(Node):
    """The same number everywhere: ones, or zeros.

    Shapes: rows × columns. Raises `SymattnError` if the number is no number.
    Source: Griewank, Walther, *Evaluating Derivatives* (2008), section 3.2: a sum's gradient.

    >>> print(Filled(1, 2, 1).doit(), Filled(2, 2, 0))
    Matrix([[1, 1]]) 0
    """

    source: ClassVar[str] = _REVERSE

    def __new__(cls, rows: Any, columns: Any, number: Any) -> Self:
        return super().__new__(cls, *(as_scalar(x, "Filled") for x in (rows, columns, number)))

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """Rows × columns."""
        return self.args[0], self.args[1]

    def _rule(self, i: Index, j: Index) -> Rule:
        return Const(self.args[2])

    def _spell(self, speller: Speller) -> Tree:
        return speller.scalar(self.args[2])

    def _flip(self, flip: Any) -> MatrixExpr:
        rows, columns, number = self.args
        return Filled(columns, rows, number)

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Any) -> Array:
        rows, columns, number = args
        return arithmetic.array(filled((int(rows), int(columns)), [number] * int(rows * columns)))


class Spread(Node):
    """A column's numbers, each along its whole row: c_ij = r_i, R = r 1ᵀ; a row's with `axis` 0.

    Shapes: n × 1 becomes n × size (with `axis` 0: 1 × m becomes size × m). Raises `ShapeError` if
    the vector is not that. Source: Griewank and Walther 2008, section 3.2: what a row sum's
    gradient is.

    >>> print(Spread(sympy.Matrix([[1], [2]]), 2).doit())
    Matrix([[1, 1], [2, 2]])
    """

    source: ClassVar[str] = _REVERSE
    adjoint_because: ClassVar[str] = "Each number was used along a whole row: their gradients add."

    def __new__(cls, vector: Any, size: Any, axis: Any = 1) -> Self:
        body, count = as_matrix(vector, "Spread"), as_scalar(size, "Spread")
        _check_vector(body, None, axis, "Spread")
        return super().__new__(cls, body, count, sympy.Integer(axis))

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """The vector's length and the size."""
        vector, size, axis = self.args
        rows, columns = shape_of(vector)
        return (rows, size) if axis == 1 else (size, columns)

    def _rule(self, i: Index, j: Index) -> Rule:
        vector, _, axis = self.args
        return rule_of(vector, i, 0) if axis == 1 else rule_of(vector, 0, j)

    def _spell(self, speller: Speller) -> Tree:
        vector, _, axis = self.args
        ones: Tree = t.Num("1")
        if axis == 1:
            ones = speller.notation.transposed(ones)
            return t.times([speller.matrix(vector), ones])
        return t.times([ones, speller.matrix(vector)])

    def _flip(self, flip: Any) -> MatrixExpr:
        vector, size, axis = self.args
        return Spread(flip(vector), size, 1 - axis)

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        from symattn.nodes.exponential import LineSum

        return LineSum(upstream, self.args[2])

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Any) -> Array:
        vector, size, axis = args
        return np.repeat(vector, int(size), axis=-1 if axis == 1 else -2)


class LineProduct(Node):
    """Each row times its own number: c_ij = r_i a_ij, which is diag(r) A; columns with `axis` 0.

    Shapes: n × m and n × 1 give n × m (with `axis` 0: 1 × m in place of n × 1). Raises
    `ShapeError` if the vector is not that. Source: Griewank and Walther 2008, section 3.2.

    >>> print(LineProduct(sympy.Matrix([[1, 1], [1, 2]]), sympy.Matrix([[3], [4]])).doit())
    Matrix([[3, 3], [4, 8]])
    """

    source: ClassVar[str] = _REVERSE
    adjoint_because: ClassVar[str] = "In a product, each factor's gradient is weighed by the other."

    def __new__(cls, matrix: Any, vector: Any, axis: Any = 1) -> Self:
        body, numbers = as_matrix(matrix, "LineProduct"), as_matrix(vector, "LineProduct")
        _check_vector(numbers, body, axis, "LineProduct")
        return super().__new__(cls, body, numbers, sympy.Integer(axis))

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """The shape of the matrix."""
        return shape_of(self.args[0])

    def _rule(self, i: Index, j: Index) -> Rule:
        matrix, vector, axis = self.args
        number = rule_of(vector, i, 0) if axis == 1 else rule_of(vector, 0, j)
        return Times((number, rule_of(matrix, i, j)))

    def _spell(self, speller: Speller) -> Tree:
        matrix, vector, axis = self.args
        numbers = vector.arg if isinstance(vector, sympy.Transpose) else vector
        diagonal = t.call(t.Ident("diag", roman=True), speller.matrix(numbers))
        body = speller.matrix(matrix)
        return t.times([diagonal, body] if axis == 1 else [body, diagonal])

    def _flip(self, flip: Any) -> MatrixExpr:
        matrix, vector, axis = self.args
        return LineProduct(flip(matrix), flip(vector), 1 - axis)

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        from symattn.nodes.exponential import LineSum

        matrix, vector, axis = self.args
        if place == 0:
            return LineProduct(upstream, vector, axis)
        return LineSum(sympy.HadamardProduct(upstream, matrix), axis)

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Any) -> Array:
        return arithmetic.multiply(args[1], args[0])


class Lengths(Node):
    """The length of each row: ‖q_i‖ = √(Σ_l q_il²); of each column with `axis` 0.

    Shapes: n × d becomes n × 1 (with `axis` 0: 1 × d). Raises `SymattnError` if its argument is no
    matrix. Source: Graves et al. 2014, section 3.3.1, the denominator of the cosine.

    >>> print(Lengths(sympy.Matrix([[3, 4]])).doit())
    Matrix([[5]])
    """

    source: ClassVar[str] = "Graves et al. 2014, section 3.3.1"
    adjoint_because: ClassVar[str] = "A vector gets longer the fastest along itself."

    def __new__(cls, matrix: Any, axis: Any = 1) -> Self:
        return super().__new__(cls, as_matrix(matrix, "Lengths"), sympy.Integer(axis))

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """One number for each row (or column)."""
        rows, columns = shape_of(self.args[0])
        return (rows, sympy.S.One) if self.args[1] == 1 else (sympy.S.One, columns)

    def _rule(self, i: Index, j: Index) -> Rule:
        matrix, axis = self.args
        index = dummy(i, j)
        rows, columns = shape_of(matrix)
        along = rule_of(matrix, i, index) if axis == 1 else rule_of(matrix, index, j)
        return Apply("√", Total(Power(along, 2), index, columns if axis == 1 else rows))

    def _spell(self, speller: Speller) -> Tree:
        return t.call(t.Ident("lengths", roman=True), speller.matrix(self.args[0]))

    def _flip(self, flip: Any) -> MatrixExpr:
        return Lengths(flip(self.args[0]), 1 - self.args[1])

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        from symattn.nodes.scores import UnitVectors

        return LineProduct(UnitVectors(*self.args), upstream, self.args[1])

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Any) -> Array:
        matrix, axis = args
        if axis == 0:
            return arithmetic.transpose(cls._compute(arithmetic, arithmetic.transpose(matrix), 1))
        scaled, power = arithmetic.in_range(matrix)
        squares = arithmetic.row_sum(arithmetic.multiply(scaled, scaled))
        lengths = arithmetic.apply("√", squares)
        return lengths if power is None else arithmetic.multiply(lengths, power)


def _check_vector(vector: MatrixExpr, matrix: MatrixExpr | None, axis: Any, owner: str) -> None:
    """Refuse what is not a column with a number for each row (or a row, for each column)."""
    across, along = (1, 0) if axis == 1 else (0, 1)
    found = shape_of(vector)
    fits = found[across] == 1
    if matrix is not None:
        fits = fits and sympy.expand(found[along] - shape_of(matrix)[along]) == 0
    if not fits:
        kind = "a column" if axis == 1 else "a row"
        raise ShapeError(f"{owner}: {found[0]} × {found[1]} does not fit; give {kind} of numbers")
