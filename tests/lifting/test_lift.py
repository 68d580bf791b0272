"""What a function computes, as equations, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symattn
from symattn.errors import SymattnError
from symattn.lifting.lift import lift
from tests.lifting import programs

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


def test_equations_give_the_numbers_of_the_function() -> None:
    q, k, v = (_DRAW.normal(size=(4, 4)) for _ in range(3))
    values = lift(programs.causal).equations.whole.evaluate(q=q, k=k, v=v)
    assert np.allclose(values.array("output"), _FUNCTION(q, k, v))


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (programs.branching, "line 46: a branch depends on the numbers"),
        (
            programs.branching_on_sizes,
            "at n = 3, d_k = 4, m = 2, d_v = 5 its own numbers are others",
        ),
        (programs.of_a_number_of_its_own, "its own numbers are others"),
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


def test_shapes_are_said() -> None:
    lifted = symattn.lift(programs.of_other_shapes, {"left": ("n", "m"), "right": ("m", "n")})
    assert lifted.text.splitlines() == ["left : n × m", "right : m × n", "output = left right"]


def doubled_once(Q: Any, K: Any) -> Any:
    return Q * 1.0 @ K.T * 2.0


def test_a_factor_1_is_left_out() -> None:
    assert lift(doubled_once).text.splitlines()[-1] == "output = 2 (Q K^T)"
