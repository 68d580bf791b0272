"""Linear equations in rational numbers, by FLINT."""

from __future__ import annotations

from collections.abc import Sequence

import flint

from symattn.arithmetic.base import Ground


def solution(
    table: Sequence[Sequence[Ground]], wanted: Sequence[Ground], free: Sequence[Ground]
) -> list[Ground] | None:
    """A solution of linear equations in rational numbers; None where there is none.

    What is not determined is as `free` has it.
    """
    count = len(free)
    cells = [x for line, right in zip(table, wanted, strict=True) for x in (*line, right)]
    rows, rank = flint.fmpq_mat(len(table), count + 1, cells).rref()
    pivots = [next(k for k in range(count + 1) if rows[row, k] != 0) for row in range(rank)]
    if count in pivots:
        return None
    out = list(free)
    open_ = [k for k in range(count) if k not in {*pivots} and free[k] != 0]
    for row, column in enumerate(pivots):
        out[column] = rows[row, count] - sum(rows[row, k] * free[k] for k in open_)
    return out
