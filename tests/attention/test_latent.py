"""Latent attention, relative scores and set pooling, held against their papers' equations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy

from symattn import Attention, SymattnError
from symattn.nodes.relative import ClippedShift, RelativeShift

RNG = np.random.default_rng(3)


def numbers(*shape: int) -> Any:
    return RNG.integers(-3, 4, shape) / 2.0


@pytest.mark.parametrize(
    ("axes", "why"),
    [
        ({"positions": "rotary"}, "decoupled = true"),
        ({"score": "cosine"}, "plain dot product"),
        ({"score": "transformer-xl"}, "plain dot product"),
        ({"feature_map": "relu"}, "plain dot product"),
        ({"tie": "query-key"}, "no projection matrix to absorb"),
        ({"projection_bias": True}, "a bias cannot be"),
        ({"source": "given"}, "projected from X"),
    ],
)
def test_what_cannot_be_absorbed_is_refused(axes: dict[str, Any], why: str) -> None:
    with pytest.raises(SymattnError, match=why):
        Attention(**({"source": "self", "latent": "absorbed"} | axes))


def test_a_bias_that_is_given_is_not_dropped() -> None:
    names = ["X", "W_Q", "W_D", "W_K", "W_V", "b_K"]
    with pytest.raises(SymattnError, match="a bias cannot be"):
        Attention(source="self", latent="absorbed").derivation(given=names)


def test_an_even_number_of_distances_is_refused() -> None:
    given = {"Q": numbers(2, 2), "K": numbers(2, 2), "V": numbers(2, 2)}
    with pytest.raises(
        SymattnError, match=r"distance_keys: 4 rows or columns are not 2\*n_clip \+ 1"
    ):
        Attention(score="shaw").derivation().evaluate(**given, distance_keys=numbers(4, 2))
    with pytest.raises(SymattnError, match="odd number"):
        ClippedShift(sympy.MatrixSymbol("B", 3, 4), 3)
    with pytest.raises(SymattnError, match="have 5 distances, not 6"):
        RelativeShift(sympy.MatrixSymbol("B", 3, 6), 3)
