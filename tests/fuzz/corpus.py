"""``python -m tests.fuzz.corpus``: every statement of `tests.statements`, asked; one table.

``--match`` keeps the statements that contain a text.
"""

from __future__ import annotations

from tests.fuzz import asking
from tests.fuzz.asking import Question
from tests.oracle import Statement, judge
from tests.statements import STATEMENTS


def question(row: Statement) -> Question:
    """A statement and its truth; sizes that are given may be why it holds."""
    everywhere = row.holds and (not row.options.get("sizes") or judge(row, free=True))
    return Question(row.text, row.options, row.holds, everywhere)


def main() -> int:
    """Print the table; 1 if something false was said."""
    told = asking.options(__doc__, match="", every=1, verbose=False)
    rows = [row for row in STATEMENTS if told.match in row.text][:: told.every]
    return asking.hold(map(question, rows), told)


if __name__ == "__main__":
    raise SystemExit(main())
