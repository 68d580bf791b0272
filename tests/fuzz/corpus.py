"""``python -m tests.fuzz.corpus``: every statement of `tests.statements`, asked; one table.

``--seconds`` is the wall limit of each, ``--match`` keeps the statements that contain a text.
"""

from __future__ import annotations

import argparse
import time

from tests.fuzz.asking import Question, Worker, asked, table
from tests.oracle import Statement, judge
from tests.statements import STATEMENTS


def question(row: Statement) -> Question:
    """A statement and its truth; sizes that are given may be why it holds."""
    everywhere = row.holds and (not row.options.get("sizes") or judge(row, free=True))
    return Question(row.text, row.options, row.holds, everywhere)


def main() -> int:
    """Print the table; 1 if something false was said."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--match", default="")
    parser.add_argument("--every", type=int, default=1, help="only every so manieth")
    parser.add_argument("--verbose", action="store_true", help="print each answer")
    told = parser.parse_args()
    rows = [row for row in STATEMENTS if told.match in row.text][:: told.every]
    start, worker, judged = time.perf_counter(), Worker(told.seconds), []
    for one in asked(map(question, rows), worker):
        judged.append(one)
        if told.verbose:
            print(f"{one.holds!s:5} {one.outcome.kind:16} {one}", flush=True)
    worker.close()
    print(f"{len(rows)} statements in {time.perf_counter() - start:.0f} s")
    print(table(judged, slowest=10))
    return int(any(one.falsely_equal or one.falsely_different for one in judged))


if __name__ == "__main__":
    raise SystemExit(main())
