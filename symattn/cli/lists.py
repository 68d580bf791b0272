"""``symattn variants`` and ``symattn ladder``: what there is, and how one gets there."""

from __future__ import annotations

import click

from symattn.cli import completing as completes
from symattn.cli.formats import Output, format_options
from symattn.cli.help import Explained
from symattn.status import Status


@click.command(
    cls=Explained,
    examples={"symattn variants": "Their names, what they compute, and their sources."},
)
@format_options()
def variants(out: Output) -> Status:
    """List the named variants."""
    from symattn.attention.variants import NAMED
    from symattn.documents.blocks import Document, List, named

    if out.form == "json":
        keys = ("name", "about", "source", "used_by")
        out.put_data([{key: getattr(row, key) for key in keys} for row in NAMED.values()])
    else:
        items = tuple(named(row.name, row.about, row.origin, out.brief) for row in NAMED.values())
        title = "" if out.brief else "Variants of attention"
        out.put([Document(title, (List(items),))])
    return Status.AGREES


@click.command(
    cls=Explained,
    examples={
        "symattn ladder": "Every rung, from a fixed blend of words to causal attention.",
        "symattn ladder scaled": "One rung: why scores are divided by √d_k.",
    },
)
@click.argument("name", required=False, metavar="[RUNG]", shell_complete=completes.rungs)
@format_options()
def ladder(name: str | None, out: Output) -> Status:
    """Build up attention rung by rung; numbers at each rung show why the next is needed."""
    from symattn.attention.ladder import LADDER, climbed, ladder_data, ladder_document

    rungs = LADDER if name is None else (climbed(name),)
    if out.form == "json":
        out.put_data(ladder_data(rungs))
    else:
        out.put([ladder_document(rungs, out.brief)])
    return Status.AGREES
