"""The page in Firefox: the main things, the stage, a finger, formulas that are not cut off."""

from __future__ import annotations

from typing import Any

import pytest

from symattn import VARIANTS
from symattn.documents.html import html_document
from symattn.documents.page import frame
from symattn.documents.shown import Shown
from tests.documents.page.conftest import InFirefox
from tests.documents.page.opening import sheet, variant
from tests.documents.page.test_stage_room import judged
from tests.program import source

#: Variants whose formulas have all that hangs out of a line, measured in the usual run.
HIGH = ("cached-llama", "t5", "transformer-xl")


def pages(first: str, others: tuple[str, ...]) -> dict[str, str]:
    """A page, and those of these variants, in which formulas that are cut off are looked for."""
    return {"page": first, **{name: html_document(Shown(*variant(name))) for name in others}}


def test_firefox_does_the_main_things(in_firefox: InFirefox) -> None:
    page = html_document(Shown(*sheet("causal")))
    shown = in_firefox("firefox.cjs", pages(page, HIGH))
    assert shown["said"] == []
    assert shown["halves"] == 0
    assert shown["title"] == "Causal self-attention"
    assert shown["clipped"] == []
    assert shown["marks"] == ["chosen", "source", "source", "source"]
    assert shown["keyboard"] == "A||0|2"
    assert shown["live"]["state"].startswith("Changed")
    assert abs(shown["live"]["weight"] - 0.7679) < 5e-5
    assert shown["reset"] == "0.5760"
    assert shown["wide"] is False
    steps = ["scores", "scaled", "masked", "weights", "output"]
    for width in ("375", "1440"):
        frames = shown["stage"][width]
        assert list(dict.fromkeys(frame["step"] for frame in frames)) == steps
        judged(frames)
    assert shown["back"] == 0


@pytest.mark.nightly
def test_firefox_cuts_no_formula_of_any_variant(in_firefox: InFirefox) -> None:
    names = tuple(row.name for row in VARIANTS)
    page = html_document(Shown(*sheet("causal")))
    assert in_firefox("firefox.cjs", pages(page, names))["clipped"] == []


@pytest.mark.nightly
def test_a_formula_that_is_cut_off_would_be_found(
    in_firefox: InFirefox, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = frame._file  # pyright: ignore
    narrow = ".line{overflow:hidden!important;width:20px!important;height:4px}"
    monkeypatch.setattr(frame, "_file", lambda name: file(name) + narrow)
    page = html_document(Shown(*sheet("causal")))
    assert in_firefox("firefox.cjs", pages(page, ()))["clipped"]


# ---- a finger on the stage, as `test_stage_room` has it in Chromium ------------------------------


def touched(in_firefox: InFirefox) -> dict[str, Any]:
    """What swipes, taps and drags do on the stage of a variant with matrices wider than a phone."""
    page = html_document(Shown(*variant("cached-llama")))
    return in_firefox("firefox_touch.cjs", {"page": page})


def test_fingers_on_the_stage_in_firefox(in_firefox: InFirefox) -> None:
    steps = ["scores", "scaled", "masked", "weights", "heads", "concat", "projected"]
    found = touched(in_firefox)
    assert found["said"] == []
    assert [one["step"] for one in found["swiped"]] == steps
    assert all(one["wide"] <= 375 for one in found["swiped"])
    assert found["back"] == found["up"] == found["wide"] == steps[-2]
    assert int(found["onward"]) > 0
    assert found["slid"]["frame"] == found["slid"]["last"]
    assert found["slid"]["step"] == steps[-1]


def test_a_stage_that_no_finger_moves_would_be_found(
    in_firefox: InFirefox, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = source()
    wrong = right.replace('"touchend"', '"touchended"')
    assert wrong != right
    monkeypatch.setattr(frame, "scripts", lambda: wrong)
    assert len(touched(in_firefox)["swiped"]) == 1
