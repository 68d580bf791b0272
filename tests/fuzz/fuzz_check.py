"""Fuzz the checker with coverage as the guide.

``python -m tests.fuzz.fuzz_check -max_total_time=3600`` goes on for an hour. Needs
``pip install atheris``. The options are libFuzzer's; what is found is written to a file
``crash-…`` whose bytes `check_input` takes. At the end the outcomes are counted.
"""

from __future__ import annotations

import atexit
import sys
import tempfile
from collections import Counter
from pathlib import Path


def main() -> None:
    """Fuzz from the seeds, with the words as libFuzzer's dictionary."""
    import atheris

    with atheris.instrument_imports(include=["symattn.worksheet", "symattn.arithmetic"]):
        from tests.fuzz.target import SEEDS, WORDS, check_input

    outcomes: Counter[str] = Counter()

    def one_input(data: bytes) -> None:
        outcomes[check_input(data)] += 1

    folder = Path(tempfile.mkdtemp(prefix="symattn-fuzz-"))
    for number, seed in enumerate(SEEDS):
        (folder / f"seed-{number}").write_bytes(seed)
    dictionary = folder.with_suffix(".dict")
    quoted = ("".join(f"\\x{byte:02x}" for byte in word.encode()) for word in WORDS)
    dictionary.write_text("".join(f'"{word}"\n' for word in quoted), encoding="ascii")
    atexit.register(lambda: print(sum(outcomes.values()), "inputs:", dict(outcomes)))
    options = [f"-dict={dictionary}", "-max_len=2000", "-timeout=30", *sys.argv[1:]]
    atheris.Setup([sys.argv[0], *options, str(folder)], one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
