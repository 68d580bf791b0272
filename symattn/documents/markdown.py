"""Blocks as Markdown: headings, sentences, tables, formulas between the delimiters of a flavor."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from symattn.documents import blocks as b
from symattn.documents.latex import chain_displays, displays
from symattn.notation.latex import latex
from symattn.notation.markdown import words

#: Writes a display: its body and its label.
Display = Callable[[str, str], str]


def write(documents: Sequence[b.Document], flavor: str = "github") -> str:
    """The documents; `flavor` is a row of `FLAVORS`."""
    return "\n".join(markdown_document(document, flavor) for document in documents)


def markdown_document(document: b.Document, flavor: str = "github") -> str:
    """One document, whose first heading has its level."""
    level = 2 if document.headings is None else document.headings
    return markdown_blocks((document,), flavor, level, document.label)


def markdown_blocks(blocks: Sequence[b.Block], flavor: str, level: int, label: str = "") -> str:
    """Blocks below headings of a level, 0 for none."""
    display = _labelling(FLAVORS[flavor], label or "eq")
    parts = [part.rstrip("\n") for part in _blocks(blocks, display, level)]
    return "\n\n".join(parts) + "\n"


def _labelling(display: Display, prefix: str) -> Display:
    """A display whose label, where it has one, begins with the prefix."""
    return lambda body, label: display(body, f"{prefix}-{label}" if label else "")


def _blocks(blocks: Sequence[b.Block], display: Display, level: int) -> Iterator[str]:
    """The paragraphs, lists and tables, each to stand between empty lines."""
    for block in blocks:
        match block:
            case b.Document(title, inside) | b.Section(title, inside):
                if title and level:
                    yield f"{'#' * min(level, 6)} {words(title)}"
                deeper = isinstance(block, b.Section) or title
                yield from _blocks(inside, display, level + 1 if level and deeper else level)
            case b.Paragraph(parts):
                yield sentence(parts)
            case b.Formulas():
                yield from _formulas(block, display)
            case b.Worked(lead, tree, inline):
                if inline:
                    yield f"{words(lead)} ${latex(tree)}$"
                    continue
                if lead:
                    yield words(lead)
                yield from (display(body, "") for body in displays((b.Line("worked", tree),)))
            case b.Chain():
                yield from (display(body, "") for body in chain_displays(block))
            case b.List(items):
                yield from _list(items, display, level)
            case b.Table():
                yield from _table(block)
            case b.Break() | b.Notebook():
                pass


def _formulas(block: b.Formulas, display: Display) -> Iterator[str]:
    why, shape = sentence(block.words), sentence(block.size)
    said = [*filter(None, (why, f"({shape})" if shape else ""))]
    yield from [" ".join(said)] if said else []
    label = block.label
    for body in displays(block.lines):
        yield display(body, label)
        label = ""
    if block.left_out:
        yield f"({words(block.left_out)})"


def _list(items: Sequence[b.Item], display: Display, level: int) -> Iterator[str]:
    """The items; those with nothing below them stand together."""
    run: list[str] = []
    for item in items:
        name = f"**{words(item.name)}** " if item.name else ""
        more = f". {words(item.more)}" if item.more else ""
        run.append(f"- {name}{sentence(item.words).strip()}{more}")
        if item.blocks:
            *before, last = run
            yield from ["\n".join(before)] if before else []
            yield last
            yield from _blocks(item.blocks, display, level)
            run = []
    if run:
        yield "\n".join(run)


def _table(table: b.Table) -> Iterator[str]:
    if table.caption:
        yield f"*{words(table.caption)}*"
    rules = "".join("---:|" if side == "r" else "---|" for side in table.sides)
    corner = f"| {words(table.corner)}" if table.corner else "|"
    yield "\n".join(
        [
            f"{corner} | {' | '.join(map(words, table.columns))} |",
            f"|---|{rules}",
            *(f"| {' | '.join(map(_cell, (row.name, *row.cells)))} |" for row in table.rows),
        ]
    )
    if table.left_out:
        yield f"({words(table.left_out)})"


def _cell(cell: b.Cell) -> str:
    written = sentence(cell.words).strip()
    return f"{cell.sign} **{written}**" if cell.sign else written


def sentence(parts: b.Words) -> str:
    """Words with their mathematics between dollars."""
    strong, code = "**{}**", "<code>{}</code>"  # in which words are escaped as anywhere
    return b.spelled(parts, words, lambda tree: f"${latex(tree)}$", strong, code)


def _dollars(body: str, label: str) -> str:
    return f"$$\n{body}\n$$"


def _labelled_dollars(body: str, label: str) -> str:
    return f"$$\n{body}\n$$" + (f" {{#{label}}}" if label else "")


def _math_fence(body: str, label: str) -> str:
    option = f":label: {label}\n" if label else ""
    return f"```{{math}}\n{option}{body}\n```"


#: How a display is written, and labelled: in GitHub's and most others' Markdown, for KaTeX, in
#: Quarto and in MyST (Sphinx).
FLAVORS: Mapping[str, Display] = {
    "github": _dollars,
    "katex": _dollars,
    "quarto": _labelled_dollars,
    "sphinx": _math_fence,
}
