"""Numbers among matrices, a temperature or a loss: 1 × 1, written without indices and brackets."""

from __future__ import annotations

from collections.abc import Callable

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr


class NumberSymbol(sympy.MatrixSymbol):  # type: ignore[misc]  # SymPy has no types
    """A 1 × 1 matrix symbol whose one entry is written like itself: L, not l_11.

    >>> NumberSymbol("L").shape
    (1, 1)
    """

    def __new__(cls, name: object, rows: object = 1, columns: object = 1) -> NumberSymbol:
        """The symbol; SymPy itself gives the sizes when it makes one anew."""
        symbol: NumberSymbol = super().__new__(cls, name, rows, columns)
        return symbol

    def _flip(self, flip: Callable[[MatrixExpr], MatrixExpr]) -> MatrixExpr:
        return self
