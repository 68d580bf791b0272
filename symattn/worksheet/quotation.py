"""One computed number of a worksheet, for the middle of a sentence."""

from __future__ import annotations

import re

from symattn.worksheet.reading.references import entry_at, read_reference
from symattn.worksheet.reading.worksheet import Worksheet

_DIGITS = re.compile(r"(?<=\])\s*to\s+([0-9]{1,2})\Z")


def quotation(sheet: Worksheet, text: str) -> str:
    """The number that ``weights[1,2]``, or ``weights[1,2] to 3`` decimals, means, as proven.

    Raises `ReadError` (or another `SymattnError`) for what is no entry of the worksheet.

    >>> from symattn.worksheet.reading.worksheet import worksheet_of
    >>> sheet = worksheet_of("[given]\\nQ = [[1, 0]]\\nK = [[1, 0], [0, 1]]")
    >>> quotation(sheet, "weights[1,2]"), quotation(sheet, "weights[1,2] to 2")
    ('0.3302', '0.33')
    """
    digits = _DIGITS.search(text.strip())
    name, place = entry_at(read_reference(_DIGITS.sub("", text.strip())), sheet.values)
    notation = sheet.notation if digits is None else sheet.notation.but(digits=int(digits[1]))
    found = sheet.values[name].digits(place, notation)
    number = found.text if found.proven else f"{found.text}?"
    return number.replace("-", "−").replace("inf", "∞")
