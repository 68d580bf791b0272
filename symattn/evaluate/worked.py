"""The worked line of an entry: its rule with the numbers put in, and how they come together.

``s_12 = (1·0 + 0·4 + 2·4)/√2 = 8/√2 ≈ 5.657``: first the operands' numbers, then exponentials,
then sums, then the result. A rounded operand is shown with as many digits as it takes for the
printed numbers to give the printed result when they are worked out again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from math import prod
from typing import Any

import sympy
from flint import arb, fmpq

from symattn.arithmetic.balls import BALL_FUNCTIONS, BALLS, ball, is_minus_infinity, precision
from symattn.arithmetic.decide import Digits, decide
from symattn.arithmetic.exact import FUNCTIONS, ROW_FUNCTIONS, filled, total
from symattn.evaluate.values import Place, Values
from symattn.nodes.rule import (
    SIGNS,
    Apply,
    Cases,
    Const,
    Entry,
    Exp,
    OfRow,
    Over,
    Plus,
    Power,
    Rule,
    Times,
    at,
    rule_of,
)
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.numbers import number
from symattn.notation.options import Notation
from symattn.notation.text import line
from symattn.notation.tree import Tree
from symattn.step import HEAD, Step

#: Digits beyond those asked for that an operand may be shown with.
_GUARD = 4

#: An exact operand longer than this is written as its name.
_SHORT = 16

#: Beyond e to this power a number is left as it stands rather than written out.
_LARGEST_EXPONENT = 10_000


def worked(
    evaluation: Values,
    step: Step,
    row: int,
    column: int,
    head: int | None = None,
    notation: Notation | None = None,
) -> Tree:
    """One entry of a step worked out, as a notation tree; row, column and head count from 0."""
    notation = notation or Notation()
    symbol, expr = step.in_convention(notation)
    i, j = step.indices
    places = {i: row, j: column} | ({} if head is None else {HEAD: head})
    numbers = _Numbers(evaluation, notation)
    speller = Speller(notation)
    left = speller.rule(at(rule_of(symbol, row, column), places, evaluation.sizes))
    stated = at(_unfolded(evaluation, expr, i, j, notation), places, evaluation.sizes)
    rule = numbers.decided(stated)
    cell = (column, row) if notation.convention == "columns" else (row, column)
    place: Place = cell if head is None else (head, *cell)
    result = evaluation.digits(step.letter, place, notation)
    nothing = t.row(t.equation(left, (t.EQUALS, number(result.text))),
                    t.Text(" (no key may be attended to)"))  # fmt: skip
    if isinstance(rule, Over) and rule.empty is not None and numbers.vanishes(rule.den):
        return nothing
    if isinstance(stated, Cases) and isinstance(stated.right, OfRow):
        best = numbers.exact(stated.right)
        if best < 0:
            return nothing
        because = t.equation(numbers.row_stage(stated.right, best), (t.EQUALS, speller.index(best)))
        value = speller.scalar(numbers.exact(rule))  # proven, where balls cannot tell a tie
        return t.row(t.equation(left, (t.EQUALS, value)), t.Text(" since "), because)
    links = (
        _exact_links(numbers, rule, evaluation.exact(step.letter)[place])
        if notation.exact
        else (_links(numbers, rule, result))
    )
    return t.equation(left, *links)


def _unfolded(evaluation: Values, expr: Any, i: Any, j: Any, notation: Notation) -> Rule:
    """The rule; a plain rescaling shows the sum that it rescales: (1·0 + 0·4)/√2."""
    rule = rule_of(expr, i, j)
    if isinstance(rule, Over) and isinstance(rule.num, Entry) and isinstance(rule.den, Const):
        for before in evaluation.steps:
            if before.letter == rule.num.matrix.name:
                return Over(rule_of(before.in_convention(notation)[1], i, j), rule.den)
    return rule


def _links(numbers: _Numbers, rule: Rule, result: Digits) -> Iterator[tuple[t.Op, Tree]]:
    """The stages of the line, each with ``=`` while all digits are exact, then ``≈``."""
    exact_so_far, before = True, None
    if isinstance(rule, Entry):
        yield t.EQUALS, numbers.speller.entry(rule)
    for collapsed in _STAGES:
        stage = numbers.stage(rule, collapsed, result)
        if stage is None or stage.tree == before or stage.tree == number(result.text):
            continue
        exact_so_far = exact_so_far and stage.exact
        before = stage.tree
        yield (t.EQUALS if exact_so_far else t.APPROX), stage.tree
    final = number(result.text) if result.proven else t.row(number(result.text), t.Op("?"))
    if before is None or final != before:
        certain = exact_so_far or result.text == "-inf"  # −∞ swallows whatever it is added to
        yield (t.EQUALS if certain and result.exact else t.APPROX), final


def _exact_links(numbers: _Numbers, rule: Rule, result: sympy.Expr) -> Iterator[tuple[t.Op, Tree]]:
    """The operands put in exactly, and the exact result."""
    put_in, value = numbers.exact_stage(rule), numbers.speller.scalar(result)
    if put_in != value:
        yield t.EQUALS, put_in
    yield t.EQUALS, value


#: What is written as one number at each stage.
_STAGES: tuple[tuple[type[Any], ...], ...] = ((), (Exp, Apply, OfRow), (Exp, Apply, OfRow, Plus))


@dataclass(frozen=True)
class _Stage:
    tree: Tree
    exact: bool


@dataclass
class _Numbers:
    """The numbers behind a filled-in rule: as balls, exactly, and as they are shown."""

    evaluation: Values
    notation: Notation
    _balls: dict[tuple[Rule, int], Any] = field(default_factory=dict)

    @property
    def speller(self) -> Speller:
        """How the reader wants it written, with the sizes as numbers."""
        return Speller(self.notation, self.evaluation.sizes)

    def stage(self, rule: Rule, collapsed: tuple[type[Any], ...], result: Digits) -> _Stage | None:
        """The rule with operands, and parts of the `collapsed` kinds, written as numbers."""
        if collapsed and not any(isinstance(p, collapsed) for p in _inside(rule)):
            return None
        stage = self._shown(rule, collapsed, self.notation.digits)
        for guard in range(1, _GUARD + 1):
            if stage is None or stage[1].exact or self._gives(rule, stage[0], result):
                break
            stage = self._shown(rule, collapsed, self.notation.digits + guard)
        return None if stage is None else stage[1]

    def _shown(
        self, rule: Rule, collapsed: tuple[type[Any], ...], digits: int
    ) -> tuple[dict[Rule, Any], _Stage] | None:
        """The numbers put in, and what the line then looks like."""
        put: dict[Rule, Any] = {}
        exact = True

        def leaf(part: Rule) -> Tree | None:
            nonlocal exact
            if part is rule and not isinstance(part, Entry):
                return None
            if not isinstance(part, (Entry, *collapsed)):
                return None
            if isinstance(part, Exp | Apply | OfRow | Plus) and not self._writable(part):
                return None
            simple = self._simple(part)
            if simple is not None:
                return simple
            decimal = self.digits(part, digits)
            put[part] = decimal.text
            exact = exact and decimal.exact
            return number(decimal.text)

        tree = self.speller.rule(rule, leaf)
        return put, _Stage(tree, exact)

    def exact_stage(self, rule: Rule) -> Tree:
        """The rule with exact operands put in; a long one stays under its name."""

        def leaf(part: Rule) -> Tree | None:
            if not isinstance(part, Entry) or part is rule:
                return None
            tree = self.speller.scalar(self.exact(part))
            return tree if len(line(tree)) <= _SHORT else None

        return self.speller.rule(rule, leaf)

    def row_stage(self, rule: OfRow, best: sympy.Integer) -> Tree:
        """The row with its numbers put in, with digits enough to see which one is largest."""
        if self.notation.exact:
            return self.exact_stage(rule)
        tree = self.speller.rule(rule)
        for guard in range(_GUARD + 1):
            shown = self._shown(rule, (), self.notation.digits + guard)
            if shown is None:
                break
            tree = shown[1].tree
            texts = [shown[0].get(term) for term in rule.terms]
            pairs = zip(rule.terms, texts, strict=True)
            values = [self.ball(term, 128) if text is None or "?" in text else _as_ball(text)
                      for term, text in pairs]  # fmt: skip
            if BALLS.first_largest(filled((1, len(values)), values))[0, int(best)] == 1:
                break
        return tree

    def _simple(self, part: Rule) -> Tree | None:
        """A given fraction or root as it was given: 1/3, √2."""
        if not isinstance(part, Entry) or part.matrix.name not in self.evaluation.given:
            return None
        value = self.exact(part)
        if isinstance(value, sympy.Rational) and value.q < 1000 and abs(value.p) < 1000:
            return Speller(self.notation).rational(value)
        if isinstance(value, sympy.Rational) or value.is_infinite or value.count_ops() > 6:
            return None
        return Speller(self.notation).scalar(value)

    def _writable(self, part: Rule) -> bool:
        """Whether the part's value is a number that one would write down."""
        value = self.ball(part, 64)
        if value.contains(0) or is_minus_infinity(value):
            return True
        return bool(value.is_finite() and abs(abs(value).log()) < _LARGEST_EXPONENT)

    def _gives(self, rule: Rule, put: dict[Rule, Any], result: Digits) -> bool:
        """Whether the printed numbers, worked out again, give the printed result."""
        shown = {part: _as_ball(text) for part, text in put.items()}
        with precision(128):
            value = self._ball(rule, 128, shown)
            again = decide(lambda _: value, lambda: None, self.notation.digits,
                           self.notation.rounding)  # fmt: skip
        return _same_number(again.text, result.text)

    def digits(self, part: Rule, digits: int) -> Digits:
        """A part of the rule as a proven decimal, in scientific notation if it is tiny."""
        return decide(
            lambda bits: self.ball(part, bits),
            lambda: self.exact(part),
            digits,
            self.notation.rounding,
            significant=True,
        )

    def ball(self, part: Rule, bits: int) -> Any:
        """An enclosure of a part's true value."""
        key = (part, bits)
        if key not in self._balls:
            with precision(bits):
                self._balls[key] = self._ball(part, bits, {})
        return self._balls[key]

    def _ball(self, part: Rule, bits: int, shown: dict[Rule, Any]) -> Any:
        if part in shown:
            return shown[part]
        match part:
            case Entry(matrix, row, column):
                place = self._place(matrix, row, column)
                return self.evaluation.balls(matrix.name, bits)[place]
            case Const(value):
                with precision(bits):
                    return ball(value.subs(self.evaluation.sizes))
        recurse: Callable[[Rule], Any] = lambda inner: self._ball(inner, bits, shown)  # noqa: E731
        with precision(bits):
            match part:
                case Plus(terms):
                    return sum(map(recurse, terms), arb(0))
                case Times(factors):
                    out = arb(1)
                    for factor in factors:
                        out *= recurse(factor)
                    return out
                case Over(num, den, _):
                    return recurse(num) / recurse(den)
                case Exp(body):
                    return recurse(body).exp()
                case Apply(name, body):
                    return BALL_FUNCTIONS[name](recurse(body))
                case Power(body, exponent):
                    return prod(
                        [recurse(body)] * exponent
                    )  # arb's own power of a ball about 0 is NaN
                case OfRow("τ", terms, _, _):
                    return BALLS.threshold(filled((1, len(terms)), [*map(recurse, terms)]))[0, 0]
        raise TypeError(part)

    def exact(self, part: Rule) -> sympy.Expr:
        """A part's exact value."""
        match part:
            case Entry(matrix, row, column):
                return self.evaluation.exact(matrix.name)[self._place(matrix, row, column)]
            case Const(value):
                return value.subs(self.evaluation.sizes)
            case Plus(terms):
                return total([self.exact(term) for term in terms])
            case Times(factors):
                return sympy.Mul(*map(self.exact, factors))
            case Over(num, den, _):
                return self.exact(num) / self.exact(den)
            case Exp(body):
                return sympy.exp(self.exact(body))
            case Apply(name, body):
                return FUNCTIONS[name](self.exact(body))
            case Power(body, exponent):
                return self.exact(body) ** exponent
            case OfRow(name, terms, _, _):
                return ROW_FUNCTIONS[name](*map(self.exact, terms))
        raise TypeError(part)

    def _place(self, matrix: Any, row: Any, column: Any) -> Place:
        cell = (column, row) if self.notation.convention == "columns" else (row, column)
        head = getattr(matrix, "head", None)
        return cell if head is None else (int(head), *cell)

    def vanishes(self, part: Rule) -> bool:
        """Whether a part is exactly 0, as a sum of e^(−∞) is."""
        value = self.ball(part, 64)
        return bool(value.is_zero())

    def decided(self, part: Rule) -> Rule:
        """The rule with every remaining condition settled by its numbers."""
        match part:
            case Cases(left, sign, right, value, otherwise):
                holds = SIGNS[sign](self.exact(left), self.exact(right)) == sympy.true
                return self.decided(value if holds else otherwise)
            case Plus(terms):
                return Plus(tuple(map(self.decided, terms)))
            case Times(factors):
                return Times(tuple(map(self.decided, factors)))
            case Over(num, den, empty):
                return Over(self.decided(num), self.decided(den), empty)
            case Exp(body):
                return Exp(self.decided(body))
            case Apply(name, body):
                return Apply(name, self.decided(body))
            case Power(body, exponent):
                return Power(self.decided(body), exponent)
            case OfRow(name, terms, _, _):
                return OfRow(name, tuple(map(self.decided, terms)))
        return part


def _inside(rule: Rule) -> Iterator[Rule]:
    """The parts of a rule below its top."""
    match rule:
        case Plus(parts) | Times(parts) | OfRow(_, parts, _, _):
            children = parts
        case Over(num, den, _):
            children = (num, den)
        case Exp(body) | Apply(_, body) | Power(body, _):
            children = (body,)
        case _:
            children = ()
    for child in children:
        yield child
        yield from _inside(child)


def _as_ball(text: str) -> Any:
    """The printed decimal itself."""
    if text == "-inf":
        return arb.neg_inf()
    mantissa, _, exponent = text.partition("e")
    whole, _, fraction = mantissa.partition(".")
    units = arb(fmpq(int(whole + fraction), 10 ** len(fraction)))
    return units * arb(10) ** int(exponent) if exponent else units


def _same_number(one: str, other: str) -> bool:
    return "?" in one + other or Decimal(one) == Decimal(other)
