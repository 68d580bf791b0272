"""The pictures of the README and of the site's first page, made by the program itself.

``python -m tests.pictures`` writes them into ``docs/pictures/``: the interactive page in both
schemes (two screenshots, and what they were taken of), and a session at a terminal. What the
first page shows of the same page in small goes into ``docs/_static/pictures/``.
`tests/test_readme.py` fails once the program shows something else.
"""

from __future__ import annotations

import hashlib
import io
import re
import shlex
import shutil
from html import escape
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from symattn.documents.job import Job, document_of
from symattn.sheets.worksheet import read_worksheet
from tests import ROOT
from tests.terminal import shown_at_a_terminal

FOLDER = ROOT / "docs" / "pictures"
SMALL = ROOT / "docs" / "_static" / "pictures"

#: What the page is made of, and the entry that is followed on it.
PAGE, FOLLOWED = "examples/causal.toml", "#weights [data-m='A'] tr[data-r='2'] td[data-c='1']"

#: What is typed in the session, one after the other.
SESSION = (
    "symattn derive examples/it_cat_mat.toml --steps scores,weights,output --view worked,value"
    " --digits 3",
    "symattn prove 'softmax(S + c 1^T) = softmax(S)'",
)


# ---- the page --------------------------------------------------------------------------------


def page() -> str:
    """The page that the screenshots show."""
    sheet = read_worksheet(ROOT / PAGE)
    derivation = sheet.derivation()
    evaluation = sheet.evaluate(derivation)
    job = Job(derivation, evaluation, sheet.notation, check=evaluation.check())
    document = document_of("html", [job])
    assert isinstance(document, str)
    return document


def seen(document: str) -> str:
    """What a reader sees of a page, as a digest: its markup and its styles, not its program."""
    shown = re.sub(r"<script.*?</script>|<meta[^<>]*>", "", document, flags=re.DOTALL)
    return f"{hashlib.sha256(shown.encode()).hexdigest()}  {PAGE}\n"


