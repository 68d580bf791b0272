"""The graph of steps: what is computed from what, by which operation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise

import sympy

from symattn.derivations import Derivation, Step
from symattn.documents.page.stage import Parts
from symattn.documents.pictures.drawing import HEIGHT, LETTER, Box, Drawing, Shape, Stroke, Words
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.options import Notation
from symattn.notation.text import line

#: A node's height and that of its operation, the room between rows and between nodes, a line that
#: passes, and how far apart arrows arrive, so that their heads do not overlap.
_NODE, _BAND, _APART, _GAP, _LANE, _HEADS = 58.0, 18.0, 38.0, 22.0, 14.0, 16.0

#: A formula that begins with a function, also a power, a transpose or the one of a head.
_CALL = re.compile(r"−?(?:[0-9.]+ )?([^\W\d_][\w²]*)[^ (]*\(")

#: Signs of operations, by what stands in a formula.
_SIGNS = {"Σ": "Σ", "∘": "∘", "×": "×", "+": "+", " diag(": "×"}

#: Operations that are written as brackets or indices alone.
_WORDS = {"Concat": "join", "Stacked": "join", "Slice": "part", "MatrixSymbol": "=", "Filled": "="}


def graph(derivation: Derivation, notation: Notation) -> Drawing:
    """Inputs on top, each step below the matrices that it reads, its operation where they meet."""
    return _Graph(derivation, Speller(notation)).drawing()


@dataclass(frozen=True)
class _Graph:
    derivation: Derivation
    speller: Speller

    @cached_property
    def done(self) -> dict[str, str | t.Tree]:
        """The operation of each step."""
        return {step.letter: operation(step, self.speller) for step in self.derivation.steps}

    @cached_property
    def widths(self) -> dict[str, float]:
        """How wide each node is."""
        return {
            letter: max(
                LETTER * len(item.name),
                LETTER * len(line(self.speller.matrix(item.symbol))),
                LETTER * len(Words(0, 0, self.done.get(letter, "")).plain),
                _HEADS * (len(item.operands) - 1 if isinstance(item, Step) else 0),
            )
            + 26
            for letter, item in self.parts.items.items()
        }

    @cached_property
    def level(self) -> dict[str, int]:
        """How far down each node stands."""
        return _levels(self.derivation)

    @cached_property
    def passing(self) -> list[str]:
        """The letters that are read further down than in the next row, in the order of lanes."""
        far = {
            letter
            for step in self.derivation.steps
            for letter in step.operands
            if self.level[step.letter] - self.level[letter] > 1
        }
        return [letter for letter in self.parts.items if letter in far]

    def drawing(self) -> Drawing:
        """The nodes, and the arrows between them."""
        place, whole = _placed(self.level, self.widths)
        arrows = (self._arrows(step, place, whole) for step in self.derivation.steps)
        nodes = (self._node(letter, *place[letter]) for letter in self.parts.items)
        shapes = tuple(chain(*arrows, *nodes))
        description = "; ".join(
            f"{step.name} from {' and '.join(self.parts.items[x].name for x in step.operands)}"
            for step in self.derivation.steps
            if step.operands
        )
        whole += _LANE * (len(self.passing) + 1) if self.passing else 0
        height = max(y for _, y in place.values()) + _NODE
        drawn = Drawing(whole, height, shapes, f"Graph of the steps: {description}.")
        return Drawing(whole + 2, height + 2, tuple(drawn.moved(1, 1)), drawn.alternative)

    def _arrows(
        self, step: Step, place: Mapping[str, tuple[float, float]], whole: float
    ) -> Iterator[Shape]:
        """From all that a step reads; past other nodes on a lane of its own."""
        x2, y2 = place[step.letter]
        ways = []
        for letter in step.operands:
            x1, y1 = place[letter]
            way = [(x1, y1 + _NODE)]
            if self.level[step.letter] - self.level[letter] > 1:
                lane = whole + _LANE * (1 + self.passing.index(letter))
                way += [(lane, y1 + _NODE + _APART), (lane, y2 - _APART)]
            ways.append(way)
        for k, way in enumerate(sorted(ways, key=lambda way: way[-1])):
            port = x2 + _HEADS * (k - (len(ways) - 1) / 2)
            stops = [*way, (port, y2 - 1)]
            for start, end in pairwise(stops):
                yield Stroke(*start, *end, 1.3, "soft", arrow=end == stops[-1])

    @cached_property
    def parts(self) -> Parts:
        """What each matrix is."""
        return Parts(self.derivation)

    @cached_property
    def read(self) -> set[str]:
        """The letters that a step reads."""
        return {letter for step in self.derivation.steps for letter in step.operands}

    def _node(self, letter: str, x: float, y: float) -> Iterator[Shape]:
        """A box with symbol and name; that of a step with its operation in a band at the top."""
        item, width = self.parts.items[letter], self.widths[letter]
        fill = self.parts.role(item) or ("card" if isinstance(item, Step) else "quiet")
        yield Box(x - width / 2, y, width, _NODE, fill, "soft")
        below = 0.0
        if letter in self.done:
            yield Box(x - width / 2, y, width, _BAND, "quiet", "soft")
            yield Words(x, y + HEIGHT - 1, self.done[letter])
            below = _BAND
        middle = y + below + (_NODE - below) / 2
        symbol = self.speller.matrix(item.symbol)
        matters = item.weights or (isinstance(item, Step) and letter not in self.read)
        if item.name == letter:
            yield Words(x, middle + 5, symbol, bold=matters)
        else:
            yield Words(x, middle - 2, symbol, bold=matters)
            yield Words(x, middle + 13, item.name.replace("_", " "), ink="soft")


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
    return next((sign for mark, sign in _SIGNS.items() if mark in text), "")


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
