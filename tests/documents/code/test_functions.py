"""The functions that programs are made of: those for lists and PyTorch against NumPy's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symattn.documents.code import functions_numpy
from symattn.documents.code import lists as untyped

lists: Any = untyped  # people's files have them as they are, without types

_RANDOM = np.random.default_rng(3)
X, Y = _RANDOM.normal(size=(2, 3, 4)), _RANDOM.normal(size=(2, 3, 4))
COS, SIN = np.cos(Y[0, :, :2]), np.sin(Y[0, :, :2])
PLACES = np.array([0, 2, 1, 2])
DISTANCES = np.arange(-40, 41)
TRUTH = X > 0
HEADS = _RANDOM.normal(size=(2, 6, 3, 4))

#: What each function of more than one module is called with.
SHARED: dict[str, tuple[Any, ...]] = {
    "softmax": (X,),
    "softmax_off_by_one": (X,),
    "softmax_with_sink": (X, Y[0, :, :1]),
    "sparsemax": (X,),
    "entmax15": (2 * X,),
    "hardmax": (np.round(X),),
    "top_k": (np.round(X), 2),
    "sigmoid": (50 * X,),
    "elu1": (X,),
    "erf": (X,),
    "rotate_half": (X, COS, SIN),
    "rotate_pairs": (X, COS, SIN),
    "interleave": (X, Y[..., :3]),
    "sums_at": (X, np.broadcast_to(PLACES, X.shape), 5),
    "split_heads": (X, 2),
    "group_heads": (HEADS, 3),
    "in_one_row": (X,),
}


def _threshold(x: Any) -> Any:
    """τ of sparsemax by halving: Σ max(0, x − τ) = 1."""
    low, high = x.max(-1, keepdims=True) - 1, x.max(-1, keepdims=True)
    for _ in range(60):
        middle = (low + high) / 2
        above = np.maximum(x - middle, 0).sum(-1, keepdims=True) > 1
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return low


def _threshold_of_squares(x: Any) -> Any:
    """τ of entmax15 by halving: Σ max(0, x − τ)² = 1."""
    low, high = x.max(-1, keepdims=True) - 1, x.max(-1, keepdims=True)
    for _ in range(60):
        middle = (low + high) / 2
        above = (np.maximum(x - middle, 0) ** 2).sum(-1, keepdims=True) > 1
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return low


#: What the other functions for lists are called with, and what they are in NumPy.
ALONE: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "depth": (np.ndim, (X,)),
    "shape": (np.shape, (X,)),
    "flat": (np.ravel, (X,)),
    "reshape": (np.reshape, (X, [3, 2, 4])),
    "broadcast": (np.broadcast_to, (X[0, :1], [2, 3, 4])),
    "add": (np.add, (X, Y[0])),
    "subtract": (np.subtract, (X, Y[:, :1])),
    "multiply": (np.multiply, (X, 3)),
    "divide": (lambda a, b: a * [1 / 2, np.nan], (X[..., :1], [2, 0])),
    "negative": (np.negative, (X,)),
    "matmul": (np.matmul, (X, Y[0].T)),
    "transpose": (lambda x: x.swapaxes(-1, -2), (X,)),
    "exponential": (np.exp, (X,)),
    "tanh": (np.tanh, (X,)),
    "sqrt": (np.sqrt, (X * X,)),
    "cos": (np.cos, (X,)),
    "sin": (np.sin, (X,)),
    "relu": (lambda x: np.maximum(x, 0), (X,)),
    "log": (np.log, (X * X,)),
    "absolute": (np.abs, (X,)),
    "at_most_1": (lambda x: np.minimum(x, 1), (2 * X,)),
    "at_most": (np.less_equal, (X, Y[0, :, :1])),
    "whole_power": (np.power, (X, np.array([[0, 1, 2, 3]]))),
    "above0": (lambda x: x > 0, (X,)),
    "below1": (lambda x: x < 1, (2 * X,)),
    "hidden": (np.isneginf, (np.where(TRUTH, X, -np.inf),)),
    "equals": (np.equal, (np.round(X), 1)),
    "where": (np.where, (TRUTH, X, Y)),
    "row_sum": (lambda x: x.sum(-1, keepdims=True), (X,)),
    "row_max": (lambda x: x.max(-1, keepdims=True), (X,)),
    "row_all": (lambda x: x.all(-1, keepdims=True), (TRUTH,)),
    "row_any": (lambda x: x.any(-1, keepdims=True), (TRUTH,)),
    "threshold": (_threshold, (X,)),
    "threshold_of_squares": (_threshold_of_squares, (X,)),
    "repeat": (np.repeat, (X, 2, -2)),
    "join": (np.concatenate, ([X, Y], -1)),
    "both": (np.logical_and, (TRUTH, Y > 0)),
    "negated": (np.logical_not, (TRUTH,)),
    "entries": (lambda x, i, j: x[..., i, j], (X, [[0, 1], [2, 0]], [[3, 1], [0, 0]])),
    "part": (lambda x, start, stop, step, axis: x[..., start:stop:step], (X, 1, 4, 2, -1)),
    "pick": (lambda x, place, axis: x[..., place, :], (X, 1, -2)),
    "expand": (np.expand_dims, (X, -2)),
    "total": (np.sum, (X, -2)),
    "identity": (np.eye, (3,)),
    "inverse": (np.linalg.inv, (X[..., :2, :2] + 3 * np.eye(2)[::-1],)),
    "chosen": (lambda x, places: x[..., places], (X, np.array([[0, 2], [3, 1], [1, 1]]))),
    "merge_heads": (lambda x: np.concatenate(np.moveaxis(x, -3, 0), axis=-1), (HEADS,)),
}


def plain(value: Any) -> Any:
    """Arrays as lists of lists."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    return [plain(part) for part in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", SHARED)
def test_a_function_is_the_same_in_every_module(name: str) -> None:
    import torch

    from symattn.documents.code import functions_torch

    arguments = SHARED[name]
    wanted = getattr(functions_numpy, name)(*arguments)
    np.testing.assert_allclose(getattr(lists, name)(*map(plain, arguments)), wanted, atol=1e-12)
    if (ours := getattr(functions_torch, name, None)) is not None:
        tensors = [torch.tensor(x) if isinstance(x, np.ndarray) else x for x in arguments]
        np.testing.assert_allclose(ours(*tensors).numpy(), wanted, atol=1e-12)


@pytest.mark.parametrize("name", ALONE)
def test_a_function_for_lists_is_numpys(name: str) -> None:
    function, arguments = ALONE[name]
    found = getattr(lists, name)(*map(plain, arguments))
    np.testing.assert_allclose(np.array(found), function(*arguments), atol=1e-12)


@pytest.mark.parametrize("bidirectional", [False, True])
def test_buckets_of_distances(bidirectional: bool) -> None:
    import torch

    from symattn.documents.code import functions_torch

    settings = 8, 20, bidirectional
    wanted = functions_numpy.relative_bucket(DISTANCES, *settings)
    assert [lists.relative_bucket(int(d), *settings) for d in DISTANCES] == wanted.tolist()
    ours = functions_torch.relative_bucket(torch.tensor(DISTANCES), *settings)
    assert ours.tolist() == wanted.tolist()


def test_every_function_is_called() -> None:
    """A function that no row calls is noticed, in each module."""
    called = {*SHARED, *ALONE, "relative_bucket", "alibi_slopes", "each"}
    for module in (lists, functions_numpy):
        own = {
            name
            for name, value in vars(module).items()
            if callable(value) and getattr(value, "__module__", "") == module.__name__
        }
        assert own <= called, own - called
