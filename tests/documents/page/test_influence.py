"""What an entry reaches: the page against NumPy, which computes with another number in its place."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from symattn import VARIANTS, Notation
from symattn.derivation import Derivation, Evaluation
from symattn.documents.html import html_document
from tests.documents.page.opening import sheet, variant
from tests.shares import share

NAMES = tuple(row.name for row in VARIANTS)

#: How much an entry is changed by, none of them as the page does it.
CHANGES = (0.917, -0.613, 2.71, -3.3, 14.1, -12.7, 1500.7, -1300.3)


def generic(derivation: Derivation, values: Evaluation) -> Evaluation:
    """The derivation of random decimals, of which no product or difference is 0 by chance."""
    rng = random.Random(derivation.title)

    def number(old: Any) -> str:
        return str(Fraction(rng.randrange(100, 1000) * (1 if old > 0 else rng.choice((1, -1))), 999))

    given = {}
    for item in derivation.inputs:
        array = values.given[item.letter]
        chosen = item.boolean or item.name == "one_hot"
        given[item.name] = array if chosen else np.vectorize(number, otypes=[object])(array)
    return derivation.evaluate(**given)


def changed(derivation: Derivation, values: Evaluation) -> dict[str, set[str]]:
    """What changes with each entry that is given, in NumPy."""
    floats = {i.name: np.asarray(values.array(i.letter), dtype=float) for i in derivation.inputs}
    found: dict[str, set[str]] = {}
    for item in derivation.inputs:
        for place in np.ndindex(*floats[item.name].shape):
            others: list[float] = [floats[item.name][place] + change for change in CHANGES]
            if item.boolean:
                others = [1 - floats[item.name][place]]
            found[key(item.letter, place, item.per_head)] = {
                entry
                for other in others
                for entry in differing(derivation, values, floats, item.name, place, other)
            }
    return found


def differing(
    derivation: Derivation,
    values: Evaluation,
    floats: Mapping[str, Any],
    name: str,
    place: tuple[int, ...],
    other: float,
) -> set[str]:
    """The entries that differ with another number in one place."""
    given = {key: array.copy() for key, array in floats.items()}
    given[name][place] = other
    for item in derivation.inputs:
        if item.boolean:
            given[item.name] = given[item.name].astype(bool)
    with np.errstate(all="ignore"):
        then = derivation.evaluate(**given)
        out = set()
        for step in derivation.steps:
            old, new = (np.asarray(x.array(step.letter), dtype=float) for x in (values, then))
            size = np.maximum(abs(old), abs(new))
            near = 1e-9 * size + 1e-14 * max(1, other**2)
            apart = (old != new) & ~np.isnan(new) & (np.isinf(size) | (abs(old - new) > near))
            out |= {key(step.letter, tuple(at), step.per_head) for at in np.argwhere(apart)}
    return out


def key(letter: str, place: tuple[int, ...], per_head: bool) -> str:
    head = place[0] if per_head else ""
    return f"{letter}|{head}|{place[-2]}|{place[-1]}"


def lit(page: Any, keys: Any) -> dict[str, list[list[str]]]:
    """What the page says of each entry: what changes, and what is computed from it."""
    found: dict[str, list[list[str]]] = page.evaluate(
        """(keys) => Object.fromEntries(keys.map((key) => {
            const [m, h, i, j] = key.split("|");
            return [key, symattn.reaches(m, Number(i), Number(j), h === "" ? null : Number(h))];
        }))""",
        list(keys),
    )
    return found


def faults(page: Any, derivation: Derivation, values: Evaluation) -> list[str]:
    """Entries that light up and do not change, and those that change and stay dark."""
    expected = changed(derivation, values)
    wrong = []
    for one, (shown, read) in lit(page, expected).items():
        wrong += [f"{one} does not change {other}" for other in {*shown} - expected[one]]
        wrong += [f"{one} changes {other}" for other in expected[one] - {*shown}]
        assert {*shown} <= {*read}
    return wrong


@pytest.mark.parametrize("name", share(NAMES, 8, 3))
@pytest.mark.parametrize("of", ["generic numbers", "small numbers"])
def test_what_lights_up_is_what_changes(of: str, name: str, opened: Callable[..., Any]) -> None:
    derivation, values = variant(name)
    if of == "generic numbers":
        values = generic(derivation, values)
    page = opened(html_document(derivation, values))
    assert faults(page, derivation, values) == []


