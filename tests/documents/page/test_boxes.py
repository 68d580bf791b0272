"""Boxes measured on every page: nothing lies over anything else, nothing is cut off.

`tests/boxes.js` goes through a page (as it opens, its menu, an entry chosen, edited, every step of
the stage) and measures, in Chromium and in Firefox. The usual run takes a few pages; ``-m nightly``
all examples, variants and some equations of one's own at every width, light and dark, and on paper.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from symattn import VARIANTS
from symattn.documents.page import frame
from tests.command import run
from tests.documents.page.conftest import InBrowser
from tests.documents.page.opening import variant_page, work_page
from tests.gates import EXAMPLES
from tests.language import blocks, literature, texts
from tests.program import source

#: Attentions of papers as equations.
WORKS = {work.name: work for work in (*texts.CASES, *literature.WORKS, *blocks.WORKS)}

#: Examples, variants that no example is called by, and every fourth of these texts.
NAMES = tuple(
    dict.fromkeys([path.stem for path in EXAMPLES] + [row.name for row in VARIANTS] + [*WORKS][::4])
)

#: A phone, a tablet, desks; every second one dark.
SCREENS = ("375", "dark-768", "1024", "dark-1440", "1920")

BROWSERS = ("chromium", "firefox-esr")

#: What is measured in the usual run: pages with a story, with a mask, and with much on them.
USUAL = {
    "rileys_dog": ("375", "dark-1440"),
    "cached-llama": ("dark-768",),
}


@cache
def page_of(name: str) -> str:
    """The page of an example, as the command writes it, of a variant or of equations."""
    if name in WORKS:
        return work_page(WORKS[name])
    path = next((path for path in EXAMPLES if path.stem == name), None)
    if path is None:
        return variant_page(name)
    ran = run("derive", str(path), "--format", "html", status=0)
    return ran.output


def faults(in_browser: InBrowser, document: str, browser: str, *sights: str) -> list[str]:
    """What is wrong with a page in some of its sights, behind the name of each."""
    shown = in_browser("boxes.cjs", {"page": document}, browser, *sights)
    assert shown["said"] == []
    return [f"{sight}, {one}" for sight, found in shown["found"].items() for one in found]


# ---- the pages -----------------------------------------------------------------------------------


def measured() -> list[Any]:
    """Every page on every screen and on paper, and what of it is measured in the usual run."""
    usual = [
        pytest.param(*each, browser, id=f"{each[0]}-{browser}")
        for each, browser in zip(USUAL.items(), BROWSERS, strict=True)
    ]
    return usual + [
        pytest.param(
            name,
            (*SCREENS, "paper"),
            browser,
            id=f"{name}-{browser}-everywhere",
            marks=pytest.mark.nightly,
        )
        for name in NAMES
        for browser in BROWSERS
    ]


@pytest.mark.parametrize(("name", "sights", "browser"), measured())
def test_nothing_is_over_anything_else_or_cut_off(
    name: str, sights: tuple[str, ...], browser: str, in_browser: InBrowser
) -> None:
    assert faults(in_browser, page_of(name), browser, *sights) == []


# ---- what would be found -------------------------------------------------------------------------


#: A page and a width, the style and the changes of the program that spoil it, and what is found.
SPOILT: tuple[tuple[str, str, str, tuple[tuple[str, str], ...], tuple[str, ...]], ...] = (
    (
        "causal",
        "375",
        "#stage .line.now{flex-wrap:nowrap!important}#more{width:1.5rem!important}"
        ".staged #controls{position:relative!important}",
        (("return scene.least[0] && text", "return false && text"),),
        (
            "is cut off at",
            'label of "More"',
            "the toolbar is out of sight",
            "is lit, and the line has",
        ),
    ),
    (
        "causal",
        "1440",
        "#given{width:120rem}.scroll{overflow:hidden!important;max-width:3rem!important}",
        (
            ("least = most;", "return USUAL;"),
            (
                "long ?? printer(scene.least[0])).markup, mo(isSame",
                "printer(scene.least[0] + 3)).markup, mo(isSame",
            ),
            ("const cell = pinned && !document", "const cell = false && !document"),
        ),
        (
            "pixels wide",
            "is cut off",
            "is lit, and the line has",
            "powers of",
            "and the contents mark",
        ),
    ),
    (
        "rileys_dog",
        "1440",
        ".staged header{display:flex}.staged #controls{position:absolute!important}",
        (),
        ("lie over one another",),
    ),
)


@pytest.mark.parametrize(
    ("browser", "case"),
    [
        pytest.param(name, case, marks=() if number == case == 0 else pytest.mark.nightly)
        for number, name in enumerate(BROWSERS)
        for case in range(len(SPOILT))
    ],
)
def test_a_spoilt_page_would_be_found(
    browser: str, case: int, in_browser: InBrowser, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, sight, style, changes, wanted = SPOILT[case]
    file, last, program = frame._file, frame.STYLES[-1], source()  # pyright: ignore
    for right, wrong in changes:
        assert program.count(right) == 1
        program = program.replace(right, wrong)
    monkeypatch.setattr(frame, "_file", lambda one: file(one) + style * (one == last))
    monkeypatch.setattr(frame, "scripts", lambda: program)
    found = faults(in_browser, page_of.__wrapped__(name), browser, sight)
    assert [words for words in wanted if not any(words in one for one in found)] == [], found