def screenshot(browser: Any, document: str, scheme: str, small: bool = False) -> bytes:
    """The page as it opens; a small picture shows a weight and what it is computed from."""
    from PIL import Image

    context = browser.new_context(
        viewport={"width": 1200, "height": 800},
        device_scale_factor=2,
        color_scheme=scheme,
        reduced_motion="reduce",
    )
    with TemporaryDirectory() as folder:
        file = Path(folder) / "page.html"
        file.write_text(document, encoding="utf-8")
        opened = context.new_page()
        opened.goto(file.as_uri())
        if small:
            opened.locator(FOLLOWED).first.click()
            opened.evaluate("document.querySelector('#weights').scrollIntoView()")
        opened.wait_for_timeout(500)
        clip = opened.evaluate(_MATRICES) if small else None
        shot = Image.open(io.BytesIO(opened.screenshot(clip=clip)))
        context.close()
    out = io.BytesIO()
    few = shot.convert("RGB").quantize(200, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    few.save(out, "png", optimize=True)
    return out.getvalue()


#: Around the matrices of a step, with the names of their rows and columns.
_MATRICES = """() => {
  const rooms = [...document.querySelectorAll("#weights table")]
    .map((each) => each.getBoundingClientRect()).filter((each) => each.width);
  const [left, top] = ["left", "top"].map((side) => Math.min(...rooms.map((each) => each[side])));
  const [u, v] = ["right", "bottom"].map((side) => Math.max(...rooms.map((each) => each[side])));
  return { x: left - 18, y: top, width: u - left + 36, height: v - top + 12 };
}"""


# ---- the session -----------------------------------------------------------------------------

_WIDTH, _LINE, _LETTER = 114, 19, 8.4
#: Runs the command without the line that says how far it is, which comes and goes.
_RUN = """\
import os
os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
from symattn.cli import main
main(prog_name="symattn")
"""
_STYLES = "#c9d1d9", "#8b949e", "#f0f6fc", "#79c0ff", "#7ee787", "#ff7b72"


def session() -> str:
    """A terminal in which the commands are typed and answered, as a drawing that plays once.

    Where nothing moves (for want of support, or as the reader wishes) all of it is shown.
    """
    rows: list[tuple[float, str]] = []  # when a line appears, in seconds, and its markup
    now = 0.0
    for command in SESSION:
        typed = f'<tspan class="good">$</tspan> <tspan class="bold">{escape(command)}</tspan>'
        rows.append((now, typed))
        now += 1.2
        for line in _answer(command):
            rows.append((now, line))
            now += 0.06
        rows.append((now, ""))
        now += 2
    width, height = round(_WIDTH * _LETTER) + 40, len(rows) * _LINE + 64
    lines = "\n".join(
        f'<text x="20" y="{58 + number * _LINE}" style="animation-delay:{when:.2f}s">{line}</text>'
        for number, (when, line) in enumerate(rows)
        if line
    )
    plain, dim, bold, cyan, green, red = _STYLES
    said = escape("; ".join(SESSION), quote=True)
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" \
aria-label="A terminal: {said}">
<style>
text {{ font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  fill: {plain}; white-space: pre; animation: appear 0.15s both; }}
.dim {{ fill: {dim}; }} .bold {{ fill: {bold}; font-weight: 600; }}
.heading {{ fill: {cyan}; font-weight: 600; }} .good {{ fill: {green}; }} .bad {{ fill: {red}; }}
@keyframes appear {{ from {{ opacity: 0; }} }}
@media (prefers-reduced-motion: reduce) {{ text {{ animation: none; }} }}
</style>
<rect width="{width}" height="{height}" rx="10" fill="#0d1117"/>
<circle cx="22" cy="20" r="6" fill="#ff5f57"/><circle cx="42" cy="20" r="6" fill="#febc2e"/>\
<circle cx="62" cy="20" r="6" fill="#28c840"/>
{lines}
</svg>
"""


def _answer(command: str) -> list[str]:
    """The lines that a command prints at a terminal, as marked-up text of a drawing."""
    from rich.text import Text

    shown = shown_at_a_terminal("-c", _RUN, *shlex.split(command)[1:], COLUMNS=str(_WIDTH))
    lines = Text.from_ansi(shown.replace("\r", "").removesuffix("\n")).split(allow_blank=True)
    return [
        _markup(line[start : start + _WIDTH])  # where it is full, a terminal begins another
        for line in lines
        for start in range(0, max(1, len(line)), _WIDTH)
    ]


def _markup(line: Any) -> str:
    """A line of a terminal: its styles as classes, each run of letters as wide as it is there."""
    from rich.console import Console
    from rich.style import Style

    marked = ""
    segments = [s for s in line.render(Console(), end="") if s.text]
    starts = accumulate((len(segment.text) for segment in segments), initial=0)
    for start, segment in zip(starts, segments, strict=False):
        style = segment.style or Style()
        colour = style.color.number if style.color is not None else None
        name = {6: "heading", 2: "good", 1: "bad"}.get(colour or 0, "")
        name = name or ("dim" if style.dim else "bold" if style.bold else "")
        place = f' x="{20 + start * _LETTER:.1f}"' if start else ""
        width = f' textLength="{len(segment.text) * _LETTER:.1f}"' if segment.text.strip() else ""
        named = f' class="{name}"' if name else ""
        marked += f"<tspan{named}{place}{width}>{escape(segment.text)}</tspan>"
    return marked


def main() -> None:
    """Write all pictures."""
    from playwright.sync_api import sync_playwright

    FOLDER.mkdir(exist_ok=True)
    document = page()
    (FOLDER / "page.sha256").write_text(seen(document), encoding="utf-8")
    (FOLDER / "session.svg").write_text(session(), encoding="utf-8")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for scheme in ("light", "dark"):
            (FOLDER / f"page-{scheme}.png").write_bytes(screenshot(browser, document, scheme))
            small = screenshot(browser, document, scheme, small=True)
            (SMALL / f"traced-{scheme}.png").write_bytes(small)
        browser.close()


if __name__ == "__main__":
    main()
