"""The figure and the gallery of the site's first page: what symattn says, and what is there."""

from __future__ import annotations

import re
import sys
import tomllib
from types import ModuleType
from xml.etree import ElementTree

import numpy as np
import pytest

from tests import ROOT
from tests.extras import package


@pytest.fixture(scope="module")
def start() -> ModuleType:
    """The module of the site's sources that makes both."""
    package("sphinx"), package("myst_parser")
    sys.path.append(str(ROOT / "docs" / "_ext"))
    try:
        return __import__("start")
    finally:
        sys.path.pop()


def drawn(hero: str) -> list[list[str]]:
    """The numbers of each of the two pictures, as they are drawn."""
    pictures = re.findall(r"<svg.*?</svg>", hero, re.S)
    found = [ElementTree.fromstring(picture).findall(".//g[rect]/text") for picture in pictures]
    return [sorted(text.text or "" for text in texts) for texts in found]


def expected(sheet: str) -> list[str]:
    """The numbers of the worksheet and of every stage, computed with NumPy."""
    given = tomllib.loads(sheet)["given"]
    q, k, v = (np.array(given[name], dtype=float) for name in "QKV")
    scores = q @ k.T
    scaled = scores / np.sqrt(q.shape[1])
    weights = np.exp(scaled) / np.exp(scaled).sum()
    whole = [f"{x:.0f}" for x in np.concatenate([each.ravel() for each in (q, k, v, scores)])]
    rounded = np.concatenate([each.ravel() for each in (scaled, weights, weights @ v)])
    return sorted([*whole, *(f"{x:.4f}" for x in rounded)])


def test_the_figure_shows_the_numbers_of_the_worksheet(start: ModuleType) -> None:
    wide, tall = drawn(start.hero())
    assert wide == tall == expected(start.sheet())


def test_what_is_traced_makes_the_number_of_the_output(start: ModuleType) -> None:
    hero = start.hero()
    picture = ElementTree.fromstring(re.findall(r"<svg.*?</svg>", hero, re.S)[0])
    traced = {kind: [] for kind in ("weight", "v", "plain")}  # type: dict[str, list[float]]
    for group in picture.iter("g"):
        kind, *more = group.attrib["class"].split()[1:]
        if more:
            traced[kind].append(float(group.findtext("text") or "nan"))
    total = sum(a * v for a, v in zip(traced["weight"], traced["v"], strict=True))
    assert traced["plain"] == [pytest.approx(total, abs=2e-4)]


def test_every_card_leads_to_a_page_and_has_its_picture(start: ModuleType) -> None:
    gallery = start.gallery()
    leads = re.findall(r'<a href="([^"]*)\.html"', gallery)
    made = {"live", "generated/variants"}
    assert len(leads) == gallery.count('class="thumb') == 8
    assert all((ROOT / "docs" / f"{lead}.md").exists() for lead in leads if lead not in made)
    pictures = re.findall(r'src="([^"]*)"', gallery)
    assert pictures and all((ROOT / "docs" / name).exists() for name in pictures)
    assert "WARNING" in gallery and "0.5760 [symattn.claim]" in gallery  # the build did fail
    assert "Traceback" not in gallery
