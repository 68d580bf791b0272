"""What a marking says to people, before any format; and the same as data for programs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from symattn.derivation import Step
from symattn.notation.options import Notation
from symattn.notation.tree import Tree
from symattn.worksheet.check import Marking
from symattn.worksheet.mark import EntryMark, StepMark, summary, true_digits

#: The sign of each verdict beside a number, and what it is called in a sentence.
SIGNS = {"right": " ", "truncated": "⌊", "rounded-early": "≈", "undecided": "?",
         "last-digit": "±", "carried": "→", "wrong": "✗"}  # fmt: skip

MEANINGS = {
    "right": "right",
    "truncated": "cut off instead of rounded",
    "rounded-early": "follows from rounded numbers before it",
    "undecided": "not decided",
    "last-digit": "one unit off in the last digit",
    "carried": "follows from a mistake before it",
    "wrong": "wrong",
}

#: How many entries are listed under a table unless all are asked for.
_LISTED = 8


def disagreement(entry: str, claimed: str, true: str, verdict: str) -> str:
    """What every report says of a number that is not right."""
    return f"{entry} is claimed {claimed}, true is {true}: {verdict}"


@dataclass(frozen=True)
class Cell:
    """One number of a table as it was claimed; verdict "" where nothing was."""

    text: str
    verdict: str


@dataclass(frozen=True)
class Table:
    """The claimed numbers of a step, or of one of its heads, with the rows' and columns' names."""

    caption: str
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    columns: tuple[str, ...]
    left_out: int = 0


@dataclass(frozen=True)
class Finding:
    """An entry that is not right: what was claimed, and what is true."""

    entry: str
    claimed: str
    true: str
    verdict: str


@dataclass(frozen=True)
class StepReport:
    """A step's tables and findings."""

    name: str
    verdict: str
    passes: bool
    counts: tuple[tuple[str, int], ...]
    tables: tuple[Table, ...]
    findings: tuple[Finding, ...]
    left_out: int
    worked: Tree | None


@dataclass(frozen=True)
class Report:
    """All that is said about a worksheet."""

    title: str
    conclusion: str
    passes: bool
    steps: tuple[StepReport, ...]
    explanations: tuple[tuple[str, str, str], ...]
    notes: tuple[str, ...]
    notation: Notation


def report(marking: Marking, notation: Notation | None = None) -> Report:
    """The report on a marking; `notation.limit` 0 leaves nothing out."""
    notation = notation or Notation()
    first = marking.first_wrong
    return Report(
        marking.title,
        conclusion(marking),
        first is None,
        tuple(_step(marking, mark, notation) for mark in marking.steps),
        tuple(_explanations(marking)),
        marking.notes,
        notation,
    )


def conclusion(marking: Marking) -> str:
    """One sentence: how many numbers are right, and which is wrong first."""
    counts = summary(marking.steps)
    total = sum(counts.values())
    first = marking.first_wrong
    if first is None:
        others = [f"{n} {MEANINGS[v]}" for v, n in counts.items() if v != "right"]
        if not others:
            return f"All {total} numbers are right." if total > 1 else "The number is right."
        return f"{counts.get('right', 0)} of {total} numbers are right; {', '.join(others)}."
    mark = next(mark for mark in marking.steps if mark.name == first.step)
    true = shown_true(marking, mark, first)
    return (f"{counts.get('right', 0)} of {total} numbers are right. First wrong: {first} is "
            f"claimed {first.claimed}, true is {true}.")  # fmt: skip


def shown_true(marking: Marking, mark: StepMark, entry: EntryMark) -> str:
    """The true value as decimals, marked with ``?`` where they are not proven."""
    digits = true_digits(marking.evaluation, mark, entry)
    return digits.text if digits.proven or digits.text == "?" else f"{digits.text}?"


