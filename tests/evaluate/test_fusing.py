"""Products by rows are those of all steps, for every pair of choices, within what is proven."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

from symattn import IDENTITIES, VARIANTS, Attention, Derivation, Evaluation, SymattnError
from symattn.arithmetic.base import Array
from symattn.arithmetic.enclosure import BITS
from symattn.evaluate import fusing
from symattn.evaluate.check import compare
from symattn.nodes.normalise import NORMALISERS, Softmax
from tests.combinations import NoValueError, Reference, Spec, cover, derived, inputs_of, name_of
from tests.shares import share

PLAIN = Attention().derivation()
RANDOM = np.random.default_rng(8)


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fused however small it is, two rows at a time."""
    monkeypatch.setattr(fusing, "LEAST", 1)
    monkeypatch.setattr(fusing, "TILE", 2)


def fresh(derivation: Derivation, numbers: dict[str, Any], dtype: str = "float64") -> Evaluation:
    """Values of which nothing is known, not even by their shapes."""
    again = Derivation(derivation.inputs, derivation.steps, derivation.sizes)
    return again.evaluate(dtype=dtype, **numbers)


def kept(values: Evaluation) -> set[str]:
    """The matrices whose arrays are kept."""
    key, items = values.arithmetic.key, (*values.inputs, *values.steps)
    return {x.letter for x in items if ("value", x.letter, key) in values._computed}


def by_steps(values: Evaluation, letter: str) -> Array:
    """The array of a matrix with every step before it asked for."""
    for step in values.steps:
        values.array(step.letter)
    return values.array(letter)


def softened(spec: Spec) -> Spec:
    """The same choices with a softmax in one step."""
    return {axis: value for axis, value in spec.items() if axis not in ("normaliser", "unfold")}


def accepted(spec: Spec) -> bool:
    """Whether the choices mean something together."""
    try:
        return bool(derived(spec).steps)
    except SymattnError:
        return False


SPECS = {name_of(spec): spec for spec in map(softened, cover().specs)}


def test_every_softmax_in_one_step_has_a_plan() -> None:
    meant = [spec for spec in SPECS.values() if accepted(spec)]
    assert len(meant) > 60
    for spec in cover().specs:
        usual = spec.get("normaliser", "softmax") == "softmax" and not spec.get("unfold")
        assert len(derived(spec).plan().fusions) == usual
    assert all(len(derived(spec).plan().fusions) == 1 for spec in meant)


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("name", share(SPECS, 16))
def test_a_product_by_rows_lies_where_rounding_may_put_it(name: str) -> None:
    spec = SPECS[name]
    if not accepted(spec):
        return
    derivation = derived(spec)
    numbers = inputs_of(spec, derivation)
    (fusion,) = derivation.plan().fusions
    values, letter = fresh(derivation, numbers), fusion.product.letter
    try:
        result = Reference(spec, numbers).result()
    except NoValueError:
        with pytest.raises(SymattnError):
            values.array(letter)
        return
    found = values.array(letter)
    assert not kept(values) & {step.letter for step in fusion.steps}
    enclosed = values.balls(letter, BITS[1]), values.rounded(letter)
    assert compare(letter, found, *enclosed).agrees
    moved = np.array(found)
    moved.flat[-1] += 1e-3
    assert not compare(letter, moved, *enclosed).agrees
    other = by_steps(fresh(derivation, numbers), letter)
    assert found.shape == other.shape and found.dtype == other.dtype
    last = values.array(values.steps[-1].letter)
    np.testing.assert_allclose(last, result, rtol=1e-9, atol=1e-12)


def matrices(*shape: int, dtype: str = "float64") -> dict[str, Array]:
    """Random Q, K and V."""
    return {name: RANDOM.standard_normal(shape).astype(dtype) for name in "QKV"}


