"""Functions that move, cut and join axes at random, read off and held against NumPy at other sizes.

    python -m tests.fuzz.views --count 300 --seed 1

What is read off has to give the function's own numbers at sizes at which nothing was tried; what
has no formula has to say so in one line.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np

from symattn.errors import SymattnError
from symattn.lifting.lift import lift

#: What a line does to an array A, or to A and B.
_LINES = (
    *("A.reshape(len(A), 2, -1)", "A.reshape(A.shape[0], -1)", "A.reshape(2, -1, A.shape[-1])"),
    *("A.T", "A.swapaxes(0, 1)", "A.swapaxes(-1, -2)", "A.transpose(1, 0, 2)", "A[:, None]"),
    *("A.transpose(2, 0, 1)", "np.moveaxis(A, 1, 0)", "A[None]", "A[0]", "A[:, 0]", "A[..., ::2]"),
    *("A[1:]", "A[:, :2]", "A[..., 1:]", "A[:, 1]", "np.split(A, 2, axis=-1)[1]", "A @ B"),
    *("np.exp(A / 8)", "A * 0.5", "A - A.mean(axis=0, keepdims=True)", "A / A.shape[-1]"),
    *("A - A.max(axis=-1)[..., None]", "A.sum(axis=0)", "A.sum(axis=1)", "A + B", "A * B", "A - B"),
    *("A.mean(axis=-1, keepdims=True)", "A @ B.swapaxes(-1, -2)", "np.repeat(A, 2, axis=0)"),
    *("np.einsum('hnd,hmd->hnm', A, B)", "np.einsum('nhd,mhd->hnm', A, B)"),
    *("np.einsum('hnm,hmd->nhd', A, B)", "np.einsum('nd,md->mn', A, B)"),
    *("np.concatenate([A, B], axis=-1)", "np.concatenate([A, B])", "np.maximum(A, B)"),
)

_SHAPES = {"x": ("n", "2*d_k"), "y": ("m", "2*d_k"), "w": ("2*d_k", "d_v")}
_SIZES = ({"n": 4, "m": 6, "d_k": 3, "d_v": 5}, {"n": 7, "m": 4, "d_k": 5, "d_v": 2})


def given(sizes: dict[str, int], seed: int) -> dict[str, Any]:
    """Numbers for the arguments at these sizes."""
    draw, known = np.random.default_rng(seed), {**sizes, "2*d_k": 2 * sizes["d_k"]}
    return {name: draw.normal(size=[known[x] for x in said]) for name, said in _SHAPES.items()}


def drawn(draw: random.Random) -> tuple[Callable[..., Any], str]:
    """A function that can be called at several sizes, and its source."""
    while True:
        names, lines = ["x", "y", "w"], []
        values = [given(sizes, 3) for sizes in _SIZES]
        for place in range(draw.randint(2, 7)):
            line = draw.choice(_LINES).replace("A", draw.choice([*names[-3:], *names[-1:] * 5]))
            line = line.replace("B", draw.choice(names))
            try:
                found = [eval(line, {"np": np}, value) for value in values]
            except (ValueError, IndexError, TypeError):
                continue
            if any(one.size == 0 or one.ndim > 4 for one in found):
                continue
            names.append(f"v{place}")
            lines.append(f"    v{place} = {line}")
            for value, one in zip(values, found, strict=True):
                value[f"v{place}"] = one
        if lines and values[0][names[-1]].ndim in (2, 3):
            source = "\n".join(["def program(x, y, w):", *lines, f"    return {names[-1]}"])
            space: dict[str, Any] = {"np": np}
            exec(compile(source, "<program>", "exec"), space)
            return space["program"], source


def is_laid_as(own: Any, here: Any) -> bool:
    """Whether an array is that of equations, whose heads are first, with its axes in some order."""
    if own.size != here.size:
        return False
    laid = (own.transpose(order) for order in permutations(range(own.ndim)))
    return any(
        one.squeeze().shape == here.squeeze().shape and np.allclose(one.reshape(here.shape), here)
        for one in laid
    )


def verdict(function: Callable[..., Any]) -> str:
    """What comes of a function: right, refused, or wrong, which none may be."""
    try:
        whole = lift(function, _SHAPES).equations.whole
        for seed, sizes in enumerate(_SIZES):
            numbers = given(sizes, seed)
            used = {one.letter: numbers[one.letter] for one in whole.inputs}
            here = np.asarray(whole.evaluate(**used).array(whole.steps[-1].letter), float)
            own = np.asarray(function(**numbers))
            if not is_laid_as(own, here):
                return "wrong"
    except SymattnError:
        return "refused"
    return "right"


def main() -> None:
    """Try so many, and print how many came out how."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    counts: Counter[str] = Counter()
    for number in range(asked.count):
        function, source = drawn(random.Random(f"{asked.seed} {number}"))
        found = verdict(function)
        counts[found] += 1
        if found == "wrong":
            print(source, end="\n\n")
    print(dict(counts))


if __name__ == "__main__":
    main()
