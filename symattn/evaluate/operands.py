"""The numbers of a worked line: parts of an entry's rule as balls, exactly, and as printed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from math import prod
from typing import Any

import sympy
from flint import arb

from symattn.arithmetic.balls import BALLS, largest
from symattn.arithmetic.base import Arithmetic, Array, filled
from symattn.arithmetic.decide import Digits, decide
from symattn.arithmetic.enclosure import ball, is_minus_infinity, precision
from symattn.arithmetic.exact import EXACT
from symattn.arithmetic.functions import FUNCTIONS
from symattn.arithmetic.quantity import Quantity
from symattn.evaluate.matrices import Place
from symattn.evaluate.values import Values
from symattn.evaluate.walk import program_of
from symattn.nodes import rule as r
from symattn.nodes.rule import Rule
from symattn.nodes.spell import Speller
from symattn.notation.options import Notation

#: A rounded number with more digits than these before the point is in scientific notation.
WIDE = 10


#: Beyond e to this power a number is left as it stands rather than written out.
_LARGEST_EXPONENT = 10_000

_ZERO = r.Const(sympy.S.Zero)


@dataclass(frozen=True)
class Numbers:
    """The numbers in the rule of one entry: as balls, exactly, and as they are printed."""

    evaluation: Values
    notation: Notation
    _balls: dict[tuple[Rule, int], arb] = field(default_factory=dict)

    @property
    def speller(self) -> Speller:
        """How the reader wants it written, with the sizes as numbers."""
        return Speller(self.notation, self.evaluation.sizes)

    def digits(self, part: Rule, digits: int) -> Digits:
        """A part of the rule as a proven decimal, in scientific notation if it is tiny or large.

        An exact whole number is written out.
        """
        true = Quantity(partial(self.ball, part), partial(self.exact, part))
        settings = digits, self.notation.rounding, self.notation.digits
        found = decide(true, *settings)
        is_wide = len(found.text.partition(".")[0].lstrip("-")) > WIDE
        return decide(true, *settings, WIDE) if is_wide and not found.exact else found

    def ball(self, part: Rule, bits: int) -> arb:
        """An enclosure of a part's true value."""
        key = (part, bits)
        if key not in self._balls:
            self._balls[key] = self.ball_where(part, bits, {})
        return self._balls[key]

    def ball_where(self, part: Rule, bits: int, replacements: Mapping[Rule, arb]) -> arb:
        """An enclosure of a part's value where some parts had these."""
        with precision(bits):
            found: arb = _InBalls(self, replacements, bits).value(part)
        return found

    def exact(
        self, part: Rule, replacements: Mapping[Rule, sympy.Expr] | None = None
    ) -> sympy.Expr:
        """A part's exact value; with `replacements`, its value where some parts had these."""
        return _Exact(self, replacements or {}).value(part)

    def entry(self, entry: r.Entry, value: Callable[[str], Array], arithmetic: Arithmetic) -> Any:
        """An entry by the values of matrices; an inverse is no step, and is worked out for it."""
        if entry.letter:
            matrix = value(entry.letter)
        else:
            matrix = program_of(entry.matrix, self.evaluation.sizes)(value, arithmetic)
        return matrix[self.place(entry)]

    def place(self, entry: r.Entry) -> Place:
        """Where an entry stands in its matrix, of which the reader may see the transpose."""
        *head, row, column = entry.place
        cell = (column, row) if self.notation.convention == "columns" else (row, column)
        return (*head, *cell)

    def vanishes(self, part: Rule) -> bool:
        """Whether a part is exactly 0, as a sum of e^(−∞) is."""
        return bool(self.ball(part, 64).is_zero())

    def settled(self, rule: Rule) -> Rule | None:
        """A quotient with 0 for its hidden terms, where these settle its value: 0/x or x/x."""
        if not isinstance(rule, r.Over):
            return None
        num, den = self._unhidden(rule.num), self._unhidden(rule.den)
        terms = [x for x in r.terms(den) if x != _ZERO]
        if terms and (num == _ZERO or terms == [num]):
            return r.Over(num, den, rule.empty)
        return None

    def _unhidden(self, part: Rule) -> Rule:
        if isinstance(part, r.Plus):
            return r.Plus(tuple(map(self._unhidden, part.terms)))
        return _ZERO if isinstance(part, r.Exp) and self.vanishes(part) else part

    def writable(self, part: Rule) -> bool:
        """Whether the part's value is a number that one would write down."""
        value = self.ball(part, 64)
        if value.contains(0) or is_minus_infinity(value):
            return True
        return bool(value.is_finite() and abs(abs(value).log()) < _LARGEST_EXPONENT)

    def is_open(self, part: Rule) -> bool:
        """Whether a part is a sum −∞ + ∞, whose value is a matter of definition."""
        if not isinstance(part, r.Plus) or part.empty is None:
            return False
        values = [self.ball(term, 64) for term in part.terms]
        return any(map(is_minus_infinity, values)) and any(is_minus_infinity(-x) for x in values)

    def decided(self, part: Rule) -> Rule:
        """The rule with each condition on numbers replaced by the branch that holds."""
        if isinstance(part, r.Cases):
            holds = r.SIGNS[part.sign](self.exact(part.left), self.exact(part.right)) == sympy.true
            return self.decided(part.value if holds else part.otherwise)
        return r.rebuilt(part, self.decided)


