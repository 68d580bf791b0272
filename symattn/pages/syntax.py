"""A page of prose with worksheets in it and numbers claimed where they stand.

Every syntax finds the same things: a `Block`, which holds a worksheet, an `Anchor`, a number in the
prose that claims to be an entry of the worksheet before it, and a `Flaw`, which should be one of
these and cannot be read. All know where they stand in the file, to the character, so that a wrong
number can be put right in place.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias

from symattn.claims.lines import is_calculation, is_line, last_side
from symattn.errors import ReadError
from symattn.files.named import LIMITS

#: An entry, rows or a step as worksheets name them, or an entry as it is printed: s_12, a_{1,2},
#: α₁₂, w^{Q}_{12}, z^cap⁽²⁾_12, and with the head below [Q_2]_12.
_GROUP = r"\{(?:[^{}]|\{[^{}]*\})*\}"
_ABOVE = rf"(?:\^(?:{_GROUP}|\([^()]*\)|\w+)?(?:[⁰¹²³⁴-⁹⁽⁾]+)?|[⁰¹²³⁴-⁹⁽⁾]+)?"
_INDEX = r"(?:_\{[^{}]*\}|_[0-9,]+|[₀-₉,]+)"
_ENTRY = (
    r"[A-Za-z_]+(?:\[[^\[\]]*\])+|[A-Za-z_]+(?=\s*=\s*\[)"
    rf"|(?:\\?[^\W\d_]+|{_GROUP}){_ABOVE}{_INDEX}{_ABOVE}|\[[^\[\]=≈]*\]{_INDEX}{_ABOVE}"
)

#: What stands in a list: numbers in quotes or without, and a comma behind the last.
_LISTED = re.compile(
    r"""(?<=[^\[\s])(?P<last>\s*,)(?=\s*\])|"([^"]*)"|'([^']*)'|([^\[\],"'\s](?:[^\[\],"']*[^\[\],"'\s])?)"""
)

#: What stands between the brackets of a claim: an entry, a relation, a number or a worked line.
_CLAIM = re.compile(
    rf"\s*\$?\s*({_ENTRY})\s*&?\s*(?:=|≈|≃|≅|~=|\\approx(?![A-Za-z]))"
    r"\s*([^\s$](?:.*[^\s$])?)\s*\$?\s*\Z",
    re.DOTALL,
)

#: Formulas in prose, whatever the syntax.
_FORMULA = re.compile(
    r"\$\$(?P<double>.{1,2000}?)\$\$|\$(?P<single>[^$]{1,2000}+)\$|\\\[(?P<display>.{1,2000}?)\\\]|\\\((?P<inline>.{1,2000}?)\\\)"
    r"|:math:`(?P<role>[^`]{1,2000}+)`|\\begin\{(?P<name>(?:equation|align|gather|multline|math|displaymath)"
    r"\*?)\}(?P<env>.{1,2000}?)\\end\{(?P=name)\}",
    re.DOTALL,
)
#: A matrix of LaTeX, with the brackets around it; an array without these has lines of its own.
_MATRIX = re.compile(
    r"\\begin\{(?P<kind>[pbBvV]?(?:small)?matrix)\*?\}(?:\[[lcr]\])?(?P<cells>(?:(?!\\begin).)*?)\\end\{(?P=kind)\*?\}"
    r"|\\left\s*[\[(]\s*\\begin\{array\}\{[^{}]*\}(?P<listed>(?:(?!\\begin).)*?)\\end\{array\}\s*\\right\s*[\])]",
    re.DOTALL,
)
#: What sets letters or numbers in another way.
_SET = r"\\(?:mathbf|mathrm|mathit|mathsf|boldsymbol|bm|text|textbf|operatorname|boxed|underline)"
#: What says what a matrix is, formulas in letters in between: ``S = Q K^\\top =``.
_IS_MATRIX = re.compile(
    rf"\s*(?:{_SET}\s*\{{)?(?P<key>[^\W\d]\w*(?:\[[^\[\]]*\])*)"
    rf"\}}?\s*&?\s*(?:=|≈|\\approx(?![A-Za-z]))(?P<between>.*?)(?P<matrix>{_MATRIX.pattern})\s*\Z",
    re.DOTALL,
)
#: What may stand for a matrix while the rest of a formula is cut, and what follows one of several.
_FILLER = "□"
_NEXT = re.compile(
    rf"(?<={_FILLER})\s*(?:[,;]|\\q?quad(?![A-Za-z])|\\[,;:])(?:\s|[,;]|\\q?quad(?![A-Za-z]))*"
)
#: A table of Markdown: a line of headings, a line of dashes, lines of cells.
_TABLE = re.compile(
    r"^[ \t>]*(?P<head>[^\n|]*\|[^\n]*)\n"
    r"[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t\r]*\n(?P<cells>.*)",
    re.MULTILINE | re.DOTALL,
)
#: What names a row or a token, and is no number: it begins with a letter.
_LABEL = re.compile(r"[`_\"']*(?!inf\b)[^\W\d]")
#: What stands around the number in a cell, and what sets it in other letters.
_AROUND = " \t\r\n*$"
_EMPHASISED = re.compile(rf"{_SET}\s*\{{(?P<number>[^{{}}]*)\}}")
_INNER = re.compile(r"\\(?:begin|end)\{[a-z]+\*?\}(?:\{[a-z|]*\})?|\\(?:label|tag)\{[^{}]*\}")
_ROWS = re.compile(r"\\\\(?:\[[^\[\]]*\])?(?:\s*\\hline(?![A-Za-z]))*")
_SPACE = re.compile(r"\s*+")
_ITEM = re.compile(r"\s*(?:[-*+>|]\s+|[0-9]+[.)]\s+)*")


