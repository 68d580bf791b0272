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
from symattn.worksheet.reports.overview import FileReport, Overview, overview_data
from symattn.worksheet.reports.report import (
    GAP,
    GAP_BELOW,
    PHRASES,
    SIGNS,
    Cell,
    Report,
    StepReport,
    Table,
    report_data,
)

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

#: What the overview says of a file with something wrong.
_COLUMNS = ("file", "first wrong", "wrote", "true", "consistent with")

#: A line and the style that a terminal shows it in.
Styled = tuple[str, str]


def json_alone(found: Report) -> str:
    """A worksheet's report as indented JSON."""
    return written(report_data(found)) + "\n"


def json_overview(found: Overview) -> str:
    """Several files' reports as one JSON object: by file name, a list of its worksheets."""
    return written(overview_data(found)) + "\n"


def _headline(step: StepReport) -> str:
    """The sign and the counts of a step: ``✓ 9 right``, ``✗ 7 right, 2 wrong``."""
    sign = SIGNS[step.verdict].strip() or _RIGHT
    return f"{sign} {step.conclusion}"


def _told_of(step: StepReport, found: Report) -> list[str]:
    """What is said under a step's tables: of its wrong numbers, and of those that pass."""
    told = []
    for entry in step.findings:
        once = entry.remark in step.reasons  # said once, below
        told.append(
            f"{SIGNS[entry.verdict]} {replace(entry, remark='').told if once else entry.told}"
        )
    return [*told, *_left_out(step, found), *map(_sentence, step.reasons), *step.let_pass]


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."


def _left_out(step: StepReport, found: Report) -> Iterator[str]:
    """What of a step is not shown, and how to see it."""
    more = f"; {found.more}" if found.more else ""
    if step.left_out:
        yield f"and {step.left_out} more{more}"
    if step.heads_left_out:
        in_batch = any(table.caption.startswith("batch") for table in step.tables)
        one, more_ = ("matrix", "matrices") if in_batch else ("head", "heads")
        heads = one if step.heads_left_out == 1 else more_
        yield f"{step.heads_left_out} more {heads} with wrong numbers{more}"


def _lines(found: Report) -> list[str]:
    """The signs of worked lines that do not hold."""
    return [f"{SIGNS[each.verdict]} {each.told}" for each in found.lines]


def _other_reasons(found: Report) -> str:
    """How many explanations are not written out."""
    rest = len(found.reasons) - found.shown_reasons
    if not rest:
        return ""
    more = f"; {found.more}" if found.more else ""
    return f"and {rest} more{more}"


# ---- terminal ----------------------------------------------------------------------------


def styled_report(found: Report, charset: Charset = "unicode") -> Iterator[Styled]:
    """The report line by line, each with the style that a terminal shows it in."""
    return _in_charset(_styled(found), charset)


def styled_overview(
    found: Overview, charset: Charset = "unicode", full: bool = False, listed: bool = True
) -> Iterator[Styled]:
    """The overview and the files with something wrong; `full`: the whole reports of all files.

    `listed`: with what could not be used, where standard error does not say it beside.
    """
    return _in_charset(_overview(found, full, listed), charset)


def text_report(found: Report, charset: Charset = "unicode") -> str:
    """The report as plain text."""
    return "\n".join(words for _, words in styled_report(found, charset)) + "\n"


def text_overview(found: Overview, charset: Charset = "unicode", full: bool = False) -> str:
    """The overview of several files as plain text."""
    return "\n".join(words for _, words in styled_overview(found, charset, full)) + "\n"


def _in_charset(lines: Iterator[Styled], charset: Charset) -> Iterator[Styled]:
    for style, words in lines:
        plain = "".join(_ASCII_SIGNS.get(sign, sign) for sign in words)
        yield style, as_line(words if charset == "unicode" else in_ascii(plain))


