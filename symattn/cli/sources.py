"""What ``symattn derive`` derives from: a worksheet, a named variant, or a text of equations.

Each becomes the same: jobs, one for a derivation, or one for each chunk of a decoding.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from symattn.cli.attentions import (
    equations_in,
    is_equations,
    is_file,
    is_program,
    logits_in,
    on_top,
    variant_named,
    worksheet_at,
)
from symattn.cli.request import Request
from symattn.documents.job import FORMATS, Job, Series
from symattn.errors import SymattnError, counted

if TYPE_CHECKING:
    from symattn.attention.decoding import Chunk
    from symattn.attention.variants import Variant
    from symattn.attention.vocabulary import Notation
    from symattn.derivations import Derivation
    from symattn.documents.page.worksheet import Tables
    from symattn.language.spec import Equations
    from symattn.sheets.worksheet import Worksheet

#: Puts the name of a file before what is refused inside.
InFile: TypeAlias = Callable[[], AbstractContextManager[None]]

#: What is said of numbers that nobody gave.
_EXAMPLE = "The numbers are a small example."

#: Python that makes what is shown; a notebook begins with it.
_OF_EQUATIONS = "import symattn\n\nderivation = symattn.derivation({text!r}{base})"
_OF_VARIANT = 'from symattn import variant\n\nderivation = variant("{name}").derivation()'
_OF_EXAMPLE = """\
from symattn import variant
from symattn.attention.example import small_example

derivation, values = small_example(variant("{name}").spec{arguments})"""
_OF_DECODING = """\
from symattn import decode, variant
from symattn.attention.example import small_inputs

spec, given = small_inputs(variant("{name}").spec{arguments})
chunks = decode(spec, {chunks!r}, title={title!r}, **given)"""
_OF_LOGITS = """\
from symattn.attention.jacobian import softmax_jacobian

