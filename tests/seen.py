"""What a reader sees of the matrices in a document, whatever program shows the document.

Each way of looking takes a document as its reader shows it, the text of a terminal, MathML, what
KaTeX and MathJax set, a page of a PDF, and gives the matrices in order. None of them knows what
the document was made from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⋅𝑒𝜋", "0123456789−·eπ")
_RELATIONS = "=≈"

#: What counts in a number or a small expression; brackets and blanks are set in many ways.
_COUNTS = re.compile("[^0-9.−+/∞?⋯⋮⋱√·eπ=≈]")


@dataclass(frozen=True)
class Seen:
    """A matrix as it is seen: the figures of its symbol, its cells, the names around it.

    An equation that holds no matrix is one cell.
    """

    left: str
    relation: str
    rows: tuple[tuple[str, ...], ...]
    names: tuple[str, ...] = ()

    @property
    def stream(self) -> str:
        """The matrix as one run of characters, for readers that keep no cells apart."""
        cells = "".join(cell for row in self.rows for cell in row)
        return run_of(self.left + self.relation + cells)


def cell(shown: str) -> str:
    """What counts in the words of a cell: 2.06·10⁻⁹ and 2.06·10 −9 are the same."""
    wordless = re.sub("(?!e+(?![A-Za-z]))[A-Za-z]{2,}", "", shown)
    return _COUNTS.sub("", wordless.translate(_RAISED))


def _name(shown: str) -> str:
    return " ".join(shown.replace("’", "'").split())


# the text of a terminal

#: What opens a matrix, and what closes one, in its first line, in others, and in its last.
_OPENS, _CLOSES = "⎡⎢⎣", "⎤⎥⎦"

#: A matrix of one row, which is no bracket of an expression.
_ONE_ROW = re.compile(r"(?<=[=≈] )\[.*?\]")

#: The equation of an entry, s_12 = …, or of a number that is no entry: the loss.
_OF_A_NUMBER = re.compile(r"(?:\S+_\d\S*|L|L_lin) [=≈] ")

#: What stands between formulas side by side.
_APART = re.compile(" {3,}")


@dataclass(frozen=True)
class _Block:
    """A matrix in a text: its rows of lines, and the columns of its brackets."""

    rows: range
    left: int
    right: int


def in_text(document: str) -> list[Seen]:
    """The matrices and the equations of numbers in a text."""
    lines = document.partition("\nCheck: ")[0].splitlines()
    found: list[Seen] = []
    place = 0
    for display in _displays(lines):
        start = min(block.rows.start for block in display)
        found += [seen for line in lines[place:start] for seen in _equations(line)]
        found += _side_by_side(display, lines)
        place = max(block.rows.stop for block in display)
    return found + [seen for line in lines[place:] for seen in _equations(line)]


def _equations(words: str) -> list[Seen]:
    """The equations of entries in a line, or in what stands before a matrix."""
    return [
        _equation(re.sub(r"_([\w,]+)([⁰¹²³⁴⁵⁶⁷⁸⁹⁽⁾]+)", r"\2\1", one))
        for one in _APART.split(words.strip())
        if _OF_A_NUMBER.match(one)
    ]


def _displays(lines: Sequence[str]) -> Iterator[list[_Block]]:
    """The matrices of a text, in lists of those that share lines, from left to right."""
    display: list[_Block] = []
    for block in sorted(_blocks(lines), key=lambda each: each.rows.start):
        if display and block.rows.start >= max(each.rows.stop for each in display):
            yield sorted(display, key=lambda each: each.left)
            display = []
        display.append(block)
    if display:
        yield sorted(display, key=lambda each: each.left)


def _blocks(lines: Sequence[str]) -> Iterator[_Block]:
    pieces = 0
    for number, line in enumerate(lines):
        for match in _ONE_ROW.finditer(line):
            yield _Block(range(number, number + 1), match.start(), match.end() - 1)
        for match in re.finditer("⎡.*?⎤", line):
            left, right = match.start(), match.end() - 1
            last = next(k for k in range(number, len(lines)) if lines[k][left] == "⎣")
            block = _Block(range(number, last + 1), left, right)
            edges = [(lines[k][left], lines[k][right]) for k in block.rows]
            assert edges == [("⎡", "⎤"), *[("⎢", "⎥")] * (len(edges) - 2), ("⎣", "⎦")]
            pieces += 2 * len(edges)
            yield block
    assert pieces == sum(line.count(c) for line in lines for c in _OPENS + _CLOSES)


def _side_by_side(display: Sequence[_Block], lines: Sequence[str]) -> list[Seen]:
    """Matrices beside one another, and the equations of entries before them."""
    found: list[Seen] = []
    place = 0
    for block, after in zip(display, (*display[1:], None), strict=True):
        before = [words for k in block.rows if (words := lines[k][place : block.left].strip())]
        *others, symbol = _APART.split(next(each for each in before if each[-1] in _RELATIONS))
        found += [seen for words in others for seen in _equations(words)]
        rows = tuple(
            tuple(map(cell, re.split(r" {2,}", lines[k][block.left + 1 : block.right].strip())))
            for k in block.rows
        )
        place = block.right + 1
        behind = [lines[k][place : after.left if after else None] for k in block.rows]
        beside = [_APART.split(words.strip())[0] for words in behind]
        names = tuple(words for words in beside if words and words[-1] not in _RELATIONS)
        shown = cell(symbol)
        above = _above(block, display, lines)
        found.append(Seen(shown[:-1], shown[-1], rows, above + names))
    return found


def _above(block: _Block, display: Sequence[_Block], lines: Sequence[str]) -> tuple[str, ...]:
    """The names of a matrix's columns: nothing else stands in their line but for what is beside."""
    number = block.rows.start - 1
    line = lines[number].ljust(block.right)
    if all(number not in each.rows for each in display):
        rest = line
        for each in display:
            rest = rest[: each.left] + " " * (each.right - each.left) + rest[each.right :]
        if rest.strip():
            return ()
    words = line[block.left : block.right].strip()
    is_matrix = any(c in words for c in _OPENS + _CLOSES)
    return tuple(re.split(r" {2,}", words)) if words and not is_matrix else ()


