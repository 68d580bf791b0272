"""What the tests of isolation let a worker do; a module that workers import."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import numpy as np


class Panic(BaseException):
    """As compiled libraries raise it: no `Exception`."""


def double(number: int) -> int:
    return 2 * number


def kept(number: int, _held: list[int] = []) -> list[int]:  # noqa: B006 kept from task to task
    _held.append(number)
    return list(_held)


def large(size: int) -> bytes:
    return b"x" * size


def search(length: int) -> bool:
    """Holds Python's lock in C for longer than anybody lives."""
    return re.fullmatch("(a+)+b", "a" * length) is not None


def own_number(_: Any) -> int:
    return os.getpid()


def surroundings(variable: str) -> tuple[str, str]:
    return os.environ[variable], str(Path.cwd())


def drawn(_: Any) -> float:
    return float(np.random.random())


def killed(number: int) -> None:
    os.kill(os.getpid(), number)


def fails(kind: type[BaseException]) -> None:
    raise kind("planted")


def unpicklable(_: Any) -> Any:
    return lambda: None


def search_all(_: Any) -> bool:
    """Stands for a file that is marked in one endless call in C."""
    return search(60)
