"""How long a command may take: its budget, and the option ``--timeout``.

Commands that take files one by one do so in another process where a limit is asked for.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from symattn.budget import SECONDS, budgeted, limited
from symattn.cli.formats import Command
from symattn.cli.screen import debug_asked

if TYPE_CHECKING:
    from symattn.isolation import Limits, Run

#: Where the time that is asked for is kept.
_TIMEOUT = "symattn.timeout"

#: MiB of memory that a file may need in a process of its own, beyond what that has by itself.
MEMORY = 2048

#: The longest time that can be asked for, in seconds: a day.
_MOST = 86_400.0


def seconds(context: click.Context, option: click.Parameter, value: float | None) -> float | None:
    """The time allowed; click's own ranges let nan through."""
    if value is not None and not (math.isfinite(value) and 0 < value <= _MOST):
        raise click.BadParameter(f"give seconds above 0, at most {_MOST:.0f}", context, option)
    return value


def _kept(context: click.Context, option: click.Parameter, value: float | None) -> None:
    context.meta[_TIMEOUT] = seconds(context, option, value)


def _timeout(words: str) -> Callable[[Command], Command]:
    """The option ``--timeout``, which is kept for `asked_seconds`."""
    return click.option(
        "--timeout",
        type=float,
        callback=_kept,
        expose_value=False,
        metavar="SECONDS",
        help=words,
    )


#: The option ``--timeout`` of a command as a whole, for `metered`.
timeout_option = _timeout(f"Give up after this time.  [default: {SECONDS:.0f} s of the processor]")


def asked_seconds() -> float | None:
    """The seconds that ``--timeout`` gives this command, None without it."""
    found: float | None = click.get_current_context().meta.get(_TIMEOUT)
    return found


def asked_limits(usual: Limits) -> Limits:
    """What a function may use: the seconds of ``--timeout``, or the usual ones."""
    return replace(usual, seconds=asked_seconds() or usual.seconds)


def metered(times: int = 1) -> contextlib.AbstractContextManager[None]:
    """The budget of a calculation: the time of ``--timeout``, or so many times the usual one."""
    asked = asked_seconds()
    if asked is not None:
        return limited("--timeout", asked, time.monotonic)
    return usual_budget(times)


def usual_budget(times: int = 1, is_timed: bool = False) -> contextlib.AbstractContextManager[None]:
    """So many times the usual budget; none where a process of its own is timed."""
    return budgeted("--timeout 120", is_timed, times)


#: The option ``--timeout`` of a command that takes files one by one, for `runs`.
each_timeout_option = _timeout(
    "Give up on a file that takes longer, crashes or needs more than "
    f"{MEMORY // 1024} GiB of memory, and continue with the next."
)


@contextlib.contextmanager
def runs(*modules: str) -> Iterator[Run]:
    """Runs functions on files as ``--timeout`` asks; the `modules` hold what they use."""
    from symattn.isolation import Limits, here, within

    timeout = asked_seconds()
    if timeout is None:
        yield here(debug_asked())
        return
    with within(Limits(timeout, MEMORY), (*modules, *_NEEDED), debug_asked()) as run:
        yield run


#: What every worksheet needs, imported before the time of the first one counts.
_NEEDED = (
    "symattn.reports.overview",
    "symattn.pages.checked",
    "symattn.pages.filling",
    "sympy.combinatorics.tensor_can",
    "sympy.sets.setexpr",
    "sympy.tensor.tensor",
)
