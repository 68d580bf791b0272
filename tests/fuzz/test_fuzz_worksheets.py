"""A small share of `tests.fuzz.worksheets`, and that it would see a wrong marker."""

from __future__ import annotations

import pytest

from tests.fuzz import worksheets


@pytest.mark.parametrize("seed", [11])
def test_claims_on_equations_are_marked_rightly(seed: int) -> None:
    table, false = worksheets.rates(25, seed)
    assert false == []
    assert {kind for _, kind, _ in table} == {"honest", "a digit", "misconception"}
    assert len({attention for attention, _, _ in table}) >= 6


@pytest.mark.parametrize("answer", [True, False])
def test_a_marker_that_says_one_thing_is_seen(
    answer: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worksheets, "accepted", lambda text: answer)
    _, false = worksheets.rates(10, 0)
    assert {tried.honest for tried in false} == {not answer}
