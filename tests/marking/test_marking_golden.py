"""A sheet with mistakes, and what follows from them, is marked as it was; `tests/golden`."""

from __future__ import annotations

import pytest

from tests.golden import assert_kept, groups

SHEET = "examples/checked_hand_calculation.toml"


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_sheet_is_marked_as_it_was(form: str) -> None:
    assert_kept(row for row in groups()[SHEET]() if row.key == f"{SHEET} check {form} all")
