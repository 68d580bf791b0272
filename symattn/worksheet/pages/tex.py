r"""LaTeX: an environment ``symattn`` holds a worksheet, ``\claim{weights[1,2]}{0.47}`` a number.

Comments, verbatim and listings show examples and are left alone. The package ``symattn.sty``
makes the environment vanish and the claim print its number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from symattn.worksheet.pages.page import Anchor, Block, Found

_PARTS = re.compile(
    r"(?P<comment>(?<!\\)%[^\n]*)"
    r"|\\begin\{(?P<literal>verbatim\*?|lstlisting|minted|Verbatim)\}.*?\\end\{(?P=literal)\}"
    r"|\\verb\*?(?P<mark>[^A-Za-z\s]).*?(?P=mark)"
    r"|\\begin\{symattn\}[ \t]*\r?\n(?P<sheet>.*?)\\end\{symattn\}"
    r"|\\claim\{(?P<key>[^{}]*)\}\{(?P<number>[^{}]*)\}",
    re.DOTALL,
)


def tex(text: str) -> Iterator[Found]:
    """Worksheets and claims of a LaTeX document, in order."""
    for match in _PARTS.finditer(text):
        if match["sheet"] is not None:
            yield Block(match["sheet"], match.start("sheet"))
        elif match["key"] is not None:
            number = match["number"]
            lead = len(number) - len(number.lstrip())
            yield Anchor(match["key"].strip(), number.strip(), match.start("number") + lead)
