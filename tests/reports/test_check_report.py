"""The report says the same in every format: what is wrong first, why, and how it is worked."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest

from symattn.attention.vocabulary import Notation
from symattn.claims.policy import VERDICTS
from symattn.documents.page.colour import SCHEMES, TINTS, contrast
from symattn.mistakes import MISCONCEPTIONS
from symattn.mistakes.explanations import Explanation
from symattn.mistakes.slips import Slip
from symattn.notation.text import width
from symattn.reports.annotations import github_annotations
from symattn.reports.check import check_worksheet
from symattn.reports.overview import CheckedFile, Overview
from symattn.reports.results import Finding, Marking
from symattn.reports.single import (
    Report,
    conclusion,
    report_data,
    report_of,
)
from symattn.reports.wording import WORDING
from symattn.sheets.worksheet import worksheet_of
from tests import ROOT
from tests.checking import check, toml
from tests.written import html_report, markdown_report, text_overview, text_report

GIVEN = {"Q": [[1, 0], [0, 2]], "K": [[1, 1], [0, 2]], "V": [[1, 2], [3, 4]]}
CLAIMS = {
    "scores": [["1", "0"], ["2", "4"]],
    "weights": [["0.73", "0.27"], ["0.2", "0.81"]],
    "output": [["1.54", "2.5"], ["?", "3.64"]],
}


@pytest.fixture(scope="module")
def wrong() -> Marking:
    return check(GIVEN, CLAIMS, {"scale": False, "tokens": ["<b>", "|x"]}, explain=True)


@pytest.mark.parametrize("scheme", TINTS)
def test_tints_stand_off_from_the_text(scheme: str) -> None:
    ink, ground = (SCHEMES[scheme][name] for name in ("ink", "ground"))
    assert {*WORDING} == set(VERDICTS)
    for verdict, wording in WORDING.items():
        assert (wording.tint == "") is (verdict == "right")
        assert not wording.tint or contrast(TINTS[scheme][wording.tint], ink) >= 7
    for edge in ("good-edge", "bad-edge"):
        assert contrast(TINTS[scheme][edge], ground) >= 3


# ---- all formats say the same ------------------------------------------------------------

SHEETS: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "wrong": (GIVEN, CLAIMS, {}),
    "passing": (GIVEN, {"weights": [["0.73", "0.26"], ["0.11", "0.88"]]}, {}),
    "strict": (GIVEN, {"weights": [["0.73", "0.26"], ["0.11", "0.88"]]}, {"accept": ["right"]}),
    "right": (GIVEN, {"scores": CLAIMS["scores"]}, {}),
    "heads": (
        {"Q": [[[1]], [[1]]], "K": [[[1], [0]]] * 2, "V": [[[0], [1]]] * 2},
        {"weights": [[["0.73", "0.27"]], [["0.5", "0.27"]]], "heads": [[["0.3"]], [["0.27"]]]},
        {},
    ),
}

Told = tuple[str, str, str, str]

#: What every format writes of a number that does not pass.
_TOLD = re.compile(
    r"([a-z_]+\[[\d,]+\]): (\S+), true\svalue\s([^\s;<]+)(?:;\s([a-z ]+(?:\[[\d,]+\])?))?"
)


def in_prose(page: str) -> set[Told]:
    joined = re.sub(r"\n     (?=\S)", " ", page)  # a long line goes on in the next one
    return {
        (entry, claimed, true, meaning.strip() or "wrong")
        for entry, claimed, true, meaning in _TOLD.findall(joined)
    }


def in_data(found: Report) -> set[Told]:
    data = report_data(found)
    return {
        (
            f"{name}[{','.join(map(str, entry['index']))}]",
            entry["claimed"],
            entry["true"],
            f"follows from {entry['because'][0]}"
            if "because" in entry
            else WORDING[entry["verdict"]].phrase,
        )
        for name, step in data["steps"].items()
        if not step["passes"]
        for entry in step["entries"]
        if entry["verdict"] in ("wrong", "carried", "last-digit")
    }


def words_of(page: str) -> str:
    """HTML as a reader sees it."""
    parser = HTMLParser()
    words: list[str] = []
    parser.handle_data = words.append  # type: ignore[method-assign, assignment]
    parser.feed(page.replace("<li>", "\n").replace("</li>", "\n").replace("<h", "\n<h"))
    return "".join(words)


@pytest.mark.parametrize("name", SHEETS)
def test_all_formats_show_the_same_numbers_and_verdicts(name: str) -> None:
    given, claims, policy = SHEETS[name]
    marking = check(given, claims, **policy)
    found = report_of(marking, marking.evaluation.notation.but(limit=0))
    text = text_report(found)
    markdown = markdown_report(found).replace("\\", "")
    html = words_of(html_report(found))
    assert in_prose(text) == in_prose(markdown) == in_prose(html)
    assert in_prose(text) >= in_data(found)
    data = report_data(report_of(marking))
    assert data["conclusion"] in " ".join(text.split()) and data["conclusion"] in markdown
    assert data["conclusion"] in html
    if data["first_wrong"] is None:
        assert data["passes"]
    for page in (text, markdown, html):
        words = " ".join(page.split())  # the text is broken at 80 columns
        assert data["first_wrong"] is None or data["first_wrong"]["sentence"] in words
    for step in data["steps"].values():
        for entry in step["entries"] if step["verdict"] != "right" else ():
            assert all(entry["claimed"] in page for page in (text, markdown, html))


def test_the_test_of_all_formats_can_fail(wrong: Marking) -> None:
    page = text_report(report_of(wrong))
    assert in_prose(page) != in_prose(page.replace("true value 0.119", "true value 0.118"))


# ---- sentences ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claims", "words"),
    [
        ({"weights[1,1]": "0.73"}, "The number is right."),
        ({"weights[1,:]": ["0.73", "0.27"]}, "All 2 numbers are right."),
        ({"weights[1,2]": "0.26"}, "The number is accepted: it was cut off."),
        ({"weights[1,:]": ["0.73", "0.4"]}, "1 of 2 numbers is right. 1 is wrong."),
        ({"weights[1,1]": "0.4"}, "The number is wrong."),
        ({"weights[1,:]": ["0.4", "0.7"]}, "All 2 numbers are wrong."),
        (
            {"weights": [["0.73", "0.26"], ["0.11", "0.95"]]},
            "1 of 4 numbers is right. 2 more are accepted: cut off. 1 is wrong.",
        ),
        (
            {"weights": [["0.73", "0.27"], ["0.20", "0.81"]], "output[2,2]": "3.64"},
            "2 of 5 numbers are right. 1 follows from a mistake, 2 are wrong.",
        ),
        (
            {"scores[1,1]": "1·1 + 0·0 + 1·0 = 1"},
            "The number is right; its worked line has a mistake.",
        ),
        (
            {"scores[1,1]": "1·1 + 0·0 + 1·0 = 1", "scores[1,2]": 0},
            "All 2 numbers are right; 1 worked line has a mistake.",
        ),
    ],
)
def test_one_sentence(claims: dict[str, object], words: str) -> None:
    assert conclusion(check(GIVEN, claims)) == words


def test_what_passes_without_being_right_is_said_to_be_accepted() -> None:
    cut = {"weights": [["0.73", "0.26"], ["0.11", "0.88"]]}
    found = report_of(check(GIVEN, cut))
    assert found.passes
    assert found.conclusion == "All 4 numbers are accepted: 2 right, 2 cut off."
    page = text_report(found)
    told = "⌊ cut off (accepted): weights[1,2], 0.26 for 0.2689; weights[2,1], 0.11 for 0.1192"
    assert told in " ".join(page.split())
    strict = report_of(check(GIVEN, cut, accept=["right"]))
    assert strict.first is not None
    assert strict.first.sentence == (
        "The first number not accepted is weights[1,2]: you wrote 0.26, but it is 0.2689. "
        "It was cut off."
    )
    assert "accepted)" not in text_report(strict)


def test_what_is_not_decided_is_not_called_wrong() -> None:
    hair = check({"scores": [["e^(-20000)", 0]], "V": [[2], [1]]}, {"output": "2"})
    found = report_of(hair)
    assert found.first is not None
    assert found.first.sentence.startswith("The first undecided number is output[1,1]")
    assert "undecided at 16,384 bits" in text_report(found)
    assert "rong" not in text_report(found)


def test_a_number_that_is_given_is_not_worked_out() -> None:
    found = report_of(check(GIVEN, {"Q[1,1]": "3"}))
    assert found.first is not None
    assert (found.first.worked, found.first.origin) == (None, "")
    assert "you wrote 3, but it is 1." in text_report(found)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("scores[1,2]", "Row 1 of Q and row 2 of K give"),
        ("weights[2,1]", "Row 2 of scores gives"),
        ("output[2,1]", "Row 2 of weights and column 1 of V give"),
    ],
)
def test_what_an_entry_is_worked_out_from(claim: str, source: str) -> None:
    found = report_of(check(GIVEN, {claim: "9.5"}))
    assert found.first is not None
    assert found.first.origin == source


def test_what_follows_is_worked_out_with_the_numbers_written() -> None:
    claims = {"weights": [["0.73", "0.27"], ["0.2", "0.8"]], "output[2,2]": "3.6"}
    found = report_of(check(GIVEN, claims))
    told = "o_22 = 0.2·2 + 0.8·4 = 3.6"
    assert f"Your numbers give {told}" in text_report(found)
    assert "Your numbers give $`o_{22} = 0.2" in markdown_report(found)
    assert "Your numbers give" in html_report(found)
    assert report_data(found)["steps"]["output"]["own_work"] == told


def test_a_sign_that_does_not_hold_is_named(wrong: Marking) -> None:
    told = "worked line of weights[1,1]: 2.72/3.72 is 0.7312, not 0.75"
    sign = Finding(3, 7, None, "weights[1,1]", "", "", "wrong", passes=False, told=told)
    found = replace(report_of(wrong), lines=(sign,))
    for page in (text_report(found), markdown_report(found).replace("\\", ""), html_report(found)):
        assert f"✗ {told}" in page
    assert report_data(found)["lines"] == [
        {"entry": "weights[1,1]", "told": told, "verdict": "wrong"}
    ]
    one = CheckedFile("x.md", reports=(found,), signs=(sign,))
    assert "x.md:3:7: " + told in text_overview(Overview((one,)))
    assert f"::error file=x.md,line=3,col=7,title=weights[1%2C1]%3A worked line::{told}" in (
        github_annotations(Overview((one,)))
    )
    assert "; 1 worked line has a mistake" in Overview((one,)).conclusion


# ---- large sheets ------------------------------------------------------------------------


def large(wrong_at: tuple[int, int], limit: int = 8) -> Report:
    scores = [[(3 * i + 5 * j) % 7 for j in range(16)] for i in range(16)]
    true = check({"scores": scores}, {"weights[1,1]": "0.5"}).evaluation["weights"].decimals(3)
    true[wrong_at[0]][wrong_at[1]] = "0.900"
    return report_of(check({"scores": scores}, {"weights": true}), Notation(limit=limit))


def test_a_wrong_cell_far_to_the_right_is_shown() -> None:
    found = large((9, 11))
    (table,) = found.steps[0].tables
    assert [row.name.text for row in table.rows] == ["⋮", "10", "⋮"]
    assert table.columns == ("⋯", "10", "11", "12", "13", "⋯")
    assert table.rows[1].cells[3].tint == "wrong"
    assert table.left_out == "15 rows and 12 columns left out"
    for page in (text_report(found), markdown_report(found), words_of(html_report(found))):
        assert "0.900" in page and "⋯" in page and "15 rows and 12 columns left out" in page
    told = large((9, 11), limit=0).steps[0].tables[0]
    assert (len(told.rows), len(told.columns), told.left_out) == (16, 16, "")


def test_a_wrong_cell_in_any_place_is_shown() -> None:
    for place in ((0, 0), (0, 15), (15, 0), (15, 15), (7, 8)):
        (table,) = large(place).steps[0].tables
        assert sum(cell.tint == "wrong" for row in table.rows for cell in row.cells) == 1
        assert {len(row.cells) for row in table.rows} == {len(table.columns)}


def test_what_is_wrong_beyond_all_bounds_is_counted() -> None:
    found = report_of(check({"scores": [[1, 2]] * 30}, {"weights": [["0.20", "0.90"]] * 30}))
    (table,) = found.steps[0].tables
    assert table.left_out == "14 rows left out, with 28 numbers not accepted"
    assert (len(found.steps[0].failing), found.steps[0].left_out) == (8, 52)
    more = replace(found, hint="--full shows all")
    assert "and 52 more; --full shows all" in text_report(more)


def test_lines_fit_a_terminal() -> None:
    for line in text_report(large((9, 11), limit=0)).splitlines():
        assert width(line) <= 80


def test_many_wrong_heads_are_counted() -> None:
    given = {"scores": [[[1, 2]]] * 7, "V": [[[0], [1]]] * 7}
    found = report_of(check(given, {"weights": [[["0.5", "0.5"]]] * 7}))
    assert len(found.steps[0].tables) == 4
    assert "3 more heads with wrong numbers" in text_report(found)


# ---- counting and turning ----------------------------------------------------------------


@pytest.mark.parametrize("base", [0, 1])
@pytest.mark.parametrize("convention", ["rows", "columns"])
def test_one_way_of_counting_in_a_report(base: int, convention: Any) -> None:
    notation = Notation(index_base=base, convention=convention)
    marking = check(GIVEN, {"weights": [["0.73", "0.27"], ["0.2", "0.88"]]})
    found = report_of(marking, notation)
    row, column = (1 + base, base) if convention == "rows" else (base, 1 + base)
    name = f"weights[{row},{column}]"
    data = report_data(found)
    assert data["first_wrong"]["entry"] == name
    assert data["first_wrong"]["index"] == [row, column]
    assert data["index_base"] == base
    assert found.first is not None
    assert found.first.sentence.startswith(f"Your first wrong number is {name}")
    word = "Row" if convention == "rows" else "Column"
    assert found.first.origin == f"{word} {1 + base} of scores gives"
    assert data["first_wrong"]["worked"].startswith(f"a_{row}{column} ")
    (table,) = found.steps[0].tables
    assert table.columns == tuple(str(k + base) for k in range(2))
    cells = [cell.text for row in table.rows for cell in row.cells]
    turned = ["0.73", "0.2", "0.27", "0.88"]
    assert cells == (turned if convention == "columns" else ["0.73", "0.27", "0.2", "0.88"])


def test_notes_count_as_the_sheet_does() -> None:
    text = toml(GIVEN, {"weights": [["0.73", "0.27"], ["0.2", "0.95"]]})
    text += "[notation]\nindex_base = 0\n"
    page = text_report(report_of(check_worksheet(worksheet_of(text))))
    assert "weights[1,:] sums to 1.15, not to 1" in page
    assert "[2," not in page


def test_few_explanations_the_simplest_first(wrong: Marking) -> None:
    symmetric = check({"scores": [[1, 2], [2, 1]]}, {"weights": [["0.5", "0.5"]] * 2}, explain=True)
    explanations = (symmetric.explanations or wrong.explanations) * 5
    assert explanations
    found = report_of(replace(wrong, explanations=explanations))
    assert found.reasons_shown == 3
    assert f"and {len(explanations) - 3} more" in text_report(found)
    assert [r.whole for r in found.reasons] == sorted(
        (r.whole for r in found.reasons), reverse=True
    )


def test_whole_explanations_come_first_then_those_by_fewer_mistakes(wrong: Marking) -> None:
    one, two = MISCONCEPTIONS[:1], MISCONCEPTIONS[:2]
    parts = [(two, False), (one, False), (two, True), (one, True)]
    explanations = tuple(Explanation(some, ("weights",), whole) for some, whole in parts)
    found = report_of(replace(wrong, explanations=explanations))
    single, double = one[0].name, " + ".join(row.name for row in two)
    assert [(reason.name, reason.whole) for reason in found.reasons] == [
        (single, True),
        (double, True),
        (single, False),
        (double, False),
    ]


def test_the_report_in_the_documentation_is_what_is_printed() -> None:
    text = """title = "Two keys"
