"""The page around a derivation: head, policy, contents, controls, style and program."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from symattn.derivation import Check
from symattn.documents.outline import Outline, sizes_of
from symattn.documents.page.colour import palette, stylesheet
from symattn.documents.page.elements import Markup, el, joined, prose
from symattn.documents.page.stage import Parts

#: Where the page's own files are.
FILES = Path(__file__).parent


#: The parts of its style.
STYLES = ("page.css", "toolbar.css", "origin.css", "stage.css")


def scripts() -> str:
    """The page's own JavaScript: its parts beside this file, put together and minified.

    `tests/program.py` lists them.
    """
    _, program = (FILES / "program.js").read_text(encoding="utf-8").split("\n", 1)
    return program.rstrip("\n")


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
    worksheet: bool = False,
    claimed: Markup | None = None,
) -> str:
    """The whole file. `data` is JSON and `program` JavaScript, both of our own making."""
    tints = palette(".claimed") if claimed else ""
    style = stylesheet() + tints + "".join(map(_file, STYLES))
    program = re.sub(r"(?m)^ *(?://.*\n)?", "", program)  # without indentation and comments
    script = "\n".join(["(() => {", '"use strict";', program, scripts(), "})();"]) if data else ""
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
    content = _main(
        outline, title, given, steps, picture, bool(data), tempered, worksheet, claimed or Markup()
    )
    blocks = [_contents(outline, picture, parts), content]
    if data:
        blocks.append(_origin())
        blocks.append(el("script", Markup(data), type="application/json", id="data"))
        blocks.append(el("script", Markup(script)))
    skip = el("a", "Skip to the steps", href="#main", class_="skip")
    body = el("body", skip, *blocks)
    return f"<!doctype html>\n{el('html', head, body, lang='en')}\n"


def _origin() -> Markup:
    """The panel of the chosen entry, which the script fills."""
    ways = [
        el("button", words, type="button", data_way=way, aria_pressed="false", title="key i")
        for way, words in (("back", "Comes from"), ("on", "Reaches"))
    ]
    close = el("button", "×", type="button", class_="close", aria_label="Close", title="key Esc")
    return el(
        "aside",
        el("div", *ways, close, class_="ways"),
        el("div", class_="origin"),
        id="origin",
        aria_label="The chosen entry",
        hidden=True,
    )


def _file(name: str) -> str:
    """One of the page's own files, without indentation."""
    lines = (FILES / name).read_text(encoding="utf-8").splitlines()
    return "\n".join(filter(None, map(str.strip, lines)))


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
    worksheet: bool,
    claimed: Markup,
) -> Markup:
    summary = [el("p", prose(sizes_of(outline)), class_="sizes")] if outline.sizes else []
    checked = [_check(outline.check)] if outline.check is not None else []
    changed = [el("div", id="changed")] if live else []
    notes = [el("p", note, class_="note") for note in outline.notes]
    return el(
        "main",
        el("header", el("h1", el("bdi", title)), *summary, *checked, claimed, *changed, *notes),
        _controls(bool(tempered), worksheet) if live else Markup(),
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


def _controls(temperature: bool, worksheet: bool) -> Markup:
    """One row of controls, hidden until the script, without which they do nothing, shows them."""

    def button(id_: str, *content: str, **attributes: Any) -> Markup:
        return el("button", *content, type="button", id=id_, **attributes)

    def sign(id_: str, sign: str, name: str, key: str, **more: Any) -> Markup:
        return button(id_, sign, class_="sign", aria_label=name, title=f"{name} ({key})", **more)

    settings: list[str] = []
    if temperature:
        slider = el(
            "input", id="slider", type="range", min=-1, max=1, step="0.01", value=0,
            aria_label="Temperature, by slider", autocomplete="off",
        )  # fmt: skip
        field = el(
            "input", id="temperature", type="text", inputmode="decimal", value="1",
            maxlength=200, autocomplete="off",
        )  # fmt: skip
        settings.append(el("span", el("label", "Temperature ", field), slider, class_="setting"))
    digits = el("input", id="digits", type="number", min=0, max=15, step=1, autocomplete="off")
    settings += [
        el("span", el("label", "Decimals ", digits), class_="setting"),
        button("reset", "Reset", disabled=True),
    ]
    change = [el("span", "Change the numbers", class_="long"), el("span", "Edit", class_="brief")]
    row = [
        el(
            "span",
            sign("previous", "←", "Previous step", "key p"),
            sign("next", "→", "Next step", "key n"),
            class_="moves",
        ),
        button("edit", *change, aria_pressed="false"),
        el(
            "span",
            sign("undo", "↶", "Undo", "Ctrl+Z", aria_disabled="true"),
            sign("redo", "↷", "Redo", "Ctrl+Y", aria_disabled="true"),
        ),
        el(
            "div",
            el("p", "Proven digits.", id="state"),
            el("p", id="said", class_="spoken"),
            role="status",
            aria_atomic="false",
        ),
        button("more", "More", aria_expanded="false", aria_controls="menu"),
    ]
    download = [button("download", "Download this worksheet")] if worksheet else []
    keys = (
        ("n p", "next and previous step"),
        ("s", "step through it on the stage; back to all steps"),
        ("← → Space", "on the stage: frame by frame; play"),
        ("Home End", "on the stage: first and last frame"),
        ("f", "fold or unfold all"),
        ("Tab ↑ ↓ ← →", "into a matrix, from cell to cell"),
        ("Enter Esc", "keep a cell chosen, release it"),
        ("i", "what it comes from, what it reaches"),
        ("Ctrl+Z Ctrl+Y", "undo, redo"),
    )
    listed = [
        part
        for names, words in keys
        for part in (
            el("dt", joined(*(el("kbd", name) for name in names.split()))),
            el("dd", words),
        )
    ]
    menu = el(
        "div",
        el("div", *settings, id="settings"),
        button("fold", "Fold all", title="Fold or unfold (key f)"),
        button("link", "Copy link"),
        *download,
        el("dl", *listed, class_="keys"),
        id="menu",
        hidden=True,
    )
    return el("div", *row, menu, id="controls", role="group", aria_label="Controls", hidden=True)
