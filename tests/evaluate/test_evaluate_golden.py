"""Numbers are printed as they were: in decimals, exactly, in Falk's scheme; `tests/golden`."""

from __future__ import annotations

import pytest

from tests.golden import assert_kept, groups

#: Shared heads, keys from before, a matrix of positions for every pair.
VARIANTS = ("grouped-query", "cached", "shaw")


@pytest.mark.parametrize("view", ["all", "exact", "falk"])
@pytest.mark.parametrize("name", VARIANTS)
def test_what_is_printed_of_numbers_is_what_was_printed(name: str, view: str) -> None:
    assert_kept(row for row in groups()[name]() if row.key == f"{name} values text {view}")
