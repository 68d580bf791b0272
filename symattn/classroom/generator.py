"""The generator: numbers for a task, drawn from a seed, that tell misconceptions apart.

Of candidates that keep what the style promises the first is taken whose blanks tell every two
misconceptions apart that any numbers can. Floats only choose, all candidates at once, as a batch;
what is printed is proven (`symattn.classroom.exercise`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np

from symattn.algebra.identities import IDENTITIES
from symattn.algebra.identities.identity import Identity
from symattn.arithmetic.arrays import Arrays
from symattn.arithmetic.base import Array
from symattn.classroom.draws import Draws
from symattn.classroom.exercise import UNITS_APART, Exercise
from symattn.classroom.search import Search
from symattn.classroom.styles import DIFFICULTIES, Style
from symattn.classroom.task import Task
from symattn.derivations import Derivation, Evaluation, Given
from symattn.errors import SymattnError
from symattn.mistakes.base import SENSELESS
from symattn.mistakes.hypotheses import Hypotheses, Hypothesis

#: The version of what a seed means: files from one seed differ where it does.
VERSION = 1

#: How many candidates are compared.
_COMPARED = 96


@dataclass(frozen=True)
class Generator:
    """Draws exercises of one task in one style; made once for a whole class.

    `ties`: whether weights of a row may be equal.
    """

    task: Task
    style: Style
    difficulty: str = "usual"
    ties: bool = False

    def __post_init__(self) -> None:
        if refusal := self.style.refused(self.task):
            raise SymattnError(refusal)
        if not self.task.drawn:
            raise SymattnError("exercise: nothing is given whose numbers could be drawn")
        if self.difficulty not in DIFFICULTIES:
            raise SymattnError(f"difficulty {self.difficulty}: use {', '.join(DIFFICULTIES)}")

    def exercise(
        self, seed: int, title: str = "", student: str = "", statements: int = 0
    ) -> Exercise:
        """The exercise of a seed, the same on every machine, with so many statements to judge.

        Raises `SymattnError` where no numbers were found that keep what the style promises.
        """
        found = self.numbers(seed)
        if found is None:
            raise SymattnError(self._in_vain)
        facts: dict[str, str | int] = {
            "style": self.style.name,
            "difficulty": self.difficulty,
            "digits": self.task.digits,
            "seed": seed,
            "generator": VERSION,
        }
        facts |= {"ties": True} if self.ties else {}
        facts |= {"student": student} if student else {}
        return Exercise.drawn(self.task, found, facts, statements_of(seed, statements), title)

    @property
    def _in_vain(self) -> str:
        more = "" if self.ties else "--ties, "
        others = "" if self.style.name == "decimals" else " or --style decimals"
        return (
            f"style {self.style.name}: no numbers were found without weights below 0.03"
            f"{'' if self.ties else ' or equal ones'}; try {more}fewer tokens{others}"
        )

    def numbers(self, seed: int) -> dict[str, Given] | None:
        """What is given in the exercise of a seed; None where nothing was found.

        Of the first candidates the one whose blanks tell most misconceptions apart.
        """
        best, fewest = None, None
        for chosen, untold in self._compared(seed):
            if fewest is None or untold < fewest:
                best, fewest = chosen, untold
            if untold == 0:
                break
        return None if best is None else self.search.written(best)

    def _compared(self, seed: int) -> Iterator[tuple[Array, int]]:
        """Candidates, each with how many pairs it leaves untold that other numbers tell."""
        found = self.search.candidates(seed)
        number = 0
        while number < _COMPARED and (some := [*islice(found, 4 if number == 0 else 16)]):
            told = self._told(np.array(some))
            yield from zip(some, (self._tellable & ~told).sum(axis=(1, 2)).tolist(), strict=True)
            number += len(some)

    @cached_property
    def search(self) -> Search:
        """Where candidates come from."""
        return Search(self.task, self.style, self.difficulty, self.ties)

    @cached_property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """The misconceptions that apply here."""
        derivation: Derivation = self.task.derivation
        return Hypotheses(derivation, self.task.evaluation).singles

    def _told(self, chosen: Array) -> Array:
        """Which pairs the blanks of each candidate tell apart; the first of all is what is right.

        Answers are told apart by one that is three units of the last digit from the other.
        """
        values = self.search.values(chosen)
        rows = [self._answers(values, None), *(self._answers(values, h) for h in self.hypotheses)]
        table = np.stack(rows, axis=1)  # candidate, misconception, blank
        one, other = table[:, :, None], table[:, None, :]
        least = UNITS_APART * 10.0**-self.task.digits * (1 - 1e-9)
        with np.errstate(invalid="ignore"):  # −∞ − (−∞) is no number, nor is what has no value
            apart = ~(np.abs(one - other) < least) & (one != other)
        apart &= ~(np.isnan(one) & np.isnan(other))
        out: Array = apart.any(axis=-1)
        return out

    def _answers(self, values: Evaluation, hypothesis: Hypothesis | None) -> Array:
        """The answers of who has a misconception, NaN where that makes no sense."""
        count = values.batch[0]
        found: dict[str, Array] = {}
        arithmetic = values.arithmetic
        assert isinstance(arithmetic, Arrays)
        with np.errstate(all="ignore"):
            try:
                followed = (
                    ()
                    if hypothesis is None
                    else hypothesis.followed(values, values.array, arithmetic)
                )
                found = {step.letter: value for step, value in followed}
            except SENSELESS:
                if count == 1:
                    return np.full((1, len(self.task.blanks)), np.nan)
                each = [self._answers(self._item(values, k), hypothesis) for k in range(count)]
                return np.concatenate(each)
        columns = []
        for _, letter, place in self.task.blanks:
            array = found[letter] if letter in found else values.array(letter)
            entry = np.moveaxis(array, range(-len(place), 0), range(len(place)))[place]
            columns.append(np.broadcast_to(entry, (count,)))
        return np.stack(columns, axis=1).astype(float)

    def _item(self, values: Evaluation, number: int) -> Evaluation:
        """One candidate, as a batch of its own."""
        drawn = {
            item.name: values.given[item.letter][number : number + 1] for item in self.task.drawn
        }
        return self.task.derivation.evaluate(**self.search.kept, **drawn)

    @cached_property
    def _tellable(self) -> Array:
        """The pairs that some numbers tell apart, in a sample that does not depend on the seed."""
        sample = [*islice(self.search.candidates(VERSION), _COMPARED)]
        size = 1 + len(self.hypotheses)
        if not sample:
            return np.zeros((size, size), dtype=bool)
        return np.triu(self._told(np.array(sample)).any(axis=0))


def statements_of(seed: int, count: int) -> tuple[Identity, ...]:
    """Identities and false beliefs drawn from a seed, each once.

    >>> [row.name for row in statements_of(7, 2)] == [row.name for row in statements_of(7, 3)][:2]
    True
    """
    left, draws = [*IDENTITIES], Draws(seed)
    return tuple(left.pop(draws.below(len(left))) for _ in range(min(count, len(left))))
