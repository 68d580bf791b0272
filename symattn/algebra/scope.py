"""Where a proof has got to: the indices that are open, and what follows from their ranges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.algebra.claims import Pair
from symattn.algebra.forms import (
    Env,
    Form,
    Need,
    Refused,
    factors_of,
    form,
    is_permuted,
    linear,
    names,
    number,
    place,
    plus_form,
    put,
    quotient_form,
    variable,
)
from symattn.algebra.polynomials import (
    MOST_TURNS,
    Bound,
    constant,
    height,
    renamed_items,
    renamed_mono,
    single,
)
from symattn.algebra.texts import Atom, Mono, Poly, form_text, term_text
from symattn.nodes import rule as r

#: What has to be shown: forms that are ≥ 0, and what they say.
Needs = list[tuple[Form, str]]


class Open(Need):
    """Whether a linear form is ≥ 0 is not the same throughout the ranges of its indices."""

    def __init__(self, room: Form) -> None:
        super().__init__(f"whether {form_text(room)} ≥ 0 depends on the indices; cut a range")
        self.room = room


@dataclass(frozen=True)
class Here:
    """What holds in a part of a proof, and no longer behind it."""

    #: The indices that a trace may speak of.
    scope: frozenset[str] = frozenset()
    #: Equations about sums that may be used: both sides, entry by entry.
    known: tuple[Pair, ...] = ()
    #: Letters that stand for an expression.
    means: Mapping[str, MatrixExpr] = field(default_factory=dict)
    #: What has no value for some inputs: a divisor that may be 0, an inverse, a root.
    lacks: list[str] = field(default_factory=list)
    #: Sizes that may be 0, beside those that are written so.
    empty: frozenset[str] = frozenset()

    def is_filled(self, size: str) -> bool:
        """Whether a size is at least 1: +k may be 0."""
        return size[0] != "+" and size not in self.empty


class Scope:
    """The indices of a proof and their ranges, and what holds in the part of it at hand."""

    def __init__(self) -> None:
        self.here = Here()
        #: The range of every index, 0 … size − 1, and how many things a permutation permutes.
        self.sizes: dict[str, Form] = {}
        self.permuted: dict[str, Form] = {}
        #: How many states a recurrence has, by its closed form.
        self.counts: dict[MatrixExpr, Form] = {}
        #: The recurrences whose states have a letter instead, and what letters mean there.
        self.recurrences: dict[MatrixExpr, tuple[MatrixExpr, Mapping[str, MatrixExpr]]] = {}
        #: How many indices have a name.
        self.count = 0

    @contextmanager
    def inside(self, **changes: Any) -> Iterator[None]:
        """A part of the proof in which something else holds."""
        before = self.here
        self.here = replace(before, **changes)
        try:
            yield
        finally:
            self.here = before

    def lack(self, what: str, where: bool = True) -> None:
        """Something has no value for some inputs."""
        if where:
            self.here.lacks.append(what)

    # ---- ranges ------------------------------------------------------------------------------

    def name(self) -> str:
        """A fresh name of an index."""
        self.count += 1
        return f"#{self.count}"

    def new(self, size: Form) -> str:
        """A fresh index with this range."""
        name = self.name()
        self.sizes[name] = size
        return name

    def nonnegative(self, one: Form, inside: Mapping[str, Form] = {}) -> bool:
        """Whether a form is ≥ 0 throughout the ranges of its indices, for all sizes.

        `inside` are the ranges of the indices of sums, beside those that are open.

        An index that no other range depends on is put at the end of its range that is worse,
        by the sign of what it is multiplied by, which has to be the same throughout;
        where the range is empty there is nothing that could be wrong.
        """
        sizes = {**self.sizes, **inside}
        while True:
            places = {term_text(a): (a, c) for a, c in one if isinstance(a, tuple)}
            free = names(one) & set(sizes)
            if places:
                atom, c = places[max(places, key=lambda text: (len(text), text))]
                if atom[0] != "π":
                    return False
                end = number(0) if c > 0 else plus_form(self.permuted[atom[1]], number(-1))
                one = plus_form(form(pair for pair in one if pair[0] != atom), end, c)
            elif free:
                needed = self.needed(free, inside)
                last = next((name for name in sorted(free) if name not in needed), None)
                slope, _ = quotient_form(one, variable(last)) if last else ((), one)
                if last is None or last in names(slope):
                    return False
                if self.nonnegative(slope, inside):
                    end = number(0)
                elif self.nonnegative(form((atom, -c) for atom, c in slope), inside):
                    end = plus_form(sizes[last], number(-1))
                else:
                    return False
                one = put(one, {last: end})
            else:
                break
        if names(one):
            return False
        # a size is at least 1, +k at least 0: n is 1 + (n - 1)
        least = {n for atom, _ in one for n in factors_of(atom) if self.here.is_filled(n)}
        raised = put(one, {size: plus_form(variable(size), number(1)) for size in least})
        return all(c >= 0 for _, c in raised)

    def needed(self, free: Iterable[str], inside: Mapping[str, Form] = {}) -> set[str]:
        """The indices that the ranges of these depend on."""
        found: set[str] = set()
        left = list(free)
        while left:
            name = left.pop()
            more = names(inside.get(name, self.sizes.get(name, ()))) - found
            found |= more
            left += more
        return found

    def within(self, at: Form, size: Form) -> Needs:
        """The obligations of 0 ≤ at < size."""
        above = plus_form(plus_form(size, at, -1), number(-1))
        return [(at, "the start of the range"), (above, "the end of the range")]

    def holds(self, needs: Iterable[tuple[Form, str]]) -> bool:
        """Whether all obligations are shown."""
        return all(self.nonnegative(one) for one, _ in needs)

    # ---- conditions --------------------------------------------------------------------------

    def delta(self, one: Form, other: Form) -> Poly:
        """1 where two indices are the same, else 0."""
        gap = plus_form(one, other, -1)
        more, less = ([(a, abs(c)) for a, c in gap if c * s > 0] for s in (1, -1))
        low, high = sorted((form(more), form(less)), key=form_text)
        for left, right in ((low, high), (high, low)):
            if is_permuted(left):
                _, name, back, inner = left[0][0]
                turned = place(name, right, 1 - back)
                words, new = form_text(right), form_text(turned)
                shorter = len(new) < len(words) or form_text(inner) < words
                if shorter and self.holds(self.within(right, self.permuted[name])):
                    return self.delta(inner, turned)
        apart = plus_form(low, high, -1)
        if not apart:
            return constant(1)
        if any(
            self.nonnegative(form([*((a, c * s) for a, c in apart), ("", -1)])) for s in (1, -1)
        ):
            return {}
        return single(Atom("δ", places=(low, high)))

    def solved(self, condition: Atom, index: str) -> Form | None:
        """The index from one = other; None where it cannot be solved for."""
        for left, right in (condition.places, condition.places[::-1]):
            inner, value = left, right
            while is_permuted(inner):
                _, name, back, at = inner[0][0]
                if not self.holds(self.within(value, self.permuted[name])):
                    break
                inner, value = at, place(name, value, 1 - back)
            rest = plus_form(inner, variable(index), -1)
            if index not in names(rest) | names(value):
                return plus_form(value, rest, -1)
        return None

    def at(self, index: r.Index, env: Env) -> Form:
        """An index as a linear form."""
        return linear(index, env, self.divided)

    def divided(self, top: Form, below: Form) -> tuple[Form, Form | None]:
        """Quotient and remainder; where ranges do not decide them, a quotient as it is."""
        divisions = [quotient_form(top, below)]
        divisions += [(number(k), plus_form(top, below, -k)) for k in range(MOST_TURNS)]
        for quotient, rest in divisions:
            if self.holds(self.within(rest, below)):
                return quotient, rest
        return ((("⌊⌋", "", below, top), 1),), None  # which head serves head k: ⌊k g/h⌋

    def opened(self, atom: Atom) -> tuple[Bound, Mono]:
        """The bound indices of a sum under fresh names, and what is summed."""
        bound, new = self.freshly(atom.bound, {})
        return bound, renamed_mono(atom.mono, new)

    def freshly(
        self, sizes: Sequence[tuple[str, Form]], values: Mapping[str, Form]
    ) -> tuple[Bound, dict[str, Form]]:
        """Indices under names that nothing else uses, and the values with these put in."""
        new = {name: variable(self.name()) for name, _ in sizes}
        inner = {**values, **new}
        bound = [(new[name][0][0], put(size, inner)) for name, size in sizes]
        self.sizes.update(bound)
        return bound, inner

    def canonical(self, bound: Bound, factors: Mapping[Atom, Fraction]) -> Atom:
        """A sum of a product, its indices named by their places."""
        if len(bound) > len(_LETTERS):
            raise Refused("a sum over too many indices")
        deep = 1 + max(map(height, factors), default=0)
        new = {name: variable(f"_{deep}{_LETTERS[k]}") for k, (name, _) in enumerate(bound)}
        sizes = tuple((new[name][0][0], put(size, new)) for name, size in bound)
        terms = renamed_items([(frozenset(factors.items()), Fraction(1))], new)
        return Atom("sum", bound=sizes, terms=terms)


_LETTERS = "abcdefghijklmnopqrstuvwxyz"
