"""Blocks and roles of reStructuredText: where worksheets and claims stand.

Blocks are told apart by their first lines and their indents, with docutils' own patterns and its
parsers of tables, so that Sphinx reads the same. No directive is run, no file is included and no
reference resolved. Each character keeps its place in the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import dropwhile, takewhile
from string import punctuation
from typing import Any
from unicodedata import east_asian_width

from docutils.frontend import get_default_settings
from docutils.parsers.rst import Parser, states, tableparser
from docutils.statemachine import StringList
from docutils.utils import escape2null
from docutils.utils.punctuation_chars import match_chars

from symattn.errors import ReadError
from symattn.files.named import LIMITS
from symattn.pages.syntax import (
    Block,
    Flaw,
    Found,
    claimed,
    holds_worksheet,
    marked_lines,
    one_line,
)

#: Directives whose content is no reStructuredText.
_LITERAL = {
    *("code", "code-block", "sourcecode", "literalinclude", "raw", "math"),
    *("doctest", "testcode", "testoutput", "testsetup", "testcleanup", "prompt"),
    *("graphviz", "digraph", "graph", "mermaid", "productionlist"),
}
_EXPLICIT = re.compile(r"\.\.(?: +|$)")
_NOTE = re.compile(r"\.\. +\[[^\]\s]+\](?: +|$)")
_DIRECTIVE = re.compile(
    rf"\.\. +(?:\|\S[^|]*\| +)?(?P<name>{states.Inliner.simplename}) ?::(?: +|$)"
)
_MATH = re.compile(r"\.\. +math::")
_ITEMS = {
    kind: re.compile(states.Body.patterns[kind])
    for kind in ("bullet", "enumerator", "field_marker", "option_marker", "line_block")
}
_DOCTEST = re.compile(states.Body.patterns["doctest"])
_BLANK = re.compile("$")
#: The line of a title, or what else ends a paragraph.
_ADORNMENT = re.compile(r"([!-/:-@[-`{-~])\1{3,}$")
_ENDS_PARAGRAPH = re.compile(rf"$|\s|{_ADORNMENT.pattern}")
_OPENS_LITERAL = re.compile(r"(?<!\\)(?:\\\\)*::$")
_SPACES = re.compile("[\v\f]")

_NO_WORKSHEET = (
    "symattn: give a worksheet in the body, after a blank line, or the name of its file, which "
    "ends in .toml"
)


_TAB = 8


@dataclass(frozen=True)
class Line:
    """A line of a block, and where each of its characters, and its end, stand in the page."""

    text: str
    places: Sequence[int]

    @property
    def indent(self) -> int:
        """How many spaces it begins with."""
        return len(self.text) - len(self.text.lstrip())

    def part(self, start: int, end: int | None = None) -> Line:
        """What stands between two columns."""
        start = min(start, len(self.text))
        return Line(self.text[start:end].rstrip(), self.places[start:])

    def spread(self, widths: Sequence[int]) -> Line:
        """The same, each character with so many columns."""
        if max(widths, default=1) == 1:
            return self
        text = "".join(
            char.replace("\t", " ").ljust(width)
            for char, width in zip(self.text, widths, strict=True)
        )
        places = [
            place for place, width in zip(self.places, widths, strict=False) for _ in range(width)
        ]
        return Line(text, [*places, *self.places[len(self.text) :]])


def found_in(text: str) -> list[Found]:
    """Worksheets and claims of a page, in order."""
    lines = [*_lines(text)]
    if (
        sum(line.text.count("|") - 1 for line in lines if line.text.lstrip()[:1] == "|")
        > LIMITS.cells
    ):
        raise ReadError(f"1: more than {LIMITS.cells:,} cells of tables are too many for a page")
    return sorted(_blocks(lines, text), key=lambda found: found.start)


def _lines(text: str) -> Iterator[Line]:
    """The lines of a page, with spaces for tabs."""
    start = 0
    for raw in _SPACES.sub(" ", text).splitlines(keepends=True):
        words, column, widths = raw.rstrip(), 0, []
        for char in words if "\t" in words else "":
            widths.append(_TAB - column % _TAB if char == "\t" else 1)
            column += widths[-1]
        yield Line(words, range(start, start + len(raw) + 1)).spread(widths)
        start += len(raw)


# ---- blocks ------------------------------------------------------------------------------------


def _blocks(lines: Sequence[Line], page: str) -> Iterator[Found]:
    """What stands in lines, block by block."""
    at = 0
    while at < len(lines):
        first, line = at, lines[at]
        if not line.text or _ADORNMENT.match(line.text):
            at += 1
        elif line.indent:
            at = _indented(lines, at)
            yield from _blocks(_dedented(lines[first:at]), page)
        elif _DOCTEST.match(line.text):
            at = _until(_BLANK, lines, at)
        elif _EXPLICIT.match(line.text):
            at, found = _explicit(lines, at, page)
            yield from found
        elif end := _end_of_table(lines, at):
            at = end
            for cell in _cells(lines[first:end]):
                yield from _blocks(cell, page)
        elif item := _item(lines, at):
            at, inside = _inside(lines, at, *item)
            yield from _blocks(inside, page)
        else:
            at = _until(_ENDS_PARAGRAPH, lines, at + 1)
            yield from _claims(lines[first:at])
            at = _after_literal(lines, first, at)


def _until(pattern: re.Pattern[str], lines: Sequence[Line], at: int) -> int:
    """The first line from `at` on that begins so, or the end."""
    return next((n for n in range(at, len(lines)) if pattern.match(lines[n].text)), len(lines))


def _indented(lines: Sequence[Line], at: int, least: int = 1) -> int:
    """The line behind those from `at` on that are indented, and the blank ones between."""
    last = at
    for number in range(at, len(lines)):
        if lines[number].text:
            if lines[number].indent < least:
                break
            last = number + 1
    return last


def _dedented(lines: Sequence[Line]) -> list[Line]:
    """The lines without the indent that all have."""
    margin = min((line.indent for line in lines if line.text), default=0)
    return [line.part(margin) for line in lines]


def _inside(
    lines: Sequence[Line], at: int, column: int, is_known: bool = False
) -> tuple[int, list[Line]]:
    """Where a block ends whose text begins at a column of its first line, and what it holds.

    The indent of its other lines is that column, if it `is_known`, else whatever they have.
    """
    first = lines[at].part(column)
    if is_known and first.text:
        last = _indented(lines, at + 1, column)
        return last, [line.part(column) for line in lines[at:last]]
    last = _indented(lines, at + 1)
    return last, [first, *_dedented(lines[at + 1 : last])]


def _item(lines: Sequence[Line], at: int) -> tuple[int, bool] | None:
    """The column at which the text of an item of a list begins, and whether all of it does."""
    for kind, pattern in _ITEMS.items():
        if mark := pattern.match(lines[at].text):
            behind = lines[at + 1].text if at + 1 < len(lines) else ""
            if kind == "enumerator" and behind[:1].strip() and not pattern.match(behind):
                return None  # words that begin with a number
            return mark.end(), kind in ("bullet", "enumerator")
    return None


def _after_literal(lines: Sequence[Line], first: int, at: int) -> int:
    """The line behind a paragraph, and behind the literal block that it opens."""
    start = next((n for n in range(at, len(lines)) if lines[n].text), len(lines))
    is_term = start == at == first + 1  # whose definition follows
    if start == len(lines) or is_term or not _OPENS_LITERAL.search(lines[at - 1].text):
        return at
    sign = lines[start].text[0]
    if sign in punctuation:  # the block is quoted
        return _until(re.compile(f"(?!{re.escape(sign)})"), lines, start)
    return _indented(lines, start) if sign == " " else at


# ---- explicit markup ---------------------------------------------------------------------------


def _explicit(lines: Sequence[Line], at: int, page: str) -> tuple[int, Iterator[Found]]:
    """The line behind a directive, a note or a comment, and what it holds."""
    text = lines[at].text
    directive, note = _DIRECTIVE.match(text), _NOTE.match(text)
    mark = directive or note or _EXPLICIT.match(text)
    if text.startswith(".. _"):  # a target ends before a blank line
        lines = lines[: _until(_BLANK, lines, at)]
    last, inside = _inside(lines, at, mark.end() if mark else 0)
    if directive:
        return last, _directive(directive["name"].lower(), inside, lines[at].places[0], page)
    if note:
        return last, _blocks(inside, page)
    if text == ".." and _until(_BLANK, lines, at + 1) == at + 1:
        return at + 1, iter(())
    if "\n".join(line.text for line in inside).strip() == "claim":
        return _marked(lines, last, page)
    return last, iter(())


def _directive(name: str, inside: Sequence[Line], start: int, page: str) -> Iterator[Found]:
    """A worksheet is noted, what is literal passed over, all else read as prose."""
    ours = _worksheet(name, inside, start, page) if name in ("symattn", "attention") else None
    if ours is not None:
        yield ours
    elif name not in _LITERAL:
        yield from _blocks(inside, page)


def _worksheet(name: str, inside: Sequence[Line], start: int, page: str) -> Found | None:
    """The worksheet that a directive names, holds or should; None of an admonition."""
    lines = inside if inside[0].text else inside[1:]
    blank = _until(_BLANK, lines, 0)
    words = takewhile(lambda line: not _ITEMS["field_marker"].match(line.text), lines[:blank])
    argument = one_line(" ".join(line.text for line in words))
    content = [*dropwhile(lambda line: not line.text, lines[blank:])]
    if argument.endswith(".toml") and (name == "symattn" or not content):
        return Block("", start, file=argument)
    if content and (name == "symattn" or holds_worksheet("\n".join(x.text for x in content))):
        return _block(content, page)
    return Flaw(_NO_WORKSHEET, start) if name == "symattn" else None


def _block(content: Sequence[Line], page: str) -> Block:
    """A worksheet, each line at its column."""
    text, places = "", list[int]()
    for line in content:
        start = line.places[0]
        first = page.rfind("\n", 0, start) + 1
        text += f"{' ' * (start - first)}{line.text}\n"
        places += [*range(first, start), *line.places[: len(line.text) + 1]]
    return Block(text, places[0], places=[*places, places[-1] + 1].__getitem__)


def _marked(lines: Sequence[Line], at: int, page: str) -> tuple[int, Iterator[Found]]:
    """The line behind the paragraph that a comment ``claim`` marks, and the claims in it."""
    at = next((n for n in range(at, len(lines)) if lines[n].text), len(lines))
    if at == len(lines):
        return at, marked_lines(page, len(page), len(page))
    math = _MATH.match(lines[at].text)
    last = _indented(lines, at + 1) if math else _until(_BLANK, lines, at)
    start, end = lines[at].places[math.end() if math else 0], lines[last - 1]
    return last, marked_lines(page, start, end.places[len(end.text)])


# ---- tables ------------------------------------------------------------------------------------


def _end_of_table(lines: Sequence[Line], at: int) -> int:
    """The line behind a table that begins here; 0 where none does."""
    if states.Body.grid_table_top_pat.match(lines[at].text):
        return _until(re.compile(r"(?![+|])"), lines, at)
    if not states.Body.simple_table_top_pat.match(lines[at].text):
        return 0
    first = _until(states.Body.simple_table_border_pat, lines, at + 1)
    if first + 1 >= len(lines) or not lines[first + 1].text:
        return min(first + 1, len(lines))
    return min(_until(states.Body.simple_table_border_pat, lines, first + 1) + 1, len(lines))


def _cells(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """The cells of a table; none of one that is not well drawn."""
    table = [
        line.spread([1 + (east_asian_width(char) in "WF") for char in line.text]) for line in lines
    ]
    is_simple = table[0].text[0] == "="
    if not is_simple and len({len(line.text) for line in table}) > 1:
        return
    parser: Any = tableparser.SimpleTableParser() if is_simple else tableparser.GridTableParser()
    try:
        parser.parse(StringList([line.text for line in table], "page"))
    except tableparser.TableMarkupError:
        return
    for top, left, bottom, right in _simple(parser) if is_simple else _drawn(parser):
        yield _dedented([line.part(left, right) for line in table[top:bottom]])


def _drawn(parser: Any) -> Iterator[tuple[int, int, int, int | None]]:
    """The lines and columns of the cells between lines that are drawn."""
    return ((top + 1, left + 1, bottom, right) for top, left, bottom, right, _ in parser.cells)


def _simple(parser: Any) -> Iterator[tuple[int, int, int, int | None]]:
    """The lines and columns of the cells below ``====  ====``; the last column has no end."""
    starts = [*(start for start, _ in parser.columns), None]
    for row in parser.table:
        column = 0
        for _, more, top, cell in row:
            left, column = starts[column], column + more + 1
            yield top, left, top + len(cell), starts[column]


# ---- roles -------------------------------------------------------------------------------------


def _claims(lines: Sequence[Line]) -> Iterator[Found]:
    """The claims in the roles of a paragraph."""
    text = "\n".join(line.text for line in lines)
    if "claim" in text:
        places = [place for line in lines for place in line.places[: len(line.text) + 1]]
        for begin, end in _roles(escape2null(text)):
            yield claimed(text[begin:end], begin).moved(places.__getitem__)


def _roles(text: str) -> Iterator[tuple[int, int]]:
    """Where what stands in a role ``claim`` begins and ends; other markup is passed over."""
    begins, begins_behind, ends = _markup()
    open_ended, place = set[str](), 0
    while start := begins.match(text, place) or begins_behind.search(text, place):
        is_behind = start.start() > place
        place, sign = start.end(), start["sign"]
        around = text[start.start() - 1 : start.start()], text[place : place + 1]
        if sign in open_ended or (is_behind and not start["role"] and match_chars(*around)):
            continue
        end = ends[sign].search(text, place)
        if end is None:
            open_ended.add(sign)
        elif end.start(1) > place:
            if sign == "`" and not end["refend"] and (start["role"] or end["role"] == ":claim:"):
                yield place, end.start(1)
            place = end.end()


@cache
def _markup() -> tuple[re.Pattern[str], re.Pattern[str], dict[str, re.Pattern[str]]]:
    """How markup begins, at once or behind other words, and how each kind ends."""
    inliner = states.Inliner()
    inliner.init_customizations(get_default_settings(Parser))
    patterns: Any = inliner.patterns
    begins = r"(?P<role>:claim:(?=`(?!`)))?(?P<sign>\*\*|\*(?!\*)|``|_`|`(?!`)|\|(?!\|))(?!\s|\Z)"
    ends = {
        "*": patterns.emphasis,
        "**": patterns.strong,
        "``": patterns.literal,
        "_`": patterns.target,
        "`": patterns.interpreted_or_phrase_ref,
        "|": patterns.substitution_ref,
    }
    return re.compile(begins), re.compile(inliner.start_string_prefix + begins), ends
