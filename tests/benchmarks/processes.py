"""Whole processes, beside the imports that they cannot do without."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.benchmarks.pair import Pair

ROOT = Path(__file__).parent.parent.parent
SHEET = ROOT / "examples" / "it_cat_mat.toml"

COMMAND = "import sys; from symattn.cli import main; sys.argv = ['symattn', {}]; main()"


def process(code: str) -> Callable[[], object]:
    """A run of this code in a new interpreter."""

    def run() -> object:
        words = [sys.executable, "-c", code]
        done = subprocess.run(words, cwd=ROOT, stdout=subprocess.DEVNULL, check=False)
        assert done.returncode in (0, 1, 2), done
        return done

    return run


def command(*words: str) -> Callable[[], object]:
    """A run of the command line."""
    return process(COMMAND.format(", ".join(map(repr, words))))


def pairs() -> Iterator[Pair]:
    """Imports, a short sheet, and commands that need no algebra."""
    both, sympy = process("import sympy, numpy"), process("import sympy")
    attention = process("from symattn import Attention")
    yield Pair("from symattn import Attention; sympy, numpy", attention, both, 1.10)
    yield Pair(
        "derive a sheet of three tokens; sympy, numpy", command("derive", str(SHEET)), both, 1.25
    )
    for words in (["variants"], ["--help"], ["--version"], ["prove"]):
        yield Pair(f"symattn {' '.join(words)}; sympy", command(*words), sympy, 0.5)
