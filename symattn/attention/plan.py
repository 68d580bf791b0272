"""`Plan`: a spec with nothing left open, and the size symbols that all steps share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy


def size(name: str) -> sympy.Symbol:
    """The symbol of a size."""
    return sympy.Symbol(name, integer=True, positive=True)


n, m, p, n_vocab, h, g = map(size, ("n", "m", "p", "n_vocab", "h", "g"))
d_model, d_mem, d_c, d_k = map(size, ("d_model", "d_mem", "d_c", "d_k"))
d_a, d_v, d_out = map(size, ("d_a", "d_v", "d_out"))

DEFAULT_SCALE = 1 / sympy.sqrt(d_k)


@dataclass(frozen=True)
class Plan:
    """The choice on each axis; see `symattn.attention.spec.Attention` for what they mean."""

    source: str
    embedded: bool
    tie: str | None
    latent: bool
    projection_bias: bool
    positions: tuple[str, dict[str, Any]] | None
    cache: bool
    score: str
    feature_map: str | None
    scale: sympy.Expr | None
    soft_cap: sympy.Expr | None
    bias: tuple[str, dict[str, Any]] | None
    masks: tuple[tuple[str, Any], ...]
    normaliser: str
    unfold: bool
    heads: int | str | None
    kv_heads: int | str | None
    output_projection: bool
    output_form: str
