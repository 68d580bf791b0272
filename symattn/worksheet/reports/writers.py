"""A report as terminal text, Markdown, HTML and JSON; all say the same.

Each format has a writer for one worksheet's `Report` and one for the `Overview` of several files.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from symattn.documents.data import written
from symattn.notation.latex import latex
from symattn.notation.markdown import words as in_markdown
from symattn.notation.mathml import math
from symattn.notation.text import Charset, in_ascii, line, width
from symattn.notation.tree import APPROX, EQUALS, Row, Tree
from symattn.printable import as_line, in_markup, printable, shortened
from symattn.worksheet.reports.overview import COLUMNS, FileReport, Overview, overview_data
from symattn.worksheet.reports.single import (
    GAP,
    GAP_BELOW,
    Cell,
    Report,
    StepReport,
    Table,
    report_data,
)
from symattn.worksheet.reports.wording import WORDING, of_count

_ASCII_SIGNS = {
    "⌊": "_",
    "≈": "~",
    "?": "?",
    "±": "+",
    "→": ">",
    "✗": "x",
    " ": " ",
    "✓": "v",
    "⋯": "..",
    "⋮": ":",
    "·": ".",
}
_INDENT = "   "

#: The sign before a step all of whose numbers are right.
_RIGHT = "✓"

#: What stands before a line that is worked out with the numbers that somebody wrote.
_OWN = "Your numbers give"

#: How many cells of a terminal a line takes, where it can be broken.
_WIDTH = 80

#: How many numbers of a file are listed where its report is shortened.
_LISTED = 8

#: A cell of the overview is not longer; what is below it has the whole name.
_CELL = 160

#: The most names of files without claims that the text has; the other formats have all.
_NAMES = 12

#: A line and the style that a terminal shows it in.
Styled = tuple[str, str]


def json_alone(report: Report) -> str:
    """A worksheet's report as indented JSON."""
    return written(report_data(report)) + "\n"


def json_overview(overview: Overview) -> str:
    """Several files' reports as one JSON object: by file name, a list of its worksheets."""
    return written(overview_data(overview)) + "\n"


def _headline(step: StepReport) -> str:
    """The sign and the counts of a step: ``✓ 9 right``, ``✗ 7 right, 2 wrong``."""
    sign = WORDING[step.verdict].sign.strip() or _RIGHT
    return f"{sign} {step.conclusion}"


def _step_lines(step: StepReport, report: Report) -> list[str]:
    """What is said under a step's tables: of its wrong numbers, and of those that pass."""
    lines = []
    for entry in step.failing:
        below = entry.remark in step.remarks
        message = replace(entry, remark="").message if below else entry.message
        lines.append(f"{WORDING[entry.verdict].sign} {message}")
    return [*lines, *_left_out(step, report), *map(_sentence, step.remarks), *step.accepted]


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."


def _left_out(step: StepReport, report: Report) -> Iterator[str]:
    """What of a step is not shown, and how to see it."""
    if step.left_out:
        yield _hinted(f"and {step.left_out} more", report)
    if step.heads_left_out:
        in_batch = any(table.caption.startswith("batch") for table in step.tables)
        one, several = ("matrix", "matrices") if in_batch else ("head", "heads")
        noun = one if step.heads_left_out == 1 else several
        yield _hinted(f"{step.heads_left_out} more {noun} with wrong numbers", report)


def _hinted(words: str, report: Report) -> str:
    """What is left out, and how to see it."""
    return f"{words}; {report.hint}" if report.hint else words


def _link_lines(report: Report) -> list[str]:
    """The signs of worked lines that do not hold."""
    return [f"{WORDING[each.verdict].sign} {each.message}" for each in report.lines]


def _other_reasons(report: Report) -> str:
    """How many explanations are not written out."""
    rest = len(report.reasons) - report.reasons_shown
    if not rest:
        return ""
    return _hinted(f"and {rest} more", report)


# ---- terminal ----------------------------------------------------------------------------


def styled_report(report: Report, charset: Charset = "unicode") -> Iterator[Styled]:
    """The report line by line, each with the style that a terminal shows it in."""
    return _in_charset(_styled(report), charset)


def styled_overview(
    overview: Overview, charset: Charset = "unicode", full: bool = False, listed: bool = True
) -> Iterator[Styled]:
    """The overview and the files with something wrong; `full`: the whole reports of all files.

    `listed`: with what could not be used, where standard error does not say it beside.
    """
    return _in_charset(_overview(overview, full, listed), charset)


