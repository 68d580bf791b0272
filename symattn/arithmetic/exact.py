"""Exact arithmetic: rationals, radicals and exponentials as SymPy numbers.

Products of rational matrices go through FLINT; entries of a product with quotients are collected
over their common denominators, so that an attention output stays one fraction, N/Z, and does not
repeat Z in each term.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import flint
import numpy as np
import sympy
from numpy.typing import NDArray

from symattn.arithmetic.base import Arithmetic, Array, elementwise, stacked


def _sigmoid(x: sympy.Expr) -> sympy.Expr:
    return 1 / (1 + sympy.exp(-x))


#: The functions an entry rule may apply, as SymPy writes them.
FUNCTIONS: Mapping[str, Callable[[sympy.Expr], sympy.Expr]] = {
    "tanh": sympy.tanh,
    "σ": _sigmoid,
    "√": sympy.sqrt,
    "cos": sympy.cos,
    "sin": sympy.sin,
    "max0": lambda x: sympy.Max(x, 0),
}


class Exact(Arithmetic):
    """SymPy numbers (or symbols) in object arrays."""

    name = "exact"

    def scalar(self, value: sympy.Expr) -> sympy.Expr:
        return value

    def array(self, exact: Array) -> Array:
        return exact

    def exp(self, x: Array) -> Array:
        return elementwise(sympy.exp, x)

    def apply(self, name: str, x: Array) -> Array:
        return elementwise(FUNCTIONS[name], x)

    def hidden(self, x: Array) -> NDArray[np.bool_]:
        return np.asarray(x == sympy.S.NegativeInfinity, dtype=bool)

    def shift(self, x: Array) -> Array:
        return x

    def add(self, a: Array, b: Array) -> Array:
        return np.asarray(a + b, dtype=object)

    def row_sum(self, x: Array) -> Array:
        out = np.empty((*x.shape[:-1], 1), dtype=object)
        for index in np.ndindex(*x.shape[:-1]):
            out[index] = [total(list(x[index]))]
        return out

    def matmul(self, a: Array, b: Array) -> Array:
        return stacked(a, b, _product)


def total(values: list[sympy.Expr]) -> sympy.Expr:
    """The sum of exact values; rationals are added by FLINT, which is far quicker."""
    if all(isinstance(value, sympy.Rational) for value in values):
        added = sum((flint.fmpq(int(v.p), int(v.q)) for v in values), flint.fmpq(0))
        return sympy.Rational(int(added.p), int(added.q))
    return sympy.Add(*values)


def _product(a: Array, b: Array) -> Array:
    if _is_rational(a) and _is_rational(b):
        out = _fmpq_mat(a) * _fmpq_mat(b)
        entries = [sympy.Rational(int(x.p), int(x.q)) for x in out.entries()]
        return filled((a.shape[0], b.shape[1]), entries)
    left = [[sympy.fraction(x) for x in line] for line in a]
    right = [[sympy.fraction(x) for x in line] for line in b.T]
    return filled((len(left), len(right)), [_dot(row, column) for row in left for column in right])


def _dot(row: list[Any], column: list[Any]) -> sympy.Expr:
    """Σ (n₁/d₁)(n₂/d₂) with the numerators over equal denominators added first."""
    over: dict[sympy.Expr, list[sympy.Expr]] = {}
    for (n1, d1), (n2, d2) in zip(row, column, strict=True):
        (number1, below1), (number2, below2) = d1.as_coeff_Mul(), d2.as_coeff_Mul()
        over.setdefault(below1 * below2, []).append(n1 * n2 / (number1 * number2))
    return total([total(parts) / below for below, parts in over.items()])


def _is_rational(x: Array) -> bool:
    return all(isinstance(entry, sympy.Rational) for entry in x.ravel())


def _fmpq_mat(x: Array) -> flint.fmpq_mat:
    entries = [flint.fmpq(int(entry.p), int(entry.q)) for entry in x.ravel()]
    return flint.fmpq_mat(x.shape[0], x.shape[1], entries)


def filled(shape: tuple[int, ...], entries: list[Any]) -> Array:
    """An object array of this shape with these entries."""
    out = np.empty(len(entries), dtype=object)
    out[:] = entries
    return out.reshape(shape)


EXACT = Exact()
