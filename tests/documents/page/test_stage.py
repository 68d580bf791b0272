"""The stage of the interactive page, one step at a time, and the strip that leads there."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy

from symattn import VARIANTS, Notation
from symattn.attention.example import small_example
from symattn.derivations import Derivation, Evaluation
from symattn.documents.html import html_document
from symattn.documents.page import frame
from symattn.documents.page.colour import ROLES, SCHEMES, contrast
from symattn.documents.shown import Shown
from symattn.sheets.worksheet import read_worksheet, worksheet_of
from tests import ROOT
from tests.command import run
from tests.documents.page.opening import entered, sheet, sheet_page, typed, variant
from tests.documents.page.test_page import axe_faults, digits_of, in_text
from tests.gates import CAUSAL
from tests.program import source
from tests.worked_lines import faults

NAMES = tuple(row.name for row in VARIANTS)
NOTATION = Notation()

#: What the stage shows: the step, where the walk is, every entry, and where each of its cells is.
SHOWN = """() => {
    const cells = [...document.querySelectorAll("#stage .entry")].map((cell) => {
        const {x, y, width} = cell.getBoundingClientRect();
        return {key: cell.key ?? null, spot: cell.spot ?? null, text: cell.textContent,
            empty: cell.classList.contains("empty"), label: cell.getAttribute("aria-label"),
            result: cell.classList.contains("result"), middle: x + width / 2, y,
            lit: cell.matches(".lit, .focal")};
    });
    const links = [...document.querySelectorAll("#stage .line.now math")];
    const frame = document.querySelector("#frame");
    const current = document.querySelector("#contents [aria-current]");
    return {step: current.hash.slice(1), cells,
        falk: Boolean(document.querySelector("#stage .scheme")),
        at: Number(frame.value), last: Number(frame.max),
        where: document.querySelector("#stage .where").textContent,
        line: links.length ? `<mrow>${links.map((link) => new XMLSerializer()
            .serializeToString(link.firstChild)).join("").replace(/ xmlns="[^"]*"/g, "")}</mrow>`
            : "",
        end: document.querySelector("#onward").getAttribute("aria-disabled") === "true"};
}"""


#: What every cell has to show with so many decimals.
Digits = Callable[[int], dict[str, str]]


def digits_with(
    derivation: Derivation, values: Evaluation, notation: Notation = NOTATION
) -> Digits:
    """Those of `derive`."""

    @cache
    def digits(decimals: int) -> dict[str, str]:
        found = digits_of(derivation, values, replace(notation, digits=decimals))
        if notation.convention == "rows":
            return found
        turned = (key.split("|") for key in found)
        return {f"{m}|{h}|{j}|{i}": found[f"{m}|{h}|{i}|{j}"] for m, h, i, j in turned}

    return digits


def decimals_of(text: str) -> int:
    return len(text.partition(".")[2])


def wrong_digits(shown: dict[str, Any], digits: Digits) -> list[Any]:
    """Entries that have other digits than those of `derive`; empty ones must say so.

    Operands may have more decimals than usual: all those of a step as many, if they are rounded.
    """
    usual = digits(4)
    wrong = []
    longer = set()
    for cell in shown["cells"]:
        if cell["empty"]:
            if cell["text"] or cell["label"] != "not computed yet":
                wrong.append(cell)
        elif cell["key"] is not None and cell["text"] != usual[cell["key"]]:
            longer.add(decimals_of(cell["text"]))
            if cell["result"] or cell["text"] != digits(max(longer))[cell["key"]]:
                wrong.append(cell)
    return wrong if len(longer) < 2 else [*wrong, longer]


def wrong_products(shown: dict[str, Any], values: Evaluation) -> list[str]:
    """Results that are not the sum over what stands left of them times what stands above them."""

    def number(cell: dict[str, Any]) -> float:
        letter, head, i, j = cell["key"].split("|")
        place = (int(i), int(j)) if head == "" else (int(head), int(i), int(j))
        return float(values.array(letter)[place])

    factors = [cell for cell in shown["cells"] if not cell["result"]]
    wrong = []
    for cell in shown["cells"]:
        if not cell["result"]:
            continue
        left = sorted(
            (one for one in factors if abs(one["y"] - cell["y"]) < 2), key=lambda one: one["middle"]
        )
        above = sorted(
            (
                one
                for one in factors
                if abs(one["middle"] - cell["middle"]) < 2 and one["y"] < cell["y"] - 2
            ),
            key=lambda one: one["y"],
        )
        total = sum(number(a) * number(b) for a, b in zip(left, above, strict=False))
        if not left or len(left) != len(above) or not np.isclose(total, number(cell)):
            wrong.append(cell["key"])
    return wrong


def is_product(expr: Any) -> bool:
    """Whether it is two matrices, one or both of them transposed, and nothing else."""
    plain = [part.arg if isinstance(part, sympy.Transpose) else part for part in expr.args]
    return (
        isinstance(expr, sympy.MatMul)
        and len(plain) == 2
        and all(hasattr(part, "name") for part in plain)
    )


def walked(page: Any, derivation: Derivation, values: Evaluation, notation: Notation) -> int:
    """Every step opened on the stage, with all rows filled and held against `derive`."""
    digits = digits_with(derivation, values, notation)
    page.keyboard.press("s")
    page.keyboard.press("o")
    for step in derivation.steps:
        page.locator(f"#contents a[href='#{step.name}']").click()
        shown = page.evaluate(SHOWN)
        while any(cell["empty"] for cell in shown["cells"]):
            assert shown["step"] == step.name
            page.keyboard.press("ArrowRight")
            shown = page.evaluate(SHOWN)
        assert shown["step"] == step.name
        assert wrong_digits(shown, digits) == []
        results = {cell["key"] for cell in shown["cells"] if cell["result"] and cell["key"]}
        assert len(results) == np.prod(values.shape(step.letter)[-2:])
        if notation.convention == "rows" and is_product(step.expr):
            assert shown["falk"]
            assert wrong_products(shown, values) == []
    return len(derivation.steps)


# ---- walking ---------------------------------------------------------------------------------


@pytest.mark.nightly
def test_a_query_is_followed_to_its_end_by_keyboard(opened: Callable[..., Any]) -> None:
    derivation, values = sheet("causal")
    digits = digits_with(derivation, values)
    page = opened(sheet_page("causal"))
    page.keyboard.press("s")
    assert page.locator("section.step").first.is_hidden()
    seen: dict[str, list[dict[str, Any]]] = {}
    count = 0
    while True:
        shown = page.evaluate(SHOWN)
        assert wrong_digits(shown, digits) == []
        assert (shown["at"], shown["last"]) == (count, 11)
        seen.setdefault(shown["step"], []).append(shown)
        if shown["end"]:
            break
        page.keyboard.press("ArrowRight")
        count += 1
    assert [*seen] == ["scores", "scaled", "masked", "weights", "output"]
    for name, frames in seen.items():
        empty = [sum(cell["empty"] for cell in shown["cells"]) for shown in frames]
        assert empty == sorted(empty, reverse=True), name
        for shown in frames:
            filled = [cell for cell in shown["cells"] if cell["result"] and not cell["empty"]]
            rows = {
                (cell["key"] or cell["spot"].replace("|", "||", 1)).split("|")[2] for cell in filled
            }
            assert rows <= {"2"}
    assert [in_text(shown["line"]) for shown in seen["scores"][1:]] == [
        "x = 1·1 + 1·1 = 2",
        "x = 1·0 + 1·1 = 1",
        "x = 1·1 + 1·2 = 3",
    ]
    for name in ("scores", "output"):
        for shown in seen[name]:
            if shown["line"]:
                assert list(faults(in_text(shown["line"]), 4, {})) == []


def test_other_rows_are_filled_and_emptied(opened: Callable[..., Any]) -> None:
    derivation, values = sheet("causal")
    page = opened(html_document(Shown(derivation, values)))
    page.keyboard.press("s")
    page.keyboard.press("ArrowRight")

    def empty() -> int:
        return sum(cell["empty"] for cell in page.evaluate(SHOWN)["cells"])

    assert empty() == 8
    page.get_by_role("button", name="Other rows").click()
    assert empty() == 2 and page.locator("#others").get_attribute("aria-pressed") == "true"
    assert wrong_digits(page.evaluate(SHOWN), digits_with(derivation, values)) == []
    page.keyboard.press("o")
    assert empty() == 8
    page.locator("#stage .result").nth(4).click()  # an entry of another query, which is followed
    assert "cat is compared with itself" in page.evaluate(SHOWN)["where"]
    assert "follow=1.0;stage=scores;frame=2" in page.url


@pytest.mark.nightly
def test_a_link_opens_exactly_what_was_seen(opened: Callable[..., Any]) -> None:
    page = opened(html_document(Shown(*sheet("two_heads"))), reduced_motion="reduce")
    page.keyboard.press("s")
    page.locator(".heads-on-stage button").last.click()
    page.locator("#stage .result").first.click()
    page.keyboard.press("o")
    page.keyboard.press("End")
    page.get_by_role("button", name="Copy a link").click()
    page.locator("#state", has_text="copied").wait_for(state="attached")
    assert ".1.all;stage=" in page.url
    seen = page.evaluate("document.querySelector('#stage').innerText")
    page.goto("about:blank")
    page.go_back()
    assert page.evaluate("document.querySelector('#stage').innerText") == seen
    for wrong in ("follow=99.0", "follow=0.7", "frame=99"):
        page.evaluate(f"location.hash = '{wrong}'")
        page.locator("#state", has_text="cannot use").wait_for(state="attached")


def four(value: float, decimals: int = 4) -> Decimal:
    """A number with four decimals, or as many."""
    return Decimal(float(value)).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)


@pytest.mark.nightly
def test_an_exponential_is_that_of_the_score_and_not_of_its_digits(
    opened: Callable[..., Any],
) -> None:
    """e^√2 is 4.1133; of 1.4142 it is 4.1132. The line has the decimals that give it."""
    for name, edit in (("causal", False), ("two_heads", False), ("causal", True)):
        derivation, values = sheet(name)
        page = opened(html_document(Shown(derivation, values)), reduced_motion="reduce")
        if edit:  # and back again: all of it is computed in the page now
            entered(page, "#decimals", "5")
            entered(page, "#decimals", "4")
        page.keyboard.press("s")
        page.keyboard.press("o")
        page.locator("#contents a[href='#weights']").click()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        shown = page.evaluate(SHOWN)
        letter = derivation["weights"].operands[0]
        raised = np.exp(values.array(letter).reshape(-1, *values.array(letter).shape[-2:])[0])
        spots = {cell["spot"]: cell["text"] for cell in shown["cells"] if cell["spot"]}
        found = 0
        for i, row in enumerate(raised):
            for j, value in enumerate(row):
                if "·" not in (text := spots[f"part|{i}|{j}"]):
                    assert Decimal(text) == four(value, max(4, decimals_of(text))), (name, i, j)
                    found += 1
            assert Decimal(spots[f"sum|{i}|0"]) == four(row.sum()), (name, i)
        assert found > 5


@pytest.mark.nightly
@pytest.mark.parametrize("name", NAMES)
def test_every_variant_makes_sense_on_the_stage(name: str, opened: Callable[..., Any]) -> None:
    derivation, values = variant(name)
    notation = Notation(limit=0)
    page = opened(
        html_document(Shown(derivation, values, notation=notation)), reduced_motion="reduce"
    )
    assert walked(page, derivation, values, notation)


@pytest.mark.nightly
def test_gradients_and_columns_on_the_stage(opened: Callable[..., Any]) -> None:
    spec = next(row.spec for row in VARIANTS if row.name == "causal")
    derivation, values = small_example(spec, tokens=3, gradient=("Q", "W_K"))
    notation = Notation(limit=0)
    page = opened(
        html_document(Shown(derivation, values, notation=notation)), reduced_motion="reduce"
    )
    assert walked(page, derivation, values, notation) > 12
    assert "Backward: compare" in page.locator("#contents").inner_text()
    columns = Notation(limit=0, convention="columns")
    derivation, values = variant("causal")
    page = opened(
        html_document(Shown(derivation, values, notation=columns)), reduced_motion="reduce"
    )
    assert walked(page, derivation, values, columns)
    page.locator("#contents a[href='#weights']").click()
    page.keyboard.press("o")
    filled = [cell["spot"] for cell in page.evaluate(SHOWN)["cells"] if not cell["empty"]]
    assert {spot.split("|")[2] for spot in filled if spot} == {"2"}  # a column


def test_a_wrong_transpose_would_be_found(
    opened: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = next(row.spec for row in VARIANTS if row.name == "causal")
    derivation, values = small_example(spec, tokens=3, d_k=3)  # square: every entry is there
    right = source()
    wrong = right.replace("cellOf(factor(right, 0, j, k)", "cellOf(factor(right, 0, k, j)")
    assert wrong != right
    for script, found in ((right, 0), (wrong, 1)):
        monkeypatch.setattr(frame, "scripts", lambda script=script: script)
        page = opened(html_document(Shown(derivation, values)))
        page.keyboard.press("s")
        page.keyboard.press("o")
        for _ in range(3):
            page.keyboard.press("ArrowRight")
        assert bool(wrong_products(page.evaluate(SHOWN), values)) == found


def test_without_motion_each_press_shows_a_frame(opened: Callable[..., Any]) -> None:
    page = opened(sheet_page("causal"), reduced_motion="reduce")
    page.keyboard.press("s")
    moving = "getComputedStyle(document.querySelector('#stage .entry')).transitionDuration"
    for at in (1, 2):
        page.keyboard.press(" ")
        assert page.evaluate(SHOWN)["at"] == at
        assert page.evaluate(moving) == "0s"


# ---- between stage and sheet -------------------------------------------------------------------


@pytest.mark.nightly
def test_the_chosen_entry_goes_along(opened: Callable[..., Any]) -> None:
    page = opened(sheet_page("two_heads"))
    chosen = page.locator("section#scores [data-h='1'] tr[data-r='1'] td[data-c='0']").last
    chosen.click()
    page.keyboard.press("s")
    shown = page.evaluate(SHOWN)
    assert shown["step"] == "scores" and "love is compared with I" in shown["where"]
    assert page.locator(".heads-on-stage [aria-pressed=true]").inner_text() == "Head 2"
    assert [cell["key"] for cell in shown["cells"] if cell["result"] and cell["lit"]] == ["S|1|1|0"]
    page.locator(".heads-on-stage button").first.click()
    assert page.locator(".heads-on-stage [aria-pressed=true]").inner_text() == "Head 1"
    page.keyboard.press("ArrowRight")
    page.keyboard.press("s")
    assert page.evaluate("document.activeElement.key") == "S|0|1|1"
    assert page.locator("#stage").is_hidden() and page.locator("section#scores").is_visible()


@pytest.mark.nightly
def test_a_changed_page_says_so_on_the_stage(opened: Callable[..., Any]) -> None:
    page = opened(sheet_page("causal"))
    typed(page, "3")
    page.keyboard.press("s")
    assert page.locator("#state").inner_text() == "Changed. Every digit is proven anew."
    assert page.locator(".check").is_hidden()
    text = CAUSAL.read_text(encoding="utf-8")
    changed = worksheet_of(re.sub(r"(X\s*=\s*\[\s*\[)1", r"\g<1>3", text, count=1))
    derivation = changed.derivation()
    walk = digits_with(derivation, changed.evaluate(derivation))
    for _ in range(11):
        page.keyboard.press("ArrowRight")
        assert wrong_digits(page.evaluate(SHOWN), walk) == []


@pytest.mark.nightly
def test_a_page_with_a_story_opens_on_the_stage(tmp_path: Path) -> None:
    source = tmp_path / "story.toml"
    text = CAUSAL.read_text(encoding="utf-8")
    source.write_text(text + '\n[notation]\npage = "stage"\n', encoding="utf-8")
    assert read_worksheet(source).notation.page == "stage"
    out = tmp_path / "page.html"
    for words, stage in (
        ([str(source)], True),
        ([str(ROOT / "examples/causal.toml"), "--notation", "page=stage"], True),
        ([str(ROOT / "examples/causal.toml")], False),
    ):
        run("derive", *words, "--format", "html", "-o", str(out), status=0)
        assert ('"stage":true' in out.read_text(encoding="utf-8")) == stage
    refused = run("derive", "causal", "--notation", "page=stage")
    assert refused.exit_code == 2 and "--format html" in refused.output


@pytest.mark.nightly
def test_axe_finds_nothing_on_the_stage(
    opened: Callable[..., Any], node_file: Callable[[str], Path]
) -> None:
    axe = node_file("axe-core/axe.min.js").read_text(encoding="utf-8")
    for name, width, scheme, step, key in (
        ("causal", 375, "light", "scores", "ArrowRight"),
        ("two_heads", 1440, "dark", "weights", "End"),
    ):
        page = opened(sheet_page(name), width=width, color_scheme=scheme)
        page.keyboard.press("s")
        page.locator(f"#contents a[href='#{step}']").click()
        page.keyboard.press(key)
        page.wait_for_timeout(300)  # colours settle
        assert axe_faults(page, axe) == []


# ---- the strip, the colours, the sheet -----------------------------------------------------------


def test_colours_of_the_stage_can_be_read() -> None:
    for scheme, roles in ROLES.items():
        ink, paper = SCHEMES[scheme]["ink"], SCHEMES[scheme]["ground"]
        for ground, edge in roles.values():
            assert contrast(ink, ground) > 7
            assert contrast(edge, paper) > 4.5 and contrast(edge, ground) > 4.5


@pytest.mark.nightly
@pytest.mark.parametrize("width", [375, 1280])
def test_next_lands_a_heading_in_view_and_the_panel_hides_no_focus(
    width: int, opened: Callable[..., Any]
) -> None:
    page = opened(sheet_page("two_heads"), width=width, reduced_motion="reduce")
    under = """() => {
        const bar = document.querySelector("#controls");
        const sticky = getComputedStyle(bar).position === "sticky";
        const top = document.activeElement.getBoundingClientRect().top;
        return [sticky ? bar.getBoundingClientRect().bottom : 0, top, innerHeight];
    }"""
    for live in (False, True):
        if live:
            typed(page, "3")
        for _ in range(14):
            page.keyboard.press("n")
            page.wait_for_timeout(20)
            bottom, top, height = page.evaluate(under)
            assert bottom <= top < height - 100
    for cell in page.locator("section#weights .home td[data-c], section#projected .home td").all():
        cell.evaluate("(cell) => cell.focus()")
        page.wait_for_timeout(20)
        edges = page.evaluate("""() => [document.activeElement.getBoundingClientRect().bottom,
            document.querySelector("#origin").getBoundingClientRect().top]""")
        assert edges[0] <= edges[1]
