"""A moment of fuzzing: whatever is checked is refused in one line or marked, and fixes hold.

``python -m tests.fuzz.doors --target check --guided`` goes on for as long as it is given.
"""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.target import SEEDS, WORDS, check_input
from tests.fuzz.written import outcomes

QUICK = settings(
    max_examples=150, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A seed with pieces cut out, repeated, or put in."""
    data = bytearray(draw(st.sampled_from(SEEDS)))
    for _ in range(draw(st.integers(1, 6))):
        start = draw(st.integers(1, len(data)))
        end = draw(st.integers(start, min(start + 30, len(data))))
        piece = draw(st.one_of(st.sampled_from(WORDS), st.text(max_size=4), st.just("")))
        data[start:end] = piece.encode("utf-8", "replace") * draw(st.sampled_from([1, 1, 1, 3]))
    return bytes(data)


@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: str(seed[0]))
def test_seeds_are_marked(seed: bytes) -> None:
    assert check_input(seed) == "marked"


@QUICK
@given(mutated())
def test_mutated_seeds(data: bytes) -> None:
    assert check_input(data) in ("marked", "refused", "nothing")


@QUICK
@given(st.integers(0, 4), st.lists(st.sampled_from(WORDS), max_size=40))
def test_words_in_any_order(kind: int, words: list[str]) -> None:
    assert check_input(bytes([kind]) + "".join(words).encode()) in ("marked", "refused", "nothing")


@QUICK
@given(st.text("0123456789.eE+-*/^()sqrtlnpi ∞√·×−_", max_size=40))
def test_any_expression(text: str) -> None:
    sheet = '[attention]\nscale = false\n[given]\nscores = [[0, 1]]\n[claims]\n"weights[1,1]" = '
    outcome = check_input(b"\0" + (sheet + json.dumps(text, ensure_ascii=False)).encode())
    assert outcome in ("marked", "refused")


def test_attentions_are_written_and_read_back() -> None:
    found = [*outcomes(120, 0)]
    assert [(own, one) for own, one in found if one.fails] == []
    assert sum("steps" in one.word or "form" in one.word for _, one in found) > 60
