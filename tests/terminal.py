"""A Python program at a terminal: what is sent there, as a person's terminal would get it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from tests import ROOT
from tests.processes import environment

_SECONDS = 60


def shown_at_a_terminal(*words: str, **changes: str) -> str:
    """What ``python words…`` sends to its terminal.

    The program starts by `subprocess`, not by a fork, which JAX warns of once it is loaded.
    """
    ours, its = os.openpty()
    known = environment(**{"TERM": "xterm", "COLUMNS": "80", **changes})
    if "NO_COLOR" not in changes:
        known.pop("NO_COLOR", None)
    program = subprocess.Popen(
        [sys.executable, *words],
        stdin=its,
        stdout=its,
        stderr=its,
        cwd=ROOT,
        start_new_session=True,
        env=known,
    )
    os.close(its)
    shown = bytearray()
    try:
        while part := os.read(ours, 65_536):
            shown += part
    except OSError:  # Linux: nobody holds the other end any more
        pass
    finally:
        os.close(ours)
        program.wait(_SECONDS)
    return shown.decode()


@contextmanager
def terminal_here(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], str]]:
    """Lets standard output and error of this process be a terminal; gives what it has been sent."""
    import tty  # of POSIX

    ours, its = os.openpty()
    tty.setraw(its)
    shown = bytearray()

    def listen() -> None:
        try:
            while part := os.read(ours, 65_536):
                shown.extend(part)
        except OSError:  # Linux: nobody holds the other end any more
            pass

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    for name, value in {"TERM": "xterm", "COLUMNS": "80"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("NO_COLOR", raising=False)
    try:
        with (
            os.fdopen(its, "w", 1, "utf-8") as stream,
            monkeypatch.context() as patch,
        ):
            patch.setattr(sys, "stdout", stream)
            patch.setattr(sys, "stderr", stream)
            yield shown.decode
        listener.join(_SECONDS)
    finally:
        os.close(ours)
