"""The values of a derivation's matrices in every arithmetic, computed when asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Self

import numpy as np
import sympy

from symattn.arguments import whole
from symattn.arithmetic.abbreviated import Abbreviations, nodes, written_out
from symattn.arithmetic.arrays import Arrays
from symattn.arithmetic.balls import BALLS, Balls, is_settled
from symattn.arithmetic.base import Arithmetic, Array, elementwise, filled
from symattn.arithmetic.decide import Digits, decide, decided
from symattn.arithmetic.enclosure import BITS, precision
from symattn.arithmetic.exact import EXACT, Exact
from symattn.arithmetic.quantity import USUAL_BITS, Quantity
from symattn.arithmetic.rounded import Rounded
from symattn.errors import ShapeError, SymattnError, quote
from symattn.evaluate import fusing
from symattn.evaluate.exact_rows import ExactRows
from symattn.evaluate.fusing import Fused, Fusion, fusion_of
from symattn.evaluate.given import Given, read_given
from symattn.evaluate.matrices import Matrices, Once, Place, checked_place
from symattn.evaluate.walk import Program, program_of_step
from symattn.nodes.base import Node
from symattn.notation.options import Notation, notation_of
from symattn.step import Step


class Values(Matrices):
    """Every matrix's value in every arithmetic, by letter; nothing is computed unasked."""

    def of_batch(self, *index: int) -> Self:
        """One calculation of the batch, counted from 0, with its own numbers and the shared ones.

        Raises `ShapeError` where there is no such item.
        """
        batch = self.batch
        for number in index:
            whole(number, "batch")
        if len(index) != len(batch) or not all(
            0 <= i < n for i, n in zip(index, batch, strict=True)
        ):
            index_text = ", ".join(map(quote, index))
            raise ShapeError(f"batch: there is no item ({index_text}) among {batch}")
        other = self._at(
            {
                item.letter: self.item_of(item.letter, self.given[item.letter], index)
                for item in self.inputs
            }
        )
        other._item = (*self._item, *index)
        other._batched = frozenset(
            item.letter
            for item in self._by_name.values()
            if self._leads(item, self.shape(item.letter))
        )
        known = ((key, known) for key, known in self._known.items() if key[0] != "shape")
        other._known = Once(known)
        return other

    def _at(self, given: dict[str, Array]) -> Self:
        """The same at other numbers, for which nothing is computed yet."""
        other = copy(self)
        other.given, other._computed = given, Once()
        return other

    def value(self, letter: str, arithmetic: Arithmetic) -> Array:
        """The value of the matrix with this letter, computed once in each arithmetic."""

        def make() -> Array:
            with np.errstate(all="ignore"):  # check() says what overflows
                return self._value(letter, arithmetic)

        return self._computed.of(("value", self._letter(letter), arithmetic.key), make)

    def _value(self, letter: str, arithmetic: Arithmetic) -> Array:
        if letter in self.given:
            if not isinstance(arithmetic, Arrays):
                self._check_exact(letter)
            if isinstance(arithmetic, Rounded):
                return arithmetic.stored(self.value(letter, BALLS))
            return arithmetic.array(self.given[letter])
        step = self._steps[letter]
        if not isinstance(arithmetic, Arrays):
            self.known(("size", letter), lambda: self._check_size(step))
        elif self._has(step, "partial") and self.is_exact:
            self.balls(letter, BITS[1])  # which refuses what floating point would gloss over
        if arithmetic.key == self.arithmetic.key and (fused := self._fused(step)) is not None:
            return self._by_rows(step, *fused)
        value = self.follow(step, lambda operand: self.value(operand, arithmetic), arithmetic)
        is_choice = isinstance(arithmetic, Balls) and getattr(step.expr, "chooses", False)
        chooses = is_choice or (arithmetic is BALLS and self._has(step, "chooses"))
        if chooses and not all(map(is_settled, value.flat)):
            return arithmetic.array(self.exact(letter))  # two equal numbers, at any precision
        return value

    def _fused(self, step: Step) -> tuple[Fusion, Sequence[Fused]] | None:
        """How a step is computed by rows; None where that is not worth it, or has been in vain."""

        def make() -> tuple[Fusion, Sequence[Fused]] | None:
            fusion = fusion_of(step, self._steps)
            if fusion is None or not fusion.is_worth_it(self.sizes):
                return None
            heads = range(step.heads(self.sizes))
            return fusion, [Fused(fusion, self.sizes, head) for head in heads]

        found = self.known(("fused", step), make)
        key, steps = self.arithmetic.key, () if found is None else found[0].steps
        in_vain = any(("value", one.letter, key) in self._computed for one in steps)
        return None if in_vain else found

    def _by_rows(self, step: Step, fusion: Fusion, heads: Sequence[Fused]) -> Array:
        """A step by rows, for every item of a batch and every head."""
        read = {x for one in (*fusion.steps, step) for x in one.operands}
        read -= {one.letter for one in fusion.steps}
        whole = {letter: self.value(letter, self.arithmetic) for letter in read}
        leads = [self._leads(self.item(letter), value.shape) for letter, value in whole.items()]
        rows, columns = (int(size.subs(self.sizes)) for size in step.shape)
        lead = np.broadcast_shapes(*leads)
        out = np.empty((*lead, len(heads), rows, columns), dtype=self.arithmetic.dtype)
        for index in np.ndindex(*lead):
            own = {letter: self.item_of(letter, x, index) for letter, x in whole.items()}
            for place, head in zip(out[index], heads, strict=True):
                first = 0
                for part in head.rows(own.__getitem__, self.arithmetic.dtype, fusing.TILE):
                    place[first : first + len(part)] = part
                    first += len(part)
        return out if step.per_head else out[..., 0, :, :]

    def follow(self, step: Step, operand: Callable[[str], Array], arithmetic: Arithmetic) -> Array:
        """The value of a step for these values of its operands; exact ones are abbreviated."""
        if arithmetic is EXACT:
            arithmetic = self._abbreviating
        return arithmetic.kept(self._program(step)(operand, arithmetic))

    @property
    def _abbreviating(self) -> Exact:
        """Exact arithmetic in which long numbers are abbreviated."""
        return Exact(self._computed.of(("abbreviations",), Abbreviations).short)

    def _program(self, step: Step) -> Program:
        """The program of a step, made once."""

        def make() -> Program:
            heads = set() if step.count is None else step.count.free_symbols
            missing = sorted(
                str(s)
                for s in step.expr.free_symbols | heads
                if isinstance(s, sympy.Symbol) and s.is_positive and s not in self.sizes
            )
            if missing:
                raise SymattnError(
                    f"{step.name}: the input does not determine {', '.join(missing)}; give it, "
                    f"e.g. {missing[0]} = 64"
                )
            return program_of_step(step, self.sizes)

        return self.known(("program", step), make)

    def _has(self, step: Step, fact: str) -> bool:
        """Whether a fact of nodes, such as `partial`, holds of one in a step."""
        nodes = step.expr.atoms(Node)
        return self.known((fact, step.letter), lambda: any(getattr(node, fact) for node in nodes))

    def again(self, **given: Given) -> Self:
        """The same derivation at other numbers of the same shapes; its programs are not made again.

        Raises `ShapeError` for other shapes.
        """
        other = self._at(read_given(self.inputs, given, self.sizes))
        for letter, array in other.given.items():
            if array.shape != self.given[letter].shape:
                raise ShapeError(f"{letter}: the new numbers have to have the same shape")
        return other

    def exact(self, letter: str) -> Array:
        """Exact values of a matrix, as an object array of SymPy numbers."""
        name = "written out", self._letter(letter)
        return self._computed.of(name, lambda: elementwise(written_out, self.abbreviated(letter)))

    def abbreviated(self, letter: str) -> Array:
        """Exact values of a matrix, in which long numbers are abbreviated."""
        return self.value(letter, EXACT)

    def exact_entry(self, letter: str, place: Place) -> sympy.Expr:
        """The abbreviated exact value of one entry.

        Of steps that are made by rows no more than its row is computed.
        """
        if ("value", letter, EXACT.key) in self._computed:
            return self.abbreviated(letter)[place]
        return self._computed.of(("exact rows",), self._exact_rows).entry(letter, place)

    def _exact_rows(self) -> ExactRows:
        # apart, so that which entries were asked for does not change how matrices are written
        apart = self._at(self.given)
        return ExactRows(
            self._steps, self.sizes, apart.abbreviated, self._known, apart._abbreviating
        )

    def longest_exact(self, letter: str) -> int:
        """How many nodes the longest exact value of a matrix has when it is written out."""
        return max(map(nodes, self.abbreviated(letter).ravel()))

    def balls(self, letter: str, bits: int) -> Array:
        """Proven enclosures of a matrix, computed with so many bits."""
        if type(bits) is not int or not 2 <= bits <= BITS[-1]:
            bits = whole(bits, "bits", 2, BITS[-1])
        with precision(bits):
            return self.value(letter, BALLS)

    def rounded(self, letter: str, digits: int | None = None) -> Array:
        """Where floating point in this dtype may end up, as balls; `digits` as for `Rounded`."""
        if digits is not None:
            digits = whole(digits, "digits", 1, 113)
        with precision(BITS[0]):  # of its unit of rounding, too
            return self.value(letter, Rounded(self.arithmetic.dtype, digits))

    def array(self, letter: str) -> Array:
        """NumPy's values of a matrix."""
        value = self.value(letter, self.arithmetic)
        return value if value.flags.writeable else value.copy()  # what was given is kept

    def digits(self, letter: str, place: Place, notation: Notation) -> Digits:
        """One entry as a decimal that is proven, or marked as not."""
        notation, letter = notation_of(notation), self._letter(letter)
        place = checked_place(place, self._names[letter], self.shape(letter))
        asked = notation.digits, notation.rounding

        def make() -> Digits:
            true = Quantity(
                lambda bits: self.balls(letter, bits)[place],
                lambda: self.exact_entry(letter, place),
                BITS[-1] if self._is_small else USUAL_BITS,
            )
            return decide(true, *asked)

        return self._computed.of(("digits", letter, place, *asked), make)

    def all_digits(self, letter: str, notation: Notation) -> Array:
        """Every entry as a decimal, as `digits` has it; what balls decide is decided together."""
        notation = notation_of(notation)

        def make() -> Array:
            balls = self.balls(letter, BITS[0])
            found = filled(balls.shape, decided(balls.flat, notation.digits))
            for place in zip(*np.nonzero(found == None), strict=True):  # noqa: E711
                found[place] = self.digits(letter, tuple(map(int, place)), notation)
            return found

        return self._computed.of(
            ("all digits", self._letter(letter), notation.digits, notation.rounding), make
        )

    def shape(self, letter: str) -> tuple[int, ...]:
        """The shape of a matrix's value: batches, heads, rows, columns."""
        key = "shape", self._letter(letter)
        return self.known(key, lambda: self._any_value(letter).shape)

    def _any_value(self, letter: str) -> Array:
        """A matrix in the arithmetic that is quickest, or in one that has a value for it."""
        if not self._is_symbolic:
            try:
                return self.array(letter)
            except SymattnError:  # what has underflowed in a dtype may have an exact value
                pass
        return self.abbreviated(letter)

    @property
    def _is_symbolic(self) -> bool:
        """Whether a symbol was given in place of a number."""
        return self._computed.of(
            ("is symbolic",),
            lambda: any(
                getattr(entry, "free_symbols", None)
                for array in self.given.values()
                if array.dtype == object
                for entry in array.flat
            ),
        )

    @property
    def _is_small(self) -> bool:
        """Whether the matrices are so few and small that high precision costs little."""
        return sum(array.size for array in self.given.values()) <= 256
