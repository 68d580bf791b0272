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
_INNER = re.compile(r"\\(?:begin|end)\{[a-z]+\*?\}(?:\{[a-z|]*\})?|\\(?:label|tag)\{[^{}]*\}")
_ROWS = re.compile(r"\\\\(?:\[[^\[\]]*\])?")
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
    match = _CLAIM.match(inside)
    if match is None and is_calculation(inside) and not _OPEN.match(inside):
        return claim_of("", inside, start)
    if match is None:
        raise ReadError(f"{inside[:40]!r} is not a claim; write e.g. weights[1,2] = 0.47")
    return claim_of(match[1], match[2], start + match.start(2))


def claimed(inside: str, start: int) -> Anchor | Flaw:
    """The claim in a role's text, as `anchor`; a flaw where it is none."""
    try:
        return anchor(inside, start)
    except ReadError as error:
        return Flaw(str(error), start)


def claim_of(key: str, text: str, start: int) -> Anchor:
    """The claim of a number, of a worked line or of a list of these, that stands at `start`.

    Raises `ReadError` for brackets that do not match.
    """
    if text.startswith("["):
        parts = tuple((part, start + at) for part, at in _nested(text)[1])
        return Anchor(one_line(key), text, start, parts=parts)
    if not is_line(text):
        return Anchor(one_line(key), text, start)
    number, offset = last_side(text)
    return Anchor(one_line(key), number, start + offset, text, start)


def _nested(text: str) -> tuple[object, list[tuple[str, int]]]:
    """A list in brackets, of texts and lists, and its texts with where each begins."""
    parts: list[tuple[str, int]] = []

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


def after_space(text: str, start: int, end: int) -> int:
    """The first place from `start` on that is no space."""
    match = _SPACE.match(text, start, end)
    return match.end() if match else start


def marked_lines(text: str, start: int, end: int) -> Iterator[Anchor | Flaw]:
    """The claims in a paragraph that a comment ``claim`` marks: its formulas, or else its lines.

    A flaw where there are none, and where there is too much.
    """
    if end - start > LIMITS.paragraph:
        message = f"{end - start} characters after the comment claim are too many"
        yield Flaw(f"{message}; {LIMITS.paragraph} at most, up to a blank line", start)
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
    cuts = [start, *(m.end() for m in _ROWS.finditer(text, start, end)), end]
    rows: list[tuple[int, int]] = []
    for piece in pairwise(cuts):
        begin, stop = _inside(text, *piece)
        row = text[begin:stop].strip(" \t\r\n&")
        if rows and row.startswith(("=", "≈", "\\approx")):
            rows[-1] = rows[-1][0], stop
        elif row:
            rows.append((begin, stop))
    yield from rows


def _inside(text: str, begin: int, stop: int) -> tuple[int, int]:
    """A row without the environment that opens before it, or closes behind it, and its end."""
    for match in _INNER.finditer(text, begin, stop):
        if not text[begin : match.start()].strip():
            begin = match.end()
        else:
            stop = match.start()
            break
    return begin, begin + len(text[begin:stop].rstrip().removesuffix("\\\\").rstrip())


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
