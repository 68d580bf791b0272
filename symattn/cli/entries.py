"""The entries that ``derive --entry`` names: worked out, and boxed where they stand."""

from __future__ import annotations

from collections.abc import Sequence

from symattn.documents.job import Job


def choose_entries(jobs: Sequence[Job], entries: Sequence[str]) -> None:
    """Give the jobs the entries that are named, as in ``weights[1,2]``; ``first``: of every step.

    Raises `SymattnError` for an entry that no job has.
    """
    from symattn.errors import SymattnError
    from symattn.worksheet.quote import entry_named

    if entries and not {"worked", "value"} & {*jobs[0].views}:
        raise SymattnError("--entry: stands in the worked and the value view; leave --view out")
    for words in entries:
        refused = None
        found = False
        for job in jobs:
            if job.evaluation is None:
                raise SymattnError("--entry: needs numbers; give a worksheet")
            if words == "first":
                firsts = {s.name: (0,) * (2 + s.per_head) for s in job.derivation.steps}
                job.entries, found = firsts | job.entries, True
                continue
            try:
                name, place = entry_named(words, job.evaluation)
            except SymattnError as error:  # another chunk may have it
                refused = refused or error
                continue
            if job.only and name not in job.only:
                raise SymattnError(f"--entry {words}: --step shows other steps; add --step {name}")
            job.entries[name], found = place, True
        if refused is not None and not found:
            raise SymattnError(f"--entry {refused}")
