"""The views of a step: what of it may be shown."""

from __future__ import annotations

from typing import Literal, TypeAlias

View: TypeAlias = Literal["formula", "entry", "worked", "value"]
VIEWS: tuple[View, ...] = ("formula", "entry", "worked", "value")
