"""Weights that are exactly 0 for most keys: all on the best one, or projected to the simplex."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np
import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arithmetic.base import Arithmetic, Array
from symattn.nodes.base import Definition
from symattn.nodes.normaliser import Normaliser, unless_all_hidden
from symattn.nodes.rule import (
    Apply,
    Cases,
    Const,
    Index,
    OfRow,
    Ordinal,
    Plus,
    Rule,
    dummy,
    minus,
    rule_of,
)
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.tree import Tree

_AT_LEAST = t.Op("≥")


def _x(index: Tree) -> Tree:
    return t.Script(t.Ident("x"), index)


class Hardmax(Normaliser):
    """All weight on the best key: a_ij = 1 if j = argmax_l z_il, else 0.

    Of equally large scores the first one counts. Exact arithmetic proves every comparison; balls
    answer [0, 1] where they overlap. A row of −∞ alone gets weights 0.

    Shapes: n × m in and out. Raises `SymattnError` if its argument is no matrix, and `Undecided`
    where exact scores can be neither told apart nor proven equal.
    Source: ONNX, operator Hardmax.

    >>> print(Hardmax(sympy.Matrix([[1, sympy.sqrt(8), 2 * sympy.sqrt(2)]])).doit())
    Matrix([[0, 1, 0]])
    """

    source: ClassVar[str] = "ONNX, operator Hardmax"
    word: ClassVar[str] = "hardmax"
    rule_name: ClassVar[str] = "hardmax"
    reason: ClassVar[str] = (
        "Each query gives all its weight to the key with its largest score, the first of them "
        "if several are equal."
    )
    adjoint_because: ClassVar[str] = (
        "The weights stay the same when scores change a little, so that the gradient is 0; at a "
        "tie, where they jump, there is none."
    )

    def _rule(self, i: Index, j: Index) -> Rule:
        index = dummy(i, j)
        score, size = self._along(i, j, index)
        here = Ordinal(j if self.args[-1] == 1 else i)
        best = OfRow("argmax", (score,), index, size)
        return Cases(here, "=", best, Const(sympy.S.One), Const(sympy.S.Zero))

    def _define(self, speller: Speller, i: Index, j: Index) -> Iterator[Definition]:
        """argmax_l z_il = min {l : z_il = max_p z_ip}: the first of equally large ones."""
        index = dummy(i, j)
        other = dummy(i, j, index)
        (score, size), (any_score, _) = (self._along(i, j, letter) for letter in (index, other))
        largest = t.call(t.Script(t.Ident("max", roman=True), speller.index(other)),
                         speller.rule(any_score))  # fmt: skip
        such = t.equation(speller.rule(score), (t.EQUALS, largest))
        places = t.Fenced(t.row(speller.index(index), t.Op(":"), such), "{", "}")
        first = t.row(t.Ident("min", roman=True), t.APPLY, places)
        best = speller.rule(OfRow("argmax", (score,), index, size))
        yield Definition(t.equation(best, (t.EQUALS, first)))

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        from symattn.nodes.lines import Filled

        return Filled(*self.shape, 0)

    @classmethod
    def _rows(cls, arithmetic: Arithmetic, scores: Array, *more: Array) -> Array:
        return unless_all_hidden(arithmetic, scores, arithmetic.first_largest)


class Sparsemax(Normaliser):
    """The nearest point of the simplex: a_ij = max(0, z_ij − τ_i), with τ_i so that Σ_l a_il = 1.

    With the scores of row i in falling order, τ_i = max_k (z_(1) + … + z_(k) − 1)/k. A score of
    −∞ gets weight exactly 0, and a row with nothing else gets weights 0.

    Shapes: n × m in and out. Raises `SymattnError` if its argument is no matrix, and `Undecided`
    where exact scores can be neither told apart nor proven equal.
    Source: Martins and Astudillo, *From Softmax to Sparsemax* (2016).

    >>> print(Sparsemax(sympy.Matrix([[2, sympy.Rational(3, 2), 0]])).doit())
    Matrix([[3/4, 1/4, 0]])
    """

    source: ClassVar[str] = "Martins and Astudillo 2016"
    word: ClassVar[str] = "sparsemax"
    rule_name: ClassVar[str] = "sparsemax"
    reason: ClassVar[str] = (
        "The same number {τ} is taken from all of a query's scores, such that what is left above "
        "0 sums to 1; keys with small scores get weight 0."
    )
    adjoint_because: ClassVar[str] = (
        "Among the keys that have weight, what one gains the others lose in equal shares: the mean "
        "of their gradients is taken from each; keys without weight have no say."
    )
    adjoint_source: ClassVar[str] = "Martins and Astudillo 2016, section 2.5"

    def _rule(self, i: Index, j: Index) -> Rule:
        index = dummy(i, j)
        score, size = self._along(i, j, index)
        level = OfRow("τ", (score,), index, size)
        return Apply("max0", Plus((rule_of(self.args[0], i, j), minus(level))))

    def _define(self, speller: Speller, i: Index, j: Index) -> Iterator[Definition]:
        """τ(x_1, …) = max_k (x_(1) + … + x_(k) − 1)/k over the numbers in falling order."""
        size = self.shape[1 if self.args[-1] == 1 else 0]
        count, k = speller.scalar(size), t.Ident("k")
        given = t.commas([_x(t.Num("1")), t.DOTS, _x(count)])
        sums = t.plus([_x(t.Fenced(t.Num("1"))), t.DOTS, _x(t.Fenced(k))])
        share = t.Frac(t.plus([sums, t.row(t.MINUS, t.Num("1"))]), k)
        largest = t.call(t.Script(t.Ident("max", roman=True), k), share)
        yield Definition(t.equation(t.call(t.Ident("τ"), given), (t.EQUALS, largest)))
        falling = t.equation(_x(t.Fenced(t.Num("1"))), (_AT_LEAST, t.DOTS),
                             (_AT_LEAST, _x(t.Fenced(count))))  # fmt: skip
        order = t.Text(" in falling order")
        yield Definition(t.row(falling, t.Text(" being "), given, order))

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        from symattn.nodes.entrywise import Entrywise
        from symattn.nodes.lines import LineQuotient, LineSum, PlusVector

        axis = self.args[-1]
        support = Entrywise(value, "above0")
        told = LineSum(sympy.HadamardProduct(support, upstream), axis)
        mean = LineQuotient(told, LineSum(support, axis), axis)
        rest = PlusVector(upstream, sympy.MatMul(-1, mean), 1 - axis)
        return sympy.HadamardProduct(support, rest)

    @classmethod
    def _rows(cls, arithmetic: Arithmetic, scores: Array, *more: Array) -> Array:
        def weigh(seen: Array) -> Array:
            low = arithmetic.lowered(seen)
            left = arithmetic.add(low, np.asarray(-arithmetic.threshold(low)))
            return arithmetic.share(arithmetic.apply("max0", left), arithmetic.scalar(sympy.S.One))

        return unless_all_hidden(arithmetic, scores, weigh)
