"""Far positions in few digits: what `evaluate` computes of them, and what its check notices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from symattn import Attention
from symattn.arithmetic.arrays import Arrays
from symattn.derivations import Evaluation
from tests.positions import get_slopes, turned, waves

FAR = (512, 3000, 8192)


def evaluated(choices: dict[str, Any], dtype: str, past: int = 0) -> Evaluation:
    """Three tokens whose numbers every dtype holds exactly, and so many before them."""
    derivation = Attention(**choices).derivation()
    random = np.random.default_rng(5)
    widths = {"d_k": 4, "d_v": 1, "d_model": 4, "n": 3, "m": 3, "p": past, "h": 6}
    given = {}
    for item in derivation.inputs:
        sizes = (*filter(None, (item.count,)), *item.shape)
        shape = [int(size.subs({s: widths[s.name] for s in size.free_symbols})) for size in sizes]
        given[item.name] = random.integers(-8, 9, size=shape) / 8
    return derivation.evaluate(dtype=dtype, **given)


@pytest.mark.parametrize("far", FAR)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_positions_in_every_dtype(dtype: str, far: int) -> None:
    """Each is its formula in float64 to a few units of rounding, and the check agrees."""
    unit = float(np.finfo(dtype).eps)
    rotated = evaluated({"source": "given", "positions": {"rotary": {"start": far}}}, dtype)
    wanted = turned(rotated.array("Q").astype(float), 10000, 4, "interleaved", far)
    np.testing.assert_allclose(rotated["Q_rotated"].array, wanted, atol=3 * unit)
    placed = evaluated({"source": "self", "positions": {"sinusoidal": {"start": far}}}, dtype)
    np.testing.assert_allclose(placed["positions"].array, waves(far + np.arange(3), 4), atol=unit)
    biased = evaluated(
        {"source": "given", "heads": "h", "bias": "alibi", "cache": True}, dtype, past=far
    )
    apart = np.arange(far + 3) - np.arange(3)[:, None] - far
    penalties = np.array(get_slopes(6))[:, None, None] * apart
    np.testing.assert_allclose(biased["bias"].array, penalties, rtol=unit)
    for values in (rotated, placed):
        assert values["output"].array.dtype == dtype
        assert values.check(), values.check()


@pytest.mark.parametrize("far", FAR)
@pytest.mark.parametrize(
    ("choices", "step"),
    [
        ({"source": "given", "positions": "rotary"}, "Q_rotated"),
        ({"source": "given", "positions": {"rotary": {"pairing": "half"}}}, "Q_rotated"),
        ({"source": "self", "positions": "sinusoidal"}, "positions"),
    ],
    ids=str,
)
def test_the_check_notices_angles_in_half_precision(
    choices: dict[str, Any], step: str, far: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How far a number may be off is not measured with the error that is looked for."""
    monkeypatch.setattr(Arrays, "wide", property(lambda self: self))
    kind = choices["positions"]
    options: dict[str, Any] = {}
    if isinstance(kind, dict):
        ((kind, options),) = kind.items()
    spec = {**choices, "positions": {kind: {**options, "start": far}}}
    found = evaluated(spec, "float16").check()
    assert not found
    assert found.first_wrong is not None
    assert found.first_wrong.name == step
