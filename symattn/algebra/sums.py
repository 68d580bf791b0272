"""The steps of a proof: ranges that are cut, and sums that are rewritten by one rule each.

A step says what it is about and what becomes of it, and every obligation is shown here again.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, permutations
from typing import TypeVar

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.algebra.claims import Unit
from symattn.algebra.forms import (
    Form,
    Refused,
    linear,
    names,
    number,
    place,
    plus_form,
    put,
    quotient_form,
    times_form,
    variable,
)
from symattn.algebra.functions import Lines
from symattn.algebra.kinds import Data
from symattn.algebra.polynomials import (
    Bound,
    along_line,
    atom_alone,
    constant,
    form_poly,
    indices,
    plus,
    renamed,
    scaled,
    settled,
    single,
    times,
)
from symattn.algebra.scope import Needs
from symattn.algebra.texts import (
    Atom,
    Factors,
    Items,
    Mono,
    Poly,
    atoms_of,
    bound_text,
    brief,
    form_text,
    mono_text,
    range_text,
    read_form,
    terms_of,
    text_of,
)

#: What a sum is rewritten to: what is summed now, over which indices, and what that needs.
Rewritten = tuple[Poly, Bound, Needs]


Step = dict[str, Data]


#: What is found in each part of a range.
Found = TypeVar("Found")


class Steps(Lines):
    """Steps that are read one by one.

    `take` gives the next step; what finds proofs overrides it to choose one.
    """

    def __init__(self, steps: Sequence[Step], positive: Iterable[str] = ()) -> None:
        super().__init__(positive)
        self.steps, self.left = list(steps), deque(steps)
        #: Pairs of matrices whose product is I.
        self.units: dict[Unit, Form] = {}

    def take(self, allowed: Sequence[str], before: str, *about: object) -> Step:
        """The next step. Raises `Refused` where it is of another kind, or about something else.

        `about` is what `before` spells, for a prover that chooses the step.
        """
        if not self.left:
            raise Refused(f"step {self.done + 1}: the trace ends before the proof does")
        step = self.left.popleft()
        if step["rule"] not in allowed:
            raise self.wrong(f"{step['rule']} is not a step here; {' or '.join(allowed)} is")
        if step["of"] != brief(before):
            raise self.wrong(f"it is about {step['of'][:80]}, where {before[:80]} stands")
        return step

    @property
    def done(self) -> int:
        """How many steps are taken."""
        return len(self.steps) - len(self.left)

    def wrong(self, why: str) -> Refused:
        """The refusal of the step taken last."""
        return Refused(f"step {self.done}: {why}")

    def settle(self, step: Step, needs: Sequence[tuple[Form, str]], gives: str) -> None:
        """Check a step's obligations, each a form that is ≥ 0, and what it says it gives."""
        listed = [f"{form_text(one)} ≥ 0" for one, _ in needs]
        if step.get("needs") != (listed or None):
            raise self.wrong(f"the obligations are {listed}, not {step.get('needs')}")
        for one, what in needs:
            if not self.nonnegative(one):
                raise self.wrong(f"{what}: {form_text(one)} ≥ 0 is not shown")
        if step["gives"] != brief(gives):
            raise self.wrong(f"it gives {gives[:80]}, not {step['gives'][:80]}")

    def finish(self) -> None:
        """Refuse a trace that goes on behind its end."""
        if self.left:
            raise Refused(f"step {self.done + 1}: the proof is complete before it")

    def determined(self, atom: Atom, index: str) -> Form:
        """What an index is by a factor that is a condition."""
        value = self.solved(atom, index) if atom.kind == "δ" else None
        if value is None:
            raise self.wrong("the condition does not determine the index")
        return value

    def place_of(self, step: Step, what: str, among: Sequence[object]) -> int:
        """A place in a list, from 0."""
        if not 0 <= step[what] < len(among):
            raise self.wrong(f"there is no {what} {step[what]}")
        return int(step[what])


