"""Two pieces of work that are measured in turn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Pair:
    """Ours and what it is held against; `reach` is the ratio that is aimed at."""

    name: str
    ours: Callable[[], object]
    theirs: Callable[[], object]
    reach: float | None = None
    reach_memory: float | None = None
    with_memory: bool = False
    most_runs: int = 1000
