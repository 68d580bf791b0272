"""A report on a marking as terminal text, Markdown, HTML and JSON; all say the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from symattn.documents.data import written
from symattn.errors import counted
from symattn.notation.latex import escape_controls, latex
from symattn.notation.markdown import words as in_markdown
from symattn.notation.mathml import math
from symattn.notation.text import Charset, box, in_ascii, line, width
from symattn.worksheet.check import Marking
from symattn.worksheet.report import (
    MEANINGS,
    SIGNS,
    Cell,
    Report,
    StepReport,
    Table,
    as_data,
    disagreement,
)

_ASCII_SIGNS = {"⌊": "_", "≈": "~", "?": "?", "±": "+", "→": ">", "✗": "x", " ": " "}
_INDENT = "   "

#: What is told of a number where it stands in a file.
_PLACED = ("line", "column", "entry", "claimed", "true", "verdict", "passes")


def json_report(marking: Marking) -> str:
    """The marking as indented JSON."""
    return written(as_data(marking)) + "\n"


def json_reports(
    markings: Mapping[str, Sequence[Marking]],
    findings: Mapping[str, Sequence[Any]] | None = None,
    problems: Sequence[str] = (),
) -> str:
    """Several files' markings as one JSON object: by file name, a list of its worksheets.

    `findings` are the claimed numbers of each file where they stand, by line and column; `problems`
    a line for each file that could not be used, which lets nothing pass.
    """
    files = {name: [as_data(one) for one in found] for name, found in markings.items()}
    placed = {
        name: [{key: getattr(one, key) for key in _PLACED} for one in found]
        for name, found in (findings or {}).items()
    }
    passes = not problems and all(one["passes"] for found in placed.values() for one in found)
    told = {"files": files, "findings": placed, "problems": list(problems), "passes": passes}
    return written({"schema": 1, **told}) + "\n"


# ---- terminal ----------------------------------------------------------------------------


def styled_report(found: Report, charset: Charset = "unicode") -> Iterator[tuple[str, str]]:
    """The report line by line, each with the style that a terminal shows it in."""
    for style, words in _styled(found, charset):
        yield style, words if charset == "unicode" else in_ascii(words)


def _styled(found: Report, charset: Charset) -> Iterator[tuple[str, str]]:
    if found.title:
        title = escape_controls(found.title)
        yield "title", title
        yield "title", ("─" if charset == "unicode" else "-") * width(title)
    yield ("good" if found.passes else "bad"), found.conclusion
    yield "plain", ""
    longest = max((len(step.name) for step in found.steps), default=0)
    for step in found.steps:
        style = "good" if step.verdict == "right" else "plain" if step.passes else "bad"
        yield style, f"{step.name:<{longest}}  {_counted(step)}"
        for table in step.tables if step.verdict != "right" else ():
            yield from (("plain", f"{_INDENT}{words}") for words in _grid(table, charset))
        for entry in step.findings:
            told = disagreement(entry.entry, entry.claimed, entry.true, MEANINGS[entry.verdict])
            yield "note", f"{_INDENT}{told}"
        if step.left_out:
            yield "note", f"{_INDENT}({step.left_out} more; --full lists them)"
        if step.worked is not None:
            for words in box(step.worked, charset).lines:
                yield "formula", f"{_INDENT}{words.rstrip()}"
    if found.explanations:
        yield "plain", ""
        yield "heading", "Consistent with"
        for name, instead, tell in found.explanations:
            yield "bad", f"{_INDENT}{name}: {instead}"
            yield "note", f"{_INDENT}{_INDENT}{tell}"
    if found.notes:
        yield "plain", ""
        yield "heading", "Notes"
        for note in found.notes:
            yield "note", f"{_INDENT}{note}"


def text_report(found: Report, charset: Charset = "unicode") -> str:
    """The report as plain text."""
    return "\n".join(words for _, words in styled_report(found, charset)) + "\n"


def _counted(step: StepReport) -> str:
    """``wrong (7 of 9 right, 2 wrong)``."""
    counts = dict(step.counts)
    total = sum(counts.values())
    if counts.get("right") == total:
        return f"right ({counted(total, 'number')})"
    others = ", ".join(f"{n} {verdict}" for verdict, n in step.counts if verdict != "right")
    return f"{step.verdict} ({counts.get('right', 0)} of {total} right, {others})"


def _grid(table: Table, charset: Charset) -> Iterator[str]:
    """A table with the sign of its verdict before each number."""
    signs = SIGNS if charset == "unicode" else {v: _ASCII_SIGNS[s] for v, s in SIGNS.items()}
    if table.caption:
        yield table.caption
    blank = "·" if charset == "unicode" else "."
    cells = [
        [f"{signs.get(c.verdict, ' ')} {c.text or blank}" for c in row] for _, row in table.rows
    ]
    labels = [escape_controls(label) for label, _ in table.rows]
    top = [escape_controls(label) for label in table.columns]
    sizes = [
        max(width(top[k]), *(width(row[k]) for row in cells)) for k in range(len(top))
    ]  # fmt: skip
    left = max((width(label) for label in labels), default=0)
    padded = (" " * (size - width(word)) + word for size, word in zip(sizes, top, strict=True))
    yield (" " * left + "  " + "  ".join(padded)).rstrip()
    for label, row in zip(labels, cells, strict=True):
        words = "  ".join(" " * (size - width(word)) + word
                          for size, word in zip(sizes, row, strict=True))  # fmt: skip
        yield f"{label}{' ' * (left - width(label))}  {words}".rstrip()
    if table.left_out:
        yield f"({table.left_out} more rows)"


# ---- Markdown ----------------------------------------------------------------------------


def markdown_report(found: Report) -> str:
    """The report as Markdown, with a table a step and formulas between dollars."""
    out = [f"## {_md(found.title)}", ""] if found.title else []
    out += [f"**{_md(found.conclusion)}**", ""]
    for step in found.steps:
        out += [f"### {step.name}: {_md(_counted(step))}", ""]
        for table in step.tables if step.verdict != "right" else ():
            if table.caption:
                out += [f"*{table.caption}*", ""]
            out.append("| | " + " | ".join(map(_md, table.columns)) + " |")
            out.append("|---|" + "---:|" * len(table.columns))
            for label, row in table.rows:
                out.append(f"| {_md(label)} | " + " | ".join(map(_md_cell, row)) + " |")
            out += ["", f"({table.left_out} more rows)", ""] if table.left_out else [""]
        for entry in step.findings:
            numbers = _md(entry.claimed), _md(entry.true)
            out.append(f"- {disagreement(f'`{entry.entry}`', *numbers, MEANINGS[entry.verdict])}")
        if step.left_out:
            out.append(f"- {step.left_out} more")
        if step.worked is not None:
            out += ["", f"$${latex(step.worked)}$$"]
        out.append("")
    if found.explanations:
        out += ["### Consistent with", ""]
        out += [f"- **{name}**: {_md(instead)}. {_md(tell)}"
                for name, instead, tell in found.explanations]  # fmt: skip
        out.append("")
    if found.notes:
        out += ["### Notes", "", *(f"- {_md(note)}" for note in found.notes), ""]
    return "\n".join(out).rstrip() + "\n"


def markdown_problems(problems: Sequence[str]) -> str:
    """The files that could not be used, as Markdown."""
    if not problems:
        return ""
    return "\n".join(["## Could not be used", "", *(f"- {_md(told)}" for told in problems)]) + "\n"


def _md(text: str) -> str:
    return in_markdown(text).strip()


def _md_cell(cell: Cell) -> str:
    if cell.verdict in ("", "right"):
        return _md(cell.text)
    return f"{SIGNS[cell.verdict]} **{_md(cell.text)}**"


# ---- HTML --------------------------------------------------------------------------------

#: Tints behind black text, each with a contrast above 7 to 1; the sign says the verdict too.
_TINTS = {"truncated": "#fff3c4", "rounded-early": "#fff3c4", "undecided": "#e5e5e5",
          "last-digit": "#ffe0b3", "carried": "#ffe0b3", "wrong": "#ffc9c9"}  # fmt: skip

_STYLE = """
.symattn-report{font:1rem/1.5 system-ui,sans-serif;max-width:60rem}
.symattn-report table{border-collapse:collapse;margin:.5rem 0}
.symattn-report td,.symattn-report th{padding:.2rem .6rem;text-align:right;
border:1px solid #767676}
.symattn-report td{font-variant-numeric:tabular-nums;color:#000;background:#fff}
""" + "".join(f".symattn-report td.{verdict}{{background:{tint}}}\n"
              for verdict, tint in _TINTS.items())  # fmt: skip


def html_report(found: Report) -> str:
    """The report as an HTML section with its own style, to stand alone or inside a page."""
    out = ['<section class="symattn-report">', f"<style>{_STYLE}</style>"]
    if found.title:
        out.append(f"<h2>{_html(found.title)}</h2>")
    out.append(f"<p><strong>{_html(found.conclusion)}</strong></p>")
    for step in found.steps:
        out.append(f"<h3>{_html(step.name)}: {_html(_counted(step))}</h3>")
        for table in step.tables if step.verdict != "right" else ():
            out.append(_html_table(step.name, table))
        told = (
            disagreement(
                f"<code>{_html(e.entry)}</code>", _html(e.claimed), _html(e.true),
                MEANINGS[e.verdict],
            )
            for e in step.findings
        )  # fmt: skip
        items = [f"<li>{words}</li>" for words in told]
        if step.left_out:
            items.append(f"<li>{step.left_out} more</li>")
        if items:
            out.append(f"<ul>{''.join(items)}</ul>")
        if step.worked is not None:
            out.append(f"<p>{math(step.worked, alttext=line(step.worked))}</p>")
    if found.explanations:
        out.append("<h3>Consistent with</h3><ul>")
        out += [f"<li><strong>{_html(name)}</strong>: {_html(instead)}. {_html(tell)}</li>"
                for name, instead, tell in found.explanations]  # fmt: skip
        out.append("</ul>")
    if found.notes:
        items = [f"<li>{_html(note)}</li>" for note in found.notes]
        out.append(f"<h3>Notes</h3><ul>{''.join(items)}</ul>")
    return "\n".join([*out, "</section>"]) + "\n"


def html_problems(problems: Sequence[str]) -> str:
    """The files that could not be used, as an HTML section."""
    if not problems:
        return ""
    items = "".join(f"<li>{_html(told)}</li>" for told in problems)
    return f'<section class="symattn-report"><h2>Could not be used</h2><ul>{items}</ul></section>\n'


def _html_table(name: str, table: Table) -> str:
    caption = _html(f"{name}, {table.caption}" if table.caption else name)
    head = "".join(f'<th scope="col">{_html(label)}</th>' for label in table.columns)
    rows = []
    for label, cells in table.rows:
        inside = "".join(
            f'<td class="{cell.verdict or "blank"}">{SIGNS.get(cell.verdict, " ").strip()} '
            f"{_html(cell.text)}</td>" for cell in cells
        )  # fmt: skip
        rows.append(f'<tr><th scope="row">{_html(label)}</th>{inside}</tr>')
    more = f"<p>({table.left_out} more rows)</p>" if table.left_out else ""
    return (f"<table><caption>{caption}</caption><thead><tr><td></td>{head}</tr></thead>"
            f"<tbody>{''.join(rows)}</tbody></table>{more}")  # fmt: skip


def _html(words: str) -> str:
    return escape(escape_controls(words))
