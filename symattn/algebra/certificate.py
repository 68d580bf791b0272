"""The checker: replays the trace of a proof that two expressions are equal for all sizes.

A certificate is data: a statement as it was written, how its letters are read, and the steps of
a proof. The checker reads the statement again with the one grammar, opens the entry rules of its
nodes at symbolic indices, and takes the steps in their order; it never searches. Both entries are
polynomials over atoms (an entry, e to a monomial, a sum over an index, …), and a step rewrites
one sum by one of the `RULES`, whose obligations (a range, a sign, a full set of rows) are shown
here again. A proof ends where the difference of the sides is 0 as a polynomial over the atoms.
What is trusted is this file, the grammar and the nodes' entry rules.

Nothing here is shared with what finds proofs: of `symattn.algebra` it imports nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from functools import reduce

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.algebra.claims import (
    Goal,
    Pair,
    Slope,
    cases,
    decoded,
    goal_of,
    halved,
    inverses,
    may_lack,
    opaque,
    permutations_in,
    read_size,
    same_shape,
    turned_around,
    used,
)
from symattn.algebra.forms import Env, Form, Refused, form, linear, number, place, plus_form
from symattn.algebra.functions import Parts
from symattn.algebra.kinds import Data, check_kind, check_limits
from symattn.algebra.polynomials import (
    constant,
    form_poly,
    is_zero,
    plus,
    scaled,
    settled,
    single,
    times,
)
from symattn.algebra.scope import Open
from symattn.algebra.sums import Step, Sums
from symattn.algebra.texts import Atom, Poly, atoms_of, form_text, spelled, terms_of, text_of
from symattn.budget import Spent
from symattn.errors import ReadError, SymattnError
from symattn.nodes import rule as r
from symattn.nodes.entrywise import Diagonal
from symattn.nodes.heads import Head
from symattn.nodes.positions import IndexNumber, Rotary
from symattn.nodes.recurrence import is_recurrence
from symattn.nodes.scale import Quotient
from symattn.step import HEAD


class Letters(Sums):
    """Entries of letters, of inverses and derivatives, and scalars."""

    def letter(self, matrix: MatrixExpr, i: Form, j: Form, env: Env | None = None) -> Poly | None:
        """An entry of a letter, of one head's or of an inverse."""
        match matrix:
            case Head(name=name):
                head = self.at(matrix.head, env or {})
                if name in self.here.means:
                    meaning = self.here.means[name]
                    count = self.counts.get(meaning)
                    if count is not None and not self.holds(self.within(head, count)):
                        raise Refused(f"{name} has no state that is known to stand there")
                    return self.entry(meaning, i, j, head)
                return single(Atom("entry", name, (i, j, head)))
            case _ if matrix.free_symbols & set(env or {}):
                raise Refused("an inverse or a derivative that depends on an index")
            case sympy.Inverse():
                self.lack("an inverse")
                return self.inverse(matrix.arg, i, j)
            case Slope() if self.recurrences:
                raise Refused("a derivative beside states that have no closed form")
            case Slope():
                value = self.some(self.entry(matrix.expr, number(0), number(0)))
                return self.derived(value, matrix.letter.name, i, j)
            case sympy.MatrixSymbol(name=name) if name in self.here.means:
                return self.entry(self.here.means[name], i, j)
            case sympy.MatrixSymbol(name=name) if name in self.permuted:  # p_ij is 1 for j = π(i)
                return self.delta(j, place(name, i, 0))
            case sympy.MatrixSymbol(name=name):
                return single(Atom("entry", name, (i, j)))
        raise Refused(f"an entry of {type(matrix).__name__} is not covered")

    def derived(self, poly: Poly, name: str, i: Form, j: Form) -> Poly:
        """The derivative by entry (i, j) of a letter, by the rules for products and chains."""
        out: Poly = {}
        for mono, c in terms_of(poly):
            for atom, p in atoms_of(mono):
                inner = self.slope_of(atom, name, i, j)
                if inner:
                    self.lack("a root", p.denominator != 1)  # a root has no slope at 0
                    left = dict(mono)
                    left[atom] = p - 1
                    out = plus(out, scaled(times(settled(left), inner), c * p))
        return out

    def slope_of(self, atom: Atom, name: str, i: Form, j: Form) -> Poly:
        """The derivative of an atom; of what may have a kink or be an inverse there is none."""
        text = spelled(atom)
        if "⁻¹" not in text and not re.search(rf"(?<![\w']){re.escape(name)}\[", text):
            return {}
        match atom:
            case Atom("entry", other, (row, column)) if other == name:
                return times(self.delta(row, i), self.delta(column, j))
            case Atom("exp"):
                return times(single(atom), self.derived(dict(atom.terms), name, i, j))
            case Atom("sum"):
                bound, mono = self.opened(atom)
                return self.summed(bound, self.derived({mono: Fraction(1)}, name, i, j))
            case Atom("poly"):
                return self.derived(dict(atom.terms), name, i, j)
            case Atom("fn", "ln"):
                inner = self.derived(dict(atom.terms), name, i, j)
                return times(inner, self.power(dict(atom.terms), Fraction(-1)))
        raise Refused(f"{text[:60]} is not differentiated")

    def inverse(self, base: MatrixExpr, i: Form, j: Form) -> Poly | None:
        """Entry (i, j) of the inverse of a letter, a product, a transpose, a multiple."""
        match base:
            case sympy.MatrixSymbol() if base.name in self.here.means:
                return self.inverse(self.here.means[base.name], i, j)
            case sympy.MatrixSymbol() if base.name in self.permuted:
                return self.letter(base, j, i)
            case sympy.MatrixSymbol():
                name, size = f"{base.name}⁻¹", linear(base.shape[0], {})
                for turned in (False, True):
                    self.units[base.name, turned, name, turned] = size
                    self.units[name, turned, base.name, turned] = size
                return single(Atom("entry", name, (i, j)))
            case Diagonal():
                return times(
                    self.delta(i, j), self.divisor(self.some(self.entry(base, i, i)), None)
                )
            case sympy.Inverse():
                return self.entry(base.arg, i, j)
            case sympy.Transpose():
                return self.entry(sympy.Inverse(base.arg), j, i)
            case Quotient():
                matrix, number_ = base.args
                return self.entry(sympy.MatMul(number_, sympy.Inverse(matrix)), i, j)
            case sympy.MatMul():
                scalar, factors = base.as_coeff_matrices()
                size = linear(base.shape[0], {})
                if all(linear(side, {}) == size for f in factors for side in f.shape):
                    turned = sympy.MatMul(1 / scalar, *map(sympy.Inverse, reversed(factors)))
                    return self.entry(turned, i, j)
        if {letter.name for letter in base.atoms(sympy.MatrixSymbol)} & {*self.here.means}:
            raise Refused("the inverse of a sum with letters that are defined")
        return single(Atom("entry", f"({sympy.srepr(base)})⁻¹", (i, j)))

    def scalar(self, value: sympy.Expr, env: Env | None = None) -> Poly:
        """A SymPy scalar, also of indices."""
        value, env = sympy.sympify(value, strict=True), env or {}
        match value:
            case IndexNumber():
                return self.scalar(value.args[0], env)
            case sympy.floor() | sympy.Mod():
                return form_poly(self.at(value, env))
            case sympy.Symbol() if value in env or (value.is_integer and value.is_nonnegative):
                return form_poly(self.at(value, env))
            case sympy.Rational():
                return constant(Fraction(int(value.p), int(value.q)))
            case sympy.Symbol():
                return single(Atom("positive" if value.is_positive else "name", value.name))
            case sympy.Add():
                return plus(*(self.scalar(term, env) for term in value.args))
            case sympy.Mul():
                factors = (self.scalar(factor, env) for factor in value.args)
                return reduce(times, factors, constant(1))
            case sympy.exp():
                return self.exp(self.scalar(value.args[0], env))
            case sympy.log() | sympy.Abs() | sympy.tanh() | sympy.cos() | sympy.sin() | sympy.erf():
                name = {sympy.log: "ln"}.get(value.func, value.func.__name__.lower())
                return self.applied(name, self.scalar(value.args[0], env))
            case sympy.Pow() if isinstance(value.args[1], sympy.Rational):
                p = Fraction(int(value.args[1].p), int(value.args[1].q))
                return self.raised(self.scalar(value.args[0], env), p)
            case sympy.Pow() if value.args[0].is_positive:  # b^x is e^(x ln b)
                logarithm = self.applied("ln", self.scalar(value.args[0], env))
                return self.exp(times(self.scalar(value.args[1], env), logarithm))
        if value is sympy.S.Exp1:
            return self.exp(constant(1))
        if value is sympy.S.Pi:
            return single(Atom("positive", "π"))
        raise Refused(f"{type(value).__name__} is not covered")


