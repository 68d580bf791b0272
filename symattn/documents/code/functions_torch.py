"""What programs in PyTorch may call; a file holds what it needs.

The functions stand in people's files as they are here, so that they are written for readers.
"""
# mypy: ignore-errors

import math

import torch
from torch import Tensor


def softmax_off_by_one(x: Tensor) -> Tensor:
    """Softmax beside one more score, 0, whose weight is dropped."""
    largest = x.amax(dim=-1, keepdim=True).clamp(min=0)
    exps = torch.exp(x - largest)
    return exps / (exps.sum(dim=-1, keepdim=True) + torch.exp(-largest))


def softmax_with_sink(x: Tensor, sink: Tensor) -> Tensor:
    """Softmax beside one more score, the sink, whose weight is dropped."""
    largest = torch.maximum(x.amax(dim=-1, keepdim=True), sink)
    exps = torch.exp(x - largest)
    return exps / (exps.sum(dim=-1, keepdim=True) + torch.exp(sink - largest))


def sparsemax(x: Tensor) -> Tensor:
    """Sparsemax over the last axis (Martins and Astudillo 2016)."""
    x = x - x.amax(dim=-1, keepdim=True)
    ranked = x.sort(dim=-1, descending=True).values
    counts = torch.arange(1, x.shape[-1] + 1, device=x.device)
    thresholds = (ranked.cumsum(dim=-1) - 1) / counts
    return (x - thresholds.amax(dim=-1, keepdim=True)).clamp(min=0)


def entmax15(x: Tensor) -> Tensor:
    """Entmax with alpha 1.5 over the last axis (Peters, Niculae, Martins 2019)."""
    x = (x - x.amax(dim=-1, keepdim=True)) / 2
    ranked = x.sort(dim=-1, descending=True).values
    ranked = ranked.clamp(min=-1)  # what is 1 below gets no weight
    counts = torch.arange(1, x.shape[-1] + 1, device=x.device)
    sums, squares = ranked.cumsum(dim=-1), (ranked * ranked).cumsum(dim=-1)
    means = sums / counts
    levels = means - ((1 - squares + sums * means) / counts).clamp(min=1e-12).sqrt()
    support = (levels <= ranked).sum(dim=-1, keepdim=True)
    return (x - levels.gather(-1, support - 1)).clamp(min=0) ** 2


def hardmax(x: Tensor) -> Tensor:
    """1 at the first largest entry of each row, 0 elsewhere."""
    places = torch.arange(x.shape[-1], device=x.device)
    return (places == x.argmax(dim=-1, keepdim=True)).to(x.dtype)


def top_k(x: Tensor, count: int) -> Tensor:
    """Where the largest entries of each row are, so many; of equal ones the first."""
    falling = x.sort(dim=-1, descending=True, stable=True).indices
    return falling.argsort(dim=-1) < count


def rotate_half(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Turn column t with column t + d/2, for each t, by its angle."""
    first, second = x.chunk(2, dim=-1)
    turned = [first * cos - second * sin, second * cos + first * sin]
    return torch.cat(turned, dim=-1)


def rotate_pairs(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Turn each pair of neighbouring columns by its angle."""
    first, second = x[..., 0::2], x[..., 1::2]
    turned = [first * cos - second * sin, second * cos + first * sin]
    return torch.stack(turned, dim=-1).flatten(-2)


def interleave(a: Tensor, b: Tensor) -> Tensor:
    """Put the columns of two matrices in turn."""
    out = a.new_empty(*a.shape[:-1], a.shape[-1] + b.shape[-1])
    out[..., 0::2], out[..., 1::2] = a, b
    return out


def relative_bucket(
    offsets: Tensor, buckets: int, max_distance: int, bidirectional: bool
) -> Tensor:
    """The bucket of each offset j - i, as in T5 (Raffel et al. 2020)."""
    if bidirectional:  # half of the buckets are for each direction
        half = buckets // 2
        earlier = relative_bucket(-offsets.abs(), half, max_distance, False)
        return torch.where(offsets > 0, half, 0) + earlier
    distance = (-offsets).clamp(min=0)
    exact = buckets // 2
    # Where the other buckets begin; a power may come out just above a whole number.
    steps = [k / (buckets - exact) for k in range(1, buckets - exact)]
    powers = [exact * (max_distance / exact) ** step for step in steps]
    begins = offsets.new_tensor([math.ceil(power * (1 - 1e-12)) for power in powers])
    spaced = exact + torch.bucketize(distance, begins, right=True)
    return torch.where(distance < exact, distance, spaced)


def sums_at(x: Tensor, places: Tensor, count: int) -> Tensor:
    """In each row, the sums of the entries that share a place."""
    shared = places[..., None] == torch.arange(count, device=x.device)
    return torch.where(shared, x[..., None], 0.0).sum(dim=-2)


def split_heads(x: Tensor, heads: int) -> Tensor:
    """(..., rows, heads * columns) as (..., heads, rows, columns)."""
    return x.unflatten(-1, (heads, -1)).transpose(-3, -2)


def group_heads(x: Tensor, groups: int) -> Tensor:
    """(..., heads, rows, columns) as (..., groups, heads / groups, rows, columns)."""
    return x.unflatten(-3, (groups, -1))


def in_one_row(x: Tensor) -> Tensor:
    """(..., rows, columns) as (..., 1, rows * columns)."""
    return x.flatten(-2).unsqueeze(-2)
