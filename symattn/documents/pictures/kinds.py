"""Kinds of pictures: heat maps, lines between tokens, Falk's scheme, the graph of steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby, takewhile
from math import ceil
from typing import Any
from unicodedata import category

import numpy as np
import sympy

from symattn.derivations import Derivation, Evaluation, Step
from symattn.documents.page.colour import SHADES, shade
from symattn.documents.page.matrices import HeadView, MatrixView, head_of
from symattn.documents.page.stage import role_of
from symattn.documents.pictures.drawing import (
    HEIGHT,
    LETTER,
    Anchor,
    Box,
    Drawing,
    Shape,
    Stroke,
    Words,
    above,
    beside,
)
from symattn.documents.pictures.graph import graph
from symattn.errors import SymattnError, nearest, quote
from symattn.notation.options import Notation, notation_of
from symattn.notation.text import line, width

#: A weight below this share of the largest is not drawn as a line.
FAINTEST = 0.01

#: The height of a cell and the room beside its digits, the height of a token and how far queries
#: are from keys, and the side of a shade in the legend.
_CELL, _PAD, _STEP, _SPAN, _SWATCH = 26.0, 6.0, 26.0, 130.0, 11.0

#: More rows or columns than this have no digits in their cells.
MOST_WITH_DIGITS = 12

_SKIN_TONES = "\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"


def picture(
    kind: str,
    derivation: Derivation,
    evaluation: Evaluation | None,
    notation: Notation | None = None,
    step: str = "",
) -> Drawing:
    """The drawing of a kind (see `KINDS`), of the named step where that makes a difference.

    Raises `SymattnError` for an unknown kind or step, and where numbers are needed.
    """
    notation = notation_of(notation)
    if kind not in KINDS:
        raise SymattnError(f"no picture is called {quote(kind)}{nearest(kind, KINDS)}")
    if kind == "steps":
        return graph(derivation, notation)
    if evaluation is None:
        raise SymattnError(f"picture {kind}: needs numbers; give a worksheet")
    items = (*derivation.inputs, *derivation.steps)
    names = [item.name for item in items]
    wanted = step or usual(kind, derivation)
    if wanted not in names:
        raise SymattnError(f"no step is called {quote(wanted)}{nearest(wanted, names)}")
    parts = {item.letter: MatrixView(item, evaluation, notation) for item in items}
    chosen = next(part for part in parts.values() if part.item.name == wanted)
    return OF_A_MATRIX[kind](chosen, parts)


def usual(kind: str, derivation: Derivation) -> str:
    """The matrix that is drawn where none is asked for: the weights; of products, the scores.

    Where there are no weights, these are the states, one after another as they grow.
    """
    items = (*derivation.inputs, *derivation.steps)
    if kind == "falk":
        names = [step.name for step in derivation.steps if step.logits]
    else:
        names = [item.name for item in items if item.weights]
        names += [step.name for step in derivation.steps if step.recurrent and kind == "heat"]
    return names[0] if names else items[-1].name


def names_of(labels: tuple[str, ...], count: int, base: int, letter: str) -> list[str]:
    """The tokens' names, or numbered letters where they have none."""
    return list(labels or (f"{letter} {k + base}" for k in range(count)))


def _name(x: float, y: float, name: str, anchor: Anchor = "middle", **more: Any) -> Words:
    """A name, cut where it is long; it then says itself in full."""
    short = cut(name)
    return Words(x, y, short, anchor, whole="" if short == name else name, **more)


def cut(name: str, most: int = 14) -> str:
    """The name, or so many of its letters, each with its accents, as fit, and an ellipsis.

    >>> cut("fifteen letters")
    'fifteen lette…'
    """
    if width(name) <= most:
        return name
    beginnings = accumulate(_letters(name))
    *_, kept = ("", *takewhile(lambda part: width(part) < most, beginnings))
    return f"{kept}…"


def _letters(name: str) -> list[str]:
    """The name in what a reader takes for one letter: with accents, with all parts of an emoji."""
    letters: list[str] = []
    for character in name:
        belongs = category(character) in ("Mn", "Mc", "Me", "Cf") or character in _SKIN_TONES
        if letters and (belongs or letters[-1].endswith("\u200d")):
            letters[-1] += character
        else:
            letters.append(character)
    return letters


def _room(names: Sequence[str]) -> float:
    """How much room the longest of these names takes."""
    return (LETTER + 1) * max((width(cut(name)) for name in names), default=0)


