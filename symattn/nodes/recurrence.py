"""Recurrences over tokens: S⁽ᵗ⁾ = f(S⁽ᵗ⁻¹⁾), and back: what each state owes to the next.

The matrix of one token is a matrix of a family, as that of one head is: `HEAD` of `symattn.step` is
the index of both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.arithmetic.base import Arithmetic, Array
from symattn.nodes import rule as r
from symattn.nodes.arguments import BoundIndex, Extent, Matrix, Operand, Scalar
from symattn.nodes.base import Node, shape_of
from symattn.nodes.entrywise import Entrywise, Exponential
from symattn.nodes.heads import Head, HeadSum
from symattn.nodes.rule import Index, Rule
from symattn.nodes.spell import Speller
from symattn.notation.tree import Tree


class Beside(Node):
    """The state beside that of token t: S⁽ᵗ⁻¹⁾, or S⁽ᵗ⁺¹⁾ with `step` 1.

    It stands only in the body of a `Recurrence`, whose letter it has. Shapes: rows × columns.
    Source: Katharopoulos et al., *Transformers are RNNs* (2020), section 3.4.
    """

    rows, columns, letter, index, step = Extent(), Extent(), BoundIndex(), BoundIndex(), Scalar(-1)
    transposes = True
    source = "Katharopoulos et al. 2020, section 3.4"

    @property
    def key(self) -> str:
        """What its value goes by while a recurrence is evaluated."""
        return _key(self.letter)

    @property
    def state(self) -> MatrixExpr:
        """The state as a matrix of its family."""
        rows, columns, letter, index, step = self.args
        return Head(sympy.MatrixSymbol(str(letter), rows, columns), index + step)

    def _rule(self, i: Index, j: Index) -> Rule:
        return r.Entry(self.state, i, j)

    def _spell(self, speller: Speller) -> Tree:
        return speller.matrix(self.state)


class Recurrence(Node):
    """A state for each token, made of the one before it: S⁽ᵗ⁾ = f(S⁽ᵗ⁻¹⁾), t from 1 to `count`.

    `matrix` is f for token `index`, in which `Beside` is the state before; `start` is S⁽⁰⁾.

    Shapes: `count` matrices n × m. Raises `SymattnError` if an argument is no matrix.
    Source: Katharopoulos et al., *Transformers are RNNs* (2020), section 3.4, equations 18 to 20.
    """

    matrix, index, count, start, letter = Matrix(), BoundIndex(), Scalar(), Matrix(), BoundIndex()
    transposes = True
    source = "Katharopoulos et al. 2020, section 3.4"
    heading = "states"
    reason = "Each state is made of the one before it."
    #: Whether it runs from the last token to the first.
    back: ClassVar[bool] = False

    @property
    def key(self) -> str:
        """What the state beside that of a token goes by while it is evaluated."""
        return _key(self.letter)

    def _rule(self, i: Index, j: Index) -> Rule:
        """The rule of token t; of the first one the start stands in for the state before it."""
        rule = r.rule_of(self.matrix, i, j)
        first = _from_start(rule, self)
        return r.Cases(r.Ordinal(self.index), "=", r.Ordinal(sympy.S.Zero), first, rule)

    def is_of_state_before(self, letter: str, index: Index) -> bool:
        """Whether it is that of a letter, made of its state before and of no other."""
        own = Beside(*shape_of(self.matrix), self.letter, index)
        is_named = str(self.letter) == letter and self.index == index
        fits = tuple(shape_of(self.start)) == tuple(self.shape) and not self.start.has(Beside)
        return is_named and fits and self.matrix.atoms(Beside) <= {own}

    def _spell(self, speller: Speller) -> Tree:
        return speller.matrix(self.matrix)


class Backward(Recurrence):
    """What all states owe: T⁽ᵗ⁾ = g⁽ᵗ⁾ + b(T⁽ᵗ⁺¹⁾), t from `count` down; the last one's is g.

    `matrix` is g, what the readers of state t pass back, and `start` is b, what the next state
    does, in which `Beside` is T⁽ᵗ⁺¹⁾.

    Shapes: `count` matrices n × m. Raises `SymattnError` if an argument is no matrix.
    Source: Werbos, *Backpropagation Through Time* (1990), section II.
    """

    source = "Werbos 1990, section II"
    back = True

    @property
    def shape(self) -> tuple[sympy.Expr, sympy.Expr]:
        """That of what is passed back."""
        return shape_of(self.args[0])

    def _rule(self, i: Index, j: Index) -> Rule:
        last = r.rule_of(self.matrix, i, j)
        both = r.Plus((last, r.rule_of(self.start, i, j)))
        return r.Cases(r.Ordinal(self.index), "=", r.Ordinal(self.count - 1), last, both)

    def _spell(self, speller: Speller) -> Tree:
        return speller.matrix(sympy.MatAdd(self.matrix, self.start))


def _from_start(rule: Rule, node: Recurrence) -> Rule:
    """The rule of the first state: the start stands for the state before it."""
    if isinstance(rule, r.Entry) and rule.head is not None:
        if rule.letter == str(node.letter):
            return r.rule_of(node.args[3], rule.row, rule.column)
        return rule
    return r.rebuilt(rule, lambda part: _from_start(part, node))


class Earlier(Node):
    """The states before those of all tokens: S⁽ᵗ⁻¹⁾, of the first token the start.

    Shapes: `count` matrices n × m in and out. Raises `SymattnError` if an argument is no matrix.
    Source: Katharopoulos et al., *Transformers are RNNs* (2020), section 3.4.
    """

    matrix, start, index, count = Matrix(), Matrix(), Scalar(), Scalar()
    source = "Katharopoulos et al. 2020, section 3.4"

    def _rule(self, i: Index, j: Index) -> Rule:
        states, start, index, _ = self.args
        before = r.rule_of(states.xreplace({index: index - 1}), i, j)
        first = r.Ordinal(index), "=", r.Ordinal(sympy.S.Zero)
        return r.Cases(*first, r.rule_of(start, i, j), before)

    def _spell(self, speller: Speller) -> Tree:
        return speller.matrix(self.matrix.xreplace({self.index: self.index - 1}))

    @classmethod
    def _compute(
        cls, arithmetic: Arithmetic, states: Array, start: Array, index: Operand, count: Operand
    ) -> Array:
        begin = arithmetic.expand(start, -3) if start.ndim == 2 else start
        return arithmetic.join([begin, arithmetic.part(states, 0, count - 1, -3)], axis=-3)


def _key(letter: sympy.Basic) -> str:
    return f"{letter} beside"


def beside(node: Recurrence) -> Beside | None:
    """The neighbour of a state in its body, if that has it."""
    found = node.args[0].atoms(Beside)
    return next((part for part in found if part.letter == node.letter), None)


def before(node: Recurrence) -> MatrixExpr:
    """The states before those of a recurrence, as a family."""
    _, index, count, start, letter = node.args
    symbol = sympy.MatrixSymbol(str(letter), *shape_of(node))
    return Earlier(Head(symbol, index), start, index, count)


#: What binds the index of a token, and what recurrences are written with.
OVER_TOKENS = (Recurrence,)
OF_STATES = (*OVER_TOKENS, Beside)


def is_recurrence(expr: sympy.Basic) -> bool:
    """Whether it is a matrix for each token, made of the one before."""
    return type(expr) is Recurrence


def closed_forms(states: Recurrence) -> Iterator[MatrixExpr]:
    """What a recurrence may be without one, the simplest first: Σ_j (Π_{i>j} a⁽ⁱ⁾) b⁽ʲ⁾.

    Of states x⁽ᵗ⁾ = f(x⁽ᵗ⁻¹⁾), entry by entry, the factor a is f(1) − f(0) and the term b is f(0);
    a product of factors is 1, or e^(Σ ln a). Where f is no such function none of them is right.
    Source: Blelloch, *Prefix Sums and Their Applications* (1990), section 1.4.
    """
    body, t, _, start, _ = states.args
    before = beside(states)
    j, i = (sympy.Symbol(name, integer=True) for name in ("token", "between"))
    if before is None:
        yield body
        return
    zero, one = sympy.ZeroMatrix(*states.shape), sympy.OneMatrix(*states.shape)
    term = body.xreplace({before: zero})
    first = [] if isinstance(start, sympy.ZeroMatrix) else [start]
    yield _sum([*first, HeadSum(term.xreplace({t: j}), j, t + 1)])
    moved = _sum([part for part in sympy.MatAdd.make_args(body) if part.has(before)])
    apart = [moved.xreplace({before: one}), -moved.xreplace({before: zero})]
    growth = HeadSum(Entrywise(_sum(apart), "ln").xreplace({t: i}), i, t + 1)
    since = Exponential(_sum([growth, -growth.xreplace({t: j})]))
    grown = HeadSum(sympy.HadamardProduct(since, term.xreplace({t: j})), j, t + 1)
    yield _sum([*(sympy.HadamardProduct(Exponential(growth), state) for state in first), grown])


def _sum(terms: Sequence[MatrixExpr]) -> MatrixExpr:
    return sympy.MatAdd(*terms) if len(terms) > 1 else terms[0]
