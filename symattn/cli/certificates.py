"""Certificates on the command line: written by a proof, replayed within limits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from symattn.cli.formats import Output
from symattn.cli.limits import MEMORY, asked_limits
from symattn.cli.screen import complain, debug_asked, print_lines
from symattn.errors import ReadError, SymattnError
from symattn.printable import printable
from symattn.status import Status, worst

if TYPE_CHECKING:
    from symattn.algebra.equality import Equality
    from symattn.algebra.kinds import Data
    from symattn.writing import Destination

#: Why there is no theorem of what is proven at sizes.
_AT_SIZES = "what is proven at sizes alone has no theorem"

#: Seconds that the certificates of one file may take, if nothing else is said.
SECONDS = 60.0


def write_certificate(certificate: Data, summary: str, destination: Destination) -> None:
    """The certificate as JSON; a line on standard error where there is none, or it is too large."""
    from symattn.algebra.kinds import storable

    if certificate is None:
        click.echo(f"no certificate is written: {summary}", err=True)
    elif storable(certificate) is None:
        click.echo("no certificate is written: it is too large to be read again", err=True)
    else:
        Output("json", None, destination).put_data(certificate)


def write_theorem(answer: Equality, name: str, out: Output) -> Status:
    """The proof as a theorem of Rocq; a line on standard error where there is none."""
    from symattn.algebra.forms import Refused
    from symattn.algebra.rocq.files import exported

    why = answer.summary
    if answer.certificate is not None and answer.verdict in ("equal", "proven"):
        try:
            out.put(exported(answer.certificate, name))
        except Refused as refusal:
            why = str(refusal)
        else:
            return Status.AGREES
    click.echo(f"no theorem of Rocq is written: {why}", err=True)
    return Status.WRONG if answer.is_false else Status.UNSETTLED


@dataclass(frozen=True)
class Checked:
    """The statement of a certificate, where it holds, why it is refused; its theorem or why not.

    `notes` say what else stands behind it, or does not.
    """

    lines: Sequence[str]
    where: str = "for all sizes"
    refused: str = ""
    theorem: str = ""
    without: str = ""
    verdict: str = "equal"
    notes: Sequence[str] = ()

    def told(self, stands: str, why: str) -> Iterator[tuple[str, str]]:
        """The lines about it: what stands behind it, and why nothing more does."""
        if self.refused:
            yield "bad", f"refused: {self.refused}"
            return
        yield from (("formula", f"   {line}") for line in self.lines)
        yield "good", f"   {stands}: {self.verdict} ({self.where})"
        yield from (("note", f"   {note}") for note in self.notes)
        if why:
            yield "note", f"   not accepted by Rocq: {why}"


def check_certificates(
    name: str, seconds: float | None, rocq: bool = False, targets: Sequence[str] = ()
) -> Status:
    """Replay the certificates of a file, in a process that is stopped when time is up.

    Prints the statement and what stands behind each: it was found, replayed, or accepted by Rocq,
    which is asked where that is wanted. Functions, the `targets`, are recorded again, to do
    what a certificate says. Raises `SymattnError` for no such file.
    """
    from symattn.algebra.rocq.asking import asked
    from symattn.doors import Failure
    from symattn.isolation import Limits, within

    certificates, only_found = _certificates(name)
    most = SECONDS if seconds is None else seconds
    modules = ("symattn.algebra.bounds", __name__)
    with within(Limits(most, MEMORY), modules, debug_asked()) as run:
        found = run(_replayed, (name, certificates, rocq), name)
    if isinstance(found, Failure):
        complain(found.line)
        return found.status
    if targets:
        pairs = zip(found, certificates, strict=True)
        found = [one if one.refused else _again(one, data, targets) for one, data in pairs]
    answers = iter(asked([one.theorem for one in found if one.theorem], most))
    lines: list[tuple[str, str]] = []
    statuses = [Status.WRONG if one.refused else Status.AGREES for one in found]
    for one in found:
        why = next(answers) if one.theorem else one.without
        stands = "accepted by Rocq" if one.theorem and not why else "replayed"
        lines += one.told(stands, why)
        statuses += [Status.UNSETTLED] if why else []
    for statement in only_found:
        lines += [("formula", f"   {statement}"), ("note", "   found: it has no certificate")]
    print_lines(lines)
    return worst(statuses)


def _replayed(file: tuple[str, list[Data], bool]) -> list[Checked]:
    """What the checker says of a file's certificates, and their theorems where Rocq is asked."""
    from symattn.algebra.forms import Refused
    from symattn.lifting.certificate import AT_SIZES

    name, certificates, rocq = file
    found: list[Checked] = []
    for data in certificates:
        kind = data.get("certificate") if isinstance(data, dict) else None
        try:
            one = _at_sizes(data, name, rocq) if kind == AT_SIZES else _for_all(data, rocq)
        except Refused as refusal:
            one = Checked([], refused=str(refusal))
        except ReadError as error:
            raise ReadError(f"{name}: {error}") from None
        found.append(one)
    return found


