"""The entries that ``derive --entry`` names: worked out, and boxed where they stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from symattn.documents.job import Job
from symattn.errors import SymattnError

if TYPE_CHECKING:
    from symattn.derivations import Place


def with_entries(jobs: list[Job], entries: Sequence[str]) -> list[Job]:
    """The jobs with the entries that are named, as in ``weights[1,2]``; ``first``: of every step.

    Raises `SymattnError` for an entry that no job has.
    """
    if not entries:
        return jobs
    from symattn.claims.references import entries_at

    if not {"worked", "value"} & {*jobs[0].views}:
        raise SymattnError("--entry: appears in the worked and the value view; leave --view out")
    chosen: list[dict[str, Place]] = [{} for _ in jobs]
    for words in entries:
        refused = None
        found = False
        for job, own in zip(jobs, chosen, strict=True):
            if job.evaluation is None:
                raise SymattnError("--entry: needs numbers; give a worksheet")
            try:
                places = entries_at((words,), job.evaluation, job.notation)
            except SymattnError as error:  # another chunk may have it
                refused = refused or error
                continue
            found = True
            if words == "first":
                own.update({**places, **own})
                continue
            for name in places:
                if job.only and name not in job.only:
                    raise SymattnError(
                        f"--entry {words}: --steps shows other steps; add {name} to them"
                    )
            own.update(places)
        if refused is not None and not found:
            raise SymattnError(f"--entry {refused}")
    return [replace(job, entries=own) for job, own in zip(jobs, chosen, strict=True)]
