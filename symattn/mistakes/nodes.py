"""Nodes for mistakes: matrices that people compute by accident.

They are nodes like those of `symattn.nodes`, so that a mistaken step is evaluated and printed by
the same code as a right one.
"""

from __future__ import annotations

import numpy as np
import sympy

from symattn.arithmetic.base import Arithmetic, Array
from symattn.nodes import rule as r
from symattn.nodes.arguments import BoundIndex, Matrix, Operand, Scalar
from symattn.nodes.base import Node, shape_of
from symattn.nodes.masks import Counts, VisibleScores
from symattn.nodes.normalise import RowRatio, Softmax, unless_all_hidden
from symattn.nodes.rule import Index, Rule

_SEEN, _HIDDEN = r.Const(sympy.S.Zero), r.Const(sympy.S.NegativeInfinity)


class Inverted(Node):
    """The opposite of a mask: 0 where m_ij = −∞, else −∞."""

    word = "not"

    mask = Matrix()

    def _rule(self, i: Index, j: Index) -> Rule:
        return r.Cases(r.rule_of(self.args[0], i, j), "=", _HIDDEN, _SEEN, _HIDDEN)

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Operand) -> Array:
        return arithmetic.where(
            arithmetic.hidden(args[0]), arithmetic.zero, arithmetic.minus_infinity
        )


class Instead(Node):
    """Other numbers where a mask hides: o_ij where m_ij = −∞, else s_ij."""

    word = "instead"

    matrix, mask, other = Matrix(), Matrix(), Matrix()

    def _rule(self, i: Index, j: Index) -> Rule:
        usual, mask, other = (r.rule_of(matrix, i, j) for matrix in self.args)
        return r.Cases(mask, "=", _HIDDEN, other, usual)

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Operand) -> Array:
        usual, mask, other = args
        return arithmetic.where(arithmetic.hidden(mask), other, usual)


class UnguardedSoftmax(Node):
    """The softmax as programs compute it that do not look for what floating point lacks.

    e^z over its sum, with a number taken off z before (`off`): 0 none, 1 the row's maximum, 2 the
    largest of the whole matrix, 3 the row's mean. −∞ − (−∞) and 0/0 are NaN.
    """

    word = "softmax"

    logits, off = Matrix(), Scalar()

    def _rule(self, i: Index, j: Index) -> Rule:
        return r.rule_of(Softmax(self.args[0]), i, j)

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Operand) -> Array:
        logits, off = args
        if off == 1:
            logits = arithmetic.lowered(logits)
        elif off == 2:
            logits = logits - logits.max(axis=(-2, -1), keepdims=True)
        elif off == 3:
            logits = logits - logits.mean(axis=-1, keepdims=True)
        powers = arithmetic.exp(logits)
        return arithmetic.divide(powers, arithmetic.row_sum(powers))


class SeenRatio(Node):
    """The plain ratio over the scores that a query may see: s_ij / Σ_l s_il, and 0 where hidden.

    As people compute it: no number where the sum is 0, and 0 in a row with nothing to attend to.
    """

    word = "ratio"

    logits = Matrix()

    def _rule(self, i: Index, j: Index) -> Rule:
        (logits,) = self.args
        return r.rule_of(RowRatio(VisibleScores(logits, logits)), i, j)

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Operand) -> Array:
        return unless_all_hidden(arithmetic, args[0], cls._shares)

    @classmethod
    def _shares(cls, arithmetic: Arithmetic, scores: Array) -> Array:
        seen = arithmetic.where(arithmetic.hidden(scores), arithmetic.zero, scores)
        return arithmetic.divide(seen, arithmetic.row_sum(seen))


class _OfHeads(Node):
    """A mistaken way between the h matrices Z^(k) of the heads, n × d, and one matrix, n × h d."""

    matrix, index, heads = Matrix(), BoundIndex(), Scalar()

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """The heads side by side."""
        rows, columns = shape_of(self.args[0])
        return rows, self.args[2] * columns

    def _entry_of(self, head: sympy.Expr, i: sympy.Expr, j: sympy.Expr) -> Rule:
        body, index, _ = self.args
        return r.rule_of(body.subs(index, head), i, j)


