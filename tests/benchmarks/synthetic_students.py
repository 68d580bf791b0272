"""Synthetic students, who do something else than they should.

Every student is a plain NumPy pipeline written from the description of what is done, with no
symattn in it; `explaining_rates` counts how often their mistakes are named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import numpy as np

#: What a student does, where it is not the right thing: the part, and the way.
MISTAKES: dict[str, tuple[str, str]] = {
    "not-scaled": ("scale", "none"),
    "scaled-by-d_k": ("scale", "width"),
    "multiplied-by-root": ("scale", "times"),
    "query-key-exchanged": ("scores", "exchanged"),
    "values-as-keys": ("scores", "values"),
    "softmax-over-columns": ("weights", "columns"),
    "ratio": ("weights", "ratio"),
    "over-everything": ("weights", "everything"),
    "row-sums-along-columns": ("weights", "broadcast"),
    "softmax-twice": ("weights", "twice"),
    "softmax-of-one": ("weights", "ones"),
    "weights-transposed": ("output", "transposed"),
    "keys-as-values": ("output", "keys"),
    "queries-as-values": ("output", "queries"),
    "not-masked": ("mask", "none"),
    "mask-inverted": ("mask", "inverted"),
    "mask-transposed": ("mask", "transposed"),
    "masked-to-0": ("mask", "zero"),
    "mask-after-softmax": ("mask", "after"),
}

SCORES: dict[str, Callable[..., Any]] = {
    "right": lambda q, k, v: q @ k.T,
    "exchanged": lambda q, k, v: k @ q.T,
    "values": lambda q, k, v: q @ v.T,
}
SCALES: dict[str, Callable[..., Any]] = {
    "right": lambda s, d: s / np.sqrt(d),
    "none": lambda s, d: s,
    "width": lambda s, d: s / d,
    "times": lambda s, d: s * np.sqrt(d),
}


def softmax(z: Any, axis: int = -1) -> Any:
    """From the textbook."""
    e = np.exp(z - np.where(np.isfinite(z), z, -np.inf).max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


WEIGHTS: dict[str, Callable[..., Any]] = {
    "right": softmax,
    "columns": lambda z: softmax(z, 0),
    "ratio": lambda z: z / z.sum(axis=1, keepdims=True),
    "everything": lambda z: np.exp(z) / np.exp(z).sum(),
    "broadcast": lambda z: np.exp(z) / np.exp(z).sum(axis=1),
    "twice": lambda z: softmax(softmax(z)),
    "ones": np.ones_like,
}
OUTPUTS: dict[str, Callable[..., Any]] = {
    "right": lambda a, q, k, v: a @ v,
    "transposed": lambda a, q, k, v: a.T @ v,
    "keys": lambda a, q, k, v: a @ k,
    "queries": lambda a, q, k, v: a @ q,
}


def masked(z: Any, how: str) -> Any:
    """The causal mask, or what somebody makes of it."""
    hidden = ~np.tril(np.ones(z.shape, dtype=bool))
    if how == "inverted":
        hidden = ~hidden
    if how == "transposed":
        hidden = hidden.T
    if how in ("none", "after"):
        return z
    return np.where(hidden, 0.0 if how == "zero" else -np.inf, z)


def spelled(x: float, digits: int, rounding: str = ROUND_HALF_UP) -> str:
    """A number as a student writes it."""
    if not np.isfinite(x):
        return str(x)
    return str(Decimal(repr(float(x))).quantize(Decimal(1).scaleb(-digits), rounding))


def written(matrix: Any, digits: int, rounding: str = ROUND_HALF_UP) -> list[list[str]]:
    """The numbers of a matrix."""
    return [[spelled(x, digits, rounding) for x in row] for row in np.asarray(matrix)]


def hand_in(
    rng: Any, done: dict[str, str], digits: int, rounding: str, carry: bool, causal: bool
) -> str | None:
    """A worksheet with a student's numbers; None where the mistake makes no sense."""
    n, d = int(rng.integers(3, 5)), int(rng.integers(2, 4))
    q, k, v = (rng.integers(-3, 4, (n, d)).astype(float) for _ in range(3))
    lines = [
        f"{name} = {[[int(x) for x in row] for row in m]}"
        for name, m in (("Q", q), ("K", k), ("V", v))
    ]
    claims: dict[str, Any] = {}

    def note(name: str, value: Any, exact: bool = False) -> Any:
        claims[name] = written(value, 0 if exact else digits, rounding)
        return np.array([[float(x) for x in row] for row in claims[name]]) if carry else value

    with np.errstate(all="ignore"):
        values = note("scores", SCORES[done.get("scores", "right")](q, k, v), exact=True)
        values = note("scaled", SCALES[done.get("scale", "right")](values, d))
        if causal:
            values = note("masked", masked(values, done.get("mask", "right")))
        values = WEIGHTS[done.get("weights", "right")](values)
        if done.get("mask") == "after":
            values = np.tril(values)
        values = note("weights", values)
        values = note("output", OUTPUTS[done.get("output", "right")](values, q, k, v))
    if any(
        "nan" in x.lower() or x.lower().lstrip("-") == "infinity" or len(x) > 9
        for m in claims.values()
        for row in m
        for x in row
    ):
        return None
    head = ["[attention]", 'mask = "causal"' if causal else "", "[given]", *lines, "[claims]"]
    return "\n".join([*head, *(f"{name} = {m!r}" for name, m in claims.items())])


def sheets(rng: Any, count: int, names: tuple[str, ...], **style: Any) -> Iterator[str]:
    """So many worksheets with these mistakes in them that make a difference."""
    done = dict(MISTAKES[name] for name in names)
    style.setdefault("causal", "mask" in done or bool(rng.integers(2)))
    made = 0
    for _ in range(50 * count):
        seed = int(rng.integers(2**31))
        sheet = hand_in(np.random.default_rng(seed), done, **style)
        if sheet is None:
            continue
        if names and sheet == hand_in(np.random.default_rng(seed), {}, **style):
            continue  # the mistake does not show in these numbers
        yield sheet
        made += 1
        if made == count:
            return
