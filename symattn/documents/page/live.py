"""The program of a page that recomputes: the derivation as JavaScript, with a temperature."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from symattn.derivation import Derivation, Step
from symattn.documents.code.languages import LANGUAGES
from symattn.documents.code.program import recorded
from symattn.documents.code.spell import names, spelled
from symattn.documents.page.frame import scripts
from symattn.nodes.entrywise import Exponential
from symattn.nodes.normalise import Normaliser


@dataclass(frozen=True)
class Live:
    """The program, the letters it wants as input, and the letter that the temperature divides.

    `names` are those that the program has for each letter.
    """

    code: str
    letters: tuple[str, ...]
    tempered: str
    names: Mapping[str, str]


def live_program(derivation: Derivation) -> Live:
    """The derivation's program.

    The temperature divides what the weights are made of: the last scores before softmax,
    sparsemax or sigmoid. There is none where these are given themselves, or where it would cancel.
    """
    by_letter = {step.letter: step for step in derivation.steps}
    tempered = next(
        (
            by_letter[letter]
            for step in derivation.steps
            if _sharpens(step)
            for letter in step.operands[:1]
            if letter in by_letter
        ),
        None,
    )
    masks = tuple(step.name for step in derivation.steps if step.fixed)  # a reader may set them
    name = "" if tempered is None else tempered.name
    program = recorded(derivation, given=masks, tempered=name, matrices=True)
    language = LANGUAGES["javascript"]
    code = spelled(program, language)
    code = "\n".join([*language.needed(code + scripts()), code])
    letters = tuple(item.letter for item, _ in program.inputs)
    return Live(code, letters, "" if tempered is None else tempered.letter, names(program))


def _sharpens(step: Step) -> bool:
    """Whether the step turns scores into weights so that a temperature matters."""
    expr = step.expr
    return isinstance(expr, Exponential) or (isinstance(expr, Normaliser) and expr.additive_mask)
