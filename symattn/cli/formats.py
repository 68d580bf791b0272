"""The options ``--format`` and ``-o``: the `Output` that they ask for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeVar

import click

from symattn.cli import completing as completes
from symattn.cli.screen import can_show_unicode, print_lines
from symattn.documents.job import FORMATS, Job, check_flavor, document_of, room_of, written
from symattn.writing import Destination

if TYPE_CHECKING:
    from symattn.documents.blocks import Document

#: A command that is given options.
Command = TypeVar("Command", bound=Callable[..., object])

#: The formats that show any document, and the plain data that every command has beside them.
FORMS = (*(name for name, row in FORMATS.items() if row.writer), "json")


@dataclass(frozen=True)
class Output:
    """A document's format, one of its flavors or None, and where it goes."""

    form: str
    flavor: str | None
    destination: Destination

    @property
    def brief(self) -> bool:
        """Whether it is read on a screen."""
        return FORMATS[self.form].brief

    @property
    def on_screen(self) -> bool:
        """Whether it is text for the screen, where it is coloured and says how more is seen."""
        return self.form == "text" and self.destination.is_screen

    def made(self, jobs: Sequence[Job], hints: bool = False) -> str | bytes | Sequence[Document]:
        """What `put` writes of derivations; `hints` are those of `Job.document`, for a screen."""
        if self.on_screen:
            return [job.document(FORMATS[self.form], hints) for job in jobs]
        return document_of(self.form, jobs)

    def put(self, made: str | bytes | Sequence[Document]) -> None:
        """Write documents, or one that is in the format already; ASCII on a screen without more."""
        if isinstance(made, str | bytes):
            self.destination.write(made)
        elif self.on_screen:
            from symattn.documents.text import styled_lines

            print_lines(styled_lines(made, "unicode" if can_show_unicode() else "ascii"))
        else:
            self.destination.write(written(self.form, made, self.flavor))

    def put_data(self, data: object) -> None:
        """Write plain data as JSON."""
        from symattn.documents.data import written as as_json

        self.destination.write(f"{as_json(data)}\n")


class _Formats(click.Choice):  # type: ignore[type-arg]  # generic in new versions only
    """The formats of a command, each by its name or with one of its flavors: ``tex:beamer``."""

    def __init__(self, flavors: Mapping[str, Sequence[str]]) -> None:
        self.flavors = flavors
        every = ((name, *(f"{name}:{one}" for one in own)) for name, own in flavors.items())
        super().__init__([choice for choices in every for choice in choices])

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The choice. Raises `SymattnError` for a flavor that a format does not have."""
        form, _, flavor = str(value).partition(":")
        click.Choice([*self.flavors]).convert(form, param, ctx)
        check_flavor(form, flavor or None, self.flavors[form])
        return str(value)


def format_option(
    names: Sequence[str], flavors: Mapping[str, Sequence[str]]
) -> Callable[[Command], Command]:
    """The option ``--format`` with these formats; `flavors` are those of which there is no row."""
    known = {name: row.flavors for name, row in FORMATS.items()} | {**flavors}
    having = {name: known.get(name, ()) for name in names}
    alike = ((own, ", ".join(rows)) for own, rows in groupby(having, having.__getitem__))
    said = " ".join(f"Of {rows}: {', '.join(own)}." for own, rows in alike if own)
    return click.option(
        "--format",
        "form",
        type=_Formats(having),
        metavar=f"[{'|'.join(names)}]",
        default="text",
        show_default=True,
        help=f"A flavor follows a colon, as in tex:beamer. {said}",
    )


def format_options(names: Sequence[str] = FORMS) -> Callable[[Command], Command]:
    """Gives a command the options, with these formats: it is called with ``out``, an `Output`."""
    options = (
        format_option(names, {}),
        click.option(
            "-o",
            "--output",
            metavar="FILE",
            shell_complete=completes.files,
            help="Write to this file instead of the screen.",
        ),
    )

    def given(command: Command) -> Command:
        @wraps(command)
        def called(form: str, output: str | None, **asked: Any) -> object:
            name, _, flavor = form.partition(":")
            return command(out=Output(name, flavor or None, Destination.of(output)), **asked)

        for option in reversed(options):
            called = option(called)
        return called  # type: ignore[return-value]  # it takes the same, but for the output

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