@dataclass(frozen=True)
class Block:
    """The text of a worksheet and where it begins in the file.

    `places` says where each of its characters stands, if not one after the other. A block may
    name a worksheet `file` beside the page instead of holding one, or hold `equations` alone.
    """

    text: str
    start: int
    file: str = ""
    places: Callable[[int], int] | None = None
    equations: bool = False

    def place(self, at: int) -> int:
        """Where a character of the text stands in the file."""
        return self.start + at if self.places is None else self.places(at)


@dataclass(frozen=True)
class Anchor:
    """A number in the prose: which entry it claims ("" for none), its text, where that stands.

    Of a worked line it is the last number; `line` is the whole, which begins at `begins`. It is
    `inline` if a role or a command marks it, and shows only what is claimed. Of a list, as of a
    row, `parts` are its numbers and where each begins.
    """

    key: str
    number: str
    start: int
    line: str = ""
    begins: int = -1
    inline: bool = True
    parts: tuple[tuple[str, int], ...] = ()

    @property
    def whole(self) -> int:
        """Where all that is claimed begins."""
        return self.begins if self.line else self.start

    @property
    def claimed(self) -> str:
        """All that is claimed: the worked line, or the number."""
        return self.line or self.number

    @property
    def value(self) -> object:
        """What is claimed, as it would stand in a worksheet: a text, or lists of texts."""
        return _nested(self.number)[0] if self.parts else self.claimed

    def part(self, number: int) -> Anchor:
        """The claim of one number of a list."""
        return claim_of(self.key, *self.parts[number]) if self.parts else self

    def moved(self, place: Callable[[int], int]) -> Anchor:
        """The same where each of its characters stands elsewhere."""
        begins = place(self.begins) if self.begins >= 0 else self.begins
        parts = tuple((text, place(start)) for text, start in self.parts)
        return replace(self, start=place(self.start), begins=begins, parts=parts)


@dataclass(frozen=True)
class Flaw:
    """What marks a worksheet or a claim and cannot be read: why, and where it stands."""

    message: str
    start: int

    def moved(self, place: Callable[[int], int]) -> Flaw:
        """The same where each character stands elsewhere."""
        return replace(self, start=place(self.start))


Found: TypeAlias = "Block | Anchor | Flaw"

#: An entry whose bracket is not closed before the number.
_OPEN = re.compile(r"\s*[A-Za-z_]+\[[^\]=≈]*[=≈]")


#: A syntax: the text of a page to what stands in it, in order.
Syntax: TypeAlias = Callable[[str], Iterator[Found]]


def holds_worksheet(body: str) -> bool:
    """Whether the body of a directive ``attention``, which is an admonition too, is a worksheet."""
    return any(table in body for table in ("[given]", "[attention]", "[claims]"))


def anchor(inside: str, start: int) -> Anchor:
    """The claim in a role's text, ``weights[1,2] = 0.47``, which starts at `start`.

    Raises `ReadError` for a text that is no claim.
    """
    if (matrix := _IS_MATRIX.match(inside)) is not None:
        return _of_matrix(matrix, start)
    match = _CLAIM.match(inside)
    if match is None and is_calculation(inside) and not _OPEN.match(inside):
        return claim_of("", inside, start)
    if match is None:
        write = "e.g. weights[1,2] = 0.47"
        if _MATRIX.search(inside):
            write = "the step's name before the matrix, as in S = Q K^T = …"
        raise ReadError(f"{inside[:40]!r} is not a claim; write {write}")
    return claim_of(match[1], match[2], start + match.start(2))


