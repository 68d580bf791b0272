"""``symattn derive``: attention step by step."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from symattn.cli import completing as completes
from symattn.cli.attentions import is_equations, is_file, is_program
from symattn.cli.entries import with_entries
from symattn.cli.formats import Output, format_options, width_option
from symattn.cli.help import Explained
from symattn.cli.limits import metered, timeout_option
from symattn.cli.progress import Progress
from symattn.cli.request import Request
from symattn.cli.screen import complain
from symattn.cli.sizes import example_sizes, shapes_in, size_option
from symattn.cli.sources import InFile, jobs_of
from symattn.cli.watching import again, check_watchable, watch_option
from symattn.documents.job import (
    FORMATS,
    Job,
    check_format,
)
from symattn.documents.views import VIEWS
from symattn.errors import SymattnError, nearest, quote
from symattn.status import Status, worst

if TYPE_CHECKING:
    from symattn.derivations import Check, Place, Step


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


def _chunks(text: str | None) -> int | list[int] | None:
    """How the tokens are cut: ``2`` at a time, or ``3,1,1``."""
    if text is None:
        return None
    parts = text.split(",")
    if len(text) > 400 or not all(re.fullmatch(r" *[0-9]{1,6} *", part) for part in parts):
        raise SymattnError(
            f"--chunks {quote(text)}: give how many tokens at a time, as in --chunks 1, or how "
            "many in each chunk, as in --chunks 3,1,1"
        )
    return int(parts[0]) if len(parts) == 1 else [int(part) for part in parts]


@click.command(
    cls=Explained,
    groups={
        "What is derived": "--with --shape --symbolic --gradient --size --chunks --batch",
        "What is shown": "--view --steps --head --entry --full --errors --cost",
        "How it is written": "--digits --notation --width --headings --label",
        "Where it goes": "--format --output --watch",
    },
    common="--format --output --watch --view --steps --entry --digits --notation --gradient --with "
    "--symbolic --size --timeout",
    examples={
        "symattn new causal -o mine.toml": "A worksheet to begin with, on small whole numbers.",
        "symattn derive mine.toml": "Every step of a worksheet, with its numbers.",
        "symattn derive mine.toml --format html -o page.html": "A page to read and to change.",
        "symattn derive rotary --size tokens=3,d_k=4": "A variant on small whole numbers.",
        'symattn derive "softmax(Q K^T / sqrt(d_k)) V"': "An attention of your own, in equations.",
        "symattn derive mine.py:attention": "What a function of NumPy, PyTorch or JAX computes.",
        'symattn derive "softmax(2, 1, 0)" --gradient all': "The softmax's Jacobian.",
        "symattn derive causal --symbolic --gradient Q,K,V --steps dQ,dK,dV": "The backward pass, "
        "in symbols.",
    },
)
@click.argument(
    "source", metavar="FILE|VARIANT|EQUATIONS|PROGRAM", shell_complete=completes.subjects
)
@format_options(tuple(FORMATS))
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
@click.option("--head", type=click.IntRange(0), metavar="N", help="Show this head only.")
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
    multiple=True,
    metavar="NAME|KEY=VALUE",
    help="Letters of a paper: vaswani, flash-attention, roformer, deepseek, bishop. Or one letter, "
    "as in weights=P or 'weights[i,j]=p'; or a choice of a worksheet's [notation], as in "
    "layout=falk, worked=all, heads=column or page=stage. May be repeated.",
)
@click.option(
    "--digits",
    metavar="N|exact",
    callback=lambda context, option, value: (
        value if value == "exact" else click.IntRange(0, 100)(value, option, context)
    ),
    help="Decimals to show, or exact values instead.  [default: 4]",
)
@click.option(
    "--errors",
    type=click.Choice(("float64", "float32", "float16")),
    help="Show NumPy's check in this type step by step, in ulps; it is in float64 otherwise.",
)
@click.option(
    "--cost",
    is_flag=True,
    help="Show what each step costs: multiplications, numbers kept, and how many operations follow "
    "one another.",
)
@click.option("--full", is_flag=True, help="Leave nothing out of large matrices and long sums.")
@click.option(
    "--gradient",
    metavar="NAMES",
    callback=_names,
    help="Add the backward pass with respect to NAMES, e.g. Q,K,V, or all.",
)
@click.option(
    "--with",
    "equations",
    metavar="EQUATION",
    multiple=True,
    help="On top of a variant: 'weights A = softmax1(Z)' takes the place of a step, a new one goes "
    "before its first use. May be repeated.",
)
@click.option(
    "--shape",
    "shapes",
    multiple=True,
    metavar="ARGUMENT=ROWS,COLUMNS",
    help="The shape of a program's argument, as in Q=n,d_k; may be repeated.",
)
@click.option("--symbolic", is_flag=True, help="Formulas only, no numbers, not even an example.")
@size_option("Of a small example, as in tokens=3,d_k=2,heads=2.")
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
@watch_option
@timeout_option
def derive(watch: bool, out: Output, **asked: Any) -> Status:
    """Derive attention step by step from a worksheet (- for standard input) or a named variant.

    A PROGRAM is a function of NumPy, PyTorch or JAX, mine.py:attention. It is RUN, in a process
    of its own with limits, and what it computes is derived: derive only code that you would run
    yourself.
    """
    source, destination = asked["source"], out.destination
    if watch:
        check_watchable([source])
        if not is_file(source) or is_program(source):
            raise SymattnError(f"--watch: {source} is not a file; give a worksheet")
    if destination.exists and is_file(source) and not is_program(source):
        destination.refuse_inputs(("-",) if source == "-" else _read(source))
    asked["chunks"] = _chunks(asked["chunks"])
    asked["sizes"] = example_sizes(asked["sizes"])
    asked["shapes"] = shapes_in(asked["shapes"])
    from symattn.sheets.symbols import Spelling

    asked["notation"] = Spelling.read(asked["notation"])
    request = Request(**asked, out=out)
    if not watch:
        return _derive(request)
    return again(lambda: _derive(request), lambda: _read(source), destination)


def _read(source: str) -> Iterator[Path]:
    """The worksheet, and all that it names."""
    from symattn.files.named import reached

    return reached([Path(source)])


def _derive(request: Request) -> Status:
    """Derive, print or write the document, and say whether NumPy agrees."""
    out = request.out
    with Progress(f"deriving {request.source}").watched(), metered():
        jobs, in_file = _checked(request)
        with in_file():
            _check_views(jobs, request)
            jobs = [
                job if job.evaluation is None else replace(job, check=job.evaluation.check())
                for job in jobs
            ]
            made = out.made(jobs, hints=True)
    with in_file() if out.on_screen else nullcontext():
        out.put(made)
    unshown = (words for job in jobs for words in job.unshown(out.form, out.on_screen))
    for words in dict.fromkeys(unshown):
        complain(words)
    return worst(map(status_of, (job.check for job in jobs)))


def _checked(request: Request) -> tuple[list[Job], InFile]:
    """The jobs, with the entries that are chosen, if all that is asked for goes together."""
    jobs, in_file = jobs_of(request)
    with in_file():
        _check_heads(jobs, request)
        jobs = with_entries(jobs, request.entries)
    check_format(request.out.form, jobs)
    if request.out.on_screen and _may_be_more(jobs[-1]):
        *first, last = jobs
        jobs = [*first, replace(last, notes=[*last.notes, _more(request.source, last)])]
    return jobs, in_file


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
        said.append(f"{another}, `--notation worked=all` every one")
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
    "sizes",
    "batch",
    "chunks",
    "gradient",
    "steps",
    "views",
    "head",
    "notation",
    "digits",
    "errors",
    "cost",
    "full",
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


def status_of(check: Check | None) -> Status:
    """Whether NumPy agrees; what overflows its dtype is not settled by it."""
    if check is None or check.agrees:
        return Status.AGREES
    return Status.UNSETTLED if check.overflowed else Status.WRONG


def _check_heads(jobs: Sequence[Job], request: Request) -> None:
    """Refuse what is said of heads where there are none, no matrices, or no difference."""
    head, arranged = request.head, request.notation.choices.get("heads")
    if head is None and arranged is None:
        return
    option = f"heads {arranged}" if head is None else f"head {head}"
    derivations = [job.derivation for job in jobs]
    if not any(item.per_head for one in derivations for item in (*one.inputs, *one.steps)):
        raise SymattnError(f"{option}: this attention has no heads; leave it out")
    if arranged and all(job.evaluation is None for job in jobs):
        raise SymattnError(f"{option}: arranges matrices of numbers, and none are shown")
    is_graph = FORMATS[request.out.form].kind == "picture" and request.out.flavor == "steps"
    if head is not None and is_graph:
        raise SymattnError(
            f"head {head}: the graph of steps is the same for every head; leave it out, or give "
            "another picture"
        )


def _check_views(jobs: Sequence[Job], request: Request) -> None:
    """Refuse views of numbers alone where there are none."""
    if {*request.views} <= {"worked", "value"} and any(job.evaluation is None for job in jobs):
        asked = ",".join(request.views)
        raise SymattnError(f"--view {asked} needs numbers; give a worksheet")
