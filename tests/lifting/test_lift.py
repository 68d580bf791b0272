"""What a function computes, as equations, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symattn
from symattn.errors import SymattnError
from symattn.lifting.lift import lift
from symattn.verifying.calling import libraries_of
from tests import ROOT
from tests.command import run
from tests.extras import package
from tests.lifting import attentions, looped, programs

_DRAW = np.random.default_rng(5)
_FUNCTION: Callable[..., Any] = programs.causal


@pytest.mark.parametrize(
    ("function", "steps"),
    [
        (
            programs.attention,
            [
                "scores = Q K^T / sqrt(d_k)",
                "e_1 = exp(scores - rowmax(scores))",
                "weights = e_1 / rowsum(e_1)",
                "output = weights V",
            ],
        ),
        (
            programs.causal,
            [
                "scores = q k^T / sqrt(d_k)",
                "M : n × m",
                "M[i,j] = 0 if j <= i else -inf",
                "scores_2 = scores + M",
                "scores_3 = scores_2 - rowmax(scores_2)",
                "w = exp(scores_3)",
                "w_2 = w / rowsum(w)",
                "output = w_2 v",
            ],
        ),
        (
            programs.linear,
            [
                "fq = relu(Q) + 1",
                "fk = relu(K) + 1",
                "kv = fk^T V",
                "z = fq colsum(fk)^T",
                "output = fq kv / z",
            ],
        ),
        (
            programs.projected,
            [
                "Q = X Wq",
                "K = X Wk",
                "V = X Wv",
                "A = exp(Q K^T / sqrt(d_k))",
                "A_2 = A / rowsum(A)",
                "output = A_2 V",
            ],
        ),
    ],
)
def test_equations_are_read_off(function: Callable[..., Any], steps: list[str]) -> None:
    lines = [line for line in lift(function).text.splitlines() if " = " in line or "M :" in line]
    assert lines == steps


def test_a_number_that_is_a_size_of_the_run_is_told_from_it() -> None:
    lines = lift(programs.of_a_number_of_its_own).text.splitlines()
    assert lines == ["Q : n × d_k", "K : m × d_k", "V : m × d_v", "output = Q K^T / 29 V"]


def test_equations_give_the_numbers_of_the_function() -> None:
    q, k, v = (_DRAW.normal(size=(4, 4)) for _ in range(3))
    values = lift(programs.causal).equations.whole.evaluate(q=q, k=k, v=v)
    assert np.allclose(values.array("output"), _FUNCTION(q, k, v))


_WIDE = "2*d_k"


def steps_of(text: str) -> list[str]:
    return [line for line in text.splitlines() if " = " in line]


@pytest.mark.parametrize(
    ("function", "shapes", "steps"),
    [
        (
            programs.of_heads,
            {"x": ("n", "d"), **dict.fromkeys(("W_q", "W_k", "W_v"), ("d", _WIDE))},
            [
                "n_h = 2",
                "q[h] = (x W_q)[:, (h-1)*d_k + 1 : h*d_k]",
                "k[h] = (x W_k)[:, (h-1)*d_k + 1 : h*d_k]",
                "v[h] = (x W_v)[:, (h-1)*d_k + 1 : h*d_k]",
                "x_2[h] = q[h] k[h]^T / sqrt(d_k)",
                "e_1[h] = exp(x_2[h] - rowmax(x_2[h]))",
                "weights[h] = e_1[h] / rowsum(e_1[h])",
                "joined = concat_h(weights[h] v[h])",
                "output = joined W_o",
            ],
        ),
        (
            programs.of_groups,
            {"q": ("4", "n", "d_k"), "k": ("2", "m", "d_k"), "v": ("2", "m", "d_v")},
            [
                "n_h = 4",
                "n_g = 2",
                "keys[h] = k[group(h)]",
                "values[h] = v[group(h)]",
                "a[h] = q[h] keys[h]^T",
                "M[i,j] = 0 if j <= i else -inf",
                "x[h] = a[h] + M",
                "e_1[h] = exp(x[h] - rowmax(x[h]))",
                "a_2[h] = e_1[h] / rowsum(e_1[h])",
                "output = concat_h(a_2[h] values[h])",
            ],
        ),
        (
            programs.of_one_matrix,
            {"x": ("n", "d"), "W": ("d", "6*d_k")},
            [
                "n_h = 2",
                "q[h] = (x W)[:, :2*d_k][:, (h-1)*d_k + 1 : h*d_k]",
                "k[h] = (x W)[:, 2*d_k + 1:4*d_k][:, (h-1)*d_k + 1 : h*d_k]",
                "v[h] = (x W)[:, 4*d_k + 1:][:, (h-1)*d_k + 1 : h*d_k]",
                "x_2[h] = q[h] k[h]^T",
                "e_1[h] = exp(x_2[h] - rowmax(x_2[h]))",
                "output[h] = e_1[h] / rowsum(e_1[h]) v[h]",
            ],
        ),
    ],
)
def test_heads_are_cut_apart_and_joined(
    function: Callable[..., Any], shapes: dict[str, tuple[str, ...]], steps: list[str]
) -> None:
    if function is programs.of_heads:
        shapes = {**shapes, "W_o": (_WIDE, "d_out")}
    assert steps_of(lift(function, shapes).text) == steps


def test_a_module_is_read_with_its_parameters() -> None:
    package("torch")
    lifted = lift(f"{ROOT}/tests/lifting/torched.py:layer", {"x": ("1", "n", "6")})
    assert lifted.text.splitlines() == [
        "n_h = 2",
        "x : n × 6",
        "W_qkv : 18 × 6",
        "W_out : 6 × 6",
        "b_out : 1 × 6",
        "q[h] = (x W_qkv^T)[:, :6][:, (h-1)*3 + 1 : h*3]",
        "k[h] = (x W_qkv^T)[:, 7:12][:, (h-1)*3 + 1 : h*3]",
        "v[h] = (x W_qkv^T)[:, 13:][:, (h-1)*3 + 1 : h*3]",
        "scores[h] = q[h] k[h]^T / sqrt(3)",
        "y = concat_h(softmax(scores[h]) v[h])",
        "output = y W_out^T + b_out",
    ]


def test_a_function_of_pytorch_is_read() -> None:
    package("torch")
    assert steps_of(lift(f"{ROOT}/tests/lifting/torched.py:causal_by_filling").text) == [
        "s = q k^T / sqrt(d_k)",
        "M[i,j] = 0 if j <= i else -inf",
        "output = softmax(s + M) v",
    ]
    with pytest.raises(SymattnError, match=r"line \d+: sort of PyTorch is not known here"):
        lift(f"{ROOT}/tests/lifting/torched.py:sorted_scores")
    assert steps_of(lift(f"{ROOT}/tests/lifting/torched.py:written_by_rows").text) == [
        "output[t,:] = softmax(Q[t] K^T / sqrt(d_k)) V"
    ]


def test_a_function_that_names_numpy_may_take_what_is_imported_beside_it() -> None:
    package("torch")  # which is imported then

    def by_methods(Q: Any, K: Any, V: Any) -> Any:
        return (Q @ K.transpose(-2, -1) / np.sqrt(Q.size(-1))).softmax(-1) @ V

    assert "torch" in libraries_of(by_methods)[2:]
    assert steps_of(lift(by_methods).text)[-1].endswith("V")
    with pytest.raises(SymattnError, match=r"line \d+: .* not all made by one formula"):
        lift(looped.one_left_out)  # of NumPy's arrays, with which it does something


def test_a_function_of_jax_is_read() -> None:
    package("jax")
    shapes = {"q": ("h", "n", "d_k"), "k": ("h", "m", "d_k"), "v": ("h", "m", "d_v")}
    assert steps_of(lift(f"{ROOT}/tests/lifting/jaxed.py:of_heads", shapes).text) == [
        "scores[h] = q[h] k[h]^T / sqrt(d_k)",
        "weights[h] = softmax(scores[h])",
        "output[h] = weights[h] v[h]",
    ]


def test_heads_behind_their_columns_are_refused() -> None:
    with pytest.raises(SymattnError, match="heads go before their columns"):
        lift(programs.of_heads_in_a_wrong_order, {"x": ("n", "d"), "W": ("d", _WIDE)})


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (programs.branching, "line 46: a branch depends on the numbers"),
        (
            programs.branching_on_sizes,
            "at n = 3, d_k = 4, m = 2, d_v = 5 its own numbers are others",
        ),
        (programs.leaking, "a number is taken out of its array"),
        (programs.asking_any, "a branch depends on the numbers"),
        (programs.multiplying_by_answers, "line 90: a branch depends on the numbers"),
        (programs.taking_out, "a number is taken out of its array"),
        (programs.written_over, "line 69: a part is written over"),
        (programs.sorted_scores, "line 74: sort has no formula here"),
        (programs.of_other_shapes, "the shape of .left. is not known"),
    ],
)
def test_what_has_no_equations_is_refused(function: Callable[..., Any], why: str) -> None:
    with pytest.raises(SymattnError, match=why):
        lift(function)


def test_derive_says_what_may_be_done_with_a_program_without_equations() -> None:
    target = f"{ROOT}/examples/flash_attention.py:flash"
    said = run("derive", target)
    assert said.exit_code == 2
    assert f"symattn prove {target} causal, say, may still tell what it is" in said.stderr


def test_shapes_are_said() -> None:
    lifted = symattn.lift(programs.of_other_shapes, {"left": ("n", "m"), "right": ("m", "n")})
    assert lifted.text.splitlines() == ["left : n × m", "right : m × n", "output = left right"]


def doubled_once(Q: Any, K: Any) -> Any:
    return Q * 1.0 @ K.T * 2.0


def test_a_factor_1_is_left_out() -> None:
    assert lift(doubled_once).text.splitlines()[-1] == "output = 2 (Q K^T)"


def test_a_function_that_is_decorated_is_called_as_before_and_shown_as_its_derivation() -> None:
    @lift
    def attention(Q, K, V):  # type: ignore[no-untyped-def]
        e = np.exp(Q @ K.T)
        return e / e.sum(axis=1, keepdims=True) @ V

    ones = np.ones((2, 3))
    assert np.allclose(attention(ones, ones, ones), ones)
    assert attention._repr_mimebundle_() == attention.equations.whole._repr_mimebundle_()
    with pytest.raises(SymattnError, match="import it to call it"):
        replace(attention, function=None)()


@pytest.mark.parametrize(
    ("function", "step"),
    [
        (lambda Q: np.clip(Q, -1, 1) @ Q.T, "output = min(max(Q, -1), 1) Q^T"),
        (lambda Q: np.amax(Q, axis=1), "output = rowmax(Q)"),
        (lambda Q: np.einsum("nd,md->mn", Q, Q * 2), "output = 2 Q Q^T"),
        (lambda Q: np.einsum("nd,d->n", Q, Q[0]), "output = Q[1] Q^T"),
        (lambda Q: np.einsum("nd,nd->n", Q, np.exp(Q)), "output = rowsum(Q ∘ exp(Q))"),
        (lambda Q: np.einsum("nd,md,n->nm", Q, Q, Q.sum(1)), "output = Q Q^T ∘ rowsum(Q)"),
        (lambda Q: np.einsum("nd,md", Q, Q), "output = Q Q^T"),
        (lambda Q: np.einsum("nd->d", Q), "output = colsum(Q)"),
        (lambda Q: np.inner(Q, Q), "output = Q Q^T"),
        (lambda Q: np.cumsum(Q, axis=0), "output = D Q"),
        (lambda Q: np.tril(Q @ Q.T), "output = Q Q^T ∘ D"),
        (lambda Q: np.where(Q > 0, Q + 1, np.exp(Q)), "output = elu1(Q)"),
        (lambda Q: np.where(Q <= 0, np.expm1(np.minimum(Q, 0)), Q), "output = elu1(Q) - 1"),
        (lambda Q: np.where(Q > 0, Q, 0), "output = relu(Q)"),
        (lambda Q: np.where(Q >= Q * Q, Q * Q, Q), "output = min(Q, Q ∘ Q)"),
    ],
)
def test_numpy_is_read_by_its_universal_functions(function: Callable[..., Any], step: str) -> None:
    assert lift(function).text.splitlines()[-1] == step


@pytest.mark.parametrize(
    "function",
    [
        lambda Q: np.where(Q > 0, np.exp(Q), Q + 1),
        lambda Q: np.where(Q > 1, Q + 1, np.exp(Q)),
        lambda Q: np.where(Q @ Q.T > 0, (Q @ (2 * Q).T).T, 0),
        lambda Q: np.where(Q == 0, Q, 0),
    ],
)
def test_a_choice_by_numbers_that_has_no_name_is_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(SymattnError, match=r"line \d+: np\.where asks the numbers"):
        lift(function)


def test_what_is_added_at_places_is_refused_by_line() -> None:
    with pytest.raises(SymattnError, match=r"line \d+: np\.add\.at has no formula here"):
        lift(attentions.added_at_places)


def test_a_largest_number_that_starts_somewhere_is_refused() -> None:
    with pytest.raises(SymattnError, match="maximum with options"):
        lift(f"{ROOT}/tests/lifting/programs.py:from_zero_on")


OF_SCIPY = """
from scipy import special


def program(Q):
    return special.erf(Q) * special.expit(special.softmax(Q, axis=0))
"""


def test_functions_of_scipy_are_called_by_their_names(tmp_path: Path) -> None:
    package("scipy.special")
    (tmp_path / "mine.py").write_text(OF_SCIPY)
    text = lift(f"{tmp_path}/mine.py:program").text
    assert steps_of(text) == ["output = erf(Q) ∘ sigmoid(softmax(Q^T)^T)"]
