"""What if: common mistakes are tried in place, as the derivation that is changed so has them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from symattn import VARIANTS, Notation
from symattn.derivations import Derivation, Evaluation
from symattn.documents.html import html_document
from symattn.documents.shown import Shown, Supposed
from symattn.errors import SymattnError
from symattn.mistakes.hypotheses import supposed
from tests.documents.page.opening import cells, settled, sheet, variant
from tests.documents.page.subjects import texts_of

OUTLINED = """() => {
    const keys = [...document.querySelectorAll("td.differs")].map((cell) => cell.key);
    return [...new Set(keys)];
}"""


def page_of(derivation: Derivation, values: Evaluation) -> tuple[str, tuple[Supposed, ...]]:
    offered = supposed(derivation, values)
    return html_document(Shown(derivation, values, supposed=offered)), offered


def done_so(derivation: Derivation, values: Evaluation, one: Supposed) -> dict[str, str]:
    """What every cell shows of the derivation with these steps; nothing where it has no value."""
    heads = {size: count for size, count in values.sizes.items() if size.name in ("h", "g")}
    others = {size: count for size, count in values.sizes.items() if size not in heads}
    right = replace(derivation.subs(others), sizes=heads)
    steps = tuple(one.steps.get(step.name, step) for step in right.steps)
    changed = replace(right, steps=steps)
    given = {item.name: values.exact(item.letter).tolist() for item in derivation.inputs}
    try:
        return dict(texts_of(changed.evaluate(**given), Notation()))
    except SymattnError:
        return {}


def hold(page: Any, words: str) -> Any:
    button = page.locator("button.supposed", has_text=words).first
    button.scroll_into_view_if_needed()
    box = button.bounding_box()
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.mouse.down()
    return settled(page)


def release(page: Any) -> Any:
    page.wait_for_timeout(350)
    page.mouse.up()
    return settled(page)


def compared(page: Any, derivation: Derivation, values: Evaluation, one: Supposed) -> int:
    """How many cells are outlined while it is held, each as the changed derivation has it."""
    before = cells(page)
    wanted = done_so(derivation, values, one)
    shown = cells(hold(page, one.instead))
    outlined = set(page.evaluate(OUTLINED))
    # where something is divided by 0 the page says more than that the digits are not known
    found = {key: shown[key].replace("undefined", "?") for key in wanted}
    assert found == wanted
    assert wanted or "undefined" in shown.values()
    assert outlined == {key for key in shown if shown[key] != before[key]}
    assert cells(release(page)) == before
    assert page.evaluate(OUTLINED) == []
    assert page.evaluate("location.hash") == ""
    return len(outlined)


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["two_heads", "causal", "it_cat_mat"])
def test_cells_change_in_place_while_it_is_held(name: str, opened: Callable[..., Any]) -> None:
    derivation, values = sheet(name)
    document, offered = page_of(derivation, values)
    page = opened(document)
    assert len(offered) > 1
    assert all(compared(page, derivation, values, one) for one in offered)


@pytest.mark.nightly
@pytest.mark.parametrize("name", [row.name for row in VARIANTS])
def test_variants(name: str, opened: Callable[..., Any]) -> None:
    derivation, values = variant(name)
    document, offered = page_of(derivation, values)
    page = opened(document)
    for one in offered:
        compared(page, derivation, values, one)


def test_another_mistake_would_be_seen(opened: Callable[..., Any]) -> None:
    derivation, values = sheet("causal")
    document, (first, second, *_) = page_of(derivation, values)
    with pytest.raises(AssertionError):
        compared(opened(document), derivation, values, replace(second, instead=first.instead))


@pytest.mark.nightly
def test_a_key_or_a_short_press_leaves_it_so(opened: Callable[..., Any]) -> None:
    document, (one, other, *_) = page_of(*sheet("causal"))
    page = opened(document)
    before = cells(page)
    button = page.locator("button.supposed", has_text=one.instead)
    button.focus()
    page.keyboard.press("Enter")
    assert button.get_attribute("aria-pressed") == "true"
    told = settled(page).locator("#state").inner_text()
    assert told == f"As if {one.instead}. Every digit is proven anew."
    assert page.locator(".tell:visible", has_text=one.tell).count() == 1
    changed = cells(page)
    assert changed != before
    page.locator("button.supposed", has_text=other.instead).click()  # in the place of the first
    assert button.get_attribute("aria-pressed") == "false"
    assert cells(settled(page)) not in (before, changed)
    page.locator("button.supposed", has_text=other.instead).click()
    assert cells(settled(page)) == before
    assert page.locator("#state").inner_text() == "Every digit is proven."


def test_a_backward_pass_has_none() -> None:
    derivation, values = sheet("causal")
    backward = derivation.gradient("X")
    given = {item.name: values.exact(item.letter).tolist() for item in derivation.inputs}
    loss = {item.name: [[1, 0]] * 3 for item in backward.inputs if item.name not in given}
    assert supposed(backward, backward.evaluate(**given, **loss)) == ()
