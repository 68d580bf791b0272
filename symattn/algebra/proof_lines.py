"""The lines of a proof as a textbook has them: a certificate's steps between its two sides.

The checker's steps are replayed, and what every part of an entry becomes is kept. A line is one
entry of a side of which the parts up to some height are as the steps leave them, and the others
as the entry rules have them. So every line follows from the one before it by the steps taken at
its height, and they are its reason. The lines of the right side are read from its end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, TypeAlias

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.algebra.certificate import Checker, Replay
from symattn.algebra.claims import Goal, Pair, goal_of
from symattn.algebra.forms import Env, Form, Refused, linear, names, plus_form, put, variable
from symattn.algebra.kinds import Data
from symattn.algebra.polynomials import Bound, indices
from symattn.algebra.sums import Found, Step
from symattn.algebra.texts import Atom, Mono, Poly, atoms_of, spelled
from symattn.algebra.traces import Tracer
from symattn.arithmetic.functions import applied
from symattn.budget import STEPS, Spent, within
from symattn.documents import blocks as b
from symattn.errors import CannotSpell
from symattn.nodes import rule as r
from symattn.nodes.arguments import symbol_of_size
from symattn.nodes.entrywise import Diagonal
from symattn.nodes.heads import head_of
from symattn.nodes.masks import Masked
from symattn.nodes.recurrence import is_recurrence
from symattn.nodes.spell import Speller
from symattn.notation import tree as t
from symattn.notation.numbers import number
from symattn.notation.text import line as spelled_line
from symattn.notation.tree import Tree

#: A value for every index that is displayed as something else.
Places = Mapping[str, Form]

#: The indices of a rule by what they are called in it.
Names: TypeAlias = Mapping[sympy.Symbol, sympy.Expr]

#: What a rule says, as nested tuples of texts and numbers to compare.
Key: TypeAlias = Any

_DELTA = "delta"


@dataclass
class Part:
    """A part of an entry: its rule, its indices, what it becomes, and the steps that it takes."""

    rule: Any
    env: Env
    children: list[Part] = field(default_factory=list)
    poly: Poly | None = None
    own: list[Step] = field(default_factory=list)
    #: Of a sum, its index and count in each part of the range.
    ranges: list[tuple[str, Form]] = field(default_factory=list)

    @property
    def height(self) -> int:
        """How many sums and quotients stand above one another in it."""
        inner = max((child.height for child in self.children), default=0)
        match self.rule:
            case r.Over(den=r.Const()):
                return inner
            case r.Over() | r.Total() | r.OfRow():
                return inner + 1
        return inner

    @property
    def turn(self) -> int:
        """The level at which it is rewritten: a state is opened before all else."""
        is_state = isinstance(self.rule, r.Entry) and self.rule.head is not None
        return 0 if is_state else self.height

    def walk(self) -> Iterator[Part]:
        """The part and all parts of it."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass
class Comparison:
    """Both sides at indices i and j, what cofactors add, and the steps from one to the other."""

    sides: list[Part]
    steps: list[Step]


class Recorder(Checker):
    """A checker that keeps what the parts of entries become."""

    def __init__(self, steps: Sequence[Step], positive: Iterable[str] = ()) -> None:
        super().__init__(steps, positive)
        self.whole = Part(None, {})
        self.stack = [self.whole]
        self.compared: list[Comparison] = []
        #: What conditions determine an index to be, once for every term of its sum.
        self.met: dict[str, list[Form]] = {}
        self.inverses: dict[str, MatrixExpr] = {}
        #: What is divided by and is not 0.
        self.divisors: list[Poly] = []
        #: What the cofactors are of.
        self.added: list[tuple[sympy.Expr, Pair]] = []

    def compare(
        self, known: Goal, added: Sequence[tuple[sympy.Expr, Pair]], i: Form, j: Form
    ) -> None:
        self.added[:] = added
        super().compare(known, added, i, j)

    def take(self, allowed: Sequence[str], before: str, *about: object) -> Step:
        step = super().take(allowed, before, *about)
        self.stack[-1].own.append(step)
        return step

    @contextmanager
    def _of(self, part: Part) -> Iterator[Part]:
        """The steps that are taken inside belong to this part."""
        self.stack.append(part)
        yield part
        self.stack.pop()

    def _kept(self, part: Part, evaluated: Callable[[], Poly | None]) -> Poly | None:
        self.stack[-1].children.append(part)
        with self._of(part):
            part.poly = evaluated()
        return part.poly

    def entry(self, expr: sympy.Basic, i: Form, j: Form, head: Form | None = None) -> Poly | None:
        if len(self.stack) > 1:
            return super().entry(expr, i, j, head)
        return self._kept(
            Part(expr, {"i": i, "j": j}), lambda: super(Recorder, self).entry(expr, i, j, head)
        )

    def value(self, rule: r.Rule, env: Env) -> Poly | None:
        return self._kept(Part(rule, dict(env)), lambda: super(Recorder, self).value(rule, env))

    def in_parts(self, size: Form, evaluated: Callable[[Form], Found]) -> list[tuple[Found, Bound]]:
        found = super().in_parts(size, evaluated)
        self.stack[-1].ranges = [bound[0] for _, bound in found if len(bound) == 1]
        return found

    def determined(self, atom: Atom, index: str) -> Form:
        value = super().determined(atom, index)
        self.met.setdefault(index, []).append(value)
        return value

    def inverse(self, base: MatrixExpr, i: Form, j: Form) -> Poly | None:
        self.inverses[f"({sympy.srepr(base)})⁻¹"] = sympy.Inverse(base)
        return super().inverse(base, i, j)

    def divisor(self, below: Poly, empty: sympy.Expr | None) -> Poly:
        if any(below) and self.never_zero(below):
            self.divisors.append(below)
        return super().divisor(below, empty)

    def induced(self, name: str, states: MatrixExpr) -> MatrixExpr:
        with self._of(Part(None, {})):  # what an induction takes is part of no chain
            return super().induced(name, states)

    def vanishes(self, difference: Poly) -> None:
        if len(self.stack) > 1:
            super().vanishes(difference)
            return
        self.hidden()
        before, sides = self.done, [*self.whole.children]
        self.whole.children.clear()
        super().vanishes(difference)
        self.compared.append(Comparison(sides, self.steps[before : self.done]))

    def hidden(self) -> None:
        """Keep the comparisons of entries that are −∞ on both sides, of which nothing vanishes."""
        sides = self.whole.children
        while sides and sides[0].poly is None:
            self.compared.append(Comparison(sides[:2], []))
            del sides[:2]