def text_report(report: Report, charset: Charset = "unicode") -> str:
    """The report as plain text."""
    return "\n".join(words for _, words in styled_report(report, charset)) + "\n"


def text_overview(overview: Overview, charset: Charset = "unicode", full: bool = False) -> str:
    """The overview of several files as plain text."""
    return "\n".join(words for _, words in styled_overview(overview, charset, full)) + "\n"


def _in_charset(lines: Iterator[Styled], charset: Charset) -> Iterator[Styled]:
    for style, words in lines:
        plain = "".join(_ASCII_SIGNS.get(sign, sign) for sign in words)
        yield style, as_line(words if charset == "unicode" else in_ascii(plain))


def _styled(report: Report) -> Iterator[Styled]:
    if report.title:
        title = printable(report.title)
        yield "title", title
        yield "title", "─" * width(title)
    yield from _top(report)
    if report.first is not None:
        yield "plain", ""
        yield from _paragraph("heading", report.conclusion, "")
    else:
        yield from _paragraph("good", report.conclusion, "")
    yield "plain", ""
    longest = max((len(step.name) for step in report.steps), default=0)
    for step in report.steps:
        style = "good" if step.verdict == "right" else "plain" if step.passes else "bad"
        yield style, f"{step.name:<{longest}}  {_headline(step)}"
        for table in step.tables if _has_table(step, report) else ():
            yield from (("plain", f"{_INDENT}{words}") for words in _grid(table, report))
        for words in _step_lines(step, report):
            yield from _paragraph("note", words, hanging="  ")
        yield from _worked_lines(_OWN, step.own_work, _INDENT)
    for words in _link_lines(report):
        yield from _paragraph("bad", words, "", "  ")
    if report.style:
        yield "plain", ""
        yield from _paragraph("note", report.style, "")
    if report.notes:
        yield "plain", ""
        yield "heading", "Notes"
        for note in report.notes:
            yield from _paragraph("note", note)


def _top(report: Report) -> Iterator[Styled]:
    """The first wrong number, how it is worked out, and what would explain the numbers."""
    if report.first is None:
        return
    yield from _paragraph("bad", report.first.sentence, "")
    yield from _worked_lines(report.first.origin, report.first.worked)
    if not report.reasons:
        return
    yield "plain", ""
    yield "heading", "Consistent with"
    for reason in report.reasons[: report.reasons_shown]:
        yield from _paragraph("bad", f"{reason.name}: {reason.done}")
        yield from _paragraph("note", reason.tell, _INDENT * 2)
    if rest := _other_reasons(report):
        yield "note", f"{_INDENT}{rest}"


def _has_table(step: StepReport, report: Report) -> bool:
    """Whether a step's numbers are shown in full: what passes is said in a line."""
    return not step.passes or (not report.notation.limit and step.verdict != "right")


def _worked_lines(source: str, tree: Tree | None, indent: str = "") -> Iterator[Styled]:
    """A worked line and what it is made from, broken before = and ≈ where it is long."""
    if tree is None:
        return
    words = line(tree)
    whole = f"{indent}{source} {words}".rstrip() if source else f"{indent}{words}"
    if width(whole) <= _WIDTH:
        yield "formula", whole
        return
    if source:
        yield "formula", f"{indent}{source}"
    indent += _INDENT
    left, *links = re.split(r" (?=[=≈] )", words)
    row = f"{indent}{left}"
    behind = " " * width(row)
    begun = True  # the first link stands behind the left side, however long it is
    for link in links:
        wide = width(f"{behind} {link}") > _WIDTH
        for number, piece in enumerate(_terms(link) if wide else [link]):
            new = wide and number == 0
            if not begun and (new or width(f"{row} {piece}") > _WIDTH):
                yield "formula", row
                row = behind
            row, begun = f"{row} {piece}", False
    yield "formula", row


def _terms(link: str) -> list[str]:
    """A link before whose plus signs a line may end."""
    return re.split(r" (?=\+ )", link)


def _paragraph(
    style: str, words: str, indent: str = _INDENT, hanging: str = ""
) -> Iterator[Styled]:
    """Words broken between them, where a terminal ends; "follows from" keeps its entry."""
    kept = printable(words).replace("follows from ", "follows\u00a0from\u00a0")
    for each in textwrap.wrap(
        kept,
        _WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + hanging,
        break_long_words=False,
        break_on_hyphens=False,
    ):
        yield style, each.replace("\u00a0", " ")


