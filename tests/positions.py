"""Position schemes from their papers and their code, in NumPy; nothing here knows symattn."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]


def waves(places: Array, width: int, base: float = 10000) -> Array:
    """Vaswani et al. 2017, section 3.5: sines and cosines of each place, in turn."""
    columns = np.arange(width)
    angles = places[..., None] / base ** (2 * (columns // 2) / width)
    return np.where(columns % 2, np.cos(angles), np.sin(angles))


def turned(x: Array, base: float, dims: int, pairing: str, start: int = 0, way: int = 1) -> Array:
    """Pairs of columns as complex numbers times e^{i p θ} (Su et al. 2021, equation 12).

    Row p + 1 is at position p + `start`; `way` is −1 for the inverse.
    """
    half = dims // 2
    theta = base ** (-np.arange(half) / half)
    turns = np.exp(way * 1j * np.outer(np.arange(x.shape[-2]) + start, theta))
    first, second = (
        (slice(0, half), slice(half, dims))
        if pairing == "half"
        else (slice(0, dims, 2), slice(1, dims, 2))
    )
    pairs = (x[..., first] + 1j * x[..., second]) * turns
    out = x.astype(float)
    out[..., first], out[..., second] = pairs.real, pairs.imag
    return out


def get_slopes(count: int) -> list[float]:
    """The code of Press et al. 2021 (attention_with_linear_biases)."""

    def get_slopes_power_of_2(count: int) -> list[float]:
        start = 2 ** (-(2 ** -(math.log2(count) - 3)))
        return [start * start**i for i in range(count)]

    if math.log2(count).is_integer():
        return get_slopes_power_of_2(count)
    closest = 2 ** math.floor(math.log2(count))
    return get_slopes_power_of_2(closest) + get_slopes(2 * closest)[0::2][: count - closest]


def position_bucket(relative: int, both: bool, buckets: int, far: int) -> int:
    """T5's _relative_position_bucket; a logarithm that is a step but for its rounding is one."""
    out = 0
    if both:
        buckets //= 2
        out += (relative > 0) * buckets
        relative = abs(relative)
    else:
        relative = -min(relative, 0)
    exact = buckets // 2
    if relative < exact:
        return out + relative
    large = math.log(relative / exact) / math.log(far / exact) * (buckets - exact)
    return out + min(exact + int(large + 1e-9), buckets - 1)
