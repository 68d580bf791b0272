"""The numbers of letters that a formula defines: θ_1 = 1, θ_2 = 0.01."""

from __future__ import annotations

from collections.abc import Iterator

import sympy

from symattn.arithmetic.decide import decide
from symattn.arithmetic.quantity import exactly
from symattn.evaluate.values import Values
from symattn.nodes.base import Definition
from symattn.nodes.rule import at, to_sympy
from symattn.nodes.spell import Speller, terminating
from symattn.notation import tree as t
from symattn.notation.numbers import number
from symattn.notation.options import Notation, notation_of
from symattn.notation.tree import Tree

#: How many numbers stand in one line.
_IN_LINE = 4


def defined_numbers(
    evaluation: Values, definition: Definition, notation: Notation | None = None
) -> Iterator[Tree]:
    """Lines of equations θ_1 = 1, θ_2 = 0.01, …; of too many the first ones and the last."""
    if definition.family is None:
        return
    notation = notation_of(notation)
    letter, index, count = definition.family
    size = int(sympy.sympify(count, strict=True).subs(evaluation.sizes))
    places = list(range(size))
    if notation.limit and size > _IN_LINE:
        places = [*range(_IN_LINE - 1), size - 1]
    speller = Speller(notation)
    values = [to_sympy(at(letter, {index: place}, evaluation.sizes)) for place in places]
    fractions = not all(_is_decimal(value, notation) for value in values)
    equations: list[Tree] = []
    for place, value in zip(places, values, strict=True):
        left = speller.rule(letter.at(index, place))
        equations.append(t.equation(left, _number(value, notation, fractions)))
    if len(places) < size:
        equations.insert(-1, t.DOTS)
    width = len(equations) if notation.limit else _IN_LINE
    for start in range(0, len(equations), width):
        yield t.commas(equations[start : start + width])


def _is_decimal(value: sympy.Expr, notation: Notation) -> bool:
    """Whether the number is not a fraction, or a fraction that is soon written as a decimal."""
    short = max(notation.digits, 4)
    return not isinstance(value, sympy.Rational) or terminating(abs(value), short) is not None


def _number(value: sympy.Expr, notation: Notation, fractions: bool) -> tuple[t.Op, Tree]:
    """The number as it is, where that is short or asked for, or its proven decimals."""
    if fractions and isinstance(value, sympy.Rational) and not value.is_Integer:
        return t.EQUALS, t.Frac(number(str(value.p)), number(str(value.q)))
    if notation.exact or isinstance(value, sympy.Rational):
        return t.EQUALS, Speller(notation).scalar(value)
    digits = decide(exactly(value), notation.digits, notation.rounding, notation.digits)
    return (t.EQUALS if digits.exact else t.APPROX), number(digits.text)
