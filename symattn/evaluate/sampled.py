"""Some rows of a derivation's matrices, where all of them would be too many for proven digits.

Row i of scores, weights and outputs needs row i of the queries alone. What a formula needs as a
whole (keys, values) is computed as a whole; everything else for the rows that are asked for.
"""

from __future__ import annotations

from collections.abc import Mapping

from symattn.arithmetic.base import Array
from symattn.arithmetic.decide import Digits, decide
from symattn.arithmetic.enclosure import BITS
from symattn.arithmetic.quantity import Quantity
from symattn.errors import ShapeError
from symattn.evaluate.evaluation import Evaluation
from symattn.evaluate.matrices import Place
from symattn.evaluate.walk import Program, leaves_of, program_of_step
from symattn.notation.options import Notation
from symattn.step import Step, leading_to, letter_of

#: The most entries of a matrix of which all rows are needed.
_MOST = 2**20


class Sampled(Evaluation):
    """An evaluation of some rows; `array` and `balls` hold these alone, places are the whole's."""

    def __init__(
        self, whole: Evaluation, claimed: Mapping[str, Array], rows: Mapping[int, Array]
    ) -> None:
        """The steps on the way to what is claimed, for these rows of each number of rows.

        `claimed` is all of what a program computed, by letter.
        """
        dtype, order = whole.arithmetic.dtype, whole.order
        super().__init__(
            whole.inputs, whole.steps, whole.given, whole.stated, whole.labels, dtype, order
        )
        self.notation, self._item, self._batched = whole.notation, whole._item, whole._batched
        self.rows, self.claimed, self.whole = rows, claimed, whole
        wanted = leading_to(whole.steps, claimed)
        steps = [step for step in whole.steps if step.letter in wanted]
        needed_whole = set[str]()
        for step in reversed(steps):
            leaves = leaves_of(step.expr, step.letter not in needed_whole)
            needed_whole |= {letter_of(leaf) for leaf, by_rows in leaves if not by_rows}
        #: The letters of the matrices of which these rows alone are computed.
        self.steps, self.made = tuple(steps), frozenset(wanted - needed_whole)
        self.given = {
            letter: x[..., self.rows_of(letter), :] if letter in self.made else x
            for letter, x in whole.given.items()
        }

    def rows_of(self, letter: str) -> Array:
        """Which rows of a matrix are asked for, from 0."""
        return self.rows[self.whole.shape(letter)[-2]]

    def judged(self, letter: str, value: Array) -> Array:
        if letter in self.made:
            return value
        return value[..., self.rows_of(letter), :]

    def original(self, letter: str, place: Place) -> Place:
        return (*place[:-2], int(self.rows_of(letter)[place[-2]]), place[-1])

    def claims(self, letter: str, numbers: Array) -> Array:
        return numbers if letter in self.made else self.claimed[letter]

    def array(self, letter: str) -> Array:
        return self.judged(letter, super().array(letter))

    def balls(self, letter: str, bits: int) -> Array:
        return self.judged(letter, super().balls(letter, bits))

    def shape(self, letter: str) -> tuple[int, ...]:
        return self.whole.shape(letter)

    def digits(self, letter: str, place: Place, notation: Notation) -> Digits:
        row = self.rows_of(letter).tolist().index(place[-2])
        own = (*place[:-2], row, place[-1])
        enclosed = Quantity(
            lambda bits: self.balls(letter, bits)[own],
            lambda: None,  # exact values are too long here
            most_bits=BITS[1],
        )
        return decide(enclosed, notation.digits, notation.rounding)

    def _program(self, step: Step) -> Program:
        if step.letter not in self.made:
            return super()._program(step)
        run = self.known(("program", step), lambda: program_of_step(step, self.sizes, self.made))
        rows = self.rows_of(step.letter)
        return lambda values, arithmetic: run(values, arithmetic.at_rows(rows))

    def _fused(self, step: Step) -> None:
        return None

    def _check_exact(self, letter: str) -> None:
        self._check_count(letter, self.given[letter].size)

    def _check_size(self, step: Step) -> None:
        rows, columns = (size.subs(self.sizes) for size in step.shape)
        if step.letter in self.made:
            rows = len(self.rows_of(step.letter))
        self._check_count(step.letter, rows * columns * step.heads(self.sizes))

    def _check_count(self, letter: str, count: int) -> None:
        if count > _MOST:
            raise ShapeError(
                f"{self.item(letter).name}: {count} entries are too many, and no row of what is "
                f"claimed can be computed without all of them; {_MOST} at most"
            )
