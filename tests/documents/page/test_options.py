"""What `derive` is asked for and the page shows: entries, Falk's scheme, claims, views."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests import ROOT
from tests.command import run
from tests.documents.page.opening import entered, settled
from tests.shares import share

CAUSAL = str(ROOT / "examples" / "causal.toml")
CLAIMED = str(ROOT / "examples" / "checked_hand_calculation.toml")


def derived(tmp_path: Path, source: str, *options: str) -> str:
    """The page that the command writes."""
    path = tmp_path / "derived.html"
    run("derive", source, "--format", "html", *options, "-o", str(path), status=0)
    return path.read_text(encoding="utf-8")


def test_an_entry_that_is_asked_for_is_chosen(tmp_path: Path, opened: Callable[..., Any]) -> None:
    page = opened(derived(tmp_path, CAUSAL, "--entry", "weights[2,1]"))
    assert page.locator("#origin .where").inner_text().startswith("weights: cat, the.")
    assert page.locator('#weights .home tr[data-r="1"] td[data-c="0"].chosen').count() == 1
    worked = page.locator("#weights .worked")
    assert worked.get_attribute("data-entry") == "A||1|0"
    first = page.locator("#origin .line").inner_html()
    assert worked.inner_html() == first
    page.keyboard.press("Escape")
    entered(page, "#decimals", "6")
    assert worked.get_attribute("data-entry") == "A||1|0"  # the same entry, to more digits
    assert worked.inner_html() != first


@pytest.mark.parametrize("width", share([375, 1440], 2))
def test_products_stand_in_falks_scheme(
    width: int, tmp_path: Path, opened: Callable[..., Any]
) -> None:
    page = opened(derived(tmp_path, CAUSAL, "--notation", "layout=falk"), width=width)
    assert page.locator(".falk").count() == 5  # three projections, the scores, the output
    page.locator('#scores .home tr[data-r="1"] td[data-c="2"]').focus()
    lit = page.evaluate("""() => [...document.querySelectorAll(
        "#scores .above td.source")].map((cell) => [cell.key, cell.dataset.c])""")
    assert lit == [["K||2|0", "2"], ["K||2|1", "2"]]  # a column of the transpose, a row of K
    edges = page.evaluate("""() => [".above", ".product"].map((side) =>
        [...document.querySelectorAll(`#scores ${side} tr[data-r="0"] td`)].map(
            (cell) => Math.round(cell.getBoundingClientRect().right)))""")
    assert edges[0] == edges[1]
    heights = page.evaluate("""() => [".left", ".product"].map((side) =>
        [...document.querySelectorAll(`#scores ${side} tbody tr`)].map(
            (row) => Math.round(row.getBoundingClientRect().top)))""")
    assert heights[0] == heights[1]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_merged_step_says_why_it_has_no_scheme(tmp_path: Path) -> None:
    told = ["--notation", "layout=falk", "--steps", "weights,output", "--format", "html"]
    done = run("derive", CAUSAL, *told, "-o", str(tmp_path / "page.html"))
    assert "layout falk: weights: html draws no merged formula so" in done.stderr
    assert done.exit_code == 0


def test_claims_stand_beside_what_is_proven(tmp_path: Path, opened: Callable[..., Any]) -> None:
    page = opened(derived(tmp_path, CLAIMED))
    first, reason, *_ = page.locator(".claims").all_inner_texts()
    assert "19 of 33 numbers are right." in first
    assert reason.startswith("Consistent with softmax-over-columns: ")
    assert (
        page.locator("#scores .claimed").inner_text().endswith("All 9 claimed numbers are right.")
    )
    cell = page.locator("#weights .claimed tbody tr").first.locator("td").nth(1)
    assert cell.inner_text().split() == ["wrong", "✗", "0.25"]
    listed = page.locator("#weights .claimed li").all_inner_texts()
    assert listed[0].startswith("wrong: weights[1,2], 0.25 for 0.4011; ")
    assert len(listed) == len({text.partition(":")[0] for text in listed})  # each verdict once
    assert "→ 1.70" in page.locator("#output .claimed table").inner_text()
    page.locator('#output .home tr[data-r="0"] td[data-c="0"]').focus()
    assert page.locator("#origin .verdict").inner_text() == (
        "Claimed: 1.70, true value 2.5933; follows from weights[1,2] and weights[1,3]."
    )
    assert page.locator(".void").is_hidden()


def test_marks_are_void_once_a_number_is_changed(
    tmp_path: Path, opened: Callable[..., Any]
) -> None:
    page = opened(derived(tmp_path, CLAIMED))
    page.locator('#output .home tr[data-r="0"] td[data-c="0"]').focus()
    page.locator('#given table[data-m="V"] td[data-c]').first.focus()
    page.keyboard.type("7")
    page.locator("#more").focus()
    settled(page)
    assert page.locator(".void").is_visible()
    assert page.locator(".claims:visible").count() == 0
    assert page.locator(".claimed:visible").count() == 0
    page.locator('#output .home tr[data-r="0"] td[data-c="0"]').focus()
    assert page.locator("#origin .verdict").count() == 0
    page.click("#reset")
    assert page.locator(".claims").first.is_visible()
    assert page.locator(".void").is_hidden()


def test_claims_of_steps_that_are_left_out_are_counted(tmp_path: Path) -> None:
    page = derived(tmp_path, CLAIMED, "--steps", "weights,output")
    assert "18 of them not shown: they are about steps that are left out here." in page


def test_worked_lines_stand_without_values(tmp_path: Path, opened: Callable[..., Any]) -> None:
    page = opened(derived(tmp_path, CAUSAL, "--view", "formula,worked"))
    assert page.locator("#weights .worked math").first.is_visible()
    assert page.locator("#weights table").count() == 0


def test_a_field_is_called_what_stands_beside_it(
    tmp_path: Path, opened: Callable[..., Any]
) -> None:
    """By its label, which names it, and by its id, for what knows of no label around a field."""
    page = opened(derived(tmp_path, CAUSAL), width=1440)
    page.click("#more")
    for name, role in (("Temperature", "textbox"), ("Decimals", "spinbutton")):
        field = page.get_by_role(role, name=name, exact=True)
        assert field.get_attribute("id") == name.lower()
        assert page.locator(f"label[for={name.lower()}]").inner_text().strip() == name
    unnamed = """(fields) => fields.filter((field) => !field.ariaLabel
        && !document.querySelector(`label[for="${field.id}"]`)).length"""
    assert page.locator("#controls input").evaluate_all(unnamed) == 0
