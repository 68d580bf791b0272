"""Functions and quotients of entries, diagonals: what people write beside products."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self

import numpy as np
import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arithmetic.base import Arithmetic, Array
from symattn.arithmetic.exact import FUNCTIONS
from symattn.errors import ShapeError, SymattnError, nearest
from symattn.nodes.base import Definition, Node, as_matrix, as_scalar, shape_of
from symattn.nodes.lines import Filled, LineSum
from symattn.nodes.pieces import INDICATORS, applied
from symattn.nodes.rule import (
    Apply,
    Cases,
    Const,
    Exp,
    Index,
    Ordinal,
    Over,
    Rule,
    Times,
    rule_of,
)
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

    source: ClassVar[str] = "Horn and Johnson 1991, section 6.3"

    adjoint_because: ClassVar[str] = (
        "Each entry's gradient is multiplied by the slope of the function there."
    )

    def __new__(cls, matrix: Any, name: Any) -> Self:
        if str(name) not in FUNCTIONS:
            raise SymattnError(f'function "{name}" is not known{nearest(str(name), FUNCTIONS)}')
        return super().__new__(cls, as_matrix(matrix, "Entrywise"), sympy.Symbol(str(name)))

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """The shape of the matrix."""
        return shape_of(self.args[0])

    @property
    def free_symbols(self) -> set[sympy.Basic]:
        """Those of the matrix; the name of a function is a word, not a letter."""
        return self.args[0].free_symbols  # type: ignore[no-any-return]

    def _rule(self, i: Index, j: Index) -> Rule:
        return Apply(self.args[1].name, rule_of(self.args[0], i, j))

    def _spell(self, speller: Speller) -> Tree:
        if self.args[1].name in ("min1", *INDICATORS):
            return applied(self.args[1].name, speller.matrix(self.args[0]))
        name = {"max0": "relu", "√": "sqrt", "elu1": "elu1"}.get(self.args[1].name)
        word = name or self.args[1].name
        return t.call(t.Ident(word, roman=len(word) > 1), speller.matrix(self.args[0]))

    def _flip(self, flip: Any) -> MatrixExpr:
        return Entrywise(flip(self.args[0]), self.args[1])

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        matrix, ones = self.args[0], Filled(*self.shape, 1)
        match self.args[1].name:
            case "tanh":
                square = sympy.HadamardProduct(value, value)
                slope = sympy.MatAdd(ones, sympy.MatMul(-1, square))
            case "σ":
                slope = sympy.HadamardProduct(value, sympy.MatAdd(ones, sympy.MatMul(-1, value)))
            case "√":
                return EntryQuotient(upstream, sympy.MatMul(2, value))
            case "ln":
                return EntryQuotient(upstream, matrix)
            case "abs":
                slope = EntryQuotient(matrix, value)
            case "cos":
                slope = sympy.MatMul(-1, Entrywise(matrix, "sin"))
            case "sin":
                slope = Entrywise(matrix, "cos")
            case "erf":
                bell = Exponential(sympy.MatMul(-1, sympy.HadamardProduct(matrix, matrix)))
                slope = sympy.MatMul(2 / sympy.sqrt(sympy.pi), bell)
            case "max0":
                slope = Entrywise(value, "above0")
            case "elu1":
                slope = Entrywise(value, "min1")
            case "min1":
                slope = Entrywise(matrix, "below1")
            case _:
                return None  # a step: it changes only where it jumps
        return sympy.HadamardProduct(upstream, slope)

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Any) -> Array:
        return arithmetic.apply(str(args[1]), args[0])


class EntryQuotient(Node):
    """The quotient of every two entries: q_ij = a_ij / b_ij.

    Shapes: both n × m. Raises `ShapeError` if they differ.
    Source: Horn and Johnson, *Topics in Matrix Analysis* (1991), chapter 5, for entrywise products.

    >>> A, B = sympy.MatrixSymbol("A", 2, 2), sympy.MatrixSymbol("B", 2, 2)
    >>> print(EntryQuotient(A, B))
    A ⊘ B
    """

    source: ClassVar[str] = "Horn and Johnson 1991, chapter 5"

    adjoint_because: ClassVar[str] = (
        "A quotient grows with its numerator, and shrinks in proportion as the denominator grows."
    )

    def __new__(cls, above: Any, below: Any) -> Self:
        one, two = as_matrix(above, "EntryQuotient"), as_matrix(below, "EntryQuotient")
        if shape_of(one) != shape_of(two):
            raise ShapeError(f"EntryQuotient: {one.shape} and {two.shape} have to be the same")
        return super().__new__(cls, one, two)

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """The shape of both."""
        return shape_of(self.args[0])

    def _rule(self, i: Index, j: Index) -> Rule:
        return Over(rule_of(self.args[0], i, j), rule_of(self.args[1], i, j))

    def _spell(self, speller: Speller) -> Tree:
        return t.times([speller.matrix(arg) for arg in self.args], t.Op("⊘"))

    def _flip(self, flip: Any) -> MatrixExpr:
        return EntryQuotient(*map(flip, self.args))

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        below = self.args[1]
        if place == 0:
            return EntryQuotient(upstream, below)
        return sympy.MatMul(-1, EntryQuotient(sympy.HadamardProduct(upstream, value), below))

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Any) -> Array:
        return arithmetic.divide(*args)


class Diagonal(Node):
    """A vector as a diagonal matrix: d_ij = v_i if j = i, else 0.

    Shapes: n × 1 (or 1 × n) gives n × n. Raises `ShapeError` if the argument is no vector.
    Source: Horn and Johnson, *Matrix Analysis* (2013), section 0.9.1.

    >>> print(Diagonal(sympy.Matrix([1, 2])).doit())
    Matrix([[1, 0], [0, 2]])
    """

    source: ClassVar[str] = _SOURCE

    adjoint_because: ClassVar[str] = "Only the diagonal was made of these numbers."

    def __new__(cls, vector: Any) -> Self:
        one = as_matrix(vector, "Diagonal")
        if 1 not in one.shape:
            raise ShapeError(f"diag: {one.shape[0]} × {one.shape[1]} is no vector")
        return super().__new__(cls, one)

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """As many rows and columns as the vector has entries."""
        rows, columns = shape_of(self.args[0])
        size = rows if columns == 1 else columns
        return size, size

    def _rule(self, i: Index, j: Index) -> Rule:
        vector = self.args[0]
        entry = rule_of(vector, i, 0) if vector.shape[1] == 1 else rule_of(vector, 0, j)
        return Cases(Ordinal(j), "=", Ordinal(i), entry, Const(sympy.S.Zero))

    def _spell(self, speller: Speller) -> Tree:
        return t.call(t.Ident("diag", roman=True), speller.matrix(self.args[0]))

    def _flip(self, flip: Any) -> MatrixExpr:
        return Diagonal(flip(self.args[0]))

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        size, vector = self.shape[0], self.args[0]
        here = sympy.HadamardProduct(upstream, Diagonal(Filled(1, size, 1)))
        return LineSum(here, 1 if vector.shape[1] == 1 else 0)

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Any) -> Array:
        vector = np.asarray(args[0])
        column = vector if vector.shape[-1] == 1 else np.swapaxes(vector, -1, -2)
        return arithmetic.where(np.eye(column.shape[-2], dtype=bool), column, arithmetic.zero)


class Exponential(Node):
    """The exponential of every entry: f_ij = e^{z_ij}; of −∞ it is 0.

    Shapes: n × m in and out. Raises `SymattnError` if its argument is no matrix. In floating
    point e^z overflows for large z; e^(z − ρ) with the row's maximum ρ (`RowMax`) does not.
    Source: Vaswani et al. 2017, section 3.2.1.
    """

    source: ClassVar[str] = "Vaswani et al. 2017, section 3.2.1"

    adjoint_because: ClassVar[str] = (
        "An exponential grows as fast as it is large: its gradient is multiplied by its value."
    )

    def __new__(cls, matrix: Any) -> Self:
        return super().__new__(cls, as_matrix(matrix, "Exponential"))

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """The shape of the argument."""
        return shape_of(self.args[0])

    def _rule(self, i: Index, j: Index) -> Rule:
        return Exp(rule_of(self.args[0], i, j))

    def _spell(self, speller: Speller) -> Tree:
        return t.call(t.Ident("exp", roman=True), speller.matrix(self.args[0]))

    def _flip(self, flip: Any) -> MatrixExpr:
        return Exponential(flip(self.args[0]))

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        return sympy.HadamardProduct(upstream, value)

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Any) -> Array:
        return arithmetic.exp(args[0])


class SoftCap(Node):
    """Scores kept between −c and c, smoothly: t_ij = c tanh(z_ij / c).

    Shapes: n × m in and out. Raises `SymattnError` if c is not positive.
    Source: Gemma Team, *Gemma 2* (2024), section 2 (logit soft-capping).

    >>> print(SoftCap(sympy.MatrixSymbol("Z", 2, 2), 30))
    30 tanh(Z/30)
    """

    source: ClassVar[str] = "Gemma Team 2024, section 2"

    adjoint_because: ClassVar[str] = (
        "The slope of tanh is 1 − tanh²: a score near the cap hardly moves any more."
    )

    def __new__(cls, matrix: Any, cap: Any) -> Self:
        bound = as_scalar(cap, "SoftCap")
        if bound.is_positive is False:
            raise SymattnError(f"soft cap {cap}: give a positive number")
        return super().__new__(cls, as_matrix(matrix, "SoftCap"), bound)

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """The shape of the scores."""
        return shape_of(self.args[0])

    def _rule(self, i: Index, j: Index) -> Rule:
        cap = Const(self.args[1])
        return Times((cap, Apply("tanh", Over(rule_of(self.args[0], i, j), cap))))

    def _spell(self, speller: Speller) -> Tree:
        cap = speller.scalar(self.args[1])
        inside = t.Frac(speller.matrix(self.args[0]), cap)
        return t.times([cap, t.call(t.Ident("tanh", roman=True), inside)])

    def _flip(self, flip: Any) -> MatrixExpr:
        return SoftCap(flip(self.args[0]), self.args[1])

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        bent = Quotient(value, self.args[1])
        square = sympy.MatMul(-1, sympy.HadamardProduct(bent, bent))
        return sympy.HadamardProduct(upstream, sympy.MatAdd(Filled(*self.shape, 1), square))

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Any) -> Array:
        matrix, cap = args
        bent = arithmetic.apply("tanh", arithmetic.over(matrix, cap))
        return arithmetic.scaled(bent, cap)


#: Feature maps by name: the function of an entry, or None for the exponential.
FEATURE_MAPS: Mapping[str, str | None] = {"elu+1": "elu1", "relu": "max0", "exp": None}


class Features(Node):
    """A feature map of every entry, φ(q_ij): elu(x) + 1, max(0, x) or e^x; none is negative.

    Shapes: n × d in and out. Raises `SymattnError` for an unknown map.
    Source: Katharopoulos et al., *Transformers are RNNs* (2020), section 3.2.1, eq. 7.
    """

    source: ClassVar[str] = "Katharopoulos et al. 2020, section 3.2.1"

    adjoint_because: ClassVar[str] = (
        "Each number's gradient is multiplied by the slope of the feature map there."
    )

    def __new__(cls, matrix: Any, kind: Any = "elu+1") -> Self:
        name = str(kind)
        if name not in FEATURE_MAPS:
            raise SymattnError(f'feature map "{name}" is not known{nearest(name, FEATURE_MAPS)}')
        return super().__new__(cls, as_matrix(matrix, "Features"), sympy.Symbol(name))

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """The shape of the matrix."""
        return shape_of(self.args[0])

    def _rule(self, i: Index, j: Index) -> Rule:
        function, entry = FEATURE_MAPS[self.args[1].name], rule_of(self.args[0], i, j)
        return Exp(entry) if function is None else Apply(function, entry)

    def _define(self, speller: Speller, i: Index, j: Index) -> Iterator[Definition]:
        """elu(x) = x where x ≥ 0, else e^x − 1."""
        if FEATURE_MAPS[self.args[1].name] != "elu1":
            return
        x = t.Ident("x")
        below = t.plus([t.power(t.Ident("e"), x), t.row(t.MINUS, t.Num("1"))])
        value = t.cases([(x, t.equation(x, (t.Op("≥"), t.Num("0"))))], below)
        yield Definition(t.equation(t.call(t.Ident("elu", roman=True), x), (t.EQUALS, value)))

    def _spell(self, speller: Speller) -> Tree:
        return t.call(t.Ident("φ"), speller.matrix(self.args[0]))

    def _flip(self, flip: Any) -> MatrixExpr:
        return Features(flip(self.args[0]), self.args[1])

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:

        slope = {
            "exp": value,
            "relu": Entrywise(value, "above0"),
            "elu+1": Entrywise(value, "min1"),
        }
        return sympy.HadamardProduct(upstream, slope[self.args[1].name])

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Any) -> Array:
        matrix, kind = args
        function = FEATURE_MAPS[str(kind)]
        return arithmetic.exp(matrix) if function is None else arithmetic.apply(function, matrix)
