"""Exact values of single rows: of what is made by rows, no others are computed.

A rounding at a tie takes one exact entry. Row i of the weights needs row i of the scores alone, so
that a large matrix of exponentials is not computed for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import sympy

from symattn.arithmetic.base import Array
from symattn.arithmetic.exact import Exact
from symattn.evaluate.matrices import Once, Place
from symattn.evaluate.walk import Program, leaves_of, program_of_step
from symattn.step import Step, letter_of

_NO_ROWS = np.arange(0)


class ExactRows:
    """The rows of the steps of a derivation, as exact numbers, computed when asked for.

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
        value: sympy.Expr = self.row(letter, row)[(*lead, 0, column)]
        return value

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
