"""Entry rules in the normal form over symbolic indices: proofs for all sizes at once.

An entry (i, j) with symbolic i and j is brought to the normal form of `normal.py`. A condition on
an index (j ≤ i in a causal mask, the seam of two blocks) is decided from the ranges of the indices,
or the sum or the entry is split there and both parts are proven. Where it depends on which of two
sizes is larger, both cases are proven.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from fractions import Fraction
from typing import Any

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.algebra import normal, sums
from symattn.algebra.normal import NotHere, Poly
from symattn.algebra.sums import Ranges, Sums
from symattn.nodes.entrywise import Diagonal
from symattn.nodes.heads import Head
from symattn.nodes.rule import (
    Apply,
    Cases,
    Const,
    Entry,
    Exp,
    Named,
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
from symattn.nodes.scale import Quotient
from symattn.step import HEAD

_MOST_SPLITS = 8


class Split(Exception):
    """Raised where a condition holds for the indices below a point only."""

    def __init__(self, index: sympy.Symbol, point: sympy.Expr) -> None:
        super().__init__(index, point)
        self.index, self.point = index, point


class NeedOrder(Exception):
    """Raised where a condition depends on whether a size is at least another one, or a number."""

    def __init__(self, size: sympy.Symbol, least: sympy.Expr) -> None:
        super().__init__(size, least)
        self.size, self.least = size, least

    def cases(self, more: sympy.Symbol) -> list[dict[sympy.Symbol, sympy.Expr]]:
        """All cases, `more` being ≥ 0: it is at least that, or it is less."""
        above = {self.size: self.least + more}
        if isinstance(self.least, sympy.Symbol):
            return [above, {self.least: self.size + 1 + more}]
        return [above, *({self.size: sympy.Integer(k)} for k in range(1, int(self.least)))]


@dataclass
class EntryForms:
    """The normal forms of the entries of one side of a statement, under its hypotheses."""

    sums: Sums
    #: Letters that stand for an expression: the steps of a derivation, or definitions.
    means: Mapping[str, MatrixExpr] = field(default_factory=dict)
    positive: frozenset[str] = frozenset()
    #: Sums that a hypothesis gives a value, and that value: Σ_l k_il² is c.
    known_sums: list[tuple[normal.Factor, Poly]] = field(default_factory=list)
    #: Whether something has no value for some inputs: a divisor that may be 0, a root, a logarithm.
    partial: bool = False

    @property
    def ranges(self) -> Ranges:
        """The ranges of all indices."""
        return self.sums.ranges

    def entry(self, expr: Any, i: Any, j: Any) -> Poly:
        """Entry (i, j) of an expression; a scalar is the same everywhere."""
        poly = self.entry_or_none(expr, i, j)
        if poly is None:
            raise NotHere("an entry is −∞")
        return poly

    def entry_or_none(self, expr: Any, i: Any, j: Any) -> Poly | None:
        """Entry (i, j), or None where it is −∞."""
        if not isinstance(expr, MatrixExpr | sympy.MatrixBase):
            return self.scalar(sympy.sympify(expr, strict=True))
        poly = self._rule_of(expr, i, j)
        if poly is None:
            return None
        return self.sums.changed(poly, self._with_known_sums) if self.known_sums else poly

    def _rule_of(self, expr: Any, i: Any, j: Any) -> Poly | None:
        if isinstance(expr, sympy.MatrixBase):
            raise NotHere("a matrix of numbers has its sizes")
        return self.rule(rule_of(expr, i, j))

    def _with_known_sums(self, factor: normal.Factor) -> Poly:
        """A factor, known sums replaced by their values in it."""
        for pattern, value in self.known_sums:
            if factor[0] == "sum":
                mine, free = sorted(normal.indices(factor), key=str), normal.indices(pattern)
                places = dict(zip(sorted(free, key=str), mine, strict=False))
                if len(mine) == len(free) and self.sums.substitute(
                    normal.single(pattern), places
                ) == normal.single(factor):
                    return self.sums.substitute(value, places)
        return self.sums.inside(factor, self._with_known_sums)

    def rule(self, rule: Rule) -> Poly | None:
        """A rule's normal form; None for −∞."""
        match rule:
            case Entry(matrix, i, j):
                return self._letter_entry(matrix, i, j)
            case Const(value):
                return None if value is sympy.S.NegativeInfinity else self.scalar(value)
            case Ordinal(index):
                return normal.size_poly(index) if _is_plain(index) else _refuse("an index")
            case Plus(terms):
                parts = [self.rule(term) for term in terms]
                return None if None in parts else normal.plus(p for p in parts if p is not None)
            case Named(_, _, value):
                return self.rule(value)
            case Times(factors):
                return self._times(factors)
            case Over(num, den, empty):
                below = self._divisor(self._finite(den), empty)
                above = self.rule(num)
                if above is None:
                    return None if normal.evidently_positive(below) else _refuse("−∞ over that")
                return normal.times(above, below)
            case Total(body, index, size):
                return self._total(body, index, sympy.sympify(size, strict=True))
            case Exp(body):
                inner = self.rule(body)
                return {} if inner is None else normal.exp(inner)
            case Apply(name, body):
                return self._apply(name, self.rule(body))
            case Power(body, exponent):
                inner = self._finite(body)
                return (
                    self._divisor(inner, None, -exponent)
                    if exponent < 0
                    else normal.power(inner, exponent)
                )
            case Cases():
                return self._cases(rule)
            case OfRow(name, terms, index, size) if name in _LINES and index is not None:
                return self._of_line(_LINES[name], terms[0], index, size)
            case OfRow(name):
                raise NotHere(f"{name} of a row is not covered for all sizes")
        raise NotHere("an unknown rule")

    def _times(self, factors: tuple[Rule, ...]) -> Poly | None:
        """A product; −∞ times what is evidently positive is −∞."""
        parts = [self.rule(factor) for factor in factors]
        out = normal.constant(1)
        for part in parts:
            if part is not None:
                out = normal.times(out, part)
        if None not in parts:
            return out
        return None if normal.evidently_positive(out) else _refuse("−∞ in a product")

    def _divisor(self, below: Poly, empty: Any, power: int = 1) -> Poly:
        """1 over a divisor, which is not 0 or is said not to be.

        A sum of exponentials that may be over nothing is 0 there, and its row 0 by definition.
        """
        if not self._never_zero(below):
            if empty is not None and normal.evidently_positive(below):
                raise NotHere("a sum that may be over nothing")
            self.partial = True
        return normal.power(below, -power)

    def _never_zero(self, poly: Poly) -> bool:
        return normal.evidently_positive(poly) and any(
            all(self._is_not_empty(factor) for factor, _ in mono) for mono in poly
        )

    def _is_not_empty(self, factor: normal.Factor) -> bool:
        """Whether the sums in a positive factor have something to sum, whatever the indices are."""
        if factor[0] == "poly":
            return all(self._is_not_empty(inner) for mono, _ in factor[1] for inner, _ in mono)
        if factor[0] != "sum":
            return True
        _, bound = self.sums.renamed(factor[1], {})
        return all(self.ranges.nonnegative(size - 1) for _, size in bound) and all(
            self._is_not_empty(inner) for inner, _ in factor[2]
        )

    def _of_line(self, name: str, body: Rule, index: Any, size: Any) -> Poly | None:
        """The largest entry of a line, or its τ; entries of −∞ have no part in it."""
        lines = []
        for poly, letter, count in self._parts(body, index, size):
            if poly is not None:
                if not self.ranges.nonnegative(count - 1):
                    raise NotHere("a row that may have nothing in it")
                lines.append(self.sums.line(name, poly, letter, count))
        if len(lines) > 1 and name != "max":
            raise NotHere(f"{name} of a row in parts")
        out = lines[0] if lines else None
        for line in lines[1:]:  # max(a, b) = (a + b + |a − b|)/2
            apart = normal.absolute(normal.plus((out or {}, normal.scaled(line, -1))))
            out = normal.scaled(normal.plus((out or {}, line, apart)), Fraction(1, 2))
        return out

    def _parts(
        self, body: Rule, index: Any, size: Any, start: Any = sympy.S.Zero, left: int = _MOST_SPLITS
    ) -> Iterator[tuple[Poly | None, sympy.Symbol, Any]]:
        """The body along a line, cut where a condition inside changes: index and size of each part.

        None is a part that is −∞.
        """
        letter = self.ranges.new(size)
        try:
            poly = self.rule(_placed(body, index, start + letter))
        except Split as split:
            if split.index != letter or left == 0:
                raise
            rest = sympy.expand(size - split.point), sympy.expand(start + split.point)
            yield from self._parts(body, index, split.point, start, left - 1)
            yield from self._parts(body, index, *rest, left - 1)
            return
        yield poly, letter, size

    def _finite(self, rule: Rule) -> Poly:
        out = self.rule(rule)
        if out is None:
            raise NotHere("−∞ in a product")
        return out

    def _letter_entry(self, matrix: Any, i: Any, j: Any) -> Poly | None:
        name = str(getattr(matrix, "name", ""))
        if name in self.means:
            meaning = self.means[name]
            if isinstance(matrix, Head):
                meaning = meaning.subs(HEAD, matrix.head)
            return self._rule_of(meaning, i, j)
        if isinstance(matrix, sympy.Inverse):
            self.partial = True
            known = self.means.get(str(getattr(matrix.arg, "name", "")))
            if known is not None or not isinstance(matrix.arg, sympy.MatrixSymbol):
                return self._inverse_of(matrix.arg if known is None else known, i, j)
            self.sums.know_inverse(matrix)
        places = (sympy.sympify(i, strict=True), sympy.sympify(j, strict=True))
        if name in self.ranges.permuted:  # p_ij is 1 where j = π(i)
            return self.ranges.equals(places[1], sums.permuted(name, places[0]))
        return normal.single(("entry", matrix, *places, name in self.positive))

    def _inverse_of(self, base: Any, i: Any, j: Any) -> Poly | None:
        """Entry (i, j) of the inverse of a diagonal matrix, a product, a transpose, a multiple."""
        match base:
            case Diagonal():
                (vector,) = base.args
                along = rule_of(vector, i, 0) if vector.shape[1] == 1 else rule_of(vector, 0, i)
                below = self._divisor(self._finite(along), None)
                return normal.times(self.ranges.equals(i, j), below)
            case sympy.Inverse():
                return self._rule_of(base.arg, i, j)
            case sympy.Transpose():
                return self._rule_of(sympy.Inverse(base.arg), j, i)
            case Quotient():
                turned = sympy.MatMul(base.args[1], sympy.Inverse(base.args[0]))
                return self._rule_of(turned, i, j)
            case sympy.MatMul():
                number, factors = base.as_coeff_matrices()
                size = base.shape[0]
                if all(self.ranges.same(side, size) for f in factors for side in f.shape):
                    turned = sympy.MatMul(1 / number, *map(sympy.Inverse, reversed(factors)))
                    return self._rule_of(turned, i, j)
        raise NotHere("the inverse of an expression")

    def _total(self, body: Rule, index: sympy.Symbol, size: sympy.Expr) -> Poly:
        """Σ of the body, cut where a condition inside changes."""
        out = []
        for poly, letter, count in self._parts(body, index, size):
            if poly is None:
                raise NotHere("a sum of −∞")
            single = count == 1
            out.append(
                self.sums.substitute(poly, {letter: sympy.S.Zero})
                if single
                else self.sums.summed(poly, [(letter, count)])
            )
        return normal.plus(out)

    def _apply(self, name: str, inner: Poly | None) -> Poly | None:
        if inner is None:
            return {} if name in ("σ", "max0") else _refuse("a function of −∞")
        one = normal.constant(1)
        match name:
            case "√":
                self.partial |= not normal.evidently_nonnegative(inner)
                return normal.power(inner, Fraction(1, 2))
            case "tanh":
                twice = normal.exp(normal.scaled(inner, 2))
                return normal.times(
                    normal.plus((twice, normal.constant(-1))),
                    normal.power(normal.plus((twice, one)), -1),
                )
            case "σ":
                up = normal.exp(inner)
                return normal.times(up, normal.power(normal.plus((one, up)), -1))
            case "ln":
                self.partial |= not normal.evidently_positive(inner)
                return self._log(inner)
            case "abs":
                return normal.absolute(inner)
            case "cos" | "sin":
                return normal.cos_sin(inner)[name == "sin"]
            case "erf":  # odd
                lead = normal.primitive(inner)[2] if inner else 0
                odd = normal.scaled(inner, -1 if lead < 0 else 1)
                found = normal.single(("fn", name, frozenset(odd.items())))
                return normal.scaled(found, -1 if lead < 0 else 1) if inner else {}
            case "max0":  # (x + |x|) / 2
                return normal.scaled(normal.plus((inner, normal.absolute(inner))), Fraction(1, 2))
        return normal.single(("fn", name, frozenset(inner.items())))

    def _log(self, inner: Poly) -> Poly:
        """Ln of a product of positive factors and squares is a sum."""
        if len(inner) == 1:
            ((mono, coefficient),) = inner.items()
            odd = [f for f, p in mono if not normal.is_nonnegative(f) and p % 2]
            if coefficient > 0 and len(odd) == 1 and dict(mono)[odd[0]].denominator == 1:
                normal.known_nonnegative(normal.single(odd[0]))  # the others are ≥ 0
                odd = []
            if coefficient > 0 and not odd:
                terms = [
                    normal.scaled(_ln(normal.constant(prime)), times)
                    for prime, times in sympy.factorrat(
                        sympy.Rational(coefficient.numerator, coefficient.denominator)
                    ).items()
                ]
                for factor, p in mono:
                    if factor[0] == "exp":
                        terms.append({factor[1]: p})
                    else:
                        terms.append(normal.scaled(_ln(normal.absolute(normal.single(factor))), p))
                return normal.plus(terms)
        return _ln(inner)

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
            case sympy.log():
                return self._of_number("ln", value)
            case sympy.Abs():
                return self._of_number("abs", value)
            case sympy.tanh() | sympy.cos() | sympy.sin():
                return self._of_number(type(value).__name__, value)
            case sympy.Pow() if isinstance(value.args[1], sympy.Rational):
                base, power = value.args
                exponent = Fraction(int(power.p), int(power.q))
                inner = self.scalar(base)
                if exponent.denominator != 1 and base.is_negative:
                    raise NotHere("a root of a negative number")
                self.partial |= exponent.denominator != 1 and not normal.evidently_nonnegative(
                    inner
                )
                self.partial |= exponent < 0 and not self._never_zero(inner)
                return normal.power(inner, exponent)
        if value is sympy.S.Exp1:
            return normal.exp(normal.constant(1))
        if value is sympy.S.Pi:
            return normal.single(("scalar", value))
        raise NotHere(f"{type(value).__name__} is not covered")

    def _of_number(self, name: str, value: sympy.Expr) -> Poly:
        out = self._apply(name, self.scalar(value.args[0]))
        assert out is not None
        return out

    # ---- conditions ------------------------------------------------------------------------

    def _cases(self, rule: Cases) -> Poly | None:
        left, right = rule.left, rule.right
        if not isinstance(left, Ordinal) or not isinstance(right, Ordinal):
            raise NotHere("cases that depend on entries are not covered")
        one, other = (sympy.sympify(side.index, strict=True) for side in (left, right))
        if one.has(Nth) or other.has(Nth) or not _is_plain(one) or not _is_plain(other):
            raise NotHere("a condition on a list")
        holds = self._holds(one, rule.sign, other)
        if holds is not None:
            return self.rule(rule.value if holds else rule.otherwise)
        value, otherwise = self.rule(rule.value), self.rule(rule.otherwise)
        if value is None or otherwise is None:
            raise NotHere("−∞ on a diagonal")
        same = self.ranges.equals(one, other)
        unlike = normal.plus((normal.constant(1), normal.scaled(same, -1)))
        return normal.plus((normal.times(same, value), normal.times(unlike, otherwise)))

    def _holds(self, one: Any, sign: str, other: Any) -> bool | None:
        """Whether a condition holds; None for an equality that may or may not."""
        room = sympy.expand(other - one)
        if sign == "=":
            if room == 0:
                return True
            apart = self.ranges.nonnegative(room - 1) or self.ranges.nonnegative(-room - 1)
            return False if apart else None
        if sign != "≤":
            raise NotHere("a condition on a set")
        if self.ranges.nonnegative(room):
            return True
        if self.ranges.nonnegative(-room - 1):
            return False
        raise self._split(room)

    def _split(self, room: sympy.Expr) -> Exception:
        """Where an index passes the point at which room ≥ 0 changes: the innermost one.

        The point has to lie within the index's range; where that depends on another index, that
        one is split first, and where it depends on the sizes alone, on which is larger.
        """
        inside = [x for x in room.free_symbols if x in self.ranges.sizes]
        if not inside:
            return self._order(room)
        needed = {y for x in inside for y in normal.letters(self.ranges.sizes[x])}
        last = sorted((x for x in inside if x not in needed), key=_number_of)[-1]
        slope = room.coeff(last)
        if slope not in (1, -1) or room.has(sums.Place):
            return NotHere("a condition that is not on one index")
        rest = sympy.expand(room - slope * last)
        point = sympy.expand(rest + 1 if slope == -1 else -rest)
        for needs in (point, sympy.expand(self.ranges.sizes[last] - point)):
            if not self.ranges.nonnegative(needs):
                return self._split(needs)
        return Split(last, point)

    def _order(self, room: sympy.Expr) -> Exception:
        """The two sizes, or the size and the number, of which it depends whether room ≥ 0."""
        number, rest = room.as_coeff_Add()
        terms = rest.as_coefficients_dict()
        more = [s for s, c in terms.items() if c == 1 and s.is_Symbol]
        less = [s for s, c in terms.items() if c == -1 and s.is_Symbol]
        known = {
            *self.ranges.order,
            *(s for size in self.ranges.order.values() for s in size.free_symbols),
        }
        if len(more) + len(less) != len(terms) or {*more, *less} & known:
            return NotHere("a condition whose cases depend on the sizes")
        if len(more) == len(less) == 1:
            return NeedOrder(more[0], less[0])
        least = -number if more else number + 1  # s − 3 ≥ 0 from 3 on, 3 − s < 0 from 4 on
        if len(terms) == 1 and least.is_Integer and 1 <= least <= _MOST_NUMBER:
            return NeedOrder((more or less)[0], least)
        return NotHere("a condition whose cases depend on the sizes")


