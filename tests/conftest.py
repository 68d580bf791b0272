"""Fixtures for tests that need programs from outside Python."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

Tool = Callable[[str], str]


@pytest.fixture(scope="session")
def unavailable() -> Callable[[str], NoReturn]:
    """Skip the test for want of something, or, on a build server that must have it, fail."""

    def stop(what: str) -> NoReturn:
        if os.environ.get("CI") == "true":
            pytest.fail(f"{what} is not installed, and CI has to have it", pytrace=False)
        pytest.skip(f"{what} is not installed")

    return stop


@pytest.fixture(scope="session")
def tool(unavailable: Callable[[str], NoReturn]) -> Tool:
    """The path of an external program by its name."""

    def find(name: str) -> str:
        path = shutil.which(name)
        if path is None:
            unavailable(name)
        return path

    return find


@pytest.fixture(scope="session")
def node_file(unavailable: Callable[[str], NoReturn]) -> Callable[[str], Path]:
    """A file of a Node package, found where Node looks for packages."""

    def find(name: str) -> Path:
        for folder in os.environ.get("NODE_PATH", "").split(os.pathsep):
            if folder and (Path(folder) / name).exists():
                return Path(folder) / name
        return unavailable(name)

    return find
