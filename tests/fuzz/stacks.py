"""Kill whatever marks a stack, at any moment, and mark again: nothing is lost or counted twice.

``python -m tests.fuzz.stacks [--count 20] [--seed 1]``: each round kills the marker, one of its
processes, or cuts its journal, marks again to the end, and compares the gradebook with that of a
run that nobody disturbed, byte for byte. The exit status is 1 where one differs. Linux only.
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


def marker(folder: Path, marks: Path) -> subprocess.Popen[bytes]:
    """The command, begun."""
    words = ["mark", str(folder / "answers.csv"), "--exercise", str(folder / "exercise.toml")]
    return subprocess.Popen(
        [sys.executable, "-m", "symattn", *words, "-o", str(marks), "--processes", "2"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def disturbed(rng: Random, folder: Path, marks: Path, longest: float) -> str:
    """Disturb a run once; what was done."""
    running = marker(folder, marks)
    time.sleep(rng.uniform(0.3, longest))
    what = rng.choice(("marker killed", "process killed", "journal cut", "two at once"))
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
    return what


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
            what = disturbed(rng, folder, marks, longest)
            status = marker(folder, marks).wait()
            same = status == 0 and (marks / "gradebook.csv").read_bytes() == whole
            table[what, "same" if same else f"other, status {status}"] += 1
    for (what, found), count in sorted(table.items()):
        print(f"{what:16} {found:20} {count}")
    return int(any(found != "same" for _, found in table))


if __name__ == "__main__":
    sys.exit(main())
