"""One computed number of a worksheet, for the middle of a sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence

from symattn.derivation import Evaluation, Place, StepValue
from symattn.errors import ReadError, shown
from symattn.worksheet.reading.worksheet import Worksheet

_QUOTE = re.compile(
    r"\s*([A-Za-z_]{1,40})((?:\[[0-9, ]{1,20}\]){1,4})\s*(?:to\s+([0-9]{1,2}))?\s*\Z"
)


def quoted(sheet: Worksheet, text: str) -> str:
    """The number that ``weights[1,2]``, or ``weights[1,2] to 3`` decimals, means, as proven.

    Raises `ReadError` (or another `SymattnError`) for what is no entry of the worksheet.

    >>> from symattn.worksheet.reading.worksheet import worksheet_of
    >>> sheet = worksheet_of("[given]\\nQ = [[1, 0]]\\nK = [[1, 0], [0, 1]]")
    >>> quoted(sheet, "weights[1,2]"), quoted(sheet, "weights[1,2] to 2")
    ('0.3302', '0.33')
    """
    match = _QUOTE.match(text)
    if match is None:
        raise ReadError(f"{shown(text)}: write e.g. weights[1,2], or weights[1,2] to 3")
    name, places, digits = match.groups()
    value = sheet.values[name]
    place = _place(value, places)
    notation = sheet.notation if digits is None else sheet.notation.but(digits=int(digits))
    found = value.digits(place, notation)
    text = found.text if found.proven else f"{found.text}?"
    return text.replace("-", "−").replace("inf", "∞")


def entry_named(text: str, evaluation: Evaluation) -> tuple[str, Place]:
    """The step and the place in its array that ``weights[1,2]`` or ``scores[2][1,2]`` mean.

    Raises `ReadError` (or another `SymattnError`) for what is no entry of the derivation.
    """
    match = _QUOTE.match(text)
    if match is None or match[3] is not None:
        raise ReadError(f"{shown(text)}: write e.g. weights[1,2], or weights[2][1,2] for head 2")
    value = evaluation[match[1]]
    return value.name, _place(value, match[2])


def entries_named(names: Sequence[str], evaluation: Evaluation) -> dict[str, Place]:
    """The entries to work out and box, by step; ``first`` is the first entry of every step.

    Raises as `entry_named` does.
    """
    firsts = {s.name: (0,) * (2 + s.per_head) for s in evaluation.steps} if "first" in names else {}
    return firsts | dict(entry_named(name, evaluation) for name in names if name != "first")


def _place(value: StepValue, brackets: str) -> Place:
    """The place that indices in brackets, counted from 1, mean."""
    index = tuple(int(word) for word in re.findall(r"[0-9]+", brackets))
    inside = len(index) == len(value.shape) and all(
        1 <= i <= size for i, size in zip(index, value.shape, strict=True)
    )
    if not inside:
        shape = " × ".join(map(str, value.shape))
        raise ReadError(f"{value.name}{brackets}: {value.name} is {shape}, counted from 1")
    return tuple(i - 1 for i in index)
