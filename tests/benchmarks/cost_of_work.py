"""What derivations are estimated to cost, held against what they take.

``python tests/benchmarks/cost_of_work.py [--most SECONDS] [PATTERN…]`` runs `CASES` (those that a
pattern occurs in), each in a process of its own with ``--allow-large``, and prints the estimate,
processor seconds, peak memory, and what is refused although it takes under two seconds, or let
through although it takes over 120. Ends with 1 if there is any of these.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import resource
import sys
import time
from collections.abc import Iterator
from typing import Any

from symattn import VARIANTS, budget
from symattn.cli import main as symattn
from symattn.documents import cost
from symattn.documents.job import FORMATS

FAST, SLOW = 2.0, 120.0

_OPTIONS = (
    "--full",
    "--view value --full",
    "--view worked --full",
    "--exact",
    "--exact --full",
    "--digits 100",
    "--chunks 1",
    "--gradient all",
    "--symbolic",
)


def _cases() -> Iterator[str]:
    for row in VARIANTS:
        for tokens in (2, 16, 64):
            yield f"{row.name} --tokens {tokens} --format text"
    for name in ("causal", "causal-multi-head", "llama", "alibi"):
        for form in FORMATS:
            if form != "pdf":
                yield f"{name} --tokens 8 --format {form}"
                yield f"{name} --tokens 32 --format {form}"
    for rest in _OPTIONS:
        for name in ("causal", "self", "llama"):
            for tokens in (8, 24):
                yield f"{name} --tokens {tokens} {rest}"
    for form in ("text", "json", "html"):
        yield f"self --tokens 64 --d-k 64 --format {form}"
        yield f"causal-multi-head --tokens 32 --heads 16 --d-k 16 --format {form}"


def _run(case: str, most: int, answer: int) -> None:
    """Derive; write the estimate, the seconds and how it ended as JSON."""
    resource.setrlimit(resource.RLIMIT_CPU, (most, most))
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    estimates: list[int] = []
    cost.is_limited = lambda: True  # type: ignore[attr-defined]
    cost.admit = lambda operations, *told: estimates.append(operations)  # type: ignore[attr-defined]
    sys.argv = ["symattn", "derive", *case.split(), "--allow-large"]
    out = io.TextIOWrapper(io.BytesIO())
    started = time.process_time()
    status: Any = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            symattn()
        except SystemExit as end:
            status = end.code
        if estimates:
            os.write(
                answer,
                json.dumps([estimates[0], time.process_time() - started, status]).encode() + b"\n",
            )


def _estimated(case: str) -> int | None:
    """The estimate alone, of a case that did not end."""
    seen: list[int] = []

    def stop(operations: int, *told: Any) -> None:
        seen.append(operations)
        raise SystemExit(0)

    cost.is_limited = lambda: True  # type: ignore[attr-defined]
    cost.admit = stop  # type: ignore[attr-defined,assignment]
    sys.argv = ["symattn", "derive", *case.split(), "--allow-large"]
    with contextlib.suppress(SystemExit):
        symattn()
    return seen[0] if seen else None


def measured(case: str, most: int) -> tuple[int | None, float, int, Any]:
    """Estimate, seconds, peak memory in MB, and the status of a case; None where it was stopped."""
    reads, writes = os.pipe()
    child = os.fork()
    if not child:
        try:
            _run(case, most, writes)
        finally:
            os._exit(0)
    os.close(writes)
    with os.fdopen(reads) as answers:
        told = answers.read()
    _, _, used = os.wait4(child, 0)
    estimate, seconds, status = json.loads(told) if told else (None, used.ru_utime, "stopped")
    return estimate, seconds, used.ru_maxrss // 1024, status


def main() -> int:
    """Print the table; 1 if something is refused or let through wrongly."""
    parser = argparse.ArgumentParser()
    parser.add_argument("patterns", nargs="*")
    parser.add_argument("--most", type=int, default=130)
    told = parser.parse_args()
    wrong = []
    print("  estimate    seconds    MB  refused  case")
    for case in _cases():
        if told.patterns and not any(pattern in case for pattern in told.patterns):
            continue
        estimate, seconds, memory, status = measured(case, told.most)
        estimate = _estimated(case) if estimate is None else estimate
        refused = (estimate or 0) > budget.MOST
        if (refused and seconds < FAST) or (not refused and seconds > SLOW):
            wrong.append(case)
        ended = "" if status in (0, 1) else f"  ({status})"
        mark = "yes" if refused else ""
        numbers = f"{(estimate or 0) / 1e6:9.1f}M {seconds:9.1f} {memory:6}"
        print(f"{numbers}  {mark:7}  {case}{ended}", flush=True)
    told_wrong = f"{len(wrong)} refused under {FAST} s or let through over {SLOW} s"
    print(told_wrong, *wrong, sep="\n  ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
