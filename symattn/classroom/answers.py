"""The answers in one file that a student handed in: a worksheet, JSON, CSV, or a document's tables.

Nothing is run, and nothing that the file names is read. Each reader takes the bytes of a file.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from html import unescape
from xml.etree import ElementTree

from symattn.classroom.exercise import STATEMENTS, statement_name
from symattn.classroom.submission import Sheet, Submission, cell, cells, is_name, name_of, shallow
from symattn.classroom.tables import mark_in
from symattn.errors import ReadError, counted
from symattn.files.archives import archive_in, unpacked
from symattn.files.named import LIMITS
from symattn.files.toml import parse

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"

#: What stands between the parts of a formula in Word.
_BETWEEN = {f"{_M}f": "/", f"{_M}sSup": "^"}

#: The most characters of a line that is looked at for a name.
_LONGEST_LINE = 400

#: The line with the name on a sheet, as `symattn exercise` writes it.
_NAMED = re.compile(r"\s*Name:[ \t]*(?P<student>.*?)(?:\.?[ \t]*Seed (?P<seed>[0-9]{1,20})\.?)?\s*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.*)")
_BAR = re.compile(r"(?<!\\)\|")
_CLAIMS = re.compile(r"^[ \t]*\[claims\]", re.MULTILINE)

#: What makes a document of Word larger than it is: entities, in whatever encoding, and namespaces,
#: which stand in each name, that are longer than any of Office.
_DEFINITION = re.compile(
    rb"\0|<!DOCTYPE|<!ENTITY|\A(?:\xff\xfe|\xfe\xff)"
    rb"|xmlns(?!(?::[\w.-]{1,60})?\s{0,5}=\s{0,5}(?:\"[^\"<]{0,200}\"|'[^'<]{0,200}'))"
)

#: The remark on a text in another encoding.
NO_UTF8 = "is no UTF-8, and was read as Latin-1"


def answers_in(raw: bytes, ending: str) -> Submission:
    """The answers in a file of this ending, without the place where it lies.

    Raises `ReadError` where it cannot be read.
    """
    if ending not in READERS:
        known = ", ".join(READERS)
        more = "; unpack it first" if ending == ".zip" else ""
        raise ReadError(f"{ending or 'no ending'} is not read; answers end in {known}{more}")
    if len(raw) > most_of(ending):
        raise ReadError(f"more than {most_of(ending):,} bytes are too many")
    if not raw.strip():
        raise ReadError("is empty")
    try:
        found = READERS[ending](raw)
    except RecursionError:
        raise ReadError("is nested too deeply") from None
    except csv.Error as error:
        raise ReadError(f"is no CSV: {error}") from None
    check_names(found.claims)
    return found


def check_names(names: Collection[object]) -> None:
    """Refuse more answers by name than can be looked up. Raises `ReadError`."""
    if len(names) > LIMITS.answers:
        raise ReadError(f"more than {LIMITS.answers:,} answers are too many")


def most_of(ending: str) -> int:
    """How many bytes of a file of this ending are read."""
    return {".ipynb": LIMITS.notebook, ".docx": LIMITS.document}.get(ending, LIMITS.handed_in)


def text_of(raw: bytes) -> tuple[str, str]:
    """The text of a file, and a remark where it is no UTF-8.

    >>> text_of("\\ufeffé".encode("utf-8")), text_of("é".encode("utf-16"))
    (('é', ''), ('é', ''))
    >>> text_of("é".encode("latin-1"))
    ('é', 'is no UTF-8, and was read as Latin-1')
    """
    remark = ""
    try:
        wide = raw.startswith((b"\xff\xfe", b"\xfe\xff"))
        text = raw.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError:
        text, remark = raw.decode("latin-1"), NO_UTF8
    if "\0" in text:
        raise ReadError("is no text; save it as UTF-8")
    return text, remark


# ---- worksheets and JSON -------------------------------------------------------------------------


def _toml(raw: bytes) -> Submission:
    """A worksheet: its claims."""
    text, remark = text_of(raw)
    return replace(_worksheet(text), remark=remark)


def _worksheet(text: str) -> Submission:
    return _tables(parse(text.replace("\r\n", "\n"), "the worksheet"))


def _tables(data: Mapping[str, object]) -> Submission:
    """Tables of which one holds claims, one says who made them, and others are only compared."""
    claims, facts = data.get("claims", {}), data.get("exercise")
    if not isinstance(claims, dict):
        raise ReadError("claims is no table; write [claims] above the answers")
    said = (facts if isinstance(facts, dict) else data).get("student")
    statements = data.get(STATEMENTS)
    named = statements.items() if isinstance(statements, dict) else ()
    told = {statement_name(name): str(value).lower() for name, value in named}
    read = ("claims", "student", STATEMENTS)
    others = {name: shallow(value) for name, value in data.items() if name not in read}
    return Submission("", name_of(said), _claims({**claims, **told}), others=others)


def _claims(table: Mapping[str, object]) -> Mapping[str, object]:
    return {key: cells(value) for key, value in table.items()}


def _json(raw: bytes) -> Submission:
    """``{"student": …, "claims": {…}}``, or only what is claimed by name; numbers keep digits."""
    text, remark = text_of(raw)
    data = _object(text)
    if "claims" not in data:
        student = {key: data.pop(key) for key in ("student", "name") if key in data}
        data = {"claims": data, "student": next(iter(student.values()), "")}
    return replace(_tables(data), remark=remark)


def _object(text: str) -> dict[str, object]:
    """A table of JSON, its numbers as texts."""
    try:
        data = json.loads(text, parse_float=str, parse_int=str, parse_constant=str)
    except ValueError as error:
        raise ReadError(f"is no JSON: {error}") from None
    if not isinstance(data, dict):
        raise ReadError("is no table of JSON; begin with {")
    return data


# ---- CSV -----------------------------------------------------------------------------------------


def _csv(raw: bytes) -> Submission:
    """Lines ``weights[1,2],0.5`` or ``weights[1,:],0.5,0.5``; or a name, and its rows below it.

    A matrix with an empty corner has the names of its columns and rows, which are left out.
    """
    text, remark = text_of(raw)
    claims, lost = dict[str, object](), list[str]()
    rows: list[list[str]] | None = None
    for row in csv.reader(text.splitlines(keepends=True), delimiter=mark_in(text)):
        line = joined([part.strip() for part in row])
        name, *rest = line or [""]
        given = [cell(part) for part in rest]
        if not any(line):
            rows = None if rows else rows
        elif is_name(name) and not any(rest):
            claims[name] = rows = []
        elif is_name(name) and (rows is None or "[" in name):
            claims[name], rows = given[0] if len(given) == 1 else given, None
        elif rows is not None:
            rows.append([cell(part) for part in line])
        else:
            lost.append(name)
    if lost:
        lines = counted(len(lost), "line")
        remark = "; ".join(filter(None, (remark, f"{lines} below no name of a step, not read")))
    for name, value in claims.items():
        if isinstance(value, list) and value and isinstance(value[0], list):
            claims[name] = _bare(value)
    student = claims.pop("student", claims.pop("name", ""))
    claims.pop("entry", None)  # the head: entry,answer
    return Submission("", name_of(student), claims, remark=remark)


def joined(parts: list[str]) -> list[str]:
    """Cells, of which ``weights[1`` and ``2]`` are one that a comma has cut.

    >>> joined(["name", "weights[1", "2]", "0.5"])
    ['name', 'weights[1,2]', '0.5']
    """
    whole: list[str] = []
    for part in parts:
        last = whole[-1] if whole else ""
        if len(last) <= _LONGEST_LINE and last.rfind("[") > last.rfind("]"):
            whole[-1] += f",{part}"
        else:
            whole.append(part)
    return whole


def _bare(rows: list[list[str]]) -> list[list[str]]:
    """A table without the names of its columns and rows, which it has if its corner is empty."""
    if len(rows) > 1 and len(rows[0]) > 1 and not rows[0][0]:
        return [row[1:] for row in rows[1:]]
    return rows


# ---- documents -----------------------------------------------------------------------------------

#: A heading or another line; the text of a worksheet; the rows of a table.
_Piece = tuple[str, str] | list[list[str]]


def _document(pieces: Iterable[_Piece]) -> Submission:
    """A document's tables, each with its heading, and the claims of the worksheets in it."""
    heading, tables, found = "", list[Sheet](), Submission("")
    claims, others = dict[str, object](), dict[str, object]()
    for piece in pieces:
        match piece:
            case list():
                bare = tuple(tuple(map(cell, row)) for row in _bare(piece))
                tables.append(Sheet(heading, bare))
            case ("heading", text):
                heading = text.strip()
            case ("worksheet", text):
                inside = _worksheet(text)
                claims.update(inside.claims)
                others.update(inside.others)
                check_names(claims)
                found = replace(found, student=found.student or inside.student)
            case ("line", text) if not tables and not found.student and len(text) < _LONGEST_LINE:
                if named := _NAMED.fullmatch(text):
                    if named["seed"]:
                        others["exercise"] = {"seed": int(named["seed"])}
                    found = replace(found, student=name_of(named["student"]))
    return replace(found, tables=tuple(tables), claims=claims, others=others)


