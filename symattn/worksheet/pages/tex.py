r"""LaTeX: an environment ``symattn`` holds a worksheet, ``\claim{weights[1,2]}{0.47}`` a number.

Comments, verbatim and listings show examples and are left alone. The package ``symattn.sty``
makes the environment vanish and the claim print its number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from symattn.errors import ReadError
from symattn.worksheet.pages.page import Anchor, Block, Found, line_of, one_line

_PARTS = re.compile(
    r"\\[\\%]|%[^\n]*+"
    r"|\\begin\{(?P<name>verbatim\*?|lstlisting|minted|Verbatim|comment|symattn)\}"
    r"|\\(?:verb\*?|lstinline)(?P<mark>[^A-Za-z\s*{\[])"
    r"|\\claim\{(?P<key>[^{}]*+)\}\s*+\{(?P<number>[^{}]*+)(?P<close>\})?"
)


def tex(text: str) -> Iterator[Found]:
    """Worksheets and claims of a LaTeX document, in order.

    Raises `ReadError` for an environment or a claim that is not closed.
    """
    place, open_ended = 0, set()
    while match := _PARTS.search(text, place):
        place = match.end()
        name, mark = match["name"], match["mark"]
        if name == "symattn" or (name is not None and name not in open_ended):
            end = text.find(f"\\end{{{name}}}", place)
            if end < 0 and name == "symattn":
                line = line_of(text, match.start())
                raise ReadError(rf"{line}: \begin{{symattn}} has no \end{{symattn}}")
            if name == "symattn":
                yield Block(text[place:end], place)
            if end < 0:
                open_ended.add(name)
            else:
                place = end
        elif mark is not None:
            close = text.find(mark, place, _end_of_line(text, place))
            place = place if close < 0 else close + 1
        elif match["key"] is not None:
            yield _claim(text, match)


def _end_of_line(text: str, place: int) -> int:
    """Where the line ends; a long one is not read to its end."""
    most = place + 1000
    end = text.find("\n", place, most)
    return most if end < 0 else end


def _claim(text: str, match: re.Match[str]) -> Anchor:
    number = match["number"]
    if match["close"] is None:
        line, key = line_of(text, match.start()), one_line(match["key"])[:40]
        raise ReadError(rf"{line}: \claim{{{key}}}: its number holds commands; "
                        "write digits only")  # fmt: skip
    lead = len(number) - len(number.lstrip())
    return Anchor(one_line(match["key"]), number.strip(), match.start("number") + lead)