def _grid(table: Table, report: Report) -> Iterator[str]:
    """A table with the sign of its verdict before each number; columns in blocks that fit."""
    if table.caption:
        yield table.caption
    labels = [printable(label) for label, _ in table.rows]
    left = max((width(label) for label in labels), default=0)
    top = [printable(label) for label in table.columns]
    columns = [
        _padded([label, *(_cell(cells[k]) for _, cells in table.rows)])
        for k, label in enumerate(top)
    ]
    names = [" " * left, *(label + " " * (left - width(label)) for label in labels)]
    room = _WIDTH - len(_INDENT) - left
    for block in _blocks(columns, room):
        for name, *cells in zip(names, *block, strict=True):
            yield "  ".join([name, *cells]).rstrip()
    if table.left_out:
        yield f"({_hinted(table.left_out, report)})"


def _cell(cell: Cell) -> str:
    if cell in (GAP, GAP_BELOW):
        return cell.text
    sign = WORDING[cell.verdict].sign if cell.verdict else " "
    return f"{sign} {cell.text or '·'}"


def _padded(cells: list[str]) -> list[str]:
    most = max(map(width, cells))
    return [" " * (most - width(cell)) + cell for cell in cells]


def _blocks(columns: list[list[str]], room: int) -> Iterator[list[list[str]]]:
    """The columns in as many blocks as it takes for each to fit."""
    block: list[list[str]] = []
    taken = 0
    for column in columns:
        size = width(column[0]) + 2
        if block and taken + size > room:
            yield block
            block, taken = [], 0
        block.append(column)
        taken += size
    yield block


def _overview(overview: Overview, full: bool, listed: bool) -> Iterator[Styled]:
    several = overview.several
    total = "good" if overview.passes else "bad"
    if several and overview.rows:
        yield from _paragraph(total, overview.conclusion, "")
        yield "plain", ""
        yield from (("plain", words) for words in _rows(overview))
        if overview.all_right:
            yield "note", overview.all_right
        yield "plain", ""
    for one in overview.files:
        block = list(_of_file(one, several, full))
        yield from block
        yield from [("plain", "")] if block else []
    for heading, problems in overview.unmarked[0 if listed else 1 : 2]:
        if problems:
            yield "heading", heading
            yield from (("bad", problem) for problem in problems)
            yield "plain", ""
    if overview.skipped:
        yield from _paragraph("note", f"Without claims: {_few(overview.skipped)}", "")
        yield "plain", ""
    yield from _paragraph(total, overview.conclusion, "")


def _few(names: Sequence[str]) -> str:
    """The first of the names, and how many more there are."""
    first = [shortened(printable(name), _CELL) for name in names[:_NAMES]]
    more = [f"and {len(names) - _NAMES} more"] if len(names) > _NAMES else []
    return ", ".join([*first, *more])


def _rows(overview: Overview) -> Iterator[str]:
    """A line for each file with something wrong."""
    table: list[tuple[str, ...]] = [COLUMNS]
    for row in overview.rows:
        table.append(tuple(shortened(printable(words), _CELL) for words in row.cells))
    sizes = [max(width(line[k]) for line in table) for k in range(len(table[0]))]
    for cells in table:
        padded = (
            cell + " " * (size - width(cell)) for size, cell in zip(sizes, cells, strict=True)
        )
        yield "  ".join(padded).rstrip()


def _of_file(one: FileReport, several: bool, full: bool) -> Iterator[Styled]:
    """What is wrong in a file, and where; `full`: the whole reports of its worksheets."""
    if one.accepted and not full:
        return
    if several:
        yield "heading", printable(one.name)
    for each in one.reports:
        if full:
            yield from _styled(each)
        elif each.first is not None:
            if len(one.reports) > 1 and each.title:
                yield "plain", printable(each.title)
            yield from _top(each)
    where = list(_places(one, full))
    if where and any(full or each.first is not None for each in one.reports):
        yield "plain", ""
    yield from where


