"""Whole numbers drawn from a seed, the same on every machine and with every version of Python.

The generator is SplitMix64: Steele, Lea, Flood, Fast Splittable Pseudorandom Number Generators
(2014), figure 17. Numbers below n are the upper half of the product with n, as in Lemire, Fast
Random Integer Generation in an Interval (2019), without his correction: of small n each number is
as likely as the others to 1 in 2⁵⁶.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256

_GOLDEN = 0x9E3779B97F4A7C15
_MIX = (30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)
_MASK = (1 << 64) - 1


class Draws:
    """Numbers one after the other.

    >>> draws = Draws(0)
    >>> hex(draws.word()), hex(draws.word())
    ('0xe220a8397b1dcdaf', '0x6e789e6aa1b965f4')
    """

    def __init__(self, seed: int) -> None:
        self._words = _words(seed & _MASK)

    def word(self) -> int:
        """The next 64 bits."""
        return next(self._words)

    def below(self, count: int) -> int:
        """One of 0, …, count − 1."""
        return (self.word() * count) >> 64


def _words(state: int) -> Iterator[int]:
    while True:
        state = (state + _GOLDEN) & _MASK
        mixed = state
        for shift, factor in _MIX:
            mixed = ((mixed ^ (mixed >> shift)) * factor) & _MASK
        yield mixed ^ (mixed >> 31)


def seed_of(words: str, seed: int) -> int:
    """A seed for somebody's name, whatever other names stand beside it.

    >>> seed_of("Ada", 7) == seed_of("Ada", 7) != seed_of("Emmy", 7)
    True
    """
    return int.from_bytes(sha256(f"{seed}:{words}".encode()).digest()[:4])
