"""The value view of a step: its matrix as a notation tree, in proven digits or exactly."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arguments import instance, whole
from symattn.errors import SymattnError
from symattn.evaluate.cells import Cells, indices_of, is_long, picked
from symattn.evaluate.falk import falk
from symattn.evaluate.matrices import Place
from symattn.evaluate.values import Values
from symattn.nodes.flip import flip
from symattn.nodes.rule import rule_of
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.options import Notation, notation_of
from symattn.notation.tree import Tree
from symattn.step import HEAD, Item, Step


def heads_of(evaluation: Values, item: Item, notation: Notation) -> list[int | None]:
    """The heads of a matrix that are shown, counted from 0; None for one that all heads share.

    Of a matrix of each group of heads, that of the head which is shown. Raises `SymattnError` where
    there is no such head.
    """
    items = (*evaluation.inputs, *evaluation.steps)
    counts = [evaluation.shape(one.letter)[-3] for one in items if one.per_head]
    if notation.head is not None and not counts:
        raise SymattnError(f"head {notation.head}: this attention has no heads; leave it out")
    if not item.per_head:
        return [None]
    count, most, base = evaluation.shape(item.letter)[-3], max(counts), notation.index_base
    if notation.head is None:
        return [*range(count)]
    if notation.head >= most + base:
        raise SymattnError(f"head {notation.head}: heads are {base} to {most - 1 + base}")
    return [(notation.head - base) * count // most]


def matrices(
    evaluation: Values, item: Item, notation: Notation, entry: Place | None = None
) -> tuple[list[Tree], list[int]]:
    """The matrix of each head that is shown, and the heads that are left out.

    More of them than the notation's limit are shown with ⋯.
    """
    heads = heads_of(evaluation, item, notation)
    chosen = heads.index(entry[0]) if entry and item.per_head and entry[0] in heads else None
    shown = indices_of(len(heads), notation.limit, chosen)
    trees: list[Tree] = []
    for k in shown:
        if k is None:
            trees.append(t.DOTS)
        else:
            trees += value_view(evaluation, item, heads[k], notation, entry)
    return trees, [head for k, head in enumerate(heads) if k not in shown and head is not None]


def value_view(
    evaluation: Values,
    item: Item,
    head: int | None = None,
    notation: Notation | None = None,
    entry: Place | None = None,
) -> tuple[Tree, ...]:
    """The matrix of a step or an input, ``A ≈ [0.3040 …]``; `head` counts from 0.

    One tree: with ``layout = "falk"`` that of Falk's scheme, where the step is a product of two
    matrices. Of entries too long for a matrix, one for each entry. `entry`, a place in the
    array, is boxed. Raises `SymattnError` where there are more axes than heads, rows and columns.
    """
    instance(evaluation, Values, "evaluation", "an Evaluation")
    instance(item, Item, "item", "a Step or an Input")
    if entry is not None:
        evaluation.within(item.letter, entry)
    if head is not None:
        head = whole(head, f"{item.name}: head")
    notation = notation_of(notation)
    cells = Cells(evaluation, item, head, notation)
    chosen = cells.position(entry)
    if notation.layout == "falk" and isinstance(item, Step):
        scheme = falk(cells, item, chosen)
        if scheme is not None:
            return (scheme,)
    symbol = item.symbol if head is None else item.symbol.subs(HEAD, head)
    symbol = flip(symbol) if notation.convention == "columns" else symbol
    if item.is_number:
        cell, is_exact = cells.cell(0, 0)
        shown = cell if chosen is None else t.Picked(cell)
        left = Speller(notation).matrix(symbol)
        return (t.equation(left, (t.EQUALS if is_exact else t.APPROX, shown)),)
    return (*_shown(cells, symbol, chosen),)


def _shown(cells: Cells, symbol: MatrixExpr, chosen: tuple[int, int] | None) -> Iterator[Tree]:
    """The matrix; of entries too long for one, each of them."""
    speller = Speller(cells.notation)
    sides = zip(cells.shape, chosen or (None, None), strict=True)
    rows, columns = (indices_of(count, cells.notation.limit, one) for count, one in sides)
    grid, exact = cells.grid(rows, columns)
    if not is_long(grid):
        if chosen is not None:
            grid = picked(grid, rows, columns, *chosen, boxed=True)
        relation = t.EQUALS if exact else t.APPROX
        yield t.equation(speller.matrix(symbol), (relation, t.Fenced(grid, "[", "]")))
        return
    for i, j in product(rows, columns):
        if i is None or j is None:
            continue
        cell, is_exact = cells.cell(i, j)
        shown = t.Picked(cell) if (i, j) == chosen else cell
        left = speller.rule(rule_of(symbol, i, j))
        yield t.equation(left, (t.EQUALS if is_exact else t.APPROX, shown))