@dataclass(frozen=True)
class Case:
    """The comparisons of one case of sizes."""

    goal: Goal
    checker: Recorder
    #: The expression that a letter stands for where functions are letters.
    hidden: Mapping[MatrixExpr, MatrixExpr]
    #: What each assumed equation is used for.
    uses: Sequence[Data]


class Recording(Replay):
    """A replay that keeps the comparisons of every case of sizes."""

    checker = Recorder

    def __init__(self, goal: Goal, uses: Sequence[Data], letters_only: bool) -> None:
        super().__init__(goal, uses, letters_only)
        self.cases: list[Case] = []

    def entries(self, checker: Checker, goal: Goal, cofactors: Sequence[Data]) -> None:
        assert isinstance(checker, Recorder)
        super().entries(checker, goal, cofactors)
        checker.hidden()
        hidden = {letter: expr for expr, letter in (self.letters or {}).items()}
        self.cases.append(Case(goal, checker, hidden, self.uses))


# ---- what is displayed -------------------------------------------------------------------------

_ONE, _ZERO = r.Const(sympy.S.One), r.Const(sympy.S.Zero)
_NEVER = r.Const(-sympy.oo)


def symbol(name: str) -> sympy.Symbol:
    """An index or a size; a size is known to be positive."""
    if name[:1] in ("#", "_"):
        return sympy.Symbol(name, integer=True)
    if name[:1] == "+":  # how much larger one size is than another
        return sympy.Symbol(name, integer=True, nonnegative=True)
    return symbol_of_size(name)


def place_of(one: Form) -> sympy.Expr:
    """A linear form as an index; a permuted one is π(l). Raises `CannotSpell` for a sum of it."""
    out = sympy.S.Zero
    for atom, c in one:
        if isinstance(atom, tuple):
            if len(one) > 1 or c != 1:
                raise CannotSpell("a sum of a permuted index")
            _, name, back, inner = atom
            sign = f"π{'⁻¹' * back}"
            return sympy.Function(sign if name == "P" else f"{sign}_{name}")(place_of(inner))
        out += c * symbol(atom) if atom else c
    return out


def index_text(index: sympy.Expr) -> str:
    """An index as text."""
    return spelled_line(Speller().index(index))


def total(terms: Sequence[r.Rule]) -> r.Rule:
    """A sum without zeros."""
    kept = tuple(term for term in terms if term != _ZERO)
    return _ZERO if not kept else kept[0] if len(kept) == 1 else r.Plus(kept)


def product_of(factors: Sequence[r.Rule]) -> r.Rule:
    """A product without ones, which is 0 with a 0."""
    kept = tuple(factor for factor in factors if factor != _ONE)
    if _ZERO in kept:
        return _ZERO
    return _ONE if not kept else kept[0] if len(kept) == 1 else r.Times(kept)


#: The kinds of atoms in the order in which they stand in a product.
_KINDS = (
    *("prime", "size", "name", "δ", "first", "exp", "entry", "fn", "index", "line", "poly", "sum"),
)


