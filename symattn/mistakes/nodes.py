"""Nodes for mistakes: matrices that people compute by accident.

They are nodes like those of `symattn.nodes`, so that a mistaken step is evaluated by the same code
as a right one. What only programs do, in blocks and batches, has no entry rule.
"""

from __future__ import annotations

import numpy as np
import sympy

from symattn.arithmetic.base import Arithmetic, Array
from symattn.errors import SymattnError
from symattn.nodes import rule as r
from symattn.nodes.arguments import BoundIndex, Flag, Matrix, Operand, Scalar
from symattn.nodes.base import Node, shape_of
from symattn.nodes.masks import VisibleScores
from symattn.nodes.normalise import RowRatio, Softmax, unless_all_hidden
from symattn.nodes.rule import Index, Rule
from symattn.step import HEAD


class Instead(Node):
    """Other numbers where a mask hides: o_ij where m_ij = −∞, else s_ij."""

    word = "instead"

    matrix, mask, other = Matrix(), Matrix(), Matrix()

    def _rule(self, i: Index, j: Index) -> Rule:
        usual, mask, other = (r.rule_of(matrix, i, j) for matrix in self.args)
        return r.Cases(mask, "=", r.Const(sympy.S.NegativeInfinity), other, usual)

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
        seen = arithmetic.visible(scores)
        return arithmetic.divide(seen, arithmetic.row_sum(seen))


class Reshaped(Node):
    """The numbers of a matrix, row by row, in so many rows: c_ij is the one at place i m + j.

    Shapes: n × d become `rows` × m with m = n d/`rows`.
    """

    word = "reshape"

    matrix, rows = Matrix(), Scalar()

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """As many numbers in other rows."""
        rows, columns = shape_of(self.matrix)
        return self.rows, rows * columns / self.rows

    def _rule(self, i: Index, j: Index) -> Rule:
        place, columns = i * self.shape[1] + j, self.matrix.shape[1]
        return r.rule_of(self.matrix, sympy.floor(place / columns), sympy.Mod(place, columns))

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Operand) -> Array:
        matrix, rows = args
        out: Array = matrix.reshape(*matrix.shape[:-2], int(rows), -1)
        return out


class _OfHeads(Node):
    """What has a matrix for each head again, made of the h matrices Z^(k) of all heads."""

    matrix, index, heads = Matrix(), BoundIndex(), Scalar()

    @property
    def free_symbols(self) -> set[sympy.Basic]:
        """All symbols; the head index says which head this is."""
        return self.args[0].free_symbols | {self.args[1]}  # type: ignore[no-any-return]

    def _eval_subs(self, old: sympy.Basic, new: sympy.Basic) -> Node | None:
        return None


class OverHeads(_OfHeads):
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


class OverBatch(Node):
    """A softmax over the calculations of a batch, its first axis; `by_head`: heads come next."""

    logits, by_head = Matrix(), Flag(otherwise=lambda logits: logits.has(HEAD))

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Operand) -> Array:
        logits, by_head = args
        if logits.ndim < (4 if by_head else 3):
            raise SymattnError("there is no batch")
        across = np.moveaxis(logits, 0, -1)
        return np.asarray(np.moveaxis(Softmax._rows(arithmetic, across), -1, 0))


class Floored(Node):
    """Every number rounded down to a whole one."""

    matrix = Matrix()

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Operand) -> Array:
        if args[0].dtype == object:
            raise SymattnError("a ball has no floor")
        return np.asarray(np.floor(args[0]))


class Unrescaled(Node):
    """The online softmax, of keys in blocks, whose sums stay as they are when the maximum grows.

    e^{z_j − μ_b} is what key j of block b gives, with the maximum μ_b of all keys up to that block;
    `output` and `sums` say which of the two sums are multiplied by e^{μ_b − μ} as they should be.
    """

    logits, block, output, sums = Matrix(), Scalar(), Flag(False), Flag(False)

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Operand) -> Array:
        logits, block, output, sums = args
        powers, tops = list[Array](), list[Array]()
        size, count = int(block), logits.shape[-1]
        for at in range(0, count, size):
            part = arithmetic.part(logits, at, min(size, count - at), -1)
            top = arithmetic.row_max(arithmetic.join([*tops[-1:], part], -1))
            tops.append(top)
            powers.append(arithmetic.exp(arithmetic.subtract(part, arithmetic.visible(top))))
        last = arithmetic.visible(tops[-1])
        caught = [
            arithmetic.multiply(power, arithmetic.exp(arithmetic.subtract(top, last)))
            for power, top in zip(powers, tops, strict=True)
        ]
        above = arithmetic.join(caught if output else powers, -1)
        below = arithmetic.row_sum(arithmetic.join(caught if sums else powers, -1))
        nothing = arithmetic.equals(below, 0)
        safe = arithmetic.where(nothing, arithmetic.scalar(sympy.S.One), below)
        return arithmetic.divide(above, safe)


class HeadsSummed(_OfHeads):
    """The sum of all heads, for each head."""

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Operand) -> Array:
        heads: Array = args[0]
        return np.broadcast_to(heads.sum(axis=-3, keepdims=True), heads.shape)


class HeadsTaken(_OfHeads):
    """For each head another one: `which` is its number from 0, made of that of the head."""

    which = Scalar()

    def _rule(self, i: Index, j: Index) -> Rule:
        matrix, index, _, which = self.args
        return r.rule_of(matrix.xreplace({index: which}), i, j)

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Operand) -> Array:
        heads, index, count, which = args
        taken = [int(which.subs(index, head)) for head in range(int(count))]
        return np.asarray(np.take(heads, taken, axis=-3))