CASES: dict[str, tuple[Spec, dict[str, Array], dict[str, Any]]] = {
    "one token": ({}, matrices(1, 3), {}),
    "one key": ({}, {**matrices(1, 3), "Q": RANDOM.standard_normal((5, 3))}, {}),
    "a batch": ({}, matrices(2, 5, 3), {}),
    "a batch of queries over shared keys": (
        {"mask": "causal"},
        {**matrices(5, 3), "Q": RANDOM.standard_normal((4, 5, 3))},
        {},
    ),
    "batch and heads": ({"heads": 2}, matrices(3, 2, 5, 4), {}),
    "groups": (
        {"heads": 4, "kv_heads": 2, "mask": "causal"},
        {**matrices(2, 7, 3), "Q": RANDOM.standard_normal((4, 7, 3))},
        {},
    ),
    "rows that see nothing": (
        {"mask": "additive"},
        matrices(4, 3),
        {"mask": np.where(np.arange(4)[:, None] % 2 == 0, -np.inf, np.eye(4))},
    ),
    "nobody sees anything": (
        {"mask": "boolean"},
        matrices(3, 2),
        {"allowed": np.zeros((3, 3), dtype=bool)},
    ),
    "large scores": ({"scale": False}, {k: 30 * x for k, x in matrices(6, 4).items()}, {}),
    "scores of −∞ that are given": (
        {},
        {"V": RANDOM.standard_normal((3, 2))},
        {"scores": np.array([[0, -np.inf, 1], [-np.inf] * 3]), "d_k": 4},
    ),
}


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
@pytest.mark.parametrize("case", CASES)
def test_hard_cases_by_rows(case: str, dtype: str) -> None:
    spec, arrays, more = CASES[case]
    sizes = {size: count for size, count in more.items() if isinstance(count, int)}
    numbers = {**arrays, **{name: x for name, x in more.items() if name not in sizes}}
    derivation = Attention(**spec).derivation([*numbers], sizes=sizes)
    (fusion,) = derivation.plan().fusions
    values, letter = fresh(derivation, numbers, dtype), fusion.product.letter
    found = values.array(letter)
    assert not kept(values) & {step.letter for step in fusion.steps}
    assert compare(letter, found, values.balls(letter, BITS[1]), values.rounded(letter)).agrees
    assert found.shape == by_steps(fresh(derivation, numbers, dtype), letter).shape


@pytest.mark.usefixtures("always")
def test_sums_that_would_overflow_are_divided_first() -> None:
    ones = np.ones((100, 2))
    numbers = {"Q": ones, "K": ones, "V": np.full((100, 2), 60_000.0)}
    values = fresh(PLAIN, numbers, "float16")
    assert np.isfinite(values.array("O")).all()
    letter = "O"
    found = compare(letter, values.array(letter), values.balls(letter, 256), values.rounded(letter))
    assert found.agrees


def test_what_is_asked_for_is_kept_and_used() -> None:
    numbers = matrices(300, 4)
    values = PLAIN.evaluate(**numbers)
    weights = values["weights"].array
    np.testing.assert_array_equal(values["output"].array, weights @ numbers["V"])
    assert kept(values) >= {"S", "Z", "A", "O"}
    other = PLAIN.evaluate(**numbers)
    np.testing.assert_allclose(other["output"].array, values["output"].array, rtol=1e-12)
    assert kept(other) == {"Q", "K", "V", "O"}
    np.testing.assert_array_equal(other["weights"].array, weights)


def test_memory_grows_with_the_tokens_not_with_their_square() -> None:
    peaks = []
    for tokens in (1024, 4096):
        numbers = matrices(tokens, 8)
        values = PLAIN.evaluate(**numbers)
        tracemalloc.start()
        values.array("O")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 4096 * 4096 * 8 / 4  # a quarter of one matrix of weights
    assert peaks[1] < 3 * peaks[0]


def test_a_plan_names_an_identity_that_is_proven() -> None:
    names = {row.name for row in IDENTITIES}
    late = {kind.late for kind in NORMALISERS.values()} - {""}
    assert late == {Softmax.late} and late <= names
    plans = {row.name: str(row.spec.derivation().plan()) for row in VARIANTS}
    assert plans["causal"] == (
        "output: O = A V by rows where n n ≥ 65536, without scores, scaled, mask, masked, weights "
        "(late-normalisation)"
    )
    assert plans["sigmoid"] == "every step is computed by itself"
