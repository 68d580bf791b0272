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
from symattn.lifting.graphs import in_doubles
from symattn.verifying.calling import converted
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

#: The same of PyTorch and of JAX, where places are compared and shifted, too.
USES_OF_TORCH = (
    "out * (1.5 if Q.size(0) > t else 1.0)",
    "out * torch.where(torch.arange(len(Q)) < t, 1.0, 2.0)[:, None]",
    "out.masked_fill((torch.arange(len(Q)) >= t).unsqueeze(1), 2.0)",
    "out.masked_fill(torch.arange(len(Q))[:, None] - 8 - 8 - 8 >= 8 + 8, 2.0)",
    "out.masked_fill(torch.arange(len(Q))[:, None] - torch.arange(1)[None, :] > t, 0.0)",
    "out + torch.ones(len(Q), len(K), dtype=Q.dtype).tril(-t) @ V",
    "out + torch.tril(torch.ones(len(Q), len(K), dtype=Q.dtype), diagonal=-t) @ V",
    "out * (torch.arange(len(Q)) - t).clamp(min=1.0)[:, None]",
    "out * torch.full((len(Q), 1), len(Q)).sub(t).clamp(min=1.0)",
    "out * (1.0 + (torch.zeros_like(Q[:, :1]) + len(Q) > t))",
    "out * torch.maximum(torch.tensor(1.0), torch.tensor(len(Q)) - t)",
    "torch.cat([out[:t], 2.0 * out[t:]])",
    "out + F.pad(out[t:], (0, 0, 0, min(t, len(Q))))",
    "F.dropout(out, 0.0 if len(Q) < t else 1.0)",
    "out if len(Q) < t else out * 2.0",
)
USES_OF_JAX = (
    "out * jnp.where(jnp.arange(len(Q)) < t, 1.0, 2.0)[:, None]",
    "out + jnp.tril(jnp.ones((len(Q), len(K))), -t) @ V",
    "out * jnp.maximum(1.0, len(Q) - t)",
    "out * jnp.where(jnp.arange(len(Q))[:, None] - jnp.arange(1) > t, 2.0, 1.0)",
    "out.at[t:].multiply(2.0)",
    "jax.lax.cond(len(Q) > t, lambda x: 2.0 * x, lambda x: x, out)",
)

#: Programs that do the same at all sizes, and are not refused.
PLAIN = (
    "out * 1.0",
    "out * t / t",
    "out * np.ones((len(Q), 1))",
    "out * np.sqrt(len(Q)) / len(Q) ** 0.5",
    "np.where(np.tri(len(Q), len(V.T)) > t, 0.0, out)",
)

PLAIN_OF_TORCH = (
    "out.to(Q.dtype) * 1.0",
    "out.masked_fill(torch.arange(len(Q))[:, None] < torch.arange(1)[None, :], 2.0)",
    "torch.where(torch.ones(len(Q), V.size(-1)).tril(-8) > t, 0.0, out)",
    "out.mT.contiguous().transpose(0, 1)",
)

_SOURCE = """
import math
import numpy as np
{imports}

BLOCK = 4 ** 4
LIMITS = {{"most": 4 ** 4}}


class Limit:
    most = 4 ** 4


def most():
    return 4 ** 4


def guarded(Q, K, V, b=4):
    t = {threshold}
    e = {np}.exp(Q @ K.T / K.shape[1] ** 0.5)
    out = e @ V / e.sum(1)[:, None]
    return {use}
"""

#: The libraries by what they are called in a program, and what such a one imports.
_LIBRARIES = {"np": "numpy", "torch": "torch", "jnp": "jax"}
_IMPORTS = {
    "np": "",
    "torch": "import torch\nimport torch.nn.functional as F",
    "jnp": "import jax\nimport jax.numpy as jnp",
}


def programs(
    uses: tuple[str, ...], thresholds: tuple[str, ...], library: str = "np"
) -> Iterator[tuple[str, str]]:
    """The name of each, and its source."""
    imports = _IMPORTS[library]
    for use in uses:
        for threshold in thresholds:
            source = _SOURCE.format(threshold=threshold, use=use, np=library, imports=imports)
            yield f"{threshold}: {use}", source


def does_more(function: Callable[..., Any], tokens: int, library: str = "np") -> bool:
    """Whether it does something else with so many tokens, by NumPy."""
    draw = np.random.default_rng(2)
    given = [draw.normal(size=(tokens, 2)) for _ in range(3)]
    with np.errstate(all="ignore"), in_doubles(_LIBRARIES[library]):
        own = function(*(converted(x, _LIBRARIES[library], "float64") for x in given))
        return not np.allclose(plain(*given), np.asarray(own), atol=1e-9, rtol=1e-9)


def tried(
    uses: tuple[str, ...], thresholds: tuple[str, ...], library: str = "np"
) -> tuple[Counter[str], list[str]]:
    """How many there are by verdict, and what was said falsely of all sizes."""
    found, false = Counter[str](), []
    with TemporaryDirectory() as folder:
        for number, (name, source) in enumerate(programs(uses, thresholds, library)):
            path = Path(folder) / f"guarded{number}.py"
            path.write_text(source, encoding="utf-8")
            function = load(f"{path}:guarded")
            if does_more(function, 20, library):
                found["shown by few tokens"] += 1
                continue
            more = does_more(function, 700, library)
            verdict = prove_programs(plain, function).verdict
            found[f"{'more' if more else 'the same'}\t{verdict}"] += 1
            if more and verdict == "equal for all sizes":
                false.append(name)
    return found, false


def main() -> None:
    """Try all, and print a table."""
    few = THRESHOLDS[:6]
    for uses, thresholds, library in (
        *((USES, THRESHOLDS, "np"), (PLAIN, few[:2], "np")),
        *((USES_OF_TORCH, few, "torch"), (PLAIN_OF_TORCH, few[:2], "torch")),
        (USES_OF_JAX, few, "jnp"),
    ):
        found, false = tried(uses, thresholds, library)
        for what, number in sorted(found.items()):
            print(what, number, sep="\t")
        print(*false or ["nothing was said falsely"], sep="\n")


if __name__ == "__main__":
    main()
