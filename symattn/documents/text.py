"""A derivation as text for the terminal: formulas, worked lines and aligned matrices."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal, TypeAlias

from symattn.derivation import Check, StepCheck
from symattn.documents.outline import Outline, Section
from symattn.notation.latex import escape_controls
from symattn.notation.options import Notation
from symattn.notation.prose import Prose
from symattn.notation.text import Charset, box, line, width

#: What a line is, so that a terminal can colour it.
Style: TypeAlias = Literal["title", "heading", "note", "formula", "good", "bad", "plain"]

_INDENT = "   "


def text_document(outline: Outline) -> str:
    """The whole document as plain text."""
    return "\n".join(words for _, words in styled_lines(outline)) + "\n"


def styled_lines(outline: Outline, charset: Charset = "unicode") -> Iterator[tuple[Style, str]]:
    """The document line by line, each with its style."""
    if outline.title:
        title = escape_controls(outline.title)
        yield "title", title
        yield "title", ("─" if charset == "unicode" else "-") * width(title)
    if outline.sizes:
        yield "note", ", ".join(f"{name} = {count}" for name, count in outline.sizes)
    if outline.title or outline.sizes:
        yield "plain", ""
    if outline.given:
        yield "heading", "Given"
        yield from _given(outline.given, charset)
        yield "plain", ""
    for section in outline.steps:
        yield from _step(section, charset)
        yield "plain", ""
    if outline.check is not None:
        yield from _check(outline.check, outline.notation, charset)
    for note in outline.notes:
        yield "note", note


def _given(given: tuple[Section, ...], charset: Charset) -> Iterator[tuple[Style, str]]:
    """Matrices that are given; without their values a table of names."""
    table = [
        (line(section.lines[0].tree, charset), _sentence(section.shape, charset))
        for section in given
        if section.lines and section.lines[0].view == "formula"
    ]
    widths = [max((width(row[k]) for row in table), default=0) for k in (0, 1)]
    for section in given:
        why = _sentence(section.why, charset)
        for index, formula in enumerate(section.lines):
            body = box(formula.tree, charset)
            if formula.view == "formula":
                cells = (str(body), _sentence(section.shape, charset))
                padded = [
                    cell + " " * (w - width(cell)) for cell, w in zip(cells, widths, strict=True)
                ]
                yield "plain", f"{_INDENT}{'  '.join([*padded, why])}".rstrip()
                continue
            if index == 0 and why:
                yield "note", f"{_INDENT}{why}"
            for words in body.lines:
                yield "plain", f"{_INDENT}{words.rstrip()}"


def _step(section: Section, charset: Charset) -> Iterator[tuple[Style, str]]:
    yield "heading", f"{section.number}. {section.name}  ({_sentence(section.shape, charset)})"
    if len(section.lines) > 1 or not section.lines:
        yield "note", f"{_INDENT}{_sentence(section.why, charset)}"
    for formula in section.lines:
        for words in box(formula.tree, charset).lines:
            yield (
                ("formula" if formula.view == "formula" else "plain"),
                f"{_INDENT}{words.rstrip()}",
            )
    if section.left_out:
        yield "note", f"{_INDENT}({section.left_out}; --full shows them)"


def _sentence(parts: Prose, charset: Charset) -> str:
    return "".join(part if isinstance(part, str) else line(part, charset) for part in parts)


def _check(check: Check, notation: Notation, charset: Charset) -> Iterator[tuple[Style, str]]:
    verdict = "agrees with" if check.agrees else "does NOT agree with"
    if check.overflowed:
        yield "heading", f"Check: {check.overflow(notation.index_base)}"
    else:
        yield "heading", f"Check: NumPy ({check.dtype}) {verdict} the proven values"
    header = ("step", "shape", "largest error", "ulps", "at", "tolerance", "")
    rows = [header] + [_check_row(step, notation, charset) for step in check.steps]
    widths = [max(width(row[k]) for row in rows) for k in range(len(header))]
    for index, row in enumerate(rows):
        words = "  ".join(cell.ljust(size) for cell, size in zip(row, widths, strict=True))
        style: Style = "note" if index == 0 else "plain"
        if index and not check.steps[index - 1].agrees:
            style = "bad"
        yield style, f"{_INDENT}{words.rstrip()}"


def _check_row(step: StepCheck, notation: Notation, charset: Charset) -> tuple[str, ...]:
    shape, worst = step.shape, step.worst if step.failed is None else step.failed
    if notation.convention == "columns":
        shape, worst = (*shape[:-2], *shape[:-3:-1]), (*worst[:-2], *worst[:-3:-1])
    place = (
        f"[{','.join(str(i + notation.index_base) for i in worst)}]"
        if step.error > 0 or step.failed
        else ""
    )
    return (
        step.name,
        (" × " if charset == "unicode" else " x ").join(map(str, shape)),
        _short(step.error),
        f"{step.ulps:.2f}" if step.ulps < 1000 else _short(step.ulps),
        place,
        _short(step.tolerance),
        _verdict(step),
    )


def _verdict(step: StepCheck) -> str:
    if step.agrees:
        return "agrees"
    if step.overflowed:
        return "OVERFLOW"
    return "DIFFERS" if step.tolerance < math.inf else "NO BOUND"


def _short(number: float) -> str:
    if number == 0 or not math.isfinite(number):
        return "0" if number == 0 else "inf" if math.isinf(number) else "-"
    return f"{number:.1e}"
