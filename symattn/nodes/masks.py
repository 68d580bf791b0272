"""Which keys a query may see: mask matrices of 0 and −∞ that are added to the scores.

A mask is a matrix M with 0 where query i may attend to key j and −∞ where it may not; several
masks are added, which allows only what all of them allow. Adding a mask is adding a class and a
row of `MASKS` here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
import sympy
from numpy.typing import NDArray
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arithmetic.base import Arithmetic, Array
from symattn.errors import SymattnError, shown
from symattn.nodes.base import Node, as_matrix, as_scalar, shape_of
from symattn.nodes.rule import Cases, Const, Index, Ordinal, Plus, Rule, rule_of
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.tree import Tree

_MOST = 1_000_000

_ZERO, _HIDDEN = Const(sympy.S.Zero), Const(sympy.S.NegativeInfinity)


class Mask(Node):
    """A mask that follows from positions alone: args are rows, columns and its parameter."""

    word: ClassVar[str] = ""
    reason: ClassVar[str] = ""

    @classmethod
    def of(cls, rows: Any, columns: Any, parameter: Any) -> Mask:
        """The mask of this size from what a spec says: True, or the value of its parameter."""
        return cls(rows, columns) if parameter is True else cls(rows, columns, parameter)

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """Queries × keys."""
        return self.args[0], self.args[1]

    def _spell(self, speller: Speller) -> Tree:
        return t.call(t.Ident(self.word, roman=True), *map(speller.scalar, self.args))

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Any) -> Array:
        rows, columns, *parameters = (int(arg) for arg in args)
        queries, keys = np.arange(rows)[:, None], np.arange(columns)[None, :]
        seen = np.broadcast_to(cls._seen(queries, keys, *parameters), (rows, columns))
        return arithmetic.where(seen, arithmetic.zero, arithmetic.minus_infinity)

    @classmethod
    def _seen(cls, queries: Array, keys: Array, *parameters: int) -> NDArray[np.bool_]:
        """Whether the query at a position (from 0) may see the key at a position."""
        raise NotImplementedError


class Causal(Mask):
    """Each query sees the keys up to its own position: m_ij = 0 if j ≤ i + p, else −∞.

    Top-left aligned; with p keys from before (a cache), query i sees keys up to p + i.

    Shapes: n × m. Raises `SymattnError` if p is negative or no whole number.
    Source: Vaswani et al. 2017, section 3.2.3.

    >>> Causal(2, 3).as_explicit()
    Matrix([
    [0, -oo, -oo],
    [0,   0, -oo]])
    """

    source: ClassVar[str] = "Vaswani et al. 2017, section 3.2.3"
    word: ClassVar[str] = "causal"
    reason: ClassVar[str] = "No query may look at a later key."

    def __new__(cls, rows: Any, columns: Any, past: Any = 0) -> Self:
        return super().__new__(cls, *_sizes(rows, columns), _count(past, "causal"))

    def _spell(self, speller: Speller) -> Tree:
        told = self.args if self.args[2] != 0 else self.args[:2]
        return t.call(t.Ident(self.word, roman=True), *map(speller.scalar, told))

    def _rule(self, i: Index, j: Index) -> Rule:
        past = self.args[2]
        return Cases(Ordinal(j), "≤", Ordinal(i + past), _ZERO, _HIDDEN)

    @classmethod
    def _seen(cls, queries: Array, keys: Array, *parameters: int) -> NDArray[np.bool_]:
        return np.asarray(keys <= queries + parameters[0])


class Padding(Mask):
    """Only the first keys are real, the rest is padding: m_ij = 0 if j ≤ length, else −∞.

    Shapes: n × m. Raises `SymattnError` if the length is negative or no whole number.
    Source: Devlin et al., *BERT* (2019), appendix A.2, for padded batches.

    >>> Padding(2, 3, 2).as_explicit()
    Matrix([
    [0, 0, -oo],
    [0, 0, -oo]])
    """

    source: ClassVar[str] = "Devlin et al. 2019, appendix A.2"
    word: ClassVar[str] = "padding"
    reason: ClassVar[str] = "Keys past the end of the text are padding and must not be seen."

    def __new__(cls, rows: Any, columns: Any, length: Any) -> Self:
        return super().__new__(cls, *_sizes(rows, columns), _count(length, "padding"))

    @classmethod
    def of(cls, rows: Any, columns: Any, parameter: Any) -> Mask:
        """`parameter` is how many keys are real."""
        if parameter is True:
            raise SymattnError('mask "padding": say how many keys are real: {padding = 3}')
        return cls(rows, columns, parameter)

    def _rule(self, i: Index, j: Index) -> Rule:
        return Cases(Ordinal(j), "≤", Ordinal(self.args[2] - 1), _ZERO, _HIDDEN)

    @classmethod
    def _seen(cls, queries: Array, keys: Array, *parameters: int) -> NDArray[np.bool_]:
        return np.asarray((keys < parameters[0]) | (queries < 0))


class Allowed(Node):
    """A boolean matrix as a mask: m_ij = 0 where b_ij is true (1), else −∞.

    True is where a query may attend, as in ONNX, JAX and PyTorch's scaled_dot_product_attention.

    Shapes: n × m in and out. Raises `SymattnError` if its argument is no matrix.
    Source: ONNX operator Attention, input ``attn_mask``.
    """

    source: ClassVar[str] = "ONNX, operator Attention"

    def __new__(cls, matrix: Any) -> Self:
        return super().__new__(cls, as_matrix(matrix, "Allowed"))

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """The shape of the boolean matrix."""
        return shape_of(self.args[0])

    def _rule(self, i: Index, j: Index) -> Rule:
        return Cases(rule_of(self.args[0], i, j), "=", Const(sympy.S.One), _ZERO, _HIDDEN)

    def _spell(self, speller: Speller) -> Tree:
        return t.call(t.Ident("allow", roman=True), speller.matrix(self.args[0]))

    def _flip(self, flip: Any) -> MatrixExpr:
        return Allowed(flip(self.args[0]))

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Any) -> Array:
        return arithmetic.where(
            arithmetic.equals(args[0], 1), arithmetic.zero, arithmetic.minus_infinity
        )


class Masked(Node):
    """Scores with a mask added: g_ij = z_ij + m_ij.

    Where m_ij is −∞ the sum is −∞ whatever z_ij is, NaN included: a masked value never leaks.

    Shapes: both n × m. Raises `SymattnError` if an argument is no matrix.
    Source: Vaswani et al. 2017, section 3.2.3.

    >>> print(Masked(sympy.MatrixSymbol("Z", 2, 2), Causal(2, 2)))
    Z + causal(2, 2)
    """

    source: ClassVar[str] = "Vaswani et al. 2017, section 3.2.3"

    def __new__(cls, scores: Any, mask: Any) -> Self:
        return super().__new__(cls, as_matrix(scores, "Masked"), as_matrix(mask, "Masked"))

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """The shape of the scores."""
        return shape_of(self.args[0])

    def _rule(self, i: Index, j: Index) -> Rule:
        return Plus((rule_of(self.args[0], i, j), rule_of(self.args[1], i, j)))

    def _spell(self, speller: Speller) -> Tree:
        return t.plus([speller.matrix(arg) for arg in self.args])

    def _entry(self, i: Index, j: Index, **kwargs: Any) -> sympy.Expr:
        hidden = self.args[1][i, j] is sympy.S.NegativeInfinity
        return sympy.S.NegativeInfinity if hidden else super()._entry(i, j, **kwargs)

    def _flip(self, flip: Any) -> MatrixExpr:
        return Masked(flip(self.args[0]), flip(self.args[1]))

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Any) -> Array:
        scores, mask = args
        hidden = arithmetic.hidden(mask)
        kept = arithmetic.where(hidden, arithmetic.zero, scores)
        added = arithmetic.where(hidden, arithmetic.zero, mask)
        return arithmetic.where(hidden, arithmetic.minus_infinity, arithmetic.add(kept, added))


def _count(value: Any, name: str) -> sympy.Expr:
    whole = isinstance(value, int | sympy.Expr) and not isinstance(value, bool)
    number = as_scalar(value, name) if whole else None
    if number is None or number.is_integer is False or number.is_negative or number > _MOST:
        raise SymattnError(
            f'mask "{name}": {shown(value)} is not a count; give a whole number from 0 to {_MOST}'
        )
    return number


def _sizes(rows: Any, columns: Any) -> tuple[sympy.Expr, sympy.Expr]:
    return as_scalar(rows, "mask"), as_scalar(columns, "mask")


#: The masks that a spec can name.
MASKS: Mapping[str, type[Mask]] = {"causal": Causal, "padding": Padding}
