"""Records as a Parquet file: a row for each blank, for those who study what students do.

Points are floats here; the exact ones are in the gradebook. With a secret word students have
pseudonyms, and what else names them, the source and the number of a platform, is left out; the same
word gives the same pseudonyms, so that several exercises can be joined.
"""

from __future__ import annotations

import hmac
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import BinaryIO, TypeAlias

from symattn.classroom.records import Record
from symattn.errors import SymattnError, needing

#: The columns, the numbers behind the texts.
_TEXTS = (
    *("student", "number", "source", "submitted", "fault"),
    *("entry", "answer", "verdict", "remark", "misconception"),
)
_NUMBERS = ("points", "most", "share")

_Value: TypeAlias = str | float | None

#: How many rows a group has, so that no more are held.
_GROUP = 50_000


def pseudonym(student: str, word: str) -> str:
    """A name from a name and a secret word: the first 16 hexadecimal digits of HMAC-SHA-256.

    >>> pseudonym("Ada", "a secret")
    'b6dc9f8ff9e2dde5'
    """
    if not word:
        raise SymattnError("pseudonyms: give a secret word")
    name = unicodedata.normalize("NFC", student).encode("utf-8", "surrogatepass")
    return hmac.digest(word.encode("utf-8", "surrogatepass"), name, "sha256").hex()[:16]


def check_installed() -> None:
    """Raises `MissingExtra` where pyarrow is not installed."""
    with needing("records", "pyarrow", "symattn[parquet]"):
        import pyarrow.parquet  # noqa: F401


def write_records(records: Iterable[Record], file: BinaryIO, word: str = "") -> None:
    """Write the rows of records to a file, with pseudonyms by a secret word.

    Raises `MissingExtra` where pyarrow is not installed.
    """
    check_installed()
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema(
        [*((name, pa.string()) for name in _TEXTS), *((name, pa.float64()) for name in _NUMBERS)]
    )
    called: Callable[[str], str] = (lambda name: pseudonym(name, word)) if word else str
    rows = (row for record in records for row in _rows(record, called, bool(word)))
    with pq.ParquetWriter(file, schema) as writer:
        while some := [*islice(rows, _GROUP)]:
            columns = zip(zip(*some, strict=True), schema.types, strict=True)
            arrays = [pa.array(column, kind) for column, kind in columns]
            writer.write_batch(pa.record_batch(arrays, schema=schema))


def _rows(
    record: Record, called: Callable[[str], str], hidden: bool
) -> Iterator[tuple[_Value, ...]]:
    """A row for each blank; for a submission that is not marked, one without an entry."""
    known = (None, None) if hidden else (_text(record.key), _text(record.source))
    fault = None if hidden and not record.marks else _text(record.fault)
    who = (_text(called(record.student)), *known, record.submitted or None, fault)
    reason = _text(" + ".join(told.name for told in record.mistakes))
    share = float(record.share)
    for k, mark in enumerate(record.marks):
        why = reason if k == record.first_mistake else None
        said = (mark.entry, _text(mark.answer), mark.verdict, _text(mark.remark), why)
        yield (*who, *said, float(mark.points), float(mark.most), share)
    if not record.marks:
        yield (*who, *(None,) * 5, 0.0, None, share)


def _text(text: str) -> str | None:
    """A text as Parquet has it, which knows no half of a pair of surrogates; None for none."""
    return text.encode("utf-8", "backslashreplace").decode() or None