def _styled(found: Report) -> Iterator[Styled]:
    if found.title:
        title = printable(found.title)
        yield "title", title
        yield "title", "─" * width(title)
    yield from _top(found)
    if found.first is not None:
        yield "plain", ""
        yield from _paragraph("heading", found.conclusion, "")
    else:
        yield from _paragraph("good", found.conclusion, "")
    yield "plain", ""
    longest = max((len(step.name) for step in found.steps), default=0)
    for step in found.steps:
        style = "good" if step.verdict == "right" else "plain" if step.passes else "bad"
        yield style, f"{step.name:<{longest}}  {_headline(step)}"
        for table in step.tables if _has_table(step, found) else ():
            yield from (("plain", f"{_INDENT}{words}") for words in _grid(table, found))
        for words in _told_of(step, found):
            yield from _paragraph("note", words, hanging="  ")
        yield from _worked_lines(_OWN, step.own_work, _INDENT)
    for words in _lines(found):
        yield from _paragraph("bad", words, "", "  ")
    if found.style:
        yield "plain", ""
        yield from _paragraph("note", found.style, "")
    if found.notes:
        yield "plain", ""
        yield "heading", "Notes"
        for note in found.notes:
            yield from _paragraph("note", note)


def _top(found: Report) -> Iterator[Styled]:
    """The first wrong number, how it is worked out, and what would explain the numbers."""
    if found.first is None:
        return
    yield from _paragraph("bad", found.first.sentence, "")
    yield from _worked_lines(found.first.source, found.first.worked)
    if not found.reasons:
        return
    yield "plain", ""
    yield "heading", "Consistent with"
    for reason in found.reasons[: found.shown_reasons]:
        yield from _paragraph("bad", f"{reason.name}: {reason.done}")
        yield from _paragraph("note", reason.tell, _INDENT * 2)
    if rest := _other_reasons(found):
        yield "note", f"{_INDENT}{rest}"


def _has_table(step: StepReport, found: Report) -> bool:
    """Whether a step's numbers are shown in full: what passes is said in a line."""
    return not step.passes or (not found.notation.limit and step.verdict != "right")


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
    told = f"{indent}{left}"
    behind = " " * width(told)
    begun = True  # the first link stands behind the left side, however long it is
    for link in links:
        wide = width(f"{behind} {link}") > _WIDTH
        for number, piece in enumerate(_terms(link) if wide else [link]):
            new = wide and number == 0
            if not begun and (new or width(f"{told} {piece}") > _WIDTH):
                yield "formula", told
                told = behind
            told, begun = f"{told} {piece}", False
    yield "formula", told


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


def _grid(table: Table, found: Report) -> Iterator[str]:
    """A table with the sign of its verdict before each number; columns in blocks that fit."""
    if table.caption:
        yield table.caption
    labels = [printable(label) for label, _ in table.rows]
    left = max((width(label) for label in labels), default=0)
    top = [printable(label) for label in table.columns]
    columns = [
        _padded([label, *(_told(cells[k]) for _, cells in table.rows)])
        for k, label in enumerate(top)
    ]
    names = [" " * left, *(label + " " * (left - width(label)) for label in labels)]
    room = _WIDTH - len(_INDENT) - left
    for block in _blocks(columns, room):
        for name, *cells in zip(names, *block, strict=True):
            yield "  ".join([name, *cells]).rstrip()
    if table.left_out:
        more = f"; {found.more}" if found.more else ""
        yield f"({table.left_out}{more})"


def _told(cell: Cell) -> str:
    if cell in (GAP, GAP_BELOW):
        return cell.text
    return f"{SIGNS.get(cell.verdict, ' ')} {cell.text or '·'}"


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


def _overview(found: Overview, full: bool, listed: bool) -> Iterator[Styled]:
    several = found.several
    total = "good" if found.passes else "bad"
    if several and found.rows:
        yield from _paragraph(total, found.conclusion, "")
        yield "plain", ""
        yield from (("plain", words) for words in _rows(found))
        if found.all_right:
            yield "note", found.all_right
        yield "plain", ""
    for one in found.files:
        block = list(_of_file(one, several, full))
        yield from block
        yield from [("plain", "")] if block else []
    unused = found.unused if listed else ()
    for heading, lines in (("Could not be used", unused), ("Not finished", found.unfinished)):
        if lines:
            yield "heading", heading
            yield from (("bad", told) for told in lines)
            yield "plain", ""
    if found.skipped:
        yield from _paragraph("note", f"Without claims: {_few(found.skipped)}", "")
        yield "plain", ""
    yield from _paragraph(total, found.conclusion, "")


