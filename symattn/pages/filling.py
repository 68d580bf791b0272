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
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

from symattn.attention.vocabulary import Notation
from symattn.claims.references import entries_at
from symattn.documents import markdown
from symattn.documents.job import FORMATS, Job, check_format
from symattn.documents.views import VIEWS
from symattn.errors import ReadError, located, nearest, quote
from symattn.files.named import LIMITS
from symattn.language.spec import Equations
from symattn.notation.options import DISPLAY, displayed
from symattn.pages.checked import sheet_of_block
from symattn.pages.markdown import fences
from symattn.pages.quotation import quotation
from symattn.pages.syntaxes import Block, line_of
from symattn.sheets.worksheet import Worksheet, equations_of

#: Where something is filled in, and where that ends; code in a line is passed over.
_MARK = re.compile(
    r"(?P<code>(?P<ticks>`+)(?!`)[^\n]*?(?<!`)(?P=ticks)(?!`))"
    r"|<!-- (?P<end>/?)(?P<kind>symattn|value)(?P<options>(?: [^>]*)?) -->"
)
#: How a block of code ends that does not end with the page.
_CLOSED = re.compile(r"(?:\n[^\n`~]*(?:`{3,}|~{3,})|-->)\s*\Z")
_ENTRY = re.compile(r"\s*(?:[A-Za-z_]+\[|\S*[^\W\d_]\S*_\S*[0-9])")
#: The options that are of numbers.
_NUMBERED = ("entry", "batch", "layout")
_OPTIONS = ("view", "headings", "label", "entry", "batch", *DISPLAY)


def fill_page(text: str, name: str, flavor: str = "") -> str:
    """The page with its derivations and numbers filled in; everything else as it was.

    Without a flavor it is Quarto's for a .qmd file and GitHub's for any other. A worksheet that no
    comment follows gets one. Raises `ReadError` (or another `SymattnError`)
    that begins with the file and the line.
    """
    flavor = flavor or ("quarto" if name.lower().endswith(".qmd") else "github")
    newline = "\r\n" if "\r\n" in text else "\n"
    blocks = [*fences(text)]
    sheet: Worksheet | Equations | None = None
    out: list[str] = []
    done = 0
    parts: list[tuple[int, int, Block | re.Match[str]]] = [*_marked(text, blocks, name)]
    parts += [(start, end, block) for start, end, block in blocks if block is not None]
    for start, end, found in sorted(parts, key=lambda part: part[0]):
        place = f"{name}:{line_of(text, start)}"
        if isinstance(found, re.Match):
            out += [text[done:start], _filled(found, sheet, place, flavor, newline)]
            done = end
            continue
        out.append(text[done:end])
        done = end
        if found.equations:
            sheet = equations_of(found.text, f"{place}: equations")
        else:
            sheet = sheet_of_block(name, text, found)
        if not re.match(r"\s*<!-- symattn", text[end:]):
            if not _CLOSED.search(text, start, end):  # what is filled in would be a part of it
                raise ReadError(f"{place}: this block of code is not closed; write ``` after it")
            body = _derivation(sheet, "", flavor).replace("\n", newline)
            lead = "" if text[:end].endswith("\n") else newline
            out.append(f"{lead}{newline}<!-- symattn -->{body}<!-- /symattn -->{newline}")
    return "".join([*out, text[done:]])


def _marked(
    text: str, blocks: Sequence[tuple[int, int, Block | None]], name: str
) -> Iterator[tuple[int, int, re.Match[str]]]:
    """Where something is filled in, from its comment to the one that ends it.

    What is filled in may be blocks of code itself (formulas in MyST); comments in code are
    examples. A comment without its end is refused: up to a later end, the author's words would go.
    """
    starts = [start for start, _, _ in blocks]
    sheets = [start for start, _, block in blocks if block is not None]
    marks = []
    for mark in _MARK.finditer(text):
        before = bisect_right(starts, mark.start()) - 1
        if not mark["code"] and (before < 0 or blocks[before][1] <= mark.start()):
            marks.append(mark)
    for mark, following in zip_longest(marks, marks[1:]):
        if mark["end"]:
            continue
        close = f"<!-- /{mark['kind']} -->"
        closed = following is not None and following[0] == close
        if closed and mark["kind"] == "value":
            closed = following.start() - mark.end() <= LIMITS.value
        elif closed:
            closed = bisect_right(sheets, mark.end()) == bisect_right(sheets, following.start())
        if closed:
            yield mark.start(), following.end(), mark
        elif mark["kind"] == "symattn" or _ENTRY.match(mark["options"]):
            line = line_of(text, mark.start())
            raise ReadError(f"{name}:{line}: {mark[0]} is not closed; write {close} after it")


def _filled(
    mark: re.Match[str], sheet: Worksheet | Equations | None, place: str, flavor: str, newline: str
) -> str:
    """A comment, what it asks for, and the comment that ends it."""
    if sheet is None:
        raise ReadError(f"{place}: no worksheet stands before this comment")
    with located(place):
        if mark["kind"] == "value":
            if isinstance(sheet, Equations):
                raise ReadError("value: equations have no numbers; give a worksheet with them")
            body = quotation(sheet, mark["options"].strip())
        else:
            body = _derivation(sheet, mark["options"], flavor).replace("\n", newline)
    return f"{mark[0]}{body}<!-- /{mark['kind']} -->"


def _derivation(sheet: Worksheet | Equations, options: str, flavor: str) -> str:
    """The derivation as Markdown between blank lines, with the options of its comment."""
    chosen: dict[str, str] = {}
    for word in options.split():
        key, _, value = word.partition("=")
        if key not in _OPTIONS or not value:
            raise ReadError(f"symattn: {quote(word)}: no such option{nearest(key, _OPTIONS)}")
        chosen[key] = value
    if isinstance(sheet, Equations) and (idle := [k for k in _NUMBERED if k in chosen]):
        raise ReadError(f"{idle[0]}: needs numbers; give a worksheet with these equations")
    for key in ("headings", "batch"):
        if key in chosen and not (chosen[key].isdecimal() and int(chosen[key]) <= 100):
            raise ReadError(f"{key}={chosen[key]}: give a whole number")
    usual, evaluation = Notation(), None
    if isinstance(sheet, Equations):
        derivation = sheet.derivation()
    else:
        with sheet.in_file():
            sheet = sheet.of_batch(int(chosen["batch"])) if "batch" in chosen else sheet
            derivation = sheet.derivation()
            evaluation = sheet.evaluate(derivation)
        usual = sheet.notation
    notation = displayed(usual, {k: x for k, x in chosen.items() if k in DISPLAY})
    views: tuple[str, ...] = tuple(chosen["view"].split(",")) if "view" in chosen else VIEWS
    entries = {}
    if evaluation is not None and "entry" in chosen:
        entries = entries_at(chosen["entry"].split(";"), evaluation, notation)
    job = Job(
        derivation,
        evaluation,
        notation,
        views,
        entries=entries,
        flavor=flavor,
        headings=int(chosen.get("headings", 3)),
        label=chosen.get("label", ""),
    )
    check_format("md", [job])
    page = replace(job.document(FORMATS["md"]), title="")  # the page has one
    return f"\n\n{markdown.write([page], flavor)}\n"
