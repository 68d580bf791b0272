"""``weights[1,2]`` is read by one reader; a place that does not exist is refused, never another."""

from __future__ import annotations

import pytest

from symattn import Attention
from symattn.attention.presets import PRESETS
from symattn.attention.variants import VARIANTS
from symattn.attention.vocabulary import Notation
from symattn.claims.references import (
    entries_at,
    read_reference,
    reference_in,
    symbol_reference,
)
from symattn.errors import ReadError, SymattnError
from symattn.notation.latex import latex
from symattn.notation.text import line
from symattn.notation.tree import Num
from symattn.pages.quotation import quotation
from symattn.pages.syntax import anchor
from symattn.sheets.worksheet import worksheet_of

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
    assert entries_at(["scores[2][1,2]"], evaluation, Notation()) == {"scores": (1, 0, 1)}
    firsts = entries_at(["first", "weights[2][1,1]"], evaluation, Notation())
    assert (firsts["weights"], firsts["concat"]) == ((1, 0, 0), (0, 0))
    with pytest.raises(ReadError, match="no head 0: heads are 1 to 2"):
        entries_at(["scores[0][1,2]"], evaluation, Notation())


TURNED = worksheet_of(
    "[attention]\nscale = false\n[given]\nscores = [[0, 1], [5, 0]]\nV = [[1, 2], [3, 4]]\n"
    '[notation]\nindex_base = 0\nconvention = "columns"'
)


@pytest.mark.parametrize(
    ("text", "number"),
    [("scores[1,0]", "1"), ("scores[0,1]", "5"), ("s_01", "5"), ("scores[0,:]", "0, 5")],
)
def test_a_quotation_counts_and_turns_as_the_worksheet_does(text: str, number: str) -> None:
    assert quotation(TURNED, text) == number
    if ":" not in text:
        place = (0, 1) if number == "1" else (1, 0)
        evaluation = TURNED.evaluate(TURNED.derivation())
        assert entries_at([text], evaluation, TURNED.notation) == {"scores": place}
    with pytest.raises(SymattnError, match=r"no column 2: columns are 0 to 1 \(index_base = 0\)"):
        quotation(TURNED, "scores[0,2]")


@pytest.mark.parametrize("preset", ["", "heads below", *(row.name for row in PRESETS)])
def test_every_entry_is_read_as_it_is_printed(preset: str) -> None:
    """In text and in LaTeX, as the key of a claim, in a claim in prose and in a quotation."""
    below = Notation(head_index="below")
    plain = {"": Notation(), "heads below": below}
    notation = plain[preset] if preset in plain else Notation.preset(preset)
    read = 0
    for row in VARIANTS:
        derivation = Attention(**row.choices).derivation()
        items = (*derivation.inputs, *derivation.steps)
        letters = {item.name: item.letter for item in items}
        printed: dict[str, tuple[str, tuple[str, ...]]] = {}
        if preset == "flash-attention" and "positions" in letters:
            continue  # P stands for both, which is refused
        for item in items:
            head = ("3",) if item.per_head else ()
            entry = notation.entry(item.letter, Num(*head) if head else None, (Num("1"), Num("2")))
            for text in (line(entry), latex(entry)):
                printed.setdefault(text, (item.name, (*head, "1", "2")))
        for text, meant in printed.items():
            found = symbol_reference(text, letters, notation)
            assert found is not None and (found.step, found.index) == meant, (row.name, text)
            assert anchor(f"{text} = 0.5", 0).key == text
            read += 1
    assert read > 500
