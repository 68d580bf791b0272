"""`equal` decides: true and false statements, judged by mpmath and NumPy, and what stays open."""

from __future__ import annotations

import random
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from symattn import VARIANTS, Attention, SymattnError, equal, variant
from symattn.algebra.entries import Entries
from symattn.algebra.field import Ring, solved
from symattn.algebra.functions import Functions
from symattn.algebra.known import Again, Known
from symattn.nodes import Softmax

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
    ("GELU(S) - GELU(-S) = S", {"sizes": {"n": 2, "m": 2}}),
    ("sqrt(S ∘ S) = abs(S)", {}),
    ("softmax(S / 3) = ratio(exp(S / 3))", {}),
    ("exp(S / 2) ∘ exp(S / 2) = exp(S)", {}),
    ("hardmax(S) = hardmax(2 S)", {}),
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


def test_the_scope_says_what_was_decided() -> None:
    assert equal("softmax(S) 1 = 1").scope == "for all sizes"
    assert equal("relu(S) - relu(-S) = S").scope.startswith("decided for n = 2, m = 3")
    assert equal("softmax(S) 1 = 1", sizes={"n": 1, "m": 4}).scope == "decided for n = 1, m = 4"


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("ln(ln(S)) = cos(ln(S))^0 ln(S + (ln(S) - S))", ""),
        ("A / (B - B) = A", "quotient by 0"),
        ("ln(-exp(S)) = S", "no value"),
    ],
)
def test_what_is_not_decided_says_so(statement: str, reason: str) -> None:
    try:
        answer = equal(statement)
    except SymattnError:
        assert not reason
        return
    if reason:
        assert answer.verdict == "undecided"
        assert reason in answer.reason


def test_undecided_constants_say_so() -> None:
    """e^π − π^e is no 0, but e and π together are beyond the theorem: numbers settle it."""
    assert equal(sympy.exp(sympy.pi), sympy.pi**2 + 13).verdict == "different"
    hidden = sympy.Function("f")(sympy.Symbol("x", real=True))
    answer = equal(hidden, hidden + 0)
    assert answer.verdict == "undecided"
    assert "not covered" in answer.reason


@pytest.mark.parametrize("name", ["causal", "rotary", "gemma", "sparsemax", "linear", "sink"])
def test_a_variant_is_equal_to_itself(name: str) -> None:
    derivation = variant(name).spec.derivation()
    assert equal(derivation, derivation).verdict == "equal"


def test_derivations_that_differ_are_told_apart() -> None:
    def made(**spec: Any) -> Any:
        return Attention(**spec).derivation()

    assert equal(made(unfold=True), made())
    assert equal(made(), "softmax(Q K^T / sqrt(d_k)) V")
    assert equal(made(source="self", mask="causal"),
                 "softmax(X W_Q (X W_K)^T / sqrt(d_k) + causal) X W_V")  # fmt: skip
    assert equal(made(scale=False), made()).verdict == "different"
    assert equal(made(soft_cap=50), made()).verdict == "different"
    assert equal(made(mask="causal", source="self"), made(source="self")).verdict == "different"
    with pytest.raises(SymattnError, match="one for each head"):
        equal(made(source="self", heads="h"), made(source="self", heads="h", kv_heads=1))


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
@given(st.lists(st.fractions(-3, 3, max_denominator=4), min_size=2, max_size=3),
       st.fractions(-2, 2, max_denominator=3))  # fmt: skip
def test_exponentials_add_up_whatever_the_fractions(terms: list[Any], more: Any) -> None:
    """e^{ax} e^{bx} … = e^{(a + b + …) x}, and not with another exponent."""
    x = sympy.Symbol("x", real=True)
    parts = [sympy.Rational(term.numerator, term.denominator) for term in terms]
    extra = sympy.Rational(more.numerator, more.denominator)
    product = sympy.Mul(*(sympy.exp(part * x, evaluate=False) for part in parts), evaluate=False)
    assert equal(product, sympy.exp(sympy.Add(*parts) * x))
    if extra != 0:
        assert equal(product, sympy.exp((sympy.Add(*parts) + extra) * x)).verdict == "different"


def test_the_field_agrees_with_mpmath() -> None:
    """An element's value at a point, from its generators, is mpmath's value of the formula."""
    x = sympy.Symbol("x", positive=True)
    formula = sympy.exp(x / 2) / (1 + sympy.sqrt(x)) + sympy.log(x) * sympy.tanh(x)
    known = Known()
    while True:
        try:
            functions = Functions(known)
            element = Entries(functions).scalar(formula)
            break
        except Again:
            continue
    point = mpmath.mpf("0.7")

    def value(place: int) -> Any:
        generator = functions.ring.generators[place]
        scale = mpmath.mpf(generator.scale.numerator) / generator.scale.denominator
        match generator.kind:
            case "exp":
                return mpmath.exp(scale * inner(generator.of))
            case "log":
                return mpmath.log(inner(generator.of))
            case "root":
                return mpmath.root(inner(generator.of), generator.order)
        return point

    def inner(part: Any) -> Any:
        return part.at(value, lambda q: mpmath.mpf(q.numerator) / q.denominator)

    wanted = mpmath.mpf(sympy.N(formula.subs(x, sympy.Rational(7, 10)), 30))
    assert mpmath.almosteq(inner(element), wanted, 1e-12)


def test_linear_equations_are_solved_or_refused() -> None:
    ring = Ring()
    one = ring.number(1)
    assert [x == 2 for x in solved([[one]], [ring.number(2)]) or []] == [True]
    assert solved([[one], [one]], [one, ring.number(2)]) is None


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
        ("[A B; C D]", "A", "beside"),
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
        ("QK^T", "Q K.T"), ("Q Kᵀ", "Q @ K^T"), ("Q * K^{T}", "Q·K⊤"),
        ("softmax(QK^T/√d_k)V", r"\operatorname{softmax}\left(Q K^\top / \sqrt{d_k}\right) V"),
        ("A ⊙ B", "A .* B"), ("softmax(S, axis=0)", "colsoftmax(S)"), ("1/2 S", "S / 2"),
        ("concat(A, B)", "[A, B]"), ("[A B]", "hstack(A, B)"), ("S 1", "rowsum(S)"),
        ("e^S", "exp(S)"), ("A⁻¹", "A^{-1}"), ("XW_Q", "X W_{Q}"), ("M^2", "M M"),
    ],
)  # fmt: skip
def test_spellings_mean_the_same(one: str, other: str) -> None:
    assert equal(one, other).verdict == "equal"