class Sums(Steps):
    """The replay of steps about ranges and sums."""

    @abstractmethod
    def entry(self, expr: sympy.Basic, i: Form, j: Form, head: Form | None = None) -> Poly | None:
        """Entry (i, j) of an expression, None where it is −∞."""

    # ---- ranges ------------------------------------------------------------------------------

    def in_parts(self, size: Form, evaluated: Callable[[Form], Found]) -> list[tuple[Found, Bound]]:
        """What stands at every index below a size, by the parts in which the trace cuts it."""
        return self.parts_of(self.take(("range",), range_text(size)), size, evaluated)

    def parts_of(
        self, step: Step, size: Form, evaluated: Callable[[Form], Found]
    ) -> list[tuple[Found, Bound]]:
        """What stands at every index below a size, by the parts in which a step cuts it."""
        if "width" in step:
            return self.in_blocks(step, size, evaluated)
        points = [number(0), *map(read_form, step["cuts"]), size]
        if frozenset().union(*map(names, points)) - self.here.scope - names(size):
            raise self.wrong("a cut at an index that is not open here")
        needs = [(plus_form(high, low, -1), "a cut") for low, high in pairwise(points)]
        self.settle(step, needs, "1 part" if len(points) == 2 else f"{len(points) - 1} parts")
        return [
            self.in_part(low, plus_form(high, low, -1), evaluated) for low, high in pairwise(points)
        ]

    def in_part(
        self, low: Form, count: Form, evaluated: Callable[[Form], Found]
    ) -> tuple[Found, Bound]:
        """What stands at the indices from `low` on, at one new index."""
        index = "" if count == number(1) else self.new(count)
        at = plus_form(low, variable(index)) if index else low
        with self.inside(scope=self.here.scope | {index} - {""}):
            return evaluated(at), [(index, count)]

    def in_blocks(
        self, step: Step, size: Form, evaluated: Callable[[Form], Found]
    ) -> list[tuple[Found, Bound]]:
        """What stands at k w + l, in the parts of the blocks k and in those of the places l."""
        width = read_form(step["width"])
        blocks, left = quotient_form(size, width)
        if left or names(width):
            raise self.wrong("the range does not consist of such blocks")
        self.settle(step, [], f"{form_text(blocks)} blocks")

        def block(k: Form) -> list[tuple[Found, Bound]]:
            start = times_form(k, width)
            return self.in_parts(width, lambda place: evaluated(plus_form(start, place)))

        return [
            (found, [*outer, *(pair for pair in inner if pair[0])])
            for parts, outer in self.in_parts(blocks, block)
            for found, inner in parts
        ]

    # ---- sums --------------------------------------------------------------------------------

    def summed(self, bound: Bound, poly: Poly) -> Poly:
        """Σ over indices of every term; an index without a name has one value."""
        bound = [pair for pair in bound if pair[0]]
        if not bound:
            return poly
        return plus(*(scaled(self.total(bound, mono), c) for mono, c in terms_of(poly)))

    def total(self, bound: Bound, mono: Mono) -> Poly:
        """Σ of a product, rewritten as the trace says."""
        before = f"Σ_{{{bound_text(bound)}}} {mono_text(mono)}"
        step = self.take((*OF_SUMS,), before, bound, mono)
        out, left, needs = OF_SUMS[step["rule"]](self, step, bound, atoms_of(mono))
        self.settle(step, needs, text_of(out))
        return self.summed(left, out)

    def apart(self, bound: Bound, factors: Factors, places: Sequence[int]) -> Along:
        """The indices at these places, on which no other range may depend."""
        if not places or sorted({*places} & {*range(len(bound))}) != sorted(places):
            raise self.wrong("these are no indices of the sum, or one of them twice")
        run = Along.of(bound, factors, *places)
        if run.dependent:
            raise self.wrong("the range of another index depends on this one")
        return run

    def said_of_line(self, run: Along) -> tuple[Poly, Poly] | None:
        """A and b(l) where the sum is a + Σ_l b(l) by what defines a function of the line.

        Σ_j [j is the first of the largest z] is 1, and times z_j the largest. Σ_l |z_l − τ(z)| is
        2 + size · τ(z) − Σ_l z_l, as Σ_l max(0, z_l − τ(z)) = 1. None for any other sum.
        """
        match sorted(run.uses, key=lambda pair: pair[0].kind != "first"):
            case [(Atom("first", places=(at,)) as line, _), *more] if at == variable(run.index):
                scores = run.along(line._replace(places=()))
                if scores is not None and not more:
                    return constant(1), {}
                if scores == {frozenset(more): Fraction(1)}:
                    return self.line("max", scores, run.index, run.size), {}
            case [(Atom("fn", "abs", terms=items), p)] if p == 1:
                for level in {a for mono, _ in items for a, _ in mono if a[:2] == ("line", "τ")}:
                    scores = run.along(level)
                    apart = plus(scores or {}, scaled(single(level), -1))
                    if scores is not None and dict(items) in (apart, scaled(apart, -1)):
                        below = times(form_poly(run.size), single(level))
                        return plus(constant(2), below), scaled(scores, -1)
        return None

    def ends(self, uses: Factors, index: str, size: Form) -> tuple[Form, Form] | None:
        """The outer indices of Σ_l a_il b_lj where the product of a and b is I."""
        pair = [atom for atom, p in uses for _ in range(int(p) if p in (1, 2) else 3)]
        if len(pair) != 2 or any(atom.kind != "entry" or len(atom.places) != 2 for atom in pair):
            return None
        for one, other in permutations(pair):
            for (first, turned, second, back), full in self.units.items():
                if (one.name, other.name, size) != (first, second, full):
                    continue
                left = one.places[::-1] if turned else one.places
                right = other.places[::-1] if back else other.places
                met = left[1] == variable(index) == right[0]
                if met and index not in names(left[0]) | names(right[1]):
                    return left[0], right[1]
        return None

    def said(self, step: Step, atom: Atom) -> tuple[Poly, Needs]:
        """What an assumed equation says that a sum is, and what has to be shown for it."""
        known = self.here.known
        one, other = known[self.place_of(step, "equation", known)]
        i, j = (read_form(text) for text in step["at"])
        if (names(i) | names(j)) - indices(atom):
            raise self.wrong("the equation is used at an index that does not occur")
        with self.inside(known=(), scope=indices(atom)):
            left, right = self.entry(one, i, j), self.some(self.entry(other, i, j))
        shape = one.shape if isinstance(one, MatrixExpr) else (1, 1)
        needs = [*self.within(i, linear(shape[0], {})), *self.within(j, linear(shape[1], {}))]
        ((mono, c),) = left.items() if left is not None and len(left) == 1 else ((None, 0),)
        if mono != next(iter(single(atom))):
            raise self.wrong("the equation says nothing of this sum")
        return scaled(right, 1 / Fraction(c)), needs

    # ---- putting in --------------------------------------------------------------------------

    def substituted(self, mono: Mono, values: Mapping[str, Form]) -> Poly:
        """A monomial with forms put in for indices, its conditions and sums worked out again."""
        out = constant(1)
        for atom, p in atoms_of(mono):
            inner = self.changed(atom, values)
            alone = atom_alone(inner)
            out = times(out, self.power(inner, p) if alone is None else settled({alone: p}))
        return out

    def polynomial(self, items: Items, values: Mapping[str, Form]) -> Poly:
        """A polynomial with forms put in for indices."""
        return plus(
            *(scaled(self.substituted(mono, values), c) for mono, c in terms_of(dict(items)))
        )

    def changed(self, atom: Atom, values: Mapping[str, Form]) -> Poly:
        """An atom with forms put in for indices."""
        if not indices(atom) & set(values):
            return single(atom)
        match atom:
            case Atom("entry"):
                return single(renamed(atom, values))
            case Atom("index", places=(at,)):
                return form_poly(put(at, values))
            case Atom("δ", places=(one, other)):
                return self.delta(put(one, values), put(other, values))
            case Atom("exp"):
                return self.exp(self.substituted(atom.mono, values))
            case Atom("sum"):
                bound, inner = self.freshly(atom.bound, values)
                return self.summed(bound, self.substituted(atom.mono, inner))
            case Atom("line" | "first"):
                (pair,), inner = self.freshly(atom.bound, values)
                scores = self.polynomial(atom.terms, inner)
                if atom.kind == "line":
                    return self.line(atom.name, scores, *pair)
                return self.first(put(atom.places[0], values), scores, *pair)
            case Atom("poly"):
                return self.polynomial(atom.terms, values)
        return self.applied(atom.name, self.polynomial(atom.terms, values))


