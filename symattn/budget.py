"""How much work one calculation may be: a limit that the doors set and Python does not.

The unit is an operation, about what takes a microsecond in an interpreter: a product of two proven
numbers, a character or two that is spelled. It is counted from shapes before anything is computed,
so that the same input is refused on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from symattn.errors import SymattnError

#: Operations that one calculation may take: some 20 seconds, and up to five times as long where
#: exact numbers have little in common.
MOST = 20_000_000

#: How many times as much all calculations of one file, or one page, may take together.
TOGETHER = 3


@dataclass
class Limit:
    """How many operations a calculation may take, and what allows more: ``--allow-large``.

    `admitted` are the operations of all that was let through since the limit was set.
    """

    most: int
    instead: str
    admitted: int = 0


class TooLarge(SymattnError):
    """More work than the limit in force allows."""


_LIMIT: ContextVar[Limit | None] = ContextVar("limit", default=None)


@contextmanager
def limited(instead: str, allow_large: bool = False) -> Iterator[None]:
    """Whatever is derived inside is refused if it would be too much work, unless that is allowed.

    `instead` says how to allow it, at this door.
    """
    token = _LIMIT.set(None if allow_large else Limit(MOST, instead))
    try:
        yield
    finally:
        _LIMIT.reset(token)


def is_limited() -> bool:
    """Whether there is a limit at all: without one nothing has to be estimated."""
    return _LIMIT.get() is not None


def is_admitted(operations: int) -> bool:
    """Whether a calculation of so many operations is within the limit in force."""
    limit = _LIMIT.get()
    return limit is None or operations <= limit.most


def admit(operations: int, most_of_it: str, leave_out: Callable[[], str]) -> None:
    """Let through what is within the limit in force.

    `most_of_it` names what would be too much, `leave_out` what to do without, which is asked for
    only then. Raises `TooLarge`.
    """
    limit = _LIMIT.get()
    if limit is None:
        return
    if operations > limit.most:
        raise TooLarge(
            f"{most_of_it}: too much work: about {_about(operations)} operations "
            f"({_as_time(operations)}), {_about(limit.most)} at most; {leave_out()}, or allow it "
            f"with {limit.instead}"
        )
    limit.admitted += operations
    if limit.admitted > TOGETHER * limit.most:
        raise TooLarge(
            f"{most_of_it}: too much work together with what stands before it: about "
            f"{_about(limit.admitted)} operations, {_about(TOGETHER * limit.most)} at most; "
            f"divide the file, or allow it with {limit.instead}"
        )


def _about(operations: int) -> str:
    """So many in two figures: 41 million."""
    for unit, word in ((10**12, " trillion"), (10**9, " billion"), (10**6, " million")):
        if operations >= unit:
            count = operations / unit
            return f"{count:.1f}{word}" if count < 9.95 else f"{count:,.0f}{word}"
    return f"{operations:,}"


def _as_time(operations: int) -> str:
    """About how long that takes."""
    seconds = operations / 1e6
    if seconds < 100:
        return f"some {max(seconds, 1):.0f} seconds"
    for size, word in ((60, "minutes"), (3600, "hours"), (86_400, "days")):
        if seconds < 100 * size or word == "days":
            return f"some {seconds / size:,.0f} {word}"
    raise AssertionError
