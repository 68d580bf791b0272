"""Long exact numbers abbreviated, so that what is computed from them stays short.

Written out, the exact value of an entry repeats the exact values of all steps before it; its size
grows like their product, and SymPy asks for signs and common factors all along it. Over
abbreviations each step's value is as long as the step's own formula.
"""

from __future__ import annotations

from functools import cached_property, lru_cache

import flint
import sympy
from flint import arb
from sympy.polys.polyerrors import PolynomialError
from sympy.printing.printer import Printer

from symattn.arithmetic.enclosure import BITS, ball, precision
from symattn.errors import SymattnError

#: A numerator or denominator with more nodes than this is abbreviated.
_SHORT = 40

#: The precision at which a sign is looked for; SymPy is told of none that this does not show.
_BITS = BITS[1]


class Abbreviation(sympy.AtomicExpr):  # type: ignore[misc]  # SymPy has no types
    """A real number that stands for its `definition`, an expression of which SymPy sees nothing.

    Two are equal only if they are one; `Abbreviations` makes one for equal definitions.
    """

    is_commutative = True
    is_extended_real = True
    is_finite = True

    definition: sympy.Expr
    number: int
    sign: int | None
    _balls: dict[int, arb]

    def __new__(cls, definition: sympy.Expr, number: int, sign: int | None) -> Abbreviation:
        """By its `number` it is sorted; `sign` is −1 or 1, or None where it is not known."""
        self: Abbreviation = super().__new__(cls)
        self.definition, self.number, self.sign = definition, number, sign
        self._balls = {}
        return self

    def ball(self) -> arb:
        """An enclosure at the precision in force, computed once for each precision."""
        bits = flint.ctx.prec
        if bits not in self._balls:
            self._balls[bits] = ball(self.definition)
        return self._balls[bits]

    @cached_property
    def nodes(self) -> int:
        """How many nodes the number has when it is written out."""
        return nodes(self.definition)

    @cached_property
    def written_out(self) -> sympy.Expr:
        """The number without abbreviations."""
        return written_out(self.definition)

    def _eval_is_extended_positive(self) -> bool | None:
        return None if self.sign is None else self.sign > 0

    def _eval_is_extended_negative(self) -> bool | None:
        return None if self.sign is None else self.sign < 0

    def _hashable_content(self) -> tuple[int]:
        return (self.number,)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return object.__hash__(self)

    def _sympystr(self, printer: Printer) -> str:
        return f"number_{self.number}"


class Abbreviations:
    """The abbreviations of one evaluation: numbers that are written alike share one."""

    def __init__(self) -> None:
        self._known: dict[sympy.Expr, Abbreviation] = {}

    def short(self, value: sympy.Expr) -> sympy.Expr:
        """The value, with a long numerator or denominator abbreviated."""
        if value.is_Atom or _is_short(value):
            return value
        above, below = sympy.fraction(value)
        if self._has_symbols(above) or self._has_symbols(below):
            return value
        return self._part(above) if below == 1 else self._part(above) / self._part(below)

    def _has_symbols(self, part: sympy.Expr) -> bool:
        """Whether there is a symbol; a denominator is shared by a whole row, and known."""
        return part.as_coeff_Mul()[1] not in self._known and bool(part.free_symbols)

    def _part(self, value: sympy.Expr) -> sympy.Expr:
        if _is_short(value):
            return value
        factor, rest = value.as_coeff_Mul()
        if rest not in self._known:
            self._known[rest] = Abbreviation(rest, len(self._known), _sign(rest))
        return factor * self._known[rest]


def _sign(value: sympy.Expr) -> int | None:
    try:
        with precision(_BITS):
            size = ball(value)
    except SymattnError:  # SymPy holds a form that no ball is made for
        return None
    return 1 if size > 0 else -1 if size < 0 else None


def _is_short(value: sympy.Expr) -> bool:
    seen, waiting = 0, [value]
    while waiting and seen <= _SHORT:
        seen += 1
        waiting.extend(waiting.pop().args)
    return seen <= _SHORT


def opened(value: sympy.Expr) -> sympy.Expr:
    """The value with each abbreviation replaced by its definition, which may hold others."""
    return value.xreplace({short: short.definition for short in value.atoms(Abbreviation)})


def nodes(value: sympy.Expr) -> int:
    """How many nodes the value has when it is written out, without writing it out."""
    if isinstance(value, Abbreviation):
        return value.nodes
    return 1 + sum(map(nodes, value.args))


def written_out(value: sympy.Expr) -> sympy.Expr:
    """The value without abbreviations.

    It is put together as it is: SymPy has simplified it over the abbreviations, and would look
    for signs and common factors in all that is written out.
    """
    if isinstance(value, Abbreviation):
        return value.written_out
    if not value.args:
        return value
    args = [written_out(arg) for arg in value.args]
    if all(new is old for new, old in zip(args, value.args, strict=True)):
        return value
    if isinstance(value, sympy.Add | sympy.Mul):
        args = [part for arg in args for part in value.func.make_args(arg)]
    return value.func(*args, evaluate=False)


#: A number with more nodes than this is not simplified, nor one with larger numbers in exponents:
#: polynomials of a high degree in e^(1/1000) take minutes to factor.
_MOST_NODES, _LARGEST = 120, 20


@lru_cache(maxsize=4096)
def simplified(value: sympy.Expr) -> sympy.Expr:
    """A sum of quotients as one quotient of products, where that is shorter; 0 where it is 0.

    Balls have to agree that nothing has changed.
    """
    if not any(map(_adds_quotients, sympy.preorder_traversal(value))) or nodes(value) > _MOST_NODES:
        return value
    powers = (part.exp for part in value.atoms(sympy.exp, sympy.Pow))
    if any(max(abs(x.p), x.q) > _LARGEST for power in powers for x in power.atoms(sympy.Rational)):
        return value
    try:
        shorter = sympy.factor(value)
        with precision(_BITS):
            same = ball(shorter).overlaps(ball(value))
    except (SymattnError, PolynomialError):
        return value
    return shorter if same and nodes(shorter) < nodes(value) else value


def _adds_quotients(part: sympy.Expr) -> bool:
    """Whether it is a sum in which something is divided by a sum."""
    if not isinstance(part, sympy.Add):
        return False
    factors = (factor for term in part.args for factor in sympy.Mul.make_args(term))
    return any(
        isinstance(x, sympy.Pow) and x.exp.is_negative and isinstance(x.base, sympy.Add)
        for x in factors
    )
