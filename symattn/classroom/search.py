"""The search for numbers: candidates that keep what a style promises.

Chains of candidates start anywhere and change an entry at a time, as long as fewer numbers, or no
more, break what is promised; all chains are evaluated at once, as a batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from symattn.arithmetic.base import Array
from symattn.classroom.draws import Draws
from symattn.classroom.styles import STYLES, Choice, Drawn, Style, dull_faults, visible_faults
from symattn.classroom.task import Task
from symattn.derivations import Evaluation, Given
from symattn.errors import SymattnError
from symattn.sheets.worksheet import Worksheet
from symattn.step import Input

#: How many chains there are, how often each changes, and how often where that is a courtesy.
_CHAINS, _CHANGES, _FEW = 64, 600, 40


@dataclass(frozen=True)
class Search:
    """Numbers for a task: `ties` says whether weights of a row may be equal."""

    task: Task
    style: Style
    difficulty: str = "usual"
    ties: bool = False

    @cached_property
    def shapes(self) -> Mapping[str, tuple[int, ...]]:
        """The shapes of what is drawn, by letter."""
        return {x.letter: self.task.evaluation.shape(x.letter) for x in self.task.drawn}

    @cached_property
    def cells(self) -> tuple[Sequence[Choice], ...]:
        """What each entry that is drawn may be, input by input, row by row."""
        entries = {x: self.style.entries(self.task, x, self.difficulty) for x in self.task.drawn}
        return tuple(
            entries[x] for x in self.task.drawn for _ in np.ndindex(*self.shapes[x.letter])
        )

    @cached_property
    def floats(self) -> Array:
        """The float of each of these, by entry and by number."""
        widest = max(map(len, self.cells))
        rows = ([value for _, value in cell] for cell in self.cells)
        return np.array([[*row, *[0.0] * (widest - len(row))] for row in rows])

    def _each(self, chosen: Array) -> Iterator[tuple[Input, Array]]:
        """The part of what is chosen that each input has: its numbers' places in their lists."""
        start = 0
        for item in self.task.drawn:
            size = int(np.prod(self.shapes[item.letter]))
            yield item, chosen[..., start : start + size]
            start += size

    def values(self, chosen: Array) -> Evaluation:
        """The derivation at all candidates at once."""
        floats = np.take_along_axis(self.floats, chosen.T, axis=1).T
        given = {
            item.name: part.reshape(len(chosen), *self.shapes[item.letter])
            for item, part in self._each(floats)
        }
        evaluation: Evaluation = self.task.derivation.evaluate(**self.kept, **given)
        return evaluation

    @cached_property
    def kept(self) -> Mapping[str, Given]:
        """What is given and not drawn."""
        drawn = {item.name for item in self.task.drawn}
        return {name: x for name, x in self.task.sheet.numbers.items() if name not in drawn}

    def written(self, chosen: Array) -> dict[str, Given]:
        """What is given, as it is written."""
        places = [*zip(self.cells, chosen.tolist(), strict=True)]
        texts = np.empty(len(places), dtype=object)
        texts[:] = [cell[place][0] for cell, place in places]
        drawn = {x.name: y.reshape(self.shapes[x.letter]).tolist() for x, y in self._each(texts)}
        names = self.task.sheet.numbers
        return {name: drawn.get(name, self.kept.get(name)) for name in names}

    def _faults(self, chosen: Array) -> Array:
        """How many numbers break what is promised, in each candidate."""
        values = self.values(chosen)
        try:
            arrays = {letter: values.array(letter) for letter in self._judged}
        except SymattnError:  # a step has no value for one of them: each by itself
            if len(chosen) == 1:
                return np.array([len(self.cells)])
            return np.concatenate([self._faults(chosen[k : k + 1]) for k in range(len(chosen))])
        drawn = Drawn(self.task, arrays, len(chosen))
        with np.errstate(invalid="ignore"):
            faults = self.style.faults(drawn) + visible_faults(drawn, self.ties)
            return faults + dull_faults(drawn)

    @cached_property
    def _judged(self) -> Sequence[str]:
        """The letters of what a style makes promises of."""
        steps = self.task.derivation.steps
        names = [step.letter for step in steps if step is steps[-1] or step.name == "scaled"]
        given = [item.letter for item in self.task.drawn]
        return [*dict.fromkeys((*given, *names, *self.task.weights, *self.task.logits))]

    def anywhere(self, draws: Draws, count: int) -> Array:
        some = [draws.below(len(cell)) for _ in range(count) for cell in self.cells]
        return np.array(some, dtype=int).reshape(count, len(self.cells))

    def _search(self, seed: int, changes: int) -> Iterator[tuple[Array, Array]]:
        """The chains as they go, with their faults; a chain that has none starts anew."""
        draws = Draws(seed)
        chosen = self.anywhere(draws, _CHAINS)
        faults = self._faults(chosen)
        for _ in range(changes):
            yield chosen, faults
            done = np.flatnonzero(faults == 0)
            changed = chosen.copy()
            changed[done] = self.anywhere(draws, len(done))
            for chain in np.flatnonzero(faults):
                place = draws.below(len(self.cells))
                changed[chain, place] = draws.below(len(self.cells[place]))
            now = self._faults(changed)
            better = (now <= faults) | (faults == 0)
            chosen = np.where(better[:, None], changed, chosen)
            faults = np.where(better, now, faults)

    def candidates(self, seed: int, changes: int = _CHANGES) -> Iterator[Array]:
        """Those that keep what is promised."""
        for chosen, faults in self._search(seed, changes):
            yield from chosen[faults == 0]


def teachable(sheet: Worksheet) -> dict[str, Given] | None:
    """Numbers for a worksheet to begin with, drawn as for an exercise; None where none are near."""
    search = Search(Task(sheet, ()), STYLES["decimals"])
    found = next(search.candidates(1, _FEW), None)
    return None if found is None else search.written(found)