def heat(matrix: MatrixView, _: Mapping[str, MatrixView]) -> Drawing:
    """The matrix of each shown head, a cell as dark as its number is large; what shades mean.

    The digits stand in the cells where there are at most `MOST_WITH_DIGITS` rows and columns.
    """
    one = _matrix if max(matrix.shape) <= MOST_WITH_DIGITS else _map
    return above(beside([*map(one, matrix.shown)]), _key(matrix))


def _matrix(matrix: HeadView) -> Drawing:
    """A matrix with its labels and digits."""
    rows, columns = matrix.shape
    down, across = matrix.labels
    texts = (len(one.text(*at)) for one in matrix.whole.all for at in one.places(whole=True))
    cell = max(LETTER * max(texts, default=1), _room(across)) + 2 * _PAD
    side = HEIGHT + 2 if matrix.whole.axes else 0.0
    left = _room(down) + 14 + side if down else 1.0 + side
    top = HEIGHT + 12 + side + (HEIGHT + 4 if across else 0)
    shapes: list[Shape] = [
        Words(left + columns * cell / 2, HEIGHT, matrix.symbol, bold=True),
        *(
            _name(left + (j + 0.5) * cell, top - 7, name, ink="soft")
            for j, name in enumerate(across)
        ),
        *_axes(matrix, left + columns * cell / 2, top + rows * _CELL / 2),
    ]
    for i in range(rows):
        if down:
            shapes.append(_name(left - 7, _base(top, i), down[i], "end", ink="soft"))
        for j in range(columns):
            fill, ink = _shade(matrix, i, j)
            shapes += [
                Box(
                    left + j * cell,
                    top + i * _CELL,
                    cell,
                    _CELL,
                    fill,
                    "rule",
                    matrix.is_masked(i, j),
                ),
                Words(left + (j + 0.5) * cell, _base(top, i), matrix.text(i, j), ink=ink),
            ]
    listed = "; ".join(", ".join(row) for row in matrix.texts)
    description = f"{line(matrix.symbol)}, {rows} by {columns}: {listed}."
    return Drawing(left + columns * cell + 1, top + rows * _CELL + 1, tuple(shapes), description)