class Inductions(Letters):
    """The steps of a difference until it is 0, and those that show what a recurrence makes."""

    def vanishes(self, difference: Poly) -> None:
        """Follow the trace until the difference is 0."""
        left: Poly | None = difference
        while left is not None:
            left = self.simplified(left)

    def simplified(self, left: Poly) -> Poly | None:
        """The difference behind the next step, None where that ends the proof."""
        step = self.take(("meet", "zero"), text_of(left), left)
        out = self.where_met(step, left) if step["rule"] == "meet" else None
        if out is None and not is_zero(left):
            raise self.wrong("the difference is not 0")
        self.settle(step, [], text_of(out or {}))
        return out

    def where_met(self, step: Step, left: Poly) -> Poly:
        """[i = j] f(i) is [i = j] f(j), in one term of a difference."""
        terms = terms_of(left)
        mono, c = terms[self.place_of(step, "term", terms)]
        factors = atoms_of(mono)
        atom, p = factors[self.place_of(step, "factor", factors)]
        at = {step["index"]: self.determined(atom, step["index"])}
        moved = times(self.substituted(mono - {(atom, p)}, at), single(atom))
        return plus({m: k for m, k in terms if m != mono}, scaled(moved, c))

    # ---- recurrences -------------------------------------------------------------------------

    def in_closed_form(
        self, steps: Sequence[tuple[str, sympy.Basic]]
    ) -> tuple[tuple[str, sympy.Basic], ...]:
        """Steps in which every recurrence is in closed form, as the trace says it."""
        found: dict[str, sympy.Basic] = {}
        for name, expr in steps:
            with self.inside(means={**self.here.means, **found}):
                found[name] = self.induced(name, expr) if is_recurrence(expr) else expr
        return tuple(found.items())

    def induced(self, name: str, states: MatrixExpr) -> MatrixExpr:
        """A family G that makes each matrix of the one before as the states are, from their start.

        By induction over the tokens it is the states: G⁽ᵗ⁾ = f(G⁽ᵗ⁻¹⁾), and f(S⁽⁰⁾) for the first.
        Where G is a letter it is the states of an earlier recurrence, or the first that has it.
        """
        count = linear(states.count, {})
        step = self.take(("induction",), f"{name}[t], t < {form_text(count)}", states)
        closed = decoded(step["closed"], states.free_symbols)
        if isinstance(closed, Head) and closed.head == HEAD:
            closed = Head(sympy.MatrixSymbol(f"{closed.name}⁽⁾", *closed.shape), HEAD)
            self.recurrences.setdefault(closed, (states, {**self.here.means, name: closed}))
        if not same_shape(closed, states) or self.counts.setdefault(closed, count) != count:
            raise self.wrong("the closed form has another shape, or the states another number")
        self.settle(step, [], "G[t]")
        rows, columns = (linear(size, {}) for size in states.shape)
        with self.inside(means={**self.here.means, name: closed}):

            def row(t: Form, i: Form) -> None:
                self.in_parts(columns, lambda j: self.inherits(closed, states, t, i, j))

            self.in_parts(count, lambda t: self.in_parts(rows, lambda i: row(t, i)))
        return closed

    def inherits(self, closed: MatrixExpr, states: MatrixExpr, t: Form, i: Form, j: Form) -> None:
        """Check entry (i, j) of G⁽ᵗ⁾ = f(G⁽ᵗ⁻¹⁾), where G has a value for all inputs."""
        source, means = self.recurrences.get(closed, (closed, self.here.means))
        with self.inside(means=means, lacks=[]):
            value = self.some(self.entry(source, i, j, t))
            if self.here.lacks:
                raise Refused(
                    "a closed form divides by what may be 0, or takes a root or logarithm"
                )
        made = self.some(self.entry(states, i, j, t))
        self.vanishes(plus(value, scaled(made, -1)))