def _places(one: FileReport, full: bool) -> Iterator[Styled]:
    """The numbers that are not accepted, and the signs that do not hold, where they stand."""
    if full and not one.is_page:
        return  # the tables of its only report show them
    failing = one.failing
    if not full:
        mistakes = tuple(finding for finding in failing if finding.verdict != "carried")
        failing = (mistakes or failing)[:_LISTED]
    yield from (("bad", one.located(finding)) for finding in failing)
    yield from (("bad", one.located(sign)) for sign in one.failing_lines)
    if left := [finding for finding in one.failing if finding not in failing]:
        alike = all(finding.verdict == "carried" for finding in left)
        why = f" that {of_count('carried', len(left))}" if alike else ""
        them = "it" if len(left) == 1 else "them"
        yield "note", f"and {len(left)} more{why}; --full lists {them}"


# ---- Markdown ----------------------------------------------------------------------------


def markdown_report(report: Report, level: int = 2) -> str:
    """The report as Markdown, with a table a step and formulas between dollars.

    `level` is that of its heading.
    """
    mark = "#" * level
    out = [f"{mark} {_md(report.title)}", ""] if report.title else []
    if report.first is not None:
        out += [f"**{_md(report.first.sentence)}**", ""]
        if report.first.worked is not None:
            before = f"{_md(report.first.origin)}\n\n" if report.first.origin else ""
            out += [f"{before}$${latex(report.first.worked)}$$", ""]
    if report.reasons:
        out += [f"{mark}# Consistent with", ""]
        for reason in report.reasons[: report.reasons_shown]:
            out.append(f"- **{_md(reason.name)}**: {_md(reason.done)}. {_md(reason.tell)}")
        if rest := _other_reasons(report):
            out.append(f"- {_md(rest)}")
        out.append("")
    if report.first is not None:
        out += [f"{mark}# Step by step", "", _md(report.conclusion), ""]
    else:
        out += [f"**{_md(report.conclusion)}**", ""]
    for step in report.steps:
        body = list(_markdown_step(step, report))
        gap = [""] if body and out[-1] else []  # right steps stand together in a list
        out += [*gap, f"- **{_md(step.name)}** {_md(_headline(step))}"]
        out += ["", *body] if body else []
    if out[-1]:
        out.append("")
    if report.lines:
        out += [*(f"- {_md(words)}" for words in _link_lines(report)), ""]
    if report.style:
        out += [_md(report.style), ""]
    if report.notes:
        out += [f"{mark}# Notes", "", *(f"- {_md(note)}" for note in report.notes), ""]
    return "\n".join(out).rstrip() + "\n"


def _markdown_step(step: StepReport, report: Report) -> Iterator[str]:
    for table in step.tables if _has_table(step, report) else ():
        if table.caption:
            yield from (f"*{table.caption}*", "")
        yield "| | " + " | ".join(map(_md, table.columns)) + " |"
        yield "|---|" + "---:|" * len(table.columns)
        for label, row in table.rows:
            yield f"| {_md(label)} | " + " | ".join(map(_md_cell, row)) + " |"
        yield ""
        if table.left_out:
            yield from (f"({_md(_hinted(table.left_out, report))})", "")
    lines = _step_lines(step, report)
    yield from (f"- {_md(words)}" for words in lines)
    if lines:
        yield ""
    if step.own_work is not None:
        yield from (f"{_OWN} ${latex(step.own_work)}$", "")


def markdown_overview(overview: Overview) -> str:
    """The overview of several files and the reports of those with something wrong."""
    several = overview.several
    out = []
    if several:
        out += ["# Overview", "", f"**{_md(overview.conclusion)}**", ""]
        if overview.rows:
            out += [f"| {' | '.join(COLUMNS)} |", "|---|---|---:|---:|---|"]
            out += [f"| {' | '.join(map(_md, row.cells))} |" for row in overview.rows]
            out += ["", overview.all_right, ""] if overview.all_right else [""]
    for one in overview.files:
        reports = one.reports if not several else one.failing_reports
        if several and reports:
            out += [f"# {_md(one.name)}", ""]
        out += [markdown_report(each) for each in reports]
        if one.is_page and one.failing:
            out += ["### Where", ""]
            out += [*(f"- {_md(one.located(finding))}" for finding in one.failing), ""]
    for heading, lines in overview.unmarked:
        out += [f"# {heading}", "", *(f"- {_md(words)}" for words in lines), ""] if lines else []
    return "\n".join(out).rstrip() + "\n"


def _md(text: str) -> str:
    return in_markdown(printable(text)).strip()


def _md_cell(cell: Cell) -> str:
    if cell.verdict in ("", "right", "gap"):
        return _md(cell.text)
    return f"{WORDING[cell.verdict].sign} **{_md(cell.text)}**"


