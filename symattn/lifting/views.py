"""What an operation that only moves numbers makes of a formula: by the places that they come from.

A transpose, a part, a view in another shape, the columns of all heads cut into those of each or
joined again: whatever a library calls it, it is done to the places 0, 1, 2, … of the array that it
is done to, and where these end up says what it was.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from symattn.lifting.runs import Recording
from symattn.lifting.said import ATOM, FAMILIES, PRODUCT, Said, Unsaid


def viewed(one: Said, shape: Sequence[int], places: npt.NDArray[Any], run: Recording) -> Said:
    """The formula of an array whose numbers come from these places of one of that shape.

    Raises `Unsaid` for places that are no part, transpose or view in another shape.
    """
    if not places.size:
        raise _no_part()
    return _View(one, shape, places, run).formula()


@dataclass(frozen=True)
class _Step:
    """An axis that is made: its length, how far its numbers lie apart, how often each stands."""

    axis: int
    length: int
    apart: int
    times: int = 1

    @property
    def count(self) -> int:
        """How many numbers it goes through."""
        return self.length // self.times


class _View:
    """The array that others are made of, and what is taken of each of its axes."""

    def __init__(
        self, one: Said, shape: Sequence[int], places: npt.NDArray[Any], run: Recording
    ) -> None:
        self.one, self.shape, self.run = one, (*shape,), run
        #: The axes that are made, and what each runs along, as that is found.
        self.steps = _steps(places)
        self.labels = [""] * len(self.steps)
        #: How far apart the numbers along each axis lie, and where what is taken of it begins.
        self.apart = [math.prod(self.shape[axis + 1 :]) for axis in range(len(self.shape))]
        self.starts = [
            int(places.flat[0]) // apart % size
            for apart, size in zip(self.apart, self.shape, strict=True)
        ]

    def formula(self) -> Said:
        """The formula, its parts taken, its heads cut apart or joined."""
        made = self.one
        of: dict[int, list[_Step]] = {axis: [] for axis in range(len(self.shape))}
        for step in sorted(self.steps, key=lambda one: -one.apart):
            if step.length > 1 and step.apart:
                of[self._axis_at(step.apart)].append(step)
        joined = {
            axis: first for axis, group in of.items() for first in self._first_joined(axis, group)
        }
        covered = {axis for last, first in joined.items() for axis in range(first, last)}
        if any(of[axis] for axis in covered):
            raise _no_part()
        for axis, group in of.items():
            if axis in joined:
                made, self.labels[group[0].axis] = self._joined(made, joined[axis], axis)
            elif axis not in covered:
                made = self._taken(made, axis, group)
        return replace(made, axes=tuple(self.labels))

    def _axis_at(self, apart: int) -> int:
        """The axis along which numbers lie so far apart."""
        for axis, own in enumerate(self.apart):
            if own <= apart and self.shape[axis] > 1:
                return axis
        raise _no_part()

    def _first_joined(self, axis: int, group: Sequence[_Step]) -> list[int]:
        """The first of the axes that are one with this, where it goes on beyond its own length."""
        if len(group) != 1 or group[0].apart != self.apart[axis]:
            return []
        within, first = self.shape[axis], axis
        if self.starts[axis] + group[0].count <= within:
            return []
        while within < group[0].count and first > 0:
            first -= 1
            within *= self.shape[first]
        if within != group[0].count or group[0].times > 1 or any(self.starts[first : axis + 1]):
            raise _no_part()
        return [first]

    def _joined(self, made: Said, first: int, last: int) -> tuple[Said, str]:
        """Axes of which one is made: those of the heads and their columns (or rows)."""
        labels = [label for label in self.one.axes[first : last + 1] if label]
        match labels:
            case [] | [_]:
                return made, "".join(labels)
            case [index, "j"] if index in FAMILIES:
                return replace(made, text=f"concat_{index}({made.text})", level=ATOM), "j"
            case [index, "i"] if index in FAMILIES:
                text = f"concat_{index}({made.turned.text})^T"
                return replace(made, text=text, level=ATOM), "i"
        raise Unsaid("axes joined in an order that has no formula; heads go before their columns")

    def _taken(self, made: Said, axis: int, group: Sequence[_Step]) -> Said:
        """What is taken of one axis: all, a part, or the share of each head."""
        along, start = self.one.axes[axis], self.starts[axis]
        widths = [step.apart // self.apart[axis] for step in group]
        if any(step.apart % self.apart[axis] for step in group):
            raise _no_part()
        if not group or (len(group) == 1 and widths == [1]):
            length = group[0].count if group else 1
            if along in FAMILIES:
                return self._heads(made, along, axis, group)
            if any(step.times > 1 for step in group):
                raise _no_part()
            for step in group:
                self.labels[step.axis] = along
            if not group and along and self.shape[axis] > 1:
                return _one(made, along, start + 1)
            return self._part(made, along, start, length, self.shape[axis])
        if len(group) != 2 or widths[1] != 1 or along in (*FAMILIES, "") or group[1].times > 1:
            raise _no_part()
        if group[0].times > 1:
            raise Unsaid("heads that are repeated; name each head's matrix before")
        self.labels[group[1].axis] = along
        return self._shared(made, axis, group[0], group[1])

    def _shared(self, made: Said, axis: int, heads: _Step, share: _Step) -> Said:
        """Rows or columns of all heads cut into those of each, or a part of those."""
        along, start = self.one.axes[axis], self.starts[axis]
        width = heads.apart // self.apart[axis]
        inner = start % width if share.length < width else 0
        index = self.labels[heads.axis] = self.run.index(heads.count)
        of_each = re.fullmatch(rf"(.* )?concat_{index}\((\w+\[{index}\])\)", made.text)
        whole = heads.count * share.length == self.shape[axis]
        if of_each and along == "j" and made.level >= PRODUCT and whole:
            return replace(made, text=f"{of_each[1] or ''}{of_each[2]}")  # joined before
        made = self._part(made, along, start - inner, heads.count * width, self.shape[axis])
        said = self.run.number(width).within(ATOM)
        made = _cut(made, along, f"({index}-1)*{said} + 1 : {index}*{said}")
        return self._part(made, along, inner, share.length, width)

    def _heads(self, made: Said, index: str, axis: int, group: Sequence[_Step]) -> Said:
        """All heads, one of them, or those of groups for each of their heads."""
        whole = bool(group) and group[0].count == self.shape[axis]
        letter = made.text.removesuffix(f"[{index}]")
        if whole and group[0].times == 1:
            self.labels[group[0].axis] = index
            return made
        if letter == made.text or (group and not whole):
            raise Unsaid("some of the heads; all of them, or one, have a formula")
        if not group:
            return replace(made, text=f"{letter}[{self.starts[axis] + 1}]")
        self.labels[group[0].axis] = self.run.index(group[0].length)
        return replace(made, text=f"{letter}[group({self.labels[group[0].axis]})]")

    def _part(self, made: Said, along: str, start: int, length: int, size: int) -> Said:
        """Rows or columns from … to …, where these are not all."""
        if length == size or not along:
            return made
        said = [self.run.number(place).text for place in (start, start + length)]
        first = str(start + 1) if said[0] == str(start) else f"{said[0]} + 1"
        span = f"{first if start else ''}:{said[1] if start + length < size else ''}"
        return _cut(made, along, span)


def _one(made: Said, along: str, place: int) -> Said:
    """A row or a column of a matrix, or an entry of a row; its number tells it from others."""
    if along == "i":
        letter = re.fullmatch(r"\w+", made.text)
        text = f"{made.text}[{place}]" if letter else _span(made, f"{place}, :")
    else:
        row = re.fullmatch(r"(\w+\[\d+)\]", made.text)
        text = f"{row[1]}, {place}]" if row else _span(made, f":, {place}")
    return replace(made, text=text, level=ATOM)


def _cut(made: Said, along: str, span: str) -> Said:
    """Rows or columns of a matrix."""
    text = _span(made, f":, {span}" if along == "j" else f"{span}, :")
    return replace(made, text=text, level=ATOM)


def _span(made: Said, where: str) -> str:
    return f"{made.within(ATOM)}[{where}]"


def _steps(places: npt.NDArray[Any]) -> list[_Step]:
    """How far apart the places along each axis are. Raises `Unsaid` where they are not even."""
    found = []
    for axis, size in enumerate(places.shape):
        line = np.moveaxis(places, axis, 0).reshape(size, -1)
        own = line[:, 0] - line[0, 0]
        if ((line - line[0]) != own[:, None]).any():
            raise _no_part()
        new = np.flatnonzero(np.diff(own)) + 1
        times = int(new[0]) if new.size else size
        apart = int(own[times]) if new.size else 0
        if apart < 0 or (own != np.arange(size) // times * apart).any():
            raise _no_part()
        found.append(_Step(axis, size, apart, times if apart else 1))
    return found


def _no_part() -> Unsaid:
    return Unsaid(
        "a part of an array by these indices; rows and columns from … to …, and heads cut apart or "
        "joined, have a formula"
    )