# MathML, and what is built like it


@dataclass(frozen=True)
class Part:
    """An element of a formula as some program shows it; letters have no children."""

    kind: str
    words: str = ""
    parts: tuple[Part, ...] = ()

    def walk(self) -> Iterator[Part]:
        """This element and all in it, in order."""
        yield self
        for part in self.parts:
            yield from part.walk()


#: What a fraction and a root are in a line of text.
_BAR, _SURD = Part("letter", "/"), Part("letter", "√")

#: The blank between formulas side by side.
_QUAD = Part("quad")


def of_mathml(element: Element, upright: bool = False) -> Part:
    """MathML, without what is not shown."""
    kind = element.tag.rpartition("}")[2]
    if kind in ("mphantom", "annotation", "annotation-xml"):
        return Part("none")
    if kind == "mspace" and element.get("width") in ("1em", "1.0em", "2em"):
        return _QUAD
    if kind == "mtext" and element.text == "\u00a0" * 6:  # a gap in Word
        return _QUAD
    upright = upright or element.get("mathvariant") == "normal"
    if kind == "mi" and upright:
        kind = "letter"  # one of a word's
    words = (element.text or "") if len(element) == 0 else ""
    parts = [of_mathml(child, upright) for child in element]
    if kind == "mfrac":
        parts.insert(1, _BAR)
    if kind == "msubsup":  # what is raised comes first, as on a page
        parts[1:] = parts[:0:-1]
    return Part(kind, words, (_SURD, *parts) if kind == "msqrt" else tuple(parts))


def in_formula(formula: Part) -> list[Seen]:
    """The matrices of a display; of equations that stand below one another each as one cell."""
    return [seen for part in _apart(formula) for seen in _in_one(part)]


def _apart(part: Part) -> list[Part]:
    """The formulas that stand side by side, with a quad between each and the next."""
    if part == _QUAD:
        return [Part("none"), Part("none")]
    if part.kind == "mtable" or not part.parts:
        return [part]
    pieces: list[list[Part]] = [[]]
    for child in part.parts:
        first, *rest = _apart(child)
        pieces[-1].append(first)
        pieces += [[each] for each in rest]
    return [Part(part.kind, part.words, tuple(each)) for each in pieces]


