"""How the page looks, where a picture of it once showed a fault."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest

from symattn.documents.page import frame
from tests.documents.page.opening import sheet_page, variant_page

#: The second weight of the second row is chosen.
CHOOSE = "document.querySelector(\"#weights .home tr[data-r='1'] td[data-c='1']\").click()"


@pytest.mark.nightly
@pytest.mark.parametrize("width", [320, 768, 1440])
def test_the_panel_gives_a_line_all_its_width(width: int, opened: Callable[..., Any]) -> None:
    page = opened(variant_page("cached-llama"), width)
    page.evaluate(CHOOSE)
    box = "(element) => element.getBoundingClientRect().toJSON()"
    names = (".origin", ".origin .line", ".origin .where", ".ways button")
    panel, line, where, button = (page.locator(name).first.evaluate(box) for name in names)
    assert (line["left"], line["right"]) == (panel["left"], panel["right"])
    assert panel["right"] - panel["left"] > (width - 32) * 0.75
    assert button["bottom"] <= line["top"]
    words = page.evaluate("""() => {
        const range = document.createRange();
        range.selectNodeContents(document.querySelector(".origin .where"));
        return range.getBoundingClientRect().toJSON();
    }""")
    assert words["right"] <= button["left"] or where["top"] >= button["bottom"]


def shaded(opened: Callable[..., Any]) -> list[str]:
    """Formulas that fit, and whose last pixels are not those of the page."""
    from PIL import Image

    page = opened(sheet_page.__wrapped__("two_heads"), 375)
    found = []
    for line in page.locator(".step .line").all():
        if not line.is_visible() or line.evaluate("(box) => box.scrollWidth > box.clientWidth"):
            continue
        picture = Image.open(BytesIO(line.screenshot())).convert("L")
        end = picture.crop((picture.width - 4, 0, picture.width, picture.height))
        shades = [shade for shade, count in enumerate(end.histogram()) if count]
        if shades[-1] - shades[0] > 4:
            found.append(line.inner_text())
    return found


@pytest.mark.nightly
def test_what_fits_has_no_shade_of_what_goes_on(opened: Callable[..., Any]) -> None:
    assert shaded(opened) == []


@pytest.mark.nightly
def test_a_shade_would_be_found(
    opened: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = frame._file  # pyright: ignore
    uncovered = ".line{background:linear-gradient(to left,#888,transparent)!important}"
    monkeypatch.setattr(frame, "_file", lambda name: file(name) + uncovered)
    assert shaded(opened)


@pytest.mark.nightly
def test_forced_colours_outline_what_is_lit_alone(opened: Callable[..., Any]) -> None:
    page = opened(sheet_page("two_heads"), forced_colors="active")
    page.keyboard.press("s")
    page.locator("#contents a[href='#weights']").click()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("o")
    style = "(cells) => cells.map((cell) => getComputedStyle(cell).outlineStyle)"
    dull = page.locator("#stage .entry:not(.lit,.focal,.empty)")
    assert set(dull.evaluate_all(style)) == {"none"}
    assert set(page.locator("#stage .lit").evaluate_all(style)) == {"solid"}
