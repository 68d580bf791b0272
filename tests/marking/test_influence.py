"""What is carried depends on what it is said to follow from, in every variant.

A number of a right calculation is moved, and the calculation goes on from it. What depends on what
is found beside the marker: by exchanging one number for the true one in the plain evaluation.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from random import Random
from typing import Any

import numpy as np
import pytest

from symattn.arithmetic.base import Array
from symattn.arithmetic.written import read_written
from symattn.attention.example import small_example
from symattn.attention.variants import VARIANTS, Variant
from symattn.claims.policy import Policy
from symattn.derivations import Evaluation, Place
from symattn.errors import SymattnError
from symattn.marking.verdicts import EntryMark, Marker
from symattn.step import Step
from tests.shares import share

PLACES = 6
MISTAKEN = ("carried", "last-digit", "wrong")

#: Given matrices in which nobody calculates.
SWITCHES = ("allowed", "mask", "one_hot")


@cache
def example(name: str) -> Evaluation:
    (row,) = (row for row in VARIANTS if row.name == name)
    return small_example(row.spec)[1]


def plain(evaluation: Evaluation, held: Mapping[str, Array]) -> dict[str, Array]:
    """Every step from those before it, over `held` numbers; what each step itself gives."""
    used: dict[str, Array] = {}
    found: dict[str, Array] = {}
    for item in (*evaluation.inputs, *evaluation.steps):
        letter = item.letter
        if not isinstance(item, Step):
            found[letter] = evaluation.array(letter).astype(float)
        else:
            with np.errstate(all="ignore"):
                found[letter] = evaluation.follow(item, used.__getitem__, evaluation.arithmetic)
        used[letter] = held.get(letter, found[letter])
    return found


def written(values: Array) -> Array:
    """The numbers as somebody writes them, each to `PLACES` decimals."""
    out = np.full(values.shape, None, dtype=object)
    for place in np.ndindex(*values.shape):
        x = float(values[place])
        out[place] = read_written(f"{x:.{PLACES}f}" if np.isfinite(x) else "-inf", "")
    return out


class Slip:
    """A calculation that goes on from one number, moved by `off`; some steps are claimed."""

    def __init__(self, evaluation: Evaluation, rng: Random, share: float) -> None:
        names = [name for name in evaluation if name not in SWITCHES]
        self.evaluation = evaluation
        self.letters = {evaluation[name].step.letter: name for name in names}
        last = evaluation[names[-1]].step.letter
        claimed = {letter for letter in self.letters if rng.random() < share} | {last}
        self.true = plain(evaluation, {})
        self.letter = rng.choice(sorted(claimed - {last}) or [last])
        finite = np.argwhere(np.isfinite(self.true[self.letter]))
        self.place: Place = tuple(map(int, rng.choice(finite.tolist())))
        moved = np.array(self.true[self.letter], dtype=float)
        moved[self.place] = round(moved[self.place] + rng.choice((0.37, -0.41)), PLACES)
        values = plain(evaluation, {self.letter: moved}) | {self.letter: moved}
        self.claims = {x: written(values[x]) for x in self.letters if x in claimed}
        self.numbers = {
            x: np.array([w.nearest for w in c.ravel()], dtype=float).reshape(c.shape)
            for x, c in self.claims.items()
        }

    def marks(self) -> dict[tuple[str, Place], EntryMark]:
        steps = Marker(self.evaluation, self.claims, Policy()).marks()
        return {(step.letter, e.place): e for step in steps for e in step.entries}

    def exchanged(self, letter: str, place: Place) -> dict[str, Array]:
        """What each step gives when one claimed number is put right and the others stand."""
        instead = np.array(self.numbers[letter])
        instead[place] = round(float(self.true[letter][place]), PLACES)
        return plain(self.evaluation, self.numbers | {letter: instead})


def slips(name: str) -> list[Slip]:
    """A slip with every step claimed and two with some; those that make no sense are left out."""
    rng, found = Random(name), []
    for part in (1.0, 0.5, 0.4):
        try:
            found.append(Slip(example(name), rng, part))
        except (SymattnError, ValueError):
            continue
    return [s for s in found if all(np.isfinite(s.numbers[x]).any() for x in s.numbers)]


@pytest.mark.parametrize("row", share(VARIANTS, 8, 3), ids=lambda row: row.name)
def test_what_is_carried_depends_on_what_it_follows_from(row: Variant) -> None:
    tried = slips(row.name)
    assert tried
    for slip in tried:
        marks = slip.marks()
        mistaken = [key for key, mark in marks.items() if mark.verdict in MISTAKEN]
        assert (slip.letter, slip.place) in mistaken
        as_claimed = plain(slip.evaluation, slip.numbers)
        reached: dict[tuple[str, Place], set[str]] = {key: set() for key in marks}
        surely: dict[tuple[str, Place], set[str]] = {key: set() for key in marks}
        for letter, place in mistaken:
            again = slip.exchanged(letter, place)
            for key in marks:
                before, after = (values[key[0]][key[1]] for values in (as_claimed, again))
                if key != (letter, place):
                    for found, size in ((reached, 1e-14), (surely, 1e-9)):
                        if not np.isclose(after, before, 0, size, equal_nan=True):
                            found[key].add(str(marks[letter, place]))
        for key, mark in marks.items():
            where = f"{row.name}: {mark}, moved {slip.letter}{slip.place}"
            if mark.verdict == "carried":
                sources = {str(source) for source in mark.because}
                assert sources and surely[key] <= sources <= reached[key], where
            elif key != (slip.letter, slip.place):
                assert mark.verdict in ("right", "rounded-early", "truncated"), where


def test_this_test_can_fail() -> None:
    """A number that does not depend on the mistake is not reached by it, and others are."""
    slip = next(s for s in slips("dot-product") if s.letter != "V")
    as_claimed = plain(slip.evaluation, slip.numbers)
    again = slip.exchanged(slip.letter, slip.place)
    after: Any = [x for x in again if not np.array_equal(as_claimed[x], again[x])]
    assert after and slip.letter not in after
    row = slip.place[0]
    for letter in after:
        changed = {place[0] for place in np.argwhere(as_claimed[letter] != again[letter])}
        assert changed == {row}
