"""Exercises: what worksheets with the same attention and the same shapes share.

A pile of answers to one exercise is marked with one derivation and one `Explainer`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np

from symattn.derivation import Derivation, Evaluation, Given
from symattn.worksheet.misconceptions.explanations import Explainer
from symattn.worksheet.reading.worksheet import Worksheet


class Exercise:
    """A derivation, a first evaluation of it, and what tries misconceptions on it."""

    def __init__(self, sheet: Worksheet) -> None:
        self.derivation: Derivation = sheet.derivation()
        self._first: Evaluation = sheet.evaluate(self.derivation)

    def evaluate(self, sheet: Worksheet) -> Evaluation:
        """The derivation with a sheet's numbers, in the sheet's notation."""
        return self._first.again(**sheet.numbers).spelled(sheet.notation)

    @cached_property
    def explainer(self) -> Explainer:
        """Tries misconceptions on answers to this exercise."""
        return Explainer(self.derivation, self._first.of_batch(*(0 for _ in self._first.batch)))


@dataclass(frozen=True)
class _Key:
    """What a worksheet's derivation depends on, and a sheet from which that is made."""

    facts: tuple[object, ...]
    sheet: Worksheet = field(compare=False)


def exercise_of(sheet: Worksheet) -> Exercise:
    """The exercise that a sheet answers: one for all sheets of the same spec and shapes."""
    facts = (
        tuple(_hashable(value) for value in vars(sheet.spec).values()),
        tuple((name, _shape(value)) for name, value in sheet.given.items()),
        _hashable(sheet.sizes),
        _hashable(sheet.labels),
        sheet.wrt,
        tuple((name, _shape(value)) for name, value in sheet.upstream.items()),
        sheet.batch,
    )
    return _exercise(_Key(facts, sheet))


@lru_cache(maxsize=32)
def _exercise(key: _Key) -> Exercise:
    return Exercise(key.sheet)


def _hashable(value: object) -> object:
    """A choice of the spec as tuples, with the types: ``True`` is not ``1``."""
    if isinstance(value, dict):
        return tuple((key, _hashable(part)) for key, part in value.items())
    if isinstance(value, list | tuple):
        return tuple(map(_hashable, value))
    return type(value), value


def _shape(value: Given) -> tuple[int, ...]:
    """The lengths of nested lists, or the shape of an array that a file holds."""
    if isinstance(value, np.ndarray):
        return tuple(value.shape)
    shape: list[int] = []
    while isinstance(value, list | tuple):
        shape.append(len(value))
        value = value[0] if value else None
    return tuple(shape)
