"""The interactive page as people see it, on contact sheets to look at.

``python -m tests.screenshots`` takes pages, some of them hard ones, in Chromium and in Firefox, at
four widths: as they open, on the stage, changed, and with an entry chosen; light, dark, in forced
colours, without motion, at 200 % zoom and on paper. It writes sheets with several screenshots into
``build/screenshots/`` and prints what is wider than its screen, cut off, or logged. Nothing else is
judged. ``--page``, ``--look`` and ``--browser`` choose some of them.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from symattn import Attention
from symattn.attention.example import small_example
from symattn.documents.html import html_document
from symattn.documents.shown import Shown
from symattn.sheets.worksheet import worksheet_of
from tests import ROOT
from tests.documents.page.opening import sheet, variant

FOLDER = ROOT / "build" / "screenshots"

#: Height of the screen for each width.
SCREENS = {320: 640, 375: 740, 768: 1000, 1440: 900}

STATES = ("sheet", "stage", "product", "edited", "chosen")

LOOKS = ("light", "dark", "forced", "still", "zoom", "paper")

BROWSERS = {"chrome": "chromium", "firefox": "firefox-esr"}

#: How much smaller than on the screen.
SCALE = 0.5


def _named(tokens: list[str], big: int = 1) -> str:
    """Causal attention over tokens with these names, its numbers so many times as big."""
    rows = [[big * ((3 * i + j) % 5 - 2) for j in range(2)] for i in range(len(tokens))]
    given = "\n".join(f"{name} = {json.dumps(rows)}" for name in "QKV")
    names = json.dumps(tokens, ensure_ascii=False)
    text = (
        f'title = "{tokens[0]}"\n[attention]\nmask = "causal"\ntokens = {names}\n[given]\n{given}'
    )
    found = worksheet_of(text)
    derivation = found.derivation()
    return html_document(Shown(derivation, found.evaluate(derivation)))


def _heads(count: int, tokens: int) -> str:
    spec = Attention(heads=count, mask="causal")
    return html_document(Shown(*small_example(spec, tokens=tokens, title=f"{count} heads")))


#: The pages; the last are hard to draw.
PAGES: dict[str, Callable[[], str]] = {
    "causal": lambda: html_document(Shown(*sheet("causal"))),
    "two_heads": lambda: html_document(Shown(*sheet("two_heads"))),
    "cached-llama": lambda: html_document(Shown(*variant("cached-llama"))),
    "backward": lambda: html_document(Shown(*sheet("backward"))),
    "long": lambda: _named(["Donaudampfschifffahrtsgesellschaft", "internationalisation", "a"]),
    "right-to-left": lambda: _named(["שלום", "عالم", "hello", "ﷺ"]),
    "large": lambda: _named(["one", "two", "three"], 987654321),
    "tokens64": lambda: _named([f"token{number}" for number in range(64)]),
    "heads12": lambda: _heads(12, 3),
}


def _jobs(pages: list[str], look: str, folder: Path) -> Iterator[dict[str, Any]]:
    """What is taken in one look."""
    widths = [768, 1440] if look == "zoom" else [1440] if look == "paper" else SCREENS
    scale = 2 if look == "zoom" else 1
    for page in pages:
        for state in ["paper"] if look == "paper" else STATES:
            for width in widths:
                yield {
                    "page": page,
                    "address": (folder / f"{page}.html").as_uri(),
                    "width": width // scale,
                    "height": SCREENS[width] // scale,
                    "scale": scale,
                    "state": state,
                    "file": str(folder / f"{page}-{look}-{state}-{width}.png"),
                }


def _taken(jobs: list[dict[str, Any]], browser: str, look: str, folder: Path) -> list[str]:
    """Takes them in a browser; what is wrong with any of them."""
    listed = folder / "jobs.json"
    listed.write_text(json.dumps(jobs), encoding="utf-8")
    kind = "light" if look in ("zoom", "paper") else look
    script = str(ROOT / "tests" / "screenshots.cjs")
    path = shutil.which(BROWSERS[browser]) or ""
    command = ["node", script, browser, path, kind, str(listed)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ)
    if ran.returncode:
        raise SystemExit(ran.stderr)
    return [
        f"{browser}, {Path(each['file']).stem}: {'; '.join(each['faults'])}"
        for each in map(json.loads, ran.stdout.splitlines())
    ]


def _sheet_of(rows: list[list[Any]], scale: float) -> Any:
    """Pictures in rows, made smaller, one below the other."""
    from PIL import Image

    small = [
        [one.resize((round(one.width * scale), round(one.height * scale))) for one in row]
        for row in rows
    ]
    gap = 6
    width = max(sum(one.width + gap for one in row) for row in small)
    sheet = Image.new(
        "RGB", (width, sum(max(o.height for o in row) + gap for row in small)), "#888"
    )
    top = 0
    for row in small:
        left = 0
        for one in row:
            sheet.paste(one, (left, top))
            left += one.width + gap
        top += max(one.height for one in row) + gap
    return sheet


def _pages_of(pdf: Path) -> list[Any]:
    """The pages of a PDF as pictures."""
    from PIL import Image

    subprocess.run(["pdftoppm", "-r", "72", "-png", str(pdf), str(pdf)], check=True)
    return [Image.open(one) for one in sorted(pdf.parent.glob(f"{pdf.name}-*.png"))]


def main() -> None:
    """Take them, and put them on sheets."""
    from PIL import Image

    parser = argparse.ArgumentParser(prog="python -m tests.screenshots", description=__doc__)
    parser.add_argument("--page", action="append", choices=PAGES)
    parser.add_argument("--look", action="append", choices=LOOKS)
    parser.add_argument("--browser", action="append", choices=BROWSERS)
    chosen = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    pages = chosen.page or list(PAGES)
    with TemporaryDirectory() as name:
        folder = Path(name)
        for page in pages:
            (folder / f"{page}.html").write_text(PAGES[page](), encoding="utf-8")
        for browser in chosen.browser or BROWSERS:
            for look in chosen.look or LOOKS:
                jobs = list(_jobs(pages, look, folder))
                for fault in _taken(jobs, browser, look, folder):
                    print(fault, flush=True)
                for page in pages:
                    files = [Path(job["file"]) for job in jobs if job["page"] == page]
                    if look == "paper":
                        rows = [
                            sheets[k : k + 4]
                            for file in files
                            if (sheets := _pages_of(file))
                            for k in range(0, len(sheets), 4)
                        ]
                    else:
                        per = len(files) // len(STATES)
                        shots = [Image.open(file) for file in files]
                        rows = [shots[k : k + per] for k in range(0, len(shots), per)]
                    scale = 0.7 if look == "paper" else SCALE
                    _sheet_of(rows, scale).save(FOLDER / f"{browser}-{page}-{look}.png")


if __name__ == "__main__":
    main()
