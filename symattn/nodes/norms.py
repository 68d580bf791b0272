"""LayerNorm and RMSNorm of every row, with gradients as they are written by hand.

Gain and shift are a product and a sum behind them: LayerNorm(X) diag(g) + 1 s.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.errors import ShapeError, SymattnError
from symattn.nodes.arguments import ArgumentKind, Matrix, as_scalar
from symattn.nodes.base import shape_of
from symattn.nodes.defined import Defined
from symattn.nodes.entrywise import EntryQuotient, Entrywise
from symattn.nodes.lines import (
    EntrySum,
    Filled,
    Lengths,
    LineDifference,
    LineProduct,
    LineQuotient,
    LineSum,
    PlusVector,
    UnitVectors,
)
from symattn.nodes.scale import Quotient
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.tree import Tree

_BA = "Ba, Kiros, Hinton 2016, equation 3"
_ZHANG = "Zhang and Sennrich 2019, equation 4"


class Epsilon(ArgumentKind):
    """What keeps a denominator from 0: a number, or a matrix of one number."""

    def read(self, value: object, owner: str) -> sympy.Basic:
        if isinstance(value, MatrixExpr | sympy.MatrixBase):
            if tuple(value.shape) != (1, 1):
                raise ShapeError(f"{owner}: eps is {value.shape}; give one number")
            return value
        eps = as_scalar(value, owner)
        if eps.is_negative:
            raise SymattnError(f"{owner}: eps {eps}: give a number from 0")
        return eps


def with_gain(
    matrix: MatrixExpr, gain: MatrixExpr | None = None, shift: MatrixExpr | None = None
) -> MatrixExpr:
    """A matrix times its gain, column by column, plus its shift."""
    out = matrix if gain is None else LineProduct(matrix, gain, 0)
    return out if shift is None else PlusVector(out, shift)


def one_plus(gain: MatrixExpr) -> MatrixExpr:
    """1 + g, the gain of which only the difference from 1 is learned."""
    return sympy.MatAdd(Filled(*shape_of(gain), 1), gain)


def mean_of_rows(matrix: MatrixExpr) -> MatrixExpr:
    """The mean of each row: μ_i = (Σ_l x_il)/d."""
    return Quotient(LineSum(matrix), shape_of(matrix)[1])


class OfRows(Defined):
    """A function of each row, and of ε: a norm, or what it divides by."""

    matrix, eps = Matrix(), Epsilon(0)
    by_rows = 1

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """That of the matrix."""
        return shape_of(self.matrix)

    def _spell(self, speller: Speller) -> Tree:
        eps, name = self.eps, t.Ident("eps", roman=True)
        value = speller.meaning(eps)
        extra = [] if eps == 0 else [t.equation(name, (t.EQUALS, value))]
        return t.call(t.Ident(self.word, roman=True), speller.matrix(self.matrix), *extra)

    def _with_eps(self, numbers: MatrixExpr) -> MatrixExpr:
        """A column of numbers, ε added to each."""
        if isinstance(self.eps, MatrixExpr):
            return PlusVector(numbers, self.eps)
        return numbers if self.eps == 0 else sympy.MatAdd(numbers, Filled(*numbers.shape, self.eps))


class RootMeanSquare(OfRows):
    """The root of the mean square of each row: ρ_i = √((Σ_l x_il²)/d + ε).

    Shapes: n × d becomes n × 1. Raises `ShapeError` if ε is more than one number.
    Source: Zhang and Sennrich, *Root Mean Square Layer Normalization* (2019), equation 4.

    >>> print(RootMeanSquare(sympy.Matrix([[1, 7]])).doit())
    Matrix([[5]])
    """

    word = "rms"
    source = _ZHANG

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """One number for each row."""
        return shape_of(self.matrix)[0], sympy.S.One

    @property
    def meaning(self) -> MatrixExpr:
        square = sympy.HadamardProduct(self.matrix, self.matrix)
        return Entrywise(self._with_eps(mean_of_rows(square)), "√")


class StandardDeviation(OfRows):
    """The standard deviation of each row: σ_i = √(mean of (x_il − μ_i)² + ε).

    Shapes: n × d becomes n × 1. Raises `ShapeError` if ε is more than one number.
    Source: Ba, Kiros, Hinton, *Layer Normalization* (2016), equation 3.

    >>> print(StandardDeviation(sympy.Matrix([[1, 7]])).doit())
    Matrix([[3]])
    """

    word = "std"
    source = _BA

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """One number for each row."""
        return shape_of(self.matrix)[0], sympy.S.One

    @property
    def meaning(self) -> MatrixExpr:
        centred = LineDifference(self.matrix, mean_of_rows(self.matrix))
        square = sympy.HadamardProduct(centred, centred)
        return Entrywise(self._with_eps(mean_of_rows(square)), "√")


class Norm(OfRows):
    """A norm: each row, or its distance from its mean, over a number of the row's own."""

    has_adjoint = True
    #: What the norm axis calls it.
    kind: ClassVar[str]
    #: What the rows are divided by; the `reason` is what that does to them.
    divides: ClassVar[type[OfRows]]
    heading = "norm of each row"

    @classmethod
    def of(
        cls,
        matrix: MatrixExpr,
        gain: MatrixExpr | None = None,
        shift: MatrixExpr | None = None,
        eps: object = 0,
    ) -> MatrixExpr:
        """The norm times its gain, column by column, plus its shift."""
        return with_gain(cls(matrix, eps), gain, shift)

    @classmethod
    def of_part(cls, matrix: MatrixExpr, row: MatrixExpr, eps: sympy.Expr) -> MatrixExpr:
        """The part of a longer row, moved and divided as the whole row is."""
        if row == matrix:
            return cls(matrix, eps)
        return LineQuotient(cls._moved(matrix, row), cls.divides(row, eps))

    @classmethod
    def _moved(cls, matrix: MatrixExpr, row: MatrixExpr) -> MatrixExpr:
        """A part of a row, or the gradient of one, less the mean of the whole where it is moved."""
        return matrix

    @property
    def below(self) -> MatrixExpr:
        """What each row is divided by."""
        return self.divides(*self.args)

    @property
    def meaning(self) -> MatrixExpr:
        return LineQuotient(self._moved(self.matrix, self.matrix), self.below.meaning)

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        along = sympy.HadamardProduct(upstream, value)
        if place == 1:
            square = sympy.HadamardProduct(self.below, self.below)
            rows = EntryQuotient(LineSum(along), square)
            return sympy.MatMul(-sympy.S.Half, EntrySum(rows))
        scaled = LineProduct(value, mean_of_rows(along))
        rest = sympy.MatAdd(self._moved(upstream, upstream), sympy.MatMul(-1, scaled))
        return LineQuotient(rest, self.below)