derivation = softmax_jacobian()
values = derivation.evaluate(scaled=[{row}])"""
_OF_WORKSHEET = '''\
from symattn.sheets.worksheet import worksheet_of

sheet = worksheet_of("""\\
{text}
""", {name!r})'''


def jobs_of(request: Request) -> tuple[list[Job], InFile]:
    """The derivations to show, and the context that names the file in what is refused later."""
    from symattn.attention.vocabulary import Notation

    source = request.source
    if "page" in request.notation.choices and request.out.form != "html":
        raise SymattnError("--notation page: is of the interactive page; use --format html")
    if request.chunks is not None:
        request.refuse("--gradient: applies to a whole pass; leave --chunks out", "gradient")
    if request.equations and (is_equations(source) or is_file(source)):
        raise SymattnError("--with: goes on top of a variant; write the equations into the file")
    if is_program(source):
        return _of_program(request, request.spelled(Notation())), nullcontext
    if request.shapes:
        raise SymattnError("--shape: is of a program; give a function, as mine.py:attention")
    if logits := logits_in(source):
        return [_of_logits(logits, request, request.spelled(Notation()))], nullcontext
    if is_equations(source):
        own, notation = equations_in(source), request.spelled(Notation())
        code = _OF_EQUATIONS.format(text=own.text, base="")
        return _of_equations(own, request, notation, code), nullcontext
    if is_file(source):
        if request.sizes:
            raise SymattnError("--size: is of examples of variants, not of a file")
        sheet = worksheet_at(source, [request.out.destination])
        return _of_worksheet(sheet, request), sheet.in_file
    request.refuse("--batch: chooses a calculation of a worksheet, not of a variant", "batch")
    return _of_name(variant_named(source), request, request.spelled(Notation())), nullcontext


def _of_name(row: Variant, request: Request, notation: Notation) -> list[Job]:
    """The derivations of a named variant, with equations on top of it if there are any."""
    if request.equations:
        own = on_top(row.derivation(), "\n".join(request.equations))
        base = f", symattn.variant({row.name!r}).derivation()"
        code = _OF_EQUATIONS.format(text=own.text, base=base)
    elif row.text:
        own, code = row.equations, _OF_VARIANT.format(name=row.name)
    else:
        return _of_variant(row, request, notation)
    return _of_equations(own, request, notation, code, row if row.text else None)


def _of_program(request: Request, notation: Notation) -> list[Job]:
    """The derivation of what a function of a file computes."""
    from symattn.cli.limits import asked_limits
    from symattn.lifting.lift import lift
    from symattn.lifting.limits import DERIVED

    try:
        lifted = lift(request.source, request.shapes, **vars(asked_limits(DERIVED)))
    except SymattnError as error:
        if not re.match(r"line \d+: |.* is no equation: ", str(error)):
            raise
        may = f"symattn prove {request.source} causal, say, may still tell what it is"
        raise SymattnError(f"{error}; {may}") from None
    own = lifted.equations
    jobs = _of_equations(own, request, notation, _OF_EQUATIONS.format(text=own.text, base=""))
    return [replace(job, notes=[*job.notes, lifted.note]) for job in jobs]


def _of_logits(logits: list[str], request: Request, notation: Notation) -> Job:
    """The Jacobian of the softmax for a row of logits, and how it vanishes as they grow."""
    from symattn.attention.jacobian import growth_notes, read_row, softmax_jacobian

    row = read_row(logits)
    if request.gradient != () or request.sizes:
        raise SymattnError(f"{request.source}: say --gradient all, by all the logits, and no size")
    request.refuse("--chunks, --batch: are of worksheets and variants", "chunks", "batch")
    derivation = softmax_jacobian()
    evaluation = derivation.evaluate(scaled=[row], dtype=request.dtype)
    code = _OF_LOGITS.format(row=logits)
    notes = [] if request.symbolic else growth_notes(row)
    return request.job(derivation, evaluation, notation, code, notes=notes)


def _of_equations(
    spec: Equations, request: Request, notation: Notation, code: str, row: Variant | None = None
) -> list[Job]:
    """The derivation of a text of equations, made by this code; `row`: the variant that it is."""
    request.refuse(
        "--chunks, --batch: are of worksheets and variants, not of equations", "chunks", "batch"
    )
    from symattn.attention.example import counted, small_numbers

    sizes = {**request.sizes}
    counts = counted(spec, sizes.pop("heads", None))
    forward = spec.derivation(sizes={} if request.symbolic else counts)
    forward = forward if row is None else row.told_of(forward)
    whole = _backward(forward, request)
    code += _backward_code(request)
    evaluation = None
    if not request.symbolic and (request.shows_numbers or sizes or request.is_program):
        given = small_numbers(forward, whole, **sizes)
        evaluation = whole.evaluate(**given)
        code += f"\nvalues = derivation.evaluate(**{given!r})"
    example = "" if evaluation is None else _EXAMPLE
    said = "is" if len(spec.unused) == 1 else "are"
    unused = f"{', '.join(spec.unused)} {said} not used any more and left out"
    notes = [unused] if spec.unused else []
    return [request.job(whole, evaluation, notation, code, example=example, notes=notes)]


def _of_variant(row: Variant, request: Request, notation: Notation) -> list[Job]:
    """The derivation of a named variant, or, decoded with a cache, one for each chunk."""
    from symattn.attention.example import small_example, small_inputs

    sizes = request.sizes
    if request.is_program and not sizes:
        sizes = {"tokens": 3}
    words = {"name": row.name, "title": row.title, "chunks": request.chunks}
    arguments = "".join(f", {name}={value!r}" for name, value in sizes.items())
    if request.chunks is not None:
        from symattn.attention.decoding import decode

        spec, given = small_inputs(row.spec, **sizes)
        chunks = decode(spec, request.chunks, title=row.title, dtype=request.dtype, **given)
        series = Series(row.title, _OF_DECODING.format(arguments=arguments, **words))
        first, *others = _series(chunks, series, request, notation)
        return [replace(first, example=_EXAMPLE), *others]
    if request.symbolic or not (sizes or request.shows_numbers):
        code = _OF_VARIANT.format(**words) + _backward_code(request)
        return [request.job(_backward(row.derivation(), request), None, notation, code)]
    derivation, evaluation = small_example(
        row.spec,
        title=row.title,
        gradient=request.gradient,
        counted=not request.is_program,  # code is for any number of heads
        **sizes,
    )
    arguments += "" if request.gradient is None else f", gradient={request.gradient!r}"
    code = _OF_EXAMPLE.format(arguments=arguments, **words)
    job = request.job(row.told_of(derivation), evaluation, notation, code, example=_EXAMPLE)
    if request.out.form == "html":
        from symattn.sheets.rewriting import head_of_variant

        spec, _ = small_inputs(row.spec, **sizes)
        head = head_of_variant(row.name, row.title, spec, request.gradient)
        return [_on_page(job, head)]
    return [job]


def _of_worksheet(sheet: Worksheet, request: Request) -> list[Job]:
    """The derivation of a file, or, decoded with a cache, one for each chunk."""
    text = sheet.text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"').rstrip("\n")
    code = _OF_WORKSHEET.format(text=text, name=sheet.name)
    with sheet.in_file():
        if request.batch is not None:
            sheet = sheet.of_batch(request.batch)
            code += f"\nsheet = sheet.of_batch({request.batch})"
        if request.gradient is not None:
            sheet = sheet.backward(request.gradient)
            code += f"\nsheet = sheet.backward({request.gradient!r})"
        notation = request.spelled(sheet.notation)
        if request.chunks is not None or sheet.chunks is not None:
            sizes = "" if request.chunks is None else repr(request.chunks)
            series = Series(sheet.title, f"{code}\nchunks = sheet.decode({sizes})")
            chunks = sheet.decode(request.chunks, request.dtype)
            jobs = _series(chunks, series, request, notation)
        else:
            chunks = ()
            derivation = sheet.derivation()
            code += "\nderivation = sheet.derivation()"
            # --symbolic shows no numbers, but wrong ones are still refused
            evaluation = sheet.evaluate(derivation, request.dtype)
            code += "" if request.symbolic else "\nvalues = sheet.evaluate(derivation)"
            jobs = [request.job(derivation, evaluation, notation, code)]
    if request.out.form == "html" and not chunks:
        from symattn.sheets.rewriting import head_of

        jobs = [_on_page(jobs[0], head_of(sheet))]
    if sheet.claims and request.marks:
        return _marked(jobs, chunks, sheet)
    if sheet.claims:
        return [*jobs[:-1], _unmarked(jobs[-1], len(sheet.claims), request)]
    return jobs


def _on_page(job: Job, head: Tables) -> Job:
    """The job with what a page offers: its worksheet, and what comes of common mistakes."""
    from symattn.mistakes.hypotheses import supposed

    if job.evaluation is None:
        return replace(job, worksheet=head)
    return replace(job, worksheet=head, supposed=supposed(job.shown, job.evaluation))


def _marked(jobs: Sequence[Job], chunks: Sequence[Chunk], sheet: Worksheet) -> list[Job]:
    """The job with the claims as they are marked, or each chunk with those about its tokens."""
    from symattn.reports.check import check_worksheet
    from symattn.reports.claimed import claims_of, claims_of_chunk

    with sheet.in_file():
        claims = claims_of(check_worksheet(sheet))
    if not chunks:
        return [replace(jobs[0], claims=claims)]
    whole, parts = sheet.derivation(), {id(part.evaluation): part for part in chunks}
    return [
        replace(job, claims=claims_of_chunk(claims, whole, parts[id(job.evaluation)]))
        for job in jobs
    ]


def _unmarked(job: Job, count: int, request: Request) -> Job:
    """The job that says that another command marks the claims.

    It is said beside a document, which speaks to its reader.
    """
    stand, them = ("stands", "it") if count == 1 else ("stand", "them")
    words = f"{counted(count, 'claim')} {stand} in this worksheet; derive does not mark {them}"
    if FORMATS[request.out.form].kind == "page" and not request.out.on_screen:
        return replace(job, beside=words)
    return replace(job, notes=[words])


def _backward(derivation: Derivation, request: Request) -> Derivation:
    """With the backward pass where it is asked for."""
    if request.gradient is None:
        return derivation
    return derivation.gradient(request.gradient or None)


def _backward_code(request: Request) -> str:
    return "" if request.gradient is None else f".gradient({request.gradient or None!r})"


def _series(
    chunks: Sequence[Chunk], series: Series, request: Request, notation: Notation
) -> list[Job]:
    """A job for each chunk; a step asked for is shown where there is one."""
    from symattn.step import called

    code = (
        "derivation = chunks[{0}].derivation"
        if request.symbolic
        else "values = chunks[{0}].evaluation"
    )
    there = [{item.name: item for item in (*c.derivation.inputs, *c.derivation)} for c in chunks]
    every = {name: item for items in there for name, item in items.items()}
    asked = called([*every.values()], notation.steps, notation)
    own = [notation.but(steps=[name for name in asked if name in items]) for items in there]
    jobs = [
        request.job(c.derivation, c.evaluation, spelled, code.format(number), series=series)
        for number, (c, spelled) in enumerate(zip(chunks, own, strict=True))
        if spelled.steps or not asked
    ]
    shown = [job.what for job in jobs]
    return [replace(job, before=shown[:number]) for number, job in enumerate(jobs)]
