"""Programs of backward passes: held against the derivation, PyTorch's autograd, and themselves."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from symattn import Attention, SymattnError
from symattn.derivations import Derivation, Evaluation
from symattn.documents.code.document import code_document
from symattn.documents.code.program import recorded
from symattn.documents.code.spell import names
from tests.autograd import Problem, disagreement, farther, gradient_of
from tests.combinations import AXES, cover, refusal, sizes_of, spec_of
from tests.documents.code.test_code import (
    SIZES,
    SMALLEST,
    differing,
    given_to,
    run,
    run_javascript,
    with_numbers,
    without_ones,
)
from tests.extras import package
from tests.shares import share

Spec = dict[str, Any]


#: How many specs there are: those of the cover, and those that are drawn.
DRAWN = 59
COUNT = len(cover().specs) + DRAWN


@cache
def specs() -> tuple[Spec, ...]:
    """The cover, and specs with a few choices of their own."""
    return (*cover().specs, *drawn())


def drawn() -> Iterator[Spec]:
    """Specs with a few choices of their own."""
    rng = random.Random(5)
    for _ in range(DRAWN):
        choices: dict[str, int] = {}
        for axis in rng.sample(sorted(AXES), 8):
            more = choices | {axis: rng.randrange(len(AXES[axis]))}
            choices = choices if refusal(more) else more
        yield spec_of({"source": 0, **choices})


@cache
def backward(number: int) -> tuple[Attention, Derivation]:
    """A spec, and its backward pass with the number of heads said where nothing else says it."""
    spec = Attention(**specs()[number])
    derivation = spec.derivation()
    if spec.heads == "h" and not any(item.per_head for item in derivation.inputs):
        derivation = spec.derivation(sizes={"h": 4})
    return spec, derivation.gradient()


def evaluated(number: int) -> Iterator[Evaluation]:
    """The values at the sizes of making, at others and the smallest, where these have any."""
    spec, (_, derivation) = specs()[number], backward(number)
    said = sizes_of(spec)
    heads = {letter: said[letter] for letter in "hg"}
    fixed = "documents" in repr(spec.get("mask"))
    for sizes in (said,) if fixed else (said, SIZES | heads, SMALLEST | heads):
        try:
            _, values = with_numbers(derivation, sizes)
            values.array(derivation.steps[-1].letter)
        except SymattnError:
            continue  # these numbers have no value
        yield values


@pytest.mark.parametrize(
    ("number", "language"),
    [
        pytest.param(number, language, marks=() if number % of == turn else pytest.mark.nightly)
        for language, every, of, turn in (
            ("numpy", 1, 64, 0),
            ("python", 4, 256, 4),
            ("torch", 4, 256, 8),
            ("jax", 32, 10_000, 1),
        )
        for number in range(0, COUNT, every)
    ],
)
def test_a_program_agrees_with_the_derivation(number: int, language: str) -> None:
    _, derivation = backward(number)
    code = code_document(derivation, language)
    for values in evaluated(number):
        found = run(code, language, given_to(derivation, values))
        assert differing(derivation, values, found) == []


@pytest.mark.nightly
@pytest.mark.parametrize("turn", range(5, 45))
def test_javascript_agrees_with_the_derivation(
    turn: int, tool: Callable[[str], str], tmp_path: Path
) -> None:
    subjects, calls = [], []
    for number in range(turn, COUNT, 40):
        _, derivation = backward(number)
        code = code_document(derivation, "javascript")
        for values in evaluated(number):
            subjects.append((number, derivation, values))
            calls.append((code, given_to(derivation, values)))
    found = run_javascript(tool("node"), tmp_path, calls)
    for (number, derivation, values), each in zip(subjects, found, strict=True):
        assert (number, differing(derivation, values, each)) == (number, [])


@pytest.mark.parametrize("number", share(range(COUNT), 64, 7))
def test_numpy_agrees_with_autograd(number: int) -> None:
    spec, _ = backward(number)
    torch = package("torch")
    try:
        problem = Problem.of(spec)
    except SymattnError:
        return  # these numbers have no value
    derivation = problem.derivation.gradient(problem.names)
    code = code_document(derivation, "numpy")
    program = recorded(derivation)
    letters = names(program)
    numbers = {**problem.given, derivation.inputs[-1].name: problem.upstream}
    given = {
        letters[item.letter]: without_ones(np.asarray(numbers[item.name]), item, value)
        for item, value in program.inputs
    }
    found = run(code, "numpy", given)
    of = {step.name: letters[step.letter] for step, _ in program.steps}
    ours = {
        name: found[of[gradient_of(derivation, name)]].reshape(np.shape(problem.given[name]))
        for name in problem.names
    }
    theirs = problem.by_torch(torch)
    if any(np.isnan(value).any() for value in theirs.values()):
        return  # PyTorch's exponentials overflow, which are not shifted there
    if disagreement(ours, theirs):  # the complex step has no cancellation
        truth = problem.by_complex_step()
        assert farther(ours, theirs, truth) == ""
        moved = {name: value * (1 + 1e-9) for name, value in ours.items()}
        assert farther(moved, theirs, truth) != ""


@pytest.mark.parametrize("number", share(range(COUNT), 64, 43))
@pytest.mark.parametrize("kind", ["gradient", "tangent"])
def test_a_batch_has_a_gradient_for_each_item(number: int, kind: str) -> None:
    """Learned matrices that all items share have a gradient for each item, too."""
    spec, _ = backward(number)
    try:
        problem = Problem.of(spec)
    except SymattnError:
        return  # these numbers have no value
    derivation = problem.derivation
    along = problem.names[:1]  # where that is X, no change is joined to what was cached
    derivation = derivation.gradient() if kind == "gradient" else derivation.tangent(along)
    _, values = with_numbers(derivation, sizes_of(specs()[number]))
    one = given_to(derivation, values)
    program = recorded(derivation)
    letters = names(program)
    kept = {letters[item.letter] for item in derivation.inputs if item.boolean or item.fixed}
    vectors = {letters[item.letter] for item, value in program.inputs if not value.batched}
    shared = {name for name in one if name[:2] in ("w_", "b_")} | vectors
    other = {name: x if name in kept | shared else 0.75 * x for name, x in one.items()}
    both = {name: x if name in shared else np.stack([x, other[name]]) for name, x in one.items()}
    code = code_document(derivation, "numpy")
    found, *apart = (run(code, "numpy", given) for given in (both, one, other))
    for name, value in found.items():
        wanted = np.stack([each[name] for each in apart])
        np.testing.assert_allclose(
            np.broadcast_to(value, wanted.shape), wanted, rtol=1e-9, atol=1e-11, err_msg=name
        )


def test_a_gradient_that_is_farther_from_the_truth_is_found() -> None:
    truth = {"X": np.array([[2.0, -8.0]])}
    ours, theirs = ({"X": truth["X"] + error} for error in (3e-11, 1e-11))
    assert disagreement(ours, truth) == "" == farther(ours, theirs, truth)
    assert (
        farther({"X": truth["X"] + 5e-11}, theirs, truth)
        == "dX: off by 6.3e-12, and another by 1.3e-12"
    )
    assert farther(ours, truth, truth) != ""
