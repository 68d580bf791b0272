"""The command line: ``symattn derive FILE|VARIANT``, ``symattn check FILE``, and the others.

How it ends is a `Status`. Adding a command is adding a file and a row of `COMMANDS`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from symattn.cli.screen import END_OF_HELP, complain, debug_asked
from symattn.doors import DEBUG, failure
from symattn.status import Status
from symattn.writing import reader_may_leave

#: The modules of the commands, each imported when it is called.
COMMANDS: Mapping[str, str] = {
    "check": "symattn.cli.check",
    "derive": "symattn.cli.derive",
    "jacobian": "symattn.cli.jacobian",
    "ladder": "symattn.cli.lists",
    "prove": "symattn.cli.prove",
    "render": "symattn.cli.render",
    "variants": "symattn.cli.lists",
}


class OneLine(click.Group):
    """A group that ends in a `Status`, and whose failures are one line, whatever was wrong."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A command by its name."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(COMMANDS[cmd_name]), cmd_name)
        return command

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Read the arguments; see `click.Command.make_context`."""
        with reader_may_leave(1):
            return super().make_context(*args, **kwargs)
        raise click.exceptions.Exit(Status.AGREES)  # click itself would leave with 1

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; what it raises, click's own exceptions excepted, is told in a line."""
        try:
            with reader_may_leave(1):
                return super().invoke(ctx)
            return Status.UNSETTLED  # a pipe closed before the command had its status
        except (click.ClickException, click.Abort, click.exceptions.Exit):
            raise
        except Exception as error:
            return _failed(error)

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command line and leave; see `click.Command.main`."""
        try:
            status = super().main(*args, **{**kwargs, "standalone_mode": False})
        except click.ClickException as error:
            complain(error.format_message())
            status = Status.UNUSABLE
        except click.Abort:
            complain("interrupted")
            status = Status.UNSETTLED
        except Exception as error:  # outside of every command, as --version is
            status = _failed(error)
        sys.exit(Status(status or Status.AGREES))


def _failed(error: Exception) -> Status:
    """Say what was raised, and with which status the command ends."""
    failed = failure(error, debug=debug_asked())
    complain(failed.line)
    return failed.status


@click.group(
    cls=OneLine,
    invoke_without_command=True,
    subcommand_metavar="COMMAND [ARGS]...",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=END_OF_HELP,
)
@click.version_option(package_name="symattn", prog_name="symattn")
@click.option("--debug", is_flag=True,
              help=f"Show the traceback of an internal error, as {DEBUG}=1 does.")  # fmt: skip
@click.pass_context
def main(context: click.Context, debug: bool) -> None:
    """Attention, derived step by step: formula, entries, numbers put in, and proven values."""
    if context.invoked_subcommand is None:
        raise click.UsageError("give a command; symattn --help lists them")