def _few(names: Sequence[str]) -> str:
    """The first of the names, and how many more there are."""
    told = [shortened(printable(name), _CELL) for name in names[:_NAMES]]
    more = [f"and {len(names) - _NAMES} more"] if len(names) > _NAMES else []
    return ", ".join([*told, *more])


def _rows(found: Overview) -> Iterator[str]:
    """A line for each file with something wrong."""
    table: list[tuple[str, ...]] = [_COLUMNS]
    for row in found.rows:
        told = row.file, row.first_wrong, row.claimed, row.true, row.explained
        table.append(tuple(shortened(printable(words), _CELL) for words in told))
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
        mistakes = [placed for placed in failing if placed.verdict != "carried"]
        failing = tuple((mistakes or list(failing))[:_LISTED])
    for placed in failing:
        yield "bad", f"{one.name}:{placed.line}:{placed.column}: {placed.told}"
    for sign in one.false_lines:
        place = f"{one.name}:{sign.line}:{sign.column}" if sign.line else one.name
        yield "bad", f"{place}: {sign.told}"
    if left := [placed for placed in one.failing if placed not in failing]:
        alike = all(placed.verdict == "carried" for placed in left)
        verb = (
            PHRASES["carried"]
            if len(left) == 1
            else PHRASES["carried"].replace("follows", "follow")
        )
        why = f" that {verb}" if alike else ""
        them = "it" if len(left) == 1 else "them"
        yield "note", f"and {len(left)} more{why}; --full lists {them}"


# ---- Markdown ----------------------------------------------------------------------------


def markdown_report(found: Report, level: int = 2) -> str:
    """The report as Markdown, with a table a step and formulas between dollars.

    `level` is that of its heading.
    """
    mark = "#" * level
    out = [f"{mark} {_md(found.title)}", ""] if found.title else []
    if found.first is not None:
        out += [f"**{_md(found.first.sentence)}**", ""]
        if found.first.worked is not None:
            before = f"{_md(found.first.source)}\n\n" if found.first.source else ""
            out += [f"{before}$${latex(found.first.worked)}$$", ""]
    if found.reasons:
        out += [f"{mark}# Consistent with", ""]
        for reason in found.reasons[: found.shown_reasons]:
            out.append(f"- **{_md(reason.name)}**: {_md(reason.done)}. {_md(reason.tell)}")
        if rest := _other_reasons(found):
            out.append(f"- {_md(rest)}")
        out.append("")
    if found.first is not None:
        out += [f"{mark}# Step by step", "", _md(found.conclusion), ""]
    else:
        out += [f"**{_md(found.conclusion)}**", ""]
    for step in found.steps:
        shown = list(_markdown_step(step, found))
        gap = [""] if shown and out[-1] else []  # right steps stand together in a list
        out += [*gap, f"- **{_md(step.name)}** {_md(_headline(step))}"]
        out += ["", *shown] if shown else []
    if out[-1]:
        out.append("")
    if found.lines:
        out += [*(f"- {_md(words)}" for words in _lines(found)), ""]
    if found.style:
        out += [_md(found.style), ""]
    if found.notes:
        out += [f"{mark}# Notes", "", *(f"- {_md(note)}" for note in found.notes), ""]
    return "\n".join(out).rstrip() + "\n"


def _markdown_step(step: StepReport, found: Report) -> Iterator[str]:
    for table in step.tables if _has_table(step, found) else ():
        if table.caption:
            yield from (f"*{table.caption}*", "")
        yield "| | " + " | ".join(map(_md, table.columns)) + " |"
        yield "|---|" + "---:|" * len(table.columns)
        for label, row in table.rows:
            yield f"| {_md(label)} | " + " | ".join(map(_md_cell, row)) + " |"
        yield ""
        if table.left_out:
            more = f"; {found.more}" if found.more else ""
            yield from (f"({_md(table.left_out + more)})", "")
    told = _told_of(step, found)
    yield from (f"- {_md(words)}" for words in told)
    if told:
        yield ""
    if step.own_work is not None:
        yield from (f"{_OWN} ${latex(step.own_work)}$", "")


