"""The report on a class: its numbers against those of the standard library, and its words."""

from __future__ import annotations

import statistics
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symattn.classroom.gradebook import decimal
from symattn.classroom.records import Record
from symattn.classroom.report import ClassReport
from symattn.documents import blocks as b
from symattn.documents.job import written
from tests.classroom.handed_in import SHEET, but, exercise, handed_in, mistaken, record, right

COLUMNS = handed_in(mistaken("softmax-over-columns"))
MOST = Fraction(24)


def reported(*records: Record) -> ClassReport:
    report = ClassReport(exercise())
    for one in records:
        report.add(one)
    return report


def test_who_has_nothing_that_could_be_marked_is_counted_with_no_points() -> None:
    records = [handed_in(right()), replace(handed_in(right()), marks=(), fault="is empty")]
    text = written("md", [reported(*records).document(MOST)])
    assert "There was nothing to mark of 1 student, counted here with 0 points." in text


def test_a_report() -> None:
    slip = handed_in(but({"weights[2,3]": "0.5"}))
    records = [handed_in(right()), COLUMNS, COLUMNS, slip, handed_in([])]
    records.append(replace(handed_in(right()), share=Fraction(1, 2)))
    text = written("md", [reported(*records).document(MOST)])
    assert (
        text
        == """\
## Causal self-attention: the class

6 students, 2 with every answer right. Late: 1. Nothing answered: 1.

### Points, of 24

| | mean | lowest | lower quartile | median | upper quartile | highest |
|---|---:|---:|---:|---:|---:|---:|
| points | 15.83 | 0.00 | 13.50 | 18.00 | 21.75 | 24.00 |

There was nothing to mark of 1 student, counted here with 0 points.

### First mistakes

| step | students | percent |
|---|---:|---:|
| Scores | 0 | 0 |
| Attention weights | 3 | 60 |
| Output | 0 | 0 |
| no mistake | 2 | 40 |

### Likely reasons

| students | likely reason |
|---|---|
| 2 | the softmax is taken over each column |
| 1 | a slip: misread digit |

Where several fit, each is counted.

### Wrong answers by entry, in percent

#### Scores

| | the | cat | sat |
|---|---:|---:|---:|
| the | 0 | 0 | 0 |
| cat | 0 | 0 | 0 |
| sat | 0 | 0 | 0 |

#### Attention weights

| | the | cat | sat |
|---|---:|---:|---:|
| the | 40 | 0 | 0 |
| cat | 40 | 40 | 20 |
| sat | 40 | 40 | 40 |

#### Output

| | 1 | 2 |
|---|---:|---:|
| the | 0 | 0 |
| cat | 0 | 0 |
| sat | 0 | 0 |

### Identical wrong answers

| students | step | answers | likely reason |
|---|---|---|---|
| 2 | weights | 0.882, 0, 0, 0.013, 0.107, 0, 0.106, 0.893, 1 | the softmax is taken over each column |
"""  # noqa: E501
    )


def table_of(report: ClassReport, title: str) -> b.Table:
    sections = (one for one in report.document(MOST).blocks if isinstance(one, b.Section))
    section = next(one for one in sections if one.title.startswith(title))
    return next(one for one in section.blocks if isinstance(one, b.Table))


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.fractions(min_value=0, max_value=24, max_denominator=12), min_size=1, max_size=9)
)
def test_points_are_distributed_as_the_standard_library_has_it(points: list[Fraction]) -> None:
    one = record()
    marks = [(replace(one.marks[0], points=x),) for x in points]
    report = reported(*(replace(one, marks=x) for x in marks))
    (row,) = table_of(report, "Points").rows
    quartiles = statistics.quantiles(
        [*points, *points[:1]][: max(2, len(points))], method="inclusive"
    )
    expected = [statistics.mean(points), min(points), *quartiles, max(points)]
    assert [cell.text for cell in row.cells] == [*map(decimal, expected)]


def test_shares_are_of_those_who_answered_and_tinted() -> None:
    report = reported(COLUMNS, handed_in(right()), handed_in([]))
    section = report.document(MOST).blocks[-1]
    assert isinstance(section, b.Section)
    assert section.title == "Wrong answers by entry, in percent"
    scores, weights, _ = section.blocks
    assert isinstance(weights, b.Section)
    (table,) = weights.blocks
    assert isinstance(table, b.Table)
    assert [[cell.text for cell in row.cells] for row in table.rows] == [
        ["50", "0", "0"],
        ["50", "50", "0"],
        ["50", "50", "50"],
    ]
    assert [cell.tint for cell in table.rows[0].cells] == ["wrong", "", ""]
    assert isinstance(scores, b.Section)


def test_an_entry_that_is_not_asked_for_has_no_share() -> None:
    text = SHEET.replace('claims.scores = [["?",', "claims.scores = [[5,")
    report = ClassReport(exercise(text))
    report.add(handed_in(right(text), text=text))
    table = str(written("md", [report.document(MOST)])).split("#### Scores")[1]
    assert "| the |  | 0 | 0 |" in table


@pytest.mark.parametrize("records", [(), (handed_in([]),), (Record("Ada", "", fault="x"),)])
def test_a_class_without_answers_has_a_report(records: tuple[Record, ...]) -> None:
    text = str(written("md", [reported(*records).document(MOST)]))
    count = len(records)
    assert f"{count} student{'' if count == 1 else 's'}, 0 with every answer right." in text
    assert "First mistakes" not in text


def test_answers_of_strangers_are_only_text() -> None:
    nasty = [record(answer="<script>|\n# x\\input{y}\x1b")] * 2
    html = str(written("html", [reported(*nasty).document(MOST)]))
    assert "<script>|" not in html
    assert "\x1b" not in html
    tex = str(written("tex", [reported(*nasty).document(MOST)]))
    assert r"\input" not in tex.split(r"\begin{document}")[1]


def test_a_hundred_thousand_records_are_counted_and_not_kept() -> None:
    report = ClassReport(exercise())
    for k in range(5000):
        report.add(replace(COLUMNS, student=str(k)))
    assert len(report.groups._kept) == 1
    assert table_of(report, "Identical").rows[0].name.text == "5000"
