"""A product laid out in Falk's scheme: each entry where a row and a column meet.

Source: S. Falk, "Ein übersichtliches Schema für die Matrizenmultiplikation", ZAMM 31, 1951.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.evaluate.cells import Cells, Indices, indices_of, is_long, picked
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.text import box
from symattn.notation.tree import Part, Scheme, Tree
from symattn.step import HEAD, Step, letter_of


class _Factor(NamedTuple):
    """A matrix of a product as it is written, and its cells."""

    symbol: Tree
    cells: Cells


def falk(product: Cells, step: Step, chosen: tuple[int, int] | None = None) -> Scheme | None:
    """The scheme of a step that is a product of two matrices; None for any other.

    The second factor stands above the product, the first on its left. Of the `chosen` entry (row
    and column as shown) the row and column that make it are bold, and it is boxed. Of a merged
    formula the factors are those of the last step in it. None also where an exact value is too long
    for a matrix.
    """
    last = multiplied(step)
    if last is None:
        return None
    symbol, expr = last.in_convention(product.notation)
    first, second = (_factor(product, part) for part in expr.args)
    if first is None or second is None:
        return None
    parts = (first, second, _Factor(_spelled(product, symbol), product))
    i, j = chosen or (None, None)
    limit = product.notation.limit
    down = indices_of(product.shape[0], limit, i)
    for across in range(limit, min(limit, 3) - 1, -1):
        inner, right = (
            indices_of(first.cells.shape[1], across),
            indices_of(product.shape[1], across, j),
        )
        scheme = _scheme(parts, down, inner, right)
        # about so many characters stand side by side on a page; a wider scheme leaves out more
        if scheme is None or box(scheme).width <= 68:
            break
    if scheme is None or chosen is None:
        return scheme
    return Scheme(
        _picked(scheme.first, down, inner, i, None),
        _picked(scheme.second, inner, right, None, j),
        _picked(scheme.product, down, right, i, j),
    )


def multiplied(step: Step) -> Step | None:
    """The step, or the last of those in a merged formula, if it is a product of two matrices."""
    last = step.parts[-1] if step.parts else step
    return last if is_product(last.expr) else None


def is_product(expr: MatrixExpr) -> bool:
    """Whether it is a product of two matrices of a derivation, or of their transposes."""
    parts = [part.arg if isinstance(part, sympy.Transpose) else part for part in expr.args]
    return isinstance(expr, sympy.MatMul) and len(parts) == 2 and all(map(letter_of, parts))


def _factor(product: Cells, part: MatrixExpr) -> _Factor | None:
    """A factor that is a matrix of the derivation or the transpose of one; None for others."""
    turned = isinstance(part, sympy.Transpose)
    symbol = part.arg if turned else part
    if not letter_of(symbol):
        return None
    evaluation, head = product.evaluation, getattr(symbol, "head", None)
    if head is not None:
        head = int(head.subs(HEAD, product.head).subs(evaluation.sizes))
    item = evaluation.item(letter_of(symbol))
    return _Factor(_spelled(product, part), Cells(evaluation, item, head, product.notation, turned))


def _spelled(product: Cells, matrix: MatrixExpr) -> Tree:
    symbol = matrix if product.head is None else matrix.subs(HEAD, product.head)
    return Speller(product.notation, product.evaluation.sizes).matrix(symbol)


def _scheme(
    factors: tuple[_Factor, _Factor, _Factor], down: Indices, inner: Indices, right: Indices
) -> Scheme | None:
    """The scheme of these rows and columns; None if a cell is too long."""
    parts: list[Part] = []
    indices = ((down, inner), (inner, right), (down, right))
    for factor, (rows, columns) in zip(factors, indices, strict=True):
        grid, exact = factor.cells.grid(rows, columns)
        if is_long(grid):
            return None
        parts.append(Part(factor.symbol, t.EQUALS if exact else t.APPROX, grid))
    return Scheme(*parts)


def _picked(part: Part, rows: Indices, columns: Indices, i: int | None, j: int | None) -> Part:
    """The matrix with the cells of row i and column j pointed out: boxed where that is one."""
    boxed = i is not None and j is not None
    return replace(part, grid=picked(part.grid, rows, columns, i, j, boxed))
