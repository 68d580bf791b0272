"""Which programs are known to do the same at all sizes, by their source."""

from __future__ import annotations

import inspect
import json
from typing import Any

import numpy as np
import pytest

from symattn.lifting.uniform import Called, varying
from tests.lifting import attentions, jaxed, programs, torched

SAME = (
    *(programs.attention, programs.causal, programs.linear, programs.projected),
    *(attentions.split_scale, attentions.causal_by_multiplying),
    *(attentions.causal_negative_number, attentions.a_number_is_added),
    *(torched.sdpa, torched.causal_by_filling, jaxed.causal_by_where),
)


def _why(function: Any) -> str:
    """Why it may do something else at other sizes, where it is given what has no default."""
    listed = inspect.signature(function).parameters.values() if callable(function) else ()
    given = tuple(one.name for one in listed if one.default is one.empty)
    return str(json.loads(varying(Called(function, given))))


def by_a_power(Q: Any, b: int = 4) -> Any:
    t = b**4
    return Q * (2.0 if len(Q) > t else 1.0)


def by_a_filled_matrix(Q: Any) -> Any:
    sizes = np.full((len(Q), 1), len(Q))
    return Q * (sizes > 2.5e2)


def by_a_function(Q: Any) -> Any:
    return Q * (1.0 + np.exp(len(Q) - 2.5e2))


def by_a_diagonal(Q: Any, t: int = 64) -> Any:
    return Q * np.tri(len(Q), len(Q), t)


def by_a_small_power(Q: Any) -> Any:
    return Q * len(Q) ** 1e-17


def by_what_it_calls(Q: Any) -> Any:
    return by_a_power(Q)


def calling_itself(Q: Any) -> Any:
    return calling_itself(Q)


def with_any(*Q: Any) -> Any:
    return Q


def of_a_loop(Q: Any) -> Any:
    for _ in Q:
        Q = Q * 1.0
    return Q


def of_other_code(Q: Any) -> Any:
    return Q * 2.0


of_other_code.__code__ = (lambda Q: Q * (2.0 if len(Q) > 300 else 1.0)).__code__


@pytest.mark.parametrize("function", SAME, ids=lambda function: function.__name__)
def test_ordinary_programs_do_the_same_at_all_sizes(function: Any) -> None:
    assert _why(function) == ""


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (by_a_power, "line 32: len(Q) > t"),
        (by_a_filled_matrix, "line 36: np.full((len(Q), 1), len(Q))"),
        (by_a_function, "line 41: len(Q) - 250.0"),
        (by_a_diagonal, "np.tri(len(Q), len(Q), t)"),
        (by_a_small_power, "len(Q) ** 1e-17"),
        (by_what_it_calls, "len(Q) > t"),
        (calling_itself, "or itself"),
        (with_any, "it takes any arguments"),
        (of_a_loop, "for _ in Q"),
        (np.exp, "no source"),
        (of_other_code, "source"),
        (attentions.online, "for start in range"),
    ],
)
def test_what_may_do_something_else_is_named(function: Any, why: str) -> None:
    assert why in _why(function)


def by_places_that_wrap(Q: Any) -> Any:
    i = np.arange(len(Q), dtype=np.uint8)
    return np.where(i[:, None] >= i, 0.0, -np.inf)


def by_places_that_are_cast(Q: Any) -> Any:
    i = np.arange(len(Q)).astype(np.float16)
    return np.where(i[:, None] >= i, 0.0, -np.inf)


@pytest.mark.parametrize("function", [by_places_that_wrap, by_places_that_are_cast])
def test_places_have_to_be_whole_numbers(function: Any) -> None:
    assert "np.arange(len(Q)" in _why(function)


def by_a_diagonal_behind_a_shape(Q: Any) -> Any:
    return Q * np.tri(*Q.shape, 64)  # type: ignore[call-overload]


def test_a_shape_that_is_spread_hides_no_diagonal() -> None:
    assert "np.tri(*Q.shape, 64)" in _why(by_a_diagonal_behind_a_shape)
