"""The cost of a document, from shapes, before anything is evaluated or spelled.

`cost_of` counts for each matrix what its values take, in the arithmetics that the format asks for,
and what is spelled of it. The weights at the bottom are operations of a microsecond each (see
`symattn.budget`); ``tests/benchmarks/cost_of_work.py`` holds them against measured times.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from symattn.arithmetic.functions import Kind
from symattn.budget import admit, is_admitted, is_limited
from symattn.documents.job import FORMATS, Job
from symattn.evaluate.work import Work, exact_operations, proven_operations, work_of
from symattn.notation.options import Notation
from symattn.step import Step


@dataclass(frozen=True)
class Cost:
    """The operations that a document takes; those of each step, and what kind they are."""

    by_step: Mapping[str, int]
    by_part: Mapping[str, int]

    @property
    def operations(self) -> int:
        """All of them."""
        return sum(self.by_part.values())

    @property
    def most_of_it(self) -> str:
        """The dearest part and step, in words: ``worked lines, above all of output``."""
        part = max(self.by_part, key=self.by_part.__getitem__)
        return f"{part}, above all of {max(self.by_step, key=self.by_step.__getitem__)}"


def admit_document(form: str, jobs: Sequence[Job], checked: bool = False) -> None:
    """Refuse what would take more than the limit in force; where there is none, nothing is done.

    `checked` says that NumPy is held against the proven values too. Raises `TooLarge`.
    """
    if not is_limited() or not jobs:
        return
    cost = cost_of(form, jobs, checked)
    admit(cost.operations, cost.most_of_it, lambda: _leave_out(form, jobs, checked))


def cost_of(form: str, jobs: Sequence[Job], checked: bool = False) -> Cost:
    """The cost of these jobs as a document in a format of `FORMATS`."""
    by_step: dict[str, int] = {}
    by_part: dict[str, int] = {}
    for job in jobs:
        for name, part, operations in _parts(form, job, checked):
            by_step[name] = by_step.get(name, 0) + int(operations)
            by_part[part] = by_part.get(part, 0) + int(operations)
    return Cost(by_step, by_part)


def _parts(form: str, job: Job, checked: bool) -> list[tuple[str, str, float]]:
    """Triples of a step, a part of the work, and the operations that it takes."""
    found: list[tuple[str, str, float]] = [
        (step.name, "formulas", _STEP) for step in job.derivation.steps
    ]
    if job.evaluation is None:
        return found
    works = work_of(job.evaluation)
    finer = 1 + job.notation.digits / _USUAL_DIGITS
    parts = [work for work in works if _is_part(form, job, work)]
    exactly = any(_needs_exact(form, job, work) for work in parts)
    for work in works:
        name = work.item.name
        found.append((name, "proven digits", proven_operations(work, checked) * finer))
        if exactly:
            found.append((name, "exact values", _exact(job, work)))
    lengths = _lengths(works)
    left = _PAGE_LINES if form == "html" else None
    for work in parts:
        name = work.item.name
        cells, lines = _cells(form, job, work), _lines(form, job, work)
        if left is not None:  # a page has so many in all
            lines = min(lines, left)
            left -= lines
        found.append((name, "matrices", cells * FORMATS[form].operations * finer))
        if job.notation.exact and not _is(form, "program") and work.kind != Kind.RATIONAL:
            written = (cells + lines) * lengths[work.item.letter]
            found.append((name, "exact values", written * _NODE))
        limit = job.notation.limit
        terms = min(work.terms, limit) if limit and form != "html" else work.terms
        found.append((name, "worked lines", lines * (_LINE + terms * _TERM) * finer))
    return found


def _is(form: str, *kinds: str) -> bool:
    """Whether a format is of one of these kinds."""
    return FORMATS[form].kind in kinds


def _is_part(form: str, job: Job, work: Work) -> bool:
    """Whether a matrix is in the document. A page holds all that is evaluated."""
    if _is(form, "picture"):
        from symattn.documents.pictures.kinds import usual  # start-up time

        drawn = job.steps[0] if job.steps else usual(job.picture, job.derivation)
        return work.item.name == drawn and job.picture != "steps"
    return _is(form, "program") or form == "html" or not job.steps or work.item.name in job.steps


def _needs_exact(form: str, job: Job, work: Work) -> bool:
    """Whether exact values are asked for: by worked lines, and by all entries of a matrix.

    A decimal that may be the value itself has to be held against it.
    """
    if _is(form, "program"):
        return False
    if form == "html" or _is(form, "data", "picture") or job.notation.exact:
        return True
    return "worked" in job.views or ("value" in job.views and not job.notation.limit)


def _exact(job: Job, work: Work) -> float:
    """The operations in exact arithmetic: written out for the rows that are shown, or for none."""
    if not job.notation.exact:
        return exact_operations(work, shortened=True)
    rows = max(work.shape[-2], 1) if len(work.shape) > 1 else 1
    shown = min(job.notation.limit or rows, rows)
    return exact_operations(work) * _WRITTEN_OUT * shown / rows


def _lengths(works: Sequence[Work]) -> dict[str, int]:
    """By letter, about how many parts an exact value has when it is written out.

    A fraction has one; a sum has those of each of its terms, so that lengths multiply.
    """
    found: dict[str, int] = {}
    for work in works:
        read = [found[letter] for letter in getattr(work.item, "operands", ())]
        inside = sum(read) if work.longest > 1 else sum(read) + work.terms
        found[work.item.letter] = 1 if work.kind == Kind.RATIONAL else work.longest * max(inside, 1)
    return found


def _cells(form: str, job: Job, work: Work) -> int:
    """How many numbers of a matrix are written down."""
    if form == "html" or not _is(form, "page"):
        return work.entries
    if "value" not in job.views:
        return 0
    limit = job.notation.limit or max(work.shape)
    rows, columns = (min(size, limit) for size in work.shape[-2:])
    heads = work.entries // max(work.shape[-2] * work.shape[-1], 1)
    return heads * (rows * columns + _MATRIX)


def _lines(form: str, job: Job, work: Work) -> int:
    """How many entries are worked out."""
    if not isinstance(work.item, Step) or "worked" not in job.views:
        return 0
    if not _is(form, "page"):
        return 0
    if len(job.views) > 1 and form != "html" and job.notation.worked == "telling":
        return 1
    limit = job.notation.limit or max(work.shape)
    lines = 1
    for size in work.shape:
        lines *= min(size, limit)
    return lines


def _leave_out(form: str, jobs: Sequence[Job], checked: bool) -> str:
    """Advice that would be followed with success, the least loss first.

    Each change that is enough; where none is, as many together as are.
    """
    changes = [change for change in _CHANGES if change.applies(form, jobs)]
    last = jobs[0].derivation.steps[-1].name
    enough: list[str] = []
    for count in range(1, len(changes) + 1):
        for some in combinations(changes, count):
            if _is_enough(form, jobs, checked, some):
                enough.append(" and ".join(change.words.format(last) for change in some))
        if enough:
            enough = enough[: _MOST_ADVICE if count == 1 else 1]
            break
    return ", ".join(
        [*enough[:_MOST_ADVICE], "give fewer tokens or heads", "show formulas alone (--symbolic)"]
    )


def _is_enough(form: str, jobs: Sequence[Job], checked: bool, changes: Sequence[_Change]) -> bool:
    for change in changes:
        form, jobs = change.made(form, jobs)
    return is_admitted(cost_of(form, jobs, checked).operations)


@dataclass(frozen=True)
class _Change:
    """What may be left out: words for it, where there is something to leave out, and the rest."""

    words: str
    applies: Callable[[str, Sequence[Job]], bool]
    made: Callable[[str, Sequence[Job]], tuple[str, Sequence[Job]]]


def _with(jobs: Sequence[Job], views: Sequence[Any] | None = None, **notation: Any) -> list[Job]:
    """The jobs in another notation, or with these views alone."""
    return [
        replace(
            job, notation=job.notation.but(**notation), views=job.views if views is None else views
        )
        for job in jobs
    ]


def _is_read(form: str) -> bool:
    """Whether a format shows what is chosen of the steps and views."""
    return form != "html" and _is(form, "page", "data")


#: How many ways to leave something out are named.
_MOST_ADVICE = 3

#: The changes that advice may name, the least loss first.
_CHANGES = (
    _Change(
        "leave --full out",
        lambda _, jobs: not jobs[0].notation.limit,
        lambda form, jobs: (form, _with(jobs, limit=Notation().limit)),
    ),
    _Change(
        "leave --exact out",
        lambda _, jobs: jobs[0].notation.exact,
        lambda form, jobs: (form, _with(jobs, exact=False)),
    ),
    _Change(
        "take larger chunks",
        lambda _, jobs: jobs[0].series is not None,
        lambda form, jobs: (form, jobs[-2:]),
    ),
    _Change(
        "take another format (text)",
        lambda form, _: form in ("html", "json", "png"),
        lambda _, jobs: ("text", jobs),
    ),
    _Change(
        "show one step (--steps {})",
        lambda form, jobs: _is_read(form) and not jobs[0].steps,
        lambda form, jobs: (form, _with(jobs, steps=(jobs[0].derivation.steps[-1].name,))),
    ),
    _Change(
        "leave worked lines out (--view value)",
        lambda form, jobs: _is_read(form) and "worked" in jobs[0].views,
        lambda form, jobs: (form, _with(jobs, ("value",))),
    ),
)

#: A step without numbers: its formula, entry and sentence.
_STEP = 5_000

#: A worked line, and each of its terms.
_LINE, _TERM = 5_000, 200

#: Brackets and the name of a matrix, as so many cells.
_MATRIX = 8

#: Worked lines on a page that can be changed.
_PAGE_LINES = 600

#: Part of an exact value that is spelled, and how much longer exact arithmetic takes for it.
_NODE, _WRITTEN_OUT = 30, 2

#: Decimals for which nothing is slower.
_USUAL_DIGITS = 40
