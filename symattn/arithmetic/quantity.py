"""A true number as it is known: balls of it at any precision, and its exact value.

Every question about its digits comes down to the sign of x − q for a rational q. A ball that lies
on one side of q decides it; where it straddles q, x may be q itself, and only exact arithmetic can
say so (`symattn.arithmetic.proof`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import sympy
from flint import arb, fmpq

from symattn.arithmetic.enclosure import (
    BITS,
    ball,
    in_flint,
    in_sympy,
    is_minus_infinity,
    precision,
)
from symattn.arithmetic.proof import equals, sign
from symattn.errors import SymattnError, Undecided

#: How far to go where the numbers are many, and each bit is paid for many times.
USUAL_BITS = BITS[4]


@dataclass(frozen=True)
class Quantity:
    """A true number x: balls of it, and `exact()`, x itself, or None; it is asked for last."""

    ball_at: Callable[[int], arb]
    exact: Callable[[], sympy.Expr | None]
    most_bits: int = USUAL_BITS

    @property
    def hidden(self) -> bool:
        """Whether it is −∞."""
        return is_minus_infinity(self.ball_at(BITS[0]))

    def enclosures(self) -> Iterator[tuple[int, arb]]:
        """Balls of more and more bits, and how many; in the end those of the exact value.

        A comparison (hardmax) may be open at any precision.
        """
        ball_at = self.ball_at
        for bits in (bits for bits in BITS if bits <= self.most_bits):
            value = ball_at(bits)
            yield bits, value
            # fewer good bits at a precision that should do: the ball hides a comparison
            if bits == BITS[1] and value.is_finite() and value.rel_accuracy_bits() < 16:
                exact = self.exact()
                ball_at = ball_at if exact is None else exactly(exact).ball_at

    def exact_side(self, q: fmpq, deep: bool = True) -> int | None:
        """The sign of x − q by exact arithmetic; None if that does not tell.

        With `deep` what the names of long operands stand for is looked into.
        """
        value, number = self.exact(), in_sympy(q)
        if value is None:
            return None
        if isinstance(value, sympy.Rational):
            return 0 if value == number else 1 if value > number else -1
        try:
            return sign(value - number, deep=deep)
        except SymattnError:  # it has symbols, or a part that cannot be enclosed
            return None

    def side(self, q: fmpq) -> int:
        """The sign of x − q, proven.

        Raises `Undecided` where neither balls nor exact arithmetic can tell.
        """
        for bits, value in self.enclosures():
            with precision(bits):  # q is rounded to a ball of as many bits, to be compared
                if value > q or value < q:
                    return 1 if value > q else -1
            if value.is_exact() and value.fmpq() == q:
                return 0
            if bits == BITS[1] and (found := self.exact_side(q)) is not None:
                return found
        raise Undecided(f"undecided at {self.most_bits:,} bits")

    def same(self, other: sympy.Expr) -> bool:
        """Whether x is exactly `other`. Raises `Undecided` where no proof is found."""
        if isinstance(other, sympy.Rational):
            return self.side(in_flint(other)) == 0
        for bits in BITS[:3]:
            with precision(bits):
                apart = self.ball_at(bits) - ball(other)
            if not apart.contains(0):
                return False
        value = self.exact()
        answer = None if value is None else equals(value - other, sympy.S.Zero)
        if answer is None:
            raise Undecided(f"undecided at {BITS[2]:,} bits")
        return answer


def exactly(value: sympy.Expr) -> Quantity:
    """A number that is known exactly."""

    def at(bits: int) -> arb:
        with precision(bits):
            return ball(value)

    return Quantity(at, lambda: value)
