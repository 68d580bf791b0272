"""Where a statement has a value: a hypothesis for each divisor, root, logarithm and inverse.

In MathComp 1/0 is 0, and so is the root of −1, so that a theorem without these would say something
else than the statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.algebra.claims import Goal, permutations_in
from symattn.algebra.forms import Refused, linear, variable
from symattn.algebra.polynomials import scaled
from symattn.algebra.rocq.terms import bracketed, identifier, kind_of, number, templated
from symattn.algebra.texts import Atom, Items, terms_of
from symattn.algebra.traces import Tracer
from symattn.nodes import rule as r
from symattn.step import HEAD

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

#: What is taken of numbers ≥ 0, and of positive ones.
_OF_POSITIVE: Mapping[str, str] = {"√": "<=", "ln": "<"}


@dataclass(frozen=True)
class Divisor:
    """A matrix that is divided by, entry by entry, with its entry rule; or a number.

    `sign` says what it has to be: "!=" 0; "<=" and "<", where 0 is so to what a root or a
    logarithm is taken of. Of an inverse it is the letter that is inverted.
    """

    text: str
    value: r.Rule
    shape: tuple[sympy.Expr, ...] = ()
    inverted: str = ""
    sign: str = "!="
    items: Items = frozenset()

    @property
    def atom(self) -> Atom | None:
        """The entry of a letter, or the number, of which a sign is assumed."""
        match [*self.items]:
            case [(mono, 1)] if self.sign != "!=" and len(mono) == 1:
                ((atom, p),) = mono
                return atom if p == 1 and atom.kind in ("entry", "name", "positive") else None
        return None

    @property
    def hypothesis(self) -> str:
        """What it has to be, or that it has an inverse."""
        if self.inverted:
            return f"{self.text} \\in unitmx"
        one = f"{self.text} i j" if self.shape else self.text
        said = f"{one} != 0" if self.sign == "!=" else f"0 {self.sign} {one}"
        return f"(forall i j, {said})" if self.shape else f"{said} :> R"


def divisors_of(
    goal: Goal, sides: list[sympy.Basic], closed: Mapping[str, MatrixExpr]
) -> list[Divisor]:
    """What these sides divide by and may be 0 and the like, each once, in their order.

    `closed` are the closed forms of states. Raises `Refused` for what is not the same in all heads.
    """
    found: dict[object, Divisor] = {}
    for one in chain.from_iterable(_divisors(side, goal) for side in sides):
        meant, shown = _meant(one, goal, closed)
        if not shown:
            if re.search(r"\b(head|before)\b", one.text):
                raise Refused("a division in each head or token has no proof in Rocq yet")
            items = frozenset() if isinstance(meant, str) else meant
            found.setdefault((one.sign, meant), replace(one, items=items))
    return [*found.values()]


def divided(goal: Goal, sides: list[sympy.Basic]) -> set[str]:
    """The sizes and numbers that these sides divide by."""
    found = chain.from_iterable(_divisors(side, goal) for side in sides)
    values = [one.value.value for one in found if isinstance(one.value, r.Const)]
    return {symbol.name for value in values for symbol in value.free_symbols}


def _divisors(side: sympy.Basic, goal: Goal) -> Iterator[Divisor]:
    for node in sympy.preorder_traversal(side):
        match node:
            case sympy.Inverse(arg=sympy.MatrixSymbol(name=name)):
                yield Divisor(identifier(name), r.Const(sympy.S.Zero), (), name)
            case sympy.Pow(base=base, exp=power) if power.is_Rational and not power.is_Integer:
                yield from _number(base, "<=" if power > 0 else "<")
            case sympy.Pow(base=base, exp=power) if power.is_negative:
                yield from _number(base, "!=")
            case sympy.log(args=(inner,)):
                yield from _number(inner, "<")
            case MatrixExpr() if type(node).__name__ in ("Quotient", "SoftCap"):
                yield from _number(node.args[1], "!=")
            case MatrixExpr() if kind_of(node)[1] in _OF_POSITIVE:
                inside = r.rule_of(node.args[0], ROW, COLUMN)
                yield from _matrix("{0}", _OF_POSITIVE[kind_of(node)[1]], inside, node, goal)
            case MatrixExpr() if kind_of(node) in _DIVISORS:
                rule = r.rule_of(node, ROW, COLUMN)
                below = next(part.den for part in r.parts(rule) if isinstance(part, r.Over))
                yield from _matrix(_DIVISORS[kind_of(node)], "!=", below, node, goal)


def _matrix(
    template: str, sign: str, value: r.Rule, node: MatrixExpr, goal: Goal
) -> Iterator[Divisor]:
    """A matrix that a template makes of the arguments of a node."""
    whole = {"{0}": 0, "{1}": 1}.get(template)
    shape = (node.shape[0], sympy.S.One) if whole is None else node.args[whole].shape
    text = bracketed(templated(template, node, goal.permuting))
    yield Divisor(text, value, shape, sign=sign)


def _number(value: sympy.Basic, sign: str) -> Iterator[Divisor]:
    """A number that is divided by, or of which a root or a logarithm is taken."""
    if value.free_symbols:
        yield Divisor(bracketed(number(value)), r.Const(value), sign=sign)


def _meant(one: Divisor, goal: Goal, closed: Mapping[str, MatrixExpr]) -> tuple[Items | str, bool]:
    """What a divisor is wherever its matrix has entries, and whether it is shown to be so."""
    if one.inverted:
        return one.text, False
    tracer = Tracer([], goal.positive)
    tracer.permuted.update(permutations_in(goal))
    try:
        i, j = (variable(tracer.new(linear(size, {}))) for size in one.shape or (1, 1))
        head = variable(tracer.new(variable("heads°")))
        with tracer.inside(scope=frozenset(tracer.sizes), means=closed):
            poly = tracer.finite(one.value, {ROW: i, COLUMN: j, HEAD: head})
            known = (tracer.never_zero, tracer.all_nonnegative, tracer.all_positive)
            shown = dict(zip(("!=", "<=", "<"), known, strict=True))[one.sign]
            lead = terms_of(poly)[0][1] if poly and one.sign == "!=" else Fraction(1)
            alike = scaled(poly, 1 / lead)
            return frozenset(alike.items()), shown(poly) and (one.sign != "<" or known[0](poly))
    except Refused:
        return one.text, False
