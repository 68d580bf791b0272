"""What of a program is taken up, at most, and how near its own numbers have to be."""

from __future__ import annotations

from dataclasses import dataclass

from symattn import isolation


@dataclass(frozen=True)
class Limits:
    """The limits of functions that are derived or proven."""

    #: Steps of a derivation, operations on arrays that record, or on a tape, numbers that are
    #: returned, monomials of a sum.
    steps: int = 200
    recorded: int = 10_000
    operations: int = 200_000
    returned: int = 100_000
    monomials: int = 50_000
    #: Monomials that normal forms may take in all, and operations where finite fields are tried.
    work: int = 2_000_000
    taped: int = 4_000_000
    #: The fewest operations that each of the scores takes: a product, an exponential, two of a sum.
    least: int = 4
    #: The largest whole number that a diagonal of a program may have for all sizes.
    whole: int = 8
    #: How far numbers may lie from the function's own, beside the largest of them.
    near: float = 1e-9
    #: The rounding, a few hundred times, that two functions may have before they are told apart.
    shown: float = 1e-8
    #: Which draws of numbers what is recorded is held against.
    draws: tuple[int, ...] = (7, 8)
    #: By how many powers of 2 numbers are larger that it is held against, too, and the most
    #: operations of what is recorded where that is done.
    larger: tuple[int, ...] = (8, 24, 40)
    probed: int = 50_000
    #: Digits in which a difference is looked at that may be one of rounding, how far numbers may be
    #: unknown there, how many digits, binary and decimal, those have that stand for themselves, and
    #: how many roundings there may be in others.
    digits: int = 50
    coarse: float = 1e-3
    meant: int = 12
    typed: int = 4
    made: int = 4096
    #: How many times further a number is off than it is from itself in single precision, at least,
    #: and the seconds after which no larger sizes are tried.
    single: int = 1000
    seconds: float = 5.0


LIMITS = Limits()

#: What a function may use that is derived, or proven, where nothing is said.
DERIVED, PROVEN = isolation.Limits(60.0, 4096), isolation.Limits(120.0, 4096)
