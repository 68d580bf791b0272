"""A drawing as SVG: one file that stands alone, or an element that takes its page's colours."""

from __future__ import annotations

from symattn.documents.page.elements import Markup, el, joined
from symattn.documents.pictures.drawing import (
    APART,
    MARGIN,
    Box,
    Drawing,
    Shape,
    Stroke,
    Words,
    colour_of,
)
from symattn.notation.text import line
from symattn.notation.tree import Script

_FONT = "system-ui, -apple-system, 'Segoe UI', 'Liberation Sans', 'DejaVu Sans', sans-serif"


def svg_document(drawing: Drawing) -> str:
    """The drawing as an SVG file on a white ground, with its text alternative."""
    width, height = drawing.width + 2 * MARGIN, drawing.height + 2 * MARGIN
    arrow = el(
        "marker",
        el("path", d="M0 0L8 4L0 8z", fill=colour_of("soft")),
        id="arrow",
        markerWidth=8,
        markerHeight=8,
        refX=7,
        refY=4,
        orient="auto",
        markerUnits="userSpaceOnUse",
    )
    hatch = el(
        "pattern",
        el("path", d="M-1 1L1 -1M0 6L6 0M5 7L7 5", stroke=colour_of("hatch")),
        id="hatch",
        width=round(APART),
        height=round(APART),
        patternUnits="userSpaceOnUse",
    )
    hatched = any(isinstance(shape, Box) and shape.hatched for shape in drawing.shapes)
    ground = el(
        "rect", x=-MARGIN, y=-MARGIN, width=_number(width), height=_number(height), fill="#ffffff"
    )
    return (
        el(
            "svg",
            el("title", drawing.alternative),
            el("defs", arrow, *[hatch] * hatched),
            ground,
            *(_shape(shape, alone=True) for shape in drawing.shapes),
            xmlns="http://www.w3.org/2000/svg",
            role="img",
            font_family=_FONT,
            font_size=13,
            width=_number(width),
            height=_number(height),
            viewBox=f"{-MARGIN} {-MARGIN} {_number(width)} {_number(height)}",
        )
        + "\n"
    )


def svg_element(drawing: Drawing, **attributes: str | int | None) -> Markup:
    """The drawing in a page, which gives it its colours by ``line``, ``text`` and ``.soft``."""
    return el(
        "svg",
        *(_shape(shape, alone=False) for shape in drawing.shapes),
        role="img",
        width=_number(drawing.width),
        height=_number(drawing.height),
        viewBox=f"0 0 {_number(drawing.width)} {_number(drawing.height)}",
        aria_label=drawing.alternative,
        **attributes,
    )


def _shape(shape: Shape, alone: bool) -> Markup:
    match shape:
        case Box(x, y, width, height, fill, edge, hatched):
            rectangle = {
                "x": _number(x),
                "y": _number(y),
                "width": _number(width),
                "height": _number(height),
            }
            stroke = colour_of(edge) if edge else None
            filled = el("rect", **rectangle, fill=colour_of(fill), stroke=stroke)
            over = [el("rect", **rectangle, fill="url(#hatch)")] if hatched else []
            return joined(filled, *over)
        case Stroke(x1, y1, x2, y2, width, ink, opacity, arrow, marks):
            data = {f"data_{name}": value for name, value in marks} if not alone else {}
            return el(
                "line",
                x1=_number(x1),
                y1=_number(y1),
                x2=_number(x2),
                y2=_number(y2),
                stroke_width=f"{width:.2f}" if width else "0",
                opacity=f"{opacity:.2f}" if opacity else "0",
                stroke=colour_of(ink) if alone else None,
                stroke_linecap="round" if alone else None,
                marker_end="url(#arrow)" if arrow else None,
                **data,
            )
        case Words(x, y, _, anchor, ink, bold, turned, whole, marks):
            name = [el("title", whole)] if whole else []
            data = {f"data_{side}": value for side, value in marks} if not alone else {}
            return el(
                "text",
                *name,
                *_tspans(shape),
                x=_number(x),
                y=_number(y),
                text_anchor=None if anchor == "start" else anchor,
                fill=colour_of(ink) if alone else None,
                class_="soft" if ink == "soft" and not alone else None,
                font_weight="600" if bold else None,
                transform=f"rotate(-90 {_number(x)} {_number(y)})" if turned else None,
                **data,
            )


def _tspans(shape: Words) -> list[str]:
    """Plain words; of a letter with scripts, the scripts smaller, above and below."""
    if not isinstance(shape.words, Script):
        return [shape.plain]
    parts: list[str] = [line(shape.words.base)]
    down = 0
    for script, shift in ((shape.words.sub, 4), (shape.words.sup, -5)):
        if script is not None:
            parts.append(el("tspan", line(script), dy=shift - down, font_size=9))
            down = shift
    return parts


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
