"""Styles of exercises: which numbers are given, and what has to be true of those that follow.

Both are about what somebody works out by hand: a pocket calculator serves for `decimals`, a table
of e, e² and e³ for `integers`, nothing for `fractions`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isqrt, log
from typing import TypeAlias

import numpy as np

from symattn.arithmetic.base import Array
from symattn.classroom.task import Task
from symattn.derivations import Input
from symattn.errors import SymattnError

#: A number that may be given: as it is written, and as a float.
Choice: TypeAlias = tuple[int | str, float]

#: How near floats are that are taken for equal; no two numbers of an exercise are as near by
#: accident, so that every machine decides alike.
_NEAR = 1e-9

#: The least weight that is to be seen, and the most that is hidden: rounding may leave so much.
LEAST_WEIGHT, _HIDDEN = 0.03, 1e-15

#: How far scores of a row are apart at most, and the largest denominator of a weight.
_APART, _DENOMINATOR = 3, 12

#: What difficulty means: which whole numbers are given, and how often.
DIFFICULTIES: Mapping[str, tuple[int, ...]] = {
    "easy": (0, 0, 0, 1, 1, 2),
    "usual": (-1, 0, 1, 2),
    "hard": (-1, -1, 1, 2, 2),
}

#: What is given where scores are divided by their sum.
_POSITIVE = (1, 2, 3)


@dataclass(frozen=True)
class Drawn:
    """Candidates at once: the values of every matrix by letter, each with an axis of candidates."""

    task: Task
    arrays: Mapping[str, Array]
    count: int

    def each(self, letters: Sequence[str]) -> list[Array]:
        """The rows of these matrices: candidate, row, column."""
        found = (self.arrays[letter] for letter in letters)
        lead = (x if x.ndim > 2 else np.broadcast_to(x, (self.count, *x.shape)) for x in found)
        return [x.reshape(self.count, -1, x.shape[-1]) for x in lead]

    def faults(self, wrong: Iterable[Array]) -> Array:
        """How many entries are wrong in each candidate."""
        sums = (one.reshape(self.count, -1).sum(axis=1) for one in wrong)
        return np.asarray(sum(sums, np.zeros(self.count, dtype=int)))


@dataclass(frozen=True)
class Style:
    """A way of choosing numbers; a new one is a row of `STYLES`.

    `entries` are the numbers that an input is made of, `faults` how far each candidate is from
    what the style promises: the number of entries that break it. `refused` says what the style
    cannot do, and the nearest that can, "" where it can.
    """

    name: str
    about: str
    entries: Callable[[Task, Input, str], Sequence[Choice]]
    faults: Callable[[Drawn], Array] = lambda drawn: drawn.faults([])
    refused: Callable[[Task], str] = lambda task: ""
    exact: bool = False


def visible_faults(drawn: Drawn, ties: bool) -> Array:
    """Weights that are too small to be seen, and equal ones in a row unless there may be `ties`."""
    wrong: list[Array] = []
    unit = 10.0**-drawn.task.digits
    for weights in drawn.each(drawn.task.weights):
        seen = ~(np.abs(weights) <= _HIDDEN)  # NaN is seen, and wrong
        wrong.append(seen & ~(weights >= LEAST_WEIGHT - _NEAR))
        for i, j in combinations(range(weights.shape[-1]) if not ties else (), 2):
            near = np.abs(weights[..., i] - weights[..., j]) < unit - _NEAR
            wrong.append(near & seen[..., i] & seen[..., j])
    return drawn.faults(wrong)


def dull_faults(drawn: Drawn) -> Array:
    """Rows of what is given that are equal or all 0, and columns of one number."""
    wrong: list[Array] = []
    for item in drawn.task.drawn:
        (matrix,) = drawn.each([item.letter])
        rows = matrix.shape[1]
        if rows == 1 or matrix.shape[2] == 1:
            continue
        wrong += [(matrix == matrix[:, :1]).all(axis=1), (matrix == 0).all(axis=2)]
        wrong += (
            (matrix[:, i] == matrix[:, j]).all(axis=1) for i, j in combinations(range(rows), 2)
        )
    return drawn.faults(wrong)


def _whole(task: Task, item: Input, difficulty: str) -> Sequence[Choice]:
    ratio = getattr(task.sheet.spec, "normaliser", None) == "sum"  # of what has to be above 0
    return [(k, float(k)) for k in (_POSITIVE if ratio else DIFFICULTIES[difficulty])]


def _broken(array: Array) -> Array:
    """The finite entries that are not whole, and what is no number."""
    off: Array = np.abs(array - np.round(array)) > _NEAR
    return np.isnan(array) | (np.isfinite(array) & off)


def _integer_faults(drawn: Drawn) -> Array:
    """Logits that are not whole, and those further from the largest of their row than 3."""
    wrong: list[Array] = []
    scaled = [step.letter for step in drawn.task.derivation.steps if step.name == "scaled"]
    wrong += map(_broken, drawn.each(scaled))
    for logits in drawn.each(drawn.task.logits) or _logarithms_of(drawn):
        with np.errstate(invalid="ignore"):
            top = np.where(np.isfinite(logits), logits, -np.inf).max(axis=-1, keepdims=True)
            wrong += [_broken(logits), np.isfinite(logits) & (top - logits > _APART + _NEAR)]
    return drawn.faults(wrong)


def _logarithms_of(drawn: Drawn) -> list[Array]:
    """The logits, less one of each row, where a softmax takes them from no step of their own."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = [np.log(weights) for weights in drawn.each(drawn.task.weights)]
        return [one - one.max(axis=-1, keepdims=True) for one in logs]


