"""Both sides of identities that the language of statements has no words for, made in SymPy.

Rows name these functions by `made`, so that the list of identities needs no SymPy.
"""

from __future__ import annotations

from collections.abc import Mapping

import sympy
from sympy.matrices.expressions.matexpr import MatrixExpr

from symattn.algebra.certificate import Slope
from symattn.algebra.counterexample import Sides
from symattn.algebra.equality import expressed
from symattn.arithmetic.shapes import Size
from symattn.language.shapes import GivenShape
from symattn.nodes.entrywise import SoftCap
from symattn.nodes.heads import Stacked
from symattn.nodes.lines import LineSum
from symattn.nodes.masks import Causal, Masked, Padding
from symattn.nodes.normalise import Softmax

n, m, p, d_k, d_v = sympy.symbols("n m p d_k d_v", integer=True, positive=True)
_QUERIES, _KEYS, _WIDTH, _VALUES = 2, 2, 2, 1


def _grid(name: str, rows: int, columns: int) -> sympy.Matrix:
    return sympy.Matrix(
        rows, columns, lambda i, j: sympy.Symbol(f"{name}_{i + 1}{j + 1}", real=True)
    )


_Q, _K = _grid("q", _QUERIES, _WIDTH), _grid("k", _KEYS, _WIDTH)
_V, _DO = _grid("v", _KEYS, _VALUES), _grid("g", _QUERIES, _VALUES)
_S, _A, _DA = (_grid(name, _QUERIES, _KEYS) for name in ("s", "a", "h"))
_ROOT = sympy.sqrt(_WIDTH)

#: The shapes of the letters for all sizes.
_SHAPES = {
    "Q": ("n", "d_k"),
    "K": ("m", "d_k"),
    "V": ("m", "d_v"),
    **dict.fromkeys(("S", "A", "dA"), ("n", "m")),
    "dO": ("n", "d_v"),
}


# ---- attention


def _letters(*letters: tuple[str, Size, Size]) -> list[sympy.MatrixSymbol]:
    return [sympy.MatrixSymbol(*letter) for letter in letters]


def _blocks() -> tuple[MatrixExpr, MatrixExpr, MatrixExpr]:
    """Scores in blocks: of the first n queries with the first n and the next p keys."""
    a, b = _letters(("S", n, n), ("R", n, p))
    c, d = _letters(("T", p, n), ("U", p, p))
    values, more = _letters(("V", n, d_v), ("W", p, d_v))
    whole = Stacked(Stacked(a, b, 1), Stacked(c, d, 1))
    weights = Softmax(Masked(whole, Causal(n + p, n + p)))
    return weights * Stacked(values, more), (a, b, c, d), (values, more)


def prefix() -> Sides:
    """The first n rows of a causal pass over n + p tokens; a causal pass over n tokens."""
    whole, (first, *_), (values, _) = _blocks()
    rows = Stacked(sympy.Identity(n), sympy.ZeroMatrix(n, p), 1)
    return rows * whole, Softmax(Masked(first, Causal(n, n))) * values


def cached() -> Sides:
    """The last p rows of a causal pass; p new queries over n cached keys and p new ones."""
    whole, (_, _, old, new), (values, more) = _blocks()
    rows = Stacked(sympy.ZeroMatrix(p, n), sympy.Identity(p), 1)
    fresh = Masked(Stacked(old, new, 1), Causal(p, n + p, n))
    return rows * whole, Softmax(fresh) * Stacked(values, more)


def variance() -> Sides:
    """E (q·k)² = Σ_ab E q_a q_b E k_a k_b, each second moment being the identity matrix."""
    unit = sympy.Identity(d_k)
    return LineSum(LineSum(sympy.HadamardProduct(unit, unit, evaluate=False)), 0), d_k


# ---- softmax


def _logits(count: int) -> list[sympy.Symbol]:
    return [sympy.Symbol(f"z_{k}", real=True) for k in range(1, count + 1)]


def jacobian() -> Sides:
    """∂p_i/∂z_j by SymPy's derivative of each entry, and diag(p) − p pᵀ."""
    z = _logits(3)
    weights = [sympy.exp(x) / sympy.Add(*map(sympy.exp, z)) for x in z]
    derived = sympy.Matrix(3, 3, lambda i, j: sympy.diff(weights[i], z[j]))
    stated = sympy.Matrix(3, 3, lambda i, j: weights[i] * (int(i == j) - weights[j]))
    return derived, stated


