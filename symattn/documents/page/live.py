"""The program of a page that recomputes: the derivation as JavaScript, with a temperature.

It stands there once and is run twice: with floats at once, and then with certified numbers, for
which the functions that compute (not those that move entries about) are replaced.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from symattn.derivations import Derivation, Step
from symattn.documents.code.languages import JAVASCRIPT, functions
from symattn.documents.code.program import recorded
from symattn.documents.code.spell import names, spelled
from symattn.documents.page.frame import FILES
from symattn.nodes.entrywise import Exponential
from symattn.nodes.masks import Masked
from symattn.nodes.normalise import Normaliser
from symattn.notation.letters import GRADIENT

_SCALARS = functions(FILES / "scalars.js", r"const (\w+)")

#: JavaScript in which every number is made of whole ones.
_LANGUAGE = replace(  # nobody calls a page's functions from outside
    JAVASCRIPT,
    numbers={
        "root": "root({0})",
        "power": "raised({0}, {1}, {2})",
        "quotient": "quotientOf({0}, {1})",
        "product": "productOf({0})",
        "sum": "sumOf({0})",
        "function": 'ofNumber("{0}", {1})',
        "pi": "circle()",
    },
    operations={
        **JAVASCRIPT.operations,
        "powers": "matrix(range(0, {1}, 2).map((t) => raised({0}, {sign}t, {1:a})))",
    },
    helpers={**JAVASCRIPT.helpers, **_SCALARS},
    offered=(),
)

#: What is called by `certified_arrays.js` and the page, beside what the program calls.
_SHARED = ("each", "rows", "array", "range", "broadcast", "together", "count", "transpose")

#: A function of JavaScript.
_FUNCTION = re.compile(r"(?ms)^(const|function\*?) (\w+)(.*)")


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
    sparsemax or sigmoid, and before a mask of 0 and −∞, which it would not change. There is none
    where these are given themselves, where it would cancel, and where there is a backward pass,
    whose formulas are those of the attention without it.
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
    tempered = _before_mask(tempered, by_letter)
    items = (*derivation.inputs, *derivation.steps)
    if any(GRADIENT + item.letter in by_letter for item in items):
        tempered = None
    # a reader may set a mask, unless it follows from what is given, which may be set instead
    masks = tuple(step.name for step in derivation.steps if step.fixed and not step.operands)
    name = "" if tempered is None else tempered.name
    program = recorded(derivation, given=masks, tempered=name, matrices=True)
    letters = tuple(item.letter for item, _ in program.inputs)
    return Live(
        _twice(spelled(program, _LANGUAGE)),
        letters,
        "" if tempered is None else tempered.letter,
        names(program),
    )


def _before_mask(step: Step | None, by_letter: Mapping[str, Step]) -> Step | None:
    """The step whose scores have a mask by rule added to them, if this step does no more."""
    if step is None or not isinstance(step.expr, Masked):
        return step
    scores, *masks = step.operands
    by_rule = all(mask in by_letter and by_letter[mask].fixed for mask in masks)
    return by_letter[scores] if by_rule and scores in by_letter else step


def _sharpens(step: Step) -> bool:
    """Whether the step turns scores into weights so that a temperature matters."""
    expr = step.expr
    return isinstance(expr, Exponential) or (isinstance(expr, Normaliser) and expr.additive_mask)


def _twice(program: str) -> str:
    """The program and the functions that it calls, as a function of what replaces some of them."""
    arrays = (FILES / "certified_arrays.js").read_text(encoding="utf-8")
    replaced = set(re.findall(r"(?m)^    (\w+):", arrays))
    kept, replaceable = [], []
    for text in _LANGUAGE.needed(" ".join((program, *(f"{name}()" for name in _SHARED)))):
        found = _FUNCTION.search(text)
        assert found is not None
        begin, name, rest = found.groups()
        if name not in replaced:
            kept.append(text)
        elif begin == "const":
            replaceable.append(f"const {name} = own.{name} || ({rest.removeprefix(' = ')[:-2]});\n")
        else:
            replaceable.append(f"const {name} = own.{name} || function {name}{rest[:-1]};\n")
    shared = ", ".join(_SHARED)
    return "\n".join(
        [
            "const calculation = (Float64Array, replacing) => {",
            *kept,
            f"const own = replacing({{ {shared} }});",
            *replaceable,
            program,
            "return { attention, transpose };",
            "};",
        ]
    )
