"""What the steps cost, as a table: formulas of sizes, and numbers where these are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sympy

from symattn.documents import blocks as b
from symattn.documents.shown import Shown
from symattn.evaluate.costs import Cost
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.options import Notation
from symattn.notation.text import line
from symattn.notation.tree import Tree

_SAID = (
    "Divisions count as multiplications. Of states, which follow one another token by token, one "
    "is kept at a time; positions and masks are reckoned without multiplications."
)

_COLUMNS = ("multiplications", "numbers kept", "one after another")


@dataclass(frozen=True)
class Costs:
    """The costs of steps, with the sizes that are known and the order in which sizes are named."""

    costs: Sequence[Cost]
    sizes: Mapping[str, int]
    order: Sequence[str]
    notation: Notation

    def section(self) -> b.Section:
        """The table, below what is counted."""
        rows = tuple(
            b.Row(
                b.Cell((cost.name or "all steps",)),
                tuple(map(self._cell, (cost.multiplications, cost.kept, cost.sequence))),
            )
            for cost in self.costs
        )
        table = b.Table(_COLUMNS, rows, corner="step", align="lll")
        return b.Section("What it costs", (b.Paragraph((_SAID,)), table))

    def _cell(self, value: sympy.Expr) -> b.Cell:
        formula, number = self.spelled(value), in_numbers(value, self.sizes)
        if number is None or value.is_number:
            return b.Cell((formula,))
        return b.Cell((t.equation(formula, (t.EQUALS, t.Num(str(number)))),))

    def spelled(self, value: sympy.Expr) -> Tree:
        """A number of operations, its sizes in their order: n m d_k + n d_v."""
        if not value.is_polynomial():  # the larger of two sizes
            return Speller(self.notation).scalar(value)
        terms = sympy.Add.make_args(sympy.expand(value))
        return t.plus([self._product(term) for term in sorted(terms, key=self._rank)])

    def _product(self, term: sympy.Expr) -> Tree:
        speller = Speller(self.notation)
        number, rest = term.as_coeff_Mul()
        powers = sympy.Mul.make_args(rest) if rest != 1 else ()
        factors = sorted(powers, key=lambda power: self._rank(power)[1])
        leading = [] if factors and number == 1 else [speller.scalar(number)]
        return t.times([*leading, *map(speller.scalar, factors)])

    def _rank(self, term: sympy.Expr) -> tuple[int, list[int]]:
        """Products of many sizes first, and those of sizes that are named early."""
        powers = term.as_powers_dict()
        named = [
            self.order.index(str(size)) for size in term.free_symbols for _ in range(powers[size])
        ]
        return -len(named), sorted(named)


def in_numbers(value: sympy.Expr, sizes: Mapping[str, int]) -> sympy.Expr | None:
    """The number where all sizes are known."""
    found = value.subs({size: sizes.get(size.name, size) for size in value.free_symbols})
    return found if found.is_number else None


def costs_shown(shown: Shown, notation: Notation) -> Costs:
    """What the steps of what is shown cost."""
    derivation = shown.derivation
    sizes = (shown.evaluation or derivation).known_sizes
    order = (*derivation.order, *(size.name for size in derivation.size_symbols))
    return Costs(derivation.costs, sizes, order, notation)


def costs_data(shown: Shown) -> dict[str, dict[str, str | int | None]]:
    """The same for other programs: a formula of each count, and its number where that is known."""
    found = costs_shown(shown, shown.notation)
    return {
        cost.name or "all steps": {
            name: said
            for field in ("multiplications", "kept", "sequence")
            for name, said in _said(field, getattr(cost, field), found)
        }
        for cost in found.costs
    }


def _said(
    field: str, value: sympy.Expr, found: Costs
) -> tuple[tuple[str, str], tuple[str, int | None]]:
    number = in_numbers(value, found.sizes)
    counted = None if number is None else int(number)
    return (field, line(found.spelled(value))), (f"{field}_number", counted)
