"""Derivations to make pages of, and what an opened page shows."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

from symattn import VARIANTS
from symattn.attention.example import small_example
from symattn.derivations import Derivation, Evaluation
from symattn.documents.html import html_document
from symattn.documents.shown import Shown
from symattn.language.equations import derivation_of
from symattn.sheets.worksheet import read_worksheet
from tests.gates import CAUSAL, EXAMPLES
from tests.language.literature import Work


@cache
def variant(name: str) -> tuple[Derivation, Evaluation]:
    spec = next(row.spec for row in VARIANTS if row.name == name)
    return small_example(spec, tokens=3, title=name)


@cache
def sheet(name: str) -> tuple[Derivation, Evaluation]:
    path = next(path for path in (CAUSAL, *EXAMPLES) if path.stem == name)
    found = read_worksheet(path)
    derivation = found.derivation()
    return derivation, found.evaluate(derivation)


def texts_of_values(values: Evaluation, letter: str) -> tuple[tuple[int, ...], list[str]]:
    """A matrix's shape, and its exact numbers as they are typed."""
    array = values.exact(letter)
    return array.shape, [str(value).replace("oo", "inf") for value in array.ravel()]


@cache
def variant_page(name: str) -> str:
    return html_document(Shown(*variant(name)))


@cache
def sheet_page(name: str) -> str:
    """The page of a worksheet; where its program or styles are spoilt, `__wrapped__` makes it."""
    return html_document(Shown(*sheet(name)))


def work_page(work: Work) -> str:
    """The page of an attention that is written as equations."""
    derivation = derivation_of(work.text)
    return html_document(Shown(derivation, derivation.evaluate(**work.numbers())))


def data_of(document: str) -> Any:
    """What the page's program knows."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', document, re.S)
    assert found is not None
    return json.loads(found[1])


def cells(page: Any) -> dict[str, str]:
    """What every cell shows, by letter|head|row|column; copies of an entry must agree."""
    listed = page.evaluate("""() => [...document.querySelectorAll("td[data-c]")].map((cell) => {
        const {m, h = ""} = cell.closest("table").dataset;
        return [`${m}|${h}|${cell.parentElement.dataset.r}|${cell.dataset.c}`, cell.textContent];
    })""")
    found: dict[str, str] = {}
    for key, text in listed:
        assert found.setdefault(key, text) == text, key
    return found


def settled(page: Any) -> Any:
    """The page once the digits of a changed one are proven anew."""
    page.wait_for_selector("main:not([aria-busy=true])")
    return page


def entered(page: Any, field: str, text: str) -> Any:
    """The page with this in one of its fields, when it has settled."""
    if is_away := not page.locator(field).is_visible():
        page.click("#more")
    page.fill(field, text)
    page.press(field, "Enter")
    if is_away:
        page.click("#more")
    return settled(page)


def field_of(page: Any, place: int = 0) -> Any:
    """The field of a given number, opened."""
    page.locator(".dragged td[data-c]").nth(place).focus()
    page.keyboard.press("Enter")
    return page.locator("td input")


def typed(page: Any, text: str, place: int = 0) -> Any:
    """The page with this in place of a given number, when it has settled."""
    field_of(page, place).fill(text)
    page.keyboard.press("Enter")
    return settled(page)