def markdown_overview(found: Overview) -> str:
    """The overview of several files and the reports of those with something wrong."""
    several = found.several
    out = []
    if several:
        out += ["# Overview", "", f"**{_md(found.conclusion)}**", ""]
        if found.rows:
            out += [
                "| file | first wrong | wrote | true | consistent with |",
                "|---|---|---:|---:|---|",
            ]
            for row in found.rows:
                cells = row.file, row.first_wrong, row.claimed, row.true, row.explained
                out.append(f"| {' | '.join(map(_md, cells))} |")
            out += ["", found.all_right, ""] if found.all_right else [""]
    for one in found.files:
        shown = _worth_showing(one, several)
        if several and shown:
            out += [f"# {_md(one.name)}", ""]
        out += [markdown_report(each) for each in shown]
        if one.is_page and one.failing:
            out += ["### Where", ""]
            out += [f"- {_md(f'{one.name}:{p.line}:{p.column}: {p.told}')}" for p in one.failing]
            out.append("")
    if found.unused:
        out += ["# Could not be used", "", *(f"- {_md(told)}" for told in found.unused), ""]
    if found.unfinished:
        out += ["# Not finished", "", *(f"- {_md(told)}" for told in found.unfinished), ""]
    if found.skipped:
        out += ["# Without claims", "", *(f"- {_md(name)}" for name in found.skipped), ""]
    return "\n".join(out).rstrip() + "\n"


def _worth_showing(one: FileReport, several: bool) -> tuple[Report, ...]:
    """The reports that are written out: among several files only those that do not pass."""
    return tuple(each for each in one.reports if not several or not each.passes)


def _md(text: str) -> str:
    return in_markdown(printable(text)).strip()


def _md_cell(cell: Cell) -> str:
    if cell.verdict in ("", "right", "gap"):
        return _md(cell.text)
    return f"{SIGNS[cell.verdict]} **{_md(cell.text)}**"


# ---- HTML --------------------------------------------------------------------------------

#: Tints behind black text, each with a contrast above 7 to 1; the sign says the verdict too.
_TINTS = {
    "truncated": "#fff3c4",
    "rounded-early": "#fff3c4",
    "undecided": "#e5e5e5",
    "last-digit": "#ffe0b3",
    "carried": "#ffe0b3",
    "wrong": "#ffc9c9",
}

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
    f".symattn-report td.{verdict}{{background:{tint}}}\n" for verdict, tint in _TINTS.items()
)


def html_report(found: Report) -> str:
    """The report as an HTML section with its own style, to stand alone or inside a page."""
    return _section(_html_report(found))


def html_overview(found: Overview, page: bool = True) -> str:
    """The overview of several files, and the reports of those with something wrong.

    A single worksheet has its report alone. `page`: as a whole page, not as a section of one.
    """
    several = found.several
    out = []
    if several:
        out += [
            "<h1>Overview</h1>",
            _html_first(f"<strong>{_html(found.conclusion)}</strong>", found.passes),
        ]
        if found.rows:
            out.append(_html_rows(found))
        if found.all_right:
            out.append(f"<p>{_html(found.all_right)}</p>")
    for index, one in enumerate(found.files):
        shown = _worth_showing(one, several)
        if several and (shown or one.failing):
            out.append(f'<h1 id="file-{index + 1}">{_html(one.name)}</h1>')
        for each in shown:
            out += _html_report(each)
        if one.is_page and one.failing:
            places = (f"{one.name}:{p.line}:{p.column}: {p.told}" for p in one.failing)
            out.append(f"<h3>Where</h3>{_html_list('', places)}")
    if found.unused:
        out += ["<h1>Could not be used</h1>", _html_list("", found.unused)]
    if found.unfinished:
        out += ["<h1>Not finished</h1>", _html_list("", found.unfinished)]
    if found.skipped:
        out += ["<h1>Without claims</h1>", _html_list("", found.skipped)]
    if not page:
        return _section(out)
    title = next((each.title for one in found.files for each in one.reports if each.title), "")
    title = "Overview" if several else title or "Report"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"/>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>\n'
        f"<title>{_html(title)}</title></head><body>\n{_section(out)}</body></html>\n"
    )


