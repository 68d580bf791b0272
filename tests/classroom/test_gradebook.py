"""Gradebooks are read back, are no formulas, and are as Moodle and Canvas read them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.classroom.gradebook import (
    FLAVORS,
    Gradebook,
    changes,
    decimal,
    points_in,
    word,
)
from symattn.classroom.records import Record
from symattn.classroom.submission import Sheet
from symattn.errors import ReadError
from symattn.printable import printable
from tests.classroom.handed_in import exercise, handed_in, marking, mistaken, record, right

BOOK = Gradebook("Week 1", ("scores", "weights", "output"), Fraction(24))


def text_of(records: Iterable[Record], flavor: str = "plain") -> str:
    file = io.StringIO(newline="")
    BOOK.write(records, file, flavor)
    return file.getvalue()


def rows_of(records: Iterable[Record], flavor: str = "plain") -> list[list[str]]:
    """The cells as a program reads them that knows a byte-order mark."""
    text = text_of(records, flavor).removeprefix("\ufeff")
    return [*csv.reader(io.StringIO(text, newline=""))]


ADA = handed_in(mistaken("softmax-over-columns"), key="4711")


def test_each_flavor() -> None:
    assert rows_of([ADA]) == [
        ["student", "number", "scores", "weights", "output", "points", "of", "remark"],
        ["Ada", "4711", "9.00", "3.00", "6.00", "18.00", "24.00", ""],
    ]
    assert rows_of([ADA], "moodle") == [
        ["Student", "ID number", "Week 1", "Week 1 (feedback)"],
        ["Ada", "4711", "18.00", ""],
    ]
    assert rows_of([ADA], "canvas") == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Week 1"],
        ["Points Possible", "", "", "", "", "24.00"],
        ["Ada", "4711", "", "", "", "18.00"],
    ]


def test_a_mark_of_the_encoding_is_where_excel_reads() -> None:
    marked = [name for name in FLAVORS if text_of([], name).startswith("\ufeff")]
    assert marked == ["plain"]


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (handed_in(right()), ""),
        (handed_in([]), "nothing answered"),
        (Record("Ada", "", fault="nothing was handed in"), "missing"),
        (Record("Ada", "", fault="a.zip: is broken"), "not read"),
        (handed_in(right(), others={"exercise": {"seed": 8}}), "wrong seed"),
        (handed_in(right(), others={"given": {}, "policy": {"accept": []}}), "own numbers"),
        (replace(ADA, remarks=("2 submissions; the last counts",)), "twice"),
        (
            replace(ADA, remarks=("12 submissions; the best counts",), share=Fraction(0)),
            "twice, late",
        ),
        (replace(ADA, remarks=("Grade: no entry of the exercise; not read",)), ""),
        (handed_in(right(), tables=(Sheet("Scores", ()),)), "not all read"),
        (replace(ADA, remarks=("2 lines below no name of a step, not read",)), "not all read"),
        (replace(ADA, student=""), "no name"),
    ],
)
def test_the_word_for_a_record(one: Record, said: str) -> None:
    assert word(one) == said


def test_a_total_is_that_of_the_exact_points() -> None:
    thirds = handed_in(right(), scheme="total = 1\n[points]\nscores = 1\nweights = 1\noutput = 1")
    assert rows_of([thirds])[1][2:6] == ["0.33", "0.33", "0.33", "1.00"]
    late = replace(thirds, share=Fraction(1, 2))
    assert rows_of([late])[1][2:6] == ["0.33", "0.33", "0.33", "0.50"]


@given(st.fractions(min_value=0, max_value=10_000))
def test_points_are_rounded_half_up(points: Fraction) -> None:
    shown = Fraction(decimal(points))
    assert -Fraction(1, 200) < shown - points <= Fraction(1, 200)


FORMULAS = (
    "=",
    "+",
    "-",
    "@",
    "\t",
    "\r",
    "'",
    ";",
    ",",
    '"',
    "\\",
    "\n",
    "＝",
    "\x00",
    "\u202e",
    "a",
)
WORDS = st.lists(
    st.sampled_from([*FORMULAS, "Points Possible", "Points", "Possible", "\u2028", "é"]),
    min_size=1,
    max_size=5,
)


@given(WORDS.map("".join), st.sampled_from([*FLAVORS]))
def test_no_name_is_a_formula_or_another_row(name: str, flavor: str) -> None:
    text = text_of([record(name), record("Zoe")], flavor).removeprefix("\ufeff")
    head = len(FLAVORS[flavor].head(BOOK))
    assert text.count("\r\n") == head + 2  # every row is a line
    assert text.count("\n") == text.count("\r") == head + 2
    assert "\\" not in text  # PHP's escape
    for line in text.splitlines():
        assert line.startswith('"')
        assert line.endswith('"')
    found = rows_of([record(name), record("Zoe")], flavor)
    assert len({len(row) for row in found}) == 1
    for row in found:
        assert not any(text.startswith(("=", "+", "-", "@", "\t", "\r", "＝")) for text in row)
    if flavor == "canvas":
        assert [row[0] for row in found if "Points Possible" in row[0]] == ["Points Possible"]


def test_a_row_without_a_number_is_not_taken_for_the_student_above() -> None:
    assert [row[1] for row in rows_of([ADA, record("Zoe")], "moodle")[1:]] == ["4711", "Zoe"]


@given(st.lists(st.tuples(WORDS.map("".join), st.sampled_from(["", "=1", "007"])), max_size=4))
def test_a_gradebook_is_read_back(students: list[tuple[str, str]]) -> None:
    records = [replace(ADA, student=name, key=key) for name, key in students]
    lines = [printable(" ".join(name.split())).replace("\\", "/") for name, _ in students]
    keys = [key for _, key in students]
    assert read(records) == dict.fromkeys(zip(lines, keys, strict=True), "18.00")
    for row in rows_of(records)[1:]:
        assert row[2:] == ["9.00", "3.00", "6.00", "18.00", "24.00", ""]
    assert [*changes(read(records), read(records))] == []


def read(records: Iterable[Record]) -> dict[tuple[str, str], str]:
    """The points of a gradebook of these records, read back."""
    return points_in(io.StringIO(text_of(records), newline=""))


def test_points_that_a_spreadsheet_has_written_in_its_way_are_the_same() -> None:
    text = text_of([ADA]).replace('"18.00"', "18")
    assert points_in(io.StringIO(text, newline="")) == read([ADA])


def test_whose_points_changed() -> None:
    before = read([ADA, record("=Zoe"), record("Tom")])
    now = read([replace(ADA, share=Fraction(1, 2)), record("=Zoe"), record("Eve")])
    assert [*changes(before, now)] == [
        ("Ada", "18.00", "9.00"),
        ("Tom", "0.00", ""),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "line 1: is no head of a gradebook: student, number, …"),
        ("a,b\n", "line 1: is no head"),
        ("student,number,points,of,remark\nAda,1,2\n", "line 2: has other columns"),
        ("student,number,points,of,remark\nAda,1,2,x,\n", "points that are no numbers"),
        ("student,number,points,of,remark\nAda,1,1e9999,2,\n", "points that are no numbers"),
        ('student,number,points,of,remark\n"Ada"x,1,1,2,\n', "line 2: is no CSV"),
    ],
)
def test_what_is_no_gradebook_is_refused(text: str, said: str) -> None:
    with pytest.raises(ReadError, match=said):
        points_in(io.StringIO(text, newline=""))


def test_the_columns_are_the_steps_of_the_exercise() -> None:
    assert exercise().steps == BOOK.steps
    assert marking().points.whole == BOOK.most