class Checker(Inductions):
    """The replay of one certificate, from the entries of both sides to their difference."""

    # ---- entry rules -------------------------------------------------------------------------

    def entry(self, expr: sympy.Basic, i: Form, j: Form, head: Form | None = None) -> Poly | None:
        """Entry (i, j) of an expression, None where it is −∞; a scalar is the same everywhere.

        Of a step that is made for every head, this head is meant.
        """
        if not isinstance(expr, MatrixExpr):
            return self.scalar(expr)
        env = {_ROW: i, _COLUMN: j, **({} if head is None else {HEAD: head})}
        return self.value(r.rule_of(expr, _ROW, _COLUMN), env)

    def value(self, rule: r.Rule, env: Env) -> Poly | None:
        """The polynomial of an entry rule, the indices in it being these forms."""
        match rule:
            case r.Entry(matrix, i, j):
                return self.letter(matrix, self.at(i, env), self.at(j, env), env)
            case r.Const(value):
                return None if value is sympy.S.NegativeInfinity else self.scalar(value, env)
            case r.Ordinal(index):
                return self.scalar(index, env)
            case r.Plus(terms):
                parts = [self.value(term, env) for term in terms]
                return None if None in parts else plus(*(p for p in parts if p is not None))
            case r.Named(_, _, value):
                return self.value(value, env)
            case r.Times(factors):
                out = self.multiplied([self.value(factor, env) for factor in factors])
                if out is not None and len(factors) == 2 and factors[0] == factors[1]:
                    self.keep_square(out)
                return out
            case r.Over(num, den, empty):
                below = self.divisor(self.finite(den, env), empty)
                return self.multiplied([self.value(num, env), below])
            case r.Total(body, index, size):
                found = [(self.some(p), bound) for p, bound in self.along(body, index, size, env)]
                total = plus(*(self.summed(bound, poly) for poly, bound in found))
                if all(self.all_nonnegative(poly) for poly, _ in found):
                    self.keep_square(total)
                return total
            case r.Exp(body):
                inner = self.value(body, env)
                return {} if inner is None else self.exp(inner)
            case r.Apply(name, body):
                return self.applied(name, self.value(body, env))
            case r.Power(body, sympy.Expr() as exponent) if not exponent.is_Integer:
                return self.to_place(self.finite(body, env), self.at(exponent, env))
            case r.Power(body, exponent):
                return self.raised(self.finite(body, env), Fraction(exponent))
            case r.Cases():
                return self.cases(rule, env)
            case r.OfRow("max" | "τ" as name, (body,), index, size) if index is not None:
                return self.largest(name, self.along(body, index, size, env))
        raise Refused(f"{type(rule).__name__} is not covered")

    def to_place(self, base: Poly, power: Form) -> Poly:
        """A power made of indices: b^x = e^(x ln b) for b > 0."""
        if not self.never_zero(base):
            raise Refused("a power with an index of what may be 0 or negative")
        return self.exp(times(form_poly(power), self.logarithm(base)))

    def along(self, body: r.Rule, index: sympy.Symbol, size: sympy.Expr, env: Env) -> Parts:
        """What stands along an index, in parts."""
        return self.in_parts(linear(size, env), lambda at: self.value(body, {**env, index: at}))

    def finite(self, rule: r.Rule, env: Env) -> Poly:
        """The polynomial of a rule that may not be −∞."""
        return self.some(self.value(rule, env))

    def multiplied(self, parts: Sequence[Poly | None]) -> Poly | None:
        """A product; −∞ times what is positive and never 0 is −∞."""
        out = reduce(times, (part for part in parts if part is not None), constant(1))
        if None in parts and not self.never_zero(out):
            raise Refused("−∞ times something that may be negative or 0")
        return None if None in parts else out

    # ---- conditions --------------------------------------------------------------------------

    def cases(self, rule: r.Cases, env: Env) -> Poly | None:
        """A value by a condition: a value where that is 1, another one where it is 0."""
        match rule:  # |i − j| ≤ w, and w ≤ |i − j|
            case r.Cases(one, "≤", other, value, rest) if {value, rest} == {one, other}:
                return self.extreme(rule, 1 if value == other else -1, env)
            case r.Cases(r.Ordinal(sympy.Abs(args=(apart,))), "≤", most, value, otherwise):
                within = r.Cases(r.Ordinal(-apart), "≤", most, value, otherwise)
                return self.cases(r.Cases(r.Ordinal(apart), "≤", most, within, otherwise), env)
            case r.Cases(least, "≤", r.Ordinal(sympy.Abs(args=(apart,))), value, otherwise):
                beyond = r.Cases(least, "≤", r.Ordinal(-apart), value, otherwise)
                return self.cases(r.Cases(least, "≤", r.Ordinal(apart), value, beyond), env)
        holds = self.holding(rule, env)
        if holds in ({}, constant(1)):
            return self.value(rule.value if holds else rule.otherwise, env)
        chosen = times(holds, self.finite(rule.value, env))
        unlike = plus(constant(1), scaled(holds, -1))
        return plus(chosen, times(unlike, self.finite(rule.otherwise, env)))

    def holding(self, rule: r.Cases, env: Env) -> Poly:
        """1 where a condition holds, else 0. Raises `Open` where ranges do not decide ≤."""
        match rule:
            case r.Cases(left, "=", r.OfRow("argmax", (body,), index, size)) if index is not None:
                match self.along(body, index, size, env):
                    case [(dict() as poly, [(name, count)])]:  # one part is the whole line
                        return self.first(self.place_value(left, env), poly, name, count)
                raise Refused("the largest of a row in parts")
            case r.Cases(r.Entry() as entry, "=", other):  # where they differ by a number
                apart = plus(self.finite(entry, env), scaled(self.finite(other, env), -1))
                if any(mono for mono in apart):
                    raise Refused("cases that depend on entries are not covered")
                return constant(0 if apart else 1)
        low, high = self.place_value(rule.left, env), self.place_value(rule.right, env)
        if rule.sign == "=":
            return self.delta(low, high)
        if rule.sign != "≤":
            raise Refused("a condition on a set is not covered")
        room = plus_form(high, low, -1)
        if self.nonnegative(room):
            return constant(1)
        if self.nonnegative(form([*((a, -c) for a, c in room), ("", -1)])):
            return constant(0)
        raise Open(room)

    def extreme(self, rule: r.Cases, sign: int, env: Env) -> Poly:
        """The larger (or smaller) of two values: (a + b ± |a − b|) / 2."""
        one, other = self.finite(rule.left, env), self.finite(rule.right, env)
        apart = self.absolute(plus(one, scaled(other, -1)))
        return scaled(plus(one, other, scaled(apart, sign)), Fraction(1, 2))

    def place_value(self, rule: r.Rule, env: Env) -> Form:
        """The linear form of a rule in a condition."""
        match rule:
            case r.Ordinal(index):
                return self.at(index, env)
            case r.Const(sympy.Integer() as value):
                return number(int(value))
            case r.Plus(terms):
                return form(pair for term in terms for pair in self.place_value(term, env))
        raise Refused("cases that depend on entries are not covered")

    # ---- both sides --------------------------------------------------------------------------

    def compare(
        self, known: Goal, added: Sequence[tuple[sympy.Expr, Pair]], i: Form, j: Form
    ) -> None:
        """Check entry (i, j) of a goal's sides, definitions being put in, and of cofactors."""
        sides = []
        for side, steps in zip((known.left, known.right), known.steps, strict=True):
            with self.inside(means={**self.here.means, **dict(steps)}):
                sides.append(self.entry(side, i, j))
        if None in sides:
            if sides != [None, None]:
                raise Refused("one side alone is −∞")
            return
        left, right = map(self.some, sides)
        more = [self.cofactor(c, pair, i, j) for c, pair in added]
        self.vanishes(plus(left, scaled(right, -1), *(scaled(one, -1) for one in more)))

    def cofactor(self, c: sympy.Expr, sides: Pair, i: Form, j: Form) -> Poly:
        """Entry (i, j) of c (u L v − u R v), where c has a value."""
        with self.inside(lacks=[]):  # these are made of what the sides hold
            one, other = (self.some(self.entry(side, i, j)) for side in sides)
        with self.inside(lacks=[]):
            out = times(self.scalar(c), plus(one, scaled(other, -1)))
            if self.here.lacks:
                raise Refused("a cofactor divides by what may be 0")
        return out


