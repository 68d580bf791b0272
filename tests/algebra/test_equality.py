"""`equal` decides: true and false statements, judged by mpmath and NumPy, and what stays open."""

from __future__ import annotations

import random
import re
from contextlib import suppress
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from symattn import VARIANTS, Attention, SymattnError, equal, variant
from symattn.algebra.certificate import Refused
from symattn.algebra.equality import certified, stated
from symattn.algebra.linear_equations import solution
from symattn.algebra.traces import certificate
from symattn.budget import Spent, within
from symattn.errors import ShapeError
from symattn.nodes.normalise import Softmax

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


@pytest.mark.parametrize(("statement", "options"), TRUE, ids=[row[0] for row in TRUE])
def test_what_is_true_is_equal(statement: str, options: dict[str, Any]) -> None:
    answer = equal(statement, **options)
    assert answer.verdict == "equal", answer
    assert answer
    assert answer.counterexample is None


@pytest.mark.parametrize(("statement", "options"), FALSE, ids=[row[0] for row in FALSE])
def test_what_is_false_has_a_counterexample(statement: str, options: dict[str, Any]) -> None:
    answer = equal(statement, **options)
    assert answer.verdict == "different", answer
    assert not answer
    assert answer.counterexample is not None
    assert answer.counterexample.left != answer.counterexample.right


def test_a_counterexample_is_one_in_mpmath() -> None:
    found = equal("softmax(softmax(S)) = softmax(S)").counterexample
    assert found is not None
    ((_, rows),) = found.values

    def softmax(row: list[Any]) -> list[Any]:
        powers = [mpmath.exp(x) for x in row]
        return [p / mpmath.fsum(powers) for p in powers]

    row = [mpmath.mpf(int(x)) for x in rows[found.place[0]]]
    once, twice = softmax(row), softmax(softmax(row))
    assert float(found.right) == pytest.approx(float(once[found.place[1]]), rel=1e-5)
    assert float(found.left) == pytest.approx(float(twice[found.place[1]]), rel=1e-5)


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
    ("statement", "options"),
    [
        ("d_v = 2", {}),
        ("rowsum(V) = 2 rowmean(V)", {}),
        ("(d_k - 2) (d_k - 3) Q = 0 Q", {}),
        ("P^6 = I", {"permuting": ["P"]}),
        ("P = P^T", {"permuting": ["P"], "shapes": {"P": ("p", "p")}}),
        ("((n - m)^2 - 1) A = 0 A", {"shapes": {"A": ("n", "m")}}),
    ],
)
def test_a_coincidence_of_sizes_is_no_proof(statement: str, options: dict[str, Any]) -> None:
    assert not equal(statement, **options)


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


@pytest.mark.parametrize(
    ("statement", "shapes"),
    [
        ("A + b = A + b^T", {"A": ("n", "m"), "b": ("n", 1)}),
        ("0 A = 0 A^T", {"A": ("n", "m")}),
        ("exp(0 A) = exp(0 B)", {"A": ("n", "m"), "B": ("m", "n")}),
    ],
)
def test_sizes_that_are_named_apart_stay_apart(statement: str, shapes: dict[str, Any]) -> None:
    with pytest.raises(ShapeError):
        equal(statement, shapes=shapes)


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


@pytest.mark.parametrize(
    "statement",
    ["(-8)^(1/3) = 2", "(-1)^(1/3) = 1", "(-8)^(1/3) A = 2 A", "A ⊘ I = A ∘ I", "ln(-exp(S)) = S"],
)
def test_what_has_no_value_is_not_equal(statement: str) -> None:
    answer = equal(statement)
    assert answer.verdict == "undecided"
    assert "have a value" in answer.reason


def test_where_a_value_may_be_missing_is_told() -> None:
    assert equal("M M^-1 = I").summary == "equal (for all sizes, where both sides are defined)"
    assert equal("A / b = diag(b)^-1 A", shapes={"A": (2, 2), "b": (2, 1)}).partial
    assert not equal("softmax(S) 1 = 1").partial


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


def test_a_case_of_signs_leaves_out_where_they_are_0() -> None:
    """At c = 0, x = −2 both sides have values, 2 and −2."""
    statement = "sqrt(c x) + sqrt(c) + abs(x) = sqrt(c x) + sqrt(c) + x"
    assert not equal(statement, shapes={"c": "scalar", "x": "scalar"})


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


def test_numbers_and_sizes_may_be_assumed() -> None:
    assert equal("softmax(Q K^T / sqrt(d_k)) = softmax(Q K^T / 2)", where="d_k = 4")
    assert equal("sum(softmax(S)) = m", where="n = m").reading == (("S", "m × m"),)
    assert equal("c A = 2 A", where="c = 2")
    with pytest.raises(SymattnError, match="not a size"):
        equal("Q = Q", where="d_k = 1/2")


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


def test_letters_that_do_not_occur_are_refused() -> None:
    for option in ("positive", "permuting"):
        with pytest.raises(SymattnError, match=f'{option}: there is no letter "Z"'):
            equal("A = A", **{option: ["Z"]})  # type: ignore[arg-type]


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


