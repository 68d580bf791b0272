"""The first page: a figure of the worksheet that it shows, and what symattn makes, in small.

All of it is made by symattn when a build begins.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, TypeAlias

from click.testing import CliRunner

from symattn import VARIANTS, Evaluation, Notation, variant
from symattn.attention.example import small_example
from symattn.cli import main
from symattn.documents.job import Job, document_of
from symattn.documents.page.colour import ROLES, SCHEMES, shade, shade_of
from symattn.documents.page.elements import Markup, el, formula, joined
from symattn.notation.tree import Op, Row
from symattn.sheets.worksheet import read_worksheet

_INDEX = Path(__file__).parents[1] / "index.md"

#: What the parts of the first page are made of, besides the package.
SOURCES = (Path(__file__), _INDEX)

Point: TypeAlias = tuple[float, float]


def sheet() -> str:
    """The worksheet that the first page shows."""
    found = re.search(
        r"^```\{file\} sheet\.toml\n(.*?)^```", _INDEX.read_text("utf-8"), re.M | re.S
    )
    assert found is not None
    return found[1]


def evaluated() -> Evaluation:
    """The numbers of the first page's worksheet."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "sheet.toml"
        path.write_text(sheet(), "utf-8")
        return read_worksheet(path).evaluate()


# ---- the figure -------------------------------------------------------------------------------

#: What the stages are called in the worksheet, and what is said below their letters.
_STAGES = (
    ("Q", "query"),
    ("K", "keys"),
    ("scores", "q · k"),
    ("scaled", "÷ √{d_k}"),
    ("weights", "softmax"),
    ("V", "values"),
    ("output", "Σ a · v"),
)
_QUERY, _KEYS, _SCORES, _SCALED, _WEIGHTS, _VALUES, _OUTPUT = range(len(_STAGES))

#: How the cells look that a key has at a stage.
_KINDS = {_KEYS: "k", _SCORES: "plain", _SCALED: "plain", _WEIGHTS: "weight", _VALUES: "v"}

#: The height of a cell, and the widths of one with a digit and with decimals.
_HIGH, _DIGIT, _DECIMALS = 34.0, 32.0, 64.0


class Layout(NamedTuple):
    """Where stages are along the flow and tokens across it; the flow is down on a narrow screen."""

    name: str
    width: int
    height: int
    stages: tuple[int, ...]
    tokens: tuple[int, ...]

    @property
    def down(self) -> bool:
        """Whether one stage is below another."""
        return self.name == "tall"

    def at(self, stage: int, token: int) -> Point:
        """The middle of what a token has at a stage."""
        along, across = self.stages[stage], self.tokens[token]
        return (across, along) if self.down else (along, across)


_LAYOUTS = (
    Layout("wide", 800, 220, (34, 210, 286, 360, 450, 540, 732), (82, 136, 190)),
    Layout("tall", 343, 448, (20, 122, 178, 232, 286, 340, 428), (118, 205, 292)),
)


class Cells(NamedTuple):
    """Numbers side by side: their cells, and where lines to other stages begin and end."""

    at: Point
    texts: Sequence[str]
    kind: str

    @property
    def _wide(self) -> float:
        return _DECIMALS if any(len(text) > 3 for text in self.texts) else _DIGIT

    @property
    def half(self) -> float:
        """Half of the width of all cells."""
        return (len(self.texts) * (self._wide + 3) - 3) / 2

    def cells(self, traced: Sequence[int] = (), style: str | None = None) -> Iterator[Markup]:
        """The numbers; an edge is drawn around those that are traced."""
        x, y = self.at
        for j, text in enumerate(self.texts):
            left = x - self.half + j * (self._wide + 3)
            yield el(
                "g",
                el(
                    "rect",
                    x=f"{left:g}",
                    y=f"{y - _HIGH / 2:g}",
                    width=f"{self._wide:g}",
                    height=f"{_HIGH:g}",
                    rx=5,
                ),
                el("text", text, x=f"{left + self._wide / 2:g}", y=f"{y + 5:g}"),
                class_=f"cell {self.kind}" + " traced" * (j in traced),
                style=style,
            )

    def side(self, down: bool, way: int, more: float = 3) -> Point:
        """The middle of the side that faces the next stage (1) or the one before (-1)."""
        x, y = self.at
        return (x, y + way * (_HIGH / 2 + more)) if down else (x + way * (self.half + more), y)


