"""Lines of a matrix, which are its rows (or its columns), and a number or a vector for all of them.

Row sums Σ_l a_il; rows minus, over or times a number r_i; a vector added to every row; and what
their gradients need: r 1ᵀ (`Spread`), lengths ‖a_i‖, unit vectors, matrices of one number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arithmetic.base import Arithmetic, Array
from symattn.errors import ShapeError, SymattnError
from symattn.nodes import rule as r
from symattn.nodes.arguments import Axis, Extent, Matrix, Operand, Scalar
from symattn.nodes.base import Definition, Node, check_shape, shape_of
from symattn.nodes.rule import Index, Rule
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.tree import Tree

_REVERSE = "Griewank and Walther 2008, section 3.2"
_SOFTMAX = "Vaswani et al. 2017, section 3.2.1"
_SHIFTED = "Blanchard, Higham, Higham 2021, equation 1.3"


def along(
    arithmetic: Arithmetic, axis: Operand, of_rows: Callable[..., Array], *matrices: Array
) -> Array:
    """A function of rows, of these matrices; with `axis` 0 of their columns."""
    if axis == 1:
        return of_rows(*matrices)
    return arithmetic.transpose(of_rows(*map(arithmetic.transpose, matrices)))


class OfLines(Node):
    """A function of each line of a matrix alone: of its rows with `axis` 1, its columns with 0."""

    matrix, axis = Matrix(), Axis()

    def _line(self, i: Index, j: Index, *taken: Index) -> tuple[sympy.Symbol, Rule, sympy.Expr]:
        """The line through (i, j): a letter l that is not taken, its entry l, and its length."""
        index, (rows, columns) = r.dummy(i, j, self, *taken), shape_of(self.matrix)
        if self.axis == 1:
            return index, r.rule_of(self.matrix, i, index), columns
        return index, r.rule_of(self.matrix, index, j), rows

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Operand) -> Array:
        *matrices, axis = args
        return along(arithmetic, axis, partial(cls._rows, arithmetic), *matrices)

    @classmethod
    def _rows(cls, arithmetic: Arithmetic, matrix: Array, *more: Array) -> Array:
        """The value where the lines are the rows of `matrix`."""
        raise NotImplementedError


class NumberOfLines(OfLines):
    """One number for each line: a column for the rows, a row for the columns."""

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """One number for each row (or column)."""
        rows, columns = shape_of(self.matrix)
        return (rows, sympy.S.One) if self.axis == 1 else (sympy.S.One, columns)


def number_of_line(numbers: MatrixExpr, i: Index, j: Index, axis: sympy.Integer) -> Rule:
    """The number that belongs to the line through (i, j)."""
    return r.rule_of(numbers, i, 0) if axis == 1 else r.rule_of(numbers, 0, j)


class Filled(Node):
    """The same number everywhere: ones, or zeros.

    Shapes: rows × columns. Raises `SymattnError` if the number is no number.
    Source: Griewank, Walther, *Evaluating Derivatives* (2008), section 3.2: a sum's gradient.

    >>> print(Filled(1, 2, 1).doit(), Filled(2, 2, 0))
    Matrix([[1, 1]]) 0
    """

    rows, columns, number = Extent(), Extent(), Scalar()
    syntax = "number"
    uniform = transposes = True
    source = _REVERSE

    def _rule(self, i: Index, j: Index) -> Rule:
        return r.Const(self.number)

    @classmethod
    def _compute(
        cls, arithmetic: Arithmetic, rows: Operand, columns: Operand, number: Operand
    ) -> Array:
        return arithmetic.filled(number, rows, columns)


#: What stands beside a vector that is repeated.
_ONES = Definition(t.row(t.Num("1"), t.Text(" is a column of ones")))


def _spread(speller: Speller, vector: MatrixExpr, axis: sympy.Expr) -> Tree:
    """The vector repeated: a column r for all columns, r 1ᵀ; a row for all rows, 1 c."""
    coefficient, positive = vector.as_coeff_mmul()
    if coefficient == -1:
        return t.negated(_spread(speller, positive, axis))
    ones = speller.notation.ones(axis == 1, axis == 0)
    repeated = [speller.matrix(vector), ones]
    return t.times(repeated if axis == 1 else repeated[::-1])


class Spread(Node):
    """A column repeated: C = r 1ᵀ, c_ij = r_i; with `axis` 0 a row, C = 1 r, c_ij = r_j.

    Shapes: n × 1 becomes n × size (with `axis` 0: 1 × m becomes size × m). Raises `ShapeError` if
    the vector is not that. Source: Griewank and Walther 2008, section 3.2: what a row sum's
    gradient is.

    >>> print(Spread(sympy.Matrix([[1], [2]]), 2).doit())
    Matrix([[1, 1], [2, 2]])
    """

    vector, size, axis = Matrix(), Scalar(), Axis()
    syntax = "vector"
    source = _REVERSE
    rises = True
    adjoint_because = (
        "Each number was used along a whole row, so the gradients of that row are added."
    )

    def _check(self) -> None:
        _check_vector(self.vector, None, self.axis, "Spread")

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """The vector's length and the size."""
        rows, columns = shape_of(self.vector)
        return (rows, self.size) if self.axis == 1 else (self.size, columns)

    def _rule(self, i: Index, j: Index) -> Rule:
        return number_of_line(self.vector, i, j, self.axis)

    def _spell(self, speller: Speller) -> Tree:
        return _spread(speller, self.vector, self.axis)

    def _define(self, speller: Speller, i: Index, j: Index) -> Iterator[Definition]:
        yield _ONES

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        return LineSum(upstream, self.axis)

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, vector: Array, size: Operand, axis: Operand) -> Array:
        return arithmetic.repeat(vector, size, -1 if axis == 1 else -2)


