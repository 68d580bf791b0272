"""The command line: ``symattn derive FILE|VARIANT``, ``symattn check FILE``, and the others.

Exit status: 0 when everything agrees, 1 when a number is wrong, 2 when the input cannot be used
(with one line on standard error). Adding a command is adding a file and a row of `COMMANDS`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from symattn.cli.screen import refuse

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
    """A group whose refusals are one line and status 2, whatever was wrong."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A command by its name."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(COMMANDS[cmd_name]), cmd_name)
        return command

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command line; see `click.Command.main`."""
        from symattn.errors import SymattnError

        try:
            status = super().main(*args, **{**kwargs, "standalone_mode": False})
        except click.ClickException as error:
            refuse(error.format_message())
        except SymattnError as error:
            refuse(str(error))
        except click.Abort:
            refuse("interrupted")
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the reader left; nothing more to say
            sys.exit(0)
        except OSError as error:
            refuse(f"cannot write: {(error.strerror or str(error)).lower()}")
        except MemoryError:
            refuse("too large for the memory of this machine")
        sys.exit(status if isinstance(status, int) else 0)


@click.group(cls=OneLine, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="symattn", prog_name="symattn")
def main() -> None:
    """Attention, derived step by step: formula, entries, numbers put in, and proven values."""
