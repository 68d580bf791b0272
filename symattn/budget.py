"""How much work one calculation may take: a meter that runs while the work is done.

Two things are metered. *Steps* are counted where they are taken (`spend`): they are the same on
every machine, so that what is proven does not depend on it. *Time* is for all the rest: at a door,
a file, a page or a statement gets some seconds of processor time (`limited`), or as many on the
clock as somebody asks for. Python has no limit but the steps of a proof.
"""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from typing import Any

from symattn.errors import Undecided

#: How many steps one way of deciding may take at effort 1: a few seconds at most. The hardest of
#: the catalogue's proofs takes a twentieth of it.
STEPS = 600_000

#: Seconds of processor time that a calculation may take at a door.
SECONDS = 12.0

#: Seconds between two looks at a clock, at least and at most.
_TICK, _AGAIN = 0.1, 1.0

#: How many operations a library does in a second, at least.
_SPEED = 100_000_000


class Spent(Undecided):
    """The budget of work is spent, and the work is not finished."""


# ---- steps -----------------------------------------------------------------------------------


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
    """Count some steps: products of two terms, comparisons of two numbers, or the like.

    Raises `Spent` once there are more than the budget allows.
    """
    budget = _BUDGET.get()
    if budget is None:
        return
    budget.left -= steps
    if budget.left < 0:
        raise Spent(f"within {budget.steps:,} steps")


# ---- time ------------------------------------------------------------------------------------


class Stopped(BaseException):
    """Ends a calculation wherever it is; no `Exception`, so that nothing there goes on after it.

    `limited` makes `Spent` of it, unless it came between two of its own instructions.
    """


class _Meter:
    """Looks at a clock from a thread of its own, and stops the thread that made it in time."""

    def __init__(self, seconds: float, clock: Callable[[], float]) -> None:
        self._clock, self._end = clock, clock() + seconds
        self._lock, self._ended, self._meant = threading.Lock(), False, threading.get_ident()
        self._over, self._sent = threading.Event(), threading.Event()

    @property
    def left(self) -> float:
        """The seconds that are left."""
        return self._end - self._clock()

    def empty(self) -> None:
        """Let nothing be left."""
        self._end = self._clock()

    def stop(self) -> None:
        """Stop nothing any more.

        A `Stopped` that may be on its way is waited for: were it taken back, CPython 3.11 would go
        on looking for it, and hang as soon as a debugger follows its lines.
        """
        while not self._over.is_set():
            with suppress(Stopped):  # which may come at this moment
                with self._lock:
                    self._ended = True
                if self._sent.is_set():
                    self._sent.clear()
                    while threading.get_ident() == self._meant:
                        self._send(ctypes.py_object(Stopped))  # in the place of one on its way
                    self._send(None)
                self._over.set()

    def start(self) -> None:
        """Begin to look."""
        told = sys.unraisablehook  # which others may have replaced since the last meter
        if getattr(told, "func", None) is not _told_but_stopped:
            sys.unraisablehook = partial(_told_but_stopped, told)
        threading.Thread(target=self._watch, daemon=True, name="symattn's meter").start()

    def _watch(self) -> None:
        """Stop the calculation when time is up, and again where it went on all the same."""
        pause = _TICK
        while not self._over.wait(pause):
            with self._lock:
                if not self._ended and self.left <= 0:
                    self._sent.set()
                    self._send(ctypes.py_object(Stopped))
            pause = _AGAIN if self.left <= 0 else max(_TICK, min(self.left, _AGAIN))

    def _send(self, what: object) -> None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._meant), what)


def _told_but_stopped(told: Callable[[Any], object], dropped: sys.UnraisableHookArgs) -> None:
    """Tell what Python drops in a finalizer, but for a `Stopped`: the meter sends another one."""
    if dropped.exc_type is not Stopped:
        told(dropped)


_METERS: ContextVar[tuple[_Meter, ...]] = ContextVar("meters", default=())


@contextmanager
def limited(
    more: str,
    seconds: float | None = SECONDS,
    clock: Callable[[], float] = time.process_time,
) -> Iterator[None]:
    """Stops what is calculated inside after so many seconds; None for no limit.

    They are those of the processor, or of another `clock`; `more` is how to allow more, at this
    door. Raises `Spent`.
    """
    if seconds is None:
        yield
        return
    meter = _Meter(seconds, clock)
    token = _METERS.set((*_METERS.get(), meter))
    try:
        meter.start()
        yield
    except Stopped:
        meter.stop()
        if meter.left > 0:  # another one's
            raise
        of = " of processor time" if clock is time.process_time else ""
        raise Spent(
            f"not finished in {seconds:g} s{of}; leave something out, or allow more with {more}"
        ) from None
    finally:
        meter.stop()
        _METERS.reset(token)


def budgeted(more: str, allow_large: bool = False, times: int = 1) -> AbstractContextManager[None]:
    """So many times the usual time; no limit where a large calculation is allowed.

    `more` is how to allow more, as in `limited`.
    """
    return limited(more, None if allow_large else times * SECONDS)


def foresee(operations: int) -> None:
    """Stop before a library is to do in one call, which nothing interrupts, what takes too long."""
    for meter in _METERS.get():
        if operations / _SPEED > meter.left:
            meter.empty()
            raise Stopped
