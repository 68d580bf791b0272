"""``symattn jacobian``: the softmax's Jacobian, and why we scale."""

from __future__ import annotations

import click

from symattn.cli.derive import status_of
from symattn.cli.formats import Output, format_options
from symattn.cli.help import Explained
from symattn.documents.job import FORMATS, Job
from symattn.status import Status


@click.command(
    cls=Explained,
    examples={
        "symattn jacobian 2,1,0": "For this row of logits.",
    },
)
@click.argument("logits", default="2,1,0")
@format_options(tuple(FORMATS))
@click.option("--exact", is_flag=True, help="Show exact values instead of decimals.")
def jacobian(logits: str, exact: bool, out: Output) -> Status:
    """Derive the softmax's Jacobian for a row of LOGITS.

    It is also shown how it vanishes as the logits are scaled up, if the largest is unique.
    """
    from symattn.attention.jacobian import growth_notes, read_row, softmax_jacobian
    from symattn.attention.vocabulary import Notation

    row = read_row(logits.split(","))
    derivation = softmax_jacobian()
    evaluation = derivation.evaluate(scaled=[row])
    code = (
        "from symattn.attention.jacobian import read_row, softmax_jacobian\n\n"
        "derivation = softmax_jacobian()\n"
        f"values = derivation.evaluate(scaled=[read_row({logits!r}.split(','))])"
    )
    notation, notes = Notation(exact=exact), growth_notes(row)
    check = evaluation.check()
    job = Job(
        derivation, evaluation, notation, notes=notes, code=code, flavor=out.flavor, check=check
    )
    out.put(out.made([job]))
    return status_of(check)
