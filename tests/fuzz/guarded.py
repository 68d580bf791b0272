"""Programs that do something else from so many tokens on, of which none is proven for all sizes.

    python -m tests.fuzz.guarded

Each threshold is 256, written in a way that no whole number above 8 stands in the program, and used
in a way that no run with fewer tokens shows. Those that only look so are proven.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from symattn.lifting.comparing import prove_programs
from symattn.verifying.loading import load
from tests.lifting.test_comparing import plain

THRESHOLDS = (
    *("b ** 4", "b * b * b * b", "2 ** 8", "1 << 8", "int(2.56e2)", "int(25.6) * 8 + 56", "BLOCK"),
    *("len('x' * 8) ** 2 * b", "int('256')", "sum([8] * 8) * 4", "ord('Ā')", "int(np.exp2(8.0))"),
    *("len(Q) - len(Q) + b ** 4", "Q.shape[0] ** 0 * b ** 4", "np.iinfo(np.uint8).max + 1"),
    *(
        "LIMITS['most']",
        "Limit.most",
        "most()",
        "b ** 4 * len(K) // len(K)",
        "(Q * 0).size * 0 + b ** 4",
    ),
)

USES = (
    "out * (1.5 if len(Q) > t else 1.0)",
    "out * (1.0 + 0.5 * (len(Q) > t))",
    "out * max(1.0, len(Q) - t + 0.0)",
    "out * np.maximum(1.0, len(Q) - t)",
    "out * np.max([1.0, len(Q) - t])",
    "out * (1.0 + len(Q) // (t + 1))",
    "out * (1.0 + np.exp(np.minimum(len(Q) - t, 1.0) * 700.0 - 700.0))",
    "out * (1.0 + np.tanh((len(Q) - t - 0.5) * 50.0) / 2 + 0.5)",
    "out * np.where(np.arange(len(Q)) < t, 1.0, 2.0)[:, None]",
    "out * np.where(np.tri(len(Q), 1, -t) > 0.0, 2.0, 1.0)",
    "out + np.tri(len(Q), len(K), -t) @ V",
    "out + np.tril(np.ones((len(Q), len(K))), -t) @ V",
    "out + np.eye(len(Q), len(K), k=t) @ V",
    "np.concatenate([out[:t], 2.0 * out[t:]])",
    "out * (1.0 + len(range(t, len(Q))))",
    "out * np.clip(len(Q) - t, 1.0, 2.0)",
    "out * (1.0 + (np.full((len(Q), 1), len(Q)) > t))",
    "out * (1.0 + (np.ones((len(Q), 1)) * len(Q) > t))",
    "out * [1.0, 2.0][len(Q) > t]",
    "out * (len(Q) > t or 1.0) * 1.0 + out * (len(Q) > t)",
    "out * (1.0 + bool(max(0, len(Q) - t)))",
    "out * (1.0 + min(Q.shape[0] // t, 1))",
)

#: Programs that do the same at all sizes, and are not refused.
PLAIN = (
    "out * 1.0",
    "out * t / t",
    "out * np.ones((len(Q), 1))",
    "out * np.sqrt(len(Q)) / len(Q) ** 0.5",
    "np.where(np.tri(len(Q), len(V.T)) > t, 0.0, out)",
)

_SOURCE = """
import math
import numpy as np

BLOCK = 4 ** 4
LIMITS = {{"most": 4 ** 4}}


class Limit:
    most = 4 ** 4


def most():
    return 4 ** 4


def guarded(Q, K, V, b=4):
    t = {threshold}
    e = np.exp(Q @ K.T / np.sqrt(K.shape[1]))
    out = e @ V / e.sum(axis=1, keepdims=True)
    return {use}
"""


def programs(uses: tuple[str, ...], thresholds: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """The name of each, and its source."""
    for use in uses:
        for threshold in thresholds:
            yield f"{threshold}: {use}", _SOURCE.format(threshold=threshold, use=use)


def does_more(function: Callable[..., Any], tokens: int) -> bool:
    """Whether it does something else with so many tokens, by NumPy."""
    draw = np.random.default_rng(2)
    q, k, v = (draw.normal(size=(tokens, 2)) for _ in range(3))
    with np.errstate(all="ignore"):
        return not np.allclose(plain(q, k, v), function(q, k, v), atol=1e-9, rtol=1e-9)


def tried(uses: tuple[str, ...], thresholds: tuple[str, ...]) -> tuple[Counter[str], list[str]]:
    """How many there are by verdict, and what was said falsely of all sizes."""
    found, false = Counter[str](), []
    with TemporaryDirectory() as folder:
        for number, (name, source) in enumerate(programs(uses, thresholds)):
            path = Path(folder) / f"guarded{number}.py"
            path.write_text(source, encoding="utf-8")
            function = load(f"{path}:guarded")
            if does_more(function, 20):
                found["shown by few tokens"] += 1
                continue
            more = does_more(function, 700)
            verdict = prove_programs(plain, function).verdict
            found[f"{'more' if more else 'the same'}\t{verdict}"] += 1
            if more and verdict == "equal for all sizes":
                false.append(name)
    return found, false


def main() -> None:
    """Try all, and print a table."""
    for uses, thresholds in ((USES, THRESHOLDS), (PLAIN, THRESHOLDS[:2])):
        found, false = tried(uses, thresholds)
        for what, number in sorted(found.items()):
            print(what, number, sep="\t")
        print(*false or ["nothing was said falsely"], sep="\n")


if __name__ == "__main__":
    main()
