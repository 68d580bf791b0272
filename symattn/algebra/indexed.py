"""Entry rules in the normal form over symbolic indices: proofs for all sizes at once.

An entry (i, j) with symbolic i and j is brought to the normal form of `normal.py`. A condition on
an index (j ≤ i in a causal mask, the seam of two blocks) is decided from the ranges of the indices,
or the sum or the entry is split there and both parts are proven.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from fractions import Fraction
from typing import Any

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.algebra import normal, sums
from symattn.algebra.normal import NotHere, Poly
from symattn.algebra.sums import Contraction
from symattn.nodes.heads import Head
from symattn.nodes.rule import (
    Apply,
    Cases,
    Const,
    Entry,
    Exp,
    Nth,
    OfRow,
    Ordinal,
    Over,
    Plus,
    Power,
    Rule,
    Times,
    Total,
    rule_of,
)
from symattn.step import HEAD

_MOST_SPLITS = 8


class Split(Exception):
    """What holds depends on whether this index is below a point."""

    def __init__(self, index: sympy.Symbol, point: sympy.Expr) -> None:
        super().__init__(index, point)
        self.index, self.point = index, point


@dataclass
class Proof:
    """What is known while a statement is proven."""

    #: Letters that stand for an expression: the steps of a derivation, or definitions.
    means: Mapping[str, MatrixExpr] = field(default_factory=dict)
    unit: tuple[Contraction, ...] = ()
    positive: frozenset[str] = frozenset()
    permutations: frozenset[str] = frozenset()
    #: Sums that are told by a hypothesis, with what they are: Σ_l k_il² is c.
    told: list[tuple[normal.Factor, Poly]] = field(default_factory=list)
    #: The size of the range of each index: 0 … size − 1.
    ranges: dict[sympy.Symbol, sympy.Expr] = field(default_factory=dict)

    def entry(self, expr: Any, i: Any, j: Any) -> Poly:
        """Entry (i, j) of an expression; a scalar is the same everywhere."""
        if not isinstance(expr, MatrixExpr | sympy.MatrixBase):
            return self.scalar(sympy.sympify(expr, strict=True))
        poly = self._rule_of(expr, i, j)
        if poly is None:
            raise NotHere("an entry is −∞")
        return sums.changed(poly, self._told) if self.told else poly

    def _rule_of(self, expr: Any, i: Any, j: Any) -> Poly | None:
        if isinstance(expr, sympy.MatrixBase):
            raise NotHere("a matrix of numbers has its sizes")
        return self.rule(rule_of(expr, i, j))

    def _told(self, factor: normal.Factor) -> Poly:
        """A factor as the hypotheses tell it, or what it is made of."""
        for pattern, value in self.told:
            if factor[0] == "sum":
                mine, free = sorted(normal.indices(factor), key=str), normal.indices(pattern)
                places = dict(zip(sorted(free, key=str), mine, strict=False))
                if len(mine) == len(free) and sums.put(
                    normal.single(pattern), places
                ) == normal.single(factor):
                    return sums.put(value, places)
        return sums.inside(factor, self._told)

    def rule(self, rule: Rule) -> Poly | None:
        """A rule's normal form; None for −∞."""
        match rule:
            case Entry(matrix, i, j):
                return self._named(matrix, i, j)
            case Const(value):
                return None if value is sympy.S.NegativeInfinity else self.scalar(value)
            case Ordinal(index):
                return normal.size_poly(index) if _is_plain(index) else _refuse("an index")
            case Plus(terms):
                parts = [self.rule(term) for term in terms]
                return None if None in parts else normal.plus(p for p in parts if p is not None)
            case Times(factors):
                out = normal.constant(1)
                for factor in factors:
                    out = normal.times(out, self._finite(factor))
                return out
            case Over(num, den, _):
                return normal.times(self._finite(num), normal.power(self._finite(den), -1))
            case Total(body, index, size):
                return self._total(body, index, sympy.sympify(size, strict=True))
            case Exp(body):
                inner = self.rule(body)
                return {} if inner is None else normal.exp(inner)
            case Apply(name, body):
                return self._apply(name, self.rule(body))
            case Power(body, exponent):
                return normal.power(self._finite(body), exponent)
            case Cases():
                return self._cases(rule)
            case OfRow():
                raise NotHere("a function of a row")
        raise NotHere("an unknown rule")

    def _finite(self, rule: Rule) -> Poly:
        out = self.rule(rule)
        if out is None:
            raise NotHere("−∞ in a product")
        return out

    def _named(self, matrix: Any, i: Any, j: Any) -> Poly | None:
        name = str(getattr(matrix, "name", ""))
        if name in self.means:
            meaning = self.means[name]
            if isinstance(matrix, Head):
                meaning = meaning.subs(HEAD, matrix.head)
            return self._rule_of(meaning, i, j)
        if isinstance(matrix, sympy.Inverse) and not isinstance(matrix.arg, sympy.MatrixSymbol):
            raise NotHere("the inverse of an expression")
        places = (sympy.sympify(i, strict=True), sympy.sympify(j, strict=True))
        if name in self.permutations:  # p_ij is 1 where j = π(i)
            return sums.equals(places[1], sums.permuted(name, places[0]))
        return normal.single(("entry", matrix, *places, name in self.positive))

    def _total(self, body: Rule, index: sympy.Symbol, size: sympy.Expr) -> Poly:
        """Σ of the body, split where a condition inside changes."""
        return self._from_to(body, index, sympy.S.Zero, size, _MOST_SPLITS)

    def _from_to(self, body: Rule, index: Any, start: Any, size: Any, left: int) -> Poly:
        if size == 1:
            return self._finite(_placed(body, index, sympy.sympify(start, strict=True)))
        letter = normal.fresh()
        self.ranges[letter] = size
        try:
            poly = self.rule(_placed(body, index, start + letter))
        except Split as split:
            if split.index != letter or left == 0:
                raise
            first = self._from_to(body, index, start, split.point, left - 1)
            rest = sympy.expand(start + split.point), sympy.expand(size - split.point)
            return normal.plus((first, self._from_to(body, index, *rest, left - 1)))
        if poly is None:
            raise NotHere("a sum of −∞")
        return sums.summed(poly, [(letter, size)], self.unit)

    def _apply(self, name: str, inner: Poly | None) -> Poly | None:
        if inner is None:
            return {} if name == "σ" else _refuse("a function of −∞")
        match name:
            case "√":
                return normal.power(inner, Fraction(1, 2))
            case "tanh":
                twice = normal.exp(normal.scaled(inner, 2))
                below = normal.plus((twice, normal.constant(1)))
                return normal.times(
                    normal.plus((twice, normal.constant(-1))), normal.power(below, -1)
                )
            case "σ":
                up = normal.exp(inner)
                return normal.times(up, normal.power(normal.plus((normal.constant(1), up)), -1))
            case "ln":
                return self._log(inner)
        return normal.single(("fn", name, frozenset(inner.items())))

    def _log(self, inner: Poly) -> Poly:
        """Ln of a product of positive factors is a sum."""
        if len(inner) == 1:
            ((mono, coefficient),) = inner.items()
            if coefficient == 1 and all(normal.is_positive(factor) for factor, _ in mono):
                terms: list[Poly] = []
                for factor, p in mono:
                    if factor[0] == "exp":
                        terms.append({factor[1]: p})
                    else:
                        alone = normal.single(factor)
                        log = normal.single(("ln", frozenset(alone.items())))
                        terms.append(normal.scaled(log, p))
                return normal.plus(terms)
        return normal.single(("ln", frozenset(inner.items())))

    def scalar(self, value: sympy.Expr) -> Poly:
        """A SymPy scalar."""
        match value:
            case sympy.Rational():
                return normal.constant(Fraction(int(value.p), int(value.q)))
            case sympy.Symbol():
                return normal.single(("scalar", value))
            case sympy.Add():
                return normal.plus(map(self.scalar, value.args))
            case sympy.Mul():
                out = normal.constant(1)
                for factor in value.args:
                    out = normal.times(out, self.scalar(factor))
                return out
            case sympy.exp():
                return normal.exp(self.scalar(value.args[0]))
            case sympy.Pow() if isinstance(value.args[1], sympy.Rational):
                base, exponent = value.args
                return normal.power(self.scalar(base), Fraction(int(exponent.p), int(exponent.q)))
        raise NotHere(f"{type(value).__name__} is not covered")

    # ---- conditions ------------------------------------------------------------------------

    def _cases(self, rule: Cases) -> Poly | None:
        left, right = rule.left, rule.right
        if not isinstance(left, Ordinal) or not isinstance(right, Ordinal):
            raise NotHere("a condition on numbers")
        one, other = (sympy.sympify(side.index, strict=True) for side in (left, right))
        if one.has(Nth) or other.has(Nth) or not _is_plain(one) or not _is_plain(other):
            raise NotHere("a condition on a list")
        holds = self._holds(one, rule.sign, other)
        if holds is None and not self._alike(other - one):
            raise NotHere("indices of different ranges are compared")
        if holds is not None:
            return self.rule(rule.value if holds else rule.otherwise)
        value, otherwise = self.rule(rule.value), self.rule(rule.otherwise)
        if value is None or otherwise is None:
            raise NotHere("−∞ on a diagonal")
        same = sums.equals(one, other)
        unlike = normal.plus((normal.constant(1), normal.scaled(same, -1)))
        return normal.plus((normal.times(same, value), normal.times(unlike, otherwise)))

    def _alike(self, difference: Any) -> bool:
        """Whether i − j is the difference of two indices with the same range."""
        used = [letter for letter in self.ranges if sympy.expand(difference).has(letter)]
        if len(used) != 2:
            return False
        one, other = used
        plain = sympy.expand(difference) in (one - other, other - one)
        return plain and sympy.expand(self.ranges[one] - self.ranges[other]) == 0

    def _holds(self, one: Any, sign: str, other: Any) -> bool | None:
        """Whether a condition holds; None for an equality that may or may not."""
        room = sympy.expand(other - one)
        least, most = self._bounds(room)
        if sign == "=":
            if room == 0:
                return True
            return False if least.is_positive or most.is_negative else None
        if sign != "≤":
            raise NotHere("a condition on a set")
        if least.is_nonnegative:
            return True
        if most.is_negative:
            return False
        raise self._split(room)

    def _bounds(self, room: sympy.Expr) -> tuple[sympy.Expr, sympy.Expr]:
        """The least and the largest value, over the ranges of all indices."""
        least = most = room
        for index, size in reversed(self.ranges.items()):
            ends = (sympy.S.Zero, size - 1)
            low, high = least.coeff(index), most.coeff(index)
            least = sympy.expand(least.subs(index, ends[bool(low.is_negative)]))
            most = sympy.expand(most.subs(index, ends[not high.is_negative]))
        return least, most

    def _split(self, room: sympy.Expr) -> Exception:
        """Where the innermost index passes the point at which room ≥ 0 changes."""
        for index in reversed(self.ranges):
            if index not in room.free_symbols:
                continue
            slope = room.coeff(index)
            if slope not in (1, -1):
                break
            rest = sympy.expand(room - slope * index)
            point = sympy.expand(rest + 1 if slope == -1 else -rest)
            least, most = self._bounds(sympy.expand(self.ranges[index] - point))[0], point
            if least.is_nonnegative and self._bounds(most)[0].is_nonnegative:
                return Split(index, point)
            break
        return NotHere("a condition whose cases depend on the sizes")


def _refuse(what: str) -> Any:
    raise NotHere(what)


def _is_plain(index: Any) -> bool:
    """Whether an index is linear, without floors and rests."""
    expr = sympy.sympify(index, strict=True)
    return not expr.has(sympy.floor, sympy.Mod, sympy.Abs, Nth) and expr.is_polynomial()


def _placed(rule: Rule, index: sympy.Symbol, value: sympy.Expr) -> Rule:
    """The rule with an expression put in for an index."""

    def put(part: Any) -> Any:
        if isinstance(part, Total) and part.index == index:
            return part  # an index of its own, of the same name
        if isinstance(part, tuple):
            return tuple(map(put, part))
        if is_dataclass(part) and not isinstance(part, type):
            return replace(part, **{f.name: put(getattr(part, f.name)) for f in fields(part)})
        if isinstance(part, Head):
            return Head(part.args[0], put(part.head))
        if isinstance(part, sympy.Expr) and not isinstance(part, MatrixExpr):
            return part if not part.has(index) else sympy.expand(part.xreplace({index: value}))
        return part

    return put(rule)  # type: ignore[no-any-return]
