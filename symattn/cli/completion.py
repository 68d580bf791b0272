"""``symattn completion``, with which a shell completes what is typed."""

from __future__ import annotations

import click
from click.shell_completion import BashComplete, FishComplete, ZshComplete

from symattn.cli.help import Explained
from symattn.status import Status
from symattn.writing import Destination

_SHELLS = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}

#: How each shell is told; `tests/cli/test_completion.py` tells them so.
EXAMPLES = {
    'eval "$(symattn completion bash)"': "For bash, as a line of ~/.bashrc.",
    'eval "$(symattn completion zsh)"': "For zsh, as a line of ~/.zshrc below compinit.",
    "symattn completion fish | source": "For fish, as a line of ~/.config/fish/config.fish.",
}


@click.command(cls=Explained, examples=EXAMPLES)
@click.argument("shell", type=click.Choice([*_SHELLS]))
@click.pass_context
def completion(context: click.Context, shell: str) -> Status:
    """Print the script with which a shell completes commands, options, names and files."""
    asked = _SHELLS[shell](context.find_root().command, {}, "symattn", "_SYMATTN_COMPLETE")
    # `asked.source()` would run bash to read its version
    Destination.of(None).write(asked.source_template % asked.source_vars())
    return Status.AGREES
