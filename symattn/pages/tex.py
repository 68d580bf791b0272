r"""LaTeX: an environment ``symattn`` holds a worksheet, ``\claim{weights[1,2]}{0.47}`` a number.

A comment ``% claim`` on a line of its own says that the formulas of the paragraph behind it are
claims. Other comments, verbatim and listings show examples and are left alone. The package
``symattn.sty`` makes the environment vanish and the claim print its number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from symattn.pages.syntax import (
    Anchor,
    Block,
    Flaw,
    Found,
    after_space,
    claim_of,
    marked_lines,
    one_line,
)

_PARTS = re.compile(
    r"\\[\\%]|%[^\n]*+"
    r"|\\begin\{(?P<name>verbatim\*?|lstlisting|minted|Verbatim|comment|symattn)\}"
    r"|\\(?:verb\*?|lstinline)(?P<mark>[^A-Za-z\s*{\[])"
    r"|(?P<claim>\\claim\{)"
)
#: What stands in braces: with none inside, and with one, two and three pairs inside one another.
_FLAT = r"[^{}]*+"
_ONE = rf"{_FLAT}(?:\{{{_FLAT}\}}{_FLAT})*"
_TWO = rf"{_FLAT}(?:\{{{_ONE}\}}{_FLAT})*"
_THREE = rf"{_FLAT}(?:\{{{_TWO}\}}{_FLAT})*"
_ARGUMENTS = re.compile(rf"(?P<key>{_ONE})\}}\s*+\{{(?:(?P<number>{_THREE})\}})?")
_COMMAND = re.compile(r"\\([A-Za-z]+)")
_MARK = re.compile(r"%+[ \t]*claim[ \t]*\r?\Z")
_PARAGRAPH = re.compile(r"\n[ \t\r]*\n")

#: The commands that a number or a worked line may hold.
_KNOWN = (
    "cdot",
    "times",
    "frac",
    "dfrac",
    "tfrac",
    "sqrt",
    "approx",
    "simeq",
    "left",
    "right",
    "quad",
    "mathrm",
    "exp",
    "ln",
    "log",
    "infty",
    "dots",
    "ldots",
    "pi",
    "e",
)


def tex(text: str) -> Iterator[Found]:
    """Worksheets and claims of a LaTeX document, in order."""
    place, open_ended, after_sheet = 0, set[str](), False
    while match := _PARTS.search(text, place):
        place = match.end()
        name, mark = match["name"], match["mark"]
        if name == "symattn":
            end = text.find(r"\end{symattn}", place)
            if end < 0:
                yield Flaw(r"\begin{symattn} has no \end{symattn}", match.start())
                return  # the rest stands inside of it
            yield Block(text[place:end], place)
            place, after_sheet = end, True
        elif name is not None and name not in open_ended:
            end = text.find(f"\\end{{{name}}}", place)
            open_ended |= {name} if end < 0 else set()
            place = max(place, end)
        elif mark is not None:
            close = text.find(mark, place, _end_of_line(text, place))
            place = max(place, close + 1)
        elif match["claim"] is not None:
            yield from _claim(text, match, after_sheet)
        elif _MARK.match(match[0]) and _is_first(text, match.start()):
            first = after_space(text, place, len(text))
            paragraph = _PARAGRAPH.search(text, first)
            place = paragraph.start() if paragraph else len(text)
            yield from marked_lines(text, first, place)


def _is_first(text: str, place: int) -> bool:
    """Whether nothing but spaces stands before a place on its line."""
    return not text[text.rfind("\n", 0, place) + 1 : place].strip()


def _end_of_line(text: str, place: int) -> int:
    """Where the line ends; a long one is not read to its end."""
    most = place + 1000
    end = text.find("\n", place, most)
    return most if end < 0 else end


def _claim(text: str, match: re.Match[str], after_sheet: bool) -> Iterator[Anchor | Flaw]:
    """The claim of a command; before a worksheet, it may be a command of somebody else's."""
    found = _ARGUMENTS.match(text, match.end())
    if found is None:
        if after_sheet:
            message = r"\claim lacks its number; write e.g. \claim{weights[1,2]}{0.47}"
            yield Flaw(message, match.start())
        return
    name, inside = one_line(found["key"]), found["number"] or ""
    if found["number"] is None or any(word not in _KNOWN for word in _COMMAND.findall(inside)):
        message = rf"\claim{{{name[:40]}}}: its number holds commands; write digits only"
        yield Flaw(message, match.start())
        return
    lead = len(inside) - len(inside.lstrip())
    yield claim_of(name, inside.strip(), found.start("number") + lead)
