"""The part of a derivation that follows from matrices that are given in its midst."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from symattn.errors import SymattnError, nearest, quote
from symattn.step import Input, Item, Step, leading_to


def restricted(
    inputs: Sequence[Input], steps: Sequence[Step], names: Collection[str]
) -> tuple[tuple[Input, ...], tuple[Step, ...]]:
    """The inputs and steps that are left where the named inputs or steps are given.

    Raises `SymattnError` for a name that is no part of these, and for one that leads nowhere.
    """
    items: dict[str, Item] = {item.name: item for item in (*inputs, *steps)}
    for name in names:
        if name not in items:
            raise SymattnError(
                f"{quote(name)} is not part of this derivation{nearest(name, items)}"
            )
    available = {items[name].letter for name in names}
    possible: list[Step] = []
    for step in steps:
        if step.name not in names and set(step.operands) <= available:
            possible.append(step)
            available.add(step.letter)
    free = [step for step in steps if step.name not in names]
    read = {letter for step in steps for letter in step.operands}
    wanted = leading_to(free, {step.letter for step in free} - read)
    kept = tuple(step for step in possible if step.letter in wanted)
    used = {letter for step in kept for letter in step.operands}
    listed = ", ".join(sorted(names)) or "nothing"
    if not any(step.operands for step in kept):
        needs = ", ".join(item.name for item in inputs)
        raise SymattnError(f"given: {listed} leads to no step; this attention needs {needs}")
    for name in names:
        if items[name].letter not in used:
            raise SymattnError(_unused(items[name], items, steps, available, names))
    return tuple(Input.of(item) for name, item in items.items() if name in names), kept


def _unused(
    item: Item,
    items: Mapping[str, Item],
    steps: Sequence[Step],
    available: set[str],
    names: Collection[str],
) -> str:
    """Why a matrix that is given leads nowhere, and how to mend it."""
    by_letter = {other.letter: other.name for other in items.values()}
    for step in steps:
        if item.letter in step.operands and step.name not in names:
            missing = [by_letter[x] for x in step.operands if x not in available]
            if missing:
                return f"{item.name}: {step.name} needs {' and '.join(missing)} too; give that"
    return f"{item.name}: no step needs it besides the other inputs; remove it"
