"""What somebody claimed of a derivation and how it was marked, as a page shows it."""

from __future__ import annotations

from dataclasses import dataclass

from symattn.derivations import Place


@dataclass(frozen=True)
class MarkedEntry:
    """A claimed entry of a step, by letter and place in the array, and its verdict.

    `sign` stands beside the number, `verdict` says it in a word or two, `message` in a sentence;
    `beside` is the entry with both numbers, without the verdict; `tint` is that of the cell.
    """

    letter: str
    place: Place
    claimed: str
    sign: str
    verdict: str
    message: str
    beside: str
    tint: str
    passes: bool


@dataclass(frozen=True)
class Claims:
    """All claims of a worksheet: what is concluded, each of them, and what is said besides."""

    conclusion: str
    entries: tuple[MarkedEntry, ...]
    remarks: tuple[str, ...] = ()
