"""The ladder: every number it tells is computed, and comes out of an independent calculation."""

from __future__ import annotations

from itertools import product

import mpmath
import numpy as np
import pytest
from click.testing import CliRunner

from symattn import SymattnError
from symattn.attention.ladder import (
    LADDER,
    Rung,
    before_attention,
    climbed,
    gated_influence,
    recurrent_influence,
    saturated_gradient,
    variance_of_dot_product,
)
from symattn.cli import main


@pytest.mark.parametrize("rung", LADDER, ids=lambda rung: rung.name)
def test_every_rung_stands(rung: Rung) -> None:
    derivation, values = rung.make()
    assert values.check().agrees
    assert set(rung.steps) <= {*derivation.names, *(item.name for item in derivation.inputs)}
    told = rung.wrong(values)
    assert any(character.isdigit() for character in told) or "output" in told
    result = CliRunner().invoke(main, ["ladder", rung.name])
    assert result.exit_code == 0
    assert told in result.stdout


def test_the_whole_ladder_is_walked() -> None:
    result = CliRunner().invoke(main, ["ladder"])
    assert result.exit_code == 0
    places = [result.stdout.index(f"{k}. {rung.name}:") for k, rung in enumerate(LADDER, 1)]
    assert places == sorted(places)
    assert before_attention() in result.stdout
    wrong = CliRunner().invoke(main, ["ladder", "qeury"])
    assert wrong.exit_code == 2
    assert 'did you mean "query"' in wrong.stderr
    with pytest.raises(SymattnError):
        climbed("nowhere")


@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_the_variance_is_counted_over_all_sign_vectors(width: int) -> None:
    signs = list(product((-1, 1), repeat=width))
    dots = [np.dot(q, k) for q in signs for k in signs]
    assert float(variance_of_dot_product(width)) == np.var(dots) == width


@pytest.mark.parametrize("lead", [0, 1, 5, 16])
def test_the_slope_of_a_saturated_softmax(lead: int) -> None:
    slope = mpmath.diff(lambda z: 1 / (1 + mpmath.exp(-z)), lead)
    assert abs(float(saturated_gradient(lead)) - float(slope)) < 1e-12


@pytest.mark.parametrize("steps", [1, 3, 10])
def test_the_influence_in_a_recurrent_net_is_its_derivative(steps: int) -> None:
    def last(first: mpmath.mpf) -> mpmath.mpf:
        state = first
        for _ in range(steps):
            state = mpmath.tanh(mpmath.mpf(9) / 10 * state)
        return state

    with mpmath.workdps(30):
        slope = mpmath.diff(last, mpmath.mpf(1) / 2)
    assert abs(float(recurrent_influence(steps).evalf(20)) - float(slope)) < 1e-12
    assert float(gated_influence(steps)) == pytest.approx(0.9**steps)
