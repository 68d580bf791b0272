"""A product laid out in Falk's scheme: each entry where a row and a column meet.

Source: S. Falk, "Ein übersichtliches Schema für die Matrizenmultiplikation", ZAMM 31, 1951.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.evaluate.cells import Cells, Kept, is_long, kept, picked
from symattn.nodes.heads import Head
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.text import box
from symattn.notation.tree import Part, Scheme, Tree
from symattn.step import HEAD, Step

#: About how many characters stand side by side on a page; a scheme that is wider leaves out more.
_WIDE = 68


class _Factor(NamedTuple):
    """A matrix of a product as it is written, and its cells."""

    symbol: Tree
    cells: Cells


def falk(product: Cells, step: Step, chosen: tuple[int, int] | None = None) -> Scheme | None:
    """The scheme of a step that is a product of two matrices; None for any other.

    The second factor stands above the product, the first on its left. Of the `chosen` entry (row
    and column as shown) the row and column that make it are bold, and it is boxed. None also where
    an exact value is too long for a matrix.
    """
    symbol, expr = step.in_convention(product.notation)
    if not isinstance(expr, sympy.MatMul) or len(expr.args) != 2:
        return None
    first, second = (_factor(product, part) for part in expr.args)
    if first is None or second is None:
        return None
    whole = _Factor(_spelled(product, symbol), product)
    limit = product.notation.limit
    for across in range(limit, min(limit, 3) - 1, -1):
        scheme = _scheme(first, second, whole, across, chosen)
        if scheme is None or box(scheme).width <= _WIDE:
            break
    return scheme


def _factor(product: Cells, part: Any) -> _Factor | None:
    """A factor that is a matrix of the derivation or the transpose of one; None for others."""
    turned = isinstance(part, sympy.Transpose)
    symbol = part.arg if turned else part
    if not isinstance(symbol, sympy.MatrixSymbol | Head):
        return None
    evaluation, head = product.evaluation, None
    if isinstance(symbol, Head):
        head = int(symbol.head.subs(HEAD, product.head).subs(evaluation.sizes))
    item = evaluation.item(str(symbol.name))
    return _Factor(_spelled(product, part), Cells(evaluation, item, head, product.notation, turned))


def _spelled(product: Cells, matrix: MatrixExpr) -> Tree:
    named = matrix if product.head is None else matrix.subs(HEAD, product.head)
    return Speller(product.notation, product.evaluation.sizes).matrix(named)


def _scheme(
    first: _Factor, second: _Factor, product: _Factor, across: int, chosen: tuple[int, int] | None
) -> Scheme | None:
    """The scheme with at most so many columns in each matrix; None if a cell is too long."""
    i, j = chosen or (None, None)
    rows, columns = product.cells.shape
    inner = kept(first.cells.shape[1], across)
    down, right = kept(rows, product.cells.notation.limit, i), kept(columns, across, j)
    # each with the row and the column of it that are pointed out
    tables: tuple[tuple[_Factor, Kept, Kept, int | None, int | None], ...] = (
        (first, down, inner, i, None),
        (second, inner, right, None, j),
        (product, down, right, i, j),
    )  # fmt: skip
    parts: list[Part] = []
    for factor, lines, across_shown, of_row, of_column in tables:
        grid, exact = factor.cells.grid(lines, across_shown)
        if is_long(grid):
            return None
        if chosen is not None:
            grid = picked(grid, lines, across_shown, of_row, of_column, boxed=factor is product)
        parts.append(Part(factor.symbol, t.EQUALS if exact else t.APPROX, grid))
    return Scheme(*parts)
