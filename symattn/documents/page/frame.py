"""The page around a derivation: head, policy, strip of steps, controls, style and program."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from symattn.derivations import Check
from symattn.documents.outline import Outline, sizes_of
from symattn.documents.page.colour import palette, stylesheet
from symattn.documents.page.elements import Markup, el, prose
from symattn.documents.page.stage import PROJECT, Parts

#: Where the page's own files are.
FILES = files(__package__)


#: The parts of its style.
STYLES = (
    "page.css",
    "front.css",
    "toolbar.css",
    "origin.css",
    "strip.css",
    "stage.css",
    "latex.css",
    "wide.css",
)


def scripts() -> str:
    """The page's own JavaScript: its parts beside this file, put together and minified.

    `tests/program.py` lists them.
    """
    _, program = (FILES / "program.js").read_text(encoding="utf-8").split("\n", 1)
    return program.rstrip("\n")


#: Nothing.
_NONE = Markup()


@dataclass(frozen=True)
class Body:
    """A derivation, or a chunk of a series, as the parts of a page.

    `data` is JSON of our own making. `tempered` is the letter of
    what its temperature divides, "" for none; `worksheet`: whether the page offers one. `scrubber`
    leads to the other chunks of a series.
    """

    outline: Outline
    given: Markup
    steps: Sequence[Markup]
    parts: Parts
    data: str = ""
    tempered: str = ""
    worksheet: bool = False
    claimed: Markup = _NONE
    scrubber: Markup = _NONE

    @property
    def title(self) -> str:
        """Its title, or a usual one."""
        return self.outline.title or "Attention, step by step"

    @property
    def contents(self) -> Markup:
        """The steps as links, in the groups that a calculation goes through."""
        links = [el("li", el("a", el("span", "Given", class_="called"), href="#given"))]
        by_name = {step.name: step for step in self.parts.derivation.steps}
        groups = self.parts.groups([by_name[section.name] for section in self.outline.steps])
        for group, steps in groups:
            numbered = [
                el(
                    "li",
                    el(
                        "a",
                        el("span", self.outline.headings[step.name], class_="called"),
                        href=f"#{step.name}",
                        class_="main" if self.parts.is_main(step) else None,
                        data_source=group == PROJECT,
                    ),
                )
                for step in steps
            ]
            if len(groups) == 1:
                links += numbered
            else:
                links.append(el("li", el("span", group, class_="group"), el("ul", *numbered)))
        return el("nav", el("ul", *links), id="contents", aria_label="Steps")

    @property
    def main(self) -> Markup:
        """The heading, the controls, what is given, and the steps."""
        outline = self.outline
        summary = [el("p", outline.story, class_="story")] if outline.story else []
        summary += [el("p", outline.example)] if outline.example else []
        foot = [el("p", prose(sizes_of(outline)), class_="sizes")] if outline.sizes else []
        checked = [_check(outline.check)] if outline.check is not None else []
        agrees = outline.check is None or outline.check.agrees
        foot += checked if agrees else []
        changed = [el("div", id="changed")] if self.data else []
        notes = [el("p", note, class_="note") for note in outline.notes]
        return el(
            "main",
            el(
                "header",
                el("h1", el("bdi", self.title)),
                self.scrubber,
                *summary,
                *([] if agrees else checked),
                self.claimed,
                *notes,
            ),
            _markup(
                "controls.html",  # hidden until the script, without which it does nothing, shows it
                temperature=bool(self.tempered),
                worksheet=self.worksheet,
                series=bool(self.scrubber),
            )
            if self.data
            else _NONE,
            el(
                "section",
                el("h2", "Given", id="given-heading", tabindex=-1),
                self.given,
                id="given",
                aria_labelledby="given-heading",
            ),
            *changed,
            *self.steps,
            *([el("footer", *foot)] if foot else []),
            id="main",
        )


def page(title: str, frames: Sequence[Body]) -> str:
    """The whole file: one derivation, or a series, of which the first is shown at first."""
    first = frames[0]
    is_series = len(frames) > 1
    is_claimed = any(one.claimed for one in frames)
    styles = (*STYLES, *["series.css"] * is_series, *["claims.css"] * is_claimed)
    tints = palette(".claimed") if is_claimed else ""
    style = stylesheet() + tints + "".join(map(_style, styles))
    data = first.data
    script = "" if not data else _in_series(scripts()) if is_series else scripts()
    policy = "; ".join(
        [
            "default-src 'none'",
            f"style-src '{_digest(style)}'",
            f"script-src '{_digest(script)}' '{_digest(data)}'" if script else "script-src 'none'",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", http_equiv="Content-Security-Policy", content=policy),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="generator", content="symattn"),
        el("title", title),
        el("style", Markup(style)),
    )
    others = (
        el("template", one.contents, one.main, _data(one), data_chunk=number)
        for number, one in enumerate(frames[1:], 2)
    )
    answering = [_markup("origin.html"), _data(first), *others, el("script", Markup(script))]
    blocks = [first.contents, first.main, *(answering if data else [])]
    skip = el("a", "Skip to the steps", href="#given-heading", class_="skip")
    body = el("body", skip, *blocks)
    return f"<!doctype html>\n{el('html', head, body, lang='en')}\n"


def _data(body: Body) -> Markup:
    return el("script", Markup(body.data), type="application/json", id="data")


def _in_series(program: str) -> str:
    """The program, behind what puts the chunk in place that is asked for."""
    return "\n".join(["(() => {", '"use strict";', _file("series.js"), program, "})();"])


def scrubber(number: int, titles: Sequence[str]) -> Markup:
    """The way from a chunk of a series to the others."""
    count = len(titles)
    turns = [
        el("button", sign, id=id_, aria_label=words, title=f"{words} (key {key})")
        for id_, sign, words, key in (
            ("before", "‹", "Previous chunk", "["),
            ("after", "›", "Next chunk", "]"),
        )
    ]
    shown = f"{number} of {count}: {titles[number - 1]}"
    turns[1:1] = [
        el(
            "input",
            type="range",
            id="chunk",
            min=1,
            max=count,
            value=number,
            aria_label="Chunk",
            aria_valuetext=shown,
            autocomplete="off",
        )
    ]
    fixed = (
        "The numbers of a series cannot be changed here, since those of later chunks follow from "
        "earlier ones."
    )
    return el(
        "nav",
        el("span", *turns, class_="turns", hidden=True),
        el("b", f"Chunk {number} of {count}", aria_hidden="true"),
        el("p", fixed, el("span", " One chunk is printed at a time.", class_="on-paper")),
        el("noscript", el("p", "The other chunks are shown where scripts may run.")),
        class_="series",
        aria_label="Chunks",
        data_titles=json.dumps([*titles], ensure_ascii=False),
    )


def _markup(name: str, **shown: bool) -> Markup:
    """One of the page's own pieces of HTML, without indentation, with the parts that are shown.

    A part stands between ``<!-- name -->`` and ``<!-- /name -->``.
    """
    whole = _file(name).replace("\n", "")
    chosen = re.sub(
        r"<!-- (\w+) -->(.*?)<!-- /\1 -->", lambda part: part[2] * shown[part[1]], whole
    )
    return Markup(chosen)


def _file(name: str) -> str:
    """One of the page's own files, without indentation."""
    lines = (FILES / name).read_text(encoding="utf-8").splitlines()
    return "\n".join(filter(None, map(str.strip, lines)))


def _style(name: str) -> str:
    """One of the page's own styles, without line breaks and comments."""
    return re.sub(r"/\*.*?\*/|\n", "", _file(name))


def _digest(text: str) -> str:
    hashed = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"sha256-{hashed}"


def _check(check: Check) -> Markup:
    if check.agrees:
        words = f"Every digit shown is proven, and NumPy ({check.dtype}) agrees at every step."
        return el("p", el("span", "✓", aria_hidden="true"), " ", words, class_="check")
    wrong = check.first_wrong
    step = "" if wrong is None else f" from step {wrong.name} on"
    words = f"NumPy ({check.dtype}) does not agree with the proven values{step}."
    if check.overflowed:
        words = f"NumPy {check.overflow()}."
    return el("p", el("span", "✗", aria_hidden="true"), " ", words, class_="check wrong")
