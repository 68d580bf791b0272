"""Where people wait: processor time of whole commands, and ratios of what stands behind them.

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

from tests import ROOT

_PAGE = "--format html -o page.html --timeout 120"
#: Commands by what is waited for, and how often each is run.
COMMANDS = {
    "derive, three tokens": ("derive causal --size tokens=3,d_k=2", 5),
    "derive, three tokens, as a page": (f"derive causal --size tokens=3,d_k=2 {_PAGE}", 5),
    "page of four heads, 64 tokens": (f"derive multi-head --size tokens=64,heads=4 {_PAGE}", 2),
    "page of Llama's attention, 16 tokens": (f"derive llama --size tokens=16 {_PAGE}", 2),
    "page of Llama's attention, 64 tokens": (f"derive llama --size tokens=64 {_PAGE}", 1),
    "backward pass of grouped queries, d_k = 64, LaTeX": (
        "derive grouped-query --gradient all --size d_k=64 --format latex -o page.tex",
        2,
    ),
    "prove --all": ("prove --all", 1),
}
_IMPORTS = "import sympy, numpy"

#: Programs that print how many times as long one thing takes as another.
RATIOS = {
    "check() beside its balls, 64 × 64": """
from time import process_time as now
import numpy as np
from symattn import Attention
draw = np.random.default_rng(0)
given = {x: draw.integers(-9, 10, (64, 64)).tolist() for x in "QKV"}
def best(work):
    times = []
    for _ in range(9):
        values = Attention().derivation().evaluate(**given)
        start = now()
        work(values)
        times.append(now() - start)
    return min(times)
print(best(lambda v: v.check()) / best(lambda v: [v.balls(x.letter, 96) for x in v.steps]))
""",
    "output of 12 heads of 1024 × 64 beside textbook NumPy, at first": """
from time import perf_counter as now
import numpy as np
from symattn.language.spec import Equations
draw = np.random.default_rng(0)
q, k, v = (draw.normal(size=(12, 1024, 64)) for _ in range(3))
def textbook():
    out = np.empty_like(q)
    for h in range(12):
        s = q[h] @ k[h].T / 8
        e = np.exp(s - s.max(axis=1, keepdims=True))
        out[h] = e / e.sum(axis=1, keepdims=True) @ v[h]
equations = "S[h] = Q[h] K[h]^T / sqrt(d_k); A[h] = softmax(S[h]); O[h] = A[h] V[h]"
values = Equations(f"n_h = 12; {equations}").derivation().evaluate(Q=q, K=k, V=v)
start = now()
values.array("O")
ours = now() - start
start = now()
textbook()
print(ours / (now() - start))
""",
}


class Wait(NamedTuple):
    """What was waited for, its seconds of processor time, and these beside those of imports."""

    what: str
    seconds: float
    ratio: float


def printed(arguments: Sequence[str]) -> tuple[float, str]:
    """Seconds of the processor that a run of Python takes, children included, and its output."""
    with tempfile.TemporaryDirectory() as folder:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        found = subprocess.run(
            [sys.executable, *arguments],
            cwd=folder,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, found.stdout


def waits() -> list[Wait]:
    """What each command takes."""
    found = []
    for what, (words, times) in COMMANDS.items():
        taken = min(printed(["-m", "symattn", *words.split()])[0] for _ in range(times))
        imports = min(printed(["-c", _IMPORTS])[0] for _ in range(times + 2))
        found.append(Wait(what, taken, taken / imports))
    return found


def ratios() -> dict[str, float]:
    """What each of the programs prints."""
    return {what: float(printed(["-c", program])[1]) for what, program in RATIOS.items()}


def main() -> None:
    """Measure, and print both tables."""
    print(f"load of {os.cpu_count()} processors: {os.getloadavg()[0]:.1f}")
    print(f"{'':62} seconds  beside the imports")
    for wait in waits():
        print(f"{wait.what:62} {wait.seconds:7.2f} {wait.ratio:8.2f}")
    for what, ratio in ratios().items():
        print(f"{what:62} {'':7} {ratio:8.2f}")


if __name__ == "__main__":
    main()