class ReversedConcat(_OfHeads):
    """The heads joined from the last one to the first: [Z^(h) … Z^(1)]."""

    word = "reversed"

    def _rule(self, i: Index, j: Index) -> Rule:
        body, _, count = self.args
        columns = body.shape[1]
        return self._entry_of(count - 1 - sympy.floor(j / columns), i, sympy.Mod(j, columns))

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Operand) -> Array:
        heads: Array = args[0]
        return np.concatenate(list(np.moveaxis(heads, -3, 0)[::-1]), axis=-1)


class MergedByReshape(_OfHeads):
    """The heads merged by reshape alone, (h, n, d) to (n, h d): a row holds tokens of one head.

    The number at (i, j) is the one at place i h d + j of all heads one after the other.
    """

    word = "reshape"

    def _rule(self, i: Index, j: Index) -> Rule:
        body, _, count = self.args
        rows, columns = shape_of(body)
        place = i * count * columns + j
        return self._entry_of(
            sympy.floor(place / (rows * columns)),
            sympy.floor(sympy.Mod(place, rows * columns) / columns),
            sympy.Mod(place, columns),
        )

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Operand) -> Array:
        heads: Array = args[0]
        *lead, count, rows, columns = heads.shape
        return heads.reshape(*lead, rows, count * columns)


class InterleavedConcat(_OfHeads):
    """The heads joined entry by entry, (n, d, h) to (n, h d): [z^(1)_i1 z^(2)_i1 … z^(h)_id]."""

    word = "interleaved"

    def _rule(self, i: Index, j: Index) -> Rule:
        count = self.args[2]
        return self._entry_of(sympy.Mod(j, count), i, sympy.floor(j / count))

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Operand) -> Array:
        heads: Array = np.moveaxis(args[0], -3, -1)
        return heads.reshape(*heads.shape[:-2], -1)


class _OneOfHeads(_OfHeads):
    """What has a matrix for each head again, made of those of all heads."""

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """One head's matrix."""
        return shape_of(self.args[0])

    @property
    def free_symbols(self) -> set[sympy.Basic]:
        """All symbols; the head index says which head this is."""
        return self.args[0].free_symbols | {self.args[1]}  # type: ignore[no-any-return]

    def _eval_subs(self, old: sympy.Basic, new: sympy.Basic) -> Node | None:
        return None


class OverHeads(_OneOfHeads):
    """A softmax over the heads: e^(z_ij^(k)) / Σ_l e^(z_ij^(l))."""

    word = "softmax over heads"

    def _rule(self, i: Index, j: Index) -> Rule:
        body, head, count = self.args
        powers = tuple(
            r.Exp(r.rule_of(body.subs(head, sympy.Integer(k)), i, j)) for k in range(int(count))
        )
        return r.Over(r.Exp(r.rule_of(body, i, j)), r.Plus(powers), empty=sympy.S.Zero)

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Operand) -> Array:
        across = np.moveaxis(args[0], -3, -1)
        return np.moveaxis(Softmax._rows(arithmetic, across), -1, -3)


class SplitByReshape(_OneOfHeads):
    """A projection split by reshape alone, (n, h d) to (h, n, d): a head holds several tokens.

    The number of head k at (i, j) is the one at place (k n + i) d + j of the projection.
    """

    word = "reshape"

    def _rule(self, i: Index, j: Index) -> Rule:
        body, head, count = self.args
        rows, columns = shape_of(body)
        place = (head * rows + i) * columns + j
        across = sympy.Mod(place, count * columns)
        one = body.subs(head, sympy.floor(across / columns))
        return r.rule_of(one, sympy.floor(place / (count * columns)), sympy.Mod(across, columns))

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Operand) -> Array:
        heads: Array = args[0]
        joined = np.concatenate(list(np.moveaxis(heads, -3, 0)), axis=-1)
        return joined.reshape(heads.shape)


class InRows(Node):
    """The rows of a set R from a mistaken matrix, the others from the right one."""

    word = "rows"

    mistaken, right, chosen = Matrix(), Matrix(), Counts()

    def _rule(self, i: Index, j: Index) -> Rule:
        mistaken, right, rows = self.args
        places = r.Ordinal(sympy.FiniteSet(*rows))
        return r.Cases(r.Ordinal(i), "∈", places, r.rule_of(mistaken, i, j), r.rule_of(right, i, j))

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Operand) -> Array:
        mistaken, right, rows = args
        out = np.array(np.broadcast_to(right, np.broadcast_shapes(mistaken.shape, right.shape)))
        chosen = [int(row) for row in rows]
        out[..., chosen, :] = np.broadcast_to(mistaken, out.shape)[..., chosen, :]
        return out
