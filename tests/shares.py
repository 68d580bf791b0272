"""Which rows of a long table belong to the usual run; ``pytest -m nightly`` takes the others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def share(rows: Iterable[Any], of: int, turn: int = 0) -> list[Any]:
    """All rows as parameters, of which every `of`-th is tested in the usual run, from `turn` on."""
    found = []
    for number, row in enumerate(rows):
        marks = [] if number % of == turn else [pytest.mark.nightly]
        if hasattr(row, "marks"):  # a parameter already
            found.append(pytest.param(*row.values, id=row.id, marks=[*row.marks, *marks]))
        else:
            found.append(pytest.param(*(row if isinstance(row, tuple) else (row,)), marks=marks))
    return found
