"""``symattn new``: a worksheet to begin with."""

from __future__ import annotations

import shlex
from typing import Any

import click

from symattn.cli import completing as completes
from symattn.cli.attentions import is_file, is_text
from symattn.cli.help import Explained
from symattn.cli.sizes import example_sizes, size_option
from symattn.errors import SymattnError
from symattn.printable import as_line
from symattn.status import Status
from symattn.writing import Destination


@click.command(
    cls=Explained,
    groups={
        "The example": "--size",
        "Where it goes": "--output",
    },
    examples={
        "symattn new causal -o mine.toml": "Begin with causal self-attention.",
        "symattn new grouped-query --size heads=4,tokens=2": "Print one to look at.",
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
@size_option("Of the example, as in tokens=3,d_k=2,heads=2.")
def new(variant: str, output: str | None, sizes: tuple[str, ...]) -> Status:
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
    destination.refuse_existing()
    from symattn.sheets.writing import starter

    name = as_line(shlex.quote(output)) if output not in (None, "-") else "FILE"
    counts: dict[str, Any] = {"tokens": 3, "d_k": 2, **example_sizes(sizes)}
    text = starter(row, name, **counts)
    # up to how many tokens and columns numbers are drawn as for an exercise
    if max(counts["tokens"], counts["d_k"]) <= 8:
        from symattn.classroom.search import teachable
        from symattn.sheets.worksheet import worksheet_of

        given = teachable(worksheet_of(text, name))
        text = starter(row, name, given=given, **counts)
    destination.write(text)
    return Status.AGREES
