"""Who attends to whom: the weights of each head as lines between tokens, and shaded."""

from __future__ import annotations

from symattn.documents.page.colour import SHADES
from symattn.documents.page.elements import Markup, el
from symattn.documents.page.figures import table
from symattn.documents.page.matrices import MatrixView
from symattn.documents.pictures.kinds import tokens
from symattn.documents.pictures.svg import svg_element

#: What only a screen can do.
_HINT = "Point at a token to see its lines alone, and at a cell to see where it comes from."

#: More tokens than this are not drawn as lines.
MOST_TOKENS = 40


def section(matrix: MatrixView) -> Markup:
    """The weights of every head side by side, drawn and as a shaded table."""
    figures = []
    for one in matrix.shown:
        name = one.of_head.removeprefix(", ").capitalize()
        drawn = Markup()
        if max(matrix.shape) <= MOST_TOKENS:
            drawing = tokens(one, titled=False)
            drawn = svg_element(drawing, data_h=one.head, class_="lines-between")
        caption = [el("figcaption", name)] if name else []
        cells = el("div", table(one), class_="scroll")
        figures.append(
            el("figure", *caption, el("div", drawn, cells, class_="both"), class_="head")
        )
    return el(
        "section",
        el("h2", "Which token attends to which", id="picture-heading", tabindex=-1),
        el(
            "p",
            "The thicker the line from a query to a key, the larger the weight in the table. ",
            el("span", _HINT, class_="hint"),
            class_="why",
        ),
        _key(matrix),
        el("div", *figures, class_="heads"),
        id="picture",
        class_="picture",
        aria_labelledby="picture-heading",
    )


def _key(matrix: MatrixView) -> Markup:
    """What the shades and the hatching of the tables mean."""
    ramp = el("span", *(el("i", class_=f"w{level}") for level in range(SHADES)), class_="ramp")
    dark = el("span", matrix.largest_text, class_="darkest")
    masked = [el("i", class_="w0 masked"), " masked"] if matrix.masks else []
    return el("p", el("span", "Shades from "), "0 ", ramp, " ", dark, *masked, class_="key")
