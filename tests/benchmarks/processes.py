"""Whole processes, beside the imports that they cannot do without."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.benchmarks.pair import Pair

ROOT = Path(__file__).parent.parent.parent
SHEET = ROOT / "examples" / "it_cat_mat.toml"

#: Where bytecode is kept, so that a run finds it as that of an installed package.
COMPILED = tempfile.TemporaryDirectory(prefix="symattn-bytecode-")

COMMAND = "import sys; from symattn.cli import main; sys.argv = ['symattn', {}]; main()"


def process(code: str) -> Callable[[], object]:
    """A run of this code in a new interpreter."""
    words = [sys.executable, "-c", code]
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": COMPILED.name}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)

    def run() -> object:
        done = subprocess.run(
            words, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, check=False
        )
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
