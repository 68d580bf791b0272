"""The command line: ``symattn derive FILE|VARIANT``, ``symattn check FILE``, and the others.

How it ends is a `Status`. Adding a command is adding a file and a row of `COMMANDS`.
"""

from __future__ import annotations

import contextlib
import errno
import gc
import io
import os
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from symattn.cli.help import write_examples
from symattn.cli.screen import END_OF_HELP, complain, debug_asked, drop_output
from symattn.doors import DEBUG, Failure, defect, failure, leaves
from symattn.errors import nearest, quote
from symattn.status import Status, worst
from symattn.writing import reader_may_leave

#: The modules of the commands, each imported when it is called.
COMMANDS: Mapping[str, str] = {
    "check": "symattn.cli.check",
    "completion": "symattn.cli.completion",
    "derive": "symattn.cli.derive",
    "examples": "symattn.cli.examples",
    "exercise": "symattn.cli.exercise",
    "ladder": "symattn.cli.lists",
    "mark": "symattn.cli.mark",
    "new": "symattn.cli.new",
    "prove": "symattn.cli.prove",
    "render": "symattn.cli.render",
    "variants": "symattn.cli.lists",
    "verify": "symattn.cli.verify",
}


#: What the commands do, under headings, as ``symattn --help`` lists them; none is imported for it.
SECTIONS: Mapping[str, Mapping[str, str]] = {
    "To begin": {
        "new": "write a worksheet to begin with",
        "examples": "list and copy the examples that come with symattn",
        "variants": "list the named variants of attention",
        "ladder": "show by numbers why each part of attention is there",
        "completion": "let a shell complete commands, options and names",
    },
    "To derive": {
        "derive": "derive attention step by step, in any format",
        "render": "fill derivations and numbers into Markdown pages",
    },
    "To teach": {
        "exercise": "draw exercises whose wrong answers tell what was believed",
        "mark": "mark a class's answers to an exercise by a scheme",
    },
    "To check": {
        "check": "mark the numbers in worksheets and pages",
        "verify": "hold a function of your own against a derivation",
        "prove": "prove or refute an identity, or compare two attentions",
    },
}

EXAMPLES = {
    "symattn derive causal": "Causal self-attention, on a small example.",
    "symattn new causal -o mine.toml": "A worksheet to begin with, with numbers to change.",
    "symattn derive mine.toml --format html -o page.html": "A page to read and to change.",
    "symattn check docs/": "Mark the numbers in every page of a folder.",
    'symattn prove "softmax(2 S) = softmax(S)"': "Prove or refute an equation.",
}


