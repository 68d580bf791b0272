"""The screen: where every command's words, and what it complains of, are shown."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path

import click

from symattn.printable import as_line, shortened
from symattn.status import exit_statuses
from symattn.writing import reader_may_leave

#: What the help of every command ends with; after \b, click leaves the lines as they are.
END_OF_HELP = f"\b\n{exit_statuses()}"


def print_lines(lines: Iterable[tuple[str, str]]) -> None:
    """Lines on the screen, each in its style where the screen is a terminal.

    Whatever a line holds, it stays one line, and is shown rather than acted on.
    """
    if sys.stdout is None:
        raise OSError(0, "standard output is closed")
    encoding = sys.stdout.encoding or "ascii"
    printed = [(style, _encodable(as_line(words), encoding)) for style, words in lines]
    if sys.stdout.isatty() and "NO_COLOR" not in os.environ:
        from rich.console import Console
        from rich.text import Text

        styles = {
            "title": "bold",
            "heading": "bold cyan",
            "note": "dim",
            "formula": "bold",
            "good": "green",
            "bad": "bold red",
        }
        console = Console(soft_wrap=True, highlight=False)
        for style, words in printed:
            console.print(Text(words, style=styles.get(style, "")))
        return
    with reader_may_leave(1):
        click.echo("\n".join(words for _, words in printed))
        sys.stdout.flush()


def _encodable(words: str, encoding: str) -> str:
    """The words with what the screen cannot show by its number."""
    return words.encode(encoding, "backslashreplace").decode(encoding)


def diff_line(line: str) -> str:
    """Lines of a diff for the screen: as `as_line`, but a program can apply most of them.

    Tabs, line ends and the break before a remark stay; a diff that is written to a file is exact.
    """
    ends = re.split(r"(\t|\r?\n)", line)
    return "".join(part if part in ("\t", "\n", "\r\n") else as_line(part) for part in ends)


def can_show_unicode() -> bool:
    """Whether the screen has the signs of mathematics."""
    try:
        "√⋯Σᵀ⎡".encode((sys.stdout and sys.stdout.encoding) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def paths_given(
    context: click.Context, option: click.Parameter, paths: tuple[str, ...]
) -> tuple[str, ...]:
    """The paths of a command line; an empty one, as of a variable that is not set, is none."""
    if "" in paths:
        raise click.BadParameter("the name is empty; give a file or a folder", context, option)
    return paths


def is_folder(path: str | Path) -> bool:
    """Whether a path is a folder; one that no system takes is none."""
    try:
        return Path(path).is_dir()
    except (OSError, ValueError):
        return False


def drop_output() -> None:
    """Send what is buffered to the null device, where standard output takes no more."""
    with contextlib.suppress(OSError, AttributeError):  # no file of the system, or none at all
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def complain(message: str) -> None:
    """One line on standard error, with nothing in it that a terminal or a runner would act on."""
    with contextlib.suppress(OSError, ValueError):  # nobody reads it
        click.echo(shortened(as_line(f"symattn: {message}")), err=True)


def debug_asked() -> bool:
    """Whether ``--debug`` was given to this command line."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.find_root().params.get("debug"))
