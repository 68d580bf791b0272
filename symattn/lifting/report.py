"""What is said of a function that was held against an attention by proof."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from symattn.algebra.kinds import storable
from symattn.documents import blocks as b
from symattn.documents import text
from symattn.lifting.numerals import sizes_said
from symattn.lifting.proving import Difference, Proven
from symattn.printable import printable
from symattn.verifying.report import given_blocks, verification_data, verification_document

_BY_CHANCE = (
    "Each entry of both is the same for random elements of two finite fields. Entries that differ "
    "would be so with a chance below 2⁻⁸⁰, constants being the numbers that they were read as, and "
    "nothing is said of where one is not defined; this is no proof."
)
_REAL = (
    "Real numbers are meant: what rounding, overflow and other dtypes do is not in this proof "
    "(symattn verify tries that). A number that is added to scores and is at most -10000 stands "
    "for −∞."
)


_PARTIAL = (
    "One of them divides by what may be 0, or takes a root or a logarithm of what may be below 0, "
    "and the other does not: where it does, nothing is said, so that this is not settled."
)


def proven_document(found: Proven, brief: bool = True) -> b.Document:
    """The verdict, and what it stands on; where the two are different, what shows it."""
    if found.found is not None:
        return verification_document(found.found, brief)
    return b.Document("", tuple(_blocks(found)), width=text.WIDTH, called="A function, proven")


def _blocks(found: Proven) -> Iterator[b.Block]:
    said = b.Strong(printable(found.summary + "."))
    yield b.Paragraph((said,), "good" if found else "plain")
    if found.difference is not None:
        yield b.Paragraph((found.difference.said + ", where both are given",))
        yield from given_blocks(found.difference.given)
        if found.difference.how:
            how = found.difference.how
            yield b.Paragraph((printable(f"{how[:1].upper()}{how[1:]}."),), "note")
        return
    if found.verdict == "equal for all sizes":
        yield b.Paragraph(("The equations of both have the same normal form.",))
    elif found.verdict == "undecided":
        if found.agreed:
            up_to = f", up to {sizes_said(found.largest)}" if found.largest else ""
            yield b.Paragraph(
                (f"Its numbers agree on all ordinary inputs that were tried{up_to}.",)
            )
        return
    elif found.verdict == "equal but for a chance below 2⁻⁸⁰":
        yield b.Paragraph((_BY_CHANCE,))
    else:
        yield b.Paragraph(("Each entry of both has the same form in the letters of its inputs.",))
    if found.verdict == "equal at the sizes tried":
        sizes = ",".join(f"{name}={size}" for name, size in found.sizes.items())
        yield b.Paragraph((f"These sizes were chosen here; {_of_others(found)}.",))
        yield b.Paragraph(
            ("To decide it at sizes of your own: ", b.Code(f"--size {sizes}")), "note"
        )
    if found.reason:
        yield b.Paragraph((found.reason,), "note")
    if found.is_partial:
        yield b.Paragraph((_PARTIAL,), "note")
    yield b.Paragraph((_REAL,), "note")


def _of_others(found: Proven) -> str:
    """What is said of other sizes than those at which it is proven."""
    if not found.largest:
        return "nothing is said of others"
    return f"of others, numbers were tried up to {sizes_said(found.largest)}, and agree"


def proven_data(found: Proven) -> dict[str, Any]:
    """The same as plain data."""
    shown = found.difference
    return {
        "schema": 1,
        "function": found.name,
        "attention": found.attention,
        "verdict": found.verdict,
        "sizes": dict(found.sizes),
        "largest": dict(found.largest),
        "reason": found.reason,
        "partial": found.is_partial,
        "certificate": storable(found.certificate),
        "difference": None if shown is None else _difference_data(shown),
        "report": None if found.found is None else verification_data(found.found),
    }


def _difference_data(shown: Difference) -> dict[str, Any]:
    given = {name: array.tolist() for name, array in shown.given.items()}
    return {"said": shown.said, "how": shown.how, "input": given}
