"""Nodes that stand for an expression of others: matrices by their entries, functions of one's own.

What such a node is, is its `meaning`, a matrix expression: entries, values, programs and gradients
are that expression's. It is written in its own way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr
from sympy.printing.printer import Printer

from symattn.arithmetic.base import Arithmetic, Array
from symattn.errors import SymattnError
from symattn.nodes import rule as r
from symattn.nodes.arguments import Extent, Matrix, Operand, Scalar
from symattn.nodes.base import Definition, Node, definitions, shape_of
from symattn.nodes.lines import Filled
from symattn.nodes.number import NumberSymbol
from symattn.nodes.positions import number
from symattn.nodes.rule import Index, Rule
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.tree import Tree

#: Row and column of an entry, as a reader counts them: from 1.
ROW_NUMBER, COLUMN_NUMBER = sympy.symbols("row_number column_number", integer=True)


class OfPlaces(Scalar):
    """A formula, or a test, of the numbers of row and column."""

    def turned(self, value: sympy.Basic, flip: Callable[[MatrixExpr], MatrixExpr]) -> sympy.Basic:
        return value.xreplace({ROW_NUMBER: COLUMN_NUMBER, COLUMN_NUMBER: ROW_NUMBER})


class Defined(Node):
    """A node that stands for an expression of other nodes, its `meaning`."""

    #: Whether it has an adjoint rule of its own; otherwise its gradient is that of its meaning.
    has_adjoint: ClassVar[bool] = False

    @property
    def meaning(self) -> MatrixExpr:
        """The expression that it stands for."""
        raise NotImplementedError

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """That of its meaning."""
        return shape_of(self.meaning)

    def _rule(self, i: Index, j: Index) -> Rule:
        return r.rule_of(self.meaning, i, j)

    def _define(self, speller: Speller, i: Index, j: Index) -> Iterator[Definition]:
        yield from definitions(self.meaning, speller, i, j)

    def _explicit(self) -> MatrixExpr:
        return self.meaning.doit()

    def _numpycode(self, printer: Printer) -> str:
        return str(printer._print(self.meaning))


def expanded(expr: MatrixExpr) -> MatrixExpr:
    """The expression with what its nodes stand for in their place, down to nodes of their own.

    >>> from symattn.nodes.norms import RMSNorm
    >>> print(expanded(RMSNorm(sympy.MatrixSymbol("X", 1, 2))))
    X / sqrt(rowsum(X ∘ X) / 2)
    """
    while found := {part: part.meaning for part in expr.atoms(Defined)}:
        inner = {part: meaning for part, meaning in found.items() if not meaning.atoms(Defined)}
        expr = expr.xreplace(inner or found)
    return expr


class Counted(Node):
    """Whole numbers made of the places of row and column, from 1: c_ij = i − j.

    `formula` is made of `ROW_NUMBER`, `COLUMN_NUMBER`, sizes and whole numbers by sums, products,
    |…|, ⌊…⌋, mod, min and max.

    Shapes: rows × columns. Raises `SymattnError` for a formula of anything else, when it is
    evaluated. Source: Iverson, *A Programming Language* (1962), section 1.5 (index generator).

    >>> print(Counted(2, 3, ROW_NUMBER - COLUMN_NUMBER).doit())
    Matrix([[0, -1, -2], [1, 0, -1]])
    """

    rows, columns, formula = Extent(), Extent(), OfPlaces()
    transposes = True
    source = "Iverson 1962, section 1.5"

    def _rule(self, i: Index, j: Index) -> Rule:
        return number(at_place(self.formula, i, j))

    def _spell(self, speller: Speller) -> Tree:
        return t.Fenced(speller.scalar(named(self.formula)), "[", "]")

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        return None

    @classmethod
    def _compute(
        cls, arithmetic: Arithmetic, rows: Operand, columns: Operand, formula: Operand
    ) -> Array:
        counted = places(arithmetic, rows, columns, formula)
        return arithmetic.narrowed(arithmetic.wide.numbers(counted))


def at_place(formula: sympy.Basic, i: Index, j: Index) -> sympy.Basic:
    """A formula of row and column numbers for the entry (i, j), which count from 0."""
    row, column = (sympy.sympify(place, strict=True) + 1 for place in (i, j))
    return formula.xreplace({ROW_NUMBER: row, COLUMN_NUMBER: column})


def named(formula: sympy.Basic) -> sympy.Basic:
    """A formula with i and j for row and column, to be written."""
    i, j = (sympy.Symbol(letter, integer=True) for letter in "ij")
    return formula.xreplace({ROW_NUMBER: i, COLUMN_NUMBER: j})


def places(
    arithmetic: Arithmetic, rows: sympy.Expr, columns: sympy.Expr, formula: sympy.Basic
) -> Any:
    """A formula of places as an array of whole numbers, rows × columns, or of truths."""
    ends = {
        ROW_NUMBER: arithmetic.rows(rows, 1),
        COLUMN_NUMBER: arithmetic.columns(columns) + 1,
    }

    def value(part: sympy.Basic) -> Any:
        if part in ends:
            return ends[part]
        args = part.args
        match part:
            case sympy.Integer() | sympy.Symbol():
                return int(part) if isinstance(part, sympy.Integer) else part
            case sympy.Add():
                return _folded(lambda a, b: a + b, map(value, args))
            case sympy.Mul():
                return _folded(lambda a, b: a * b, map(value, args))
            case sympy.Pow(exp=sympy.Integer() as power) if power > 0:
                return _folded(lambda a, b: a * b, [value(part.base)] * int(power))
            case sympy.Abs():
                return abs(value(args[0]))
            case sympy.floor():
                above, below = sympy.fraction(sympy.together(args[0]))
                return value(above) // value(below)
            case sympy.ceiling():
                above, below = sympy.fraction(sympy.together(args[0]))
                return -(value(-above) // value(below))
            case sympy.Mod():
                one, other = map(value, args)
                return one - other * (one // other)
            case sympy.Min() | sympy.Max():
                sign = 1 if isinstance(part, sympy.Max) else -1
                return _folded(lambda a, b: (a + b + sign * abs(a - b)) // 2, map(value, args))
            case sympy.Le():
                return _at_most(arithmetic.rows(rows), *map(value, args))
            case sympy.Eq():
                return value(args[0]) == value(args[1])
            case sympy.And():
                return _folded(lambda a, b: a & b, map(value, args))
            case sympy.Or():
                return _folded(lambda a, b: a | b, map(value, args))
            case sympy.Not():
                return ~value(args[0])
        raise SymattnError(f"{part} is not made of the places of row and column")

    out = value(formula)
    whole = out if hasattr(out, "shape") else arithmetic.rows(rows) * 0 + out
    return arithmetic.broadcast(whole, rows, columns)


def _at_most(rows: Any, left: Any, right: Any) -> Any:
    """Where left ≤ right; of sizes alone in every row."""
    if not any(hasattr(side, "shape") for side in (left, right)):
        left = rows * 0 + left
    return left <= right


def _folded(operation: Callable[[Any, Any], Any], parts: Any) -> Any:
    first, *rest = parts
    for part in rest:
        first = operation(first, part)
    return first


class WherePlaced(Node):
    """One of two matrices' entries, by the places of row and column: v_ij if j ≤ i, else w_ij.

    `test` joins comparisons (≤, =) of formulas of places, as in `Counted`, by and, or, not.

    Shapes: all n × m. Raises `SymattnError` if an argument is no matrix.
    Source: Iverson, *A Programming Language* (1962), section 1.5 (relations as 1 and 0).
    """

    value, otherwise, test = Matrix(), Matrix(), OfPlaces()
    transposes = True
    source = "Iverson 1962, section 1.5"
    adjoint_because = "Each entry is that of one of the two, which receives its gradient."

    @classmethod
    def or_zero(cls, value: MatrixExpr, test: sympy.Basic) -> WherePlaced:
        """v_ij where the test holds, else 0."""
        return cls(value, Filled(*shape_of(value), 0), test)

    def _rule(self, i: Index, j: Index) -> Rule:
        pair = r.rule_of(self.value, i, j), r.rule_of(self.otherwise, i, j)
        return _cases(at_place(self.test, i, j), *pair)

    def _spell(self, speller: Speller) -> Tree:
        test = at_place(self.test, *(sympy.Symbol(letter, integer=True) for letter in "ij"))
        cases = _cases(test, r.Const(sympy.S.One), r.Const(sympy.S.Zero))
        rows = [
            (
                speller.matrix(self.value if rule == r.Const(sympy.S.One) else self.otherwise),
                conditions,
            )
            for rule, conditions in r.branches(cases)
        ]
        *listed, (last, _) = rows
        joined = [
            (tree, t.joined([*map(speller.condition, conditions)], " and "))
            for tree, conditions in listed
        ]
        return t.cases(joined, last)

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        zero = Filled(*self.shape, 0)
        pair = (upstream, zero) if place == 0 else (zero, upstream)
        return WherePlaced(*pair, self.test)

    def _numpycode(self, printer: Printer) -> str:
        where, indices = map(printer._module_format, ("numpy.where", "numpy.indices"))
        rows, columns = map(printer._print, self.shape)
        places = (f"({indices}(({rows}, {columns}))[{axis}] + 1)" for axis in (0, 1))
        test = self.test.xreplace(
            dict(zip((ROW_NUMBER, COLUMN_NUMBER), map(sympy.Symbol, places), strict=True))
        )
        return f"{where}({', '.join(map(printer._print, (test, self.value, self.otherwise)))})"

    @classmethod
    def _compute(
        cls, arithmetic: Arithmetic, value: Array, otherwise: Array, test: Operand
    ) -> Array:
        if test.is_Boolean and not test.free_symbols:  # of sizes alone, which are known
            return value if test else otherwise
        shape = value.shape if getattr(value, "ndim", 2) >= 2 else otherwise.shape
        rows, columns = (sympy.sympify(size, strict=True) for size in shape[-2:])
        return arithmetic.where(places(arithmetic, rows, columns, test), value, otherwise)


def _cases(test: sympy.Basic, value: Rule, otherwise: Rule) -> Rule:
    """Cases by a test, nested where it joins several."""
    match test:
        case sympy.logic.boolalg.BooleanTrue():
            return value
        case sympy.logic.boolalg.BooleanFalse():
            return otherwise
        case sympy.And(args=(first, *rest)):
            return _cases(first, _cases(sympy.And(*rest), value, otherwise), otherwise)
        case sympy.Or(args=(first, *rest)):
            return _cases(first, value, _cases(sympy.Or(*rest), value, otherwise))
        case sympy.Not(args=(inner,)):
            return _cases(inner, otherwise, value)
        case sympy.Le(args=(left, right)):
            return r.Cases(r.Ordinal(left), "≤", r.Ordinal(right), value, otherwise)
        case sympy.Gt(args=(left, right)):
            return _cases(sympy.Le(left, right), otherwise, value)
        case sympy.Lt(args=(left, right)):
            return _cases(sympy.Le(right, left), otherwise, value)
        case sympy.Ge(args=(left, right)):
            return _cases(sympy.Le(right, left), value, otherwise)
        case sympy.Eq(args=(left, right)):
            return r.Cases(r.Ordinal(left), "=", r.Ordinal(right), value, otherwise)
        case sympy.Ne(args=(left, right)):
            return _cases(sympy.Eq(left, right), otherwise, value)
    raise SymattnError(f"{test} is no test of places")


class ByEntries(Defined):
    """A matrix that is said by its entries: M = [m_ij], with the entries of its `meaning`.

    Shapes: those of its meaning. Raises `SymattnError` if that is no matrix.
    Source: Horn and Johnson, *Matrix Analysis* (2013), section 0.1.1: A = [a_ij].
    """

    matrix, letter = Matrix(), Scalar()
    transposes = True
    source = "Horn and Johnson, Matrix Analysis (2013), section 0.1.1"

    @property
    def meaning(self) -> MatrixExpr:
        return self.matrix

    def _spell(self, speller: Speller) -> Tree:
        i, j = (sympy.Symbol(letter, integer=True) for letter in "ij")
        symbol = sympy.MatrixSymbol(str(self.letter), *self.shape)
        return t.Fenced(speller.rule(r.Entry(symbol, i, j)), "[", "]")


class Formula(sympy.AtomicExpr):  # type: ignore[misc]  # SymPy has no types
    """A function of numbers that a text defines: its name, its arguments, and how it is made.

    `make` gives the expression for matrices in place of the arguments (and of the numbers `also`
    that the text gives it), all of one shape.
    """

    _make: ClassVar[Any]

    def __new__(
        cls, name: str, arguments: tuple[str, ...], text: str, make: Callable[..., MatrixExpr]
    ) -> Formula:
        """The function; two of the same name, arguments and text are equal."""
        formula: Formula = super().__new__(cls)
        formula.name, formula.arguments, formula.text, formula.make = name, arguments, text, make
        return formula

    def _hashable_content(self) -> tuple[object, ...]:
        return self.name, self.arguments, self.text

    def _sympystr(self, printer: Printer) -> str:
        return str(self.name)


class Applied(Defined):
    """A function of one's own of every entry: f_ij = φ(q_ij).

    Shapes: all matrices n × m. Raises `SymattnError` if an argument is no matrix.
    Source: Horn and Johnson, *Topics in Matrix Analysis* (1991), section 6.3.
    """

    source = "Horn and Johnson 1991, section 6.3"

    def __new__(cls, formula: Formula, *matrices: MatrixExpr) -> Applied:
        """The function of these matrices, and of the numbers that its text names, behind them."""
        node: Applied = MatrixExpr.__new__(cls, formula, *matrices)
        return node

    @property
    def formula(self) -> Formula:
        """The function."""
        formula: Formula = self.args[0]
        return formula

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """That of the matrices."""
        return shape_of(self.args[1])

    @property
    def meaning(self) -> MatrixExpr:
        return self.formula.make(*self.args[1:])

    def _spell(self, speller: Speller) -> Tree:
        shown = self.args[1 : 1 + len(self.formula.arguments)]
        return t.call(self._letter(speller), *map(speller.matrix, shown))

    def _letter(self, speller: Speller) -> Tree:
        name = self.formula.name
        return t.Ident(name, roman=True) if len(name) > 1 else speller.notation.letter(name)

    def _define(self, speller: Speller, i: Index, j: Index) -> Iterator[Definition]:
        """φ(x) = max(0, x)²."""
        formula = self.formula
        symbols = [NumberSymbol(name) for name in formula.arguments]
        meaning = formula.make(*symbols, *self.args[1 + len(symbols) :])
        left = t.call(self._letter(speller), *map(speller.matrix, symbols))
        right = speller.rule(r.rule_of(meaning, 0, 0))
        yield Definition(t.equation(left, (t.EQUALS, right)))

    def _flip(self, flip: Callable[[MatrixExpr], MatrixExpr]) -> MatrixExpr:
        return Applied(self.formula, *map(flip, self.args[1:]))
