"""Filling a Markdown page: derivations after its worksheets, numbers in its sentences.

For pages that no extension builds (MkDocs, Quarto, GitHub, pandoc). What is filled in stands
between HTML comments, which readers do not see, so that filling again changes nothing but what
has changed::

    <!-- symattn steps=weights view=formula,value digits=3 -->
    <!-- /symattn -->

    The weight is <!-- value weights[1,2] --><!-- /value -->.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from symattn.documents.markdown import markdown_document
from symattn.documents.outline import VIEWS, outline
from symattn.errors import ReadError, SymattnError, nearest, shown
from symattn.worksheet.pages import line_of
from symattn.worksheet.pages.markdown import fences
from symattn.worksheet.prose import sheet_of_block
from symattn.worksheet.quote import quoted
from symattn.worksheet.read import Worksheet

_FILLED = re.compile(
    r"<!-- symattn(?P<options>(?: [^>]*)?) -->(?P<body>.*?)<!-- /symattn -->"
    r"|<!-- value (?P<entry>[^>]{1,80}?) -->(?P<number>.{0,200}?)<!-- /value -->",
    re.DOTALL,
)
_OPTIONS = ("steps", "view", "digits", "level")


def rendered(text: str, name: str, flavor: str = "github") -> str:
    """The page with its derivations and numbers filled in; everything else as it was.

    A worksheet that no comment follows gets one. Raises `ReadError` (or another `SymattnError`)
    that begins with the file and the line.
    """
    newline = "\r\n" if "\r\n" in text else "\n"
    out: list[str] = []
    done = 0
    sheet: Worksheet | None = None
    for start, end, block in (*fences(text), (len(text), len(text), None)):
        out += _filled(text, done, start, name, sheet, flavor, newline)
        out.append(text[start:end])
        done = end
        if block is None:
            continue
        sheet = sheet_of_block(name, text, block)
        if not re.match(r"\s*<!-- symattn", text[end:]):
            body = _derivation(sheet, "", flavor).replace("\n", newline)
            lead = "" if text[:end].endswith("\n") else newline
            out.append(f"{lead}{newline}<!-- symattn -->{body}<!-- /symattn -->{newline}")
    return "".join(out)


def _filled(
    text: str, start: int, end: int, name: str, sheet: Worksheet | None, flavor: str, newline: str
) -> Iterator[str]:
    """A stretch of prose with what is between its comments made anew."""
    done = start
    for match in _FILLED.finditer(text, start, end):
        yield text[done : match.start()]
        done = match.end()
        line = line_of(text, match.start())
        if sheet is None:
            raise ReadError(f"{name}:{line}: no worksheet stands before this comment")
        try:
            if match["entry"] is not None:
                number = quoted(sheet, match["entry"])
                yield f"<!-- value {match['entry']} -->{number}<!-- /value -->"
            else:
                options = match["options"]
                body = _derivation(sheet, options, flavor).replace("\n", newline)
                yield f"<!-- symattn{options} -->{body}<!-- /symattn -->"
        except SymattnError as error:
            raise ReadError(f"{name}:{line}: {error}") from None
    yield text[done:end]


def _derivation(sheet: Worksheet, options: str, flavor: str) -> str:
    """The derivation as Markdown between blank lines, with the options of its comment."""
    told: dict[str, Any] = {}
    for word in options.split():
        key, _, value = word.partition("=")
        if key not in _OPTIONS or not value:
            raise ReadError(f"symattn: {shown(word)}: no such option{nearest(key, _OPTIONS)}")
        told[key] = value
    for key in ("digits", "level"):
        if key in told and not (told[key].isdecimal() and int(told[key]) <= 100):
            raise ReadError(f"{key}={told[key]}: give a whole number")
    notation = sheet.notation
    if "digits" in told:
        notation = notation.but(digits=int(told["digits"]))
    derivation = sheet.in_file(sheet.derivation)
    evaluation = sheet.in_file(sheet.evaluate, derivation)
    views: Any = tuple(told["view"].split(",")) if "view" in told else VIEWS
    only = told["steps"].split(",") if "steps" in told else ()
    page = outline(derivation, evaluation, notation=notation, views=views, only=only)
    body = markdown_document(page, flavor, level=max(1, min(int(told.get("level", 3)), 6)))
    return f"\n\n{body}\n"
