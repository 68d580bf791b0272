"""A budget of work, counted in steps that are the same on every machine.

A step is one product of two terms, one comparison of two numbers, or the like. What takes more
than the budget is undecided; `equal(…, effort=10)` and ``--effort 10`` allow ten times as much.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from symattn.errors import SymattnError

#: How many steps one way of deciding may take at effort 1: a few seconds at most. The hardest of
#: the catalogue's proofs takes a tenth of it.
STEPS = 100_000


class Spent(SymattnError):
    """The budget of work is spent."""


class Budget:
    """What is left of a number of steps."""

    def __init__(self, steps: int) -> None:
        self.steps, self.left = steps, steps


_BUDGET: ContextVar[Budget | None] = ContextVar("budget", default=None)


@contextmanager
def within(steps: int) -> Iterator[Budget]:
    """Inside the block at most so many steps are counted; then `spend` raises `Spent`."""
    budget = Budget(steps)
    token = _BUDGET.set(budget)
    try:
        yield budget
    finally:
        _BUDGET.reset(token)


def spend(steps: int = 1) -> None:
    """Count some steps. Raises `Spent` once there are more than the budget allows."""
    budget = _BUDGET.get()
    if budget is None:
        return
    budget.left -= steps
    if budget.left < 0:
        raise Spent(f"within {budget.steps:,} steps")
