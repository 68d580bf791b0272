"""The options ``--format``, ``--flavor`` and ``-o``, and how a document is shown as they ask."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

import click

from symattn.cli import completing as completes
from symattn.cli.screen import can_show_unicode, print_lines
from symattn.documents.job import FORMATS, room_of, written
from symattn.writing import Destination

if TYPE_CHECKING:
    from symattn.documents.blocks import Document

#: A command that is given options.
Command = TypeVar("Command", bound=Callable[..., object])

#: The formats that show any document, and the plain data that every command has beside them.
FORMS = (*(name for name, row in FORMATS.items() if row.writer), "json")


def _flavors(names: Iterable[str]) -> str:
    """The flavors of these formats in a sentence, as help."""
    having = [(name, FORMATS[name].flavors) for name in names if name in FORMATS]
    return " ".join(f"Of {name}: {', '.join(flavors)}." for name, flavors in having if flavors)


def format_options(names: Sequence[str] = FORMS) -> Callable[[Command], Command]:
    """Gives a command the options, with these formats."""
    options = (
        click.option(
            "--format", "form", type=click.Choice(names), default="text", show_default=True
        ),
        click.option("--flavor", metavar="NAME", help=_flavors(names)),
        click.option(
            "-o",
            "--output",
            metavar="FILE",
            shell_complete=completes.files,
            help="Write to this file instead of the screen.",
        ),
    )

    def given(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return given


def _room(context: click.Context, option: click.Parameter, value: str | None) -> float | None:
    return None if value is None else room_of(value)


#: The option ``--width`` for what TeX sets.
width_option = click.option(
    "--width",
    metavar="EM|column",
    callback=_room,
    help="Break formulas for lines of so many em, or for one of two columns (latex, tex, pdf).",
)


def write_data(data: object, destination: Destination) -> None:
    """Write plain data as JSON."""
    from symattn.documents.data import written as as_json

    destination.write(f"{as_json(data)}\n")


def show(
    form: str, documents: Sequence[Document], flavor: str | None, destination: Destination
) -> None:
    """Write documents in a format; text for the screen is coloured there, and ASCII if need be."""
    if form == "text" and destination.is_screen:
        from symattn.documents.text import styled_lines

        print_lines(styled_lines(documents, "unicode" if can_show_unicode() else "ascii"))
    else:
        destination.write(written(form, documents, flavor))
