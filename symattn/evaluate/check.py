"""NumPy's values compared with the proven ones, step by step.

The tolerance is not chosen: it is where `symattn.arithmetic.rounded` shows that floating point of
this dtype may end up for these sizes and these numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import arb, arb_mat
from numpy.typing import DTypeLike

from symattn.arithmetic.base import Array
from symattn.arithmetic.enclosure import is_minus_infinity, nearest
from symattn.notation.markdown import words
from symattn.notation.options import Notation, notation_of

#: The columns of a table of checks behind the names of the steps; the last has the verdict.
COLUMNS = ("shape", "largest error", "ulps", "at", "tolerance", "")


@dataclass(frozen=True)
class StepCheck:
    """How far NumPy is from the true value in one step.

    `error` is the largest absolute error and `ulps` the same in units in the last place of the
    dtype at that entry; `worst` is the entry (from 0). `failed` is the first entry that lies
    outside its bound, or None; `tolerance` is the bound of that one, else of the worst.
    `overflowed` says that every such entry is ∞ because the number does not fit into the dtype, or
    that one that the step is made of was: then the arrays show nothing about the formula.
    """

    name: str
    shape: tuple[int, ...]
    error: float
    ulps: float
    worst: tuple[int, ...]
    tolerance: float
    agrees: bool
    failed: tuple[int, ...] | None = None
    overflowed: bool = False

    def entry(self, index_base: int = 1) -> str:
        """The entry that failed, or the worst one, as a reader names it: weights[1,2]."""
        place = self.worst if self.failed is None else self.failed
        counted = ",".join(str(index + index_base) for index in place)
        return f"{self.name}[{counted}]" if place else self.name

    def cells(self, notation: Notation | None = None) -> tuple[str, ...]:
        """What a table says of the step under `COLUMNS`, as the reader counts."""
        notation = notation_of(notation)
        shape, worst = self.shape, self.worst if self.failed is None else self.failed
        if notation.convention == "columns":
            shape, worst = (*shape[:-2], *shape[:-3:-1]), (*worst[:-2], *worst[:-3:-1])
        place = f"[{','.join(str(i + notation.index_base) for i in worst)}]"
        return (
            " × ".join(map(str, shape)),
            _short(self.error),
            f"{self.ulps:.2f}" if self.ulps < 1000 else _short(self.ulps),
            place if self.error > 0 or self.failed else "",
            _short(self.tolerance),
            self._verdict,
        )

    @property
    def _verdict(self) -> str:
        if self.agrees:
            return "agrees"
        if self.overflowed:
            return "OVERFLOW"
        return "DIFFERS" if self.tolerance < math.inf else "NO BOUND"

    def __str__(self) -> str:
        if self.agrees:
            return f"{self.name}: agrees, at most {self.error:.2g} off"
        if self.overflowed:
            return f"{self.entry()}: the dtype overflowed; use a wider one"
        if math.isinf(self.tolerance):
            return f"{self.entry()}: rounding leaves no bound to compare it with"
        distance = f"{self.error:.2g} off at most, where {self.tolerance:.2g} is allowed"
        return f"{self.entry()}: disagrees, {distance}"


@dataclass(frozen=True, repr=False)
class Check:
    """The checks of all steps; true where all agree. It shows itself as a table."""

    dtype: str
    steps: tuple[StepCheck, ...]

    @property
    def agrees(self) -> bool:
        """Whether every step agrees."""
        return all(step.agrees for step in self.steps)

    @property
    def overflowed(self) -> bool:
        """Whether steps disagree only because numbers do not fit into the dtype.

        Then there is nothing to hold the proven values against, and nothing is shown to be wrong.
        """
        wrong = [step for step in self.steps if not step.agrees]
        return bool(wrong) and all(step.overflowed for step in wrong)

    def verdict(self, index_base: int = 1) -> str:
        """What the checks say together, in a sentence."""
        if self.overflowed:
            return self.overflow(index_base)
        agrees = "agrees with" if self.agrees else "does NOT agree with"
        return f"NumPy ({self.dtype}) {agrees} the proven values"

    def overflow(self, index_base: int = 1) -> str:
        """Where numbers overflow, in a line; empty if that is not why steps disagree."""
        first = self.first_wrong
        if first is None or not self.overflowed:
            return ""
        largest = float(np.finfo(self.dtype).max)
        return (
            f"overflows {self.dtype}: from {first.entry(index_base)} on, numbers above "
            f"{largest:.2g} become infinite, so that NumPy cannot be compared; the digits shown "
            "are proven"
        )

    @property
    def first_wrong(self) -> StepCheck | None:
        """The first step that does not agree."""
        return next((step for step in self.steps if not step.agrees), None)

    def __bool__(self) -> bool:
        return self.agrees

    @property
    def _table(self) -> list[tuple[str, ...]]:
        return [("step", *COLUMNS), *((step.name, *step.cells()) for step in self.steps)]

    def __repr__(self) -> str:
        wide = [max(map(len, column)) for column in zip(*self._table, strict=True)]
        return "\n".join([self.verdict(), *(_padded(row, wide) for row in self._table)])

    def _repr_markdown_(self) -> str:
        head, *rows = ([words(cell) for cell in row] for row in self._table)
        lines = (f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows))
        return "\n".join([words(self.verdict()), "", *lines])


def _padded(row: Sequence[str], wide: Sequence[int]) -> str:
    return "  ".join(cell.ljust(size) for cell, size in zip(row, wide, strict=True)).rstrip()


def _short(number: float) -> str:
    if number == 0 or not math.isfinite(number):
        return "0" if number == 0 else "inf" if math.isinf(number) else "-"
    return f"{number:.1e}"


def compare(name: str, array: Array, true: Array, allowed: Array, after: bool = False) -> StepCheck:
    """The check of one step: each entry of `array` has to lie in its `allowed` ball about `true`.

    `after` says that an operand of the step has overflowed.
    """
    if array.shape != true.shape:
        return StepCheck(name, array.shape, math.inf, math.inf, (), 0.0, False)
    numbers = [*map(float, array.ravel().tolist())]
    errors, inside = _held(numbers, [*true.flat], [*allowed.flat])
    largest = max(errors)
    worst = errors.index(largest)
    failed = [k for k, is_inside in enumerate(inside) if not is_inside]
    shown = failed[0] if failed else worst
    places = [tuple(map(int, np.unravel_index(k, array.shape))) for k in (worst, *failed[:1])]
    return StepCheck(
        name,
        array.shape,
        largest,
        _ulps(largest, true.flat[worst], array.dtype),
        places[0],
        _most(numbers[shown], true.flat[shown], allowed.flat[shown]),
        not failed,
        places[1] if failed else None,
        bool(failed) and (after or all(beyond(array.flat[k], true.flat[k]) for k in failed)),
    )


def beyond(value: np.floating, true: arb) -> bool:
    """Whether a float is ∞ because the true value does not fit into its dtype."""
    largest = arb(float(np.finfo(np.asarray(value).dtype).max))
    return bool(np.isinf(value) and true.is_finite() and not abs(true) < largest)


def distance(number: float, true: arb, allowed: arb) -> tuple[float, float, bool]:
    """|number − true|, the most that it may be, and whether the number lies in its ball.

    It is 0 where the one cannot be told from the other. A ball without bound contains everything
    and shows nothing.
    """
    value = float(number)
    return _error(value, true), _most(value, true, allowed), _lies(value, true, allowed)


def _held(
    values: Sequence[float], true: Sequence[arb], allowed: Sequence[arb]
) -> tuple[list[float], list[bool]]:
    """`_error` of each, and whether it lies in its ball; together, where all are finite."""
    if not (all(map(math.isfinite, values)) and all(map(arb.is_finite, (*true, *allowed)))):
        return [*map(_error, values, true)], [*map(_lies, values, true, allowed)]
    points, shape = [*map(arb, values)], (1, len(values))
    apart = (arb_mat(*shape, points) - arb_mat(*shape, true)).entries()
    errors = [0.0 if one.contains(0) else _upper(one) for one in apart]
    return errors, [*map(arb.contains, allowed, points)]


def _error(value: float, true: arb) -> float:
    if is_minus_infinity(true):
        return 0.0 if value == -math.inf else math.inf
    if not math.isfinite(value):
        return math.inf
    point = arb(value)
    return 0.0 if true.contains(point) else _upper(point - true)


def _most(value: float, true: arb, allowed: arb) -> float:
    if is_minus_infinity(true):
        return 0.0
    if not math.isfinite(value):
        return _upper(allowed.rad())
    return _upper(allowed.rad() + abs(allowed.mid() - true)) if allowed.is_finite() else math.inf


def _lies(value: float, true: arb, allowed: arb) -> bool:
    if is_minus_infinity(true):
        return value == -math.inf
    return math.isfinite(value) and allowed.is_finite() and allowed.contains(arb(value))


def _upper(x: arb) -> float:
    return nearest(x.abs_upper())


def _ulps(error: float, true: arb, dtype: DTypeLike) -> float:
    """Error / ulp(true), in units in the last place; NaN where `true` is 0, or may be."""
    if error and true.contains(0):
        return math.nan
    if error == 0 or math.isinf(error):
        return error
    with np.errstate(over="ignore"):
        near = np.asarray(nearest(abs(true))).astype(dtype)
    spacing = float(np.spacing(near)) if np.isfinite(near) else math.inf
    return error / spacing
