"""Submissions: what students hand in, as it is read from files and tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True)
class Sheet:
    """A table of a document that was filled in, without its heads."""

    heading: str
    cells: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Submission:
    """What a student handed in, as it stands there."""

    source: str
    student: str
    claims: Mapping[str, object] = field(default_factory=dict)
    tables: tuple[Sheet, ...] = ()
    others: Mapping[str, object] = field(default_factory=dict)
    submitted: datetime | None = None
    key: str = ""
    fault: str = ""
