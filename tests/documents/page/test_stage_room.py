"""The stage on every screen: what is worked out is in sight, nothing moves, all is within reach."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from symattn import VARIANTS
from symattn.documents.page import frame
from tests import ROOT
from tests.documents.page.opening import sheet, sheet_page, variant_page, work_page
from tests.language import blocks, literature
from tests.language.literature import Work
from tests.program import source
from tests.shares import share

NAMES = tuple(row.name for row in VARIANTS)

#: A small phone, a common one, a tablet, a desk.
SCREENS = {320: 568, 375: 667, 768: 1000, 1440: 900}


def walk(page: Any) -> list[dict[str, Any]]:
    """Every frame of the stage and what is wrong with it."""
    _, function = (ROOT / "tests/stage_walk.js").read_text(encoding="utf-8").split("\n", 1)
    if not page.locator("#stage").is_visible():
        page.keyboard.press("s")
    frames: list[dict[str, Any]] = page.evaluate(function)
    return frames


def on_a_screen(opened: Callable[..., Any], document: str, width: int, **options: Any) -> Any:
    page = opened(document, width, reduced_motion="reduce", **options)
    page.set_viewport_size({"width": width, "height": SCREENS[width]})
    return page


def judged(frames: list[dict[str, Any]]) -> None:
    assert [frame for frame in frames if frame["faults"]] == []
    places = [[float(x) for x in frame["buttons"].replace(" ", ",").split(",")] for frame in frames]
    for one in zip(*places, strict=True):
        assert max(one) - min(one) <= 1


# ---- what is in sight --------------------------------------------------------------------------


@pytest.mark.parametrize("width", share(SCREENS, 2))
def test_every_frame_shows_what_is_worked_out(width: int, opened: Callable[..., Any]) -> None:
    derivation, _ = sheet("it_cat_mat")
    frames = walk(on_a_screen(opened, sheet_page("it_cat_mat"), width))
    judged(frames)
    steps = [step.name for step in derivation.steps]
    assert [*dict.fromkeys(one["step"] for one in frames)] == steps[steps.index("scores") :]


@pytest.mark.nightly
@pytest.mark.parametrize("name", NAMES)
def test_variants_on_a_small_phone(name: str, opened: Callable[..., Any]) -> None:
    judged(walk(on_a_screen(opened, variant_page(name), 320)))


@pytest.mark.parametrize("work", share([*blocks.WORKS, *literature.WORKS], 62, 31))
def test_papers_on_a_desk(work: Work, opened: Callable[..., Any]) -> None:
    """Rows that are stacked, lines that are taller than the screen, steps that have no reason."""
    frames = walk(on_a_screen(opened, work_page(work), 1440))
    assert [frame for frame in frames if frame["faults"]] == []


def test_a_product_is_shown_whole_where_there_is_room(opened: Callable[..., Any]) -> None:
    page = on_a_screen(opened, sheet_page("it_cat_mat"), 375)
    page.keyboard.press("s")
    scheme = page.locator("#stage .scheme")
    assert scheme.locator(".gap").count() == 0
    assert scheme.locator(".entry").count() == 4 * 3 + 4 + 3
    page.set_viewport_size({"width": 240, "height": 667})
    page.locator("#stage .gap").first.wait_for(state="attached")
    judged(walk(page))


def test_an_entry_out_of_sight_would_be_found(
    opened: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    right = source()
    wrong = right.replace('cell.classList.toggle("focal", isWorked);', "")
    assert wrong != right
    monkeypatch.setattr(frame, "scripts", lambda: wrong)
    frames = walk(on_a_screen(opened, variant_page.__wrapped__("causal"), 320))
    assert any("the entry is out of sight" in one["faults"] for one in frames)


# ---- what is within reach ----------------------------------------------------------------------


def test_the_one_status_is_heard_on_the_stage(opened: Callable[..., Any]) -> None:
    page = opened(sheet_page("causal"), width=375)
    page.keyboard.press("s")
    page.keyboard.press("ArrowRight")
    session = page.context.new_cdp_session(page)
    session.send("Accessibility.enable")
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    heard = {node["nodeId"]: node for node in nodes if not node["ignored"]}
    status = [node for node in heard.values() if node["role"]["value"] == "status"]
    assert len(status) == 1

    def text(node: dict[str, Any]) -> str:
        name = str(node.get("name", {}).get("value", ""))
        return name + "".join(text(heard[k]) for k in node.get("childIds", ()) if k in heard)

    assert page.locator("#stage .where").text_content() in text(status[0])
    assert "is compared with" in text(status[0])


def test_the_stage_is_found_and_left(opened: Callable[..., Any]) -> None:
    page = opened(sheet_page("causal"), width=1440)
    page.get_by_role("button", name="Follow one token").click()
    assert page.evaluate("document.activeElement.id") == "stage-heading"
    ring = "getComputedStyle(document.activeElement).outlineStyle"
    assert page.evaluate(ring) == "none"
    page.get_by_role("button", name="All steps").click()
    assert page.locator("#stage").is_hidden()
    page.click("#more")
    told = page.locator(".keys").inner_text()
    for words in ("follow one token", "other rows", "what it reaches", "Undo".lower()):
        assert words in told
