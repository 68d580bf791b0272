"""Proofs of L ≤ R, entry by entry: bounds of the parts of both sides, and a combination of them.

What is known of the parts (0 ≤ softmax(S), X ≤ max(X) 1ᵀ, squares, Cauchy–Schwarz) is carried
outwards through products and functions that do not fall, until it is about matrices of the
statement's shape: differences Bₖ − Aₖ ≥ 0. Which multiples of them make R − L is found in floating
point, as the solution of least squares with cₖ ≥ 0 (Lawson, Hanson, *Solving Least Squares
Problems*, 1974, chapter 23), and then proven as an equation. The checker (`bounds.py`) replays it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice, product
from typing import TypeAlias

import numpy as np
import sympy
from numpy.typing import NDArray
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.algebra.bounds import (
    INEQUALITY,
    RULES,
    Claim,
    Step,
    along,
    are_weights,
    constant,
    divides,
    doubtful,
    factors,
    is_finite,
    lengths,
    limits,
    lines,
    repeated,
    replayed_links,
    rises,
    rules_of,
    summed,
)
from symattn.algebra.certificate import replayed
from symattn.algebra.claims import encoded, goal_of
from symattn.algebra.counterexample import Side
from symattn.algebra.forms import Refused
from symattn.algebra.hypotheses import Statement
from symattn.algebra.kinds import Data
from symattn.algebra.refute import numbers_at
from symattn.algebra.traces import certificate as of_equation
from symattn.algebra.traces import stated_again
from symattn.arithmetic.base import Array
from symattn.budget import Spent, spend
from symattn.errors import SymattnError
from symattn.nodes.base import shape_of
from symattn.nodes.entrywise import word
from symattn.nodes.lines import LineSum
from symattn.nodes.normalise import RowMax
from symattn.nodes.operators import coefficient, negative, transposed
from symattn.nodes.scores import Distance
from symattn.nodes.written import spread

#: What gives the value of an expression for some numbers.
Numbers: TypeAlias = Callable[[Side], Array | None]

#: The most facts about one expression, the largest denominator of a multiple, how far numbers may
#: be from a solution, and from 0.
_MOST_FACTS, _MOST_BELOW, _CLOSE, _MOST = 60, 1000, 1e-9, 1e100


@dataclass(frozen=True)
class Fact:
    """A claim A ≤ B, the rule that it follows by, and what it follows from."""

    left: sympy.Basic
    right: sympy.Basic
    rule: str
    premises: tuple[Fact, ...] = ()
    by: tuple[Fraction, ...] = ()
    equation: Data = field(default=None, compare=False)

    @property
    def claim(self) -> Claim:
        """The two sides."""
        return self.left, self.right

    @property
    def data(self) -> dict[str, Data]:
        """The step of a certificate."""
        data: dict[str, Data] = {
            "rule": self.rule,
            "left": encoded(self.left),
            "right": encoded(self.right),
            "from": [one.data for one in self.premises],
        }
        if self.equation is not None:
            data |= {"by": [*map(str, self.by)], "equation": self.equation}
        return data


def filled(number: sympy.Expr, expr: sympy.Basic) -> sympy.Expr:
    """A number as often as an expression has entries."""
    if not isinstance(expr, MatrixExpr):
        return number
    return spread(number, None, tuple(shape_of(expr)))


def _of_lines(expr: sympy.Expr) -> Iterator[Fact]:
    """Lines that a function does not cross."""
    yield from (Fact(line, expr, "line") for line in lines(expr, "below"))
    yield from (Fact(expr, line, "line") for line in lines(expr, "above"))


def _squares(one: sympy.Basic, other: sympy.Basic) -> Iterator[Fact]:
    """0 ≤ (A ± B) ∘ (A ± B), A ∘ A and B ∘ B; of (A + B) ∘ (A + B), the same A and B."""
    if one == other and isinstance(one, sympy.MatAdd) and len(one.args) == 2:
        one, other = one.args
    if isinstance(one, MatrixExpr):
        sums = [sympy.MatAdd(one, other), sympy.MatAdd(one, negative(other))]
        squares = [sympy.HadamardProduct(x, x) for x in (*sums, one, other)]
    else:
        squares = [x**2 for x in (one - other, one + other, one, other)]
    for square in squares:
        yield Fact(filled(sympy.S.Zero, square), square, "square")


def _risen(left: sympy.Basic, right: sympy.Basic) -> Claim | None:
    """A and B of f(A) and f(B), for an f that never falls."""
    same = left.func == right.func and left.args[1:] == right.args[1:]
    return (left.args[0], right.args[0]) if same and rises(left) else None


def _largest(expr: MatrixExpr) -> Iterator[Fact]:
    """X ≤ max(X) 1ᵀ, and −X ≤ max(−X) 1ᵀ."""
    for axis, size in ((1, expr.shape[1]), (0, expr.shape[0])):
        for part in (expr, sympy.MatMul(-1, expr)) if size != 1 else ():
            if constant(expr) is None and not any(x.is_Matrix and constant(x) for x in expr.args):
                yield Fact(part, along(part, axis), "largest")


def _difference(
    numbers: Sequence[Numbers], left: sympy.Basic, right: sympy.Basic
) -> NDArray[np.float64] | None:
    """The entries of R − L for some numbers; None where they have no value, or are too large."""
    found = []
    for value in numbers:
        low, high = value(Side(left)), value(Side(right))
        if low is None or high is None:
            return None
        with np.errstate(invalid="ignore"):
            found.append(np.ravel(high - low))
    whole = np.concatenate(found) if found else np.empty(0)
    return whole if whole.size and np.all(np.abs(whole) < _MOST) else None


def _certified(
    statement: Statement, left: sympy.Basic, right: sympy.Basic, taken: Mapping[Fact, Fraction]
) -> Fact | None:
    """The combination, if its equation can be proven."""
    premises, by = (*taken,), (*taken.values(),)
    if len(premises) == 1 and premises[0].claim == (left, right):
        return premises[0]
    below, above = summed(Step((left, right), tuple(x.claim for x in premises), by))
    with suppress(Refused):
        equation = of_equation(statement.between(Side(below), Side(above)))
        replayed(equation)
        return Fact(left, right, "combination", premises, by, equation)
    return None


class Prover:
    """What is found about the parts of one statement."""

    def __init__(self, statement: Statement) -> None:
        self.statement = statement
        goal = goal_of(stated_again(statement))
        self.left, self.right, self.positive = goal.left, goal.right, goal.positive
        self.known: dict[sympy.Basic, list[Fact]] = {}
        parts = [
            part for side in (self.left, self.right) for part in sympy.preorder_traversal(side)
        ]
        #: Whether largest entries matter, and products.
        self.largest = any(isinstance(part, RowMax) or word(part) == "ln" for part in parts)
        #: What is summed along lines somewhere, and the functions of an expression.
        self.summed = {part.args for part in parts if isinstance(part, LineSum)}
        self.elsewhere: dict[sympy.Basic, list[sympy.Expr]] = {}
        for part in parts:
            if word(part):
                self.elsewhere.setdefault(part.args[0], []).append(part)
        self.numbers = [
            value
            for value in numbers_at(statement)
            if _difference([value], self.left, self.right) is not None
        ]

    # ---- what is known of a part ---------------------------------------------------------------

    def facts(self, expr: sympy.Basic) -> list[Fact]:
        """Claims about an expression and matrices of its shape."""
        if expr not in self.known:
            self.known[expr] = []  # what is asked for on the way to itself
            found = dict.fromkeys(islice(self._found(expr), _MOST_FACTS))
            self.known[expr] = [*found]
            for axis in (0, 1):
                if (expr, axis) in self.summed and (sign := self.nonnegative(expr)) is not None:
                    total = repeated(LineSum(expr, axis), expr)
                    self.known[expr].append(Fact(expr, total, "sum", (sign,)))
        return self.known[expr]

    def _own(self, expr: sympy.Basic) -> Iterator[Fact]:
        """Numbers that an expression is between, by what it is, and that it is positive."""
        low, high = limits(expr)
        if low is not None and constant(expr) is None:
            yield Fact(filled(low, expr), expr, "bound")
        if high is not None and constant(expr) is None:
            yield Fact(expr, filled(high, expr), "bound")
        yield from self._above_zero(expr, "positive")

    def _above_zero(self, expr: sympy.Basic, *rules: str) -> Iterator[Fact]:
        """0 ≤ X, by rules that ask for nothing but X."""
        for rule in rules:
            fact = Fact(filled(sympy.S.Zero, expr), expr, rule)
            if RULES[rule][1](Step(fact.claim, (), positive=self.positive)):
                yield fact

    def _found(self, expr: sympy.Basic) -> Iterator[Fact]:
        spend()
        yield from self._own(expr)
        if isinstance(expr, sympy.MatAdd | sympy.Add):
            for arg in expr.args:
                yield from self.facts(arg)
            if isinstance(expr, MatrixExpr):
                yield from self._of_terms(expr)
        elif factors(expr)[0]:
            yield from self._of_product(expr)
        elif rises(expr):
            yield from self._of_rising(expr)
        if word(expr):
            yield from self._of_function(expr)
        for part in self.elsewhere.get(expr, ()):
            yield from (*_of_lines(part), *self.facts(part))
        if self.largest and isinstance(expr, MatrixExpr):
            yield from _largest(expr)

    def _of_rising(self, expr: MatrixExpr) -> Iterator[Fact]:
        """f(A) ≤ f(B) for A ≤ B about its argument, and what sums of lines have of their own."""
        inner, *rest = expr.args
        zero = self.nonnegative(inner)
        if isinstance(expr, LineSum):
            if are_weights(inner):
                yield Fact(expr, filled(sympy.S.One, expr), "weights")
            if zero is not None and self.largest:
                yield Fact(RowMax(inner, expr.args[1]), expr, "sum", (zero,))
        for fact in self.facts(inner):
            with suppress(SymattnError):
                low, high = (expr.func(side, *rest) for side in fact.claim)
                yield Fact(low, high, "monotone", (fact,))

    def _of_terms(self, expr: MatrixExpr) -> Iterator[Fact]:
        """A sum is at most the sum of what its terms are at most, the first few of each."""
        above = [[f for f in self.facts(x) if f.left == x][:3] for x in expr.args]
        below = [[f for f in self.facts(x) if f.right == x][:3] for x in expr.args]
        for choice in (*product(*above), *product(*below)):
            low, high = (sympy.MatAdd(*(f.claim[k] for f in choice)) for k in (0, 1))
            yield Fact(low, high, "terms", choice)

    def _of_function(self, expr: sympy.Expr) -> Iterator[Fact]:
        """Lines that a function does not cross; of |X|, what both X and −X are below."""
        yield from _of_lines(expr)
        if word(expr) == "abs":
            below = {fact.claim: fact for fact in self.facts(expr.args[0])}
            for (part, most), fact in below.items():
                other = below.get((negative(part), most))
                if part == expr.args[0] and other is not None:
                    yield Fact(expr, most, "absolute value", (fact, other))

    def _of_product(self, expr: sympy.Basic) -> Iterator[Fact]:
        """A product or quotient: of parts that are ≥ 0, of one that is bounded, of two equal ones.

        A number before it may be left out.
        """
        (kind, *_), parts = factors(expr)
        if kind in (sympy.MatMul, sympy.Mul) and parts[0].is_Rational:
            yield from self.facts(coefficient(expr)[1] if expr.is_Matrix else expr / parts[0])
            return
        signs = [self.nonnegative(part) for part in parts]
        if None not in signs:
            zero = filled(sympy.S.Zero, expr)
            yield Fact(zero, expr, "product", tuple(one for one in signs if one is not None))
        for k, part in enumerate(parts[:1] if divides(expr) else parts):
            others = [one for place, one in enumerate(signs) if place != k]
            for fact in self.facts(part) if None not in others else ():
                if fact.right != part or constant(fact.left) != 0:
                    premises = tuple(one or fact for one in (*others[:k], None, *others[k:]))
                    low, high = (
                        expr.func(*expr.args[:k], side, *expr.args[k + 1 :]) for side in fact.claim
                    )
                    yield Fact(low, high, "product", premises)
        if kind is sympy.MatMul and len(parts) == 2 and isinstance(parts[0], MatrixExpr):
            above = lengths(*parts)
            yield Fact(expr, above, "Cauchy–Schwarz")
            yield Fact(negative(expr), above, "Cauchy–Schwarz")
            for part in (parts[0], negative(parts[0])):
                apart = Distance(part, transposed(parts[1]))
                yield Fact(apart, filled(sympy.S.Zero, expr), "bound")
        plain = [one for part in parts if not (one := coefficient(part)[1]).is_Rational]
        if kind in (sympy.HadamardProduct, sympy.Mul) and len(plain) == 2:
            yield from _squares(*plain)

    def nonnegative(self, expr: sympy.Basic) -> Fact | None:
        """0 ≤ X, if that is found."""
        for fact in (*self._above_zero(expr, "bound", "positive", "square"), *self.facts(expr)):
            if fact.right == expr and constant(fact.left) == 0:
                return fact
        if isinstance(expr, sympy.MatAdd):
            return self.combined(filled(sympy.S.Zero, expr), expr)
        return None

    # ---- combinations ----------------------------------------------------------------------------

    def combined(self, left: sympy.Basic, right: sympy.Basic) -> Fact | None:
        """L ≤ R as a combination of facts about the parts of both, if one is found.

        |X| ≤ R from X ≤ R and −X ≤ R; f(A) ≤ f(B) from A ≤ B, for an f that never falls.
        """
        if (inside := _risen(left, right)) and (inner := self.combined(*inside)) is not None:
            return Fact(left, right, "monotone", (inner,))
        if word(left) == "abs":
            inner = left.args[0]
            both = [self.combined(side, right) for side in (inner, negative(inner))]
            if both[0] is not None and both[1] is not None:
                return Fact(left, right, "absolute value", (both[0], both[1]))
        allowed = doubtful(left, right)
        facts = [
            fact
            for fact in dict.fromkeys([*self.facts(left), *self.facts(right)])
            if all(map(is_finite, fact.claim)) and doubtful(*fact.claim) <= allowed
        ]
        facts.append(Fact(filled(sympy.S.Zero, right), filled(sympy.S.One, right), "bound"))
        columns = [_difference(self.numbers, *fact.claim) for fact in facts]
        wanted = _difference(self.numbers, left, right)
        usable = [k for k, column in enumerate(columns) if column is not None]
        if wanted is None:
            return None
        table = np.array([columns[k] for k in usable]).T
        for multiples in _solutions(table, wanted):
            taken = {facts[k]: c for k, c in zip(usable, multiples, strict=True) if c > 0}
            if (found := _certified(self.statement, left, right, taken)) is not None:
                return found
        return None

    def proof(self) -> Fact:
        """L ≤ R. Raises `Refused` where no proof is found."""
        found = next(
            (
                f
                for f in (*self.facts(self.right), *self.facts(self.left))
                if f.claim == (self.left, self.right)
            ),
            None,
        )
        found = found or self.combined(self.left, self.right)
        if found is None:
            raise Refused("neither numbers refute it nor do known bounds combine to it")
        return found


def _solutions(
    table: NDArray[np.float64], wanted: NDArray[np.float64]
) -> Iterator[tuple[Fraction, ...]]:
    """Multiples c ≥ 0 of few columns that make a vector: of one, else by Lawson and Hanson."""
    size = table.shape[1] if table.ndim == 2 else 0
    scale = max(1.0, float(np.abs(wanted).max()))
    if np.abs(wanted).max() < _CLOSE:
        yield (Fraction(0),) * size
    for k in range(size):
        length = float(table[:, k] @ table[:, k])
        c = float(table[:, k] @ wanted) / length if length else 0.0
        if c > 0 and np.abs(c * table[:, k] - wanted).max() < _CLOSE * scale:
            yield tuple(_rational(c) if j == k else Fraction(0) for j in range(size))
    found = _least_squares(table, wanted) if size else None
    if found is not None and np.abs(table @ found - wanted).max() < _CLOSE * scale:
        yield tuple(_rational(c) for c in found)


def _rational(c: float) -> Fraction:
    return Fraction(c).limit_denominator(_MOST_BELOW)


def _least_squares(table: NDArray[np.float64], wanted: NDArray[np.float64]) -> NDArray[np.float64]:
    """The c ≥ 0 with the least |table c − wanted|."""
    c, active = np.zeros(table.shape[1]), list[int]()
    for _ in range(3 * table.shape[1]):
        slope = table.T @ (wanted - table @ c)
        slope[active] = 0
        if slope.max() < _CLOSE:
            break
        active.append(int(slope.argmax()))
        while True:
            tried = np.linalg.lstsq(table[:, active], wanted, rcond=None)[0]
            if tried.min() > _CLOSE:
                break
            now = c[active]
            below = tried <= _CLOSE
            ratio = np.min(now[below] / (now[below] - tried[below] + 1e-300))
            now = now + ratio * (tried - now)
            c[:] = 0
            c[active] = now
            active = [k for k in active if c[k] > _CLOSE]
            if not active:
                tried = np.empty(0)
                break
        c[:] = 0
        c[active] = tried
    return c


# ---- certificates ------------------------------------------------------------------------------


def certificate(statement: Statement) -> Data:
    """A certificate of L ≤ R that the checker accepts.

    Raises `Refused` where none is found, and `Spent`.
    """
    try:
        proof = Prover(statement).proof()
        links = [{"statement": stated_again(statement), "proof": proof.data}]
        _, partial = replayed_links(links)
    except (Refused, Spent):
        raise
    except (SymattnError, NotImplementedError, TypeError, ArithmeticError) as trouble:
        raise Refused(str(trouble).partition("\n")[0]) from None
    return {"certificate": INEQUALITY, "links": links, "partial": partial}


def joined(certificates: Sequence[Data]) -> Data:
    """The certificate of a chain, from those of its links."""
    return {
        "certificate": INEQUALITY,
        "links": [link for one in certificates for link in one["links"]],
        "partial": any(one["partial"] for one in certificates),
    }


def reason(data: Data) -> str:
    """What decided, in a line."""
    return f"bounds of the parts: {', '.join(rules_of(data))}"