def _of_matrix(match: re.Match[str], start: int) -> Anchor:
    """The claim of a matrix. Raises `ReadError` where something is done to it."""
    inside, between = match[0].strip(), _filled(match["between"]).strip()
    if _FILLER in between or (between and not between.endswith(("=", "≈", "\\approx"))):
        raise ReadError(
            f"{inside[:40]!r}: numbers before a matrix are not read; write the matrix that it "
            "comes to after a sign of equality"
        )
    return claim_of(match["key"], match["matrix"], start + match.start("matrix"))


def claimed(inside: str, start: int) -> Anchor | Flaw:
    """The claim in a role's text, as `anchor`; a flaw where it is none."""
    try:
        return anchor(inside, start)
    except ReadError as error:
        return Flaw(str(error), start)


def claim_of(key: str, text: str, start: int) -> Anchor:
    """The claim at `start`: a number, a worked line, a list of these, a matrix or a table.

    Raises `ReadError` for brackets that do not match.
    """
    if text.startswith("[") or _rows_of(text):
        parts = tuple((part, start + at) for part, at in _nested(text)[1])
        return Anchor(one_line(key), text, start, parts=parts)
    if not is_line(text):
        return Anchor(one_line(key), text, start)
    number, offset = last_side(text)
    return Anchor(one_line(key), number, start + offset, text, start)


def _nested(text: str) -> tuple[object, list[tuple[str, int]]]:
    """A list in brackets, of texts and lists, a matrix or a table; its texts with their places."""
    parts: list[tuple[str, int]] = []
    if rows := _rows_of(text):
        return [[number for number, _ in row] for row in rows], [one for row in rows for one in row]

    def noted(match: re.Match[str]) -> str:
        if match["last"]:
            return ""
        group = match.lastindex or 0
        parts.append((match[group], match.start(group)))
        return json.dumps(match[group])

    listed = _LISTED.sub(noted, text)
    try:
        return json.loads(listed), parts
    except (ValueError, RecursionError):
        message = "its brackets do not match; write e.g. [0.33, 0.67]"
        if text.count("[") == text.count("]"):
            message = "write numbers between commas, as in [0.33, 0.67]"
        raise ReadError(f"{text[:40]!r}: {message}") from None


def _rows_of(text: str) -> list[list[tuple[str, int]]]:
    """The numbers of a matrix or a table, row by row, and where each begins; none of others."""
    if (matrix := _MATRIX.fullmatch(text)) is not None:
        cells = "listed" if matrix["cells"] is None else "cells"
        return [*_matrix_rows(text, *matrix.span(cells))]
    table = _TABLE.match(text)
    return [] if table is None else _table_rows(table)


def _cells(text: str, start: int, end: int, sign: str) -> list[tuple[str, int]]:
    """The numbers of a row with a sign between its cells, and where each begins."""
    cells, at = [], start
    for cell in text[start:end].split(sign):
        number = cell.strip(_AROUND)
        begin = at + len(cell) - len(cell.lstrip(_AROUND)) if number else at
        if emphasised := _EMPHASISED.fullmatch(number):
            number, begin = emphasised["number"], begin + emphasised.start("number")
        cells.append((number, begin))
        at += len(cell) + len(sign)
    return cells


def _matrix_rows(text: str, start: int, end: int) -> Iterator[list[tuple[str, int]]]:
    """The rows of a matrix of LaTeX."""
    ends = [*_ROWS.finditer(text, start, end)]
    starts = [start, *(match.end() for match in ends)]
    for begin, stop in zip(starts, [*(match.start() for match in ends), end], strict=True):
        if text[begin:stop].strip():
            yield _cells(text, begin, stop, "&")


def _table_rows(table: re.Match[str]) -> list[list[tuple[str, int]]]:
    """The rows of a table of Markdown, without what names a row."""
    lines, at = [(table.start("head"), table["head"])], table.start("cells")
    for line in table["cells"].splitlines(keepends=True):
        lines.append((at, line))
        at += len(line)
    rows = []
    for begin, line in lines:
        bare = line.rstrip().removesuffix("|")
        lead = len(bare) - len(bare.lstrip(" \t>").removeprefix("|"))
        rows.append(_cells(table.string, begin + lead, begin + len(bare), "|"))
    head, *body = rows
    named = not head[0][0] or any(_LABEL.match(row[0][0]) for row in body)
    return [row[1:] if named else row for row in body]