def _in_one(formula: Part) -> list[Seen]:
    tables = [part for part in formula.walk() if part.kind == "mtable"]
    if tables and any(map(_is_equation, outer := _rows(tables[0]))):
        return [seen for line in _lines(outer) for seen in in_formula(line)]
    matrix = next((part for part in tables if cell(_said(part))), None)
    if matrix is None:
        return [_equation(_said(formula))]
    names = tuple(name for table in tables for row in _rows(table) for name in map(_named, row))
    rows = [[cell(_said(part)) for part in row] for row in _rows(matrix)]
    if names and not any(rows[0]):  # a line of names, and then a column of them
        rows = [row[1:] for row in rows[1:]] if _named(_rows(matrix)[1][0]) else rows[1:]
    elif names and not any(row[0] for row in rows):
        rows = [row[1:] for row in rows]
    before = cell(_said(formula, matrix))
    return [Seen(before[:-1], before[-1], tuple(map(tuple, rows)), tuple(filter(None, names)))]


def _lines(rows: Sequence[tuple[Part, ...]]) -> list[Part]:
    """Equations below one another; a row with nothing at its left goes on with one, indented."""
    lines: list[tuple[Part, ...]] = []
    for row in rows:
        if lines and not _said(row[0]).replace("\u200b", "").strip():
            lines[-1] += tuple(map(_without_quads, row))
        else:
            lines.append(row)
    return [Part("mrow", "", line) for line in lines]


def _without_quads(part: Part) -> Part:
    if part == _QUAD:
        return Part("none")
    return Part(part.kind, part.words, tuple(map(_without_quads, part.parts)))


def _equation(said: str) -> Seen:
    shown = cell(said)
    relation = next(c for c in shown if c in _RELATIONS)
    left, _, right = shown.partition(relation)
    return Seen(left, relation, ((right,),))


def _is_equation(row: Sequence[Part]) -> bool:
    return any(c in _RELATIONS for part in row for c in _said(part))


def _rows(table: Part) -> list[tuple[Part, ...]]:
    """The cells of a table, not those of tables in it."""
    rows: list[tuple[Part, ...]] = []
    for part in table.parts:
        if part.kind == "mtr":
            rows.append(tuple(each for each in part.parts if each.kind == "mtd"))
        elif part.kind not in ("mtable", "mtd"):
            rows += _rows(part)
    return rows


def _said(formula: Part, until: Part | None = None) -> str:
    """What a formula says without the words in it, all of it or what stands before a part."""
    said = ""
    words: set[int] = set()
    for part in formula.walk():
        if part is until:
            break
        if part.kind == "mtext" or id(part) in words:
            words |= {id(each) for each in part.parts}
        else:  # e and z in e^z are two letters, not a word
            said += ("\u200b" if part.kind in ("mi", "mn", "mo", "span") else "") + part.words
    return said


def _named(part: Part) -> str:
    """The words of a cell that holds words alone."""
    return "" if cell(_said(part)) else _name("".join(each.words for each in part.walk()))


# pages, of which a reader keeps the order of the letters alone


def run_of(cells: str) -> str:
    """The same as a page has them: three dots for each ⋮, no line of a fraction; e is a letter."""
    return re.sub("[/e]", "", cells).replace("⋯", "···").replace("⋮", "...").replace("⋱", "...")


def in_page(page: str, openings: Sequence[str]) -> list[str]:
    """What stands behind each opening, a pattern, up to the next one, as a run of characters.

    A page may end in its number; equations are numbered from 7001 on, so that they can be told;
    the heading of a slide may be that of the slide before.
    """
    leaves = enumerate(page.split("\f"), 1)
    page = "".join(re.sub(rf"\n{number}\n\Z", "\n", leaf) for number, leaf in leaves)
    page = re.sub(r"\(7\d\d\d\)$", "", page, flags=re.MULTILINE)
    page = _without_repeats(page)
    found, place = [], 0
    for opening in openings:
        match = re.compile(opening).search(page, place)
        assert match is not None, f"{opening} is not on the page"
        found.append(match)
        place = match.end()
    ends = [*(match.start() for match in found[1:]), len(page)]
    return [run_of(cell(page[match.end() : end])) for match, end in zip(found, ends, strict=True)]


def _without_repeats(page: str) -> str:
    kept: list[str] = []
    heading = ""
    for line in page.splitlines(keepends=True):
        is_heading = re.match(r"\d+\. [A-Z].*\n", line) is not None
        if not (is_heading and line in (heading, heading.replace("\n", " (continued)\n"))):
            kept.append(line)
        heading = line if is_heading and "(continued)" not in line else heading
    return "".join(kept)


def prose_pattern(words: str) -> str:
    """A sentence as pages have it: its letters and figures, without signs, blanks, ligatures."""
    letters = re.sub("ff[il]?|f[il]|[^0-9A-Za-z]", " ", words)
    return r"[^0-9]{0,9}?".join(re.escape(part) for part in letters.split())
