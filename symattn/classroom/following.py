"""What each entry of an exercise is computed from: for pages and quizzes that follow mistakes.

A rule is nested lists, as JSON has them: its sign, ``+ * / exp``, and its parts. These are numbers,
None for −∞, and names of entries that depend on answers, or are answers: ``weights[1,2]``.
"""

from __future__ import annotations

from collections.abc import Mapping
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
    def asked(self) -> frozenset[str]:
        """The letters of the steps that are asked for."""
        return frozenset(blank.letter for blank in self.exercise.blanks)

    @cached_property
    def steps(self) -> Mapping[str, Step]:
        """The steps that are asked for, and those between them, by their letters."""
        every = self.exercise.evaluation.steps
        wanted = leading_to(every, self.asked)
        return {
            x.letter: x
            for x in every
            if x.letter in wanted and self.asked & leading_to(every, {x.letter})
        }

    @cached_property
    def rules(self) -> dict[str, Data]:
        """The rule of each entry of these steps by its name, in their order.

        It is empty where it has other parts than sums, products, quotients and e^x.
        """
        found: dict[str, Data] = {}
        for step in self.steps.values():
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
        step, is_asked = self.steps.get(letter), letter in self.asked
        if step is not None and (not is_asked or (letter, place) in self.exercise.number):
            return self._name(step, place)
        return _finite(float(values.array(letter)[place]))


def _finite(number: float) -> float | None:
    """A number; None for −∞. Raises `CannotSpell` for one that is none."""
    if np.isneginf(number):
        return None
    if not np.isfinite(number):
        raise CannotSpell("what is not finite is not followed")
    return number
