"""The column convention: every matrix transposed, so that S = Q Kᵀ reads S = Kᵀ Q.

`flip(expr)` is the transpose of `expr` written over the transposes of its symbols, each of which
keeps its letter.
"""

from __future__ import annotations

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.errors import CannotSpell


def flip(expr: MatrixExpr) -> MatrixExpr:
    """The expression for readers whose tokens are columns.

    >>> Q, K = sympy.MatrixSymbol("Q", 3, 2), sympy.MatrixSymbol("K", 3, 2)
    >>> print(flip(Q * K.T))
    K.T*Q
    """
    own = getattr(expr, "_flip", None)
    if own is not None:
        return own(flip)
    match expr:
        case sympy.MatrixSymbol():
            return sympy.MatrixSymbol(expr.name, expr.shape[1], expr.shape[0])
        case sympy.Transpose():
            return sympy.Transpose(flip(expr.arg))
        case sympy.MatAdd():
            return sympy.MatAdd(*(flip(term) for term in expr.args))
        case sympy.HadamardProduct():
            return sympy.HadamardProduct(*(flip(factor) for factor in expr.args))
        case sympy.MatMul():
            coefficient, factors = expr.as_coeff_matrices()
            flipped = [flip(factor) for factor in reversed(factors)]
            return sympy.MatMul(*([] if coefficient == 1 else [coefficient]), *flipped)
        case sympy.MatrixBase():
            return expr.T
    raise CannotSpell(f"{type(expr).__name__} has no form with tokens as columns")
