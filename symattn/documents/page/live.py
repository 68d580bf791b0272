"""What of a page's derivation a reader may change: its inputs, masks, and the temperature."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from symattn.derivations import Derivation, Step
from symattn.nodes.masks import added_mask
from symattn.notation.letters import GRADIENT


@dataclass(frozen=True)
class Live:
    """The letters of what is given to the page, and the letter that the temperature divides."""

    letters: tuple[str, ...]
    tempered: str


def live(derivation: Derivation) -> Live:
    """What may be changed on the page of a derivation.

    The temperature divides what the weights are made of: the last scores before softmax,
    sparsemax or sigmoid, and before a mask of 0 and −∞, which it would not change. There is none
    where these are given themselves, where it would cancel, and where there is a backward pass,
    whose formulas are those of the attention without it.
    """
    by_letter = {step.letter: step for step in derivation.steps}
    tempered = next(
        (
            by_letter[letter]
            for step in derivation.steps
            if getattr(step.expr, "sharpens", False)
            for letter in step.operands[:1]
            if letter in by_letter
        ),
        None,
    )
    tempered = _before_mask(tempered, by_letter)
    items = (*derivation.inputs, *derivation.steps)
    if any(GRADIENT + item.letter in by_letter for item in items):
        tempered = None
    # a reader may set a mask, unless it follows from what is given, which may be set instead
    masks = (step.letter for step in derivation.steps if step.fixed and not step.operands)
    letters = (*(item.letter for item in derivation.inputs), *masks)
    return Live(letters, "" if tempered is None else tempered.letter)


def _before_mask(step: Step | None, by_letter: Mapping[str, Step]) -> Step | None:
    """The step whose scores have a mask by rule added to them, if this step does no more."""
    if step is None or added_mask(step.expr) is None:
        return step
    scores, *masks = step.operands
    by_rule = all(mask in by_letter and by_letter[mask].fixed for mask in masks)
    return by_letter[scores] if by_rule and scores in by_letter else step
