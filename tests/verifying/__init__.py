"""Tests of symattn/verifying."""

from __future__ import annotations

from typing import Any

from symattn.verifying import verification
from symattn.verifying.calling import here
from symattn.verifying.own import Meant
from symattn.verifying.report import Verification
from symattn.verifying.subject import Wanted


def verify(function: Any, spec: Meant, name: str = "", **how: Any) -> Verification:
    """A function verified, with what is wanted of it in words."""
    return verification.verify(here(function, name), Wanted(spec, **how))
