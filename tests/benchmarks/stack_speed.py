"""How long a class takes, and how much memory: rows a second, by processes or by Dask.

A third of the rows are wrong, no two of these alike; the others are right.
``python -m tests.benchmarks.stack_speed [--rows 20000] [-- words of mark]`` marks them into a new
folder and prints what it took: the seconds, those of processors (all processes of the command
together), the most memory of the marker at each tenth of the time, and what the slowest of some
wrong rows takes of a processor to be judged by itself. Linux only.
"""

from __future__ import annotations

import argparse
import gc
import os
import resource
import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

from symattn.classroom.answered import Answers
from symattn.classroom.exercise import Exercise
from symattn.classroom.judge import Judge
from tests.classroom.tasks import generator
from tests.fuzz.stacks import written, wrong_ones

#: How many wrong rows are judged by themselves, and seconds between two looks at the memory.
_ALONE, _EVERY = 300, 0.5


def memory_of(process: int) -> int:
    """The MB that a process holds."""
    pages = Path(f"/proc/{process}/statm").read_text("ascii").split()[1]
    return int(pages) * 4096 // 10**6


def spent() -> float:
    """The processors' seconds of this process's children that have ended, and of theirs."""
    of = resource.getrusage(resource.RUSAGE_CHILDREN)
    return of.ru_utime + of.ru_stime


def marked(folder: Path, words: list[str]) -> tuple[float, float, list[int]]:
    """The seconds that the command takes, those of processors, and the memory that it held.

    More seconds of processors than there are cannot be, and would be a fault of this measurement.
    """
    start, before, held = time.monotonic(), spent(), list[int]()
    command = ["mark", "exercise.toml", "answers.csv", "-o", "marks", *words]
    with subprocess.Popen([sys.executable, "-m", "symattn", *command], cwd=folder) as running:
        while running.poll() is None:
            held.append(memory_of(running.pid))
            time.sleep(_EVERY)
    assert running.returncode == 0
    took, busy = time.monotonic() - start, spent() - before
    assert busy <= took * len(os.sched_getaffinity(0)), f"{busy:.0f} s of processors"
    return took, busy, held


def alone(exercise: Exercise, explain: bool) -> list[float]:
    """The milliseconds that wrong rows take by themselves, the longest last."""
    judge, found = Judge(exercise, explain=explain), list[float]()
    gc.freeze()  # as workers do
    for texts in islice(wrong_ones(exercise, 2), _ALONE):
        start = time.process_time()
        judge.judge(Answers(tuple(texts)))
        found.append(1000 * (time.process_time() - start))
    return sorted(found[1:])  # the first prepares the judge


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("words", nargs="*")
    asked = parser.parse_args()
    exercise = generator("causal", blank=("scores", "weights", "output")).exercise(7)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "exercise.toml").write_text(exercise.text)
        written(exercise, folder / "answers.csv", 1, asked.rows)
        took, busy, held = marked(folder, asked.words)
    tenths = [max(held[: len(held) * k // 10 + 1]) for k in range(1, 11)]
    print(f"{asked.rows:,} rows in {took:.0f} s, {asked.rows / took:,.0f} a second")
    print(f"{busy:.0f} s of processors, {asked.rows / busy:,.0f} rows in each of them")
    print(f"MB of the marker by tenths of the time: {', '.join(map(str, tenths))}")
    each = alone(exercise, "--no-explain" not in asked.words)
    middle = each[len(each) // 2]
    print(f"a wrong row by itself: {middle:.0f} ms, at most {each[-1]:.0f} ms")


if __name__ == "__main__":
    main()
