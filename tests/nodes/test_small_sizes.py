"""Sizes that are 1: one token, one column, one head, a matrix of one number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symattn import document
from symattn.errors import ReadError
from symattn.language.equations import derivation_of
from tests.documents.code.test_code import given_to
from tests.oracle import softmax


def textbook(Q: Any, K: Any, V: Any) -> Any:
    return softmax(Q @ K.T / np.sqrt(Q.shape[1])) @ V


#: A text, the shapes of what is given, and its function in NumPy.
Row = tuple[str, dict[str, tuple[int, ...]], Callable[..., Any]]

ROWS: tuple[Row, ...] = (
    (
        "O = softmax(Q K^T / sqrt(d_k)) V",
        {"Q": (3, 2), "K": (4, 2), "V": (4, 1)},
        textbook,
    ),
    (
        "O = softmax(Q K^T / sqrt(d_k)) V",
        {"Q": (1, 2), "K": (1, 2), "V": (1, 1)},
        textbook,
    ),
    (
        "O = softmax(Q K^T / sqrt(d_k)) V",
        {"Q": (1, 1), "K": (1, 1), "V": (1, 1)},
        textbook,
    ),
    (
        "O = softmax(Q K^T / sqrt(d_k)) V",
        {"Q": (3, 1), "K": (4, 1), "V": (4, 2)},
        textbook,
    ),
    (
        "Q : 1 × 2; K : m × 2; V : m × 3; S = Q K^T; A = softmax(S); O = A V",
        {"Q": (1, 2), "K": (4, 2), "V": (4, 3)},
        lambda Q, K, V: softmax(Q @ K.T) @ V,
    ),
    (
        "Q : 1 × 2; K : 1 × 2; S = Q K^T; Y = S X",
        {"Q": (1, 2), "K": (1, 2), "X": (1, 3)},
        lambda Q, K, X: (Q @ K.T) @ X,
    ),
    (
        "Q : 1 × 2; K : 1 × 2; S = Q K^T; Y = S X",
        {"Q": (1, 2), "K": (1, 2), "X": (4, 3)},
        lambda Q, K, X: (Q @ K.T) * X,
    ),
    ("C : 1 × 1; Y = C X", {"C": (1, 1), "X": (4, 3)}, lambda C, X: C * X),
    ("C : 1 × 1; X : 1 × 3; Y = C X", {"C": (1, 1), "X": (1, 3)}, lambda C, X: C @ X),
    ("C : 1 × 1; Y = X C", {"C": (1, 1), "X": (4, 1)}, lambda C, X: C * X),
    ("a : 1 × 3; b : 3 × 1; Y = a b", {"a": (1, 3), "b": (3, 1)}, lambda a, b: a @ b),
    ("a : 1 × 3; b : 3 × 1; Y = b a", {"a": (1, 3), "b": (3, 1)}, lambda a, b: b @ a),
    (
        "a : 1 × 3; b : 3 × 1; Y = a b X",
        {"a": (1, 3), "b": (3, 1), "X": (2, 2)},
        lambda a, b, X: (a @ b) * X,
    ),
    (
        "a : 1 × 3; b : 3 × 1; Y = X (a b)",
        {"a": (1, 3), "b": (3, 1), "X": (2, 2)},
        lambda a, b, X: (a @ b) * X,
    ),
    (
        "X : 1 × d_model; Q = X W_Q; K = X W_K; V = X W_V; "
        "A = softmax(Q K^T / sqrt(d_k) + causal()); O = A V",
        {"X": (1, 2), "W_Q": (2, 2), "W_K": (2, 2), "W_V": (2, 2)},
        lambda X, W_Q, W_K, W_V: softmax((X @ W_Q) @ (X @ W_K).T) @ (X @ W_V),
    ),
    (
        "A[h] = softmax(Q[h] K[h]^T); O = concat_h(A[h] V[h]) W_O",
        {"Q": (1, 3, 2), "K": (1, 4, 2), "V": (1, 4, 2), "W_O": (2, 3)},
        lambda Q, K, V, W_O: softmax(Q[0] @ K[0].T) @ V[0] @ W_O,
    ),
    (
        "A[h] = softmax(Q[h] K[h]^T); O = concat_h(A[h] V[h]) W_O",
        {"Q": (2, 3, 1), "K": (2, 4, 1), "V": (2, 4, 1), "W_O": (2, 3)},
        lambda Q, K, V, W_O: (
            np.concatenate([softmax(Q[h] @ K[h].T) @ V[h] for h in range(2)], 1) @ W_O
        ),
    ),
    (
        "S[h] = Q[h] K[h]^T; A[h] = softmax(sum_l(P[h,l] S[l])); O = concat_h(A[h] V[h])",
        {"Q": (1, 3, 2), "K": (1, 4, 2), "V": (1, 4, 2), "P": (1, 1)},
        lambda Q, K, V, P: softmax(P[0, 0] * Q[0] @ K[0].T) @ V[0],
    ),
    (
        "S[0] = 0; S[t] = S[t-1] + K[t]^T V[t]; O[t,:] = Q[t] S[t]",
        {"Q": (3, 2), "K": (3, 2), "V": (3, 1)},
        lambda Q, K, V: np.tril(Q @ K.T) @ V,
    ),
    (
        "S[0] = 0; S[t] = S[t-1] + K[t]^T V[t]; O[t,:] = Q[t] S[t]",
        {"Q": (1, 2), "K": (1, 2), "V": (1, 2)},
        lambda Q, K, V: np.tril(Q @ K.T) @ V,
    ),
    (
        "V : m × 1; S[0] = 0; S[t] = S[t-1] + K[t]^T V[t]; O[t,:] = Q[t] S[t]",
        {"Q": (3, 2), "K": (3, 2), "V": (3, 1)},
        lambda Q, K, V: np.tril(Q @ K.T) @ V,
    ),
    (
        "V : m × 1; A = softmax(Q K^T); O = (A V) ∘ sigmoid(X W_G)",
        {"Q": (3, 2), "K": (4, 2), "V": (4, 1), "X": (3, 2), "W_G": (2, 1)},
        lambda Q, K, V, X, W_G: (softmax(Q @ K.T) @ V) / (1 + np.exp(-X @ W_G)),
    ),
    (
        "V : m × 1; A = softmax(Q K^T); O = A V + b_O",
        {"Q": (3, 2), "K": (4, 2), "V": (4, 1), "b_O": (1, 1)},
        lambda Q, K, V, b_O: (softmax(Q @ K.T) @ V) + b_O,
    ),
    ("X : n × 1; Y = LayerNorm(X, eps=1)", {"X": (3, 1)}, lambda X: 0 * X),
    ("X : n × 1; Y = X / rowsum(exp(X))", {"X": (3, 1)}, lambda X: X / np.exp(X)),
    (
        "Q : 1 × 2; K: m × 2; Y = exp(Q K^T) / rowsum(exp(Q K^T))",
        {"Q": (1, 2), "K": (3, 2)},
        lambda Q, K: softmax(Q @ K.T),
    ),
    (
        "Q : 1 × 2; M[i,j] = i - j; Y = Q K^T + M",
        {"Q": (1, 2), "K": (3, 2)},
        lambda Q, K: Q @ K.T + np.array([[0, -1, -2]]),
    ),
    (
        "Q : 1 × 2; K : 1 × 2; M[i,j] = i + j; Y = Q K^T + M",
        {"Q": (1, 2), "K": (1, 2)},
        lambda Q, K: Q @ K.T + 2,
    ),
    ("φ(x) = x^2; X : 1 × 1; Y = φ(X) + X", {"X": (1, 1)}, lambda X: X * X + X),
    ("X : 1 × 1; Y = X^2", {"X": (1, 1)}, lambda X: X * X),
    (
        "X : 1 × 1; W : 1 × 3; Y = X W; Z = softmax(Y)",
        {"X": (1, 1), "W": (1, 3)},
        lambda X, W: softmax(X @ W),
    ),
    ("X : 1 × 3; Y = X^T X", {"X": (1, 3)}, lambda X: X.T @ X),
    ("X : 1 × 3; Y = X X^T; Z = Y X", {"X": (1, 3)}, lambda X: X @ X.T @ X),
    ("X : 3 × 1; Y = X^T X; Z = X Y", {"X": (3, 1)}, lambda X: X @ (X.T @ X)),
    ("X : 3 × 1; Z = X X^T X", {"X": (3, 1)}, lambda X: X @ (X.T @ X)),
    ("X : 3 × 1; Z = (X^T X) (X^T X)", {"X": (3, 1)}, lambda X: (X.T @ X) @ (X.T @ X)),
    ("X : 3 × 1; U : 1 × 2; Z = X^T X U", {"X": (3, 1), "U": (1, 2)}, lambda X, U: (X.T @ X) @ U),
)


@pytest.mark.parametrize(("text", "shapes", "function"), ROWS, ids=[str(row[:2]) for row in ROWS])
def test_sizes_that_are_one(text: str, shapes: dict[str, Any], function: Any) -> None:
    rng = np.random.default_rng(len(text))
    given = {name: np.round(rng.uniform(-1, 1, shape), 2) for name, shape in shapes.items()}
    whole, wanted = derivation_of(text), function(**given)
    values = whole.evaluate(**given)
    found = np.asarray(values[whole.names[-1]].array, dtype=float)
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-14)
    scope: dict[str, Any] = {}
    exec(str(document(values, "numpy")), scope)
    *_, last = scope["attention"](*given_to(whole, values).values()).values()
    assert np.shape(last) == wanted.shape
    np.testing.assert_allclose(last, wanted, rtol=1e-12, atol=1e-14)
    backward = whole.gradient(upstream="ones").evaluate(**given)
    for name, matrix in given.items():
        slopes = np.zeros(matrix.shape)
        for place in np.ndindex(matrix.shape):
            moved = [{**given, name: matrix.copy()} for _ in range(2)]
            for one, step in zip(moved, (1e-6, -1e-6), strict=True):
                one[name][place] += step
            slopes[place] = np.subtract(*(function(**one).sum() for one in moved)) / 2e-6
        found = np.asarray(backward[f"d{name}"].array, dtype=float)
        assert found.shape == slopes.shape
        np.testing.assert_allclose(found, slopes, rtol=1e-5, atol=1e-6)


def test_a_size_of_one_that_nobody_wrote_is_refused() -> None:
    with pytest.raises(ReadError, match=r"character 27: Y: .* say so by a shape such as W : 1 × d"):
        derivation_of("V : m × 1; Y = softmax(V) W")
    assert derivation_of("V : m × 1; W : 1 × p; Y = softmax(V) W").steps[-1].shape[1].name == "p"
