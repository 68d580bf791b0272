"""Masks: the entry rule, the arrays and a definition written out here say the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy

from symattn import Attention, SymattnError
from symattn.nodes import MASKS, Allowed, Causal, Mask, Masked, Padding

#: For each mask a parameter and who may see whom, rows and columns counted from 1.
DEFINED: dict[str, list[tuple[Any, Callable[[int, int], bool]]]] = {
    "causal": [(True, lambda i, j: j <= i), (2, lambda i, j: j <= i + 2), (0, lambda i, j: j <= i)],
    "padding": [(2, lambda i, j: j <= 2), (0, lambda i, j: False), (9, lambda i, j: True)],
}


def test_every_mask_is_defined_here() -> None:
    assert set(DEFINED) == set(MASKS)


CASES = [(name, *case) for name, cases in DEFINED.items() for case in cases]


@pytest.mark.parametrize(("name", "parameter", "seen"), CASES)
@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (2, 5), (5, 2)])
def test_rule_and_arrays_follow_the_definition(
    name: str, parameter: Any, seen: Callable[[int, int], bool], shape: tuple[int, int]
) -> None:
    mask: Mask = MASKS[name].of(*shape, parameter)
    expected = [
        [0 if seen(i + 1, j + 1) else -sympy.oo for j in range(shape[1])] for i in range(shape[0])
    ]
    assert mask.as_explicit().tolist() == expected
    assert mask.doit().tolist() == expected
    arrays = np.array(expected, dtype=object).astype(float)
    np.testing.assert_array_equal(type(mask).numpy(*mask.args), arrays)


def test_a_masked_value_never_leaks() -> None:
    scores = np.array([[1.0, np.nan, np.inf]])
    mask = np.array([[0.0, -np.inf, -np.inf]])
    np.testing.assert_array_equal(Masked.numpy(scores, mask), [[1.0, -np.inf, -np.inf]])
    explicit = Masked(sympy.MatrixSymbol("Z", 1, 2), Causal(1, 2)).as_explicit()
    assert explicit[0, 1] == -sympy.oo


def test_several_masks_allow_what_all_allow() -> None:
    spec = Attention(scale=False, mask=["causal", {"padding": 2}])
    values = spec.derivation(["scores"]).evaluate(scores=[[1, 2, 3]] * 3)
    oo = -sympy.oo
    assert values["mask"].exact.tolist() == [[0, oo, oo], [0, 0, oo], [0, 0, oo]]
    assert values["weights"].exact[2, 2] == 0


def test_boolean_true_attends() -> None:
    allowed = sympy.Matrix([[1, 0]])
    assert Allowed(allowed).doit().tolist() == [[0, -sympy.oo]]


def test_a_row_with_nothing_to_see_has_weights_and_output_zero() -> None:
    spec = Attention(mask={"padding": 0})
    values = spec.derivation().evaluate(Q=[[1], [2]], K=[[3]], V=[["1e300"]])
    assert values["weights"].exact.tolist() == [[0], [0]]
    assert values["output"].exact.tolist() == [[0], [0]]
    np.testing.assert_array_equal(values["output"].array, [[0.0], [0.0]])
    assert values["output"].decimals() == [["0"], ["0"]]
    assert values.check().agrees


@pytest.mark.parametrize("parameter", [-1, 1.5, "two", False])
def test_a_count_is_a_whole_number(parameter: Any) -> None:
    with pytest.raises(SymattnError, match="whole number"):
        Padding(2, 2, parameter)
    with pytest.raises(SymattnError, match="whole number"):
        Causal(2, 2, parameter)


def test_padding_needs_its_length() -> None:
    with pytest.raises(SymattnError, match="how many keys are real"):
        Attention(mask="padding")
