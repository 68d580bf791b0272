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


def frequencies(
    dims: int, base: float, scaling: dict[str, Any], length: int
) -> tuple[Array, float]:
    """The frequency of each pair, and what cosines and sines are multiplied by.

    Each kind as its own source computes it: Meta's apply_scaling for llama3 (by wavelengths), the
    code of Peng et al. 2023 for yarn (by columns, t = i/2) or its section 3.2 (by rotations), that
    of Ding et al. 2024 for longrope; dynamic changes the base.
    """
    kind = scaling.get("rope_type", "default")
    base = scaling.get("rope_theta", base)
    theta = np.array([base ** (-2 * t / dims) for t in range(dims // 2)])
    trained = float(scaling.get("original_max_position_embeddings", 0))
    factor = scaling.get("factor", 1)
    match kind:
        case "linear":
            return theta / factor, 1.0
        case "proportional":
            turning = int(scaling["partial_rotary_factor"] * dims // 2)
            return np.where(np.arange(dims // 2) < turning, theta / factor, 0), 1.0
        case "dynamic":
            most = max(length, trained)
            base *= (factor * most / trained - (factor - 1)) ** (dims / (dims - 2))
            return np.array([base ** (-2 * t / dims) for t in range(dims // 2)]), 1.0
        case "llama3":
            return np.array([_llama3(each, trained, scaling) for each in theta]), 1.0
        case "yarn":
            kept = np.array([_yarn(t, dims, base, trained, scaling) for t in range(dims // 2)])
            return kept * theta + (1 - kept) * theta / factor, _yarn_factor(scaling)
        case "longrope":
            listed = scaling["long_factor" if length > trained else "short_factor"]
            usual = math.sqrt(1 + math.log(factor) / math.log(trained)) if factor > 1 else 1.0
            return theta / np.array(listed, float), scaling.get("attention_factor", usual)
    return theta, 1.0


def _llama3(theta: float, trained: float, scaling: dict[str, Any]) -> float:
    low, high, factor = (scaling[key] for key in ("low_freq_factor", "high_freq_factor", "factor"))
    wavelength = 2 * math.pi / theta
    if wavelength < trained / high:
        return theta
    if wavelength > trained / low:
        return theta / float(factor)
    smooth = (trained / wavelength - low) / (high - low)
    return float((1 - smooth) * theta / factor + smooth * theta)


def _yarn(t: int, dims: int, base: float, trained: float, scaling: dict[str, Any]) -> float:
    """How much of a frequency is kept."""
    fast, slow = scaling.get("beta_fast", 32), scaling.get("beta_slow", 1)
    if scaling.get("ramp") == "rotations":
        turns = trained * base ** (-2 * t / dims) / (2 * math.pi)
        return float(np.clip((turns - slow) / (fast - slow), 0, 1))
    low, high = (
        dims * math.log(trained / (turns * 2 * math.pi)) / (2 * math.log(base))
        for turns in (fast, slow)
    )
    if scaling.get("truncate", True):
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, dims - 1)
    high += 0.001 * (low == high)
    return 1 - float(np.clip((t - low) / (high - low), 0, 1))


def _yarn_factor(scaling: dict[str, Any]) -> float:
    def mscale(weight: float) -> float:
        factor = scaling["factor"]
        return 1.0 if factor <= 1 else 0.1 * weight * math.log(factor) + 1.0

    if "attention_factor" in scaling:
        return float(scaling["attention_factor"])
    if "mscale" in scaling and "mscale_all_dim" in scaling:
        return mscale(scaling["mscale"]) / mscale(scaling["mscale_all_dim"])
    return mscale(1)


def pair_axes(sections: list[int], layout: str) -> list[int]:
    """Which axis of positions each pair turns by: Qwen2-VL's blocks, Qwen3-VL's turns."""
    blocks = [axis for axis, count in enumerate(sections) for _ in range(count)]
    if layout != "interleaved":
        return blocks
    out = [0] * sum(sections)
    for axis in range(1, len(sections)):
        for pair in range(axis, sections[axis] * len(sections), len(sections)):
            out[pair] = axis
    return out
