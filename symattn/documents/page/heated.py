"""How a step is written that the page's temperature divides: Z = S/(T √d_k), not S/√d_k."""

from __future__ import annotations

import sympy

from symattn.derivations import Step
from symattn.documents.blocks import Line
from symattn.nodes.rule import Const, Over, rule_of
from symattn.nodes.scale import Quotient
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.options import Notation
from symattn.notation.tree import Tree
from symattn.step import COLUMN, ROW, stated


def letter(notation: Notation) -> Tree:
    """What the temperature is called."""
    return notation.scalar("temperature")


def heated(step: Step, line: Line, notation: Notation) -> Line:
    """The formula or the entry of a step over the temperature, beside what it is over already."""
    speller = Speller(notation)
    symbol, expr = step.in_convention(notation)
    if line.view == "formula":
        left = speller.matrix(symbol)
        body, below = speller.matrix(expr), None
        if isinstance(expr, Quotient):
            body, below = speller.matrix(expr.matrix), expr.divisor
    else:
        i, j, rule = stated(expr, ROW, COLUMN)
        left, body, below = speller.rule(rule_of(symbol, i, j)), speller.rule(rule), None
        match rule:
            case Over(num, Const(value)):
                body, below = speller.rule(num), value
    over = [letter(notation)]
    if below is not None:
        over.insert(0 if isinstance(below, sympy.Rational) else 1, speller.scalar(below))
    return Line(line.view, t.equation(left, (t.EQUALS, t.Frac(body, t.times(over)))))