def _line(down: bool, one: Point, other: Point, kind: str, width: float = 1.5) -> Markup:
    (x, y), (u, v) = one, other
    turn = (
        f"{x:g} {(y + v) / 2:g} {u:g} {(y + v) / 2:g}"
        if down
        else f"{(x + u) / 2:g} {y:g} {(x + u) / 2:g} {v:g}"
    )
    return el(
        "path", d=f"M{x:g} {y:g}C{turn} {u:g} {v:g}", class_=kind, stroke_width=f"{width:.2f}"
    )


def _words(x: float, y: float, words: str, kind: str) -> Markup:
    return el("text", words, x=f"{x:g}", y=f"{y:g}", class_=kind)


def _of_key(stage: int, numbers: list[list[str]], j: int) -> list[str]:
    """A key's own row of K or V, and its entry in the row of the query."""
    return numbers[j] if stage in (_KEYS, _VALUES) else [numbers[0][j]]


def _drawn(layout: Layout, values: Evaluation, query: str, keys: Sequence[str]) -> Markup:
    down = layout.down
    numbers = [values[name].decimals(4) for name, _ in _STAGES]
    middle = len(keys) // 2
    asks = Cells(layout.at(_QUERY, middle), numbers[_QUERY][0], "q")
    gets = Cells(layout.at(_OUTPUT, middle), numbers[_OUTPUT][0], "plain")
    lines, cells = [], [*asks.cells(), *gets.cells((0,))]
    for j, key in enumerate(keys):
        rows = {
            stage: Cells(layout.at(stage, j), _of_key(stage, numbers[stage], j), kind)
            for stage, kind in _KINDS.items()
        }
        share = float(numbers[_WEIGHTS][0][j])
        (ground, ink), (dark, pale) = (shade(s, shade_of(share)) for s in ("light", "dark"))
        style = f"--g:{ground};--i:{ink};--dg:{dark};--di:{pale}"
        for stage, row in rows.items():
            traced = (0,) if stage in (_WEIGHTS, _VALUES) else ()
            cells += row.cells(traced, style if stage == _WEIGHTS else None)
        # The name of a key stands before its numbers, and the query's line ends at the name.
        x, y = rows[_KEYS].side(down, -1, 8)
        cells.append(_words(x, y if down else y + 5, key, "token" if down else "token end"))
        lines.append(
            _line(
                down,
                asks.side(down, 1),
                (x, y - 16) if down else (x - 8.5 * len(key) - 9, y),
                "asks",
            )
        )
        for stage in (_KEYS, _SCORES, _SCALED):
            lines.append(
                _line(down, rows[stage].side(down, 1), rows[stage + 1].side(down, -1), "leads")
            )
        (x, y), (u, v) = rows[_WEIGHTS].side(down, 1), rows[_VALUES].side(down, -1)
        cells.append(_words((x + u) / 2, (y + v) / 2 + 5, "·", "sign"))
        into = (gets.at[0] - _DECIMALS / 2, gets.side(down, -1)[1]) if down else gets.side(down, -1)
        lines.append(_line(down, rows[_VALUES].side(down, 1), into, "mixes", 1 + 12 * share))
    x, y = asks.at
    cells.append(
        _words(x - asks.half - 8, y + 5, query, "token end")
        if down
        else _words(x, y + 35, query, "token")
    )
    width = len(numbers[_QUERY][0])
    for stage, (name, said) in enumerate(_STAGES):
        letter = values[name].step.letter
        along = layout.stages[stage]
        role = {_QUERY: "q", _KEYS: "k", _VALUES: "v", _WEIGHTS: "a"}.get(stage, "")
        x, y = (0, along) if down else (along, 18)
        side = " start" if down else ""
        cells += [
            _words(x, y, letter, f"letter {role}{side}"),
            _words(x, y + 17, said.format(d_k=width), f"said{side}"),
        ]
    return joined(*lines, *cells)