class RMSNorm(Norm):
    """Each row over its root mean square: y_ij = x_ij / √((Σ_l x_il²)/d + ε).

    Shapes: n × d in and out. Raises `ShapeError` if ε is more than one number.
    Source: Zhang and Sennrich, *Root Mean Square Layer Normalization* (2019), equation 4.

    >>> print(RMSNorm(sympy.Matrix([[1, 7]])).doit())
    Matrix([[1/5, 7/5]])
    """

    syntax = "RMSNorm(matrix, eps=)"
    source = _ZHANG
    kind = "rms"
    divides = RootMeanSquare
    reason = "Each row is divided by the root of the mean square of its entries."
    adjoint_because = (
        "A longer row has the same direction: the part of the gradient along the row is taken off, "
        "and the rest divided by the row's root mean square."
    )


class LayerNorm(Norm):
    """Each row less its mean, over its standard deviation: y_ij = (x_ij − μ_i) / σ_i.

    Shapes: n × d in and out. Raises `ShapeError` if ε is more than one number.
    Source: Ba, Kiros, Hinton, *Layer Normalization* (2016), equation 3.

    >>> print(LayerNorm(sympy.Matrix([[1, 7]])).doit())
    Matrix([[-1, 1]])
    """

    syntax = "LayerNorm(matrix, eps=)"
    source = _BA
    kind = "layer"
    divides = StandardDeviation
    reason = "Each row is moved to mean 0 and divided by its standard deviation."
    adjoint_because = (
        "Neither moving nor stretching a row changes what it is made into: the mean of the "
        "gradient and its part along the row are taken off, and the rest is divided by the "
        "deviation."
    )

    @classmethod
    def _moved(cls, matrix: MatrixExpr, row: MatrixExpr) -> MatrixExpr:
        return LineDifference(matrix, mean_of_rows(row))


#: The norms by the words that equations have for them.
NORMS: Mapping[str, type[Norm]] = {norm.word: norm for norm in (RMSNorm, LayerNorm)}


def l2_of_part(matrix: MatrixExpr, row: MatrixExpr, eps: sympy.Expr) -> MatrixExpr:
    """x_i / √(sum of the row's squares + ε)."""
    if eps == 0:
        return UnitVectors(matrix) if row == matrix else LineQuotient(matrix, Lengths(row))
    squares = LineSum(sympy.HadamardProduct(row, row))
    total = sympy.MatAdd(squares, Filled(*shape_of(squares), eps))
    return LineQuotient(matrix, Entrywise(total, "√"))