# ---- HTML --------------------------------------------------------------------------------

_STYLE = """
.symattn-report{font:1rem/1.5 system-ui,sans-serif;max-width:60rem;color:#1a1a1a;background:#fff;
margin:0 auto;padding:.5rem 1rem}
.symattn-report h1,.symattn-report h2{line-height:1.25}
.symattn-report h3{margin:1.5rem 0 .25rem}
.symattn-report h4{margin:1rem 0 .25rem}
.symattn-report .first{border-left:.35rem solid #b00020;padding:.25rem .75rem;margin:1rem 0}
.symattn-report .first strong{font-size:1.125rem}
.symattn-report .passes{border-color:#1b6e3c}
.symattn-report .wide{overflow-x:auto}
.symattn-report table{border-collapse:collapse;margin:.5rem 0}
.symattn-report caption{text-align:left}
.symattn-report td,.symattn-report th{padding:.2rem .6rem;text-align:right;
border:1px solid #767676}
.symattn-report thead th,.symattn-report thead td{border-width:0 0 1px}
.symattn-report tbody th{border-width:0 1px 0 0;text-align:left;font-weight:600}
.symattn-report td{font-variant-numeric:tabular-nums;color:#000;background:#fff;white-space:nowrap}
.symattn-report td.gap{color:#595959;border:0;text-align:center}
.symattn-report .files td,.symattn-report .files th{text-align:left;border-width:0 0 1px}
.symattn-report .worked{line-height:2.5}
.symattn-report .worked math{math-style:normal}
.symattn-report h1{font-size:1.5rem;overflow-wrap:anywhere;margin:2.5rem 0 .75rem}
.symattn-report h1:first-child{margin-top:.75rem}
.symattn-report h2{font-size:1.25rem}
.symattn-report ul.told{list-style:none;padding:0}
.symattn-report li{overflow-wrap:anywhere}
.symattn-report .files tbody th{overflow-wrap:anywhere;min-width:8rem}
.symattn-report td .told{position:absolute;width:1px;height:1px;overflow:hidden;
clip-path:inset(50%);white-space:nowrap}
.symattn-report ul{padding-left:1.25rem;margin:.25rem 0}
""" + "".join(
    f".symattn-report td.{verdict}{{background:{wording.tint}}}\n"
    for verdict, wording in WORDING.items()
    if wording.tint
)


def html_report(report: Report) -> str:
    """The report as an HTML section with its own style, to stand alone or inside a page."""
    return _section(_html_report(report))


def html_overview(overview: Overview, page: bool = True) -> str:
    """The overview of several files, and the reports of those with something wrong.

    A single worksheet has its report alone. `page`: as a whole page, not as a section of one.
    """
    several = overview.several
    out = []
    if several:
        out += [
            "<h1>Overview</h1>",
            _html_first(f"<strong>{_html(overview.conclusion)}</strong>", overview.passes),
        ]
        if overview.rows:
            out.append(_html_rows(overview))
        if overview.all_right:
            out.append(f"<p>{_html(overview.all_right)}</p>")
    for index, one in enumerate(overview.files):
        reports = one.reports if not several else one.failing_reports
        if several and (reports or one.failing):
            out.append(f'<h1 id="file-{index + 1}">{_html(one.name)}</h1>')
        for each in reports:
            out += _html_report(each)
        if one.is_page and one.failing:
            out.append(f"<h3>Where</h3>{_html_list('', map(one.located, one.failing))}")
    for heading, lines in overview.unmarked:
        out += [f"<h1>{heading}</h1>", _html_list("", lines)] if lines else []
    if not page:
        return _section(out)
    title = next((each.title for one in overview.files for each in one.reports if each.title), "")
    title = "Overview" if several else title or "Report"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"/>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>\n'
        f"<title>{_html(title)}</title></head><body>\n{_section(out)}</body></html>\n"
    )


def _section(parts: Sequence[str]) -> str:
    body = "\n".join(parts)
    return f'<section class="symattn-report">\n<style>{_STYLE}</style>\n{body}\n</section>\n'


