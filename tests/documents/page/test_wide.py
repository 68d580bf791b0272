"""What has to fit: three matrices in a line at 1440 pixels, the edited cell above the panel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symattn import Attention
from symattn.derivations import Derivation, Evaluation
from symattn.documents.html import html_document
from symattn.documents.shown import Shown
from tests.documents.page.opening import settled, sheet_page

#: How many lines the matrices of each step take.
LINES = """() => Object.fromEntries([...document.querySelectorAll(".strip")].map((strip) => {
    const bottoms = [...strip.children].map((one) => one.getBoundingClientRect().bottom);
    return [strip.closest("section").id, new Set(bottoms.map((y) => Math.round(y / 20))).size];
}))"""


def five() -> tuple[Derivation, Evaluation]:
    """Five tokens, five wide, with four decimals and signs."""
    rng = np.random.default_rng(1)
    names = {"n": ["the", "cat", "sat", "on", "mats"]}
    derivation = Attention(source="self").derivation(labels=names)
    given = {item.name: rng.normal(size=(5, 5)).round(4).tolist() for item in derivation.inputs}
    return derivation, derivation.evaluate(**given)


@pytest.mark.nightly
def test_three_matrices_five_wide_stand_in_one_line(opened: Callable[..., Any]) -> None:
    page = opened(html_document(Shown(*five())), width=1440)
    found = page.evaluate(LINES)
    assert {found[step] for step in ("Q", "K", "V", "output")} == {1}, found
    said, values = page.locator("#Q .said"), page.locator("#Q .values")
    assert said.bounding_box()["y"] < values.bounding_box()["y"]  # below what is said
    assert page.evaluate("document.documentElement.scrollWidth") <= 1440
    narrow = opened(html_document(Shown(*five())), width=375)
    assert narrow.evaluate("document.documentElement.scrollWidth") <= 375


def test_what_fits_beside_its_formulas_stays_there(opened: Callable[..., Any]) -> None:
    page = opened(sheet_page("causal"), width=1440)
    assert page.locator(".below").count() == 0
    closer = page.locator(".strips.close").evaluate_all(
        "(all) => all.map((x) => x.closest('.step').id)"
    )
    assert closer == ["masked"]
    assert page.evaluate(LINES)["masked"] == 1
    said, values = page.locator("#Q .said"), page.locator("#Q .values")
    assert values.bounding_box()["x"] > said.bounding_box()["x"] + 200


@pytest.mark.nightly
@pytest.mark.parametrize("height", [667, 740])
def test_the_panel_leaves_the_edited_cell_in_sight(height: int, opened: Callable[..., Any]) -> None:
    page = opened(sheet_page("causal"), width=375, has_touch=True)
    page.set_viewport_size({"width": 375, "height": height})
    for k in range(8):
        cell = page.locator(".dragged td[data-c]").nth(k)
        cell.tap()
        cell.tap()
        field = page.locator("td input")
        field.fill("7/3")
        field.press("Enter")
        settled(page)
        page.wait_for_function(
            """() => {
            const cell = document.querySelector("td[aria-selected=true]").getBoundingClientRect();
            const panel = document.querySelector("#origin").getBoundingClientRect();
            const bar = document.querySelector("#controls").getBoundingClientRect();
            return cell.top >= bar.bottom - 1 && cell.bottom <= panel.top + 1;
        }""",
            timeout=5000,
        )
