"""Products of weights computed a few rows at a time, so that no matrix of all weights is kept.

Row i of O = softmax(Z) V needs row i of Z alone, and of the scores that Z is made of. What is known
of a formula by its nodes says which of its matrices are needed by rows and which as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arithmetic.arrays import Arrays
from symattn.arithmetic.base import Array
from symattn.evaluate.walk import Program, leaves_of, parts_by_rows, program_of
from symattn.nodes.base import Node
from symattn.nodes.heads import head_of
from symattn.step import HEAD, Step, letter_of

#: Weights of one head with fewer entries than this are computed with all their steps.
LEAST = 2**16

#: About how many entries of the weights are computed at once: they stay in a processor's cache.
TILE = 2**17

#: The fewest rows at a time: below, a product of matrices is slower for each row.
FEWEST_ROWS = 32


@dataclass(frozen=True)
class Fusion:
    """A product that is computed by rows, and the steps on the way to it, which are not kept.

    `identity` is the one of the catalogue by which its rows are divided by their sums last.
    """

    product: Step
    steps: tuple[Step, ...]
    identity: str

    @property
    def weights(self) -> sympy.Expr:
        """How many weights there are in one head: the number that decides whether it is done."""
        rows, columns = self.steps[-1].shape
        return rows * columns

    def is_worth_it(self, sizes: Mapping[sympy.Symbol, int]) -> bool | None:
        """Whether it is done at these sizes; None where they do not say how many weights."""
        count = self.weights.subs(sizes)
        return bool(count >= LEAST) if count.is_number else None

    def __str__(self) -> str:
        between = ", ".join(step.name for step in self.steps)
        known = self.is_worth_it({})
        where = "" if known else f" where {_product(self.steps[-1])} ≥ {LEAST}"
        return (
            f"{self.product.name}: {self.product} by rows{where}, without {between} "
            f"({self.identity})"
        )


@dataclass(frozen=True)
class Plan:
    """What is computed together where only later steps are asked for."""

    fusions: tuple[Fusion, ...]

    def __str__(self) -> str:
        return "\n".join(map(str, self.fusions)) or "every step is computed by itself"


def plan_of(steps: Sequence[Step]) -> Plan:
    """Every product of weights that is computed by rows, unless it is known to be too small."""
    found = (fusion_of(step, {one.letter: one for one in steps}) for step in steps)
    return Plan(tuple(one for one in found if one is not None and one.is_worth_it({}) is not False))


def _product(step: Step) -> str:
    """The numbers of rows and columns, as they are multiplied: n m, 512 m, n (m + p)."""
    return " ".join(f"({size})" if size.is_Add else str(size) for size in step.shape)


def fusion_of(product: Step, steps: Mapping[str, Step]) -> Fusion | None:
    """How a step is computed by rows, if it is weights times other matrices."""
    if not isinstance(product.expr, sympy.MatMul):
        return None
    coefficient, factors = product.expr.as_coeff_matrices()
    weights = steps.get(_own(factors[0], product.per_head))
    if coefficient != 1 or len(factors) < 2 or weights is None:
        return None
    if not getattr(weights.expr, "late", "") or weights.expr.axis != 1:
        return None
    found = {weights.letter: weights}
    waiting = [weights.expr.matrix]
    while waiting:
        for leaf, by_rows in leaves_of(waiting.pop()):
            step = steps.get(_own(leaf, product.per_head))
            if (
                by_rows
                and step is not None
                and step.shape == weights.shape
                and parts_by_rows(step.expr) is not None
            ):
                found[step.letter] = step
                waiting.append(step.expr)
    between = tuple(step for step in steps.values() if step.letter in found)
    if any(node.partial for step in (*between, product) for node in step.expr.atoms(Node)):
        return None  # whether all numbers have a value is seen by entries
    return Fusion(product, between, weights.expr.late)


def _own(part: MatrixExpr, per_head: bool) -> str:
    """The letter of a matrix by its name: that of the same head, or one that all heads share."""
    head = head_of(part)
    return letter_of(part) if head is None or (per_head and head == HEAD) else ""


class Fused:
    """The programs of a fusion for one head, at these sizes."""

    def __init__(self, fusion: Fusion, sizes: Mapping[sympy.Symbol, int], head: int) -> None:
        made = frozenset(step.letter for step in fusion.steps)
        own = {step.symbol.at(HEAD): step.symbol.symbol for step in fusion.steps if step.per_head}

        def by_rows(expr: MatrixExpr) -> Program:
            return program_of(expr.xreplace(own).subs(HEAD, head), sizes, made=made)

        *between, weights = fusion.steps
        #: Of the weights.
        self.shape = tuple(int(size.subs(sizes)) for size in weights.shape)
        self._steps = [(step.letter, by_rows(step.expr)) for step in between]
        self._kind, self._scores = type(weights.expr), by_rows(weights.expr.matrix)
        _, (_, *others) = fusion.product.expr.subs(HEAD, head).as_coeff_matrices()
        self._others = [program_of(other, sizes) for other in others]

    def rows(self, values: Callable[[str], Array], dtype: Any, tile: int) -> Iterator[Array]:
        """The product, as many rows at a time as make about `tile` entries of the weights."""
        arithmetic, made = Arrays(dtype), dict[str, Array]()
        others = [program(values, arithmetic) for program in self._others]
        rows, columns = self.shape
        last = _stays_finite(columns, others, dtype)
        count = max(tile // columns, min(FEWEST_ROWS, tile))

        def known(letter: str) -> Array:
            return made[letter] if letter in made else values(letter)

        for first in range(0, rows, count):
            arithmetic = arithmetic.at_rows(np.arange(first, min(first + count, rows)))
            for letter, program in self._steps:
                made[letter] = program(known, arithmetic)
            yield self._kind._times(arithmetic, self._scores(known, arithmetic), others, last)


def _stays_finite(terms: int, others: Sequence[Array], dtype: Any) -> bool:
    """Whether sums of so many numbers up to 1 times these matrices stay in the range of a dtype."""
    most = float(terms)
    for other in others:
        most *= float(np.abs(other).max()) * (1 if other is others[-1] else other.shape[-1])
    return most < float(np.finfo(dtype).max) / 2