def _filled(text: str) -> str:
    """A text with as long a filler for each matrix in it, which has rows of its own."""
    return _MATRIX.sub(lambda match: _FILLER * len(match[0]), text)


def after_space(text: str, start: int, end: int) -> int:
    """The first place from `start` on that is no space."""
    match = _SPACE.match(text, start, end)
    return match.end() if match else start


def marked_lines(text: str, start: int, end: int, key: str = "") -> Iterator[Anchor | Flaw]:
    """The claims in a paragraph that a comment ``claim`` marks: its formulas, or else its lines.

    With a `key`, the numbers of its table. A flaw where there are none, or too much.
    """
    if end - start > LIMITS.paragraph:
        message = f"{end - start} characters after the comment claim are too many"
        yield Flaw(f"{message}; {LIMITS.paragraph} at most, up to a blank line", start)
        return
    line = text.rfind("\n", 0, start) + 1
    table = _TABLE.search(text, start if text[line:start].strip() else line, end)
    if key and table is not None:
        yield replace(claim_of(key, table[0].rstrip(), table.start()), inline=False)
        return
    if key or (table is not None and not _FORMULA.search(text, start, end)):
        none, unnamed = "no table follows the comment claim", "a table needs a step's name"
        what = f"{none} {key[:40]}" if key else unnamed
        yield Flaw(f"{what}; write e.g. <!-- claim weights --> before a table of them", start)
        return
    found = False
    for begin, stop in _formulas(text, start, end):
        inside = text[begin:stop].rstrip(" \t\r\n,;")
        inside = inside if inside.endswith("..") else inside.removesuffix(".")
        found = True
        one = claimed(inside, begin)
        yield replace(one, inline=False) if isinstance(one, Anchor) else one
    if not found:
        message = "no line or formula follows the comment claim"
        yield Flaw(f"{message}; write e.g. s_12 = 1·0 + 2·4 = 8 there", start)


def _formulas(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Where the formulas of a paragraph begin and end, or its lines if it has none."""
    formulas = [*_FORMULA.finditer(text, start, end)]
    for match in formulas:
        group = next(
            g
            for g in ("double", "single", "display", "inline", "role", "env")
            if match[g] is not None
        )
        yield from _rows(text, match.start(group), match.end(group))
    if formulas:
        return
    place = start
    for words in text[start:end].splitlines(keepends=True):
        item = _ITEM.match(words)
        lead = item.end() if item else 0
        if words.strip():
            yield place + min(lead, len(words)), place + len(words)
        place += len(words)


def _rows(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The rows of a formula; one that begins with a sign of equality goes on with the last."""
    formula = _filled(text[start:end])
    ends = sorted(m.end() for cut in (_ROWS, _NEXT) for m in cut.finditer(formula))
    rows: list[tuple[int, int]] = []
    for piece in pairwise([0, *ends, len(formula)]):
        begin, stop = _inside(formula, *piece)
        row = formula[begin:stop].strip(" \t\r\n&")
        if rows and row.startswith(("=", "≈", "\\approx")):
            rows[-1] = rows[-1][0], stop
        elif row:
            rows.append((begin, stop))
    yield from ((start + begin, start + stop) for begin, stop in rows)


def _inside(text: str, begin: int, stop: int) -> tuple[int, int]:
    """A row without the environment that opens before it, or closes behind it, and its end."""
    for match in _INNER.finditer(text, begin, stop):
        if not text[begin : match.start()].strip():
            begin = match.end()
        else:
            stop = match.start()
            break
    row = _NEXT.sub("", text[begin:stop]).rstrip().removesuffix("\\\\")
    return begin, begin + len(row.rstrip())


def one_line(key: str) -> str:
    """A key that a page may have broken over lines."""
    return " ".join(key.split())


def line_of(text: str, place: int) -> int:
    """The line that a place in a text is on, from 1."""
    return place_of(text, place)[0]


def place_of(text: str, place: int) -> tuple[int, int]:
    """Line and column of a place in a text, both from 1."""
    starts = _line_starts(text)
    line = bisect_right(starts, place)
    return line, place - starts[line - 1] + 1


@lru_cache(maxsize=1)
def _line_starts(text: str) -> tuple[int, ...]:
    return (0, *(match.end() for match in re.finditer("\n", text)))
