"""Evaluation in arrays and in balls, beside NumPy and python-flint written by hand."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from flint import arb, arb_mat
from numpy.typing import NDArray

from symattn import Attention
from symattn.arithmetic.enclosure import precision
from tests.benchmarks.pair import Pair

Array = NDArray[Any]

PLAIN = Attention().derivation()


def random(*shape: int, dtype: str = "float64") -> dict[str, Array]:
    """Normal numbers for Q, K and V."""
    source = np.random.default_rng(19)
    return {name: source.standard_normal(shape).astype(dtype) for name in "QKV"}


def textbook(Q: Array, K: Array, V: Array) -> tuple[Array, ...]:
    """Stable attention as it is written by hand, with all its steps."""
    scores = Q @ np.swapaxes(K, -1, -2)
    scaled = scores / math.sqrt(Q.shape[-1])
    powers = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    return scores, scaled, weights, weights @ V


def all_steps(given: dict[str, Array], dtype: str = "float64") -> tuple[Array, ...]:
    """The same by the library, each step asked for."""
    values = PLAIN.evaluate(dtype=dtype, **given)
    return tuple(values[step].array for step in ("scores", "scaled", "weights", "output"))


def output_only(given: dict[str, Array], dtype: str = "float64") -> Array:
    """The output by the library, and nothing else."""
    return PLAIN.evaluate(dtype=dtype, **given)["output"].array


def flint_balls(given: dict[str, Array]) -> list[arb]:
    """The output in balls with python-flint alone; each float is read as its decimal."""
    return _flint(*map(_read, given.values()))


def _read(array: Array) -> arb_mat:
    return arb_mat([[arb(repr(x)) for x in row] for row in array.tolist()])


def _flint(Q: arb_mat, K: arb_mat, V: arb_mat) -> list[arb]:
    rows, width = Q.nrows(), K.nrows()
    root = arb(Q.ncols()).sqrt()
    powers = [(x / root).exp() for x in (Q * K.transpose()).entries()]
    sums = [sum(powers[i * width : (i + 1) * width], arb(0)) for i in range(rows)]
    weights = [x / sums[k // width] for k, x in enumerate(powers)]
    return list((arb_mat(rows, width, weights) * V).entries())


def backward(given: dict[str, Array], upstream: Array) -> tuple[Array, ...]:
    """The gradients of Q, K and V by hand, with the forward steps."""
    Q, K, V = given.values()
    root = math.sqrt(Q.shape[-1])
    _, _, weights, _ = textbook(Q, K, V)
    to_weights = upstream @ np.swapaxes(V, -1, -2)
    inner = weights * (to_weights - (weights * to_weights).sum(axis=-1, keepdims=True)) / root
    turned = np.swapaxes(weights, -1, -2) @ upstream
    return inner @ K, np.swapaxes(inner, -1, -2) @ Q, turned


def gradients(given: dict[str, Array], upstream: Array) -> tuple[Array, ...]:
    """The same by the library."""
    values = GRADIENT.evaluate(d_output=upstream, **given)
    return tuple(values[name].array for name in ("dQ", "dK", "dV"))


GRADIENT = PLAIN.gradient(("Q", "K", "V"))


def pairs() -> Iterator[Pair]:
    """Arrays, then balls."""
    small, heads, long = random(64, 64), random(12, 1024, 64), random(8192, 64)
    yield Pair("all steps, 64 × 64", lambda: all_steps(small), lambda: textbook(**small), 20)
    yield Pair(
        "all steps, 12 heads of 1024 × 64",
        lambda: all_steps(heads),
        lambda: textbook(**heads),
        1.05,
        with_memory=True,
    )
    yield Pair(
        "output only, 12 heads of 1024 × 64",
        lambda: output_only(heads),
        lambda: textbook(**heads),
        0.6,
        0.3,
        with_memory=True,
    )
    yield Pair(
        "output only, 8192 × 64",
        lambda: output_only(long),
        lambda: textbook(**long),
        0.6,
        0.3,
        with_memory=True,
        most_runs=5,
    )
    yield from _beside_torch()
    upstream = random(512, 64)["Q"]
    middle = random(512, 64)
    yield Pair(
        "gradients of Q, K, V, 512 × 64",
        lambda: gradients(middle, upstream),
        lambda: backward(middle, upstream),
        1.2,
    )
    yield from _balls(small)


def _beside_torch() -> Iterator[Pair]:
    try:
        import torch
    except ImportError:
        return
    torch.set_num_threads(2)
    heads = random(12, 1024, 64, dtype="float32")
    Q, K, V = (torch.from_numpy(array) for array in heads.values())
    yield Pair(
        "output only, float32, 12 heads; PyTorch",
        lambda: output_only(heads, "float32"),
        lambda: torch.nn.functional.scaled_dot_product_attention(Q, K, V),
        3,
    )


def _balls(given: dict[str, Array]) -> Iterator[Pair]:
    def ours() -> object:
        return PLAIN.evaluate(**given).balls("O", 53)

    def theirs() -> object:
        with precision(53):
            return flint_balls(given)

    yield Pair("balls, 64 × 64, 53 bits; python-flint", ours, theirs, 1.5)
    with precision(53):
        read = [*map(_read, given.values())]
    warm = PLAIN.evaluate(**given)
    for letter in "QKV":
        warm.balls(letter, 53)

    def warm_balls() -> object:
        warm._values[53] = {k: v for k, v in warm._values[53].items() if k in given}
        return warm.balls("O", 53)

    def warm_flint() -> object:
        with precision(53):
            return _flint(*read)

    yield Pair("balls, 64 × 64, 53 bits, read already; python-flint", warm_balls, warm_flint, 1.5)
    weights = PLAIN.evaluate(**given)["weights"].array
    yield Pair(
        "proven decimals of the weights, 64 × 64; NumPy prints",
        lambda: PLAIN.evaluate(**given)["weights"].decimals(4),
        lambda: np.array2string(weights, threshold=10**9, precision=4),
        20,
    )

    def check() -> object:
        return PLAIN.evaluate(**given).check()

    def enclosed() -> object:
        values = PLAIN.evaluate(**given)
        return [values.balls(letter, 256) for letter in "SZAO"]

    yield Pair("check, 64 × 64; the evaluation in balls", check, enclosed, 1.5)
