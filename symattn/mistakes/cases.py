"""Cases: a sheet as marked against a derivation in which misconceptions are made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from math import log2
from typing import TypeAlias

from symattn.arithmetic.base import Array
from symattn.claims.entry_names import listed
from symattn.claims.policy import Policy
from symattn.derivations import Evaluation, Place
from symattn.marking.verdicts import EntryMark, Marker, StepMark
from symattn.mistakes import COMMON
from symattn.mistakes.base import SENSELESS
from symattn.mistakes.evidence import LEAST_BITS, LEAST_BITS_OF_TWO
from symattn.mistakes.hypotheses import Hypotheses, Hypothesis
from symattn.mistakes.screening import FITTING, MISTAKEN, Comparison, Effect, Screen, alike

#: A claim that follows from rounded numbers might as well be a unit more or less: log₂ 3 bits.
_ROUNDED = log2(3)

#: How many hypotheses are marked again: those that give all numbers, some of them, or those in some
#: rows; and how many pairs are screened. Of many claimed entries, from `LARGE` on, they are fewer.
_MOST_MARKED, _MOST_PARTLY, _MOST_IN_ROWS, MOST_PAIRS = 6, 2, 3, 600
LARGE = 512

_Pair: TypeAlias = tuple[Hypothesis, Hypothesis]


@dataclass(frozen=True, eq=False)
class Case:
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


#: A comparison of which the cases are marked.
_Marked: TypeAlias = tuple[Comparison, list[Case]]


class Cases:
    """The misconceptions that give a sheet's numbers with enough evidence."""

    def __init__(
        self,
        hypotheses: Hypotheses,
        evaluation: Evaluation,
        claims: Mapping[str, Array],
        policy: Policy,
        marks: Sequence[StepMark],
    ) -> None:
        self.hypotheses, self.evaluation = hypotheses, evaluation
        self.claims, self.policy = claims, policy
        self.base = Case(None, evaluation, tuple(marks), 0.0)
        self.screen = Screen(evaluation, claims, marks)
        self.compared: dict[Hypothesis, Comparison] = {}
        #: Kinds of hypotheses of which there were too many to try them all.
        self.left_out: list[str] = []
        few = self.screen.claimed < LARGE
        self.most_marked, self.most_partly, self.most_in_rows, self.most_pairs = (
            (_MOST_MARKED, _MOST_PARTLY, _MOST_IN_ROWS, MOST_PAIRS) if few else (2, 1, 2, 0)
        )

    def compare(self, hypothesis: Hypothesis) -> Comparison:
        """How near a hypothesis comes to the claims."""
        if hypothesis not in self.compared:
            self.compared[hypothesis] = self.screen.compare(hypothesis)
        return self.compared[hypothesis]

    def singles(self) -> list[Case]:
        """The misconceptions with enough evidence, marked again, the simplest first."""
        compared = [(one, self.compare(one)) for one in self.hypotheses.singles]
        viable = [(hypothesis, c) for hypothesis, c in compared if c.fixed and not c.direct]
        effects: list[Effect] = []
        ranks: dict[Hypothesis, int] = {}
        for hypothesis, found in sorted(viable, key=lambda pair: _plausibility(pair[0])):
            if not any(alike(found.fixed, known) for known in effects):
                effects.append(found.fixed)
            ranks[hypothesis] = len(effects)
        every = self.screen.mistaken
        # near ones come last: they must not use up what is marked
        whole = sorted(
            (pair for pair in viable if len(pair[1].fixed) == every and not pair[1].broken),
            key=lambda pair: not pair[1].exact,
        )
        # the screen is coarse: among many claims a few come near by accident
        partly = [
            pair
            for pair in viable
            if pair not in whole and (every < LARGE or 10 * len(pair[1].fixed) >= every)
        ]
        partly.sort(key=lambda pair: pair[1].broken - len(pair[1].fixed))
        cases: list[Case] = []
        for some, most in ((whole, self.most_marked), (partly, self.most_partly)):
            known: list[_Marked] = []
            for hypothesis, found in some:
                tried = effects[: ranks[hypothesis]]
                if (same := _as_before(known, hypothesis, found)) is not None:
                    cases.extend(same)
                elif len(known) < most and self.screen.evidence(found.fixed, tried) >= LEAST_BITS:
                    known.append((found, list(self.certified(hypothesis, found, tried))))
                    cases.extend(known[-1][1])
            if any(not case.roots for case in cases):
                break
        order = {hypothesis: k for k, (hypothesis, _) in enumerate(viable)}
        return sorted(cases, key=lambda case: order[case.hypothesis] if case.hypothesis else 0)

    def certified(
        self, hypothesis: Hypothesis, found: Comparison, effects: Sequence[Effect]
    ) -> Iterator[Case]:
        """The sheet marked against the derivation of a hypothesis.

        Where every claim rounds to its numbers, there is nothing to mark; if the policy asks for
        one way of rounding, the marker decides.
        """
        if found.exact and self.policy.rounding == "either":
            bits = self.screen.evidence(found.fixed, effects)
            yield Case(hypothesis, self.evaluation, self.base.marks, bits, whole=True)
            return
        yield from self.marked(hypothesis, effects)

    def marked(
        self, hypothesis: Hypothesis, effects: Sequence[Effect], more: float = 0.0
    ) -> Iterator[Case]:
        """The sheet marked against a changed derivation, where the evidence is enough.

        It is that of `Screen.evidence`, with these `effects` tried and so many bits `more`.
        """
        inputs = self.hypotheses.derivation.inputs
        given = {i.name: self.evaluation.given[i.letter] for i in inputs}
        try:
            evaluation = self.hypotheses.evaluated(hypothesis, given).called_as(self.evaluation)
            marks = Marker(evaluation, self.claims, self.policy).marks()
        except SENSELESS:
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
        tried = effects if len(fixed) > 1 else (*effects, fixed)
        bits = self.screen.evidence(fixed, tried, more + rounded * _ROUNDED) - loss
        if bits >= LEAST_BITS:
            yield Case(hypothesis, evaluation, marks, bits)

    def mostly_fixed(self, mark: StepMark) -> bool:
        """Whether at most a quarter of a step's mistakes stay, which may be slips."""
        mistaken = self.screen.steps[mark.letter].mistaken
        before = [entry for entry in mark.entries if mistaken[entry.place]]
        left = sum(entry.verdict in MISTAKEN for entry in before)
        return 4 * left <= len(before)

    def rows(self) -> list[Case]:
        """Misconceptions in some rows only."""
        able = [one for one in self.hypotheses.singles if self.compare(one).rows]
        order = {self.in_rows(one): k for k, one in enumerate(able)}
        compared = [(only, self.compare(only)) for only in order]
        viable = [(only, found) for only, found in compared if found.fixed and not found.broken]
        more = log2(max(len(able), 1)) + 1
        known: list[_Marked] = []
        cases: list[Case] = []
        for only, found in sorted(viable, key=lambda pair: pair[1].distance):
            tried = [found.fixed] * len(able)
            if (same := _as_before(known, only, found)) is not None:
                cases.extend(same)
            elif self.screen.evidence(found.fixed, tried, more) >= LEAST_BITS:
                if len(known) == self.most_in_rows:
                    self.left_out.append("rows")
                    break
                known.append((found, [*self.marked(only, tried, more)]))
                cases.extend(known[-1][1])
        return sorted(cases, key=lambda case: order[case.hypothesis] if case.hypothesis else 0)

    def in_rows(self, hypothesis: Hypothesis) -> Hypothesis:
        """A misconception in those rows only in which it fits."""
        rows, base = self.compare(hypothesis).rows, self.evaluation.notation.index_base
        where = "row" if len(rows) == 1 else "rows"
        where += f" {listed([str(row + base) for row in rows], len(rows))}"
        where += "".join(f" of batch {item + base}" for item in self.evaluation.item_number)
        return self.hypotheses.in_rows(hypothesis, rows, where)

    def pairs(self, cases: Sequence[Case]) -> list[Case]:
        """Two misconceptions that only together reproduce everything."""
        found: list[Case] = []
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
            pair = None if both_ways in seen else self.hypotheses.pair(one, other)
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
        return found

    def paired(self, cases: Sequence[Case]) -> tuple[list[_Pair], list[_Pair]]:
        """The pairs that are tried, the likely ones and the others.

        Likely is what gives a number that the best case leaves, with what explains some alone.
        """
        touching = [one for one in self.hypotheses.singles if self.compare(one).touches]
        known = set(self.hypotheses.singles)
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


def _as_before(
    known: Sequence[_Marked], hypothesis: Hypothesis, found: Comparison
) -> list[Case] | None:
    """The cases of a hypothesis that gives the numbers of one marked before: so are its verdicts.

    None where there is no such one.
    """
    same = next((cases for other, cases in known if found.same(other)), None)
    return None if same is None else [replace(case, hypothesis=hypothesis) for case in same]


def _plausibility(hypothesis: Hypothesis) -> int:
    """The place of a misconception among those that are seen most."""
    name = hypothesis.misconceptions[0].name
    return COMMON.index(name) if name in COMMON else len(COMMON)
