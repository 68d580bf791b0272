"""Sanity notes beside the verdicts: what the claimed numbers show about themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import sympy

from symattn.arithmetic.base import Array
from symattn.derivation import Evaluation, Step
from symattn.errors import counted
from symattn.nodes.normalise import Normaliser
from symattn.worksheet.marking.verdicts import EntryMark, StepMark
from symattn.worksheet.misconceptions.inventing import full_rows, row_sum, sums_to_one
from symattn.worksheet.reading.claims import Policy
from symattn.worksheet.reading.naming import line_name

#: How many notes of one kind are written out.
_MOST = 6


def notes(
    evaluation: Evaluation, claims: Mapping[str, Array], marks: Sequence[StepMark], policy: Policy
) -> tuple[str, ...]:
    """One sentence for each thing that is odd, the same kind together."""
    found: list[str] = []
    odd = [mark for mark in marks if mark.verdict != "right"]  # right ones keep sums and orders
    for kind in (_sums, _orders, _ranges, _remarks):
        found += _shortened([line for mark in odd for line in kind(evaluation, claims, mark)])
    found += _shortened([line for mark in marks for line in _few_digits(evaluation, mark)])
    found += _shortened(list(_too_few(evaluation, marks, policy)))
    return tuple(dict.fromkeys(found))


def _shortened(lines: list[str]) -> list[str]:
    if len(lines) <= _MOST:
        return lines
    return [*lines[:_MOST], f"… and {len(lines) - _MOST} more of this kind"]


def _row_name(evaluation: Evaluation, entry: EntryMark) -> str:
    return line_name(entry.step, entry.place, evaluation.notation)


def _sums(evaluation: Evaluation, claims: Mapping[str, Array], mark: StepMark) -> Iterator[str]:
    """Rows that do not sum to 1 within their rounding."""
    if not sums_to_one(evaluation[mark.name].step):
        return
    for row in full_rows(mark):
        total, spread = row_sum(row)
        if total == 0 and all(entry.verdict == "right" for entry in row):
            continue  # a row with nothing to attend to
        if abs(total - 1) > spread:
            yield f"{_row_name(evaluation, row[0])} sums to {_decimal(total, row)}, not to 1"


def _decimal(total: Fraction, row: list[EntryMark]) -> str:
    """The sum with as many decimals as it has."""
    places = max(0, *(entry.claimed.places or 0 for entry in row))
    text = f"{Decimal((int(total < 0), tuple(map(int, str(abs(total * 10**places)))), -places)):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _orders(evaluation: Evaluation, claims: Mapping[str, Array], mark: StepMark) -> Iterator[str]:
    """Equal scores with unequal weights, and weights that are not in the order of the scores."""
    step = evaluation[mark.name].step
    expr = step.expr if isinstance(step, Step) else None
    if not isinstance(expr, Normaliser) or not isinstance(expr.args[0], sympy.MatrixSymbol):
        return
    logits, before = str(expr.args[0].name), claims.get(str(expr.args[0].name))
    name, base = evaluation[logits].name, evaluation.notation.index_base
    if before is None and logits not in evaluation.given:
        return
    for row in full_rows(mark):
        line = row[0].place[:-1]
        scores = before[line] if before is not None else evaluation.given[logits][line]
        values = [getattr(score, "value", score) for score in scores]
        weights = [entry.claimed.value for entry in row]
        known = [j for j, value in enumerate(values) if value is not None and value.is_finite]
        for j in known:
            for k in (k for k in known if k > j):
                higher, apart = values[j] - values[k], weights[j] - weights[k]
                where = _row_name(evaluation, row[0])
                if higher == 0 and apart != 0:
                    yield (
                        f"{where}: keys {j + base} and {k + base} have equal entries in {name}, "
                        f"but the weights {row[j].claimed} and {row[k].claimed}"
                    )
                elif higher * apart < 0:
                    top, other = (j, k) if higher > 0 else (k, j)
                    yield (
                        f"{where}: key {top + base} has a higher entry in {name} than key "
                        f"{other + base}, but the lower weight"
                    )


def _ranges(evaluation: Evaluation, claims: Mapping[str, Array], mark: StepMark) -> Iterator[str]:
    """Outputs outside the range of the values that they are averages of, as they were claimed."""
    step = evaluation[mark.name].step
    expr = step.expr if isinstance(step, Step) else None
    if mark.name not in ("output", "heads") or not isinstance(expr, sympy.MatMul):
        return
    if not sums_to_one(evaluation["weights"].step):
        return
    letter = str(expr.args[-1].name)
    values = np.array(evaluation.array(letter), dtype=float)
    if letter in claims:
        for place in np.ndindex(*values.shape):
            written: Any = claims[letter][place]
            values[place] = values[place] if written is None else written.nearest
    for entry in mark.entries:
        item, (*head, _, column) = evaluation.within(mark.letter, entry.place)
        own = evaluation.item_of(letter, values, item)[..., column]
        if own.ndim > 1 and head and len(own) == mark.shape[-3]:
            own = own[head[0]]
        if entry.claimed.places is None or own.ndim != 1:
            continue
        claimed, unit = entry.claimed.nearest, entry.claimed.nearest_unit
        if not own.min() - unit <= claimed <= own.max() + unit:
            yield (
                f"{entry}: {entry.claimed} is outside the range of the "
                f"values it averages, {own.min():.6g} to {own.max():.6g}"
            )


def _remarks(evaluation: Evaluation, claims: Mapping[str, Array], mark: StepMark) -> Iterator[str]:
    """Why a claim that follows is wrong all the same, and why one is undecided."""
    for entry in mark.entries:
        if entry.remark:
            yield f"{entry}: {entry.remark}"


def _few_digits(evaluation: Evaluation, mark: StepMark) -> Iterator[str]:
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
        yield f"too few digits: {listed} without decimals would be right for many weights"


def _too_few(evaluation: Evaluation, marks: Sequence[StepMark], policy: Policy) -> Iterator[str]:
    for mark in marks:
        for entry in mark.entries:
            places = entry.claimed.places
            if places is not None and max(places, 0) < policy.min_digits:
                few = counted(max(places, 0), "decimal")
                yield f"{entry}: {entry.claimed} has {few}; the policy asks for {policy.min_digits}"
