"""Proofs for all sizes: both sides in the normal form over indices, with what is assumed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.algebra import normal
from symattn.algebra.effort import Spent
from symattn.algebra.normal import NotHere, Poly
from symattn.algebra.sums import Contraction, Ranges, Sums, exprs
from symattn.algebra.symbolic_entries import EntryForms, NeedOrder, Split
from symattn.derivation import Derivation
from symattn.errors import SymattnError
from symattn.nodes.base import shape_of

_MOST_SPLITS, _MOST_ORDERS = 8, 3


@dataclass(frozen=True)
class AllSizes:
    """The outcome of an attempt to prove a statement for all sizes.

    `partial` says that a side has no value for some inputs (a divisor that may be 0, an inverse,
    a root, a logarithm): then the two are equal where both are defined. `why` says what was
    missing where it is no proof.
    """

    proven: bool
    partial: bool = False
    why: str = ""


def proven_for_all_sizes(statement: Any) -> AllSizes:
    """Whether both sides have the same normal form, for symbolic sizes and indices."""
    if statement.left.meaning == statement.right.meaning:
        return AllSizes(True, why="both sides are the same expression")
    try:
        with normal.one_statement():
            return _under(statement, {}, 0)
    except (NotHere, Split, NeedOrder) as trouble:
        return AllSizes(False, why=str(trouble))
    except Spent:
        raise
    except (SymattnError, RecursionError) as trouble:
        return AllSizes(False, why=str(trouble).partition("\n")[0])


def _under(statement: Any, order: dict[Any, Any], depth: int) -> AllSizes:
    """The proof where sizes are ordered so, and in both cases if another order is needed."""
    sums = Sums(Ranges(order=order))
    sides = [_prepared(statement, side.meaning, sums) for side in (statement.left, statement.right)]
    try:
        proven = _Entries(*sides).proven()
    except NeedOrder as need:
        if depth == _MOST_ORDERS:
            raise NotHere("too many orders of sizes") from None
        more = sympy.Symbol(f"more{depth}", integer=True, nonnegative=True)
        found = [_under(statement, {**order, **case}, depth + 1) for case in need.cases(more)]
        failed = [one for one in found if not one.proven]
        return failed[0] if failed else AllSizes(True, any(one.partial for one in found))
    return AllSizes(
        proven,
        any(proof.partial for _, proof in sides),
        "" if proven else "the normal forms differ",
    )


def _prepared(statement: Any, meaning: Any, sums: Sums) -> tuple[Any, EntryForms]:
    """One side and what is known about it; its steps are its own, the hypotheses are shared."""
    means: dict[str, MatrixExpr] = {}
    for name in statement.permutations:
        letter = statement.letters().get(name)
        if letter is not None:
            sums.ranges.permuted[name] = letter.shape[0]
    defined, mirrored, others = definitions(statement.where)
    means.update(defined)
    for name, sign in mirrored.items():
        raw = sympy.MatrixSymbol(f"{name}°", *statement.letters()[name].shape)
        turned_ = sympy.MatMul(sign, sympy.Transpose(raw))
        means[name] = sympy.MatMul(sympy.S.Half, sympy.MatAdd(raw, turned_))
    for one, two in others:
        turned = orthogonal(one, two)
        if turned is not None:
            symbol, columns = turned
            # Rᵀ R = I for orthonormal columns; for a square matrix R Rᵀ = I too
            rows, width = symbol.shape
            sums.unit.append(
                Contraction(symbol, columns, symbol, not columns, rows if columns else width)
            )
            if rows == width:
                sums.unit.append(Contraction(symbol, not columns, symbol, columns, rows))
    if isinstance(meaning, Derivation):
        means.update((step.letter, step.expr) for step in meaning.steps)
        meaning = meaning.steps[-1].expr
    proof = EntryForms(sums, means, statement.positive)
    for one, two in others:
        _learn(proof, one, two)
    return meaning, proof


def same_shape(one: Any, two: Any) -> bool:
    """Whether both are matrices of one shape."""
    if not isinstance(one, MatrixExpr) or not isinstance(two, MatrixExpr | sympy.MatrixBase):
        return False
    pairs = zip(shape_of(one), shape_of(two), strict=True)
    return all(sympy.expand(a - b) == 0 for a, b in pairs)


def definition(one: Any, two: Any) -> tuple[str, Any] | None:
    """The letter that an equation defines and what it is: K1 = K, and A = Aᵀ.

    A symmetric matrix is ½ (B + Bᵀ) with any B, for which the letter itself serves. A number that
    is repeated to fill a matrix defines nothing here.
    """
    if not same_shape(one, two):
        return None
    if isinstance(two, sympy.MatrixSymbol) and not isinstance(one, sympy.MatrixSymbol):
        one, two = two, one
    if isinstance(one, sympy.Transpose) and isinstance(two, MatrixExpr):
        one, two = one.arg, _turned(two)
    if not isinstance(one, sympy.MatrixSymbol):
        return None
    turned = {sympy.Transpose(one): 1, sympy.MatMul(-1, sympy.Transpose(one)): -1}
    if two in turned and one.shape[0] == one.shape[1]:
        mirrored = sympy.MatMul(turned[two], sympy.Transpose(one))
        return one.name, sympy.MatMul(sympy.S.Half, sympy.MatAdd(one, mirrored))
    letters = {s.name for s in two.atoms(sympy.MatrixSymbol)} if hasattr(two, "atoms") else set()
    return None if one.name in letters else (one.name, two)


def definitions(
    where: Sequence[Any],
) -> tuple[dict[str, Any], dict[str, int], list[tuple[Any, Any]]]:
    """The letters that hypotheses define, those that are (skew-)symmetric, and all other equations.

    A letter is defined once, and not by itself, also on a detour; signs are 1 for A = Aᵀ and −1
    for A = −Aᵀ.
    """
    means: dict[str, Any] = {}
    mirrored: dict[str, int] = {}
    others: list[tuple[Any, Any]] = []
    for one, two in ((one.meaning, two.meaning) for one, two in where):
        found = definition(one, two)
        if found is None or found[0] in {**means, **mirrored}:
            others.append((one, two))
            continue
        name, meaning = found
        used = {s.name for s in meaning.atoms(sympy.MatrixSymbol)}
        if name in used and meaning.func is sympy.MatMul and len(used) == 1:
            mirrored[name] = -1 if meaning.has(sympy.S.NegativeOne) else 1
            continue
        reached = set(used)
        while (
            more := {
                s.name
                for known in reached & set(means)
                for s in means[known].atoms(sympy.MatrixSymbol)
            }
            - reached
        ):
            reached |= more
        if name in reached:
            others.append((one, two))
        else:
            means[name] = meaning
    return means, mirrored, others


def _turned(expr: MatrixExpr) -> MatrixExpr:
    """The transpose of ± a letter; any other expression stands under the sign."""
    number, factors = expr.as_coeff_matrices() if isinstance(expr, sympy.MatMul) else (1, [expr])
    if number == -1 and len(factors) == 1:
        return sympy.MatMul(-1, sympy.Transpose(factors[0]))
    return sympy.Transpose(expr)


def _learn(proof: EntryForms, one: Any, two: Any) -> None:
    """A hypothesis whose left side is one sum, Σ_l k_il² = c, as a known sum."""
    if not isinstance(one, MatrixExpr) or isinstance(one, sympy.MatrixSymbol):
        return
    if isinstance(two, MatrixExpr) and not same_shape(one, two):
        return
    letters = [0 if size == 1 else proof.ranges.new(size) for size in shape_of(one)]
    try:
        left, right = proof.entry(one, *letters), proof.entry(two, *letters)
    except (NotHere, Split, NeedOrder):
        return
    if len(left) == 1:
        ((mono, coefficient),) = left.items()
        if len(mono) == 1:
            ((factor, power),) = mono
            if factor[0] == "sum" and power == 1:
                proof.known_sums.append((factor, normal.scaled(right, 1 / coefficient)))


def orthogonal(one: Any, two: Any) -> tuple[Any, bool] | None:
    """The letter R of Rᵀ R = I (True) or R Rᵀ = I (False)."""
    if not isinstance(two, sympy.Identity) or not isinstance(one, sympy.MatMul):
        return None
    coefficient, factors = one.as_coeff_matrices()
    if len(factors) != 2 or coefficient != 1:
        return None
    a, b = factors
    if isinstance(a, sympy.Transpose) and a.arg == b and isinstance(b, sympy.MatrixSymbol):
        return b, True
    if isinstance(b, sympy.Transpose) and b.arg == a and isinstance(a, sympy.MatrixSymbol):
        return a, False
    return None


class _Entries:
    """Whether entry (i, j) of both sides is the same, for all i and j."""

    def __init__(self, left: tuple[Any, EntryForms], right: tuple[Any, EntryForms]) -> None:
        self.sides = (left, right)
        self.sums = left[1].sums

    def proven(self) -> bool:
        """Whether all entries agree. Raises `NotHere` for what the normal form does not cover."""
        shapes = [shape_of(one) for one, _ in self.sides if isinstance(one, MatrixExpr)]
        shapes = shapes or [(sympy.S.One, sympy.S.One)]
        if len(shapes) == 2 and not all(map(self.sums.ranges.same, *shapes)):
            raise NotHere("the shapes differ")
        rows, self.columns = shapes[0]
        return self._rows(sympy.S.Zero, rows, _MOST_SPLITS)

    def _rows(self, start: Any, size: Any, left: int) -> bool:
        if size == 1:
            return self._columns(start, sympy.S.Zero, self.columns, _MOST_SPLITS)
        letter = self.sums.ranges.new(size)
        try:
            return self._columns(start + letter, sympy.S.Zero, self.columns, _MOST_SPLITS)
        except Split as split:
            if split.index != letter or left == 0:
                raise NotHere("a sum that cannot be split") from None
            rest = sympy.expand(start + split.point), sympy.expand(size - split.point)
            return self._rows(start, split.point, left - 1) and self._rows(*rest, left - 1)

    def _columns(self, row: Any, start: Any, size: Any, left: int) -> bool:
        if size == 1:
            return self._same(row, start)
        letter = self.sums.ranges.new(size)
        try:
            return self._same(row, start + letter)
        except Split as split:
            if split.index != letter or left == 0:
                raise
            rest = sympy.expand(start + split.point), sympy.expand(size - split.point)
            return self._columns(row, start, split.point, left - 1) and self._columns(
                row, *rest, left - 1
            )

    def _same(self, row: Any, column: Any) -> bool:
        i, j = (int(x) if x.is_Integer else x for x in (row, column))
        polys: list[Poly | None] = [proof.entry_or_none(side, i, j) for side, proof in self.sides]
        one, other = polys
        if one is None or other is None:
            return one is None and other is None  # both −∞
        difference = normal.plus((one, normal.scaled(other, -1)))
        return normal.is_zero(self._cut(self._met(self._signed(difference))))

    def _signed(self, poly: Poly) -> Poly:
        """|x| is x where a root is taken of x anywhere, which is known at the end only."""

        def change(factor: normal.Factor) -> Poly:
            if factor[:2] == ("fn", "abs"):
                return normal.absolute(self.sums.changed(dict(factor[2]), change))
            return self.sums.inside(factor, change)

        text = "".join(normal.spelled(mono) for mono in poly)
        return self.sums.changed(poly, change) if "'abs'" in text else poly

    def _cut(self, poly: Poly) -> Poly:
        """Sums over parts of a range as differences of sums from 0, so that equal parts cancel.

        Σ over i + 1 … n − 1 is the sum over 0 … n − 1 less that over 0 … i, and that is the sum
        over 0 … i − 1 and its last term.
        """
        out = []
        for mono, coefficient in poly.items():
            done = normal.constant(coefficient)
            for factor, p in normal.in_order(mono):
                part = self._prefixes(factor) if factor[0] == "sum" and p == 1 else None
                part = normal.single(factor, p) if part is None else self._cut(part)
                done = normal.times(done, part)
            out.append(done)
        return normal.plus(out)

    def _prefixes(self, factor: normal.Factor) -> Poly | None:
        """A sum as sums that begin at 0 and whose sizes have no number added; None if it is one."""
        if len(factor[1]) != 1:
            return None
        renamed, ((letter, size),) = self.sums.renamed(factor[1], {})
        body = self.sums.substitute_mono(factor[2], renamed)
        inside = [part for mono in body for part, _ in mono if letter in normal.indices(part)]
        if any(part[0] in ("=", "sum", "line") for part in inside):
            return None
        starts = {sympy.expand(e - letter) for part in inside for e in exprs(part) if e.has(letter)}
        start = starts.pop() if len(starts) == 1 else None
        if start is None or letter in start.free_symbols:
            return None
        if normal.letters(start):
            moved = self.sums.substitute(body, {letter: letter - start})
            whole = self.sums.summed(moved, [(letter, sympy.expand(start + size))])
            again = self.sums.substitute(moved, {letter: (first := self.sums.ranges.new(start))})
            return normal.plus(
                (whole, normal.scaled(self.sums.summed(again, [(first, start)]), -1))
            )
        more, rest = size.as_coeff_Add()
        if start != 0 or not normal.letters(rest) or not more.is_Integer or more <= 0:
            return None
        if not self.sums.ranges.nonnegative(rest):
            return None
        last = [self.sums.substitute(body, {letter: rest + k}) for k in range(int(more))]
        return normal.plus((self.sums.summed(body, [(letter, rest)]), *last))

    def _met(self, poly: Poly) -> Poly:
        """Beside a condition i = j, j is written for i in all other factors."""
        out = []
        for mono, coefficient in poly.items():
            done: Poly = {mono: coefficient}
            for factor, _ in normal.in_order(mono):
                if factor[0] == "=":
                    done = self._placed(mono, coefficient, factor)
                    break
            out.append(done)
        return normal.plus(out)

    def _placed(self, mono: normal.Mono, coefficient: Any, condition: normal.Factor) -> Poly:
        rest = frozenset((factor, p) for factor, p in mono if factor != condition)
        for index in sorted(normal.indices(condition), key=str):
            value = self.sums.ranges.solved(condition[1], condition[2], index)
            if value is not None:
                term = normal.scaled(self.sums.substitute_mono(rest, {index: value}), coefficient)
                return normal.times(term, normal.single(condition))
        return {mono: coefficient}
