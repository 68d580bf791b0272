"""Both sides of identities that the language of statements has no words for, made in SymPy.

Rows name these functions by `made`, so that the list of identities needs no SymPy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.algebra.claims import Slope
from symattn.algebra.counterexample import Sides
from symattn.algebra.equality import expressed
from symattn.arithmetic.shapes import Size
from symattn.language.shapes import GivenShape
from symattn.language.spec import derivation
from symattn.nodes.entrywise import SoftCap
from symattn.nodes.heads import Stacked
from symattn.nodes.masks import Causal, Masked, Padding
from symattn.nodes.normalise import Softmax

n, m, p, d_k, d_v = sympy.symbols("n m p d_k d_v", integer=True, positive=True)

#: The shapes of the letters of a gradient.
_SHAPES = {
    "Q": ("n", "d_k"),
    "K": ("m", "d_k"),
    "V": ("m", "d_v"),
    **dict.fromkeys(("S", "A", "dA"), ("n", "m")),
    "dO": ("n", "d_v"),
}


def _weights(scores: MatrixExpr, mask: MatrixExpr | sympy.MatrixBase) -> MatrixExpr:
    """The weights of scores to which a mask is added."""
    return Softmax(Masked(scores, mask))


# ---- attention


def _letters(*letters: tuple[str, Size, Size]) -> list[sympy.MatrixSymbol]:
    return [sympy.MatrixSymbol(*letter) for letter in letters]


def cached() -> Sides:
    """The last p rows of a causal pass; p new queries over n cached keys and p new ones."""
    first, second, old, new = _letters(("S", n, n), ("R", n, p), ("T", p, n), ("U", p, p))
    values = Stacked(*_letters(("V", n, d_v), ("W", p, d_v)))
    last = Stacked(old, new, 1)
    whole = _weights(Stacked(Stacked(first, second, 1), last), Causal(n + p, n + p))
    rows = Stacked(sympy.ZeroMatrix(p, n), sympy.Identity(p), 1)
    return rows * (whole * values), _weights(last, Causal(p, n + p, n)) * values


def attentions(one: str, other: str) -> Sides:
    """Two attentions in equations, of as many heads as there may be."""
    return derivation(one), derivation(other)


# ---- softmax


def without_temperature() -> Sides:
    """Every gap to the largest score, divided by T → 0, is −∞; the largest itself stays 0."""
    gaps = sympy.ImmutableMatrix([[0, -sympy.oo, -sympy.oo]])
    return Softmax(gaps), sympy.ImmutableMatrix([[1, 0, 0]])


def deleted() -> Sides:
    """All keys past the first m are masked, on the left; they are not there, on the right."""
    seen, rest = _letters(("S", n, m), ("R", n, p))
    values, more = _letters(("V", m, d_v), ("W", p, d_v))
    masked = _weights(Stacked(seen, rest, 1), Padding(n, m + p, m))
    return masked * Stacked(values, more), Softmax(seen) * values


# ---- positions


def rotation(angle: sympy.Expr) -> sympy.Matrix:
    """What turns a row vector by an angle, from the right."""
    return sympy.Matrix(
        [[sympy.cos(angle), sympy.sin(angle)], [-sympy.sin(angle), sympy.cos(angle)]]
    )


def absolute() -> Sides:
    """The score of a query turned by a ω and a key turned by b ω, and of both as they were."""
    q, k = _grid("q", 1, 2), _grid("k", 1, 2)
    a, b, frequency = sympy.symbols("a b ω", real=True)
    return (q * rotation(a * frequency)) * (k * rotation(b * frequency)).T, q * k.T


def recurrent() -> Sides:
    """Three steps of h ← tanh(w h): the derivative is a product of three Jacobians."""
    h, w = sympy.symbols("h w", real=True)
    states = [h]
    for _ in range(3):
        states.append(sympy.tanh(w * states[-1]))
    product = sympy.Mul(*(w * (1 - state**2) for state in states[1:]))
    return sympy.diff(states[-1], h), product


# ---- gradients


def slopes(
    loss: str, letter: str, formula: str, shapes: Mapping[str, GivenShape] = _SHAPES
) -> Sides:
    """The derivatives of a number by the entries of a letter, and the formula for them."""
    value, stated = expressed(loss, shapes), expressed(formula, shapes)
    by = next(one for one in value.atoms(sympy.MatrixSymbol) if one.name == letter)
    return Slope(value, by), stated


def _grid(name: str, rows: int, columns: int) -> sympy.Matrix:
    """A matrix of symbols: q_12 of row 1, of a single row q_2."""

    def entry(i: int, j: int) -> sympy.Symbol:
        return sympy.Symbol(f"{name}_{i + 1}{j + 1}" if rows > 1 else f"{name}_{j + 1}", real=True)

    return sympy.Matrix(rows, columns, entry)


# ---- false beliefs

_SCORES = sympy.MatrixSymbol("S", 2, 2)
_HIDDEN = sympy.ImmutableMatrix([[0, -sympy.oo], [0, 0]])
_LOWER = sympy.ImmutableMatrix([[1, 0], [1, 1]])


def masked_after() -> Sides:
    """Weights that are set to 0 after the softmax, and scores masked before it."""
    return sympy.HadamardProduct(Softmax(_SCORES), _LOWER), _weights(_SCORES, _HIDDEN)


def masked_by_zeros() -> Sides:
    """Scores that are set to 0, and to −∞."""
    return Softmax(sympy.HadamardProduct(_SCORES, _LOWER)), _weights(_SCORES, _HIDDEN)


def masked_by(mask: Sequence[Sequence[float]]) -> Sides:
    """A mask of other numbers, and the mask as it should be."""
    return _weights(_SCORES, sympy.ImmutableMatrix(mask)), _weights(_SCORES, _HIDDEN)


def capped_last() -> Sides:
    """A cap over masked scores lets −∞ become −c."""
    finite = sympy.ImmutableMatrix([[0, -1000], [0, 0]])
    return Softmax(SoftCap(Masked(_SCORES, finite), 2)), _weights(SoftCap(_SCORES, 2), _HIDDEN)


def aligned_top_left() -> Sides:
    """One new query after two cached keys sees three keys, not one."""
    scores = sympy.MatrixSymbol("S", 1, 3)
    return _weights(scores, Causal(1, 3)), _weights(scores, Causal(1, 3, 2))


def reshaped() -> Sides:
    """Two tokens of width 4 as two heads of width 2: rows cut in order, and columns cut."""
    matrix = _grid("q", 2, 4)
    return matrix.reshape(4, 2)[:2, :], matrix[:, :2]


def tiled() -> Sides:
    """Four query heads over two key heads: 1 2 1 2, and 1 1 2 2."""
    one, two = sympy.symbols("k_11 l_11", real=True)
    return sympy.Matrix([[one, two, one, two]]), sympy.Matrix([[one, one, two, two]])
