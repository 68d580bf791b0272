"""Tests, in the rooms of the source that they test; at the top those of the doors and the house."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

#: The folder of the project.
ROOT = Path(__file__).parent.parent

#: Seconds of processor time of a loop of a million steps, where nothing is slow.
_USUAL = 0.08


def slower() -> float:
    """How many times as long anything takes: on this machine, now, with its lines traced or not."""
    started = time.process_time()
    for _ in range(200_000):
        pass
    taken = 5 * (time.process_time() - started)
    return max(1.0, taken / _USUAL) * (1 if sys.gettrace() is None else 4)


@contextmanager
def within_seconds(seconds: float) -> Iterator[None]:
    """What is done here may take so much processor time; more where all is slower."""
    started = time.process_time()
    yield
    taken = time.process_time() - started
    assert taken < seconds * slower(), f"{taken:.1f} s, and {seconds} are allowed"
