"""Characters that no document can hold, in every text that a worksheet has, in every format."""

from __future__ import annotations

import io
import json
import zipfile
from xml.etree import ElementTree

import pytest

from symattn import SymattnError, document
from symattn.documents.job import FORMATS
from symattn.sheets.worksheet import worksheet_of

#: Controls, directions, lines and paragraphs, private and no characters; halves of pairs.
BAD = (
    "\x00", "\x01", "\x07", "\x08", "\x0b", "\x0c", "\x1b", "\x7f", "\x85", "\u2028", "\u202e",
    "\ue000", "\ufdd0", "\ufffe", "\uffff", "\U0001ffff", "\ud800", "\udfff",
)  # fmt: skip

SHEET = """
title = {title}
story = {story}
[attention]
tokens = [{token}, "b"]
key_tokens = [{key}, "c"]
[given]
Q = [[1, 0], [0, 1]]
K = [[1, 0], [0, 1]]
V = [[1, 2], [3, 4]]
[notation]
symbols = {{ weights = {symbol} }}
"""

FIELDS = ("title", "story", "token", "key", "symbol")


def read(written: str | bytes, form: str) -> None:
    """Reads a document as strictly as whatever opens it; XML in it has to be XML."""
    raw = written.encode() if isinstance(written, str) else written
    if form == "docx":
        with zipfile.ZipFile(io.BytesIO(raw)) as parts:
            for name in parts.namelist():
                if name.endswith((".xml", ".rels")):
                    ElementTree.fromstring(parts.read(name))
    elif form in ("svg", "mathml"):
        ElementTree.fromstring(raw)
    elif form in ("json", "ipynb"):
        json.loads(raw)
    elif form not in ("png", "pdf"):
        assert "\x00" not in raw.decode()


def in_sheet(field: str, bad: str, form: str) -> bool:
    """Whether a worksheet with this in a text is written; else it is refused in a line."""
    texts = {name: json.dumps(name[0]) for name in FIELDS}
    texts[field] = '"a{}b"'.format("".join(f"\\U{ord(character):08x}" for character in bad))
    try:
        sheet = worksheet_of(SHEET.format_map(texts), "sheet.toml")
        written = document(sheet.evaluate(), form, title=sheet.title)
    except SymattnError as refusal:
        assert str(refusal).isprintable()
        return False
    read(written, form)
    return True


@pytest.mark.parametrize("form", [form for form in FORMATS if form not in ("pdf", "png")])
@pytest.mark.parametrize("field", FIELDS)
def test_every_text_is_written_or_refused_in_a_line(form: str, field: str) -> None:
    together = "".join(BAD[:-2])  # TOML has no halves
    if not in_sheet(field, together, form):
        one_by_one = [in_sheet(field, bad, form) for bad in together]
        assert not all(one_by_one)


@pytest.mark.parametrize("form", [form for form in FORMATS if form not in ("pdf", "png", "ipynb")])
@pytest.mark.parametrize("bad", ["".join(BAD), "long " * 100], ids=["bad", "long"])
def test_a_title_and_a_note_of_ones_own_are_written(form: str, bad: str) -> None:
    sheet = worksheet_of(SHEET.format_map(dict.fromkeys(FIELDS, '"a"')), "sheet.toml")
    read(document(sheet.evaluate(), form, title=f"a{bad}b", notes=[f"c{bad}d"]), form)
