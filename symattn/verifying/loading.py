"""A function of a file, verified: what ``symattn verify`` runs in a process of its own."""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import inspect
import os
import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from symattn.attention.spec import Attention
from symattn.documents.blocks import Document
from symattn.errors import SymattnError, nearest, quote
from symattn.printable import printable
from symattn.status import Status
from symattn.verifying.report import verification_data, verification_document
from symattn.verifying.verification import verify

#: The bytes that a function may write into one file.
_MOST_WRITTEN = 16 * 2**20


@dataclass(frozen=True)
class Asked:
    """A function to verify, as ``module.py:function``, and the attention that it should be."""

    target: str
    spec: Attention
    attention: str
    mapped: Mapping[str, str] = field(default_factory=dict)
    library: str = ""
    returns: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    #: Whether the report is for a screen.
    brief: bool = True


@dataclass(frozen=True)
class Verified:
    """What came of it: the status, and the report as blocks and as plain data."""

    status: Status
    document: Document
    data: Mapping[str, Any]


def verify_named(asked: Asked) -> Verified:
    """The function imported and verified. Raises `SymattnError` where it cannot be."""
    _write_little()
    function = load(asked.target)
    found = verify(
        _in_one_process(function),
        asked.spec,
        mapped=asked.mapped,
        library=asked.library,
        returns=asked.returns,
        skip=asked.skip,
        name=asked.target.rpartition(":")[2],
        attention=asked.attention,
    )
    document = verification_document(found, asked.brief)
    return Verified(found.status, document, verification_data(found))


def _in_one_process(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, after which a process that it has forked ends: only one goes on to verify."""
    process = os.getpid()

    @functools.wraps(function)
    def called(*args: Any, **named: Any) -> Any:
        try:
            return function(*args, **named)
        finally:
            if os.getpid() != process:
                os.kill(os.getpid(), signal.SIGKILL)

    return called


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
        module: Any = _module(path) if path.suffix == ".py" else importlib.import_module(place)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        lines = str(error).splitlines() or [""]
        words = printable(f"{type(error).__name__}: {lines[0]}"[:200])
        raise SymattnError(f"{place}: cannot be imported: {words}") from None
    found = module
    for part in name.split("."):
        if not hasattr(found, part):
            public = [
                name
                for name, value in vars(found).items()
                if not name.startswith("_") and not inspect.ismodule(value)
            ]
            raise SymattnError(f"{place}: has no {quote(part)}{nearest(part, public)}")
        found = getattr(found, part)
    if isinstance(found, type) or not callable(found):
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
