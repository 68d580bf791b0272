"""How an operand is taken from the lines of a program, read off its references.

An array of references says of each entry which line and which place of it (from 0, rows first) it
is. `view` finds the plainest expression that gives the same references; each candidate is carried
out and compared, so that an expression is right or is not proposed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symattn.errors import CannotSpell

Codes = NDArray[np.int64]

#: A reference is ``line · PLACES + place``, with a minus before it for minus the entry.
PLACES = 2**40


@dataclass(frozen=True, eq=False)
class View:
    """An expression over lines: `kind` names what is done to the `parts` (or to a `line`).

    - ``line``: the line itself; ``negative``: minus the part
    - ``transpose``: the last two axes exchanged; ``index``: ``details`` is an int, None or
      (start, stop, step) for each axis of the part
    - ``take``: details = (axis, indices); ``reshape``: to the shape; ``broadcast``: to the shape
    - ``repeat``: details = (axis, times); each slice so many times
    - ``along``: in each row of the last axis the places of a table, which details holds
    - ``spread``: the last axis becomes two, by a table of places
    - ``permute``: the axes in the order of the details
    - ``heads``: the last three axes (h, n, d) as (n, h · d); ``apart``: the other way round
    - ``join``: details = axis; ``interleave``: two parts in turn along the last axis
    - ``gather``: details = places in the parts one after the other, each read in rows
    """

    kind: str
    shape: tuple[int, ...]
    parts: tuple[View, ...] = ()
    line: int = 0
    details: Any = None

    @property
    def lines(self) -> set[int]:
        """The lines that are read."""
        return {self.line} if self.kind == "line" else set().union(*(p.lines for p in self.parts))


def view(codes: Codes, shapes: Mapping[int, tuple[int, ...]]) -> View:
    """The expression that gives these references; `shapes` are those of the lines so far."""
    if codes.size == 0:
        raise CannotSpell("an empty matrix has no program here")
    if (codes < 0).all():
        return View("negative", codes.shape, (view(-codes, shapes),))
    if (codes < 0).any():
        raise CannotSpell("a matrix of entries and of negated entries has no program here")
    used = np.flatnonzero(np.bincount((codes // PLACES).ravel()))
    if len(used) > 1:
        return _of_many(codes, shapes, used)
    number = int(used[0])
    line = View("line", shapes[number], line=number)
    places = codes % PLACES
    return next(found for found in _candidates(line, places) if _carried_out(found, places))


def _carried_out(found: View, places: Codes) -> bool:
    """Whether a candidate gives these places; one that cannot even be carried out does not."""
    try:
        return found.shape == places.shape and np.array_equal(evaluated(found), places)
    except (ValueError, IndexError):
        return False


def evaluated(found: View) -> Codes:
    """The places of a single line that an expression takes, by doing what it says."""
    if found.kind == "line":
        return np.arange(int(np.prod(found.shape))).reshape(found.shape)
    inner = evaluated(found.parts[0])
    match found.kind:
        case "transpose":
            return np.swapaxes(inner, -1, -2)
        case "index":
            parts = (slice(*part) if isinstance(part, tuple) else part for part in found.details)
            return np.asarray(inner[tuple(parts)])
        case "take":
            axis, indices = found.details
            return np.asarray(np.take(inner, indices, axis=axis))
        case "repeat":
            axis, times = found.details
            return np.repeat(inner, times, axis=axis)
        case "along":
            return np.take_along_axis(inner, np.broadcast_to(found.details, found.shape), axis=-1)
        case "spread":
            return np.asarray(inner[..., found.details])
        case "reshape":
            return inner.reshape(found.shape)
        case "broadcast":
            return np.broadcast_to(inner, found.shape)
        case "permute":
            return np.transpose(inner, found.details)
        case "apart":
            *lead, heads, rows, columns = found.shape
            return np.moveaxis(inner.reshape(*lead, rows, heads, columns), -2, -3)
        case "heads":
            return np.moveaxis(inner, -3, -2).reshape(found.shape)
    return np.asarray(inner.ravel()[found.details])


def _candidates(line: View, places: Codes) -> Iterator[View]:
    """Expressions over one line, the plainest first; the last one always fits."""
    shape = places.shape
    yield line
    if len(line.shape) >= 2:
        yield View("transpose", (*line.shape[:-2], line.shape[-1], line.shape[-2]), (line,))
    yield from _indexed(line, places)
    if len(line.shape) == len(shape):
        for axis in range(len(shape)):
            yield from _taken(line, places, axis)
            if axis < len(shape) - 2:
                for taken in _taken(line, np.swapaxes(places, -1, -2), axis):
                    yield View("transpose", shape, (taken,))
        for order in permutations(range(len(shape))):
            size = tuple(line.shape[axis] for axis in order)
            yield View("permute", size, (line,), details=order)
    if len(line.shape) >= 3:
        *lead, heads, rows, columns = line.shape
        yield View("heads", (*lead, rows, heads * columns), (line,))
    if len(shape) >= 3 and line.shape == (*shape[:-3], shape[-2], shape[-3] * shape[-1]):
        yield View("apart", shape, (line,))
    if int(np.prod(line.shape)) == places.size:
        yield View("reshape", shape, (line,))
    yield from _tabled(line, places)
    yield View("gather", shape, (line,), details=places)


def _tabled(line: View, places: Codes) -> Iterator[View]:
    """The same table of places for every block: within its own rows, or over its last axis."""
    shape = places.shape
    if len(line.shape) < 1 or len(shape) < 2:
        return
    table = places.reshape(-1, *shape[-2:])[0] % line.shape[-1]
    if len(line.shape) == len(shape) and line.shape[:-1] == shape[:-1]:
        yield View("along", shape, (line,), details=table)
    if line.shape[:-1] == shape[:-2]:
        yield View("spread", shape, (line,), details=table)
    whole = [(0, size, 1) for size in line.shape]
    if len(line.shape) > 1 and line.shape[-1] == 1:  # a column, read as a row
        column = View("index", line.shape[:-1], (line,), details=(*whole[:-1], 0))
        yield from _tabled(column, places)
    elif len(line.shape) > 1 and line.shape[0] == 1:  # the only one of its kind
        only = View("index", line.shape[1:], (line,), details=(0, *whole[1:]))
        yield from _tabled(only, places)


def _taken(line: View, places: Codes, axis: int) -> Iterator[View]:
    """Whole slices along one axis, in any order: the keys that each query head uses."""
    stride = int(np.prod(line.shape[axis + 1 :]))
    first = np.moveaxis(places, axis, 0).reshape(places.shape[axis], -1)[:, 0]
    indices = tuple(int(place) for place in first // stride % line.shape[axis])
    if places.shape != (*line.shape[:axis], len(indices), *line.shape[axis + 1 :]):
        return
    times, left = divmod(len(indices), line.shape[axis])
    if times > 1 and not left and indices == tuple(k // times for k in range(len(indices))):
        yield View("repeat", places.shape, (line,), details=(axis, times))
    yield View("take", places.shape, (line,), details=(axis, indices))


def _indexed(line: View, places: Codes) -> Iterator[View]:
    """Slices of each axis, new axes, the last two exchanged, broadcasting: what strides can say."""
    shape = places.shape
    offset = int(places.flat[0])
    strides = []
    for axis, size in enumerate(shape):
        corner = tuple(int(axis == other) for other in range(len(shape)))
        strides.append(int(places[corner]) - offset if size > 1 else 0)
    start = list(np.unravel_index(offset, line.shape)) if line.shape else []
    steps = [int(np.prod(line.shape[axis + 1 :])) for axis in range(len(line.shape))]
    from_axis: list[int | None] = []
    free = set(range(len(line.shape)))
    for size, stride in zip(shape, strides, strict=True):
        fits = [
            axis
            for axis in sorted(free)
            if stride
            and stride % steps[axis] == 0
            and start[axis] + (size - 1) * (stride // steps[axis]) < line.shape[axis]
        ]
        from_axis.append(fits[0] if fits else None)
        free -= set(fits[:1])
    for place, size in enumerate(shape):  # an axis of length 1 is kept rather than made anew
        after = [axis for axis in from_axis[:place] if axis is not None]
        before = [axis for axis in from_axis[place + 1 :] if axis is not None]
        kept = [
            axis
            for axis in sorted(free)
            if axis > max(after, default=-1) and axis < min(before, default=len(line.shape))
        ]
        if size == 1 and from_axis[place] is None and kept:
            from_axis[place] = kept[-1]
            free.discard(kept[-1])
    if not _ascends(from_axis):  # then perhaps with the last two axes exchanged
        last = len(steps) - 1
        swap = {last: last - 1, last - 1: last}
        from_axis = [None if axis is None else swap.get(axis, axis) for axis in from_axis]
        if not _ascends(from_axis):
            return
        line = View("transpose", (*line.shape[:-2], line.shape[-1], line.shape[-2]), (line,))
        start[-2:], steps[-2:] = start[-2:][::-1], steps[-2:][::-1]
    details: list[Any] = []
    narrow: list[int] = []
    source = 0
    for place, found in enumerate(from_axis):
        if found is None:
            details.append(None)
            narrow.append(1)
            continue
        details += [int(start[axis]) for axis in range(source, found)]
        step = strides[place] // steps[found] or 1
        stop = int(start[found]) + (shape[place] - 1) * step + 1
        details.append((int(start[found]), stop, step))
        narrow.append(shape[place])
        source = found + 1
    details += [int(start[axis]) for axis in range(source, len(steps))]
    whole = all(part == (0, size, 1) for part, size in zip(details, line.shape, strict=False))
    picked = line
    if not whole or len(details) != len(line.shape):
        picked = View("index", tuple(narrow), (line,), details=tuple(details))
    yield picked if tuple(narrow) == shape else View("broadcast", shape, (picked,))


def _ascends(axes: list[int | None]) -> bool:
    known = [axis for axis in axes if axis is not None]
    return known == sorted(known)


def _of_many(codes: Codes, shapes: Mapping[int, tuple[int, ...]], used: Codes) -> View:
    """Several lines joined along an axis or taken in turn; otherwise picked one by one."""
    owners = codes // PLACES
    for axis in range(codes.ndim - 1, -1, -1):
        rows = np.moveaxis(owners, axis, 0).reshape(codes.shape[axis], -1)
        if not (rows == rows[:, :1]).all():
            continue
        breaks = np.flatnonzero(np.diff(rows[:, 0])) + 1
        if len(breaks) < len(used):
            parts = tuple(view(part, shapes) for part in np.split(codes, breaks, axis=axis))
            return View("join", codes.shape, parts, details=axis - codes.ndim)
        last = breaks[-1]
        if rows[last, 0] not in rows[:last, 0]:  # what stays as it is after pairs that turn
            parts = tuple(view(part, shapes) for part in np.split(codes, [last], axis=axis))
            return View("join", codes.shape, parts, details=axis - codes.ndim)
        if axis == codes.ndim - 1 and codes.shape[-1] % 2 == 0:
            parts = tuple(view(codes[..., start::2], shapes) for start in (0, 1))
            return View("interleave", codes.shape, parts)
    starts = dict.fromkeys(used.tolist(), 0)
    for before, after in zip(used.tolist(), used.tolist()[1:], strict=False):
        starts[after] = starts[before] + int(np.prod(shapes[before]))
    shift = np.vectorize(starts.__getitem__)(owners)
    lines = tuple(View("line", shapes[int(number)], line=int(number)) for number in used)
    return View("gather", codes.shape, lines, details=shift + codes % PLACES)
