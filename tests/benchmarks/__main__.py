"""How fast the arrays, balls, documents and commands are, each beside what a reader would write.

``python -m tests.benchmarks [--runs 15] [-o FILE.json] [--plot FILE.svg] [PATTERN…]`` prints one
table, and draws it where Matplotlib is installed. Every figure is a ratio of two things that are
run in turn in one process (or as two processes), so that a noisy machine disturbs both alike: the
median over the runs. Peak memory is tracemalloc's, in a run of its own. `reach` is what is aimed
at; nothing is judged here.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks import documents, evaluating, processes
from tests.benchmarks.pair import Pair

ROOT = Path(__file__).parent.parent.parent


@dataclass(frozen=True)
class Figure:
    """The medians of a pair: seconds, their ratio, and the ratio of peak memory."""

    name: str
    seconds: float
    beside: float
    ratio: float
    memory: float | None
    reach: float | None
    reach_memory: float | None

    def __str__(self) -> str:
        times = f"{self.seconds * 1e3:10.2f} ms {self.beside * 1e3:10.2f} ms {self.ratio:8.2f}"
        reach = "" if self.reach is None else f"≤ {self.reach:g}"
        memory = "" if self.memory is None else f"{self.memory:6.2f}"
        most = "" if self.reach_memory is None else f"≤ {self.reach_memory:g}"
        return f"{self.name:<58} {times} {reach:>7} {memory:>8} {most:>6}"


def timed(work: Callable[[], object]) -> float:
    """Seconds that some work takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def peak(work: Callable[[], object]) -> int:
    """Bytes that some work holds at most."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def measured(pair: Pair, runs: int) -> Figure:
    """The medians over so many runs in turn, after one that does not count."""
    pair.ours(), pair.theirs()
    times = [(timed(pair.ours), timed(pair.theirs)) for _ in range(runs)]
    mine, other = (statistics.median(side) for side in zip(*times, strict=True))
    ratio = statistics.median(a / b for a, b in times)
    memory = peak(pair.ours) / peak(pair.theirs) if pair.with_memory else None
    return Figure(pair.name, mine, other, ratio, memory, pair.reach, pair.reach_memory)


def pairs() -> Iterator[Pair]:
    """All that is measured."""
    yield from evaluating.pairs()
    yield from processes.pairs()
    yield from documents.pairs()


def plot(figures: Sequence[Figure], path: Path) -> None:
    """The ratios as bars on a logarithmic axis, with a mark where each is to be at most."""
    from matplotlib.figure import Figure as Picture

    shown = figures[::-1]
    picture = Picture(figsize=(9, 0.3 * len(shown) + 1), layout="constrained")
    axes = picture.subplots()
    colours = ["#4878a8" if f.reach is None or f.ratio <= f.reach else "#c0504d" for f in shown]
    axes.barh([f.name for f in shown], [f.ratio for f in shown], color=colours, height=0.6)
    marks = [(f.reach, place) for place, f in enumerate(shown) if f.reach is not None]
    axes.plot(*zip(*marks, strict=True), "k|", markersize=12, label="aimed at")
    axes.axvline(1, color="black", linewidth=0.5)
    axes.set_xscale("log")
    axes.set_xlabel("time, as a multiple of what it is held against")
    axes.legend(loc="lower right")
    picture.savefig(path, metadata={"Date": None})


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    ).stdout.strip()
    return {"python": platform.python_version(), "cores": os.cpu_count(), "commit": commit}


def main() -> None:
    """Measure what the patterns name, print it, and write it as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("patterns", nargs="*")
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("-o", type=Path)
    parser.add_argument("--plot", type=Path)
    told = parser.parse_args()
    found: list[Figure] = []
    head = f"{'ours':>13} {'beside':>13} {'ratio':>8} {'reach':>7} {'memory':>8}"
    print(f"{'what, beside what':<58} {head}")
    for pair in pairs():
        if told.patterns and not any(pattern in pair.name for pattern in told.patterns):
            continue
        figure = measured(pair, min(told.runs, pair.most_runs))
        print(figure, flush=True)
        found.append(figure)
    if told.o:
        text = json.dumps({"machine": machine(), "figures": [*map(asdict, found)]}, indent=1)
        told.o.write_text(text + "\n", encoding="utf-8")
    if told.plot:
        plot(found, told.plot)


if __name__ == "__main__":
    main()