def _step(marking: Marking, mark: StepMark, notation: Notation) -> StepReport:
    wrong = [entry for entry in mark.entries if entry.verdict != "right"]
    listed = wrong if not notation.limit else wrong[:_LISTED]
    findings = tuple(
        Finding(str(e), e.claimed.text, shown_true(marking, mark, e), e.verdict) for e in listed
    )
    first = next((entry for entry in wrong if not marking.passes(entry)), None)
    step = marking.evaluation[mark.name].step
    worked = None
    if first is not None and isinstance(step, Step):
        *heads, row, column = (i + notation.index_base for i in first.place)
        head = heads[0] if heads else None
        worked = marking.evaluation[mark.name].worked(row, column, head, notation)
    counts = tuple(summary((mark,)).items())
    tables = tuple(_tables(marking, mark, notation))
    passes = all(marking.passes(entry) for entry in mark.entries)
    left_out = len(wrong) - len(listed)
    return StepReport(mark.name, mark.verdict, passes, counts, tables, findings, left_out, worked)


def _tables(marking: Marking, mark: StepMark, notation: Notation) -> Iterator[Table]:
    """A table a head; of many rows only those with something to see."""
    by_place = {entry.place: entry for entry in mark.entries}
    item = marking.evaluation[mark.name].step
    names = [marking.evaluation.labels.get(size, ()) for size in item.shape]
    rows, columns = mark.shape[-2:]
    limit = notation.limit
    across = list(range(columns if not limit else min(columns, limit)))
    for head in [()] if len(mark.shape) == 2 else [(h,) for h in range(mark.shape[0])]:
        claimed = [i for i in range(rows) if any((*head, i, j) in by_place for j in range(columns))]
        if not claimed:
            continue
        worst = [i for i in claimed
                 if any(by_place[*head, i, j].verdict != "right"
                        for j in range(columns) if (*head, i, j) in by_place)]  # fmt: skip
        chosen = claimed if not limit or len(claimed) <= limit else (worst or claimed)[:limit]
        lines = []
        for i in chosen:
            cells = [by_place.get((*head, i, j)) for j in across]
            label = names[0][i] if names[0] else str(i + notation.index_base)
            lines.append((label, tuple(Cell(e.claimed.text, e.verdict) if e else Cell("", "")
                                       for e in cells)))  # fmt: skip
        top = tuple(names[1][j] if names[1] else str(j + notation.index_base) for j in across)
        caption = f"head {head[0] + notation.index_base}" if head else ""
        yield Table(caption, tuple(lines), top, len(claimed) - len(chosen))


def _explanations(marking: Marking) -> Iterator[tuple[str, str, str]]:
    """Name, what is done instead, what to tell the learner."""
    for explanation in marking.explanations:
        parts = explanation.misconceptions
        instead = "; and ".join(part.instead for part in parts)
        if not explanation.whole:
            instead += f" (explains {', '.join(explanation.fits)} only)"
        yield explanation.name, instead, " ".join(part.tell for part in parts)


def as_data(marking: Marking) -> dict[str, Any]:
    """The marking as plain data; ``index`` counts from 1, as in worksheets."""
    first = marking.first_wrong
    return {
        "schema": 1,
        "title": marking.title,
        "steps": {mark.name: _step_data(marking, mark) for mark in marking.steps},
        "first_wrong": None if first is None else {
            "step": first.step, "index": list(first.index), "entry": str(first),
            "verdict": first.verdict,
        },
        "explanations": [
            {"name": e.name, "fits": list(e.fits), "whole": e.whole,
             "instead": "; and ".join(part.instead for part in e.misconceptions),
             "tell": " ".join(part.tell for part in e.misconceptions)}
            for e in marking.explanations
        ],
        "notes": list(marking.notes),
        "passes": first is None,
    }  # fmt: skip


def _step_data(marking: Marking, mark: StepMark) -> dict[str, Any]:
    entries = []
    for entry in mark.entries:
        data = {"index": list(entry.index), "claimed": entry.claimed.text,
                "true": shown_true(marking, mark, entry), "verdict": entry.verdict}  # fmt: skip
        entries.append(data | ({"remark": entry.remark} if entry.remark else {}))
    return {"verdict": mark.verdict, "entries": entries}
