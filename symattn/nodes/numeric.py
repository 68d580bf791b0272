"""What SymPy asks of an expression whose entries may be written out: numbers and derivatives."""

from __future__ import annotations

from typing import NoReturn

import sympy
from mpmath.libmp import prec_to_dps
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.errors import SymattnError


class Numeric(MatrixExpr):  # type: ignore[misc]  # SymPy has no types
    """A matrix expression that has numbers and derivatives by scalars once it is explicit."""

    @property
    def _is_explicit(self) -> bool:
        """Whether every entry can be written out: no matrix by name, no size by letter."""
        return not self.atoms(sympy.MatrixSymbol) and all(
            isinstance(size, sympy.Integer) for size in self.shape
        )

    def evalf(self, *args: object, **options: object) -> MatrixExpr:
        """The entries as floating-point numbers, with symbols in them as they stand.

        Where they cannot be written out it is the node with its numbers evaluated.
        """
        if self._is_explicit:
            return self.as_explicit().evalf(*args, **options)
        parts = (arg.evalf(*args, **options) if _has_entries(arg) else arg for arg in self.args)
        return self.func(*parts)

    n = evalf

    def _eval_evalf(self, prec: int) -> MatrixExpr:
        return self.evalf(prec_to_dps(prec))

    def diff(self, *by: sympy.Basic, **kwargs: object) -> MatrixExpr:
        """The derivative with respect to scalars, entry by entry, of what can be written out.

        Raises `SymattnError` for a node over matrices by name, and with respect to a matrix.
        """
        return self._differentiated(*by)

    def _eval_derivative(self, by: sympy.Basic) -> MatrixExpr:
        return self._differentiated(by)

    def _eval_derivative_n_times(self, by: sympy.Basic, times: sympy.Expr) -> MatrixExpr:
        return self._differentiated((by, times))

    def _eval_derivative_matrix_lines(self, by: sympy.Basic) -> NoReturn:
        raise no_derivative(self)

    _eval_derivative_array = _eval_derivative_matrix_lines

    def _differentiated(self, *by: sympy.Basic) -> MatrixExpr:
        scalars = [part[0] if isinstance(part, tuple | sympy.Tuple) else part for part in by]
        scalars = [part for part in scalars if not isinstance(part, int | sympy.Integer)]
        if any(getattr(part, "is_Matrix", False) for part in scalars):
            raise no_derivative(self)
        letters = set().union(*(sympy.sympify(part, strict=True).free_symbols for part in scalars))
        if not letters & {*self.free_symbols, *self.atoms(sympy.Symbol)}:
            return sympy.ZeroMatrix(*self.shape)
        if self._is_explicit:
            return self.as_explicit().diff(*by)
        raise SymattnError(
            f"SymPy cannot differentiate {type(self).__name__} over a matrix by name by a scalar; "
            "give explicit matrices"
        )


def _has_entries(arg: sympy.Basic) -> bool:
    """Whether an argument is made of numbers that may be evaluated: no size, no name, no axis."""
    return isinstance(arg, MatrixExpr | sympy.MatrixBase) and not isinstance(
        arg, sympy.MatrixSymbol
    )


def no_derivative(node: MatrixExpr) -> SymattnError:
    """Why SymPy itself does not differentiate a node."""
    return SymattnError(
        f"SymPy cannot differentiate {type(node).__name__} with respect to a matrix; "
        "use the derivation's gradient, or differentiate entries: node[i, j].diff(x), "
        "expr.as_explicit().diff(x)"
    )
