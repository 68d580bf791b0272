"""What worksheets of one form share: made once, used for every sheet of a pile."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from symattn.derivation import Derivation, Evaluation
from symattn.worksheet.misconceptions.explanations import Explainer
from symattn.worksheet.reading.worksheet import Worksheet


@dataclass(frozen=True)
class _Form:
    """What the derivation of a worksheet depends on: the spec, and the shapes of what is given."""

    told: tuple[Any, ...]
    sheet: Worksheet = field(compare=False)


class Prepared:
    """A form's derivation, a first evaluation of it, and what tries misconceptions on it."""

    def __init__(self, sheet: Worksheet) -> None:
        self.derivation: Derivation = sheet.derivation()
        self._first: Evaluation = sheet.evaluate(self.derivation)

    def evaluate(self, sheet: Worksheet) -> Evaluation:
        """The derivation with a sheet's numbers, shown in its notation."""
        return self._first.again(**sheet.numbers).spelled(sheet.notation)

    @cached_property
    def explainer(self) -> Explainer:
        """Tries misconceptions on sheets of this form."""
        return Explainer(self.derivation, self._first.of_batch(*(0 for _ in self._first.batch)))


def prepared(sheet: Worksheet) -> Prepared:
    """What the sheet shares with others of its form."""
    shapes = tuple((name, _shape(value)) for name, value in sheet.given.items())
    spec = tuple(_frozen(value) for value in vars(sheet.spec).values())
    start = tuple((name, _shape(value)) for name, value in sheet.upstream.items())
    told = (
        spec,
        shapes,
        _frozen(sheet.sizes),
        _frozen(sheet.labels),
        sheet.wrt,
        start,
        sheet.batch,
    )
    return _prepared(_Form(told, sheet))


@lru_cache(maxsize=32)
def _prepared(form: _Form) -> Prepared:
    return Prepared(form.sheet)


def _frozen(value: Any) -> Any:
    """A choice of the spec as something that can be looked up."""
    if isinstance(value, dict):
        return tuple((key, _frozen(part)) for key, part in value.items())
    if isinstance(value, list | tuple):
        return tuple(map(_frozen, value))
    return type(value), value  # True is not 1


def _shape(value: Any) -> tuple[int, ...]:
    if isinstance(value, np.ndarray):  # from a file, too large for nested lists
        return tuple(value.shape)
    shape: list[int] = []
    while isinstance(value, list | tuple):
        shape.append(len(value))
        value = value[0] if value else None
    return tuple(shape)
