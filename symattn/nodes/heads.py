"""Several heads: a matrix of head i, stated once, and the heads side by side."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import sympy
from sympy.matrices.expressions.matexpr import MatrixElement, MatrixExpr

from symattn.arithmetic.base import Arithmetic, Array
from symattn.errors import SymattnError
from symattn.nodes.base import Node, as_matrix, as_scalar, shape_of
from symattn.nodes.rule import Entry, Index, Rule, rule_of
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.tree import Tree


class Head(Node):
    """The matrix of one head, Q⁽ⁱ⁾: a matrix symbol and a head index (counted from 0).

    Shapes: those of the symbol, the same for all heads. Raises `SymattnError` if `symbol` is no
    MatrixSymbol. Source: Vaswani et al. 2017, section 3.2.2.

    >>> i = sympy.Symbol("i", integer=True)
    >>> print(Head(sympy.MatrixSymbol("Q", 2, 2), i), Head(sympy.MatrixSymbol("Q", 2, 2), 0))
    Q⁽ⁱ⁾ Q⁽¹⁾
    """

    source: ClassVar[str] = "Vaswani et al. 2017, section 3.2.2"

    def __new__(cls, symbol: Any, index: Any) -> Self:
        if not isinstance(symbol, sympy.MatrixSymbol):
            raise SymattnError(f"Head: {symbol} is not a MatrixSymbol")
        return super().__new__(cls, symbol, as_scalar(index, "Head"))

    @property
    def name(self) -> str:
        """The letter all heads share."""
        return str(self.args[0].name)

    @property
    def head(self) -> sympy.Expr:
        """Which head, counted from 0."""
        return self.args[1]

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """The shape of each head's matrix."""
        return shape_of(self.args[0])

    def _rule(self, i: Index, j: Index) -> Rule:
        return Entry(self, i, j)

    def _entry(self, i: Index, j: Index, **kwargs: Any) -> sympy.Expr:
        return MatrixElement(self, i, j)

    def _spell(self, speller: Speller) -> Tree:
        return speller.notation.in_head(speller.matrix(self.args[0]), speller.index(self.head))

    def _flip(self, flip: Any) -> MatrixExpr:
        return Head(flip(self.args[0]), self.head)

    def doit(self, **hints: Any) -> MatrixExpr:
        """Itself: a name has nothing to evaluate."""
        return self

    @classmethod
    def numpy(cls, *args: Any) -> Array:
        """One head's matrix out of an array (heads, rows, columns)."""
        return np.asarray(np.asarray(args[0])[int(args[1])])


class Concat(Node):
    """The heads side by side: H = [O⁽¹⁾ ⋯ O⁽ʰ⁾]; with `axis` 0 one below the other.

    With a concrete number of heads, ``doit()`` gives SymPy's own `BlockMatrix`.

    Shapes: h matrices n × d_v become n × h·d_v. Raises `SymattnError` if `matrix` is no matrix.
    Source: Vaswani et al. 2017, section 3.2.2.

    >>> i, O = sympy.Symbol("i", integer=True), sympy.MatrixSymbol("O", 2, 3)
    >>> Concat(Head(O, i), i, 2).shape
    (2, 6)
    """

    source: ClassVar[str] = "Vaswani et al. 2017, section 3.2.2"

    adjoint_because: ClassVar[str] = "Each head has the gradient of its own columns."

    def __new__(cls, matrix: Any, index: Any, count: Any, axis: Any = 1) -> Self:
        body = as_matrix(matrix, "Concat")
        return super().__new__(cls, body, index, as_scalar(count, "Concat"), sympy.Integer(axis))

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """The size of one head, `count` times along the axis."""
        body, _, count, axis = self.args
        rows, columns = body.shape
        return (rows, count * columns) if axis == 1 else (count * rows, columns)

    @property
    def free_symbols(self) -> set[sympy.Basic]:
        """All symbols but the head index, which belongs to the node."""
        body, index, count, _ = self.args
        return (body.free_symbols - {index}) | count.free_symbols  # type: ignore[no-any-return]

    def _eval_subs(self, old: sympy.Basic, new: sympy.Basic) -> Concat | None:
        """Nothing is put in for the head index from outside."""
        return self if old == self.args[1] else None

    def statement(self, i: Index, j: Index) -> tuple[Index, Index, Rule]:
        """Row, column and rule as a reader states them: column (i − 1) d_v + b is head i's b."""
        body, index, _, axis = self.args
        rows, columns = body.shape
        if axis == 1:
            return i, index * columns + j, rule_of(body, i, j)
        return index * rows + i, j, rule_of(body, i, j)

    def _rule(self, i: Index, j: Index) -> Rule:
        body, index, _, axis = self.args
        rows, columns = body.shape
        along, width = (j, columns) if axis == 1 else (i, rows)
        head, rest = sympy.floor(along / width), sympy.Mod(along, width)
        one = body.subs(index, head)
        return rule_of(one, i, rest) if axis == 1 else rule_of(one, rest, j)

    def _spell(self, speller: Speller) -> Tree:
        body, index, count, axis = self.args
        few = isinstance(count, sympy.Integer) and count <= 3
        shown = list(range(int(count))) if few else [0, None, count - 1]
        dots = t.DOTS if axis == 1 else t.VDOTS
        cells = [dots if k is None else speller.matrix(body.subs(index, k)) for k in shown]
        return speller.bracketed_grid([cells] if axis == 1 else [[cell] for cell in cells])

    def _flip(self, flip: Any) -> MatrixExpr:
        body, index, count, axis = self.args
        return Concat(flip(body), index, count, 1 - axis)

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr | None:
        from symattn.nodes.parts import Split

        _, index, count, axis = self.args
        return Split(upstream, index, count, axis)

    def doit(self, **hints: Any) -> MatrixExpr:
        """A BlockMatrix once the number of heads is known."""
        body, index, count, axis = self.args
        if not isinstance(count, sympy.Integer):
            return self
        blocks = [body.subs(index, head).doit(**hints) for head in range(int(count))]
        return sympy.BlockMatrix([blocks] if axis == 1 else [[block] for block in blocks])

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, *args: Any) -> Array:
        heads, _, _, axis = args
        return side_by_side(heads) if axis == 1 else stacked_up(heads)

    def _numpycode(self, printer: Any) -> str:
        body, _, _, axis = self.args
        stack = body.args[0] if isinstance(body, Head) else body
        join = "side_by_side" if axis == 1 else "stacked_up"
        printer.module_imports[__name__].add(join)
        return f"{join}({printer._print(stack)})"


def side_by_side(heads: Array) -> Array:
    """(…, heads, rows, columns) as (…, rows, heads · columns)."""
    moved = np.moveaxis(np.asarray(heads), -3, -2)  # (…, rows, heads, columns)
    return moved.reshape(*moved.shape[:-2], moved.shape[-2] * moved.shape[-1])


def stacked_up(heads: Array) -> Array:
    """(…, heads, rows, columns) as (…, heads · rows, columns)."""
    array = np.asarray(heads)
    return array.reshape(*array.shape[:-3], array.shape[-3] * array.shape[-2], array.shape[-1])
