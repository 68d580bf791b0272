"""One formula, many arithmetics: how a matrix expression's value follows from its symbols'."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arithmetic.base import Arithmetic, Array, filled
from symattn.arithmetic.exact import EXACT
from symattn.errors import CannotSpell, SymattnError, counted
from symattn.evaluate.recurring import by_token
from symattn.nodes.arguments import BoundIndex
from symattn.nodes.base import Node
from symattn.nodes.defined import Defined
from symattn.nodes.heads import Head, Split
from symattn.nodes.recurrence import Beside, Recurrence

#: Gives the value of an expression from its symbols' values, by letter, in some arithmetic.
Program: TypeAlias = Callable[[Callable[[str], Array], Arithmetic], Array]


@dataclass(frozen=True)
class Rows:
    """Which rows are computed, from 0, and the letters of the matrices that have these alone."""

    numbers: Array
    made: frozenset[str]


def program_of(  # noqa: PLR0915  # a case for each kind of expression
    expr: MatrixExpr,
    sizes: Mapping[sympy.Symbol, int],
    heads: sympy.Expr | None = None,
    rows: Rows | None = None,
) -> Program:
    """The program that computes `expr` at these sizes, in any arithmetic.

    The value of a matrix is (…, rows, columns) or, one for each head, (…, heads, rows, columns).
    In a step of so many `heads`, shared matrices get an axis for them. With `rows` these alone are
    computed. Raises `SymattnError` where they need others of a matrix that has them alone.
    """

    def some(part: MatrixExpr, heads: sympy.Expr | None) -> Program:
        """The rows of an expression."""
        assert rows is not None
        if isinstance(part, Head | sympy.MatrixSymbol) and part.name in rows.made:
            return _leaf(part, heads, sizes)
        parts = None if isinstance(part, Split) else parts_by_rows(part)
        if parts is None:
            whole, numbers = program(part, heads), rows.numbers
            return lambda values, arithmetic: whole(values, arithmetic)[..., numbers, :]
        if isinstance(part, Node):
            return _node(type(part), part.args, part.heads if _binds_heads(part) else heads, parts)
        factors = [some(one, heads) if alone else program(one, heads) for one, alone in parts]
        match part:
            case sympy.MatMul():
                return times(_folded(Arithmetic.matmul, factors), part.as_coeff_matrices()[0])
            case sympy.MatAdd():
                return _folded(Arithmetic.add, factors)
        return _folded(Arithmetic.multiply, factors)

    def program(part: MatrixExpr, heads: sympy.Expr | None) -> Program:
        match part:
            case Head() | sympy.MatrixSymbol():
                if rows is not None and part.name in rows.made:
                    raise SymattnError(f"all rows of {part.name} are needed, and some are known")
                return _leaf(part, heads, sizes)
            case Defined():
                return program(part.meaning, heads)
            case Beside():
                key = part.key
                return lambda values, arithmetic: values(key)
            case Recurrence():
                return by_token(part, sizes, program_of)
            case Node():
                return _node(type(part), part.args, part.heads if _binds_heads(part) else heads)
            case sympy.Transpose():
                inner = program(part.arg, heads)
                return lambda values, arithmetic: arithmetic.transpose(inner(values, arithmetic))
            case sympy.MatAdd():
                return _folded(Arithmetic.add, [program(term, heads) for term in part.args])
            case sympy.HadamardProduct():
                return _folded(Arithmetic.multiply, [program(f, heads) for f in part.args])
            case sympy.MatMul():
                coefficient, factors = part.as_coeff_matrices()
                product = _folded(Arithmetic.matmul, [program(f, heads) for f in factors])
                return times(product, coefficient)
            case sympy.HadamardPower(base=base, exp=sympy.Integer() as power) if power > 0:
                factor_ = program(base, heads)
                return _folded(Arithmetic.multiply, [factor_] * int(power))
            case sympy.MatPow(base=base, exp=sympy.Integer() as power) if power > 0:
                factor_ = program(base, heads)
                return _folded(Arithmetic.matmul, [factor_] * int(power))
            case sympy.Inverse():
                turned = program(part.arg, heads)
                return lambda values, arithmetic: arithmetic.inverse(turned(values, arithmetic))
            case sympy.Identity():
                size = at_size(part.shape[0])
                return lambda values, arithmetic: arithmetic.identity(size)
            case sympy.OneMatrix() | sympy.ZeroMatrix():
                number = sympy.Integer(isinstance(part, sympy.OneMatrix))
                shape = [*map(at_size, part.shape)]
                return lambda values, arithmetic: arithmetic.filled(number, *shape)
            case sympy.MatrixBase():
                entries = filled(part.shape, list(part))
                return lambda values, arithmetic: arithmetic.array(entries)
        raise CannotSpell(f"{type(part).__name__} cannot be evaluated here")

    def times(product: Program, coefficient: sympy.Expr) -> Program:
        if coefficient == 1:
            return product
        factor = at_size(coefficient)
        return lambda values, arithmetic: arithmetic.scaled(product(values, arithmetic), factor)

    def _node(
        kind: type[Node],
        args: tuple[sympy.Basic, ...],
        inside: sympy.Expr | None,
        alone: Sequence[tuple[MatrixExpr, bool]] | None = None,
    ) -> Program:
        """A node; of one that is made by rows, which of its matrices are needed `alone`."""
        flags = iter([flag for _, flag in alone or ()])
        parts = [
            (some if next(flags, False) else program)(
                arg, None if place in kind.gathers else inside
            )
            if isinstance(arg, MatrixExpr)
            else None
            for place, arg in enumerate(args)
        ]
        scalars = [None if isinstance(arg, MatrixExpr) else at_size(arg) for arg in args]
        numbers = rows.numbers if rows is not None and alone is not None else None
        if numbers is not None and "rows" in kind.places:
            scalars[kind.places["rows"]] = sympy.Integer(len(numbers))
        pairs = list(zip(parts, scalars, strict=True))

        def run(values: Callable[[str], Array], arithmetic: Arithmetic) -> Array:
            return kind._compute(
                arithmetic if numbers is None else arithmetic.at_rows(numbers),
                *(scalar if part is None else part(values, arithmetic) for part, scalar in pairs),
            )

        return run

    def at_size(value: sympy.Basic) -> sympy.Basic:
        return value if isinstance(value, sympy.Integer) else value.subs(sizes)

    return program(expr, heads) if rows is None else some(expr, heads)


def _leaf(part: MatrixExpr, heads: sympy.Expr | None, sizes: Mapping[sympy.Symbol, int]) -> Program:
    """A matrix by its name."""
    if isinstance(part, Head):
        return _of_heads(part.name, part.head, heads, sizes)
    return _symbol(part.name, heads is not None)


def parts_by_rows(expr: MatrixExpr) -> tuple[tuple[MatrixExpr, bool], ...] | None:
    """The matrices that an expression is made of, and whether its row i needs row i of each alone.

    None where it is not known to be made by rows.
    """
    match expr:
        case sympy.MatMul():
            _, (first, *others) = expr.as_coeff_matrices()
            return ((first, True), *((other, False) for other in others))
        case sympy.MatAdd() | sympy.HadamardProduct():
            return tuple((part, True) for part in expr.args)
        case Node(by_rows=int() | float() as count) if _along_rows(expr):
            matrices = [arg for arg in expr.args if isinstance(arg, MatrixExpr)]
            return tuple((matrix, place < count) for place, matrix in enumerate(matrices))
    return None


def _along_rows(node: Node) -> bool:
    """Whether a node has no axis, or that of rows."""
    return "axis" not in node.places or bool(node.args[node.places["axis"]] == 1)


def _binds_heads(node: Node) -> bool:
    """Whether an argument of the node is one matrix a head, and the node one matrix for all."""
    return any(isinstance(argument, BoundIndex) for argument in node.arguments)


def _symbol(letter: str, per_head: bool) -> Program:
    def run(values: Callable[[str], Array], arithmetic: Arithmetic) -> Array:
        value = values(letter)
        return arithmetic.beneath(value) if per_head else value

    return run


def _of_heads(
    letter: str,
    index: sympy.Expr,
    count: sympy.Expr | None,
    sizes: Mapping[sympy.Symbol, int],
) -> Program:
    """The matrices that the heads read: their own, that of their group, ⌊i g/h⌋, or one of all."""
    if isinstance(index, sympy.Symbol):
        return lambda values, arithmetic: values(letter)
    used = index.subs(sizes)
    if used.is_Integer:
        return lambda values, arithmetic: arithmetic.pick(values(letter), used, -3)
    (symbol,) = (s for s in index.free_symbols if s.is_positive is not True)
    number = sympy.S.Zero if count is None else count.subs(sizes)
    return lambda values, arithmetic: arithmetic.by_head(values(letter), used, symbol, number)


def _folded(
    operation: Callable[[Arithmetic, Array, Array], Array], parts: list[Program]
) -> Program:
    """The operation from left to right; `operation` is a method of the arithmetic."""
    name = operation.__name__

    def run(values: Callable[[str], Array], arithmetic: Arithmetic) -> Array:
        apply = getattr(arithmetic, name)
        out = parts[0](values, arithmetic)
        for part in parts[1:]:
            out = apply(out, part(values, arithmetic))
        return out

    return run


def split_heads(value: Array, heads: int, name: str) -> Array:
    """(…, rows, heads · columns) as (…, heads, rows, columns): column block i is head i's."""
    columns = value.shape[-1]
    if columns % heads:
        raise SymattnError(
            f"{name}: {counted(columns, 'column')} cannot be shared evenly by {heads} heads; give "
            f"a multiple of {heads}, or one matrix for each head: [[[…]], [[…]]]"
        )
    return EXACT.heads_apart(value, heads)


def size_error(name: str, missing: list[str]) -> SymattnError:
    """The error for a size that the given matrices do not tell."""
    first = missing[0]
    return SymattnError(
        f"{name}: the input does not determine {', '.join(missing)}; give it, e.g. {first} = 64"
    )
