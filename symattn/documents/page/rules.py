"""Entry rules as data for the page: of what an entry is made, for any row, column and head.

A rule becomes nested lists, the kind first. An index or a number that depends on row, column or
head otherwise than by being it becomes a table over what it depends on, so that the page needs to
know no algebra. Kinds: ``e`` entry (letter, head, row, column), ``c`` number (value, MathML),
``+``, ``*``, ``/`` (with 1 if 0/0 is 0), ``s`` sum (body, index, size), ``x`` exponential,
``f`` function, ``^`` power, ``r`` function of a row, ``?`` cases.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

import sympy

from symattn.documents.page.elements import compact
from symattn.documents.page.numbers import number_data
from symattn.errors import CannotSpell
from symattn.nodes.rule import (
    SIGNS,
    Cases,
    Const,
    Entry,
    Evaluator,
    Index,
    OfRow,
    Over,
    Rule,
    Total,
    at,
    entries,
    rule_of,
    to_sympy,
)
from symattn.nodes.spell import Speller
from symattn.notation.mathml import mathml
from symattn.notation.options import Notation
from symattn.step import COLUMN, HEAD, ROW, Step

Data: TypeAlias = Any

#: Where the free indices of a rule are.
Places: TypeAlias = dict[sympy.Symbol, int]


def rule_data(
    step: Step,
    shape: tuple[int, int],
    heads: int,
    sizes: Mapping[sympy.Symbol, int],
    notation: Notation,
) -> Data:
    """The rule of a step's entries, rows and columns as they are shown.

    Raises `CannotSpell` for a rule that depends on more than row, column and head.
    """
    by_head = {HEAD: ("h", heads)} if step.per_head else {}
    ranges = {ROW: ("i", shape[0]), COLUMN: ("j", shape[1]), **by_head}
    expr = step.in_convention(notation)[1]
    encoder = _Encoder(ranges, sizes, Speller(notation.but(limit=0)), itertools.count(len(ranges)))
    return encoder.value(rule_of(expr, ROW, COLUMN))


class _Encoder(Evaluator):
    """Encodes rules in place of evaluating them.

    Indices are named by `numbers`, each anew: a sum may run an index of one around it.
    """

    def __init__(
        self,
        ranges: Mapping[sympy.Symbol, tuple[str, int]],
        sizes: Mapping[sympy.Symbol, int],
        speller: Speller,
        numbers: Iterator[int],
    ) -> None:
        self.ranges, self.sizes, self.speller, self.numbers = ranges, sizes, speller, numbers

    def entry(self, entry: Entry) -> Data:
        where = None if entry.head is None else self.index(entry.head)
        return ["e", entry.letter, where, self.index(entry.row), self.index(entry.column)]

    def number(self, value: sympy.Expr) -> Data:
        """A number that positions decide, with the way it is written."""

        def spelled(places: Places) -> Data:
            found = value.subs(places).subs(self.sizes)
            return [number_data(found), compact(mathml(self.speller.scalar(found)))]

        return ["c", self.tabulated(value.free_symbols, spelled)]

    def sum(self, terms: list[Data], empty: sympy.Expr | None) -> Data:
        if empty is None:
            return ["+", *terms]
        return ["?", [terms[0], "=", self.number(empty)], self.number(empty), ["+", *terms]]

    def product(self, factors: list[Data]) -> Data:
        return ["*", *factors]

    def quotient(self, rule: Over) -> Data:
        return ["/", self.value(rule.num), self.value(rule.den), int(rule.empty is not None)]

    def function(self, name: str, x: Data) -> Data:
        return ["x", x] if name == "exp" else ["f", name, x]

    def power(self, base: Data, exponent: Index) -> Data:
        return ["^", base, self.index(exponent)]

    def total(self, rule: Total) -> Data:
        return ["s", *self.along(rule.body, rule.index, rule.size)]

    def of_row(self, rule: OfRow) -> Data:
        assert rule.index is not None
        return ["r", rule.name, *self.along(rule.terms[0], rule.index, rule.size)]

    def along(self, body: Rule, index: sympy.Symbol, size: sympy.Expr) -> Data:
        """A body that an index runs through, the index's name on the page, and how far it runs."""
        count = sympy.sympify(size, strict=True).subs(self.sizes)
        if not count.is_Integer:
            raise CannotSpell(
                f"html: a sum to {count} has another length in every entry; "
                "write its rule as a sum over all, with Cases"
            )
        name = f"l{next(self.numbers)}"
        inner = _Encoder(
            {**self.ranges, index: (name, int(count))}, self.sizes, self.speller, self.numbers
        )
        return [inner.value(body), name, int(count)]

    def cases(self, rule: Cases) -> Data:
        """Cases that positions decide become a table of 1 and 0; numbers decide the others."""
        branches = [self.value(rule.value), self.value(rule.otherwise)]
        if any(entries(side) for side in (rule.left, rule.right)):
            return ["?", [self.value(rule.left), rule.sign, self.value(rule.right)], *branches]
        left, right = to_sympy(rule.left), to_sympy(rule.right)
        truth = Cases(rule.left, rule.sign, rule.right, Const(sympy.S.One), Const(sympy.S.Zero))
        sizes = {size: sympy.sympify(count, strict=True) for size, count in self.sizes.items()}

        def holds(places: Places) -> Data:
            known = {**sizes, **{index: sympy.Integer(k) for index, k in places.items()}}
            found = SIGNS[rule.sign](left.xreplace(known), right.xreplace(known))
            if found in (sympy.true, sympy.false):
                return int(found == sympy.true)
            return int(to_sympy(at(truth, places, self.sizes)))  # with sums to be written out

        decided = self.tabulated(left.free_symbols | right.free_symbols, holds)
        return ["?", decided, *branches]

    def index(self, index: Index) -> Data:
        """A row or column: a number, a name, or a table."""
        expr = sympy.sympify(index, strict=True)
        if expr in self.ranges:
            return self.ranges[expr][0]
        return self.tabulated(
            expr.free_symbols, lambda places: int(expr.subs(places).subs(self.sizes))
        )

    def tabulated(self, free: set[sympy.Symbol], entry: Callable[[Places], Data]) -> Data:
        """``entry`` over all that the free symbols may be: a value, or names and nested lists."""
        symbols = [symbol for symbol in self.ranges if symbol in free]

        def nested(left: list[sympy.Symbol], places: Places) -> Data:
            if not left:
                return entry(places)
            first, *rest = left
            return [nested(rest, {**places, first: k}) for k in range(self.ranges[first][1])]

        if not symbols:
            return entry({})
        return {"by": [self.ranges[symbol][0] for symbol in symbols], "of": nested(symbols, {})}
