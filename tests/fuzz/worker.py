"""``python -m tests.fuzz.worker``: answers statements on standard input, one line of JSON each."""

from __future__ import annotations

import json
import sys
from dataclasses import astuple
from typing import Any

from tests.fuzz.asking import Outcome, ask


def main() -> None:
    """Read a door, a text and options; write the outcome."""
    for line in sys.stdin:
        door, text, options = json.loads(line)
        outcome = ask(text, options) if door == "equal" else ask_prove(text, options)
        print(json.dumps(astuple(outcome)), flush=True)


def ask_prove(text: str, options: dict[str, Any]) -> Outcome:
    """What ``symattn prove`` says of the text: its exit status, and whether a traceback shows."""
    import time

    from click.testing import CliRunner

    from symattn.cli import main as command

    words = ["prove", text]
    for name in ("where", "positive"):
        words += [part for value in options.get(name, ()) for part in (f"--{name}", value)]
    start = time.perf_counter()
    result = CliRunner().invoke(command, words)
    took = time.perf_counter() - start
    said = " ".join(result.output.split())[:300]
    if result.exit_code not in (0, 1, 2, 4) or "Traceback" in result.output:
        return Outcome("traceback", took, f"status {result.exit_code}: {said}")
    kinds = {0: "equal, given", 1: "different", 2: "refused", 4: "undecided"}
    return Outcome(kinds[result.exit_code], took, said)


if __name__ == "__main__":
    main()
