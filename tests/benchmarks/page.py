"""How long the page takes to answer a reader of 64 tokens, in Chromium.

``python -m tests.benchmarks.page [CHROMIUM]`` prints a table; nothing is judged here. A hover is
a real movement of the pointer to another cell: the time to the frame that shows its effect, on the
clock, and what it costs in processor time, which other programs do not lengthen: in script, style,
layout and all on the average, and the most that one of them costs. All of a matrix is shown by a
real click. Above the table stands how busy the machine was.
"""

from __future__ import annotations

import os
import random
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from symattn import Attention
from symattn.documents.html import html_document
from symattn.documents.shown import Shown

TOKENS = 64

#: What is aimed at, in milliseconds.
REACH = {"hover": 50, "show all": 1000}

#: The time from an event to the frame after it, for each event of a kind, as it happens.
_LISTEN = """(kind) => {
    window.taken = [];
    document.addEventListener(kind, (event) => requestAnimationFrame(() => {
        const {port1, port2} = new MessageChannel();
        port1.onmessage = () => window.taken.push(performance.now() - event.timeStamp);
        port2.postMessage(0);
    }), {capture: true});
}"""

_ALL = "TaskDuration"
_PARTS = ("ScriptDuration", "RecalcStyleDuration", "LayoutDuration", _ALL)


def document(heads: int) -> str:
    """A page of causal attention with so many heads, its numbers drawn at random."""
    numbers = random.Random(5)
    count = heads if heads > 1 else 1
    tables = {
        name: [
            [[numbers.randint(-99, 99) / 64 for _ in range(4)] for _ in range(TOKENS)]
            for _ in range(count)
        ]
        for name in "QKV"
    }
    form = Attention(heads=heads, mask="causal") if heads > 1 else Attention(mask="causal")
    derivation = form.derivation()
    given = tables if heads > 1 else {name: table[0] for name, table in tables.items()}
    return html_document(Shown(derivation, derivation.evaluate(**given)))


def costs(session: Any) -> dict[str, float]:
    """Processor time of the main thread so far, in milliseconds, by what it was spent on."""
    metrics = session.send("Performance.getMetrics")["metrics"]
    return {each["name"]: 1e3 * each["value"] for each in metrics if each["name"] in _PARTS}


def hovers(page: Any, session: Any, cells: Any) -> tuple[dict[str, float], list[float]]:
    """What moving the pointer over these cells costs, and each time to the frame."""
    boxes = [cells.nth(k).bounding_box() for k in range(cells.count())]
    page.evaluate(_LISTEN, "pointerover")
    counts = [costs(session)]
    for box in boxes:
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.wait_for_timeout(80)
        counts.append(costs(session))
    spent = {part: (counts[-1][part] - counts[0][part]) / len(boxes) for part in _PARTS}
    spent["most"] = max(after[_ALL] - before[_ALL] for before, after in pairwise(counts))
    return spent, page.evaluate("window.taken")


def measured(
    browser: Any, heads: int
) -> Iterator[tuple[str, float, float, float, dict[str, float]]]:
    """Name, median, largest and reach of each thing done, with its costs."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "page.html"
        file.write_text(document(heads), encoding="utf-8")
        page = browser.new_page(viewport={"width": 1440, "height": 1000})
        page.goto(file.as_uri())
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        for step in ("scores", "weights", "heads" if heads > 1 else "output"):
            page.locator(f"#{step} .home table").first.scroll_into_view_if_needed()
            cells = page.locator(f"#{step} .home table").first.locator("td[data-c]")
            spent, taken = hovers(page, session, cells)
            yield f"hover, {step}", statistics.median(taken), max(taken), REACH["hover"], spent
        page.evaluate(_LISTEN, "click")
        before = costs(session)
        page.locator("#weights button.open").first.click()
        page.wait_for_timeout(1500)
        after = costs(session)
        spent = {part: after[part] - before[part] for part in _PARTS}
        spent["most"] = spent[_ALL]
        taken = page.evaluate("window.taken")
        yield "show all, weights", taken[-1], taken[-1], REACH["show all"], spent
        table = page.locator("#weights .home table").first
        table.locator("tr:nth-child(40) td[data-c]").first.scroll_into_view_if_needed()
        some = page.locator(
            "#weights .home table >> nth=0 >> tr[data-r='40'] td[data-c]:nth-of-type(-n+15)"
        )
        spent, taken = hovers(page, session, some)
        yield "hover, all shown", statistics.median(taken), max(taken), REACH["hover"], spent
        page.close()


def main() -> None:
    """Measure and print."""
    from playwright.sync_api import sync_playwright

    path = sys.argv[1] if len(sys.argv) > 1 else shutil.which("chromium")
    columns = ("median", "largest", "aim", "script", "style", "layout", "all", "most")
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    print(f"{'milliseconds':<30}" + "".join(f"{column:>9}" for column in columns))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for heads in (1, 4):
            for name, middle, most, reach, spent in measured(browser, heads):
                times = (middle, most, reach, *(spent[part] for part in (*_PARTS, "most")))
                shown = "".join(f"{time:9.1f}" for time in times)
                print(f"{f'{name}, {heads} heads':<30}{shown}", flush=True)
        browser.close()


if __name__ == "__main__":
    main()