def log_sum_exp() -> Sides:
    """The derivative of log Σ e^z by SymPy, and softmax(z)."""
    z = _logits(4)
    total = sympy.log(sympy.Add(*map(sympy.exp, z)))
    derived = sympy.Matrix([[sympy.diff(total, x) for x in z]])
    return derived, Softmax(sympy.ImmutableMatrix([z]))


def without_temperature() -> Sides:
    """Every gap to the largest score, divided by T → 0, is −∞; the largest itself stays 0."""
    gaps = sympy.ImmutableMatrix([[0, -sympy.oo, -sympy.oo]])
    return Softmax(gaps), sympy.ImmutableMatrix([[1, 0, 0]])


def deleted() -> Sides:
    """All keys past the first m are masked, on the left; they are not there, on the right."""
    seen, rest = sympy.MatrixSymbol("S", n, m), sympy.MatrixSymbol("R", n, p)
    values, more = sympy.MatrixSymbol("V", m, d_v), sympy.MatrixSymbol("W", p, d_v)
    masked = Masked(Stacked(seen, rest, 1), Padding(n, m + p, m))
    return Softmax(masked) * Stacked(values, more), Softmax(seen) * values


# ---- positions


def rotation(angle: sympy.Expr) -> sympy.Matrix:
    """What turns a row vector by an angle, from the right."""
    return sympy.Matrix(
        [[sympy.cos(angle), sympy.sin(angle)], [-sympy.sin(angle), sympy.cos(angle)]]
    )


def _pair(name: str) -> sympy.Matrix:
    return sympy.Matrix([[sympy.Symbol(f"{name}_{k}", real=True) for k in (1, 2)]])


def absolute() -> Sides:
    """The score of a query turned by a ω and a key turned by b ω, and of both as they were."""
    q, k = _pair("q"), _pair("k")
    a, b, frequency = sympy.symbols("a b ω", real=True)
    return (q * rotation(a * frequency)) * (k * rotation(b * frequency)).T, q * k.T


def cap_slope() -> Sides:
    """The soft cap's derivative is 1 − tanh², which is positive."""
    x, c = sympy.Symbol("x", real=True), sympy.Symbol("c", positive=True)
    grown = sympy.exp(x / c) + sympy.exp(-x / c)
    return sympy.diff(c * sympy.tanh(x / c), x), 4 / grown**2


def recurrent() -> Sides:
    """Three steps of h ← tanh(w h): the derivative is a product of three Jacobians."""
    h, w = sympy.symbols("h w", real=True)
    states = [h]
    for _ in range(3):
        states.append(sympy.tanh(w * states[-1]))
    product = sympy.Mul(*(w * (1 - state**2) for state in states[1:]))
    return sympy.diff(states[-1], h), product


def one_step() -> Sides:
    """In attention one factor stands between any two tokens: ∂o/∂v_j is the weight a_j."""
    scores = [sympy.Symbol(f"s_{k}", real=True) for k in (1, 2, 3)]
    values = [sympy.Symbol(f"v_{k}", real=True) for k in (1, 2, 3)]
    total = sympy.Add(*map(sympy.exp, scores))
    weights = [sympy.exp(score) / total for score in scores]
    output = sympy.Add(*(a * v for a, v in zip(weights, values, strict=True)))
    return sympy.Matrix([[sympy.diff(output, v) for v in values]]), sympy.Matrix([weights])


# ---- gradients


def slopes(
    loss: str, letter: str, formula: str, shapes: Mapping[str, GivenShape] = _SHAPES
) -> Sides:
    """The derivatives of a number by the entries of a letter, and the formula for them."""
    value, stated = expressed(loss, shapes), expressed(formula, shapes)
    by = next(one for one in value.atoms(sympy.MatrixSymbol) if one.name == letter)
    return Slope(value, by), stated


def _softmax(scores: sympy.Matrix) -> sympy.Matrix:
    powers = scores.applyfunc(sympy.exp)
    return sympy.Matrix(*scores.shape, lambda i, j: powers[i, j] / sympy.Add(*powers.row(i)))


def _rows(matrix: sympy.Matrix) -> sympy.Matrix:
    """The row sums, repeated along each row."""
    return sympy.Matrix(*matrix.shape, lambda i, _: sympy.Add(*matrix.row(i)))


def _paired(one: sympy.Matrix, other: sympy.Matrix) -> sympy.Expr:
    return sympy.Add(*one.multiply_elementwise(other))


def _by(loss: sympy.Expr, inputs: sympy.Matrix) -> sympy.Matrix:
    return inputs.applyfunc(lambda entry: sympy.diff(loss, entry))


def _weights() -> sympy.Matrix:
    return _softmax(_Q * _K.T / _ROOT)


