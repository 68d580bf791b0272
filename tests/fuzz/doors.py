"""``python -m tests.fuzz.doors --seconds 600 --target data --seed 3``: hostile input at a door.

Each target of `tests.fuzz.targets` is tried for as long as it is told, in processes of their own
that are ended when they hang; the table counts what came of it, and of every finding one input is
kept that reproduces it (``--replay FILE --target data``); ``--count 200`` takes so many instead of
so many seconds. The status is 1 if there are findings.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import json
import os
import resource
import select
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random

from tests.fuzz.targets import OUTCOMES, TARGETS, Target, Tried, tried
from tests.fuzz.watch import MEMORY, SECONDS, place_of_its_own

#: Seconds on the wall after which a process is ended; machines are busy with other things too.
WALL = 2 * SECONDS

#: Memory, in bytes, that a process may ask for at all.
_ADDRESSES = 16_000_000_000

_START = 60.0
_KEPT = 3


def input_of(target: Target, seed: int, number: int) -> bytes:
    """The input of this number; the same for the same seed."""
    return target.make(Random(f"{target.name} {seed} {number}"))  # not for secrets


@dataclass
class Tally:
    """What came of a target's inputs."""

    name: str
    counts: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    largest: int = 0
    findings: list[tuple[Tried, str]] = field(default_factory=list)
    kinds: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, one: Tried, keep: Callable[[], str]) -> None:
        """Count an input; `keep` writes it where it is the first of its kind, and says where."""
        self.counts["finding" if one.found else one.kind] += 1
        self.slowest = max(self.slowest, one.seconds)
        self.largest = max(self.largest, one.memory if one.memory < 1 << 40 else 0)
        if one.found:
            self.kinds[one.signature] += 1
            if self.kinds[one.signature] <= _KEPT:
                self.findings.append((one, keep()))


def table(tallies: Iterable[Tally]) -> str:
    """The counts as a table of Markdown, and under it every finding with its file."""
    heads = ("entry point", "inputs", *OUTCOMES, "slowest (s)", "most memory (MB)", "findings")
    rows = [
        (
            tally.name,
            f"{sum(tally.counts.values()):,}",
            *(f"{tally.counts[kind]:,}" for kind in OUTCOMES),
            f"{tally.slowest:.1f}",
            str(tally.largest // 1_000_000),
            str(len(tally.kinds)),
        )
        for tally in tallies
    ]
    lines = [f"| {' | '.join(row)} |" for row in (heads, ("---",) * len(heads), *rows)]
    for tally in tallies:
        for one, kept in tally.findings:
            times = tally.kinds[one.signature]
            lines.append(
                f"{tally.name}: {one.kind} ({times} times) {one.where} {one.told[:300]} [{kept}]"
            )
    return "\n".join(lines)


# ---- a process that tries inputs ---------------------------------------------------------------


def limit() -> None:
    """Bound what the process may ask for."""
    warnings.simplefilter("ignore")
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESSES, most))


def work(name: str) -> None:
    """Try the inputs whose files standard input names, one line of JSON each."""
    limit()
    target = TARGETS[name]
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    with place_of_its_own(lambda root: [root / "built", root / "trees"]) as place:
        tried(target, input_of(target, 0, 0), place)  # which loads what it needs
        print("ready", file=answers, flush=True)
        for line in sys.stdin:
            told = json.loads(line)
            faulthandler.dump_traceback_later(WALL - 2, file=sys.stderr)
            data = (
                Path(told["file"]).read_bytes()
                if "file" in told
                else input_of(target, told["seed"], told["number"])
            )
            one = tried(target, data, place)
            faulthandler.cancel_dump_traceback_later()
            print(json.dumps(asdict(one)), file=answers, flush=True)