class Formulas:
    """Polynomials of a statement as entry rules, in the order of its letters.

    `hidden` says for which expression a letter stands, `inverses` of what a name is the inverse.
    """

    def __init__(
        self,
        goal: Goal,
        hidden: Mapping[MatrixExpr, MatrixExpr],
        inverses: Mapping[str, MatrixExpr],
    ) -> None:
        self.hidden, self.inverses = dict(hidden), inverses
        found = [
            part
            for one in goal.parts
            for part in sympy.preorder_traversal(one)
            if isinstance(part, sympy.MatrixSymbol)
        ]
        self.matrices = {letter.name: hidden.get(letter, letter) for letter in found}
        self.order = {name: k for k, name in enumerate(self.matrices)}
        taken = {name.lower() for name in self.matrices}
        taken |= {str(s) for matrix in self.matrices.values() for s in matrix.free_symbols}
        #: The letters for indices of sums.
        self.pool = [letter for letter in "ltrsuqwhgvxyz" if letter not in taken]

    def of_poly(self, poly: Poly | None) -> r.Rule:
        """A polynomial, over a common denominator where all its terms have one."""
        if poly is None:
            return _NEVER
        if len(poly) > 1:
            below = frozenset.intersection(
                *(frozenset((a, p) for a, p in mono if p < 0 and a.kind != "exp") for mono in poly)
            )
            if below:
                top = {mono - below: c for mono, c in poly.items()}
                over = frozenset((atom, -p) for atom, p in below)
                return r.Over(self.of_poly(top), self.of_mono(over, Fraction(1)))
        terms = sorted(poly.items(), key=lambda term: self._rank(*term))
        return total([self.of_mono(mono, c) for mono, c in terms])

    def _rank(self, mono: Mono, c: Fraction) -> Any:
        known = sorted(self.order.get(name, 99) for name in _letters(mono))
        return c < 0, not known, known, [(str(self._order(a)), -p) for a, p in atoms_of(mono)]

    def _order(self, atom: Atom) -> Any:
        rank = self.order.get(atom.name.rstrip("°⁻¹"), 99) if atom.kind == "entry" else 0
        return _KINDS.index(kind_of(atom)), rank, spelled(atom)

    def of_mono(self, mono: Mono, c: Fraction) -> r.Rule:
        """A product of powers with a number before it."""
        above: list[r.Rule] = []
        below: list[r.Rule] = []
        exponent = [(atom.mono, p) for atom, p in atoms_of(mono) if atom.kind == "exp"]
        exponent.sort(key=lambda term: self._rank(*term))
        for kind in _KINDS:
            if kind == "exp" and exponent:
                above.append(r.Exp(total([self.of_mono(inner, p) for inner, p in exponent])))
                continue
            for atom, p in sorted(mono, key=lambda pair: self._order(pair[0])):
                if kind_of(atom) == kind != "exp":
                    (above if p > 0 else below).append(self.powered(atom, abs(p)))
        number_ = [r.Const(sympy.Integer(abs(c.numerator)))] if abs(c.numerator) != 1 else []
        under = [r.Const(sympy.Integer(c.denominator))] if c.denominator != 1 else []
        top = product_of([*number_, *above])
        if below or under:
            top = r.Over(top, product_of([*under, *below]))
        if c > 0:
            return top
        return r.Times((r.Const(sympy.S.NegativeOne), top))

    def powered(self, atom: Atom, p: Fraction) -> r.Rule:
        """An atom to a power > 0."""
        exponent = sympy.Rational(p.numerator, p.denominator)
        match atom:
            case Atom("prime", value):
                return r.Const(sympy.Integer(value) ** exponent)
            case Atom("size", name):
                return r.Const(symbol(name) ** exponent)
            case Atom("positive", "π"):
                return r.Const(sympy.pi**exponent)
            case Atom("name" | "positive", name):
                return r.Const(sympy.Symbol(name, positive=True) ** exponent)
        base = self.of_atom(atom)
        if p.denominator == 2:
            base, p = r.Apply("√", base), p * 2
        if p.denominator != 1:
            raise CannotSpell("a fractional power")
        return base if p == 1 else r.Power(base, int(p))

    def of_atom(self, atom: Atom) -> r.Rule:
        """An atom."""
        match atom:
            case Atom("entry", name, (i, j)):
                return self.entry(name, i, j)
            case Atom("δ", places=(one, other)):
                return self.delta(one, other)
            case Atom("first", places=(at,)):
                line = self.of_atom(atom._replace(kind="line", places=()))
                return r.Cases(r.Ordinal(place_of(at)), "=", line, _ONE, _ZERO)
            case Atom("sum"):
                body = self.of_mono(atom.mono, Fraction(1))
                for name, size in reversed(atom.bound):
                    body = r.Total(body, symbol(name), place_of(size))
                return body
            case Atom("line", name, bound=((index, size),)):
                body = self.of_poly(dict(atom.terms))
                return r.OfRow(name, (body,), symbol(index), place_of(size))
            case Atom("poly"):
                return self.of_poly(dict(atom.terms))
            case Atom("fn", name):
                return r.Apply(name, self.of_poly(dict(atom.terms)))
        raise CannotSpell(f"{atom.kind} cannot be written")

    def entry(self, name: str, i: Form, j: Form) -> r.Rule:
        """An entry of a letter, of a vector with one index."""
        if name in self.matrices:
            matrix = self.matrices[name]
        elif name in self.inverses:
            matrix = self.matrix(self.inverses[name])
        elif name.endswith("⁻¹") and name[:-2] in self.matrices:
            matrix = sympy.Inverse(self.matrices[name[:-2]])
        elif name.endswith("°") and name[:-1] in self.matrices:
            matrix = sympy.MatrixSymbol(f"{name[:-1]}'", *self.matrices[name[:-1]].shape)
        else:
            raise CannotSpell(f"{name} is not a letter")
        return self.entry_of(matrix, place_of(i), place_of(j))

    def entry_of(self, matrix: MatrixExpr, i: r.Index, j: r.Index) -> r.Rule:
        """An entry; of a vector with one index, of a number with none."""
        out = r.Entry(matrix, i, j)
        if isinstance(matrix, sympy.MatrixSymbol) and 1 in matrix.shape and len(matrix.name) == 1:
            kept = tuple(k for k, size in zip((i, j), matrix.shape, strict=True) if size != 1)
            return r.Named(matrix.name.lower(), kept, out) if kept else out
        return out

    def delta(self, one: Form, other: Form) -> r.Rule:
        """δ_ij, 1 where the two are the same."""
        i, j = sorted((place_of(one), place_of(other)), key=str)
        value = r.Cases(r.Ordinal(i), "=", r.Ordinal(j), _ONE, _ZERO)
        return r.Named(_DELTA, (i, j), value)

    def matrix(self, matrix: MatrixExpr) -> MatrixExpr:
        """A matrix whose letters are the expressions that they hide."""
        return matrix.xreplace(self.hidden)


