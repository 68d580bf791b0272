"""A step's value as a heat map in matplotlib (the extra ``plot``)."""

from __future__ import annotations

from typing import Any

import numpy as np

from symattn.arguments import instance
from symattn.errors import SymattnError
from symattn.evaluate.values import Values
from symattn.nodes.spell import Speller
from symattn.notation.latex import latex
from symattn.notation.options import Notation
from symattn.step import HEAD, Item

#: A ground darker than this luminance is written on in white.
_DARK = 0.18


def plotted(evaluation: Values, item: Item, head: int | None, axes: Any, notation: Notation) -> Any:
    """The matrix drawn into `axes` (new ones if None), every cell with its proven digits.

    Shapes: n × m, of one head (from 0) where there are heads. Raises `SymattnError` where
    matplotlib is missing or there are more axes than heads, rows and columns.
    """
    try:
        from matplotlib.axes import Axes
        from matplotlib.figure import Figure
    except ImportError:
        raise SymattnError("plot: needs matplotlib; pip install 'symattn[plot]'") from None
    if axes is not None:
        instance(axes, Axes, "ax", "the Axes of matplotlib to draw into")
    array = evaluation.array(item.letter)
    if array.ndim - (head is not None) != 2:
        raise SymattnError(f"{item.name}: {array.ndim} axes cannot be one picture; pick a matrix")
    table = array if head is None else array[head]
    if axes is None:
        rows, columns = table.shape
        axes = Figure(figsize=(1.6 + 0.8 * columns, 1.2 + 0.5 * rows)).add_subplot()
    seen = np.ma.masked_invalid(table)
    image = axes.imshow(seen, cmap="Blues", aspect="auto", vmin=min(0.0, float(seen.min())))
    for place in np.ndindex(*table.shape):
        whole = place if head is None else (head, *place)
        text = evaluation.digits(item.letter, whole, notation).text
        ground = image.cmap(image.norm(seen[place]))[:3] if np.isfinite(table[place]) else (1, 1, 1)
        ink = "white" if _luminance(ground) < _DARK else "black"
        label = text.replace("-", "−").replace("inf", "∞")
        axes.text(place[1], place[0], label, ha="center", va="center", color=ink)
    labels = [evaluation.labels.get(size, ()) for size in item.shape]
    axes.set_yticks(range(table.shape[0]), labels[0] or range(1, table.shape[0] + 1))
    axes.set_xticks(range(table.shape[1]), labels[1] or range(1, table.shape[1] + 1))
    for tick in (*axes.get_xticklabels(), *axes.get_yticklabels()):
        tick.set_parse_math(False)  # a label is words
    symbol = item.symbol if head is None else item.symbol.subs(HEAD, head)
    axes.set_title(f"${latex(Speller(notation).matrix(symbol))}$")
    return axes


def _luminance(colour: Any) -> float:
    """Relative luminance of red, green and blue from 0 to 1 (WCAG 2.2)."""
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in colour]
    return float(np.dot((0.2126, 0.7152, 0.0722), linear))
