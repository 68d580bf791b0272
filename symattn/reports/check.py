"""Checking a worksheet: its marks, and what would explain the wrong ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

import numpy as np

from symattn.arguments import flag, instance
from symattn.claims.claims import arrays_of, read_claims
from symattn.claims.computed import computed_steps
from symattn.claims.lines import Claim
from symattn.claims.policy import Policy
from symattn.derivations import Derivation, Evaluation, Given, Place
from symattn.errors import ReadError
from symattn.marking.computed import ComputedMarker
from symattn.marking.lines import check_lines
from symattn.marking.sampling import marker_of
from symattn.marking.sanity import notes, written_out
from symattn.marking.verdicts import EntryMark, Marker, StepMark
from symattn.mistakes import MISCONCEPTIONS
from symattn.mistakes.computed import Run, explained, explainer_of
from symattn.mistakes.explanations import Explainer, cannot_tell
from symattn.mistakes.rewriting import misconception_of
from symattn.reports.results import Marking
from symattn.sheets.worksheet import Worksheet


def check_worksheet(sheet: Worksheet, explain: bool = True) -> Marking:
    """The marks of a worksheet's claims. Raises `ReadError` where it claims nothing."""
    instance(sheet, Worksheet, "sheet", "a Worksheet")
    flag(explain, "explain")
    if not sheet.claims and not sheet.arrays:
        raise ReadError("no claims; add a table [claims] with e.g. weights = [[…]]")
    exercise = exercise_of(sheet)
    if sheet.arrays:
        return mark_arrays(sheet.title, exercise.evaluate(sheet), sheet.arrays, explain)
    evaluation = exercise.evaluate(sheet)
    claims = read_claims(sheet.claims, evaluation, sheet.decimal)
    if sheet.asks_fractions:
        claims = tuple(map(_as_exact, claims))
    marker = Marker(evaluation, arrays_of(claims, evaluation), sheet.policy)
    marking = mark_claims(sheet.title, exercise, marker, explain, claims)
    if {*sheet.statements.values()} <= {"?"}:
        return marking
    return replace(marking, notes=(*marking.notes, "statements are judged by symattn mark"))


def _as_exact(claim: Claim) -> Claim:
    """A claim whose whole number is exact, as fractions are asked for: 1 is no 2/3 rounded."""
    if claim.written.places != 0:
        return claim
    return replace(claim, written=replace(claim.written, places=None))


def mark_claims(
    title: str, exercise: Exercise, marker: Marker, explain: bool, lines: Sequence[Claim] = ()
) -> Marking:
    """What a marker says of its claims, with what would explain the first wrong one."""
    evaluation, claims, policy = marker.evaluation, marker.claims, marker.policy
    marks = marker.marks()
    if not marks and not lines:
        raise ReadError("claims: every claim is blank; write a number in place of a ?")
    odd = notes(evaluation, claims, marks, policy)
    links = check_lines([one for one in lines if one.sides], evaluation, claims)
    marking = Marking(
        title,
        evaluation,
        policy,
        marks,
        written_out(odd),
        style=marker.style,
        lines=links,
        marker=marker,
    )
    first = marking.first_wrong
    located = {(link.step, link.place) for link in links if not marking.passes(link)}
    if not explain or first is None or (first.step, first.place) in located:
        return marking  # a worked line shows where the mistake is
    item, elsewhere = _item_of(evaluation, first), tuple[str, ...]()
    if item:
        part = evaluation.of_batch(*item)
        own = {letter: evaluation.item_of(letter, array, item) for letter, array in claims.items()}
        inside = tuple(_of_item(evaluation, marks, item))
        found = exercise.explainer.explain(part, own, policy, inside, first.step)
        if any(not marking.passes(e) and _item_of(evaluation, e) != item for e in marking.entries):
            number = ",".join(str(i + evaluation.notation.index_base) for i in item)
            elsewhere = (
                f"mistakes that explain the numbers are searched for in batch {number} only",
            )
    else:
        found = exercise.explainer.explain(evaluation, claims, policy, marks, first.step)

    def explained(entry: EntryMark) -> bool:
        own, place = evaluation.within(evaluation[entry.step].step.letter, entry.place)
        return own in ((), item) and any(each.covers(entry.step, place) for each in found)

    told = (*written_out(odd, explained), *elsewhere, *cannot_tell(found))
    return replace(marking, notes=told, explanations=found)