class LineProduct(Node):
    """Each row times its own number: c_ij = r_i a_ij, which is diag(r) A; columns with `axis` 0.

    Shapes: n × m and n × 1 give n × m (with `axis` 0: 1 × m in place of n × 1). Raises
    `ShapeError` if the vector is not that. Source: Griewank and Walther 2008, section 3.2.

    >>> print(LineProduct(sympy.Matrix([[1, 1], [1, 2]]), sympy.Matrix([[3], [4]])).doit())
    Matrix([[3, 3], [4, 8]])
    """

    matrix, vector, axis = Matrix(), Matrix(), Axis()
    source = _REVERSE
    adjoint_because = (
        "The gradient of each factor is the product's gradient times the other factor."
    )

    def _check(self) -> None:
        _check_vector(self.vector, self.matrix, self.axis, "LineProduct")

    def _rule(self, i: Index, j: Index) -> Rule:
        number = number_of_line(self.vector, i, j, self.axis)
        return r.Times((number, r.rule_of(self.matrix, i, j)))

    def _spell(self, speller: Speller) -> Tree:
        matrix, vector, axis = self.args
        numbers = vector.arg if isinstance(vector, sympy.Transpose) else vector
        diagonal = t.call(t.Ident("diag", roman=True), speller.matrix(numbers))
        body = speller.matrix(matrix)
        return t.times([diagonal, body] if axis == 1 else [body, diagonal])

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        if place == 0:
            return LineProduct(upstream, self.vector, self.axis)
        return LineSum(sympy.HadamardProduct(upstream, self.matrix), self.axis)

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Operand) -> Array:
        return arithmetic.multiply(args[1], args[0])


