"""The entries that ``derive --entry`` names: worked out, and boxed where they stand."""

from __future__ import annotations

from collections.abc import Sequence

from symattn.documents.job import Job
from symattn.errors import SymattnError


def choose_entries(jobs: Sequence[Job], entries: Sequence[str]) -> None:
    """Give the jobs the entries that are named, as in ``weights[1,2]``; ``first``: of every step.

    Raises `SymattnError` for an entry that no job has.
    """
    if not entries:
        return
    from symattn.claims.references import entries_at

    if not {"worked", "value"} & {*jobs[0].views}:
        raise SymattnError("--entry: appears in the worked and the value view; leave --view out")
    for words in entries:
        refused = None
        found = False
        for job in jobs:
            if job.evaluation is None:
                raise SymattnError("--entry: needs numbers; give a worksheet")
            try:
                places = entries_at((words,), job.evaluation, job.notation)
            except SymattnError as error:  # another chunk may have it
                refused = refused or error
                continue
            found = True
            if words == "first":
                job.entries = places | job.entries
                continue
            for name in places:
                if job.steps and name not in job.steps:
                    raise SymattnError(
                        f"--entry {words}: --steps shows other steps; add {name} to them"
                    )
            job.entries |= places
        if refused is not None and not found:
            raise SymattnError(f"--entry {refused}")
