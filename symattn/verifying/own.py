"""An attention of one's own, in equations, asked for what functions are tried on.

It answers as an `Attention` does: which heads it has and which steps; its masks, biases and norms
are in its equations, so that a function is given none of them by itself.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TypeAlias

from symattn.attention.spec import Attention
from symattn.derivations import Derivation
from symattn.language.spec import Equations


@dataclass(frozen=True)
class Own:
    """Equations, the inputs that they have, and how many heads and groups, if these are open."""

    equations: Equations
    inputs: tuple[str, ...]
    heads: str | int | None = None
    kv_heads: str | int | None = None
    mask: tuple[tuple[str, object], ...] = ()
    bias: None = None
    source: str = "given"
    normaliser: str = ""
    output_projection: None = None

    @classmethod
    def of(cls, equations: Equations) -> Own:
        """What these equations are asked for. Raises `ReadError` for those that cannot be read."""
        whole = replace(equations).whole  # a copy reads them: what was read cannot be sent away
        open_sizes = {size.name for size in whole.size_symbols if size not in whole.sizes}
        heads, groups = (name if name in open_sizes else None for name in ("h", "g"))
        return cls(replace(equations), tuple(item.name for item in whole.inputs), heads, groups)

    def derivation(self, given: Collection[str]) -> Derivation:
        """The steps from what is given on, for so many heads."""
        counts = {"n_h": self.heads, "n_g": self.kv_heads}
        sizes = {name: count for name, count in counts.items() if isinstance(count, int)}
        return self.equations.derivation(given, sizes=sizes)


#: What a function may be held against.
Meant: TypeAlias = Attention | Own


def meant(said: Attention | Equations) -> Meant:
    """What a function is held against where an attention is said so."""
    return Own.of(said) if isinstance(said, Equations) else said
