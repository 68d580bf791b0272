"""Few of the larger sizes are tried, which take seconds each, where a test is not about these."""

from __future__ import annotations

import pytest

from symattn.lifting import comparing, trials
from symattn.verifying.inputs import FAR


@pytest.fixture(autouse=True)
def few_sizes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """More heads, wide keys and 37 tokens."""
    if request.module.__name__.endswith("test_trials"):
        return
    for room in (trials, comparing):
        monkeypatch.setattr(room, "FAR", FAR[:3])
