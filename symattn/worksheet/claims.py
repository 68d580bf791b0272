"""What somebody claims: which entry of which step, and the number as it was written.

A claim is a whole step, one head of it, a row, a column or an entry::

    scores = [[2, 4], [4, 16]]
    "weights[1,:]" = ["0.12", "?"]
    "output[2,1]" = "1/3"
    "scores[2][1,:]" = [1, 0]          # head 2, row 1
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, get_args

import numpy as np

from symattn.arithmetic.base import Array
from symattn.arithmetic.verify import Accepted
from symattn.arithmetic.written import read_written
from symattn.derivation import Evaluation, Place
from symattn.errors import ReadError, nearest, shown
from symattn.notation.options import SYMBOLS, symbol_of

#: The verdicts, the best first; a step has the worst of its entries'.
VERDICTS = ("right", "truncated", "rounded-early", "undecided", "last-digit", "carried", "wrong")

_KEY = re.compile(r"([A-Za-z_]{1,40})((?:\[[^\[\]]{1,40}\]){0,3})\Z")
_INDEX = re.compile(r"[0-9]{1,5}\Z", re.ASCII)


@dataclass(frozen=True)
class Policy:
    """What counts as right, and what is let pass.

    `rounding`: ``either`` (half-up and half-even), ``half-up``, ``half-even`` or ``truncated``;
    `min_digits`: the least number of decimals; `accept`: the verdicts that are nobody's fault.
    """

    rounding: Accepted = "either"
    min_digits: int = 0
    accept: tuple[str, ...] = field(default=("right", "truncated", "rounded-early"))

    def __post_init__(self) -> None:
        if self.rounding not in get_args(Accepted):
            hint = nearest(str(self.rounding), get_args(Accepted))
            raise ReadError(f"rounding = {shown(self.rounding)}: there is none{hint}")
        if type(self.min_digits) is not int or not 0 <= self.min_digits <= 100:
            raise ReadError(f"min_digits = {shown(self.min_digits)}: give a whole number to 100")
        accept = [self.accept] if isinstance(self.accept, str) else self.accept
        if not isinstance(accept, list | tuple):
            raise ReadError("accept: give a list of verdicts")
        for verdict in accept:
            if verdict not in VERDICTS:
                hint = nearest(str(verdict), VERDICTS)
                raise ReadError(f"accept: {shown(verdict)} is no verdict{hint}")
        object.__setattr__(self, "accept", tuple(dict.fromkeys(("right", *accept))))


def step_named(key: str) -> str:
    """The step that the key of a claim names. Raises `ReadError` for a key that is none."""
    match = _KEY.match(key)
    if match is None:
        raise ReadError(f'{shown(key)} in [claims] names no entry; write e.g. "weights[2,:]"')
    if symbol_of(match[1]) is None:
        hint = nearest(match[1], SYMBOLS)
        raise ReadError(f"{shown(key)} in [claims] is not a known step{hint}")
    return match[1]


#: Which number of which key claims an entry: (letter, place) to (key, how many before it).
Origins: TypeAlias = dict[tuple[str, Place], tuple[str, int]]


def read_claims(
    table: Mapping[str, Any], evaluation: Evaluation, origins: Origins | None = None
) -> dict[str, Array]:
    """The claims by letter: arrays of `Written` numbers, None where nothing is claimed.

    `origins`, where it is given, is filled with what claims what.

    Raises `ReadError` for a step that the derivation has not, a place that does not exist, or
    a number that cannot be read.
    """
    claims: dict[str, Array] = {}
    for key, value in table.items():
        name = step_named(key)
        if name not in evaluation:
            raise ReadError(f"{key}: {_absent(name, tuple(evaluation))}")
        item = evaluation[name]
        if len(item.shape) > 3:
            raise ReadError(f"{key}: several batches cannot be claimed; give one calculation")
        claimed = claims.setdefault(item.step.letter, np.full(item.shape, None, dtype=object))
        for place, number in _put(claimed, key, name, value):
            if origins is not None:
                origins[item.step.letter, place] = key, number
    return claims


def _absent(name: str, names: Sequence[str]) -> str:
    """Why a step is not there, and how to mend it."""
    mends = {
        "scaled": "the scores are not scaled; leave scale = false out",
        "masked": 'nothing is masked; say which mask, e.g. mask = "causal"',
        "projected": "there is no last projection; give W_O",
        "heads": "there is one head; claim its output, or say how many heads there are",
        "concat": "there is one head; say how many heads there are",
        "output": "there are several heads; claim heads, concat or projected",
    }
    if name in mends:
        return f"this attention has no such step: {mends[name]}"
    return f"this attention has no such step; it has {', '.join(names)}"


def _put(claimed: Array, key: str, name: str, value: Any) -> Iterator[tuple[Place, int]]:
    """Put what a key claims where it belongs; the places, and which number each is of the key's."""
    index = _selected(key, name, claimed.shape)
    free = tuple(size for i, size in zip(index, claimed.shape, strict=False)
                 if isinstance(i, slice)) + claimed.shape[len(index) :]  # fmt: skip
    value = _levelled(value, free)
    _check_shape(value, free, key, name, claimed.shape)
    for number, inner in enumerate(np.ndindex(*free)):
        entry = value
        for step in inner:
            entry = entry[step]
        if isinstance(entry, list | tuple | Mapping):
            raise ReadError(f"{key}: {_dims(free)} entries are needed, not more brackets")
        where = key if not inner else f"{key}, entry {','.join(str(i + 1) for i in inner)}"
        written = read_written(entry, where)
        if written is None:
            continue
        rest = iter(inner)
        fixed = [next(rest) if isinstance(i, slice) else i for i in index]
        place = (*fixed, *rest)
        if claimed[place] is not None:
            raise ReadError(f"{where}: is claimed twice; keep one")
        claimed[place] = written
        yield place, number


