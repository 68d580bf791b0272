"""What an entry reaches: the page against NumPy, which computes with another number there."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from symattn import VARIANTS, Notation
from symattn.attention.example import small_example
from symattn.derivations import Derivation, Evaluation
from symattn.documents.html import html_document
from symattn.documents.shown import Shown
from tests.documents.page.opening import variant, variant_page
from tests.shares import share

NAMES = tuple(row.name for row in VARIANTS)

#: How much an entry is changed by, none of them as the page does it.
CHANGES = (0.917, -0.613, 2.71, -3.3, 14.1, -12.7, 1500.7, -1300.3)


def generic(derivation: Derivation, values: Evaluation) -> Evaluation:
    """The derivation of random decimals, of which no product or difference is 0 by chance."""
    rng = random.Random(derivation.title)

    def number(old: Any) -> str:
        return str(
            Fraction(rng.randrange(100, 1000) * (1 if old > 0 else rng.choice((1, -1))), 999)
        )

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
            known = float(floats[item.name][place])
            others = [known + change for change in CHANGES]
            if item.boolean:
                others = [1 - known]
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
            # what rounding leaves where a sum cancels; no sum of exponentials does
            near = 1e-9 * size + (0 if step.weights else 1e-14 * max(1, other**2))
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


def faults(page: Any, expected: Mapping[str, set[str]]) -> list[str]:
    """Entries that light up and do not change, and those that change and stay dark."""
    wrong = []
    for one, (shown, read) in lit(page, expected).items():
        wrong += [f"{one} does not change {other}" for other in {*shown} - expected[one]]
        wrong += [f"{one} changes {other}" for other in expected[one] - {*shown}]
        assert {*shown} <= {*read}
    return wrong


@pytest.mark.parametrize(
    ("name", "of"), share(product(NAMES, ("generic numbers", "small numbers")), 92)
)
def test_what_lights_up_is_what_changes(name: str, of: str, opened: Callable[..., Any]) -> None:
    derivation, values = variant(name)
    if of == "generic numbers":
        values = generic(derivation, values)
    page = opened(html_document(Shown(derivation, values)))
    assert faults(page, changed(derivation, values)) == []


def test_a_mask_cuts_off_and_the_words_say_so(opened: Callable[..., Any]) -> None:
    derivation, values = variant("causal")
    page = opened(variant_page("causal"))
    expected = changed(derivation, values)
    expected["X||2|0"].add("A||0|0")  # the test can fail: nothing before a token changes with it
    assert faults(page, expected) == ["X||2|0 changes A||0|0"]
    page.locator('#given table[data-m="X"] tr[data-r="2"] td[data-c="0"]').focus()
    said = page.locator("#origin").inner_text()
    assert "Another number here changes" in said
    assert "stay the same, to nine digits" in said
    assert page.locator('#weights .home tr[data-r="0"] .from').count() == 0
    assert page.locator('#weights .home tr[data-r="2"] .from').count() == 3


def test_keys_turn_from_sources_to_what_is_reached(opened: Callable[..., Any]) -> None:
    page = opened(variant_page("causal"))
    page.locator('#scores .home tr[data-r="1"] td[data-c="0"]').focus()
    assert page.locator("#scores .home .chosen").count() == 1
    pressed = '#origin [data-way][aria-pressed="true"]'
    assert page.locator(pressed).inner_text() == "Comes from"
    page.keyboard.press("i")
    assert page.locator(pressed).inner_text() == "Reaches"
    assert page.locator('#scaled .home tr[data-r="1"] td[data-c="0"].source').count() == 1
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.dataset.way") == "back"
    page.keyboard.press("Shift+Tab")
    assert page.evaluate("document.activeElement.key") == "S||1|0"
    page.locator("#origin .close").click()
    assert page.locator("#origin").is_hidden()


def test_a_gradient_is_told_of_what_it_is_with_respect_to(opened: Callable[..., Any]) -> None:
    derivation, values = small_example(
        next(row.spec for row in VARIANTS if row.name == "causal"), tokens=3, gradient=()
    )
    page = opened(html_document(Shown(derivation, values)))
    page.locator('#given table[data-m="X"] tr[data-r="1"] td[data-c="0"]').focus()
    chip = page.locator('#origin .chip[data-key="dX||1|0"]')
    assert values.digits("dX", (1, 0), Notation()).text in chip.locator(
        "math"
    ).text_content().replace("\u2212", "-")
    chip.evaluate("(chip) => chip.click()")
    assert "dX: " in page.locator("#origin .where").inner_text()


def test_products_stand_with_the_heaviest_first(opened: Callable[..., Any]) -> None:
    _, values = variant("self")
    page = opened(variant_page("self"))
    page.locator('#output .home tr[data-r="2"] td[data-c="1"]').focus()
    weights = [
        float(text.split("≈")[-1].split("=")[-1])
        for text in page.locator("#origin .products li .chip:first-child math").all_text_contents()
    ]
    assert weights == sorted(weights, reverse=True) and len(weights) == 3
    adds = page.locator("#origin .products .adds math").all_text_contents()
    exact = [values.exact("A")[2, k] * values.exact("V")[k, 1] for k in range(3)]
    expected = sorted(f"{float(x):.4f}" for x in exact if x)
    shown = [t.replace("\n", "").replace("\u2212", "-") for t in adds]
    found = sorted(f"{float(t.split('≈')[-1].split('=')[-1]):.4f}" for t in shown)
    assert [x for x in found if float(x)] == [x for x in expected if float(x)]
