"""Functions and quotients of entries, diagonals: what people write beside products."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arithmetic.base import Arithmetic, Array
from symattn.arithmetic.functions import FUNCTIONS, Function
from symattn.errors import ShapeError, SymattnError
from symattn.grammar import SPELLINGS
from symattn.nodes import rule as r
from symattn.nodes.arguments import Matrix, OneOf, Operand, Scalar
from symattn.nodes.base import Definition, Node, shape_of
from symattn.nodes.lines import Filled, LineSum
from symattn.nodes.rule import Index, Rule
from symattn.nodes.scale import Quotient
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.tree import Tree

_SOURCE = "Horn and Johnson, Matrix Analysis (2013), section 0.9"


class Entrywise(Node):
    """A function of every entry, f(m_ij): tanh, σ, √, ln, cos, sin, erf, max0, elu1 or abs.

    Shapes: n × m in and out. Raises `SymattnError` for an unknown function.
    Source: Horn and Johnson, *Topics in Matrix Analysis* (1991), section 6.3.

    >>> print(Entrywise(sympy.MatrixSymbol("S", 2, 2), "tanh"))
    tanh(S)
    """

    matrix, function = Matrix(), OneOf("function", FUNCTIONS)
    by_rows = 1
    entrywise = True
    source = "Horn and Johnson 1991, section 6.3"

    adjoint_because = (
        "Each entry's gradient is multiplied by the function's derivative at that entry."
    )

    @classmethod
    def _function_name(cls, function: object = "") -> str:
        """The name of the function in `FUNCTIONS`, from the argument that says which it is."""
        return str(function)

    def phrase(self) -> str:
        """By the word of the function."""
        words = SPELLINGS.get(self._function_name(*self.args[1:]), self.row.word).split()
        return next((f"{word}(matrix)" for word in words if word.isascii()), "")

    @property
    def row(self) -> Function:
        """All that is known of the function."""
        return FUNCTIONS[self._function_name(*self.args[1:])]

    def _rule(self, i: Index, j: Index) -> Rule:
        name, entry = self._function_name(*self.args[1:]), r.rule_of(self.matrix, i, j)
        return r.Exp(entry) if name == "exp" else r.Apply(name, entry)

    def _define(self, speller: Speller, i: Index, j: Index) -> Iterator[Definition]:
        if self.row.definition is None:
            yield from super()._define(speller, i, j)
        else:
            yield Definition(self.row.definition)

    def _spell(self, speller: Speller) -> Tree:
        word, matrix = self.row.word, speller.matrix(self.matrix)
        return (
            t.call(t.Ident(word, roman=len(word) > 1), matrix) if word else self.row.written(matrix)
        )

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        if self.row.adjoint is None:
            return None
        return self.row.adjoint(*map(_Entries, (upstream, self.matrix, value))).matrix

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, matrix: Array, *function: Operand) -> Array:
        name = cls._function_name(*function)
        return arithmetic.exp(matrix) if name == "exp" else arithmetic.apply(name, matrix)


#: Functions that SymPy applies to a number.
_OF_NUMBERS = {row.exact: row for row in FUNCTIONS.values() if isinstance(row.exact, type)}


def function(expr: sympy.Basic) -> Function | None:
    """The function that an expression applies to every entry of a matrix, or to a number."""
    return expr.row if isinstance(expr, Entrywise) else _OF_NUMBERS.get(expr.func)


def word(expr: sympy.Basic) -> str:
    """What the function is called that an expression applies; empty for none."""
    row = function(expr)
    return "" if row is None else row.word


class Exponential(Entrywise):
    """The exponential of every entry: f_ij = e^{z_ij}; of −∞ it is 0.

    Shapes: n × m in and out. Raises `SymattnError` if its argument is no matrix. In floating
    point e^z overflows for large z; e^(z − ρ) with the row's maximum ρ (`RowMax`) does not.
    Source: Vaswani et al. 2017, section 3.2.1.
    """

    function = None  # it is always the same, and no argument
    source = "Vaswani et al. 2017, section 3.2.1"
    heading = "exponentials"
    single = True  # operation by hand: no number stands between
    sharpens: ClassVar[bool] = True  # as a normaliser does
    reason = "e is raised to every entry; no power of e is negative."

    adjoint_because = (
        "The exponential is its own derivative, so its gradient is multiplied by its value."
    )

    @classmethod
    def _function_name(cls, function: object = "") -> str:
        return "exp"


#: Feature maps by name: the function of an entry.
FEATURE_MAPS: Mapping[str, str] = {"elu+1": "elu1", "relu": "max0", "exp": "exp"}


def function_of(name: str, matrix: MatrixExpr) -> MatrixExpr:
    """The function of this name of every entry: exp, σ, ln, cos, … Raises `SymattnError`."""
    return Exponential(matrix) if name == "exp" else Entrywise(matrix, name)


class Features(Entrywise):
    """A feature map of every entry, φ(q_ij): elu(x) + 1, max(0, x) or e^x; none is negative.

    Shapes: n × d in and out. Raises `SymattnError` for an unknown map.
    Source: Katharopoulos et al., *Transformers are RNNs* (2020), section 3.2.1, eq. 7.
    """

    function = OneOf("feature map", FEATURE_MAPS, "elu+1")
    source = "Katharopoulos et al. 2020, section 3.2.1"

    adjoint_because = (
        "Each entry's gradient is multiplied by the feature map's derivative at that entry."
    )

    @classmethod
    def _function_name(cls, function: object = "") -> str:
        return FEATURE_MAPS[str(function)]

    def _spell(self, speller: Speller) -> Tree:
        return t.call(t.Ident("φ"), speller.matrix(self.matrix))


class _Entries:
    """A matrix whose operators work on entries, for the gradients in `FUNCTIONS`."""

    def __init__(self, matrix: MatrixExpr) -> None:
        self.matrix = matrix

    def __call__(self, name: str) -> _Entries:
        """Another function of the entries."""
        return _Entries(function_of(name, self.matrix))

    def __neg__(self) -> _Entries:
        return -1 * self

    def __mul__(self, other: _Entries) -> _Entries:
        return _Entries(sympy.HadamardProduct(self.matrix, other.matrix))

    def __rmul__(self, number: sympy.Expr) -> _Entries:
        return _Entries(sympy.MatMul(number, self.matrix))

    def __radd__(self, number: sympy.Expr) -> _Entries:
        filled = Filled(*shape_of(self.matrix), number)
        return _Entries(sympy.MatAdd(filled, self.matrix))

    def __rsub__(self, number: sympy.Expr) -> _Entries:
        return (-self).__radd__(number)

    def __truediv__(self, other: _Entries) -> _Entries:
        return _Entries(EntryQuotient(self.matrix, other.matrix))


class EntryQuotient(Node):
    """The quotient of every two entries: q_ij = a_ij / b_ij.

    Shapes: both n × m. Raises `ShapeError` if they differ.
    Source: Horn and Johnson, *Topics in Matrix Analysis* (1991), chapter 5, for entrywise products.

    >>> A, B = sympy.MatrixSymbol("A", 2, 2), sympy.MatrixSymbol("B", 2, 2)
    >>> print(EntryQuotient(A, B))
    A ⊘ B
    """

    above, below = Matrix(), Matrix()
    syntax = "above ⊘ below"
    entrywise = True
    source = "Horn and Johnson 1991, chapter 5"
    is_quotient = True

    adjoint_because = (
        "Quotient rule: a quotient rises with its numerator and falls with its denominator."
    )

    def _check(self) -> None:
        above, below = self.above, self.below
        if shape_of(above) != shape_of(below):
            raise ShapeError(f"EntryQuotient: {above.shape} and {below.shape} have to be the same")

    def _rule(self, i: Index, j: Index) -> Rule:
        return r.Over(r.rule_of(self.above, i, j), r.rule_of(self.below, i, j))

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        below = self.below
        if place == 0:
            return EntryQuotient(upstream, below)
        return sympy.MatMul(-1, EntryQuotient(sympy.HadamardProduct(upstream, value), below))

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Operand) -> Array:
        return arithmetic.divide(*args)


class Diagonal(Node):
    """A vector as a diagonal matrix: d_ij = v_i if j = i, else 0.

    Shapes: n × 1 (or 1 × n) gives n × n. Raises `ShapeError` if the argument is no vector.
    Source: Horn and Johnson, *Matrix Analysis* (2013), section 0.9.1.

    >>> print(Diagonal(sympy.Matrix([1, 2])).doit())
    Matrix([[1, 0], [0, 2]])
    """

    vector = Matrix()
    syntax = "diag(vector)"
    transposes = True
    source = _SOURCE

    adjoint_because = "Only the diagonal entries depend on the vector."

    def _check(self) -> None:
        rows, columns = self.vector.shape
        if 1 not in (rows, columns):
            raise ShapeError(f"diag: {rows} × {columns} is not a vector")

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """As many rows and columns as the vector has entries."""
        rows, columns = shape_of(self.vector)
        size = rows if columns == 1 else columns
        return size, size

    def _rule(self, i: Index, j: Index) -> Rule:
        vector = self.vector
        entry = r.rule_of(vector, i, 0) if vector.shape[1] == 1 else r.rule_of(vector, 0, j)
        return r.Cases(r.Ordinal(j), "=", r.Ordinal(i), entry, r.Const(sympy.S.Zero))

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        size, vector = self.shape[0], self.vector
        here = sympy.HadamardProduct(upstream, Diagonal(Filled(1, size, 1)))
        return LineSum(here, 1 if vector.shape[1] == 1 else 0)

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, vector: Array) -> Array:
        column = vector if vector.shape[-1] == 1 else arithmetic.transpose(vector)
        size = column.shape[-2]
        diagonal = arithmetic.rows(size) == arithmetic.columns(size)
        return arithmetic.where(diagonal, column, arithmetic.zero)


class SoftCap(Node):
    """Scores kept between −c and c, smoothly: t_ij = c tanh(z_ij / c).

    Shapes: n × m in and out. Raises `SymattnError` if c is not positive.
    Source: Gemma Team, *Gemma 2* (2024), section 2 (logit soft-capping).

    >>> print(SoftCap(sympy.MatrixSymbol("Z", 2, 2), 30))
    30 tanh(Z/30)
    """

    matrix, cap = Matrix(), Scalar()
    syntax = "softcap(matrix, cap)"
    by_rows = 1
    transposes = True
    source = "Gemma Team 2024, section 2"

    adjoint_because = (
        "The derivative of tanh is 1 − tanh², which is near 0 for scores near the cap."
    )

    def _check(self) -> None:
        if self.cap.is_positive is False:
            raise SymattnError(f"soft cap {self.cap}: give a positive number")

    @property
    def between(self) -> tuple[sympy.Expr | None, sympy.Expr | None]:  # type: ignore[override]
        """It is between −c and c where c is positive."""
        return (-self.cap, self.cap) if self.cap.is_positive else (None, None)

    @property
    def rises(self) -> bool:  # type: ignore[override]
        """It rises with the scores where c is positive."""
        return bool(self.cap.is_positive)

    def _rule(self, i: Index, j: Index) -> Rule:
        cap = r.Const(self.cap)
        return r.Times((cap, r.Apply("tanh", r.Over(r.rule_of(self.matrix, i, j), cap))))

    def _spell(self, speller: Speller) -> Tree:
        cap = speller.scalar(self.cap)
        inside = t.Frac(speller.matrix(self.matrix), cap)
        return t.times([cap, t.call(t.Ident("tanh", roman=True), inside)])

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        bent = Quotient(value, self.cap)
        square = sympy.MatMul(-1, sympy.HadamardProduct(bent, bent))
        return sympy.HadamardProduct(upstream, sympy.MatAdd(Filled(*self.shape, 1), square))

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, matrix: Array, cap: Operand) -> Array:
        bent = arithmetic.apply("tanh", arithmetic.over(matrix, cap))
        return arithmetic.scaled(bent, cap)
