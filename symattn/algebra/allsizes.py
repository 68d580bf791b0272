"""Proofs for all sizes: both sides in the normal form over indices, with what is assumed."""

from __future__ import annotations

from typing import Any

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.algebra import normal
from symattn.algebra.indexed import Proof, Split
from symattn.algebra.normal import NotHere
from symattn.algebra.sums import Contraction
from symattn.derivation import Derivation
from symattn.errors import SymattnError
from symattn.nodes.base import shape_of

_MOST_SPLITS = 8


def proven_for_all_sizes(statement: Any) -> bool:
    """Whether both sides have the same normal form, for symbolic sizes and indices."""
    try:
        sides = [_prepared(statement, side.meaning) for side in (statement.left, statement.right)]
        (left, one), (right, other) = sides
        other.ranges = one.ranges  # one index, one range
        rows, columns = _shape(left, right)
        whole = (sympy.S.Zero, rows), (sympy.S.Zero, columns)
        return _proven((left, right), (one, other), *whole, 0)
    except (NotHere, Split, SymattnError, RecursionError):
        return False


def _prepared(statement: Any, meaning: Any) -> tuple[Any, Proof]:
    """One side and what is known about it; its steps are its own, the hypotheses are shared."""
    means: dict[str, MatrixExpr] = {}
    unit: list[Contraction] = []
    for one, two in statement.where:
        if isinstance(one.meaning, sympy.MatrixSymbol) and one.meaning.name not in two.letters():
            means[one.meaning.name] = two.meaning
        elif (turned := orthogonal(one.meaning, two.meaning)) is not None:
            symbol, columns = turned
            # Rᵀ R = I for orthonormal columns; for a square matrix R Rᵀ = I too
            square = symbol.shape[0] == symbol.shape[1]
            unit += [(symbol, columns, symbol, not columns)]
            unit += [(symbol, not columns, symbol, columns)] if square else []
    if isinstance(meaning, Derivation):
        means.update((step.letter, step.expr) for step in meaning.steps)
        meaning = meaning.steps[-1].expr
    for inverse in getattr(meaning, "atoms", lambda *_: ())(sympy.Inverse):
        unit += [(inverse, False, inverse.arg, False), (inverse.arg, False, inverse, False)]
        unit += [(inverse, True, inverse.arg, True), (inverse.arg, True, inverse, True)]
    proof = Proof(means, tuple(unit), statement.positive, statement.permutations)
    for one, two in statement.where:
        _learn(proof, one.meaning, two.meaning)
    return meaning, proof


def _learn(proof: Proof, one: Any, two: Any) -> None:
    """A hypothesis whose left side is one sum: Σ_l k_il² = c."""
    if isinstance(one, sympy.MatrixSymbol) or not isinstance(one, MatrixExpr):
        return
    rows, columns = shape_of(one)
    places = [int(size == 1) for size in (rows, columns)]
    letters = [0 if single else normal.fresh() for single in places]
    try:
        left, right = proof.entry(one, *letters), proof.entry(two, *letters)
    except (NotHere, Split):
        return
    if len(left) == 1:
        ((mono, coefficient),) = left.items()
        if len(mono) == 1:
            ((factor, power),) = mono
            if factor[0] == "sum" and power == 1:
                proof.told.append((factor, normal.scaled(right, 1 / coefficient)))


def orthogonal(one: Any, two: Any) -> tuple[Any, bool] | None:
    """The letter R of Rᵀ R = I (True) or R Rᵀ = I (False)."""
    if not isinstance(two, sympy.Identity) or not isinstance(one, sympy.MatMul):
        return None
    _, factors = one.as_coeff_matrices()
    if len(factors) != 2:
        return None
    a, b = factors
    if isinstance(a, sympy.Transpose) and a.arg == b and isinstance(b, sympy.MatrixSymbol):
        return b, True
    if isinstance(b, sympy.Transpose) and b.arg == a and isinstance(a, sympy.MatrixSymbol):
        return a, False
    return None


def _shape(left: Any, right: Any) -> tuple[Any, Any]:
    matrices = [side for side in (left, right) if isinstance(side, MatrixExpr)]
    return shape_of(matrices[0]) if matrices else (sympy.S.One, sympy.S.One)


def _proven(
    sides: tuple[Any, Any], proofs: tuple[Proof, Proof], row: tuple[Any, Any],
    column: tuple[Any, Any], depth: int,
) -> bool:  # fmt: skip
    """Whether entry (i, j) of both is the same, for i and j in these ranges (start, size)."""
    if depth > _MOST_SPLITS:
        raise NotHere("too many cases")
    letters: list[Any] = []
    known = proofs[0].ranges
    known.clear()
    for _, size in (row, column):
        letter = normal.fresh()
        single = size == 1
        letters.append(sympy.S.Zero if single else letter)
        if not single:
            known[letter] = size
    i, j = row[0] + letters[0], column[0] + letters[1]
    i, j = (int(x) if x.is_Integer else x for x in (i, j))
    try:
        one, other = (proof.entry(side, i, j) for side, proof in zip(sides, proofs, strict=True))
    except Split as split:
        if split.index not in letters:
            raise NotHere("a sum that cannot be split") from None
        here = letters.index(split.index)
        ranges = [row, column]
        start, size = ranges[here]
        if split.point.free_symbols & set(letters):
            raise NotHere("a seam that depends on the other index") from None
        for part in ((start, split.point), (start + split.point, size - split.point)):
            ranges[here] = part
            if not _proven(sides, proofs, ranges[0], ranges[1], depth + 1):
                return False
        return True
    return normal.is_zero(normal.plus((one, normal.scaled(other, -1))))