def _selected(key: str, name: str, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """The index that a key's brackets mean, from 0."""
    match = _KEY.match(key)
    assert match is not None
    words = [word.strip() for word in match[2].strip("[]").replace("][", ",").split(",")]
    words = [] if words == [""] else words
    if len(words) not in (0, len(shape)) and not (len(shape) == 3 and len(words) == 1):
        example = f'"{name}[1,:]"' if len(shape) == 2 else f'"{name}[1]" or "{name}[1][2,:]"'
        raise ReadError(f"{key}: {name} is {_dims(shape)}; write {example}")
    index: list[Any] = []
    for word, size in zip(words, shape, strict=False):
        if word == ":":
            index.append(slice(None))
        elif _INDEX.match(word) and 1 <= int(word) <= size:
            index.append(int(word) - 1)
        else:
            raise ReadError(f"{key}: there is no {shown(word)} among 1 to {size}; count from 1")
    return tuple(index)


def _levelled(value: Any, shape: tuple[int, ...]) -> Any:
    """A single row, or a single head, with the brackets that it can do without, or with."""
    missing = len(shape) - _depth(value)
    while missing < 0 and isinstance(value, list) and len(value) == 1:
        value, missing = value[0], missing + 1
    for size in shape[: max(missing, 0)]:
        if size != 1:
            return value
    for _ in range(missing):
        value = [value]
    return value


def _depth(value: Any) -> int:
    depth = 0
    while isinstance(value, list | tuple) and depth < 5:
        depth, value = depth + 1, value[0] if value else None
    return depth


def _check_shape(
    value: Any, shape: tuple[int, ...], key: str, name: str, whole: tuple[int, ...]
) -> None:
    level: list[Any] = [value]
    for size in shape:
        for part in level:
            if not isinstance(part, list | tuple):
                raise ReadError(f"{key}: {name} is {_dims(whole)}; {_dims(shape)} entries belong "
                                "here, in brackets")  # fmt: skip
            if len(part) != size:
                raise ReadError(
                    f"{key}: {len(part)} where {size} belong ({name} is {_dims(whole)}); "
                    'write "?" for what is not claimed'
                )
        level = [item for part in level for item in part]


def _dims(shape: Iterable[int]) -> str:
    return " × ".join(map(str, shape)) or "1"