class OneLine(click.Group):
    """A group that ends in a `Status`, and whose failures are one line, whatever was wrong."""

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """What symattn is, and examples."""
        super().format_help_text(ctx, formatter)
        write_examples(formatter, EXAMPLES)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands, by what one wants to do."""
        for heading, commands in SECTIONS.items():
            with formatter.section(heading):
                formatter.write_dl([*commands.items()])
        formatter.write_paragraph()
        formatter.write_text("symattn COMMAND --help has examples and the options of a command.")

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A command by its name."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(COMMANDS[cmd_name]), cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is called; an unknown name is refused with the nearest known one."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            hint = nearest(args[0], sorted(COMMANDS))
            raise click.UsageError(f"no command is called {quote(args[0])}{hint}", ctx)
        return super().resolve_command(ctx, args)

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Read the arguments; see `click.Command.make_context`."""
        with reader_may_leave(1):
            try:
                return super().make_context(*args, **kwargs)
            except KeyboardInterrupt:  # click would print an empty line, here and below
                raise click.Abort from None
            except EOFError as error:  # and take this for the same
                raise click.exceptions.Exit(_failed(error)) from None
        raise click.exceptions.Exit(Status.AGREES)  # click itself would leave with 1

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; an exception that is not click's own becomes a line and a status."""
        try:
            with reader_may_leave(1):
                return super().invoke(ctx)
            return Status.UNSETTLED  # a pipe closed before the command had its status
        except (click.ClickException, click.Abort, click.exceptions.Exit):
            raise
        except KeyboardInterrupt:
            raise click.Abort from None
        except BaseException as error:
            return _failed(error)

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command line and leave; see `click.Command.main`."""
        _collect_rarely()
        _occupy_closed()
        _write_whole()
        try:
            ended = super().main(*args, **{**kwargs, "standalone_mode": False})
            status = Status(ended or Status.AGREES)
        except click.ClickException as error:
            complain(_usage(error))
            status = Status.UNUSABLE
        except (click.Abort, KeyboardInterrupt):
            complain("interrupted")
            status = Status.UNSETTLED
        except SystemExit as error:  # only the completion of a shell leaves by itself
            status = Status.AGREES
            if error.code:
                complain("shell completion: there is no such shell or instruction")
                status = Status.UNUSABLE
        except BaseException as error:  # outside of every command, as --version is
            status = _failed(error)
        sys.exit(_flushed(status))


def _collect_rarely() -> None:
    """Look for garbage in circles once in 50,000 objects, as nearly all that imports make stays.

    With Python's 700 it is a tenth of the time that a short command takes.
    """
    gc.set_threshold(50_000)


def _occupy_closed() -> None:
    """Let no file that is opened later take the number of a standard stream that is closed.

    What is opened instead fails as the closed one did: it cannot be used in its direction.
    """
    for number, flags in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_RDONLY)):
        try:
            os.fstat(number)
        except OSError as error:
            if error.errno == errno.EBADF:
                with contextlib.suppress(OSError):  # the lowest number that is free: this one
                    os.set_inheritable(os.open(os.devnull, flags), True)


def _write_whole() -> None:
    """Buffer standard output where Python does not, as with ``PYTHONUNBUFFERED``.

    Without a buffer what is written is cut off where a disk is full, and nothing is said.
    """
    raw = getattr(sys.stdout, "buffer", None)
    if isinstance(raw, io.RawIOBase):
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(raw),
            encoding=sys.stdout.encoding,
            errors=sys.stdout.errors,
            line_buffering=True,
        )


def _usage(error: click.ClickException) -> str:
    """What was wrong on the command line, and how to mend it, on one line."""
    message = " ".join(error.format_message().split()).removesuffix(".")
    if isinstance(error, click.NoSuchOption) and not error.possibilities:
        command = error.ctx.command_path if error.ctx is not None else "symattn"
        message += f"; {command} --help lists them; put -- before an argument that begins with -"
    return message.replace("is not a valid integer range", "is not a whole number")


def _failed(error: BaseException) -> Status:
    """Say what was raised, and with which status the command ends; none leaves on purpose."""
    outcome = defect if leaves(error) else failure
    return _reported(outcome(error, debug=debug_asked()))


def _reported(failed: Failure) -> Status:
    complain(failed.line)
    return failed.status


def _flushed(status: Status) -> Status:
    """The status, once all is written; Python itself would end with another where that fails."""
    try:
        with reader_may_leave(1):
            if sys.stdout is not None:
                sys.stdout.flush()
    except (OSError, ValueError) as error:
        drop_output()
        failed = failure(error)
        return status if status == failed.status else worst([status, _reported(failed)])
    return status


@click.group(
    cls=OneLine,
    invoke_without_command=True,
    subcommand_metavar="COMMAND [ARGS]...",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=END_OF_HELP,
)
@click.version_option(package_name="symattn", prog_name="symattn")
@click.option(
    "--debug", is_flag=True, help=f"Show the traceback of an internal error, as {DEBUG}=1 does."
)
@click.pass_context
def main(context: click.Context, debug: bool) -> None:
    """Attention, derived step by step: formula, entries, numbers put in, and proven values."""
    if context.invoked_subcommand is None:
        raise click.UsageError("give a command; symattn --help lists them")
