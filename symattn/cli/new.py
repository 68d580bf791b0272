"""``symattn new``: a worksheet to begin with."""

from __future__ import annotations

import shlex

import click

from symattn.cli import completing as completes
from symattn.cli.attentions import is_file, is_text
from symattn.cli.help import Explained
from symattn.errors import SymattnError
from symattn.printable import as_line
from symattn.status import Status
from symattn.writing import Destination


@click.command(
    cls=Explained,
    groups={
        "The example": "--tokens --d-k --heads",
        "Where it goes": "--output --force",
    },
    examples={
        "symattn new causal -o mine.toml": "Begin with causal self-attention.",
        "symattn new grouped-query --heads 4 --tokens 2": "Print one to look at.",
    },
)
@click.argument("variant", default="scaled-dot-product", shell_complete=completes.variants)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    shell_complete=completes.files,
    help="Write to this file instead of the screen.",
)
@click.option("--force", is_flag=True, help="Replace a file that is there already.")
@click.option(
    "--tokens", type=click.IntRange(1, 64), default=3, show_default=True, help="How many tokens."
)
@click.option(
    "--d-k", type=click.IntRange(1, 64), default=2, show_default=True, help="The key width."
)
@click.option(
    "--heads", type=click.IntRange(1, 16), help="The number of heads, of a variant with heads."
)
def new(
    variant: str, output: str | None, force: bool, tokens: int, d_k: int, heads: int | None
) -> Status:
    """Write a worksheet to begin with: a variant on small whole numbers, with comments.

    Without VARIANT it is that of scaled dot-product attention, from Q, K and V.
    """
    from symattn.attention.variants import variant as named

    if is_text(variant):
        raise SymattnError(
            "equations begin a worksheet as they are: write equations = '''…''' above [given]"
        )
    if is_file(variant):
        raise SymattnError(
            f"{variant}: is the name of a file, not of a variant; symattn new causal -o "
            f"{as_line(shlex.quote(variant))} begins one with causal attention"
        )
    row = named(variant)
    destination = Destination.of(output)
    if not force:
        destination.refuse_existing()
    from symattn.sheets.writing import starter

    name = as_line(shlex.quote(output)) if output not in (None, "-") else "FILE"
    text = starter(row, name, tokens=tokens, d_k=d_k, heads=heads)
    # up to how many tokens and columns numbers are drawn as for an exercise
    if max(tokens, d_k) <= 8:
        from symattn.classroom.search import teachable
        from symattn.sheets.worksheet import worksheet_of

        given = teachable(worksheet_of(text, name))
        text = starter(row, name, tokens=tokens, d_k=d_k, heads=heads, given=given)
    destination.write(text)
    return Status.AGREES