class Worker:
    """A process for a target, begun again when it hangs or dies."""

    def __init__(self, target: Target, log: Path, wall: float = WALL) -> None:
        self.target, self.log, self.wall = target, log, wall
        self.process: subprocess.Popen[str] | None = None

    def __call__(self, **told: object) -> Tried:
        """What came of an input: ``file=…``, or ``seed=…, number=…``."""
        process = self.process or self._begun()
        assert process.stdin is not None
        start = time.monotonic()
        with contextlib.suppress(BrokenPipeError):  # it has died since
            print(json.dumps(told), file=process.stdin, flush=True)
        line = self._line(self.wall)
        if line:
            return Tried(**json.loads(line))
        late = time.monotonic() - start >= self.wall - 1
        self.close()
        where = _last_place(self.log)
        return Tried(
            "hang" if late else "died",
            f"after {time.monotonic() - start:.0f} s",
            where,
            time.monotonic() - start,
        )

    def _begun(self) -> subprocess.Popen[str]:
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.fuzz.doors", "--work", self.target.name],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                bufsize=1,
                cwd=Path(__file__).parents[2],
                start_new_session=True,
                env={
                    **os.environ,
                    "PYTHONDONTWRITEBYTECODE": "1",
                    "OMP_NUM_THREADS": "1",
                    "OPENBLAS_NUM_THREADS": "1",
                },
            )
        if "ready" not in self._line(_START):
            self.close()
            raise RuntimeError(f"{self.target.name}: no process starts; see {self.log}")
        return self.process

    def _line(self, limit: float) -> str:
        assert self.process is not None
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], limit)
        return self.process.stdout.readline() if ready else ""

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            with contextlib.suppress(BrokenPipeError):
                self.process.communicate()
            for pipe in (self.process.stdin, self.process.stdout):
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()  # type: ignore[union-attr]  # both are pipes
            self.process = None


def _last_place(log: Path) -> str:
    """Where a process was when it was ended."""
    for line in log.read_text("utf-8", "replace").splitlines():
        if "/symattn/" in line and 'File "' in line and "/tests/" not in line:
            words = line.split('"')[1].rpartition("/symattn/")[2]
            return f"symattn/{words}:{line.rpartition('line ')[2].split()[0]}"
    return ""


# ---- many inputs -------------------------------------------------------------------------------


def by_chance(
    target: Target, seed: int, folder: Path, seconds: float, count: int | None, first: int = 0
) -> Tally:
    """Inputs by their numbers, for so long, or so many."""
    tally, worker = Tally(target.name), Worker(target, folder / f"{target.name}.log")
    end, number = time.monotonic() + seconds, first
    while number - first < count if count is not None else time.monotonic() < end:
        one = worker(seed=seed, number=number)
        tally.add(one, lambda: _kept(folder, tally, one, input_of(target, seed, number)))  # noqa: B023
        number += 1
    worker.close()
    return tally


def _kept(folder: Path, tally: Tally, one: Tried, data: bytes) -> str:
    """The file of an input that reproduces a finding."""
    path = folder / f"{tally.name.replace(' ', '-')}-{one.kind}-{len(tally.findings)}.input"
    path.write_bytes(data)
    return str(path)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 1 if anything was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", action="append", choices=(*TARGETS, "all"))
    parser.add_argument("--seconds", type=float, default=60.0, help="for all targets together")
    parser.add_argument("--count", type=int, help="so many inputs of each target instead")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the number of the first input")
    parser.add_argument("--findings", type=Path, help="the folder in which inputs are kept")
    parser.add_argument("--replay", type=Path, help="try this input of the one target")
    parser.add_argument("--work", choices=TARGETS, help=argparse.SUPPRESS)
    told = parser.parse_args(arguments)
    if told.work:
        work(told.work)
        return 0
    folder = (told.findings or Path(tempfile.mkdtemp(prefix="symattn-findings-"))).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    asked = told.target or ["all"]
    targets = [TARGETS[name] for name in (TARGETS if "all" in asked else asked)]
    if told.replay:
        worker = Worker(targets[0], folder / "replay.log")
        one = worker(file=str(told.replay.resolve()))
        worker.close()
        print(one)
        return int(one.found)
    tallies = []
    for target in targets:
        each = told.seconds / len(targets)
        tallies.append(by_chance(target, told.seed, folder, each, told.count, told.first))
        if len(targets) > 1:
            print(table(tallies[-1:]), flush=True)
    print(
        f"\nseed {told.seed}, bounds {SECONDS:g} s and {MEMORY // 1_000_000} MB, inputs in {folder}"
    )
    print(table(tallies))
    return int(any(tally.kinds for tally in tallies))


if __name__ == "__main__":
    raise SystemExit(main())
