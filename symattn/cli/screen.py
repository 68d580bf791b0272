"""The screen, files, and failures: where every command's words end up."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symattn.printable import as_line, shortened
from symattn.status import exit_statuses

if TYPE_CHECKING:
    from symattn.documents.outline import Outline

#: What the help of every command ends with; after \b, click leaves the lines as they are.
END_OF_HELP = f"\b\n{exit_statuses()}"


def print_lines(lines: Iterable[tuple[str, str]]) -> None:
    """Lines on the screen, each in its style where the screen is a terminal.

    Whatever a line holds, it stays one line, and is shown rather than acted on.
    """
    if sys.stdout is None:
        raise OSError(0, "standard output is closed")
    encoding = sys.stdout.encoding or "ascii"
    shown = [(style, _encodable(as_line(words), encoding)) for style, words in lines]
    if sys.stdout.isatty() and "NO_COLOR" not in os.environ:
        from rich.console import Console
        from rich.text import Text

        styles = {"title": "bold", "heading": "bold cyan", "note": "dim", "formula": "bold",
                  "good": "green", "bad": "bold red"}  # fmt: skip
        console = Console(soft_wrap=True, highlight=False)
        for style, words in shown:
            console.print(Text(words, style=styles.get(style, "")))
        return
    with reader_may_leave():
        click.echo("\n".join(words for _, words in shown))
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


def print_text(pages: Iterable[Outline]) -> None:
    """Text for the screen: coloured in a terminal, ASCII where the terminal has no Unicode."""
    from symattn.documents.text import styled_lines

    charset: Any = "unicode" if can_show_unicode() else "ascii"
    lines: list[tuple[str, str]] = []
    for page in pages:
        lines += [("plain", "")] if lines else []
        lines += styled_lines(page, charset)
    print_lines(lines)


def can_show_unicode() -> bool:
    """Whether the screen has the signs of mathematics."""
    try:
        "√⋯Σᵀ⎡".encode((sys.stdout and sys.stdout.encoding) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def write(document: str | bytes, output: str | None) -> None:
    """A document to a file, or to standard output for None and ``-``."""
    from symattn.errors import SymattnError

    content = document if isinstance(document, bytes) else document.encode("utf-8")
    if output is None or output == "-":
        if sys.stdout is None:
            raise OSError(0, "standard output is closed")
        with reader_may_leave():
            sys.stdout.flush()
            sys.stdout.buffer.write(content)
            sys.stdout.buffer.flush()
        return
    try:
        Path(output).write_bytes(content)
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise SymattnError(f"{output}: cannot be written: {reason}") from None


def is_folder(path: str | Path) -> bool:
    """Whether a path is a folder; one that no system takes is none."""
    try:
        return Path(path).is_dir()
    except (OSError, ValueError):
        return False


def replace_file(path: Path, before: str, after: str) -> None:
    """Write the new text in one step, with the file's mode and byte order mark kept."""
    from symattn.errors import SymattnError

    raw = path.read_bytes()
    mark = b"\xef\xbb\xbf" if raw.startswith(b"\xef\xbb\xbf") else b""
    if raw != mark + before.encode():
        raise SymattnError(f"{path}: changed while it was read; nothing was written")
    target = path.resolve()
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(mark + after.encode())
        shutil.copymode(target, name)
        Path(name).replace(target)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def reader_may_leave() -> Iterator[None]:
    """Nobody reads on, as after ``| head``: the rest is not shown, and the status is the same."""
    try:
        yield
    except BrokenPipeError:
        drop_output()


def drop_output() -> None:
    """Let what is buffered go nowhere, where standard output takes no more."""
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