def _markdown(raw: bytes) -> Submission:
    text, remark = text_of(raw)
    return replace(_document(_pieces(text)), remark=remark)


def _notebook(raw: bytes) -> Submission:
    """Cells of Markdown, and those of any other kind that hold a worksheet."""
    text, remark = text_of(raw)
    cells = _object(text).get("cells")
    if not isinstance(cells, list):
        raise ReadError("is no notebook: it has no cells")
    return replace(_document(_in_cells(cells)), remark=remark)


def _in_cells(cells: list[object]) -> Iterator[_Piece]:
    for one in cells:
        source = one.get("source") if isinstance(one, dict) else None
        text = "".join(map(str, source)) if isinstance(source, list) else str(source or "")
        if isinstance(one, dict) and one.get("cell_type") == "markdown":
            yield from _pieces(text)
        elif _CLAIMS.search(text):
            yield "worksheet", re.sub(r"\A\s*%%.*", "", text)


def _pieces(text: str) -> Iterator[_Piece]:
    """The pieces of a Markdown text."""
    lines = text.splitlines()
    if len(lines) > LIMITS.lines:
        raise ReadError(f"more than {LIMITS.lines:,} lines are too many")
    place = 0
    while place < len(lines):
        line = lines[place]
        if opened := _FENCE.match(line):
            end = place + 1
            while end < len(lines) and not lines[end].lstrip().startswith(opened[1]):
                end += 1
            inside = "\n".join(lines[place + 1 : end])
            if _CLAIMS.search(inside):
                yield "worksheet", inside
            place = end
        elif heading := _HEADING.fullmatch(line):
            yield "heading", _plain(heading[1].rstrip(" \t#"))
        elif "|" in line and place + 1 < len(lines) and _is_rule(lines[place + 1]):
            rows = [_row(line)]
            place += 2
            while place < len(lines) and "|" in lines[place]:
                rows.append(_row(lines[place]))
                place += 1
            yield rows
            continue
        else:
            yield "line", _plain(line)
        place += 1


