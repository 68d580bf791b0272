"""The option ``--watch``: a command does its work again whenever a file that it reads changes.

Watchfiles says that something happens in the folders of these files; whether one of them is another
is seen by its version. So a file may be written in place, replaced by another one as editors do,
deleted and made again, or be a link that leads somewhere else. Which files these are is asked anew
each time, because they name one another.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from symattn.cli.formats import Command
from symattn.cli.screen import complain, debug_asked, is_folder, print_lines
from symattn.doors import Failure, failure
from symattn.errors import SymattnError, needing
from symattn.printable import printable, shortened
from symattn.status import Status
from symattn.writing import Destination

if TYPE_CHECKING:
    from symattn.isolation import Run

Argument = TypeVar("Argument")
Result = TypeVar("Result")

#: The files that a command reads, and the folders that it searches for files.
Files = Callable[[], Iterable[Path]]

#: It differs once a file was written, replaced or made readable; () where there is no file.
Version = tuple[int, ...]

#: Milliseconds without another change after which a change is over, and the longest that is waited
#: for that; and until it is looked whether something has changed before the watch began.
_QUIET, _LONGEST, _FIRST = 100, 1000, 300

#: How many links in a row are followed, as Linux does.
_MAX_LINKS = 40

#: How many files that have changed are named.
_NAMED = 3


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
    separated on a terminal. Raises `MissingExtra` where watchfiles is not installed.
    """
    with needing("--watch", "watchfiles", "symattn[watch]"):
        import watchfiles  # noqa: F401  before anything is done

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


def _wait(seen: dict[Path, Version], read: Callable[[], dict[Path, Version]]) -> list[Path]:
    """The files that are others than was seen, as soon as there are any."""
    from watchfiles import watch
    from watchfiles._rust_notify import WatchfilesRustInternalError

    known = set(seen)
    while True:
        folders = {folder for path in known for folder in _around(path)}
        try:
            changes = watch(
                *folders,
                recursive=False,
                watch_filter=None,
                step=_QUIET,
                debounce=_LONGEST,
                rust_timeout=_FIRST,
                yield_on_timeout=True,
                ignore_permission_denied=True,
            )
            for number, found in enumerate(changes):
                if number and not found:
                    continue
                now = read()
                if changed := [p for p in {**seen, **now} if seen.get(p, ()) != now.get(p, ())]:
                    return changed
                known.update(now)
                if not folders.issuperset(f for path in known for f in _around(path)):
                    break
        except FileNotFoundError:
            continue  # a folder is gone meanwhile
        except WatchfilesRustInternalError as error:
            raise SymattnError(f"--watch: {error}; set WATCHFILES_FORCE_POLLING=1") from None


def _version(path: Path) -> Version:
    with contextlib.suppress(OSError, ValueError):
        now = path.stat()
        if not stat.S_ISDIR(now.st_mode):
            return now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns
    return ()


def _around(path: Path) -> Iterator[Path]:
    """The folders in which it shows that there is another file, or link, at a path."""
    path = path.absolute()
    if is_folder(path):
        yield path
    *links, place = _led_through(path)
    for each in (path, *links, place):
        yield next(folder for folder in each.parents if is_folder(folder))


def _led_through(path: Path) -> Iterator[Path]:
    """The links on the way to what a path means, and that place."""
    for _ in range(_MAX_LINKS):
        link = next((p for p in (*reversed(path.parents), path) if os.path.islink(p)), None)  # noqa: PTH114
        if link is None:
            break
        yield link
        place = link.parent / link.readlink() / path.relative_to(link)
        path = Path(os.path.normpath(place))
    yield path


def _open_file(descriptor: int) -> tuple[int, int] | None:
    """What a descriptor is open for."""
    try:
        found = os.fstat(descriptor)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _separate(changed: list[Path]) -> None:
    """A rule with the time, and what has changed, on a terminal."""
    if sys.stdout is None or not sys.stdout.isatty():
        return
    from symattn.notation.text import width

    names = [printable(str(path)) for path in changed[:_NAMED]]
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