class Lengths(NumberOfLines):
    """The length of each row: ‖q_i‖ = √(Σ_l q_il²); of each column with `axis` 0.

    Shapes: n × d becomes n × 1 (with `axis` 0: 1 × d). Raises `SymattnError` if its argument is no
    matrix. Source: Graves et al. 2014, section 3.3.1, the denominator of the cosine.

    >>> print(Lengths(sympy.Matrix([[3, 4]])).doit())
    Matrix([[5]])
    """

    syntax = "lengths(matrix)"
    source = "Graves et al. 2014, section 3.3.1"
    between = (0, None)
    adjoint_because = "The gradient of a vector's length is the vector divided by its length."

    def _rule(self, i: Index, j: Index) -> Rule:
        index, entry, size = self._line(i, j)
        return r.Apply("√", r.Total(r.Power(entry, 2), index, size))

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        return LineProduct(UnitVectors(*self.args), upstream, self.axis)

    @classmethod
    def _rows(cls, arithmetic: Arithmetic, matrix: Array, *more: Array) -> Array:
        scaled, power = arithmetic.in_range(matrix)
        squares = arithmetic.row_sum(arithmetic.multiply(scaled, scaled))
        lengths = arithmetic.apply("√", squares)
        return lengths if power is None else arithmetic.multiply(lengths, power)


def _check_vector(
    vector: MatrixExpr, matrix: MatrixExpr | None, axis: sympy.Expr, owner: str
) -> None:
    """Refuse what is not a column with a number for each row (or a row, for each column)."""
    narrow, long = (1, 0) if axis == 1 else (0, 1)
    found = shape_of(vector)
    fits = found[narrow] == 1
    if matrix is not None:
        fits = fits and sympy.expand(found[long] - shape_of(matrix)[long]) == 0
    if not fits:
        kind = "a column" if axis == 1 else "a row"
        raise ShapeError(f"{owner}: {found[0]} × {found[1]} does not fit; give {kind} of numbers")


class PlusVector(Node):
    """The same vector added to every row: q_ij = m_ij + b_j; to every column with `axis` 0.

    Shapes: n × d and 1 × d give n × d. Raises `ShapeError` if the widths differ.
    Source: PyTorch, nn.MultiheadAttention (bias=True); Vaswani et al. 2017 has none.
    """

    matrix, vector, axis = Matrix(), Matrix(), Axis()
    syntax = "matrix + vector"
    source = "PyTorch, nn.MultiheadAttention"
    by_rows = 1

    adjoint_because = (
        "A sum passes its gradient to both terms; the vector was added to every row, so its "
        "gradient is the sum of those of all rows."
    )

    def _check(self) -> None:
        rows, columns = shape_of(self.matrix)
        wanted = (1, columns) if self.axis == 1 else (rows, 1)
        check_shape(self, "the vector has", self.vector, *wanted)

    def _rule(self, i: Index, j: Index) -> Rule:
        added = number_of_line(self.vector, i, j, 1 - self.axis)
        return r.Plus((r.rule_of(self.matrix, i, j), added))

    def _spell(self, speller: Speller) -> Tree:
        rows = _spread(speller, self.vector, 1 - self.axis)
        return t.plus([speller.matrix(self.matrix), rows])

    def _define(self, speller: Speller, i: Index, j: Index) -> Iterator[Definition]:
        yield _ONES
        yield from super()._define(speller, i, j)

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        return upstream if place == 0 else LineSum(upstream, 1 - self.axis)

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Operand) -> Array:
        return arithmetic.add(args[0], args[1])


class UnitVectors(OfLines):
    """Every vector over its length: u_ij = q_ij / √(Σ_l q_il²); vectors are rows with `axis` 1.

    Dot products of these are cosines. A vector of length 0 has no direction.

    Shapes: n × d in and out. Raises `SymattnError` for a zero vector, when evaluated.
    Source: Graves, Wayne, Danihelka, *Neural Turing Machines* (2014), section 3.3.1, eq. 6.

    >>> print(UnitVectors(sympy.Matrix([[3, 4]])).doit())
    Matrix([[3/5, 4/5]])
    """

    syntax = ("unit(matrix)", "")
    source = "Graves et al. 2014, section 3.3.1"
    between = (-1, 1)
    partial = True

    adjoint_because = (
        "Lengthening a vector does not change its direction: the part of the gradient along it is "
        "removed, and the rest is divided by the vector's length."
    )

    def _rule(self, i: Index, j: Index) -> Rule:
        index, entry, size = self._line(i, j)
        length = r.Apply("√", r.Total(r.Power(entry, 2), index, size))
        return r.Over(r.rule_of(self.matrix, i, j), length)

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        matrix, axis = self.args
        lengthening = LineSum(sympy.HadamardProduct(value, upstream), axis)
        turning = sympy.MatAdd(upstream, sympy.MatMul(-1, LineProduct(value, lengthening, axis)))
        return LineQuotient(turning, Lengths(matrix, axis), axis)

    @classmethod
    def _rows(cls, arithmetic: Arithmetic, matrix: Array, *more: Array) -> Array:
        scaled, _ = arithmetic.in_range(matrix)  # a direction does not depend on the length
        squares = arithmetic.row_sum(arithmetic.multiply(scaled, scaled))
        if arithmetic.anywhere(arithmetic.vanishing(squares)):
            raise SymattnError(_no_direction(arithmetic))
        return arithmetic.divide(scaled, arithmetic.apply("√", squares))


