"""A derivation as an XHTML fragment of sentences and MathML Core."""

from __future__ import annotations

from collections.abc import Iterator

from symattn.documents.outline import Line, Outline, Section
from symattn.notation.latex import escape_controls
from symattn.notation.mathml import math
from symattn.notation.prose import Prose
from symattn.notation.text import line
from symattn.printable import in_markup

_XHTML = "http://www.w3.org/1999/xhtml"


def mathml_document(*outlines: Outline) -> str:
    """One ``div`` with a heading, sentences and a ``math`` element for each displayed line.

    Several derivations stand in it in a row.
    """
    parts = [f'<div xmlns="{_XHTML}" class="symattn">']
    for outline in outlines:
        parts += _parts(outline)
    parts.append("</div>")
    return "\n".join(parts) + "\n"


def _parts(outline: Outline) -> Iterator[str]:
    if outline.title:
        yield f"<h2>{_words(outline.title)}</h2>"
    if outline.given:
        yield "<h3>Given</h3>"
        yield from map(_section, outline.given)
    for section in outline.steps:
        yield f"<h3>{section.number}. {_words(section.name)}</h3>"
        yield _section(section)
    for note in outline.notes:
        yield f"<p>{_words(note)}</p>"


def _section(section: Section) -> str:
    sentence = _sentence(section.why)
    shape = _sentence(section.shape)
    lines = [f"<p>{sentence} ({shape})</p>" if sentence else f"<p>({shape})</p>"]
    lines += [_display(formula) for formula in section.lines]
    if section.left_out:
        lines.append(f"<p>{_words(section.left_out)}.</p>")
    return "\n".join(lines)


def _display(formula: Line) -> str:
    return f'<p class="{formula.view}">{math(formula.tree, alttext=line(formula.tree))}</p>'


def _sentence(parts: Prose) -> str:
    return "".join(
        _words(part) if isinstance(part, str) else math(part, line(part), display=False)
        for part in parts
    )


def _words(words: str) -> str:
    return in_markup(escape_controls(words))
