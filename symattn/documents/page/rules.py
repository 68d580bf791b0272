"""Entry rules as data for the page: of what an entry is made, for any row, column and head.

A rule becomes nested lists, the kind first. An index or a number that depends on row, column or
head otherwise than by being it becomes a table over what it depends on, so that the page needs to
know no algebra. Kinds: ``e`` entry (letter, head, row, column), ``c`` number (value, MathML),
``+``, ``*``, ``/`` (with 1 if 0/0 is 0), ``s`` sum (body, index, size), ``x`` exponential,
``f`` function, ``^`` power, ``r`` function of a row, ``?`` cases.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import sympy

from symattn.documents.page.elements import compact
from symattn.documents.page.numbers import number_data
from symattn.errors import CannotSpell
from symattn.nodes.rule import (
    Apply,
    Cases,
    Const,
    Entry,
    Exp,
    Index,
    Named,
    OfRow,
    Ordinal,
    Over,
    Plus,
    Power,
    Rule,
    Times,
    Total,
    at,
    children,
    parts,
    rule_of,
)
from symattn.nodes.spell import Speller
from symattn.notation.mathml import mathml
from symattn.notation.options import Notation
from symattn.step import COLUMN, HEAD, ROW, Step

Data: TypeAlias = Any

#: Where the free indices of a rule are.
Places: TypeAlias = dict[sympy.Symbol, int]

#: What the page calls rules that are made of rules alone.
_KINDS: Mapping[type, str] = {Plus: "+", Times: "*", Exp: "x"}


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
    ranges = {ROW: ("i", shape[0]), COLUMN: ("j", shape[1])}
    if step.per_head:
        ranges[HEAD] = ("h", heads)
    expr = step.in_convention(notation)[1]
    encoder = _Encoder(ranges, sizes, Speller(notation.but(limit=0)))
    return encoder.rule(rule_of(expr, ROW, COLUMN))


class _Encoder:
    def __init__(
        self,
        ranges: Mapping[sympy.Symbol, tuple[str, int]],
        sizes: Mapping[sympy.Symbol, int],
        speller: Speller,
    ) -> None:
        self.ranges, self.sizes, self.speller = ranges, sizes, speller

    def rule(self, rule: Rule) -> Data:
        match rule:
            case Entry(matrix, row, column):
                head = getattr(matrix, "head", None)
                where = None if head is None else self.index(head)
                return ["e", str(matrix.name), where, self.index(row), self.index(column)]
            case Const(value):
                return self.table(value.free_symbols, lambda places: at(rule, places, self.sizes))
            case Ordinal(index):
                free = sympy.sympify(index, strict=True).free_symbols
                return self.table(free, lambda places: at(rule, places, self.sizes))
            case Named(_, _, value):
                return self.rule(value)
            case Plus() | Times() | Exp():
                return [_KINDS[type(rule)], *map(self.rule, children(rule))]
            case Over(num, den, empty):
                return ["/", self.rule(num), self.rule(den), int(empty is not None)]
            case Total(body, index, size):
                return ["s", *self.along(body, index, size)]
            case Apply(name, body):
                return ["f", name, self.rule(body)]
            case Power(body, exponent):
                return ["^", self.rule(body), self.index(exponent)]
            case OfRow(name, (body,), index, size) if index is not None:
                return ["r", name, *self.along(body, index, size)]
            case Cases():
                return self.cases(rule)
        raise CannotSpell(f"{type(rule).__name__} has no form on a page")

    def along(self, body: Rule, index: sympy.Symbol, size: sympy.Expr) -> Data:
        """A body that an index runs through, the index's name on the page, and how far it runs."""
        count = int(sympy.sympify(size, strict=True).subs(self.sizes))
        name = f"l{len(self.ranges)}"
        inner = _Encoder({**self.ranges, index: (name, count)}, self.sizes, self.speller)
        return [inner.rule(body), name, count]

    def cases(self, rule: Cases) -> Data:
        """Cases that positions decide become a table of 1 and 0; numbers decide the others."""
        branches = [self.rule(rule.value), self.rule(rule.otherwise)]
        if any(isinstance(part, Entry) for side in (rule.left, rule.right) for part in parts(side)):
            return ["?", [self.rule(rule.left), rule.sign, self.rule(rule.right)], *branches]
        truth = Cases(rule.left, rule.sign, rule.right, Const(sympy.S.One), Const(sympy.S.Zero))
        decided = self.tabulated(
            _symbols(rule.left) | _symbols(rule.right),
            lambda places: int(_value(at(truth, places, self.sizes))),
        )
        return ["?", decided, *branches]

    def index(self, index: Index) -> Data:
        """A row or column: a number, a name, or a table."""
        expr = sympy.sympify(index, strict=True)
        if expr in self.ranges:
            return self.ranges[expr][0]
        return self.tabulated(
            expr.free_symbols, lambda places: int(expr.subs(places).subs(self.sizes))
        )

    def table(self, free: set[sympy.Symbol], entry: Callable[[Places], Rule]) -> Data:
        """A number that positions decide, with the way it is written."""

        def spelled(places: Places) -> Data:
            value = _value(entry(places)).subs(self.sizes)
            return [number_data(value), compact(mathml(self.speller.scalar(value)))]

        return ["c", self.tabulated(free, spelled)]

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


def _symbols(rule: Rule) -> set[sympy.Symbol]:
    """The symbols that the numbers of a rule depend on."""
    found: set[sympy.Symbol] = set()
    for part in parts(rule):
        if isinstance(part, Ordinal | Const):
            value = part.index if isinstance(part, Ordinal) else part.value
            found |= sympy.sympify(value, strict=True).free_symbols
    return found


def _value(rule: Rule) -> sympy.Expr:
    if not isinstance(rule, Const):
        raise CannotSpell("a condition on numbers stands where positions decide")
    return rule.value
