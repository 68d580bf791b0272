"""A moment of fuzzing: whatever is checked is refused in one line or marked, and fixes hold.

``python -m tests.fuzz.doors --target check --guided`` goes on for as long as it is given.
"""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz import scalars
from tests.fuzz.target import SEEDS, check_input
from tests.fuzz.written import outcomes

QUICK = settings(
    max_examples=150, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)


@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: str(seed[0]))
def test_seeds_are_marked(seed: bytes) -> None:
    assert check_input(seed) == "marked"


@QUICK
@given(st.text("0123456789.eE+-*/^()sqrtlnpi ∞√·×−_", max_size=40))
def test_any_expression(text: str) -> None:
    sheet = '[attention]\nscale = false\n[given]\nscores = [[0, 1]]\n[claims]\n"weights[1,1]" = '
    outcome = check_input(b"\0" + (sheet + json.dumps(text, ensure_ascii=False)).encode())
    assert outcome in ("marked", "refused")


def test_attentions_are_written_and_read_back() -> None:
    found = [*outcomes(60, 0)]
    assert [(own, one) for own, one in found if one.fails] == []
    assert sum("steps" in one.word or "form" in one.word for _, one in found) > 20


def test_numbers_are_called_equal_only_where_both_sides_have_a_value() -> None:
    found = [kind for kind, _ in scalars.outcomes(60, 0)]
    assert "falsely" not in found
    assert found.count("equal (for all sizes, where both sides are defined)") > 8


def test_who_forgets_where_a_side_is_defined_is_caught() -> None:
    class Forgetful:
        summary = "equal (for all sizes)"

    assert "falsely" in {kind for kind, _ in scalars.outcomes(30, 0, lambda *_, **__: Forgetful())}
