"""A derivation as a LaTeX fragment: displayed formulas with a sentence each.

The fragment needs amsmath alone and compiles in pdflatex; each display is taken by KaTeX.
"""

from __future__ import annotations

from collections.abc import Iterator

from symattn.documents.outline import Line, Outline, Section
from symattn.notation.latex import latex, prose
from symattn.notation.prose import Prose
from symattn.notation.tree import Fenced, Grid, Row, Tree


def latex_document(outline: Outline) -> str:
    """The fragment, with a blank line between paragraphs."""
    return "\n\n".join(_paragraphs(outline)) + "\n"


def _paragraphs(outline: Outline) -> Iterator[str]:
    if outline.title:
        yield rf"\section*{{{prose(outline.title)}}}"
    if outline.given:
        yield r"\subsection*{Given}"
        for section in outline.given:
            yield _section(section)
    for section in outline.steps:
        yield rf"\subsection*{{{section.number}. {prose(section.name)}}}"
        yield _section(section)
    for note in outline.notes:
        yield prose(note)


def _section(section: Section) -> str:
    shape = _sentence(section.shape)
    sentence = _sentence(section.why)
    words = f"{sentence} ({shape})" if sentence else f"({shape})"
    body = "\n".join(_display(group) for group in _groups(section.lines))
    tail = f"\n{prose(section.left_out)}." if section.left_out else ""
    return f"{words}\n{body}{tail}"


def _sentence(parts: Prose) -> str:
    return "".join(prose(part) if isinstance(part, str) else f"${latex(part)}$" for part in parts)


def _groups(lines: tuple[Line, ...]) -> Iterator[list[Line]]:
    """Equations that stand together aligned at their first relation; a matrix stands alone."""
    group: list[Line] = []
    for each in lines:
        if _has_grid(each.tree):
            if group:
                yield group
            yield [each]
            group = []
        else:
            group.append(each)
    if group:
        yield group


def _has_grid(tree: Tree) -> bool:
    match tree:
        case Grid(align="r"):
            return True
        case Fenced(body, _, _):
            return _has_grid(body)
        case Row(items):
            return any(_has_grid(item) for item in items)
        case _:
            return False


def _display(group: list[Line]) -> str:
    if len(group) == 1:
        return f"\\[\n{latex(group[0].tree)}\n\\]"
    rows = [_aligned(each.tree) for each in group]
    return "\\[\n\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}\n\\]"


def _aligned(tree: Tree) -> str:
    """The equation with its first relation marked for alignment."""
    items = tree.items if isinstance(tree, Row) else (tree,)
    left, rest = latex(items[0]), latex(Row(items[1:]))
    return f"{left} &{rest}"
