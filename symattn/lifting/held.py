"""What is held against one another at sizes: what programs recorded, and what they should be.

What proves it and what checks a certificate of it have this in common, and below it the tapes, the
normal forms and the fields; which library, layout and sizes there are is found elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import sympy

from symattn.algebra.comparison import ending_with
from symattn.algebra.counterexample import Side
from symattn.arithmetic.base import Arithmetic, Array, Ground, elementwise, of_rows
from symattn.claims.computed import Computed
from symattn.derivations import Derivation, Evaluation
from symattn.errors import SymattnError
from symattn.lifting import terms
from symattn.lifting.limits import LIMITS
from symattn.lifting.numerals import size_at
from symattn.lifting.precise import apart, in_real_numbers, spread_of
from symattn.lifting.tapes import (
    Asked,
    Kind,
    Tape,
    by_truth,
    functions,
    hold_same,
    may_be_undefined,
    named,
    numbers_by_name,
)
from symattn.lifting.terms import Unknown
from symattn.verifying.calling import Answer, Call
from symattn.verifying.inputs import Property, numbers_of
from symattn.verifying.subject import Subject, shape_of_input


@dataclass(frozen=True)
class OfAttention:
    """A function that is called somehow, and the attention that it should be, at sizes."""

    subject: Subject
    sizes: Mapping[str, int]

    @cached_property
    def derivation(self) -> Derivation:
        """The attention, of so many heads."""
        return self.subject.derivation(self.sizes["h"], self.sizes["g"])

    @property
    def used(self) -> dict[sympy.Symbol, int]:
        """The sizes that the attention has."""
        return {symbol: self.sizes[symbol.name] for symbol in self.derivation.size_symbols}

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """What is given, and its shape without a batch."""
        return {item.name: shape_of_input(item, self.used) for item in self.derivation.inputs}

    @cached_property
    def ids(self) -> dict[str, Array]:
        """The name of each number that is given."""
        return named(self._drawn(LIMITS.draws[0]))

    @cached_property
    def evaluation(self) -> Evaluation:
        """The attention of some numbers, which has the shapes of all steps."""
        return self._evaluated(LIMITS.draws[0])

    @property
    def call_by_name(self) -> Call:
        """A call in which every number of a matrix is its name."""
        return self.subject.call(self.evaluation, self.ids, "float64", False)

    def call(self, seed: int) -> Call:
        """A call with numbers."""
        return self.subject.call(self._evaluated(seed), self._drawn(seed), "float64", False)

    def steps(self, tape: Tape) -> list[str]:
        """The steps that are returned."""
        found = self.subject.returned(tape.answer, self.evaluation)
        return [self.evaluation.item(letter).name for letter in found]

    def hold(self, tapes: Sequence[Tape], of: Kind) -> bool:
        """Hold both against one another; whether one may be undefined where the other is not.

        Raises `SymattnError` where they are not the same, or have no form.
        """
        (tape,) = tapes
        given = {
            item.letter: elementwise(
                lambda one, named=of.truth if item.boolean else of.letter: named(int(one)),
                self.ids[item.name],
            )
            for item in self.derivation.inputs
        }
        read, is_partial = tape.formal(of), False
        for letter, places in self.subject.returned(tape.answer, self.evaluation).items():
            name = self.evaluation.item(letter).name
            formal = Formal(of)
            try:
                true = Side(ending_with(self.derivation, name)).value(given, formal, self.used)
            except NotImplementedError:  # a choice of keys, say, which is no formula
                raise Unknown(f"a step before {name} has no form here") from None
            wanted = np.broadcast_to(np.asarray(true, object), places.numbers.shape)
            hold_same(of, read(places.numbers), wanted, f"an entry of {name}")
            if of is terms:
                is_partial |= may_be_undefined(tape.asked, formal.asked)
        return is_partial

    def differ(self, tapes: Sequence[Tape], seed: int) -> bool:
        """Whether random numbers show that both differ, in real arithmetic."""
        (tape,) = tapes
        evaluation, numbers = self._evaluated(seed), self._drawn(seed)
        precise, off = (
            self.subject.returned(answer, evaluation)
            for answer in in_real_numbers(
                tape, numbers_by_name(self.ids, numbers), spread_of(self.ids)
            )
        )
        return any(
            apart(array.numbers, np.asarray(evaluation.array(x), float), off[x].numbers).any()
            for x, array in precise.items()
        )

    def _drawn(self, seed: int) -> dict[str, Array]:
        drawn = Property("", "", seed=seed)
        lead = self.subject.layout.lead
        return numbers_of(drawn, self.derivation, self.sizes, lead, self.subject.spec)

    def _evaluated(self, seed: int) -> Evaluation:
        return self.derivation.evaluate(**self._drawn(seed))


@dataclass(frozen=True)
class OfPrograms:
    """Two programs that are given the same, by the names that the first has for it, at sizes."""

    shapes: Mapping[str, Sequence[str]]
    sizes: Mapping[str, int]

    @cached_property
    def ids(self) -> dict[str, Array]:
        """The name of each number that is given."""
        return named(self.drawn(LIMITS.draws[0]))

    def drawn(self, seed: int = 0, whole: bool = False) -> dict[str, Array]:
        """Numbers for what is given, of two decimals or small whole ones."""
        draw = np.random.default_rng(seed)
        drawn = partial(draw.integers, -2, 3) if whole else draw.normal
        return {
            name: drawn(size=[size_at(x, self.sizes) for x in shape]).astype(float).round(2)
            for name, shape in self.shapes.items()
        }

    def hold(self, tapes: Sequence[Tape], of: Kind) -> bool:
        """As that of `OfAttention`."""
        one, other = tapes
        ones, others = one.formal(of), other.formal(of)
        for mine, its, which in parts(one.answer, other.answer):
            if mine.numbers.shape != its.numbers.shape:
                raise SymattnError("what was recorded has other shapes")
            hold_same(of, ones(mine.numbers), others(its.numbers), f"an entry{which}")
        return of is terms and (
            may_be_undefined(one.asked, other.asked) or may_be_undefined(other.asked, one.asked)
        )

    def differ(self, tapes: Sequence[Tape], seed: int) -> bool:
        """As that of `OfAttention`."""
        given = numbers_by_name(self.ids, self.drawn(seed))
        answers = [in_real_numbers(tape, given, spread_of(self.ids)) for tape in tapes]
        (one, off), (other, also) = answers
        return any(
            apart(mine.numbers, its.numbers, radius.numbers + more.numbers).any()
            for (mine, its, _), (radius, more, _) in zip(
                parts(one, other), parts(off, also), strict=True
            )
        )


def parts(one: Answer, other: Answer) -> Iterator[tuple[Computed, Computed, str]]:
    """The parts of two answers. Raises `SymattnError` where they are not of the same kind."""
    if (one.form, [x for x, _ in one.parts]) != (other.form, [x for x, _ in other.parts]):
        raise SymattnError("they return other things, as a tuple and an array; let both return one")
    for place, ((name, mine), (_, its)) in enumerate(zip(one.parts, other.parts, strict=True)):
        assert isinstance(mine, Computed)
        assert isinstance(its, Computed)
        yield mine, its, f" of {name or f'part {place + 1}'}" if len(one.parts) > 1 else ""


# ---- what an attention says of its entries ---------------------------------------------------


class Formal(Arithmetic):
    """Terms, or elements of fields, in arrays of objects: what an attention says of its entries."""

    name = "formal"

    def __init__(self, of: Kind) -> None:
        self.of = of
        #: What is not defined everywhere.
        self.asked: list[Asked] = []

    @property
    def key(self) -> tuple[object, ...]:
        return (self.name, self.of)

    def scalar(self, value: sympy.Expr) -> Any:
        return self.of.term(terms.of_sympy(value))

    def array(self, exact: Array) -> Array:
        def read(one: Any) -> Any:
            return self.scalar(one) if isinstance(one, sympy.Basic) else self.of.term(one)

        return elementwise(read, exact)

    def exp(self, x: Array) -> Array:
        return elementwise(self.of.exp, x)

    def apply(self, name: str, x: Array) -> Array:
        known = functions(self.of)
        if name not in known:
            raise Unknown(f"{name} has no form here")
        if name in ("ln", "√"):
            self.asked.extend((name, self.of.term(one)) for one in x.flat)
        return elementwise(known[name], x)

    def divide(self, a: Array, b: Array | Ground) -> Array:
        self.asked.extend(("÷", self.of.term(one)) for one in np.ravel(np.asarray(b, object)))
        return super().divide(a, b)

    def hidden(self, x: Array) -> Any:
        return np.asarray(elementwise(lambda one: self.of.term(one).lowest, x), dtype=bool)

    def shift(self, x: Array) -> Array:
        return x

    def row_max(self, x: Array) -> Array:
        return of_rows(self.of.largest, x)

    def row_sum(self, x: Array) -> Array:
        return of_rows(lambda row: sum(row, start=self.of.term(0)), x)

    def add(self, a: Array, b: Array) -> Array:
        return elementwise(lambda one, other: self.of.term(one) + self.of.term(other), a, b)

    def vanishing(self, x: Array) -> Any:
        return np.asarray(elementwise(lambda one: self.of.term(one).number == 0, x), dtype=bool)

    def where(self, condition: Any, a: Any, b: Any) -> Array:
        if condition.dtype == bool:
            return super().where(condition, a, b)
        return elementwise(lambda *x: by_truth(self.of, *map(self.of.term, x)), condition, a, b)

    def equals(self, x: Array, number: int) -> Any:
        if number == 1 and all(one.is_truth for one in map(self.of.term, x.flat)):
            return x
        return np.asarray(
            elementwise(lambda one: self.of.term(one).number == number, x), dtype=bool
        )