class Display(Formulas):
    """Parts and polynomials of one case as entry rules."""

    def __init__(self, case: Case) -> None:
        super().__init__(case.goal, case.hidden, case.checker.inverses)
        self.checker = case.checker
        #: Works out again what forms are put in for the indices of.
        self.tracer = Tracer([], case.goal.positive)
        self.tracer.know(case.checker)

    def moved(self, poly: Poly, places: Places) -> Poly:
        """A polynomial with forms put in for indices."""
        return self.tracer.polynomial(frozenset(poly.items()), places)

    def shown(self, part: Part, places: Places, level: int) -> r.Rule:
        """A part of which everything up to a height is as the steps leave it."""
        if part.poly is None:
            return _NEVER
        out = self._rule(part, places, level)
        if part.height <= level:
            final = self.of_poly(self.moved(part.poly, places))
            if key(final) != key(out):
                return final
        return out

    def _rule(self, part: Part, places: Places, level: int) -> r.Rule:
        """A part whose rule is kept."""

        def inner(child: Part) -> r.Rule:
            return self.shown(child, places, level)

        def at(index: r.Index) -> Form:
            return put(linear(index, part.env), places)

        match part.rule:
            case r.Entry(matrix, i, j):
                if part.children and level >= 0 and stands_for(matrix):
                    return inner(part.children[0])
                if part.poly == {} or matrix_name(matrix) in self.checker.permuted:
                    return self.of_poly(self.moved(part.poly or {}, places))
                if (head := head_of(matrix)) is not None:
                    matrix = matrix.xreplace({head: place_of(at(head))})
                return self.entry_of(self.matrix(matrix), place_of(at(i)), place_of(at(j)))
            case r.Const(sympy.Rational(p=top, q=below)) if below > 1:
                return r.Over(r.Const(sympy.Integer(top)), r.Const(sympy.Integer(below)))
            case r.Const():
                return part.rule
            case r.Ordinal(index) if not isinstance(index, sympy.Pow | sympy.Mul):
                return r.Ordinal(place_of(at(index)))
            case r.Named():
                return inner(part.children[0])
            case r.Plus():
                return total([*map(inner, part.children)])
            case r.Times():
                return product_of([*map(inner, part.children)])
            case r.Over():
                below, above = map(inner, part.children)
                return _ZERO if above == _ZERO else above if below == _ONE else r.Over(above, below)
            case r.Exp():
                body = inner(part.children[0])
                return _ZERO if body == _NEVER else _ONE if body == _ZERO else r.Exp(body)
            case r.Apply(name, _) | r.Power(_, name):
                return replace(part.rule, body=inner(part.children[0]))
            case r.Total():
                return self._total(part, places, level)
            case r.OfRow(name, _, index, _) if len(part.children) == len(part.ranges) == 1:
                ((index, size),) = part.ranges
                body = inner(part.children[0])
                return r.OfRow(name, (body,), symbol(index), place_of(put(size, places)))
            case r.Cases(r.Ordinal(left), "=", r.Ordinal(right)) if len(part.children) == 2:
                one, other = at(left), at(right)
                value, rest = map(inner, part.children)
                if one == other:
                    return value
                if rest == _ZERO:
                    return product_of([self.delta(one, other), value])
                i, j = map(place_of, (one, other))
                return r.Cases(r.Ordinal(i), "=", r.Ordinal(j), value, rest)
            case r.Cases() if len(part.children) == 1:
                return inner(part.children[0])
        return self.of_poly(self.moved(part.poly or {}, places))

    def _total(self, part: Part, places: Places, level: int) -> r.Rule:
        """Σ in the parts of its range; one whose index is determined has a single term."""
        terms = []
        for child, (index, count) in zip(part.children, part.ranges, strict=False):
            if child.poly == {}:
                continue
            if not index:
                terms.append(self.shown(child, places, level))
                continue
            seen = child.height <= level or self.has_condition(child)
            value = self.fixed(child, index) if seen else None
            if value and names(value) <= self.visible(part):
                terms.append(self.shown(child, {**places, index: put(value, places)}, level))
                continue
            low = plus_form(child.env[part.rule.index], variable(index), -1)
            size = place_of(put(count, places))
            start, name = sympy.S.Zero, index
            if names(low):
                start, name = place_of(put(low, places)), f"{index}+"
                self.checker.sizes[name] = count
                shift = plus_form(variable(name), put(low, places), -1)
                body = self.shown(child, {**places, index: shift}, level)
            else:
                body = self.shown(child, places, level)
            if body != _ZERO:
                terms.append(r.Total(body, symbol(name), size, start))
        return total(terms)

    def has_condition(self, part: Part) -> bool:
        """Whether a condition on indices stands in a part, outside of sums."""
        match part.rule:
            case r.Total() | r.OfRow():
                return False
            case r.Cases(_, "=", _) if len(part.children) == 2:
                return True
            case r.Entry(matrix) if matrix_name(matrix) in self.checker.permuted:
                return True
        return any(map(self.has_condition, part.children))

    def fixed(self, child: Part, index: str) -> Form | None:
        """What conditions determine the index of a part of a sum to be, in all its terms."""
        met = self.checker.met.get(index, [])
        return met[0] if len({*met}) == 1 and len(met) == len(child.poly or {}) else None

    def is_eliminated(self, part: Part) -> bool:
        """Whether conditions determine every index of a sum, which is then not displayed."""
        pairs = zip(part.children, part.ranges, strict=False)
        found = (self.fixed(child, index) for child, (index, _) in pairs)
        return all(map(self.has_condition, part.children)) and None not in found

    def visible(self, part: Part) -> frozenset[str]:
        """The indices that a part is evaluated at."""
        return frozenset().union(*map(names, part.env.values()))


def parted(at: Form) -> tuple[Form, str]:
    """Where a part of a range begins, and its own index, "" of a single place."""
    index = max(names(at), key=lambda name: int(name[1:]), default="")
    return (plus_form(at, variable(index), -1) if index else at), index


