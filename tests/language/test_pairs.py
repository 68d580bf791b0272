"""Attention written with SymPy alone, held against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy
import torch
from numpy.typing import NDArray
from sympy import HadamardProduct, Lambda, MatrixSymbol, Symbol

from symattn import derivation, document
from symattn.errors import SymattnError
from symattn.nodes.normalise import Softmax

Array = NDArray[np.float64]

n, m, d = (Symbol(name, integer=True, positive=True) for name in ("n", "m", "d_k"))
Q, K, V = MatrixSymbol("Q", n, d), MatrixSymbol("K", m, d), MatrixSymbol("V", m, d)
S, A, OUT = MatrixSymbol("S", n, m), MatrixSymbol("A", n, m), MatrixSymbol("O", n, d)
x, lam = Symbol("x"), Symbol("lambda")

ENTRIES: dict[str, tuple[sympy.Expr, Callable[[Array], Array]]] = {
    "exp": (sympy.exp(x), np.exp),
    "sigmoid": (1 / (1 + sympy.exp(-x)), lambda s: 1 / (1 + np.exp(-s))),
    "tanh": (sympy.tanh(x), np.tanh),
    "square": (x**2, lambda s: s**2),
    "relu": (sympy.Max(0, x), lambda s: np.maximum(s, 0)),
    "abs": (sympy.Abs(x) + 1, lambda s: np.abs(s) + 1),
    "cases": (
        sympy.Piecewise((x + 1, x >= 0), (sympy.exp(x), True)),
        lambda s: np.where(s >= 0, s + 1, np.exp(s)),
    ),
    "half": (x / 2 - sympy.Rational(1, 3), lambda s: s / 2 - 1 / 3),
    "the same": (x, lambda s: s),
}

GIVEN = {
    "Q": [[1.0, 0.5], [-1.0, 2.0]],
    "K": [[0.5, -1.0], [1.0, 1.0], [2.0, -2.0]],
    "V": [[1.0, 2.0], [3.0, -1.0], [0.0, 1.0]],
}
q, k, v = (np.array(matrix) for matrix in GIVEN.values())


@pytest.mark.parametrize("name", ENTRIES)
def test_a_function_of_entries_is_understood(name: str) -> None:
    body, by_numpy = ENTRIES[name]
    own = derivation(
        [(S, Q * K.T / sympy.sqrt(d)), (A, S.applyfunc(Lambda(x, body))), (OUT, A * V)]
    )
    assert [one.name for one in own.inputs] == ["Q", "K", "V"]
    found = own.evaluate(**GIVEN)
    np.testing.assert_allclose(
        np.array(found["O"].array, float), by_numpy(q @ k.T / np.sqrt(2)) @ v, rtol=1e-12
    )
    assert own.gradient(["V"])


def test_products_powers_and_numbers_are_understood() -> None:
    B, C = MatrixSymbol("B", n, m), MatrixSymbol("C", n, m)
    own = derivation(
        [
            (S, Q * K.T),
            (B, lam * HadamardProduct(S, S) - 2 * S),
            (C, sympy.HadamardPower(S, 3) + B),
            (A, Softmax(C)),
            (OUT, A * V),
        ]
    )
    found = np.array(own.evaluate(**GIVEN, **{"lambda": 3})["C"].array, float)
    s = q @ k.T
    np.testing.assert_allclose(found, s**3 + 3 * s * s - 2 * s, rtol=1e-12)
    assert "lambda" in [one.name for one in own.inputs]


def test_two_functions_are_two_in_programs() -> None:
    own = derivation(
        [(S, Q * K.T), (A, S.applyfunc(lambda y: y**2 + 1) + S.applyfunc(lambda y: y / 3 - 2))]
    )
    scope: dict[str, Any] = {}
    exec(document(own, "numpy"), scope)
    found = scope["attention"](q, k)["a"]
    s = q @ k.T
    np.testing.assert_allclose(found, s**2 + 1 + s / 3 - 2, rtol=1e-12)


X2 = MatrixSymbol("X", 2, 2)
Y2 = MatrixSymbol("Y", 2, 2)


def test_explicit_matrices_and_whole_powers_are_understood() -> None:
    own = derivation([(Y2, X2**2 * sympy.Matrix([[1, 2], [3, 4]]))])
    x2 = np.array([[1.0, 2.0], [0.0, 1.0]])
    found = np.array(own.evaluate(X=x2.tolist())["Y"].array, float)
    np.testing.assert_allclose(found, x2 @ x2 @ np.array([[1, 2], [3, 4]]), rtol=1e-12)


_C, _D = MatrixSymbol("C", 3, 3), MatrixSymbol("D", 3, 2)

#: Expressions of SymPy's own classes, held against SymPy's evaluation of them.
OF_SYMPY: dict[str, sympy.MatrixExpr] = {
    "inverse": sympy.Inverse(_C) * _D,
    "negative power": sympy.MatPow(_C, -1),
    "ones": sympy.OneMatrix(3, 2) + _D,
    "blocks": sympy.BlockMatrix([[_C, _D], [_D.T, sympy.Identity(2)]]),
    "blocks on the diagonal": sympy.BlockDiagMatrix(_D, _C),
    "a part": _C[1:3, 0:2] * _D[0:2, :],
    "diagonal": sympy.DiagMatrix(_D[:, 0]) * _C,
    "GELU": _D.applyfunc(Lambda(x, x * (1 + sympy.erf(x / sympy.sqrt(2))) / 2)),
}


@pytest.mark.parametrize("name", OF_SYMPY)
def test_expressions_of_sympy_have_the_values_that_sympy_gives_them(name: str) -> None:
    said = OF_SYMPY[name]
    rng = np.random.default_rng(len(name))
    given = {"C": rng.integers(1, 9, (3, 3)), "D": rng.integers(1, 9, (3, 2))}
    matrices = {symbol: sympy.ImmutableMatrix(given[str(symbol)]) for symbol in (_C, _D)}
    wanted = np.array(said.subs(matrices).doit().as_explicit().evalf(30).tolist(), float)
    own = derivation([(MatrixSymbol("O", *said.shape), said)])
    values = own.evaluate(**{item.name: given[item.name].tolist() for item in own.inputs})
    np.testing.assert_allclose(np.array(values["O"].array, float), wanted, rtol=1e-12)
    assert "O =" in str(document(values, "text"))
    back = own.gradient(upstream="ones").evaluate(
        **{item.name: given[item.name].tolist() for item in own.inputs}
    )
    scope: dict[str, Callable[..., dict[str, Any]]] = {}
    exec(str(document(own, "torch")), scope)
    tensors = [
        torch.tensor(given[i.name], dtype=torch.float64, requires_grad=True) for i in own.inputs
    ]
    *_, last = scope["attention"](*tensors).values()
    last.sum().backward()
    for item, tensor in zip(own.inputs, tensors, strict=True):
        found = np.array(back[f"d{item.name}"].array, float)
        np.testing.assert_allclose(found, np.asarray(tensor.grad), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        ([], "at least one pair"),
        (None, "pair 1: give a MatrixSymbol"),
        ([A], "pair 1: give a MatrixSymbol"),
        ([("A", S)], "left side"),
        ([(A, 1)], "right side"),
        ([(A, S.T)], "A is n × m, its right side m × n"),
        ([(Y2, sympy.Determinant(X2) * X2)], "a number made of X is not understood"),
        ([(Y2, sympy.Adjoint(X2))], "pair 1: Y: Adjoint is not understood"),
        ([(Y2, X2.applyfunc(sympy.floor))], "floor is of places and sizes alone"),
        ([(Y2, sympy.Trace(X2) * X2)], "pair 1: Y: "),
        ([(Y2, X2.applyfunc(sympy.gamma))], "gamma"),
        ([(Y2, X2.applyfunc(Lambda(x, sympy.Piecewise((x, x > 0)))))], "(value, True)"),
        ([(Y2, (lam**2 + 1) * X2)], "lambda is no size"),
        ([(Y2, Y2 * X2)], "Y"),
        ([(Y2, X2 * MatrixSymbol("Z", 2, 2)), (MatrixSymbol("Z", 2, 2), X2 * X2)], "Z"),
        ([(Y2, X2), (Y2, X2 * X2)], "Y"),
    ],
)
def test_what_is_not_understood_is_named(pairs: object, words: str) -> None:
    with pytest.raises(SymattnError) as caught:
        derivation(pairs)  # type: ignore[arg-type]
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
