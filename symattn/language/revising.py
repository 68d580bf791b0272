"""Equations on top of a derivation: a step with a known name is replaced, all below follows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import sympy

from symattn.derivations import Derivation
from symattn.errors import ReadError
from symattn.language.equations import Facts, derivation_of
from symattn.language.texts import read_text
from symattn.nodes.heads import stack_of
from symattn.step import Input, Item, Step, leading_to


def revised(
    base: Derivation,
    text: str,
    *,
    given: Mapping[str, int] | None = None,
    facts: Facts | None = None,
) -> tuple[Derivation, tuple[str, ...]]:
    """The derivation with the equations of a text in it, and the names that nothing uses any more.

    An equation whose word, or whose letter, is that of a step takes its place; any other is a new
    step before its first use, or after all that it needs. Raises as `derivation` does, and
    `ReadError` for an input that is made or a text that changes nothing.
    """
    items: dict[str, Item] = {item.letter: item for item in (*base.inputs, *base.steps)}
    by_name = {item.name: item for item in items.values()}
    shapes = {letter: item.shape for letter, item in items.items()}
    counts = {letter: item.count for letter, item in items.items() if item.count is not None}
    read = read_text(text, {*(given or {}), *shapes})
    made = {equation.name for equation in read.equations} & set(items)
    own = derivation_of(
        text,
        {letter: shape for letter, shape in shapes.items() if letter not in made},
        given=given,
        counts={letter: count for letter, count in counts.items() if letter not in made},
        facts=facts,
    )
    replaced: dict[str, Step] = {}
    added: list[Step] = []
    for step in own.steps:
        old = by_name.get(step.name) or items.get(step.letter)
        if isinstance(old, Input):
            raise ReadError(f"{step.letter}: {old.name} is given in this attention, not made")
        if old is None:
            added.append(step)
        else:
            title = step.title if step.title and step.title != old.title else old.title
            replaced[old.letter] = replace(step, name=old.name, title=title, weights=old.weights)
    inputs = {item.letter: item for item in base.inputs}
    for item in own.inputs:
        if item.letter not in items:
            inputs[item.letter] = item
    steps = _placed(base, replaced, added)
    return _pruned(base, tuple(inputs.values()), steps)


def _placed(base: Derivation, replaced: Mapping[str, Step], added: list[Step]) -> list[Step]:
    """All steps, each after what it needs: new ones just before the first that needs them."""
    renamed = {old: step.symbol for old, step in replaced.items() if step.letter != old}
    waiting = {step.letter: step for step in added}
    out: list[Step] = []

    def add(step: Step) -> None:
        for letter in step.operands:
            if letter in waiting:
                add(waiting.pop(letter))
        out.append(step)

    for step in base.steps:
        kept = replace(step, expr=_with_symbols(step.expr, renamed))
        add(replaced.get(step.letter, kept))
    result = out[-1].letter
    while waiting:  # what the result is used by comes behind it, and is the new result
        add(waiting.pop(next(iter(waiting))))
    behind = {result}
    for step in out:
        behind |= {step.letter} if behind & set(step.operands) else set()
    return [*(s for s in out if s.letter not in behind), *(s for s in out if s.letter in behind)]


def _with_symbols(
    expr: sympy.MatrixExpr, renamed: Mapping[str, sympy.MatrixExpr]
) -> sympy.MatrixExpr:
    """The expression with other letters for some matrices."""
    symbols = expr.atoms(sympy.MatrixSymbol)
    return expr.xreplace({s: stack_of(renamed[s.name]) for s in symbols if s.name in renamed})


def _pruned(
    base: Derivation, inputs: tuple[Input, ...], steps: list[Step]
) -> tuple[Derivation, tuple[str, ...]]:
    """Without the steps and inputs that the last step does not need, and their names."""
    needed = leading_to(steps, {steps[-1].letter})
    kept = tuple(item for item in inputs if item.letter in needed)
    used = tuple(step for step in steps if step.letter in needed)
    unused = [item.name for item in (*inputs, *steps) if item.letter not in needed]
    return replace(base, inputs=kept, steps=used), tuple(unused)
