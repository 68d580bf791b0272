"""A function of a file, verified: what ``symattn verify`` runs.

The function runs in a process of its own, which gives its numbers as bytes; they are judged
outside, where nothing that it does to what it can reach in its own process changes the verdict.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import inspect
import os
import re
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from symattn.documents.blocks import Document
from symattn.doors import Failure
from symattn.errors import SymattnError, nearest, quote
from symattn.isolation import Limits, Run, within
from symattn.printable import said_by
from symattn.status import Status
from symattn.verifying.calling import (
    Call,
    Function,
    answer_from,
    answered,
    packed,
    signature_from,
    signature_of,
)
from symattn.verifying.report import verification_data, verification_document
from symattn.verifying.subject import Wanted
from symattn.verifying.verification import verify

#: The bytes that a function may write into one file.
_MOST_WRITTEN = 16 * 2**20


@dataclass(frozen=True)
class Asked:
    """A function to verify, as ``module.py:function``, and what is wanted of it."""

    target: str
    wanted: Wanted
    #: Whether the report is for a screen.
    brief: bool = True
    #: MiB of memory that the function may take, and whether its complaints are shown.
    memory: int | None = None
    debug: bool = False


@dataclass(frozen=True)
class Verified:
    """What came of it: the status, and the report as blocks and as plain data."""

    status: Status
    document: Document
    data: Mapping[str, Any]


def verify_named(asked: Asked) -> Verified | Failure:
    """The function verified, in a process of its own; a failure where that has ended.

    Raises `SymattnError` where the function cannot be imported or called.
    """
    limits = Limits(None, asked.memory)
    with alone(asked.target, limits, debug=asked.debug) as run:
        try:
            found = verify(there(run, asked.target), asked.wanted)
        except Ended as ended:
            return ended.failure
    document = verification_document(found, asked.brief)
    return Verified(found.status, document, verification_data(found))


def alone(
    target: str,
    limits: Limits,
    modules: tuple[str, ...] = (__name__,),
    debug: bool = False,
    shared: Sequence[str] = ("torch", "jax"),
) -> AbstractContextManager[Run]:
    """A process for a function of a file, with these modules.

    It has what is `shared` of the libraries that the file imports, too: these take seconds, and are
    imported once for all processes.
    """
    text = ""
    with contextlib.suppress(OSError, ValueError):
        text = Path(target.rpartition(":")[0]).read_text("utf-8")
    used = re.findall(r"^(?:import|from) (\w+)", text, re.MULTILINE)
    wanted = [name for name in shared if name.partition(".")[0] in used]
    return within(limits, (*modules, *wanted), debug, stranger=True)


class Ended(Exception):
    """The process of a function has ended, or the function cannot be had."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.line)
        self.failure = failure


def there(run: Run, target: str) -> Function:
    """A function that runs in another process, which is not trusted."""

    def asked(function: Callable[[Any], bytes], argument: object) -> bytes:
        found = run(function, argument, target)
        if isinstance(found, Failure):
            raise Ended(found)
        return found

    signature = signature_from(asked(_signature, target))
    name = target.rpartition(":")[2]
    return Function(name, signature, lambda call: answer_from(asked(_answer, (target, call))))


def _signature(target: str) -> bytes:
    """The signature of a function, for another process."""
    _write_little()
    return packed(signature_of(load(target)))


def _answer(asked: tuple[str, Call]) -> bytes:
    """What comes of a call, for another process; one that the function has forked ends here."""
    target, call = asked
    function, process = load(target), os.getpid()
    try:
        return packed(answered(function, call))
    finally:
        if os.getpid() != process:
            os.kill(os.getpid(), signal.SIGKILL)


@functools.cache
def load(target: str) -> Callable[..., Any]:
    """The function that ``module.py:function`` or ``package.module:function`` names.

    Its module is run. Raises `SymattnError` where there is none.
    """
    place, colon, name = target.rpartition(":")
    if not colon or not place or not name:
        raise SymattnError(
            f"{quote(target)}: name a file and a function in it, as module.py:attention"
        )
    path = Path(place)
    if path.suffix == ".py" and not path.is_file():
        raise SymattnError(f"{place}: there is no such file")
    try:
        found: Any = _module(path) if path.suffix == ".py" else importlib.import_module(place)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise SymattnError(f"{place}: cannot be imported: {said_by(error)}") from None
    for part in name.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            inside = getattr(found, "__dict__", {})
            public = [
                name
                for name, value in inside.items()
                if not name.startswith("_") and not inspect.ismodule(value)
            ]
            raise SymattnError(f"{place}: has no {quote(part)}{nearest(part, public)}") from None
        except Exception as error:
            raise SymattnError(f"{place}: {quote(part)} cannot be had: {said_by(error)}") from None
    if issubclass(type(found), type) or not callable(found):
        raise SymattnError(
            f"{place}: {name} is no function; name one that takes matrices and returns the output"
        )
    function: Callable[..., Any] = found
    return function


def _module(path: Path) -> Any:
    """A module of a file, which may import what lies beside it, also as parts of its package."""
    path = path.resolve()
    names, folder = [path.stem], path.parent
    while (folder / "__init__.py").is_file() and folder.name.isidentifier():
        names.insert(0, folder.name)
        folder = folder.parent
    if len(names) > 1:
        sys.path.insert(0, str(folder))
        return importlib.import_module(".".join(names))
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def _write_little() -> None:
    """Let the system bound what is written into a file."""
    if sys.platform == "win32":
        return
    import resource

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # an error is raised instead
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    most = _MOST_WRITTEN if hard == resource.RLIM_INFINITY else min(_MOST_WRITTEN, hard)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
