"""Nodes for what programs compute by accident: blocks, batches, reshapes.

They are evaluated, never printed: a misconception is told in words.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import sympy

from symattn.arithmetic.base import Arithmetic, Array
from symattn.errors import SymattnError
from symattn.mistakes.nodes import _OneOfHeads
from symattn.nodes.arguments import Flag, Matrix, Operand, Scalar
from symattn.nodes.base import Node, shape_of
from symattn.nodes.normalise import Softmax
from symattn.step import HEAD


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
            powers.append(arithmetic.exp(arithmetic.subtract(part, _safe(arithmetic, top))))
        last = _safe(arithmetic, tops[-1])
        caught = [
            arithmetic.multiply(power, arithmetic.exp(arithmetic.subtract(top, last)))
            for power, top in zip(powers, tops, strict=True)
        ]
        above = arithmetic.join(caught if output else powers, -1)
        below = arithmetic.row_sum(arithmetic.join(caught if sums else powers, -1))
        nothing = arithmetic.equals(below, 0)
        safe = arithmetic.where(nothing, arithmetic.scalar(sympy.S.One), below)
        return arithmetic.divide(above, safe)


def _safe(arithmetic: Arithmetic, top: Array) -> Array:
    """A maximum that can be subtracted: 0 for −∞."""
    return arithmetic.where(arithmetic.hidden(top), arithmetic.zero, top)


class KeysReshaped(Node):
    """Keys m × d reshaped, not transposed, to d × m; as keys whose transpose that is."""

    matrix = Matrix()

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Operand) -> Array:
        keys: Array = args[0]
        return keys.reshape(*keys.shape[:-2], keys.shape[-1], keys.shape[-2]).swapaxes(-1, -2)


class SplitByColumns(_OneOfHeads):
    """A projection split as (n, d, h): head k has every h-th column."""

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Operand) -> Array:
        heads: Array = args[0]
        joined = np.concatenate(list(np.moveaxis(heads, -3, 0)), axis=-1)
        *lead, count, rows, columns = heads.shape
        return np.moveaxis(joined.reshape(*lead, rows, columns, count), -1, -3)


class HeadsSummed(_OneOfHeads):
    """The sum of all heads, for each head."""

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Operand) -> Array:
        heads: Array = args[0]
        return np.broadcast_to(heads.sum(axis=-3, keepdims=True), heads.shape)


class HeadsTaken(_OneOfHeads):
    """For each head another one: `which` is its number from 0, made of that of the head."""

    which = Scalar()

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Operand) -> Array:
        heads, index, count, which = args
        taken = [int(which.subs(index, head)) for head in range(int(count))]
        return np.asarray(np.take(heads, taken, axis=-3))


class Interlaced(Node):
    """Rows whose columns before d/2 (or even ones) are of one matrix, the others of another."""

    first, second, interleaved = Matrix(), Matrix(), Flag(True)
    by_rows: ClassVar[float | None] = None

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """That of both."""
        return shape_of(self.first)

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Operand) -> Array:
        first, second, interleaved = args
        columns = np.arange(first.shape[-1])
        chosen = columns % 2 == 0 if interleaved else columns < first.shape[-1] // 2
        return arithmetic.where(chosen, first, second)
