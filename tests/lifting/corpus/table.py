"""The corpus proven: how many right functions are proven, and how many wrong ones are refuted.

python -m tests.lifting.corpus.table
python -m tests.lifting.corpus.table torched sdpa_causal --timeout 60
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from symattn.cli.attentions import attention_meant
from symattn.errors import SymattnError
from symattn.isolation import Limits
from symattn.lifting.proving import prove_program
from symattn.verifying.subject import Wanted

LIBRARIES = ("numpied", "torched", "jaxed")


def verdict(library: str, name: str, seconds: float = 120.0) -> tuple[str, str]:
    """What is found of a function of the corpus, and why."""
    module = import_module(f"{__package__}.{library}")
    said = {**module.RIGHT, **module.WRONG}[name]
    target = f"{Path(__file__).parent / library}.py:{name}"
    try:
        found = prove_program(target, Wanted(attention_meant(said)), limits=Limits(seconds, 4096))
    except SymattnError as error:
        return "refused", str(error)
    return f"{found.verdict}{', wherever both are defined' * found.is_partial}", found.reason


def rows(
    libraries: tuple[str, ...], names: tuple[str, ...], seconds: float
) -> Iterator[tuple[str, bool, str, str, str]]:
    """Each function, whether it is right, and what is found of it."""
    for library in libraries:
        module = import_module(f"{__package__}.{library}")
        for right, of in ((True, module.RIGHT), (False, module.WRONG)):
            for name in of:
                if not names or name in names:
                    yield (library, right, name, *verdict(library, name, seconds))


def main() -> None:
    """Try all, or those that are named, and print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--timeout", type=float, default=120.0)
    asked = parser.parse_args()
    libraries = tuple(one for one in LIBRARIES if one in asked.names) or LIBRARIES
    names = tuple(one for one in asked.names if one not in LIBRARIES)
    counts: dict[tuple[str, bool, str], int] = {}
    began = time.monotonic()
    for library, right, name, found, why in rows(libraries, names, asked.timeout):
        word = "proven" if found.startswith("equal") else found
        counts[library, right, word] = counts.get((library, right, word), 0) + 1
        taken, began = time.monotonic() - began, time.monotonic()
        partial = found.endswith("defined")
        if (word == "proven") != right or word not in ("proven", "different") or partial:
            print(f"{library:8} {'right' if right else 'wrong'} {name}: {found} {why[:200]}")
        elif taken > 5:
            print(f"{library:8} {name}: {found}, {taken:.0f} s")
    for (library, right, word), number in sorted(counts.items()):
        print(library, "right" if right else "wrong", word, number, sep="\t")


if __name__ == "__main__":
    main()
