"""The screen, files, and failures: where every command's words end up."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symattn.status import exit_statuses

if TYPE_CHECKING:
    from symattn.documents.outline import Outline

#: What the help of every command ends with; after \b, click leaves the lines as they are.
END_OF_HELP = f"\b\n{exit_statuses()}"

_LONGEST_MESSAGE = 400


def print_lines(lines: Iterable[tuple[str, str]]) -> None:
    """Lines on the screen, each in its style where the screen is a terminal."""
    if sys.stdout is None:
        raise OSError(0, "standard output is closed")
    if sys.stdout.isatty() and "NO_COLOR" not in os.environ:
        from rich.console import Console
        from rich.text import Text

        styles = {"title": "bold", "heading": "bold cyan", "note": "dim", "formula": "bold",
                  "good": "green", "bad": "bold red"}  # fmt: skip
        console = Console(soft_wrap=True, highlight=False)
        for style, words in lines:
            console.print(Text(words, style=styles.get(style, "")))
        return
    encoding = sys.stdout.encoding or "ascii"
    document = "\n".join(words for _, words in lines) + "\n"
    with reader_may_leave():
        click.echo(document.encode(encoding, "replace").decode(encoding), nl=False)
        sys.stdout.flush()


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
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is buffered goes there at the end


def complain(message: str) -> None:
    """One line on standard error, with nothing in it that a terminal would act on."""
    line = " ".join(message.split())
    line = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in line)
    if len(line) > _LONGEST_MESSAGE:
        line = f"{line[: _LONGEST_MESSAGE - 1]}…"
    with contextlib.suppress(OSError):  # nobody reads it
        click.echo(f"symattn: {line}", err=True)


def limit_work(allow_large: bool) -> None:
    """Refuse, until the command ends, what would be too much work, unless that is allowed."""
    from symattn.budget import limited

    click.get_current_context().with_resource(limited("--allow-large", allow_large))


def debug_asked() -> bool:
    """Whether ``--debug`` was given to this command line."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.find_root().params.get("debug"))