def stands_for(matrix: MatrixExpr) -> bool:
    """Whether an entry of it is one of the expression that was opened for it: no derivative is."""
    opened = isinstance(matrix, sympy.MatrixSymbol | sympy.Inverse)
    return opened or head_of(matrix) is not None


def matrix_name(matrix: MatrixExpr) -> str:
    """The name of a letter."""
    return matrix.name if isinstance(matrix, sympy.MatrixSymbol) else ""


def kind_of(atom: Atom) -> str:
    """The kind of an atom; a number that is known to be positive is one as others are."""
    return "name" if atom.kind == "positive" else atom.kind


def _letters(mono: Mono) -> set[str]:
    """The letters of which entries stand in a product, but in conditions."""
    atoms = [atom for atom, _ in mono if atom.kind != "first"]
    inside = (_letters(inner) for atom in atoms for inner, _ in atom.terms)
    return {atom.name for atom in atoms if atom.kind == "entry"}.union(*inside)


# ---- lines that say the same -------------------------------------------------------------------


def key(rule: r.Rule, bound: Names | None = None) -> Key:
    """What a rule says, whatever the order of factors and terms and the names of indices."""
    bound = bound or {}

    def inner(one: r.Rule) -> Key:
        return key(one, bound)

    def under(index: sympy.Symbol) -> Names:
        return {**bound, index: sympy.Symbol(f"@{len(bound)}")}

    def at(index: r.Index) -> str:
        return str(sympy.sympify(index, strict=True).xreplace(dict(bound)))

    match rule:
        case r.Named(_, _, value):
            return inner(value)
        case r.Entry(matrix, i, j):
            return ("entry", str(matrix), at(i), at(j))
        case r.Ordinal(index):
            return ("ordinal", at(index))
        case r.Plus() | r.Times() | r.Over() | r.Power() | r.Const():
            terms = _terms(rule, bound)
            return ("sum", tuple(sorted(terms, key=str)))
        case r.Total(body, index, size, start):
            within = under(index)
            return ("Σ", at(size), at(start), key(body, within))
        case r.OfRow(name, (body,), index, size) if index is not None:
            return (name, at(size), key(body, under(index)))
        case r.Exp(body):
            return ("exp", inner(body))
        case r.Apply(name, body):
            return (name, inner(body))
        case r.Cases(left, sign, right, value, otherwise):
            sides = sorted(map(str, map(inner, (left, right)))) if sign == "=" else [left, right]
            return ("cases", sign, *map(str, sides), inner(value), inner(otherwise))
    return ("rule", str(rule))


def _terms(rule: r.Rule, bound: Names) -> list[Key]:
    if isinstance(rule, r.Plus):
        return [term for one in rule.terms for term in _terms(one, bound)]
    number_, powers = Fraction(1), dict[Key, int]()
    for base, p in _factors(rule, 1):
        match base:
            case r.Const(sympy.Rational(p=top, q=below)) if top:
                number_ *= Fraction(int(top), int(below)) ** p
                continue
            case r.Const(value):
                word: Key = ("const", str(value))
            case _:
                word = key(base, bound)
        powers[word] = powers.get(word, 0) + p
    return [(number_, tuple(sorted(powers.items(), key=str)))]


def _factors(rule: r.Rule, p: int) -> Iterator[tuple[r.Rule, int]]:
    match rule:
        case r.Times(factors):
            for factor in factors:
                yield from _factors(factor, p)
        case r.Over(num, den):
            yield from _factors(num, p)
            yield from _factors(den, -p)
        case r.Power(body, exponent):
            yield from _factors(body, p * exponent)
        case _:
            yield rule, p


# ---- the chain ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Line:
    """A line of a chain of equations, as an entry rule or a matrix, and why it follows.

    A line without a value is the side itself.
    """

    value: Any
    reasons: tuple[b.Words, ...] = ()

    @property
    def reason(self) -> b.Words:
        """All reasons, each once, as one phrase; nothing special is a matter of multiplying out."""
        out: list[b.Inline] = []
        for one in dict.fromkeys(filter(None, self.reasons)):
            out += ["; ", *one] if out else one
        return tuple(out) or _MULTIPLIED

    def backwards(self, reasons: Sequence[b.Words]) -> Line:
        """The line, reached from the one that follows from it by these reasons."""
        return replace(
            self, reasons=tuple(_BACK.get(one, one) for one in reasons or (_MULTIPLIED,))
        )


@dataclass(frozen=True)
class Lines:
    """A chain from one side to the other, of an entry or, where there is none, of the matrices.

    `when` says of which sizes and entries.
    """

    lines: tuple[Line, ...]
    entry: tuple[sympy.Expr, ...] = ()
    when: str = ""


def _exp(exponent: Tree) -> Tree:
    return t.power(t.Ident("e"), exponent)


_X, _Y, _NONE = t.Ident("x"), t.Ident("y"), t.Num("0")
_TWICE = _exp(t.times([t.Num("2"), _X]))


def _function(name: str, value: Tree) -> b.Words:
    return (t.equation(applied(name, _X), (t.EQUALS, t.inline(value))),)


