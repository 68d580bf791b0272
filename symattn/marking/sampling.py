"""Arrays that are too large to be judged entry by entry: some of their rows are.

All rows are compared with float64 first. Those that deviate most are judged, by their distance and
by their distance over the largest number of the row, so that what is wrong in one place only is
among them; the first and the last row, and both sides of the largest power of two, where blocks of
a program end; and some at random, always the same ones.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from symattn.arithmetic.base import Array
from symattn.arithmetic.reading import MAX_ENTRIES
from symattn.claims.computed import Computed
from symattn.derivations import Evaluation
from symattn.errors import ShapeError
from symattn.evaluate.sampled import Sampled
from symattn.marking.computed import ComputedMarker

#: How many rows of a matrix are judged because they deviate most, by each distance, and at random.
_FURTHEST, _AT_RANDOM = 2, 2


def marker_of(
    evaluation: Evaluation, arrays: Mapping[str, Computed], most: float = math.inf
) -> ComputedMarker:
    """Marks arrays by letter: all of them or, where that is too much work, some of their rows.

    That is so where a matrix on the way has more than `most` entries, too. Raises `SymattnError`
    where the rows are too large as well.
    """
    is_small = _is_small(evaluation, arrays, most)
    sample = None if is_small else sampled(evaluation, arrays)
    if sample is None:
        return ComputedMarker.of(evaluation, arrays)
    rows = {
        letter: replace(array, numbers=array.numbers[..., sample.rows_of(letter), :])
        for letter, array in arrays.items()
    }
    sample.check_sizes()
    return ComputedMarker.of(sample, rows)


def _is_small(evaluation: Evaluation, arrays: Mapping[str, Computed], most: float) -> bool:
    """Whether every entry that is claimed, and that it is made of, can be judged."""
    try:
        evaluation.check_sizes()
    except ShapeError:
        return False
    shapes = (evaluation.shape(step.letter) for step in evaluation.steps)
    if any(math.prod(shape) > most for shape in shapes):
        return False
    return sum(array.numbers.size for array in arrays.values()) <= MAX_ENTRIES


def sampled(evaluation: Evaluation, arrays: Mapping[str, Computed]) -> Sampled | None:
    """The rows that are judged; None where these are all."""
    found: dict[int, set[int]] = {}
    for letter, array in arrays.items():
        count = evaluation.shape(letter)[-2]
        rows = found.setdefault(count, set())
        for distances in _distances(array.numbers.astype(float), evaluation.array(letter)):
            rows |= {*np.argsort(-distances, kind="stable")[:_FURTHEST].tolist()}
    for count, rows in found.items():
        chosen = np.random.default_rng(count).permutation(count)[:_AT_RANDOM]
        rows |= {*chosen.tolist(), *_at_edges(count)}
    if all(len(rows) == count for count, rows in found.items()):
        return None
    claimed = {letter: array.numbers for letter, array in arrays.items()}
    return Sampled(evaluation, claimed, {n: np.array(sorted(x)) for n, x in found.items()})


def _at_edges(count: int) -> tuple[int, ...]:
    """The first row, the last, and those on both sides of the largest power of two below it."""
    last = count - 1
    block = 1 << max(last.bit_length() - 1, 0)
    return (0, block - 1, min(block, last), last)


def _distances(numbers: Array, near: Array) -> tuple[Array, Array]:
    """How far each row is off at most, in all heads; and the same over its largest number."""
    with np.errstate(all="ignore"):
        apart = np.abs(numbers - near)
        apart[(numbers == near) | np.isnan(numbers) & np.isnan(near)] = 0
        apart[np.isnan(apart)] = np.inf
        furthest = apart.max(axis=-1)
        sizes = np.where(np.isfinite(near), np.abs(near), 0).max(axis=-1)
        relative = np.where(furthest == 0, 0, furthest / sizes)
    axes = tuple(range(furthest.ndim - 1))
    return furthest.max(axis=axes), relative.max(axis=axes)
