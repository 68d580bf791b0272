"""Matrices of the page as grids, their masked cells, and the picture of lines."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from symattn import Attention
from symattn.derivations import Derivation, Evaluation
from symattn.documents.html import html_document
from symattn.documents.page.matrices import MatrixView
from symattn.documents.shown import Shown
from symattn.notation.options import notation_of
from tests.documents.page.opening import entered, settled, sheet_page, variant, variant_page

#: Names from right to left, mixed, long, with accents apart, and of several code points.
NAMES = ["שלום עולם", "abc (שלום)", "a" * 60, "👩‍👩‍👧‍👦 and more of it", "e\u0301" * 20]


def named(names: list[str]) -> tuple[Derivation, Evaluation]:
    numbers = random.Random(1)
    derivation = Attention(mask="causal").derivation(
        labels={"n": names, "m": names}, title="כותרת and more"
    )
    rows = [[numbers.randint(-3, 3) for _ in range(2)] for _ in names]
    return derivation, derivation.evaluate(Q=rows, K=rows, V=rows)


def test_grids_what_a_choice_says_and_what_a_mask_cuts_off(opened: Callable[..., Any]) -> None:
    page = opened(sheet_page("causal"))
    roles = page.evaluate("""() => [...document.querySelectorAll("table")].map((table) => [
        table.getAttribute("role"), table.querySelectorAll('[tabindex="0"]').length])""")
    assert set(map(tuple, roles)) == {("grid", 1)}
    seen = page.locator("section#weights .home").aria_snapshot()
    for part in ('grid "weights, 3 by 3"', "columnheader", "rowheader", 'gridcell "the, the: 1"'):
        assert part in seen
    assert page.locator("[role=status], [aria-live], [role=alert]").count() == 1
    page.locator("section#scores .home td[data-c]").first.focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("#origin").is_visible()
    assert page.locator("#said").text_content() == ""
    page.keyboard.press("Enter")
    said = page.locator("#said").text_content()
    assert said.startswith("scores [the, cat] is 0. It comes from Q [the, column 1] 1;")
    page.locator("section#X td[data-c], #X td[data-c]").first.click()
    assert page.locator("#said").text_content().endswith("It is given.")
    page.locator("#output .home tr[data-r='1'] td").first.click()
    rows = page.locator("#given table[data-m='X'] td.from").evaluate_all(
        "(all) => [...new Set(all.map((cell) => cell.parentElement.dataset.r))]"
    )
    assert rows == ["0", "1"]


def test_keys_of_a_grid(opened: Callable[..., Any]) -> None:
    page = opened(html_document(Shown(*named([f"t{k}" for k in range(12)]))))
    page.locator("section#scores button.open").click()
    table = page.locator("section#scores .home table")
    table.locator("td[data-c]").first.focus()
    for key, wanted in (
        ("End", "S||0|11"),
        ("ArrowRight", "S||0|11"),
        ("PageDown", "S||10|11"),
        ("PageDown", "S||11|11"),
        ("Home", "S||11|0"),
        ("PageUp", "S||1|0"),
        ("Control+End", "S||11|11"),
        ("ArrowUp", "S||10|11"),
        ("Control+Home", "S||0|0"),
        ("ArrowUp", "S||0|0"),
    ):
        page.keyboard.press(key)
        assert page.evaluate("document.activeElement.key") == wanted, key
        assert table.locator('[tabindex="0"]').count() == 1
    assert page.locator('[aria-selected="true"]').first.get_attribute("aria-label").startswith("t0")


@pytest.mark.nightly
def test_what_is_left_out_is_counted(opened: Callable[..., Any]) -> None:
    page = opened(html_document(Shown(*named([f"t{k}" for k in range(12)]))))
    table = page.locator("section#scores .home table")
    assert [table.get_attribute(f"aria-{of}count") for of in ("row", "col")] == ["13", "13"]
    last = table.locator("tr[data-r='11']")
    assert last.get_attribute("aria-rowindex") == "13"
    assert last.locator("td[data-c='11']").get_attribute("aria-colindex") == "13"
    assert last.locator("td.gap").get_attribute("aria-hidden") == "true"
    page.locator("section#scores button.open").click()
    assert table.get_attribute("aria-rowcount") is None


def test_names_cannot_disturb_what_is_around_them(opened: Callable[..., Any]) -> None:
    page = opened(html_document(Shown(*named(NAMES))), width=375)
    assert page.locator(".titled bdi").count() == 1
    heads = page.locator("section#scores .home tbody th")
    assert heads.all_text_contents() == NAMES
    directed = "(heads) => heads.map((head) => getComputedStyle(head).unicodeBidi)"
    assert set(heads.evaluate_all(directed)) == {"plaintext"}
    for name, title in zip(
        NAMES, [each.get_attribute("title") for each in heads.all()], strict=True
    ):
        assert title == (name if len(name) > 12 else None)
    page.locator("section#scores .home td[data-c]").first.click()
    where = page.locator("#origin .where").text_content()
    assert where.startswith(f"scores: \u2068{NAMES[0]}\u2069, \u2068{NAMES[0]}\u2069.")
    whole = page.locator(".lines-between [data-k] title").all_text_contents()
    assert whole == NAMES[2:]
    assert page.evaluate("document.documentElement.scrollWidth") <= 375


def test_a_masked_weight_is_not_a_small_one(opened: Callable[..., Any]) -> None:
    page = opened(sheet_page("causal"))
    masked = page.locator("section#weights .home td.masked")
    assert masked.count() == 3
    assert "masked" in page.locator("#weights .key").inner_text()
    drawn = masked.first.evaluate("(cell) => getComputedStyle(cell).backgroundImage")
    assert drawn.startswith("repeating-linear-gradient")
    page.locator("section#mask .switched td[data-c]").nth(1).press("Enter")
    settled(page)
    assert masked.count() == 2
    page.click("#reset")
    assert masked.count() == 3
    assert "w0 masked" not in variant_page("sparsemax")  # its zeros are computed


@pytest.mark.parametrize("name", ["causal", "masked", "biased", "causal-linear", "alibi", "self"])
def test_masked_is_what_a_mask_holds(name: str) -> None:
    derivation, values = variant(name)
    weights = next(item for item in derivation.steps if item.weights)
    for convention in ("rows", "columns"):
        notation = notation_of(None).but(convention=convention)
        matrix = MatrixView(weights, values, notation)
        found = {(h, i, j) for h, i, j in matrix.places(whole=True) if matrix.of(h).is_masked(i, j)}
        letters = {item.letter for item in (*derivation.inputs, *derivation.steps)}
        mask = values.array("M") if "M" in letters else None
        for head, i, j in matrix.places(whole=True):
            row, column = (j, i) if convention == "columns" else (i, j)
            hides = mask is not None and mask[row, column] == float("-inf")
            assert ((head, i, j) in found) == hides


def test_the_lines_of_the_query_that_is_followed_stand_out(opened: Callable[..., Any]) -> None:
    page = opened(sheet_page("causal"))
    lines = page.locator("#weights .lines-between line:not(.other)")
    assert {line.get_attribute("data-i") for line in lines.all()} == {"2"}
    page.locator(".lines-between [data-q='1']").click()
    assert {line.get_attribute("data-i") for line in lines.all()} == {"1"}
    assert page.locator(".lines-between .asked").all_text_contents() == ["cat"]
    assert page.locator(".say").inner_text().startswith("“cat” looks 50 %")
    line = page.locator(".lines-between [data-i='2'][data-j='2']")
    before = line.get_attribute("stroke-width")
    entered(page, "#temperature", "3")
    assert line.get_attribute("stroke-width") != before


def test_a_query_of_a_head_is_followed_there(opened: Callable[..., Any]) -> None:
    page = opened(sheet_page("two_heads"))
    figures = page.locator("#picture .head")
    assert figures.locator("figcaption").all_text_contents() == ["Head 1", "Head 2"]
    figures.nth(1).locator("[data-q='0']").click()
    row, head = page.locator("h1 select").all()
    assert (row.input_value(), head.input_value()) == ("0", "1")
    assert page.locator(".lines-between line:not(.other)[data-i='1']").count() == 0


def test_what_the_mouse_points_at_is_in_sight(opened: Callable[..., Any]) -> None:
    """At the end of the page the panel opens above, and the page stays where it is."""
    page = opened(sheet_page("causal"))
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    page.mouse.move(5, 5)
    cell = page.locator("#output .home td[data-c='0']").last
    cell.scroll_into_view_if_needed()
    before = cell.bounding_box()
    page.mouse.move(before["x"] + 5, before["y"] + 5)
    panel = page.locator("#origin").bounding_box()
    assert cell.bounding_box() == before
    assert panel["y"] + panel["height"] <= before["y"] or panel["y"] >= before["y"] + 10
    assert page.locator("#output .home td.chosen").count() == 1
