"""``symattn verify``: a function of your own held against a derivation."""

from __future__ import annotations

from typing import Any

import click

from symattn.cli import completing as completes
from symattn.cli.attentions import attention_meant, called, map_option
from symattn.cli.formats import Output, format_options
from symattn.cli.help import Explained
from symattn.cli.limits import seconds
from symattn.cli.screen import complain, debug_asked
from symattn.doors import Failure
from symattn.status import Status


def _listed(context: click.Context, option: click.Parameter, value: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in value.split(",")) if value else ()


@click.command(
    cls=Explained,
    groups={
        "What it should be": "--returns",
        "How it is called": "--map --library --skip",
        "Limits": "--timeout --memory",
        "Where it goes": "--format --output",
    },
    examples={
        "symattn verify mine.py:attention": "A function of queries, keys and values.",
        "symattn verify mine.py:attention grouped-query": "A named variant.",
        "symattn verify mine.py:attend causal --map Q=left,K=right,V=values": "One whose "
        "arguments have names of their own.",
        "symattn verify mine.py:attend sheet.toml --returns output,weights": "The "
        "attention of a worksheet; two steps are returned.",
        'symattn verify package.layers:sdpa --library torch --skip "fully masked"': "A function of "
        "an installed package, on PyTorch's tensors.",
    },
)
@click.argument("target", metavar="MODULE.PY:FUNCTION", shell_complete=completes.files)
@click.argument(
    "attention",
    metavar="[ATTENTION]",
    default="scaled-dot-product",
    shell_complete=completes.subjects,
)
@map_option
@click.option(
    "--library",
    type=click.Choice(("numpy", "torch", "jax", "lists")),
    callback=lambda context, option, value: value or "",
    help="Whose arrays it takes; otherwise what its code names is tried.",
)
@click.option(
    "--returns",
    default="",
    metavar="STEP,…",
    callback=_listed,
    help="Which steps it returns, where it returns a tuple.",
)
@click.option(
    "--skip", multiple=True, metavar="PROPERTY", help="Leave a property out; may be repeated."
)
@click.option(
    "--timeout",
    type=float,
    default=120.0,
    show_default=True,
    callback=seconds,
    metavar="SECONDS",
    help="Give up after this time.",
)
@click.option(
    "--memory",
    type=click.IntRange(64, 1_000_000),
    default=4096,
    show_default=True,
    metavar="MIB",
    help="How much memory it may take.",
)
@format_options()
def verify(target: str, timeout: float, memory: int, out: Output, **asked: Any) -> Status:
    """Hold a function of your own against the derivation of an attention.

    ATTENTION is a variant, a worksheet or equations; scaled-dot-product if it is left out. The
    function is called with many inputs: other sizes, one token, rows without keys, large and tiny
    numbers, batches, views, float32 and float16. A function of PyTorch or JAX is differentiated
    too, and its gradients are held against those of the derivation. The report names the first
    property that does not hold, the smallest input found that shows it, and the misconception that
    computes the same numbers.

    The module is RUN, in a process of its own with limits on time, memory and the files that it
    writes; its numbers are judged in another one. That is no security sandbox: verify only code
    that you would run yourself.
    """
    from symattn.isolation import Limits, within
    from symattn.verifying.loading import Asked, Verified, verify_named
    from symattn.verifying.subject import Wanted

    source = asked.pop("attention")
    wanted = Wanted(attention_meant(source), **asked, attention=called(source))
    debug = debug_asked()
    with within(Limits(timeout), ("symattn.verifying.loading",), debug) as run:
        found: Verified | Failure = run(
            verify_named, Asked(target, wanted, out.brief, memory, debug), target
        )
    if isinstance(found, Failure):
        complain(found.line)
        died = found.status == Status.INTERNAL and "internal error" not in found.line
        return Status.UNUSABLE if died else found.status
    if out.form == "json":
        out.put_data(found.data)
    else:
        out.put([found.document])
    return found.status
