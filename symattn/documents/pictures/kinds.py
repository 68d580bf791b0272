"""Kinds of pictures: heat maps, lines between tokens, Falk's scheme, the graph of steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise

import sympy

from symattn.derivation import Derivation, Evaluation, Step
from symattn.documents.page.colour import shade, shade_of
from symattn.documents.page.matrices import MatrixView, head_of
from symattn.documents.pictures.drawing import (
    HEIGHT,
    LETTER,
    Box,
    Drawing,
    Shape,
    Stroke,
    Words,
    beside,
)
from symattn.errors import SymattnError, nearest, quote
from symattn.nodes.spell import Speller
from symattn.notation.options import Notation, notation_of
from symattn.notation.text import line

#: A weight below this share of the largest is not drawn as a line.
FAINTEST = 0.01

_CELL, _PAD, _STEP, _SPAN = 26.0, 8.0, 26.0, 130.0
_LONGEST_LABEL = 14

#: Of the graph: a node's height, the room between rows and between nodes, a line that passes.
_NODE, _APART, _GAP, _LANE = 44.0, 34.0, 22.0, 14.0


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
    """The matrix that is drawn where none is asked for: the weights; of products, the scores."""
    items = (*derivation.inputs, *derivation.steps)
    if kind == "falk":
        names = [step.name for step in derivation.steps if step.logits]
    else:
        names = [item.name for item in items if item.weights]
    return names[0] if names else items[-1].name


def names_of(labels: tuple[str, ...], count: int, base: int, letter: str) -> list[str]:
    """The tokens' names, or numbered letters where they have none."""
    return list(map(_cut, labels or (f"{letter} {k + base}" for k in range(count))))


def heat(matrix: MatrixView, _: Mapping[str, MatrixView]) -> Drawing:
    """Each shown head's matrix with its digits, each cell as dark as its number is large."""
    return beside([_matrix(matrix, head, shaded=True) for head in matrix.shown])


def _matrix(matrix: MatrixView, head: int | None, shaded: bool, title: bool = True) -> Drawing:
    """A matrix with its labels; its cells begin where `_corner` says."""
    rows, columns = matrix.shape
    left, top, width = _corner(matrix, title)
    down, across = matrix.labels
    shapes: list[Shape] = []
    if title:
        shapes.append(Words(left + columns * width / 2, HEIGHT, matrix.symbol(head), bold=True))
    for j, name in enumerate(across):
        shapes.append(Words(left + (j + 0.5) * width, top - 7, _cut(name), ink="soft"))
    for i in range(rows):
        if down:
            shapes.append(Words(left - 7, _base(top, i), _cut(down[i]), "end", "soft"))
        for j in range(columns):
            fill, ink = "card", "ink"
            if shaded:
                value = matrix.array[i, j] if head is None else matrix.array[head, i, j]
                fill, ink = shade("light", shade_of(float(value), matrix.largest))
            shapes.append(Box(left + j * width, top + i * _CELL, width, _CELL, fill, "rule"))
            shapes.append(
                Words(left + (j + 0.5) * width, _base(top, i), matrix.text(head, i, j), ink=ink)
            )
    listed = "; ".join(", ".join(row) for row in matrix.texts(head))
    description = f"{line(matrix.symbol(head))}, {rows} by {columns}: {listed}."
    return Drawing(left + columns * width + 1, top + rows * _CELL + 1, tuple(shapes), description)


def _base(top: float, i: int) -> float:
    return top + (i + 0.5) * _CELL + 5


def _cut(name: str) -> str:
    return name if len(name) <= _LONGEST_LABEL else f"{name[: _LONGEST_LABEL - 1]}…"


def _corner(matrix: MatrixView, title: bool) -> tuple[float, float, float]:
    """Where the cells begin, and how wide they are."""
    down, across = matrix.labels
    longest = max(
        (len(matrix.text(head, i, j)) for head, i, j in matrix.places(whole=True)), default=1
    )
    widest = max([longest, *(len(_cut(name)) for name in across)])
    left = LETTER * max((len(_cut(name)) for name in down), default=0) + 14 if down else 1.0
    top = (HEIGHT + 12 if title else 1.0) + (HEIGHT + 4 if across else 0)
    return left, top, LETTER * widest + 2 * _PAD


def lines(matrix: MatrixView, _: Mapping[str, MatrixView]) -> Drawing:
    """Queries on the left, keys on the right, a line as heavy as the weight; heads side by side."""
    return beside([tokens(matrix, head) for head in matrix.shown])


