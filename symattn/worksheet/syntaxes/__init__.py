"""Pages of prose in which worksheets and claims stand. Adding a syntax is a file and a row."""

from __future__ import annotations

from collections.abc import Mapping

from symattn.worksheet.syntaxes.markdown import markdown
from symattn.worksheet.syntaxes.notebook import MAX_NOTEBOOK, notebook
from symattn.worksheet.syntaxes.page import Anchor, Block, Flaw, Found, Syntax, line_of, place_of
from symattn.worksheet.syntaxes.restructured import restructured
from symattn.worksheet.syntaxes.tex import tex

__all__ = [
    "MAX_NOTEBOOK",
    "SYNTAXES",
    "Anchor",
    "Block",
    "Flaw",
    "Found",
    "Syntax",
    "line_of",
    "place_of",
]

#: The syntax of a page by the end of its file's name.
SYNTAXES: Mapping[str, Syntax] = {
    ".md": markdown,
    ".markdown": markdown,
    ".qmd": markdown,
    ".rst": restructured,
    ".tex": tex,
    ".ipynb": notebook,
}
