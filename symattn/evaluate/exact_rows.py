"""Exact values of single entries: no more is computed than they need.

A rounding at a tie takes one exact entry. Entry (i, j) of the scores needs row i of the queries and
row j of the keys. Row i of the weights needs row i of the scores alone, so that a large matrix of
exponentials is not computed for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arithmetic.base import Array
from symattn.arithmetic.exact import Exact
from symattn.evaluate.matrices import Once, Place
from symattn.evaluate.walk import Program, leaves_of, program_of_step
from symattn.step import Step, letter_of

_NO_ROWS = np.arange(0)


#: What one entry needs of a matrix: the entry there, its row, or what it stands in at its column.
_ENTRY, _ROW, _COLUMN, _TURNED = range(4)


class ExactRows:
    """Entries and rows of the steps of a derivation, as exact numbers, computed when asked for.

    `whole` gives all of a matrix, and `known` keeps the programs, which the sizes decide.
    """

    def __init__(
        self,
        steps: Mapping[str, Step],
        sizes: Mapping[sympy.Symbol, int],
        whole: Callable[[str], Array],
        known: Once,
        arithmetic: Exact,
    ) -> None:
        self.steps, self.sizes, self.whole, self.known = steps, sizes, whole, known
        #: The rows share what they need as a whole.
        self._arithmetic = arithmetic.at_rows(_NO_ROWS)
        self._rows = Once()

    def entry(self, letter: str, place: Place) -> sympy.Expr:
        """One entry of a matrix."""
        *lead, row, column = place
        value: sympy.Expr = self._cell(letter, row, column)[(*lead, 0, 0)]
        return value

    def _cell(self, letter: str, row: int, column: int) -> Array:
        """One entry of a matrix, whose axes stay."""
        step = self.steps.get(letter)
        needs = {} if step is None else self.known.of(("needs", letter), lambda: _needs(step.expr))
        if step is None or not needs or (letter, row) in self._rows:
            return self.row(letter, row)[..., [column]]
        operands = {
            _ENTRY: lambda one: self._cell(one, row, column),
            _ROW: lambda one: self.row(one, row),
            _COLUMN: lambda one: self.whole(one)[..., [column]],
            _TURNED: lambda one: self.row(one, column),
        }
        made = frozenset(one for one, need in needs.items() if need in (_ENTRY, _ROW))

        def make() -> Array:
            program = self.known.of(
                ("entries", letter), lambda: program_of_step(step, self.sizes, made)
            )
            # with wholes of its own, since of some matrices it has the one column
            arithmetic = self._arithmetic.at_rows(None).at_rows(np.array([row]))
            return arithmetic.kept(program(lambda one: operands[needs[one]](one), arithmetic))

        return self._rows.of((letter, row, column), make)

    def row(self, letter: str, row: int) -> Array:
        """One row of a matrix, whose axis stays."""
        step = self.steps.get(letter)
        if step is None:
            return self.whole(letter)[..., [row], :]
        needed, program = self.known.of(("rows", letter), lambda: self._program(step))

        def operand(one: str) -> Array:
            return self.row(one, row) if one in needed else self.whole(one)

        def make() -> Array:
            arithmetic = self._arithmetic.at_rows(np.array([row]))
            with np.errstate(all="ignore"):  # NumPy complains of what SymPy compares in floats
                return arithmetic.kept(program(operand, arithmetic))

        return self._rows.of((letter, row), make)

    def _program(self, step: Step) -> tuple[frozenset[str], Program]:
        """The matrices of which a step needs the same rows alone, and the program of its rows."""
        leaves = [*leaves_of(step.expr)]
        whole = {letter_of(leaf) for leaf, by_rows in leaves if not by_rows}
        needed = frozenset(letter_of(leaf) for leaf, _ in leaves) - whole
        return needed, program_of_step(step, self.sizes, needed)


def _needs(expr: MatrixExpr) -> dict[str, int]:
    """What one entry of an expression needs of each matrix; empty where that is not known."""
    needs: dict[str, int] = {}
    for matrix, need in _leaves(expr):
        letter = letter_of(matrix)
        if not letter or needs.setdefault(letter, need) != need:
            return {}
    return needs


def _leaves(expr: MatrixExpr) -> Iterator[tuple[MatrixExpr, int]]:
    """What one product of two matrices, or what is made entry by entry, takes, and what of it."""
    match expr:
        case sympy.MatMul():
            _, (first, *others) = expr.as_coeff_matrices()
            if len(others) == 1 and isinstance(others[0], sympy.Transpose):
                yield from ((first, _ROW), (others[0].arg, _TURNED))
            elif len(others) == 1:
                yield from ((first, _ROW), (others[0], _COLUMN))
            else:
                yield (expr, _ROW) if others else (first, _ENTRY)
        case sympy.MatAdd() | sympy.HadamardProduct() | MatrixExpr(entrywise=True):
            for part in expr.args:
                is_matrix = isinstance(part, MatrixExpr)
                if is_matrix and part.shape != expr.shape:  # one number, times every entry
                    yield expr, _ENTRY
                yield from _leaves(part) if is_matrix else ()
        case _:
            yield expr, _ENTRY
