"""How much work the values of a derivation are, from shapes, before any is computed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

import numpy as np

from symattn.arithmetic.base import Array
from symattn.arithmetic.counting import Counting, Kind, array_of, kind_of
from symattn.errors import CannotSpell, SymattnError
from symattn.evaluate.values import Values
from symattn.step import Input, Step


@dataclass(frozen=True)
class Work:
    """One matrix: its shape with heads and batches, and the scalar operations that it takes.

    `operations` are counted by the kind of numbers that come out; `kind` is that of its entries.
    """

    item: Input
    shape: tuple[int, ...]
    operations: Counter[Kind]
    kind: Kind

    @property
    def entries(self) -> int:
        """How many numbers it has, in all heads and batches."""
        return prod(self.shape)

    @property
    def terms(self) -> int:
        """How many operations an entry takes: about how long its worked line is."""
        return sum(self.operations.values()) // max(self.entries, 1)


def work_of(values: Values) -> tuple[Work, ...]:
    """The work of each matrix, in order. Raises `SymattnError` for a step that has no value here.

    A step whose formula cannot be followed over shapes is counted as one operation for each of the
    numbers in the longest row or column that it reads, for each number that it makes.
    """
    arrays: dict[str, Array] = {}
    found: list[Work] = []
    counting = Counting()
    for item in values.inputs:
        arrays[item.letter] = counting.array(values.given[item.letter])
        found.append(_work(item, arrays[item.letter], Counter()))
    for step in values.steps:
        counting = Counting()
        try:
            value = np.asarray(values.follow(step, arrays.__getitem__, counting))
        except (AttributeError, CannotSpell, IndexError, TypeError, ValueError) as error:
            if isinstance(error, SymattnError) and not isinstance(error, CannotSpell):
                raise  # it has no value in any arithmetic
            value = _unknown(values, step, arrays, counting)
        arrays[step.letter] = value
        found.append(_work(step, value, counting.operations))
    return tuple(found)


def _work(item: Input, value: Array, operations: Counter[Kind]) -> Work:
    return Work(item, value.shape, operations, kind_of(value))


def _unknown(values: Values, step: Step, arrays: Mapping[str, Array], counting: Counting) -> Array:
    """What a step makes whose formula asks for more than shapes: as much as a product would be."""
    rows, columns = (int(size.subs(values.sizes)) for size in step.shape)
    read = [arrays[letter] for letter in step.operands]
    lead = np.broadcast_shapes(*(x.shape[:-2] for x in read)) if step.per_head else values.batch
    made = array_of((*lead, rows, columns), Kind.TRANSCENDENTAL)
    longest = max((max(x.shape[-2:]) for x in read), default=1)
    counting.operations[Kind.TRANSCENDENTAL] += made.size * longest
    return made
