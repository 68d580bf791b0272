"""Loops at random, honest ones and others; what is read of them is held against them elsewhere.

    python -m tests.fuzz.loops --count 300 --seed 1

A loop is made of a way to keep rows, a formula of a row, and an index that is that of the row or
another. Whatever is read has to give the numbers of the function at sizes and numbers that no
reading has seen.
"""

from __future__ import annotations

import argparse
import linecache
import random
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from symattn.errors import SymattnError
from symattn.lifting.lift import lift

#: Sizes at which a reading is held against its function, beside those at which it was read.
SIZES = ((9, 8, 4, 5), (2, 3, 6, 2), (12, 12, 5, 4))

INDICES = ("i", "i", "i", "i", "i - 1", "-1 - i", "0", "min(i + 1, len(Q) - 1)", "2 * i % len(Q)")
KEYS = ("K", "K", "K", "K[: i + 1]", "K[::-1]")
SCORES = (
    "{K} @ Q[{i}] / np.sqrt(Q.shape[1])",
    "Q[{i}] @ {K}.T",
    "np.array([Q[{i}] @ k for k in {K}]) * 0.5",
    "{K} @ Q[{i}] * (i + 1)",
    "{K} @ Q[{i}] + Q[{i}].sum()",
)
WEIGHTS = (
    "np.exp(s - s.max()) / np.exp(s - s.max()).sum()",
    "np.exp(s) / np.exp(s).sum()",
    "1 / (1 + np.exp(-s))",
    "s / s.sum() if i % 2 else np.exp(s)",
    "np.maximum(s, 0)",
)
OUTPUTS = ("w @ {V}", "w @ {V}", "w @ {V} + V[{j}]", "sum(w[j] * {V}[j] for j in range(len({V})))")
STATES = (
    "S = S + np.outer(K[i], V[i])",
    "S = 0.9 * S + np.outer(K[{i}], V[i])",
    "S = S + np.outer(K[i], V[{i}] - K[i] @ S)",
    "S = S * (i + 1) + np.outer(K[i], V[i])",
    "S = S + np.outer(K[i], V[i]) if i else np.outer(K[i], V[i]) * 2",
    "S = np.tanh(S + np.outer(K[i], V[i]))",
)
KEPT = (
    ("rows = []", "rows.append(o)", "np.stack(rows)"),
    ("rows = []", "rows.append(o)", "np.array(rows)"),
    ("out = np.zeros((len(Q), V.shape[1]))", "out[i] = o", "out"),
    ("out = np.zeros((len(Q), V.shape[1]))", "out[{i}] = o", "out"),
    ("out = np.ones((len(Q), V.shape[1]))", "if i: out[i] = o", "out"),
    ("rows = []", "rows.insert(0, o)", "np.stack(rows)"),
)


def source(draw: random.Random) -> str:
    """A function with a loop over the rows of Q."""

    def said(text: str) -> str:
        keys = draw.choice(KEYS) if text.count("{K}") else keys_of_values
        values = keys.replace("K", "V")
        i, j = draw.choice(INDICES), draw.choice(("i", "0"))
        return text.format(K=keys, V=values, i=i, j=j)

    keys_of_values = draw.choice(KEYS)
    begin, keep, end = draw.choice(KEPT)
    if draw.random() < 0.4:
        begin += "; S = np.zeros((K.shape[1], V.shape[1]))"
        body = [said(draw.choice(STATES)), said("o = Q[{i}] @ S")]
    else:
        score = draw.choice(SCORES).format(K=keys_of_values, i=draw.choice(INDICES))
        body = [f"s = {score}", f"w = {draw.choice(WEIGHTS)}", f"o = {said(draw.choice(OUTPUTS))}"]
    lines = ["def f(Q, K, V):", f"    {begin}", "    for i in range(len(Q)):"]
    lines += [f"        {line}" for line in (*body, said(keep))]
    return "\n".join([*lines, f"    return {end}", ""])


def compiled(text: str, number: int) -> Callable[..., Any]:
    """The function, with a file of its own whose lines are known."""
    file = f"<loop {number}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space: dict[str, Any] = {"np": np, "__name__": file}
    exec(compile(text, file, "exec"), space)
    found: Callable[..., Any] = space["f"]
    return found


def outcomes(count: int, seed: int) -> Iterator[tuple[str, str]]:
    """What became of each loop, and its source: refused, true, or false."""
    draw = random.Random(seed)
    for number in range(count):
        text = source(draw)
        function = compiled(text, number)
        square = {"Q": ("n", "d_k"), "K": ("n", "d_k"), "V": ("n", "d_v")}
        try:
            made = lift(function, square if "K[i]" in text or "V[i]" in text else None).equations
        except SymattnError:
            yield "refused", text
            continue
        whole = made.derivation()
        is_square = "m" not in {str(size) for one in whole.inputs for size in one.shape}
        yield (
            "true" if all(_agrees(function, whole, *one, is_square) for one in SIZES) else "false",
            text,
        )


def _agrees(
    function: Callable[..., Any], whole: Any, n: int, m: int, d: int, v: int, is_square: bool
) -> bool:
    numbers = np.random.default_rng(n)
    rows = n if is_square else m
    given = {"Q": (n, d), "K": (rows, d), "V": (rows, v)}
    arrays = {name: numbers.normal(size=shape) for name, shape in given.items()}
    own = function(**arrays)
    asked = {one.letter for one in whole.inputs}
    found = whole.evaluate(**{name: x for name, x in arrays.items() if name in asked})
    return bool(np.allclose(found.array(whole.steps[-1].letter), own, rtol=1e-9, atol=1e-12))


def main() -> None:
    """Count, and print what is false."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    counts: Counter[str] = Counter()
    for kind, text in outcomes(chosen.count, chosen.seed):
        counts[kind] += 1
        if kind == "false":
            print(text)
    print(dict(counts))


if __name__ == "__main__":
    main()
