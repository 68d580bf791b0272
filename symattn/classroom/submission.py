"""A student's answers to an exercise as they were handed in: claims, tables, and who wrote them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal

from symattn.claims.labels import label_of
from symattn.errors import ReadError, quote
from symattn.printable import printable

#: The deepest lists of a claim (batch, head, row, entry, with some to spare), or of other tables.
_DEEPEST = 8

#: A step, or a row or an entry of it.
_NAME = re.compile(r"[^\W\d][\w']{0,39}(?:\[[^\[\]]{1,40}\]){0,6}")

#: Words that are written for a number, and name nothing.
_NO_NAMES = ("inf", "infinity", "nan", "na", "none", "null", "oo", "true", "false")


@dataclass(frozen=True)
class Sheet:
    """A table of a document that was filled in, without the names of its rows and columns."""

    #: The heading it stands under; "" if there is none.
    heading: str
    cells: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Submission:
    """What one student handed in. Only claims and tables are answers; cells are texts, "" blank."""

    #: Where it stands: ``class.zip: ada/exercise.toml``, ``answers.csv: line 12``.
    source: str
    #: As it is written there; "" where nothing says it.
    student: str = ""
    #: As in a worksheet's ``[claims]``: a step, a row or an entry, and its cells in nested lists.
    claims: Mapping[str, object] = field(default_factory=dict)
    tables: tuple[Sheet, ...] = ()
    #: What else the file says, to be compared and never used.
    others: Mapping[str, object] = field(default_factory=dict)
    #: With a time zone only where one is written.
    submitted: datetime | None = None
    #: The number of the student in the system that it comes from.
    key: str = ""
    #: Why nothing could be read, in a line; "" where something was.
    fault: str = ""
    #: What is to be known of how it was read.
    remark: str = ""

    @property
    def answers(self) -> bool:
        """Whether there is a place for an answer in it."""
        return bool(self.claims or self.tables)

    def failed(self, error: Exception) -> Submission:
        """The same with an error for its fault."""
        return replace(self, fault=printable(str(error) or type(error).__name__))


def cell(text: str) -> str:
    """A cell as it was filled in; "" for one that is blank.

    >>> cell(" 0.25"), cell("__ 0.25__"), cell("_____"), cell("?")
    ('0.25', '0.25', '', '')
    """
    text = text.strip(" \t\r\n_\xa0")
    return "" if text == "?" else text


def cells(value: object, depth: int = 0) -> object:
    """Answers as texts, in lists as they are nested; what is no number is a text as it is.

    Raises `ReadError` where lists are nested too deeply.

    >>> cells([[Decimal("0.50"), 1], ["?", None]])
    [['0.50', '1'], ['', 'null']]
    """
    match value:
        case list() | tuple():
            if depth == _DEEPEST:
                raise ReadError("lists are nested too deeply")
            return [cells(part, depth + 1) for part in value]
        case str():
            return cell(value)
        case None:
            return "null"
        case bool():
            return quote(value)
        case float() | Decimal() | datetime():
            return str(value)
        case int() if value.bit_length() <= 4000:
            return str(value)
    return quote(value)


def shallow(value: object, depth: int = 0) -> object:
    """The same value, if nothing is nested too deeply in it to be compared."""
    if isinstance(value, dict | list):
        if depth == _DEEPEST:
            raise ReadError("tables are nested too deeply")
        for part in value.values() if isinstance(value, dict) else value:
            shallow(part, depth + 1)
    return value


def is_name(text: str) -> bool:
    """Whether a text names a step, a row or an entry.

    >>> is_name("weights[1,2]"), is_name("0.5"), is_name("Grade/10.00"), is_name("inf")
    (True, False, False, False)
    """
    return _NAME.fullmatch(text) is not None and text.lower() not in _NO_NAMES


def name_of(value: object) -> str:
    """A student's name as it may be printed. Raises `ReadError` for one that is too long."""
    return printable(label_of(cell(value), "the student's name")) if isinstance(value, str) else ""
