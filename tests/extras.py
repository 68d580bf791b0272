"""What some tests need beyond the package: where it is missing they are skipped, but CI fails."""

from __future__ import annotations

import os
import warnings
from importlib import import_module
from typing import Any, NoReturn

import pytest


def unavailable(what: str) -> NoReturn:
    """Skip the test, or the file, for want of something; fail on a server that must have it."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{what} is not installed, and CI has to have it", pytrace=False)
    pytest.skip(f"{what} is not installed", allow_module_level=True)


def package(name: str) -> Any:
    """A module that the package itself does without, imported when it is asked for."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its start is none of our business
        try:
            return import_module(name)
        except ModuleNotFoundError as error:
            unavailable(error.name or name)
