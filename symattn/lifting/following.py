"""What a program does, line by line, while it is run."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


@contextmanager
def followed(file: str, looked: Callable[[FrameType, str, Any], None]) -> Iterator[None]:
    """Look at what happens within the functions of a file, beside what is looked at already."""
    previous: Any = sys.gettrace()

    def entered(frame: FrameType, event: str, value: Any) -> Any:
        before = previous(frame, event, value) if previous else None
        if frame.f_code.co_filename != file:
            return before

        def within(frame: FrameType, event: str, value: Any) -> Any:
            nonlocal before
            looked(frame, event, value)
            before = before(frame, event, value) if before else None
            return within

        return within

    sys.settrace(entered)
    try:
        yield
    finally:
        sys.settrace(previous)