def _through_softmax(weights: sympy.Matrix, upstream: sympy.Matrix) -> sympy.Matrix:
    return weights.multiply_elementwise(upstream - _rows(weights.multiply_elementwise(upstream)))


def values_gradient() -> Sides:
    """∂Σ(dO ∘ A V)/∂V, and Aᵀ dO."""
    weights = _weights()
    return _by(_paired(_DO, weights * _V), _V), weights.T * _DO


def weights_gradient() -> Sides:
    """∂Σ(dO ∘ A V)/∂A, and dO Vᵀ."""
    return _by(_paired(_DO, _A * _V), _A), _DO * _V.T


def scores_gradient() -> Sides:
    """∂Σ(dA ∘ softmax(S))/∂S, and A ∘ (dA − rowsum(A ∘ dA))."""
    weights = _softmax(_S)
    return _by(_paired(_DA, weights), _S), _through_softmax(weights, _DA)


def queries_or_keys_gradient(queries: bool) -> Sides:
    """∂Σ(dO ∘ A V)/∂Q and dS K/√d_k, or ∂/∂K and dSᵀ Q/√d_k."""
    weights = _weights()
    inner = _through_softmax(weights, _DO * _V.T)
    formula = inner * _K / _ROOT if queries else inner.T * _Q / _ROOT
    return _by(_paired(_DO, weights * _V), _Q if queries else _K), formula


def without_row_sums() -> Sides:
    """The gradient of the scores, and A ∘ dA."""
    weights = _softmax(_S)
    return _by(_paired(_DA, weights), _S), weights.multiply_elementwise(_DA)


def without_scale() -> Sides:
    """The gradient of the queries, and dS K."""
    derived, formula = queries_or_keys_gradient(queries=True)
    return derived, formula * _ROOT


def without_transpose() -> Sides:
    """The gradient of the values, and A dO."""
    weights = _weights()
    return _by(_paired(_DO, weights * _V), _V), weights * _DO


# ---- false beliefs


def _hidden() -> sympy.ImmutableMatrix:
    return sympy.ImmutableMatrix([[0, -sympy.oo], [0, 0]])


def _lower() -> sympy.ImmutableMatrix:
    return sympy.ImmutableMatrix([[1, 0], [1, 1]])


def _two_by_two() -> sympy.MatrixSymbol:
    return sympy.MatrixSymbol("S", 2, 2)


def masked_after() -> Sides:
    """Weights that are set to 0 after the softmax, and scores masked before it."""
    scores = _two_by_two()
    return sympy.HadamardProduct(Softmax(scores), _lower()), Softmax(Masked(scores, _hidden()))


def masked_by_zeros() -> Sides:
    """Scores that are set to 0, and to −∞."""
    scores = _two_by_two()
    return Softmax(sympy.HadamardProduct(scores, _lower())), Softmax(Masked(scores, _hidden()))


def masked_by_a_number() -> Sides:
    """Scores from which 4 is taken off, and ∞."""
    scores, low = _two_by_two(), sympy.ImmutableMatrix([[0, -4], [0, 0]])
    return Softmax(Masked(scores, low)), Softmax(Masked(scores, _hidden()))


def masked_inversely() -> Sides:
    """A mask that hides what is to be seen, and the mask as it should be."""
    turned = sympy.ImmutableMatrix([[0, 0], [-sympy.oo, 0]])
    return Softmax(Masked(_two_by_two(), turned)), Softmax(Masked(_two_by_two(), _hidden()))


def capped_last() -> Sides:
    """A cap over masked scores lets −∞ become −c."""
    scores = _two_by_two()
    finite = sympy.ImmutableMatrix([[0, -1000], [0, 0]])
    return (
        Softmax(SoftCap(Masked(scores, finite), 2)),
        Softmax(Masked(SoftCap(scores, 2), _hidden())),
    )


def aligned_top_left() -> Sides:
    """One new query after two cached keys sees three keys, not one."""
    scores = sympy.MatrixSymbol("S", 1, 3)
    return Softmax(Masked(scores, Causal(1, 3))), Softmax(Masked(scores, Causal(1, 3, 2)))


def reshaped() -> Sides:
    """Two tokens of width 4 as two heads of width 2: rows cut in order, and columns cut."""
    matrix = _grid("q", 2, 4)
    return matrix.reshape(4, 2)[:2, :], matrix[:, :2]


def tiled() -> Sides:
    """Four query heads over two key heads: 1 2 1 2, and 1 1 2 2."""
    one, two = _grid("k", 1, 1), _grid("l", 1, 1)
    return sympy.Matrix.hstack(one, two, one, two), sympy.Matrix.hstack(one, one, two, two)
