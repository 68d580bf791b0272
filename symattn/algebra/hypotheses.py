"""What is assumed: letters that equations define, and matrices that they make orthogonal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.algebra.claims import meant
from symattn.algebra.comparison import Joint
from symattn.algebra.counterexample import Letter, Meaning, Side, Sizes, compared
from symattn.algebra.forms import Refused
from symattn.arithmetic.base import Array
from symattn.errors import SymattnError


@dataclass(frozen=True)
class Statement:
    """Two sides and what is assumed: equations, and names whose entries are positive."""

    left: Side
    right: Side
    where: tuple[tuple[Side, Side], ...] = ()
    positive: frozenset[str] = frozenset()
    permutations: frozenset[str] = frozenset()
    #: All expressions that are said to be equal, the sides first and last.
    chain: tuple[Meaning, ...] = ()
    #: How each letter was read: its shape, or that it is a number.
    reading: tuple[tuple[str, str], ...] = ()
    #: Whether it was read in a way that is as likely as the first.
    rival: bool = False
    #: The letters whose shapes were given, and the statement before numbers were put in.
    declared: frozenset[str] = frozenset()
    origin: Statement | None = None
    #: Of two derivations, what is said of their inputs.
    joint: Joint | None = None
    #: Whether the left side is said to be at most the right one, entry by entry, not equal to it.
    at_most: bool = False
    #: Whether that is written the other way round: R ≥ L.
    falls: bool = False
    #: What stands for numbers and has to have a value: c ≥ 0 where T = √c, a ≠ 0 where c = 1/a.
    valued: tuple[Side, ...] = ()

    def between(self, left: Side, right: Side) -> Statement:
        """The statement about two expressions under the same hypotheses."""
        origin = None if self.origin is None else self.origin.between(left, right)
        return replace(self, left=left, right=right, origin=origin)

    @property
    def all_sides(self) -> tuple[Side, ...]:
        """Both sides, and those of the hypotheses."""
        assumed = (side for pair in self.where for side in pair)
        return (self.left, self.right, *assumed, *self.valued)

    def broken(self, arrays: Mapping[str, Array], scalars: Sizes) -> Iterator[str]:
        """What is assumed and does not hold of these numbers."""
        for side in self.valued:
            if side.is_refused(scalars):
                yield f"that {side.text or side.meaning} has a value does not hold"
        for one, other in self.where:
            if not compared(one, other, arrays, scalars).agree:
                yield f"{one.text or one.meaning} = {other.text or other.meaning} does not hold"
        for name in sorted(self.positive & arrays.keys()):
            if not all(bool(entry > 0) for entry in arrays[name].ravel()):
                yield f"{name} > 0 does not hold"
        for name in sorted(self.permutations & arrays.keys()):
            ones, zeros = arrays[name] == 1, arrays[name] == 0
            if not np.all(ones | zeros) or {*ones.sum(axis=0), *ones.sum(axis=1)} != {1}:
                yield f"that {name} is a permutation does not hold"

    def letters(self) -> dict[str, Letter]:
        """All matrices that occur."""
        out: dict[str, Letter] = {}
        for side in self.all_sides:
            for name, letter in side.letters().items():
                before = out.get(name, letter)
                if (before.shape, before.count) != (letter.shape, letter.count):
                    raise SymattnError(
                        f"{name}: is {before} in one place and {letter} in another; these are "
                        "different inputs"
                    )
                out[name] = replace(letter, boolean=letter.boolean or before.boolean)
        return out


# ---- what an equation says ---------------------------------------------------------------------


@dataclass(frozen=True)
class Use:
    """What an equation is used for: it says what a number or a letter is, or of which kind.

    `kind` is as in a certificate: number, letter, mirror (A = ±Aᵀ), orthonormal or known, and
    `meaning` is what the checker takes of it (`certificate.meant`). `flipped`: the letter stands
    on the right.
    """

    kind: str
    place: int
    flipped: bool = False
    letter: str = ""
    meaning: Meaning = None


def uses(where: Sequence[tuple[Meaning, Meaning]], positive: Sequence[str] = ()) -> Iterator[Use]:
    """What each equation is used for, numbers first; one that is not listed has cofactors alone.

    It is the first kind that the checker takes it for. A letter is defined once, and not by
    itself, also on a detour.
    """
    numbers = {k: use for k, pair in enumerate(where) for use in _of_number(k, pair, positive)}
    yield from numbers.values()
    means: dict[str, MatrixExpr] = {}
    for k, (one, other) in enumerate(where):
        if k in numbers:
            continue
        found = next(_of_letter(k, (one, other), means), None)
        if found is not None and found.kind != "orthonormal":
            means[found.letter] = found.meaning
        if found is not None:
            yield found
        elif isinstance(one, MatrixExpr) and not isinstance(one, sympy.MatrixSymbol):
            yield Use("known", k)


def _of_number(k: int, pair: tuple[Meaning, Meaning], positive: Sequence[str]) -> Iterator[Use]:
    """The number that an equation defines; none that is positive, which it might not be."""
    for flipped, (one, other) in ((True, pair[::-1]), (False, pair)):
        with suppress(Refused):
            number, meaning = meant("number", one, other, {})
            if number.name not in positive:
                yield Use("number", k, flipped, number.name, meaning)


def _of_letter(
    k: int, pair: tuple[Meaning, Meaning], means: Mapping[str, MatrixExpr]
) -> Iterator[Use]:
    """What an equation may say of a letter beside others: a plain letter before a transpose."""
    orders = [(False, pair), (True, pair[::-1])]
    plain = sorted(orders, key=lambda order: not isinstance(order[1][0], sympy.MatrixSymbol))
    for kind, tried in (("mirror", orders), ("letter", plain), ("orthonormal", orders[:1])):
        for flipped, (one, other) in tried:
            with suppress(Refused):
                letter, meaning = meant(kind, one, other, means)
                yield Use(kind, k, flipped, letter.name, meaning)
