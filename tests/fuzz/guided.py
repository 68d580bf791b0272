"""``python -m tests.fuzz.guided TARGET ROWS CORPUS [libFuzzer's options]``: one door, by coverage.

Needs ``pip install atheris``. What is found is written to the file ROWS, a line of JSON each, and
every two seconds the counts; a hang ends the process, and libFuzzer keeps its input. It is called
by ``python -m tests.fuzz.doors --guided``.
"""

from __future__ import annotations

import faulthandler
import json
import sys
import time
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from random import Random

#: Inputs of ours that the search begins with.
_SEEDS = 60

#: How often the counts are written, in seconds; the process may end at any time.
_PAUSE = 2.0


def main() -> None:
    """Fuzz one door until time is up."""
    import atheris

    with atheris.instrument_imports(include=["symattn"]):
        from tests.fuzz.doors import input_of, limit
        from tests.fuzz.target import WORDS
        from tests.fuzz.targets import TARGETS, tried
        from tests.fuzz.watch import place_of_its_own

    name, rows, corpus, *options = sys.argv[1:]
    limit()
    target = TARGETS[name]
    out = Path(rows).open("a", encoding="ascii")  # noqa: SIM115  # until the process ends
    counts: Counter[str] = Counter()
    most = [0.0, 0]
    for number in range(_SEEDS):
        (Path(corpus) / f"seed-{number}").write_bytes(input_of(target, 0, number))
    dictionary = Path(rows).with_suffix(".dict")
    quoted = ("".join(f"\\x{byte:02x}" for byte in word.encode("utf-8")) for word in WORDS)
    dictionary.write_text("".join(f'"{word}"\n' for word in quoted), encoding="ascii")
    held = place_of_its_own(lambda root: [root / "built", root / "trees"])
    place = held.__enter__()  # which the system clears away: libFuzzer leaves without an end
    tried(target, input_of(target, 0, 0), place)  # which loads what it needs

    def one_input(data: bytes) -> None:
        one = tried(target, data, place)
        counts["finding" if one.found else one.kind] += 1
        most[:] = max(most[0], one.seconds), max(most[1], one.memory if one.memory < 1 << 40 else 0)
        if time.monotonic() > told_at[0] + _PAUSE:
            row = {"counts": counts, "slowest": most[0], "largest": most[1]}
            print(json.dumps(row), file=out, flush=True)
            counts.clear()
            told_at[0] = time.monotonic()
        if one.found:
            print(json.dumps({**asdict(one), "data": data.hex()}), file=out, flush=True)

    def changed(data: bytes, size: int, seed: int) -> bytes:
        random = Random(seed)  # not for secrets
        made = target.make(random) if random.random() < 0.2 else atheris.Mutate(data, size)
        return bytes(made[:size])

    told_at = [time.monotonic()]
    faulthandler.enable()
    options = [f"-dict={dictionary}", "-max_len=20000", "-rss_limit_mb=8000", *options]
    atheris.Setup([sys.argv[0], *options, corpus], one_input, custom_mutator=changed)
    atheris.Fuzz()  # which leaves the process itself


if __name__ == "__main__":
    main()
