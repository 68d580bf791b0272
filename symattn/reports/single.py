"""The report on one worksheet: sentences, tables and worked lines, before any format.

Every writer spells a `Report`; `report_data` is the same for programs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from symattn.arithmetic.written import Measured
from symattn.claims.entry_names import (
    counted_place,
    entry_name,
    leading,
    listed,
    without_tex,
)
from symattn.derivations import Evaluation, Place, Step
from symattn.documents.blocks import Cell, Row, Table
from symattn.errors import counted
from symattn.evaluate.rules import operands
from symattn.evaluate.sampled import Sampled
from symattn.marking.lines import Link
from symattn.marking.verdicts import EntryMark, StepMark, verdict_counts
from symattn.mistakes.explanations import Explanation
from symattn.notation.options import Notation
from symattn.notation.text import line
from symattn.notation.tree import Tree
from symattn.printable import printable
from symattn.reports.results import Finding, Marking
from symattn.reports.wording import BOUNDS, WORDING, numbered


@dataclass(frozen=True)
class StepReport:
    """A step's marks: all `entries`, and what is shown of them.

    `failing` are the first entries that do not pass, and `left_out` how many more there are;
    `accepted` are lines about those that are not exactly right and pass all the same.
    """

    name: str
    verdict: str
    passes: bool
    conclusion: str
    entries: tuple[Finding, ...]
    tables: tuple[Table, ...]
    heads_left_out: int
    failing: tuple[Finding, ...]
    left_out: int
    accepted: tuple[str, ...]
    #: How the first entry that follows from claimed numbers is worked out from these.
    own_work: Tree | None = None
    #: Why entries that follow from others are wrong all the same, each reason once.
    remarks: tuple[str, ...] = ()
    #: The rows that were judged, as the worksheet counts, where these are not all.
    sampled: tuple[int, ...] = ()


@dataclass(frozen=True)
class FirstWrong:
    """The first number that does not pass, in a sentence, and how it is worked out."""

    entry: Finding
    sentence: str
    #: What it is worked out from, as in "Row 1 of scaled gives"; "" for what is given.
    origin: str
    worked: Tree | None


@dataclass(frozen=True)
class Report:
    """All that is said about a worksheet.

    `reasons` explain the whole first, and of that the simplest; `reasons_shown` of them are written
    out. `hint` says how what is left out is seen.
    """

    title: str
    conclusion: str
    passes: bool
    first: FirstWrong | None
    reasons: tuple[Explanation, ...]
    reasons_shown: int
    style: str
    steps: tuple[StepReport, ...]
    lines: tuple[Finding, ...]
    notes: tuple[str, ...]
    notation: Notation
    hint: str = ""


def report_of(marking: Marking, notation: Notation | None = None, hint: str = "") -> Report:
    """The report on a marking; `notation.limit` 0 leaves nothing out.

    Entries are named as the notation counts and turns them: as the worksheet's own, if none is
    given.
    """
    notation = notation or marking.evaluation.notation
    steps = tuple(_step(marking, mark, notation) for mark in marking.steps)
    reasons = tuple(
        sorted(marking.explanations, key=lambda found: (not found.whole, len(found.misconceptions)))
    )
    return Report(
        marking.title,
        conclusion(marking),
        marking.passed,
        _first(marking, steps, notation),
        reasons,
        min(len(reasons), BOUNDS.explanations) if notation.limit else len(reasons),
        _sentence(marking.style) if len(marking.entries) > 1 else "",  # one shows no habit
        steps,
        tuple(map(marking.sign, marking.lines)),
        marking.notes,
        notation,
        hint,
    )


def conclusion(marking: Marking) -> str:
    """How many numbers are right or accepted, and what the others are."""
    counts = verdict_counts(entry.verdict for entry in marking.entries)
    passed = marking.first_wrong is None
    if isinstance(marking.evaluation, Sampled):
        rows = marking.evaluation.rows
        judged = f"the {sum(map(len, rows.values())):,} rows of {sum(rows):,} that were tried"
        verb = "Agrees" if passed else "Does not agree"
        return f"{verb} on {judged}: {_counted(counts, marking.policy.accept)}."
    words = _conclusion(counts, marking.policy.accept, passed)
    mistaken = [link for link in marking.lines if not marking.passes(link)]
    if not mistaken or marking.first_wrong is not None:
        return words
    number = len({link.entry for link in mistaken})
    alone = sum(counts.values()) == 1
    lines = "its worked line" if alone else counted(number, "worked line")
    has = "has a mistake" if number == 1 else "have mistakes"
    return f"{words.removesuffix('.')}; {lines} {has}."


def _conclusion(counts: Mapping[str, int], accept: Collection[str], passed: bool) -> str:
    total, right = sum(counts.values()), counts.get("right", 0)
    if not total:
        return "No number is claimed."
    if right == total:
        return f"All {total} numbers are right." if total > 1 else "The number is right."
    accepted = {v: n for v, n in counts.items() if v in accept and v != "right"}
    others = {v: n for v, n in counts.items() if v not in accept}
    if total == 1:
        (verdict,) = counts
        words = f"{_with_verb(verdict, 1).removeprefix('1 ')}."
        return f"The number is accepted: it {words}" if passed else f"The number {words}"
    if passed:
        parts = ([f"{right} right"] if right else []) + [numbered(*one) for one in accepted.items()]
        return f"All {total} numbers are accepted: {', '.join(parts)}."
    if not right and len(others) == 1 and not accepted:
        return f"All {_with_verb(*next(iter(others.items()))).replace(' ', ' numbers ', 1)}."
    words = (
        f"{right} of {total} numbers {'is' if right == 1 else 'are'} right."
        if right
        else f"None of the {total} numbers is right."
    )
    if accepted:
        more = sum(accepted.values())
        are = "is" if more == 1 else "are"
        parts = [numbered(*one) for one in accepted.items()]
        meaning = ", ".join(parts) if len(parts) > 1 else WORDING[next(iter(accepted))].phrase
        words += f" {more}{' more' if right else ''} {are} accepted: {meaning}."
    return f"{words} {', '.join(_with_verb(*one) for one in others.items())}."


def _with_verb(verdict: str, count: int) -> str:
    """How many numbers have a verdict, with a verb: ``2 are wrong``."""
    number, words = numbered(verdict, count).split(" ", 1)
    if verdict == "carried":
        return f"{number} {words}"
    past = verdict in ("truncated", "rounded-early")
    verb = ("was" if past else "is") if count == 1 else ("were" if past else "are")
    return f"{number} {verb} {words}"


def _counted(counts: Mapping[str, int], accept: Collection[str]) -> str:
    """How many are right, and how many are anything else; which of that the policy accepts."""
    out = []
    for verdict, count in counts.items():
        passing = " (accepted)" if verdict in accept and verdict != "right" else ""
        out.append(f"{numbered(verdict, count)}{passing}")
    return ", ".join(out)


def _sentence(words: str) -> str:
    words = words.strip()
    return f"{words[:1].upper()}{words[1:].rstrip('.')}." if words else ""


# ---- the first wrong number --------------------------------------------------------------


def _first(marking: Marking, steps: Sequence[StepReport], notation: Notation) -> FirstWrong | None:
    first = marking.first_wrong
    if first is None:
        links = (link for link in marking.lines if not marking.passes(link))
        return next((_of_link(marking, link, notation) for link in links), None)
    entry = next(
        entry
        for step in steps
        for entry in step.entries
        if step.name == first.step and entry.place == first.place and not entry.passes
    )
    read = f", read as {entry.read_as}" if entry.read_as else ""
    if isinstance(first.claimed, Measured) and entry.verdict == "wrong":
        more = f"; {entry.remark}" if entry.remark else ""
        computed = f"≈ {entry.claimed}" if first.claimed.rounded else entry.claimed
        told = f"is computed as {computed}; the true value is {entry.true}{more}."
        sentence = f"The first wrong number is {entry.entry}. It {told}"
        return FirstWrong(entry, sentence, *_worked(marking, first, notation, entry.true))
    wrote = f"{entry.entry}: you wrote {entry.claimed}{read}"
    if entry.verdict == "undecided":
        why = f" ({entry.remark})" if entry.remark else ""
        sentence = f"The first undecided number is {wrote}{why}."
    elif entry.verdict in ("wrong", "last-digit"):
        sentence = f"Your first wrong number is {wrote}, but it is {entry.true}."
    else:
        verb = "" if entry.verdict == "carried" else "was "
        sentence = (
            f"The first number not accepted is {wrote}, but it is {entry.true}. "
            f"It {verb}{entry.meaning}."
        )
    return FirstWrong(entry, sentence, *_worked(marking, first, notation, entry.true))


def _of_link(marking: Marking, link: Link, notation: Notation) -> FirstWrong:
    """A sign of a worked line that does not pass, as the first wrong thing of a sheet."""
    index = counted_place(link.place, notation) if link.entry else ()
    sign = replace(marking.sign(link), index=index)
    return FirstWrong(sign, f"In the {link.message}.", *_worked(marking, link, notation))


def _worked(
    marking: Marking, mark: EntryMark | Link, notation: Notation, true: str = ""
) -> tuple[str, Tree | None]:
    """What an entry is worked out from, and how; nothing of what is given."""
    if not mark.step:
        return "", None  # a calculation that names no entry
    item = marking.evaluation[mark.step]
    if not isinstance(item.step, Step) or isinstance(marking.evaluation, Sampled):
        return "", None  # of a sample, too long
    which, place = marking.evaluation.within(item.step.letter, mark.place)
    evaluation = marking.evaluation.of_batch(*which) if which else marking.evaluation
    *heads, row, column = counted_place(place, notation)
    digits, _, exponent = true.rstrip("?").partition("e-")
    decimals = len(digits.partition(".")[2]) + int(exponent or 0)
    precise = notation.but(digits=max(decimals, notation.digits))  # no fewer than in the sentence
    tree = evaluation[mark.step].worked(row, column, heads[0] if heads else None, precise)
    return _origin(evaluation, item.step, place, notation), tree


def _origin(evaluation: Evaluation, step: Step, place: Place, notation: Notation) -> str:
    """``Row 1 of weights and column 2 of V give``: what an entry is worked out from."""
    reads: dict[str, list[Place]] = {}
    for letter, operand in dict.fromkeys(operands(evaluation, step.letter, place)):
        reads.setdefault(letter, []).append(operand)
    if not reads or len(reads) > 3:
        return ""
    parts = [_part(evaluation, letter, found, notation) for letter, found in reads.items()]
    words = f"{listed(parts)} {'gives' if len(parts) == 1 else 'give'}"
    return words[:1].upper() + words[1:] if words.startswith(("row", "column")) else words


def _part(evaluation: Evaluation, letter: str, places: Sequence[Place], notation: Notation) -> str:
    """What these places are of a matrix: an entry, a row, a column, or all of it."""
    name = evaluation[letter].name
    places = [evaluation.place_of(letter, place) for place in places]
    if len(places) == 1:
        return entry_name(name, places[0], notation)
    rows, columns = {place[-2] for place in places}, {place[-1] for place in places}
    heads = {place[:-2] for place in places}
    if len(heads) > 1 or (len(rows) > 1 and len(columns) > 1):
        return name
    turned = notation.convention == "columns"
    line = next(iter(rows if len(rows) == 1 else columns)) + notation.index_base
    word = "row" if (len(rows) == 1) is not turned else "column"
    inside = leading(evaluation, letter, places[0], notation)
    return f"{word} {line} of {name}{inside and f' in {inside}'}"


# ---- step by step ------------------------------------------------------------------------


def _step(marking: Marking, mark: StepMark, notation: Notation) -> StepReport:
    entries = tuple(marking.finding(mark, entry, notation) for entry in mark.entries)
    failing = [entry for entry in entries if not entry.passes]
    carried = [entry for entry in failing if entry.verdict == "carried"]
    own = [entry for entry in failing if entry.verdict != "carried"]
    first = [*own[: BOUNDS.listed], *carried[: BOUNDS.carried]] if notation.limit else failing
    counts = verdict_counts(entry.verdict for entry in mark.entries)
    total = sum(counts.values())
    all_right = counts.get("right") == total
    conclusion = f"{total} right" if all_right else _counted(counts, marking.policy.accept)
    tables, heads_left_out = _tables(marking, mark, notation)
    return StepReport(
        mark.name,
        mark.verdict,
        not failing,
        conclusion,
        entries,
        tables,
        heads_left_out,
        tuple(first),
        len(failing) - len(first),
        tuple(_accepted(entries, notation)),
        _own_work(marking, mark, notation),
        tuple(dict.fromkeys(e.remark for e in own if e.verdict == "wrong" and e.remark)),
        _sampled(marking.evaluation, mark.letter),
    )


def _sampled(evaluation: Evaluation, letter: str) -> tuple[int, ...]:
    """The rows of a sample, as the worksheet counts."""
    if not isinstance(evaluation, Sampled):
        return ()
    return tuple((evaluation.rows_of(letter) + evaluation.notation.index_base).tolist())


def _own_work(marking: Marking, mark: StepMark, notation: Notation) -> Tree | None:
    """The worked line, with the numbers that were written, of the first entry that follows.

    Beside wrong numbers only of one that follows from mistakes: any other would look like their
    correction.
    """
    passes = all(map(marking.passes, mark.entries))
    for entry in mark.entries:
        if entry.verdict == "carried" or (passes and entry.verdict == "rounded-early"):
            tree = marking.own_work(entry, notation)
            if tree is not None:
                return tree
    return None


def _accepted(entries: Sequence[Finding], notation: Notation) -> Iterator[str]:
    """A line for each verdict that is accepted, with the first entries that have it."""
    for verdict, (sign, words, _) in WORDING.items():
        found = [entry for entry in entries if entry.passes and entry.verdict == verdict]
        if verdict == "right" or not found:
            continue
        most = 2 if notation.limit else len(found)
        parts = [f"{entry.entry}, {entry.claimed} for {entry.true}" for entry in found[:most]]
        if len(found) > most:
            parts.append(f"and {len(found) - most} more")
        parts += dict.fromkeys(entry.remark for entry in found if entry.remark)
        yield f"{sign} {words} (accepted): {'; '.join(parts)}"


def _tables(marking: Marking, mark: StepMark, notation: Notation) -> tuple[tuple[Table, ...], int]:
    """A table for each head of each item with something to see, and how many are left out."""
    heads: list[tuple[int, ...]] = sorted({entry.place[:-2] for entry in mark.entries})
    if notation.limit:
        odd = {e.place[:-2] for e in mark.entries if not marking.passes(e)}
        heads = [head for head in heads if head in odd] or heads[:1]
    first = heads[: BOUNDS.heads] if notation.limit else heads
    tables = tuple(_table(marking, mark, head, notation) for head in first)
    return tables, len(heads) - len(first)


def _table(marking: Marking, mark: StepMark, head: tuple[int, ...], notation: Notation) -> Table:
    """The claims of a step or a head; of many rows and columns those with something to see."""
    turned = notation.convention == "columns"
    by_place = _by_place(marking, mark, head, turned)
    wrong = [place for place, entry in by_place.items() if not marking.passes(entry)]
    sizes = marking.evaluation[mark.name].step.shape
    names = [marking.evaluation.labels.get(size, ()) for size in sizes]
    count = mark.shape[-1]
    if turned:
        names, count = names[::-1], mark.shape[-2]
    claimed = sorted({i for i, _ in by_place})
    columns = list(range(count))
    if notation.limit and count > notation.limit:
        columns = sorted({j for _, j in by_place})
    down = _visible(claimed, {i for i, _ in wrong}, notation.limit, filled=not wrong)
    across = _visible(columns, {j for _, j in wrong}, notation.limit, filled=True)

    def label(names: Sequence[str], index: int | None, gap: str) -> str:
        if index is None:
            return gap
        return printable(names[index]) if names else str(index + notation.index_base)

    rows = tuple(
        Row(
            Cell((label(names[0], i, "⋮"),)),
            tuple(_claimed(by_place, i, j) for j in across),
        )
        for i in down
    )
    top = tuple(label(names[1], j, "⋯") for j in across)
    hidden = sum(1 for i, j in wrong if i not in down or j not in across)
    left_out = _left_out(
        len(claimed) - sum(i is not None for i in down),
        len(columns) - sum(j is not None for j in across),
        hidden,
    )
    caption = leading(marking.evaluation, mark.letter, (*head, 0, 0), notation)
    return Table(top, rows, caption, mark.name, left_out=left_out)


def _by_place(
    marking: Marking, mark: StepMark, head: tuple[int, ...], turned: bool
) -> dict[tuple[int, int], EntryMark]:
    """The claims of a head by row and column as they are printed; of several the wrong one."""
    found: dict[tuple[int, int], EntryMark] = {}
    for entry in mark.entries:
        *own, row, column = entry.place
        seen = (column, row) if turned else (row, column)
        if tuple(own) == head and (seen not in found or marking.passes(found[seen])):
            found[seen] = entry
    return found


def _claimed(
    by_place: Mapping[tuple[int, int], EntryMark], row: int | None, column: int | None
) -> Cell:
    """A claimed number with the tint, the sign and the name of its verdict."""
    if row is None or column is None:  # what stands for the columns, or for the rows, left out
        return Cell(("⋯" if row is not None else "",), "gap")
    entry = by_place.get((row, column))
    if entry is None:
        return Cell(("",))
    words = (printable(without_tex(entry.claimed.text)),)
    sign, phrase, tint = WORDING[entry.verdict]
    return Cell(words, tint, sign, phrase) if tint else Cell(words)


def _visible(every: Sequence[int], wrong: set[int], limit: int, filled: bool) -> list[int | None]:
    """The rows or columns that are shown, None for those between that are not.

    All that hold a wrong number, up to a bound; and those beside them, where these are few and the
    table is to be `filled`.
    """
    if not limit or len(every) <= limit:
        return list(every)
    visible = set([k for k in every if k in wrong][: BOUNDS.wrong * limit])
    near = sorted(every, key=lambda k: min((abs(k - other) for other in visible), default=k))
    visible |= set(near[: limit // 2] if filled and len(visible) < limit // 2 else ())
    out: list[int | None] = []
    for k in every:
        if k in visible:
            out.append(k)
        elif not out or out[-1] is not None:
            out.append(None)
    return out


def _left_out(rows: int, columns: int, wrong: int) -> str:
    """``4 rows and 8 columns left out``; with how many wrong numbers, if there are any."""
    parts = [counted(n, noun) for n, noun in ((rows, "row"), (columns, "column")) if n]
    if not parts:
        return ""
    inside = f", with {counted(wrong, 'number')} not accepted"
    return f"{' and '.join(parts)} left out{inside if wrong else ''}"


# ---- as data -----------------------------------------------------------------------------

#: What JSON holds, by name.
Data: TypeAlias = dict[str, Any]


def plain_data(one: object, *names: str) -> Data:
    """These attributes by their names; a tuple is a list."""
    values = {name: getattr(one, name) for name in names}
    return {name: list(x) if isinstance(x, tuple) else x for name, x in values.items()}


def report_data(report: Report) -> Data:
    """A report as plain data; ``index`` counts as the worksheet does."""
    return {
        "schema": 1,
        "title": report.title,
        "index_base": report.notation.index_base,
        "convention": report.notation.convention,
        "conclusion": report.conclusion,
        "first_wrong": None if report.first is None else _first_data(report.first),
        "explanations": [
            plain_data(reason, "name", "fits", "whole", "instead", "tell")
            for reason in report.reasons
        ],
        "style": report.style,
        "steps": {
            step.name: {
                **({"sampled_rows": list(step.sampled)} if step.sampled else {}),
                "verdict": step.verdict,
                "passes": step.passes,
                "own_work": None if step.own_work is None else line(step.own_work),
                "entries": [_entry_data(entry) for entry in step.entries],
            }
            for step in report.steps
        },
        "lines": [
            {"entry": each.entry, "told": each.message, "verdict": each.verdict}
            for each in report.lines
        ],
        "notes": list(report.notes),
        "passes": report.passes,
    }


def _first_data(first: FirstWrong) -> Data:
    return {
        "step": first.entry.step,
        "entry": first.entry.entry,
        **_entry_data(first.entry),
        "sentence": first.sentence,
        "worked": None if first.worked is None else line(first.worked),
    }


def _entry_data(entry: Finding) -> Data:
    more = (name for name in ("because", "remark") if getattr(entry, name))
    return plain_data(entry, "index", "claimed", "true", "verdict", *more)
