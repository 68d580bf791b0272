"""The page around a derivation: head, policy, contents, controls, style and program."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from symattn.derivation import Check
from symattn.documents.outline import Outline, sizes_of
from symattn.documents.page.colour import stylesheet
from symattn.documents.page.elements import Markup, el, joined, prose
from symattn.documents.page.stage import Parts

#: Where the page's own files are.
FILES = Path(__file__).parent


#: The parts of the page's program, in order; each has one thing to do, and they share one scope.
PARTS = (
    "basics.js",  # elements, keys, being told of a change
    "certified.js",  # numbers with proven digits
    "certified_arrays.js",
    "rules.js",  # of what an entry is made; worked lines
    "state.js",  # what was changed, and what follows from it
    "cells.js",
    "origin.js",  # the chosen entry
    "sheet.js",  # steps one below the other
    "stage.js",  # one step at a time, move by move
    "large.js",
    "controls.js",
    "picture.js",
    "start.js",
)

#: The parts of its style.
STYLES = ("page.css", "stage.css")


def scripts() -> str:
    """The page's own JavaScript."""
    return "\n".join(map(_file, PARTS))


def page(
    outline: Outline,
    given: Markup,
    steps: Sequence[Markup],
    *,
    parts: Parts,
    picture: Markup | None = None,
    data: str = "",
    program: str = "",
    tempered: str = "",
) -> str:
    """The whole file. `data` is JSON and `program` JavaScript, both of our own making."""
    style = stylesheet() + "".join(map(_file, STYLES))
    code = ['"use strict";', program, scripts()]
    script = "(() => {\n" + "\n".join(code) + "\n})();" if data else ""
    script = re.sub(r"(?m)^ *(?://.*\n)?", "", script)  # indentation and comments are a tenth of it
    title = outline.title or "Attention, step by step"
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
    content = _main(outline, title, given, steps, picture, bool(data), tempered)
    blocks = [_contents(outline, picture, parts), content]
    if data:
        blocks.append(
            el(
                "aside",
                el("div", class_="origin", role="status"),
                id="origin",
                aria_label="Where the chosen entry comes from",
                hidden=True,
            )
        )
        blocks.append(el("script", Markup(data), type="application/json", id="data"))
        blocks.append(el("script", Markup(script)))
    skip = el("a", "Skip to the steps", href="#main", class_="skip")
    body = el("body", skip, *blocks)
    return f"<!doctype html>\n{el('html', head, body, lang='en')}\n"


def _file(name: str) -> str:
    """One of the page's own files, without indentation and comments."""
    text = re.sub(r"(?m)(?<=[;{,]) // .*$", "", (FILES / name).read_text(encoding="utf-8"))
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//"))


def _digest(text: str) -> str:
    hashed = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"sha256-{hashed}"


def _contents(outline: Outline, picture: Markup | None, parts: Parts) -> Markup:
    """The steps as links, in the groups that a calculation goes through."""
    links = [el("li", el("a", "Given", href="#given"), class_="whole")]
    if picture:
        words = "Which token attends to which"
        links.append(el("li", el("a", words, href="#picture"), class_="whole"))
    numbers = {section.name: section.number for section in outline.steps}
    by_name = {step.name: step for step in parts.derivation.steps}
    groups = parts.groups([by_name[name] for name in numbers])
    for group, steps in groups:
        numbered = [
            el(
                "li",
                el(
                    "a",
                    el("span", str(numbers[step.name]), class_="number"),
                    " ",
                    outline.headings[step.name],
                    href=f"#{step.name}",
                    class_="main" if parts.is_main(step) else None,
                ),
            )
            for step in steps
        ]
        if len(groups) == 1:
            links += numbered
        else:
            links.append(el("li", el("span", group, class_="group"), el("ul", *numbered)))
    lists = el("ul", *links)
    return el(
        "nav",
        el("details", el("summary", "Contents"), lists, open=True),
        id="contents",
        aria_label="Contents",
    )


def _main(
    outline: Outline,
    title: str,
    given: Markup,
    steps: Sequence[Markup],
    picture: Markup | None,
    live: bool,
    tempered: str,
) -> Markup:
    summary = [el("p", prose(sizes_of(outline)), class_="sizes")] if outline.sizes else []
    checked = [_check(outline.check)] if outline.check is not None else []
    changed = [el("div", id="changed")] if live else []
    notes = [el("p", note, class_="note") for note in outline.notes]
    return el(
        "main",
        el("header", el("h1", title), *summary, *checked, *changed, *notes),
        _controls(bool(tempered)) if live else Markup(),
        el(
            "section",
            el("h2", "Given", id="given-heading", tabindex=-1),
            given,
            id="given",
            class_="inputs",
            aria_labelledby="given-heading",
        ),
        picture or Markup(),
        *steps,
        id="main",
    )


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


def _controls(temperature: bool) -> Markup:
    """The controls, hidden until the script, without which they do nothing, shows them."""
    fields: list[str] = []
    if temperature:
        fields.append(
            el(
                "label",
                "Temperature ",
                el(
                    "input",
                    id="temperature",
                    type="number",
                    min="0.01",
                    max="100",
                    step="0.1",
                    value="1",
                    autocomplete="off",
                ),
            )
        )
    fields.append(
        el(
            "label",
            "Decimals ",
            el(
                "input", id="digits", type="number", min="0", max="15", step="1", autocomplete="off"
            ),
        )
    )
    moves = [
        el("button", "← Previous", type="button", id="previous", title="Previous step (key p)"),
        el("button", "Next →", type="button", id="next", title="Next step (key n)"),
        el("button", "Fold all", type="button", id="fold", title="Fold or unfold (key f)"),
    ]
    change = [
        el("button", "Change the numbers", type="button", id="edit", aria_pressed="false"),
        *fields,
        el("button", "Reset", type="button", id="reset", disabled=True),
    ]
    state = el("p", "Proven digits.", id="state", role="status")
    keys = el(
        "details",
        el("summary", "Keys"),
        el(
            "p",
            joined(
                el("kbd", "n"),
                " ",
                el("kbd", "p"),
                " next and previous step, ",
                el("kbd", "f"),
                " fold or unfold all, ",
                el("kbd", "Tab"),
                " into a matrix and the arrow keys from cell to cell, ",
                el("kbd", "Enter"),
                " to keep a cell chosen, ",
                el("kbd", "Esc"),
                " to release it.",
            ),
        ),
        class_="keys",
    )
    return el(
        "div",
        el("div", *moves, class_="moves"),
        el("div", *change, class_="change"),
        state,
        keys,
        id="controls",
        role="group",
        aria_label="Controls",
        hidden=True,
    )
