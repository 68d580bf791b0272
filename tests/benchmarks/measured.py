"""What the page of benchmarks shows: proven digits beside floats and SymPy, and where people wait.

Run with ``python -m tests.benchmarks.measured``; it writes ``docs/explanation/benchmarks.json``, of
which the site makes its table and plot. It measures; it does not judge.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from datetime import UTC, datetime

import numpy as np
import sympy

from symattn import Attention
from tests import ROOT
from tests.benchmarks.waits import ratios, waits

WIDTH, SEEDS = 8, 5
SIZES = (2, 4, 8, 16, 32, 64)
#: Exact values of SymPy are asked for up to this size: they take seconds there.
MOST_EXACT = 8
FILE = ROOT / "docs/explanation/benchmarks.json"


def seconds(work: Callable[[], object], times: int = 1) -> float:
    """Seconds of the processor for one call."""
    start = time.process_time()
    for _ in range(times):
        work()
    return (time.process_time() - start) / times


def measured(size: int) -> dict[str, float | None]:
    """Medians over matrices of whole numbers, `size` × 8."""
    taken: dict[str, list[float]] = {"numpy": [], "proven": [], "exact": []}
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        given = [rng.integers(-9, 10, (size, WIDTH)) for _ in range(3)]
        taken["numpy"].append(seconds(lambda given=given: floats(*given), 200))  # type: ignore[misc]
        taken["proven"].append(seconds(lambda given=given: proven(*given)))  # type: ignore[misc]
        if size <= MOST_EXACT:
            taken["exact"].append(seconds(lambda given=given: exact(*given)))  # type: ignore[misc]
    return {name: statistics.median(times) if times else None for name, times in taken.items()}


def floats(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Attention in float64."""
    scores = q @ k.T / np.sqrt(WIDTH)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True) @ v)


def proven(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> None:
    """Every step with four decimals, each proven."""
    values = Attention().derivation().evaluate(Q=q.tolist(), K=k.tolist(), V=v.tolist())
    for step in values.steps:
        values[step.name].decimals(4)


def exact(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> sympy.Matrix:
    """SymPy's exact output, and four significant digits of it."""
    scores = sympy.Matrix(q.tolist()) * sympy.Matrix(k.tolist()).T / sympy.sqrt(WIDTH)
    exps = scores.applyfunc(sympy.exp)
    weights = sympy.Matrix(*exps.shape, lambda i, j: exps[i, j] / sum(exps[i, :]))
    return (weights * sympy.Matrix(v.tolist())).evalf(4)


def main() -> None:
    """Measure, and write the file."""
    measured(2)  # what is loaded and made once
    rows = [{"size": size, **measured(size)} for size in SIZES]
    machine = {"cores": os.cpu_count(), "python": platform.python_version()}
    load = os.getloadavg()[0]
    waited = [wait._asdict() for wait in waits()]
    versions = {"numpy": np.__version__, "sympy": sympy.__version__}
    made = {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        **machine,
        "versions": versions,
        "rows": rows,
        "load": round(load, 1),
        "waits": waited,
        "ratios": ratios(),
    }
    FILE.write_text(json.dumps(made, indent=1) + "\n", "utf-8")
    print(FILE.read_text("utf-8"))


if __name__ == "__main__":
    main()
