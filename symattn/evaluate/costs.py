"""What a step costs: multiplications, numbers that are kept, and what has to follow one another.

A step's own formula says it, over sizes alone, as it says its program. Source: Vaswani et al.,
*Attention Is All You Need* (2017), table 1, where complexity, sequential operations and path
lengths of layers are compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import sympy

from symattn.arithmetic.recorded import Recorded, Recording, Value
from symattn.evaluate.walk import Program, program_of, program_of_step
from symattn.step import Item, Step


@dataclass(frozen=True)
class Cost:
    """What a step costs at any sizes.

    `multiplications` are those of two numbers, divisions among them; `kept` the numbers of the
    result, of states those of one; `sequence` how many operations follow one another: one, or one
    for each token where a state is made of the one before.
    """

    name: str
    multiplications: sympy.Expr
    kept: sympy.Expr
    sequence: sympy.Expr


def costs_of(inputs: Sequence[Item], steps: Sequence[Step]) -> tuple[Cost, ...]:
    """The cost of each step, and of all together, which is called "".

    All steps together follow one another along the longest way from what is given to the last.
    Raises `CannotSpell` for a formula that cannot be followed over sizes.
    """
    shapes = {item.letter: _shape(item) for item in (*inputs, *steps)}
    costs = [_cost(step, shapes) for step in steps]
    ways: dict[str, sympy.Expr] = {}
    for step, cost in zip(steps, costs, strict=True):
        before = [ways[letter] for letter in step.operands if letter in ways]
        ways[step.letter] = cost.sequence + (sympy.Max(*before) if before else 0)
    last = ways[steps[-1].letter] if steps else sympy.S.Zero
    multiplications = sympy.Add(*(cost.multiplications for cost in costs))
    kept = sympy.expand(sympy.Add(*(cost.kept for cost in costs)))
    return (*costs, Cost("", multiplications, kept, last))


def _shape(item: Item) -> tuple[sympy.Expr, ...]:
    return item.shape if item.count is None else (item.count, *item.shape)


def _cost(step: Step, shapes: Mapping[str, tuple[sympy.Expr, ...]]) -> Cost:
    """The cost of a step, of which each token costs the same where states follow one another."""
    recording = Recording()

    @cache
    def given(letter: str) -> Value:
        shape = shapes.get(letter, tuple(step.shape))  # the state beside that of a token
        return recording.given(letter, shape, batched=False)

    rows, columns = step.shape
    if step.recurrent:
        programs, count = _of_one_token(step), step.expr.count
        each = sum(_multiplications(run(given, recording), set()) for run in programs)
        return Cost(step.name, sympy.expand(count * each), rows * columns, count)
    value = program_of_step(step, {})(given, recording)
    kept = sympy.Mul(*_shape(step))
    return Cost(step.name, sympy.expand(_multiplications(value, set())), kept, sympy.S.One)


def _of_one_token(step: Step) -> list[Program]:
    """What makes the state of a token that has neighbours."""
    body, index, _, start, _ = step.expr.args
    parts = (body, start) if step.expr.back else (body,)
    return [program_of(part.xreplace({index: sympy.S.One}), {}) for part in parts]


def _multiplications(x: Value, seen: set[Recorded]) -> sympy.Expr:
    """How many a value takes, with what it is made of; what is used twice is made once."""
    if not isinstance(x, Recorded) or x in seen:
        return sympy.S.Zero
    seen.add(x)
    parts = x.operands[-1:] if x.operation == "call" else x.operands  # the last is its formula
    return _own(x) + sympy.Add(*(_multiplications(part, seen) for part in parts))


def _own(x: Recorded) -> sympy.Expr:
    """How many an operation takes; positions are no numbers of the calculation."""
    entries, first = sympy.Mul(*x.shape), x.operands[0] if x.operands else None
    match x.operation:
        case "matmul" if isinstance(first, Recorded):
            return entries * first.shape[-1]
        case "inverse":
            return entries * x.shape[-1]
        case "multiply" | "divide" | "whole power" if not x.positional:
            return entries
    return sympy.S.Zero
