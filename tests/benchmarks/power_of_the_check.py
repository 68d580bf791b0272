"""How often `Evaluation.check` lets an error of so many ulp in an output pass.

Run with ``python tests/benchmarks/power_of_the_check.py``. Attention over random numbers is
evaluated in NumPy; one entry of one step is moved by k units in the last place, and the check is
asked. The table goes into docs/numbers.md. It measures; it does not judge.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symattn import Attention
from symattn.arithmetic.enclosure import BITS
from symattn.evaluate.check import compare

SLIPS = (1, 2, 4, 8, 16, 32, 64, 256, 1024)
STEPS = ("scores", "weights", "output")


def passed(
    dtype: str, shape: tuple[int, int], rounds: int, seed: int = 1
) -> dict[str, list[float]]:
    """The share of slips that pass, by step, for each size in `SLIPS`."""
    rng = np.random.default_rng(seed)
    derivation = Attention().derivation()
    counts = {name: np.zeros(len(SLIPS)) for name in STEPS}
    for _ in range(rounds):
        n, d = shape
        told: dict[str, Any] = {
            name: rng.normal(size=(n, d)).astype(dtype).astype(float) for name in "QKV"
        }
        values = derivation.evaluate(dtype=dtype, **told)
        for name in STEPS:
            letter = values[name].step.letter
            array = values[name].array
            true, allowed = values.balls(letter, BITS[1]), values.rounded(letter)
            place = tuple(int(rng.integers(size)) for size in array.shape)
            for k, slip in enumerate(SLIPS):
                moved = array.copy()
                sign = 1 if rng.integers(2) else -1
                moved[place] += sign * slip * np.spacing(np.abs(moved[place]))
                counts[name][k] += compare(name, moved, true, allowed).agrees
    return {name: (found / rounds).tolist() for name, found in counts.items()}


def main(rounds: int = 200) -> None:
    """Print the table, as Markdown."""
    print("| dtype, n × d | step |", " | ".join(f"{slip} ulp" for slip in SLIPS), "|")
    print("|---" * (len(SLIPS) + 2) + "|")
    for dtype, shape in (
        ("float64", (4, 4)),
        ("float64", (16, 16)),
        ("float32", (4, 4)),
        ("float16", (4, 4)),
    ):
        for name, shares in passed(dtype, shape, rounds).items():
            cells = " | ".join(f"{100 * share:.0f}" for share in shares)
            print(f"| {dtype}, {shape[0]} × {shape[1]} | {name} | {cells} |")


if __name__ == "__main__":
    main()
