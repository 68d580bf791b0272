"""The screen: where every command's words, and what it complains of, are shown."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from symattn.status import exit_statuses
from symattn.writing import reader_may_leave

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
    with reader_may_leave(1):
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


def complain(message: str) -> None:
    """One line on standard error, with nothing in it that a terminal would act on."""
    line = " ".join(message.split())
    line = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in line)
    if len(line) > _LONGEST_MESSAGE:
        line = f"{line[: _LONGEST_MESSAGE - 1]}…"
    with contextlib.suppress(OSError):  # nobody reads it
        click.echo(f"symattn: {line}", err=True)


def debug_asked() -> bool:
    """Whether ``--debug`` was given to this command line."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.find_root().params.get("debug"))
