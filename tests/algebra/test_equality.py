"""`equal` decides: true and false statements, judged by mpmath and NumPy, and what stays open."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
import sympy

from symattn import Attention, SymattnError, equal
from symattn.algebra import refute
from symattn.algebra.claims import Slope
from symattn.algebra.counterexample import Side
from symattn.algebra.equality import certified, expressed, stated
from symattn.algebra.forms import Refused
from symattn.algebra.identities.sides import slopes
from symattn.algebra.linear_equations import solution
from symattn.algebra.traces import certificate
from symattn.arithmetic.arrays import FLOAT64
from symattn.budget import Spent, within
from symattn.errors import ShapeError
from symattn.nodes.arguments import symbol_of_size

TRUE: tuple[tuple[str, dict[str, Any]], ...] = (
    ("softmax(Q K^T / sqrt(d_k)) V = softmax((Q / sqrt(d_k)) K.T) V", {}),
    ("softmax(S + c 1^T) = softmax(S)", {}),
    ("softmax(S) 1 = 1", {}),
    ("softmax(S) = exp(S) / rowsum(exp(S))", {}),
    ("softmax(S, columns) = softmax(S^T)^T", {}),
    ("diag(v) (A B) = (diag(v) A) B", {}),
    ("(I - A) X = X - A X", {}),
    ("rowsum(A ∘ B) = rowsum(B ∘ A)", {}),
    ("exp(A) ∘ exp(-A) = 1", {}),
    ("[A, B] [C; D] = A C + B D", {}),
    ("W_Q M (W_K M^-T)^T = W_Q W_K^T", {}),
    ("tanh(S) = 2 σ(2 S) - 1", {}),
    ("ln(exp(A) ∘ exp(B)) = A + B", {}),
    ("cos(A) ∘ cos(A) + sin(A) ∘ sin(A) = 1", {}),
    ("cos(A + B) = cos(A) ∘ cos(B) - sin(A) ∘ sin(B)", {}),
    ("relu(S) - relu(-S) = S", {}),
    ("GELU(S) - GELU(-S) = S", {}),
    ("sqrt(S ∘ S) = abs(S)", {}),
    ("softmax(S / 3) = ratio(exp(S / 3))", {}),
    ("exp(S / 2) ∘ exp(S / 2) = exp(S)", {}),
    ("hardmax(S) = hardmax(2 S)", {"sizes": {"n": 2, "m": 3}}),
    ("(sqrt(2) + sqrt(3)) ∘ (sqrt(3) - sqrt(2)) A = A", {}),
    ("A / (1 + sqrt(2)) = (sqrt(2) - 1) A", {}),
    ("softmax1(S) = exp(S) / (1 + rowsum(exp(S)))", {}),
    ("(Q R) (K R)^T = Q K^T", {"where": "R R^T = I"}),
    ("softmax(-dist2(Q, K) / 2) = softmax(Q K^T)", {"where": "norm2(K) = c"}),
    ("softmax(P S P^T) = P softmax(S) P^T", {"permuting": "P"}),
    ("softmax(A softmax(S)) 1 = ones", {}),
)

NUMBERS: dict[str, Any] = {"shapes": {"c": "scalar", "x": "scalar"}}

FALSE: tuple[tuple[str, dict[str, Any]], ...] = (
    ("softmax(Q K^T / sqrt(d_k)) V = softmax(Q K^T / d_k) V", {}),
    ("softmax(S + 1 c^T) = softmax(S)", {}),
    ("softmax(S) = exp(S) / colsum(exp(S))", {}),
    ("softmax(softmax(S)) = softmax(S)", {}),
    ("tanh(S) = 2 σ(S) - 1", {}),
    ("exp(A) ∘ exp(A) = exp(A ∘ A)", {}),
    ("sqrt(S ∘ S) = S", {}),
    ("relu(A + B) = relu(A) + relu(B)", {}),
    ("GELU(2 S) = 2 GELU(S)", {}),
    ("GELU(S) = SiLU(S)", {}),
    ("(Q R) (K R)^T = Q K^T", {}),
    ("(Q R) (K R^T)^T = Q K^T", {"where": "R R^T = I", "shapes": {"R": (2, 2)}}),
    ("softmax(-dist2(Q, K)) = softmax(Q K^T)", {"where": "norm2(K) = c"}),
    ("softmax(Q (P K)^T) V = softmax(Q K^T) V", {"permuting": "P"}),
    ("cos(A + B) = cos(A) ∘ cos(B) + sin(A) ∘ sin(B)", {}),
    ("sqrt(d_k) Q = d_k / sqrt(2) Q", {}),  # true at d_k = 2 alone
    ("softmax(S + 1/1000000000) = softmax(S + 1/1000000000 S)", {}),
)


#: What is true at some sizes alone, and what has no value anywhere.
OTHERS: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("d_v = 2", {}, "different"),
    ("rowsum(V) = 2 rowmean(V)", {}, "different"),
    ("P^6 = I", {"permuting": ["P"]}, "different"),
    ("((n - m)^2 - 1) A = 0 A", {"shapes": {"A": ("n", "m")}}, "different"),
    ("sqrt(c x) + sqrt(c) + abs(x) = sqrt(c x) + sqrt(c) + x", NUMBERS, "different"),
    ("(-8)^(1/3) A = 2 A", {}, "undecided"),
    ("A ⊘ I = A ∘ I", {}, "undecided"),
    ("ln(-exp(S)) = S", {}, "undecided"),
)

VERDICTS = (
    *((text, options, "equal") for text, options in TRUE),
    *((text, options, "different") for text, options in FALSE),
    *OTHERS,
)


@pytest.mark.parametrize(
    ("statement", "options", "verdict"), VERDICTS, ids=[a for a, *_ in VERDICTS]
)
def test_each_statement_has_its_verdict(
    statement: str, options: dict[str, Any], verdict: str
) -> None:
    answer = equal(statement, **options)
    assert answer.verdict == verdict, answer
    assert bool(answer) is (verdict == "equal")
    assert (answer.counterexample is not None) is (verdict == "different")


def _rows(size: str, *letters: str) -> dict[str, Any]:
    return {"shapes": dict.fromkeys(letters, ("n", size))}


#: A false statement, what is assumed, options, and both equations in NumPy.
ASSUMED: tuple[tuple[str, str, dict[str, Any], Any, Any], ...] = (
    (
        "rowsum(A) = 1",
        "norm2(A) = 1",
        _rows("m", "A"),
        lambda A: ((A * A).sum(1), 1),
        lambda A: (A.sum(1), 1),
    ),
    (
        "rowsum(B) = 2",
        "rowsum(B) = 1 + rowsum(A)",
        _rows("m", "A", "B"),
        lambda A, B: (B.sum(1), 1 + A.sum(1)),
        lambda A, B: (B.sum(1), 2),
    ),
    ("A A = A", "A = A^T", _rows("n", "A"), lambda A: (A, A.T), lambda A: (A @ A, A)),
    (
        "A B = B A",
        "A^T = -A",
        _rows("n", "A", "B"),
        lambda A, B: (A.T, -A),
        lambda A, B: (A @ B, B @ A),
    ),
    (
        "R = R^T",
        "R R^T = I",
        _rows("n", "R"),
        lambda R: (R @ R.T, np.eye(len(R))),
        lambda R: (R, R.T),
    ),
    (
        "sqrt(A) = B",
        "rowsum(A) = rowsum(B)",
        {**_rows("m", "A", "B"), "positive": ["A", "B"]},
        lambda A, B: (A.sum(1), B.sum(1)),
        lambda A, B: (np.sqrt(A), B),
    ),
)


@pytest.mark.parametrize(
    ("text", "where", "options", "assumed", "claimed"), ASSUMED, ids=[a for a, *_ in ASSUMED]
)
def test_a_counterexample_satisfies_what_is_assumed(
    text: str, where: str, options: dict[str, Any], assumed: Any, claimed: Any
) -> None:
    found = equal(text, where=where, **options).counterexample
    assert found is not None
    numbers = {
        name: np.array([[float(sympy.N(x)) for x in row] for row in rows])
        for name, rows in found.values
    }
    left, right = assumed(**numbers)
    np.testing.assert_allclose(left, right, atol=1e-12)
    assert not np.allclose(*claimed(**numbers))


def test_the_scope_says_what_was_decided() -> None:
    assert equal("softmax(S) 1 = 1").scope == "for all sizes"
    given = equal("softmax(S) 1 = 1", sizes={"n": 1, "m": 4})
    assert (given.verdict, given.scope) == ("equal", "at the sizes given: n = 1, m = 4")
    assert equal("softmax(S) 1 = 1", shapes={"S": (2, 3)}).scope == "at the sizes given"
    assert equal("e^2 e^3 = e^5").scope == "for all sizes"


def test_what_holds_at_sizes_that_we_chose_is_not_equal() -> None:
    """Shown place by place at sizes nobody wrote, which says nothing of others."""
    text = "softmax(causal() + S [B; V]) = softmax(S [B; V] + causal())"
    shapes = {"S": ("r", "m"), "B": ("p", "p"), "V": ("n", "p")}
    answer = equal(text, shapes=shapes)
    assert answer.verdict == "holds at the sizes tried"
    assert not answer
    assert answer.scope == "n = 2, p = 3, r = 4"
    assert "not shown for other sizes" in str(answer)
    sizes = {"n": 2, "p": 3, "r": 4}
    assert equal(text, shapes=shapes, sizes=sizes).verdict == "equal"
    partly = equal(text, shapes=shapes, sizes={"n": 2})
    assert partly.verdict == "holds at the sizes tried"


@pytest.mark.parametrize(
    "statement",
    [
        "q k^T = q^T k",
        "x^T x = x x^T",
        "x + x^T = 2 x",
        "[A, B]^T = [A^T, B^T]",
        "[A; B] [A; B]^T = A A^T + B B^T",
    ],
)
def test_no_size_is_1_that_nobody_wrote(statement: str) -> None:
    with pytest.raises(ShapeError) as caught:
        equal(statement)
    assert "\n" not in str(caught.value)


def test_the_reading_is_told_and_another_that_differs_is_named() -> None:
    answer = equal("q k^T = k q^T")
    assert answer
    assert answer.reading == (("q", "1 × d_k"), ("k", "1 × d_k"))
    assert answer.notes == ("with q n × 1, k n × 1 instead, the answer is: different",)
    assert "read as q 1 × d_k" in str(answer)
    assert equal("q^T k = k^T q").reading == (("q", "n × 1"), ("k", "n × 1"))
    assert dict(equal("softmax(c S) = softmax(S c)").reading)["c"] == "a number"
    assert equal("(I - 1 1^T / n) (I - 1 1^T / n) = I - 1 1^T / n")
    assert dict(equal("Q K^T / sqrt(d) = Q K^T d^(-1/2)").reading)["d"] == "= d_k"


MASKED_SUMS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("(exp(causal()) ∘ M) M^-1 = I", {}),
    ("(exp(causal()) ∘ M^-1) M = I", {}),
    (
        "softmax(X W_Q (P X W_K)^T + causal()) P X W_V = softmax(X W_Q (X W_K)^T + causal()) X W_V",
        {"permuting": ["P"]},
    ),
    (
        "(exp(causal()) ∘ (Q K^T)) K = Q",
        {"where": "K^T K = I", "shapes": {"Q": ("n", "d_k"), "K": ("n", "d_k")}},
    ),
    ("sum(exp(causal()) ∘ P) = n", {"permuting": ["P"], "shapes": {"P": ("n", "n")}}),
    ("([ones ones^T, 0*B] ∘ M) inv(M) = I", {}),
    (
        "B P^T P (exp(causal()) ∘ P)^T = B P^T",
        {"permuting": ["P"], "shapes": {"P": ("n", "n"), "B": ("d", "n")}},
    ),
    ("(exp(causal()) ∘ R) R^T = I", {"where": "R R^T = I", "shapes": {"R": ("n", "n")}}),
    ("rowsum(exp(causal()) ∘ P) = rowsum(P)", {"permuting": ["P"]}),
)


@pytest.mark.parametrize(("statement", "options"), MASKED_SUMS, ids=[r[0] for r in MASKED_SUMS])
def test_a_sum_over_a_part_is_not_the_whole_sum(statement: str, options: dict[str, Any]) -> None:
    """The prover refuses these by itself, and numbers refute them."""
    assert equal(statement, **options).verdict == "different"
    for reading in stated(statement, **options):
        assert certified(reading)[0] is None


@pytest.mark.parametrize(
    ("statement", "where", "verdict"),
    [
        ("A C = C A", ["A B = B A", "B C = C B"], "different"),
        ("B A = C A", ["A B = A C"], "different"),
        ("A B = I", ["A B A = A"], "different"),
        ("A B M = M A B", ["A M = M B"], "different"),
        ("A A B = B A A", ["A B = B A"], "equal"),
        ("B A = I", ["A B = I"], "equal"),
        ("(I - A) (I - A) = I - A", ["A^2 = A"], "equal"),
        ("softmax(A B) C = softmax(B A) C", ["A B = B A"], "equal"),
        ("x A x^T = 0", ["A^T = -A"], "equal"),
    ],
)
def test_no_solution_of_a_hypothesis_is_lost(
    statement: str, where: list[str], verdict: str
) -> None:
    shapes = dict.fromkeys("ABCM", ("n", "n")) | {"x": (1, "n")}
    answer = equal(statement, where=where, shapes=shapes)
    assert answer.verdict == verdict, answer
    if answer:
        assert answer.scope == "for all sizes"


def test_where_a_value_may_be_missing_is_told() -> None:
    assert equal("M M^-1 = I").summary == "equal (for all sizes, where both sides are defined)"
    assert equal("A / b = diag(b)^-1 A", shapes={"A": (2, 2), "b": (2, 1)}).partial
    assert not equal("softmax(S) 1 = 1").partial


@pytest.mark.parametrize(
    ("function", "partial"),
    [
        ("1 ⊘ A", True),
        ("sqrt(A)", True),
        ("unit(A)", True),
        ("ratio(A)", True),
        ("softmax(A)", False),
        ("softmax(A / sqrt(m))", False),
        ("tanh(A)", False),
        ("softmax(A + causal())", False),
    ],
)
def test_a_function_that_nothing_is_used_of_may_be_undefined(function: str, partial: bool) -> None:
    answer = equal(f"{function} + B = B + {function}", shapes={"A": ("n", "m")})
    assert (answer.verdict, answer.scope, answer.partial) == ("equal", "for all sizes", partial)


def test_what_is_nothing_once_it_is_multiplied_out() -> None:
    number, matrix = "a / (1 + a) + 1 / (1 + a) - 1", "A ⊘ (1 + A) + 1 ⊘ (1 + A) - 1"
    assert (
        equal(f"abs({number}) = 0").summary == "equal (for all sizes, where both sides are defined)"
    )
    for function in ("abs", "relu", "GELU"):
        answer = equal(f"{function}({matrix}) = {matrix}", shapes={"A": ("n", "m")})
        assert (answer.verdict, answer.partial) == ("equal", True)
    assert equal(f"1 / ({number}) = 0").verdict == "undecided"


def test_numbers_for_which_a_hypothesis_has_no_value_refute_nothing() -> None:
    statement, shapes = "hardmax([0 b, abs(a) + 0 b]) = [0 b, 1 + 0 b]", {"b": ("n", 1)}
    assert equal(statement, shapes=shapes).verdict == "different"
    assert equal(statement, shapes=shapes, where=["c = 1 / a"]).verdict == "undecided"


def test_two_numbers_may_be_said_to_be_the_same_twice() -> None:
    assert equal("c A = d A", where=["c = d", "d = c"]).scope == "for all sizes"


def test_powers_of_powers_are_bounded() -> None:
    with pytest.raises(SymattnError, match="the exponents of powers of powers to 4096"):
        equal("(((3 a)^64)^64)^2 = a")
    powers = ["a = x^64", "x = y^64", "y = z^64"]
    with pytest.raises(SymattnError, match="are more than 4096 together"):
        equal("c = a", where=powers)


@pytest.mark.parametrize(
    ("statement", "where", "partial"),
    [
        ("x / x = 1", [], True),
        ("x - x / x = x - 1", [], True),
        ("-(x / x) A = -A", [], True),
        ("2 (x A / x) = 2 A", [], True),
        ("x / y = 1", ["x = y"], True),
        ("x / y = 1", ["x = 2", "y = 2"], False),
        ("0 / (x^2 + 1) = 0", [], True),
        ("x / exp(x) = x exp(-x)", [], False),
        ("d_k / d_k = 1", [], False),
        ("(x A)^T = x A^T", [], False),
    ],
)
def test_numbers_stand_as_they_are_written(statement: str, where: list[str], partial: bool) -> None:
    answer = equal(statement, where=where, shapes={x: "scalar" for x in "xy" if x in statement})
    assert answer.verdict == "equal", answer
    assert answer.partial is partial


@pytest.mark.parametrize(
    ("statement", "positive", "side"),
    [
        ("exp(ln(A)) = A", ["A"], "right"),
        ("ln(A ∘ A) = 2 ln(A)", ["A"], "left"),
        ("sqrt(A) ∘ sqrt(A) = A", ["A"], "right"),
        ("sqrt(a)^2 = a", ["a"], "right"),
        ("ln(a b) = ln(a) + ln(b)", ["a", "b"], "left"),
    ],
)
def test_a_side_that_alone_has_values_is_told(
    statement: str, positive: list[str], side: str
) -> None:
    """On a whole region, not at single points: then the two are not the same function."""
    answer = equal(statement)
    assert answer.verdict == "undecided"
    assert f"only the {side} side has a value" in answer.reason
    assert equal(statement, positive=positive)


@pytest.mark.parametrize(
    ("text", "lacks"),
    [
        ("softmax(S) V", False),
        ("sqrt(A ∘ A)", False),
        ("Q K^T / sqrt(d_k)", False),
        ("ln(A)", True),
        ("sqrt(A)", True),
        ("A ⊘ B", True),
        ("inv(A)", True),
        ("softmax(S + causal())", True),
    ],
)
def test_numbers_tell_which_side_has_values_where_one_may_lack_them(text: str, lacks: bool) -> None:
    assert refute.may_lack(next(stated(f"{text} = {text}")).left) is lacks


@pytest.mark.parametrize(
    "statement",
    [
        "sqrt(abs(A) ∘ (A + B)) + abs(A + B) = sqrt(abs(A) ∘ (A + B)) + A + B",
        "sqrt(A ∘ A ∘ (A + B)) + abs(1 ⊘ (A + B)) = sqrt(A ∘ A ∘ (A + B)) + 1 ⊘ (A + B)",
        "sqrt(A ∘ A ∘ B) + abs(B) = sqrt(A ∘ A ∘ B) + B",
        "sqrt(A ∘ B) + sqrt(B) + abs(A) = sqrt(A ∘ B) + sqrt(B) + A",
    ],
)
@pytest.mark.parametrize("size", [{}, {"n": 1, "m": 1}])
def test_a_root_that_is_0_says_nothing_of_its_other_factors(
    statement: str, size: dict[str, int]
) -> None:
    """Where one factor is 0 the other may be below 0: both sides have values, and differ."""
    shapes = dict.fromkeys("AB", ("n", "m"))
    assert not equal(statement, shapes=shapes, sizes=size)
    for reading in stated(statement, shapes=shapes):
        assert certified(reading)[0] is None


@pytest.mark.parametrize(
    ("statement", "where"),
    [("A = 0*A", "(1 + exp(-1000)) A = A"), ("A = B", "tanh(10000 + A) = tanh(10000 + B)")],
)
def test_what_nearly_satisfies_a_hypothesis_refutes_nothing(statement: str, where: str) -> None:
    """Both are true: the numbers that seem to refute them only nearly satisfy what is assumed."""
    shapes = dict.fromkeys("AB", ("n", "m"))
    assert equal(statement, where=where, shapes=shapes).verdict != "different"


def test_a_mask_as_wide_as_blocks_is_one_of_its_own() -> None:
    """The keys of B lie behind all that a row sees if A is square."""
    statement = "rowsum(exp(A + causal())) = rowsum(exp([A, B] + causal()))"
    assert equal(statement, shapes={"A": ("n", "n"), "B": ("n", "m")}).scope == "for all sizes"


def test_heads_and_masks_of_derivations_are_proven_for_all_sizes() -> None:
    for options in ({"heads": 2}, {"mask": "causal"}, {"mask": {"padding": 3}}):
        stable = Attention(**options, unfold=True).derivation()
        answer = equal(stable, Attention(**options).derivation())
        assert answer.scope == "for all sizes", answer
    with pytest.raises(ShapeError, match="different shapes"):
        equal(Attention(heads=2).derivation(), Attention(heads=3).derivation())


def test_a_decision_has_a_budget_of_steps() -> None:
    text = "hardmax(S) ∘ (S + c 1^T) = hardmax(S + c 1^T) ∘ (S + c 1^T)"
    steps = []
    for _ in range(2):
        with within(10**9) as budget, suppress(Refused):
            certificate(next(stated(text)))
        steps.append(budget.steps - budget.left)
    assert steps[0] == steps[1]  # the same on every machine
    with pytest.raises(Spent, match="within 3 steps"), within(3):
        certificate(next(stated("softmax(S + c 1^T) = softmax(S)")))


@pytest.mark.parametrize("statement", ["e_i e_j^T = e_j e_i^T", "a b^T = b a^T", "u x^T = x u^T"])
def test_two_readings_that_are_as_likely_are_both_told(statement: str) -> None:
    answer = equal(statement)
    assert answer.verdict == "undecided" and not answer
    one, two = re.findall(r"with ([^;]*?) it is (different|equal)", answer.reason)
    assert (one[1], two[1]) == ("different", "equal")
    columns, rows = (
        {name: shape for name, *shape in re.findall(r"(\w+) (\w+) × (\w+)", told)}
        for told in (one[0], two[0])
    )
    for shapes, verdict in ((columns, "different"), (rows, "equal")):
        given = {x: tuple(int(n) if n == "1" else n for n in s) for x, s in shapes.items()}
        assert equal(statement, shapes=given).verdict == verdict


def test_seven_factors_are_quick() -> None:
    """(Q + K)(Q + K)ᵀ… has 128 terms; as sums over seven indices it took over a minute."""
    shapes = {"Q": ("n", "d"), "K": ("n", "d")}
    one, other = "(Q + K)", "(Q + K)^T"
    left = " ".join([one, other] * 3 + [one])
    answer = equal(f"{left} = {one} ({other} {one}) ({other} {one}) ({other} {one})", shapes=shapes)
    assert answer.scope == "for all sizes"


def test_sizes_that_are_no_sizes_are_refused() -> None:
    for sizes in ({"n": 0}, {"n": 10**9, "m": 2}, {"nn": 2}):
        with pytest.raises(SymattnError, match="size"):
            equal("softmax(S) 1 = 1", sizes=sizes)
    for shape in (("n", "n", "n"), (-1, "m"), (2.5, 3), "wide"):
        with pytest.raises(SymattnError, match="not a shape"):
            equal("A = A", shapes={"A": shape})


def test_undecided_constants_say_so() -> None:
    """e^π − π^e is no 0, but e and π together are beyond the theorem: numbers settle it."""
    assert equal(sympy.exp(sympy.pi), sympy.pi**2 + 13).verdict == "different"
    hidden = sympy.Function("f")(sympy.Symbol("x", real=True))
    assert equal(hidden, hidden + 1).verdict == "undecided"


def test_a_step_and_a_matrix_are_taken() -> None:
    step = Attention().derivation()["weights"]
    assert equal(step, "exp(Z) / rowsum(exp(Z))", shapes={"Z": step.expr.shape})
    x = sympy.Symbol("x", real=True)
    half = sympy.Matrix([[sympy.Rational(1, 2) * (1 + sympy.tanh(x / 2))]])
    assert equal(half, sympy.Matrix([[1 / (1 + sympy.exp(-x))]]))


@pytest.mark.parametrize(
    ("left", "right", "words"),
    [
        ("softmax(", "S", "cannot be read"),
        ("__import__('os')", "S", "no meaning"),
        ("softmaxx(S)", "S", "did you mean"),
        ("[A B]", "A", "beside"),
        ("A^99", "A", "exponents"),
        ("(" * 60 + "A" + ")" * 60, "A", "nested"),
        ("A" * 3000, "A", "too many"),
        ("A", None, "two sides"),
        (object(), "A", "give a text"),
    ],
)
def test_bad_statements_are_refused_in_one_line(left: Any, right: Any, words: str) -> None:
    with pytest.raises(SymattnError, match=words) as caught:
        equal(left, right)
    assert "\n" not in str(caught.value)


def test_shapes_that_cannot_fit_are_refused() -> None:
    with pytest.raises(SymattnError, match="same size"):
        equal("Q K = Q", shapes={"Q": (2, 3), "K": (2, 3)})
    with pytest.raises(ShapeError):  # sizes that are named apart stay apart
        equal("0 A = 0 A^T", shapes={"A": ("n", "m")})
    with pytest.raises(SymattnError, match="different shapes"):
        equal(sympy.MatrixSymbol("A", 2, 3), sympy.MatrixSymbol("C", 2, 2))


@pytest.mark.parametrize("seed", range(5))
def test_a_solution_is_there_where_the_ranks_say_so(seed: int) -> None:
    random = np.random.default_rng(seed)
    answers = set()
    for _ in range(40):
        kept = random.random((8, random.integers(1, 9))) < 0.3
        table = random.integers(-3, 4, kept.shape) * kept
        wanted = table @ random.integers(-1, 2, table.shape[1]) + (random.random(8) < 0.03)
        rank = np.linalg.matrix_rank
        solvable = bool(rank(np.column_stack([table, wanted])) == rank(table))
        rows, right = ([[int(x) for x in row] for row in table], [int(x) for x in wanted])
        found = solution(rows, right, [0] * table.shape[1])
        assert (found is not None) is solvable
        if found is not None:
            assert np.allclose(table @ np.array([float(x) for x in found]), wanted)
        answers.add(solvable)
    assert len(answers) == 2


@pytest.mark.parametrize(
    "statement",
    [
        "[[A, B], C] = [A, [B, C]]",
        "[[A; B]; C] = [A; [B; C]]",
        "[[A, B]; [C, D]] = [[A; C], [B; D]]",
        "[A, [B, C]] [X; Y; Z] = A X + B Y + C Z",
    ],
)
def test_blocks_within_blocks_are_blocks(statement: str) -> None:
    assert equal(statement).certified


@pytest.mark.parametrize(
    ("number", "letter", "sizes"),
    [
        ("sum(dO ∘ (softmax(Q K^T / sqrt(d_k)) V))", "Q", {"n": 2, "m": 3, "d_k": 2, "d_v": 1}),
        ("sum(dA ∘ softmax(S))", "S", {"n": 2, "m": 3}),
        ("sum(dA ∘ softmax(S))", "dA", {"n": 2, "m": 3}),
    ],
)
def test_the_numbers_of_a_derivative_are_quotients_of_small_changes(
    number: str, letter: str, sizes: dict[str, int]
) -> None:
    slope, _ = slopes(number, letter, letter)
    known = {symbol_of_size(name): size for name, size in sizes.items()}
    random, step = np.random.default_rng(3), 1e-6
    given = {
        name: random.normal(size=one.dims(known)) for name, one in Side(slope).letters().items()
    }
    found = Side(slope).value(given, FLOAT64, known)
    for place in np.ndindex(*given[letter].shape):
        ends = []
        for sign in (1, -1):
            moved = {**given, letter: given[letter].copy()}
            moved[letter][place] += sign * step
            ends.append(Side(slope.expr).value(moved, FLOAT64, known).item())
        assert found[place] == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=1e-7)


def test_a_derivative_that_is_off_by_a_factor_is_refuted_by_numbers() -> None:
    wrong = equal(*slopes("sum(dA ∘ softmax(S))", "dA", "2 softmax(S)"))
    assert wrong.verdict == "different"
    by = sympy.MatrixSymbol("B", 2, 2)
    constant = Slope(expressed("sum(A)", {"A": (2, 2)}), by)
    assert equal(constant, sympy.ZeroMatrix(2, 2)).verdict == "equal"
    assert equal(constant, sympy.OneMatrix(2, 2)).verdict == "different"


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("relu(x) - relu(-x) = x", True),
        ("relu(x) relu(-x) = 0", True),
        ("gelu(x) - gelu(-x) = x", True),
        ("relu(x) = x", False),
        ("gelu(x) = x sigmoid(1.702 x)", False),
        ("relu(-3) + gelu(0) = 0", True),
    ],
)
def test_functions_of_numbers_are_those_of_entries(text: str, holds: bool) -> None:
    answer = equal(text, shapes={"x": "scalar"} if "x" in text else {})
    assert answer.verdict == ("equal" if holds else "different")
