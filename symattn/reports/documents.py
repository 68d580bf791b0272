"""Marks as blocks: the report on one worksheet, and the overview of several files.

On a screen (`brief`) an overview shows of each file what is wrong first, not every table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from symattn.documents import blocks as b
from symattn.printable import printable, shortened
from symattn.reports.overview import COLUMNS, CheckedFile, Overview
from symattn.reports.single import Report, StepReport
from symattn.reports.wording import BOUNDS, WORDING, of_count

#: The sign before a step all of whose numbers are right.
_RIGHT = "✓"


# ---- one worksheet -----------------------------------------------------------------------


def report_document(report: Report, brief: bool = False) -> b.Document:
    """The report on a worksheet."""
    blocks = tuple(_report(report, brief))
    return b.Document(
        printable(report.title), blocks, width=BOUNDS.width, called="Numbers, checked"
    )


def _report(report: Report, brief: bool) -> Iterator[b.Block]:
    yield from _top(report)
    steps = b.List(tuple(_step(step, report) for step in report.steps))
    if report.first is None:
        yield from (b.Paragraph((b.Strong(report.conclusion),), "good"), b.Break(), steps)
    else:
        conclusion = b.Paragraph((report.conclusion,), "heading")
        inside = (conclusion, b.Break(), steps)
        yield b.Break()
        yield from inside if brief else (b.Section("Step by step", inside),)
    if report.lines:
        signs = (f"{WORDING[each.verdict].sign} {each.message}" for each in report.lines)
        yield _listed(signs, "bad", signed=True)
    if report.style:
        yield from [b.Break(), b.Paragraph((printable(report.style),), "note")]
    if report.notes:
        yield from [b.Break(), b.Section("Notes", (_listed(report.notes, "note"),))]


def _top(report: Report) -> Iterator[b.Block]:
    """The first wrong number, how it is worked out, and what would explain the numbers."""
    first = report.first
    if first is None:
        return
    yield b.Paragraph((b.Strong(printable(first.sentence)),), "bad")
    if first.worked is not None:
        yield b.Worked(printable(first.origin), first.worked)
    if not report.reasons:
        return
    items = [
        b.Item((b.Strong(reason.name), f": {printable(reason.done)}"), more=reason.tell, role="bad")
        for reason in report.reasons[: report.reasons_shown]
    ]
    if rest := len(report.reasons) - report.reasons_shown:
        items.append(b.Item((_hinted(f"and {rest} more", report),), role="note"))
    yield from [b.Break(), b.Section("Consistent with", (b.List(tuple(items)),))]


def _listed(lines: Iterator[str] | Sequence[str], role: b.Role, signed: bool = False) -> b.List:
    return b.List(tuple(b.Item((printable(words),), role=role) for words in lines), signed)


def _hinted(words: str, report: Report) -> str:
    """What is left out, and how to see it."""
    return f"{words}; {report.hint}" if report.hint else words


def _step(step: StepReport, report: Report) -> b.Item:
    """A step: the sign and the counts, ``✗ 7 right, 2 wrong``, and what is shown of its numbers.

    Numbers that pass are said in a line, unless everything is shown.
    """
    blocks: list[b.Block] = []
    if not step.passes or (not report.notation.limit and step.verdict != "right"):
        for table in step.tables:
            left_out = _hinted(table.left_out, report) if table.left_out else ""
            blocks.append(replace(table, left_out=left_out))
    if lines := [*_step_lines(step, report)]:
        blocks.append(_listed(lines, "note", signed=True))
    if step.own_work is not None:
        blocks.append(b.Worked("Your numbers give", step.own_work, inline=True))
    role: b.Role = "good" if step.verdict == "right" else "plain" if step.passes else "bad"
    sign = WORDING[step.verdict].sign.strip() or _RIGHT
    words = f"{sign} {printable(step.conclusion)}"
    return b.Item((words,), name=step.name, role=role, blocks=tuple(blocks))


def _step_lines(step: StepReport, report: Report) -> Iterator[str]:
    """What is said under a step's tables: of its wrong numbers, and of those that pass."""
    for entry in step.failing:
        below = entry.remark in step.remarks
        message = replace(entry, remark="").beside if below else entry.beside
        yield f"{WORDING[entry.verdict].sign} {message}"
    if step.left_out:
        yield _hinted(f"and {step.left_out} more", report)
    if step.heads_left_out:
        in_batch = any(table.caption.startswith("batch") for table in step.tables)
        one, several = ("matrix", "matrices") if in_batch else ("head", "heads")
        noun = one if step.heads_left_out == 1 else several
        yield _hinted(f"{step.heads_left_out} more {noun} with wrong numbers", report)
    yield from (f"{words[:1].upper()}{words[1:]}." for words in step.remarks)
    yield from step.accepted


# ---- several files -----------------------------------------------------------------------