def _section(parts: Sequence[str]) -> str:
    body = "\n".join(parts)
    return f'<section class="symattn-report">\n<style>{_STYLE}</style>\n{body}\n</section>\n'


def _html_report(found: Report) -> list[str]:
    out = [f"<h2>{_html(found.title)}</h2>"] if found.title else []
    if found.first is None:
        out.append(_html_first(f"<strong>{_html(found.conclusion)}</strong>", passes=True))
    else:
        worked = found.first.worked
        inside = f"<strong>{_html(found.first.sentence)}</strong>"
        if worked is not None:
            inside += f"<br/>{_html(found.first.source)}{_html_math(worked)}"
        out.append(_html_first(inside, passes=False))
    if found.reasons:
        items = "".join(
            f"<li><strong>{_html(reason.name)}</strong>: {_html(reason.done)}. "
            f"{_html(reason.tell)}</li>"
            for reason in found.reasons[: found.shown_reasons]
        )
        rest = _other_reasons(found)
        items += f"<li>{_html(rest)}</li>" if rest else ""
        out.append(f"<h3>Consistent with</h3><ul>{items}</ul>")
    if found.first is not None:
        out.append(f"<h3>Step by step</h3><p>{_html(found.conclusion)}</p>")
    for step in found.steps:
        out += _html_step(step, found)
    if found.lines:
        out.append(_html_list(' class="told"', _lines(found)))
    if found.style:
        out.append(f"<p>{_html(found.style)}</p>")
    if found.notes:
        out.append(f"<h3>Notes</h3>{_html_list('', found.notes)}")
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


def _html_step(step: StepReport, found: Report) -> Iterator[str]:
    told = _told_of(step, found)
    yield f"<h4>{_html(step.name)} <small>{_html(_headline(step))}</small></h4>"
    for table in step.tables if _has_table(step, found) else ():
        yield _html_table(step.name, table, found)
    if told:
        yield _html_list(' class="told"', told)
    if step.own_work is not None:
        yield f"{_OWN}{_html_math(step.own_work)}"


def _html_list(kind: str, items: Sequence[str] | Iterator[str]) -> str:
    inside = "".join(f"<li>{_html(words)}</li>" for words in items)
    return f"<ul{kind}>{inside}</ul>"


def _html_table(name: str, table: Table, found: Report) -> str:
    title = f"{name}, {table.caption}" if table.caption else name
    caption = f"<caption>{_html(table.caption)}</caption>" if table.caption else ""
    head = "".join(f'<th scope="col">{_html(label)}</th>' for label in table.columns)
    rows = []
    for label, cells in table.rows:
        inside = "".join(map(_html_cell, cells))
        rows.append(f'<tr><th scope="row">{_html(label)}</th>{inside}</tr>')
    more = f"; {found.more}" if found.more else ""
    left_out = f"<p>({_html(table.left_out + more)})</p>" if table.left_out else ""
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{_html(title)}"><table>'
        f"{caption}<thead><tr><td></td>{head}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>{left_out}"
    )


def _html_cell(cell: Cell) -> str:
    """A number with the sign of its verdict, and its name for those who hear the page."""
    if cell.verdict in ("", "right", "gap"):
        return f'<td class="{cell.verdict or "blank"}">{_html(cell.text)}</td>'
    sign, name = SIGNS[cell.verdict], PHRASES[cell.verdict]
    return (
        f'<td class="{cell.verdict}"><span aria-hidden="true">{sign}</span>'
        f'<span class="told">{name}</span> {_html(cell.text)}</td>'
    )


def _html_rows(found: Overview) -> str:
    names = {one.name: index + 1 for index, one in enumerate(found.files)}
    head = "".join(f'<th scope="col">{word}</th>' for word in _COLUMNS)
    rows = []
    for row in found.rows:
        link = f'<a href="#file-{names[row.file]}">{_html(row.file)}</a>'
        cells = (row.first_wrong, row.claimed, row.true, row.explained)
        inside = "".join(f"<td>{_html(cell)}</td>" for cell in cells)
        rows.append(f'<tr><th scope="row">{link}</th>{inside}</tr>')
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="Overview">'
        f'<table class="files"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _html(words: str) -> str:
    return in_markup(printable(words))