_SAYS: Mapping[str, b.Words] = {
    "delta": ("only one term of the sum is not 0",),
    "identity": ("a matrix times its inverse is ", t.Ident("I")),
    "count": ("all terms are the same",),
    "merge": ("a product of sums is a single sum, in any order",),
    "permute": ("the same terms in another order",),
    "meet": ("the factor δ is 0 where its indices differ",),
}
_FUNCTIONS: Mapping[str, b.Words] = {
    "tanh": _function(
        "tanh", t.Frac(t.plus([_TWICE, t.negated(t.Num("1"))]), t.plus([_TWICE, t.Num("1")]))
    ),
    "σ": _function("σ", t.Frac(_exp(_X), t.plus([_exp(_X), t.Num("1")]))),
    "max0": _function("max0", t.Frac(t.plus([_X, t.Fenced(_X, "|", "|")]), t.Num("2"))),
    "ln": (t.equation(_exp(applied("ln", _X)), (t.EQUALS, _X)),),
    "√": ("the root of a product of numbers ≥ 0 is a product of roots",),
}
_OF_POWERS: b.Words = (
    t.equation(_exp(t.plus([_X, _Y])), (t.EQUALS, t.times([_exp(_X), _exp(_Y)]))),
)
_LEAVES: b.Words = ("constant factors are taken out of the sum",)
_TERMWISE: b.Words = ("the sum is taken term by term",)
_DERIVED: b.Words = ("differentiated",)
_INDUCTION: b.Words = ("by induction over the tokens, from the first to the last",)
_CANCEL: b.Words = ("common factors cancel",)
_SPLIT: b.Words = ("the fraction is split term by term",)
_ALL_CANCEL: b.Words = ("the terms cancel",)
_DEFINED: b.Words = ("by definition",)
_HIDDEN: b.Words = (
    "masked-out scores are −∞, and ",
    t.equation(_exp(number("-inf")), (t.EQUALS, _NONE)),
)


def _scaled(place: str, index: str) -> b.Words:
    whole, each = t.call(t.Ident("diag", roman=True), _X), t.Script(_X, t.Ident(index))
    return (whole, f" multiplies {place} ", t.Ident(index), " by ", each)


_ROWS_SCALED, _COLUMNS_SCALED = _scaled("row", "i"), _scaled("column", "j")
_MULTIPLIED: b.Words = ("multiplied out",)


def _angles() -> Iterator[b.Words]:
    """The sum of two angles, in a cosine and in a sine, and that their squares sum to 1."""
    both, square = t.plus([_X, _Y]), t.Num("2")
    (c, s), (c_y, s_y) = ([applied(name, x) for name in ("cos", "sin")] for x in (_X, _Y))
    cosine = t.plus([t.times([c, c_y]), t.negated(t.times([s, s_y]))])
    sine = t.plus([t.times([s, c_y]), t.times([c, s_y])])
    yield (t.equation(applied("cos", both), (t.EQUALS, cosine)),)
    yield (t.equation(applied("sin", both), (t.EQUALS, sine)),)
    ones = t.plus([t.power(t.bracketed(x, t.MULTIPLICATIVE), square) for x in (c, s)])
    yield (t.equation(ones, (t.EQUALS, t.Num("1"))),)


_ANGLES = (*_angles(),)

#: Reasons of a step that is taken backwards.
_BACK: Mapping[b.Words, b.Words] = {
    _LEAVES: ("constant factors are taken into the sum",),
    _TERMWISE: ("the sums are combined into one",),
    _MULTIPLIED: ("factored",),
    _CANCEL: ("numerator and denominator are multiplied by a common factor",),
    _SPLIT: ("over one denominator",),
    _ALL_CANCEL: ("terms that cancel are added",),
}