def _no_direction(arithmetic: Arithmetic) -> str:
    dtype = getattr(arithmetic, "dtype", None)
    if dtype is None:
        return "scores: a zero vector has no direction, so it has no cosine"
    return (
        f"scores: a vector whose numbers are all 0 in {dtype} has no direction, so it has no "
        "cosine; if they are only small, multiply them all by the same number"
    )


class LineDifference(Node):
    """Each row less its own number: d_ij = z_ij − ρ_i; −∞ stays −∞ whatever is subtracted.

    So a row of −∞ alone, whose maximum is −∞, is left as it is.

    Shapes: n × m and n × 1 give n × m; with ρ a row 1 × m (`axis` 0), columns are lowered instead.
    Raises `ShapeError` if the second argument is not that. Source: Blanchard, Higham, Higham 2021,
    equation 1.3.

    >>> print(LineDifference(sympy.Matrix([[1, 3], [2, 2]]), sympy.Matrix([3, 2])).doit())
    Matrix([[-2, 0], [0, 0]])
    """

    matrix, numbers, axis = Matrix(), Matrix(), Axis()
    syntax = "matrix - numbers"
    source = _SHIFTED

    adjoint_because = (
        "A difference passes its gradient on; the number was subtracted from a whole row, so its "
        "gradient is minus the sum of that row's."
    )

    def _check(self) -> None:
        rows, columns = shape_of(self.matrix)
        wanted = (rows, 1) if self.axis == 1 else (1, columns)
        check_shape(self, "the numbers have", self.numbers, *wanted)

    def _rule(self, i: Index, j: Index) -> Rule:
        below = number_of_line(self.numbers, i, j, self.axis)
        terms = r.rule_of(self.matrix, i, j), r.minus(below)
        return r.Plus(terms, empty=sympy.S.NegativeInfinity)

    def _spell(self, speller: Speller) -> Tree:
        matrix, numbers, axis = self.args
        spread = Spread(numbers, shape_of(matrix)[int(axis)], axis)
        return t.plus([speller.matrix(matrix), t.negated(speller.matrix(spread))])

    def _define(self, speller: Speller, i: Index, j: Index) -> Iterator[Definition]:
        yield _ONES
        yield from super()._define(speller, i, j)

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        if place == 0:
            return upstream
        return sympy.MatMul(-1, LineSum(upstream, self.axis))

    @classmethod
    def _compute(
        cls, arithmetic: Arithmetic, matrix: Array, numbers: Array, axis: Operand
    ) -> Array:
        none = arithmetic.hidden(numbers)
        safe = arithmetic.where(none, arithmetic.zero, numbers)
        return arithmetic.subtract(matrix, safe)


