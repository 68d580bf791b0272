"""What a text of equations refuses: the line and character of the part, and what to write."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from symattn import equal
from symattn.cli import main
from symattn.errors import ReadError, ShapeError, SymattnError
from symattn.language.equations import derivation_of
from symattn.language.writing import written
from symattn.pages.checked import no_claims
from tests.extras import package

#: A text, the part of it that is wrong, and what is said.
REFUSED = (
    ("A = sofmax(S)", "sofmax", '"sofmax" is no function; did you mean softmax?'),
    ("A = Q + LayerNrom(X)", "LayerNrom", "did you mean LayerNorm?"),
    ("A = S + sofmax S", "sofmax", "did you mean softmax(…)?"),
    ("phi(x) = x; A = \\sqrt{Q} + zzyyx(Q)", "zzyyx", "is no function; write z z y y x (…)"),
    ("A = softmax(Q K^T / sqrt(dk))", "dk", "the product d k; did you mean d_k?"),
    ("O[h][t,:] = Q[h][t]", "O[h]", "the matrix of each h is made as a whole, O[h] = …"),
    ("A = X WQ", "WQ", "the product W Q; did you mean W_Q?"),
    ("A = XWQ (X WK)^T", "XWQ", "did you mean X W_Q?"),
    ("Q : n × dk; A = Q", "Q : n", "did you mean d_k?"),
    ("W_D : d_model × d_c; A = X WD", "WD", "did you mean W_D?"),
    ("A = softmax(Q K^T) W_K X", "X", "d_k and n would have to be the same size"),
    ("A = softmax(rotary(Q, base=0))", "rotary", "base 0: give a positive number"),
    ("Q : 2 × 3; K : 2 × 4; A = softmax(Q) + relu(K)", "relu", "3 and 4 would have to be"),
    ("A = Q; B = A / sqrt(d_r)", "d_r", "d_r is no size of any matrix; the sizes are n, d_k"),
    ("f(x) = x / d_r; A = f(Q)", "d_r", "d_r is no size"),
    ("A = Q K^T; B = softmax(2 * A + Q * K)", "Q * K)", "write A B for the matrix product"),
    ("Q : n × d; P[h] = Q[:, h:h+1]", "Q[:", "one of as many equal ones as there are"),
    ("Q : n × d; P[h] = Q[:, 1:h]", "Q[:", "write Q[:, (h-1) d_k + 1 : h d_k]"),
    ("Q : n × d; S[t] = S[t-1] + Q[1:t, :]", "Q[1", "a part that depends on t"),
    ("Q : n × d; P[h] = Q[:, (h-1) d_k + 2 : h d_k]", "Q[:", "a part that depends on h"),
    ("A = softmax(S + window(-1))", "window", "write inf where there is no limit"),
    ("A = softmax(S + window(2, -1))", "window", "write inf where there is no limit"),
    ("A = softmax(S + window(1/2))", "window", "= 1/2: give a whole number"),
    ("A = softmax(S + causal(start=1/2))", "causal", "= 1/2: give a whole number"),
    ("A = softmax(S + padding(-2))", "padding", "= -2: give a whole number"),
    ("A = softmax(S + documents(1, 1/2))", "documents", "= 1/2: give a whole number"),
    ("A = softmax(S + dilated(1, 0))", "dilated", "= 0: give a whole number"),
    ("X : n × 3; A = rotary(X)", "rotary", "3 of 3 columns cannot form pairs"),
    ("A = softmax(softcap(S, 0))", "softcap", "soft cap 0: give a positive number"),
    ("A = LayerNorm(X, eps=-1)", "LayerNorm", "give a number from 0"),
    ("A = shift(S, columns=0)", "shift", "give a whole number from 1"),
    ("O = A V; A = softmax(S)", "A V", "A is used before line 1 makes it"),
    ("A = Q; A = A K^T", "A K", "A is made in line 1 already"),
    ("B[i,j] = r[i - j]; A = softmax(S + B)", "i - j", "a bias by distance is relative(r, clip=2)"),
    ("r : 4 × 1; A = softmax(S + relative(r, clip=2))", "relative", "4 and 5 would have to be"),
    ("f(x, y) = x y; A = f(Q)", "f(Q)", "f takes 2 arguments"),
    ("S[0] = A; S[t] = S[t-1] + K[t]^T V[t]; A = X W", "A;", "A is used before line 1 makes it"),
    ("A = Q + (K [", "the end", "the bracket opened at line 1, character 12 is not closed"),
    ("M[i,j] = 0 if j <= i else -inf; A = softmax(S ∘ M)", "M)", "it is only added to scores"),
)


#: Texts that say nothing sound, and why.
UNSOUND = {
    "Tanh(x) = x^3; O = Tanh(Q)": "has a meaning of its own",
    "f(x) = floor(x); O = f(Q)": "floor is of places and sizes alone",
    "S[t] = M[t-1] + K[t]^T V[t]; M[t] = S[t]": "are one state, Z[t] = [A; B]",
    "O = relu(Q K^T)^2; Q : 2 × d; K : 3 × d": "entry by entry it is A ∘ A",
    "A = Q[:, :d] K[:, :d]^T; B = Q[:, d:] K[:, d:]^T": "both parts take column d",
    "A = X[:2, :]; B = X[2:, :]": "both parts take row 2",
    "O = Q[:, 0:2]": "from 1",
    "O = Q[0]": "there is no place 0",
    "O = Q[:, 3:2]": "to its last place",
    "O = Q [1]": "touches its letter",
    "M[i,j] = 0 if i < j else -inf; O = softmax(Q K^T - M) V": "M hides by −∞",
    "M[i,j] = 0 if i < j else -inf; O = softmax(Q K^T + 2 M) V": "M hides by −∞",
    "M[i,j] = 0 if i < j else -inf; O = (Q K^T ∘ M) V": "M hides by −∞",
    "M[i,j] = inf if i < j else 0; O = softmax(Q K^T + M) V": "only as a branch",
    "M[i,j] = -inf; O = softmax(Q K^T + M) V": "only as a branch",
    "f(x) = x if x > 0 else -inf; O = f(Q)": "only as a branch",
    "M[i,j] = 1/0; O = M": "divides by 0",
    "O = rotary(X, bose=2)": 'did you mean "base"?',
    "f(x) = f(x); O = f(Q)": "made of itself",
    "f(x) = g(x); g(x) = f(x); O = f(Q)": "defined below",
    "f(x) = x; f(x) = 2; O = f(Q)": "defined in line 1 already",
    "f(x) = Q x; O = f(K)": "Q is a matrix",
    "f(x) = x; f = Q; O = f(K)": "a function and a letter",
    "exp(x) = x^2; O = exp(Q)": "a meaning of its own",
    "X[l] = X[l-1] + 1": "nothing says how far l goes",
    "S[t] = K[t]^T V[t]; O[t,:] = Q[t] S[t-1]": "made of no state before it",
    "S[t] = S[t-1] + K[t]^T V[t]; O[t,:] = Q[t] S[t-2]": "an index beside t",
    "S[0] = inf; S[t] = S[t-1] + K[t]^T V[t]": "S[0] is a matrix, 0 or -inf",
    "O = 5": "no step",
    "f(x) = x^2": "a function alone",
    "O[t,:] = t Q[t]": "t is an index",
    "Q K = V": "one letter stands on a left side",
    "中 = Q K^T": "is no letter here",
}


@pytest.mark.parametrize("text", UNSOUND)
def test_a_text_that_says_nothing_sound_is_refused(text: str) -> None:
    with pytest.raises(SymattnError, match=r"\Aline 1, character .*") as refused:
        derivation_of(text)
    assert UNSOUND[text] in str(refused.value)


@pytest.mark.parametrize(("text", "part", "why"), REFUSED, ids=[row[0] for row in REFUSED])
def test_a_refusal_names_the_part_and_what_to_write(text: str, part: str, why: str) -> None:
    with pytest.raises(ReadError) as caught:
        derivation_of(text)
    at = text.find(part) if part in text else len(text)
    found = str(caught.value)
    assert why in found
    assert "\n" not in found
    assert found.startswith(f"line 1, character {at + 1}: ")


@pytest.mark.parametrize(
    "word",
    [
        *("softplus", "leaky_relu", "elu", "mish", "softsign", "hardtanh", "relu6", "sign"),
        *("tan", "sinh", "cosh"),
    ],
)
def test_what_is_said_to_be_written_for_an_activation_is_read(word: str) -> None:
    torch = package("torch")
    with pytest.raises(ReadError) as caught:
        derivation_of(f"A = {word}(X)")
    line = str(caught.value).partition("define ")[2].removesuffix(" in a line above")
    x = np.array([[-7.5, -1.25, -0.5], [0.0, 0.75, 8.5]])
    found = derivation_of(f"{line}; A = {word}(X)").evaluate(X=x)["A"].array
    given = torch.tensor(x)
    functional = getattr(torch.nn.functional, word, None) or getattr(torch, word)
    np.testing.assert_allclose(found, functional(given).numpy(), rtol=1e-12, atol=1e-15)


def test_a_statement_takes_no_options() -> None:
    for text in ("RMSNorm(X, gain=g)", "softmax(S, eps=2)", "rotary(Q, base=500)"):
        with pytest.raises(ShapeError, match=r"\w+= of \w+ has no meaning in a statement"):
            equal(f"{text} = {text.partition(',')[0]})")


def test_letters_together_are_a_product_where_no_usual_name_is_meant() -> None:
    assert str(derivation_of("A = softmax(QK^T)")) == str(derivation_of("A = softmax(Q K^T)"))
    assert str(derivation_of("d = 2; k = 3; A = dk X")) == str(derivation_of("A = 6 X"))


def test_a_dot_is_a_product_of_matrices_in_every_spelling() -> None:
    texts = (r"A = Q \cdot K^T", "A = Q · K^T", r"A = Q \times K^T", "A = Q @ K^T")
    assert {str(derivation_of(text)) for text in texts} == {"A  A = Q Kᵀ"}


def test_a_window_without_a_limit_reads_back() -> None:
    whole = derivation_of("A = softmax(S + window(1, inf))")
    assert "window(1, inf)" in written(whole)
    seen = whole.evaluate(S=np.zeros((3, 3)))["A"].array > 0
    assert seen.tolist() == [[True] * 3, [True] * 3, [False, True, True]]


def test_a_bias_by_distance_has_a_table_of_its_own() -> None:
    whole, table = derivation_of("B = S + relative(r, clip=1)"), np.array([5.0, 7.0, 11.0])
    found = whole.evaluate(S=np.zeros((3, 4)), r=table[:, None])["B"].array
    steps = np.clip(np.arange(4) - np.arange(3)[:, None], -1, 1)
    np.testing.assert_array_equal(found, table[steps + 1])


def test_heads_that_are_not_joined_have_a_small_example() -> None:
    result = CliRunner().invoke(main, ["derive", "A[h] = softmax(Q[h] K[h]^T)"])
    assert result.exit_code == 0
    assert "n_h = 2" in result.output


def test_a_function_may_have_two_arguments() -> None:
    one, other = np.array([[1.0, -2.0]]), np.array([[0.5, 3.0]])
    whole = derivation_of("f(x, y) = max(x, y) - x y; A = f(X, Y)")
    found = whole.evaluate(X=one, Y=other)["A"].array
    np.testing.assert_allclose(found, np.maximum(one, other) - one * other)


def test_why_a_file_of_equations_cannot_be_marked(tmp_path: Path) -> None:
    for name, text, why in (
        ("empty.eq", "", "no equation is written"),
        ("shape.eq", "W : n × m\n", "no equation is written"),
        ("wrong.eq", "A = sofmax(S)\n", "line 1, character 5"),
        ("right.eq", "A = softmax(S)\n", "equations claim nothing; put them into a worksheet"),
        ("empty.toml", 'equations = ""\n', "no equation is written"),
        ("alone.toml", 'equations = "A = softmax(S)"\n', "given: nothing is given"),
    ):
        file = tmp_path / name
        file.write_text(text, encoding="utf-8")
        assert why in str(no_claims(file)), name


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("O = X W[3]", "O: there is no W[3]; it has 2"),
        ("O = X[:4, :]", "O: there is no row 4 in a matrix that is 3 × 2"),
        ("O = X[3, 3]", "O: "),
        ("O = X[:, 2:5]", "O: there is no column 5 in a matrix that is "),
    ],
)
def test_numbers_that_have_no_such_head_row_or_column_are_refused(line: str, words: str) -> None:
    of_heads = {"W": np.ones((2, 2, 2))} if "W" in line else {}
    made = derivation_of(f"X : n × d; {'W[h] : d × d; ' * bool(of_heads)}{line}")
    with pytest.raises(ShapeError) as caught:
        made.evaluate(X=np.ones((3, 2)), **of_heads)
    assert str(caught.value).startswith(words)


@pytest.mark.parametrize("shape", ["(n × d)", "n × d", "((n) × d)", "(n + 1) × (d - 1)"])
def test_a_shape_may_stand_in_brackets(shape: str) -> None:
    assert derivation_of(f"A : {shape}; B = 2 A").steps[0].shape
