"""The stage before an audience: large digits, nothing else, and each value after a key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.documents.page.opening import sheet_page, variant_page

#: What is on the screen: digits too small to be read from afar, controls, and what is hidden.
SEEN = """() => {
    const seen = (element) => element.checkVisibility({ visibilityProperty: true });
    const all = (selector) => [...document.querySelectorAll(selector)];
    const sizes = all("#stage td.entry").filter((cell) => cell.textContent);
    const focal = all("#stage .focal.result");
    return {
        small: sizes.filter((cell) => parseFloat(getComputedStyle(cell).fontSize) < 40).length,
        digits: sizes.length,
        controls: all("button, input, select:not(h1 *), nav a").filter(seen)
            .map((one) => one.outerHTML),
        hidden: focal.filter((cell) => getComputedStyle(cell).color === "rgba(0, 0, 0, 0)").length,
        focal: focal.length,
        line: seen(document.querySelector("#stage .where")),
        closes: document.querySelector("#stage").classList.contains("closing"),
        over: document.documentElement.scrollWidth - innerWidth,
    };
}"""


@pytest.fixture
def board(opened: Callable[..., Any]) -> Callable[[str], Any]:
    def before_an_audience(document: str) -> Any:
        page = opened(document, width=1920, reduced_motion="reduce")
        page.set_viewport_size({"width": 1920, "height": 1080})
        page.keyboard.press("b")
        return page

    return before_an_audience


@pytest.mark.nightly
def test_each_value_comes_after_a_key(board: Callable[[str], Any]) -> None:
    page = board(sheet_page("causal"))
    assert page.evaluate(SEEN)["line"]  # what is going to be done
    for _ in range(40):
        page.keyboard.press("ArrowRight")
        asked = page.evaluate(SEEN)
        if asked["closes"]:
            break
        assert asked["hidden"] == asked["focal"] > 0
        assert not asked["line"]
        page.keyboard.press(" ")
        told = page.evaluate(SEEN)
        assert told["focal"] and told["hidden"] == 0
        assert told["line"]
    else:
        pytest.fail("the walk has no end")


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["causal", "multi-head", "biased"])
def test_digits_are_read_from_afar(name: str, board: Callable[[str], Any]) -> None:
    page = board(variant_page(name))
    for _ in range(60):
        seen = page.evaluate(SEEN)
        if seen["closes"]:
            break
        assert seen["digits"] and seen["small"] == 0
        assert seen["controls"] == []
        assert seen["over"] <= 0
        page.keyboard.press("ArrowRight")


def test_it_is_left_as_it_was_found(board: Callable[[str], Any]) -> None:
    page = board(sheet_page("causal"))
    page.keyboard.press("Escape")
    assert page.evaluate(SEEN)["controls"]
    assert page.locator("#stage").is_visible()
    page.keyboard.press("b")
    page.keyboard.press("s")
    assert page.locator("section#weights").is_visible()
    assert page.evaluate("document.body.className") == ""