class LineSum(NumberOfLines):
    """The sum of each row as a column, r_i = Σ_l f_il; with `axis` 0 of each column, as a row.

    Shapes: n × m becomes n × 1. Raises `SymattnError` if its argument is no matrix.
    Source: Vaswani et al. 2017, section 3.2.1 (the denominator of the softmax).
    """

    syntax = ("rowsum(matrix)", "colsum(matrix)")
    single = True  # operation by hand: no number stands between
    source = _SOFTMAX
    rises = True

    adjoint_because = (
        "Every entry counts once in the sum of its row, so each has the sum's gradient."
    )

    def _rule(self, i: Index, j: Index) -> Rule:
        index, entry, size = self._line(i, j)
        return r.Total(entry, index, size)

    def _spell(self, speller: Speller) -> Tree:
        word = "rowsum" if self.axis == 1 else "colsum"
        return t.call(t.Ident(word, roman=True), speller.matrix(self.matrix))

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        return Spread(upstream, shape_of(self.matrix)[int(self.axis)], self.axis)

    @classmethod
    def _rows(cls, arithmetic: Arithmetic, matrix: Array, *more: Array) -> Array:
        return arithmetic.row_sum(matrix)


class EntrySum(Node):
    """The sum of all entries as a matrix of one number, Σ_i Σ_j f_ij.

    Shapes: n × m becomes 1 × 1. Raises `SymattnError` if its argument is no matrix.
    Source: Griewank, Walther, *Evaluating Derivatives* (2008), section 3.2: ⟨dO, O⟩ is the sum of
    the entries of dO ∘ O.

    >>> print(EntrySum(sympy.Matrix([[1, 2], [3, 4]])).doit())
    Matrix([[10]])
    """

    matrix = Matrix()
    word = "sum"
    transposes = True
    source = _REVERSE

    adjoint_because = "Every entry counts once in the sum, so each has the sum's gradient."

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """One number."""
        return sympy.S.One, sympy.S.One

    def _rule(self, i: Index, j: Index) -> Rule:
        row = r.dummy(i, j, self)
        return self._total(row, r.dummy(i, j, self, row))

    def statement(self, i: Index, j: Index) -> tuple[Index, Index, Rule]:
        """Σ_i Σ_j f_ij: the number has neither row nor column, so that both letters are free."""
        return sympy.S.Zero, sympy.S.Zero, self._total(i, j)

    def _total(self, row: Index, column: Index) -> Rule:
        rows, columns = shape_of(self.matrix)
        return r.Total(r.Total(r.rule_of(self.matrix, row, column), column, columns), row, rows)

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        rows, columns = shape_of(self.matrix)
        return Spread(Spread(upstream, columns), rows, 0)

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Operand) -> Array:
        sums = arithmetic.transpose(arithmetic.row_sum(args[0]))
        return arithmetic.transpose(arithmetic.row_sum(sums))


class LineQuotient(Node):
    """Each row over its own number: a_ij = f_ij / r_i; where r_i is 0 the row is 0.

    Shapes: n × m and n × 1 give n × m; with r a row 1 × m, columns are divided instead. Raises
    `SymattnError` if an argument is no matrix. Source: Vaswani et al. 2017, section 3.2.1.
    """

    matrix, sums, axis = Matrix(), Matrix(), Axis()
    syntax = "matrix / sums"
    source = _SOFTMAX
    is_quotient = True

    adjoint_because = (
        "Quotient rule: a quotient rises with its numerator and falls with its row's divisor."
    )

    @property
    def own_sums(self) -> LineSum:
        """The sums of its rows, by which they become shares of 1."""
        return LineSum(self.matrix, self.axis)

    def _rule(self, i: Index, j: Index) -> Rule:
        below = number_of_line(self.sums, i, j, self.axis)
        return r.Over(r.rule_of(self.matrix, i, j), below, empty=sympy.S.Zero)

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        _, sums, axis = self.args
        if place == 0:
            return LineQuotient(upstream, sums, axis)
        weighted_sum = LineSum(sympy.HadamardProduct(value, upstream), axis)
        return sympy.MatMul(-1, LineQuotient(weighted_sum, sums, axis))

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, matrix: Array, sums: Array, axis: Operand) -> Array:
        nothing = arithmetic.equals(sums, 0)
        safe = arithmetic.where(nothing, arithmetic.scalar(sympy.S.One), sums)
        quotient = arithmetic.divide(matrix, safe)
        return arithmetic.where(nothing, arithmetic.zero, quotient)
