"""Boxes measured on every page: nothing lies over anything else, nothing is cut off.

`tests/boxes.js` goes through a page (as it opens, its menu, an entry chosen, edited, every step of
the stage) and measures. The usual run takes a few pages; ``-m nightly`` all examples and variants
at every width, light and dark, and on paper.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from symattn import VARIANTS
from symattn.documents.page import frame
from tests import ROOT
from tests.command import run
from tests.documents.page.opening import variant_page
from tests.gates import EXAMPLES
from tests.program import source
from tests.shares import share

#: Examples, and variants that no example is called by.
NAMES = tuple(dict.fromkeys([path.stem for path in EXAMPLES] + [row.name for row in VARIANTS]))

#: A phone, a tablet, desks.
WIDTHS = (375, 768, 1024, 1440, 1920)

#: A4 between its margins.
PAPER = 680

#: What is measured in the usual run: pages with a story, with a mask, and with much on them.
USUAL = {("rileys_dog", 375), ("rileys_dog", 1440), ("causal", 375), ("cached-llama", 768)}


@cache
def page_of(name: str) -> str:
    """The page of an example, as the command writes it, or of a variant."""
    path = next((path for path in EXAMPLES if path.stem == name), None)
    if path is None:
        return variant_page(name)
    ran = run("derive", str(path), "--format", "html", status=0)
    return ran.output


@cache
def measuring() -> str:
    """The function that measures, without the comment above it."""
    _, comment, function = (ROOT / "tests/boxes.js").read_text(encoding="utf-8").split("\n", 2)
    assert comment.startswith("//")
    return function


def faults(opened: Callable[..., Any], document: str, width: int, **options: Any) -> list[str]:
    page = opened(document, width, reduced_motion="reduce", **options)
    page.set_viewport_size({"width": width, "height": 740 if width == 375 else 900})
    found: list[str] = page.evaluate(measuring())
    return found


def faults_on_paper(opened: Callable[..., Any], document: str) -> list[str]:
    page = opened(document, PAPER)
    page.emulate_media(media="print")
    found: list[str] = page.evaluate(measuring(), True)
    return found


# ---- the pages -----------------------------------------------------------------------------------


def measured() -> list[Any]:
    """Every page at every width, every second one dark."""
    return [
        pytest.param(
            name,
            width,
            "dark" if (number + place) % 2 else "light",
            marks=() if (name, width) in USUAL else pytest.mark.nightly,
        )
        for number, name in enumerate(NAMES)
        for place, width in enumerate(WIDTHS)
    ]


@pytest.mark.parametrize(("name", "width", "scheme"), measured())
def test_nothing_is_over_anything_else_or_cut_off(
    name: str, width: int, scheme: str, opened: Callable[..., Any]
) -> None:
    assert faults(opened, page_of(name), width, color_scheme=scheme) == []


@pytest.mark.parametrize("name", share(NAMES, len(NAMES), NAMES.index("cached-llama")))
def test_on_paper_too(name: str, opened: Callable[..., Any]) -> None:
    assert faults_on_paper(opened, page_of(name)) == []


# ---- what would be found -------------------------------------------------------------------------


#: Styles that spoil the page, the example and the width where they do, and what is then found.
SPOILT = {
    "the story is drawn over the toolbar": (
        ".staged header{display:flex}.staged #controls{position:absolute!important}",
        "rileys_dog",
        1440,
        "lie over one another",
    ),
    "a line goes on out of sight": (
        "#stage .line.now{flex-wrap:nowrap!important}",
        "causal",
        375,
        "is cut off at",
    ),
    "a toolbar scrolls away": (
        ".staged #controls{position:relative!important}",
        "causal",
        375,
        "the toolbar is out of sight",
    ),
    "a label is cut": ("#more{width:1.5rem!important}", "causal", 375, 'label of "More"'),
    "a page is wider than its screen": ("#given{width:90rem}", "causal", 1024, "pixels wide"),
    "a matrix is clipped": (
        ".scroll{overflow:hidden!important;max-width:3rem!important}",
        "causal",
        1024,
        "is cut off",
    ),
}


@pytest.mark.parametrize("what", share([*SPOILT], 3))
def test_a_spoilt_page_would_be_found(
    what: str, opened: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    style, name, width, words = SPOILT[what]
    file = frame._file  # pyright: ignore
    last = frame.STYLES[-1]
    monkeypatch.setattr(frame, "_file", lambda one: file(one) + style * (one == last))
    found = faults(opened, page_of.__wrapped__(name), width)
    assert any(words in one for one in found), found


#: Changes of the program, and what is then found.
BROKEN = {
    "cells with other decimals than the line": (
        "return scene.least[0] && text",
        "return false && text",
        "is lit, and the line has",
    ),
    "lines with decimals of their own": (
        "least = most;",
        "return USUAL;",
        "is lit, and the line has",
    ),
    "exponents with decimals of their own": (
        "long ?? printer(scene.least[0])).markup, mo(isSame",
        "printer(scene.least[0] + 3)).markup, mo(isSame",
        "powers of",
    ),
    "contents that follow the scroll bar alone": (
        "const cell = pinned && !document",
        "const cell = false && !document",
        "and the contents mark",
    ),
}


@pytest.mark.parametrize("what", share([*BROKEN], 3))
def test_a_broken_program_would_be_found(
    what: str, opened: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    right, wrong, words = BROKEN[what]
    assert source().count(right) == 1
    monkeypatch.setattr(frame, "scripts", lambda: source().replace(right, wrong))
    found = faults(opened, page_of.__wrapped__("causal"), 1440)
    assert any(words in one for one in found), found