#: Row and column of an entry, whose names no letter of a statement has.
_ROW, _COLUMN = (sympy.Symbol(f"{name}·", integer=True) for name in ("row", "column"))


class Replay:
    """The check of one proof: cases of sizes, entries, and what equations are used for."""

    checker: type[Checker] = Checker

    def __init__(self, goal: Goal, uses: Sequence[Data], letters_only: bool) -> None:
        self.uses = uses
        self.letters: dict[MatrixExpr, sympy.MatrixSymbol] | None = {} if letters_only else None
        dict(permutations_in(used(goal, uses)[0]))  # also of letters within functions
        left, right = self.plain(goal.left), self.plain(goal.right)
        where = tuple((self.plain(a), self.plain(b)) for a, b in goal.where)
        self.goal = replace(goal, left=left, right=right, where=where)
        #: What cofactors may be made of, beside letters: it has a value where the sides have one.
        self.given = {one for side in (left, right) for one in sympy.preorder_traversal(side)}
        held = [left.atoms(sympy.MatrixSymbol), right.atoms(sympy.MatrixSymbol)]
        letters = set(self.letters.values()) if self.letters else set()
        apart = bool(letters and held[0] & letters != held[1] & letters)
        self.partial = apart or any(map(may_lack, self.letters or ()))

    def is_whole(self, expr: sympy.Basic) -> bool:
        """Whether a cofactor has a value wherever the sides have one."""
        match expr:
            case sympy.MatrixSymbol() | sympy.Identity() | sympy.OneMatrix():
                return True
            case sympy.MatMul() | sympy.MatAdd() | sympy.Transpose():
                matrices = [arg for arg in expr.args if isinstance(arg, MatrixExpr)]
                numbers = [arg for arg in expr.args if not isinstance(arg, MatrixExpr)]
                return all(map(self.is_whole, matrices)) and all(n.is_Rational for n in numbers)
        return expr in self.given

    def plain(self, expr: sympy.Basic) -> sympy.Basic:
        """An expression, its functions being letters where that is all that is used of them."""
        return expr if self.letters is None else opaque(expr, self.letters)

    def check(self, proof: Data, goal: Goal, depth: int = 0) -> None:
        """Check a proof: of the entries, or of all cases of which of two sizes is larger."""
        if depth > 8:
            raise Refused("too many cases of sizes")
        if "same" in proof:
            if goal.left != goal.right or len({*goal.steps}) > 1:
                raise Refused("the sides are not the same expression")
            return
        if "even" in proof:
            size = read_size(proof["even"])
            turned = {node.dims for part in goal.parts for node in part.atoms(Rotary)}
            if size not in turned or not isinstance(size, sympy.Symbol):
                raise Refused("no rotation has this width, so nothing requires it to be even")
            self.partial = True
            self.check(proof["half"], goal.put(halved(size)), depth + 1)
            return
        if "split" in proof:
            size, least = read_size(proof["split"]), read_size(proof["least"])
            found = cases(size, least, depth)
            for case, inner in zip(found, proof["cases"], strict=True):
                self.check(inner, goal.in_case(case), depth + 1)
            return
        self.entries(self.checker(proof["steps"], goal.positive), goal, proof["cofactors"])

    def entries(self, checker: Checker, goal: Goal, cofactors: Sequence[Data]) -> None:
        """Check entry (i, j) of both sides for all i and j."""
        known, means, units, sums = used(goal, self.uses)
        checker.permuted.update(permutations_in(known))
        checker.units.update(
            pair for letter, columns in units for pair in inverses(letter, columns)
        )
        shapes = [side.shape for side in (known.left, known.right) if isinstance(side, MatrixExpr)]
        shape = shapes[0] if shapes else (1, 1)
        if any(tuple(other) != tuple(shape) for other in shapes):
            raise Refused("the shapes differ")
        added = tuple(
            (decoded(c), self.product_of(known, u, relation, v, shape))
            for c, u, relation, v in cofactors
        )
        rows, columns = (linear(size, {}) for size in shape)
        with checker.inside(means=means, known=tuple(sums)):
            left, right = map(checker.in_closed_form, known.steps)
            known = replace(known, steps=(left, right))
            checker.in_parts(
                rows,
                lambda i: checker.in_parts(columns, lambda j: checker.compare(known, added, i, j)),
            )
        checker.finish()
        self.partial |= bool(checker.here.lacks)

    def product_of(
        self, goal: Goal, u: Data, relation: Data, v: Data, shape: tuple[sympy.Expr, ...]
    ) -> Pair:
        """Both sides of u L v = u R v for an assumed L = R, or for what an inverse is."""
        kind, which, turned = relation
        match kind:
            case "equation":
                one, other = goal.where[which]
            case "around":
                one, other = turned_around(goal.where[which[0]], which[1])
            case _:  # "inverse" or "inverse left"
                base = self.plain(decoded(which))
                if sympy.Inverse(base) not in self.given:
                    raise Refused(
                        "a cofactor contains something that does not occur in the statement"
                    )
                factors = [base, sympy.Inverse(base)]
                one = sympy.MatMul(*(factors if kind == "inverse" else factors[::-1]))
                other = sympy.Identity(base.shape[0])
        if not same_shape(one, other):
            raise Refused("this is not an equation of matrices")
        if turned:
            one, other = sympy.Transpose(one), sympy.Transpose(other)
        around = [None if part is None else self.plain(decoded(part)) for part in (u, v)]
        for part in around:
            if part is not None and not self.is_whole(part):
                raise Refused("a cofactor contains something that does not occur in the statement")
        out = []
        for middle in (one, other):
            factors = [f for f in (around[0], middle, around[1]) if f is not None]
            sizes = [shape[0], *(size for factor in factors for size in factor.shape), shape[1]]
            if sizes[::2] != sizes[1::2]:  # where factors meet, and at both ends
                raise Refused("the cofactors do not fit")
            out.append(sympy.MatMul(*factors) if len(factors) > 1 else factors[0])
        return out[0], out[1]


def check(data: Data) -> Goal:
    """The statement that a certificate proves.

    Raises `Refused` where it proves none, `ReadError` for data that is no certificate.
    """
    check_limits(data)
    if not isinstance(data, dict) or data.get("certificate") != 1:
        raise ReadError("this is not a certificate")
    return replayed(data)


def replayed(data: Data) -> Goal:
    """As `check`, of a certificate from here, however large it is."""
    with refusing():
        check_kind(data, "equation")
        goal = goal_of(data["statement"])
        replay = Replay(goal, data["uses"], data["letters_only"])
        replay.check(data["proof"], replay.goal)
        if replay.partial is not data["partial"]:
            raise Refused("what it says about where both sides are defined is wrong")
    return goal


@contextmanager
def refusing() -> Iterator[None]:
    """Refuse data in which something cannot be read or done, whatever that is."""
    try:
        yield
    except (Refused, Spent):
        raise
    except (SymattnError, KeyError, TypeError, ValueError, IndexError, AttributeError) as trouble:
        raise Refused(f"it cannot be read: {type(trouble).__name__}: {trouble}"[:200]) from None
    except (RecursionError, ArithmeticError, NotImplementedError) as trouble:
        raise Refused(f"it cannot be replayed: {type(trouble).__name__}") from None
