"""A drawing before any format: boxes, lines and words at places, y growing downwards.

Its unit is about a pixel. Colours are names of `symattn.documents.page.colour`, ``hatch``, or
``#rrggbb``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil
from typing import Literal, TypeAlias

from symattn.documents.page.colour import HATCH, ROLES, SCHEMES
from symattn.notation.text import line
from symattn.notation.tree import Tree

Anchor: TypeAlias = Literal["start", "middle", "end"]

#: How far apart the lines of a hatching are, along a side.
APART = 6.0

#: The height of a line of words, and the width of a letter, about.
HEIGHT, LETTER = 14.0, 7.0

#: What is left free around a drawing.
MARGIN = 8


@dataclass(frozen=True)
class Box:
    """A filled rectangle, with an edge where it has one; `hatched` for what a mask hides."""

    x: float
    y: float
    width: float
    height: float
    fill: str = "card"
    edge: str = ""
    hatched: bool = False

    def hatching(self) -> Iterator[tuple[float, float, float, float]]:
        """The lines across it: parts of x + y = k · `APART`, so that those of neighbours meet."""
        right, bottom = self.x + self.width, self.y + self.height
        total = ceil((self.x + self.y) / APART) * APART
        while self.hatched and total < right + bottom:
            left, down = max(self.x, total - bottom), min(right, total - self.y)
            if down > left:
                yield left, total - left, down, total - down
            total += APART


@dataclass(frozen=True)
class Stroke:
    """A straight line; an arrow points to its end. `marks` become data-… attributes."""

    x1: float
    y1: float
    x2: float
    y2: float
    width: float = 1.0
    ink: str = "ink"
    opacity: float = 1.0
    arrow: bool = False
    marks: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Words:
    """Plain words, or a formula; the place is the baseline's start, middle or end.

    `turned` words run upwards. `whole` is the name that was cut to these words. `marks` become
    data-… attributes.
    """

    x: float
    y: float
    words: str | Tree
    anchor: Anchor = "middle"
    ink: str = "ink"
    bold: bool = False
    turned: bool = False
    whole: str = ""
    marks: tuple[tuple[str, int], ...] = ()

    @property
    def plain(self) -> str:
        """The words as plain text, for formats without mathematics."""
        return self.words if isinstance(self.words, str) else line(self.words)


Shape: TypeAlias = Box | Stroke | Words


@dataclass(frozen=True)
class Drawing:
    """Shapes in the order in which they are drawn, their size, and a text alternative."""

    width: float
    height: float
    shapes: tuple[Shape, ...]
    alternative: str

    def moved(self, right: float, down: float) -> Iterator[Shape]:
        """The shapes at another place."""
        for shape in self.shapes:
            match shape:
                case Box(x, y) | Words(x, y):
                    yield replace(shape, x=x + right, y=y + down)
                case Stroke(x1, y1, x2, y2):
                    yield replace(shape, x1=x1 + right, y1=y1 + down, x2=x2 + right, y2=y2 + down)


def colour_of(name: str) -> str:
    """``#rrggbb`` of a colour's name."""
    if name == "hatch":
        return HATCH["light"]
    if name in ROLES["light"]:
        return ROLES["light"][name][0]
    return name if name.startswith("#") else SCHEMES["light"][name]


def beside(drawings: list[Drawing], gap: float = 28, most: float = 600) -> Drawing:
    """Drawings side by side as one, in even rows that stay within the width `most`.

    600 is what the text of a page takes, as TikZ draws them.
    """
    widest = max((drawing.width for drawing in drawings), default=0.0)
    fitting = max(1, int((most + gap) // (widest + gap)))
    across = ceil(len(drawings) / ceil(len(drawings) / fitting)) if drawings else 1
    shapes: list[Shape] = []
    x = y = width = tallest = 0.0
    for place, drawing in enumerate(drawings):
        if place and place % across == 0:
            x, y, tallest = 0.0, y + tallest + gap, 0.0
        shapes += drawing.moved(x, y)
        x += drawing.width + gap
        width, tallest = max(width, x - gap), max(tallest, drawing.height)
    return Drawing(width, y + tallest, tuple(shapes), " ".join(d.alternative for d in drawings))


def above(upper: Drawing, lower: Drawing, gap: float = 14) -> Drawing:
    """One drawing above another as one, which is described as the upper."""
    return Drawing(
        max(upper.width, lower.width),
        upper.height + gap + lower.height,
        (*upper.shapes, *lower.moved(0, upper.height + gap)),
        upper.alternative,
    )