def mark_arrays(
    title: str, evaluation: Evaluation, arrays: Mapping[str, object], explain: bool = True
) -> Marking:
    """The marks of arrays that a program computed, by the names of their steps.

    Raises `ReadError` for what is no step, has another shape or holds no real numbers.
    """
    read = computed_steps(arrays, evaluation)
    if not read:
        raise ReadError("nothing to compare; give an array by the name of its step, as weights=A")
    marker = marker_of(evaluation, read)
    evaluation = marker.evaluation
    marking = marking_of(title, evaluation, marker)
    if not explain or marking.passed:
        return marking
    run = Run(explainer_of(evaluation), evaluation, marker.arrays, marker.tolerances, marker.right)
    found = explained([run])
    return replace(marking, notes=(*marking.notes, *cannot_tell(found)), explanations=found)


def marking_of(title: str, evaluation: Evaluation, marker: ComputedMarker) -> Marking:
    """The marks of arrays, without what would explain the wrong ones."""
    return Marking(title, evaluation, Policy(), marker.marks, tuple(marker.notes))


def _item_of(evaluation: Evaluation, entry: EntryMark) -> Place:
    """The item of the batch that an entry belongs to: the first, if all share it."""
    item, _ = evaluation.within(evaluation[entry.step].step.letter, entry.place)
    return (*(0 for _ in evaluation.batch[len(item) :]), *item)


def _of_item(evaluation: Evaluation, marks: Sequence[StepMark], item: Place) -> Iterator[StepMark]:
    """The marks of one item of a batch, and of what it shares, with their places in the item."""
    for mark in marks:
        entries = []
        for entry in mark.entries:
            own, place = evaluation.within(mark.letter, entry.place)
            if own in ((), item):
                entries.append(replace(entry, place=place))
        if entries:
            shape = mark.shape[len(mark.shape) - len(entries[0].place) :]
            yield replace(mark, entries=tuple(entries), shape=shape)


# ---- what worksheets share ---------------------------------------------------------------------


class Exercise:
    """What worksheets with the same attention and the same shapes share.

    A derivation, a first evaluation of it, and what tries misconceptions on answers: a pile of
    answers to one exercise is marked with one of each.
    """

    def __init__(self, sheet: Worksheet) -> None:
        self.derivation: Derivation = sheet.derivation()
        self._first: Evaluation = sheet.evaluate(self.derivation)
        with sheet.in_file():
            own = (misconception_of(*row) for row in sheet.misconceptions)
            self.misconceptions = (*own, *MISCONCEPTIONS)

    def evaluate(self, sheet: Worksheet) -> Evaluation:
        """The derivation with a sheet's numbers, in the sheet's notation."""
        return self._first.again(**sheet.numbers).spelled(sheet.notation)

    @cached_property
    def explainer(self) -> Explainer:
        """Tries misconceptions on answers to this exercise."""
        first = self._first.of_batch(*(0 for _ in self._first.batch))
        return Explainer(self.derivation, first, self.misconceptions)


@dataclass(frozen=True)
class _Key:
    """What a worksheet's derivation depends on, and a sheet from which that is made."""

    facts: tuple[object, ...]
    sheet: Worksheet = field(compare=False)


def exercise_of(sheet: Worksheet) -> Exercise:
    """The exercise that a sheet answers: one for all sheets of the same spec and shapes."""
    facts = (
        tuple(_hashable(value) for value in vars(sheet.spec).values()),
        tuple((name, _shape(value)) for name, value in sheet.given.items()),
        _hashable(sheet.sizes),
        _hashable(sheet.labels),
        sheet.wrt,
        sheet.misconceptions,
        tuple((name, _shape(value)) for name, value in sheet.upstream.items()),
        sheet.batch,
    )
    return _exercise(_Key(facts, sheet))


@lru_cache(maxsize=32)
def _exercise(key: _Key) -> Exercise:
    return Exercise(key.sheet)


def _hashable(value: object) -> object:
    """A choice of the spec as tuples, with the types: ``True`` is not ``1``."""
    if isinstance(value, dict):
        return tuple((key, _hashable(part)) for key, part in value.items())
    if isinstance(value, list | tuple):
        return tuple(map(_hashable, value))
    return type(value), value


def _shape(value: Given) -> tuple[int, ...]:
    """The lengths of nested lists, or the shape of an array that a file holds."""
    if isinstance(value, np.ndarray):
        return tuple(value.shape)
    shape: list[int] = []
    while isinstance(value, list | tuple):
        shape.append(len(value))
        value = value[0] if value else None
    return tuple(shape)
