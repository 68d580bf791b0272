"""Documents of growing size, each beside one with half as many tokens and a quarter of the cells.

Time ~ cells^e has the ratio 4^e: 4.6 for e = 1.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from symattn import Attention, document
from tests.benchmarks.pair import Pair

#: The growth that is aimed at, where the exponent 1.1 would be noticed.
REACH = 4**1.1


def written(form: str, tokens: int, heads: int = 1) -> Callable[[], object]:
    """A derivation at small whole numbers, evaluated and written in a format."""
    derivation = Attention(heads=heads).derivation()
    rows = [[(3 * i + 2 * j) % 7 for j in range(16)] for i in range(tokens)]
    matrix: Any = rows if heads == 1 else [rows] * heads
    given = {item.name: matrix for item in derivation.inputs}

    def run() -> object:
        return document(derivation.evaluate(**given), form)

    return run


def pairs() -> Iterator[Pair]:
    """JSON of one head and pages of four."""
    for tokens in (32, 64):
        for form, heads in (("json", 1), ("html", 4)):
            ours, theirs = written(form, tokens, heads), written(form, tokens // 2, heads)
            name = f"{form}, {tokens} tokens, {heads} heads; half as many tokens"
            yield Pair(name, ours, theirs, REACH, most_runs=3)
