"""Functions of strangers: no wrong one is proven, no right one refuted; a few in every run."""

from __future__ import annotations

from importlib import import_module

import pytest

from tests.extras import package
from tests.lifting import corpus
from tests.lifting.corpus.table import LIBRARIES, verdict

#: Those of the ordinary run, quick ones; the nightly run has all.
FEW = (
    ("numpied", "delta_without_what_is_there", False),
    ("torched", "windowed", True),
    ("torched", "dropout_left_on", False),
)


@pytest.mark.parametrize(("library", "name", "right"), FEW)
def test_a_few_are_decided(library: str, name: str, right: bool) -> None:
    _needed(library)
    found, why = verdict(library, name)
    assert found == ("equal at the sizes tried" if right else "different"), why


@pytest.mark.nightly
@pytest.mark.parametrize("library", LIBRARIES)
def test_no_wrong_one_is_proven_and_most_are_refuted(library: str) -> None:
    _needed(library)
    names = [*import_module(f"{corpus.__name__}.{library}").WRONG]
    found = {name: verdict(library, name)[0] for name in names}
    assert not [name for name, one in found.items() if one.startswith("equal")]
    assert [*found.values()].count("different") >= 0.9 * len(names), found


@pytest.mark.nightly
@pytest.mark.parametrize("library", LIBRARIES)
def test_no_right_one_is_refuted_and_most_are_proven(library: str) -> None:
    _needed(library)
    names = [*import_module(f"{corpus.__name__}.{library}").RIGHT]
    found = {name: verdict(library, name)[0] for name in names}
    assert "different" not in found.values()
    proven = [name for name, one in found.items() if one.startswith("equal")]
    assert len(proven) >= 0.8 * len(names), found


def _needed(library: str) -> None:
    if library != "numpied":
        package({"torched": "torch", "jaxed": "jax"}[library])
