"""Rotary positions, known by what they do to numbers, in whatever way a program computes them.

Row i of Q, counted from 0, is turned by the angle i b^(-2t/d) in its pair t (Su and others 2021,
section 3.2.2): b is found from the second pair of row 1, and all rows have to be turned so.
"""

from __future__ import annotations

import numpy as np

from symattn.arithmetic.base import Array
from symattn.lifting.limits import LIMITS


def rotary(before: Array, after: Array) -> dict[str, str] | None:
    """The options of the rotary positions that make one array of another; None for none.

    >>> before = np.ones((3, 4))
    >>> rotary(before, before) is None
    True
    """
    rows, width = before.shape[-2:]
    if width % 2 or rows < 2:
        return None
    for pairing in ("neighbours", "half"):
        angles = _turned(_in_pairs(before, pairing), _in_pairs(after, pairing))
        if angles is None:
            continue
        base = _base(angles, width)
        wanted = np.arange(rows)[:, None] * base ** (-np.arange(0, width, 2) / width)
        if not np.allclose(np.exp(1j * angles), np.exp(1j * wanted), rtol=0, atol=LIMITS.near):
            continue
        said = {"base": f"{base:.12g}", "pairing": pairing}
        usual = {"base": "10000", "pairing": "neighbours"}
        return {name: one for name, one in said.items() if one != usual[name]}
    return None


def _in_pairs(numbers: Array, pairing: str) -> Array:
    """Pairs of columns as complex numbers: neighbours, or one of each half."""
    if pairing == "half":
        first, second = np.split(numbers, 2, axis=-1)
    else:
        first, second = numbers[..., ::2], numbers[..., 1::2]
    return first + 1j * second


def _turned(before: Array, after: Array) -> Array | None:
    """The angle of each pair of each row; None for pairs that are not only turned."""
    turns = (after / before).reshape(-1, *before.shape[-2:])
    near = LIMITS.near * np.maximum(1, 1 / np.abs(before)).reshape(turns.shape)
    if (np.abs(np.abs(turns) - 1) > near).any() or (np.abs(turns - turns[0]) > near).any():
        return None
    return np.asarray(np.angle(turns[0]))


def _base(angles: Array, width: int) -> float:
    """The base of which the second pair of row 1 is turned by a power; any will do for one pair."""
    if width < 4 or angles[1, 1] <= 0:
        return 10000
    base = float(angles[1, 1]) ** (-width / 2)
    whole = float(round(base))
    return whole if abs(base - whole) <= 1e-6 * whole else base
