"""Who attends to whom: the weights of each head as lines between tokens; what shades mean."""

from __future__ import annotations

from symattn.documents.page.colour import SHADES
from symattn.documents.page.elements import Markup, el
from symattn.documents.page.matrices import MatrixView
from symattn.documents.pictures.kinds import tokens
from symattn.documents.pictures.svg import svg_element

#: More tokens than this are not drawn as lines.
MOST_TOKENS = 40


def picture(matrix: MatrixView) -> Markup:
    """The weights of every head drawn side by side; nothing where there are too many tokens."""
    if max(matrix.shape) > MOST_TOKENS:
        return Markup()
    figures = []
    for one in matrix.shown:
        name = one.of_head.removeprefix(", ").capitalize()
        drawn = svg_element(tokens(one, titled=False), data_h=one.head, class_="lines-between")
        caption = [el("figcaption", name)] if name else []
        figures.append(el("figure", *caption, drawn, class_="head"))
    return el(
        "div",
        el(
            "p",
            "The thicker the line from a query to a key, the larger the weight. ",
            el("span", "Click a query to follow it.", class_="hint"),
        ),
        el("div", *figures, class_="heads"),
        id="picture",
    )


def key(matrix: MatrixView) -> Markup:
    """What the shades and the hatching of the weights mean."""
    ramp = el("span", *(el("i", class_=f"w{level}") for level in range(SHADES)), class_="ramp")
    dark = el("span", matrix.largest_text, class_="darkest")
    masked = [el("i", class_="w0 masked"), " masked"] if matrix.masks else []
    return el("p", el("span", "Shades from "), "0 ", ramp, " ", dark, *masked, class_="key")
