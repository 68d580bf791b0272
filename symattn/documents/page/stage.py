"""The colour of every matrix on the stage of the page, and the group of every step in its strip.

Both follow from facts of the items: titles, rules, what is a logit or a weight, what reads what.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from symattn.derivations import Derivation, Item, Step
from symattn.notation.letters import GRADIENT, derived_from, is_backward

#: The colours of queries, keys and values, by the words of a title.
ROLES: Mapping[str, str] = {"q": "quer(?:y|ies)", "k": "keys?", "v": "values?"}

#: The colour of weights.
WEIGHTS = "a"

PROJECT, COMPARE, NORMALISE, MIX = "Project", "Compare", "Mask and normalise", "Mix"


def role_of(item: Item) -> str:
    """The colour of an item: q, k, v, a, or none."""
    if item.weights:
        return WEIGHTS
    found = [role for role, word in ROLES.items() if re.search(rf"\b{word}\b", item.title)]
    return found[0] if len(found) == 1 else ""


@dataclass(frozen=True)
class Parts:
    """A derivation, and the part that each of its items has."""

    derivation: Derivation

    @cached_property
    def items(self) -> dict[str, Item]:
        """Inputs and steps by their letters."""
        return {item.letter: item for item in (*self.derivation.inputs, *self.derivation.steps)}

    @cached_property
    def _before(self) -> dict[str, set[str]]:
        """The letters that each item is computed from, at however many steps' remove."""
        found: dict[str, set[str]] = {}
        for letter, item in self.items.items():
            read = item.operands if isinstance(item, Step) else ()
            found[letter] = set(read).union(*(found.get(one, set()) for one in read))
        return found

    def base(self, item: Item) -> Item | None:
        """Of what an item is the gradient; None for any other."""
        derived = derived_from(item.letter)
        if derived is None or derived[0] != GRADIENT:
            return None
        return self.items.get(derived[1])

    def role(self, item: Item) -> str:
        """The colour of an item: q, k, v, a, or none; a gradient has that of its matrix."""
        return role_of(self.base(item) or item)

    @cached_property
    def _projected(self) -> set[str]:
        """What queries, keys and values are made of, and they themselves."""
        own = {
            letter
            for letter, item in self.items.items()
            if self.role(item) in ROLES or (isinstance(item, Step) and item.rule == "projection")
            if not self._mixes(item)
        }
        return own.union(*(self._before[letter] for letter in own))

    @cached_property
    def _masks(self) -> bool:
        return any(one.fixed and (one.logits or one.boolean) for one in self.items.values())

    @cached_property
    def weights(self) -> Item | None:
        """The weights, by which a page tells where a query looks; of several the last."""
        return next((item for item in reversed(self.items.values()) if item.weights), None)

    def group(self, step: Step) -> str:
        """Project, compare, mask and normalise, or mix; or back through one of them."""
        base = self.base(step)
        if base is None:
            return f"Backward: {self._of(step).lower()}" if step.is_number else self._of(step)
        readers = (one for one in self.derivation.steps if base.letter in one.operands)
        return f"Backward: {self._of(next(readers, base)).lower()}"

    def _mixes(self, item: Item) -> bool:
        return any(self.items[letter].weights for letter in self._before[item.letter])

    def _of(self, item: Item) -> str:
        if self._mixes(item):
            return MIX
        before = [self.items[letter] for letter in self._before[item.letter]]
        hides = any(one.fixed and (one.logits or one.boolean) for one in (*before, item))
        if item.weights or hides or (any(one.logits for one in before) and not item.logits):
            return NORMALISE if self._masks else "Normalise"
        if item.logits or item.letter not in self._projected:
            return COMPARE
        return PROJECT

    def groups(self, steps: Sequence[Step]) -> list[tuple[str, list[Step]]]:
        """The steps in their order, those of one group that follow one another together."""
        return [(group, [*some]) for group, some in groupby(steps, self.group)]

    def is_main(self, step: Step) -> bool:
        """Whether it is looked for first: scores, weights, the result, the last gradient."""
        forward = [one for one in self.derivation.steps if not is_backward(one.letter)]
        scores = next((one for one in forward if one.logits and not one.fixed), None)
        return any(
            step is one for one in (scores, self.weights, forward[-1], self.derivation.steps[-1])
        )
