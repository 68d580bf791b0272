"""Blocks as Markdown: headings, sentences, tables, formulas between the delimiters of a flavor."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from symattn.documents import blocks as b
from symattn.documents.latex import chain_displays, displays
from symattn.notation.latex import latex
from symattn.notation.markdown import inert, opening, words
from symattn.notation.tree import Tree


@dataclass(frozen=True)
class Flavor:
    """How a display, with its label, and a formula in a sentence are written."""

    displayed: Callable[[str, str], str]
    formula: str = "${}$"
    prefix: str = "eq"

    def display(self, body: str, label: str = "") -> str:
        """The body of a display between its delimiters; its label begins with the prefix."""
        return self.displayed(body, f"{self.prefix}-{label}" if label else "")

    def sentence(self, parts: b.Words) -> str:
        """Words with their mathematics."""
        strong, code = "**{}**", "<code>{}</code>"  # in which words are escaped as anywhere
        return b.spelled(parts, words, self.inline, strong, code)

    def inline(self, tree: Tree) -> str:
        """A formula in a sentence."""
        return self.formula.replace("{}", inert(latex(tree)))


def write(documents: Sequence[b.Document], flavor: str = "github") -> str:
    """The documents; `flavor` is a row of `FLAVORS`."""
    return "\n".join(markdown_document(document, flavor) for document in documents)


def markdown_document(document: b.Document, flavor: str = "github") -> str:
    """One document, whose first heading has its level."""
    level = 2 if document.headings is None else document.headings
    return markdown_blocks((document,), flavor, level, document.label)


def markdown_blocks(blocks: Sequence[b.Block], flavor: str, level: int, label: str = "") -> str:
    """Blocks below headings of a level, 0 for none."""
    chosen = replace(FLAVORS[flavor], prefix=label or "eq")
    parts = [part.rstrip("\n") for part in _blocks(blocks, chosen, level)]
    return "\n\n".join(parts) + "\n"


def _blocks(blocks: Sequence[b.Block], flavor: Flavor, level: int) -> Iterator[str]:
    """The paragraphs, lists and tables, each to stand between empty lines."""
    for block in blocks:
        match block:
            case b.Document(title, inside) | b.Section(title, inside):
                if title and level:
                    yield f"{'#' * min(level, 6)} {words(title)}"
                deeper = isinstance(block, b.Section) or title
                yield from _blocks(inside, flavor, level + 1 if level and deeper else level)
            case b.Paragraph(parts):
                yield opening(flavor.sentence(parts))
            case b.Formulas():
                yield from _formulas(block, flavor)
            case b.Worked(lead, tree, inline):
                if inline:
                    yield f"{opening(words(lead))} {flavor.inline(tree)}"
                    continue
                if lead:
                    yield opening(words(lead))
                yield from (flavor.display(body) for body in displays((b.Line("worked", tree),)))
            case b.Chain():
                yield from (flavor.display(body) for body in chain_displays(block))
            case b.List(items):
                yield from _list(items, flavor, level)
            case b.Table():
                yield from _table(block, flavor)
            case b.Break() | b.Notebook() | b.Practice():
                pass


def _formulas(block: b.Formulas, flavor: Flavor) -> Iterator[str]:
    yield from [opening(flavor.sentence(block.said))] if block.said else []
    label = block.label
    for body in displays(block.lines):
        yield flavor.display(body, label)
        label = ""
    if block.left_out:
        yield opening(f"({words(block.left_out)})")


def _list(items: Sequence[b.Item], flavor: Flavor, level: int) -> Iterator[str]:
    """The items; those with nothing below them stand together."""
    run: list[str] = []
    for item in items:
        name = f"**{words(item.name)}** " if item.name else ""
        more = f". {words(item.more)}" if item.more else ""
        said = f"{name}{flavor.sentence(item.words).strip()}{more}"
        run.append(f"- {opening(said)}")
        if item.blocks:
            *before, last = run
            yield from ["\n".join(before)] if before else []
            yield last
            yield from _blocks(item.blocks, flavor, level)
            run = []
    if run:
        yield "\n".join(run)


def _table(table: b.Table, flavor: Flavor) -> Iterator[str]:
    if table.caption:
        yield f"*{words(table.caption)}*"
    rules = "".join("---:|" if side == "r" else "---|" for side in table.sides)
    corner = f"| {words(table.corner)}" if table.corner else "|"
    yield "\n".join(
        [
            f"{corner} | {' | '.join(map(words, table.columns))} |",
            f"|---|{rules}",
            *(
                f"| {' | '.join(_cell(cell, flavor) for cell in (row.name, *row.cells))} |"
                for row in table.rows
            ),
        ]
    )
    if table.left_out:
        yield opening(f"({words(table.left_out)})")


def _cell(cell: b.Cell, flavor: Flavor) -> str:
    written = flavor.sentence(cell.words).strip()
    return f"{cell.sign} **{written}**" if cell.sign else written


def _dollars(body: str, label: str) -> str:
    return f"$$\n{inert(body)}\n$$"


def _labelled_dollars(body: str, label: str) -> str:
    return _dollars(body, label) + (f" {{#{label}}}" if label else "")


def _math_fence(body: str, label: str) -> str:
    return f"```math\n{body}\n```"


def _directive(body: str, label: str) -> str:
    option = f":label: {label}\n" if label else ""
    return f"```{{math}}\n{option}{body}\n```"


#: GitHub's Markdown, which takes the backslashes out of what stands between dollars; Markdown for
#: KaTeX or MathJax, in notebooks too; Quarto's; MyST's (Sphinx).
FLAVORS: Mapping[str, Flavor] = {
    "github": Flavor(_math_fence, "$`{}`$"),
    "katex": Flavor(_dollars),
    "quarto": Flavor(_labelled_dollars),
    "sphinx": Flavor(_directive),
}

#: The flavor that notebooks and Python-Markdown read.
DOLLARS = "katex"
