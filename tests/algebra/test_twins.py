"""Laws and their twins: a statement that is true, and one near it that is not.

Both are judged by NumPy at random numbers too. A law is never called different, a twin never equal;
the few laws that nothing here shows are listed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from flint import fmpq

from symattn import equal
from symattn.algebra.linear_equations import solution
from tests.oracle import (
    Statement,
    beside,
    causal,
    gelu,
    hardmax,
    judge,
    norm2,
    relu,
    rowmax,
    rowsum,
    sigmoid,
    softmax,
    sparsemax,
)
from tests.statements import no, yes

exp, ln, sqrt, tanh, cos, sin = np.exp, np.log, np.sqrt, np.tanh, np.cos, np.sin


AB: dict[str, Any] = {"positive": ["A", "B"]}

TWINS: tuple[Statement, ...] = (
    # exponentials of quotients
    yes(
        "exp(A ⊘ B) ∘ exp(S ⊘ B) = exp((A + S) ⊘ B)",
        lambda A, B, S: (exp(A / B) * exp(S / B), exp((A + S) / B)),
        **AB,
    ),
    no(
        "exp(A ⊘ B) ∘ exp(S ⊘ B) = exp((A + S) ⊘ (2 B))",
        lambda A, B, S: (exp(A / B) * exp(S / B), exp((A + S) / (2 * B))),
        **AB,
    ),
    yes(
        "exp(1 ⊘ (B ∘ (1 + B))) ∘ exp(1 ⊘ (1 + B)) = exp(1 ⊘ B)",
        lambda B: (exp(1 / (B * (1 + B))) * exp(1 / (1 + B)), exp(1 / B)),
        positive=["B"],
    ),
    no(
        "exp(1 ⊘ (B ∘ (1 + B))) ∘ exp(-1 ⊘ (1 + B)) = exp(1 ⊘ B)",
        lambda B: (exp(1 / (B * (1 + B))) * exp(-1 / (1 + B)), exp(1 / B)),
        positive=["B"],
    ),
    yes(
        "exp(1 ⊘ (1 + B)) ∘ exp(B ⊘ (1 + B)) = exp(1)",
        lambda B: (exp(1 / (1 + B)) * exp(B / (1 + B)), np.full(B.shape, exp(1))),
        positive=["B"],
    ),
    no(
        "exp(1 ⊘ (1 + B)) ∘ exp(B ⊘ (1 + B)) = exp(2)",
        lambda B: (exp(1 / (1 + B)) * exp(B / (1 + B)), np.full(B.shape, exp(2))),
        positive=["B"],
    ),
    yes(
        "exp(A ⊘ (1 + A)) ∘ exp(1 ⊘ (2 + B)) ∘ exp(-1 ⊘ (2 + B)) = exp(A ⊘ (1 + A))",
        lambda A, B: (exp(A / (1 + A)) + 0 * B, exp(A / (1 + A))),
        **AB,
    ),
    no(
        "exp(A ⊘ (1 + A)) ∘ exp(1 ⊘ (2 + B)) = exp(A ⊘ (1 + A)) ∘ exp(1 ⊘ (3 + B))",
        lambda A, B: (exp(A / (1 + A) + 1 / (2 + B)), exp(A / (1 + A) + 1 / (3 + B))),
        **AB,
    ),
    # exponentials with fractions before them
    yes(
        "exp(A / 2) ∘ exp(A / 3) = exp(5/6 A)", lambda A: (exp(A / 2) * exp(A / 3), exp(5 * A / 6))
    ),
    no("exp(A / 2) ∘ exp(A / 3) = exp(2/3 A)", lambda A: (exp(A / 2) * exp(A / 3), exp(2 * A / 3))),
    # logarithms
    yes("exp(ln(A) / 2) = sqrt(A)", lambda A: (exp(ln(A) / 2), sqrt(A)), positive=["A"]),
    no("exp(ln(A) / 2) = A / 2", lambda A: (exp(ln(A) / 2), A / 2), positive=["A"]),
    yes(
        "ln(6 A ∘ A) = ln(2) + ln(3) + 2 ln(A)",
        lambda A: (ln(6 * A * A), ln(6) + 2 * ln(A)),
        positive=["A"],
    ),
    no(
        "ln(6 A ∘ A) = ln(5) + 2 ln(A)",
        lambda A: (ln(6 * A * A), ln(5) + 2 * ln(A)),
        positive=["A"],
    ),
    yes("ln(exp(S) ⊘ A) = S - ln(A)", lambda S, A: (ln(exp(S) / A), S - ln(A)), positive=["A"]),
    no("ln(exp(S) ⊘ A) = S + ln(A)", lambda S, A: (ln(exp(S) / A), S + ln(A)), positive=["A"]),
    yes("ln(sqrt(A)) = ln(A) / 2", lambda A: (ln(sqrt(A)), ln(A) / 2), positive=["A"]),
    no("ln(sqrt(A)) = sqrt(ln(A))", lambda A: (ln(sqrt(A)), sqrt(abs(ln(A)))), positive=["A"]),
    yes(
        "ln(1 + sqrt(A)) + ln(A) = ln(A + A ∘ sqrt(A))",
        lambda A: (ln(1 + sqrt(A)) + ln(A), ln(A + A * sqrt(A))),
        positive=["A"],
    ),
    no(
        "ln(1 + sqrt(A)) + ln(A) = ln(1 + A ∘ sqrt(A))",
        lambda A: (ln(1 + sqrt(A)) + ln(A), ln(1 + A * sqrt(A))),
        positive=["A"],
    ),
    # roots
    yes(
        "sqrt(A) ∘ sqrt(A) ∘ sqrt(A) = A ∘ sqrt(A)",
        lambda A: (sqrt(A) ** 3, A * sqrt(A)),
        positive=["A"],
    ),
    no("sqrt(A) ∘ sqrt(A) ∘ sqrt(A) = A ∘ A", lambda A: (sqrt(A) ** 3, A * A), positive=["A"]),
    yes(
        "sqrt(12 A ∘ A ∘ B) = 2 sqrt(3) A ∘ sqrt(B)",
        lambda A, B: (sqrt(12 * A * A * B), 2 * sqrt(3) * A * sqrt(B)),
        **AB,
    ),
    no(
        "sqrt(12 A ∘ A ∘ B) = 3 sqrt(2) A ∘ sqrt(B)",
        lambda A, B: (sqrt(12 * A * A * B), 3 * sqrt(2) * A * sqrt(B)),
        **AB,
    ),
    yes("sqrt(exp(S)) = exp(S / 2)", lambda S: (sqrt(exp(S)), exp(S / 2))),
    no("sqrt(exp(S)) = exp(2 S)", lambda S: (sqrt(exp(S)), exp(2 * S))),
    yes(
        "sqrt(sqrt(A)) ∘ sqrt(sqrt(A)) = sqrt(A)",
        lambda A: (A**0.25 * A**0.25, sqrt(A)),
        positive=["A"],
    ),
    no("sqrt(sqrt(A)) ∘ sqrt(sqrt(A)) = A", lambda A: (A**0.25 * A**0.25, A), positive=["A"]),
    yes(
        "sqrt(1 + sqrt(A)) ∘ sqrt(1 + sqrt(A)) = 1 + sqrt(A)",
        lambda A: (1 + sqrt(A), 1 + sqrt(A)),
        positive=["A"],
    ),
    no(
        "sqrt(1 + sqrt(A)) ∘ sqrt(1 + sqrt(A)) = sqrt(1 + A)",
        lambda A: (1 + sqrt(A), sqrt(1 + A)),
        positive=["A"],
    ),
    yes(
        "1 ⊘ (1 + sqrt(A)) ∘ (1 - A) = 1 - sqrt(A)",
        lambda A: ((1 - A) / (1 + sqrt(A)), 1 - sqrt(A)),
        positive=["A"],
    ),
    no(
        "1 ⊘ (1 + sqrt(A)) ∘ (1 - A) = 1 + sqrt(A)",
        lambda A: ((1 - A) / (1 + sqrt(A)), 1 + sqrt(A)),
        positive=["A"],
    ),
    yes("A ⊘ sqrt(A) = sqrt(A)", lambda A: (A / sqrt(A), sqrt(A)), positive=["A"]),
    no("A ⊘ sqrt(A) = A ∘ sqrt(A)", lambda A: (A / sqrt(A), A * sqrt(A)), positive=["A"]),
    yes(
        "c^(1/3) c^(1/6) A = sqrt(c) A",
        lambda c, A: (c**0.5 * A, sqrt(c) * A),
        "c: positivescalar",
        positive=["c"],
    ),
    no(
        "c^(1/3) c^(1/6) A = c^(1/18) A",
        lambda c, A: (c**0.5 * A, c ** (1 / 18) * A),
        "c: positivescalar",
        positive=["c"],
    ),
    yes("sqrt(A ∘ B) = sqrt(A) ∘ sqrt(B)", lambda A, B: (sqrt(A * B), sqrt(A) * sqrt(B)), **AB),
    no("sqrt(A ∘ B) = sqrt(A) + sqrt(B)", lambda A, B: (sqrt(A * B), sqrt(A) + sqrt(B)), **AB),
    # angles
    yes(
        "cos(A ⊘ B) ∘ cos(A ⊘ B) + sin(A ⊘ B) ∘ sin(A ⊘ B) = 1",
        lambda A, B: (cos(A / B) ** 2 + sin(A / B) ** 2, np.ones(A.shape)),
        positive=["B"],
    ),
    no(
        "cos(A ⊘ B) ∘ cos(A ⊘ B) - sin(A ⊘ B) ∘ sin(A ⊘ B) = 1",
        lambda A, B: (cos(A / B) ** 2 - sin(A / B) ** 2, np.ones(A.shape)),
        positive=["B"],
    ),
    yes(
        "sin(3 A) = 3 sin(A) - 4 sin(A) ∘ sin(A) ∘ sin(A)",
        lambda A: (sin(3 * A), 3 * sin(A) - 4 * sin(A) ** 3),
    ),
    no(
        "sin(3 A) = 4 sin(A) - 3 sin(A) ∘ sin(A) ∘ sin(A)",
        lambda A: (sin(3 * A), 4 * sin(A) - 3 * sin(A) ** 3),
    ),
    yes(
        "cos(A - B) = cos(A) ∘ cos(B) + sin(A) ∘ sin(B)",
        lambda A, B: (cos(A - B), cos(A) * cos(B) + sin(A) * sin(B)),
    ),
    no(
        "cos(A - B) = cos(A) ∘ cos(B) - sin(A) ∘ sin(B)",
        lambda A, B: (cos(A - B), cos(A) * cos(B) - sin(A) * sin(B)),
    ),
    # what is hidden, and functions by cases
    yes(
        "σ(S + causal()) = σ(S) ∘ exp(causal())",
        lambda S: (sigmoid(S) * np.tril(np.ones(S.shape)), sigmoid(S) * np.tril(np.ones(S.shape))),
    ),
    no("σ(S + causal()) = σ(S)", lambda S: (sigmoid(S) * np.tril(np.ones(S.shape)), sigmoid(S))),
    yes(
        "tanh(2 A) ∘ (1 + tanh(A) ∘ tanh(A)) = 2 tanh(A)",
        lambda A: (tanh(2 * A) * (1 + tanh(A) ** 2), 2 * tanh(A)),
    ),
    no(
        "tanh(2 A) ∘ (1 - tanh(A) ∘ tanh(A)) = 2 tanh(A)",
        lambda A: (tanh(2 * A) * (1 - tanh(A) ** 2), 2 * tanh(A)),
    ),
    yes("rowmax(2 S) = 2 rowmax(S)", lambda S: (rowmax(2 * S), 2 * rowmax(S))),
    no("rowmax(-S) = -rowmax(S)", lambda S: (rowmax(-S), -rowmax(S))),
    yes(
        "rowmax(A + relu(B)) = rowmax(relu(B) + A)",
        lambda A, B: (rowmax(A + relu(B)), rowmax(A + relu(B))),
    ),
    no(
        "rowmax(A + relu(B)) = rowmax(A) + rowmax(relu(B))",
        lambda A, B: (rowmax(A + relu(B)), rowmax(A) + rowmax(relu(B))),
    ),
    yes("relu(A ∘ A ∘ B) = A ∘ A ∘ relu(B)", lambda A, B: (relu(A * A * B), A * A * relu(B))),
    no("relu(A ∘ B) = A ∘ relu(B)", lambda A, B: (relu(A * B), A * relu(B))),
    yes(
        "softmax(2 S) = softmax(S) ∘ softmax(S) / rowsum(softmax(S) ∘ softmax(S))",
        lambda S: (softmax(2 * S), softmax(S) ** 2 / rowsum(softmax(S) ** 2)),
    ),
    no(
        "softmax(3 S) = softmax(S) ∘ softmax(S) / rowsum(softmax(S) ∘ softmax(S))",
        lambda S: (softmax(3 * S), softmax(S) ** 2 / rowsum(softmax(S) ** 2)),
    ),
    yes("GELU(S) - GELU(-S) = S", lambda S: (gelu(S) - gelu(-S), S)),
    no("GELU(S) + GELU(-S) = S", lambda S: (gelu(S) + gelu(-S), S)),
    yes("GELU(0 S) = 0 S", lambda S: (gelu(0 * S), 0 * S)),
    no("GELU(0 S) = 1 + 0 S", lambda S: (gelu(0 * S), 1 + 0 * S)),
    yes("2 causal() = causal()", lambda n, m: (2 * causal(n, m), causal(n, m))),
    no("causal() = 0 S", lambda S, n, m: (causal(n, m), 0 * S)),
    yes("rowmax([b, 0 b]) = relu(b)", lambda b: (rowmax(beside(b, 0 * b)), relu(b)), "b: n 1"),
    no(
        "rowmax([b, 0 b]) = b + relu(b)",
        lambda b: (rowmax(beside(b, 0 * b)), b + relu(b)),
        "b: n 1",
    ),
    yes("abs(b) = rowmax([b, -b])", lambda b: (abs(b), rowmax(beside(b, -b))), "b: n 1"),
    no("abs(b) = rowmax([b, -2 b])", lambda b: (abs(b), rowmax(beside(b, -2 * b))), "b: n 1"),
    yes(
        "sparsemax([5 + 0 b, 0 b]) = [1 + 0 b, 0 b]",
        lambda b: (sparsemax(beside(5 + 0 * b, 0 * b)), beside(1 + 0 * b, 0 * b)),
        "b: n 1",
    ),
    no(
        "sparsemax([1/2 + 0 b, 0 b]) = [1 + 0 b, 0 b]",
        lambda b: (sparsemax(beside(0.5 + 0 * b, 0 * b)), beside(1 + 0 * b, 0 * b)),
        "b: n 1",
    ),
    yes(
        "hardmax([b, -b]) = hardmax([b, -b / 2])",
        lambda b: (hardmax(beside(b, -b)), hardmax(beside(b, -b / 2))),
        "b: n 1",
    ),
)


# ---- hypotheses ----------------------------------------------------------------------------------


def _square(where: str, *letters: str) -> dict[str, Any]:
    shapes = {name: ("n", "n") if name.isupper() else ("n", 1) for name in letters}
    return {"where": where, "shapes": shapes}


def _longer(A: Any, B: Any) -> Any:
    """A with rows as long as norm2(A) = 1 + norm2(B) says."""
    return A * sqrt((1 + norm2(B)) / norm2(A))


ASSUMED: tuple[Statement, ...] = (
    yes(
        "x^T A y = y^T A x",
        lambda A, x, y: (x.T @ A @ y, y.T @ A @ x),
        "A: symmetric n; x y: n 1",
        **_square("A = A^T", *"Axy"),
    ),
    no(
        "x^T A y = x^T A x",
        lambda A, x, y: (x.T @ A @ y, x.T @ A @ x),
        "A: symmetric n; x y: n 1",
        **_square("A = A^T", *"Axy"),
    ),
    yes(
        "x^T A x = 0",
        lambda A, x: (x.T @ A @ x, np.zeros((1, 1))),
        "A: skew n; x: n 1",
        **_square("-A^T = A", *"Ax"),
    ),
    no(
        "A A = 0 A",
        lambda A: (A @ A, 0 * A),
        "A: skew n",
        **_square("-A^T = A", *"A"),
    ),
    yes(
        "x^T R^T R x = x^T x",
        lambda R, x: (x.T @ R.T @ R @ x, x.T @ x),
        "R: orthonormal n n; x: n 1",
        **_square("R R^T = I", *"Rx"),
    ),
    no(
        "x^T R R x = x^T x",
        lambda R, x: (x.T @ R @ R @ x, x.T @ x),
        "R: orthonormal n n; x: n 1",
        **_square("R R^T = I", *"Rx"),
    ),
    yes(
        "norm2(2 A) = 4 + 4 norm2(B)",
        lambda A, B: (norm2(2 * _longer(A, B)), 4 + 4 * norm2(B)),
        where="norm2(A) = 1 + norm2(B)",
        shapes=dict.fromkeys("AB", ("n", "m")),
    ),
    no(
        "norm2(2 A) = 2 + 2 norm2(B)",
        lambda A, B: (norm2(2 * _longer(A, B)), 2 + 2 * norm2(B)),
        where="norm2(A) = 1 + norm2(B)",
        shapes=dict.fromkeys("AB", ("n", "m")),
    ),
    yes(
        "rowsum(A ∘ (A + 1)) = norm2(A) + 1",
        lambda A: (rowsum(A * (A + 1)), rowsum(A * A) + 1),
        "A: stochastic n m",
        where="rowsum(A) = 1",
    ),
    no(
        "rowsum(A ∘ A) = 1",
        lambda A: (rowsum(A * A), np.ones((len(A), 1))),
        "A: stochastic n m",
        where="rowsum(A) = 1",
    ),
    yes(
        "rowsum(A + B) = rowsum(B)",
        lambda A, B: (rowsum(A + B), rowsum(B)),
        "A: centred n m",
        where=["rowsum(A) = 0", "A + B = B + A"],
    ),
    no(
        "rowsum(abs(A) + B) = rowsum(B)",
        lambda A, B: (rowsum(abs(A) + B), rowsum(B)),
        "A: centred n m",
        where=["rowsum(A) = 0", "A + B = B + A"],
    ),
)


#: Laws that are not shown: sums of quotients in exponents, what is largest among numbers.
OPEN = {
    "exp(1 ⊘ (B ∘ (1 + B))) ∘ exp(1 ⊘ (1 + B)) = exp(1 ⊘ B)",
    "exp(1 ⊘ (1 + B)) ∘ exp(B ⊘ (1 + B)) = exp(1)",
    "sparsemax([5 + 0 b, 0 b]) = [1 + 0 b, 0 b]",
    "hardmax([b, -b]) = hardmax([b, -b / 2])",
}


@pytest.mark.parametrize("row", [*TWINS, *ASSUMED], ids=lambda row: f"{row.holds}: {row.text}")
def test_a_law_is_told_from_its_twin(row: Statement) -> None:
    assert judge(row) is row.holds
    answer = equal(row.text, **row.options)
    if row.text in OPEN:
        assert answer.verdict == "undecided"
    else:
        assert answer.verdict == ("equal" if row.holds else "different")


def test_linear_equations_are_solved_or_refused() -> None:
    one, two = fmpq(1), fmpq(2)
    assert solution([[one]], [two], [one]) == [2]
    assert solution([[one], [one]], [one, two], [one]) is None
    assert solution([[one, one]], [two], [one, two]) == [0, 2]
