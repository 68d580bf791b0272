"""Every arithmetic against independent oracles: plain NumPy, mpmath and PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from symattn import Attention, Evaluation
from tests.reference import Array, Case, cases

DTYPES = ("float64", "float32", "float16")
MANY = settings(max_examples=60, deadline=None, derandomize=True)
FEW = settings(max_examples=40, deadline=None, derandomize=True)


def evaluated(case: Case, dtype: str = "float64") -> Evaluation:
    """symattn's answer."""
    derivation = Attention(**case.spec).derivation(given=case.told)
    return derivation.evaluate(dtype=dtype, **case.told)


# ---- plain NumPy -------------------------------------------------------------------------------


def assert_close(actual: Array, wanted: Array, slack: float, name: str) -> None:
    """Equal shapes, the same −∞, no NaN, and everything else within the slack."""
    assert actual.shape == wanted.shape, name
    assert not np.isnan(actual).any(), name
    np.testing.assert_allclose(actual, wanted, rtol=0, atol=slack, err_msg=name)


@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_are_what_plain_numpy_says(dtype: str) -> None:
    @MANY
    @given(cases(large=dtype != "float16"))
    def agree(case: Case) -> None:
        evaluation, wanted = evaluated(case, dtype), case.plain()
        assert {step.name for step in evaluation.steps} - {"mask"} == set(wanted)
        for name, value in wanted.items():
            array = evaluation[name].array
            assert array.dtype == np.dtype(dtype), name
            assert_close(array.astype(float), value, case.slack(float(np.finfo(dtype).eps)), name)

    agree()


@FEW
@given(cases(most=3))
def test_balls_and_exact_values_are_what_plain_numpy_says(case: Case) -> None:
    evaluation, slack = evaluated(case), case.slack(2.0**-52)
    for name, wanted in case.plain().items():
        balls = evaluation[name].balls
        middles = np.array([float(ball.mid()) for ball in balls.ravel()]).reshape(balls.shape)
        assert_close(middles, wanted, slack, name)
        exact = as_array(evaluation[name].exact)
        assert exact.shape == wanted.shape, name
        place = tuple(size - 1 for size in exact.shape)
        assert abs_difference(float(exact[place].evalf(20)), float(wanted[place])) <= slack, name


def as_array(value: Any) -> Array:
    """A SymPy matrix, or tuples of them, as an object array."""
    if isinstance(value, tuple):
        return np.stack([as_array(part) for part in value])
    return np.array(value.tolist(), dtype=object)


def abs_difference(one: float, other: float) -> float:
    """|one − other|, where −∞ differs from itself by nothing."""
    return 0.0 if one == other else abs(one - other)