def tokens(matrix: MatrixView, head: int | None, titled: bool = True) -> Drawing:
    """The lines of one head."""
    array = matrix.array if head is None else matrix.array[head]
    down, across = matrix.labels
    if matrix.flipped:
        array, down, across = array.T, across, down
    base = matrix.notation.index_base
    queries = names_of(down, array.shape[0], base, "query")
    keys = names_of(across, array.shape[1], base, "key")
    left, right = (10 + LETTER * max(7, *map(len, side)) for side in (queries, keys))
    top = 2 * HEIGHT + (HEIGHT if titled and head is not None else 0)
    shapes: list[Shape] = []
    for i in range(len(queries)):
        for j in range(len(keys)):
            share = abs(float(array[i, j])) / matrix.largest
            seen = share >= FAINTEST  # NaN is not
            width, opacity = (0.75 + 5 * share, 0.25 + 0.75 * share) if seen else (0.0, 0.0)
            shapes.append(
                Stroke(
                    left + 6,
                    top + _STEP * (i + 0.5),
                    left + _SPAN - 6,
                    top + _STEP * (j + 0.5),
                    width,
                    "accent",
                    opacity,
                    marks=(("i", i), ("j", j)),
                )
            )
    if titled and head is not None:
        shapes.append(Words(left + _SPAN / 2, HEIGHT, f"head {head + base}", bold=True))
    shapes.append(Words(left, top - HEIGHT, "queries", "end", "soft"))
    shapes.append(Words(left + _SPAN, top - HEIGHT, "keys", "start", "soft"))
    shapes += [
        Words(left, top + _STEP * (i + 0.5) + 4, name, "end") for i, name in enumerate(queries)
    ]
    shapes += [
        Words(left + _SPAN, top + _STEP * (j + 0.5) + 4, name, "start")
        for j, name in enumerate(keys)
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
    if product.flipped:
        raise SymattnError(
            'picture falk: is drawn with tokens as rows; leave out convention = "columns"'
        )
    if len(letters) != 2 or None in letters:
        raise SymattnError(
            f"{step.name}: is not a product of two matrices; choose a step such as scores"
        )
    assert isinstance(step, Step)
    drawings = []
    for head in product.shown:
        (one, _), (other, turned) = (part for part in letters if part is not None)
        left, right = everything[one], everything[other]
        drawings.append(
            _crossed(
                product,
                head,
                (left, head_of(step, left, head)),
                (right, head_of(step, right, head)),
                turned,
            )
        )
    return beside(drawings)


def _factor(part: sympy.Expr) -> tuple[str, bool] | None:
    """The letter of a factor and whether it is transposed; None for anything else."""
    turned = isinstance(part, sympy.Transpose)
    symbol = part.arg if turned else part
    name = getattr(symbol, "name", None)
    return None if name is None else (str(name), turned)


def _crossed(
    product: MatrixView,
    head: int | None,
    left: tuple[MatrixView, int | None],
    right: tuple[MatrixView, int | None],
    turned: bool,
) -> Drawing:
    """The three tables of one product, the result where row and column meet."""
    above = right[0].texts(right[1])
    above = [list(column) for column in zip(*above, strict=True)] if turned else above
    beside_it = left[0].texts(left[1])
    result = product.texts(head)
    widest = max(len(text) for rows in (above, beside_it, result) for row in rows for text in row)
    width = LETTER * widest + 2 * _PAD
    inner, name_room = len(above), HEIGHT + 10
    down, _ = product.labels
    margin = LETTER * max((len(_cut(name)) for name in down), default=0) + 14 if down else 1.0
    x, y = margin + inner * width + 16, name_room + inner * _CELL + 16
    shapes: list[Shape] = []
    tables: tuple[tuple[float, float, list[list[str]], str, int | None, int | None], ...] = (
        (x, name_room, above, "second", None, 0),
        (margin, y, beside_it, "first", 0, None),
        (x, y, result, "chosen", 0, 0),
    )  # where, what, and of which row and column the cells are marked
    for start, top, rows, fill, of_row, of_column in tables:
        for i, row in enumerate(rows):
            for j, text in enumerate(row):
                marked = of_row in (None, i) and of_column in (None, j)
                shapes.append(
                    Box(
                        start + j * width,
                        top + i * _CELL,
                        width,
                        _CELL,
                        fill if marked else "card",
                        "rule",
                    )
                )
                shapes.append(Words(start + (j + 0.5) * width, _base(top, i), text))
    shapes += [
        Words(margin - 7, _base(y, i), _cut(name), "end", "soft") for i, name in enumerate(down)
    ]
    across = len(above[0])
    symbol = right[0].symbol(right[1])
    shapes.append(
        Words(
            x + across * width / 2,
            HEIGHT,
            product.notation.transposed(symbol) if turned else symbol,
        )
    )
    shapes.append(Words(margin + inner * width / 2, y - 8, left[0].symbol(left[1])))
    bottom = y + len(result) * _CELL
    shapes.append(Words(x + across * width / 2, bottom + HEIGHT + 4, product.symbol(head)))
    description = (
        f"Falk's scheme of {line(product.symbol(head))}: each entry stands where a row of "
        f"{line(left[0].symbol(left[1]))} meets a column of the matrix above."
    )
    return Drawing(x + across * width + 1, bottom + HEIGHT + 10, tuple(shapes), description)


def graph(derivation: Derivation, notation: Notation) -> Drawing:
    """The graph of operands: inputs on top, each step below the matrices that it reads."""
    items = {item.letter: item for item in (*derivation.inputs, *derivation.steps)}
    speller = Speller(notation)
    widths = {
        letter: LETTER * max(len(item.name), len(line(speller.matrix(item.symbol)))) + 26
        for letter, item in items.items()
    }
    level = _levels(derivation)
    place, whole = _placed(level, widths)
    shapes: list[Shape] = []
    far = {
        letter
        for step in derivation.steps
        for letter in step.operands
        if level[step.letter] - level[letter] > 1
    }
    passing = [letter for letter in items if letter in far]
    for step in derivation.steps:
        for letter in step.operands:
            (x1, y1), (x2, y2) = place[letter], place[step.letter]
            stops = [(x1, y1 + _NODE), (x2, y2 - 3)]
            if level[step.letter] - level[letter] > 1:  # past the others on a lane of its own
                lane = whole + _LANE * (1 + passing.index(letter))
                stops[1:1] = [(lane, y1 + _NODE + _APART), (lane, y2 - _APART)]
            shapes += [
                Stroke(*start, *end, 1.3, "soft", arrow=end == stops[-1])
                for start, end in pairwise(stops)
            ]
    whole += _LANE * (len(passing) + 1) if passing else 0
    for letter, item in items.items():
        x, y = place[letter]
        fill = "quiet" if isinstance(item, Step) else "second"
        shapes.append(Box(x - widths[letter] / 2, y, widths[letter], _NODE, fill, "soft"))
        is_named = item.name != letter
        shapes.append(Words(x, y + (18 if is_named else 27), speller.matrix(item.symbol)))
        if is_named:
            shapes.append(Words(x, y + 36, item.name.replace("_", " "), ink="soft"))
    description = "; ".join(
        f"{step.name} from {' and '.join(items[x].name for x in step.operands)}"
        for step in derivation.steps
        if step.operands
    )
    height = max(y for _, y in place.values()) + _NODE
    drawn = Drawing(whole, height, tuple(shapes), f"Graph of the steps: {description}.")
    return Drawing(whole + 2, height + 2, tuple(drawn.moved(1, 1)), drawn.alternative)


def _levels(derivation: Derivation) -> dict[str, int]:
    """How far down each letter stands: below what it reads, or just above what first reads it."""
    level: dict[str, int] = {}
    items = (*derivation.inputs, *derivation.steps)
    for item in items:
        read = item.operands if isinstance(item, Step) else ()
        level[item.letter] = 1 + max((level[letter] for letter in read), default=-1)
    for item in items:
        readers = [level[step.letter] for step in derivation.steps if item.letter in step.operands]
        if readers and not (isinstance(item, Step) and item.operands):
            level[item.letter] = min(readers) - 1
    return level


def _placed(
    level: Mapping[str, int], widths: Mapping[str, float]
) -> tuple[dict[str, tuple[float, float]], float]:
    """Top middle of every letter, each row in the middle, and the width of the whole."""
    rows: dict[int, list[str]] = {}
    for letter, depth in level.items():
        rows.setdefault(depth, []).append(letter)
    lengths = {
        depth: sum(widths[x] for x in row) + _GAP * (len(row) - 1) for depth, row in rows.items()
    }
    whole = max(lengths.values())
    place: dict[str, tuple[float, float]] = {}
    for depth, row in rows.items():
        x = (whole - lengths[depth]) / 2
        for letter in row:
            place[letter] = (x + widths[letter] / 2, depth * (_NODE + _APART))
            x += widths[letter] + _GAP
    return place, whole


#: The pictures of a matrix that can be asked for; ``steps`` is one of the whole derivation.
OF_A_MATRIX: Mapping[str, Callable[[MatrixView, Mapping[str, MatrixView]], Drawing]] = {
    "heat": heat,
    "lines": lines,
    "falk": falk,
}
KINDS = (*OF_A_MATRIX, "steps")
