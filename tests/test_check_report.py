"""The report says the same in every format: what is wrong, what is true, and how it is worked."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from xml.dom import minidom

import pytest

from symattn.notation.options import Notation
from symattn.worksheet.check import Marking
from symattn.worksheet.claims import VERDICTS
from symattn.worksheet.report import MEANINGS, SIGNS, conclusion, report
from symattn.worksheet.reporting import (
    _TINTS,
    html_report,
    json_report,
    json_reports,
    markdown_report,
    text_report,
)
from tests.checking import check

GIVEN = {"Q": [[1, 0], [0, 2]], "K": [[1, 1], [0, 2]], "V": [[1, 2], [3, 4]]}
CLAIMS = {
    "scores": [["1", "0"], ["2", "4"]],
    "weights": [["0.73", "0.27"], ["0.2", "0.81"]],
    "output": [["1.54", "2.5"], ["?", "3.64"]],
}


@pytest.fixture(scope="module")
def wrong() -> Marking:
    return check(GIVEN, CLAIMS, {"scale": False, "tokens": ["<b>", "|x"]}, explain=True)


def test_text_shows_the_tables_the_numbers_and_the_worked_line(wrong: Marking) -> None:
    lines = text_report(report(wrong)).splitlines()
    assert lines[0] == (
        "8 of 11 numbers are right. First wrong: weights[2,1] is claimed 0.2, true is 0.119."
    )
    assert "weights  wrong (2 of 4 right, 2 wrong)" in lines
    assert any(line.split() == ["|x", "✗", "0.2", "✗", "0.81"] for line in lines)
    assert "   weights[2,1] is claimed 0.2, true is 0.119: wrong" in lines
    assert any(line.startswith("   a_21 = e²/(e² + e⁴) ≈ 7.3891/") for line in lines)
    assert any(line.split() == ["|x", "·", "→", "3.64"] for line in lines)
    assert (
        "   output[2,2] is claimed 3.64, true is 3.7616: follows from a mistake before it" in lines
    )


def test_text_without_unicode(wrong: Marking) -> None:
    assert text_report(report(wrong), "ascii").isascii()
    assert "x 0.2" in text_report(report(wrong), "ascii")


def test_markdown_is_escaped(wrong: Marking) -> None:
    page = markdown_report(report(wrong))
    assert "| | \\<b\\> | \\|x |" in page
    assert "| \\|x | ✗ **0.2** | ✗ **0.81** |" in page
    assert "- `weights[2,1]` is claimed 0.2, true is 0.119: wrong" in page
    assert page.count("$$") == 2 * sum(step.worked is not None for step in report(wrong).steps)


class _Tags(HTMLParser):
    """Whether tags are closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.cells: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        if tag == "td":
            self.cells.append(dict(attrs).get("class") or "")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_html_is_well_formed_and_escaped(wrong: Marking) -> None:
    page = html_report(report(wrong))
    tags = _Tags()
    tags.feed(page)
    assert tags.open == []
    assert "<b>" not in page
    assert "&lt;b&gt;" in page
    assert [c for c in tags.cells if c] == ["right", "right", "wrong", "wrong",
                                            "right", "right", "blank", "carried"]  # fmt: skip
    minidom.parseString(page)


def luminance(colour: str) -> float:
    """WCAG 2.2, relative luminance."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_tints_stand_off_from_black_text() -> None:
    assert {*_TINTS, "right"} == set(VERDICTS)
    for tint in _TINTS.values():
        assert (luminance(tint) + 0.05) / 0.05 >= 7


def test_every_verdict_has_a_sign_and_a_meaning() -> None:
    assert set(SIGNS) == set(MEANINGS) == set(VERDICTS)
    assert len(set(SIGNS.values())) == len(VERDICTS)


def test_json_says_what_the_report_says(wrong: Marking) -> None:
    data = json.loads(json_report(wrong))
    found = report(wrong)
    assert list(data["steps"]) == [step.name for step in found.steps]
    for step in found.steps:
        listed = [e for e in data["steps"][step.name]["entries"] if e["verdict"] != "right"]
        assert [(e["claimed"], e["true"], e["verdict"]) for e in listed] == [
            (f.claimed, f.true, f.verdict) for f in step.findings]  # fmt: skip
    assert data["passes"] is False
    assert data["first_wrong"] == {"step": "weights", "index": [2, 1], "entry": "weights[2,1]",
                                   "verdict": "wrong"}  # fmt: skip
    both = json.loads(json_reports({"a": [wrong], "b": []}))
    assert both["files"] == {"a": [data], "b": []}


@pytest.mark.parametrize(
    ("claims", "words"),
    [
        ({"weights[1,1]": "0.73"}, "The number is right."),
        ({"weights[1,:]": ["0.73", "0.27"]}, "All 2 numbers are right."),
        ({"weights[1,:]": ["0.73", "0.26"]},
        "1 of 2 numbers are right; 1 cut off instead of rounded."),
        ({"weights[1,:]": ["0.73", "0.4"]},
         "1 of 2 numbers are right. First wrong: weights[1,2] is claimed 0.4, true is 0.269."),
    ],
)  # fmt: skip
def test_one_sentence(claims: dict[str, object], words: str) -> None:
    assert conclusion(check(GIVEN, claims)) == words


def test_many_rows_are_shortened_to_those_with_something_to_see() -> None:
    given = {"scores": [[1, 2]] * 30}
    weights = [["0.27", "0.73"]] * 29 + [["0.20", "0.80"]]
    found = report(check(given, {"weights": weights}))
    (table,) = found.steps[0].tables
    assert [label for label, _ in table.rows] == ["30"]
    assert table.left_out == 29
    whole = report(check(given, {"weights": weights}), Notation(limit=0))
    assert len(whole.steps[0].tables[0].rows) == 30
    many = report(check(given, {"weights": [["0.20", "0.80"]] * 30}))
    assert (len(many.steps[0].findings), many.steps[0].left_out) == (8, 52)
    assert "(52 more; --full lists them)" in text_report(many)


def test_heads_have_a_table_each() -> None:
    given = {"Q": [[[1]], [[1]]], "K": [[[1], [0]]] * 2, "V": [[[0], [1]]] * 2}
    found = report(check(given, {"weights[2]": ["0.5", "0.27"]}))
    assert [table.caption for table in found.steps[0].tables] == ["head 2"]
    assert "head 2" in text_report(found) and "*head 2*" in markdown_report(found)


def test_undecided_numbers_are_marked_as_not_proven() -> None:
    hair = check({"scores": [["e^(-20000)", 0]], "V": [[2], [1]]}, {"output": "2"})
    page = text_report(report(hair))
    assert "not decided" in page
    assert "undecided at 16,384 bits" in page


def test_index_base_and_labels() -> None:
    found = check(GIVEN, {"weights[2,1]": "0.2"})
    page = text_report(report(found, Notation(index_base=0)))
    assert any(line.split() == ["1", "✗", "0.2", "·"] for line in page.splitlines())
