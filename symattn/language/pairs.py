"""Pairs of a matrix symbol and an expression of SymPy's, as the steps of a derivation."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import TypeAlias

import sympy
from sympy.matrices.expressions.applyfunc import ElementwiseApplyFunction
from sympy.matrices.expressions.matexpr import MatrixExpr
from sympy.printing.str import StrPrinter

from symattn.arguments import instance
from symattn.derivations import Derivation
from symattn.errors import ReadError, located, quote
from symattn.language.composing import composed
from symattn.language.equations import derivation_of
from symattn.nodes.base import Node, shape_of
from symattn.nodes.defined import Applied
from symattn.nodes.entrywise import Diagonal
from symattn.nodes.heads import Slice, Stacked
from symattn.nodes.number import NumberSymbol
from symattn.nodes.scale import NumberTimes
from symattn.nodes.spell import Speller
from symattn.step import Input, Step

#: The expressions of SymPy's that the nodes stand beside, and are understood as they are.
_KNOWN = (
    *(sympy.MatrixSymbol, sympy.MatMul, sympy.MatAdd, sympy.Transpose, sympy.HadamardProduct),
    *(sympy.ZeroMatrix, sympy.OneMatrix, sympy.Identity, sympy.ImmutableDenseMatrix),
    sympy.Inverse,
)


#: The name of each function of entries, by what is said of its number.
_Names: TypeAlias = dict[str, str]


class _Written(StrPrinter):  # type: ignore[misc]  # SymPy has no types
    """A number of an entry as a text of equations writes it."""

    def _print_Pow(self, expr: sympy.Pow, rational: bool = False) -> str:  # noqa: N802  SymPy's names
        return f"({self._print(expr.base)})^({self._print(expr.exp)})"

    def _print_Piecewise(self, expr: sympy.Piecewise) -> str:  # noqa: N802  SymPy's names
        *cases, (last, always) = expr.args
        if always != sympy.true:
            raise ReadError("cases need a last one for all other numbers, (value, True)")
        said = [f"({self._print(value)}) if {self._print(test)} else " for value, test in cases]
        return f"({''.join(said)}{self._print(last)})"

    def _print_Function(self, expr: sympy.Function) -> str:  # noqa: N802  SymPy's names
        arguments = ", ".join(map(self._print, expr.args))
        return f"{type(expr).__name__.lower()}({arguments})"

    _print_Abs = _print_Max = _print_Min = _print_Function  # noqa: N815  as above

    def _print_ExpBase(self, expr: sympy.Function) -> str:  # noqa: N802  SymPy's names
        return f"exp({self._print(expr.args[0])})"


def of_pairs(pairs: Iterable[tuple[MatrixExpr, MatrixExpr]]) -> Derivation:
    """The derivation of pairs of a MatrixSymbol and an expression, in their order.

    Expressions are SymPy's and those of `symattn.nodes`; matrix symbols that no pair makes are
    inputs, and so are symbols that are no size. Raises `ReadError` that names what is not
    understood.

    >>> S, V = sympy.MatrixSymbol("S", 2, 3), sympy.MatrixSymbol("V", 3, 1)
    >>> A = sympy.MatrixSymbol("A", 2, 3)
    >>> print(of_pairs([(A, S.applyfunc(lambda x: sympy.exp(x) + 1)),
    ...                 (sympy.MatrixSymbol("O", 2, 1), A * V)]))
    A  A = f(S)
    O  O = A V
    """
    inputs: dict[str, Input] = {}
    steps: list[Step] = []
    names: _Names = {}
    listed = [*pairs] if isinstance(pairs, Iterable) else [pairs]
    if not listed:
        raise ReadError("equations: give at least one pair of a MatrixSymbol and an expression")
    for number, pair in enumerate(listed, 1):
        with located(f"pair {number}"):
            symbol, said = _pair(pair)
            shapes = (letter.shape for letter in said.atoms(sympy.MatrixSymbol))
            sizes = {x for shape in shapes for n in shape for x in n.free_symbols}
            with located(str(symbol)):
                expr = _understood(said, sizes, names)
                Speller().matrix(expr)
        made = {step.letter for step in steps}
        for part in sympy.preorder_traversal(expr):
            if isinstance(part, sympy.MatrixSymbol) and part.name not in made:
                inputs.setdefault(part.name, Input(part.name, part))
        heading, reason = composed(expr, steps)
        steps.append(Step(symbol.name, symbol, expr, "", reason, title=heading))
    return Derivation(tuple(inputs.values()), tuple(steps))


def _pair(pair: object) -> tuple[sympy.MatrixSymbol, sympy.MatrixExpr]:
    """Both sides of a pair, which have one shape. Raises `ReadError` for what is none."""
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise ReadError("give a MatrixSymbol and an expression, (A, Q * K.T)")
    symbol, said = pair
    instance(symbol, sympy.MatrixSymbol, "its left side", "a MatrixSymbol")
    if isinstance(said, sympy.MatrixBase):
        said = said.as_immutable()
    instance(said, sympy.MatrixExpr | sympy.MatrixBase, "its right side", "a matrix of SymPy's")
    if shape_of(symbol) != shape_of(said):
        one, other = (" × ".join(map(str, shape_of(x))) for x in (symbol, said))
        raise ReadError(f"{symbol} is {one}, its right side {other}")
    return symbol, said


def _understood(expr: sympy.Expr, sizes: set[sympy.Symbol], names: _Names) -> sympy.Expr:
    """The same with nodes for what SymPy writes otherwise."""
    match expr:
        case ElementwiseApplyFunction(function=function, expr=matrix):
            return _applied(function, names, _understood(matrix, sizes, names))
        case sympy.HadamardPower(base=base, exp=exponent):
            if not isinstance(exponent, sympy.MatrixExpr):
                x = sympy.Dummy("x")
                return _applied(
                    sympy.Lambda(x, x**exponent), names, _understood(base, sizes, names)
                )
        case sympy.MatMul():
            return _product(expr, sizes, names)
        case sympy.BlockMatrix(blocks=blocks):
            inner = blocks.applyfunc(lambda block: _understood(block, sizes, names)).tolist()
            rows = [reduce(lambda one, other: Stacked(one, other, 1), row) for row in inner]
            return reduce(lambda one, other: Stacked(one, other, 0), rows)
        case sympy.MatrixSlice(parent=parent, rowslice=rows, colslice=columns):
            out = _understood(parent, sizes, names)
            for axis, (first, stop, step) in enumerate((rows, columns)):
                if step != 1:
                    raise ReadError(f"{quote(str(expr))}: a part has every row and column of it")
                if (first, stop) != (0, parent.shape[axis]):
                    out = Slice(out, first, stop - first, axis)
            return out
        case sympy.DiagMatrix(args=(vector,)):
            return Diagonal(_understood(vector, sizes, names))
        case Node() | sympy.MatrixSymbol() | sympy.ImmutableDenseMatrix():
            return expr
        case sympy.MatPow(base=base, exp=sympy.Integer() as power) if 0 < abs(power) < 100:
            factor = _understood(base, sizes, names)
            factor = factor if power > 0 else sympy.Inverse(factor)
            return factor if abs(power) == 1 else sympy.MatMul(*[factor] * int(abs(power)))
    if not isinstance(expr, _KNOWN):
        raise ReadError(
            f"{type(expr).__name__} is not understood; write it by MatMul, MatAdd, Transpose, "
            "HadamardProduct, applyfunc, explicit matrices and the nodes of symattn"
        )
    parts = [
        _understood(x, sizes, names) if isinstance(x, sympy.MatrixExpr) else x for x in expr.args
    ]
    return expr.func(*parts) if parts else expr


def _product(expr: sympy.MatMul, sizes: set[sympy.Symbol], names: _Names) -> MatrixExpr:
    """A product, whose letters that are no sizes are numbers before it."""
    number, product = expr.as_coeff_matrices()
    parts = [_understood(part, sizes, names) for part in product]
    own = sorted(number.free_symbols - sizes, key=str)
    plain = sympy.Mul(*(x for x in sympy.Mul.make_args(number) if x not in own))
    if made := sorted(map(str, number.atoms(sympy.MatrixSymbol))):
        raise ReadError(
            f"{quote(str(number))}: a number made of {made[0]} is not understood; write "
            "the matrix that it multiplies"
        )
    if left := plain.free_symbols - sizes:
        raise ReadError(
            f"{quote(str(number))}: {min(map(str, left))} is no size; a number is a factor by "
            "itself"
        )
    parts = [*(() if plain == 1 else (plain,)), *parts]
    out = parts[0] if len(parts) == 1 else sympy.MatMul(*parts)
    for symbol in reversed(own):
        out = NumberTimes(NumberSymbol(symbol.name), out)
    return out


def _applied(function: sympy.Lambda, names: _Names, matrix: MatrixExpr) -> MatrixExpr:
    """A function of every entry, read as a text of equations says one."""
    x = sympy.Symbol("x")
    body = function(x)
    if body == x:
        return matrix
    said = _Written().doprint(body)
    name = names.setdefault(said, "f" if not names else f"f{len(names) + 1}")
    text = f"{name}(x) = {said}\nY = {name}(X)"
    (step,) = derivation_of(text, {"X": ("n", "m")}).steps
    node = step.expr
    assert isinstance(node, Applied)
    return Applied(node.formula, matrix, *node.args[2:])
