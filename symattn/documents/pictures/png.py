"""A drawing in matplotlib (the extra ``plot``): as PNG, or among somebody's own plots."""

from __future__ import annotations

from io import BytesIO
from typing import Any, TypeAlias

from symattn.arguments import instance, word
from symattn.derivations import Derivation, Evaluation
from symattn.documents.pictures.drawing import MARGIN, Box, Drawing, Shape, Stroke, Words, colour_of
from symattn.documents.pictures.kinds import picture as drawn
from symattn.errors import SymattnError
from symattn.notation.options import Notation, notation_of

#: Axes, or a figure, of matplotlib, which is imported when something is drawn.
Axes: TypeAlias = Any


def png_document(drawing: Drawing, scale: float = 2.0) -> bytes:
    """The drawing as the bytes of a PNG; its text alternative is the description inside.

    One unit of the drawing is `scale` pixels. Raises `SymattnError` where matplotlib is not
    installed.
    """
    figure = _figure("png", drawing)
    _draw_into(figure.add_axes((0, 0, 1, 1)), drawing)
    out = BytesIO()
    metadata = {"Description": drawing.alternative}
    figure.savefig(out, format="png", dpi=72 * scale, metadata=metadata)
    return out.getvalue()


def plot(
    values: Evaluation,
    step: str = "",
    ax: Axes = None,
    *,
    picture: str = "heat",
    notation: Notation | None = None,
) -> Axes:
    """A picture of a step's matrix in matplotlib: the Axes `ax` that it is drawn into, or new ones.

    `picture` is a row of `KINDS`; `step` is the weights if it is not said. Raises `SymattnError`
    where matplotlib is missing, and for a step or a picture that there is not.
    """
    instance(values, Evaluation, "values", "an Evaluation")
    derivation = Derivation(values.inputs, values.steps, labels=values.labels, order=values.order)
    notation = notation_of(notation, values.notation)
    drawing = drawn(word(picture, "picture"), derivation, values, notation, word(step, "step"))
    figure = _figure("plot", drawing)
    if ax is None:
        ax = figure.add_axes((0, 0, 1, 1))
    else:
        from matplotlib.axes import Axes

        instance(ax, Axes, "ax", "the Axes of matplotlib to draw into")
    _draw_into(ax, drawing)
    return ax


def _figure(what: str, drawing: Drawing) -> Axes:
    """A figure as large as the drawing and its margins."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise SymattnError(f"{what}: needs matplotlib; pip install 'symattn[plot]'") from None
    width, height = drawing.width + 2 * MARGIN, drawing.height + 2 * MARGIN
    figure = Figure(figsize=(width / 72, height / 72))
    FigureCanvasAgg(figure)
    return figure


def _draw_into(axes: Axes, drawing: Drawing) -> None:
    """The drawing as large as the axes have room for, its words with it."""
    axes.set(xlim=(-MARGIN, drawing.width + MARGIN), ylim=(drawing.height + MARGIN, -MARGIN))
    axes.set_aspect("equal")
    axes.axis("off")
    room = axes.get_position()
    inches = axes.figure.get_size_inches()
    scale = min(
        72 * inches[0] * room.width / (drawing.width + 2 * MARGIN),
        72 * inches[1] * room.height / (drawing.height + 2 * MARGIN),
    )
    for shape in drawing.shapes:
        _draw(axes, shape, scale)


def _draw(axes: Axes, shape: Shape, scale: float) -> None:
    from matplotlib.collections import LineCollection
    from matplotlib.patches import Rectangle

    match shape:
        case Box(x, y, width, height, fill, edge):
            edges = colour_of(edge) if edge else "none"
            axes.add_patch(
                Rectangle(
                    (x, y), width, height, facecolor=colour_of(fill), edgecolor=edges, linewidth=1
                )
            )
            across = [((x1, y1), (x2, y2)) for x1, y1, x2, y2 in shape.hatching()]
            if across:
                lines = LineCollection(across, colors=colour_of("hatch"), linewidths=1, zorder=1.5)
                axes.add_collection(lines, autolim=False)
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
        case Words(x, y, _, anchor, ink, bold, turned):
            side = {"start": "left", "middle": "center", "end": "right"}[anchor]
            axes.text(
                x,
                y,
                shape.plain,
                color=colour_of(ink),
                fontsize=scale * (12 if bold else 11),
                ha=side,
                va="baseline",
                rotation=90 if turned else 0,
                rotation_mode="anchor",
                fontweight="bold" if bold else "normal",
                parse_math=False,
            )
