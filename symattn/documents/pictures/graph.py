"""The graph of steps: what is computed from what, by which operation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise

import sympy

from symattn.derivations import Derivation, Step
from symattn.documents.page.stage import Parts
from symattn.documents.pictures.drawing import HEIGHT, LETTER, Box, Drawing, Shape, Stroke, Words
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.options import Notation
from symattn.notation.text import line

#: A node's height and that of its operation, the room between rows and between nodes, a line that
#: passes.
_NODE, _BAND, _APART, _GAP, _LANE = 58.0, 18.0, 38.0, 22.0, 14.0

#: How far apart arrows arrive, so that their heads do not overlap.
_HEADS = 16.0

#: A formula that begins with a function, also a power, a transpose or the one of a head.
_CALL = re.compile(r"−?(?:[0-9.]+ )?([^\W\d_][\w²]*)[^ (]*\(")

#: Operations that are written as brackets or indices alone.
_WORDS = {"Concat": "join", "Stacked": "join", "Slice": "part", "MatrixSymbol": "=", "Filled": "="}


def graph(derivation: Derivation, notation: Notation) -> Drawing:
    """Inputs on top, each step below the matrices that it reads, its operation where they meet."""
    items = {item.letter: item for item in (*derivation.inputs, *derivation.steps)}
    speller = Speller(notation)
    done = {step.letter: operation(step, speller) for step in derivation.steps}
    widths = {
        letter: max(
            LETTER * len(item.name),
            LETTER * len(line(speller.matrix(item.symbol))),
            LETTER * len(Words(0, 0, done.get(letter, "")).plain),
            _HEADS * (len(item.operands) - 1 if isinstance(item, Step) else 0),
        )
        + 26
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
        x2, y2 = place[step.letter]
        ways = []
        for letter in step.operands:
            x1, y1 = place[letter]
            way = [(x1, y1 + _NODE)]
            if level[step.letter] - level[letter] > 1:  # past the others on a lane of its own
                lane = whole + _LANE * (1 + passing.index(letter))
                way += [(lane, y1 + _NODE + _APART), (lane, y2 - _APART)]
            ways.append(way)
        for k, way in enumerate(sorted(ways, key=lambda way: way[-1])):
            port = x2 + _HEADS * (k - (len(ways) - 1) / 2)
            stops = [*way, (port, y2 - 1)]
            shapes += [
                Stroke(*start, *end, 1.3, "soft", arrow=end == stops[-1])
                for start, end in pairwise(stops)
            ]
    whole += _LANE * (len(passing) + 1) if passing else 0
    parts = Parts(derivation)
    read = {letter for step in derivation.steps for letter in step.operands}
    for letter, item in items.items():
        matters = item.weights or (isinstance(item, Step) and letter not in read)
        shapes += _node(
            place[letter],
            widths[letter],
            speller.matrix(item.symbol),
            "" if item.name == letter else item.name.replace("_", " "),
            done.get(letter),
            parts.role(item) or ("card" if isinstance(item, Step) else "quiet"),
            matters,
        )
    description = "; ".join(
        f"{step.name} from {' and '.join(items[x].name for x in step.operands)}"
        for step in derivation.steps
        if step.operands
    )
    height = max(y for _, y in place.values()) + _NODE
    drawn = Drawing(whole, height, tuple(shapes), f"Graph of the steps: {description}.")
    return Drawing(whole + 2, height + 2, tuple(drawn.moved(1, 1)), drawn.alternative)


def _node(
    place: tuple[float, float],
    width: float,
    symbol: t.Tree,
    name: str,
    done: str | t.Tree | None,
    fill: str,
    matters: bool,
) -> list[Shape]:
    """A box with symbol and name; that of a step with its operation in a band at the top."""
    x, y = place
    shapes: list[Shape] = [Box(x - width / 2, y, width, _NODE, fill, "soft")]
    below = 0.0
    if done is not None:
        shapes.append(Box(x - width / 2, y, width, _BAND, "quiet", "soft"))
        shapes.append(Words(x, y + HEIGHT - 1, done))
        below = _BAND
    middle = y + below + (_NODE - below) / 2
    if name:
        shapes.append(Words(x, middle - 2, symbol, bold=matters))
        shapes.append(Words(x, middle + 13, name, ink="soft"))
    else:
        shapes.append(Words(x, middle + 5, symbol, bold=matters))
    return shapes


def operation(step: Step, speller: Speller) -> str | t.Tree:
    """What a step does at last to what it reads, as its formula has it: ×, +, ÷ √d_k, softmax."""
    expr = step.expr
    if isinstance(expr, sympy.MatMul):
        factors = [part for part in expr.args if getattr(part, "is_Matrix", False)]
        return "×" if len(factors) > 1 else line(speller.scalar(expr.args[0])) + " ·"
    if isinstance(expr, sympy.MatAdd):
        return "+"
    kind = type(expr).__name__
    if kind in _WORDS:
        return _WORDS[kind]
    spelled = speller.matrix(expr)
    if isinstance(spelled, t.Frac):
        below = t.Row((t.Text("÷ "), spelled.den))
        return below if len(line(below)) <= 10 else "÷"
    text = line(spelled)
    called = _CALL.match(text)
    if called:
        return called[1]
    return next((sign for sign in ("Σ", "∘", "×", "+") if sign in text), "")


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