@dataclass(frozen=True)
class Along:
    """A sum of a product as some of its indices run: the factors with them, and the others."""

    bound: Bound
    others: Bound
    uses: Factors
    left: Mono

    @classmethod
    def of(cls, bound: Bound, factors: Factors, *places: int) -> Along:
        """The sum as the indices at these places run."""
        own = [bound[place] for place in places]
        mine = {name for name, _ in own}
        others = [pair for pair in bound if pair[0] not in mine]
        uses = [pair for pair in factors if indices(pair[0]) & mine]
        return cls(own, others, uses, frozenset(factors) - {*uses})

    @property
    def index(self) -> str:
        """The index, where it is one alone."""
        return self.bound[0][0]

    @property
    def size(self) -> Form:
        """The size of its range."""
        return self.bound[0][1]

    @property
    def dependent(self) -> set[str]:
        """The other indices whose ranges depend on these."""
        mine = {name for name, _ in self.bound}
        return {name for name, size in self.others if names(size) & mine}

    def along(self, line: Atom) -> Poly | None:
        """What stands at the index in a line without it, through all of which it runs."""
        ((_, size),) = line.bound
        full = size == self.size and self.index not in indices(line)
        return along_line(line, self.index) if full else None

    def rewritten(self, value: Poly, needs: Needs) -> Rewritten:
        """What the sum over these indices is, over the others."""
        return times({self.left: Fraction(1)}, value), self.others, needs


