"""A Python program in a process of its own, which finds the package where the tests do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests import ROOT


def environment(**changes: str) -> dict[str, str]:
    """The variables of this process, with these changes."""
    return {**os.environ, "PYTHONPATH": str(ROOT), **changes}


def python(
    *words: str, cwd: Path = ROOT, check: bool = False, seconds: float = 120, **changes: str
) -> subprocess.CompletedProcess[str]:
    """``python words…`` to its end, with these changes of the environment.

    Where it is to `check`, it raises `subprocess.CalledProcessError` for any status but 0.
    """
    return subprocess.run(
        [sys.executable, *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=check,
        cwd=cwd,
        timeout=seconds,
        env=environment(**changes),
    )
