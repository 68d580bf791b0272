"""The value view of a step: its matrix as a notation tree, in proven digits or exactly."""

from __future__ import annotations

from typing import Any

from symattn.errors import SymattnError
from symattn.evaluate.values import Place, Values
from symattn.nodes.flip import flip
from symattn.nodes.rule import rule_of
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.numbers import number
from symattn.notation.options import Notation
from symattn.notation.text import line
from symattn.notation.tree import Tree
from symattn.step import HEAD, Input

_GAP = None


#: An exact entry longer than this stands on a line of its own, not in a matrix.
_LONG_ENTRY = 16


def value_view(
    evaluation: Values,
    item: Input,
    head: int | None = None,
    notation: Notation | None = None,
) -> tuple[Tree, ...]:
    """The matrix of a step or an input, ``A ≈ [0.3040 …]``; `head` counts from 0.

    One tree, or, for exact entries too long for a matrix, one for each entry. Raises
    `SymattnError` where there are more axes than heads, rows and columns.
    """
    notation = notation or Notation()
    array = evaluation.array(item.letter)
    if array.ndim - (head is not None) != 2:
        raise SymattnError(
            f"{item.name}: {array.ndim} axes cannot be shown as one matrix; pick one"
        )
    rows, columns = array.shape[-2:]
    lead: Place = () if head is None else (head,)
    lines, across = _shown(rows, notation.limit), _shown(columns, notation.limit)
    names = [evaluation.labels.get(size, ()) for size in item.shape]
    cells: dict[tuple[int | None, int | None], Tree] = {}
    exact = True
    for i in lines:
        for j in across:
            if i is _GAP or j is _GAP:
                cells[i, j] = t.DDOTS if i is j else t.VDOTS if i is _GAP else t.DOTS
                continue
            cells[i, j], is_exact = _cell(evaluation, item, (*lead, i, j), notation)
            exact = exact and is_exact
    if notation.convention == "columns":
        lines, across, names = across, lines, names[::-1]
        cells = {(j, i): cell for (i, j), cell in cells.items()}
    symbol: Any = item.symbol if head is None else item.symbol.subs(HEAD, head)
    if notation.convention == "columns":
        symbol = flip(symbol)
    speller = Speller(notation)
    if notation.exact and any(len(line(cell)) > _LONG_ENTRY for cell in cells.values()):
        return tuple(
            t.equation(speller.rule(rule_of(symbol, i, j)), (t.EQUALS, cell))
            for (i, j), cell in cells.items()
            if i is not _GAP and j is not _GAP
        )
    grid = t.Grid(
        tuple(tuple(t.inline(cells[i, j]) for j in across) for i in lines),
        _picked(names[0], lines, "⋮"),
        _picked(names[1], across, "⋯"),
    )
    relation = t.EQUALS if exact else t.APPROX
    return (t.equation(speller.matrix(symbol), (relation, t.Fenced(grid, "[", "]"))),)


def _cell(evaluation: Values, item: Input, place: Place, notation: Notation) -> tuple[Tree, bool]:
    """One cell, and whether it shows the exact value."""
    if notation.exact:
        return Speller(notation).scalar(evaluation.exact(item.letter)[place]), True
    digits = evaluation.digits(item.letter, place, notation)
    cell = number(digits.text) if digits.text != "?" else t.Op("?")
    return (cell if digits.proven else t.row(cell, t.Op("?"))), digits.exact


def _shown(count: int, limit: int) -> list[Any]:
    """The indices shown, with a gap where too many are left out."""
    if not limit or count <= limit:
        return list(range(count))
    return [*range(limit - 2), _GAP, count - 1]


def _picked(names: tuple[str, ...], shown: list[Any], gap: str) -> tuple[str, ...]:
    return tuple(gap if index is _GAP else names[index] for index in shown) if names else ()
