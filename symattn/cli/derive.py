"""``symattn derive``: attention step by step."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click
from click.core import ParameterSource

from symattn.cli import completing as completes
from symattn.cli.attentions import (
    equations_in,
    is_equations,
    is_file,
    on_top,
    variant_named,
    worksheet_at,
)
from symattn.cli.entries import choose_entries
from symattn.cli.formats import format_options, show, width_option
from symattn.cli.help import Explained
from symattn.cli.limits import metered
from symattn.cli.progress import Progress
from symattn.cli.screen import complain
from symattn.cli.watching import again, check_watchable, watch_option
from symattn.documents.job import (
    FORMATS,
    HEADS,
    LAYOUTS,
    PICTURES,
    VIEWS,
    Job,
    Series,
    check_format,
    document_of,
)
from symattn.errors import SymattnError, counted, nearest, quote
from symattn.status import Status, worst
from symattn.writing import Destination

if TYPE_CHECKING:
    from symattn.attention.decoding import Chunk
    from symattn.attention.vocabulary import Notation
    from symattn.derivations import Check, Derivation, Place, Step
    from symattn.documents.blocks import Document
    from symattn.documents.claims import Claims
    from symattn.language.spec import Equations
    from symattn.sheets.worksheet import Worksheet


#: The options of the command as click hands them on, by name.
Options: TypeAlias = dict[str, Any]


def _names(
    context: click.Context, option: click.Parameter, value: str | None
) -> tuple[str, ...] | None:
    """The names that an option lists; none of them for all, None where it is not asked for."""
    if value is None:
        return None
    names = tuple(filter(None, map(str.strip, value.split(","))))
    return () if names == ("all",) else names


def _views(context: click.Context, option: click.Parameter, value: str) -> tuple[str, ...]:
    """The views that an option lists, all four for ``all``."""
    names = _names(context, option, value) or VIEWS
    for name in names:
        if name not in VIEWS:
            known = nearest(name, VIEWS) or f"; they are {', '.join(VIEWS)}"
            raise click.BadParameter(f"no view is called {quote(name)}{known}", context, option)
    return names


class _Heads(click.ParamType):  # type: ignore[type-arg]  # generic in new versions only
    """How many heads an example has, or how the matrices of heads stand."""

    name = "1-16|side by side|column"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | str:
        """A number from 1 to 16, or one of the words."""
        if value in HEADS:
            return str(value)
        return int(click.IntRange(1, 16).convert(value, param, ctx))


@click.command(
    cls=Explained,
    meters=True,
    groups={
        "What is derived": "--with --symbolic --gradient --chunks --batch --dtype",
        "An example of a variant": "--tokens --d-k --heads",
        "What is shown": "--view --steps --head --worked --entry --full --errors --why",
        "How it is written": "--digits --exact --notation --symbol --layout --picture --width "
        "--headings --label",
        "Where it goes": "--format --flavor --stage --pdf --output --watch",
    },
    examples={
        "symattn new causal -o mine.toml": "A worksheet to begin with, on small whole numbers.",
        "symattn derive mine.toml": "Every step of a worksheet, with its numbers.",
        "symattn derive mine.toml --format html -o page.html": "A page to read and to change.",
        "symattn derive rotary --tokens 3 --d-k 4": "A variant on small whole numbers.",
        'symattn derive "softmax(Q K^T / sqrt(d_k)) V"': "An attention of your own, in equations.",
        "symattn derive causal --symbolic --gradient Q,K,V --steps dQ,dK,dV": "The backward pass, "
        "in symbols.",
    },
)
@click.argument("source", metavar="FILE|VARIANT|EQUATIONS", shell_complete=completes.subjects)
@format_options(tuple(FORMATS))
@click.option("--pdf", is_flag=True, help="Run TeX on the output: the same as --format pdf.")
@click.option(
    "--view",
    "views",
    metavar="NAMES",
    default="all",
    show_default=True,
    callback=_views,
    help="Show these views of every step, as in formula,value: formula, entry, worked, value.",
)
@click.option(
    "--steps",
    metavar="NAMES",
    callback=_names,
    help="Show these steps, as in weights,output or A,O; those between are substituted into their "
    "formulas.",
)
@click.option(
    "--worked",
    type=click.Choice(("telling", "all")),
    help="Work out the most telling entry of each step, or all.  [default: telling]",
)
@click.option("--head", type=click.IntRange(0), metavar="N", help="Show this head only.")
@click.option(
    "--picture",
    type=click.Choice(PICTURES),
    default="heat",
    show_default=True,
    help="What svg, png and tikz show of the first of --steps.",
)
@click.option(
    "--layout",
    type=click.Choice(LAYOUTS),
    help="falk: products of two matrices in Falk's scheme, the second factor above, the "
    "first on the left.",
)
@click.option(
    "--stage/--sheet",
    default=None,
    help="Of html: open the page on its stage, one step at a time, or as a sheet of all steps. "
    "Otherwise a page with a story opens on its stage.",
)
@click.option(
    "--entry",
    "entries",
    metavar="NAME[I,J]",
    multiple=True,
    help="Work out this entry and box it, e.g. weights[1,2] (weights[2][1,2] for head 2); "
    "“first” stands for the first entry of every step. May be repeated.",
)
@click.option(
    "--label",
    default="",
    metavar="PREFIX",
    help="Begin the labels of the equations with PREFIX, e.g. eq:causal for "
    "eq:causal:weights (latex, tex, pdf; md for quarto and sphinx).",
)
@width_option
@click.option(
    "--headings",
    type=click.IntRange(0, 6),
    metavar="LEVEL",
    help="The level of the first heading, 0 for none (latex, tex, md, mathml).",
)
@click.option(
    "--notation",
    metavar="NAME",
    help="Letters of a paper: vaswani, flash-attention, roformer, deepseek, bishop.",
)
@click.option(
    "--symbol",
    "symbols",
    metavar="NAME=LETTER",
    multiple=True,
    help="Another letter, e.g. weights=P, d_k=d_h, row=q or 'weights[i,j]=p'. May be repeated.",
)
@click.option("--digits", type=click.IntRange(0, 100), help="Decimals to show.  [default: 4]")
@click.option("--exact", is_flag=True, help="Show exact values instead of decimals.")
@click.option("--errors", is_flag=True, help="Show NumPy's check step by step, in ulps.")
@click.option("--full", is_flag=True, help="Leave nothing out of large matrices and long sums.")
@click.option(
    "--gradient",
    metavar="NAMES",
    callback=_names,
    help="Add the backward pass with respect to NAMES, e.g. Q,K,V, or all.",
)
@click.option("--why", metavar="STEP", help="Show the identity behind this step, and its proof.")
@click.option(
    "--with",
    "equations",
    metavar="EQUATION",
    multiple=True,
    help="On top of a variant: 'weights A = softmax1(Z)' takes the place of a step, a new one goes "
    "before its first use. May be repeated.",
)
@click.option("--symbolic", is_flag=True, help="Formulas only, no numbers, not even an example.")
@click.option(
    "--dtype",
    type=click.Choice(("float64", "float32", "float16")),
    default="float64",
    help="The NumPy type that is checked.  [default: float64]",
)
@click.option(
    "--tokens",
    type=click.IntRange(1, 64),
    help="The example's number of tokens.  [default: 3]",
)
@click.option("--d-k", type=click.IntRange(1, 64), help="The example's key width.  [default: 2]")
@click.option(
    "--heads",
    type=_Heads(),
    help="The example's number of heads; or how heads are arranged: 'side by side' or 'column'.",
)
@click.option(
    "--batch",
    type=click.IntRange(0),
    metavar="N",
    help="Choose a calculation of a batch, counted as in the worksheet.",
)
@click.option(
    "--chunks",
    metavar="1|3,1,1",
    help="Decode with a cache: this many tokens at a time, or in each chunk.",
)
@click.option("--allow-large", is_flag=True, help="Derive however much work it takes.")
@watch_option
def derive(
    source: str,
    form: str,
    pdf: bool,
    output: str | None,
    symbolic: bool,
    watch: bool,
    **options: Any,
) -> Status:
    """Derive attention step by step from a worksheet (- for standard input) or a named variant."""
    if pdf and form not in ("text", "tex", "pdf"):
        raise SymattnError(f"--pdf: is produced with LaTeX; leave out --format {form}")
    form = "pdf" if pdf else form
    if watch:
        check_watchable([source])
        if not is_file(source):
            raise SymattnError(f"--watch: {source} is not a file; give a worksheet")
    destination = Destination.of(output)
    if destination.exists and is_file(source):
        destination.refuse_inputs(("-",) if source == "-" else _read(source))
    if not watch:
        return _derive(source, form, symbolic, options, destination)
    return again(
        lambda: _derive(source, form, symbolic, options, destination),
        lambda: _read(source),
        destination,
    )


def _read(source: str) -> Iterator[Path]:
    """The worksheet, and all that it names."""
    from symattn.files.named import reached

    return reached([Path(source)])


def _derive(
    source: str, form: str, symbolic: bool, options: Options, destination: Destination
) -> Status:
    """Derive, print or write the document, and say whether NumPy agrees."""
    on_screen = destination.is_screen and form == "text"
    documents: list[Document] = []
    document: str | bytes = ""
    allowed = metered(allow_large=options["allow_large"])
    with Progress(f"deriving {source}").watched(), allowed:
        arranged = isinstance(options["heads"], str)
        jobs, in_file = _jobs(source, form, symbolic, options, destination)
        with in_file():
            is_graph = FORMATS[form].kind == "picture" and options["picture"] == "steps"
            _check_heads(jobs, options["head"], arranged, is_graph)
            choose_entries(jobs, options["entries"])
        check_format(form, jobs)
        if on_screen and _may_be_more(jobs[-1]):
            jobs[-1].notes = [*jobs[-1].notes, _more(source, jobs[-1])]
        if options["why"] is not None:
            with in_file():
                reason = _reason_document(jobs[0].derivation, options["why"], form)
            show(form, [reason], None, destination)
            return Status.AGREES
        if {*options["views"]} <= {"worked", "value"} and any(x.evaluation is None for x in jobs):
            asked = ",".join(options["views"])
            raise SymattnError(f"--view {asked} needs numbers; give a worksheet")
        with in_file():
            for job in jobs:
                if job.evaluation is not None:
                    job.check = job.evaluation.check()
            if on_screen:
                documents = [job.document(FORMATS[form], hints=True) for job in jobs]
            else:
                document = document_of(form, jobs)
    if on_screen:
        with in_file():
            show(form, documents, None, destination)
    else:
        destination.write(document)
    for words in dict.fromkeys(words for job in jobs for words in job.unshown(form, on_screen)):
        complain(words)
    return worst(map(status_of, (job.check for job in jobs)))


def _may_be_more(job: Job) -> bool:
    """Whether one entry of a step is worked out, and others may be asked for."""
    chosen = job.entries or job.notation.worked == "all" or len(job.views) == 1
    return job.evaluation is not None and "worked" in job.views and not chosen


def _more(source: str, job: Job) -> str:
    """The command that shows what the document leaves out, of the same calculation and letters."""
    last = job.shown.steps[-1] if job.shown.steps else job.derivation.steps[-1]
    step = next((step for step in job.shown if step.weights), last)
    notation, evaluation = job.notation, job.evaluation
    assert evaluation is not None
    said = []
    for place in _other_entry(job, step):
        *head, row, column = (k + notation.index_base for k in place)
        if notation.convention == "columns":
            row, column = column, row
        entry = f"{step.name}{''.join(f'[{k}]' for k in head)}[{row},{column}]"
        command = " ".join(("symattn derive", shlex.quote(source), *_repeated()))
        another = f'`{command} --entry "{entry}"` works out another entry'
        said.append(f"{another}, `--worked all` every one")
    many = any(step.per_head and evaluation.shape(step.letter)[-3] > 1 for step in job.shown)
    if many and notation.head is None:
        said.append(f"`--head {notation.index_base + 1}` shows one head")
    items = (*job.shown.inputs, *job.shown.steps)
    sizes = [size for item in items for size in evaluation.shape(item.letter)]
    further = [] if notation.exact else [f"`--digits {_more_digits(notation.digits)}` more digits"]
    if notation.limit and max(sizes) > notation.limit:
        further.append("`--full` what is left out")
    said += [", ".join(further).replace("` ", "` shows ", 1)] if further else []
    is_named = job.example and not is_equations(source)
    said += [f"`symattn new {source}` writes a worksheet to fill in"] if is_named else []
    said += ["`--symbolic` leaves the numbers out"] if job.example else []
    return f"More: {'; '.join(said)}."


def _other_entry(job: Job, step: Step) -> Iterator[Place]:
    """An entry that is not worked out already, where there is one."""
    from symattn.evaluate.telling import telling

    assert job.evaluation is not None
    if job.evaluation.batch:  # whose item is asked for before anything is told
        return
    *head, row, column = telling(job.evaluation, job.shown.steps, job.notation)[step.name]
    rows, columns = job.evaluation.shape(step.letter)[-2:]
    near = [(i, j) for i, j in ((1, 0), (1, 1), (0, 0), (0, 1)) if i < rows and j < columns]
    yield from [(*head, *place) for place in near if place != (row, column)][:1]


def _more_digits(digits: int) -> int:
    """8, or twice as many as are shown, as far as they may be asked for."""
    return min(max(8, 2 * digits), 100)


#: The options that say what is derived and in which letters, and not which document it is.
_REPEATED = (
    "tokens",
    "d_k",
    "heads",
    "batch",
    "chunks",
    "gradient",
    "steps",
    "views",
    "head",
    "layout",
    "notation",
    "symbols",
    "digits",
    "exact",
    "full",
    "dtype",
    "allow_large",
)


def _repeated() -> Iterator[str]:
    """The options of this command as they were given, but for those of the format."""
    context = click.get_current_context()
    for option in context.command.params:
        if option.name not in _REPEATED:
            continue
        if context.get_parameter_source(option.name) is not ParameterSource.COMMANDLINE:
            continue
        name, value = option.opts[0], context.params[option.name]
        if value is True:
            yield name
        elif option.multiple:
            yield from (f"{name} {shlex.quote(each)}" for each in value)
        else:
            words = (",".join(value) or "all") if isinstance(value, tuple) else str(value)
            yield f"{name} {shlex.quote(words)}"


def _reason_document(derivation: Derivation, name: str, form: str) -> Document:
    """A step, the identity behind it, and its proof."""
    from symattn.algebra.identities import behind, prove
    from symattn.algebra.identities.reports import proof_document
    from symattn.documents import blocks as b

    step = derivation[name]
    proof = proof_document(prove(behind(step)), FORMATS[form].brief)
    blocks = (b.Worked(f"{step.name}:", step.formula()), *proof.blocks)
    return b.Document("", blocks, called=f"Why this step: {step.title}")


def status_of(check: Check | None) -> Status:
    """Whether NumPy agrees; what overflows its dtype is not settled by it."""
    if check is None or check.agrees:
        return Status.AGREES
    return Status.UNSETTLED if check.overflowed else Status.WRONG


def _check_heads(jobs: Sequence[Job], head: int | None, arranged: bool, is_graph: bool) -> None:
    """Refuse what is said of heads where there are none, no matrices of theirs, or no difference.

    `is_graph`: the graph of steps is shown.
    """
    if head is None and not arranged:
        return
    option = "--heads" if head is None else f"head {head}"
    derivations = [job.derivation for job in jobs]
    if not any(item.per_head for one in derivations for item in (*one.inputs, *one.steps)):
        raise SymattnError(f"{option}: this attention has no heads; leave it out")
    if arranged and all(job.evaluation is None for job in jobs):
        raise SymattnError("--heads: arranges matrices of numbers, and none are shown")
    if head is not None and is_graph:
        raise SymattnError(
            f"head {head}: the graph of steps is the same for every head; leave it out, or give "
            "another --picture"
        )


def _jobs(
    source: str, form: str, symbolic: bool, options: Options, destination: Destination
) -> tuple[list[Job], Callable[[], AbstractContextManager[None]]]:
    """The derivations to show, and the context that names the file in what is refused later."""
    from symattn.attention.vocabulary import Notation

    changes: Options = {"exact": options["exact"]}
    if isinstance(options["heads"], str):
        changes["heads"], options["heads"] = options["heads"], None
    for name in ("digits", "layout", "steps", "worked", "head"):
        if options[name] is not None:
            changes[name] = options[name]
    if options["full"]:
        changes["limit"] = 0
    if options["stage"] is not None:
        changes["page"] = "stage" if options["stage"] else "sheet"
        if form != "html":
            raise SymattnError(
                f"--{changes['page']}: is of the interactive page; use --format html"
            )
    chunks = None if options["chunks"] is None else _read_chunks(options["chunks"])
    if chunks is not None and options["gradient"] is not None:
        raise SymattnError("--gradient: applies to a whole pass; leave --chunks out")
    if options["equations"] and (is_equations(source) or is_file(source)):
        raise SymattnError("--with: goes on top of a variant; write the equations into the file")
    if is_equations(source):
        notation = _lettered(Notation().but(**changes), options)
        spec = equations_in(source)
        return _of_equations(spec, "", form, symbolic, chunks, notation, options), nullcontext
    if is_file(source):
        if any(options[name] for name in ("tokens", "d_k", "heads")):
            raise SymattnError(
                "--tokens, --d-k, --heads: apply to examples of variants, not to a file"
            )
        return _of_worksheet(source, form, symbolic, chunks, changes, options, destination)
    if options["batch"] is not None:
        raise SymattnError("--batch: chooses a calculation of a worksheet, not of a variant")
    notation = _lettered(Notation().but(**changes), options)
    jobs = _of_variant(source, form, symbolic, chunks, notation, options)
    return jobs, nullcontext


def _of_equations(
    spec: Equations,
    name: str,
    form: str,
    symbolic: bool,
    chunks: int | list[int] | None,
    notation: Notation,
    options: Options,
) -> list[Job]:
    """The derivation of a text of equations, alone or on top of a variant of this name."""
    if chunks is not None or options["batch"] is not None:
        raise SymattnError("--chunks, --batch: are of worksheets and variants, not of equations")
    if options["heads"] is not None and not any(s.name == "h" for s in spec.whole.size_symbols):
        raise SymattnError("--heads: these equations have no heads; leave it out")
    counts = {"h": options["heads"] or 2, "g": 1}
    there = {symbol.name for symbol in spec.whole.size_symbols}
    sizes = {} if symbolic else {size: n for size, n in counts.items() if size in there}
    forward = whole = spec.derivation(sizes=sizes)
    if options["gradient"] is not None:
        whole = forward.gradient(options["gradient"] or None)
    base = "" if not name else f", symattn.variant({name!r}).derivation()"
    code = f"import symattn\n\nderivation = symattn.derivation({spec.text!r}{base})"
    code += _backward_code(options["gradient"])
    how = _how(options)
    notes = []
    if spec.unused:
        said = "is" if len(spec.unused) == 1 else "are"
        notes = [f"{', '.join(spec.unused)} {said} not used any more and left out"]
    shows = _shows_numbers(form, options)
    sized = {k: options[k] for k in ("tokens", "d_k") if options[k]}
    is_program = FORMATS[form].kind == "program"
    if symbolic or not (shows or sized or is_program):
        return [Job(whole, None, notation, **how, notes=notes, code=code)]
    from symattn.attention.example import small_numbers

    given = small_numbers(forward, whole, **sized)
    evaluation = whole.evaluate(**given)
    code += f"\nvalues = derivation.evaluate(**{given!r})"
    return [Job(whole, evaluation, notation, **how, notes=notes, code=code, example=_EXAMPLE)]


def _of_worksheet(
    source: str,
    form: str,
    symbolic: bool,
    chunks: int | list[int] | None,
    changes: Options,
    options: Options,
    destination: Destination,
) -> tuple[list[Job], Callable[[], AbstractContextManager[None]]]:
    """The derivation, or those of the chunks, of a file, and the context that names the file."""
    sheet = worksheet_at(source, [destination])
    if options["batch"] is not None:
        with sheet.in_file():
            sheet = sheet.of_batch(options["batch"])
    if options["gradient"] is not None:
        sheet = sheet.backward(options["gradient"])
    with sheet.in_file():
        notation = _lettered(sheet.notation.but(**changes), options)
    decoded = chunks is not None or sheet.chunks is not None
    is_marked = FORMATS[form].interactive and not symbolic
    notes, beside = [], ""
    if sheet.claims and not is_marked:
        unmarked = _unmarked(len(sheet.claims))
        if FORMATS[form].kind == "page" and not (destination.is_screen and form == "text"):
            beside = unmarked  # a document speaks to its reader
        else:
            notes = [unmarked]
    if decoded:
        with sheet.in_file():
            parts = sheet.decode(chunks, options["dtype"])
        sizes = "" if chunks is None else repr(chunks)
        chosen = "" if options["batch"] is None else f"\nsheet = sheet.of_batch({options['batch']})"
        series = Series(
            sheet.title, f"{_sheet_code(sheet)}{chosen}\nchunks = sheet.decode({sizes})"
        )
        jobs = _series(parts, series, symbolic, notation, options, notes)
        jobs[-1].beside = beside
        if is_marked and sheet.claims:
            _mark_chunks(jobs, parts, sheet)
        return jobs, sheet.in_file
    with sheet.in_file():
        derivation = sheet.derivation()
        # --symbolic shows no numbers, but wrong ones are still refused
        evaluation = sheet.evaluate(derivation, options["dtype"])
    values = None if symbolic else evaluation
    code = _derived_code(sheet, options["gradient"], symbolic, options["batch"])
    how = _how(options)
    if form == "html":
        from symattn.sheets.rewriting import head_of

        how["worksheet"] = head_of(sheet)
    claims = _marked(sheet) if is_marked and sheet.claims else None
    job = Job(derivation, values, notation, **how, notes=notes, code=code, claims=claims)
    job.beside = beside
    return [job], sheet.in_file


def _marked(sheet: Worksheet) -> Claims:
    """The claims of a worksheet as they are marked, with what would explain wrong ones."""
    from symattn.reports.check import check_worksheet
    from symattn.reports.claimed import claims_of

    with sheet.in_file():
        return claims_of(check_worksheet(sheet))


def _mark_chunks(jobs: Sequence[Job], parts: Sequence[Chunk], sheet: Worksheet) -> None:
    """Give each chunk that is shown those of the claims that are about its tokens."""
    from symattn.reports.claimed import claims_of_chunk

    claims, whole = _marked(sheet), sheet.derivation()
    for job in jobs:
        part = next(part for part in parts if part.evaluation is job.evaluation)
        job.claims = claims_of_chunk(claims, whole, part)


def _lettered(notation: Notation, options: Options) -> Notation:
    """The notation with the letters that --notation and --symbol ask for."""
    from symattn.sheets.symbols import read_symbols

    return notation.lettered(options["notation"], read_symbols(options["symbols"]))


def _how(options: Options) -> Options:
    """How the options of the command line show a derivation."""
    return {
        "views": options["views"],
        "flavor": options["flavor"],
        "picture": options["picture"],
        "layout": options["layout"],
        "headings": options["headings"],
        "label": options["label"],
        "width": options["width"],
        "errors": options["errors"],
    }


def _of_variant(
    source: str,
    form: str,
    symbolic: bool,
    chunks: int | list[int] | None,
    notation: Notation,
    options: Options,
) -> list[Job]:
    """The derivation of a named variant, or, decoded with a cache, one for each chunk."""
    row = variant_named(source)
    if options["equations"]:
        own = on_top(row.derivation(), "\n".join(options["equations"]))
        return _of_equations(own, row.name, form, symbolic, chunks, notation, options)
    title = row.title
    sized = {name: options[name] for name in ("tokens", "d_k", "heads") if options[name]}
    is_program = FORMATS[form].kind == "program"
    if is_program and not sized:  # a program has sizes
        sized = {"tokens": 3}
    if chunks is not None:
        from symattn.attention.decoding import decode
        from symattn.attention.example import small_inputs

        spec, given = small_inputs(row.spec, **sized)
        decoded = decode(spec, chunks, title=title, dtype=options["dtype"], **given)
        arguments = "".join(f", {name}={value!r}" for name, value in sized.items())
        code = (
            "from symattn import decode, variant\n"
            "from symattn.attention.example import small_inputs\n\n"
            f'spec, given = small_inputs(variant("{row.name}").spec{arguments})\n'
            f"chunks = decode(spec, {chunks!r}, title={title!r}, **given)"
        )
        jobs = _series(decoded, Series(title, code), symbolic, notation, options, [])
        jobs[0].example = _EXAMPLE
        return jobs
    if symbolic or not (sized or _shows_numbers(form, options)):
        derivation = row.derivation()
        if options["gradient"] is not None:
            derivation = derivation.gradient(options["gradient"] or None)
        code = (
            f'from symattn import variant\n\nderivation = variant("{row.name}").spec.derivation()'
        )
        code += _backward_code(options["gradient"])
        return [Job(derivation, None, notation, **_how(options), code=code)]
    from symattn.attention.example import small_example

    derivation, evaluation = small_example(
        row.spec, title=title, gradient=options["gradient"], counted=not is_program, **sized
    )  # code is for any number of heads
    choices = sized if options["gradient"] is None else sized | {"gradient": options["gradient"]}
    arguments = "".join(f", {name}={value!r}" for name, value in choices.items())
    code = (
        "from symattn import variant\nfrom symattn.attention.example import small_example\n\n"
        f'derivation, values = small_example(variant("{row.name}").spec{arguments})'
    )
    told = row.told_of(derivation)
    how = _how(options)
    if form == "html":
        from symattn.attention.example import small_inputs
        from symattn.sheets.rewriting import head_of_variant

        spec, _ = small_inputs(row.spec, **sized)
        how["worksheet"] = head_of_variant(row.name, title, spec, options["gradient"])
    return [Job(told, evaluation, notation, **how, code=code, example=_EXAMPLE)]


def _shows_numbers(form: str, options: Options) -> bool:
    """Whether a document is a page with more than formulas on it."""
    return FORMATS[form].kind == "page" and not {*options["views"]} <= {"formula", "entry"}


#: What is said of numbers that nobody gave.
_EXAMPLE = "The numbers are a small example."


def _sheet_code(sheet: Worksheet) -> str:
    """Python that reads the worksheet, whose text it holds."""
    text = sheet.text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"').rstrip("\n")
    return (
        "from symattn.sheets.worksheet import worksheet_of\n\n"
        f'sheet = worksheet_of("""\\\n{text}\n""", {sheet.name!r})'
    )


def _derived_code(
    sheet: Worksheet, gradient: tuple[str, ...] | None, symbolic: bool, batch: int | None = None
) -> str:
    """Python that derives from a worksheet."""
    lines = [_sheet_code(sheet)]
    if batch is not None:
        lines.append(f"sheet = sheet.of_batch({batch})")
    if gradient is not None:
        lines.append(f"sheet = sheet.backward({gradient!r})")
    lines.append("derivation = sheet.derivation()")
    if not symbolic:
        lines.append("values = sheet.evaluate(derivation)")
    return "\n".join(lines)


def _backward_code(gradient: tuple[str, ...] | None) -> str:
    return "" if gradient is None else f".gradient({gradient or None!r})"


def _series(
    chunks: Sequence[Chunk],
    series: Series,
    symbolic: bool,
    notation: Notation,
    options: Options,
    notes: list[str],
) -> list[Job]:
    """A job for each chunk; a step asked for is shown where there is one."""
    from symattn.step import called

    code = "derivation = chunks[{0}].derivation" if symbolic else "values = chunks[{0}].evaluation"
    jobs = [
        Job(
            c.derivation,
            None if symbolic else c.evaluation,
            notation,
            **_how(options),
            series=series,
            code=code.format(number),
        )
        for number, c in enumerate(chunks)
    ]
    if notation.steps:
        there = [(*c.derivation.inputs, *c.derivation) for c in chunks]
        every = {item.name: item for items in there for item in items}
        asked = called([*every.values()], notation.steps, notation)
        for job, items in zip(jobs, there, strict=True):
            names = {item.name for item in items}
            job.notation = notation.but(steps=tuple(name for name in asked if name in names))
        jobs = [job for job in jobs if job.steps]
    for number, job in enumerate(jobs):
        job.before = jobs[:number]
    jobs[-1].notes = notes
    return jobs


def _read_chunks(text: str) -> int | list[int]:
    """How the tokens are cut: ``2`` at a time, or ``3,1,1``."""
    parts = text.split(",")
    if len(text) > 400 or not all(re.fullmatch(r" *[0-9]{1,6} *", part) for part in parts):
        raise SymattnError(
            f"--chunks {quote(text)}: give how many tokens at a time, as in --chunks 1, or how "
            "many in each chunk, as in --chunks 3,1,1"
        )
    return int(parts[0]) if len(parts) == 1 else [int(part) for part in parts]


def _unmarked(count: int) -> str:
    """What is said of claims, which another command marks."""
    stand, them = ("stands", "it") if count == 1 else ("stand", "them")
    return f"{counted(count, 'claim')} {stand} in this worksheet; derive does not mark {them}"
