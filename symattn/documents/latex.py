"""Blocks as a LaTeX fragment: sentences, displayed formulas, lists and tables.

The fragment needs amsmath, and amssymb for ℝ. It compiles in pdflatex; KaTeX takes each display.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from symattn.documents import blocks as b
from symattn.documents.wrap import (
    INDENT,
    NUMBER_ROOM,
    ROOM,
    WIDE_ROOM,
    Piece,
    size_of,
    words_size,
    wrapped,
    wrapped_words,
)
from symattn.notation import tree as t
from symattn.notation.latex import latex, prose, text
from symattn.notation.text import box, packed
from symattn.notation.tree import APPROX, EQUALS, Fenced, Grid, Row, Scheme, Tree

#: How many lines, rows of a proof, and rows of a table, a display has; it does not break across
#: pages.
_MOST_LINES, _MOST_LINKS, _MOST_ROWS = 9, 12, 35

#: About how many digits wide a display is that fits every column, and a left side that has no row
#: of its own; what is left of a row that several sides of an equation share: widths are estimates.
_NARROW, _MOST_LEFT, _SLACK = 40, 24, 3

#: The line below the head of a table, and room under it.
_RULE = r"\hline\rule{0pt}{2.5ex}%"

#: A blank at which a line may end that is not full.
_RAGGED = r" \hfil\penalty0\hfilneg "

_RELATIONS = (EQUALS, APPROX, t.Op("≠"))


#: Where a line would be a command to a runner of workflows (`symattn.printable`).
_COMMAND = re.compile(r"^(?=\s*::)", re.MULTILINE)

#: What would end a comment.
_LINE_END = re.compile(r"[^\S ]+")

#: Room to write a number into, as high as a line of handwriting.
_BLANK = r"\rule{0pt}{4ex}\underline{\hspace{4.5em}}"

#: Headings by depth; what is deeper still is a paragraph.
_HEADINGS = (r"\section*", r"\subsection*", r"\subsubsection*", r"\paragraph*")


def write(documents: Sequence[b.Document], flavor: str = "") -> str:
    """The fragment."""
    return latex_document(*documents)


def latex_document(
    *documents: b.Document, label: str = "", fitted: bool = False, remarks: bool = False
) -> str:
    r"""The fragment, with a blank line between paragraphs; several documents in a row.

    With a `label`, or one of a document's own, the first display of each step is numbered, for
    ``\eqref{eq:scores}``; of the second document in a row, ``eq:2-scores``. With `fitted` what may
    be wider than a page stands in ``\symattnfit``, which the host has to define. What is left out
    is said with `remarks`, else in comments: somebody's paper is no place for it.
    """
    parts: list[str] = []
    for number, document in enumerate(documents, 1):
        prefix = document.label or label
        place = "" if number == 1 else f"{number}-"
        room = document.room or (WIDE_ROOM if fitted else ROOM)
        labels = f"{prefix}:{place}" if prefix else ""
        style = _Style(labels, fitted, document.headings != 0, room, remarks)
        parts += _document(document, (document.headings or 1) - 1, style)
    return _COMMAND.sub("{}", "\n\n".join(parts)) + "\n"


@dataclass(frozen=True)
class _Style:
    """How displays are labelled ("" for no labels), whether they are fitted to a page; headings.

    `room` is how wide a row of formulas is; `remarks`: whether it is said what is left out.
    """

    prefix: str
    fitted: bool
    headed: bool
    room: float
    remarks: bool

    def remark(self, words: str) -> list[str]:
        """What is left out, in a line of its own."""
        said = f"({prose(words)})" if self.remarks else f"% {_LINE_END.sub(' ', words)}"
        return [said] if words else []

    def heading(self, depth: int, title: str) -> Iterator[str]:
        """The heading of a part, where it has one."""
        if title and self.headed:
            before = r"\raggedright " if depth == 0 else ""
            yield rf"{_HEADINGS[min(depth, len(_HEADINGS) - 1)]}{{{before}{prose(title)}}}"


def _document(document: b.Document, depth: int, style: _Style) -> Iterator[str]:
    yield from style.heading(depth, document.title)
    yield from _blocks(document.blocks, depth + 1, style)


def _blocks(blocks: Sequence[b.Block], depth: int, style: _Style) -> Iterator[str]:
    """The paragraphs of blocks at a depth of headings."""
    for block in blocks:
        match block:
            case b.Document():
                yield from _document(block, depth, style)
            case b.Section(title, inside):
                yield from style.heading(depth, title)
                yield from _blocks(inside, depth + 1, style)
            case b.Paragraph(words):
                yield sentence(words)
            case b.Formulas():
                yield _formulas(block, style)
            case b.Worked(lead, tree, inline):
                yield _worked(lead, tree, inline, style)
            case b.Chain():
                for body in chain_displays(block, style.room, style.fitted):
                    yield f"\\[\n{body}\n\\]"
            case b.List(items, signed):
                yield from _list(items, depth, style, signed)
            case b.Table():
                yield from _table(block, style)
            case b.Break() | b.Notebook() | b.Practice():
                pass


def _formulas(block: b.Formulas, style: _Style) -> str:
    size = rf"\mbox{{{sentence(block.sized)}}}" if block.size else ""  # which is not broken
    said = _RAGGED.join(filter(None, (sentence(block.words), size)))
    words = [rf"\noindent {said}"] if said else []
    numbered = bool(style.prefix and block.label)
    number = NUMBER_ROOM if numbered else 0
    bodies = displays(block.lines, style.room, style.fitted, number=number)
    shown = [f"\\[\n{body}\n\\]" for body in bodies]
    if numbered and shown:
        first = shown[0].removeprefix("\\[").removesuffix("\\]")
        label = rf"\label{{{style.prefix}{block.label}}}"
        shown[0] = rf"\begin{{equation}}{label}{first}\end{{equation}}"
    return "\n".join([*words, *shown, *style.remark(block.left_out)])


def _worked(lead: str, tree: Tree, inline: bool, style: _Style) -> str:
    bodies = displays((b.Line("worked", tree),), style.room, style.fitted)
    shown = [f"\\[\n{body}\n\\]" for body in bodies]
    return "\n".join(filter(None, (prose(lead), *shown)))


def chain_displays(block: b.Chain, room: float = ROOM, fitted: bool = False) -> Iterator[str]:
    """The bodies of displays: the left side, then each right side with its reason.

    A long left side has a line of its own. Reasons stand beside the right sides where there is room
    for all of them, else below. A chain of more rows than a display takes goes on in the next.
    """
    before = size_of(block.left)
    alone = before > _MOST_LEFT
    indent = 0 if alone else before
    sides = []
    for number, (tree, _) in enumerate(block.links):
        is_first = number == 0 and not alone
        equation = t.equation(block.left if is_first else t.EMPTY, (EQUALS, tree))
        sides.append([*_rows(equation, room if is_first else room - indent)])
    reasons = [why for _, why in block.links]
    width = max(row.size for rows in sides for row in rows) + _SLACK
    width += max(map(words_size, reasons))
    if not alone and width <= room and all(len(rows) == 1 for rows in sides):
        links = [
            [Piece(f"{row.tex} && {_in_display(why)}", width)]
            for (row,), why in zip(sides, reasons, strict=True)
        ]
    else:
        links = [
            [*rows, *(_reason(row) for row in wrapped_words(why, room - indent - 2 * INDENT))]
            for rows, why in zip(sides, reasons, strict=True)
        ]
    links = [[*_rows(block.left, room)], *links] if alone else links
    for group in packed(((rows, len(rows)) for rows in links), _MOST_LINKS):
        body = " \\\\[4pt]\n".join(" \\\\\n".join(row.tex for row in rows) for rows in group)
        whole = _aligned(body)
        fits = max(row.size for rows in group for row in rows) <= _NARROW
        yield rf"\symattnfit{{{whole}}}" if fitted and not fits else whole


def _reason(words: b.Words) -> Piece:
    """A row of a reason that stands below what it is the reason of."""
    return Piece(rf"&\qquad\qquad {_in_display(words)}", 2 * INDENT + words_size(words))


def _aligned(body: str) -> str:
    return f"\\begin{{aligned}}\n{body}\n\\end{{aligned}}"


def _in_display(words: b.Words) -> str:
    """Words inside a formula."""
    return b.spelled(words, text, latex)


def _list(items: Sequence[b.Item], depth: int, style: _Style, signed: bool) -> Iterator[str]:
    """The items; those with blocks of their own are paragraphs with a name."""
    run: list[str] = []
    for item in items:
        name = rf"\textbf{{{prose(item.name)}}} " if item.name else ""
        more = f". {prose(item.more)}" if item.more else ""
        words = f"{name}{sentence(item.words)}{more}"
        if not item.blocks:
            run.append(rf"\item{'[]' if signed else ''} {words}")
            continue
        yield from _itemized(run)
        run = []
        yield rf"\noindent {words}"
        yield from _blocks(item.blocks, depth, style)
    yield from _itemized(run)


def _itemized(items: list[str]) -> Iterator[str]:
    if items:
        yield "\n".join([r"\begin{itemize}", *items, r"\end{itemize}"])


def _table(table: b.Table, style: _Style) -> Iterator[str]:
    """The table; one that is long in parts, since a display is not broken across pages."""
    if table.caption:
        yield rf"\noindent\emph{{{prose(table.caption)}}}"
    head = [table.corner, *table.columns]
    rows = [[sentence(row.name.words), *map(_cell, row.cells)] for row in table.rows]
    first, *others = (" & ".join(row) + r" \\" for row in ([*map(prose, head)], *rows))
    begin = rf"\begin{{tabular}}{{l{table.sides}}}"
    for start in range(0, len(others), _MOST_ROWS):
        lines = [begin, first, _RULE, *others[start : start + _MOST_ROWS], r"\end{tabular}"]
        body = "\n".join(lines)
        fitted = rf"\symattnfit{{{body}}}" if style.fitted else body
        yield f"\\[\n{fitted}\n\\]"
    yield from style.remark(table.left_out)


def _cell(cell: b.Cell) -> str:
    words = sentence(cell.words)
    return rf"{prose(cell.sign)} \textbf{{{words}}}" if cell.sign else words


def sentence(words: b.Words) -> str:
    """Words with their mathematics between dollars."""
    strong, code = r"\textbf{{}}", r"\texttt{{}}"
    return b.spelled(words, prose, lambda tree: f"${latex(tree)}$", strong, code, _BLANK)


def displays(
    lines: tuple[b.Line, ...],
    room: float = ROOM,
    fitted: bool = False,
    most: int = _MOST_LINES,
    number: float = 0,
) -> Iterator[str]:
    """The bodies of a section's displays, without the delimiters of a host.

    At most so many lines stand in one; for `fitted` see `latex_document`. A row has so much
    `room`, of the first display without what its `number` takes.
    """
    for k, group in enumerate(_groups(lines, most, room - number)):
        body, size, _ = _display(group, room if k else room - number)
        yield rf"\symattnfit{{{body}}}" if fitted and size > _NARROW else body


def _groups(lines: tuple[b.Line, ...], most: int, room: float) -> Iterator[list[b.Line]]:
    """Equations that stand together aligned at their first relation; a matrix stands alone.

    A display is never broken across pages, so that a long group becomes several.
    """
    for is_matrix, some in groupby(lines, lambda each: has_grid(each.tree)):
        sized = ((each, 0 if is_matrix else _height(each.tree, room)) for each in some)
        yield from packed(sized, most, most=1 if is_matrix else most)


def _height(tree: Tree, room: float) -> int:
    """How many rows a formula takes."""
    return max(len([*_rows(tree, room)]), len(box(tree).lines))


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


def _display(group: list[b.Line], room: float) -> Piece:
    rows = [row for each in group for row in _rows(each.tree, room)]
    if len(rows) == 1:
        tree = group[0].tree
        return Piece(latex(tree), size_of(tree) if has_grid(tree) else rows[0].size)
    body = rows[0].tex
    for (before, *_), (row, *_) in pairwise(rows):
        body += (r" \\[6pt]" if "frac" in before + row else r" \\") + "\n" + row
    widest = max(row.size for row in rows)
    return Piece(_aligned(body), widest)


def _rows(tree: Tree, room: float = ROOM) -> Iterator[Piece]:
    """The equation in one row, or, where it is wide, in several that begin with a relation.

    A side that is still too wide goes on in further rows, and a wide left side has its own. Of
    equations side by side each begins a row where they do not fit in one.
    """
    items = tree.items if isinstance(tree, Row) else (tree,)
    is_wide = size_of(tree) > room
    if is_wide and t.GAP in items:
        for is_gap, part in groupby(items, lambda item: item == t.GAP):
            yield from () if is_gap else _rows(t.row(*part), room)
        return
    starts = [k for k, item in enumerate(items) if item in _RELATIONS] or [0]
    starts = starts[:1] if t.GAP in items else starts  # what fits in one row stays in it
    left, indent = latex(t.row(*items[: starts[0]])), size_of(t.row(*items[: starts[0]]))
    rows: list[Piece] = []
    if is_wide and indent > _MOST_LEFT:
        rows += _continued(wrapped(items[: starts[0]], room))
        left, indent = "", 0
    for start, stop in pairwise([*starts, len(items)]):
        first, *more = wrapped(items[start:stop], room - indent)
        if rows and not more and rows[-1].size + first.size <= room - _SLACK:
            rows[-1] = Piece(f"{rows[-1].tex} {first.tex}", rows[-1].size + first.size)
            continue
        rows += _continued([first, *more], left, indent)
        left = ""
    yield from rows


def _continued(pieces: Sequence[Piece], left: str = "", indent: float = 0) -> Iterator[Piece]:
    """The rows of a side, aligned where it begins, behind what stands on its left."""
    first, *more = pieces
    row = f"{left} &{first.tex}".strip()
    row = f"{{}}{row}" if row.startswith("[") else row  # no option of the display
    yield Piece(row, indent + first.size)
    for piece in more:
        yield Piece(rf"&\qquad {piece.tex}", indent + INDENT + piece.size)
