"""Pairs of programs, the same by construction or changed subtly, told apart or not.

    python -m tests.fuzz.programs_paired --count 150 --seed 1

NumPy says which are the same: no such pair may be told apart, and no other one proven.
"""

from __future__ import annotations

import inspect
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from symattn.errors import SymattnError
from symattn.isolation import Limits
from symattn.lifting.comparing import prove_programs
from tests.fuzz.programs import FUNCTIONS, made, main, numbers, rewritten
from tests.lifting import attentions

#: What a program returns, and what it is given.
RETURNED, GIVEN = r"\n    return (.+)\n", r"(def \w+\(Q, K, V[^)]*\):\n)"

#: What leaves a program as it is in real arithmetic.
REWRITES = (
    (r"np\.sqrt\((Q\.shape\[-?1\])\)", r"\1 ** 0.5"),
    (r" / np\.sqrt\((Q\.shape\[-?1\])\)", r" * \1 ** -0.5"),
    (r" - S\.max\(axis=1, keepdims=True\)", ""),
    (r" - max\(s\)", " - s[0]"),
    (r" - S\.max\(-1\)\[:, None\]", " - 3.0"),
    (r"axis=1", "axis=-1"),
    (r"block=2", "block=3"),
    (r"Q @ K(\[[^\]]*\])?\.T", r"(K\1 @ Q.T).T"),
    (r"Q @ K(\[[^\]]*\])?\.T", r"np.einsum('id,jd->ij', Q, K\1)"),
    (r"np\.exp\(S - new\)", "np.exp(S) * np.exp(-new)"),
    (r"np\.matmul\(Q, K\.T\)", "Q @ K.T"),
    (r"(?<=[a-zE)\]]) @ V(?!\[)", " @ (V * 3.0) / 3.0"),
    (r"(?<=[a-zE)\]]) @ V(?!\[)", " @ (V + 0.5 - 0.5)"),
    (r"softmax\(([a-zS]+)\) @", r"softmax(\1 + 2.0) @"),
    (r"j > i", "~(j <= i)"),
    (r"-1e30", "-np.inf"),
    (GIVEN, r"\1    Q, K = Q * 4.0, K * 0.25\n"),
    (GIVEN, r"\1    V = (V + 1e9) - 1e9\n"),
)

#: What makes another program of it.
MUTATIONS = (
    (RETURNED, r"\n    return (\1) * (1 + 1e-3)\n"),
    (RETURNED, r"\n    return -(\1)\n"),
    (RETURNED, r"\n    return (\1) + 1e-4\n"),
    (RETURNED, r"\n    return (\1) * (1.01 if len(V) > 7 else 1)\n"),
    (RETURNED, r"\n    return (\1) * (1.01 if len(V) == 2 else 1)\n"),
    (RETURNED, r"\n    return (\1) * (1 + 1e-3 * (V.shape[1] - 1))\n"),
    (RETURNED, r"\n    return (\1)[::-1]\n"),
    (GIVEN, r"\1    V = V[::-1]\n"),
    (GIVEN, r"\1    K = K + 1e-3 * V[:, :1]\n"),
    (GIVEN, r"\1    Q = np.maximum(Q, -2.0)\n"),
    (r"sqrt\(Q\.shape\[1\]\)", "sqrt(Q.shape[1] + 1e-2)"),
    (r"sqrt\(Q\.shape\[1\]\)", "sqrt(V.shape[1])"),
    (r"axis=1", "axis=0"),
    (r"j > i", "j >= i + 2"),
    (r"np\.tri\(len\(Q\), len\(K\)\)", "np.tri(len(Q), len(K), 1)"),
    (r"-1e30\), 1\)", "-1e30), 2)"),
    (r"-1e30", "-4.0"),
    (r"np\.exp\(", "1e-3 + np.exp("),
    (r"sum\(1, keepdims=True\)", "sum(1, keepdims=True) + 1e-4"),
    (r"out \* factor", "out * factor ** 1.01"),
    (r"np\.exp\(top - new\)", "np.exp(np.minimum(top - new, -0.1))"),
    (r"K\[t\]", "K[max(t, 1) if len(K) > 1 else t]"),
)

#: Sizes n, m, d_k, d_v at which NumPy compares; the last is beyond what `prove` tries.
SIZES = ((1, 1, 1, 1), (2, 2, 3, 2), (3, 3, 2, 4), (5, 5, 3, 2), (9, 9, 2, 3), (260, 260, 2, 3))


def is_same(one: Callable[..., Any], other: Callable[..., Any], *sizes: int) -> bool:
    """Whether two functions return the same numbers at these sizes, but for rounding."""
    n, m, d, w = sizes
    draw = np.random.default_rng(3)
    q, k, v = draw.normal(size=(n, d)), draw.normal(size=(m, d)), draw.normal(size=(m, w))
    a, b = (numbers(function, q, k, v) for function in (one, other))
    if a is None or b is None:
        return a is b  # neither can be called at these sizes
    return bool(a.shape == b.shape and np.allclose(a, b, atol=1e-6, rtol=1e-6))


def pair(draw: random.Random) -> tuple[str, Callable[..., Any], Callable[..., Any]]:
    """Two programs of one: rewritten, and rewritten and, of two in three, changed."""
    name = draw.choice([one for one in FUNCTIONS if one != "split_scale"])  # of other letters
    source = inspect.getsource(getattr(attentions, name))
    one, other = (rewritten(source, REWRITES, draw, 12) for _ in range(2))
    if draw.random() < 2 / 3:
        other = rewritten(other, MUTATIONS, draw, 4)
    return f"{one}\n{other}", made(name, one), made(name, other)


def tried(count: int, seed: int) -> tuple[Counter[tuple[bool, str]], list[str]]:
    """How many pairs were the same and not, by verdict, and what was said falsely."""
    draw, found, false = random.Random(seed), Counter[tuple[bool, str]](), []
    while sum(found.values()) < count:
        code, one, other = pair(draw)
        same = [is_same(one, other, *sizes) for sizes in SIZES]
        try:
            proven = prove_programs(one, other, limits=Limits(30, 4096))
            verdict, reason = str(proven.verdict), proven.reason
        except SymattnError as error:
            verdict, reason = "refused", str(error)
        found[all(same), verdict] += 1
        proven_for = same if verdict == "equal for all sizes" else same[2:-2]
        if (verdict.startswith("equal") and not all(proven_for)) or (
            verdict == "different" and all(same)
        ):
            false.append(f"{verdict}: {reason}\n{code}")
    return found, false


if __name__ == "__main__":
    main(tried, 150, ("same", "other"))