def _html_report(report: Report) -> list[str]:
    out = [f"<h2>{_html(report.title)}</h2>"] if report.title else []
    if report.first is None:
        out.append(_html_first(f"<strong>{_html(report.conclusion)}</strong>", passes=True))
    else:
        worked = report.first.worked
        inside = f"<strong>{_html(report.first.sentence)}</strong>"
        if worked is not None:
            inside += f"<br/>{_html(report.first.origin)}{_html_math(worked)}"
        out.append(_html_first(inside, passes=False))
    if report.reasons:
        items = "".join(
            f"<li><strong>{_html(reason.name)}</strong>: {_html(reason.done)}. "
            f"{_html(reason.tell)}</li>"
            for reason in report.reasons[: report.reasons_shown]
        )
        rest = _other_reasons(report)
        items += f"<li>{_html(rest)}</li>" if rest else ""
        out.append(f"<h3>Consistent with</h3><ul>{items}</ul>")
    if report.first is not None:
        out.append(f"<h3>Step by step</h3><p>{_html(report.conclusion)}</p>")
    for step in report.steps:
        out += _html_step(step, report)
    if report.lines:
        out.append(_html_list(' class="told"', _link_lines(report)))
    if report.style:
        out.append(f"<p>{_html(report.style)}</p>")
    if report.notes:
        out.append(f"<h3>Notes</h3>{_html_list('', report.notes)}")
    return out


def _html_first(inside: str, passes: bool) -> str:
    return f'<div class="first{" passes" if passes else ""}">{inside}</div>'


def _html_math(tree: Tree) -> str:
    """A worked line, each of its links a formula of its own, so that a narrow page can break it."""
    links = (math(link, alttext=line(link), display=False) for link in _links(tree))
    return f'<div class="worked wide" tabindex="0">{" ".join(links)}</div>'


def _links(tree: Tree) -> Iterator[Tree]:
    """The left side of a chain of equations, then each = or ≈ with what stands behind it."""
    items = tree.items if isinstance(tree, Row) else (tree,)
    starts = [k for k, item in enumerate(items) if item in (EQUALS, APPROX)]
    for start, end in pairwise([0, *starts, len(items)]):
        yield Row(items[start:end])


def _html_step(step: StepReport, report: Report) -> Iterator[str]:
    lines = _step_lines(step, report)
    yield f"<h4>{_html(step.name)} <small>{_html(_headline(step))}</small></h4>"
    for table in step.tables if _has_table(step, report) else ():
        yield _html_table(step.name, table, report)
    if lines:
        yield _html_list(' class="told"', lines)
    if step.own_work is not None:
        yield f"{_OWN}{_html_math(step.own_work)}"


def _html_list(kind: str, items: Sequence[str] | Iterator[str]) -> str:
    inside = "".join(f"<li>{_html(words)}</li>" for words in items)
    return f"<ul{kind}>{inside}</ul>"


def _html_table(name: str, table: Table, report: Report) -> str:
    title = f"{name}, {table.caption}" if table.caption else name
    caption = f"<caption>{_html(table.caption)}</caption>" if table.caption else ""
    head = "".join(f'<th scope="col">{_html(label)}</th>' for label in table.columns)
    rows = []
    for label, cells in table.rows:
        inside = "".join(map(_html_cell, cells))
        rows.append(f'<tr><th scope="row">{_html(label)}</th>{inside}</tr>')
    left_out = f"<p>({_html(_hinted(table.left_out, report))})</p>" if table.left_out else ""
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{_html(title)}"><table>'
        f"{caption}<thead><tr><td></td>{head}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>{left_out}"
    )


def _html_cell(cell: Cell) -> str:
    """A number with the sign of its verdict, and its name for those who hear the page."""
    if cell.verdict in ("", "right", "gap"):
        return f'<td class="{cell.verdict or "blank"}">{_html(cell.text)}</td>'
    sign, name, _ = WORDING[cell.verdict]
    return (
        f'<td class="{cell.verdict}"><span aria-hidden="true">{sign}</span>'
        f'<span class="told">{name}</span> {_html(cell.text)}</td>'
    )


def _html_rows(overview: Overview) -> str:
    names = {one.name: index + 1 for index, one in enumerate(overview.files)}
    head = "".join(f'<th scope="col">{word}</th>' for word in COLUMNS)
    rows = []
    for row in overview.rows:
        link = f'<a href="#file-{names[row.file]}">{_html(row.file)}</a>'
        inside = "".join(f"<td>{_html(cell)}</td>" for cell in row.cells[1:])
        rows.append(f'<tr><th scope="row">{link}</th>{inside}</tr>')
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="Overview">'
        f'<table class="files"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _html(words: str) -> str:
    return in_markup(printable(words))
