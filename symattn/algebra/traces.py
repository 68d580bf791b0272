"""Traces of proofs: which step the checker is to take next.

A `Tracer` is a checker (`certificate.py`) that chooses its steps instead of reading them. So it
finds a proof by nothing but what the checker can replay; where it finds none, nothing is decided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial, reduce
from itertools import chain, permutations, product
from math import factorial, prod
from typing import Any, TypeAlias

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.algebra.certificate import Checker, Replay
from symattn.algebra.claims import Goal, cases, encoded, goal_of, halved, same_shape, used
from symattn.algebra.counterexample import Side
from symattn.algebra.forms import (
    Form,
    Half,
    Need,
    Refused,
    form,
    names,
    number,
    plus_form,
    put,
    quotient_form,
    variable,
)
from symattn.algebra.forms import place as place_of_index
from symattn.algebra.free_algebra import Ring
from symattn.algebra.hypotheses import Statement
from symattn.algebra.hypotheses import uses as uses_of
from symattn.algebra.kinds import Data
from symattn.algebra.polynomials import MOST_TURNS, Bound, indices, is_zero, renamed, renamed_mono
from symattn.algebra.scope import Open
from symattn.algebra.sums import Along, Found, Step
from symattn.algebra.texts import (
    Atom,
    Mono,
    Poly,
    atoms_of,
    brief,
    form_text,
    mono_text,
    range_text,
    spelled,
    terms_of,
)
from symattn.budget import Spent, spend
from symattn.derivations import Derivation
from symattn.errors import SymattnError
from symattn.nodes.arguments import size_written
from symattn.nodes.heads import Head, Stacked
from symattn.nodes.lines import Filled
from symattn.nodes.recurrence import closed_forms
from symattn.step import HEAD

#: How many cuts an index may have, cases sizes may have, and orders of indices are compared.
_MOST_CUTS, _MOST_CASES, _MOST_ORDERS = 8, 3, 720

#: What SymPy and FLINT may raise where an expression is not covered; then there is no trace.
_UNTOLD = (RecursionError, ArithmeticError, NotImplementedError, TypeError, ValueError)

#: The largest number of places that are gone through one by one.
_MOST_UNFOLDED = 8


class Odd(Need):
    """The remainder of a linear form is not the same throughout the range of an index."""

    def __init__(self, index: str, below: int) -> None:
        super().__init__(f"the remainder of {index} by {below} is not the same throughout")
        self.index, self.below = index, below


class Wide(Need):
    """An index runs through so many blocks of a width, and is needed as block and place in it."""

    def __init__(self, index: str, width: Form) -> None:
        super().__init__(f"{index} is not an index of a block of {form_text(width)}")
        self.index, self.width = index, width


class Order(Need):
    """It matters whether a size is at least another one, or a number: both as texts."""

    def __init__(self, size: str, least: str) -> None:
        super().__init__(f"it depends on whether {size} ≥ {least}")
        self.size, self.least = size, least


#: How many steps are taken, indices named, and things without a value for some inputs.
Mark: TypeAlias = tuple[int, int, int]


@dataclass(frozen=True)
class Division:
    """How the range of an index is divided: cut at points, or in blocks of a `width`."""

    cuts: tuple[Form, ...] = ()
    width: Form | None = None

    @property
    def step(self) -> Step:
        """The step of a trace."""
        if self.width is not None:
            return {"rule": "range", "width": form_text(self.width)}
        return {"rule": "range", "cuts": [*map(form_text, self.cuts)]}


class Choosing(Checker):
    """A checker that chooses the steps of sums and differences, and keeps all."""

    def __init__(self, steps: Sequence[Step], positive: Sequence[str] = ()) -> None:
        super().__init__(steps, positive)
        #: Whether every even range is taken in pairs, and a small number of places one by one.
        self.paired = self.unfolded = False

    def know(self, other: Checker) -> None:
        """Take over from a checker its indices, and what is known of letters there."""
        self.sizes.update(other.sizes)
        self.permuted.update(other.permuted)
        self.units.update(other.units)
        self.count = other.count

    def begun(self, size: Form) -> Division:
        """How a range is divided at first: a small number one by one, or in pairs."""
        most = dict(size).get("", 0) if len(size) == 1 else 0
        if 1 < most <= (_MOST_UNFOLDED if self.unfolded else 2 if self.paired else 0):
            return Division(tuple(map(number, range(1, most))))
        paired = self.paired and not quotient_form(size, number(2))[1]
        return Division(width=number(2) if paired else None)

    def divided(self, top: Form, below: Form) -> tuple[Form, Form | None]:
        """Quotient and remainder. Raises `Odd`, `Wide` or `Open` where a finer range decides."""
        quotient, rest = super().divided(top, below)
        if rest is not None:
            return quotient, rest
        _, apart = quotient_form(top, below)
        inside = sorted(names(apart) & set(self.sizes))
        by = dict(below).get("", 0)
        if inside and below == number(by):
            raise Odd(inside[0], by)
        for index in inside:
            blocks, left = quotient_form(self.sizes[index], below)
            if not left and any(atom for atom, _ in blocks):
                raise Wide(index, below)
        rooms = (plus_form(top, below, -k - 1) for k in range(MOST_TURNS))
        room = next((one for one in rooms if not self.nonnegative(one)), None)
        if room is None:
            raise Refused("a large quotient")
        if any(names(((atom, 1),)) and "·" in atom for atom, _ in room):
            return quotient, None
        raise Open(room)

    # ---- the trace -------------------------------------------------------------------------

    def take(self, allowed: Sequence[str], before: str, *about: Any) -> Step:
        choose: Mapping[str, Callable[..., Step]]
        choose = {"delta": self._of_sum, "meet": self._of_difference}
        return self.kept(choose[allowed[0]](*about), before)

    def kept(self, step: Step, before: str) -> Step:
        """A step, written down with what it is about."""
        spend()
        self.steps.append({"of": brief(before), **step})
        return self.steps[-1]

    def settle(self, step: Step, needs: Sequence[tuple[Form, str]], gives: str) -> None:
        if not self.holds(needs):
            raise Refused("an obligation is not shown")
        if needs:
            step["needs"] = [f"{form_text(one)} ≥ 0" for one, _ in needs]
        step["gives"] = brief(gives)

    def _mark(self) -> Mark:
        """Where the proof has got to, to come back to where a choice fails."""
        return len(self.steps), self.count, len(self.here.lacks)

    def _back(self, mark: Mark) -> None:
        """Come back to where the proof was."""
        taken, self.count, lacking = mark
        del self.steps[taken:], self.here.lacks[lacking:]

    def tried(self, choice: Callable[[], Found]) -> Found | Need:
        """What comes of a choice, or what it needs; then the proof is where it was."""
        mark = self._mark()
        try:
            return choice()
        except Need as need:
            self._back(mark)
            return need

    def _applies(self, step: Step, atom: Atom) -> bool:
        """Whether an equation may be used as a step says; nothing changes."""
        mark = self._mark()
        try:
            _, needs = self.said(step, atom)
            return self.holds(needs)
        except Refused:
            return False
        finally:
            self._back(mark)

    # ---- ranges ----------------------------------------------------------------------------

    def in_parts(self, size: Form, evaluated: Callable[[Form], Found]) -> list[tuple[Found, Bound]]:
        """The parts of a range, which is divided until everything is the same throughout each."""
        division = self.begun(size)
        while True:
            starts: dict[str, Form] = {}
            found = self.tried(partial(self._in_parts, division, size, evaluated, starts))
            if not isinstance(found, Need):
                return found
            division = self._divided(division, found, starts)

    def _in_parts(
        self,
        division: Division,
        size: Form,
        evaluated: Callable[[Form], Found],
        starts: dict[str, Form],
    ) -> list[tuple[Found, Bound]]:
        """The parts of a divided range; `starts` gets the index of each, and its first place."""
        count, scope = self.count, self.here.scope

        def here(at: Form) -> Found:
            fresh = f"#{self.count}"
            if self.count > count and fresh in names(at):
                start = plus_form(at, variable(fresh), -1)
                if names(start) <= scope:  # else this range is within a part of another
                    starts[fresh] = start
            return evaluated(at)

        return self.parts_of(self.kept(division.step, range_text(size)), size, here)

    def _divided(self, division: Division, need: Need, starts: Mapping[str, Form]) -> Division:
        """The division in which something is the same throughout; raises what others have to do."""
        match need:
            case Wide(index=index, width=width) if index in starts:
                if division.cuts:
                    raise need
                return replace(division, width=width)
            case Odd(index=index, below=below) if index in starts:
                if any(c % below for _, c in self.sizes[index]):
                    raise _halved(self.sizes[index])
            case Open(room=room):
                index, point = self._cut(room)
                if index in starts:
                    return self._cut_at(division, plus_form(starts[index], point), need)
        raise need

    def _cut_at(self, division: Division, cut: Form, need: Need) -> Division:
        """A division with a cut more."""
        cuts = division.cuts
        if len(cuts) == _MOST_CUTS:
            raise need
        if cut in cuts:
            raise Refused("a cut that does not decide")
        behind = [k for k, one in enumerate(cuts) if self.nonnegative(plus_form(one, cut, -1))]
        first = next(iter(behind), len(cuts))
        return replace(division, cuts=(*cuts[:first], cut, *cuts[first:]))

    def _cut(self, room: Form) -> tuple[str, Form]:
        """Where an index passes the point at which room ≥ 0 changes: the innermost one."""
        inside = [atom for atom, _ in room if atom in self.sizes]
        if not inside:
            raise self._order(room)
        needed = {name for atom in inside for name in names(self.sizes[atom])}
        last = max((atom for atom in inside if atom not in needed), key=lambda atom: int(atom[1:]))
        slope = dict(room)[last]
        if any("·" in atom and names(((atom, 1),)) for atom, _ in room):
            raise Refused("a condition on a product with an index")
        if slope not in (1, -1):
            raise Refused("a condition that is not on one index")
        rest = plus_form(room, variable(last), -slope)
        point = plus_form(rest, number(1)) if slope == -1 else form((a, -c) for a, c in rest)
        for needs in (point, plus_form(self.sizes[last], point, -1)):
            if not self.nonnegative(needs):
                return self._cut(needs)
        return last, point

    def _order(self, room: Form) -> Exception:
        """The two sizes, or the size and the number, of which it depends whether room ≥ 0."""
        terms = dict(room)
        constant = terms.pop("", 0)
        more = [atom for atom, c in terms.items() if c == 1]
        less = [atom for atom, c in terms.items() if c == -1]
        if len(more) + len(less) != len(terms) or any("+" in a or "·" in a for a in terms):
            return Refused("a condition whose cases depend on the sizes")
        if len(more) == len(less) == 1:
            return Order(more[0], less[0])
        least = -constant if more else constant + 1
        if len(terms) == 1 and 1 <= least <= 12:
            return Order((more or less)[0], str(least))
        return Refused("a condition whose cases depend on the sizes")

    # ---- sums ------------------------------------------------------------------------------

    def _of_sum(self, bound: Bound, mono: Mono) -> Step:
        """The step that a sum of a product is rewritten by."""
        factors, every = atoms_of(mono), {name for name, _ in bound}
        for k, (atom, p) in enumerate(factors):
            if atom.kind == "sum" and p.denominator == 1 and p > 0 and indices(atom) & every:
                return {"rule": "merge", "factor": k}
        for place, (index, size) in enumerate(bound):
            run = Along.of(bound, factors, place)
            for k, (atom, _) in enumerate(factors):
                value = self.solved(atom, index) if atom.kind == "δ" else None
                if value is None or names(value) & run.dependent:
                    continue
                if self.holds(self.within(value, size)):
                    return {"rule": "delta", "index": place, "factor": k}
            rule = None if run.dependent else next(self._of_run(run, place, mono), None)
            if rule is not None:
                return rule
        first, *_ = groups = self._groups(bound, factors)
        for group in groups if self.here.known else ():
            run = Along.of(bound, factors, *group)
            for step in self._said(self.canonical(run.bound, dict(run.uses))):
                return {**step, "indices": group}
        return {"rule": "separate", "indices": first}

    def _of_run(self, run: Along, at: int, mono: Mono) -> Iterator[Step]:
        """The steps that a sum over one index may be rewritten by; the first one is taken."""
        if not run.uses:
            yield {"rule": "count", "index": at}
        if self.said_of_line(run) is not None:
            yield {"rule": "line", "index": at}
        if self.ends(run.uses, run.index, run.size) is not None:
            yield {"rule": "identity", "index": at}
        turned = self._turned(mono, run.index, run.size) if self.permuted else None
        if turned is not None:
            yield {"rule": "permute", "index": at, "by": turned}
        if self.here.known:
            for step in self._said(self.canonical(run.bound, dict(run.uses))):
                yield {**step, "indices": [at]}

    def _turned(self, mono: Mono, index: str, size: Form) -> list[Data] | None:
        """The permutation of an index after which fewer permutations stand in a product."""
        text = mono_text(mono)
        found: list[tuple[tuple[int, int], list[Data]]] = []
        for name, full in self.permuted.items():
            for back in (0, 1):
                if full == size and f"{name}{'⁻¹' if back else ''}({index})" in text:
                    new = {index: place_of_index(name, variable(index), 1 - back)}
                    found.append(
                        (_places_in(renamed_mono(mono, new), self.permuted), [name, 1 - back])
                    )
        best = min(found, key=lambda pair: pair[0], default=None)
        return best[1] if best and best[0] < _places_in(mono, self.permuted) else None

    def _groups(self, bound: Bound, factors: list[tuple[Atom, Fraction]]) -> list[list[int]]:
        """The indices that have to do with one another, in an order that their use gives."""
        every = {name for name, _ in bound}
        parts = [set(indices(atom) & every) for atom, _ in factors]
        parts += [{name, *(names(size) & every)} for name, size in bound]
        groups: list[set[str]] = []
        for part in filter(None, parts):
            joined = set(part)
            for group in [g for g in groups if g & part]:
                joined |= group
                groups.remove(group)
            groups.append(joined)
        places = {name: k for k, (name, _) in enumerate(bound)}
        sizes = dict(bound)
        out = []
        for group in sorted(groups, key=lambda g: min(places[name] for name in g)):
            inside = [(atom, p) for atom, p in factors if indices(atom) & group]
            out.append([places[name] for name in _ordered(group, sizes, inside)])
        return out

    def _said(self, atom: Atom) -> Iterator[Step]:
        """The equations that say what a sum is."""
        for k, (one, _) in enumerate(self.here.known):
            for at in self._places(one, atom):
                step = {"rule": "hypothesis", "equation": k, "at": [*map(form_text, at)]}
                if self._applies(step, atom):
                    yield step

    def _places(self, one: sympy.Basic, atom: Atom) -> Iterator[tuple[Form, Form]]:
        """The entries of an equation that may speak of a sum."""
        free = [variable(name) for name in sorted(indices(atom))]
        rows, columns = one.shape if isinstance(one, MatrixExpr) else (1, 1)
        choices = [[number(0)] if size == 1 else free for size in (rows, columns)]
        yield from product(*choices)

    # ---- the difference --------------------------------------------------------------------

    def _of_difference(self, left: Poly) -> Step:
        """The step that makes a difference simpler. Raises `Refused` where there is none."""
        if is_zero(left):
            return {"rule": "zero"}
        for t, (mono, _) in enumerate(terms_of(left)):
            factors = atoms_of(mono)
            for k, (atom, _) in enumerate(factors):
                if atom.kind != "δ":
                    continue
                rest = frozenset(pair for pair in mono if pair[0] != atom)
                for index in sorted(indices(atom), key=lambda name: int(name[1:]), reverse=True):
                    used = any(index in indices(other) for other, _ in rest)
                    if used and self.solved(atom, index) is not None:
                        return {"rule": "meet", "term": t, "factor": k, "index": index}
                    if self.solved(atom, index) is not None:
                        break
        raise Refused("the difference is not seen to vanish")


class Tracer(Choosing):
    """A checker that chooses all steps: it also proposes what recurrences are without one."""

    def __init__(self, steps: Sequence[Step], positive: Sequence[str] = ()) -> None:
        super().__init__(steps, positive)
        #: The closed form that is tried, and the range of the tokens up to the one at hand.
        self.proposed: list[MatrixExpr] = []
        self.so_far: list[Form] = []

    def begun(self, size: Form) -> Division:
        if size in self.so_far and size != number(1):  # the last token is apart
            return Division((plus_form(size, number(-1)),))
        return super().begun(size)

    def take(self, allowed: Sequence[str], before: str, *about: Any) -> Step:
        if "induction" in allowed:
            closed = encoded(self.proposed[-1])
            return self.kept({"rule": "induction", "closed": closed}, before)
        return super().take(allowed, before, *about)

    def induced(self, name: str, states: MatrixExpr) -> MatrixExpr:
        why = ""
        letters = [str(earlier.letter) for earlier, _ in self.recurrences.values()]
        opaque = [Head(sympy.MatrixSymbol(one, *states.shape), HEAD) for one in (*letters, name)]
        for closed in chain(closed_forms(states), opaque):
            self.proposed.append(closed)
            mark = self._mark()
            try:
                return super().induced(name, states)
            except Need:
                raise
            except Refused as missing:
                self._back(mark)
                why = str(missing)
        raise Refused(f"no closed form of {name} was found: {why}")

    def inherits(self, closed: MatrixExpr, states: MatrixExpr, t: Form, i: Form, j: Form) -> None:
        room = plus_form(t, number(-1))
        if t != number(0) and not self.nonnegative(room):
            raise Open(room)
        self.so_far.append(plus_form(t, number(1)))
        try:
            super().inherits(closed, states, t, i, j)
        finally:
            self.so_far.pop()


def _halved(size: Form) -> Exception:
    """What to ask for so that a range can be cut in pairs."""
    ((atom, c), *more) = size
    single = not more and c == 1 and "·" not in atom
    return Half(atom) if single else Refused("a range that is not of pairs")


def _places_in(mono: Mono, names_: Iterable[str]) -> tuple[int, int]:
    """How many permutations stand in a product, and how many of them are inverse."""
    text = mono_text(mono)
    plain, back = (sum(text.count(f"{n}{sign}(") for n in names_) for sign in ("", "⁻¹"))
    return plain + back, back


def _ordered(
    group: set[str], sizes: Mapping[str, Form], factors: list[tuple[Atom, Fraction]]
) -> list[str]:
    """The indices of a sum in an order that does not depend on their names.

    They are told apart by the factors in which they occur, and what is left alike by trying.
    """
    colour = dict.fromkeys(group, "?")
    classes, told = 0, 1
    while classes < told:  # until no two indices are told apart that were not before
        classes, new = told, {}
        for name in group:
            shown = {other: _marked("*" if other == name else colour[other]) for other in group}
            words = sorted(
                f"{spelled(renamed(atom, shown))}^{p}"
                for atom, p in factors
                if name in indices(atom)
            )
            new[name] = f"{form_text(put(sizes[name], shown))} {' '.join(words)}"
        ranks = {text: k for k, text in enumerate(sorted(set(new.values())))}
        colour = {name: str(ranks[text]) for name, text in new.items()}
        told = len(ranks)
    alike: dict[int, list[str]] = {}
    for name in sorted(group):
        alike.setdefault(int(colour[name]), []).append(name)
    listed = [alike[rank] for rank in sorted(alike)]
    if prod(factorial(len(one)) for one in listed) > _MOST_ORDERS:
        return [name for one in listed for name in one]
    best: tuple[str, list[str]] | None = None
    for choice in product(*(permutations(one) for one in listed)):
        order = [name for one in choice for name in one]
        shown = {name: _marked(chr(97 + k)) for k, name in enumerate(order)}
        text = mono_text(frozenset((renamed(atom, shown), p) for atom, p in factors))
        text += " ".join(form_text(put(sizes[name], shown)) for name in order)
        if best is None or text < best[0]:
            best = text, order
    assert best is not None
    return best[1]


def _marked(mark: str) -> Form:
    return variable(f"_{mark}")


class Tracing(Replay):
    """A replay that finds its proof."""

    checker: type[Tracer] = Tracer
    unfolded = False

    def proof(
        self, goal: Goal, factors: Sequence[Data], depth: int = 0, paired: bool = False
    ) -> Data:
        """A proof of a goal. Raises `Refused` where none is found."""
        if goal.left == goal.right and goal.steps[0] == goal.steps[1]:
            return {"same": True}
        checker = self.checker([], goal.positive)
        checker.paired, checker.unfolded = paired, self.unfolded
        match checker.tried(partial(self.entries, checker, goal, factors)):
            case Odd() if not paired:
                return self.proof(goal, factors, depth, paired=True)
            case Half(size=size):
                half = self.proof(goal.put(halved(size_written(size))), factors, depth + 1)
                self.partial = True
                return {"even": size, "half": half}
            case Order() if depth == _MOST_CASES:
                raise Refused("too many orders of sizes")
            case Order(size=size, least=least):
                found = [
                    self.proof(goal.put(case), factors, depth + 1)
                    for case in cases(size_written(size), size_written(least), depth)
                ]
                return {"split": size, "least": least, "cases": found}
            case Need() as need:
                raise need
        return {"cofactors": list(factors), "steps": checker.steps}


def certificate(statement: Statement) -> Data:
    """A certificate of a statement; one that was given as text is in it as it was written.

    Raises `Refused` where no trace is found, and `Spent`.
    """
    try:
        data = stated_again(statement)
        goal = goal_of(data)
    except Spent:
        raise
    except (SymattnError, NotImplementedError, TypeError) as trouble:
        raise Refused(str(trouble).partition("\n")[0]) from None
    second, missing = None, ""
    for letters_only, unfolded, uses, factors in _ways(goal):
        try:
            replay = Tracing(goal, uses, letters_only)
            replay.unfolded = unfolded
            proof = replay.proof(replay.goal, factors)
        except Spent:
            raise
        except (SymattnError, *_UNTOLD) as trouble:
            missing = str(trouble).partition("\n")[0] if not letters_only else missing
            continue
        found = {
            "certificate": 1,
            "statement": data,
            "uses": uses,
            "letters_only": letters_only,
            "partial": replay.partial,
            "proof": proof,
        }
        if not (letters_only and replay.partial and not second):
            return second if second and replay.partial else found
        second = found  # a letter on one side alone may have no value
    if second is None:
        raise Refused(missing)
    return second


def reason(found: Data) -> str:
    """What decided, in a line."""
    proof = found["proof"]
    while "cases" in proof or "half" in proof:
        proof = proof["half"] if "half" in proof else proof["cases"][0]
    if proof.get("same"):
        return "both sides are the same expression"
    if not found["letters_only"]:
        return "both sides have the same normal form over indices"
    if not proof["cofactors"]:
        return "both sides are the same sum of products"
    assumed = any(kind in ("equation", "around") for _, _, (kind, *_), _ in proof["cofactors"])
    return (
        f"it follows from {'the assumptions' if assumed else 'rules for inverses and permutations'}"
    )


def _ways(goal: Goal) -> Iterator[tuple[bool, bool, Data, Data]]:
    """The ways to a proof: functions as letters or by their rules, numbers of places one by one.

    Also what equations are used for, and cofactors.
    """
    found = [*uses_of(goal.where, goal.positive)]
    uses: Data = [[use.kind, use.place, int(use.flipped)] for use in found]
    known = {use.letter: use.meaning for use in found if use.kind == "number"}
    letters = {x for part in goal.parts for x in part.atoms(sympy.MatrixSymbol)}
    sizes = {known.get(str(size), size) for x in letters for size in x.shape}
    numbered = any(size in range(2, _MOST_UNFOLDED + 1) for size in sizes)
    for letters_only, unfolded in ((True, False), (False, False), (False, True))[: 2 + numbered]:
        yield letters_only, unfolded, uses, []
    factors = _factors(goal, uses)
    for unused in ("known",), ("known", "orthonormal"):
        fewer = [use for use in uses if use[0] not in unused]
        for letters_only in (True, False) if factors else ():
            yield letters_only, False, fewer, factors


def _factors(goal: Goal, uses: Sequence[Data]) -> Data:
    """The cofactors by which a goal follows from what is assumed, functions being letters."""
    if any(goal.steps):
        return []
    kept = [use for use in uses if use[0] in ("number", "letter")]
    with suppress(Refused, RecursionError):  # what cannot be a letter is not covered
        plain = Replay(goal, uses, letters_only=True)
        known, means, _, _ = used(plain.goal, kept)
        ring = Ring(known, means, {letter: expr for expr, letter in (plain.letters or {}).items()})
        for k, (one, other) in enumerate(known.where):
            if k not in [use[1] for use in kept] and same_shape(one, other):
                ring.assume(k)
        return [*ring.cofactors()]
    return []


def stated_again(statement: Statement) -> dict[str, Data]:
    """A statement as data: texts as they were written, other sides as expressions."""
    first = statement.origin or statement
    return {
        "left": _side(first.left),
        "right": _side(first.right),
        "where": [[_side(one), _side(other)] for one, other in first.where],
        "letters": [list(pair) for pair in first.reading],
        "declared": sorted(first.declared),
        "positive": sorted(first.positive),
        "permuting": sorted(first.permutations),
    }


def _side(side: Side) -> dict[str, Data]:
    if side.text:
        spare = [[str(rows), str(columns)] for rows, columns in side.spare]
        return {"text": side.text, "spare": spare}
    if isinstance(side.meaning, Derivation):
        steps = [[step.letter, encoded(step.expr)] for step in side.meaning.steps]
        return {"expr": encoded(side.meaning.steps[-1].expr), "steps": steps}
    return {"expr": encoded(_in_blocks(sympy.sympify(side.meaning, strict=True)))}


def _in_blocks(one: sympy.Basic) -> sympy.Basic:
    """An expression in which matrices with written entries are blocks of one entry each."""
    if isinstance(one, sympy.MatrixBase):
        return _by_entries(one.tolist())
    written = one.atoms(sympy.ImmutableDenseMatrix)
    return one.xreplace({matrix: _by_entries(matrix.tolist()) for matrix in written})


def _by_entries(rows: Sequence[Sequence[sympy.Expr]]) -> MatrixExpr:
    """A matrix of these entries, in blocks of one each."""

    def row(entries: Sequence[sympy.Expr]) -> MatrixExpr:
        return reduce(lambda left, right: Stacked(left, right, 1), map(_block, entries))

    return reduce(Stacked, map(row, rows))


def _block(entry: sympy.Expr) -> MatrixExpr:
    plain = {0: sympy.ZeroMatrix(1, 1), 1: sympy.OneMatrix(1, 1)}
    return plain.get(entry) or Filled(1, 1, entry)
