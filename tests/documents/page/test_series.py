"""A series as one page: each chunk as `derive` has it, and the ways between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from symattn import Notation, decode, variant
from symattn.attention.decoding import Chunk
from symattn.attention.example import small_inputs
from symattn.documents.html import html_series
from symattn.documents.shown import Shown
from symattn.notation.options import notation_of
from tests.command import run
from tests.documents.page.opening import cells, entered, settled
from tests.documents.page.subjects import texts_of
from tests.shares import share

#: Variants in which no token attends to a later one.
DECODED = (
    "causal",
    "causal-multi-head",
    "deepseek",
    "rotary",
    "llama",
    "alibi",
    "transformer-xl",
    "mistral",
    "gemma",
    "sink",
    "causal-linear",
    "cached",
    "cached-window",
    "cached-llama",
)


def parts_of(name: str, chunks: int | list[int] = 1, tokens: int = 3) -> tuple[Chunk, ...]:
    spec, given = small_inputs(variant(name).spec, tokens=tokens)
    return decode(spec, chunks, title=name, **given)


def page_of(parts: tuple[Chunk, ...], notation: Notation | None = None) -> str:
    chunks = [Shown(part.derivation, part.evaluation, notation_of(notation)) for part in parts]
    return html_series(chunks, "A series")


def derived(*options: str) -> str:
    """What `derive` writes."""
    return run("derive", *options, status=0).output


def shown(page: Any) -> str:
    """Which chunk stands there."""
    page.wait_for_selector("main:not([aria-busy=true]) .series b")
    return str(page.locator(".series b").inner_text())


def expect(page: Any, number: int, count: int = 3) -> None:
    """Waits for a chunk."""
    page.get_by_text(f"Chunk {number} of {count}", exact=True).wait_for()
    settled(page)


@pytest.mark.parametrize("name", share(DECODED, 16, 4))
def test_every_chunk_has_the_digits_of_derive(name: str, opened: Callable[..., Any]) -> None:
    parts = parts_of(name)
    page = opened(page_of(parts))
    for number, part in enumerate(parts, 1):
        expect(page, number)
        wanted = dict(texts_of(part.evaluation, Notation()))
        assert cells(page) == wanted
        assert page.locator(".titled").inner_text() == part.derivation.title
        names = page.evaluate("[...document.querySelectorAll('.step')].map((one) => one.id)")
        assert names == [step.name for step in part.derivation]
        page.keyboard.press("]")


@pytest.fixture
def page(opened: Callable[..., Any]) -> Any:
    return opened(page_of(parts_of("causal")))


@pytest.mark.nightly
def test_buttons_slider_keys_and_the_address_lead_to_a_chunk(page: Any) -> None:
    expect(page, 1)
    page.click("#after")
    expect(page, 2)
    assert page.evaluate("document.activeElement.id") == "after"
    assert page.evaluate("location.hash").startswith("#chunk=2")
    page.locator("#chunk").focus()
    page.keyboard.press("ArrowRight")
    expect(page, 3)
    assert page.evaluate("document.activeElement.id") == "chunk"
    assert page.get_attribute("#after", "aria-disabled") == "true"
    page.keyboard.press("]")
    page.locator("#after").dispatch_event("click")
    expect(page, 3)
    page.keyboard.press("[")
    expect(page, 2)
    page.go_back()
    expect(page, 3)
    page.evaluate("location.hash = 'chunk=1;weights'")
    expect(page, 1)
    assert page.evaluate("location.hash") == "#chunk=1;weights"
    page.evaluate("location.hash = 'output'")  # as a link of the contents does
    page.wait_for_timeout(100)
    assert page.evaluate("location.hash") == "#chunk=1;output"
    page.evaluate("location.hash = 'chunk=99'")
    expect(page, 3)


@pytest.mark.nightly
def test_step_temperature_and_decimals_go_along(page: Any) -> None:
    entered(page, "#temperature", "1/2")
    entered(page, "#decimals", "6")
    page.evaluate("location.hash = 'output'")
    settled(page).evaluate("document.activeElement.blur()")
    page.keyboard.press("]")
    expect(page, 2)
    assert page.evaluate("location.hash") == "#chunk=2;t=1/2;d=6;output"
    assert 0 <= page.evaluate("document.querySelector('#output').getBoundingClientRect().top") < 400
    part = parts_of("causal")[1]
    steps = tuple(
        replace(step, expr=2 * step.expr) if step.name == "scaled" else step
        for step in part.derivation
    )
    inputs = {item.name: part.evaluation.given[item.letter] for item in part.derivation.inputs}
    halved = replace(part.derivation, steps=steps).evaluate(**inputs)
    assert cells(page) == dict(texts_of(halved, Notation(digits=6)))


def test_the_stage_goes_along(page: Any) -> None:
    page.keyboard.press("s")
    page.wait_for_selector("body.staged")
    page.keyboard.press("n")
    page.keyboard.press("]")
    expect(page, 2)
    page.wait_for_selector("body.staged")
    assert page.locator("#chunk").is_visible()


def test_numbers_cannot_be_changed(page: Any) -> None:
    assert page.locator(".dragged, .switched").count() == 0
    assert "cannot be changed here" in page.locator(".series p").inner_text()
    before = cells(page)
    page.evaluate("location.hash = 'chunk=1;x=X.0:5'")
    page.get_by_text("The page cannot use this part of the link").wait_for()
    assert cells(page) == before


def test_without_scripts_the_first_chunk_is_read(opened: Callable[..., Any]) -> None:
    parts = parts_of("causal")
    page = opened(page_of(parts), java_script_enabled=False)
    text = page.locator("main").inner_text()
    assert parts[0].derivation.title in text
    assert "The other chunks are shown where scripts may run." in text
    assert not page.locator("#chunk").is_visible()


def test_paper_says_that_it_has_one_chunk(page: Any) -> None:
    assert "printed" not in page.locator(".series p").inner_text()
    page.emulate_media(media="print")
    assert page.locator(".series p").inner_text().endswith("One chunk is printed at a time.")
    assert page.locator(".series b").is_visible()
    assert not page.locator("#chunk").is_visible()


@pytest.mark.nightly
def test_a_saved_copy_still_has_every_chunk(opened: Callable[..., Any]) -> None:
    parts = parts_of("causal")
    page = opened(page_of(parts))
    page.keyboard.press("]")
    expect(page, 2)
    copy = opened(page.content())
    for number, part in enumerate(parts, 1):
        expect(copy, number)
        assert cells(copy) == dict(texts_of(part.evaluation, Notation()))
        copy.keyboard.press("]")


def test_options_are_honoured_in_every_chunk(opened: Callable[..., Any], tmp_path: Path) -> None:
    file = tmp_path / "series.html"
    how = ("--size", "tokens=3", "--chunks", "2,1", "--format", "html", "-o", str(file))
    derived("causal", *how, "--notation", "layout=falk", "--entry", "weights[1,2]")
    page = opened(file.read_text(encoding="utf-8"))
    for number in (1, 2):
        expect(page, number, 2)
        assert page.locator(".falk").count()
        assert "weights" in page.locator("#origin").inner_text()
        page.keyboard.press("]")
