"""Explanations: what somebody may have done that gives the wrong numbers, with the evidence.

Misconceptions (the formula of a step is another one) and slips (one entry, or one row, is worked
out wrongly) are tried, alone and together. NumPy screens misconceptions; those that come near are
marked again, by the same marker, against the changed derivation. What a hypothesis reproduces
counts by the digits that were claimed, less what was tried: see
`symattn.mistakes.evidence`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from math import log2
from typing import TypeAlias

import numpy as np

from symattn.arithmetic.base import Array
from symattn.claims.entry_names import listed
from symattn.claims.policy import Policy
from symattn.derivations import Derivation, Evaluation, Place, Step
from symattn.errors import SymattnError
from symattn.marking.sanity import sums_to_one
from symattn.marking.verdicts import EntryMark, Marker, StepMark
from symattn.mistakes import COMMON, MISCONCEPTIONS, Misconception, Steps
from symattn.mistakes.diagnosis import (
    Diagnosis,
    Entries,
    diagnosed,
    would_belong,
)
from symattn.mistakes.evidence import (
    LEAST_BITS,
    LEAST_BITS_OF_TWO,
    Candidates,
    bits_against,
)
from symattn.mistakes.habits import HABITS, Habit
from symattn.mistakes.nodes import InRows
from symattn.mistakes.slips import Numbers, Rules, Slip

#: Verdicts that a claim has when it follows from a changed derivation, and when it is a mistake
#: of its own rather than one that follows from another.
_FITTING = ("right", "truncated", "rounded-early")
_MISTAKEN = ("wrong", "last-digit")

#: How far from a claim a screened number may be, in units of its last digit: recomputed from what
#: is given, and from the claims before it (with a share of the largest number in its matrix).
_FROM_GIVEN, _FROM_CLAIMS, _SHARE = 1.05, 2.05, 0.02

#: A claim that follows from rounded numbers might as well be a unit more or less: log₂ 3 bits.
_ROUNDED = log2(3)

#: How many hypotheses are marked again, how many pairs are screened, and how many explanations
#: are reported.
_MOST_MARKED, _MOST_PARTLY, _MOST_PAIRS, _MOST_SHOWN = 6, 2, 600, 4

#: So many mistaken entries may be slips, even where a misconception explains some of them.
_FEW = 6

#: From so many claimed entries on, fewer are marked again.
_LARGE = 512


#: The numbers that a hypothesis gives mistaken entries, by letter and place.
_Effect: TypeAlias = Mapping[tuple[str, Place], float]


@dataclass(frozen=True)
class Explanation:
    """Misconceptions and slips that together would produce what was claimed.

    `fits` names the claimed steps, from the first wrong one on, that they reproduce; `whole` says
    whether those are all of them. `bits` is the evidence: those of the digits reproduced less
    those of what was tried.
    """

    misconceptions: tuple[Misconception | Habit | Slip, ...]
    fits: tuple[str, ...]
    whole: bool
    bits: float = 0.0

    @property
    def name(self) -> str:
        """The names, joined by ``+``."""
        return " + ".join(dict.fromkeys(each.name for each in self.misconceptions))

    @property
    def instead(self) -> str:
        """What was done instead."""
        return "; and ".join(each.instead for each in self.misconceptions)

    @property
    def tell(self) -> str:
        """What to tell who did it."""
        return " ".join(each.tell for each in self.misconceptions)

    @property
    def done(self) -> str:
        """What was done instead, and how much of the sheet that explains."""
        if self.whole:
            return self.instead
        part = f"{listed(self.fits)} only" if self.fits else "some of the numbers"
        return f"{self.instead} (explains {part})"

    def covers(self, step: str, place: Place) -> bool:
        """Whether it says how the number of an entry came about."""
        return any(
            step in self.fits
            if isinstance(each, Misconception)
            else isinstance(each, Slip) and each.step == step and place in each.places
            for each in self.misconceptions
        )


class Explanations(tuple[Explanation, ...]):
    """The explanations that were found, and whether all that there is was tried."""

    complete: bool = True


@dataclass(frozen=True, eq=False)
class Hypothesis:
    """Misconceptions, and the steps of the derivation as they are done with them."""

    misconceptions: tuple[Misconception, ...]
    steps: Mapping[str, Step]


class Explainer:
    """Tries misconceptions on one derivation at concrete sizes; made once, used for many sheets."""

    def __init__(
        self,
        derivation: Derivation,
        evaluation: Evaluation,
        misconceptions: Sequence[Misconception] = MISCONCEPTIONS,
    ) -> None:
        self.misconceptions = tuple(misconceptions)
        sizes = {s: n for s, n in evaluation.sizes.items() if s.name not in ("h", "g")}
        heads = {s: n for s, n in evaluation.sizes.items() if s.name in ("h", "g")}
        self.derivation = replace(derivation.subs(sizes), sizes=heads)
        self.rules = Rules()
        self._of_one: dict[Misconception, Hypothesis | None] = {}
        found = map(self.single, self.misconceptions)
        self.singles = tuple(one for one in found if one is not None)
        self._pairs: dict[tuple[Hypothesis, Hypothesis], Hypothesis | None] = {}
        self._first: dict[Hypothesis, Evaluation] = {}
        self._first_claimed: dict[tuple[Hypothesis, frozenset[str]], str | None] = {}

    @cached_property
    def _steps(self) -> Steps:
        return Steps(self.derivation)

    def single(self, misconception: Misconception) -> Hypothesis | None:
        """One misconception at these sizes; None where it does not apply."""
        if misconception not in self._of_one:
            changed = _changed_steps(self._steps, misconception)
            found = Hypothesis((misconception,), changed) if changed else None
            self._of_one[misconception] = found
        return self._of_one[misconception]

    def pair(self, one: Hypothesis, other: Hypothesis) -> Hypothesis | None:
        """Two hypotheses together: one upon the other where both change a step; None if not new."""
        if (one, other) not in self._pairs:
            both = (*one.misconceptions, *other.misconceptions)
            if set(one.steps) & set(other.steps):
                steps = self._upon(one, other) or self._upon(other, one)
            else:
                steps = {**one.steps, **other.steps}
            known = {tuple(single.steps.items()) for single in self.singles}
            new = steps and tuple(steps.items()) not in known
            self._pairs[one, other] = Hypothesis(both, steps) if new else None
        return self._pairs[one, other]

    def _upon(self, one: Hypothesis, other: Hypothesis) -> Mapping[str, Step]:
        """The steps of one hypothesis, and those that the other makes of these."""
        first = tuple(one.steps.get(step.name, step) for step in self.derivation.steps)
        steps = Steps(replace(self.derivation, steps=first))
        (misconception,) = other.misconceptions
        return {**one.steps, **changed} if (changed := _changed_steps(steps, misconception)) else {}

    def first_claimed(self, hypothesis: Hypothesis, claimed: frozenset[str]) -> str | None:
        """The first claimed step that a hypothesis changes; None where there is none."""
        key = hypothesis, claimed
        if key not in self._first_claimed:
            reached: set[str] = set()
            self._first_claimed[key] = None
            for step in self.derivation.steps:
                operands = hypothesis.steps.get(step.name, step).operands
                if step.name not in hypothesis.steps and reached.isdisjoint(operands):
                    continue
                reached.add(step.letter)
                if step.letter in claimed:
                    self._first_claimed[key] = step.letter
                    break
        return self._first_claimed[key]

    def in_rows(self, hypothesis: Hypothesis, rows: tuple[int, ...], where: str) -> Hypothesis:
        """A misconception in some rows only; the others are done rightly."""
        (misconception,) = hypothesis.misconceptions
        steps = {}
        for name, step in hypothesis.steps.items():
            right = next(s for s in self.derivation.steps if s.name == name)
            steps[name] = replace(step, expr=InRows(step.expr, right.expr, rows))
        only = replace(misconception, instead=f"in {where} only: {misconception.instead}")
        return Hypothesis((only,), steps)

    def explain(
        self,
        evaluation: Evaluation,
        claims: Mapping[str, Array],
        policy: Policy,
        marks: Sequence[StepMark],
        first: str,
    ) -> Explanations:
        """What fits from the step `first` on, the simplest first."""
        sheet = _Sheet(self, evaluation, claims, policy, marks, first)
        found = Explanations(sheet.explanations())
        found.complete = sheet.complete
        return found

    def evaluated(self, hypothesis: Hypothesis, given: Mapping[str, Array]) -> Evaluation:
        """The changed derivation with these numbers."""
        if hypothesis not in self._first:
            steps = [hypothesis.steps.get(step.name, step) for step in self.derivation.steps]
            evaluation = Evaluation(self.derivation.inputs, steps, given, self.derivation.sizes, {})
            if any(isinstance(step.expr, InRows) for step in hypothesis.steps.values()):
                return evaluation  # made for one sheet
            self._first[hypothesis] = evaluation
        return self._first[hypothesis].again(**given)


def _changed_steps(steps: Steps, misconception: Misconception) -> dict[str, Step]:
    """The steps that a misconception changes; none where it does not apply."""
    try:
        change = misconception.change(steps) or {}
        return {name: replace(steps.steps[name], expr=expr) for name, expr in change.items()}
    except SymattnError:
        return {}  # its shapes do not fit here


def cannot_tell(found: Sequence[Explanation]) -> tuple[str, ...]:
    """Notes: where these numbers cannot tell mistakes apart, and where not all was tried."""
    notes = []
    whole = list(dict.fromkeys(explanation.name for explanation in found if explanation.whole))
    if len(whole) > 1:
        names = listed(whole, len(whole))
        notes.append(f"these numbers do not distinguish {names}; other numbers would")
    if isinstance(found, Explanations) and not found.complete:
        notes.append("there are too many numbers to try every combination of mistakes")
    return tuple(notes)


@dataclass(frozen=True, eq=False)
class _Comparison:
    """How near a hypothesis comes to the claims.

    `fixed`: the mistaken entries that it reproduces; `broken`: how many entries that are right it
    would change; `direct`: whether one of these is in a step that it changes itself; `rows`: the
    rows of the first claimed step in which it fits, where it does not fit the others; `touches`:
    whether it changes any claimed entry.
    """

    fixed: _Effect
    broken: int
    direct: bool
    rows: tuple[int, ...]
    touches: bool
    #: Every step that it changes, where it is claimed.
    values: tuple[Array, ...] = ()
    #: Whether all its numbers, recomputed from what is given, round to what is claimed.
    exact: bool = False

    def same(self, other: _Comparison) -> bool:
        """Whether two hypotheses change every claimed number alike."""
        return len(self.values) == len(other.values) and all(
            one.shape == two.shape and np.allclose(one, two, rtol=1e-9, atol=1e-12)
            for one, two in zip(self.values, other.values, strict=True)
        )


_NO_SENSE = _Comparison({}, 1, True, (), touches=True)
_UNTOUCHED = _Comparison({}, 0, False, (), touches=False)


@dataclass(frozen=True, eq=False)
class _Case:
    """The sheet as marked against a derivation: the right one, or that of a hypothesis."""

    hypothesis: Hypothesis | None
    evaluation: Evaluation
    marks: tuple[StepMark, ...]
    bits: float
    #: Whether every claim is right there; then `marks` are still those of the right derivation.
    whole: bool = False

    @property
    def roots(self) -> list[tuple[str, EntryMark]]:
        """The entries that are mistakes of their own, with their letters."""
        if self.whole:
            return []
        return [
            (mark.letter, entry)
            for mark in self.marks
            for entry in mark.entries
            if entry.verdict in _MISTAKEN
        ]


class _Sheet:
    """One sheet's claims, and what is tried on them."""

    def __init__(
        self,
        explainer: Explainer,
        evaluation: Evaluation,
        claims: Mapping[str, Array],
        policy: Policy,
        marks: Sequence[StepMark],
        first: str,
    ) -> None:
        self.explainer, self.evaluation = explainer, evaluation
        self.claims, self.policy, self.first = claims, policy, first
        self.base = _Case(None, evaluation, tuple(marks), 0.0)
        claimed = [mark.name for mark in marks]
        self.later = claimed[claimed.index(first) :]
        self.complete = True
        #: Whether every candidate had a number where the first wrong step is mistaken.
        self.valued = True
        self.claimed = frozenset(mark.letter for mark in marks)
        self.verdicts = {
            (mark.letter, entry.place): entry.verdict for mark in marks for entry in mark.entries
        }
        self.candidates: dict[str, Candidates] = {}
        self.mistaken: dict[str, Array] = {}
        self.right: dict[str, Array] = {}
        for mark in marks:
            shares = sums_to_one(evaluation[mark.name].step)
            with np.errstate(all="ignore"):
                true = evaluation.array(mark.letter)
                candidates = Candidates(claims[mark.letter], true, shares)
            wrong, fine = np.zeros((2, *candidates.shape), dtype=bool)
            for entry in mark.entries:
                wrong[entry.place] = entry.verdict in _MISTAKEN
                fine[entry.place] = entry.verdict in _FITTING
            self.candidates[mark.letter] = candidates
            self.mistaken[mark.letter], self.right[mark.letter] = wrong, fine
        self.fine = {
            letter
            for letter, candidates in self.candidates.items()
            if (self.right[letter] | ~candidates.claimed).all()
        }
        many = sum(int(candidates.claimed.sum()) for candidates in self.candidates.values())
        self.most_marked = _MOST_MARKED if many < _LARGE else 2
        self.most_partly = _MOST_PARTLY if many < _LARGE else 1
        self.most_pairs = _MOST_PAIRS if many < _LARGE else 0
        self.numbers = Numbers(evaluation, claims, own=True)

    # ---- what is tried, the simplest first --------------------------------------------------

    def explanations(self) -> list[Explanation]:
        """What would produce the numbers, with enough evidence; each once."""
        if not self.base.roots:
            return []
        different: dict[tuple[str, ...], Explanation] = {}
        for found in self.hypotheses():
            if _accounts_for_a_step(found):
                different.setdefault(tuple(part.instead for part in found.misconceptions), found)
        return list(different.values()) or self.habits()

    def hypotheses(self) -> list[Explanation]:
        """The hypotheses with enough evidence, the simplest kind that there is."""
        compared = {single: self.compare(single) for single in self.explainer.singles}
        cases = self.singles(compared)
        whole = _simplest([case for case in cases if not case.roots])
        if whole:
            return [self.explanation(case, ()) for case in whole[:_MOST_SHOWN]]
        tried = self.tried(compared)
        few = not cases or len(self.base.roots) <= _FEW
        by_slips = Diagnosis((), complete=False)
        if few:
            by_slips = diagnosed(self.entries(self.base, tried))
        if by_slips.complete and not cases:
            return self.by_slips(by_slips)
        rows = self.rows(compared)
        for case in rows:
            if not case.roots:
                return [self.explanation(case, ())]
        if by_slips.complete:
            return self.by_slips(by_slips)
        cases = sorted((*cases, *rows), key=lambda case: -case.bits)
        spread = [case for case in cases if len({(x, e.place[:-1]) for x, e in case.roots}) > 1]
        if spread and (pairs := self.pairs(compared, cases)):
            return [self.explanation(case, ()) for case in pairs[:_MOST_SHOWN]]
        for case in cases[:2]:
            rest = diagnosed(self.entries(case, {}))
            if rest.complete:
                return [self.explanation(case, rest.slips)]
        pairs = [] if spread else self.pairs(compared, cases)
        if pairs:
            return [self.explanation(case, ()) for case in pairs[:_MOST_SHOWN]]
        if cases:
            rest = diagnosed(self.entries(cases[0], {}))
            return [self.explanation(cases[0], rest.slips)]
        return [self.explanation(self.base, by_slips.slips)] if by_slips.slips else []

    def by_slips(self, diagnosis: Diagnosis) -> list[Explanation]:
        """Explanations by slips alone."""
        alternatives = (diagnosis.slips, *((other,) for other in diagnosis.others))
        return [self.explanation(self.base, slips) for slips in alternatives]

    def explanation(self, case: _Case, slips: Iterable[Slip]) -> Explanation:
        """An explanation by a changed derivation and slips."""
        slips = tuple(slips)
        covered = {(slip.step, place) for slip in slips for place in slip.places}
        fits, whole = [], True
        for mark in case.marks:
            if mark.name not in self.later and not case.roots:
                continue
            left = not case.whole and any(
                entry.verdict in (*_MISTAKEN, "undecided")
                and not entry.is_coarse
                and (mark.name, entry.place) not in covered
                for entry in mark.entries
            )
            reproduced = (
                case.whole or covered or any(entry.verdict in _FITTING for entry in mark.entries)
            )
            whole = whole and not left
            if reproduced and not left and mark.name in self.later:
                fits.append(mark.name)
        misconceptions = case.hypothesis.misconceptions if case.hypothesis else ()
        bits = case.bits + sum(slip.bits for slip in slips)
        return Explanation((*misconceptions, *slips), tuple(fits), whole, bits)

    def habits(self) -> list[Explanation]:
        """What no formula and no slip reproduces."""
        (mark,) = (mark for mark in self.base.marks if mark.name == self.first)
        item = self.evaluation[self.first].step
        habits = [habit for habit in HABITS if habit.shows(item, mark)]
        if habits and mark.verdict == "wrong":
            if not self.valued:
                return []  # what has no number here may be what was calculated
            logit = would_belong(self.entries(self.base, {}), mark.letter)
            more = logit and f"; {logit}"
            habits = [replace(habit, instead=habit.instead + more) for habit in habits]
        return [Explanation((habit,), (self.first,), whole=False) for habit in habits]

    # ---- misconceptions ---------------------------------------------------------------------

    def singles(self, compared: Mapping[Hypothesis, _Comparison]) -> list[_Case]:
        """The misconceptions with enough evidence, marked again, the simplest first."""
        viable = [(hypothesis, c) for hypothesis, c in compared.items() if c.fixed and not c.direct]
        effects: list[_Effect] = []
        ranks: dict[Hypothesis, int] = {}
        for hypothesis, found in sorted(viable, key=lambda pair: _plausibility(pair[0])):
            if not any(_alike(found.fixed, known) for known in effects):
                effects.append(found.fixed)
            ranks[hypothesis] = len(effects)
        every = sum(int(wrong.sum()) for wrong in self.mistaken.values())
        whole = sorted(
            ((hypothesis, c) for hypothesis, c in viable if len(c.fixed) == every and not c.broken),
            key=lambda pair: not pair[1].exact,  # near ones must not use up what is marked again
        )
        partly = sorted(
            # the screen is coarse: among many claims a few come near by accident
            (
                pair
                for pair in viable
                if pair not in whole and (every < _LARGE or 10 * len(pair[1].fixed) >= every)
            ),
            key=lambda pair: pair[1].broken - len(pair[1].fixed),
        )
        cases: list[_Case] = []
        for some, most in ((whole, self.most_marked), (partly, self.most_partly)):
            known: list[tuple[_Comparison, list[_Case]]] = []
            for hypothesis, found in some:
                tried = effects[: ranks[hypothesis]]
                same = next((c for other, c in known if found.same(other)), None)
                if same is not None:  # its verdicts are the same as well
                    cases.extend(replace(case, hypothesis=hypothesis) for case in same)
                elif len(known) < most and self.evidence(found.fixed, tried) >= LEAST_BITS:
                    known.append((found, list(self.certified(hypothesis, found, tried))))
                    cases.extend(known[-1][1])
            if any(not case.roots for case in cases):
                break
        order = {hypothesis: k for k, (hypothesis, _) in enumerate(viable)}
        return sorted(cases, key=lambda case: order[case.hypothesis] if case.hypothesis else 0)

    def evidence(
        self,
        fixed: _Effect,
        effects: Sequence[_Effect],
        more: float = 0.0,
    ) -> float:
        """Bits of the entries reproduced, less those of the effects that were tried."""
        if len(fixed) == 1:
            ((letter, place),) = fixed
            tried = [effect[letter, place] for effect in effects if (letter, place) in effect]
            meant = float(self.numbers.computed(letter)[place])
            return bits_against(self.candidates[letter].chance(place, tried, meant)) - more
        return self.bits(fixed) - log2(max(len(effects), 1)) - more

    def bits_of(self, letter: str, place: Place) -> float:
        """The bits of one claimed entry."""
        meant = float(self.numbers.computed(letter)[place])
        return self.candidates[letter].bits(place, meant)

    def bits(self, fixed: Iterable[tuple[str, Place]]) -> float:
        """The bits of claimed entries; the last of a row that sums to 1 tells nothing."""
        rows: dict[tuple[str, Place], list[Place]] = {}
        for letter, place in fixed:
            rows.setdefault((letter, place[:-1]), []).append(place)
        total = 0.0
        for (letter, _), places in rows.items():
            bits = [self.bits_of(letter, place) for place in places]
            total += sum(bits) - (max(bits) if self.candidates[letter].sums_to_one(places) else 0)
        return total

    def certified(
        self,
        hypothesis: Hypothesis,
        found: _Comparison,
        effects: Sequence[_Effect],
    ) -> Iterator[_Case]:
        """The sheet marked against the derivation of a hypothesis.

        Where every claim rounds to its numbers, there is nothing to mark; if the policy asks for
        one way of rounding, the marker decides.
        """
        if found.exact and self.policy.rounding == "either":
            bits = self.evidence(found.fixed, effects)
            yield _Case(hypothesis, self.evaluation, self.base.marks, bits, whole=True)
            return
        yield from self.marked(hypothesis, len(effects), effects)

    def marked(
        self,
        hypothesis: Hypothesis,
        rank: int,
        effects: Sequence[_Effect] = (),
        more: float = 0.0,
    ) -> Iterator[_Case]:
        """The sheet marked against a changed derivation, where the evidence is enough."""
        derivation = self.explainer.derivation
        given = {i.name: self.evaluation.given[i.letter] for i in derivation.inputs}
        try:
            evaluation = self.explainer.evaluated(hypothesis, given).called_as(self.evaluation)
            marks = Marker(evaluation, self.claims, self.policy).marks()
        except SymattnError:
            return  # it makes no sense with these numbers
        fixed: dict[tuple[str, Place], float] = {}
        loss, rounded = 0.0, 0
        for mark in marks:
            if mark.name in hypothesis.steps and not self.mostly_fixed(mark):
                return
            for entry in mark.entries:
                key, before = (mark.letter, entry.place), self.verdicts[mark.letter, entry.place]
                if before in _MISTAKEN and entry.verdict in (*_FITTING, "carried"):
                    fixed[key] = float(evaluation.array(mark.letter)[entry.place])
                    rounded += entry.verdict != "right"
                elif before in _FITTING and entry.verdict in _MISTAKEN:
                    if mark.name in hypothesis.steps:
                        return  # it would change what is right
                    loss += self.bits_of(mark.letter, entry.place)
        if not fixed:
            return
        if len(fixed) > 1:
            bits = self.bits(fixed) - log2(max(rank, 1)) - rounded * _ROUNDED - more
        else:
            bits = self.evidence(fixed, (*effects, fixed), more + rounded * _ROUNDED)
        if bits - loss >= LEAST_BITS:
            yield _Case(hypothesis, evaluation, marks, bits - loss)

    def mostly_fixed(self, mark: StepMark) -> bool:
        """Whether at most a quarter of a step's mistakes stay, which may be slips."""
        before = [e for e in mark.entries if self.verdicts[mark.letter, e.place] in _MISTAKEN]
        left = sum(entry.verdict in _MISTAKEN for entry in before)
        return 4 * left <= len(before)

    def rows(self, compared: Mapping[Hypothesis, _Comparison]) -> list[_Case]:
        """Misconceptions in some rows only."""
        able = [(hypothesis, c) for hypothesis, c in compared.items() if c.rows]
        cases: list[_Case] = []
        for k, (hypothesis, found) in enumerate(able):
            if len(cases) + k >= 2 * self.most_marked:
                self.complete = False
                break
            base = self.evaluation.notation.index_base
            where = "row" if len(found.rows) == 1 else "rows"
            where += f" {listed([str(row + base) for row in found.rows], len(found.rows))}"
            where += "".join(f" of batch {item + base}" for item in self.evaluation.item_number)
            only = self.explainer.in_rows(hypothesis, found.rows, where)
            try:
                again = self.compare(only)
            except SymattnError:
                continue
            if again.fixed and not again.broken:
                cases.extend(self.marked(only, len(able), [again.fixed], log2(len(able)) + 1))
        return cases

    def pairs(self, compared: Mapping[Hypothesis, _Comparison], cases: list[_Case]) -> list[_Case]:
        """Two misconceptions that only together reproduce everything."""
        singles = self.explainer.singles
        touching = [s for s in singles if compared[s].touches]
        alone = [h for case in cases if (h := case.hypothesis) and h in compared][:3]
        left = {(letter, entry.place) for case in cases[:1] for letter, entry in case.roots}
        likely = [other for other in touching if left & compared[other].fixed.keys()]
        unlikely = [other for other in touching if other not in likely]
        first = [(one, other) for one in alone for other in likely if other is not one]
        second = [(one, other) for one in alone for other in unlikely if other is not one]
        rest = [] if alone else list(combinations(touching, 2))
        every = sum(int(wrong.sum()) for wrong in self.mistaken.values())
        found: list[_Case] = []
        seen: set[frozenset[Hypothesis]] = set()
        marked = 0
        for tried, (one, other) in enumerate((*first, *second, *rest)):
            if found and tried >= len(first):
                break
            if tried >= self.most_pairs:
                self.complete = False
                break
            if frozenset((one, other)) in seen:
                continue
            seen.add(frozenset((one, other)))
            pair = self.explainer.pair(one, other)
            if pair is None:
                continue
            both = self.compare(pair)
            if both.broken or len(both.fixed) < every:
                continue
            if any(_alike(both.fixed, compared[half].fixed) for half in (one, other)):
                continue  # the other half changes nothing that is claimed
            marked += 1
            for case in self.certified(pair, both, [both.fixed] * (tried + 2)):
                if not case.roots and case.bits >= LEAST_BITS_OF_TWO:
                    found.append(case)
            if len(found) > 1 or marked >= self.most_marked:
                break
        return found

    def tried(
        self, compared: Mapping[Hypothesis, _Comparison]
    ) -> dict[tuple[str, Place], list[float]]:
        """The numbers that misconceptions give single mistaken entries, all else being right."""
        found: dict[tuple[str, Place], list[float]] = {}
        for one in compared.values():
            if len(one.fixed) == 1 and not one.direct:
                for key, value in one.fixed.items():
                    found.setdefault(key, []).append(value)
        return found

    def entries(self, case: _Case, tried: Mapping[tuple[str, Place], list[float]]) -> Entries:
        """What slips are looked for in: the mistaken entries of a case."""
        evaluation = case.evaluation
        own = Numbers(evaluation, self.claims, own=True)
        true = Numbers(evaluation, self.claims, own=False)
        roots: dict[str, list[Place]] = {}
        for letter, entry in case.roots:
            if not entry.is_coarse:  # its remark says how it came about
                roots.setdefault(letter, []).append(entry.place)
        return Entries(
            own,
            true,
            self.explainer.rules,
            self.candidates,
            self.claims,
            roots,
            {key: tuple(values) for key, values in tried.items()},
        )

    # ---- screening --------------------------------------------------------------------------

    def compare(self, hypothesis: Hypothesis) -> _Comparison:
        """How near a changed derivation comes to the claims, in floating point."""
        given: dict[str, Array] = {}  # what it changes, recomputed from what is given
        taken: dict[str, Array] = {}  # and from the claims before

        def from_given(letter: str) -> Array:
            return given[letter] if letter in given else self.evaluation.array(letter)

        def from_claims(letter: str) -> Array:
            return taken[letter] if letter in taken else self.numbers.taken(letter)

        follow, arithmetic = self.evaluation.follow, self.evaluation.arithmetic
        fixed: dict[tuple[str, Place], float] = {}
        broken, direct, touches = 0, False, False
        values: list[Array] = []
        exact, visited = True, set()
        if self.is_refuted(hypothesis):
            return _UNTOUCHED
        rows: tuple[int, ...] | None = None
        with np.errstate(all="ignore"):
            for step in self.explainer.derivation.steps:
                if step.name not in hypothesis.steps and not any(x in given for x in step.operands):
                    continue
                other = hypothesis.steps.get(step.name, step)
                letter = step.letter
                try:
                    given[letter] = follow(other, from_given, arithmetic)
                    again = follow(other, from_claims, arithmetic)
                except SymattnError:  # no sense on its own; with another change it may have
                    self.valued = False
                    return _NO_SENSE
                candidates = self.candidates.get(letter)
                taken[letter] = again if candidates is None else candidates.filled_in(again)
                if candidates is None:
                    continue
                near = _near(candidates, given[letter], again)
                fits = near & self.mistaken[letter]
                off = self.right[letter] & ~near
                value = np.where(_closer(candidates, given[letter], again), again, given[letter])
                values.append(value)
                visited.add(letter)
                none = ~np.isfinite(value) & np.isfinite(candidates.true) & self.mistaken[letter]
                self.valued = self.valued and not (step.name == self.first and none.any())
                exact = exact and _exact(candidates, given[letter])
                if not touches:
                    different = np.abs(value - candidates.true) > 1e-9 * max(
                        1.0, candidates.largest
                    )
                    touches = bool(((different | ~np.isfinite(value)) & candidates.claimed).any())
                if rows is None:
                    rows = self._rows_alone(letter, near) if off.any() and fits.any() else ()
                if off.any():
                    broken += int(off.sum())
                    direct = direct or step.name in hypothesis.steps
                    if not fits.any() and (direct or not fixed):
                        break
                for place in map(tuple, np.argwhere(fits)):
                    where: Place = tuple(map(int, place))
                    fixed[letter, where] = float(value[where])
        exact = exact and not broken and self.claimed - visited <= self.fine
        return _Comparison(fixed, broken, direct, rows or (), touches, tuple(values), exact)

    def is_refuted(self, hypothesis: Hypothesis) -> bool:
        """Whether the first claimed step that a hypothesis changes is right in every entry."""
        first = self.explainer.first_claimed(hypothesis, self.claimed)
        if first is None:
            return True
        candidates = self.candidates[first]
        return bool(candidates.claimed.all() and self.right[first].all())

    def _rows_alone(self, letter: str, near: Array) -> tuple[int, ...]:
        """The rows with mistakes, where all of them are as a misconception has them."""
        claimed, wrong = self.candidates[letter].claimed, self.mistaken[letter]
        if claimed.ndim != 2:
            return ()
        rows = wrong.any(axis=-1)
        fitting = (near | ~claimed).all(axis=-1)
        if rows.all() or not (fitting | ~rows).all():
            return ()
        return tuple(int(row) for row in np.flatnonzero(rows))


