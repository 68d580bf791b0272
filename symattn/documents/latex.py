"""A derivation as a LaTeX fragment: displayed formulas with a sentence each.

The fragment needs amsmath alone and compiles in pdflatex; each display is taken by KaTeX.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from symattn.documents.outline import Line, Outline, Section
from symattn.documents.wrap import Piece, size_of, wrapped
from symattn.notation import tree as t
from symattn.notation.latex import latex, prose
from symattn.notation.prose import Prose
from symattn.notation.text import box, line
from symattn.notation.tree import APPROX, EQUALS, Fenced, Grid, Row, Scheme, Tree

#: A display does not break across pages; a row wider than this many characters breaks at = and ≈;
#: one that is narrower than the last fits every page.
_MOST_LINES, _WIDE, _NARROW = 9, 80, 56
_RELATIONS = (EQUALS, APPROX)


def latex_document(*outlines: Outline, labels: bool = False, fitted: bool = False) -> str:
    r"""The fragment, with a blank line between paragraphs; several derivations in a row.

    With `labels` the first display of each step is numbered, for ``\eqref{eq:scores}``; of the
    second derivation in a row, ``eq:2-scores``. With `fitted` a display that may be wider than a
    page stands in ``\symattnfit``, which the host has to define.
    """
    prefixes = ["eq:", *(f"eq:{number}-" for number in range(2, len(outlines) + 1))]
    pairs = zip(outlines, prefixes, strict=False)
    parts = (
        part for each, label in pairs for part in _paragraphs(each, label if labels else "", fitted)
    )
    return "\n\n".join(parts) + "\n"


def _paragraphs(outline: Outline, prefix: str, fitted: bool) -> Iterator[str]:
    if outline.title:
        yield rf"\section*{{\raggedright {prose(outline.title)}}}"
    if outline.given:
        yield r"\subsection*{Given}"
        for section in outline.given:
            yield _section(section, "", fitted)
    for section in outline.steps:
        yield rf"\subsection*{{{section.number}. {prose(section.name)}}}"
        yield _section(section, f"{prefix}{section.name}" if prefix else "", fitted)
    for note in outline.notes:
        yield prose(note)


def _section(section: Section, label: str, fitted: bool) -> str:
    shape, why = sentence(section.shape), sentence(section.why)
    words = rf"\noindent {why} ({shape})" if why else rf"\noindent ({shape})"
    blocks = [f"\\[\n{display}\n\\]" for display in displays(section.lines, fitted)]
    if label and blocks:
        numbered = blocks[0].removeprefix("\\[").removesuffix("\\]")
        blocks[0] = rf"\begin{{equation}}\label{{{label}}}{numbered}\end{{equation}}"
    body = "\n".join(blocks)
    tail = f"\n{prose(section.left_out)}." if section.left_out else ""
    return f"{words}\n{body}{tail}"


def sentence(parts: Prose) -> str:
    """Words with their mathematics between dollars."""
    return "".join(prose(part) if isinstance(part, str) else f"${latex(part)}$" for part in parts)


def displays(
    lines: tuple[Line, ...], fitted: bool = False, most: int = _MOST_LINES
) -> Iterator[str]:
    """The bodies of a section's displays, without the delimiters of a host.

    At most so many lines stand in one; for `fitted` see `latex_document`.
    """
    for group in _groups(lines, most):
        body, size = _display(group)
        yield rf"\symattnfit{{{body}}}" if fitted and size > _NARROW else body


def _groups(lines: tuple[Line, ...], most: int) -> Iterator[list[Line]]:
    """Equations that stand together aligned at their first relation; a matrix stands alone.

    A display is never broken across pages, so that a long group becomes several.
    """
    group: list[Line] = []
    height = 0
    for each in lines:
        if has_grid(each.tree):
            if group:
                yield group
            yield [each]
            group, height = [], 0
            continue
        rows = max(len([*_rows(each.tree)]), len(box(each.tree).lines))
        if group and height + rows > most:
            yield group
            group, height = [], 0
        group.append(each)
        height += rows
    if group:
        yield group


def has_grid(tree: Tree) -> bool:
    """Whether a formula is, or holds, a matrix in full."""
    match tree:
        case Grid(align="r") | Scheme():
            return True
        case Fenced(body, _, _):
            return has_grid(body)
        case Row(items):
            return any(has_grid(item) for item in items)
        case _:
            return False


def _display(group: list[Line]) -> Piece:
    rows = [row for each in group for row in _rows(each.tree)]
    if len(rows) == 1:
        tree = group[0].tree
        wide = max(box(tree).width, size_of(tree)) if has_grid(tree) else rows[0].size
        return Piece(latex(tree), wide)
    body = rows[0].tex
    for (before, _), (row, _) in pairwise(rows):
        body += (r" \\[6pt]" if "frac" in before + row else r" \\") + "\n" + row
    widest = max(row.size for row in rows)
    return Piece(f"\\begin{{aligned}}\n{body}\n\\end{{aligned}}", widest)


def _rows(tree: Tree) -> Iterator[Piece]:
    """The equation in one row, or, where it is wide, in a row for each relation but the first.

    A side that is still too wide goes on in further rows.
    """
    items = tree.items if isinstance(tree, Row) else (tree,)
    starts = [k for k, item in enumerate(items) if item in _RELATIONS] or [1]
    breaks = starts[1:] if len(line(tree)) > _WIDE and not has_grid(tree) else []
    left, indent = latex(t.row(*items[: starts[0]])), size_of(t.row(*items[: starts[0]]))
    for start, stop in pairwise([starts[0], *breaks, len(items)]):
        lead = ""
        for piece in wrapped(items[start:stop]):
            row = f"{left} &{lead}{piece.tex}".strip()
            row = f"{{}}{row}" if row.startswith("[") else row  # no option of the display
            yield Piece(row, indent + piece.size)
            left, lead = "", r"\qquad {}"
