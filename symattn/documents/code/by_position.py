"""What a program is given by position, as it follows from sizes: counts, powers, masks, tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arithmetic.base import Array
from symattn.nodes.masks import HIDDEN, SEEN
from symattn.nodes.rule import Const, Ordinal, Plus, Rule, branches, rule_of

#: A row and a column, counted from 0, in conditions and tables.
ROW, COLUMN = sympy.Symbol("i", integer=True), sympy.Symbol("j", integer=True)

#: Left, sign and right of a condition on them.
Condition: TypeAlias = tuple[sympy.Expr, str, sympy.Expr]


class Sized(int):
    """A whole number together with the expression in the sizes that it follows from.

    The number is that of large sizes: compared by it are the expressions themselves.
    """

    expr: sympy.Expr

    def __new__(cls, value: int, expr: sympy.Expr) -> Sized:
        """The number; it is compared and computed with as one."""
        made = super().__new__(cls, value)
        made.expr = expr
        return made


@dataclass(frozen=True)
class Seen:
    """A mask: 0 where, for any of these lists, all conditions hold; −∞ elsewhere."""

    any_of: tuple[tuple[Condition, ...], ...]

    def gives(self, matrix: Array, sizes: Mapping[sympy.Symbol, int]) -> bool:
        """Whether this is the matrix at these sizes."""
        relations = {"=": sympy.Eq, "≤": sympy.Le}
        condition = sympy.Or(
            *(
                sympy.And(
                    *(relations[sign](left, right).subs(sizes) for left, sign, right in every)
                )
                for every in self.any_of
            )
        )
        rows, columns = np.indices(matrix.shape)
        seen = sympy.lambdify((ROW, COLUMN), condition, "numpy")(rows, columns)
        return np.array_equal(np.where(seen, 0, -np.inf), matrix.astype(float))


@dataclass(frozen=True)
class Counted:
    """The whole numbers from `start` up to `stop`, without it."""

    start: int
    stop: int


@dataclass(frozen=True)
class Powers:
    """base^(−k/size), or base^(k/size), for k = 0, step, 2 · step, … below the size."""

    base: int
    size: int
    step: int
    falls: bool


@dataclass(frozen=True)
class Table:
    """Places that follow from row i and column j: a i + b j + c, kept from `low` to `high`."""

    rows: int
    columns: int
    a: int
    b: int
    c: int
    low: int | None = None
    high: int | None = None


def cut(table: Array, a: int, b: int) -> tuple[int, int, int] | None:
    """c, low and high with which a table is a i + b j + c kept from low to high; None if not."""
    low, high = int(table.min()), int(table.max())
    plain = a * np.arange(len(table))[:, None] + b * np.arange(table.shape[1])
    inside = (table > low) & (table < high)
    if not inside.any():
        return None
    c = int((table - plain)[inside][0])
    return (c, low, high) if np.array_equal(np.clip(plain + c, low, high), table) else None


def seen_by(mask: MatrixExpr) -> Seen | None:
    """When a mask lets see, as lists of conditions; None where it cannot be said like that."""
    listed = branches(rule_of(mask, ROW, COLUMN))
    lists = [conditions for value, conditions in listed if value == SEEN]
    hidden = [value for value, _ in listed[len(lists) :]]
    if not lists or any(value != HIDDEN for value in hidden) or not hidden:
        return None
    any_of: list[tuple[Condition, ...]] = []
    for conditions in lists:
        found = [[(_plain(left), sign, _plain(right))] for left, sign, right in conditions]
        for place, ((left, sign, right),) in enumerate(found):
            if sign == "∈" and isinstance(right, sympy.FiniteSet):
                found[place] = [(left, "=", one) for one in sorted(right)]
        several = [part for part in found if len(part) > 1]
        if len(several) > 1 or len(several) == 1 < len(found):
            return None
        rows = [(one,) for one in found[0]] if several else [tuple(part[0] for part in found)]
        if any(None in condition for row in rows for condition in row):
            return None
        any_of += rows
    return Seen(tuple(any_of))


def _plain(rule: Rule) -> sympy.Expr | None:
    """A rule that is a whole number by position; None for any other."""
    match rule:
        case Ordinal(index) | Const(index) | Plus((Ordinal(index),)):
            expr = sympy.sympify(index, strict=True)
            if isinstance(expr, sympy.FiniteSet):
                return expr
            kinds = (sympy.Symbol, sympy.Integer, sympy.Add, sympy.Mul, sympy.Abs, sympy.Mod)
            parts = sympy.preorder_traversal(expr)
            return expr if all(isinstance(part, kinds) for part in parts) else None
    return None