def _accounts_for_a_step(found: Explanation) -> bool:
    """Whether a step is reproduced completely; of slips, a step in which one of them is.

    A slip that leaves other mistakes in its step unexplained has only met one number of these.
    """
    slips = {part.step for part in found.misconceptions if isinstance(part, Slip)}
    only_slips = len(slips) > 0 and all(isinstance(x, Slip) for x in found.misconceptions)
    return found.whole or bool(slips & set(found.fits) if only_slips else found.fits)


def _simplest(cases: Sequence[_Case]) -> list[_Case]:
    """The cases without those whose simpler misconception (`rather`) fits as well."""
    listed = [(case, case.hypothesis.misconceptions) for case in cases if case.hypothesis]
    names = {part.name for _, parts in listed for part in parts}
    return [case for case, parts in listed if not any(part.rather in names for part in parts)]


def _near(candidates: Candidates, value: Array, again: Array) -> Array:
    """The claims that a value may round to: from what is given, or from the claims before it."""
    value, again = (
        np.broadcast_to(value, candidates.shape),
        np.broadcast_to(again, candidates.shape),
    )
    hidden = candidates.hidden
    largest = np.abs(value[np.isfinite(value)]).max(initial=0.0)
    slack = 1e-9 * largest
    first = np.abs(value - candidates.claims) <= _FROM_GIVEN * candidates.units + slack
    # a number far larger than any claim shows nothing of how well the others fit
    rounded = (candidates.units > 0) * _SHARE * min(largest, candidates.largest)
    second = np.abs(again - candidates.claims) <= _FROM_CLAIMS * candidates.units + rounded + slack
    finite = np.isfinite(value)
    out: Array = candidates.claimed & np.where(
        hidden, np.isneginf(value), finite & (first | second)
    )
    return out


def _exact(candidates: Candidates, value: Array) -> bool:
    """Whether every claim rounds its number, and no number is half-way between two."""
    if value.shape != candidates.shape:
        return False
    claims, units = candidates.claims[candidates.claimed], candidates.units[candidates.claimed]
    numbers, hidden = value[candidates.claimed], candidates.hidden[candidates.claimed]
    off = np.abs(numbers - claims)
    return bool(np.where(hidden, np.isneginf(numbers), off < 0.499999 * units).all())


def _closer(candidates: Candidates, value: Array, again: Array) -> Array:
    """Where the number recomputed from the claims is the nearer one."""
    out: Array = np.abs(again - candidates.claims) < np.abs(value - candidates.claims)
    return out


def _plausibility(hypothesis: Hypothesis) -> int:
    """The place of a misconception among those that are seen most."""
    name = hypothesis.misconceptions[0].name
    return COMMON.index(name) if name in COMMON else len(COMMON)


def _alike(one: _Effect, other: _Effect) -> bool:
    """Whether two hypotheses give the same numbers."""
    return one.keys() == other.keys() and all(
        abs(value - other[key]) <= 1e-9 * max(1.0, abs(value)) for key, value in one.items()
    )