class Chain:
    """The lines of one comparison."""

    def __init__(self, case: Case, comparison: Comparison, assumed: Sequence[Tree]) -> None:
        self.case, self.comparison, self.assumed = case, comparison, assumed
        self.display = Display(case)

    def lines(self) -> Lines:
        """The chain. Raises `CannotSpell` for what has no notation."""
        left, right = map(self.side, self.comparison.sides[:2])
        keys = [key(line.value) for line in left], [key(line.value) for line in right]
        met = [(a + b, a) for a, x in enumerate(keys[0]) for b, y in enumerate(keys[1]) if x == y]
        if met:
            together, a = min(met)
            out, b = left[: a + 1], together - a
        else:
            words = [_SAYS[step["rule"]] for step in self.comparison.steps if step["rule"] in _SAYS]
            b = len(right) - 1
            out = [*left, replace(right[b], reasons=(*words,) or (("over one denominator",),))]
        back = [one.backwards(two.reasons) for one, two in pairwise(right[: b + 1])]
        out = [Line(None), *out, *back[::-1], Line(None, right[0].reasons)]
        return self.named(out)

    def side(self, side: Part) -> list[Line]:
        """The lines from a side to its normal form."""
        if not side.children:  # a number
            return [Line(self.display.of_poly(side.poly), (_MULTIPLIED,))]
        (part,) = side.children
        out = [Line(self.display.shown(part, {}, -1), self.definition(side))]
        words: list[b.Words] = []
        for level in range(part.height + 1):
            value = self.display.shown(part, {}, level)
            words += [w for one in part.walk() if one.turn == level for w in self.reasons(one)]
            if is_elided(value) and level < part.height:
                continue  # a line that cannot be read: its reasons are those of the next one
            if key(value) != key(out[-1].value):
                words += [_ALL_CANCEL] if value == _ZERO else []
                out.append(Line(value, tuple(words)))
            words = []
        first = out[0].value
        itself = isinstance(first, r.Entry) and not stands_for(first.matrix)
        return out[1:] if itself and len(out) > 1 else out

    def definition(self, side: Part) -> tuple[b.Words, ...]:
        """What is used to write down an entry."""
        products = [*side.rule.atoms(sympy.MatMul)] if side.rule.has(Diagonal) else []
        behind = any(isinstance(one, Diagonal) for each in products for one in each.args[1:])
        before = any(isinstance(each.args[0], Diagonal) for each in products)
        known = (
            (True, _DEFINED),
            (side.rule.has(Masked), _HIDDEN),
            (before, _ROWS_SCALED),
            (behind, _COLUMNS_SCALED),
        )
        return tuple(words for is_used, words in known if is_used)

    def reasons(self, part: Part) -> Iterator[b.Words]:
        """What happens to a part."""
        for step in part.own:
            before, _, after = step["gives"].partition("(Σ")
            if step["rule"] == "separate" and after and before:
                if "e^(" in before:
                    yield _OF_POWERS
                yield _LEAVES
            elif step["rule"] == "hypothesis":
                known = [k for kind, k, _ in self.case.uses if kind == "known"]
                yield ("by ", self.assumed[known[step["equation"]]])
            elif step["rule"] in _SAYS and not (
                step["rule"] == "delta" and self.display.is_eliminated(part)
            ):
                yield _SAYS[step["rule"]]
        match part.rule:
            case r.Total() if len(part.children[0].poly or {}) > 1:
                yield _TERMWISE
            case r.Entry(matrix) if part.children:
                yield self.meant(matrix) if stands_for(matrix) else _DERIVED
            case r.Apply(name) if name in _FUNCTIONS:
                yield _FUNCTIONS[name]
            case r.Apply("cos" | "sin") if len(part.children[0].poly or {}) > 1:
                yield from _ANGLES
            case r.Times() if sum(has_powers(one.poly) for one in part.children) > 1:
                yield _OF_POWERS
            case r.Over():
                below, above = (one.poly or {} for one in part.children)
                yield from quotient(below, above, part.poly or {})

    def meant(self, matrix: MatrixExpr) -> b.Words:
        """Why an entry of a letter or an inverse is that of something else."""
        if head_of(matrix) is not None:
            made = {name: expr for steps in self.case.goal.steps for name, expr in steps}
            recurs = is_recurrence(made[matrix.name])
            return _INDUCTION if recurs else (f"definition of {matrix.name}",)
        for kind, k, flipped in self.case.uses:
            one = self.case.goal.where[k][flipped] if kind in ("letter", "mirror") else None
            letter = one.arg if isinstance(one, sympy.Transpose) else one
            if letter is None or letter != matrix:
                continue
            if kind == "letter":
                return ("by ", self.assumed[k])
            symbol_, half = t.Ident(matrix.name), t.Ident(f"{matrix.name}'")
            turned = t.power(half, t.Ident("T"))
            minus = self.case.goal.where[k][1 - flipped].has(sympy.S.NegativeOne)
            total_ = t.plus([half, t.negated(turned) if minus else turned])
            meaning = t.equation(symbol_, (t.EQUALS, t.inline(t.Frac(total_, t.Num("2")))))
            return ("by ", self.assumed[k], ": ", meaning)
        return (
            () if isinstance(matrix, sympy.Inverse) else (f"definition of {matrix_name(matrix)}",)
        )

    def orders(self) -> tuple[dict[sympy.Symbol, sympy.Expr], list[str]]:
        """How much larger one size is than another, in sizes, and the case in words.

        Of n = m + r, r ≥ 0: that r is n − m, and n ≥ m.
        """
        apart: dict[sympy.Symbol, sympy.Expr] = {}
        words: list[str] = []
        for size, value in self.case.goal.sizes:
            rests = [one for one in value.free_symbols if one.name[0] == "+"]
            more = max(rests, key=lambda one: int(one.name[1:]), default=None)
            if more is None or more in apart:
                words.append(f"{size} = {value.xreplace(apart)}")
                continue
            apart[more] = (size - value + more).xreplace(apart)
            number_, terms = apart[more].as_coeff_add()
            strict = number_ == -1 and len(terms) > 1
            shown = terms if strict else (*terms, number_)
            left, right = (
                sympy.Add(*(sign * one for one in shown if one.as_coeff_Mul()[0] * sign > 0))
                for sign in (1, -1)
            )
            ends = [index_text(end - 1) for end in (left, right)]
            words.append((" > " if strict else " ≥ ").join(ends))
        return apart, words

    def letters(self) -> tuple[dict[sympy.Symbol, sympy.Expr], list[str]]:
        """The letters of the outer indices, and those for indices of sums."""
        found, _ = self.orders()
        for letter, at in self.comparison.sides[0].env.items():
            low, index = parted(at)
            if index and symbol(index) not in found:
                place = sympy.Symbol(letter, integer=True)
                found[symbol(index)] = (
                    place - place_of(low).xreplace(found) if names(low) else place
                )
        return found, [*self.display.pool]

    def range(self, letter: str, at: Form, names_: Names) -> str:
        """Where an index runs: j ≤ m, i + 1 ≤ j ≤ m."""
        low, index = parted(at)
        own = sympy.Symbol(letter, integer=True)
        if not index or own not in names_[symbol(index)].free_symbols:
            place = place_of(at).xreplace(dict(names_))
            return f"{letter} = {index_text(place)}"
        start = place_of(low if names(low) else ())
        last = start + place_of(self.case.checker.sizes[index]) - 1
        ends = [index_text(end.xreplace(dict(names_))) for end in (start, last)]
        return f"{letter} ≤ {ends[1]}" if start == 0 else f"{ends[0]} ≤ {letter} ≤ {ends[1]}"

    def divisor(self, poly: Poly) -> r.Rule:
        """A divisor, its indices with letters."""
        names_, pool = self.letters()
        rule = self.display.of_poly(poly)
        free = sorted({name for mono in poly for atom, _ in mono for name in indices(atom)})
        for name in free:
            if symbol(name) not in names_:
                letter = "i" if len(free) == 1 else pool.pop(0)
                names_[symbol(name)] = sympy.Symbol(letter, integer=True)
        return renamed(rule, names_, pool)

    def named(self, lines: Sequence[Line]) -> Lines:
        """The lines with letters for their indices, those of sums by how deep they stand."""
        names_, pool = self.letters()
        env = self.comparison.sides[0].env
        entry = tuple(place_of(index).xreplace(names_) for index in env.values())
        shown = [
            line if line.value is None else replace(line, value=renamed(line.value, names_, pool))
            for line in lines
        ]
        _, when = self.orders()
        if len(self.case.checker.compared) > 1:
            when += [self.range(letter, at, names_) for letter, at in env.items() if at]
        if not isinstance(self.case.goal.left, MatrixExpr) or entry == (0, 0):
            entry = ()
        return Lines(tuple(shown), entry, ", ".join(when))


