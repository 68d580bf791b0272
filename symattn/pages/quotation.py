"""A computed number of a worksheet, or a row of them, for the middle of a sentence."""

from __future__ import annotations

import re

from symattn.claims.references import entries_of, named
from symattn.derivations import Place
from symattn.evaluate.cells import indices_of
from symattn.notation.options import Notation
from symattn.sheets.worksheet import Worksheet

_DIGITS = re.compile(r"(?:(?<=\])\s*|\s+)to\s+([0-9]{1,2})\Z")


def quotation(sheet: Worksheet, text: str) -> str:
    """The number that ``weights[1,2]``, or ``weights[1,2] to 3`` decimals, means, as proven.

    The numbers of a row, ``weights[1,:]`` or ``weights[3][2,:]`` of head 3, or of a column stand
    with commas between them. An entry may be named as it is printed, ``a_12``; indices count, and
    matrices are turned, as the worksheet's notation has it. Raises `ReadError` (or another
    `SymattnError`) for what is no entry, row or column of the worksheet.

    >>> from symattn.sheets.worksheet import worksheet_of
    >>> sheet = worksheet_of("[given]\\nQ = [[1, 0]]\\nK = [[1, 0], [0, 1]]")
    >>> quotation(sheet, "weights[1,2]"), quotation(sheet, "weights[1,2] to 2")
    ('0.3302', '0.33')
    >>> quotation(sheet, "weights[1,:] to 2"), quotation(sheet, "a_12 to 2")
    ('0.67, 0.33', '0.33')
    """
    digits = _DIGITS.search(text.strip())
    reference = named(_DIGITS.sub("", text.strip()), sheet.values, sheet.notation)
    name, places = entries_of(reference, sheet.values, sheet.notation)
    notation = sheet.notation if digits is None else sheet.notation.but(digits=int(digits[1]))
    shown = [None if k is None else places[k] for k in indices_of(len(places), notation.limit)]
    return ", ".join("…" if at is None else _number(sheet, name, at, notation) for at in shown)


def _number(sheet: Worksheet, name: str, place: Place, notation: Notation) -> str:
    found = sheet.values[name].digits(place, notation)
    number = found.text if found.proven else f"{found.text}?"
    return number.replace("-", "−").replace("inf", "∞")