def overview_document(
    overview: Overview, brief: bool = False, full: bool = False, listed: bool = True
) -> b.Document:
    """The overview, and the reports of files with something wrong.

    A single file has its report alone. `brief`: of each report what is wrong first, with the places
    of the numbers; `full`: the whole reports, and then of all files; `listed`: with the files that
    could not be used, where standard error does not say it beside.
    """
    if brief:
        return b.Document("", tuple(_on_screen(overview, full, listed)), width=BOUNDS.width)
    blocks: list[b.Block] = []
    if overview.several:
        blocks.append(_conclusion(overview, b.Strong(overview.conclusion)))
        blocks += [_rows(overview, "lrrl")] if overview.rows else []
        blocks += [b.Paragraph((overview.all_right,))] if overview.all_right else []
    for number, one in enumerate(overview.files, 1):
        reports = one.failing_reports if overview.several else one.reports
        inside: list[b.Block] = [report_document(each) for each in reports]
        if one.is_page and one.failing:
            inside.append(b.Section("Where", (_listed(map(one.located, one.failing), "bad"),)))
        if one.is_page and one.doubtful:
            lines = (_listed(map(one.located, one.doubtful), "note"),)
            inside.append(b.Section("Accepted", lines))
        if overview.several and inside:
            blocks.append(b.Document(printable(one.name), tuple(inside), f"file-{number}"))
        elif not overview.several:
            blocks += inside
    for heading, unmarked in overview.unmarked:
        blocks += [b.Section(heading, (_listed(unmarked, "bad"),))] if unmarked else []
    if not overview.several and len(blocks) == 1 and isinstance(blocks[0], b.Document):
        return blocks[0]
    title = "Overview" if overview.several else ""
    return b.Document(title, tuple(blocks), width=BOUNDS.width, headings=1 if title else 2)


def _conclusion(overview: Overview, words: str | b.Strong) -> b.Paragraph:
    return b.Paragraph((words,), "good" if overview.passes else "bad")


def _rows(overview: Overview, align: str) -> b.Table:
    """A line for each file with something wrong."""
    anchors = {one.name: f"file-{number}" for number, one in enumerate(overview.files, 1)}
    rows = []
    for row in overview.rows:
        name, *cells = (shortened(printable(words), BOUNDS.cell) for words in row.cells)
        file = b.Cell((b.Link(name, anchors[row.name]),))
        rows.append(b.Row(file, tuple(b.Cell((words,)) for words in cells)))
    corner, *columns = COLUMNS
    return b.Table(tuple(columns), tuple(rows), "", "Overview", corner, align)


def _on_screen(overview: Overview, full: bool, listed: bool) -> Iterator[b.Block]:
    conclusion = _conclusion(overview, overview.conclusion)
    if overview.several and overview.rows:
        yield from [conclusion, b.Break(), _rows(overview, "llll")]
        yield from [b.Paragraph((overview.all_right,), "note")] if overview.all_right else []
        yield b.Break()
    for one in overview.files:
        if full or not one.accepted:
            yield from [*_file_on_screen(one, overview.several, full), b.Break()]
        if one.doubtful and (one.is_page or not full):
            yield from [*_doubts(one), b.Break()]
    for heading, problems in overview.unmarked[0 if listed else 1 : 2]:
        if problems:
            lines = (b.Paragraph((problem,), "bad", whole=True) for problem in problems)
            yield from [b.Paragraph((heading,), "heading"), *lines, b.Break()]
    if overview.skipped:
        names = [
            shortened(printable(name), BOUNDS.cell) for name in overview.skipped[: BOUNDS.names]
        ]
        if (more := len(overview.skipped) - BOUNDS.names) > 0:
            names.append(f"and {more} more")
        yield from [b.Paragraph((f"Without claims: {', '.join(names)}",), "note"), b.Break()]
    yield conclusion


def _file_on_screen(one: CheckedFile, several: bool, full: bool) -> Iterator[b.Block]:
    """What is wrong in a file, and where; `full`: the whole reports of its worksheets."""
    if several:
        yield b.Paragraph((printable(one.name),), "heading", whole=True)
    for each in one.reports:
        if full:
            yield report_document(each, brief=True)
        elif each.first is not None:
            title = printable(each.title) if len(one.reports) > 1 else ""
            yield b.Document(title, tuple(_top(each)), width=BOUNDS.width)
    if full and not one.is_page:
        return  # the tables of its only report show them
    where = list(_places(one, full))
    if where and any(full or each.first is not None for each in one.reports):
        yield b.Break()
    yield from where


def _doubts(one: CheckedFile) -> Iterator[b.Paragraph]:
    """The numbers that are accepted with a remark, where they stand."""
    yield b.Paragraph(("Accepted, with a remark",), "heading")
    for found in one.doubtful[: BOUNDS.listed]:
        yield b.Paragraph((printable(one.located(found)),), "note", whole=True)
    if (more := len(one.doubtful) - BOUNDS.listed) > 0:
        yield b.Paragraph((f"and {more} more",), "note")


def _places(one: CheckedFile, full: bool) -> Iterator[b.Paragraph]:
    """The numbers that are not accepted, and the signs that do not hold, where they stand."""
    failing = one.failing
    if not full:
        mistakes = tuple(finding for finding in failing if finding.verdict != "carried")
        failing = (mistakes or failing)[: BOUNDS.listed]
    lines = map(one.located, (*failing, *one.signs))
    yield from (b.Paragraph((printable(words),), "bad", whole=True) for words in lines)
    if left := [finding for finding in one.failing if finding not in failing]:
        alike = all(finding.verdict == "carried" for finding in left)
        why = f" that {of_count('carried', len(left))}" if alike else ""
        them = "it" if len(left) == 1 else "them"
        how = f"; --full lists {them}" if any(each.hint for each in one.reports) else ""
        yield b.Paragraph((f"and {len(left)} more{why}{how}",), "note", whole=True)
