"""What a computation in the field learns as it goes, and the reasons why it starts again."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from symattn.errors import SymattnError


class Again(Exception):
    """More is known now about scales and orders; compute again."""


class NeedSign(Exception):
    """The sign of this polynomial decides; compute with both."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


class Empty(Exception):
    """Nothing is defined where these signs are assumed."""


class TooHard(SymattnError):
    """Something that this decision does not cover; the message says what."""


@dataclass
class Known:
    """What earlier rounds of a computation found out."""

    scales: dict[str, list[Fraction]] = field(default_factory=dict)
    orders: dict[str, int] = field(default_factory=dict)
    signs: dict[str, int] = field(default_factory=dict)
    #: Whether functions by cases are taken as they are; equal arguments then give equal values.
    opaque: bool = False
    #: Whether a sign was told by a root or logarithm that would have no value otherwise.
    partial: bool = False

    def assuming(self, key: str, sign: int) -> Known:
        """The same, and the sign of one more polynomial."""
        return Known(self.scales, self.orders, {**self.signs, key: sign}, partial=self.partial)
