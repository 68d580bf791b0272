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

from symattn.arithmetic.base import Array
from symattn.claims.entry_names import listed
from symattn.claims.policy import Policy
from symattn.derivations import Evaluation, Place
from symattn.marking.verdicts import StepMark
from symattn.mistakes.base import Misconception, Mistake
from symattn.mistakes.cases import Case, Cases
from symattn.mistakes.diagnosis import (
    Diagnosis,
    Entries,
    diagnosed,
    would_belong,
)
from symattn.mistakes.habits import HABITS
from symattn.mistakes.hypotheses import Hypotheses
from symattn.mistakes.screening import FITTING, MISTAKEN
from symattn.mistakes.slips import Numbers, Slip

#: How many explanations are reported.
MOST_SHOWN = 4


@dataclass(frozen=True)
class Explanation:
    """Misconceptions and slips that together would produce what was claimed.

    `fits` names the claimed steps, from the first wrong one on, that they reproduce; `whole` says
    whether those are all of them. `bits` is the evidence: those of the digits reproduced less
    those of what was tried.
    """

    misconceptions: tuple[Mistake, ...]
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
        return " ".join(dict.fromkeys(each.tell for each in self.misconceptions))

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

    def __new__(cls, found: Iterable[Explanation], complete: bool = True) -> Explanations:
        """These explanations."""
        return super().__new__(cls, found)

    def __init__(self, found: Iterable[Explanation], complete: bool = True) -> None:
        self.complete = complete


class Explainer(Hypotheses):
    """Tries misconceptions on one derivation at concrete sizes; made once, used for many sheets."""

    def explain(
        self,
        evaluation: Evaluation,
        claims: Mapping[str, Array],
        policy: Policy,
        marks: Sequence[StepMark],
        first: str,
        *,
        pairs: bool = True,
    ) -> Explanations:
        """What fits from the step `first` on, the simplest first; `pairs`: two at once, too."""
        cases = Cases(self, evaluation, claims, policy, marks)
        return _Search(cases, first, pairs).explanations()


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


class _Search:
    """What is tried on one sheet's claims, the simplest first."""

    def __init__(self, cases: Cases, first: str, pairs: bool) -> None:
        self.cases, self.first, self.pairs = cases, first, pairs
        self.base = cases.base

    # ---- what is tried, the simplest first --------------------------------------------------

    def explanations(self) -> Explanations:
        """What would produce the numbers, with enough evidence; each once."""
        different: dict[tuple[str, ...], Explanation] = {}
        stages = self.stages() if self.base.roots else iter(())
        for found in next(filter(None, stages), []):
            if _accounts_for_a_step(found):
                different.setdefault(tuple(part.instead for part in found.misconceptions), found)
        every = list(different.values()) or (self.habits() if self.base.roots else [])
        return Explanations(every, complete=not self.cases.left_out)

    def stages(self) -> Iterator[list[Explanation]]:
        """The hypotheses with enough evidence, by their kinds, the simplest first."""
        cases = self.cases.singles()
        whole = _simplest([case for case in cases if not case.roots])
        yield [self.explanation(case) for case in whole[:MOST_SHOWN]]
        # so many mistaken entries may be slips, even where a misconception explains some of them
        few = not cases or len(self.base.roots) <= 6
        none = Diagnosis((), complete=False)
        by_slips = diagnosed(self.entries(self.base, self.tried())) if few else none
        each = (by_slips.slips, *((other,) for other in by_slips.others))
        only_slips = [self.explanation(self.base, s) for s in each] if by_slips.complete else []
        if not cases:
            yield only_slips
        rows = self.cases.rows()
        yield [self.explanation(case) for case in rows if not case.roots][:1]
        yield only_slips
        cases = sorted((*cases, *rows), key=lambda case: -case.bits)
        spread = any(len({(x, e.place[:-1]) for x, e in case.roots}) > 1 for case in cases)
        if spread and self.pairs:
            yield [self.explanation(case) for case in self.cases.pairs(cases)[:MOST_SHOWN]]
        with_slips: list[Explanation] = []
        for case in cases[:2]:
            rest = diagnosed(self.entries(case))
            with_slips.append(self.explanation(case, rest.slips))
            if rest.complete:
                yield with_slips[-1:]
        if not spread and self.pairs:
            yield [self.explanation(case) for case in self.cases.pairs(cases)[:MOST_SHOWN]]
        yield with_slips[:1]
        if by_slips.slips:
            yield [self.explanation(self.base, by_slips.slips)]

    def explanation(self, case: Case, slips: Sequence[Slip] = ()) -> Explanation:
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
        item = self.cases.evaluation[self.first].step
        habits = [habit for habit in HABITS if habit.shows(item, mark)]
        if habits and mark.verdict == "wrong":
            if any(one.is_lost(mark.letter) for one in self.cases.compared.values()):
                return []  # what has no number here may be what was calculated
            logit = would_belong(self.entries(self.base), mark.letter)
            more = logit and f"; {logit}"
            habits = [replace(habit, instead=habit.instead + more) for habit in habits]
        return [Explanation((habit,), (self.first,), whole=False) for habit in habits]

    # ---- slips ------------------------------------------------------------------------------

    def tried(self) -> dict[tuple[str, Place], list[float]]:
        """The numbers that misconceptions give single mistaken entries, all else being right."""
        found: dict[tuple[str, Place], list[float]] = {}
        for one in map(self.cases.compare, self.cases.hypotheses.singles):
            if len(one.fixed) == 1 and not one.direct:
                for key, value in one.fixed.items():
                    found.setdefault(key, []).append(value)
        return found

    def entries(
        self, case: Case, tried: Mapping[tuple[str, Place], Sequence[float]] | None = None
    ) -> Entries:
        """What slips are looked for in: the mistaken entries of a case."""
        roots: dict[str, list[Place]] = {}
        for letter, entry in case.roots:
            if not entry.is_coarse:  # its remark says how it came about
                roots.setdefault(letter, []).append(entry.place)
        own, true = (Numbers(case.evaluation, self.cases.claims, own=own) for own in (True, False))
        candidates = self.cases.screen.candidates
        return Entries(own, true, candidates, self.cases.claims, roots, tried or {})


def _accounts_for_a_step(found: Explanation) -> bool:
    """Whether a step is reproduced completely; of slips, a step in which one of them is.

    A slip that leaves other mistakes in its step unexplained has only met one number of these.
    """
    slips = {part.step for part in found.misconceptions if isinstance(part, Slip)}
    only_slips = len(slips) > 0 and all(isinstance(x, Slip) for x in found.misconceptions)
    return found.whole or bool(slips & set(found.fits) if only_slips else found.fits)


def _simplest(cases: Sequence[Case]) -> list[Case]:
    """The cases without those whose simpler misconception (`rather`) fits as well."""
    listed = [(case, case.hypothesis.misconceptions) for case in cases if case.hypothesis]
    names = {part.name for _, parts in listed for part in parts}
    return [case for case, parts in listed if not any(part.rather in names for part in parts)]
