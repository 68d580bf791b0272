"""What each rewriting of a proof has to be sure of, and what numbers have to satisfy to refute.

Numbers are tried before anything is proven, which hides a false proof as long as they find it. So
the prover is asked directly here, about statements that are false for the reason given; and
samples are asked about statements that are true because of a hypothesis.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import sympy

from symattn import Attention, SymattnError, equal
from symattn.algebra.equality import certified, stated
from symattn.derivations import Derivation, Input
from symattn.step import Step

N, M, D_K = sympy.symbols("n m d_k", integer=True, positive=True)
SQUARE = dict.fromkeys("ABCRS", ("n", "n"))
WIDE = dict.fromkeys("ABC", ("n", "m"))
ROWS = dict.fromkeys("ABC", (1, 2))


def _is_proven(left: Any, right: Any = None, **options: Any) -> bool:
    """Whether a proof for all sizes is found, numbers not asked."""
    return certified(next(stated(left, right, **options)))[0] is not None


def _derivation(first: Any, last: Any) -> Derivation:
    """Two steps from X: A, and O, which may use A."""
    x, a, o = (sympy.MatrixSymbol(name, N, N) for name in "XAO")
    steps = Step("a", a, expr=first), Step("o", o, expr=last)
    return Derivation((Input("X", x),), steps)


# ---- false statements ----------------------------------------------------------------------

#: Statement, options, and why it is false.
FALSE: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("tr(R ∘ R) = 1", {"where": "R^T R = I"}, "Σ r_ll² is n for R = I"),
    ("tr(R^T ∘ R) = 1", {"where": "R R^T = I"}, "the same, transposed"),
    ("tr(A ∘ inv(A)) = 1", {}, "it is n for A = I"),
    ("tr((A ∘ I) inv(A)) = 1", {}, "it is n for A = I"),
    ("1^T (R ∘ I) R 1 = 1", {"where": "R^T R = I"}, "it is n for R = I"),
    ("1^T (A ∘ I) inv(A) 1 = 1", {}, "it is n for A = I"),
    ("inv(2 A^T) = inv(A^T)", {}, "the factor 1/2"),
    ("inv(-A^T) = inv(A^T)", {}, "the sign"),
    ("A = 0 A", {"where": "c A = 0 A", "shapes": WIDE}, "c may be 0"),
    ("A = 0 A", {"where": "abs(3 c - 7) A = 0 A", "shapes": WIDE}, "c may be 7/3"),
    ("A = B", {"where": "cos(c) A = cos(c) B", "shapes": WIDE}, "c may be π/2"),
    ("A = B", {"where": "abs(c - 10) A = abs(c - 10) B", "shapes": WIDE}, "c may be 10"),
    ("A = B", {"where": "ln(n) A = ln(n) B", "shapes": WIDE}, "n may be 1"),
    ("A = B", {"where": "abs(n - 20) A = abs(n - 20) B", "shapes": WIDE}, "n may be 20"),
    ("A 1 = 1", {"where": "abs(c - 20) A 1 = abs(c - 20) 1", "shapes": WIDE}, "c may be 20"),
    (
        "exp(A - A) exp(A - A)^T = exp(C - C) exp(C - C)^T",
        {"shapes": {"A": ("n", "m"), "C": ("n", "k")}},
        "m on the left and k on the right: zero matrices of two shapes",
    ),
    (
        "softmax(0 A) softmax(0 A)^T = softmax(0 C) softmax(0 C)^T",
        {"shapes": {"A": ("n", 2), "C": ("n", 3)}},
        "1/2 on the left and 1/3 on the right",
    ),
    (
        "exp([0 A, B]) exp([0 A, B])^T = exp([0 C, B]) exp([0 C, B])^T",
        {"shapes": {"A": ("n", "m"), "B": ("n", "p"), "C": ("n", "k")}},
        "the blocks of zeros have m and k columns",
    ),
    (
        "A = B",
        {"where": "sqrt(3 C - 7) ∘ A = sqrt(3 C - 7) ∘ B", "shapes": ROWS},
        "C may be 7/3, where the root is 0",
    ),
    (
        "A = B",
        {"where": "sqrt(A - 7/3) ∘ (A - B) = 0 A", "shapes": ROWS},
        "A may be 7/3 whatever B is",
    ),
    ("A = B", {"where": "C∘C∘A = C∘C∘B", "shapes": ROWS}, "C may be 0"),
    (
        "sqrt(B∘B∘A) + abs(A) = sqrt(B∘B∘A) + A",
        {"shapes": WIDE},
        "A may be −1 where B is 0, and the root is 0",
    ),
    (
        "sqrt(abs(B)∘A) + abs(A) = sqrt(abs(B)∘A) + A",
        {"shapes": WIDE},
        "the same with |B|",
    ),
    (
        "sqrt(abs(c - 10) A) + abs(A) = sqrt(abs(c - 10) A) + A",
        {"shapes": WIDE},
        "A may be −1 where c is 10",
    ),
    ("softmax(S + causal^T) 1 = 1", {"shapes": {"S": ("n", "m")}}, "rows behind m see nothing"),
    ("rowmax(c S) = c rowmax(S)", {"shapes": WIDE}, "c may be negative"),
    ("tr(R R) = n", {"where": "R R^T = I"}, "R² is not R Rᵀ"),
    ("B A = I", {"where": "A B = I", "shapes": {"A": ("n", "m"), "B": ("m", "n")}}, "not square"),
)


@pytest.mark.parametrize(
    ("text", "options"), [pytest.param(a, b, id=f"{a}: {why}") for a, b, why in FALSE]
)
def test_no_proof_of_what_is_false(text: str, options: dict[str, Any]) -> None:
    options = {"shapes": SQUARE, **options}
    assert not _is_proven(text, **options)
    assert equal(text, **options).verdict != "equal"


def _objects() -> list[Any]:
    a, b = sympy.MatrixSymbol("A", N, N), sympy.MatrixSymbol("B", 1, 1)
    p, one = sympy.MatrixSymbol("P", N, M), sympy.OneMatrix(1, 1)
    x = sympy.MatrixSymbol("X", N, N)
    doubled, tripled = _derivation(2 * x, a.I), _derivation(3 * x, a.I)
    return [
        pytest.param(a * a, b * b, {"where": [(a, b)]}, id="A is b in every entry, A A is n b²"),
        pytest.param(one, sympy.Identity(N), {}, id="1 in every entry is not I"),
        pytest.param(p * p.T, sympy.Identity(N), {"permuting": ["P"]}, id="P is not square"),
        pytest.param(p.T * p, sympy.Identity(M), {"permuting": ["P"]}, id="P is not square, PᵀP"),
        pytest.param(doubled, tripled, {}, id="the inverses of two steps of the same letter"),
        pytest.param(doubled, a.I, {}, id="the inverse of a step and of a free letter"),
    ]


@pytest.mark.parametrize(("left", "right", "options"), _objects())
def test_no_proof_of_what_is_false_of_objects(
    left: Any, right: Any, options: dict[str, Any]
) -> None:
    try:
        assert not _is_proven(left, right, **options)
    except SymattnError:
        return  # refusing it is as good
    assert equal(left, right, **options).verdict != "equal"


def test_a_permutation_has_as_many_rows_as_columns() -> None:
    with pytest.raises(SymattnError):
        equal("A A^T = I", permuting=["A"], shapes={"A": (2, 3)})


def test_a_size_that_a_derivation_knows_is_put_in() -> None:
    known = replace(Attention().derivation(), sizes={D_K: 4})
    assert equal(known, "softmax(Q K^T / 2) V").verdict != "different"
    assert equal(known, "softmax(Q K^T / 3) V").verdict == "different"


# ---- true statements -----------------------------------------------------------------------

#: Statement, options, and why it is true.
TRUE: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("R R = I", {"where": ["R R^T = I", "R = R^T"]}, "a symmetric orthogonal matrix"),
    ("R R = I", {"where": ["R = R^T", "R R^T = I"]}, "the same, said the other way round"),
    ("P P = I", {"where": "P = P^T", "permuting": ["P"], "shapes": {}}, "a symmetric permutation"),
    ("A A^T = I", {"where": "P = A", "permuting": ["P"]}, "A is a permutation"),
    ("abs(B) = B", {"where": "A = B", "positive": ["A"]}, "B is positive"),
    ("abs(A) = A", {"where": "A = B", "positive": ["A"]}, "A is positive"),
    ("B = B^T", {"where": ["A = A^T", "A = B"]}, "B is symmetric"),
    ("A = 0 A", {"where": ["A = A^T", "A = -A^T"]}, "symmetric and skew is 0"),
    ("abs(A) = A", {"where": "A 1 = 1", "positive": ["A"]}, "a positive stochastic matrix"),
    ("relu(A) = A", {"where": "rowsum(A) = 1", "positive": ["A"]}, "the same by row sums"),
    ("abs(A) = A", {"where": "A 1 = 1", "positive": ["A"], "shapes": {"A": (1, 2)}}, "at a size"),
    ("abs(A) = A", {"where": "B = sqrt(A)"}, "B exists only where A ≥ 0"),
    ("abs(A) = A", {"where": "B = ln(A)"}, "B exists only where A > 0"),
    ("abs(A + B) = A + B", {"where": "C = sqrt(A + B)"}, "C exists only where A + B ≥ 0"),
    ("abs(c) A = c A", {"where": "T = sqrt(c)", "shapes": WIDE}, "T exists only where c ≥ 0"),
    ("abs(c) A = c A", {"where": "T = ln(c)", "shapes": WIDE}, "T exists only where c > 0"),
    ("abs(tr(A)) = tr(A)", {"where": "c = tr(A)", "positive": ["c"]}, "c is positive"),
    ("sum(softmax(S)) = m", {"where": "n = m", "shapes": {"S": ("n", "m")}}, "sizes that agree"),
    ("sum(softmax(S)) = 2", {"where": "n = 2", "shapes": {"S": ("n", "m")}}, "a size that is told"),
    (
        "softmax(Q K^T / sqrt(d_k)) = softmax(Q K^T / 2)",
        {"where": "d_k = 4", "shapes": {}},
        "√4 is 2",
    ),
)


@pytest.mark.parametrize(
    ("text", "options"), [pytest.param(a, b, id=f"{a}: {why}") for a, b, why in TRUE]
)
def test_numbers_that_refute_satisfy_what_is_assumed(text: str, options: dict[str, Any]) -> None:
    try:
        answer = equal(text, **{"shapes": SQUARE, **options})
    except SymattnError as refusal:
        assert "\n" not in str(refusal)  # a hypothesis may be refused in a line
        return
    assert answer.verdict != "different", str(answer)


#: Statement, options: what a reader expects to be proven.
EXPECTED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("c A = 2 A", {"where": "c = 2"}),
    ("softmax(S / T) = softmax(S)", {"where": "T = 1"}),
    ("A = B", {"where": ["A = B", "B = A"]}),
    ("A = C", {"where": ["A = B", "A = C"]}),
    ("inv(2 A^T) = inv(A^T)/2", {}),
    ("A = B", {"where": ["A C = B C", "C D = I"], "shapes": {**SQUARE, "D": ("n", "n")}}),
    ("R R = I", {"where": ["R R^T = I", "R = R^T"]}),
    ("rowmax(S + causal + c 1^T) = rowmax(S + causal) + c", {}),
)


@pytest.mark.parametrize(("text", "options"), EXPECTED)
def test_what_a_reader_expects_is_proven(text: str, options: dict[str, Any]) -> None:
    assert equal(text, **{"shapes": SQUARE, **options}).verdict == "equal"


@pytest.mark.parametrize("choice", [{"mask": "causal"}, {"source": "self", "cache": True}])
def test_taking_the_row_maximum_off_is_proven_under_a_mask(choice: dict[str, Any]) -> None:
    plain, stable = (Attention(**choice, unfold=on).derivation() for on in (False, True))
    assert equal(plain, stable).summary == "equal (for all sizes)"


# ---- where both sides are defined ----------------------------------------------------------


PARTIAL: tuple[tuple[str, dict[str, Any]], ...] = (
    ("(A / c) c = A", {}),
    ("A / c^2 = A c^-2 + 0 A", {}),
    ("sqrt(A) ∘ sqrt(B) = sqrt(A ∘ B)", {"shapes": ROWS}),
    ("sqrt(A ∘ B) = sqrt(A) ∘ sqrt(B)", {"shapes": ROWS}),
)


@pytest.mark.parametrize(("text", "options"), PARTIAL)
def test_an_answer_says_that_values_may_be_missing(text: str, options: dict[str, Any]) -> None:
    answer = equal(text, **{"shapes": WIDE, **options})
    assert answer.partial or not answer
