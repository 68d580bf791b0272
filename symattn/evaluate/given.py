"""What a derivation is given: matrices read by letter, the sizes they tell, what has to fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import sympy

from symattn.arithmetic.base import Array
from symattn.arithmetic.exact import EXACT
from symattn.arithmetic.reading import read_matrix
from symattn.errors import NoSuchName, ShapeError, SymattnError, counted, nearest, quote
from symattn.nodes.heads import heads_in
from symattn.step import Input, Item, Step

#: A matrix as it is given: nested lists of numbers or texts, a NumPy array, a SymPy matrix.
Given: TypeAlias = Any


def read_given(
    inputs: Sequence[Input], given: Mapping[str, Given], sizes: Mapping[sympy.Symbol, int]
) -> dict[str, Array]:
    """What was given, by letter: arrays of numbers as they are, all else as exact entries."""
    names = [item.name for item in inputs]
    letters = {item.letter: item.name for item in inputs}
    given = {letters.get(name, name): value for name, value in given.items()}
    for name in given:
        if name not in names:
            raise NoSuchName(
                f"{quote(name)} is not an input of this derivation{nearest(name, names)}"
            )
    out: dict[str, Array] = {}
    for item in inputs:
        if item.name not in given:
            raise SymattnError(
                f"{item.name} is not given; this derivation needs {', '.join(names)}"
            )
        array = read_matrix(
            _levelled(given[item.name], item),
            item.name,
            levels=(2, 3, 4),
            infinite=item.logits,
            boolean=item.boolean,
        )
        if item.per_head and array.ndim == 2:
            count = item.heads(sizes)
            if not count:
                raise SymattnError(f"{item.name}: give one matrix for each head: [[[…]], [[…]]]")
            array = _split_heads(array, count, item.name)
        out[item.letter] = array
    return out


def _split_heads(value: Array, heads: int, name: str) -> Array:
    """(…, rows, heads · columns) as (…, heads, rows, columns): column block i is head i's."""
    columns = value.shape[-1]
    if columns % heads:
        raise SymattnError(
            f"{name}: {counted(columns, 'column')} cannot be shared evenly by {heads} heads; give "
            f"a multiple of {heads}, or one matrix for each head: [[[…]], [[…]]]"
        )
    return EXACT.heads_apart(value, heads)


def _levelled(value: Given, item: Item) -> Given:
    """A number, a row or a column that is given without the brackets of a matrix, with them."""
    rows, columns = item.shape
    if item.per_head or 1 not in (rows, columns):
        return value
    array = isinstance(value, np.ndarray)
    if (rows, columns) == (1, 1) and not (array and value.ndim) and not _is_listed(value):
        return [[value]]
    flat = value.ndim == 1 if array else _is_listed(value) and not any(map(_is_listed, value))
    if not flat:
        return value
    return [value] if rows == 1 else [[entry] for entry in value]


def _is_listed(value: object) -> bool:
    return isinstance(value, list | tuple) or getattr(value, "ndim", 0) > 0


def _check_batches(inputs: Sequence[Input], given: Mapping[str, Array]) -> None:
    """The leading axes (batches) of all given matrices must broadcast."""
    shape: tuple[int, ...] = ()
    for item in inputs:
        array = given[item.letter]
        own = array.shape[: array.ndim - 2 - item.per_head]
        try:
            shape = np.broadcast_shapes(shape, own)
        except ValueError:
            raise ShapeError(
                f"{item.name}: its leading axes {own} do not fit those of the others, {shape}; "
                "give equally many of each"
            ) from None


def _check_shared(inputs: Sequence[Input], given: Mapping[str, Array]) -> None:
    """Refuse a shared matrix with as many axes as one that each head of a batch has of its own."""
    for first in (item for item in inputs if item.batch and item.per_head):
        for item in inputs:
            if not item.per_head and given[item.letter].ndim - 2 > given[first.letter].ndim - 3:
                raise ShapeError(
                    f"{item.name}: all heads share it; leave the axis of the heads out, or give "
                    f"{first.name} as many leading axes"
                )


def _is_shared(item: Item, step: Step) -> bool:
    """Whether head i of a step reads the matrix of its group, ⌊i g/h⌋."""
    used = (part for part in heads_in(step.expr) if part.name == item.letter)
    return any(not isinstance(part.head, sympy.Symbol) for part in used)


def sizes_of(
    inputs: Sequence[Input],
    steps: Sequence[Step],
    given: Mapping[str, Array],
    sizes: Mapping[sympy.Symbol, int],
) -> dict[sympy.Symbol, int]:
    """Every size that the shapes of the given matrices tell.

    Raises `ShapeError` where two disagree, and where heads or batches do not fit one another.
    """
    known = dict(sizes)
    origin = dict.fromkeys(known, "the sizes given")
    for item in inputs:
        array = given[item.letter]
        sides = item.shape if item.count is None else (item.count, *item.shape)
        axes = [*zip(sides, array.shape[-len(sides) :], strict=True)]
        for size, count in (*axes[-2:], *axes[:-2]):
            expected = size.subs(known)
            unknown = expected.free_symbols
            if len(unknown) > 1:
                continue
            if unknown:
                (symbol,) = unknown
                factor, more = expected.coeff(symbol), int(expected.subs(symbol, 0))
                share, rest = divmod(count - more, int(factor))
                if rest or share < 1:
                    needed = f"{expected}" if more else f"a multiple of {factor}"
                    raise ShapeError(f"{item.name}: {count} rows or columns are not {needed}")
                known[symbol] = share
                origin[symbol] = item.name
            elif int(expected) != count:
                other = origin.get(size, "the rest")
                needed = " × ".join(str(side.subs(known)) for side in sides)
                found = " × ".join(map(str, array.shape[-len(sides) :]))
                raise ShapeError(
                    f"{item.name}: is {found}; because of {other} it has to be {needed} "
                    f"({size} = {expected})"
                )
    _check_groups((*inputs, *steps), known, origin)
    _check_batches(inputs, given)
    _check_shared(inputs, given)
    return known


def _check_groups(
    items: Sequence[Item], known: Mapping[sympy.Symbol, int], origin: Mapping[sympy.Symbol, str]
) -> None:
    """Every group of keys and values serves equally many heads."""
    by_letter = {item.letter: item for item in items}
    for step in (item for item in items if isinstance(item, Step)):
        for item in map(by_letter.__getitem__, step.operands):
            if item.count in (None, step.count) or not step.count or not _is_shared(item, step):
                continue
            heads, groups = step.heads(known), item.heads(known)
            if heads and groups and heads % groups:
                first, last = (origin.get(one.count, "the rest") for one in (step, item))
                raise ShapeError(
                    f"kv_heads: {counted(heads, 'head')} (because of {first}) cannot be shared "
                    f"evenly by {groups} (because of {last})"
                )