def _is_rule(line: str) -> bool:
    """Whether a line is the one below the heads of a table."""
    return {"|", "-"} <= {*line} <= {*" \t|:-"}


def _row(line: str) -> list[str]:
    """The cells of a row of a table."""
    return [_plain(part) for part in _BAR.split(line.strip().removeprefix("|").removesuffix("|"))]


def _plain(text: str) -> str:
    """Words without the marks of Markdown around them.

    >>> _plain(" **0.5** "), _plain("$-0.5$"), _plain(r"\\_\\_\\_")
    ('0.5', '-0.5', '___')
    """
    text = unescape(text.replace("\\_", "_").replace("\\|", "|")).strip()
    return text.strip("*`$ ")


def _word(raw: bytes) -> Submission:
    """The tables of a Word document."""
    try:
        archive = archive_in(io.BytesIO(raw), LIMITS.directory)
        info = archive.getinfo("word/document.xml")
    except (ReadError, KeyError):
        raise ReadError("is no document of Word (.docx)") from None
    text = unpacked(archive, info, len(raw), LIMITS.document_text)
    if _DEFINITION.search(text):
        raise ReadError("has definitions that no program for documents writes")
    if text.count(b"<") + text.count(b"=") > LIMITS.tags:
        raise ReadError(f"more than {LIMITS.tags:,} tags and attributes are too many")
    try:
        root = ElementTree.fromstring(text)  # noqa: S314 nothing in it grows without definitions
    except (ElementTree.ParseError, ValueError) as error:
        raise ReadError(f"is no document of Word: {error}") from None
    return _document(_in_body(root))


def _in_body(root: ElementTree.Element) -> Iterator[_Piece]:
    """The paragraphs and tables of a body, in their order; a table in another one is its text."""
    for part in _outermost(root, f"{_W}tbl", f"{_W}p"):
        if part.tag == f"{_W}tbl":
            yield [
                [" ".join(_said(x).split()) for x in _outermost(row, f"{_W}tc")]
                for row in _outermost(part, f"{_W}tr")
            ]
        else:
            properties = part.find(f"{_W}pPr")
            style = None if properties is None else properties.find(f"{_W}pStyle")
            kind = "" if style is None else str(style.get(f"{_W}val"))
            yield "heading" if kind.startswith("Heading") else "line", _said(part)


def _outermost(root: ElementTree.Element, *tags: str) -> Iterator[ElementTree.Element]:
    """What has one of these tags and is in nothing that has, in order, however deep it is."""
    left = [*reversed(root)]
    while left:
        part = left.pop()
        if part.tag in tags:
            yield part
        else:
            left += reversed(part)


def _said(part: ElementTree.Element) -> str:
    """The words of a part of a document; a fraction has a bar, a power its sign."""
    if part.tag in (f"{_W}t", f"{_M}t"):
        return part.text or ""
    if part.tag in (f"{_W}tab", f"{_W}br", f"{_W}cr"):
        return " "
    root = "√" if part.tag == f"{_M}rad" else ""
    inside = map(_said, part)
    end = " " if part.tag == f"{_W}p" else ""
    return root + _BETWEEN.get(part.tag, "").join(filter(None, inside)) + end


#: How the files of each ending are read. Adding a kind is adding a row.
READERS: Mapping[str, Callable[[bytes], Submission]] = {
    ".toml": _toml,
    ".json": _json,
    ".csv": _csv,
    ".tsv": _csv,
    ".ipynb": _notebook,
    ".md": _markdown,
    ".docx": _word,
}
