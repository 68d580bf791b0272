"""What a statement divides by: a hypothesis for each place that it is not 0.

In MathComp 1/0 is 0, so that a theorem without these would say something else than the statement.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.algebra.claims import Goal, permutations_in
from symattn.algebra.forms import Refused, linear, variable
from symattn.algebra.rocq.terms import bracketed, identifier, kind_of, number, templated
from symattn.algebra.traces import Tracer
from symattn.nodes import rule as r

#: Row and column of a divisor, whose names no letter has.
ROW, COLUMN = (sympy.Symbol(f"{name}·", integer=True) for name in ("over row", "over column"))

#: What the nodes divide by, entry by entry or as a number, written as they are themselves.
_DIVISORS: Mapping[tuple[str, str], str] = {
    ("RowRatio", "1"): "rowsum {0}",
    ("UnitVectors", "1"): "lengths {0}",
    ("LineQuotient", "1"): "{1}",
    ("LineQuotient", "0"): "{1}",
    ("EntryQuotient", ""): "{1}",
}


@dataclass(frozen=True)
class Divisor:
    """A matrix that is divided by, entry by entry, with its entry rule; or a number.

    Of an inverse it is the letter that is inverted.
    """

    text: str
    value: r.Rule
    shape: tuple[sympy.Expr, ...] = ()
    inverted: str = ""

    @property
    def hypothesis(self) -> str:
        """That it is not 0, or has an inverse."""
        if self.inverted:
            return f"{self.text} \\in unitmx"
        return f"(forall i j, {self.text} i j != 0)" if self.shape else f"{self.text} != 0"


def divisors_of(goal: Goal, sides: list[sympy.Basic]) -> list[Divisor]:
    """What these sides divide by and may be 0, each once, in their order."""
    found = {one.text: one for side in sides for one in _divisors(side, goal)}
    return [*found.values()]


def _divisors(side: sympy.Basic, goal: Goal) -> Iterator[Divisor]:
    for node in sympy.preorder_traversal(side):
        match node:
            case sympy.Inverse(arg=sympy.MatrixSymbol(name=name)):
                yield Divisor(identifier(name), r.Const(sympy.S.Zero), (), name)
            case sympy.Pow(base=base, exp=power) if power.is_negative:
                yield from _number(base, goal)
            case MatrixExpr() if type(node).__name__ in ("Quotient", "SoftCap"):
                yield from _number(node.args[1], goal)
            case MatrixExpr() if kind_of(node) in _DIVISORS:
                rule = r.rule_of(node, ROW, COLUMN)
                below = next(part.den for part in r.parts(rule) if isinstance(part, r.Over))
                template = _DIVISORS[kind_of(node)]
                shape = node.args[1].shape if "{1}" in template else (node.shape[0], sympy.S.One)
                if not _is_shown(below, shape, goal):
                    text = templated(template, node, goal.permuting)
                    yield Divisor(bracketed(text), below, shape)


def _number(value: sympy.Basic, goal: Goal) -> Iterator[Divisor]:
    """A number that is divided by."""
    rule = r.Const(value)
    if value.free_symbols and not _is_shown(rule, (1, 1), goal):
        yield Divisor(bracketed(number(value)), rule)


def _is_shown(value: r.Rule, shape: tuple[r.Index, ...], goal: Goal) -> bool:
    """Whether it is shown that a rule is not 0, wherever a matrix of this shape has entries."""
    tracer = Tracer([], goal.positive)
    tracer.permuted.update(permutations_in(goal))
    try:
        i, j = (variable(tracer.new(linear(size, {}))) for size in shape)
        with tracer.inside(scope=frozenset(tracer.sizes)):
            return tracer.never_zero(tracer.finite(value, {ROW: i, COLUMN: j}))
    except Refused:
        return False
