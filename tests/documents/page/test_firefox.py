"""The page in Firefox: the main things, the stage, formulas that are not cut off; a finger."""

from __future__ import annotations

import pytest

from symattn import VARIANTS
from symattn.documents.page import frame
from tests.documents.page.conftest import InBrowser
from tests.documents.page.opening import sheet_page, variant_page
from tests.documents.page.test_stage_room import judged
from tests.program import source

FIREFOX = "firefox-esr"

#: Variants whose formulas have all that hangs out of a line, measured in the usual run.
HIGH = ("cached-llama", "t5")


def pages(first: str, others: tuple[str, ...]) -> dict[str, str]:
    """A page, and those of these variants, in which formulas that are cut off are looked for."""
    return {"page": first, **{name: variant_page(name) for name in others}}


def test_firefox_does_the_main_things(in_browser: InBrowser) -> None:
    page = sheet_page("causal")
    shown = in_browser("firefox.cjs", pages(page, HIGH), FIREFOX)
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
def test_firefox_cuts_no_formula_of_any_variant(in_browser: InBrowser) -> None:
    names = tuple(row.name for row in VARIANTS)
    page = sheet_page("causal")
    assert in_browser("firefox.cjs", pages(page, names), FIREFOX)["clipped"] == []


@pytest.mark.nightly
def test_a_formula_that_is_cut_off_would_be_found(
    in_browser: InBrowser, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = frame._file  # pyright: ignore
    narrow = ".line{overflow:hidden!important;width:20px!important;height:4px}"
    monkeypatch.setattr(frame, "_file", lambda name: file(name) + narrow)
    page = sheet_page.__wrapped__("causal")
    assert in_browser("firefox.cjs", pages(page, ()), FIREFOX)["clipped"]


@pytest.mark.nightly
@pytest.mark.parametrize("program", ["chromium", FIREFOX])
def test_fingers_on_the_stage(program: str, in_browser: InBrowser) -> None:
    """A variant with matrices wider than a phone; a stage that no finger moves would be found."""
    steps = ["scores", "scaled", "masked", "weights", "heads", "concat", "projected"]
    wrong = source().replace('"touchend"', '"touchended"')
    assert wrong != source()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frame, "scripts", lambda: wrong)
        still = sheet_page.__wrapped__("causal")
    pages = {"page": variant_page("cached-llama"), "still": still}
    found = in_browser("firefox_touch.cjs", pages, program)
    assert found["said"] == []
    assert [one["step"] for one in found["swiped"]] == steps
    assert all(one["wide"] <= 375 for one in found["swiped"])
    assert found["back"] == found["up"] == found["wide"] == steps[-2]
    assert int(found["onward"]) > 0
    assert found["slid"]["frame"] == found["slid"]["last"]
    assert found["slid"]["step"] == steps[-1]
    assert [len(one["swiped"]) for one in found["others"]] == [1]
    for box in found["buttons"]:
        assert box["height"] >= 32 and box["y"] + box["height"] <= 740
