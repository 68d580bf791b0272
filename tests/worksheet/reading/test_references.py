"""``weights[1,2]`` is read by one reader; a place that does not exist is refused, never another."""

from __future__ import annotations

import pytest

from symattn.errors import ReadError, SymattnError
from symattn.worksheet.quotation import quotation
from symattn.worksheet.reading.references import entries_at, read_reference, reference_in
from symattn.worksheet.reading.worksheet import worksheet_of

SHEET = worksheet_of(
    "[attention]\nscale = false\n[given]\nscores = [[0, 1], [5, 0]]\nV = [[1, 2], [3, 4]]"
)
HEADS = worksheet_of(
    "[attention]\nscale = false\n[given]\nscores = [[[0, 1]], [[5, 0]]]\n"
    "V = [[[1], [2]], [[3], [4]]]"
)


@pytest.mark.parametrize(
    ("text", "step", "index", "head"),
    [
        ("weights", "weights", (), None),
        ("W_Q[1]", "W_Q", ("1",), 1),
        ("weights[1,2]", "weights", ("1", "2"), None),
        ("weights[ 1 , 2:3 ]", "weights", ("1", "2:3"), None),
        ("scores[2][1,:]", "scores", ("2", "1", ":"), None),
        ("scores[3][2][1,:]", "scores", ("3", "2", "1", ":"), None),
        ("weights[:]", "weights", (":",), None),
    ],
)
def test_what_is_read(text: str, step: str, index: tuple[str, ...], head: int | None) -> None:
    found = read_reference(text)
    assert (found.step, found.index, found.head) == (step, index, head)


@pytest.mark.parametrize(
    "text", ["", "weights 1", "weights[1,1", "weights[]", "2[1,2]", "a[1]b", "weights[[1]]"]
)
def test_what_is_no_reference(text: str) -> None:
    assert reference_in(text) is None
    with pytest.raises(ReadError, match=r"names no entry; write e\.g\. weights"):
        read_reference(text)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("scores[1,2]", "1"),
        ("scores[2,1]", "5"),
        (" scores[2][1] ", "5"),
        ("weights[1,2] to 2", "0.73"),
        ("weights[1,2]to 2", "0.73"),
        ("scores[1]", "0, 1"),
        ("scores[2,:]", "5, 0"),
        ("scores[:,1]", "0, 5"),
        ("weights[1,:] to 2", "0.27, 0.73"),
    ],
)
def test_a_number_is_quoted(text: str, number: str) -> None:
    assert quotation(SHEET, text) == number


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("scores[0,1]", "no row 0: rows are 1 to 2"),
        ("scores[1,0]", "no column 0: columns are 1 to 2"),
        ("scores[3,1]", "no row 3: rows are 1 to 2"),
        ("scores[1,3]", "no column 3"),
        ("scores[-1,1]", 'no row "-1"'),
        ("scores", r"more than one entry; write e.g. scores\[1,2\]"),
        ("scores[:,:]", "more than one entry"),
        ("scores[3,:]", "no row 3: rows are 1 to 2"),
        ("scores[1,1,1]", "scores is 2 × 2"),
        ("scores[1,2] to", "names no entry"),
        ("scores[1,2] to 100", "names no entry"),
        ("nothing[1,2]", "nothing"),
    ],
)
def test_a_place_that_does_not_exist_is_not_quoted(text: str, message: str) -> None:
    with pytest.raises(SymattnError, match=message):
        quotation(SHEET, text)


def test_entries_of_heads() -> None:
    evaluation = HEADS.values
    assert quotation(HEADS, "scores[2][1,1]") == quotation(HEADS, "scores[2,1,1]") == "5"
    assert quotation(HEADS, "scores[2][1,:]") == "5, 0"
    with pytest.raises(SymattnError, match=r"more than one entry; write e.g. scores\[1\]\[1,2\]"):
        quotation(HEADS, "scores[1]")
    assert entries_at(["scores[2][1,2]"], evaluation) == {"scores": (1, 0, 1)}
    firsts = entries_at(["first", "weights[2][1,1]"], evaluation)
    assert (firsts["weights"], firsts["concat"]) == ((1, 0, 0), (0, 0))
    with pytest.raises(ReadError, match="no head 0: heads are 1 to 2"):
        entries_at(["scores[0][1,2]"], evaluation)