#: The largest number that a size is compared with by going through all smaller ones.
_MOST_NUMBER = 12


def _ln(inner: Poly) -> Poly:
    return normal.single(("ln", frozenset(inner.items())))


#: Functions of a row, and what the normal form calls them.
_LINES = {"max": "max", "τ": "τ"}


def _number_of(index: sympy.Symbol) -> int:
    """When an index was made."""
    return int(index.name.lstrip("l"))


def _refuse(what: str) -> Any:
    raise NotHere(what)


def _is_plain(index: Any) -> bool:
    """Whether an index is linear, without floors and rests."""
    expr = sympy.sympify(index, strict=True)
    return not expr.has(sympy.floor, sympy.Mod, sympy.Abs, Nth) and expr.is_polynomial()


def _placed(rule: Rule, index: sympy.Symbol, value: sympy.Expr) -> Rule:
    """The rule with an expression put in for an index."""

    def replaced(part: Any) -> Any:
        if isinstance(part, Total) and part.index == index:
            return part  # an index of its own, of the same name
        if isinstance(part, tuple):
            return tuple(map(replaced, part))
        if is_dataclass(part) and not isinstance(part, type):
            return replace(part, **{f.name: replaced(getattr(part, f.name)) for f in fields(part)})
        if isinstance(part, Head):
            return Head(part.args[0], replaced(part.head))
        if isinstance(part, sympy.Expr) and not isinstance(part, MatrixExpr):
            return part if not part.has(index) else sympy.expand(part.xreplace({index: value}))
        return part

    return replaced(rule)  # type: ignore[no-any-return]