def is_elided(rule: r.Rule) -> bool:
    """Whether some sum in it is too long to be shown whole."""
    most = Speller().notation.limit
    return any(isinstance(part, r.Plus) and len(part.terms) > most for part in r.parts(rule))


def has_powers(poly: Poly | None) -> bool:
    """Whether e to some power is a factor of a term."""
    return any(atom.kind == "exp" for mono in poly or {} for atom, _ in mono)


def quotient(below: Poly, above: Poly, value: Poly) -> Iterator[b.Words]:
    """What happens to a quotient: factors of all terms cancel, or it is taken term by term."""
    inside = [
        frozenset.intersection(*map(divisors_of, one)) if one else frozenset()
        for one in (below, above)
    ]
    if inside[0] & inside[1]:
        yield _CANCEL
    elif len(above) > 1 and len(value) > 1 and any(below):
        yield _SPLIT


def divisors_of(mono: Mono) -> frozenset[tuple[Atom, bool]]:
    """What a term can be divided by: its factors, and each e^(c x) in it."""
    return frozenset((atom, p > 0) for atom, p in mono if p > 0 or atom.kind == "exp")


def renamed(rule: r.Rule, names_: Names, pool: Sequence[str]) -> r.Rule:
    """A rule whose indices are these, those of sums the first of a pool that are free."""

    def inner(one: r.Rule) -> r.Rule:
        return renamed(one, names_, pool)

    def at(index: r.Index) -> sympy.Expr:
        return sympy.sympify(index, strict=True).xreplace(dict(names_))

    match rule:
        case r.Entry(matrix, i, j):
            head = head_of(matrix)
            one = matrix if head is None else matrix.xreplace({head: at(head)})
            return r.Entry(one, at(i), at(j))
        case r.Ordinal(index):
            return r.Ordinal(at(index))
        case r.Const(value):
            return r.Const(at(value))
        case r.Named(letter, places, value):
            return r.Named(letter, tuple(map(at, places)), inner(value))
        case r.Total() | r.OfRow() if rule.index is not None:
            if not pool:
                raise CannotSpell("too many indices")
            new = sympy.Symbol(pool[0], integer=True)
            within = {**names_, rule.index: new}
            out = r.rebuilt(rule, lambda one: renamed(one, within, pool[1:]))
            changes = {"index": new, "size": at(rule.size)}
            if isinstance(rule, r.Total):
                changes["start"] = at(rule.start)
            return replace(out, **changes)
    return r.rebuilt(rule, inner)


def combination(case: Case, assumed: Sequence[Tree]) -> Lines:
    """Lhs = rhs + c (u L v − u R v) = rhs for an assumed L = R."""
    terms = [case.goal.right]
    for c, (one, other) in case.checker.added:
        terms += [sympy.MatMul(c, one), sympy.MatMul(-c, other)]
    total_ = sympy.MatAdd(*terms).xreplace(case.hidden)
    by = tuple(("by ", one) for one in assumed)
    return Lines((Line(None), Line(total_, (_MULTIPLIED,)), Line(None, by)))


@dataclass(frozen=True)
class Exposition:
    """The chains of a proof, one for each case of sizes and each part of the entries.

    `steps` is how many the checker takes, `bounds` how many of them say where an index lies,
    `divisors` what is divided by and shown not to be 0, `equations` what is assumed in the `goal`.
    """

    chains: list[Lines]
    steps: int
    bounds: int
    divisors: list[r.Rule]
    equations: list[Tree]
    goal: Goal


def exposition(certificate: Data) -> Exposition:
    """A certificate as a textbook has it.

    Without chains where the sides are the same expression, a line has no notation, or they are too
    much work.
    """
    speller, goal = Speller(), goal_of(certificate["statement"])
    replay = Recording(goal, certificate["uses"], certificate["letters_only"])
    replay.check(certificate["proof"], replay.goal)
    assumed = [
        t.equation(speller.meaning(one), (t.EQUALS, speller.meaning(other)))
        for one, other in goal.where
    ]
    chains: list[Lines] = []
    divisors: dict[Key, r.Rule] = {}
    # an index that is not linear has no notation here
    with suppress(CannotSpell, Refused, Spent), within(STEPS // 4):
        for case in replay.cases:
            found = [Chain(case, comparison, assumed) for comparison in case.checker.compared]
            by_cofactors = bool(case.checker.added)
            chains += [combination(case, assumed)] if by_cofactors else [c.lines() for c in found]
            for poly in case.checker.divisors if found else ():
                rule = found[0].divisor(poly)
                divisors.setdefault(key(rule), rule)
    steps = [step for case in replay.cases for step in case.checker.steps]
    bounds = [need for step in steps for need in step.get("needs", ()) if "#" in need]
    return Exposition(chains, len(steps), len(bounds), [*divisors.values()], assumed, goal)
