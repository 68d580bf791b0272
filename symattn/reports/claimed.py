"""A marking as the claims that the interactive page shows beside its proven values."""

from __future__ import annotations

from dataclasses import replace

from symattn.attention.decoding import Chunk
from symattn.attention.plan import m, n
from symattn.derivations import Derivation
from symattn.documents.claims import Claims, MarkedEntry
from symattn.errors import counted
from symattn.reports.results import Marking
from symattn.reports.single import report_of
from symattn.reports.wording import WORDING


def claims_of(marking: Marking) -> Claims:
    """Every claimed number with its verdict, what would explain the wrong ones, and the style.

    With the signs of worked lines that do not hold.
    """
    report = report_of(marking)
    entries = []
    for mark, step in zip(marking.steps, report.steps, strict=True):
        for entry in step.entries:
            wording = WORDING[entry.verdict]
            message = f"{entry.beside}; wrong" if entry.verdict == "wrong" else entry.beside
            entries.append(
                MarkedEntry(
                    mark.letter,
                    entry.place,
                    entry.claimed,
                    wording.sign.strip(),
                    wording.phrase,
                    message,
                    f"{entry.entry}, {entry.claimed} for {entry.true}",
                    wording.tint,
                    entry.passes,
                )
            )
    reasons = (
        f"Consistent with {reason.name}: {reason.done}. {reason.tell}"
        for reason in report.reasons[: report.reasons_shown]
    )
    lines = (line.message for line in report.lines if not line.passes)
    remarks = (*reasons, *lines, *filter(None, [report.style]))
    return Claims(report.conclusion, tuple(entries), remarks)


def claims_of_chunk(claims: Claims, whole: Derivation, chunk: Chunk) -> Claims:
    """Those of the claims that are about the tokens of a chunk, at their places in it.

    `whole` is the derivation that the claims are about, of all tokens at once.
    """
    items = {item.letter: item for item in (*whole.inputs, *whole.steps)}
    there = {item.letter for item in (*chunk.derivation.inputs, *chunk.derivation.steps)}
    kept, later = [], 0
    for claim in claims.entries:
        rows, columns = items[claim.letter].shape
        *head, i, j = claim.place
        if rows in (n, m):
            if i not in chunk.tokens:
                continue
            i -= chunk.tokens.start
        is_there = claim.letter in there and columns.free_symbols & {n, m}
        if is_there and j >= chunk.evaluation.shape(claim.letter)[-1]:
            later += 1
            continue
        kept.append(replace(claim, place=(*head, i, j)))
    right = sum(claim.verdict == "right" for claim in kept)
    are = "is" if right == 1 else "are"
    here = f"{right} of {counted(len(kept), 'number')} of this chunk {are} right"
    here = here if kept else "none is about this chunk"
    remarks = [*claims.remarks]
    if later:
        about = "is" if later == 1 else "are"
        remarks.append(f"{counted(later, 'more number')} {about} about keys of later chunks.")
    if right < len(kept):
        remarks.append("Rows and columns are counted as in the worksheet, over all tokens.")
    return Claims(f"{here}. In the whole worksheet: {claims.conclusion}", (*kept,), (*remarks,))
