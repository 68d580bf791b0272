"""The screen, files, and refusals: where every command's words end up."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

if TYPE_CHECKING:
    from symattn.documents.outline import Outline

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


def refused(message: str) -> str:
    """The message on one line, with nothing in it that a terminal would act on."""
    line = " ".join(message.split())
    line = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in line)
    if len(line) > _LONGEST_MESSAGE:
        line = f"{line[: _LONGEST_MESSAGE - 1]}…"
    return f"symattn: {line}"


def refuse(message: str) -> NoReturn:
    """One line on standard error, and exit status 2."""
    click.echo(refused(message), err=True)
    sys.exit(2)