def _map(matrix: HeadView, sides: tuple[int, int] = (4, 18), widest: int = 520) -> Drawing:
    """A large matrix: cells without digits, equal neighbours in a row as one, every few named.

    `sides` are the smallest and the largest side of a cell, `widest` about the width of them all.
    """
    smallest, largest = sides
    rows, columns = matrix.shape
    cell = float(max(smallest, min(largest, widest // columns)))
    base = matrix.notation.index_base
    numbers = [[str(k + base) for k in range(count)] for count in (rows, columns)]
    down, across = (list(each) or other for each, other in zip(matrix.labels, numbers, strict=True))
    side = HEIGHT + 2 if matrix.whole.axes else 0.0
    left, top = side + _room(down) + 10, HEIGHT + 12 + side + _room(across) + 6
    apart = ceil(HEIGHT / cell)
    shapes: list[Shape] = [
        Words(left + columns * cell / 2, HEIGHT, matrix.symbol, bold=True),
        *_axes(matrix, left + columns * cell / 2, top + rows * cell / 2),
        *(
            _name(left + (j + 0.5) * cell + 4, top - 5, across[j], "start", ink="soft", turned=True)
            for j in range(0, columns, apart)
        ),
        *(
            _name(left - 6, top + (i + 0.5) * cell + 4, down[i], "end", ink="soft")
            for i in range(0, rows, apart)
        ),
    ]
    for i in range(rows):
        seen = [(_shade(matrix, i, j)[0], matrix.is_masked(i, j)) for j in range(columns)]
        j = 0
        for (fill, hatched), alike in groupby(seen):
            count = len(list(alike))
            x, y = left + j * cell, top + i * cell
            shapes.append(Box(x, y, count * cell, cell, fill, hatched=hatched))
            j += count
    description = f"{line(matrix.symbol)}, {rows} by {columns}, the larger the darker."
    return Drawing(left + columns * cell + 1, top + rows * cell + 1, tuple(shapes), description)


def _axes(matrix: HeadView, x: float, y: float) -> list[Words]:
    """What rows and columns are, beside the middle of the rows and above that of the columns."""
    if matrix.whole.axes is None:
        return []
    rows, columns = matrix.whole.axes
    return [
        Words(HEIGHT - 3, y, rows, ink="soft", turned=True),
        Words(x, 2 * HEIGHT + 6, columns, ink="soft"),
    ]


def _shade(matrix: HeadView, i: int, j: int) -> tuple[str, str]:
    """Ground and ink of a cell; −∞ is no large number but the sign of a mask."""
    return shade("light", 0 if matrix.is_masked(i, j) else matrix.shade(i, j))


def _key(matrix: MatrixView) -> Drawing:
    """The shades from 0 to the largest number, and the hatching where something is masked."""
    hidden = matrix.hidden.any()
    finite = matrix.array[np.isfinite(matrix.array)]
    signs = "absolute value " if (finite < 0).any() else ""
    least = Words(1.0, HEIGHT, f"{signs}0", "start", "soft")
    x = _behind(least)
    largest = Words(x + SHADES * _SWATCH + 6, HEIGHT, matrix.largest_text, "start", "soft")
    shapes: list[Shape] = [
        least,
        *(
            Box(x + level * _SWATCH, 3, _SWATCH, HEIGHT, shade("light", level)[0])
            for level in range(SHADES)
        ),
        largest,
    ]
    end = _behind(largest)
    if hidden:
        ground = shade("light", 0)[0]
        swatch = Box(end + 10, 3, 2 * _SWATCH, HEIGHT, ground, "rule", hatched=True)
        masked = Words(swatch.x + 2 * _SWATCH + 6, HEIGHT, "masked out", "start", "soft")
        shapes += [swatch, masked]
        end = _behind(masked)
    return Drawing(end, HEIGHT + 6, tuple(shapes), "")


def _behind(words: Words) -> float:
    """Where something stands behind words."""
    return words.x + LETTER * len(words.plain) + 7


def _base(top: float, i: int) -> float:
    return top + (i + 0.5) * _CELL + 5


def lines(matrix: MatrixView, _: Mapping[str, MatrixView]) -> Drawing:
    """Queries on the left, keys on the right, a line as heavy as the weight; heads side by side."""
    return beside([*map(tokens, matrix.shown)])


def tokens(matrix: HeadView, titled: bool = True) -> Drawing:
    """The lines of one head."""
    whole, head = matrix.whole, matrix.head
    array = whole.array if head is None else whole.array[head]
    down, across = matrix.notation.sides(matrix.labels)
    base = matrix.notation.index_base
    queries = names_of(down, array.shape[0], base, "query")
    keys = names_of(across, array.shape[1], base, "key")
    left, right = (10 + max(7 * LETTER, _room(side)) for side in (queries, keys))
    title = f"head {head + base}" if titled and head is not None else ""
    top = 2 * HEIGHT + (HEIGHT if title else 0)
    shapes: list[Shape] = [
        *(
            _stroke(left, top, i, j, abs(float(array[i, j])) / whole.largest)
            for i in range(len(queries))
            for j in range(len(keys))
        ),
        *([Words(left + _SPAN / 2, HEIGHT, title, bold=True)] if title else []),
        Words(left, top - HEIGHT, "queries", "end", "soft"),
        Words(left + _SPAN, top - HEIGHT, "keys", "start", "soft"),
        *(
            _name(left, top + _STEP * (i + 0.5) + 4, name, "end", marks=(("q", i),))
            for i, name in enumerate(queries)
        ),
        *(
            _name(left + _SPAN, top + _STEP * (j + 0.5) + 4, name, "start", marks=(("k", j),))
            for j, name in enumerate(keys)
        ),
    ]
    strongest = [
        f"{queries[i]} most to {keys[int(row.argmax())]}"
        for i, row in enumerate(array)
        if row.max(initial=0) > 0
    ]
    which = "" if head is None else f" in head {head + base}"
    description = f"Weights{which}: {'; '.join(strongest[:12])}."
    height = top + _STEP * max(len(queries), len(keys)) + 8
    return Drawing(left + _SPAN + right, height, tuple(shapes), description)


def _stroke(left: float, top: float, i: int, j: int, share: float) -> Stroke:
    """The line from a query to a key, as heavy as its share of the largest weight."""
    seen = share >= FAINTEST  # NaN is not
    width, opacity = (0.75 + 5 * share, 0.25 + 0.75 * share) if seen else (0.0, 0.0)
    y1, y2 = (top + _STEP * (k + 0.5) for k in (i, j))
    marks = (("i", i), ("j", j))
    return Stroke(left + 6, y1, left + _SPAN - 6, y2, width, "accent", opacity, marks=marks)


def falk(product: MatrixView, everything: Mapping[str, MatrixView]) -> Drawing:
    """Falk's scheme of a product: a row on the left, a column above, the cell where they cross.

    The first entry's row, column and cell are marked. Raises `SymattnError` where the step is no
    product of two matrices.
    """
    step = product.item
    factors = (
        step.expr.args if isinstance(step, Step) and isinstance(step.expr, sympy.MatMul) else ()
    )
    letters = [_factor(part) for part in factors]
    if product.notation.flipped:
        raise SymattnError(
            'picture falk: is drawn with tokens as rows; leave out convention = "columns"'
        )
    if len(letters) != 2 or None in letters:
        raise SymattnError(
            f"{step.name}: is not a product of two matrices; choose a step such as scores"
        )
    assert isinstance(step, Step)
    drawings = []
    for one in product.shown:
        left, right = (
            everything[letter].of(head_of(step, everything[letter], one.head), turned)
            for letter, turned in filter(None, letters)
        )
        drawings.append(_crossed(one, left, right))
    return beside(drawings)


def _factor(part: sympy.Expr) -> tuple[str, bool] | None:
    """The letter of a factor and whether it is transposed; None for anything else."""
    turned = isinstance(part, sympy.Transpose)
    symbol = part.arg if turned else part
    name = getattr(symbol, "name", None)
    return None if name is None else (str(name), turned)


@dataclass(frozen=True)
class _Numbers:
    """A table of a scheme: where it stands, and the row and the column of it that are marked."""

    x: float
    y: float
    rows: list[list[str]]
    fill: str
    of_row: int | None = None
    of_column: int | None = None

    def cells(self, width: float) -> Iterator[Shape]:
        """Each number in its box."""
        for i, row in enumerate(self.rows):
            for j, text in enumerate(row):
                marked = self.of_row in (None, i) and self.of_column in (None, j)
                fill = self.fill if marked else "card"
                yield Box(self.x + j * width, self.y + i * _CELL, width, _CELL, fill, "rule")
                yield Words(self.x + (j + 0.5) * width, _base(self.y, i), text)


def _crossed(product: HeadView, left: HeadView, right: HeadView) -> Drawing:
    """The three tables of one product, the result where row and column meet."""
    above, beside_it, result = right.texts, left.texts, product.texts
    widest = max(len(text) for rows in (above, beside_it, result) for row in rows for text in row)
    cell = LETTER * widest + 2 * _PAD
    inner, name_room = len(above), HEIGHT + 10
    down, _ = product.labels
    margin = _room(down) + 14 if down else 1.0
    x, y = margin + inner * cell + 16, name_room + inner * _CELL + 16
    tints = [role_of(left.item) or "x", role_of(right.item) or "y"]
    if tints[0] == tints[1]:
        tints[1] = "y"
    tables = (
        _Numbers(x, name_room, above, tints[1], of_column=0),
        _Numbers(margin, y, beside_it, tints[0], of_row=0),
        _Numbers(x, y, result, "chosen", 0, 0),
    )
    across, bottom = len(above[0]), y + len(result) * _CELL
    shapes: list[Shape] = [
        *(shape for table in tables for shape in table.cells(cell)),
        *(_name(margin - 7, _base(y, i), name, "end", ink="soft") for i, name in enumerate(down)),
        Words(x + across * cell / 2, HEIGHT, right.symbol),
        Words(margin + inner * cell / 2, y - 8, left.symbol),
        Words(x + across * cell / 2, bottom + HEIGHT + 4, product.symbol),
    ]
    description = (
        f"Falk's scheme of {line(product.symbol)}: each entry stands where a row of "
        f"{line(left.symbol)} meets a column of the matrix above."
    )
    return Drawing(x + across * cell + 1, bottom + HEIGHT + 10, tuple(shapes), description)


#: The pictures of a matrix that can be asked for; ``steps`` is one of the whole derivation.
OF_A_MATRIX: Mapping[str, Callable[[MatrixView, Mapping[str, MatrixView]], Drawing]] = {
    "heat": heat,
    "lines": lines,
    "falk": falk,
}
KINDS = (*OF_A_MATRIX, "steps")