def _fraction_faults(drawn: Drawn) -> Array:
    """Weights whose denominators are above 12, and results that are not whole."""
    wrong: list[Array] = []
    for weights in drawn.each(drawn.task.weights):
        every: Array = _broken(weights[..., None] * np.arange(1, _DENOMINATOR + 1))
        wrong.append(np.asarray(every.all(axis=-1)))
    last = drawn.task.derivation.steps[-1]
    if not last.weights:
        wrong += map(_broken, drawn.each([last.letter]))
    return drawn.faults(wrong)


def _root(task: Task) -> int | None:
    """√d_k where the scores are divided by it, 1 where they are not; None if it is not whole."""
    if "scaled" not in task.derivation:
        return 1
    d_k = task.evaluation.known_sizes.get("d_k", 1)
    return isqrt(d_k) if isqrt(d_k) ** 2 == d_k else None


def _square(task: Task, style: str, others: str) -> str:
    """Why √d_k keeps a style from being used."""
    if _root(task) is not None:
        return ""
    d_k = task.evaluation.known_sizes["d_k"]
    near = min((4, 9, 16, 25, 36, 49, 64), key=lambda square: abs(square - d_k))
    return (
        f"style {style}: needs a square d_k, since √{d_k} is not whole; the nearest is --size "
        f"d_k={near}, or {others}"
    )


def _unweighed(task: Task, style: str) -> str:
    """Why a style that is about weights cannot be used where there are none."""
    return (
        "" if task.weights else f"style {style}: needs weights; --style decimals does any attention"
    )


def _no_integers(task: Task) -> str:
    return _unweighed(task, "integers") or _square(task, "integers", "--style decimals")


def _no_fractions(task: Task) -> str:
    if refusal := _unweighed(task, "fractions"):
        return refusal
    names = {item.name for item in task.drawn}
    if not names & {"Q", "scores", "scaled"}:
        return (
            "style fractions: starts with the queries or the scores; give --given Q,K,V or --given "
            "scores,V, and do not ask for them"
        )
    return _square(task, "fractions", "--given scaled,V, or --style decimals")


def _logarithms(task: Task, item: Input, difficulty: str) -> Sequence[Choice]:
    """Logarithms for what the softmax takes powers of e of, small whole numbers for the rest."""
    root = _root(task) or 1
    if item.name in ("scores", "scaled"):
        return [_logarithm(k**root) for k in (1, 1, 2, 3, 4, 5, 6)]
    if item.name == "Q":
        return [_logarithm(k**root) for k in (1, 1, 2, 3)]
    whole = range(13) if item.name in ("V", "X") else (0, 0, 1, 1, -1)
    return [(k, float(k)) for k in whole]


def _logarithm(power: int) -> Choice:
    return (0, 0.0) if power == 1 else (f"ln {power}", log(power))


STYLES: Mapping[str, Style] = {
    style.name: style
    for style in (
        Style("decimals", "whole numbers from −1 to 2 are given, for any d_k", _whole),
        Style(
            "integers",
            "the scaled scores are whole and at most 3 apart: e, e² and e³ suffice",
            _whole,
            _integer_faults,
            _no_integers,
        ),
        Style(
            "fractions",
            "queries or scores are logarithms, weights fractions, outputs whole",
            _logarithms,
            _fraction_faults,
            _no_fractions,
            exact=True,
        ),
    )
}


def style_named(name: str) -> Style:
    """The style of this name. Raises `SymattnError` for one that is none."""
    if name not in STYLES:
        raise SymattnError(f"style {name}: there is no such style; use {', '.join(STYLES)}")
    return STYLES[name]
