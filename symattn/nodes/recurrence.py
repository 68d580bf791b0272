"""Recurrences over tokens: S⁽ᵗ⁾ = f(S⁽ᵗ⁻¹⁾), and back: what each state owes to the next.

The matrix of one token is a matrix of a family, as that of one head is: `HEAD` of `symattn.step` is
the index of both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
from symattn.notation import tree as t
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
        first = r.Ordinal(self.index), "=", r.Ordinal(sympy.S.Zero)
        begun = _from_start(_decided(rule, first, True), self)
        return r.Cases(*first, begun, _decided(rule, first, False))

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
        last = r.Ordinal(self.index), "=", r.Ordinal(self.count - 1)
        first = r.Ordinal(self.index + 1), "=", r.Ordinal(sympy.S.Zero)
        own, owed = r.rule_of(self.matrix, i, j), r.rule_of(self.start, i, j)
        both = r.Plus((_decided(own, last, False), _decided(owed, first, False)))
        return r.Cases(*last, _decided(own, last, True), both)

    def _spell(self, speller: Speller) -> Tree:
        return speller.matrix(sympy.MatAdd(self.matrix, self.start))


def _from_start(rule: Rule, node: Recurrence) -> Rule:
    """The rule of the first state: the start stands for the state before it."""
    if isinstance(rule, r.Entry) and rule.head is not None:
        if rule.letter == str(node.letter):
            return r.rule_of(node.args[3], rule.row, rule.column)
        return rule
    begun = r.rebuilt(rule, lambda part: _from_start(part, node))
    least = r.Const(sympy.S.NegativeInfinity)
    if isinstance(begun, r.Cases) and (begun.left, begun.sign) == (least, "≤"):
        return begun.value  # nothing is less than −∞, at which a largest value so far begins
    return begun


def _decided(rule: Rule, condition: r.Condition, holds: bool) -> Rule:
    """The rule where a condition is known to hold, or not to."""
    if isinstance(rule, r.Cases) and (rule.left, rule.sign, rule.right) == condition:
        return _decided(rule.value if holds else rule.otherwise, condition, holds)
    return r.rebuilt(rule, lambda part: _decided(part, condition, holds))


class ByIndex(Node):
    """One of a family of matrices that its index alone says: for some of them it is another."""

    #: Which of them it is, counted from 0, and how many there are.
    token: sympy.Expr
    count: sympy.Expr

    def at(self, token: sympy.Expr) -> MatrixExpr:
        """The one of another token."""
        args = [*self.args]
        args[self.places["token"]] = token
        return self.func(*args)

    def settled(self, sizes: Mapping[sympy.Symbol, int]) -> MatrixExpr | None:
        """What it is at these sizes, where its token is a number; None while that is open."""
        raise NotImplementedError


class Earlier(ByIndex):
    """The state before that of each token, S⁽ᵗ⁻¹⁾, of states that are made already.

    `matrix` is the state of the token, S⁽ᵗ⁾; the first of `count` has the `start` before it.

    Shapes: `count` matrices n × m in and out. Raises `SymattnError` if an argument is no matrix.
    Source: Katharopoulos et al., *Transformers are RNNs* (2020), section 3.4.
    """

    matrix, count, start = Matrix(), Scalar(), Matrix()
    transposes = True
    gathers = (2,)
    source = "Katharopoulos et al. 2020, section 3.4"
    adjoint_because = "The next token reads the state, and passes its gradient back to it."
    adjoint_reasons: ClassVar[Mapping[int, str]] = {2: "The first token reads ‹›."}

    @property
    def token(self) -> sympy.Expr:
        """The token before which it stands, counted from 0."""
        return self.matrix.head

    def at(self, token: sympy.Expr) -> MatrixExpr:
        _, count, start = self.args
        return Earlier(Head(self.matrix.symbol, token), count, start)

    @property
    def beside(self) -> MatrixExpr:
        """The state before that of the token, where there is one."""
        return Head(self.matrix.symbol, self.token - 1)

    def settled(self, sizes: Mapping[sympy.Symbol, int]) -> MatrixExpr | None:
        """The state before a token that is known, or the start."""
        if not self.token.is_Integer:
            return None
        return self.beside if self.token > 0 else self.start

    def _rule(self, i: Index, j: Index) -> Rule:
        first = r.Ordinal(self.token), "=", r.Ordinal(sympy.S.Zero)
        return r.Cases(*first, r.rule_of(self.start, i, j), r.rule_of(self.beside, i, j))

    def _spell(self, speller: Speller) -> Tree:
        return speller.matrix(self.beside)

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr:
        if place == 2:
            return upstream.xreplace({self.token: sympy.S.Zero})
        return Later(upstream.xreplace({self.token: _PASSED}), _PASSED, self.token, self.count)

    @classmethod
    def _compute(cls, arithmetic: Arithmetic, states: Array, count: Operand, start: Array) -> Array:
        before = [arithmetic.expand(start, -3), arithmetic.part(states, 0, count - 1, -3)]
        return arithmetic.join(before, axis=-3)


class Later(ByIndex):
    """The matrix after that of each token, M⁽ᵗ⁺¹⁾, 0 after the last: what the next one owes.

    `matrix` is that of token `index`, which here is `token`.

    Shapes: `count` matrices n × m in and out. Raises `SymattnError` if an argument is no matrix.
    Source: Werbos, *Backpropagation Through Time* (1990), section II.
    """

    matrix, index, token, count = Matrix(), BoundIndex(), Scalar(), Scalar()
    transposes = True
    source = "Werbos 1990, section II"

    @property
    def heads(self) -> sympy.Expr:
        """How many matrices there are."""
        return self.count

    @property
    def beside(self) -> MatrixExpr:
        """The matrix of the next token, where there is one."""
        return self.matrix.xreplace({self.index: self.token + 1})

    def settled(self, sizes: Mapping[sympy.Symbol, int]) -> MatrixExpr | None:
        """The matrix after that of a token that is known."""
        if not self.token.is_Integer:
            return None
        is_last = self.token == self.count.subs(sizes) - 1
        return sympy.ZeroMatrix(*shape_of(self)) if is_last else self.beside

    def _rule(self, i: Index, j: Index) -> Rule:
        last = r.Ordinal(self.token), "=", r.Ordinal(self.count - 1)
        return r.Cases(*last, r.Const(sympy.S.Zero), r.rule_of(self.beside, i, j))

    def _spell(self, speller: Speller) -> Tree:
        return speller.matrix(self.beside)

    @classmethod
    def _compute(
        cls, arithmetic: Arithmetic, matrices: Array, index: Operand, token: Operand, count: Operand
    ) -> Array:
        none = arithmetic.expand(arithmetic.filled(sympy.S.Zero, *matrices.shape[-2:]), -3)
        return arithmetic.join([arithmetic.part(matrices, 1, count - 1, -3), none], axis=-3)


class AtOne(ByIndex):
    """A matrix for one of a family, and 0 for every other: what is owed to one that is read alone.

    `token` is the index of the family, `place` that of the one, both counted from 0.

    Shapes: `count` matrices n × m, of one of them. Raises `SymattnError` if `matrix` is no matrix.
    Source: Griewank and Walther, *Evaluating Derivatives*, 2nd ed. (2008), section 3.2.
    """

    matrix, place, token, count = Matrix(), Scalar(), Scalar(), Scalar()
    transposes = True
    gathers = (0,)
    source = "Griewank and Walther 2008, section 3.2"
    adjoint_because = "Only this one of all is read."

    def settled(self, sizes: Mapping[sympy.Symbol, int]) -> MatrixExpr | None:
        """The matrix, or 0, where it is known which one is meant."""
        if not self.token.is_Integer:
            return None
        here = self.token == self.place.subs(sizes)
        return self.matrix if here else sympy.ZeroMatrix(*shape_of(self))

    def _rule(self, i: Index, j: Index) -> Rule:
        here = r.Ordinal(self.token), "=", r.Ordinal(self.place)
        return r.Cases(*here, r.rule_of(self.matrix, i, j), r.Const(sympy.S.Zero))

    def _spell(self, speller: Speller) -> Tree:
        here = t.equation(speller.index(self.token), (t.EQUALS, speller.index(self.place)))
        return t.cases([(speller.matrix(self.matrix), here)], t.Num("0"))

    def _adjoint(self, place: int, upstream: MatrixExpr, value: MatrixExpr) -> MatrixExpr:
        return upstream.xreplace({self.token: self.place})

    @classmethod
    def _compute(
        cls, arithmetic: Arithmetic, matrix: Array, place: Operand, token: Operand, count: Operand
    ) -> Array:
        none = arithmetic.filled(sympy.S.Zero, *matrix.shape[-2:])
        before, after = (
            [arithmetic.shared(none, number)] if number != 0 else []
            for number in (place, count - 1 - place)
        )
        here = arithmetic.expand(matrix, -3)
        return arithmetic.join([*before, here, *after], axis=-3)


#: The index of the matrices of which the next one is taken.
_PASSED = sympy.Symbol("passed", integer=True)


def _key(letter: sympy.Basic) -> str:
    return f"{letter} beside"


def neighbours(expr: MatrixExpr, letter: sympy.Basic) -> list[Beside]:
    """The states beside those of a letter's recurrence in an expression."""
    return [part for part in expr.atoms(Beside) if part.letter == letter]


def beside(node: Recurrence) -> Beside | None:
    """The neighbour of a state in its body, if that has it."""
    return next(iter(neighbours(node.args[0], node.letter)), None)


def before(node: Recurrence, token: sympy.Expr) -> MatrixExpr:
    """The state before that of a token, of a recurrence."""
    _, _, count, start, letter = node.args
    symbol = sympy.MatrixSymbol(str(letter), *shape_of(node))
    return Earlier(Head(symbol, token), count, start)


def without_starts(expr: MatrixExpr) -> MatrixExpr:
    """An expression in which no state stands that recurrences begin at, only those that they make.

    It is no value, but has the parts that those are made of.
    """
    body = expr.matrix if isinstance(expr, Recurrence) else expr
    return body.xreplace({part: part.matrix for part in body.atoms(Earlier)})


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