def _eliminated(checker: Sums, step: Step, bound: Bound, factors: Factors) -> Rewritten:
    """Σ_l [l = k] f(l) is f(k) for a k in the range of l."""
    run = Along.of(bound, factors, checker.place_of(step, "index", bound))
    atom, _ = factors[checker.place_of(step, "factor", factors)]
    value = checker.determined(atom, run.index)
    if names(value) & run.dependent:
        raise checker.wrong("a range of the others' depends on the index")
    at = {run.index: value}
    out = checker.substituted(frozenset(pair for pair in factors if pair[0] != atom), at)
    left = [(name, put(size, at)) for name, size in run.others]
    checker.sizes.update(left)
    return out, left, checker.within(value, run.size)


def _counted(checker: Sums, step: Step, bound: Bound, factors: Factors) -> Rewritten:
    """Σ_l c is c times the size."""
    run = checker.apart(bound, factors, [step["index"]])
    if run.uses:
        raise checker.wrong("the index occurs")
    return run.rewritten(form_poly(run.size), [(run.size, "the size")])


def _permuted(checker: Sums, step: Step, bound: Bound, factors: Factors) -> Rewritten:
    """Σ_l f(l) is Σ_l f(π(l))."""
    run = checker.apart(bound, factors, [step["index"]])
    name, back = step["by"]
    if checker.permuted.get(name) != run.size:
        raise checker.wrong("the index does not run through what this permutes")
    at = {run.index: place(name, variable(run.index), back)}
    return checker.substituted(frozenset(factors), at), bound, []


def _along_line(checker: Sums, step: Step, bound: Bound, factors: Factors) -> Rewritten:
    """A sum is what defines a function of a line, through all of which its index runs."""
    run = checker.apart(bound, factors, [step["index"]])
    said = checker.said_of_line(run)
    if said is None:
        raise checker.wrong("nothing that is known of a line")
    value = plus(said[0], checker.summed([(run.index, run.size)], said[1]))
    return run.rewritten(value, [(plus_form(run.size, number(-1)), "a line with something in it")])


def _by_hypothesis(checker: Sums, step: Step, bound: Bound, factors: Factors) -> Rewritten:
    """A sum is what an assumed equation gives for it."""
    run = checker.apart(bound, factors, step["indices"])
    return run.rewritten(*checker.said(step, checker.canonical(run.bound, dict(run.uses))))


def _of_inverses(checker: Sums, step: Step, bound: Bound, factors: Factors) -> Rewritten:
    """Σ_l a_il b_lj is [i = j]."""
    run = checker.apart(bound, factors, [step["index"]])
    ends = checker.ends(run.uses, run.index, run.size)
    if ends is None:
        raise checker.wrong("these are not a matrix and its inverse over a full range")
    return run.rewritten(checker.delta(*ends), [])


def _merged(checker: Sums, step: Step, bound: Bound, factors: Factors) -> Rewritten:
    """A sum among the factors is opened, so that all is one sum."""
    atom, p = factors[checker.place_of(step, "factor", factors)]
    if atom.kind != "sum" or p.denominator != 1 or p < 1:
        raise checker.wrong("this factor is not a sum")
    new, inner = checker.opened(atom)
    out = times(settled({**dict(factors), atom: p - 1}), {inner: Fraction(1)})
    return out, [*bound, *new], []


def _separated(checker: Sums, step: Step, bound: Bound, factors: Factors) -> Rewritten:
    """The product of the sums over indices that have to do with one another."""
    run = checker.apart(bound, factors, step["indices"])
    return run.rewritten(single(checker.canonical(run.bound, dict(run.uses))), [])


#: What the steps make of a sum, by their rules.
OF_SUMS: Mapping[str, Callable[[Sums, Step, Bound, Factors], Rewritten]] = {
    "delta": _eliminated,
    "identity": _of_inverses,
    "line": _along_line,
    "hypothesis": _by_hypothesis,
    "count": _counted,
    "permute": _permuted,
    "merge": _merged,
    "separate": _separated,
}
