"""What every door does with an exception: one line and a status, and a traceback only on request.

The command line, Sphinx, MkDocs, pytest and IPython all ask `failure`. What is raised on purpose
says itself what is wrong; anything else is a defect of symattn, and is said to be one.
"""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path

from symattn.budget import Stopped
from symattn.errors import SymattnError, Undecided
from symattn.printable import as_line, printable
from symattn.status import Status

#: Set to anything but 0, it shows the tracebacks of internal errors at every door.
DEBUG = "SYMATTN_DEBUG"

_PACKAGE = Path(__file__).parent

#: Who raises something that is no `Exception` to end a process, a task or a test on purpose.
_HOSTS = ("builtins", "asyncio", "trio", "_pytest")


@dataclass(frozen=True)
class Failure:
    """Why something could not be done, in one line, and the status it has."""

    status: Status
    line: str


def failure(error: BaseException, name: str = "", debug: bool = False) -> Failure:
    """What is said of an exception; the line names the file `name` if there is one.

    The line is printable, whatever the exception holds. The traceback of an internal error goes to
    standard error where `debug` or the environment variable ``SYMATTN_DEBUG`` asks for it. Raises
    what ends the process on purpose; a defect of a compiled library (a panic of one written in
    Rust, say) is none of these, though it is no `Exception`.
    """
    if leaves(error):
        raise error
    place = f"{name}: " if name else ""
    match error:
        case Stopped():
            return Failure(Status.UNSETTLED, printable(f"{place}not finished in time"))
        case Undecided():
            return Failure(Status.UNSETTLED, printable(_words(error)))
        case SymattnError():  # names its file and line
            return Failure(Status.UNUSABLE, printable(_words(error)))
        case OSError():
            reason = str(error.strerror or _words(error)).lower()
            where = f"{_file_name(error)}: " if error.filename else f"{place}cannot write: "
            return Failure(Status.UNUSABLE, printable(f"{where}{reason}"))
        case MemoryError():
            message = f"{place}too large for the memory of this machine"
            return Failure(Status.UNUSABLE, printable(message))
    return defect(error, name, debug)


def defect(error: BaseException, name: str = "", debug: bool = False) -> Failure:
    """What is said of an exception that nobody foresaw; as `failure`, but raises nothing."""
    if debug or debugging():
        _trace(error)
    place = f"{name}: " if name else ""
    message = f"{place}internal error, please report: {type(error).__name__} {_place(error)}"
    if isinstance(error, RecursionError):
        message += "; something is nested too deeply"
    return Failure(Status.INTERNAL, printable(message))


def leaves(error: BaseException) -> bool:
    """Whether an exception ends a process, a task or a test on purpose."""
    by_host = type(error).__module__.partition(".")[0] in _HOSTS
    return by_host and not isinstance(error, Exception)


def debugging() -> bool:
    """Whether the environment asks for tracebacks."""
    return os.environ.get(DEBUG, "0") not in ("", "0")


def _trace(error: BaseException) -> None:
    """The traceback on standard error, line by line, where anybody reads it."""
    lines = "".join(traceback.format_exception(error)).rstrip("\n").split("\n")
    with contextlib.suppress(OSError, AttributeError):  # closed, or never there
        sys.stderr.write("".join(f"{as_line(line)}\n" for line in lines))


def _words(error: BaseException) -> str:
    """What the exception says; its type, where it says nothing or cannot."""
    try:
        return str(error) or type(error).__name__
    except Exception:
        return type(error).__name__


def _file_name(error: OSError) -> str:
    """The file that the system names."""
    name = error.filename
    return os.fsdecode(name) if isinstance(name, str | bytes | os.PathLike) else str(name)


def _place(error: BaseException) -> str:
    """The innermost line of this package that the exception came through."""
    frames = traceback.extract_tb(error.__traceback__)
    for frame in reversed(frames):
        path = Path(frame.filename)
        if path.is_relative_to(_PACKAGE):
            return f"at {path.relative_to(_PACKAGE.parent).as_posix()}:{frame.lineno}"
    return f"at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "nowhere"
