"""`Status`: how a command ends, as the number that the shell is given.

This table is the only place where a number stands for an outcome; the help of the commands is
written from it, and the table in ``docs/commands.md`` is held against it.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum


class Status(IntEnum):
    """What became of a file, a statement, or all that a command was given."""

    AGREES = 0
    WRONG = 1
    UNUSABLE = 2
    INTERNAL = 3
    UNSETTLED = 4

    @property
    def meaning(self) -> str:
        """What it says, in a line."""
        return _MEANINGS[self]


def worst(statuses: Iterable[Status]) -> Status:
    """The status of several together: the first of `PRECEDENCE` that occurs; none agree.

    >>> worst([Status.AGREES, Status.UNSETTLED, Status.WRONG]).name
    'WRONG'
    """
    return min(statuses, key=PRECEDENCE.index, default=Status.AGREES)


def exit_statuses() -> str:
    """The table, as lines for a terminal."""
    rows = (f"  {status.value}  {status.meaning}" for status in Status)
    return "\n".join(["Exit status:", *rows])


#: Of several files or statements, the first that occurs is the status of all.
PRECEDENCE: tuple[Status, ...] = (
    Status.INTERNAL,
    Status.UNUSABLE,
    Status.WRONG,
    Status.UNSETTLED,
    Status.AGREES,
)

_MEANINGS: dict[Status, str] = {
    Status.AGREES: "agrees: every number is accepted, or the statement is proven",
    Status.WRONG: "a number is not accepted, the statement is refuted, a certificate is refused, "
    "or "
    "a "
    "page would change",
    Status.UNUSABLE: "the input cannot be used; one line says where, and how to correct it",
    Status.INTERNAL: "an internal error; please report it",
    Status.UNSETTLED: "not settled: undecided, holds at the sizes tried, or not finished",
}
