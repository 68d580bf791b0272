"""A table of a class, one row a submission: CSV, read row by row, or Parquet, by groups of rows.

Columns that say who a student is are known by their heads, as Moodle, Canvas, Brightspace and
Google Forms write them; every other head that can name an entry or a step is a claim.
"""

from __future__ import annotations

import csv
import os
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from io import TextIOWrapper
from typing import Any, BinaryIO, TypeAlias

import numpy as np

from symattn.classroom.answers import NO_UTF8, check_names, joined
from symattn.classroom.submission import Submission, cell, cells, is_name, name_of
from symattn.classroom.tables import People, mark_in
from symattn.errors import ReadError, needing
from symattn.files.named import LIMITS
from symattn.printable import printable, said_by

#: Hears how much of something is read, a share of all.
Hears: TypeAlias = "Callable[[float], None]"

#: Times as systems write them, beside those of ISO 8601; those that read two ways are not read.
_TIMES = (
    "%d %B %Y, %I:%M %p",  # Moodle
    "%d %B %Y, %H:%M",
    "%d %B %Y %I:%M %p",
    "%b %d, %Y %I%M %p",  # Brightspace
    "%d %b %Y %I-%M %p",
    "%B %d, %Y %I:%M %p",
    "%Y-%m-%d-%H-%M-%S",  # Blackboard
    "%Y/%m/%d %I:%M:%S %p",  # Google Forms
    "%Y/%m/%d %H:%M:%S",
)

#: A question of Canvas: its number stands before its text.
_NUMBERED = re.compile(r"[0-9]+: ")

#: The row of Canvas that is no student.
_NO_STUDENT = "points possible"

#: The most lines of a row, and the rows of Parquet that are read at once.
_LINES, _ROWS = 200, 50


@dataclass(frozen=True)
class Columns:
    """What the columns of a table hold, by their places."""

    people: People
    claims: Mapping[str, int]
    others: Mapping[int, str]

    @classmethod
    def of(cls, heads: Sequence[str]) -> Columns:
        """Raises `ReadError` where neither students nor answers have a column."""
        called = [_NUMBERED.sub("", head.strip(), count=1) for head in heads]
        people = People.of(called)
        taken = {place for places in people.places.values() for place in places}
        claims, others = dict[str, int](), dict[int, str]()
        for place, head in enumerate(called):
            if place in taken:
                continue
            if is_name(head) and head not in claims:
                claims[head] = place
            else:
                others[place] = head
        if not people.are_known:
            raise ReadError("no head says who the students are; name a column student")
        check_names(claims)
        return cls(people, claims, others)

    def submission(self, source: str, row: Sequence[object]) -> Submission | None:
        """A row; None for one that is no student's."""
        student = self.people.student(row)
        key, login = (self.people.said(part, row) for part in ("key", "login"))
        if student.lower() == _NO_STUDENT or not any(row):
            return None
        found = Submission(source, key=printable((key or login)[:80]))
        try:
            claims = {name: _cells(row, place) for name, place in self.claims.items()}
            others = {head: _cells(row, place) for place, head in self.others.items()}
            submitted = time_of(self.people.said("submitted", row))
            return Submission(source, name_of(student), claims, (), others, submitted, found.key)
        except ReadError as error:
            return found.failed(error)


def _cells(row: Sequence[object], place: int) -> object:
    """What a row has in a place, as texts."""
    value = row[place] if place < len(row) else ""
    return cell(value) if isinstance(value, str) else cells(value)


def time_of(text: str) -> datetime | None:
    """The time that a text is, if it can be read in one way only.

    >>> time_of("2026-10-03 10:03:22 UTC").isoformat()
    '2026-10-03T10:03:22+00:00'
    >>> time_of("3 October 2026, 10:03 AM").isoformat()
    '2026-10-03T10:03:00'
    >>> time_of("Sep 24, 2024 926 PM").isoformat(), time_of("3/10/2026")
    ('2024-09-24T21:26:00', None)
    """
    if not text:
        return None
    text = re.sub(r" UTC\Z", "+00:00", text[:60])
    text = re.sub(r" ([0-9])([0-9]{2} [AP]M)\Z", r" 0\1\2", text)
    with suppress(ValueError):
        return datetime.fromisoformat(text)
    for form in _TIMES:
        with suppress(ValueError):
            return datetime.strptime(text, form)
    return None


# ---- CSV -----------------------------------------------------------------------------------------


def in_csv(file: BinaryIO, name: str, hears: Hears) -> Iterator[Submission]:
    """The rows of a CSV file; what is wrong with one is its own fault."""
    columns: Columns | None = None
    width = 0
    for number, (row, remark) in _records(_lines(file, hears)):
        source = f"{name}: line {number}"
        if isinstance(row, ReadError):
            yield Submission(source).failed(row)
        elif columns is None:
            heads = joined(row)
            try:
                columns, width = Columns.of(heads), len(heads)
            except ReadError as error:
                yield Submission(source).failed(error)
                return
        elif any(row[width:]):
            told = f"has {len(row)} cells below {width} heads; put cells with commas in quotes"
            yield Submission(source).failed(ReadError(told))
        elif found := columns.submission(source, row):
            yield replace(found, remark=remark) if remark else found
    if columns is None:
        yield Submission(name, fault="is empty")


