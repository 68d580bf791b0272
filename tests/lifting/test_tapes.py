"""A tape as balls: they contain what floats lose, and what they cannot decide is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from symattn.arithmetic.enclosure import precision
from symattn.claims.computed import Computed
from symattn.errors import SymattnError
from symattn.isolation import Limits
from symattn.lifting.lift import running
from symattn.lifting.precise import Program
from symattn.lifting.tapes import Tape
from symattn.verifying.calling import Answer, Call, Given, here


def cancelled(x: Any) -> Any:
    return (x + 1e12) - 1e12


def cancelled_beyond(x: Any) -> Any:
    return (x + 1e70) - 1e70


def chosen(x: Any) -> Any:
    return np.where(x * x + 1e60 > 1e60, x, -x)


def divided_by_what_may_be_zero(x: Any) -> Any:
    return x / (np.exp(np.log(x)) - x)


def precisely(function: Any, number: float) -> Answer:
    call = Call((Given("x", "matrix", "x", False, np.array([[number]])),), "numpy", "float64")
    with running(function, Limits()) as run:
        return Program(run, function, here(function)).precisely(call)[0]


def test_balls_contain_what_floats_lose() -> None:
    ((_, found),) = precisely(cancelled, 0.1).parts
    assert cancelled(0.1) != 0.1
    assert found.numbers.item() == 0.1  # type: ignore[union-attr]  # it is an array


def test_what_is_not_defined_is_none() -> None:
    said = {
        "operations": [["letter", "0"], ["div", 0, 0]],
        "form": "array",
        "parts": [["", [1], [1]]],
        "single": False,
    }
    assert Tape(said).enclosed({0: 0.0}, 2)(np.zeros(1))[0].is_nan()


@pytest.mark.parametrize("function", [cancelled_beyond, chosen, divided_by_what_may_be_zero])
def test_what_is_not_known_in_so_many_digits_is_refused(function: Any) -> None:
    with pytest.raises(SymattnError, match=r"digits|is not known"):
        precisely(function, 0.1)


@pytest.mark.parametrize(
    ("operation", "number"),
    [
        (["max", 0, 2.0], 2.0),
        (["min", 0, 2.0], 0.5),
        (["pow", 0, 3.0], 0.125),
        (["at least", 0, 0.5, 1.0, 2.0], 1.0),
        (["above", 0, 0.5, 1.0, 2.0], 2.0),
        (["equal", 0, 0.25, 1.0, 2.0], 2.0),
        (["abs", 0], 0.5),
    ],
)
def test_operations_of_balls_are_those_of_floats(operation: list[Any], number: float) -> None:
    said = {
        "operations": [["letter", "0"], operation],
        "form": "array",
        "parts": [["", [1], [1]]],
        "single": False,
    }
    tape, place = Tape(said), np.zeros(1)
    with precision(100):
        balls = tape.enclosed({0: 0.5}, 2)(place)
    assert float(balls[0].mid()) == number == float(tape.floats({0: 0.5})(place)[0])


def test_a_truth_is_a_number_also_in_balls() -> None:
    operations = [["truth", "0"], ["true", 0, 2.0, 3.0]]
    tape = Tape(
        {"operations": operations, "form": "array", "parts": [["", [1], [1]]], "single": False}
    )
    for number, found in ((1.0, 2.0), (0.0, 3.0)):
        given = {0: number}
        assert float(tape.enclosed(given, 2)(np.zeros(1))[0]) == found
        assert tape.floats(given)(np.zeros(1))[0] == found


def spread(x: Any) -> Any:
    return np.array([np.std(x), np.linalg.norm(x), np.var(x, ddof=1), np.clip(x, -0.1, 0.1).sum()])


def test_what_numpy_defines_by_its_operations_is_recorded_by_them() -> None:
    numbers = np.random.default_rng(4).normal(size=(3, 2))
    call = Call((Given("x", "matrix", "x", False, numbers),), "numpy", "float64")
    with running(spread, Limits()) as run:
        answer = Program(run, spread, here(spread)).precisely(call)[0]
    ((_, found),) = answer.parts
    assert isinstance(found, Computed)
    assert np.allclose(found.numbers, spread(numbers))