def test_a_likelier_reading_is_not_doubted() -> None:
    for statement in ("a^T b = b^T a", "q k^T = k q^T", "softmax(S + c 1^T) = softmax(S)"):
        assert equal(statement), statement


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


@pytest.mark.parametrize("name", ["causal", "rotary", "gemma", "sparsemax", "linear", "sink"])
def test_a_variant_is_equal_to_itself(name: str) -> None:
    derivation = variant(name).spec.derivation()
    assert equal(derivation, derivation).verdict == "equal"


def test_derivations_that_differ_are_told_apart() -> None:
    def made(**spec: Any) -> Any:
        return Attention(**spec).derivation()

    assert equal(made(unfold=True), made())
    assert equal(made(), "softmax(Q K^T / sqrt(d_k)) V")
    assert equal(
        made(source="self", mask="causal"), "softmax(X W_Q (X W_K)^T / sqrt(d_k) + causal) X W_V"
    )
    assert equal(made(scale=False), made()).verdict == "different"
    assert equal(made(soft_cap=50), made()).verdict == "different"
    assert equal(made(mask="causal", source="self"), made(source="self")).verdict == "different"
    shared = equal(made(source="self", heads="h"), made(source="self", heads="h", kv_heads=1))
    assert shared.verdict == "different"
    assert "W_K' = W_K[1]" in str(shared)


def test_a_step_and_a_matrix_are_taken() -> None:
    step = Attention().derivation()["weights"]
    assert equal(step, "exp(Z) / rowsum(exp(Z))", shapes={"Z": step.expr.shape})
    x = sympy.Symbol("x", real=True)
    half = sympy.Matrix([[sympy.Rational(1, 2) * (1 + sympy.tanh(x / 2))]])
    assert equal(half, sympy.Matrix([[1 / (1 + sympy.exp(-x))]]))


def test_random_identities_are_decided_as_numpy_sees_them() -> None:
    """Products of the same factors in another order: true where NumPy cannot tell them apart."""
    chance = random.Random(4)
    for _ in range(12):
        coefficients = [chance.randint(-2, 2) for _ in range(3)]
        shift = chance.choice(["0", "c"])
        left = f"softmax({coefficients[0]} A + {coefficients[1]} B + {shift} 1^T)"
        right = f"softmax({coefficients[0]} A + {coefficients[2]} B)"
        shapes = {"A": (2, 2), "B": (2, 2), "c": (2, 1)}
        text = left if shift == "c" else left.replace(" + 0 1^T", "")
        answer = equal(f"{text} = {right}", shapes=shapes)
        rng = np.random.default_rng(3)
        a, b, c = rng.normal(size=(2, 2)), rng.normal(size=(2, 2)), rng.normal(size=(2, 1))

        def softmax(z: Any) -> Any:
            return np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)

        one = softmax(coefficients[0] * a + coefficients[1] * b + (c if shift == "c" else 0))
        other = softmax(coefficients[0] * a + coefficients[2] * b)
        assert bool(answer) is bool(np.allclose(one, other, rtol=1e-12)), answer


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.fractions(-3, 3, max_denominator=4), min_size=2, max_size=3),
    st.fractions(-2, 2, max_denominator=3),
)
def test_exponentials_add_up_whatever_the_fractions(terms: list[Any], more: Any) -> None:
    """e^{ax} e^{bx} … = e^{(a + b + …) x}, and not with another exponent."""
    x = sympy.Symbol("x", real=True)
    parts = [sympy.Rational(term.numerator, term.denominator) for term in terms]
    extra = sympy.Rational(more.numerator, more.denominator)
    product = sympy.Mul(*(sympy.exp(part * x, evaluate=False) for part in parts), evaluate=False)
    assert equal(product, sympy.exp(sympy.Add(*parts) * x))
    if extra != 0:
        assert equal(product, sympy.exp((sympy.Add(*parts) + extra) * x)).verdict == "different"


def test_the_softmax_keeps_its_node() -> None:
    scores = sympy.MatrixSymbol("S", 2, 2)
    assert equal(Softmax(scores), "softmax(S)", shapes={"S": (2, 2)})


def test_every_variant_can_be_asked_about() -> None:
    assert len(VARIANTS) > 40


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
    with pytest.raises(SymattnError, match="different shapes"):
        equal(sympy.MatrixSymbol("A", 2, 3), sympy.MatrixSymbol("C", 2, 2))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("QK^T", "Q K.T"),
        ("Q Kᵀ", "Q @ K^T"),
        ("Q × K^{T}", "Q·K⊤"),
        ("softmax(QK^T/√d_k)V", r"\operatorname{softmax}\left(Q K^\top / \sqrt{d_k}\right) V"),
        ("A ⊙ B", "A .* B"),
        ("softmax(S, axis=0)", "colsoftmax(S)"),
        ("1/2 S", "S / 2"),
        ("concat(A, B)", "[A, B]"),
        ("S 1", "rowsum(S)"),
        ("e^S", "exp(S)"),
        ("A⁻¹", "A^{-1}"),
        ("XW_Q", "X W_{Q}"),
        ("M^2", "M M"),
    ],
)
def test_spellings_mean_the_same(one: str, other: str) -> None:
    assert equal(one, other).verdict == "equal"


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
