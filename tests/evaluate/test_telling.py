"""The entry of each step that is worked out: followed from the result, and one that shows much."""

import numpy as np
import pytest

from symattn import variant
from symattn.attention.example import small_example
from symattn.documents.outline import outline
from symattn.documents.shown import Shown
from symattn.evaluate.telling import telling
from symattn.notation.options import Notation
from symattn.notation.text import line
from tests.worked_lines import faults

VARIANTS = ("causal", "llama", "grouped-query", "rotary", "cached", "off-by-one")


@pytest.mark.parametrize("name", VARIANTS)
def test_one_number_is_followed_from_the_result_to_the_start(name: str) -> None:
    heads = None if variant(name).spec.heads is None else 4
    derivation, values = small_example(variant(name).spec, title="", tokens=4, heads=heads)
    places = telling(values, derivation.steps, Notation())
    assert [*places] and set(places) == set(derivation.names)
    rows = {places[step][-2] for step in ("Q", "scores", "weights") if step in places}
    rows |= {places[derivation.names[-1]][-2]}
    assert len(rows) == 1
    weights = derivation["weights"]
    row = values.array(weights.letter)[places["weights"][:-1]]
    assert np.count_nonzero(row) > 1, "several keys are seen"
    assert places["weights"][-2:] == places["scores"][-2:]
    assert 0 < round(float(row[places["weights"][-1]]), 4) < 1


def test_the_first_position_is_not_chosen_where_it_is_not_rotated() -> None:
    derivation, values = small_example(variant("rotary").spec, title="", tokens=3)
    assert telling(values, derivation.steps, Notation())["Q_rotated"][0] > 0


def test_what_is_asked_for_is_followed() -> None:
    derivation, values = small_example(variant("causal").spec, title="", tokens=3)
    places = telling(values, derivation.steps, Notation(), {"weights": (1, 0)})
    assert places["weights"] == (1, 0) and places["output"][0] == 1 and places["scores"] == (1, 0)


def test_a_chosen_head_is_followed() -> None:
    derivation, values = small_example(variant("grouped-query").spec, title="", tokens=3, heads=4)
    places = telling(values, derivation.steps, Notation(head=3))
    assert places["weights"][0] == places["Q"][0] == places["heads"][0] == 2
    assert places["K"][0] == 1, "of the second group"
    shown = outline(Shown(derivation, values, notation=Notation(head=3)))
    formulas = [line(each.tree) for step in shown.steps for each in step.lines]
    assert "S⁽³⁾ = Q⁽³⁾ K⁽²⁾ᵀ" in formulas
    assert not any("S⁽¹⁾" in formula or "S⁽ʰ⁾" in formula for formula in formulas)
    worked = [line(x.tree) for step in shown.steps for x in step.lines if x.view == "worked"]
    assert worked and [*(fault for each in worked for fault in faults(each, 4, {}))] == []
