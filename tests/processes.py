"""Python in a process of its own, which finds the package here; what a process has started."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
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


def started_by(process: int, program: str = "") -> list[int]:
    """The processes that one has started, directly or not, and that have not ended; Linux only.

    Those alone in whose command `program` stands.
    """
    found: list[int] = []
    with suppress(OSError):
        for thread in Path(f"/proc/{process}/task").glob("*/children"):
            for child in map(int, thread.read_text("ascii").split()):
                found += [child, *started_by(child)]
    return [child for child in found if not ended(child) and program in _command(child)]


def ended(process: int) -> bool:
    """Whether a process has ended, even if nobody has asked yet how."""
    try:
        state = Path(f"/proc/{process}/stat").read_text("ascii").rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state == "Z"


def _command(process: int) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().decode("utf-8", "replace")
    except OSError:
        return ""
