"""The cost of a derivation's values, from shapes, before any is computed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

import numpy as np

from symattn.arithmetic.base import Array
from symattn.arithmetic.counting import Counting, array_of, kind_of
from symattn.arithmetic.functions import Kind
from symattn.budget import admit, is_limited
from symattn.errors import CannotSpell, SymattnError
from symattn.evaluate.values import Values
from symattn.step import Item, Step


@dataclass(frozen=True)
class Work:
    """One matrix: its shape with heads and batches, and the scalar operations that it takes.

    `operations` are counted by the kind of numbers that come out; `kind` is that of its entries.
    `longest` is how many terms the longest sum on the way to an entry has.
    """

    item: Item
    shape: tuple[int, ...]
    operations: Counter[Kind]
    kind: Kind
    longest: int

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
    values.check_sizes()
    arrays: dict[str, Array] = {}
    found: list[Work] = []
    counting = Counting()
    for item in values.inputs:
        arrays[item.letter] = counting.array(values.given[item.letter])
        found.append(_work(item, arrays[item.letter], Counting()))
    for step in values.steps:
        counting = Counting()
        try:
            value = np.asarray(values.follow(step, arrays.__getitem__, counting))
        except (AttributeError, CannotSpell, IndexError, TypeError, ValueError) as error:
            if isinstance(error, SymattnError) and not isinstance(error, CannotSpell):
                raise  # it has no value in any arithmetic
            value = _unknown(values, step, arrays, counting)
        arrays[step.letter] = value
        found.append(_work(step, value, counting))
    return tuple(found)


def _work(item: Item, value: Array, counting: Counting) -> Work:
    return Work(item, value.shape, counting.operations, kind_of(value), counting.longest)


def _unknown(values: Values, step: Step, arrays: Mapping[str, Array], counting: Counting) -> Array:
    """A step whose formula cannot be followed over shapes, counted as a matrix product."""
    rows, columns = (int(size.subs(values.sizes)) for size in step.shape)
    read = [arrays[letter] for letter in step.operands]
    lead = np.broadcast_shapes(*(x.shape[:-2] for x in read)) if step.per_head else values.batch
    value = array_of((*lead, rows, columns), Kind.TRANSCENDENTAL)
    longest = max((max(x.shape[-2:]) for x in read), default=1)
    counting.operations[Kind.TRANSCENDENTAL] += value.size * longest
    counting.longest = longest
    return value


def proven_operations(work: Work, checked: bool) -> float:
    """The cost of a matrix's enclosures, in operations of `symattn.budget`.

    With `checked`, what NumPy may have rounded away is enclosed too.
    """
    operations = sum(work.operations.values())
    once = _ENTRY * work.entries + _BALL * operations
    return once * (1 + _CHECKED * checked)


def exact_operations(work: Work, shortened: bool = False) -> float:
    """The cost of a matrix's exact values, in operations of `symattn.budget`.

    `shortened`: they are kept as abbreviations, and opened only where a digit needs them.
    """
    costs = _SHORTENED if shortened else _EXACT
    return sum(costs[kind] * count for kind, count in work.operations.items())


def admit_values(
    values: Values, claimed: int = 0, explained: bool = False, quoted: int = 0, lines: int = 0
) -> None:
    """Refuse values, and `claimed` numbers held against them, that would be too much work.

    So many others are `quoted` in prose, or end worked `lines` there. `explained`: mistakes are
    looked for behind the numbers. Raises `TooLarge`.
    """
    if not is_limited():
        return
    works = work_of(values)
    once = sum(proven_operations(work, checked=True) for work in works)
    marking = claimed * _CLAIM + quoted * _QUOTED + lines * _LINE
    claimed += quoted + lines
    tries = _TRIES if explained and claimed else 1
    advice = (
        "give fewer tokens or heads, or claim fewer numbers" if claimed else "give fewer tokens"
    )
    most = max(works, key=lambda work: proven_operations(work, checked=True)).item.name
    what = f"{claimed or 'proven'} numbers, above all of {most}"
    admit(int(once * tries) + marking + _SHEET, what, lambda: advice)


#: An entry in proven digits, and each operation in it; how much more the check takes.
_ENTRY, _BALL, _CHECKED = 5, 0.3, 2

#: An operation in exact arithmetic, by the kind of number that comes out. Of the others than
#: fractions it is between a third of this and five times as much, as terms are alike or not.
_EXACT: Mapping[Kind, float] = {
    Kind.RATIONAL: 2,
    Kind.IRRATIONAL: 100,
    Kind.TRANSCENDENTAL: 300,
}

#: The same over abbreviations, which hide all powers of e but not the sums of sines.
_SHORTENED: Mapping[Kind, float] = {
    Kind.RATIONAL: 2,
    Kind.IRRATIONAL: 3,
    Kind.TRANSCENDENTAL: 300,
}

#: A claimed number; how often everything is evaluated again to explain one that is wrong.
_CLAIM, _TRIES = 200, 4

#: A claimed number in prose, one that ends a worked line there, and a worksheet by itself.
_QUOTED, _LINE, _SHEET = 1_000, 5_000, 50_000
