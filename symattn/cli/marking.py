"""One file marked for ``symattn check``: all that is kept of it, as plain data.

What a file's marks are made from (derivations, evaluations) is dropped as soon as it is marked, so
that a folder of any length fits into memory, and a file can be marked in a process of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING

from symattn.cli.limits import usual_budget

if TYPE_CHECKING:
    from symattn.reports.overview import CheckedFile

#: So many times the usual budget for the arrays of a program, which are far larger than a sheet.
_ARRAYS = 5


@dataclass(frozen=True)
class Asked:
    """A file to mark, - for standard input, and what is wanted of it."""

    name: str
    #: Whether a file without claims is refused rather than skipped.
    must_claim: bool = False
    explain: bool = True
    #: Whether its report leaves nothing out.
    full: bool = False
    #: Whether it is to be put right, rather than reported on.
    mends: bool = False
    #: Whether the process that marks it is stopped when time is up.
    is_timed: bool = False
    #: An archive whose arrays are held against it; "" where its own claims are marked.
    claims: str = ""
    #: How what its report leaves out is seen, where somebody reads it at a terminal.
    hint: str = ""

    @property
    def printable_name(self) -> str:
        """The name that messages begin with."""
        return "<stdin>" if self.name == "-" else self.name


def mark(asked: Asked) -> CheckedFile | None:
    """A file marked; None where it holds nothing to mark, and need not.

    Raises `ReadError` (or another `SymattnError`) that begins with the file and the line.
    """
    from symattn.pages.checked import check_file, mended, no_claims
    from symattn.reports.overview import Mending

    start = perf_counter()
    with usual_budget(_ARRAYS if asked.claims else 1, asked.is_timed):
        one = check_file(asked.name, asked.explain, asked.claims)
    if one is None or not (one.markings or one.problems):
        if asked.must_claim:
            raise no_claims(asked.name)
        return None
    mending = None
    if asked.mends:
        last, count = mended(one)
        mending = Mending(one.text, last.text, count, last.reported())
    reported = one.reported(asked.full, asked.hint)
    return replace(reported, mending=mending, seconds=perf_counter() - start)
