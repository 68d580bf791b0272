"""The option ``--watch``: a command does its work again whenever a file that it reads changes.

A few times a second the versions of these files are compared with those that were seen. So a file
may be written in place, replaced by another one as editors do, deleted and made again, or be a link
that leads somewhere else, on any file system. Which files these are is asked anew when one of them,
or what is in a folder that is searched, has changed, because they name one another.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import sys
import time
from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from symattn.cli.formats import Command
from symattn.cli.screen import complain, debug_asked, is_folder, print_lines
from symattn.doors import Failure, failure
from symattn.errors import SymattnError
from symattn.printable import printable, shortened
from symattn.status import Status
from symattn.writing import Destination

if TYPE_CHECKING:
    from symattn.isolation import Run

Argument = TypeVar("Argument")
Result = TypeVar("Result")

#: The files that a command reads, and the folders that it searches for files.
Files = Callable[[], Iterable[Path]]

#: It differs once a file was written, replaced or made readable, or something else is in a folder;
#: () where there is neither.
Version = tuple[object, ...]


def watch_option(command: Command) -> Command:
    """Gives a command the option."""
    words = "Keep running, and repeat when a file that was read changes, until ^C."
    return click.option("--watch", is_flag=True, help=words)(command)


def check_watchable(paths: Iterable[str]) -> None:
    """Raise `SymattnError` if a path is no file, and no folder, that can be watched."""
    from symattn.files.named import kind_of

    for path in paths:
        if path == "-":
            raise SymattnError("--watch: standard input cannot be watched; give a file")
        kind = ""
        with contextlib.suppress(OSError, ValueError):  # not there yet, or no name of a file
            kind = "" if is_folder(path) else kind_of(Path(path))
        if kind:
            raise SymattnError(f"--watch: {path}: is {kind}; give a file")


def again(run: Callable[[], object], files: Files, output: Destination | None = None) -> Status:
    """Run, and again after each change of the files but the `output`, until ^C.

    What is raised is said in a line, and is no end. With an `output` (the screen, too) runs are
    separated on a terminal.
    """

    def read() -> dict[Path, Version]:
        return {path: _version(path) for path in files() if not output or not output.holds(path)}

    screen = _open_file(1)
    try:
        while _open_file(1) == screen:  # else nobody reads it any more
            seen = read()
            try:
                run()
            except BaseException as error:
                complain(failure(error, debug=debug_asked()).line)
            changed = _wait(seen, read)
            if output is not None:
                _separate(changed)
    except KeyboardInterrupt:
        pass  # it is how one stops watching
    return Status.AGREES


def _wait(
    seen: dict[Path, Version], read: Callable[[], dict[Path, Version]], pause: float = 0.25
) -> list[Path]:
    """The files that are others than was seen, as soon as there are any and they stay so.

    So many seconds are between two looks.
    """
    known = seen
    while True:
        time.sleep(pause)
        if known != {path: _version(path) for path in known}:
            known = read()
            continue
        changed = [path for path in {**seen, **known} if seen.get(path, ()) != known.get(path, ())]
        if found := [path for path in changed if not is_folder(path)]:
            return found


def _version(path: Path) -> Version:
    """The version of a file, through all links, or the names that are in a folder."""
    with contextlib.suppress(OSError, ValueError):
        now = path.stat()
        if stat.S_ISDIR(now.st_mode):
            return tuple(sorted(path.iterdir()))
        return now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns
    return ()


def _open_file(descriptor: int) -> tuple[int, int] | None:
    """What a descriptor is open for."""
    try:
        found = os.fstat(descriptor)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _separate(changed: list[Path], most: int = 3) -> None:
    """A rule with the time, and the first that have changed, on a terminal."""
    if sys.stdout is None or not sys.stdout.isatty():
        return
    from symattn.notation.text import width

    names = [printable(str(path)) for path in changed[:most]]
    more = len(changed) - len(names)
    words = ", ".join(names) + (f" and {more} more" if more else "")
    columns = shutil.get_terminal_size().columns
    line = shortened(f"── {datetime.now():%H:%M:%S} {words} ", max(columns - 2, 20))
    print_lines([("plain", ""), ("heading", line + "─" * max(columns - width(line), 2))])


class Remembered:
    """A `Run` that does not run again for a file as long as it, and all it names, stay the same.

    `paths_of` gives the files of an argument. Failures are tried again.
    """

    def __init__(self, run: Run, paths_of: Callable[[Any], list[Path]]) -> None:
        self._run, self._paths_of = run, paths_of
        self._results: dict[object, tuple[dict[Path, Version], Any]] = {}

    def __call__(
        self, function: Callable[[Argument], Result], argument: Argument, name: str
    ) -> Result | Failure:
        """The function's result, or why it has none: see `Run`."""
        from symattn.files.named import reached

        now = {path: _version(path) for path in reached(self._paths_of(argument))}
        before, result = self._results.get(argument, ({}, None))
        if now != before:
            result = self._run(function, argument, name)
            self._results.pop(argument, None)
            if not isinstance(result, Failure):
                self._results[argument] = now, result
        found: Result | Failure = result
        return found
