"""What is printed is what was printed: a fixed sample of the rows in `tests/golden`."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from symattn.documents.page import frame
from symattn.errors import SymattnError
from symattn.nodes.normalise import Softmax
from tests import golden
from tests.golden import ROOT, WHOLE, Row, assert_kept, changed, digest, groups, kept, path_of

KNOWN = kept()

#: What is cheap of every variant; ``python -m tests.golden`` prints the rest.
CHEAP = tuple(("symbolic", form, "all") for form in ("text", "latex", "json"))

#: What is printed whole of a single variant: every format of its numbers, and its programs.
THOROUGH = "causal"


def sample(name: str, group: Callable[[], Iterator[Row]]) -> list[Row]:
    """The rows of a variant that are printed here."""
    return [
        row
        for row in group()
        if (row.made, row.form, row.view) in CHEAP or (name == THOROUGH and row.made == "values")
    ]


VARIANTS = {name: group for name, group in groups().items() if not (ROOT / name).exists()}
for other in ("nodes", "catalogue"):
    del VARIANTS[other]


@pytest.mark.parametrize("name", VARIANTS)
def test_what_is_printed_is_what_was_printed(name: str) -> None:
    assert_kept(sample(name, VARIANTS[name]))


def test_every_row_is_kept_once_and_nothing_else() -> None:
    lines = (line for group in VARIANTS.values() for line in group())
    expected = [line.key for line in lines]
    assert len(expected) == len(set(expected))
    names = {*VARIANTS}
    assert [key for key in KNOWN if key.split()[0] in names] == expected


@pytest.mark.parametrize("key", WHOLE)
def test_the_whole_texts_are_those_of_the_digests(key: str) -> None:
    assert KNOWN[key] == digest(path_of(key).read_text(encoding="utf-8"))


def test_a_changed_output_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Softmax, "word", "softmin")
    rows = [row for row in VARIANTS["causal"]() if (row.made, row.form) == ("symbolic", "text")]
    assert changed(rows, KNOWN) == [
        f"causal symbolic text {view}" for view in ("all", "formula", "from-0", "columns")
    ]


def test_times_are_left_out_and_a_refusal_is_its_line() -> None:
    def refused() -> str:
        raise SymattnError("svg: needs numbers")

    timed = Row("a", "b", "c", "d", lambda: 'proven 12 ms, all in 1.5 s; {"seconds": 0.25}')
    assert timed.text == 'proven , all in ; {"seconds": }'
    assert Row("a", "b", "c", "d", refused).text == "svg: needs numbers\n"


def test_a_page_is_kept_without_its_program_and_its_style(monkeypatch: pytest.MonkeyPatch) -> None:
    row = next(row for row in VARIANTS["causal"]() if row.key == "causal values html all")
    before = row.text
    assert len(before) < len(row.printed()) / 2
    monkeypatch.setattr(frame, "scripts", lambda: "const other = 1;")
    monkeypatch.setattr(frame, "STYLES", ("page.css",))
    monkeypatch.setattr(golden, "scripts", frame.scripts)
    assert row.text == before
