"""Pieces of spelling that depend on no reader's choice: orders, decimals."""

from __future__ import annotations

from collections.abc import Iterable

import sympy

from symattn.notation import tree as t
from symattn.notation.tree import Tree


def rank(factor: sympy.Expr) -> int:
    """Numbers first, then brackets, then short names: 2 (i − 1) d_v, h d_v."""
    if isinstance(factor, sympy.Symbol):
        return 2 + len(factor.name)
    return 0 if isinstance(factor, sympy.Rational) else 1


def in_order(terms: Iterable[sympy.Expr]) -> list[sympy.Expr]:
    """Terms as one writes them: what is added first, an index before a size: j + d_k/2, j − i."""
    return sorted(terms, key=lambda term: (term.could_extract_minus_sign(), not _has_index(term)))


def _has_index(term: sympy.Expr) -> bool:
    """Whether a term holds an index."""
    return bool(indices_in(term))


def indices_in(expr: sympy.Basic) -> set[sympy.Symbol]:
    """The letters of an expression that are indices; sizes are known not to be negative."""
    return {symbol for symbol in expr.free_symbols if symbol.is_nonnegative is not True}


def counted_from(expr: sympy.Expr, base: int) -> sympy.Expr:
    """The same number, its indices counted from `base` where they counted from 0: ⌊(i − 1)/b⌋.

    Fractions are kept as they are written, where SymPy alone would make i/2 − 1/2 of them.

    >>> i = sympy.Symbol("i", integer=True)
    >>> counted_from(3 * i + 1, 1), counted_from(sympy.floor(i / 2), 1)
    (3*i - 2, floor((i - 1)/2))
    """
    if base == 0 or not indices_in(expr) or isinstance(expr, sympy.MatrixExpr):
        return expr
    if isinstance(expr, sympy.Symbol):
        return expr - base
    if getattr(expr, "place", None) is not None:  # its place is spelled as an index
        return expr
    args = [counted_from(arg, base) for arg in expr.args]
    if isinstance(expr, sympy.Mul):
        divided = any(part.is_Pow or (part.is_Rational and part.q > 1) for part in expr.args)
        return sympy.Mul(*args, evaluate=not divided)
    if isinstance(expr, sympy.floor | sympy.ceiling | sympy.Abs | sympy.Mod):
        return expr.func(*args, evaluate=False)
    return expr.func(*args)


def starts_with_number(tree: Tree) -> bool:
    """Whether the first thing to read is a number, so that a product before it needs a dot."""
    if isinstance(tree, t.Row):
        return starts_with_number(tree.items[-1] if tree.items[0] == t.MINUS else tree.items[0])
    if isinstance(tree, t.Frac):
        return starts_with_number(tree.num)
    if isinstance(tree, t.Script):
        return isinstance(tree.base, t.Num)
    return isinstance(tree, t.Num | t.Root | t.Fenced)


def terminating(value: sympy.Rational, places: int) -> str | None:
    """A non-negative rational as a decimal, if it ends within so many places.

    >>> terminating(sympy.Rational(27, 20), 4), terminating(sympy.Rational(1, 3), 4)
    ('1.35', None)
    """
    whole, rest = divmod(int(value.p) * 10**places, int(value.q))
    if rest:
        return None
    text = str(whole).rjust(places + 1, "0")
    decimal = f"{text[:-places]}.{text[-places:]}" if places else text
    return decimal.rstrip("0").rstrip(".") if "." in decimal else decimal
