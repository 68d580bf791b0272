"""What each entry of an exercise is computed from: for pages and quizzes that follow mistakes.

A rule is nested lists, as JSON has them: its sign, ``+ * / exp``, and its parts. These are numbers,
None for −∞, and names of entries that depend on answers, or are answers: ``weights[1,2]``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from symattn.claims.entry_names import entry_name
from symattn.classroom.exercise import Exercise
from symattn.derivations import Place, Step
from symattn.errors import CannotSpell
from symattn.evaluate.rules import place_in, rule_at
from symattn.nodes import rule as r
from symattn.nodes.rule import Rule
from symattn.step import leading_to

Data: TypeAlias = Any


@dataclass(frozen=True)
class Following:
    """The rules of an exercise."""

    exercise: Exercise

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The steps that are asked for, and those between them."""
        asked = {blank.letter for blank in self.exercise.blanks}
        every = self.exercise.evaluation.steps
        wanted = leading_to(every, asked)
        return tuple(
            x for x in every if x.letter in wanted and asked & leading_to(every, {x.letter})
        )

    @cached_property
    def rules(self) -> dict[str, Data]:
        """The rule of each entry of these steps by its name, in their order.

        It is empty where it has other parts than sums, products, quotients and e^x.
        """
        found: dict[str, Data] = {}
        for step in self.steps:
            for place in np.ndindex(*self.exercise.evaluation.shape(step.letter)):
                rule = rule_at(self.exercise.evaluation, step.letter, place)
                try:
                    found[self._name(step, place)] = self._data(rule)
                except CannotSpell:
                    found[self._name(step, place)] = []
        return found

    def _name(self, step: Step, place: Place) -> str:
        return entry_name(step.name, place, self.exercise.evaluation.notation)

    def _data(self, rule: Rule | None) -> Data:
        match rule:
            case r.Entry():
                return self._entry(*place_in(rule))
            case r.Const(value):
                return _finite(complex(value.subs(self.exercise.evaluation.sizes)).real)
            case r.Plus(parts):
                terms = [*map(self._data, parts)]
                return None if None in terms else ["+", *terms]
            case r.Times(parts):
                return ["*", *map(self._data, parts)]
            case r.Over(above, below):
                return ["/", self._data(above), self._data(below)]
            case r.Exp(body):
                return ["exp", self._data(body)]
        raise CannotSpell(f"{type(rule).__name__} is not followed")

    def _entry(self, letter: str, place: Place) -> Data:
        """The name of an entry that depends on answers; the number of any other."""
        values = self.exercise.evaluation
        step = next((step for step in self.steps if step.letter == letter), None)
        asked = any(blank.letter == letter for blank in self.exercise.blanks)
        if step is not None and (not asked or (letter, place) in self.exercise.number):
            return self._name(step, place)
        return _finite(float(values.array(letter)[place]))


def _finite(number: float) -> float | None:
    """A number; None for −∞. Raises `CannotSpell` for one that is none."""
    if np.isneginf(number):
        return None
    if not np.isfinite(number):
        raise CannotSpell("what is not finite is not followed")
    return number
