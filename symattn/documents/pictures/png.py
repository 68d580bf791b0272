"""A drawing as PNG, through matplotlib (the extra ``plot``)."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from symattn.documents.pictures.drawing import Box, Drawing, Shape, Stroke, Words, colour_of
from symattn.errors import SymattnError

_MARGIN = 8.0

#: Pixels to a unit of the drawing.
_SCALE = 2.0


def png_document(drawing: Drawing) -> bytes:
    """The drawing as the bytes of a PNG; its text alternative is the description inside.

    Raises `SymattnError` where matplotlib is not installed.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise SymattnError("png: needs matplotlib; pip install 'symattn[plot]'") from None
    width, height = drawing.width + 2 * _MARGIN, drawing.height + 2 * _MARGIN
    figure = Figure(figsize=(width / 72, height / 72), dpi=72 * _SCALE)
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(-_MARGIN, drawing.width + _MARGIN), ylim=(drawing.height + _MARGIN, -_MARGIN))
    axes.axis("off")
    for shape in drawing.shapes:
        _draw(axes, shape)
    out = BytesIO()
    figure.savefig(out, format="png", metadata={"Description": drawing.alternative})
    return out.getvalue()


def _draw(axes: Any, shape: Shape) -> None:
    from matplotlib.patches import Rectangle

    match shape:
        case Box(x, y, width, height, fill, edge):
            edges = colour_of(edge) if edge else "none"
            axes.add_patch(
                Rectangle(
                    (x, y), width, height, facecolor=colour_of(fill), edgecolor=edges, linewidth=1
                )
            )
        case Stroke(x1, y1, x2, y2, width, ink, opacity, arrow, _):
            if arrow:
                axes.annotate(
                    "",
                    (x2, y2),
                    (x1, y1),
                    arrowprops={
                        "arrowstyle": "-|>",
                        "color": colour_of(ink),
                        "linewidth": width,
                        "shrinkA": 0,
                        "shrinkB": 0,
                    },
                )
            elif width:
                axes.plot(
                    [x1, x2],
                    [y1, y2],
                    color=colour_of(ink),
                    linewidth=width,
                    alpha=opacity,
                    solid_capstyle="round",
                )
        case Words(x, y, _, anchor, ink, bold):
            side = {"start": "left", "middle": "center", "end": "right"}[anchor]
            axes.text(
                x,
                y,
                shape.plain,
                color=colour_of(ink),
                fontsize=12 if bold else 11,
                ha=side,
                va="baseline",
                fontweight="bold" if bold else "normal",
                parse_math=False,
            )