[given]
Q = [[1, 0]]
K = [[1, 0], [0, 1]]
V = [[1, 2], [3, 4]]
[claims]
scores = [[1, 0]]
scaled = [[0.71, 0]]
weights = [[0.67, 0.34]]
"output[1,1]" = 1.69
"""
    page = text_report(report_of(check_worksheet(worksheet_of(text), explain=False)))
    docs = ROOT / "docs" / "checking.md"
    assert f"```\n{page}```\n" in docs.read_text(encoding="utf-8")


def test_an_explanation_of_no_whole_step_is_told() -> None:
    """A slip that changes numbers before the first claimed ones may explain no step wholly."""
    part = Explanation(
        (Slip("copied-entry", "scaled[3,1] holds 1.4142", "Compute it again.", "scaled", ()),),
        (),
        whole=False,
    )
    assert part.done == "scaled[3,1] holds 1.4142 (explains some of the numbers)"
    assert replace(part, fits=("weights",)).done.endswith("(explains weights only)")
    assert replace(part, whole=True).done == "scaled[3,1] holds 1.4142"
    given = {
        "Q": [[1, 0], [0, 1], [1, 1]],
        "K": [[1, 0], [1, 1], [0, 2]],
        "V": [[1, 2], [3, 4], [5, 6]],
    }
    claims = {
        "weights": [
            ["0.4011", "0.4011", "0.1978"],
            ["0.1400", "0.2840", "0.5760"],
            ["0.1978", "0.4011", "0.4011"],
        ],
        "output": [["2.5933", "3.5933"], ["3.7819", "4.8719"], ["1.9033", "4.4066"]],
    }
    found = report_of(check(given, claims, explain=True))
    for page in (text_report(found), markdown_report(found), html_report(found)):
        assert page


def test_why_what_follows_is_wrong_is_said_once_a_step() -> None:
    given = {
        "Q": [[1, 0], [0, 1], [1, 1]],
        "K": [[1, 0], [1, 1], [0, 2]],
        "V": [[1, 2], [3, 4], [5, 6]],
    }
    claims = {"weights": [["0.33"] * 3] * 3, "output": [["2.97", "3.96"]] * 3}
    page = text_report(report_of(check(given, claims)))
    assert page.count("which was not computed") == 1
    assert "   It follows from weights, which was not computed." in page.splitlines()


PROJECTED = {
    "X": [[1, "0.5"], ["-0.5", 2], ["1.5", -1]],
    "W_Q": [["0.8", "-0.3"], ["0.4", "1.1"]],
    "W_K": [["1.2", "0.5"], ["-0.7", "0.9"]],
    "W_V": [[2], ["0.6"]],
}


@pytest.mark.parametrize(
    ("weights", "output", "told"),
    [
        (["0.26", "0.04", "0.70"], "2.286", "o_11 = 0.26·2.3 + 0.04·0.2 + 0.7·2.4 = 2.286"),
        (["0.199", "0.013", "0.788"], "2.352", "o_11 = 0.199·2.3 + 0.013·0.2 + 0.788·2.4 ≈ 2.352"),
        (["0.199", "0.013", "0.788"], "2.351", None),  # half-way: the line would not end in it
    ],
)
def test_own_work_shows_the_exact_number_that_floats_miss(
    weights: list[str], output: str, told: str | None
) -> None:
    """v_21 = (−0.5)·2 + 2·0.6 is 0.2; floats give 0.19999999999999996."""
    claims = {"weights[1,:]": weights, "output[1,1]": output}
    found = report_data(report_of(check(PROJECTED, claims, {})))
    assert found["steps"]["output"]["own_work"] == told


def test_own_work_is_of_the_entry_that_was_claimed_where_columns_are_printed() -> None:
    text = toml(
        {"scores": [[1, 1], [1, 2]], "V": [[1, 2], [3, 5]]},
        {"weights": [["0.4", "0.6"], ["0.2", "0.8"]], "output": [["?", "?"], ["1.8", "?"]]},
    )
    marks = check_worksheet(worksheet_of(f'{text}[notation]\nconvention = "columns"\n'))
    found = report_data(report_of(marks))["steps"]["output"]
    assert found["own_work"] == "o_21 = 2·0.4 + 5·0.2 = 1.8"


def test_own_work_beside_wrong_numbers_is_of_what_follows_from_them() -> None:
    """Of an entry that is accepted it would look like the correction of the wrong one."""
    given = {"scores": [[4, 7], [7, 6]], "V": [[1, 2], [3, 4]]}
    weights = [["0.05", "0.95"], ["0.73", "0.27"]]
    right = {"weights": weights, "output": [["2.90", "3.90"], ["1.54", "2.54"]]}
    assert "Your numbers give o_11 = " in text_report(report_of(check(given, right)))
    wrong = {"weights": weights, "output": [["2.90", "3.90"], ["1.54", "2.44"]]}
    assert "Your numbers give" not in text_report(report_of(check(given, wrong)))


def test_the_worked_line_has_the_digits_of_its_sentence() -> None:
    found = report_of(check(GIVEN, {"weights[2,1]": "0.12345"}))
    assert found.first is not None
    assert found.first.sentence.endswith("but it is 0.1192029.")
    assert text_report(found).splitlines()[3].endswith("≈ 0.1192029")


def test_one_number_shows_no_style() -> None:
    alone = report_of(check(GIVEN, {"weights[1,2]": "0.26"}))
    assert alone.passes and not alone.style
