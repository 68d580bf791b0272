"""What is said of a function that was verified: as blocks, for every format, and as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from symattn.arithmetic.base import Array
from symattn.attention.variants import NAMED
from symattn.documents import blocks as b
from symattn.documents import text
from symattn.mistakes.explanations import Explanation, cannot_tell
from symattn.printable import printable
from symattn.reports.documents import report_document
from symattn.reports.results import Marking
from symattn.reports.single import Data, report_data, report_of
from symattn.status import Status
from symattn.verifying.subject import Kind
from symattn.verifying.trying import Outcome

_NO_PROOF = (
    "It agrees on every input that was tried: each number lies within what rounding in its dtype "
    "can do to it. That is no proof for other inputs."
)

_BACKWARD = (
    "The backward pass was tried too: its gradients are those of the derivation, and agree with "
    "differences of the function itself."
)

_HEADLINES = {
    "wrong": "does not agree with",
    "inaccurate": "is less accurate than rounding explains, but no other formula than",
    "raises": "cannot do all that is asked of",
    "shape": "returns another shape than",
    "changes": "changes its inputs; it is to be",
    "random": "is not repeatable; it is to be",
}


@dataclass(frozen=True)
class Verification:
    """What was found of a function.

    `tried` has every property with what became of it; `failed` is the first that does not hold, on
    the smallest input that was found to show it, and `marking` holds its numbers against the true
    ones.
    """

    name: str
    attention: str
    layout: str
    tried: tuple[tuple[str, str], ...]
    lacking: tuple[str, ...] = ()
    #: Why only the forward pass was tried; "" where the gradients were held against ours too.
    forward_only: str = ""
    failed: str = ""
    about: str = ""
    kind: Kind = "right"
    message: str = ""
    input: Mapping[str, Array] | None = None
    marking: Marking | None = None
    explanations: tuple[Explanation, ...] = ()
    #: What became of each step that it returns, on the ordinary input.
    steps: tuple[tuple[str, str], ...] = ()
    #: The call on the smallest input, with its evaluation and how the function is called.
    shown: Outcome | None = None

    @property
    def agrees(self) -> bool:
        """Whether every number of every input lies within its proven tolerance."""
        return self.kind == "right"

    @property
    def status(self) -> Status:
        """How a command ends that verified it; a loss of accuracy settles nothing."""
        if self.agrees:
            return Status.AGREES
        return Status.UNSETTLED if self.kind == "inaccurate" else Status.WRONG

    def __bool__(self) -> bool:
        return self.agrees

    def __str__(self) -> str:
        return text.write([verification_document(self)]).rstrip("\n")


def verification_document(found: Verification, brief: bool = True) -> b.Document:
    """The report: the verdict, what fails first and why, the smallest input, what was tried."""
    return b.Document(
        "", tuple(_blocks(found, brief)), width=text.WIDTH, called="A function, checked"
    )


def headline(found: Verification) -> str:
    """The verdict in a sentence."""
    verb = "agrees with" if found.agrees else _HEADLINES[found.kind]
    return f"{found.name} {verb} {found.attention}."


def _blocks(found: Verification, brief: bool) -> Iterator[b.Block]:
    yield b.Paragraph((b.Strong(printable(headline(found))),), "good" if found.agrees else "bad")
    if found.agrees:
        count = sum(verdict == "agrees" for _, verdict in found.tried)
        words = f"{count} {'property' if count == 1 else 'properties'} tried. {_NO_PROOF}"
        yield b.Paragraph((words,))
        if found.forward_only:
            why = printable(found.forward_only.rstrip("."))
            yield b.Paragraph((f"Only the forward pass was tried: {why}.",))
        else:
            yield b.Paragraph((_BACKWARD,))
    else:
        yield b.Paragraph((f"It fails first for: {found.failed} ({found.about}).",))
        if found.message:
            yield b.Paragraph((printable(found.message[:1].upper() + found.message[1:] + "."),))
        yield from _reasons(found)
        yield from _input(found)
        if found.marking is not None:
            alone = report_of(found.marking)
            yield b.Break()
            yield report_document(replace(alone, reasons=(), reasons_shown=0), brief)
    yield b.Break()
    rows = tuple(b.Row(b.Cell((name,)), (b.Cell((verdict,)),)) for name, verdict in found.tried)
    yield b.Table(("outcome",), rows, "", "Tried", "property", "l")
    yield b.Paragraph((f"Called with {found.layout}.",), "note")
    name = found.attention.removesuffix(" attention")
    if brief and not found.agrees and name in NAMED:
        more = " shows the derivation that it was held against."
        yield b.Paragraph((b.Code(f"symattn derive {name}"), more), "note")


def _reasons(found: Verification) -> Iterator[b.Block]:
    """The misconceptions that compute the same numbers on all inputs."""
    if not found.explanations:
        return
    items = tuple(
        b.Item((b.Strong(one.name), f": {printable(one.done)}"), more=one.tell, role="bad")
        for one in found.explanations
    )
    yield from [b.Break(), b.Section("Consistent with", (b.List(items),))]
    for note in cannot_tell(found.explanations):
        yield b.Paragraph((note,), "note")


def _input(found: Verification) -> Iterator[b.Block]:
    """The smallest input, as it can be typed."""
    if found.input is None:
        return
    given = (*given_blocks(found.input),)
    yield from [b.Break(), b.Section("The smallest input found that shows it", given)]


def given_blocks(given: Mapping[str, Array]) -> Iterator[b.Block]:
    """What a function was given, as it can be typed; of many numbers the first and the last."""
    lines = ((b.Code(f"{name} = {_typed(array)}"),) for name, array in given.items())
    yield b.List(tuple(map(b.Item, lines)))
    if any(array.size > text.WIDTH for array in given.values()):
        yield b.Paragraph((b.Code("--format json"), " has all of these numbers."), "note")


def _typed(array: Array) -> str:
    """Numbers as nested lists; of more than a line has characters, the first and the last."""
    if array.size > text.WIDTH:
        word = str if array.dtype == bool else "{:g}".format
        shown = np.array2string(array, threshold=0, separator=", ", formatter={"all": word})
        size = " × ".join(map(str, array.shape))
        return f"{' '.join(shown.split())}  ({size})"
    return str(_plain(array)).replace("'", "")


def _plain(array: Array) -> object:
    if array.dtype == bool:
        return array.tolist()
    listed = np.vectorize(
        lambda x: int(x) if np.isfinite(x) and x == int(x) else float(x), otypes=[object]
    )
    return listed(array).tolist()


def verification_data(found: Verification) -> Data:
    """The same as plain data."""
    numbers: Mapping[str, Array] = found.input or {}
    return {
        "schema": 1,
        "function": found.name,
        "attention": found.attention,
        "agrees": found.agrees,
        "kind": found.kind,
        "forward_only": found.forward_only,
        "failed": found.failed,
        "about": found.about,
        "message": found.message,
        "explanations": [
            {"name": one.name, "instead": one.instead, "tell": one.tell}
            for one in found.explanations
        ],
        "input": {name: _strings(_plain(array)) for name, array in numbers.items()},
        "report": None if found.marking is None else report_data(report_of(found.marking)),
        "tried": [{"property": name, "verdict": verdict} for name, verdict in found.tried],
        "layout": found.layout,
    }


def _strings(value: object) -> object:
    """What JSON has no number for, as text."""
    if isinstance(value, list):
        return [_strings(part) for part in value]
    return str(value) if isinstance(value, float) and not np.isfinite(value) else value
