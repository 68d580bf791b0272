"""Records as Parquet: what a row is, that all come back, and that no name does with a word."""

from __future__ import annotations

import io
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pyarrow.parquet as pq
import pytest

from symattn.classroom import recorded
from symattn.classroom.recorded import pseudonym, write_records
from symattn.classroom.records import Record
from symattn.errors import SymattnError
from tests.classroom.handed_in import handed_in, mistaken, record

COLUMNS = handed_in(mistaken("softmax-over-columns"), key="4711")


def rows_of(*records: Record, word: str = "") -> list[dict[str, Any]]:
    file = io.BytesIO()
    write_records(records, file, word)
    rows: list[dict[str, Any]] = pq.read_table(io.BytesIO(file.getvalue())).to_pylist()
    return rows


def test_a_row_is_a_blank() -> None:
    rows = rows_of(COLUMNS)
    assert len(rows) == 24
    assert rows[9] == {
        "student": "Ada",
        "number": "4711",
        "source": "a.csv: line 2",
        "submitted": None,
        "fault": None,
        "entry": "weights[1,1]",
        "answer": "0.882",
        "verdict": "wrong",
        "remark": None,
        "misconception": "softmax-over-columns",
        "points": 0.0,
        "most": 1.0,
        "share": 1.0,
    }
    marks = [(row["entry"], row["answer"], row["verdict"], row["points"]) for row in rows]
    assert marks == [(m.entry, m.answer, m.verdict, float(m.points)) for m in COLUMNS.marks]
    assert [k for k, row in enumerate(rows) if row["misconception"]] == [COLUMNS.first_mistake]


def test_what_is_not_marked_is_a_row_too() -> None:
    (row,) = rows_of(Record("Ada", "a.zip", fault="a.zip: is broken"))
    assert (row["entry"], row["points"], row["fault"]) == (None, 0.0, "a.zip: is broken")
    assert rows_of() == []


def test_rows_are_written_in_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorded, "_GROUP", 10)
    file = io.BytesIO()
    write_records([COLUMNS] * 3, file)
    found = pq.ParquetFile(io.BytesIO(file.getvalue()))
    assert found.metadata.num_row_groups == 8
    assert found.metadata.num_rows == 72


def test_with_a_word_nothing_names_a_student() -> None:
    named = replace(record("Zoë Žižek", key="4711"), source="zoë.toml")
    unread = Record("Zoë Žižek", "zoë.toml", "4711", fault="zoë.toml: is broken")
    rows = rows_of(named, unread, word="secret")
    assert {row["student"] for row in rows} == {pseudonym("Zoë Žižek", "secret")}
    assert not any(
        "zo" in str(value).lower() or "4711" in str(value) for row in rows for value in row.values()
    )


def test_pseudonyms_depend_on_the_word_and_not_on_how_a_name_is_encoded() -> None:
    assert pseudonym("Zoe\u0308", "a") == pseudonym("Zo\u00eb", "a")
    assert pseudonym("Zoe", "a") != pseudonym("Zoe", "b")
    with pytest.raises(SymattnError, match="give a secret word"):
        pseudonym("Zoe", "")


def test_any_text_is_written() -> None:
    (row,) = rows_of(record("\udc80\x00", answer="\ud800", share=Fraction(1, 3)))
    assert (row["student"], row["answer"]) == ("\\udc80\x00", "\\ud800")
    assert row["share"] == pytest.approx(1 / 3)


def test_without_pyarrow_it_is_said_in_a_line() -> None:
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from symattn.classroom.recorded import write_records\n"
        "try:\n    write_records([], None)\n"
        "except ImportError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "records: needs pyarrow; pip install 'symattn[parquet]'\n"
