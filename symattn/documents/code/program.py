"""A derivation as the operations of a program: its formulas run once over symbolic shapes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import sympy

from symattn.arithmetic.recorded import Recorded, Recording
from symattn.derivation import Derivation
from symattn.evaluate.values import program_of_step
from symattn.step import Input, Step

#: A parameter that divides what the weights are made of; 1 leaves everything as it is.
TEMPERATURE = "temperature"


@dataclass(frozen=True)
class Program:
    """What is given and what each step is, as values of operations.

    `sizes` are known beforehand, `order` is that in which sizes are listed.
    """

    inputs: tuple[tuple[Input, Recorded], ...]
    steps: tuple[tuple[Step, Recorded], ...]
    parameters: tuple[Recorded, ...] = ()
    sizes: Mapping[sympy.Symbol, int] | None = None
    order: tuple[str, ...] = ()


def recorded(derivation: Derivation, *, given: Collection[str] = (), tempered: str = "") -> Program:
    """The program of a derivation for any sizes.

    Steps whose names are `given` become inputs. The step named `tempered` is divided by a
    parameter, `TEMPERATURE`. Raises `CannotSpell` for a formula that cannot be followed.
    """
    recording = Recording()
    heads = {item.count for item in (*derivation.inputs, *derivation.steps)}
    said = {size: count for size, count in derivation.sizes.items() if size in heads}
    derivation = replace(  # a number of heads that was said is in formulas, too
        derivation,
        inputs=tuple(item.subs(said) for item in derivation.inputs),
        steps=tuple(step.subs(said) for step in derivation.steps),
    )
    steps = [step for step in derivation.steps if step.name not in given]
    taken = [step for step in derivation.steps if step.name in given]
    inputs = []
    for item in (*derivation.inputs, *map(Input.of, taken)):
        shape = item.shape if item.count is None else (item.count, *item.shape)
        inputs.append((item, recording.given(item.letter, shape, logits=item.logits)))
    known: dict[str, Any] = {item.letter: value for item, value in inputs}
    temperature = recording.given(TEMPERATURE, ())
    found = []
    for step in steps:
        value: Any = program_of_step(step, {})(known.__getitem__, recording)
        if step.name == tempered:
            value = recording.divide(value, temperature)
        known[step.letter] = value
        found.append((step, value))
    return Program(
        tuple(inputs),
        tuple(found),
        (temperature,) if tempered else (),
        derivation.sizes,
        derivation.order,
    )
