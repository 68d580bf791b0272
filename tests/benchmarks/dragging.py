"""What a frame costs while a number or a query of the page is dragged, in Chromium.

Run with ``python -m tests.benchmarks.dragging``. It drags by one step in each frame and prints, in
milliseconds a frame, the processor's time of the page's thread: of its program, of styles, of
layout, and of all with what is drawn for the rasteriser; and, as a reader sees it, the median time
from one frame to the next, in which a machine without a graphics card also rasterises. At 60 Hz a
frame has 16.7 ms, at 30 Hz 33.3 ms. It measures; it does not judge.
"""

from __future__ import annotations

import itertools
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from symattn import VARIANTS
from symattn.attention.example import small_example
from symattn.documents.html import html_document
from symattn.documents.shown import Shown
from tests.documents.page.opening import sheet_page

FRAMES = 120

#: What Chromium counts, in seconds.
COUNTED = {
    "program": "ScriptDuration",
    "styles": "RecalcStyleDuration",
    "layout": "LayoutDuration",
    "all": "TaskDuration",
}

#: Moves the pointer once a frame to places around it, far enough for another number, and gives the
#: times of the frames.
DRAG = """async ([selector, x, y, frames]) => {
  const element = document.querySelector(selector);
  const times = [];
  for (let k = 0; k < frames; k++) {
    const [dx, dy] = [9 * ((8 * k) % 19 - 9), 5 * ((7 * k) % 17 - 8)];
    const at = { clientX: x + dx, clientY: y + dy };
    const move = { ...at, pointerType: "mouse", buttons: 1, bubbles: true };
    element.dispatchEvent(new PointerEvent("pointermove", move));
    times.push(await new Promise(requestAnimationFrame));
  }
  return times;
}"""


def _page(tokens: int) -> str:
    spec = next(row.spec for row in VARIANTS if row.name == "causal")
    return html_document(Shown(*small_example(spec, tokens=tokens)))


#: What is dragged, by the page and what is pressed on it.
DRAGGED: dict[str, tuple[Callable[[], str], str]] = {
    "a query of three tokens": (lambda: sheet_page("causal"), "#front .tip"),
    "a number of three tokens": (lambda: sheet_page("causal"), ".dragged td[data-c]"),
    "a number of sixteen tokens": (lambda: _page(16), ".dragged td[data-c]"),
}


def measured(page: Any, selector: str) -> tuple[dict[str, float], float]:
    """Milliseconds a frame of what Chromium counts, and the median time between frames."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def counts() -> dict[str, float]:
        found = session.send("Performance.getMetrics")["metrics"]
        return {one["name"]: one["value"] for one in found}

    target = page.locator(selector).first
    target.scroll_into_view_if_needed()
    box = target.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    moved = selector.replace(".tip", "svg") if ".tip" in selector else selector
    page.evaluate(DRAG, [moved, x, y, 20])
    before = counts()
    times = page.evaluate(DRAG, [moved, x, y, FRAMES])
    after = counts()
    page.mouse.up()
    gaps = sorted(b - a for a, b in itertools.pairwise(times))
    spent = {name: 1000 * (after[key] - before[key]) / FRAMES for name, key in COUNTED.items()}
    return spent, gaps[len(gaps) // 2]


def main() -> None:
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        path = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for width in (375, 1440):
            for name, (made, selector) in DRAGGED.items():
                page = browser.new_page(viewport={"width": width, "height": 900})
                file = Path(folder, "page.html")
                file.write_text(made(), encoding="utf-8")
                page.goto(file.as_uri())
                spent, gap = measured(page, selector)
                told = ", ".join(f"{what} {time:.1f}" for what, time in spent.items())
                print(f"{name}, {width} pixels: {told} ms a frame; {gap:.1f} ms between frames")
                page.close()


if __name__ == "__main__":
    main()
