"""Sanity notes: what claimed numbers show about themselves, whatever the true ones are.

Rows of weights that do not sum to 1, weights that are not in the order of the scores, outputs
outside the range of the values that they average, and numbers with too few digits to judge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from math import isclose
from typing import NamedTuple

import sympy
from flint import fmpq

from symattn.arithmetic.base import Array
from symattn.claims.claims import as_read
from symattn.claims.entry_names import line_name
from symattn.claims.policy import Policy
from symattn.derivations import Evaluation, Step
from symattn.errors import counted
from symattn.marking.verdicts import EntryMark, StepMark
from symattn.nodes.normalise import Normaliser, shared_out
from symattn.step import Item

#: How many notes of one kind are written out.
_MOST = 6


def sums_to_one(item: Item) -> bool:
    """Whether every row of a step sums to 1 by its definition."""
    return isinstance(item, Step) and shared_out(item.expr)


def full_rows(mark: StepMark) -> Iterator[list[EntryMark]]:
    """The rows that are claimed whole, in decimals."""
    rows: dict[tuple[int, ...], list[EntryMark]] = {}
    for entry in mark.entries:
        rows.setdefault(entry.place[:-1], []).append(entry)
    for row in rows.values():
        if len(row) == mark.shape[-1] and all(e.claimed.places is not None for e in row):
            yield row


def row_sum(row: Sequence[EntryMark]) -> tuple[Fraction, Fraction]:
    """The sum of a row as claimed, and how far rounding may have moved it: half of each unit."""
    claims = [entry.claimed for entry in row]
    total = sum((claim.number for claim in claims), fmpq(0))
    rounding = sum((claim.unit for claim in claims), fmpq(0)) / 2
    return Fraction(int(total.p), int(total.q)), Fraction(int(rounding.p), int(rounding.q))


class Note(NamedTuple):
    """A sentence on what is odd, and the entries that it is odd about.

    What an explanation says of all of these need not be said again; of a note without entries it
    says nothing.
    """

    text: str
    entries: tuple[EntryMark, ...] = ()


def notes(
    evaluation: Evaluation, claims: Mapping[str, Array], marks: Sequence[StepMark], policy: Policy
) -> tuple[tuple[Note, ...], ...]:
    """One note for each thing that is odd, the same kind together."""
    mistaken = [mark for mark in marks if mark.verdict != "right"]  # right ones pass these anyway
    kinds = [
        [note for mark in mistaken for note in kind(evaluation, claims, mark)]
        for kind in (_sums, _orders, _ranges)
    ]
    kinds.append([note for mark in marks for note in _vague(evaluation, mark)])
    kinds.append([note for mark in marks for note in _below_policy(evaluation, mark, policy)])
    return tuple(map(tuple, kinds))


def written_out(
    kinds: Sequence[Sequence[Note]], explained: Callable[[EntryMark], bool] = lambda entry: False
) -> tuple[str, ...]:
    """The first notes of each kind and how many more it has, but for those that are `explained`."""
    out: list[str] = []
    for kind in kinds:
        left = [
            note.text for note in kind if not (note.entries and all(map(explained, note.entries)))
        ]
        left = list(dict.fromkeys(left))
        out += left[:_MOST]
        if len(left) > _MOST:
            out.append(f"… and {len(left) - _MOST} more of this kind")
    return tuple(out)


def _not_right(*entries: EntryMark) -> tuple[EntryMark, ...]:
    return tuple(entry for entry in entries if entry.verdict != "right")


def _row_name(evaluation: Evaluation, entry: EntryMark) -> str:
    return line_name(entry.step, entry.place, evaluation.notation)


def _sums(evaluation: Evaluation, claims: Mapping[str, Array], mark: StepMark) -> Iterator[Note]:
    """Rows that do not sum to 1 within their rounding."""
    if not sums_to_one(evaluation[mark.name].step):
        return
    for row in full_rows(mark):
        total, rounding = row_sum(row)
        if total == 0 and all(entry.verdict == "right" for entry in row):
            continue  # a row with nothing to attend to
        if abs(total - 1) > rounding:
            told = f"{_row_name(evaluation, row[0])} sums to {_decimal(total, row)}, not to 1"
            yield Note(told, _not_right(*row))


def _decimal(total: Fraction, row: Sequence[EntryMark]) -> str:
    """The sum with as many decimals as it has."""
    places = max(0, *(entry.claimed.places or 0 for entry in row))
    text = f"{Decimal((int(total < 0), tuple(map(int, str(abs(total * 10**places)))), -places)):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _orders(evaluation: Evaluation, claims: Mapping[str, Array], mark: StepMark) -> Iterator[Note]:
    """Equal scores with unequal weights, and weights that are not in the order of the scores."""
    expr = getattr(evaluation[mark.name].step, "expr", None)
    if not isinstance(expr, Normaliser) or not isinstance(expr.args[0], sympy.MatrixSymbol):
        return
    logits, before = str(expr.args[0].name), claims.get(str(expr.args[0].name))
    name, base = evaluation[logits].name, evaluation.notation.index_base
    if before is None and logits not in evaluation.given:
        return
    for row in full_rows(mark):
        line, where = row[0].place[:-1], _row_name(evaluation, row[0])
        scores = before[line] if before is not None else evaluation.exact(logits)[line]
        values = [getattr(score, "value", score) for score in scores]
        weights = [entry.claimed.value for entry in row]
        finite = [j for j, value in enumerate(values) if value is not None and value.is_finite]
        for j, k in combinations(finite, 2):
            higher, apart = values[j] - values[k], weights[j] - weights[k]
            odd = _not_right(row[j], row[k])
            if higher == 0 and apart != 0:
                told = (
                    f"{where}: keys {j + base} and {k + base} have equal entries in {name}, "
                    f"but weights {row[j].claimed} and {row[k].claimed}"
                )
                yield Note(told, odd)
            elif higher * apart < 0:
                top, other = (j, k) if higher > 0 else (k, j)
                told = (
                    f"{where}: key {top + base} has a higher entry in {name} than key "
                    f"{other + base}, but a lower weight"
                )
                yield Note(told, odd)


def _ranges(evaluation: Evaluation, claims: Mapping[str, Array], mark: StepMark) -> Iterator[Note]:
    """Outputs outside the range of the values that they are averages of, as they were claimed."""
    expr = getattr(evaluation[mark.name].step, "expr", None)
    if mark.name not in ("output", "heads") or not isinstance(expr, sympy.MatMul):
        return
    if not sums_to_one(evaluation["weights"].step):
        return
    letter = str(expr.args[-1].name)
    values = as_read(evaluation.array(letter), claims.get(letter))
    for entry in mark.entries:
        item, (*head, _, column) = evaluation.within(mark.letter, entry.place)
        averaged = evaluation.item_of(letter, values, item)[..., column]
        if averaged.ndim > 1 and head and len(averaged) == mark.shape[-3]:
            averaged = averaged[head[0]]
        if entry.claimed.places is None or averaged.ndim != 1:
            continue
        claimed, unit = entry.claimed.nearest, entry.claimed.nearest_unit
        least, largest = averaged.min(), averaged.max()
        if not least - unit <= claimed <= largest + unit:
            told = (
                f"{entry}: {entry.claimed} is outside the range of the "
                f"values it averages, {least:.6g} to {largest:.6g}"
            )
            yield Note(told, _not_right(entry))


def _vague(evaluation: Evaluation, mark: StepMark) -> Iterator[Note]:
    """Whole numbers that are right only because nearly anything would round to them."""
    if not sums_to_one(evaluation[mark.name].step):
        return
    vague = [
        e
        for e in mark.entries
        if e.verdict == "right"
        and e.claimed.places is not None
        and e.claimed.places < 1
        and e.claimed.nearest != evaluation.array(mark.letter)[e.place]
    ]
    if vague:
        listed = ", ".join(str(entry) for entry in vague[:_MOST])
        yield Note(f"too few digits: {listed} without decimals would be right for many weights")


def _below_policy(evaluation: Evaluation, mark: StepMark, policy: Policy) -> Iterator[Note]:
    """Numbers with fewer decimals than the policy asks for, unless they are exact."""
    for entry in mark.entries:
        places = entry.claimed.places
        if places is None or max(places, 0) >= policy.min_digits:
            continue
        if not isclose(entry.claimed.nearest, evaluation.array(mark.letter)[entry.place]):
            few = counted(max(places, 0), "decimal")
            asked = f"the policy asks for {policy.min_digits}"
            yield Note(f"{entry}: {entry.claimed} has {few}; {asked}")
