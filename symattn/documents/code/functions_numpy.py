"""What programs in NumPy may call; a file holds what it needs.

The functions stand in people's files as they are here, so that they are written for readers.
"""
# mypy: disable-error-code="type-arg,no-any-return"

import math

import numpy as np


def softmax(x: np.ndarray) -> np.ndarray:
    """Softmax over the last axis, less the row maximum so that exp cannot overflow."""
    exps = np.exp(x - x.max(axis=-1, keepdims=True))
    return exps / exps.sum(axis=-1, keepdims=True)


def softmax_off_by_one(x: np.ndarray) -> np.ndarray:
    """Softmax beside one more score, 0, whose weight is dropped."""
    largest = np.maximum(x.max(axis=-1, keepdims=True), 0)
    exps = np.exp(x - largest)
    return exps / (exps.sum(axis=-1, keepdims=True) + np.exp(-largest))


def softmax_with_sink(x: np.ndarray, sink: np.ndarray) -> np.ndarray:
    """Softmax beside one more score, the sink, whose weight is dropped."""
    largest = np.maximum(x.max(axis=-1, keepdims=True), sink)
    exps = np.exp(x - largest)
    return exps / (exps.sum(axis=-1, keepdims=True) + np.exp(sink - largest))


def sparsemax(x: np.ndarray) -> np.ndarray:
    """Sparsemax over the last axis (Martins and Astudillo 2016)."""
    x = x - x.max(axis=-1, keepdims=True)
    ranked = -np.sort(-x, axis=-1)
    counts = np.arange(1, x.shape[-1] + 1)
    levels = (ranked.cumsum(axis=-1) - 1) / counts
    threshold = levels.max(axis=-1, keepdims=True).astype(np.result_type(x, 1.0))
    return np.maximum(x - threshold, 0)


def entmax15(x: np.ndarray) -> np.ndarray:
    """Entmax with alpha 1.5 over the last axis (Peters, Niculae, Martins 2019)."""
    x = (x - x.max(axis=-1, keepdims=True)) / 2
    ranked = np.maximum(-np.sort(-x, axis=-1), -1)  # what is 1 below gets no weight
    counts = np.arange(1, x.shape[-1] + 1)
    sums, squares = ranked.cumsum(axis=-1), (ranked * ranked).cumsum(axis=-1)
    means = sums / counts
    levels = means - np.sqrt(np.maximum((1 - squares + sums * means) / counts, 1e-12))
    support = (levels <= ranked).sum(axis=-1, keepdims=True)
    level = np.take_along_axis(levels, support - 1, axis=-1)
    return np.maximum(x - level.astype(np.result_type(x, 1.0)), 0) ** 2


def hardmax(x: np.ndarray) -> np.ndarray:
    """1 at the first largest entry of each row, 0 elsewhere."""
    first = x.argmax(axis=-1, keepdims=True)
    return np.where(np.arange(x.shape[-1]) == first, np.ones_like(x), 0)


def top_k(x: np.ndarray, count: int) -> np.ndarray:
    """Where the largest entries of each row are, so many; of equal ones the first."""
    falling = np.argsort(-x, axis=-1, stable=True)
    return np.argsort(falling, axis=-1) < count


def sigmoid(x: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(-x)), without overflow."""
    return 0.5 * (1 + np.tanh(0.5 * x))


def elu1(x: np.ndarray) -> np.ndarray:
    """Compute x + 1 from 0 on, exp(x) below."""
    return np.where(x >= 0, x + 1, np.exp(np.minimum(x, 0)))


def erf(x: np.ndarray) -> np.ndarray:
    """The error function of each entry."""
    return np.vectorize(math.erf, otypes=[np.result_type(x, 0.0)])(x)


def rotate_half(x: np.ndarray, cos: np.ndarray, sin: np.ndarray) -> np.ndarray:
    """Turn column t with column t + d/2, for each t, by its angle."""
    first, second = np.split(x, 2, axis=-1)
    turned = [first * cos - second * sin, second * cos + first * sin]
    return np.concatenate(turned, axis=-1)


def rotate_pairs(x: np.ndarray, cos: np.ndarray, sin: np.ndarray) -> np.ndarray:
    """Turn each pair of neighbouring columns by its angle."""
    first, second = x[..., 0::2], x[..., 1::2]
    turned = [first * cos - second * sin, second * cos + first * sin]
    return np.stack(turned, axis=-1).reshape(x.shape)


def interleave(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Put the columns of two matrices in turn."""
    out = np.empty((*a.shape[:-1], a.shape[-1] + b.shape[-1]), dtype=a.dtype)
    out[..., 0::2], out[..., 1::2] = a, b
    return out


def alibi_slopes(heads: int) -> list[float]:
    """The slope of each head (Press et al. 2021)."""
    power = 2 ** int(math.log2(heads))
    slopes = [2.0 ** (-8 * (head + 1) / power) for head in range(power)]
    between = [2.0 ** (-4 * (head + 1) / power) for head in range(0, 2 * power, 2)]
    return slopes + between[: heads - power]


def relative_bucket(
    offsets: np.ndarray, buckets: int, max_distance: int, bidirectional: bool
) -> np.ndarray:
    """The bucket of each offset j - i, as in T5 (Raffel et al. 2020)."""
    if bidirectional:  # half of the buckets are for each direction
        half = buckets // 2
        earlier = relative_bucket(-np.abs(offsets), half, max_distance, False)
        return np.where(offsets > 0, half, 0) + earlier
    distance = np.maximum(-offsets, 0)
    exact = buckets // 2
    # Where the other buckets begin; a power may come out just above a whole number.
    steps = [k / (buckets - exact) for k in range(1, buckets - exact)]
    powers = [exact * (max_distance / exact) ** step for step in steps]
    begins = np.array([math.ceil(power * (1 - 1e-12)) for power in powers], dtype=int)
    spaced = exact + np.searchsorted(begins, distance, side="right")
    return np.where(distance < exact, distance, spaced)


def sums_at(x: np.ndarray, places: np.ndarray, count: int) -> np.ndarray:
    """In each row, the sums of the entries that share a place."""
    shared = places[..., None] == np.arange(count)
    return np.where(shared, x[..., None], 0).sum(axis=-2)


def split_heads(x: np.ndarray, heads: int) -> np.ndarray:
    """(..., rows, heads * columns) as (..., heads, rows, columns)."""
    return np.moveaxis(x.reshape(*x.shape[:-1], heads, -1), -2, -3)


def group_heads(x: np.ndarray, groups: int) -> np.ndarray:
    """(..., heads, rows, columns) as (..., groups, heads / groups, rows, columns)."""
    return x.reshape(*x.shape[:-3], groups, -1, *x.shape[-2:])


def in_one_row(x: np.ndarray) -> np.ndarray:
    """(..., rows, columns) as (..., 1, rows * columns)."""
    return x.reshape(*x.shape[:-2], 1, -1)
