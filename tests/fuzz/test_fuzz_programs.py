"""A few changed programs, and pairs of them, are tried with every run; NumPy judges."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from symattn.lifting import comparing, trials
from symattn.verifying.inputs import FAR
from tests.extras import package
from tests.fuzz import families, guarded, loops, programs_by_chance, programs_paired
from tests.fuzz.programs import FUNCTIONS, is_right, tried
from tests.lifting import attentions


def test_numpy_tells_right_programs_from_wrong_ones() -> None:
    for name in FUNCTIONS:
        assert is_right(getattr(attentions, name), name.startswith("causal")), name
    for name in ("over_the_queries", "a_number_is_added", "online_not_rescaled"):
        assert not is_right(getattr(attentions, name), causal=False), name


def test_nothing_is_said_falsely_of_changed_programs() -> None:
    found, false = tried(4, 5)
    assert false == []
    assert sum(found.values()) == 4


def test_numpy_tells_pairs_apart() -> None:
    online, other = attentions.online, attentions.online_not_rescaled
    assert programs_paired.is_same(online, attentions.row_by_row, 5, 5, 3, 2)
    assert not programs_paired.is_same(online, other, 5, 5, 3, 2)


def test_nothing_is_said_falsely_of_pairs() -> None:
    found, false = programs_paired.tried(6, 3)
    assert false == []
    assert sum(found.values()) == 6


def test_balls_tell_families_apart() -> None:
    numbers = {name: np.random.default_rng(1).normal(size=(4, 4)) for name in "QKV"}
    tapes = [programs_by_chance.tape(each[0], numbers) for each in families.FAMILIES]
    other = programs_by_chance.tape(families.in_blocks, numbers)
    assert programs_by_chance.by_balls(tapes[0], other, numbers)
    for one, two in pairwise(tapes):
        assert programs_by_chance.by_balls(one, two, numbers) is False


@pytest.mark.nightly
def test_nothing_is_said_falsely_by_fields_alone() -> None:
    found, false = programs_by_chance.tried(40, 4)
    assert false == []
    assert found[True, "equal"] >= 9 * found[True, "not known"]
    assert found[False, "not known"] >= 20


@pytest.fixture
def few_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """No more than 37 tokens are tried, so that the source alone can tell."""
    for room in (trials, comparing):
        monkeypatch.setattr(room, "FAR", FAR[:3])


@pytest.mark.nightly
@pytest.mark.usefixtures("few_sizes")
def test_no_program_that_changes_with_many_tokens_is_proven_for_all_sizes() -> None:
    found, false = guarded.tried(guarded.USES[::5], guarded.THRESHOLDS[::9])
    assert false == []
    assert found["more\tequal at the sizes tried"] == sum(found.values())
    same, _ = guarded.tried(guarded.PLAIN[3:4], guarded.THRESHOLDS[:1])
    assert same["the same\tequal for all sizes"] == 1


@pytest.mark.parametrize(
    ("library", "uses"),
    [("torch", guarded.USES_OF_TORCH[2:6:2]), ("jnp", guarded.USES_OF_JAX[1:2])],
)
@pytest.mark.usefixtures("few_sizes")
def test_nothing_is_said_of_all_sizes_of_other_libraries(
    library: str, uses: tuple[str, ...]
) -> None:
    package({"jnp": "jax"}.get(library, library))
    found, false = guarded.tried(uses, guarded.THRESHOLDS[:1], library)
    assert (false, [*found]) == ([], ["more\tequal at the sizes tried"])


def test_no_loop_is_read_as_what_it_is_not() -> None:
    found = Counter(kind for kind, _ in loops.outcomes(10, 5))
    assert found["false"] == 0
    assert found["true"] > 0