class _Parts(r.Evaluator):
    """Values of parts; some of them are replaced, by the decimals printed for them."""

    def __init__(self, numbers: Numbers, replacements: Mapping[Rule, Any]) -> None:
        self.numbers, self.evaluation, self.replacements = numbers, numbers.evaluation, replacements

    def value(self, rule: Rule) -> Any:
        if self.replacements and rule in self.replacements:  # to look is to hash all of the rule
            return self.replacements[rule]
        return super().value(rule)


class _Exact(_Parts):
    """Exact values."""

    def entry(self, entry: r.Entry) -> sympy.Expr:
        if entry.letter:
            return self.evaluation.exact_entry(entry.letter, self.numbers.place(entry))
        return self.numbers.entry(entry, self.evaluation.abbreviated, EXACT)

    def number(self, value: sympy.Expr) -> sympy.Expr:
        return value.subs(self.evaluation.sizes)


class _InBalls(_Parts):
    """Enclosures."""

    def __init__(self, numbers: Numbers, replacements: Mapping[Rule, arb], bits: int) -> None:
        super().__init__(numbers, replacements)
        self.bits = bits

    def entry(self, entry: r.Entry) -> arb:
        balls = partial(self.evaluation.balls, bits=self.bits)
        with precision(self.bits):
            found: arb = self.numbers.entry(entry, balls, BALLS)
        return found

    def number(self, value: sympy.Expr) -> arb:
        return ball(value.subs(self.evaluation.sizes))

    def sum(self, terms: list[arb], empty: sympy.Expr | None) -> arb:
        if empty is not None and any(map(is_minus_infinity, terms)):
            return ball(empty)
        return sum(terms, arb(0))

    def product(self, factors: list[arb]) -> arb:
        return prod(factors, start=arb(1))

    def quotient(self, rule: r.Over) -> arb:
        quotient: arb = self.value(rule.num) / self.value(rule.den)
        return quotient

    def function(self, name: str, x: arb) -> arb:
        return FUNCTIONS[name].ball(x)

    def power(self, base: arb, exponent: int) -> arb:
        return prod([base] * exponent, start=arb(1))  # arb's own power of a ball about 0 is NaN

    def of_row(self, rule: r.OfRow) -> arb:
        values = [*map(self.value, rule.terms)]
        if rule.name == "max":
            return largest(values)
        level = {"τ": BALLS.threshold, "τ2": BALLS.threshold_of_squares}[rule.name]
        found: arb = level(filled((1, len(values)), values))[0, 0]
        return found
