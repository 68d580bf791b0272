"""One formula, many arithmetics: how a matrix expression's value follows from its symbols'."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import repeat
from typing import TypeAlias

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arithmetic.base import Arithmetic, Array, filled
from symattn.errors import CannotSpell, SymattnError
from symattn.nodes.base import Node
from symattn.nodes.defined import Defined
from symattn.nodes.heads import Head, Split, head_of, is_any, is_one
from symattn.nodes.recurrence import Beside, ByIndex, Recurrence
from symattn.nodes.rule import at_numbers
from symattn.step import HEAD, Step, letter_of

#: Gives the value of an expression from its symbols' values, by letter, in some arithmetic.
Program: TypeAlias = Callable[[Callable[[str], Array], Arithmetic], Array]


def program_of(
    expr: MatrixExpr,
    sizes: Mapping[sympy.Symbol, int],
    heads: sympy.Expr | None = None,
    made: frozenset[str] | None = None,
) -> Program:
    """The program that computes `expr` at these sizes, in any arithmetic.

    The value of a matrix is (…, rows, columns) or, one for each head, (…, heads, rows, columns).
    In a step of so many `heads`, shared matrices get an axis for them. With `made` the program
    computes the rows that its arithmetic is `at_rows` of, and these are the letters of matrices of
    which those rows alone are known. Raises `SymattnError` where it needs others of them.
    """
    walk = _Walk(sizes, made or frozenset())
    return walk.whole(expr, heads) if made is None else walk.some(expr, heads)


def program_of_step(
    step: Step, sizes: Mapping[sympy.Symbol, int], made: frozenset[str] | None = None
) -> Program:
    """The program that computes a step, for all heads, from the values of its operands."""
    headed = HEAD in step.expr.atoms(sympy.Symbol)
    run = program_of(step.expr, sizes, step.count if step.per_head and headed else None, made)
    if step.count is None or headed:
        return run
    count = step.count.subs(sizes)
    return lambda values, arithmetic: arithmetic.shared(run(values, arithmetic), count)


@dataclass(frozen=True)
class _Walk:
    """The programs of the parts of an expression, for all rows or for some."""

    sizes: Mapping[sympy.Symbol, int]
    made: frozenset[str]

    def whole(self, part: MatrixExpr, heads: sympy.Expr | None) -> Program:
        """All rows of an expression."""
        part = _meant(part)
        match part:
            case Head() | sympy.MatrixSymbol():
                if part.name in self.made:
                    raise SymattnError(f"all rows of {part.name} are needed, and some are known")
                return self.leaf(part, heads)
            case Beside():
                return _symbol(part.key, shared=False)
            case ByIndex() if (known := part.settled(self.sizes)) is not None:
                return self.whole(known, heads)
            case ByIndex(token=token) if not is_any(token):
                every = self.whole(part.at(HEAD), part.count)
                return lambda values, arithmetic: arithmetic.pick(
                    every(values, arithmetic), self.at_size(token), -3
                )
            case Recurrence():
                return _by_token(part, self.sizes)
            case sympy.Transpose() | sympy.Inverse():
                operation = "inverse" if isinstance(part, sympy.Inverse) else "transpose"
                inner = self.whole(part.arg, heads)
                return lambda values, arithmetic: getattr(arithmetic, operation)(
                    inner(values, arithmetic)
                )
            case sympy.Identity():
                size = self.at_size(part.shape[0])
                return lambda values, arithmetic: arithmetic.identity(size)
            case sympy.OneMatrix() | sympy.ZeroMatrix():
                number = sympy.Integer(isinstance(part, sympy.OneMatrix))
                shape = [*map(self.at_size, part.shape)]
                return lambda values, arithmetic: arithmetic.filled(number, *shape)
            case sympy.MatrixBase():
                entries = filled(part.shape, list(part))
                return lambda values, arithmetic: arithmetic.array(entries)
        return self.made_of(part, heads, repeat(None))

    def some(self, part: MatrixExpr, heads: sympy.Expr | None) -> Program:
        """The rows of an expression that the arithmetic is for."""
        part = _meant(part)
        if letter_of(part) in self.made:
            return self.leaf(part, heads)
        parts = None if isinstance(part, Split) else parts_by_rows(part)
        if parts is None:
            whole = _once(self.whole(part, heads))
            return lambda values, arithmetic: whole(values, arithmetic)[..., arithmetic.only, :]
        return self.made_of(part, heads, [alone for _, alone in parts])

    def program(self, part: MatrixExpr, heads: sympy.Expr | None, alone: bool | None) -> Program:
        """A part of an expression; where some rows are computed, its rows `alone`, or all of it."""
        if alone is None:
            return self.whole(part, heads)
        return self.some(part, heads) if alone else _once(self.whole(part, heads))

    def made_of(
        self, expr: MatrixExpr, heads: sympy.Expr | None, alone: Iterable[bool | None]
    ) -> Program:
        """An expression of its matrices: which of them are needed `alone`, as in `program`."""
        coefficient = sympy.S.One
        match expr:
            case Node():
                return self.node(expr, expr.heads if expr.bound else heads, alone)
            case sympy.MatAdd():
                operation, parts = "add", expr.args
            case sympy.HadamardProduct():
                operation, parts = "multiply", expr.args
            case sympy.MatMul():
                operation, (coefficient, parts) = "matmul", expr.as_coeff_matrices()
            case sympy.HadamardPower(base=base, exp=sympy.Integer() as power) if power > 0:
                operation, parts = "multiply", [base] * int(power)
            case sympy.MatPow(base=base, exp=sympy.Integer() as power) if power > 0:
                operation, parts = "matmul", [base] * int(power)
            case _:
                raise CannotSpell(f"{type(expr).__name__} cannot be evaluated here")
        pairs = zip(parts, alone, strict=False)
        product = _folded(operation, [self.program(one, heads, flag) for one, flag in pairs])
        if coefficient == 1:
            return product
        factor = self.at_size(coefficient)
        return lambda values, arithmetic: arithmetic.scaled(product(values, arithmetic), factor)

    def node(self, node: Node, heads: sympy.Expr | None, alone: Iterable[bool | None]) -> Program:
        """A node by its own formula."""
        kind, flags = type(node), iter(alone)
        numbers = [None if isinstance(arg, MatrixExpr) else self.at_size(arg) for arg in node.args]
        programs = {
            place: self.program(arg, None if place in kind.gathers else heads, next(flags))
            for place, arg in enumerate(node.args)
            if isinstance(arg, MatrixExpr)
        }
        rows = kind.places.get("rows")

        def run(values: Callable[[str], Array], arithmetic: Arithmetic) -> Array:
            operands = [*numbers]
            for place, program in programs.items():
                operands[place] = program(values, arithmetic)
            if rows is not None and arithmetic.only is not None:
                operands[rows] = sympy.Integer(len(arithmetic.only))
            return kind._compute(arithmetic, *operands)

        return run

    def leaf(self, part: MatrixExpr, heads: sympy.Expr | None) -> Program:
        """A matrix by its name; of one for each head those that the heads read.

        These are their own, that of their group, ⌊i g/h⌋, or one of all.
        """
        letter = str(part.name)
        if head_of(part) is None:
            return _symbol(letter, heads is not None)
        if is_any(part.head):
            return _symbol(letter, shared=False)
        used = part.head.subs(self.sizes)
        if is_one(used):
            return lambda values, arithmetic: arithmetic.pick(values(letter), used, -3)
        (symbol,) = (s for s in part.head.free_symbols if s.is_positive is not True)
        number = sympy.S.Zero if heads is None else heads.subs(self.sizes)
        return lambda values, arithmetic: arithmetic.by_head(values(letter), used, symbol, number)

    def at_size(self, value: sympy.Basic) -> sympy.Basic:
        """A number in which sizes may stand."""
        if isinstance(value, sympy.Integer):
            return value
        return at_numbers(value, self.sizes)


def _meant(expr: MatrixExpr) -> MatrixExpr:
    """What an expression is defined by, where it is."""
    match expr:
        case Defined():
            return _meant(expr.meaning)
    return expr


def parts_by_rows(expr: MatrixExpr) -> tuple[tuple[MatrixExpr, bool], ...] | None:
    """The matrices that an expression is made of, and whether its row i needs row i of each alone.

    None where it is not known to be made by rows.
    """
    expr = _meant(expr)
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


def leaves_of(expr: MatrixExpr, alone: bool = True) -> Iterator[tuple[MatrixExpr, bool]]:
    """The matrices with a name in an expression, and whether its row i needs row i of each alone.

    Where not `alone`, all rows of the expression are asked for, and so of its matrices.
    """
    parts = parts_by_rows(expr) if alone else None
    if letter_of(expr):
        yield expr, alone
    elif parts is None:
        yield from ((symbol, False) for symbol in expr.atoms(sympy.MatrixSymbol))
    else:
        for part, by_rows in parts:
            yield from leaves_of(part, by_rows)


def _along_rows(node: Node) -> bool:
    """Whether a node has no axis, or that of rows."""
    return "axis" not in node.places or bool(node.args[node.places["axis"]] == 1)


def _by_token(node: Recurrence, sizes: Mapping[sympy.Symbol, int]) -> Program:
    """The states of all tokens, (…, tokens, rows, columns), one after another."""
    body, index, count, start, letter = node.args
    number = count.subs(sizes)
    fixed = {
        part: sympy.MatrixSymbol(f"{node.key} {place}", *part.shape)
        for place, part in enumerate(dict.fromkeys(_fixed(body, {index, letter, HEAD})))
    }
    made = {symbol.name: program_of(part, sizes) for part, symbol in fixed.items()}
    body = body.xreplace(fixed)

    @cache
    def at_token(expr: MatrixExpr, token: sympy.Expr) -> Program:
        return program_of(expr.xreplace({index: token}), sizes)

    def run(values: Callable[[str], Array], arithmetic: Arithmetic) -> Array:
        once = {name: program(values, arithmetic) for name, program in made.items()}

        def each(name: str) -> Array:
            return once[name] if name in once else values(name)

        def following(token: sympy.Expr, state: Array) -> Array:
            def known(name: str) -> Array:
                return state if name == node.key else each(name)

            new = at_token(body, token)(known, arithmetic)
            if node.back:
                new = arithmetic.add(new, at_token(start, token)(known, arithmetic))
            return arithmetic.kept(new)

        if node.back:
            last = arithmetic.kept(at_token(body, number - 1)(each, arithmetic))
            return arithmetic.states(str(letter), following, last, number, back=True)
        begin = program_of(start, sizes)(values, arithmetic)
        return arithmetic.states(str(letter), following, begin, number)

    return run


def _fixed(expr: MatrixExpr, changing: set[sympy.Symbol]) -> Iterator[MatrixExpr]:
    """The largest parts of a state, but letters, in which nothing is that changes with tokens."""
    if letter_of(expr) or not expr.atoms(sympy.MatrixSymbol):
        return
    if not changing & expr.atoms(sympy.Symbol):
        yield expr
    elif not getattr(expr, "bound", ()):
        for part in expr.args:
            if isinstance(part, MatrixExpr):
                yield from _fixed(part, changing)


def _symbol(letter: str, shared: bool) -> Program:
    """A matrix by its letter; one that is `shared` gets an axis for the heads."""

    def run(values: Callable[[str], Array], arithmetic: Arithmetic) -> Array:
        value = values(letter)
        return arithmetic.beneath(value) if shared else value

    return run


def _once(program: Program) -> Program:
    """What is needed as a whole where rows are computed a few at a time: made once for all."""

    def run(values: Callable[[str], Array], arithmetic: Arithmetic) -> Array:
        if program not in arithmetic.wholes:
            arithmetic.wholes[program] = program(values, arithmetic.at_rows(None))
        return arithmetic.wholes[program]

    return run


def _folded(operation: str, parts: Sequence[Program]) -> Program:
    """The operation from left to right; `operation` names a method of the arithmetic."""
    first, *others = parts

    def run(values: Callable[[str], Array], arithmetic: Arithmetic) -> Array:
        apply = getattr(arithmetic, operation)
        out = first(values, arithmetic)
        for part in others:
            out = apply(out, part(values, arithmetic))
        return out

    return run