def _for_all(data: Data, rocq: bool) -> Checked:
    """What the checker says of a certificate for all sizes. Raises `Refused`."""
    from symattn.algebra.bounds import INEQUALITY
    from symattn.algebra.bounds import check as check_bounds
    from symattn.algebra.certificate import check
    from symattn.algebra.forms import Refused
    from symattn.algebra.rocq.files import exported

    bounds = isinstance(data, dict) and data.get("certificate") == INEQUALITY
    claims = check_bounds(data) if bounds else [check(data)]
    where = f"for all sizes{', where both sides are defined' * data['partial']}"
    said = data["links"] if bounds else [data]
    lines = [
        line
        for claim, one in zip(claims, said, strict=True)
        for line in claim.lines(one["statement"], "≤" if bounds else "=")
    ]
    theorem, without = "", ""
    if rocq:
        try:
            theorem = exported(data)
        except Refused as refusal:
            without = str(refusal)
    return Checked(lines, where, "", theorem, without, "proven" if bounds else "equal")


def _at_sizes(data: Data, name: str, rocq: bool) -> Checked:
    """What the checker says of a certificate at sizes. Raises `Refused`."""
    from symattn.lifting.certificate import check

    claim = check(data)
    functions = [one["name"] for one in data["functions"]]
    sizes = ", ".join(f"{size} = {number}" for size, number in claim.sizes.items())
    where = f"for all inputs at {sizes}, in real arithmetic"
    where += ", where both sides are defined" * data["partial"]
    again = f"symattn prove {name} {' '.join(functions)}"
    believed = f"that {' and '.join(functions)} did so is believed; {again} records it again"
    notes = (*claim.notes, printable(believed))
    return Checked([*map(printable, claim.lines)], where, without=_AT_SIZES * rocq, notes=notes)


def _again(one: Checked, data: Data, targets: Sequence[str]) -> Checked:
    """The same where functions do what a certificate says when they are recorded once more."""
    from symattn.lifting.certificate import AT_SIZES, why_other
    from symattn.lifting.limits import PROVEN

    if data["certificate"] != AT_SIZES:
        raise SymattnError("a certificate for all sizes is about no function; give none")
    why = why_other(data, targets, asked_limits(PROVEN))
    seen = f"{' and '.join(targets)}: recorded again, with the same operations"
    return replace(one, refused=why, notes=(*one.notes[:-1], seen))


def bounded(name: str, most: int, called: str) -> bytes:
    """What a file holds, with so many bytes at most; `called` begins what is said of it."""
    try:
        with Path(name).open("rb") as file:
            text = file.read(most + 1)
    except (OSError, ValueError) as trouble:
        why = getattr(trouble, "strerror", None) or trouble
        raise ReadError(f"{called}: {why}") from None
    if len(text) > most:
        raise ReadError(f"{called}: the file is too large")
    return text


def _certificates(name: str) -> tuple[list[Data], list[str]]:
    """The certificates in a file: one, or those of the proofs that ``--format json`` writes.

    And the statements that are said to be equal there and have none.
    """
    from symattn.algebra.kinds import read_json

    text = bounded(name, 20_000_000, name)
    try:
        data = read_json(text)
    except ReadError as error:
        raise ReadError(f"{name}: {error}") from None
    rows = data if isinstance(data, list) else [data]
    inner = [row.get("certificate") if isinstance(row, dict) else None for row in rows]
    found = [
        row if isinstance(one, int | str) else one for row, one in zip(rows, inner, strict=True)
    ]
    if not any(found):
        raise ReadError(f"{name}: there is no certificate in it")
    bare = [row for row, one in zip(rows, found, strict=True) if one is None]
    known = [
        row for row in bare if isinstance(row, dict) and row.get("verdict") in ("equal", "proven")
    ]
    return [one for one in found if one is not None], [str(row.get("statement")) for row in known]