def hero() -> str:
    """One query of the worksheet, from its numbers to its output; the first number is traced."""
    values = evaluated()
    given = tomllib.loads(sheet())["attention"]
    (query,), keys = given["tokens"], given["key_tokens"]
    worked = values["output"].worked(1, 1)
    told = (
        f"What the query {query} takes from {', '.join(keys[:-1])} and {keys[-1]}: each stage of "
        "attention in numbers. The first number of the output is followed back to the weights and "
        "values that it is made of."
    )
    pictures = [
        el(
            "svg",
            _drawn(layout, values, query, keys),
            role="img",
            aria_label=told,
            class_=layout.name,
            viewBox=f"0 0 {layout.width} {layout.height}",
        )
        for layout in _LAYOUTS
    ]
    caption = el(
        "figcaption",
        "What ",
        el("em", query),
        " takes from each word. The first number of its output, followed back: ",
        formula(worked),
        " ",
        el("a", "Point at any other, or change one", href="live.html#at=output.0"),
        ".",
    )
    return el("figure", _colours(), *pictures, caption, class_="hero") + "\n"


def _colours() -> Markup:
    """The colours of symattn's pages, for each theme of the site."""

    def of(scheme: str) -> str:
        roles = ROLES[scheme]
        named = {role: roles[role][0] for role in "qkv"} | {
            f"{role}-ink": roles[role][1] for role in "qkva"
        }
        named |= {
            name: SCHEMES[scheme][name]
            for name in ("ink", "soft", "rule", "quiet", "chosen", "chosen-edge", "accent")
        }
        return "".join(f"--{name}:{colour};" for name, colour in named.items())

    def dark(theme: str) -> str:
        weight = f"{theme} .hero .weight"
        shades = f"{weight} rect{{fill:var(--dg)}}{weight} text{{fill:var(--di)}}"
        return f"{theme} .hero{{{of('dark')}}}{shades}"

    return Markup(
        f"<style>.hero{{{of('light')}}}@media screen{{{dark('body[data-theme=dark]')}"
        f"@media(prefers-color-scheme:dark){{{dark('body:not([data-theme=light])')}}}}}</style>"
    )


# ---- the gallery ------------------------------------------------------------------------------


class Card(NamedTuple):
    """What symattn makes, in small, a line about it, and where it is explained."""

    kind: str
    picture: Markup
    title: str
    about: str
    page: str


def gallery() -> str:
    """The cards as a list."""
    cards = [
        el(
            "li",
            el("div", card.picture, class_=f"thumb {card.kind}", aria_hidden="true"),
            el("p", el("a", card.title, href=f"{card.page}.html"), f" {card.about}"),
        )
        for card in _cards()
    ]
    return el("ul", *cards, class_="gallery") + "\n"


def _cards() -> Iterator[Card]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "sheet.toml").write_text(sheet(), "utf-8")
        derived, checked, built = _derived(folder), _checked(folder), _built(folder)
    paper = el("img", src="_static/pictures/paper.png", alt="")
    answers = "Point at a number to see what it is made of; change one, and all follow."
    plain = "Formulas, worked entries and values, as plain text."
    marks = "The first wrong number, and the mistake that explains it."
    fails = "A wrong number in your pages is named with its file and line."
    latex = "LaTeX with labels, numbered equations and line breaks."
    proven = "Every digit shown is proven, by interval and exact arithmetic."
    steps = "Gradients as formulas, entries and numbers, like every other step."
    more = "Masks, heads, positions, caches: formulas, pictures, programs, sources."
    yield Card("traced", _photograph("traced"), "A page that answers", answers, "live")
    yield Card("", derived, "Every step in a terminal", plain, "how-to/first-derivation")
    yield Card("", checked, "Marks on a hand calculation", marks, "how-to/check-a-page")
    yield Card("", built, "A docs build that fails", fails, "how-to/sphinx")
    yield Card("paper", paper, "A paper, slides, Word", latex, "how-to/paper")
    yield Card("formulas worked", _worked(), "Any entry, worked out", proven, "explanation/words")
    yield Card("formulas", _backward(), "The backward pass", steps, "how-to/gradient")
    yield Card("mask", _masked(), f"{len(VARIANTS)} variants", more, "generated/variants")


