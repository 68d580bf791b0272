"""A Python program at a terminal: what is sent there, as a person's terminal would get it."""

from __future__ import annotations

import os
import subprocess
import sys

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