def _lines(file: BinaryIO, hears: Hears) -> Iterator[str]:
    """Lines, of which those that are no UTF-8 keep their bytes; one that is too long is cut."""
    size = os.fstat(file.fileno()).st_size
    wide = file.read(2) in (b"\xff\xfe", b"\xfe\xff")
    file.seek(0)
    encoding, errors = ("utf-16", "replace") if wide else ("utf-8-sig", "surrogateescape")
    most = LIMITS.answers_row
    with TextIOWrapper(file, encoding, errors, newline="") as text:
        for line in iter(partial(text.readline, most), ""):
            hears(file.tell() / size)
            yield line
            rest = line
            while len(rest) == most and not rest.endswith("\n"):
                rest = text.readline(most)


def _records(lines: Iterator[str]) -> Iterator[tuple[int, tuple[list[str] | ReadError, str]]]:
    """Rows with the number of their first line, and a remark.

    A quote that is never closed would make one cell of all that follows: a row of several lines
    that is wrong is read again, its first line for itself.
    """
    again = deque[str]()
    number, mark = _begun(lines, again)
    width = 0
    while True:
        taken: list[str] = []
        try:
            row = next(csv.reader(_fed(lines, again, taken), delimiter=mark, strict=True), [])
        except csv.Error:
            row = []
        if not taken:
            return
        if row and (len(taken) == 1 or len(row) == width):
            width = width or len(joined(row))
            yield number, _decoded(row)
            number += len(taken)
        else:
            again.extendleft(reversed(taken[1:]))
            yield from ((number, one) for one in _alone(taken[0], mark))
            number += 1


def _begun(lines: Iterator[str], again: deque[str]) -> tuple[int, str]:
    """The number of the first row, and the sign between cells, as a line says or as it shows."""
    first = next(lines, "")
    if said := re.fullmatch(r"sep=(.)\r?\n?", first):
        return 2, said[1]
    again.append(first)
    return 1, mark_in(first)


def _fed(lines: Iterator[str], again: deque[str], taken: list[str]) -> Iterator[str]:
    """The next lines, as many as a row may have; those that were taken are put down."""
    while len(taken) < _LINES and (line := again.popleft() if again else next(lines, "")):
        taken.append(line)
        yield line


def _alone(line: str, mark: str) -> Iterator[tuple[list[str] | ReadError, str]]:
    """A line for itself, whatever its quotes are; nothing for one that is blank."""
    if len(line) >= LIMITS.answers_row:
        most = f"more than {LIMITS.answers_row:,} characters are too many for a row"
        yield ReadError(most), ""
    elif line.strip():
        try:
            yield _decoded(next(csv.reader([line], delimiter=mark)))
        except csv.Error as error:
            yield ReadError(f"is no CSV: {error}"), ""


def _decoded(row: list[str]) -> tuple[list[str] | ReadError, str]:
    """Cells without bytes that are no UTF-8."""
    text = "\x1f".join(row)
    if text.isascii():
        return row, ""
    try:
        text.encode()
        return row, ""
    except UnicodeEncodeError:
        text = text.encode("utf-8", "surrogateescape").decode("latin-1")
        return text.split("\x1f"), NO_UTF8


# ---- Parquet -------------------------------------------------------------------------------------


def in_parquet(file: BinaryIO, name: str, hears: Hears) -> Iterator[Submission]:
    """The rows of a Parquet file, a few at a time. Raises `MissingExtra` without pyarrow."""
    with needing(name, "pyarrow", "symattn[parquet]"):
        from pyarrow import parquet
    number = 1
    try:
        table = parquet.ParquetFile(file)
        sizes = [table.metadata.row_group(k).total_byte_size for k in range(table.num_row_groups)]
        if max(sizes, default=0) > LIMITS.row_group:
            raise ReadError(f"a group of rows has more than {LIMITS.row_group:,} bytes")
        columns = Columns.of(table.schema_arrow.names)
        for batch in table.iter_batches(_ROWS, use_threads=False):
            if batch.nbytes > LIMITS.answers_row * batch.num_rows:
                raise ReadError(f"more than {LIMITS.answers_row:,} bytes are too many for a row")
            texts = [_texts(column) for column in batch.columns]
            for row in zip(*texts, strict=True):
                if found := columns.submission(f"{name}: row {number}", row):
                    yield found
                number += 1
            hears((number - 1) / table.metadata.num_rows)
    except ReadError as error:
        yield Submission(f"{name}: row {number}").failed(error)
    except Exception as error:  # pyarrow raises what its parts raise
        yield Submission(f"{name}: row {number}", fault=f"cannot be read: {said_by(error)}")


def _texts(column: Any) -> list[object]:
    """The cells of a column; a number has the digits of its own type, and no more."""
    kind = str(column.type)
    short = next((code for name, code in _SHORT.items() if re.search(rf"\b{name}\b", kind)), None)

    def told(value: object) -> object:
        if isinstance(value, float):
            return str(np.dtype(short).type(value)) if short else repr(value)
        if isinstance(value, list):
            return [told(part) for part in value]
        return "" if value is None else value

    return [told(value) for value in column.to_pylist()]


#: The types of floats that have fewer digits than Python's, and what NumPy calls them.
_SHORT = {"halffloat": "f2", "float": "f4"}
