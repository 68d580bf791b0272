"""Certificates on the command line: written by a proof, replayed within limits."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from symattn.cli.formats import Output
from symattn.cli.screen import complain, debug_asked, print_lines
from symattn.errors import ReadError, quote
from symattn.status import Status

if TYPE_CHECKING:
    from symattn.algebra.certificate import Data
    from symattn.algebra.equality import Equality
    from symattn.algebra.identities.proofs import Proof
    from symattn.writing import Destination

#: Seconds and MiB of memory that the certificates of one file may take, if nothing else is said.
SECONDS, _MEMORY = 60.0, 2048


def write_certificate(answer: Equality, destination: Destination) -> None:
    """The certificate as JSON; a line on standard error where there is none, or it is too large."""
    from symattn.algebra.certificate import storable

    if answer.certified and storable(answer.certificate) is None:
        click.echo("no certificate is written: it is too large to be read again", err=True)
    elif answer.certificate is None:
        click.echo(f"no certificate is written: {answer.summary}", err=True)
    else:
        Output("json", None, destination).put_data(answer.certificate)


def write_theorem(proof: Proof, out: Output) -> Status:
    """The proof as a theorem of Rocq; a line on standard error where there is none."""
    from symattn.algebra.certificate import Refused
    from symattn.algebra.rocq.export import exported

    answer = proof.equality
    why = "an inequality has none" if answer.verdict == "proven" else answer.summary
    if answer.certificate is not None and answer.verdict == "equal":
        try:
            out.put(exported(answer.certificate, proof.identity.name or "statement"))
        except Refused as refusal:
            why = str(refusal)
        else:
            return Status.AGREES
    click.echo(f"no theorem of Rocq is written: {why}", err=True)
    refuted = answer.verdict in ("different", "refuted")
    return Status.WRONG if refuted else Status.UNSETTLED


def check_certificates(name: str, seconds: float | None) -> Status:
    """Replay the certificates of a file, in a process that is stopped when time is up.

    Prints the statement and the outcome of each. Raises `SymattnError` for no such file.
    """
    from symattn.doors import Failure
    from symattn.isolation import Limits, within

    certificates = _certificates(name)
    limits = Limits(SECONDS if seconds is None else seconds, _MEMORY)
    with within(limits, ("symattn.algebra.bounds", __name__), debug_asked()) as run:
        found = run(_replayed, (name, certificates), name)
    if isinstance(found, Failure):
        complain(found.line)
        return found.status
    refused, lines = found
    print_lines(lines)
    return Status.WRONG if refused else Status.AGREES


def _replayed(file: tuple[str, list[Data]]) -> tuple[int, list[tuple[str, str]]]:
    """How many of a file's certificates are refused, and what is said of each."""
    from symattn.algebra.bounds import INEQUALITY
    from symattn.algebra.bounds import check as check_bounds
    from symattn.algebra.certificate import Refused, check

    name, certificates = file

    refused, lines = 0, []
    for data in certificates:
        bounds = isinstance(data, dict) and data.get("certificate") == INEQUALITY
        try:
            claims = check_bounds(data) if bounds else [check(data)]
        except Refused as refusal:
            refused += 1
            lines.append(("bad", f"refused: {refusal}"))
            continue
        except ReadError as error:
            raise ReadError(f"--check {quote(name)}: {error}") from None
        where = ", where both sides are defined" if data["partial"] else ""
        said = data["links"] if bounds else [data]
        for claim, one in zip(claims, said, strict=True):
            lines += [
                ("formula", f"   {line}")
                for line in claim.lines(one["statement"], "≤" if bounds else "=")
            ]
        verdict = "proven" if bounds else "equal"
        lines.append(("good", f"   accepted: {verdict} (for all sizes{where})"))
    return refused, lines


def bounded(name: str, most: int, option: str) -> bytes:
    """What a file holds that an option names, with so many bytes at most."""
    try:
        with Path(name).open("rb") as file:
            text = file.read(most + 1)
    except (OSError, ValueError) as trouble:
        why = getattr(trouble, "strerror", None) or trouble
        raise ReadError(f"{option} {quote(name)}: {why}") from None
    if len(text) > most:
        raise ReadError(f"{option} {quote(name)}: the file is too large")
    return text


def _certificates(name: str) -> list[Data]:
    """The certificates in a file: one, or the proofs that ``--format json`` writes."""
    import json

    text = bounded(name, 20_000_000, "--check")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise ReadError(f"--check {quote(name)}: it is not JSON") from None
    rows = data if isinstance(data, list) else [data]
    inner = [row.get("certificate") if isinstance(row, dict) else None for row in rows]
    found = [
        row if isinstance(one, int | str) else one for row, one in zip(rows, inner, strict=True)
    ]
    if not any(found):
        raise ReadError(f"--check {quote(name)}: there is no certificate in it")
    return [one for one in found if one is not None]
