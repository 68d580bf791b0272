"""``symattn prove``: the catalogue of identities, proven row by row."""

from __future__ import annotations

import json
from typing import Any

import click

_FORMATS = ("text", "latex", "mathml", "json")


@click.command()
@click.argument("name", required=False, metavar='[NAME|"A = B"]')
@click.option("--all", "everything", is_flag=True, help="Decide the whole catalogue.")
@click.option("--format", "form", type=click.Choice(_FORMATS), default="text", show_default=True)
@click.option("--where", multiple=True, metavar="EQUATION",
              help="Assume this of an equation of your own; may be repeated.")  # fmt: skip
@click.option("--positive", multiple=True, metavar="LETTER",
              help="Assume that this letter's entries are positive.")  # fmt: skip
@click.option("-o", "--output", metavar="FILE", help="Write to this file instead of the screen.")
def prove(
    name: str | None, everything: bool, form: str, output: str | None,
    where: tuple[str, ...], positive: tuple[str, ...],
) -> int:  # fmt: skip
    """Prove an identity by NAME or an equation of your own, or list what is known.

    Exit status: 0 if it holds (a false belief: if it is refuted), 1 if not.
    """
    from symattn.algebra.identities import IDENTITIES, identity
    from symattn.algebra.identity import Identity
    from symattn.algebra.identity import prove as proven
    from symattn.cli.screen import print_lines
    from symattn.errors import SymattnError

    if name is None and not everything:
        longest = max(len(row.name) for row in IDENTITIES)
        print_lines(("plain", f"{row.name:<{longest}}  {row.says}" +
                     ("" if row.holds else " (false)")) for row in IDENTITIES)  # fmt: skip
        return 0
    if everything and name is not None:
        raise SymattnError("prove: give a name or --all, not both")
    if (where or positive) and (name is None or "=" not in name):
        raise SymattnError("--where, --positive: are for an equation of your own")
    if name is not None and "=" in name:
        rows = [Identity("", "", name, "", "", where=where, positive=positive)]
    else:
        rows = list(IDENTITIES) if name is None else [identity(name)]
    proofs = [proven(row) for row in rows]
    _show(proofs, form, output, everything)
    return 0 if all(proof.good for proof in proofs) else 1


def _show(proofs: list[Any], form: str, output: str | None, everything: bool) -> None:
    from symattn.algebra import printed
    from symattn.cli.screen import can_show_unicode, print_lines, write

    if form == "json":
        rows = [printed.data(proof) for proof in proofs]
        document = json.dumps(rows if everything else rows[0], ensure_ascii=False, indent=2)
        write(f"{document}\n", output)
    elif form in ("latex", "mathml"):
        one = printed.latex_lines if form == "latex" else printed.mathml_lines
        write("\n".join(map(one, proofs)), output)
    else:
        charset: Any = "unicode" if output or can_show_unicode() else "ascii"
        lines = (
            list(printed.table(proofs)) if everything
            else [pair for proof in proofs for pair in printed.text_lines(proof, charset)]
        )  # fmt: skip
        if output is None:
            print_lines(lines)
        else:
            write("".join(f"{words}\n" for _, words in lines), output)
