"""What is assumed: letters that equations define, and matrices that they make orthogonal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.algebra.comparison import Joint
from symattn.algebra.counterexample import Letter, Meaning, Side
from symattn.errors import SymattnError
from symattn.nodes.base import shape_of


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

    def between(self, left: Side, right: Side) -> Statement:
        """The statement about two expressions under the same hypotheses."""
        origin = None if self.origin is None else self.origin.between(left, right)
        return replace(self, left=left, right=right, origin=origin)

    @property
    def all_sides(self) -> tuple[Side, ...]:
        """Both sides, and those of the hypotheses."""
        return (self.left, self.right, *(side for pair in self.where for side in pair))

    def letters(self) -> dict[str, Letter]:
        """All matrices that occur."""
        out: dict[str, Letter] = {}
        for side in self.all_sides:
            for name, letter in side.letters().items():
                if name in out and out[name].shape != letter.shape:
                    raise SymattnError(
                        f"{name}: is {_dims(out[name])} in one place and {_dims(letter)} in another"
                    )
                if name in out and out[name].count != letter.count:
                    raise SymattnError(
                        f"{name}: is one for each head in one place and shared in another; "
                        "these are different inputs"
                    )
                if name in out and out[name].heads != letter.heads:
                    one, other = (str(has.heads or has.count) for has in (out[name], letter))
                    raise SymattnError(
                        f"{name}: is one for each of {one} heads in one place and of {other} "
                        "in another; these are different inputs"
                    )
                boolean = letter.boolean or (name in out and out[name].boolean)
                out[name] = replace(letter, boolean=boolean)
        return out


def _dims(letter: Letter) -> str:
    return " × ".join(map(str, letter.shape))


# ---- what an equation says ---------------------------------------------------------------------


def same_shape(one: Meaning, two: Meaning) -> bool:
    """Whether both are matrices of one shape."""
    if not isinstance(one, MatrixExpr) or not isinstance(two, MatrixExpr | sympy.MatrixBase):
        return False
    pairs = zip(shape_of(one), shape_of(two), strict=True)
    return all(sympy.expand(a - b) == 0 for a, b in pairs)


def _definition(one: Meaning, two: Meaning) -> tuple[str, MatrixExpr] | None:
    """The letter that an equation defines and what it is: K1 = K, and A = Aᵀ.

    A symmetric matrix is ½ (B + Bᵀ) with any B, for which the letter itself serves. A number that
    is repeated to fill a matrix defines nothing here.
    """
    if not same_shape(one, two):
        return None
    if isinstance(two, sympy.MatrixSymbol) and not isinstance(one, sympy.MatrixSymbol):
        one, two = two, one
    if isinstance(one, sympy.Transpose) and isinstance(two, MatrixExpr):
        one, two = one.arg, _turned(two)
    if not isinstance(one, sympy.MatrixSymbol):
        return None
    turned = {sympy.Transpose(one): 1, sympy.MatMul(-1, sympy.Transpose(one)): -1}
    if two in turned and one.shape[0] == one.shape[1]:
        mirrored = sympy.MatMul(turned[two], sympy.Transpose(one))
        return one.name, sympy.MatMul(sympy.S.Half, sympy.MatAdd(one, mirrored))
    letters = {s.name for s in two.atoms(sympy.MatrixSymbol)} if hasattr(two, "atoms") else set()
    return None if one.name in letters else (one.name, two)


def definitions(
    where: Sequence[tuple[Side, Side]],
) -> tuple[dict[str, MatrixExpr], dict[str, int], list[tuple[Meaning, Meaning]]]:
    """The letters that hypotheses define, those that are (skew-)symmetric, and all other equations.

    A letter is defined once, and not by itself, also on a detour; signs are 1 for A = Aᵀ and −1
    for A = −Aᵀ.
    """
    means: dict[str, MatrixExpr] = {}
    mirrored: dict[str, int] = {}
    others: list[tuple[Meaning, Meaning]] = []
    for one, two in ((one.meaning, two.meaning) for one, two in where):
        found = defined_by(one, two, means)
        if found is None or found[0] in mirrored:
            others.append((one, two))
            continue
        name, meaning = found
        if name in _letters(meaning):
            mirrored[name] = -1 if meaning.has(sympy.S.NegativeOne) else 1
        else:
            means[name] = meaning
    return means, mirrored, others


def defined_by(
    one: Meaning, two: Meaning, means: Mapping[str, MatrixExpr]
) -> tuple[str, MatrixExpr] | None:
    """What an equation defines beside others: a letter that none of them defines, on no detour."""
    for found in (_definition(one, two), _definition(two, one)):
        if found is None or found[0] in means:
            continue
        name, meaning = found
        reached = set(left := _letters(meaning))
        while left:
            left = {x for known in left & means.keys() for x in _letters(means[known])} - reached
            reached |= left
        mirrored = meaning.func is sympy.MatMul and reached == {name}
        if name not in reached or mirrored:
            return found
    return None


def _letters(meaning: sympy.Basic) -> set[str]:
    return {symbol.name for symbol in meaning.atoms(sympy.MatrixSymbol)}


def _turned(expr: MatrixExpr) -> MatrixExpr:
    """The transpose of ± a letter; any other expression stands under the sign."""
    number, factors = expr.as_coeff_matrices() if isinstance(expr, sympy.MatMul) else (1, [expr])
    if number == -1 and len(factors) == 1:
        return sympy.MatMul(-1, sympy.Transpose(factors[0]))
    return sympy.Transpose(expr)


def orthogonal(one: Meaning, two: Meaning) -> tuple[sympy.MatrixSymbol, bool] | None:
    """The letter R of Rᵀ R = I (True) or R Rᵀ = I (False)."""
    if not isinstance(two, sympy.Identity) or not isinstance(one, sympy.MatMul):
        return None
    coefficient, factors = one.as_coeff_matrices()
    if len(factors) != 2 or coefficient != 1:
        return None
    a, b = factors
    if isinstance(a, sympy.Transpose) and a.arg == b and isinstance(b, sympy.MatrixSymbol):
        return b, True
    if isinstance(b, sympy.Transpose) and b.arg == a and isinstance(a, sympy.MatrixSymbol):
        return a, False
    return None
