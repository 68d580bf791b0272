"""Tables of the tests with a row for everything of a kind.

A test over such a table takes its rows for parameters, so that what has none fails once, here, with
a sentence that says what to add.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def every_one_has_a_row(things: Iterable[Any], rows: Iterable[Any], home: str, row: str) -> None:
    """Fail with a sentence for things without a row, or rows of nothing.

    `home` is the table and its file, `row` says what a row is.
    """
    known, listed = {*map(_name, things)}, {*map(_name, rows)}
    if lacking := ", ".join(sorted(known - listed)):
        pytest.fail(f"{lacking}: not in {home} yet; add there {row}", pytrace=False)
    if left := ", ".join(sorted(listed - known)):
        pytest.fail(f"{left}: in {home}, but nowhere in the package; remove it", pytrace=False)


def _name(thing: Any) -> str:
    return str(getattr(thing, "__name__", thing))
