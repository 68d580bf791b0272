"""``symattn variants`` and ``symattn ladder``: what there is, and how one gets there."""

from __future__ import annotations

import click

from symattn.cli import completing as completes
from symattn.cli.formats import format_options, show, write_data
from symattn.cli.help import Explained
from symattn.documents.job import FORMATS, check_flavor
from symattn.status import Status
from symattn.writing import Destination


@click.command(
    cls=Explained,
    examples={"symattn variants": "Their names, what they compute, and their sources."},
)
@format_options()
def variants(form: str, flavor: str | None, output: str | None) -> Status:
    """List the named variants."""
    from symattn.attention.variants import VARIANTS
    from symattn.documents.blocks import Document, List, named

    destination = Destination.of(output)
    if form == "json":
        keys = ("name", "about", "source")
        rows = [{key: getattr(row, key) for key in keys} for row in VARIANTS]
        write_data(rows, destination)
        return Status.AGREES
    brief = FORMATS[form].brief
    items = tuple(named(row.name, row.about, row.source, brief) for row in VARIANTS)
    title = "" if brief else "Variants of attention"
    show(form, [Document(title, (List(items),))], flavor, destination)
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
def ladder(name: str | None, form: str, flavor: str | None, output: str | None) -> Status:
    """Build up attention rung by rung; numbers at each rung show why the next is needed."""
    from symattn.attention.ladder import LADDER, climbed, ladder_data, ladder_document

    destination = Destination.of(output)
    check_flavor(form, flavor)
    rungs = LADDER if name is None else (climbed(name),)
    if form == "json":
        write_data(ladder_data(rungs), destination)
    else:
        show(form, [ladder_document(rungs, FORMATS[form].brief)], flavor, destination)
    return Status.AGREES
