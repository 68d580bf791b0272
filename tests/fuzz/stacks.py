"""Kill whatever marks a stack, at any moment, and mark again: nothing is lost or counted twice.

``python -m tests.fuzz.stacks [--count 20] [--seed 1]``: each round kills the marker, one of its
processes, a scheduler of Dask or one of its workers, or cuts the journal, marks again to the end,
and compares the gradebook with that of a run that nobody disturbed, byte for byte. The exit status
is 1 where one differs. Linux only.
"""

from __future__ import annotations

import argparse
import csv
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random

from symattn.classroom.exercise import Exercise
from symattn.classroom.preview import slipped
from tests.classroom.tasks import generator
from tests.processes import started_by

ROWS = 600


def wrong_ones(exercise: Exercise, seed: int) -> Iterator[list[str]]:
    """Answers of those who slip, compute on, and write another number somewhere; all different."""
    rng, seen = Random(seed), set[tuple[str, ...]]()
    for slip in slipped(exercise, seed, sys.maxsize):
        texts = [*slip]
        texts[rng.randrange(len(texts))] = f"{rng.uniform(-3, 3):.3f}"
        if (*texts,) not in seen:
            seen.add((*texts,))
            yield texts


def written(exercise: Exercise, path: Path, seed: int, count: int = ROWS) -> None:
    """A table of answers, a third of them wrong, no two of these alike."""
    rng = Random(seed)
    wrong = wrong_ones(exercise, seed)
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["student", *map(exercise.name, exercise.blanks)])
        for number in range(count):
            texts = [*exercise.answers.values()]
            if rng.random() < 1 / 3:
                texts = next(wrong)
            rows.writerow([f"Student {number}", *texts])


def marker(folder: Path, marks: Path, *more: str) -> subprocess.Popen[bytes]:
    """The command, begun."""
    words = ["mark", str(folder / "exercise.toml"), str(folder / "answers.csv")]
    words += ["-o", str(marks), "--no-explain", *(more or ("--workers", "2"))]
    return subprocess.Popen(
        [sys.executable, "-m", "symattn", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


#: A scheduler of Dask with two workers, which says where it is.
_CLUSTER = """
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        print(cluster.scheduler_address, flush=True)
        input()
"""


@contextmanager
def cluster(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A cluster, and the address of its scheduler; nothing of it is left."""
    program = folder / "cluster.py"
    program.write_text(_CLUSTER)
    with subprocess.Popen(
        [sys.executable, str(program)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as running:
        assert running.stdout is not None
        address = running.stdout.readline().strip()
        started = started_by(running.pid)
        try:
            yield running, address
        finally:
            running.kill()
            for worker in started:
                with suppress(ProcessLookupError):
                    os.kill(worker, signal.SIGKILL)


def by_dask(rng: Random, folder: Path, marks: Path, longest: float, what: str) -> None:
    """Kill the scheduler, or all that works for it; the marker ends by itself."""
    with cluster(folder) as (scheduler, address):
        victims = started_by(scheduler.pid)
        running = marker(folder, marks, "--workers", address)
        time.sleep(rng.uniform(1, longest))
        if what == "scheduler killed":
            scheduler.kill()
        else:
            os.kill(rng.choice(victims), signal.SIGKILL)
        assert running.wait(timeout=120) in (0, 2)


#: What is done to a run.
_WHATS = (
    *("marker killed", "process killed", "journal cut", "two at once"),
    *("scheduler killed", "worker of Dask killed"),
)


def disturbed(rng: Random, folder: Path, marks: Path, longest: float, what: str) -> None:
    """Disturb a run once."""
    if "Dask" in what or "scheduler" in what:
        by_dask(rng, folder, marks, longest, what)
        return
    running = marker(folder, marks)
    time.sleep(rng.uniform(0.3, longest))
    victims = started_by(running.pid)
    if what == "two at once":
        marker(folder, marks).wait()
    elif what == "process killed" and victims:
        os.kill(rng.choice(victims), signal.SIGKILL)
    else:
        running.kill()
    running.wait()
    journal = marks / "journal.sqlite"
    if what == "journal cut" and journal.exists():
        content = journal.read_bytes()
        journal.write_bytes(content[: rng.randrange(len(content) + 1)])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    rng, table = Random(asked.seed), Counter[tuple[str, str]]()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        exercise = generator("causal", blank=("scores", "weights", "output")).exercise(7)
        (folder / "exercise.toml").write_text(exercise.text)
        written(exercise, folder / "answers.csv", asked.seed)
        start = time.monotonic()
        assert marker(folder, folder / "whole").wait() == 0
        longest = time.monotonic() - start
        whole = (folder / "whole" / "gradebook.csv").read_bytes()
        for number in range(asked.count):
            marks = folder / f"marks-{number}"
            what = _WHATS[number % len(_WHATS)]
            disturbed(rng, folder, marks, longest, what)
            status = marker(folder, marks).wait()
            same = status == 0 and (marks / "gradebook.csv").read_bytes() == whole
            table[what, "same" if same else f"other, status {status}"] += 1
    for (what, found), count in sorted(table.items()):
        print(f"{what:22} {found:20} {count}")
    return int(any(found != "same" for _, found in table))


if __name__ == "__main__":
    sys.exit(main())
