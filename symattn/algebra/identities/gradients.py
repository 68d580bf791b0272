"""The backward pass of attention, each line held against the derivatives of all entries.

With dO the gradient of a loss with respect to O, the loss changes as ⟨dO, O⟩ = Σ do_ij o_ij does.
Its derivatives by the entries of V, Q, … are SymPy's at one size, and the checker's for all sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import sympy

from symattn.algebra.certificate import Slope
from symattn.algebra.counterexample import Sides
from symattn.algebra.equality import expressed
from symattn.algebra.identities.proofs import Identity
from symattn.algebra.shapes import GivenShape

_FLASH = "Dao et al., FlashAttention (2022), appendix B.2"
_FLASH_DOTS = "Dao et al., FlashAttention (2022), appendices B.2 and B.4"
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
_SEEN = "softmax(Q K^T / sqrt(d_k))"
_DS = f"({_SEEN} ∘ (dO V^T - rowsum({_SEEN} ∘ (dO V^T))))"


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


def _scores_gradient(weights: sympy.Matrix, upstream: sympy.Matrix) -> sympy.Matrix:
    return weights.multiply_elementwise(upstream - _rows(weights.multiply_elementwise(upstream)))


def _values() -> Sides:
    weights = _weights()
    return _by(_paired(_DO, weights * _V), _V), weights.T * _DO


def _upstream() -> Sides:
    return _by(_paired(_DO, _A * _V), _A), _DO * _V.T


def _scores() -> Sides:
    weights = _softmax(_S)
    return _by(_paired(_DA, weights), _S), _scores_gradient(weights, _DA)


def _queries_or_keys(queries: bool) -> Sides:
    weights = _weights()
    inner = _scores_gradient(weights, _DO * _V.T)
    formula = inner * _K / _ROOT if queries else inner.T * _Q / _ROOT
    return _by(_paired(_DO, weights * _V), _Q if queries else _K), formula


def _without_row_sums() -> Sides:
    weights = _softmax(_S)
    return _by(_paired(_DA, weights), _S), weights.multiply_elementwise(_DA)


def _without_scale() -> Sides:
    derived, formula = _queries_or_keys(queries=True)
    return derived, formula * _ROOT


def _without_transpose() -> Sides:
    weights = _weights()
    return _by(_paired(_DO, weights * _V), _V), weights * _DO


#: What the letters of the statements mean.
_LETTERS = "S are the scaled scores, A = softmax(S), O = A V; dX is the gradient of a loss for X"


def _row(
    name: str,
    says: str,
    statement: str,
    use: str,
    sides: Callable[[], Sides],
    everywhere: tuple[str, str, str] | None = None,
    behind: tuple[str, ...] = (),
) -> Identity:
    all_sizes = partial(slopes, *everywhere) if everywhere else None
    return Identity(
        name,
        says,
        statement,
        _FLASH,
        use,
        holds=everywhere is not None,
        for_all=everywhere is not None,
        behind=behind,
        sides=sides,
        everywhere=all_sizes,
        letters=_LETTERS,
    )


GRADIENTS: tuple[Identity, ...] = (
    _row(
        "gradient-values",
        "the gradient of the values",
        "dV = Aᵀ dO",
        "the gradient of a value is the sum of the output gradients, weighted by A",
        _values,
        (f"sum(dO ∘ ({_SEEN} V))", "V", f"{_SEEN}^T dO"),
        behind=("dV",),
    ),
    _row(
        "gradient-weights",
        "the gradient of the weights",
        "dA = dO Vᵀ",
        "each entry is the dot product of an output gradient with a value",
        _upstream,
        ("sum(dO ∘ (A V))", "A", "dO V^T"),
        behind=("d_weights",),
    ),
    _row(
        "gradient-scores",
        "the gradient of the scores",
        "dS = A ∘ (dA − rowsum(A ∘ dA))",
        "the softmax's Jacobian is applied to each row",
        _scores,
        ("sum(dA ∘ softmax(S))", "S", "softmax(S) ∘ (dA - rowsum(softmax(S) ∘ dA))"),
        behind=("d_scores: LineSum", "d_scaled: LineSum", "d_masked: LineSum"),
    ),
    Identity(
        "gradient-row-dots",
        "with dA = dO Vᵀ, rowsum(A ∘ dA) is D = rowsum(dO ∘ O)",
        "rowsum(A ∘ (dO V^T)) = rowsum(dO ∘ (A V))",
        _FLASH_DOTS,
        "the D in dS = A ∘ (dA − D 1ᵀ) can be computed from dO and O alone",
        misconception="D cannot be computed without the weights",
        behind=("output_dots",),
    ),
    _row(
        "gradient-queries",
        "the gradient of the queries",
        "dQ = dS K / √d_k",
        "the factor 1/√d_k appears in the gradient too",
        partial(_queries_or_keys, True),
        (f"sum(dO ∘ ({_SEEN} V))", "Q", f"{_DS} K / sqrt(d_k)"),
        behind=("dQ",),
    ),
    _row(
        "gradient-keys",
        "the gradient of the keys",
        "dK = dSᵀ Q / √d_k",
        "the formula is that for the queries, with dS transposed",
        partial(_queries_or_keys, False),
        (f"sum(dO ∘ ({_SEEN} V))", "K", f"{_DS}^T Q / sqrt(d_k)"),
        behind=("dK",),
    ),
    _row(
        "gradient-no-row-sums",
        "the gradient of the scores is A ∘ dA",
        "dS = A ∘ dA",
        "rows of dS have to sum to 0",
        _without_row_sums,
    ),
    _row(
        "gradient-no-scale",
        "the scale is not needed in the backward pass",
        "dQ = dS K",
        "gradients come out too large by a factor of √d_k",
        _without_scale,
    ),
    _row(
        "gradient-no-transpose",
        "dV needs no transpose",
        "dV = A dO",
        "the shapes fit only where the weights are square",
        _without_transpose,
    ),
)
