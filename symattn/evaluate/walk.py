"""One formula, many arithmetics: the value of a matrix expression, given its symbols' values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arithmetic.base import Arithmetic, Array
from symattn.arithmetic.exact import filled
from symattn.errors import CannotSpell, SymattnError, counted
from symattn.nodes.base import Node
from symattn.nodes.heads import Head


def value_of(
    expr: MatrixExpr,
    values: Callable[[str], Array],
    arithmetic: Arithmetic,
    sizes: Mapping[sympy.Symbol, int],
    per_head: bool,
) -> Array:
    """The value of `expr` in `arithmetic`.

    `values(letter)` is a matrix's value, (…, rows, columns) or, one for each head,
    (…, heads, rows, columns). In a per-head step, shared matrices get an axis for the heads.
    """

    def visit(part: MatrixExpr, per_head: bool) -> Array:
        match part:
            case Head():
                return _of_heads(values(part.name), part.head, sizes)
            case sympy.MatrixSymbol():
                value = values(part.name)
                return value[..., None, :, :] if per_head and value.ndim > 2 else value
            case Node():
                inside = per_head or part.has(Head)
                args = [
                    visit(arg, inside) if isinstance(arg, MatrixExpr) else scalar(arg)
                    for arg in part.args
                ]
                return part._compute(arithmetic, *args)
            case sympy.Transpose():
                return arithmetic.transpose(visit(part.arg, per_head))
            case sympy.MatAdd():
                terms = [visit(term, per_head) for term in part.args]
                return _folded(arithmetic.add, terms)
            case sympy.HadamardProduct():
                return _folded(arithmetic.multiply, [visit(f, per_head) for f in part.args])
            case sympy.MatMul():
                coefficient, factors = part.as_coeff_matrices()
                product = _folded(arithmetic.matmul, [visit(f, per_head) for f in factors])
                if coefficient == 1:
                    return product
                return arithmetic.scaled(product, scalar(coefficient))
            case sympy.MatrixBase():
                return arithmetic.array(filled(part.shape, list(part)))
        raise CannotSpell(f"{type(part).__name__} cannot be evaluated here")

    def scalar(value: sympy.Basic) -> sympy.Basic:
        return value if isinstance(value, sympy.Integer) else value.subs(sizes)

    return visit(expr, per_head)


def _of_heads(value: Array, index: sympy.Expr, sizes: Mapping[sympy.Symbol, int]) -> Array:
    """The matrices that the query heads use: their own, or those of the group they belong to."""
    if isinstance(index, sympy.Symbol):
        return value
    (letter,) = (s for s in index.free_symbols if s.is_positive is not True)
    heads = next(count for size, count in sizes.items() if size.name == "h")
    used = [int(index.subs(letter, head).subs(sizes)) for head in range(heads)]
    return np.take(value, used, axis=-3)


def _folded(operation: Callable[[Array, Array], Array], values: list[Array]) -> Array:
    out = values[0]
    for value in values[1:]:
        out = operation(out, value)
    return out


def split_heads(value: Array, heads: int, name: str) -> Array:
    """(…, rows, heads · columns) as (…, heads, rows, columns): column block i is head i's."""
    columns = value.shape[-1]
    if columns % heads:
        raise SymattnError(
            f"{name}: {counted(columns, 'column')} cannot be shared evenly by {heads} heads; give "
            f"a multiple of {heads}, or one matrix a head: [[[…]], [[…]]]"
        )
    apart = value.reshape(*value.shape[:-1], heads, columns // heads)
    return np.moveaxis(apart, -2, -3)


def size_error(name: str, missing: list[str]) -> Any:
    """The error for a size that the given matrices do not tell."""
    first = missing[0]
    return SymattnError(
        f"{name}: what was given does not tell {', '.join(missing)}; say it, e.g. {first} = 64"
    )
