"""Functions held against equations of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from symattn.cli import main
from symattn.errors import SymattnError
from symattn.sheets.worksheet import equations_of
from symattn.status import Status
from symattn.verifying.own import Own
from tests.extras import package
from tests.verifying import verify

GATED = """
Q = X W_Q;  K = X W_K;  V = X W_V
scores S = Q K^T / sqrt(d_k) + B
weights A = sigmoid(S)
O = (A V) ∘ sigmoid(X W_G)
"""
HEADS = """
Q[h] = X W_Q[h];  K[h] = X W_K[h];  V[h] = X W_V[h]
A[h] = softmax(unit(Q[h]) unit(K[h])^T)
O = concat_h(A[h] V[h]) W_O
"""


def own(text: str) -> Own:
    return Own.of(equations_of(text, "own.eq"))


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def gated(X: Any, W_Q: Any, W_K: Any, W_V: Any, W_G: Any, B: Any) -> Any:
    q, k, v = X @ W_Q, X @ W_K, X @ W_V
    s = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1]) + B
    return sigmoid(s) @ v * sigmoid(X @ W_G)


def ungated(X: Any, W_Q: Any, W_K: Any, W_V: Any, W_G: Any, B: Any) -> Any:
    return gated(X, W_Q, W_K, W_V, W_G, B) * 2 * sigmoid(0 * (X @ W_G))


def normed(X: Any, W_Q: Any, W_K: Any, W_V: Any, W_O: Any) -> Any:
    """Heads first, (heads, d_model, d_k); queries and keys of length 1."""
    q, k, v = X @ W_Q, X @ W_K, X @ W_V
    q, k = (x / np.linalg.norm(x, axis=-1, keepdims=True) for x in (q, k))
    e = np.exp(q @ np.swapaxes(k, -1, -2))
    o = e / e.sum(axis=-1, keepdims=True) @ v
    return np.concatenate(list(o), axis=-1) @ W_O


def test_a_right_function_agrees() -> None:
    found = verify(gated, own(GATED), library="numpy")
    assert found.status == Status.AGREES, str(found)
    assert {"ordinary", "float32", "batched"} <= {name for name, _ in found.tried}


def test_a_wrong_one_does_not() -> None:
    def plain(X: Any, W_Q: Any, W_K: Any, W_V: Any, W_G: Any, B: Any) -> Any:
        return gated(X, W_Q * 2, W_K, W_V, W_G, B)

    found = verify(plain, own(GATED), library="numpy")
    assert found.status == Status.WRONG
    assert "The first wrong number is O[" in str(found)
    assert verify(ungated, own(GATED), library="numpy").agrees  # 2 σ(0) is 1


def test_heads_of_ones_own() -> None:
    assert verify(normed, own(HEADS), library="numpy").agrees

    def unscaled(X: Any, W_Q: Any, W_K: Any, W_V: Any, W_O: Any) -> Any:
        return normed(X, W_Q, W_K, W_V, W_O[::-1])

    assert not verify(unscaled, own(HEADS), library="numpy").agrees


def test_the_backward_pass_of_ones_own() -> None:
    torch = package("torch")

    class Halved(torch.autograd.Function):  # type: ignore[name-defined,misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, upstream: Any) -> Any:
            return upstream / 2

    def right(S: Any, V: Any, G: Any) -> Any:
        return (S.softmax(-1) @ V) * torch.sigmoid(G)

    def wrong(S: Any, V: Any, G: Any) -> Any:
        return (S.softmax(-1) @ V) * torch.sigmoid(Halved.apply(G))

    text = "A = softmax(S); O = (A V) ∘ sigmoid(G)"
    assert verify(right, own(text), library="torch").agrees
    found = verify(wrong, own(text), library="torch")
    assert not found.agrees
    assert found.failed is not None
    assert found.failed.startswith("gradient")


def test_the_command_takes_a_file_of_equations(tmp_path: Path) -> None:
    (tmp_path / "own.eq").write_text("A = softmax(Q K^T / sqrt(d_k)); O = A V\n", "utf-8")
    (tmp_path / "mine.py").write_text(
        "import numpy as np\ndef f(q, k, v):\n    e = np.exp(q @ k.T / np.sqrt(q.shape[-1]))\n"
        "    return e / e.sum(-1, keepdims=True) @ v\n",
        "utf-8",
    )
    target = f"{tmp_path / 'mine.py'}:f"
    words = ["verify", target, str(tmp_path / "own.eq")]
    ran = CliRunner().invoke(main, words)
    assert ran.exit_code == Status.WRONG, ran.output  # without the row maximum it overflows
    assert "large scores" in ran.output
    (tmp_path / "own.eq").write_text("A = sofmax(S)\n", "utf-8")
    ran = CliRunner().invoke(main, words)
    assert ran.exit_code == Status.UNUSABLE
    assert "did you mean softmax" in ran.output + ran.stderr


def test_an_argument_that_is_no_letter_is_told() -> None:
    def strange(X: Any, other: Any) -> Any:
        return X

    with pytest.raises(SymattnError, match='the argument "other" is not known'):
        verify(strange, own(GATED), library="numpy")