def _photograph(name: str) -> Markup:
    """A screenshot that ``python -m tests.pictures`` makes, for each theme of the site."""
    return joined(
        *(
            el("img", src=f"_static/pictures/{name}-{scheme}.png", alt="", class_=f"only-{scheme}")
            for scheme in ("light", "dark")
        )
    )


def _printed(folder: Path, command: str) -> list[str]:
    with chdir(folder):
        return CliRunner().invoke(main, command.split(), terminal_width=80).output.splitlines()


def _derived(folder: Path) -> Markup:
    """Steps at a terminal, without what stands before and after them."""
    command = "derive sheet.toml --steps scaled,weights --view value"
    lines = _printed(folder, command)
    first = lines.index("1. Scaled scores  [scaled]  (1 × 3)")
    return _screen(f"symattn {command}", lines[first : first + 7])


def _checked(folder: Path) -> Markup:
    """Marks at a terminal: the first wrong number, a reason, and a row."""
    lines = _printed(folder, "check sheet.toml")
    reason, marks = lines.index("Consistent with"), lines.index("weights  ✗ 3 wrong")
    shown = [lines[0], "…", *lines[reason : reason + 2], "…", *lines[marks : marks + 3]]
    return _screen("symattn check sheet.toml", shown)


def _screen(command: str, lines: Sequence[str]) -> Markup:
    """A command and its lines as a terminal shows them; signs of verdicts have their colours."""
    text = "\n".join(joined(line) for line in lines)
    for sign, kind in (("✓", "good"), ("✗", "bad"), ("WARNING", "bad")):
        text = text.replace(sign, el("i", sign, class_=kind))
    return el("pre", Markup(f"{el('b', f'$ {command}')}\n{text}"))


def _worked() -> Markup:
    """One weight worked out, a line for each stage of it."""
    worked = evaluated()["weights"].worked(1, 2)
    assert isinstance(worked, Row)
    starts = [place for place, part in enumerate(worked.items) if part in (Op("="), Op("≈"))]
    ends = [*starts[1:], len(worked.items)]
    stages = [worked.items[start:end] for start, end in zip([0, *starts[1:]], ends, strict=True)]
    return joined(*(el("p", formula(Row(stage), display=True)) for stage in stages))


def _backward() -> Markup:
    """The formulas of the gradients of attention."""
    gradient = variant("scaled-dot-product").derivation().gradient(None)
    outline = Job(gradient, None, Notation(), ("formula",)).outline()
    backward = [section for section in outline.steps if section.name.startswith("d")]
    return joined(*(el("p", formula(section.lines[0].tree)) for section in backward))


def _masked() -> Markup:
    """The weights under a window; what the mask hides is hatched."""
    derivation, numbers = small_example(variant("sliding-window").spec, tokens=6)
    job = Job(derivation, numbers, Notation())
    return Markup(document_of("svg", [job]))


def _built(folder: Path) -> Markup:
    """What Sphinx says of a page with a wrong number."""
    (folder / "conf.py").write_text('extensions = ["myst_parser", "symattn.sphinxext"]\n', "utf-8")
    (folder / "sheet.toml").write_text(sheet().partition("[claims]")[0], "utf-8")
    page = (
        "# Attention\n\n```{attention} sheet.toml\n:steps: weights\n```\n\n"
        "*it* gives *cat* {claim}`weights[1,2] = 0.67` of its attention.\n"
    )
    (folder / "index.md").write_text(page, "utf-8")
    command = [sys.executable, "-m", "sphinx", "-W", "-q", ".", "build"]
    told = subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "NO_COLOR": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    ).stderr
    said = told.replace(f"{folder.resolve()}/", "")
    last = page.splitlines()[-1]
    return _screen("tail -1 index.md", [last, "", "$ sphinx-build -W -q . build", said.strip()])
