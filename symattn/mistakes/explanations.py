"""Explanations: what somebody may have done that gives the wrong numbers, with the evidence.

Misconceptions (the formula of a step is another one) and slips (one entry, or one row, is worked
out wrongly) are tried, alone and together. NumPy screens misconceptions; those that come near are
marked again, by the same marker, against the changed derivation. What a hypothesis reproduces
counts by the digits that were claimed, less what was tried: see
`symattn.mistakes.evidence`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from math import log2
from typing import TypeAlias

from symattn.arithmetic.base import Array
from symattn.claims.entry_names import listed
from symattn.claims.policy import Policy
from symattn.derivations import Derivation, Evaluation, Place, Step
from symattn.errors import SymattnError
from symattn.marking.verdicts import EntryMark, Marker, StepMark
from symattn.mistakes import COMMON, MISCONCEPTIONS, Change, Misconception, Steps
from symattn.mistakes.diagnosis import (
    Diagnosis,
    Entries,
    diagnosed,
    would_belong,
)
from symattn.mistakes.evidence import (
    LEAST_BITS,
    LEAST_BITS_OF_TWO,
)
from symattn.mistakes.habits import HABITS, Habit
from symattn.mistakes.nodes import InRows
from symattn.mistakes.rewriting import rewritten
from symattn.mistakes.screening import (
    FITTING,
    MISTAKEN,
    Comparison,
    Effect,
    Hypothesis,
    Screen,
    alike,
)
from symattn.mistakes.slips import Numbers, Rules, Slip

#: A claim that follows from rounded numbers might as well be a unit more or less: log₂ 3 bits.
_ROUNDED = log2(3)

#: How many hypotheses are marked again, how many pairs are screened, and how many explanations
#: are reported.
_MOST_MARKED, _MOST_PARTLY, _MOST_PAIRS, _MOST_SHOWN = 6, 2, 600, 4

#: So many mistaken entries may be slips, even where a misconception explains some of them.
_FEW = 6

#: From so many claimed entries on, fewer are marked again.
_LARGE = 512

_Pair: TypeAlias = tuple[Hypothesis, Hypothesis]


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

    complete: bool

    def __new__(cls, found: Iterable[Explanation], complete: bool) -> Explanations:
        """These explanations."""
        self = super().__new__(cls, found)
        self.complete = complete
        return self


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
        return _Search(self, evaluation, claims, policy, marks, first).explanations()

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
        change = _change(steps, misconception.change) or {}
        return {name: replace(steps.steps[name], expr=expr) for name, expr in change.items()}
    except SymattnError:
        return {}  # its shapes do not fit here


def _change(
    steps: Steps, change: str | tuple[str, ...] | Callable[[Steps], Change | None]
) -> Change | None:
    if callable(change):
        return change(steps)
    return rewritten(steps, *((change,) if isinstance(change, str) else change))


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
class _Case:
    """The sheet as marked against a derivation: the right one, or that of a hypothesis."""

    hypothesis: Hypothesis | None
    evaluation: Evaluation
    marks: tuple[StepMark, ...]
    bits: float
    #: Whether every claim is right there; then `marks` are still those of the right derivation.
    whole: bool = False

    @cached_property
    def roots(self) -> list[tuple[str, EntryMark]]:
        """The entries that are mistakes of their own, with their letters."""
        if self.whole:
            return []
        return [
            (mark.letter, entry)
            for mark in self.marks
            for entry in mark.entries
            if entry.verdict in MISTAKEN
        ]


class _Search:
    """What is tried on one sheet's claims, the simplest first."""

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
        self.screen = Screen(explainer.derivation, evaluation, claims, marks)
        self.compared: dict[Hypothesis, Comparison] = {}
        #: Kinds of hypotheses of which there were too many to try them all.
        self.left_out: list[str] = []
        few = self.screen.claimed < _LARGE
        self.most_marked, self.most_partly, self.most_pairs = (
            (_MOST_MARKED, _MOST_PARTLY, _MOST_PAIRS) if few else (2, 1, 0)
        )

    # ---- what is tried, the simplest first --------------------------------------------------

    def explanations(self) -> Explanations:
        """What would produce the numbers, with enough evidence; each once."""
        different: dict[tuple[str, ...], Explanation] = {}
        stages = self.stages() if self.base.roots else iter(())
        for found in next(filter(None, stages), []):
            if _accounts_for_a_step(found):
                different.setdefault(tuple(part.instead for part in found.misconceptions), found)
        every = list(different.values()) or (self.habits() if self.base.roots else [])
        return Explanations(every, complete=not self.left_out)

    def stages(self) -> Iterator[list[Explanation]]:
        """The hypotheses with enough evidence, by their kinds, the simplest first."""
        cases = self.singles()
        whole = _simplest([case for case in cases if not case.roots])
        yield [self.explanation(case) for case in whole[:_MOST_SHOWN]]
        few = not cases or len(self.base.roots) <= _FEW
        by_slips = Diagnosis((), complete=False)
        if few:
            by_slips = diagnosed(self.entries(self.base, self.tried()))
        each = (by_slips.slips, *((other,) for other in by_slips.others))
        only_slips = [self.explanation(self.base, s) for s in each] if by_slips.complete else []
        if not cases:
            yield only_slips
        rows = self.rows()
        yield [self.explanation(case) for case in rows if not case.roots][:1]
        yield only_slips
        cases = sorted((*cases, *rows), key=lambda case: -case.bits)
        spread = any(len({(x, e.place[:-1]) for x, e in case.roots}) > 1 for case in cases)
        if spread:
            yield self.by_pairs(cases)
        with_slips: list[Explanation] = []
        for case in cases[:2]:
            rest = diagnosed(self.entries(case))
            with_slips.append(self.explanation(case, rest.slips))
            if rest.complete:
                yield with_slips[-1:]
        if not spread:
            yield self.by_pairs(cases)
        yield with_slips[:1]
        if by_slips.slips:
            yield [self.explanation(self.base, by_slips.slips)]

    def explanation(self, case: _Case, slips: Sequence[Slip] = ()) -> Explanation:
        """An explanation by a changed derivation and slips."""
        covered = {(slip.step, place) for slip in slips for place in slip.places}
        claimed = [mark.name for mark in self.base.marks]
        later = claimed[claimed.index(self.first) :]
        fits, whole = [], True
        for mark in case.marks:
            if mark.name not in later and not case.roots:
                continue
            left = not case.whole and any(
                entry.verdict in (*MISTAKEN, "undecided")
                and not entry.is_coarse
                and (mark.name, entry.place) not in covered
                for entry in mark.entries
            )
            reproduced = (
                case.whole or covered or any(entry.verdict in FITTING for entry in mark.entries)
            )
            whole = whole and not left
            if reproduced and not left and mark.name in later:
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
            if any(one.is_lost(mark.letter) for one in self.compared.values()):
                return []  # what has no number here may be what was calculated
            logit = would_belong(self.entries(self.base), mark.letter)
            more = logit and f"; {logit}"
            habits = [replace(habit, instead=habit.instead + more) for habit in habits]
        return [Explanation((habit,), (self.first,), whole=False) for habit in habits]

    # ---- misconceptions ---------------------------------------------------------------------

    def compare(self, hypothesis: Hypothesis) -> Comparison:
        """How near a hypothesis comes to the claims."""
        if hypothesis not in self.compared:
            first = self.explainer.first_claimed(hypothesis, self.screen.letters)
            refuted = self.screen.is_refuted(first)
            found = Comparison() if refuted else self.screen.compare(hypothesis)
            self.compared[hypothesis] = found
        return self.compared[hypothesis]

    def singles(self) -> list[_Case]:
        """The misconceptions with enough evidence, marked again, the simplest first."""
        compared = [(one, self.compare(one)) for one in self.explainer.singles]
        viable = [(hypothesis, c) for hypothesis, c in compared if c.fixed and not c.direct]
        effects: list[Effect] = []
        ranks: dict[Hypothesis, int] = {}
        for hypothesis, found in sorted(viable, key=lambda pair: _plausibility(pair[0])):
            if not any(alike(found.fixed, known) for known in effects):
                effects.append(found.fixed)
            ranks[hypothesis] = len(effects)
        every = self.screen.mistaken
        whole = [(hypothesis, c) for hypothesis, c in viable if len(c.fixed) == every]
        whole = [pair for pair in whole if not pair[1].broken]
        whole.sort(key=lambda pair: not pair[1].exact)  # near ones must not use up what is marked
        # the screen is coarse: among many claims a few come near by accident
        partly = [
            pair
            for pair in viable
            if pair not in whole and (every < _LARGE or 10 * len(pair[1].fixed) >= every)
        ]
        partly.sort(key=lambda pair: pair[1].broken - len(pair[1].fixed))
        cases: list[_Case] = []
        for some, most in ((whole, self.most_marked), (partly, self.most_partly)):
            known: list[tuple[Comparison, list[_Case]]] = []
            for hypothesis, found in some:
                tried = effects[: ranks[hypothesis]]
                same = next((c for other, c in known if found.same(other)), None)
                if same is not None:  # its verdicts are the same as well
                    cases.extend(replace(case, hypothesis=hypothesis) for case in same)
                elif len(known) < most and self.screen.evidence(found.fixed, tried) >= LEAST_BITS:
                    known.append((found, list(self.certified(hypothesis, found, tried))))
                    cases.extend(known[-1][1])
            if any(not case.roots for case in cases):
                break
        order = {hypothesis: k for k, (hypothesis, _) in enumerate(viable)}
        return sorted(cases, key=lambda case: order[case.hypothesis] if case.hypothesis else 0)

    def certified(
        self, hypothesis: Hypothesis, found: Comparison, effects: Sequence[Effect]
    ) -> Iterator[_Case]:
        """The sheet marked against the derivation of a hypothesis.

        Where every claim rounds to its numbers, there is nothing to mark; if the policy asks for
        one way of rounding, the marker decides.
        """
        if found.exact and self.policy.rounding == "either":
            bits = self.screen.evidence(found.fixed, effects)
            yield _Case(hypothesis, self.evaluation, self.base.marks, bits, whole=True)
            return
        yield from self.marked(hypothesis, len(effects), effects)

    def marked(
        self,
        hypothesis: Hypothesis,
        rank: int,
        effects: Sequence[Effect] = (),
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
                key, claims = (mark.letter, entry.place), self.screen.steps[mark.letter]
                if claims.mistaken[entry.place] and entry.verdict in (*FITTING, "carried"):
                    fixed[key] = float(evaluation.array(mark.letter)[entry.place])
                    rounded += entry.verdict != "right"
                elif claims.right[entry.place] and entry.verdict in MISTAKEN:
                    if mark.name in hypothesis.steps:
                        return  # it would change what is right
                    loss += self.screen.bits_of(mark.letter, entry.place)
        if not fixed:
            return
        if len(fixed) > 1:
            bits = self.screen.bits(fixed) - log2(max(rank, 1)) - rounded * _ROUNDED - more
        else:
            bits = self.screen.evidence(fixed, (*effects, fixed), more + rounded * _ROUNDED)
        if bits - loss >= LEAST_BITS:
            yield _Case(hypothesis, evaluation, marks, bits - loss)

    def mostly_fixed(self, mark: StepMark) -> bool:
        """Whether at most a quarter of a step's mistakes stay, which may be slips."""
        mistaken = self.screen.steps[mark.letter].mistaken
        before = [entry for entry in mark.entries if mistaken[entry.place]]
        left = sum(entry.verdict in MISTAKEN for entry in before)
        return 4 * left <= len(before)

    def rows(self) -> list[_Case]:
        """Misconceptions in some rows only."""
        able = [one for one in self.explainer.singles if self.compare(one).rows]
        base = self.evaluation.notation.index_base
        cases: list[_Case] = []
        for k, hypothesis in enumerate(able):
            if len(cases) + k >= 2 * self.most_marked:
                self.left_out.append("rows")
                break
            rows = self.compare(hypothesis).rows
            where = "row" if len(rows) == 1 else "rows"
            where += f" {listed([str(row + base) for row in rows], len(rows))}"
            where += "".join(f" of batch {item + base}" for item in self.evaluation.item_number)
            only = self.explainer.in_rows(hypothesis, rows, where)
            again = self.compare(only)
            if again.fixed and not again.broken:
                cases.extend(self.marked(only, len(able), [again.fixed], log2(len(able)) + 1))
        return cases

    def by_pairs(self, cases: Sequence[_Case]) -> list[Explanation]:
        """Two misconceptions that only together reproduce everything."""
        found: list[_Case] = []
        seen: set[frozenset[Hypothesis]] = set()
        marked = 0
        likely, others = self.paired(cases)
        for tried, (one, other) in enumerate((*likely, *others)):
            if found and tried >= len(likely):
                break
            if tried >= self.most_pairs:
                self.left_out.append("pairs")
                break
            both_ways = frozenset((one, other))
            pair = None if both_ways in seen else self.explainer.pair(one, other)
            seen.add(both_ways)
            if pair is None:
                continue
            both = self.compare(pair)
            if both.broken or len(both.fixed) < self.screen.mistaken:
                continue
            if any(alike(both.fixed, self.compare(half).fixed) for half in (one, other)):
                continue  # the other half changes nothing that is claimed
            marked += 1
            for case in self.certified(pair, both, [both.fixed] * (tried + 2)):
                if not case.roots and case.bits >= LEAST_BITS_OF_TWO:
                    found.append(case)
            if len(found) > 1 or marked >= self.most_marked:
                break
        return [self.explanation(case) for case in found[:_MOST_SHOWN]]

    def paired(self, cases: Sequence[_Case]) -> tuple[list[_Pair], list[_Pair]]:
        """The pairs that are tried, the likely ones and the others.

        Likely is what gives a number that the best case leaves, with what explains some alone.
        """
        touching = [one for one in self.explainer.singles if self.compare(one).touches]
        known = set(self.explainer.singles)
        alone = [h for case in cases if (h := case.hypothesis) and h in known][:3]
        left = {(letter, entry.place) for case in cases[:1] for letter, entry in case.roots}
        likely = [other for other in touching if left & self.compare(other).fixed.keys()]
        unlikely = [other for other in touching if other not in likely]
        if not alone:
            return [], list(combinations(touching, 2))
        first, second = (
            [(one, other) for one in alone for other in some if other is not one]
            for some in (likely, unlikely)
        )
        return first, second

    # ---- slips ------------------------------------------------------------------------------

    def tried(self) -> dict[tuple[str, Place], list[float]]:
        """The numbers that misconceptions give single mistaken entries, all else being right."""
        found: dict[tuple[str, Place], list[float]] = {}
        for one in map(self.compare, self.explainer.singles):
            if len(one.fixed) == 1 and not one.direct:
                for key, value in one.fixed.items():
                    found.setdefault(key, []).append(value)
        return found

    def entries(
        self, case: _Case, tried: Mapping[tuple[str, Place], Sequence[float]] | None = None
    ) -> Entries:
        """What slips are looked for in: the mistaken entries of a case."""
        roots: dict[str, list[Place]] = {}
        for letter, entry in case.roots:
            if not entry.is_coarse:  # its remark says how it came about
                roots.setdefault(letter, []).append(entry.place)
        own, true = (Numbers(case.evaluation, self.claims, own=own) for own in (True, False))
        rules, candidates = self.explainer.rules, self.screen.candidates
        return Entries(own, true, rules, candidates, self.claims, roots, tried or {})


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


def _plausibility(hypothesis: Hypothesis) -> int:
    """The place of a misconception among those that are seen most."""
    name = hypothesis.misconceptions[0].name
    return COMMON.index(name) if name in COMMON else len(COMMON)
