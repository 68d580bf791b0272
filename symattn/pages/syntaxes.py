"""Pages of prose in which worksheets and claims stand. Adding a syntax is a file and a row."""

from __future__ import annotations

from collections.abc import Mapping

from symattn.pages.markdown import markdown
from symattn.pages.notebook import notebook
from symattn.pages.restructured import restructured
from symattn.pages.syntax import Anchor, Block, Flaw, Found, Syntax, line_of, place_of
from symattn.pages.tex import tex

__all__ = [
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
