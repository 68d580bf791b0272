"""What every door does with an exception: one line and a status, and a traceback only on request.

The command line, Sphinx, MkDocs, pytest and IPython all ask `failure`. What is raised on purpose
says itself what is wrong; anything else is a defect of symattn, and is said to be one.
"""

from __future__ import annotations

import os
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path

from symattn.errors import SymattnError, Undecided
from symattn.status import Status

#: Set to anything but 0, it shows the tracebacks of internal errors at every door.
DEBUG = "SYMATTN_DEBUG"

_PACKAGE = Path(__file__).parent


@dataclass(frozen=True)
class Failure:
    """Why something could not be done, in one line, and the status it has."""

    status: Status
    line: str


def failure(error: Exception, name: str = "", debug: bool = False) -> Failure:
    """What is said of an exception; the line names the file `name` if there is one.

    The traceback of an internal error goes to standard error where `debug` or the environment
    variable ``SYMATTN_DEBUG`` asks for it.
    """
    place = f"{name}: " if name else ""
    match error:
        case Undecided():
            return Failure(Status.UNSETTLED, str(error))
        case SymattnError():  # names its file and line
            return Failure(Status.UNUSABLE, str(error))
        case OSError():
            reason = (error.strerror or str(error)).lower()
            named = f"{error.filename}: " if error.filename else f"{place}cannot write: "
            return Failure(Status.UNUSABLE, f"{named}{reason}")
        case MemoryError():
            return Failure(Status.UNUSABLE, f"{place}too large for the memory of this machine")
    if debug or debugging():
        traceback.print_exception(error, file=sys.stderr)
    told = f"{place}internal error, please report: {type(error).__name__} {_place(error)}"
    if isinstance(error, RecursionError):
        told += "; something is nested too deep"
    return Failure(Status.INTERNAL, told)


def debugging() -> bool:
    """Whether the environment asks for tracebacks."""
    return os.environ.get(DEBUG, "0") not in ("", "0")


def _place(error: Exception) -> str:
    """The innermost line of this package that the exception came through."""
    frames = traceback.extract_tb(error.__traceback__)
    for frame in reversed(frames):
        path = Path(frame.filename)
        if path.is_relative_to(_PACKAGE):
            return f"at {path.relative_to(_PACKAGE.parent).as_posix()}:{frame.lineno}"
    return f"at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "nowhere"
