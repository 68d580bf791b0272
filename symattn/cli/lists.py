"""``symattn variants`` and ``symattn ladder``: what there is, and how one gets there."""

from __future__ import annotations

from typing import Any

import click

from symattn.cli.screen import END_OF_HELP, can_show_unicode, print_lines
from symattn.status import Status


@click.command(epilog=END_OF_HELP)
def variants() -> Status:
    """List the named variants."""
    from symattn.attention.variants import VARIANTS

    longest = max(len(row.name) for row in VARIANTS)
    indent = " " * (longest + 2)
    lines: list[tuple[str, str]] = []
    for row in VARIANTS:
        lines.append(("plain", f"{row.name:<{longest}}  {row.about}"))
        lines.append(("note", f"{indent}{row.source}"))
    print_lines(lines)
    return Status.AGREES


@click.command(epilog=END_OF_HELP)
@click.argument("name", required=False, metavar="[RUNG]")
def ladder(name: str | None) -> Status:
    """Walk the road to attention, rung by rung; each shows by a number what it mends."""
    from symattn.attention.ladder import LADDER, before_attention, climbed
    from symattn.documents.outline import outline
    from symattn.documents.text import styled_lines

    charset: Any = "unicode" if can_show_unicode() else "ascii"
    lines: list[tuple[str, str]] = []
    if name is None:
        lines += [("plain", before_attention()), ("plain", "")]
    for rung in LADDER if name is None else [climbed(name)]:
        derivation, values = rung.make()
        place = 1 + LADDER.index(rung)
        lines += [("title", f"{place}. {rung.name}: {rung.idea}"), ("plain", "")]
        page = outline(derivation, values, views=("formula", "value"), only=rung.steps)
        lines += list(styled_lines(page, charset))
        lines += [("note", f"In numbers: {rung.wrong(values)}"), ("plain", "")]
    print_lines(lines)
    return Status.AGREES
