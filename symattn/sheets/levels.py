"""What the levels of brackets around a given matrix mean: rows, heads, and the items of a batch.

A matrix has two levels; one for each head has three. One level more is a batch: calculations of
the same shape with numbers of their own, (batch, head,) row, column. A matrix without that level
is shared by all of them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from symattn.arithmetic.reading import depth
from symattn.attention.vocabulary import is_learned
from symattn.derivations import Given
from symattn.errors import ReadError, counted, quote
from symattn.files.named import LIMITS

_MASKS = ("allowed", "mask")


@dataclass(frozen=True)
class Levels:
    """How many heads and items of a batch there are, and which matrices have one for each item.

    `heads` as the spec takes it; `batch` is None for one calculation.
    """

    heads: object
    batch: int | None = None
    items: frozenset[str] = frozenset()

    def per_head(self, name: str, value: Given) -> bool:
        """Whether a matrix has one for each head, by its brackets."""
        return depth(value) - (name in self.items) == 3


def levels_of(
    heads: object, batch: object, given: Mapping[str, Given], one_for_all: Collection[str]
) -> Levels:
    """The heads and the batch that were said, or that the brackets of what is given tell.

    Three levels of a matrix that heads may have are heads, unless a batch was said and there are
    no heads. Raises `ReadError` where the brackets do not fit one another.
    """
    if batch is not None and (
        isinstance(batch, bool) or not isinstance(batch, int) or not 1 <= batch <= LIMITS.items
    ):
        raise ReadError(f"batch = {quote(batch)}: give a whole number from 1 to {LIMITS.items}")
    items = _items(heads, batch, given, one_for_all)
    count = _checked(batch, items, given)
    return Levels(_heads(heads, given, one_for_all, items), count, items)


def _items(
    heads: object, batch: int | None, given: Mapping[str, Given], one_for_all: Collection[str]
) -> frozenset[str]:
    """The matrices with one for each item of a batch."""
    levels = {name: depth(value) for name, value in given.items()}
    data = [name for name in given if not is_learned(name) and name not in _MASKS]
    of_heads = [name for name in data if name not in one_for_all]
    for name in given:
        if levels[name] > 3 and is_learned(name):
            raise ReadError(f"{name}: all items of a batch share it; remove the outer brackets")
        if levels[name] > 3 and name in one_for_all and name not in _MASKS:
            raise ReadError(
                f"{name}: has {levels[name]} levels of brackets; it needs 2, or 3 in a batch: "
                "one matrix for each item, whatever the heads"
            )
    items = {name for name in data if levels[name] == (3 if name in one_for_all else 4)}
    headed = heads is not None or any(
        levels[name] == 4 or (levels[name] == 3 and (batch is None or name not in data))
        for name in given
        if name not in one_for_all and name not in _MASKS
    )
    if batch is not None and not headed:
        items |= {name for name in of_heads if levels[name] == 3}
    of_each = [name for name in given if name not in one_for_all]
    count = heads if isinstance(heads, int) else _head_count(given, of_each, items)
    if batch is not None and headed and not items:
        for name in of_heads:
            if levels[name] == 3 and len(given[name]) == batch != count:
                raise ReadError(
                    f"{name}: is given for each item of the batch, but not for each head; give "
                    "four levels of brackets: batch, head, row, column"
                )
    there = batch is not None or bool(items)
    for name in (name for name in _MASKS if name in given):
        own = there and (not headed or len(given[name]) != count)
        if levels[name] == 4 or (levels[name] == 3 and own):
            items.add(name)
    return frozenset(items)


def _head_count(
    given: Mapping[str, Given], names: Collection[str], items: Collection[str]
) -> int | None:
    """How many heads the first of these matrices has that has any; None where none has."""
    for name in names:
        if depth(given[name]) - (name in items) == 3:
            return len(given[name][0] if name in items else given[name])
    return None


def _checked(batch: int | None, items: Collection[str], given: Mapping[str, Given]) -> int | None:
    """The number of items, which is the same for every matrix that has one for each."""
    origin = f"batch = {batch}"
    count = batch
    for name in (name for name in given if name in items):
        own = len(given[name])
        if count is None:
            count, origin = own, name
        if own != count:
            raise ReadError(
                f"{name}: has {counted(own, 'item')} of a batch where there are {count}, because "
                f"of {origin}; give as many, or leave the outer brackets out if all items share it"
            )
    if batch is not None and not items:
        like = next((n for n in given if not is_learned(n)), "X")
        raise ReadError(
            f"batch = {batch}: nothing is given for each item of the batch; put one more level of "
            f"brackets around e.g. {like}: batch, head if there are heads, row, column"
        )
    return count


def _heads(
    heads: object, given: Mapping[str, Given], one_for_all: Collection[str], items: Collection[str]
) -> object:
    """How many heads: as said, or as many as a level of brackets between batch and rows holds."""
    levels = {name: depth(value) - (name in items) for name, value in given.items()}
    deep = [name for name in given if levels[name] == 3]
    shared = [name for name in deep if name in one_for_all and name not in _MASKS]
    if shared:
        number = "three" if shared[0] not in items else "four"
        raise ReadError(
            f"{shared[0]}: {number} levels of brackets, but all heads share {shared[0]}"
        )
    if heads not in (None, "h"):
        return heads
    deep = [name for name in deep if name not in _MASKS] or deep
    if not deep:
        if heads == "h":
            raise ReadError("heads: say how many, or give one matrix for each head")
        return None
    first, count = deep[0], _head_count(given, deep, items)
    for name in given:
        if name not in deep and name not in one_for_all and levels[name] == 2:
            raise ReadError(
                f"{name}: {first} is given for each head, {name} is not; give a matrix for each "
                f"head, or say heads = {count} if its columns hold all heads"
                + ("" if first in items else f", or batch = {count} if {first} is for each item")
            )
    return count


def item_of(given: Mapping[str, Given], items: Collection[str], index: int) -> dict[str, Given]:
    """What is given for one item of a batch, counted from 0, with what all items share."""
    out = {name: value[index] if name in items else value for name, value in given.items()}
    return {name: x.copy() if isinstance(x, np.ndarray) else x for name, x in out.items()}
