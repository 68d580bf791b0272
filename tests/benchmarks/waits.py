"""Where people wait: processor time of whole commands, beside what they could not do without.

``python -m tests.benchmarks.waits`` prints the table, with the load of the machine. It measures; it
does not judge. Each command runs in a process of its own, and the best of a few runs counts.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import NamedTuple

_PAGE = "--format html -o page.html"
#: Commands by what is waited for, and how often each is run.
COMMANDS = {
    "derivation of three tokens": ("derive causal --size tokens=3,d_k=2", 5),
    "the same as a page": (f"derive causal --size tokens=3,d_k=2 {_PAGE}", 5),
    "page of 64 tokens, 4 heads": (f"derive multi-head --size tokens=64,heads=4 {_PAGE}", 2),
    "page of Llama, 16 tokens": (f"derive llama --size tokens=16 {_PAGE}", 2),
    "page of Llama, 64 tokens": (f"derive llama --size tokens=64 {_PAGE}", 1),
    "backward pass, grouped queries, d_k = 64, LaTeX": (
        "derive grouped-query --gradient all --size d_k=64 --format latex -o page.tex",
        2,
    ),
    "all identities proven": ("prove --all", 1),
}
_IMPORTS = "import sympy, numpy"


class Wait(NamedTuple):
    """What was waited for, its seconds of processor time, and these beside those of imports."""

    what: str
    seconds: float
    ratio: float


def seconds(arguments: Sequence[str]) -> float:
    """Seconds of the processor that a run of Python takes, its children included."""
    with tempfile.TemporaryDirectory() as folder:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *arguments], cwd=folder, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def waits() -> list[Wait]:
    """What each command takes."""
    found = []
    for what, (words, times) in COMMANDS.items():
        pairs = [
            (seconds(["-m", "symattn", *words.split()]), seconds(["-c", _IMPORTS]))
            for _ in range(times)
        ]
        taken, imports = (min(column) for column in zip(*pairs, strict=True))
        found.append(Wait(what, taken, taken / imports))
    return found


def main() -> None:
    """Measure, and print the table."""
    print(f"load of {os.cpu_count()} processors: {os.getloadavg()[0]:.1f}")
    print(f"{'':50} seconds  beside the imports")
    for wait in waits():
        print(f"{wait.what:50} {wait.seconds:7.2f} {wait.ratio:8.2f}", flush=True)


if __name__ == "__main__":
    main()
