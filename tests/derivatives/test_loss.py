"""The loss that a backward pass starts from: what is said of it, against attention in NumPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy
from click.testing import CliRunner

from symattn import Attention, Derivation, Notation, latex, text
from symattn.cli import main
from symattn.derivations import Input, Step
from symattn.notation.letters import LOSSES
from tests.autograd import Array, Problem, gradient_of
from tests.derivatives.test_gradients import spec_named

NAMES = ("causal", "multi-head", "rotary", "unfolded", "gemma")

#: A worksheet without a gradient of its own: the loss is the sum of all entries.
ONES = """
schema = 1
gradient = ["Q", "V"]
[attention]
variant = "causal"
[given]
Q = [[1, 0], [1, 2]]
K = [[1, 1], [0, 1]]
V = [["1/3", 0], [2, 1]]
"""


def differences(loss: Callable[[Mapping[str, Array]], float], given: Mapping[str, Array]) -> Any:
    """Central differences of a loss, by name of what is given."""
    out, step = {}, 1e-5
    for name, value in given.items():
        out[name] = np.empty(value.shape)
        for place in np.ndindex(*value.shape):
            ends = []
            for sign in (1, -1):
                moved = {key: array.copy() for key, array in given.items()}
                moved[name][place] += sign * step
                ends.append(loss(moved))
            out[name][place] = (ends[0] - ends[1]) / (2 * step)
    return out


def off(derivation: Derivation, values: Any, found: Mapping[str, Array]) -> float:
    """How far the gradients of a derivation are from others, at most."""
    gaps = (abs(values[gradient_of(derivation, x)].array - found[x]).max() for x in found)
    return float(max(gaps))


@pytest.mark.parametrize("name", NAMES)
def test_the_gradients_are_those_of_the_sum_that_is_shown(name: str) -> None:
    problem = Problem.of(spec_named(name))
    backward = problem.derivation.gradient()
    start = backward.inputs[-1].name
    values = backward.evaluate(**problem.given, **{start: problem.upstream})
    shown = float(values["loss_linear"].decimals(8)[0][0])
    summed = (problem.result(problem.given) * problem.upstream).sum()
    assert shown == pytest.approx(summed, abs=2e-8)
    found = differences(lambda x: (problem.result(x) * problem.upstream).sum(), problem.given)
    assert off(backward, values, found) < 1e-6
    turned = backward.evaluate(**problem.given, **{start: -problem.upstream})
    assert off(backward, turned, found) > 1e-3  # the judge sees a sign


def test_ones_are_the_gradient_of_the_sum_of_all_entries() -> None:
    problem = Problem.of(Attention(mask="causal"))
    backward = problem.derivation.gradient(upstream="ones")
    values = backward.evaluate(**problem.given)
    assert values["loss"].array[0, 0] == pytest.approx(
        problem.result(problem.given).sum(), abs=1e-12
    )
    found = differences(lambda x: problem.result(x).sum(), problem.given)
    assert off(backward, values, found) < 1e-6
    assert backward["loss"].reason == "The loss L is taken to be the sum of all entries of O."


def test_of_each_head_it_is_the_sum_over_all() -> None:
    derivation = Attention(heads=2).derivation()
    backward = derivation.gradient("Q", of="weights")
    assert text(backward["loss_linear"].formula()) == "L_lin = sum(Σ_h (dA⁽ʰ⁾ ∘ A⁽ʰ⁾))"
    given = {name: np.arange(8.0).reshape(2, 2, 2) / 7 for name in ("Q", "K")}
    dA = np.array([[[1.0, -2], [0, 3]], [[2, 0], [1, 1]]])
    values = backward.evaluate(**given, d_weights=dA)
    scores = given["Q"] @ given["K"].swapaxes(1, 2) / np.sqrt(2)
    weights = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    assert values["loss_linear"].array[0, 0] == pytest.approx((dA * weights).sum())


def test_it_is_written_as_a_number_in_every_notation() -> None:
    step = Attention().derivation().gradient()["loss_linear"]
    assert text(step.formula()) == "L_lin = sum(dO ∘ O)"
    assert text(step.entry()) == "L_lin = Σ_i Σ_j do_ij o_ij"
    assert latex(step.formula()) == r"L_{\mathrm{lin}} = \mathrm{sum}(\mathrm{d} O \circ O)"
    columns = Notation(convention="columns")
    assert text(step.entry(columns)) == "L_lin = Σ_i Σ_j do_ij o_ij"
    partial = Notation(gradients="partial", symbols={"loss": "J"})
    assert text(step.formula(partial)) == "J_lin = sum(∂J/∂O ∘ O)"
    taken = latex(step.formula(Notation(symbols={"V": "L"})))
    assert taken.startswith(r"{\mathcal{L}}_{\mathrm{lin}} =")
    plus = Notation(symbols={"row": "q", "column": "k"})
    assert text(step.entry(plus)) == "L_lin = Σ_q Σ_k do_qk o_qk"


def test_there_is_none_where_it_would_say_nothing() -> None:
    derivation = Attention(mask="causal").derivation()
    names = set(LOSSES)
    assert not names & {*derivation.names}
    assert not names & {*derivation.gradient("Q", forward=False).names}
    assert not names & {*derivation.gradient("Q", of="masked").names}  # 0 · (−∞) has no value
    X, L = sympy.MatrixSymbol("X", 2, 2), sympy.MatrixSymbol("L_lin", 2, 2)
    own = Derivation((Input("X", X),), (Step("twice", L, X + X),))
    assert own.gradient("X").names == ("twice", "dX")
    assert not names & {*Attention().derivation().hessian_vector("Q").names}


@pytest.fixture
def ones(tmp_path: Path) -> str:
    path = tmp_path / "ones.toml"
    path.write_text(ONES, encoding="utf-8")
    return str(path)


def test_a_claimed_loss_is_checked(ones: str) -> None:
    path = Path(ones)
    for claimed, status in (("1.5473", 0), ("1.5573", 1)):
        path.write_text(f"{ONES}[claims]\nloss = [[{claimed}]]\n", encoding="utf-8")
        assert CliRunner().invoke(main, ["check", ones]).exit_code == status
