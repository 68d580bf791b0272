"""Attention functions changed at random, each proven or refuted, and judged by NumPy.

    python -m tests.fuzz.programs --count 60 --seed 1

A change that leaves the numbers as they are may not be refuted, and one that does not may not be
proven.
"""

from __future__ import annotations

import argparse
import inspect
import linecache
import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from symattn.attention.variants import variant
from symattn.errors import SymattnError
from symattn.lifting.proving import prove_program
from symattn.verifying.own import meant
from symattn.verifying.subject import Wanted
from tests.lifting import attentions

#: What is changed, and into what; both are code.
CHANGES = (
    (r"np\.sqrt\(Q\.shape\[1\]\)", "Q.shape[1]"),
    (r"np\.sqrt\(Q\.shape\[1\]\)", "np.sqrt(K.shape[0])"),
    (r"Q\.shape\[1\] \*\* -?0?\.?0?\.5", "1"),
    (r"axis=1", "axis=0"),
    (r"axis=1", "axis=-1"),
    (r"np\.maximum\(top, ", "np.minimum(top, "),
    (r"\* factor", "* factor * factor"),
    (r" - S\.max\(axis=1, keepdims=True\)", ""),
    (r" - max\(s\)", " - min(s)"),
    (r"j > i", "j >= i"),
    (r"j > i", "j > i + 1"),
    (r"np\.tri\(len\(Q\), len\(K\)\)", "np.tri(len(Q), len(K), -1)"),
    (r"-1e30\), 1\)", "-1e30), 0)"),
    (r"-1e30", "-1e8"),
    (r"-1e30", "-3.0"),
    (r"K\[half\]", "Q[half]"),
    (r"\* one \+", "+ one *"),
    (r"np\.exp2", "np.exp"),
    (r"block=2", "block=3"),
    (r"\+ block\]", "+ block - 1]"),
    (r"K\[t\]", "K[0]"),
    (r"-0\.25", "-0.5"),
    (r"out\[i\]", "out[-1 - i]"),
    (r"@ V(?!\[)", "@ V * 1.0"),
    (r"@ V(?!\[)", "@ V + 1e-6"),
    (r"keepdims=True", "keepdims=not False"),
    (r"at\(below, row", "at(below, column[: row.size]"),
    (r"0\.0\)", "1e-3)"),
    (r"np\.tril\(", "np.triu("),
    (r"i->ib", "j->ib"),
)

FUNCTIONS = (
    *("online", "row_by_row", "by_log_sum_exp", "in_powers_of_two", "split_scale"),
    *("added_at_places", "causal_by_products"),
    *("causal_by_multiplying", "causal_by_index", "causal_decoding", "causal_negative_number"),
)


def changed(name: str, draw: random.Random) -> Callable[..., Any] | None:
    """A function with one or two changes; None where none of those drawn fits."""
    source = inspect.getsource(getattr(attentions, name))
    code = rewritten(source, CHANGES, draw, draw.choice((8, 16)))
    return None if code == source else made(name, code)


def rewritten(code: str, changes: Sequence[tuple[str, str]], draw: random.Random, most: int) -> str:
    """Code in which some of so many changes are made, each at one place."""
    for old, new in draw.sample(changes, len(changes))[:most]:
        found = [*re.finditer(old, code)]
        if found and draw.random() < 0.5:
            place = draw.choice(found)
            code = code[: place.start()] + place.expand(new) + code[place.end() :]
    return code


def made(name: str, code: str, among: ModuleType = attentions) -> Callable[..., Any]:
    """The function of this name that code defines, among others; its source can be read."""
    space: dict[str, Any] = {**vars(attentions), **vars(among)}
    file = f"<{name} {hash(code)}>"
    linecache.cache[file] = (len(code), None, code.splitlines(keepends=True), file)
    exec(compile(code, file, "exec"), space)
    function: Callable[..., Any] = space[name]
    return function


def is_right(function: Callable[..., Any], causal: bool) -> bool:
    """Whether a function gives the numbers that attention has, by NumPy alone."""
    draw = np.random.default_rng(3)
    for n, m, d, w in ((3, 3, 2, 4), (5, 5, 3, 2), (4, 4, 4, 4), (7, 7, 3, 3), (9, 9, 2, 3)):
        q, k, v = draw.normal(size=(n, d)), draw.normal(size=(m, d)), draw.normal(size=(m, w))
        S = q @ k.T / np.sqrt(d)
        E = np.exp(np.where(np.tri(n, m), S, -np.inf) if causal else S)
        own = numbers(function, q, k, v)
        true = E / E.sum(axis=1, keepdims=True) @ v
        if (
            own is None
            or own.shape != true.shape
            or not np.allclose(own, true, atol=1e-9, rtol=1e-9)
        ):
            return False
    return True


def numbers(function: Callable[..., Any], *given: Any) -> Any:
    """What a function returns; None for nothing."""
    with np.errstate(all="ignore"):
        try:
            return np.asarray(function(*given))
        except (ValueError, IndexError, TypeError):
            return None


def tried(count: int, seed: int) -> tuple[Counter[tuple[bool, str]], list[str]]:
    """How many were right and wrong, by verdict, and what was said falsely."""
    draw, found, false = random.Random(seed), Counter[tuple[bool, str]](), []
    while sum(found.values()) < count:
        name = draw.choice(FUNCTIONS)
        function = changed(name, draw)
        if function is None:
            continue
        causal = name.startswith("causal")
        wanted = Wanted(meant(variant("causal" if causal else "scaled-dot-product").said))
        right = is_right(function, causal)
        try:
            verdict: str = prove_program(function, wanted).verdict
        except SymattnError:
            verdict = "refused"
        found[right, verdict] += 1
        if (verdict.startswith("equal") and not right) or (verdict == "different" and right):
            false.append(f"{name}: {verdict}")
    return found, false


def main(
    tried: Callable[[int, int], tuple[Counter[tuple[bool, str]], list[str]]],
    count: int,
    words: tuple[str, str],
) -> None:
    """Try many, and print a table; `words` say what is so and what is not."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=count)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    found, false = tried(asked.count, asked.seed)
    for (so, verdict), number in sorted(found.items()):
        print(words[0] if so else words[1], verdict, number, sep="\t")
    print(*false or ["nothing was said falsely"], sep="\n")


if __name__ == "__main__":
    main(tried, 60, ("right", "wrong"))
