"""Hypotheses: misconceptions at the sizes of one derivation, alone, together, and in some rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import sympy

from symattn.arithmetic.base import Arithmetic, Array
from symattn.derivations import Derivation, Evaluation, Step
from symattn.documents.shown import Supposed
from symattn.errors import SymattnError
from symattn.mistakes import COMMON, MISCONCEPTIONS, Misconception, Steps
from symattn.mistakes.rewriting import rewritten
from symattn.nodes.defined import ROW_NUMBER, WherePlaced


@dataclass(frozen=True, eq=False)
class Hypothesis:
    """Misconceptions, and the steps of a derivation as they are done with them.

    `once`: made for one sheet.
    """

    misconceptions: tuple[Misconception, ...]
    steps: Mapping[str, Step]
    derivation: Derivation
    once: bool = False

    @property
    def changed(self) -> tuple[Step, ...]:
        """All steps as they are done."""
        return tuple(self.steps.get(step.name, step) for step in self.derivation.steps)

    @cached_property
    def reached(self) -> Mapping[str, Step]:
        """The steps that are changed, and those that read these, by letter and in order."""
        found: dict[str, Step] = {}
        for step in self.changed:
            if step.name in self.steps or any(letter in found for letter in step.operands):
                found[step.letter] = step
        return found

    def followed(
        self,
        evaluation: Evaluation,
        read: Callable[[str], Array],
        arithmetic: Arithmetic,
        kept: Callable[[str, Array], Array] = lambda letter, value: value,
    ) -> Iterator[tuple[Step, Array]]:
        """The steps that are reached and their values, which later ones read as they are kept.

        Raises `SymattnError` where the numbers make no sense.
        """
        found: dict[str, Array] = {}

        def operand(letter: str) -> Array:
            return found[letter] if letter in found else read(letter)

        for letter, step in self.reached.items():
            value = evaluation.follow(step, operand, arithmetic)
            found[letter] = kept(letter, value)
            yield step, value


def supposed(derivation: Derivation, evaluation: Evaluation, most: int = 3) -> tuple[Supposed, ...]:
    """The misconceptions that are seen most, as far as they apply, for a page that tries them.

    There are none of a backward pass, whose formulas are those of the attention as it is.
    """
    if Steps(derivation).gradients:
        return ()
    named = {one.name: one for one in MISCONCEPTIONS}
    found = Hypotheses(derivation, evaluation, [named[name] for name in COMMON]).singles
    rows = ((one.misconceptions[0], one.steps) for one in found[:most])
    return tuple(Supposed(_shown(row.instead), _shown(row.tell), steps) for row, steps in rows)


def _shown(words: str) -> str:
    """Words of a misconception as a page shows them, where no code stands."""
    return words.replace("d_k", "dₖ")


class Hypotheses:
    """The misconceptions that apply to one derivation at its sizes; made once for many sheets."""

    def __init__(
        self,
        derivation: Derivation,
        evaluation: Evaluation,
        misconceptions: Sequence[Misconception] = MISCONCEPTIONS,
    ) -> None:
        self.misconceptions = tuple(misconceptions)
        sizes = {s: n for s, n in evaluation.sizes.items() if s.name not in ("h", "g")}
        heads = {s: n for s, n in evaluation.sizes.items() if s.name in ("h", "g")}
        self.derivation = replace(derivation.subs(sizes), sizes=heads)
        self._steps = Steps(self.derivation)
        self._of_one: dict[Misconception, Hypothesis | None] = {}
        found = map(self.single, self.misconceptions)
        self.singles = tuple(one for one in found if one is not None)
        self._pairs: dict[tuple[Hypothesis, Hypothesis], Hypothesis | None] = {}
        self._first: dict[Hypothesis, Evaluation] = {}

    def single(self, misconception: Misconception) -> Hypothesis | None:
        """One misconception at these sizes; None where it does not apply."""
        if misconception not in self._of_one:
            changed = _changed_steps(self._steps, misconception)
            found = Hypothesis((misconception,), changed, self.derivation) if changed else None
            self._of_one[misconception] = found
        return self._of_one[misconception]

    def pair(self, one: Hypothesis, other: Hypothesis) -> Hypothesis | None:
        """Two hypotheses together: one upon the other where both change a step; None if not new."""
        if (one, other) not in self._pairs:
            both = (*one.misconceptions, *other.misconceptions)
            if set(one.steps) & set(other.steps):
                steps = self._upon(one, other) or self._upon(other, one)
            else:
                steps = {**one.steps, **other.steps}
            known = {tuple(single.steps.items()) for single in self.singles}
            new = steps and tuple(steps.items()) not in known
            pair = Hypothesis(both, steps, self.derivation) if new else None
            self._pairs[one, other] = pair
        return self._pairs[one, other]

    def _upon(self, one: Hypothesis, other: Hypothesis) -> Mapping[str, Step]:
        """The steps of one hypothesis, and those that the other makes of these."""
        steps = Steps(replace(self.derivation, steps=one.changed))
        (misconception,) = other.misconceptions
        return {**one.steps, **changed} if (changed := _changed_steps(steps, misconception)) else {}

    def in_rows(self, hypothesis: Hypothesis, rows: tuple[int, ...], where: str) -> Hypothesis:
        """A misconception in some rows only; the others are done rightly."""
        (misconception,) = hypothesis.misconceptions
        chosen = sympy.Or(*(sympy.Eq(ROW_NUMBER, row + 1) for row in rows))
        steps = {}
        for name, step in hypothesis.steps.items():
            right = next(s for s in self.derivation.steps if s.name == name)
            steps[name] = replace(step, expr=WherePlaced(step.expr, right.expr, chosen))
        only = replace(misconception, instead=f"in {where} only: {misconception.instead}")
        return Hypothesis((only,), steps, self.derivation, once=True)

    def evaluated(self, hypothesis: Hypothesis, given: Mapping[str, Array]) -> Evaluation:
        """The changed derivation with these numbers."""
        if hypothesis not in self._first:
            whole = self.derivation
            evaluation = Evaluation(whole.inputs, hypothesis.changed, given, whole.sizes, {})
            if hypothesis.once:
                return evaluation
            self._first[hypothesis] = evaluation
        return self._first[hypothesis].again(**given)


def _changed_steps(steps: Steps, misconception: Misconception) -> dict[str, Step]:
    """The steps that a misconception changes; none where it does not apply."""
    change = misconception.change
    found = rewritten(steps, *((change,) if isinstance(change, str) else change))
    try:
        return {name: replace(steps.steps[name], expr=expr) for name, expr in found.items()}
    except SymattnError:
        return {}  # its shapes do not fit here
