"""Blocks as a Word file: Office's own formulas, styles and tables.

It has the styles of python-docx's template (Title, Heading 1 …, List Bullet), which a reader can
redefine; the same blocks make the same bytes.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING, Any

from symattn.documents import blocks as b
from symattn.documents.page.colour import TINTS
from symattn.documents.wrap import WIDE_ROOM, size_of
from symattn.errors import SymattnError
from symattn.notation import tree as t
from symattn.notation.latex import escape_controls
from symattn.notation.omml import NAMESPACE, omml
from symattn.notation.tree import Row, Tree

if TYPE_CHECKING:
    from docx.document import Document as Page
    from docx.text.paragraph import Paragraph

#: The deepest heading, and the most characters of a title among the properties of a file, that
#: python-docx takes.
_DEEPEST, _LONGEST_TITLE = 9, 255

#: When every file was made: a file's time would change its bytes.
_TIME = datetime(1980, 1, 1)


def write(documents: Sequence[b.Document], flavor: str = "") -> bytes:
    """The file. Raises `SymattnError` where python-docx is missing."""
    try:
        import docx
        from docx.shared import Inches
    except ImportError:
        raise SymattnError("docx: needs python-docx; pip install 'symattn[word]'") from None
    page = docx.Document()
    for section in page.sections:
        section.left_margin = section.right_margin = Inches(1)
    written = _Writer(page)
    for document in documents:
        first = 1 if document.headings is None else document.headings
        written.blocks((document,), first)
    facts = page.core_properties
    facts.author, facts.comments = "symattn", ""
    title = next((each.title for each in documents if each.title), "")
    facts.title = _plain(title)[:_LONGEST_TITLE]
    facts.created = facts.modified = _TIME
    out = io.BytesIO()
    page.save(out)
    return _same_each_time(out)


def _same_each_time(book: io.BytesIO) -> bytes:
    """The parts of a file again, without the time at which each was written."""
    out = io.BytesIO()
    with zipfile.ZipFile(book) as parts, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as again:
        for name in parts.namelist():
            made = zipfile.ZipInfo(name, _TIME.timetuple()[:6])
            again.writestr(made, parts.read(name), zipfile.ZIP_DEFLATED)
    return out.getvalue()


@dataclass(frozen=True)
class _Writer:
    """What is put into a page of python-docx, block by block."""

    page: Page

    def blocks(self, blocks: Sequence[b.Block], level: int) -> None:
        """Blocks whose first headings are of a level, 0 for none."""
        for block in blocks:
            match block:
                case b.Document(title, inside) | b.Section(title, inside):
                    if title and level:
                        self.page.add_heading(_plain(title), min(level, _DEEPEST))
                    deeper = isinstance(block, b.Section) or title
                    self.blocks(inside, level + 1 if level and deeper else level)
                case b.Paragraph(words, role):
                    self.sentence(words, role)
                case b.Formulas(lines, left_out=left_out):
                    self.sentence(block.said)
                    for each in lines:
                        self.display(each.tree)
                    self.sentence((f"({left_out})",) if left_out else ())
                case b.Worked(lead, tree):
                    self.sentence((lead,) if lead else ())
                    self.display(tree)
                case b.Chain(left, links):
                    self.chain(left, links)
                case b.List():
                    self.list(block, level)
                case b.Table():
                    self.table(block)
                case b.Break() | b.Notebook() | b.Practice():
                    pass

    def sentence(self, words: b.Words, role: b.Role = "plain") -> None:
        """A paragraph, if there is anything in it."""
        if words:
            paragraph = self.page.add_paragraph()
            paragraph.paragraph_format.keep_with_next = role == "heading"
            _written(paragraph, words)

    def display(self, tree: Tree) -> None:
        """A formula on lines of its own: one, or one for each of those that stand side by side."""
        items = tree.items if isinstance(tree, Row) else (tree,)
        parts: list[Tree] = [tree]
        if size_of(tree) > WIDE_ROOM:
            groups = groupby(items, lambda item: item == t.GAP)
            parts = [t.row(*part) for is_gap, part in groups if not is_gap]
        for part in parts:
            inside = omml(part)
            _put(self.page.add_paragraph(), f"<m:oMathPara>{inside}</m:oMathPara>")

    def chain(self, left: Tree, links: Sequence[tuple[Tree, b.Words]]) -> None:
        """The left side, then each right side beside its reason."""
        self.display(left)
        table = self.page.add_table(0, 2)
        for tree, reason in links:
            equation, why = table.add_row().cells
            _put(equation.paragraphs[0], omml(t.row(_NOTHING, t.EQUALS, tree)))
            _written(why.paragraphs[0], reason)

    def list(self, block: b.List, level: int) -> None:
        """The items, those with blocks of their own as paragraphs above these."""
        for item in block.items:
            bare = block.signed or item.blocks
            paragraph = self.page.add_paragraph(style=None if bare else "List Bullet")
            more = (f". {item.more}",) if item.more else ()
            name = (b.Strong(item.name), " ") if item.name else ()
            _written(paragraph, (*name, *item.words, *more))
            self.blocks(item.blocks, level)

    def table(self, block: b.Table) -> None:
        """A table with names of its rows and columns."""
        if block.caption:
            self.page.add_paragraph(style="Caption").add_run(_plain(block.caption))
        table = self.page.add_table(1, 1 + len(block.columns), style="Table Grid")
        for cell, words in zip(table.rows[0].cells, (block.corner, *block.columns), strict=True):
            cell.paragraphs[0].add_run(_plain(words)).bold = True
        for row in block.rows:
            cells = table.add_row().cells
            for place, (cell, one) in enumerate(zip(cells, (row.name, *row.cells), strict=True)):
                paragraph = cell.paragraphs[0]
                if place and block.sides[place - 1] == "r":
                    paragraph.alignment = 2  # on the right
                sign = (f"{one.sign} ",) if one.sign else ()
                _written(paragraph, (*sign, *one.words))
                if one.tint in _GROUNDS:
                    _put(cell._tc.get_or_add_tcPr(), _shade(_GROUNDS[one.tint]))
        self.sentence((f"({block.left_out})",) if block.left_out else ())


#: The ground of a judged cell, in the light scheme of the pages.
_GROUNDS = {name: colour[1:] for name, colour in TINTS["light"].items() if "edge" not in name}


def _shade(colour: str) -> str:
    return f'<w:shd w:val="clear" w:color="auto" w:fill="{colour}"/>'


def _written(paragraph: Paragraph, words: b.Words) -> None:
    """Words and formulas at the end of a paragraph."""
    for part in words:
        match part:
            case (str() as inside) | b.Link(inside):
                paragraph.add_run(_plain(inside))
            case b.Strong(inside):
                paragraph.add_run(_plain(inside)).bold = True
            case b.Code(inside):
                paragraph.add_run(_plain(inside)).font.name = _TYPED
            case b.Blank():
                paragraph.add_run("_" * 8)
            case _:
                _put(paragraph, omml(part))


#: What stands before an = that begins a line: LibreOffice takes none without.
_NOTHING = t.Text("")

#: The font of what is typed.
_TYPED = "Consolas"


def _plain(words: str) -> str:
    """Words that XML can hold."""
    return escape_controls(words)


def _put(host: Any, markup: str) -> None:
    """Markup at the end of a paragraph or of an element."""
    from docx.oxml import parse_xml
    from docx.oxml.ns import nsdecls

    whole = parse_xml(f'<w:r {nsdecls("w")} xmlns:m="{NAMESPACE}">{markup}</w:r>')
    getattr(host, "_p", host).append(whole[0])
